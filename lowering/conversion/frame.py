"""
What is being rewritten at a moment of a conversion: `Frame`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Block, Operation, SSAValue, Use

from transom.lowering.conversion.pattern import ConversionPattern
from transom.lowering.conversion.state import State
from transom.lowering.conversion.type_converter import TypeConverter


@dataclass(slots=True)
class Frame:
    """The op that is being rewritten, and by what."""

    op: Operation
    location: LocationAttr
    pattern: ConversionPattern[Operation] | None
    converter: TypeConverter | None
    outer: Frame | None
    depth: int
    created: int
    """How many ops there were before."""
    watched: list[tuple[SSAValue, Use | None]]
    """Values that the pattern was given, and their last use before."""
    replaced: bool = False
    carried: bool = False
    """Whether the pattern has said what takes the attributes of the op."""
    tail: Block | None = None
    """The last of the blocks put behind the current one."""
    tail_of: Block | None = None
    """The block that was current then: nested rewrites may have split it."""

    def forget_uses(self) -> None:
        """End what uses a refused pattern left, by ops that it made for nothing."""
        for value, last_use in self.watched:
            newer: list[Use] = []
            for use in value.uses:
                if use is last_use:
                    break
                newer.append(use)
            else:
                if last_use is not None:
                    continue  # that was taken back itself, and so were all after it
            for use in newer:
                value.remove_use(use)


def frame_of_hook(
    op: Operation, location: LocationAttr, outer: Frame | None, state: State
) -> Frame:
    """A frame for a materialisation: no pattern is responsible for its ops."""
    depth = 0 if outer is None else outer.depth
    return Frame(op, location, None, None, outer, depth, len(state.created), [])


def frame_of_terminator(op: Operation, outer: Frame, state: State) -> Frame:
    """A frame for an op that the pattern around it deals with."""
    location = outer.location if op.location is UNKNOWN_LOC else op.location
    return Frame(
        op,
        location,
        outer.pattern,
        outer.converter,
        outer,
        outer.depth,
        len(state.created),
        [],
    )
