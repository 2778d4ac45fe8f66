"""
The state of a conversion that has not been committed.

The module stays as it is while a conversion runs. What it will be is kept beside it: a
map from each value to what it becomes, and a *plan* per block, the list of ops that the
block will hold. All of it can be taken back to a mark, and is applied by `commit`.

New ops do use values of the module, and such uses are dropped when they are taken back.
"""

# pyright: reportPrivateUsage=false
# The links between ops are rewritten in one go per block: through xDSL's checked
# methods, that alone would cost as much as the rest of the conversion.

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

Group: TypeAlias = "SSAValue | tuple[SSAValue, ...]"
"""What a value has become: one value, or a tuple of none or several."""

Mark: TypeAlias = "tuple[Plan, int, bool, tuple[int, ...]]"


class Plan:
    """The ops that a block will hold."""

    __slots__ = ("block", "casts", "changed", "ops", "outer")

    def __init__(self, block: Block, outer: Plan | None, changed: bool) -> None:
        self.block = block
        self.outer = outer
        self.changed = changed
        """False as long as `ops` are exactly those that are in the block."""
        self.ops: list[Operation] = []
        self.casts: dict[tuple[SSAValue, Attribute], SSAValue] = {}
        """Values that were cast back to a type, for the next op that needs them."""


class State:
    """All that a conversion has done so far."""

    def __init__(self, root: Operation) -> None:
        self.root = root
        self.plan = Plan(Block(), None, True)
        self.values: dict[SSAValue, Group] = {}
        self.blocks: dict[Block, Block] = {}
        self.plans: dict[Block, Plan] = {}
        self.dead: set[Operation] = set()
        self.deferred: set[Block] = set()
        # Logs: each grows at the end, and is cut back to a mark.
        self.value_log: list[SSAValue] = []
        self.plan_log: list[Plan] = []
        self.created: list[Operation] = []
        self.replaced: list[Operation] = []
        self.operand_updates: list[tuple[Operation, list[SSAValue]]] = []
        self.successor_updates: list[tuple[Operation, list[Block]]] = []
        self.placements: list[tuple[Block, Block]] = []
        self.undo_log: list[Callable[[], object]] = []

    def open_plan(self, block: Block, changed: bool) -> Plan:
        """A plan for a block, inside the current one."""
        plan = Plan(block, self.plan, changed)
        self.plans[block] = plan
        self.plan_log.append(plan)
        return plan

    def set_value(self, value: SSAValue, group: Group) -> None:
        """Say what a value has become; each value becomes something once."""
        self.values[value] = group
        self.value_log.append(value)

    def map_block(self, old: Block, new: Block) -> None:
        """Say which block a block becomes; the old one can be moved from once."""
        self.blocks[old] = new
        self.undo_log.append(lambda: self.blocks.pop(old))

    def place(self, block: Block, after: Block) -> None:
        """Put a block behind another: now if that one is new, else at the end."""
        module = self.root.get_toplevel_object()
        if after in self.deferred or after.get_toplevel_object() is module:
            self.placements.append((block, after))
            self.deferred.add(block)
            self.undo_log.append(lambda: self.deferred.discard(block))
        else:
            _place(block, after)
            self.undo_log.append(lambda: _unplace(block))

    def mark(self) -> Mark:
        """A point to go back to."""
        plan = self.plan
        return (
            plan,
            len(plan.ops),
            plan.changed,
            (
                len(self.value_log),
                len(self.plan_log),
                len(self.created),
                len(self.replaced),
                len(self.operand_updates),
                len(self.successor_updates),
                len(self.placements),
                len(self.undo_log),
            ),
        )

    def rollback(self, mark: Mark) -> None:
        """Take back all since a mark."""
        plan, size, changed, lengths = mark
        values, plans, created, replaced, operands, successors, places, undo = lengths
        for action in reversed(self.undo_log[undo:]):
            action()
        for value in self.value_log[values:]:
            del self.values[value]
        for opened in self.plan_log[plans:]:
            self.plans.pop(opened.block, None)
        for op in self.created[created:]:
            drop_uses(op)
        del self.undo_log[undo:]
        del self.value_log[values:]
        del self.plan_log[plans:]
        del self.created[created:]
        del self.replaced[replaced:]
        del self.operand_updates[operands:]
        del self.successor_updates[successors:]
        del self.placements[places:]
        self.plan = plan
        del plan.ops[size:]
        plan.changed = changed

    def commit(self) -> None:
        """Make the module what the conversion planned."""
        for op, operands in self.operand_updates:
            op.operands = operands
        for op, successors in self.successor_updates:
            op.successors = successors
        for old in self.blocks:
            old._first_op = old._last_op = None
        dead = self.dead
        for plan in self.plan_log:
            if plan.changed:
                ops = plan.ops
                if dead:
                    ops = [op for op in ops if op not in dead]
                _link(plan.block, ops)
        for block, after in self.placements:
            _place(block, after)
        for op in self.replaced:
            self._discard(op)
        for op in dead:
            self._discard(op)

    def _discard(self, op: Operation) -> None:
        drop_uses(op)
        op.parent = op._next_op = op._prev_op = None
        for region in op.regions:
            for block in region.blocks:
                if block not in self.blocks:
                    for nested in block.walk():
                        drop_uses(nested)


def drop_uses(op: Operation) -> None:
    """End the uses that an op makes of values and blocks, not those of nested ops."""
    for operand, use in zip(op._operands, op._operand_uses, strict=False):
        operand.remove_use(use)
    op._operand_uses = ()
    if op._successors:
        for successor, use in zip(op._successors, op._successor_uses, strict=False):
            successor.remove_use(use)
        op._successor_uses = ()


def _link(block: Block, ops: list[Operation]) -> None:
    """Make these the ops of a block, wherever they were before."""
    previous: Operation | None = None
    for op in ops:
        op.parent = block
        op._prev_op = previous
        if previous is None:
            block._first_op = op
        else:
            previous._next_op = op
        previous = op
    if previous is None:
        block._first_op = None
    else:
        previous._next_op = None
    block._last_op = previous


def _place(block: Block, after: Block) -> None:
    if block.parent is not None:
        block.parent.detach_block(block)
    region = after.parent
    assert isinstance(region, Region), "a block with a plan is in a region"
    region.insert_block_after(block, after)


def _unplace(block: Block) -> None:
    if block.parent is not None:
        block.parent.detach_block(block)
