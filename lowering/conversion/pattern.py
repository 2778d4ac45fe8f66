"""
What an author writes: `ConversionPattern`, its operands and its refusals.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import TYPE_CHECKING, Generic, NoReturn, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import DenseArrayBase, UnregisteredOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    IRDLOperation,
    VariadicDef,
)

if TYPE_CHECKING:
    from transom.lowering.conversion.rewriter import ConversionRewriter
    from transom.lowering.conversion.type_converter import TypeConverter

OpT = TypeVar("OpT", bound=Operation)

Roots: TypeAlias = (
    "type[Operation] | str | UnionType | tuple[type[Operation] | str | UnionType, ...]"
)
"""Op classes (also base classes of ops), names of ops, or several of them."""


@dataclass(frozen=True)
class Refusal:
    """
    Why a pattern does not rewrite an op, or why an op is illegal.

    The reason reads as a message: `expected a static shape, but got 'tensor<?xf32>'`.
    """

    reason: str


class Blocked(Refusal):
    """A refusal for want of an operand, whose op stayed for a reason of its own."""


class RefusalError(Exception):
    """A refusal from deep inside a pattern; the driver takes it as one returned."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


class PatternError(AssertionError):
    """A pattern broke its own promise or the rules of the rewriter: a bug in it."""


class Operands:
    """
    The converted operands of an op, one group of values per operand.

    Iterating, indexing and `len` see one value per operand, as is usual; an operand
    whose type converts to several values (or none) is seen in `groups` only.
    """

    __slots__ = ("_groups", "_op")

    def __init__(
        self, op: Operation, groups: Sequence[SSAValue | tuple[SSAValue, ...]]
    ) -> None:
        self._op = op
        self._groups = groups

    @property
    def groups(self) -> tuple[tuple[SSAValue, ...], ...]:
        """For each operand of the op, the values that it has become."""
        return tuple(g if isinstance(g, tuple) else (g,) for g in self._groups)

    @property
    def flat(self) -> tuple[SSAValue, ...]:
        """All values in order."""
        out: list[SSAValue] = []
        for group in self._groups:
            if isinstance(group, tuple):
                out.extend(group)
            else:
                out.append(group)
        return tuple(out)

    def named(self, name: str) -> Operands:
        """The operands of one operand definition of the op, such as `indices`."""
        start, stop = operand_range(self._op, name)
        return Operands(self._op, self._groups[start:stop])

    def __len__(self) -> int:
        return len(self._groups)

    def __iter__(self) -> Iterator[SSAValue]:
        groups = self._groups
        for group in groups:
            if isinstance(group, tuple):
                self._not_single(groups.index(group), group)
        return iter(cast("Sequence[SSAValue]", groups))

    def __getitem__(self, index: int) -> SSAValue:
        group = self._groups[index]
        if isinstance(group, tuple):
            self._not_single(index, group)
        return group

    def _not_single(self, index: int, group: tuple[SSAValue, ...]) -> NoReturn:
        raise PatternError(
            f"operand {index} of '{name_of_op(self._op)}' has become {len(group)} "
            "values; use Operands.groups"
        )


