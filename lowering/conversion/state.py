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

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

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
        self.operand_updates: dict[Operation, list[SSAValue]] = {}
        self.successor_updates: dict[Operation, list[Block]] = {}
        self.chained = False
        """Whether what a value has become may itself have become something else."""
        self.dead: set[Operation] = set()
        self.deferred: set[Block] = set()
        # Logs: each grows at the end, and is cut back to a mark.
        self.value_log: list[SSAValue] = []
        self.plan_log: list[Plan] = []
        self.created: list[Operation] = []
        self.replaced: list[Operation] = []
        self.placements: list[tuple[Block, Block]] = []
        self.undo_log: list[Callable[[], object]] = []

    def open_plan(self, block: Block, changed: bool) -> Plan:
        """A plan for a block, inside the current one."""
        plan = Plan(block, self.plan, changed)
        self.plans[block] = plan
        self.plan_log.append(plan)
        return plan

    def set_value(self, value: SSAValue, group: Group) -> None:
        """Say what a value has become."""
        previous = self.values.get(value)
        self.values[value] = group
        if previous is None:
            self.value_log.append(value)
        elif previous is not group:
            # What was planned is converted again: a region of a generated op.
            self.chained = True
            self.undo_log.append(lambda: self.values.update({value: previous}))

    def lookup(self, value: SSAValue) -> Group | None:
        """What a value has become in the end; None if it has not been visited."""
        group = self.values.get(value)
        if not self.chained or group is None or group is value:
            return group
        if not isinstance(group, tuple):
            return self.lookup(group) or group
        parts = [self.lookup(part) or (part,) for part in group]
        flat = [v for p in parts for v in (p if isinstance(p, tuple) else (p,))]
        return flat[0] if len(flat) == 1 else tuple(flat)

    def final_block(self, block: Block) -> Block:
        """What a block has become in the end."""
        while (new := self.blocks.get(block)) is not None:
            block = new
        return block

    def operands_of(self, op: Operation) -> Sequence[SSAValue]:
        """The operands of an op that stays, as planned."""
        return self.operand_updates.get(op) or op._operands

    def set_operands(self, op: Operation, operands: list[SSAValue]) -> None:
        """Plan to change the operands of an op that stays."""
        self.undo_log.append(_restore(self.operand_updates, op))
        self.operand_updates[op] = operands

    def successors_of(self, op: Operation) -> Sequence[Block]:
        """The successors of an op that stays, as planned."""
        return self.successor_updates.get(op) or op._successors

    def set_successors(self, op: Operation, successors: list[Block]) -> None:
        """Plan to change the successors of an op that stays."""
        self.undo_log.append(_restore(self.successor_updates, op))
        self.successor_updates[op] = successors

    def planned_successors(self, block: Block) -> Sequence[Block]:
        """Where a block branches to, as planned."""
        plan = self.plans.get(block)
        last = block._last_op if plan is None else plan.ops[-1] if plan.ops else None
        return () if last is None else self.successors_of(last)

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
                len(self.placements),
                len(self.undo_log),
            ),
        )

    def rollback(self, mark: Mark) -> None:
        """Take back all since a mark."""
        plan, size, changed, lengths = mark
        values, plans, created, replaced, places, undo = lengths
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
        del self.placements[places:]
        self.plan = plan
        del plan.ops[size:]
        plan.changed = changed

    def commit(self) -> None:
        """Make the module what the conversion planned."""
        for op, operands in self.operand_updates.items():
            op.operands = operands
        for op, successors in self.successor_updates.items():
            op.successors = successors
        for old in self.blocks:
            old._first_op = old._last_op = None
        dead = self.dead
        for plan in self.plan_log:
            if plan.changed and plan.block not in self.blocks:
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


_T = TypeVar("_T")


def _restore(planned: dict[Operation, _T], op: Operation) -> Callable[[], object]:
    """An action that takes back what is about to be planned for an op."""
    if op not in planned:
        return lambda: planned.pop(op)
    previous = planned[op]
    return lambda: planned.update({op: previous})


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
