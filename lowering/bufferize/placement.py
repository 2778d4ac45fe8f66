"""
Where the memory of storages is taken: before the first op that mentions them.

Values may share only memory of one type and size that is known there.
"""

from dataclasses import dataclass, field

from xdsl.ir import Operation

from transom.dialects.diagnostics import OpError
from transom.lowering.bufferize.positions import Positions
from transom.lowering.bufferize.program import FunctionProgram, Variable
from transom.lowering.bufferize.storage import Assignment
from transom.passes.memory.sizes import Shape


@dataclass
class Placement:
    """
    Storages of a function, the ops that they stand before, and the variable after
    which each is made (`models`).
    """

    program: FunctionProgram
    positions: Positions
    assignment: Assignment
    at: dict[int, Operation] = field(default_factory=dict[int, Operation], init=False)
    """Per storage; none for those that are given."""

    def __post_init__(self) -> None:
        constant = self.program.storage.constant
        for number, variable in enumerate(self.program.variables):
            if constant >> number & 1:
                continue
            position = self.own_position(variable)
            if position is not None and variable.result is None:
                self.at[number] = position
        self.assignment.coalesce(self.program.affinities, self.join)

    def own_position(self, variable: Variable) -> Operation | None:
        """The op that a view of a variable has to stand before."""
        position: Operation | None = None
        for op in variable.mentions:
            position = op if position is None else self.positions.common(position, op)
        return position

    def join(self, left: int, right: int) -> bool:
        """Whether two storages can be one, which is then known as `left`."""
        a, b = self.program.variables[left], self.program.variables[right]
        if (
            a.type.element_type != b.type.element_type
            or a.type.memory_space != b.type.memory_space
        ):
            return False
        table = self.program.sizes.table
        if table.product(a.shape) != table.product(b.shape):
            return False
        if left not in self.at or right not in self.at:  # one of them is given
            self.at.pop(left, None)
            self.at.pop(right, None)
            return True
        position = self.positions.common(self.at[left], self.at[right])
        members = self.assignment.members(left) + self.assignment.members(right)
        if not any(self.is_known(m, position) for m in members):
            return False
        self.at.pop(right)
        self.at[left] = position
        return True

    def is_known(self, variable: int, at: Operation) -> bool:
        """Whether all sizes of a variable can be computed before an op."""
        return self._is_known(self.program.variables[variable].shape, at)

    def _is_known(self, shape: Shape, at: Operation) -> bool:
        table = self.program.sizes.table
        return all(
            self.positions.is_defined(leaf.value, at)
            for size in shape
            for leaf in table.leaves(size)
        )

    def model(self, storage: int) -> int:
        """
        The variable whose type and sizes the memory of a storage is taken with.

        Raises `OpError` if the sizes are not known where the memory is needed.
        """
        members = self.assignment.members(storage)
        for member in members:
            if self.program.variables[member].result is not None:
                return member
        at = self.at[storage]
        for member in members:
            if self.is_known(member, at):
                return member
        variable = self.program.variables[members[0]]
        raise OpError(
            variable.origin,
            f"expected sizes of '{variable.type}' that are known before it is "
            "computed, but they depend on data",
        )
