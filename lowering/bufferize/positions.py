"""
Where ops stand: which come first, and what is defined where.
"""

from xdsl.ir import Block, BlockArgument, Operation, SSAValue


class Positions:
    """The ops under one op, numbered in the order of the text."""

    _order: dict[Operation, int]

    def __init__(self, root: Operation) -> None:
        self._order = {op: number for number, op in enumerate(root.walk())}

    def common(self, left: Operation, right: Operation) -> Operation:
        """The last op of one block that neither op, nor what is around it, precedes."""
        depths = {block: op for block, op in _ancestors(left)}
        for block, op in _ancestors(right):
            other = depths.get(block)
            if other is not None:
                return min(op, other, key=self._order.__getitem__)
        raise AssertionError("both ops are under the root")

    def is_defined(self, value: SSAValue, at: Operation) -> bool:
        """Whether a value can be used by an op that is put right before `at`."""
        owner = value.owner
        block = owner if isinstance(value, BlockArgument) else None
        for around, op in _ancestors(at):
            if block is not None:
                if around is block:
                    return True
            elif isinstance(owner, Operation) and owner.parent is around:
                return self._order[owner] < self._order[op]
        return False


def _ancestors(op: Operation) -> list[tuple[Block, Operation]]:
    """The block of an op with the op, then that of the op around it, and so on."""
    found: list[tuple[Block, Operation]] = []
    current: Operation | None = op
    while current is not None and current.parent is not None:
        found.append((current.parent, current))
        current = current.parent_op()
    return found
