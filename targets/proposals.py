"""
What the module itself proposes that targets take together: candidates of passes, hints
by hand, and patterns of the `pdl` dialect.

A pattern stands in the module beside the functions, and its external rewrite names what
it finds; it may be called with the place that should take it, and with seconds.

```mlir
pdl.pattern @scaled : benefit(1) {
  %x = pdl.operand
  %k = pdl.operand
  %t = pdl.type
  %mul = pdl.operation "graph.mul" (%x, %k : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %m = pdl.result 0 of %mul
  %relu = pdl.operation "graph.relu" (%m : !pdl.value) -> (%t : !pdl.type)
  %place = pdl.attribute = #target.place<?, #toy_npu.target, ?>
  pdl.rewrite %relu with "toy_npu.scaled"(%place : !pdl.attribute)
}
```
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import FloatAttr, ModuleOp
from xdsl.ir import Block, Operation

from transom.dialects.diagnostics import OpError
from transom.dialects.target import PlaceAttr
from transom.passes.graph_patterns import Match, Matcher
from transom.targets.claim_candidates import Taker, ask, is_asked_for

if TYPE_CHECKING:
    from xdsl.dialects import pdl

    from transom.passes.graph_patterns.pdl import LabelledPattern


@dataclass(frozen=True, eq=False)
class Offer:
    """A candidate that was proposed, and the targets that may take it."""

    name: str
    takers: tuple[Taker, ...]
    ops: tuple[Operation, ...]
    """In the order of the block."""

    copied: tuple[Operation, ...] = ()
    label: str | None = None
    seconds: float | None = None
    is_required: bool = False


def refusal_of_offer(offer: Offer, taker: Taker, matcher: Matcher) -> str | None:
    """
    Why a target does not take what is offered: it knows neither the label nor each op.

    None if it does.
    """
    if taker.takes_all or offer.label in taker.labels():
        return None
    for op in offer.ops:
        answer = ask(taker, op, matcher)
        if not answer.takes_it_alone:
            return f"'{op.name}' in it: {answer.refusal}"
    return None


@dataclass(frozen=True)
class ModulePattern:
    """A pattern that stands in the module."""

    source: "pdl.PatternOp"
    labelled: "LabelledPattern"
    place: PlaceAttr | None
    """Where what it finds should be; None for any target that takes it."""

    seconds: float | None

    @property
    def name(self) -> str:
        """The symbol of the pattern, or what it finds."""
        symbol = self.source.sym_name
        return self.labelled.label or "" if symbol is None else symbol.data

    def matches(self, block: Block, matcher: Matcher) -> Iterator[Match]:
        """Where ops of a block are what the pattern looks for."""
        for op in block.ops:
            for match in self.labelled.pattern.matches(op, matcher):
                if all(map(is_asked_for, match.ops)):
                    yield match


def patterns_of(module: ModuleOp) -> list[ModulePattern]:
    """
    The patterns of a module.

    Raises `OpError` for what a pattern to look for cannot say.
    """
    return [_pattern(op) for op in _pattern_ops(module)]


def _pattern(op: "pdl.PatternOp") -> ModulePattern:
    from transom.passes.graph_patterns.pdl import pattern_of_pdl

    labelled = pattern_of_pdl(op)
    place: PlaceAttr | None = None
    seconds: float | None = None
    for argument in labelled.arguments:
        if isinstance(argument, PlaceAttr):
            place = argument
        elif isinstance(argument, FloatAttr) and argument.value.data >= 0:
            seconds = argument.value.data
        else:
            raise OpError(
                op,
                "expected a place or seconds >= 0 as arguments of the rewrite, but got "
                f"'{argument}'",
            )
    return ModulePattern(op, labelled, place, seconds)


def _pattern_ops(module: ModuleOp) -> "list[pdl.PatternOp]":
    """The ops of patterns. Few modules have some, and need their dialect."""
    found = [op for op in module.ops if op.name == "pdl.pattern"]
    return cast("list[pdl.PatternOp]", found)


def remove_patterns(module: ModuleOp) -> None:
    """Remove the patterns of a module: they have been looked for."""
    for op in _pattern_ops(module):
        op.detach()
        op.erase()
