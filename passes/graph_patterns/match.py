"""
What matching gives: ops and values by name, or the reason why there is no match.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar, overload

from xdsl.ir import Operation, SSAValue

from transom.dialects.diagnostics import did_you_mean

OpT = TypeVar("OpT", bound=Operation)


class Mismatch(NamedTuple):
    """Why a pattern does not match."""

    depth: int
    """How many ops matched on the way to what did not."""

    reason: str


@dataclass(frozen=True, eq=False)
class Match:
    """A pattern that was found. Nothing was changed."""

    root: Operation
    ops: tuple[Operation, ...]
    """What the pattern computes, operands before what reads them."""

    copied: tuple[Operation, ...]
    """
    Constants, weights and `copied` ops that belong to it, and may have other readers.
    """

    captures: Mapping[str, tuple[SSAValue, ...]]
    names: frozenset[str]
    """All names of the pattern, whether or not their parts are there."""

    def values(self, name: str) -> tuple[SSAValue, ...]:
        """All values of a name, of repeated parts the innermost or first one first."""
        if name not in self.names:
            near = did_you_mean(name, self.names)
            raise KeyError(f"no part of the pattern is named '{name}'{near}")
        return self.captures.get(name, ())

    def value(self, name: str) -> SSAValue:
        """The value of a name. Raises `KeyError` for a part that is not there."""
        found = self.values(name)
        if not found:
            raise KeyError(f"part '{name}' of the pattern is not there")
        return found[0]

    @overload
    def op(self, name: str) -> Operation: ...
    @overload
    def op(self, name: str, kind: type[OpT]) -> OpT: ...
    def op(self, name: str, kind: type[Operation] = Operation) -> Operation:
        """
        The op that computes a value of a name, of a class that is known to be its.

        Raises `KeyError` for a part that is not there.
        """
        owner = self.value(name).owner
        assert isinstance(owner, kind), f"'{name}' is no {kind.__name__}"
        return owner

    def __contains__(self, name: str) -> bool:
        """Whether a part of this name is there."""
        return bool(self.values(name))

    @property
    def inputs(self) -> tuple[SSAValue, ...]:
        """What the match reads of others, in the order of first use."""
        inside = {*self.ops, *self.copied}
        return tuple(
            dict.fromkeys(
                operand
                for op in (*self.copied, *self.ops)
                for operand in op.operands
                if operand.owner not in inside
            )
        )

    @property
    def outputs(self) -> tuple[SSAValue, ...]:
        """What others read of the match, in the order of definition."""
        inside = {*self.ops, *self.copied}
        return tuple(
            result
            for op in self.ops
            for result in op.results
            if any(use.operation not in inside for use in result.uses)
        )

    @property
    def taps(self) -> tuple[SSAValue, ...]:
        """The outputs that are not of the root."""
        return tuple(value for value in self.outputs if value.owner is not self.root)