def name_of_op(op: Operation) -> str:
    """The name as written, also of an op of an unregistered dialect."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def operand_range(op: Operation, name: str) -> tuple[int, int]:
    """Where in its operand list an op keeps those of one operand definition."""
    assert isinstance(op, IRDLOperation), "only registered ops name their operands"
    start = 0
    for (key, _), size in zip(
        op.get_irdl_definition().operands, operand_segments(op), strict=True
    ):
        if key == name:
            return start, start + size
        start += size
    raise KeyError(f"'{op.name}' has no operand '{name}'")


def operand_segments(op: IRDLOperation) -> tuple[int, ...]:
    """How many operands each operand definition of an op has."""
    definition = op.get_irdl_definition()
    for option in definition.options:
        if isinstance(option, AttrSizedOperandSegments):
            return _sizes(option.container(op)[option.attribute_name])
    return _even_sizes([d for _, d in definition.operands], len(op.operands))


def result_segments(op: IRDLOperation) -> tuple[int, ...]:
    """How many results each result definition of an op has."""
    definition = op.get_irdl_definition()
    for option in definition.options:
        if isinstance(option, AttrSizedResultSegments):
            return _sizes(option.container(op)[option.attribute_name])
    return _even_sizes([d for _, d in definition.results], len(op.results))


def _sizes(segments: Attribute) -> tuple[int, ...]:
    assert isinstance(segments, DenseArrayBase), "by the verifier of the op"
    return segments.get_values()


def _even_sizes(definitions: Sequence[object], total: int) -> tuple[int, ...]:
    """Sizes where all variadic definitions have the same."""
    variadic = sum(isinstance(d, VariadicDef) for d in definitions)
    rest = total - (len(definitions) - variadic)
    return tuple(
        rest // variadic if isinstance(d, VariadicDef) else 1 for d in definitions
    )


class ConversionPattern(ABC, Generic[OpT]):
    """
    How ops of one kind are replaced.

    ```python
    class ConvertNeg(ConversionPattern[graph.NegOp]):
        root = graph.NegOp
        generates = (arith.NegfOp,)

        def match_and_rewrite(self, op, operands, rewriter):
            (x,) = operands
            rewriter.replace(op, arith.NegfOp(x))
    ```

    The pattern is a function of the op: it keeps no state, and changes nothing but
    through the rewriter.
    """

    root: Roots
    """The ops that the pattern looks at: a class, a base class, a name, or several."""

    benefit: int = 1
    """Patterns of a higher benefit are tried first; else in the order given."""

    generates: tuple[type[Operation] | str, ...] | None = None
    """All kinds of ops that the pattern inserts; None if it does not say."""

    is_structural: bool = False
    """
    Whether the pattern rebuilds an op for the sake of its types alone. It is applied
    even where rewrites are counted and used up (`transom.passes.rewrite_steps`).
    """

    drops: tuple[str, ...] = ()
    """Discardable attributes that mean nothing afterwards, and are not carried over."""

    @property
    def name(self) -> str:
        """The name that messages use."""
        return type(self).__name__

    @property
    def converter(self) -> TypeConverter | None:
        """A converter for this pattern in place of that of the conversion."""
        return None

    @abstractmethod
    def match_and_rewrite(
        self, op: OpT, operands: Operands, rewriter: ConversionRewriter, /
    ) -> Refusal | None:
        """
        Replace `op`, with `rewriter.replace` or `rewriter.erase`, or refuse.

        `op` is as it was before the conversion, and so is all that it refers to;
        `operands` are its operands after it. What was inserted before a refusal is
        taken back.
        """


def roots_of(*roots: Roots) -> Iterator[type[Operation] | str]:
    """The classes and names in one or more roots."""
    for root in roots:
        if isinstance(root, tuple):
            yield from roots_of(*root)
        elif isinstance(root, UnionType):
            yield from roots_of(*cast("tuple[type[Operation], ...]", root.__args__))
        else:
            yield root


class PatternSet:
    """Patterns, indexed by the class of op that they look at."""

    def __init__(self, patterns: Iterable[ConversionPattern[Operation]]) -> None:
        self.patterns = tuple(patterns)
        self._by_root: dict[
            type[Operation] | str, list[tuple[int, int, ConversionPattern[Operation]]]
        ] = {}
        for position, pattern in enumerate(self.patterns):
            for root in roots_of(pattern.root):
                entry = (-pattern.benefit, position, pattern)
                self._by_root.setdefault(root, []).append(entry)
        self._by_class: dict[
            type[Operation], tuple[ConversionPattern[Operation], ...]
        ] = {}

    def for_op(
        self, op: Operation, name: str
    ) -> Sequence[ConversionPattern[Operation]]:
        """The patterns for an op of this name, best first."""
        kind = type(op)
        found = self._by_class.get(kind)
        if found is None:
            entries = {
                entry[1]: entry
                for key in (name, *kind.__mro__)
                for entry in self._by_root.get(key, ())
            }
            ordered = sorted(entries.values(), key=lambda e: e[:2])
            self._by_class[kind] = found = tuple(e[2] for e in ordered)
        return found
