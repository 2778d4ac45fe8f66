"""
What a pattern works with: `ConversionRewriter`.
"""

# pyright: reportPrivateUsage=false
# Name hints that are valid on a value are valid on another, and are not checked again.

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn, TypeAlias, TypeVar

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import (
    Attribute,
    Block,
    BlockArgument,
    Operation,
    OpResult,
    Region,
    SSAValue,
)

from transom.lowering.conversion.frame import Frame, frame_of_terminator
from transom.lowering.conversion.order import dominance_order
from transom.lowering.conversion.pattern import (
    Operands,
    PatternError,
    Refusal,
    RefusalError,
    name_of_op,
)
from transom.lowering.conversion.state import Group, Plan, State
from transom.lowering.conversion.type_converter import Signature, TypeConverter

if TYPE_CHECKING:
    from transom.lowering.conversion.engine import Engine

OpT = TypeVar("OpT", bound=Operation)

Replacement: TypeAlias = "SSAValue | Operation | Sequence[SSAValue]"
"""The value in place of a result, an op with that one result, or several values."""

TerminatorHook: TypeAlias = Callable[[Operation, Operands], "Refusal | None"]
"""Called in place of converting an op that ends a region."""

Prologue: TypeAlias = Callable[
    ["tuple[tuple[BlockArgument, ...], ...]"],
    "Sequence[SSAValue | Sequence[SSAValue]]",
]
"""From the new arguments of an entry block to what the old arguments become."""


class ConversionRewriter:
    """
    How a pattern replaces its op.

    Ops are inserted where the op is, in the order in which they are inserted. Each gets
    the location of the op unless it has one, and if it is illegal it is converted at
    once. The module itself does not change before the whole conversion has succeeded:
    inserted ops have no parent yet, and the blocks of converted regions no ops.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._state: State = engine.state

    @property
    def converter(self) -> TypeConverter | None:
        """The type converter in force."""
        return self._frame.converter

    @property
    def location(self) -> LocationAttr:
        """The location that inserted ops get."""
        return self._frame.location

    @property
    def root(self) -> Operation:
        """The op whose contents are converted, as it was: look symbols up here."""
        return self._engine.root

    @property
    def block(self) -> Block:
        """The block that ops are inserted into."""
        return self._state.plan.block

    # Ops

    def insert(self, op: OpT) -> OpT:
        """
        Insert a new op, with all that it holds.

        Where the op is illegal, its results become those of its own conversion; later
        ops may use the results of either.
        """
        frame = self._frame
        if op.parent is not None:
            raise PatternError(f"'{name_of_op(op)}' is inserted twice")
        if op.location is UNKNOWN_LOC:
            op.location = frame.location
        state = self._state
        state.created.append(op)
        if frame.pattern is not None:
            self._engine.check_generates(frame.pattern, op)
        if op.regions:
            self._adopt(op, frame)
        state.plan.changed = True
        self._engine.accept(op)
        return op

    def replace(
        self,
        op: Operation,
        new_ops: Operation | Sequence[Operation],
        new_results: Sequence[Replacement | None] | None = None,
    ) -> None:
        """
        Insert ops, and replace the results of the op that is being rewritten.

        The results are by default those of the last new op. None in place of one, or an
        empty sequence, says that nothing takes its place.
        """
        if isinstance(new_ops, Operation):
            new_ops = (new_ops,)
        for new_op in new_ops:
            self.insert(new_op)
        results: Sequence[Replacement | None]
        if new_results is not None:
            results = new_results
        else:
            results = new_ops[-1].results if new_ops else ()
        frame = self._frame
        self._check_replaced(frame, op)
        if len(results) != len(op.results):
            assert frame.pattern is not None, "only patterns replace ops"
            raise PatternError(
                f"{frame.pattern.name} replaces the {len(op.results)} results of "
                f"'{name_of_op(op)}' by {len(results)}"
            )
        state = self._state
        for old, new in zip(op.results, results, strict=True):
            # `isinstance` is slow for the abstract classes of values.
            group = state.lookup(new) if type(new) is OpResult else None
            if group is None:
                group = self._resolve(new)
            state.set_value(old, group)
            if old._name is not None:
                for value in group if isinstance(group, tuple) else (group,):
                    if value._name is None:
                        value._name = old._name
        if op.attributes and not frame.carried:
            self._carry_attributes(op, frame)
        self._mark_replaced(frame, op)

    def erase(self, op: Operation) -> None:
        """Replace the op that is being rewritten by nothing."""
        frame = self._frame
        self._check_replaced(frame, op)
        for result in op.results:
            self._state.set_value(result, ())
        if op.attributes:
            self._engine.drop(op, self._engine.discardable(op))
        self._mark_replaced(frame, op)

    def carry_to(self, new_op: OpT) -> OpT:
        """
        Let a new op, before it is inserted, take the place of the op that is being
        rewritten, with its discardable attributes: for ops that become control flow.
        """
        frame = self._frame
        for name in self._engine.discardable(frame.op):
            new_op.attributes.setdefault(name, frame.op.attributes[name])
        frame.carried = True
        return new_op

    def refuse(self, reason: str) -> NoReturn:
        """Refuse the op from anywhere inside a pattern."""
        raise RefusalError(Refusal(reason))

    # Values

    def converted(self, value: SSAValue) -> SSAValue:
        """The one value that a value of the input has become."""
        group = self._engine.values.converted(value, self._frame.converter)
        if isinstance(group, tuple):
            raise PatternError(
                f"a value of type '{value.type}' has become {len(group)} values; use "
                "converted_group"
            )
        return group

    def converted_group(self, value: SSAValue) -> tuple[SSAValue, ...]:
        """The values that a value of the input has become."""
        group = self._engine.values.converted(value, self._frame.converter)
        return group if isinstance(group, tuple) else (group,)

    def materialize(
        self, types: Sequence[Attribute], values: Sequence[SSAValue]
    ) -> tuple[SSAValue, ...]:
        """Values of some types, made of others by a target materialisation."""
        converter = self._frame.converter
        assert converter is not None, "there is no type converter"
        value = values[0]
        made = self._engine.values.to_target(
            converter, tuple(types), tuple(values), value, None
        )
        return made if isinstance(made, tuple) else (made,)

    # Regions and blocks

    def converted_block(self, block: Block) -> Block:
        """The block that a block of the input becomes: for successors."""
        return self._state.final_block(block)

    def convert_region(
        self,
        region: Region,
        converter: TypeConverter | None = None,
        *,
        signature: Signature | None = None,
        extra_types: Sequence[Attribute] = (),
        prologue: Prologue | None = None,
        terminator: TerminatorHook | None = None,
    ) -> Region:
        """
        A new region with what the region of an op becomes.

        The arguments of its blocks have converted types; `signature` and `extra_types`
        say otherwise for the entry block. `prologue` may insert ops at its start and
        chooses what the old arguments become. `terminator` is called in place of
        converting the ops that end the region. A region that has been converted already
        is copied, unless its op was generated in this conversion: that refuses.
        """
        state, engine, frame = self._state, self._engine, self._frame
        if region.first_block in state.blocks:
            region = self._copy(region)
        converter = converter or frame.converter
        result = Region()
        for block in region.blocks:
            new_block = Block()
            new_block._name = block._name
            state.map_block(block, new_block)
            result.add_block(new_block)
            is_entry = block is region.first_block
            self._convert_arguments(
                block,
                new_block,
                converter,
                signature if is_entry else None,
                extra_types if is_entry else (),
                prologue if is_entry else None,
            )
        for block in dominance_order(region, state.planned_successors):
            new_block = state.blocks[block]
            hook = self._terminator(frame, terminator)
            engine.visit_block(block, state.plans[new_block], engine.visit, hook)
        return result

    def inline_block(
        self, block: Block, arguments: Sequence[SSAValue | Sequence[SSAValue]]
    ) -> Operands:
        """
        Convert the ops of a block here, and return the operands of its terminator.

        The terminator itself is dropped. The block is the only one of its region; if it
        has been converted already it is copied. Where its ops have split the current
        block, what follows is inserted into the last part.
        """
        region = block.parent
        assert region is not None, "a block of the input is in a region"
        state, frame = self._state, self._frame
        if block in state.blocks:
            block = self._copy(region).block
        state.map_block(block, state.plan.block)
        for old, new in zip(block.args, arguments, strict=True):
            state.set_value(old, self._resolve(new))
        ends: list[Operands] = []

        def keep_operands(op: Operation, operands: Operands) -> None:
            ends.append(operands)

        hook = self._terminator(frame, keep_operands)
        engine = self._engine
        state.plan = engine.visit_block(block, state.plan, engine.visit, hook)
        if not ends:
            return Operands(frame.op, ())
        return ends[0]

    def new_block(
        self, types: Iterable[Attribute] = (), locations: Iterable[LocationAttr] = ()
    ) -> Block:
        """A block that is in no region yet; see `append_blocks`, `continue_in`."""
        block = Block(arg_types=types)
        places = iter(locations)
        for arg in block.args:
            arg.location = next(places, self._frame.location)
            self._state.set_value(arg, arg)
        self._state.open_plan(block, True)
        return block

    def append_blocks(self, blocks: Region | Sequence[Block]) -> None:
        """Put new blocks behind the current one, behind those put there before."""
        if isinstance(blocks, Region):
            blocks = tuple(blocks.blocks)
        frame, current = self._frame, self._state.plan.block
        if frame.tail is None or frame.tail_of is not current:
            frame.tail, frame.tail_of = current, current
        for block in blocks:
            self._state.place(block, frame.tail)
            frame.tail = block

    def continue_in(self, block: Block) -> None:
        """
        Put a new block behind the current one; it takes what follows, also the ops of
        the input that come after the op that is being rewritten.
        """
        self.append_blocks((block,))
        self._state.plan = self._plan_of(block)
        self._frame.tail_of = block

    @contextmanager
    def at_end(self, block: Block) -> Generator[None, None, None]:
        """Insert at the end of a block, of the pattern's own or one that is planned."""
        with self._collect(block) as (plan, ops):
            yield
        self._splice(plan, len(plan.ops), ops)

    @contextmanager
    def at_start(self, block: Block) -> Generator[None, None, None]:
        """Insert at the start of a block."""
        with self._collect(block) as (plan, ops):
            yield
        self._splice(plan, 0, ops)

    # Parts

    @property
    def _frame(self) -> Frame:
        frame = self._engine.frame
        assert frame is not None, "a rewriter is used inside of a pattern"
        return frame

    def _check_replaced(self, frame: Frame, op: Operation) -> None:
        if op is not frame.op or frame.replaced:
            name = "a hook" if frame.pattern is None else frame.pattern.name
            raise PatternError(
                f"{name} replaces '{name_of_op(op)}', which is not (or no longer) "
                "the op that is being rewritten"
            )

    def _mark_replaced(self, frame: Frame, op: Operation) -> None:
        frame.replaced = True
        self._state.replaced.append(op)
        self._state.plan.changed = True

    def _adopt(self, op: Operation, frame: Frame) -> None:
        """Treat the ops that an inserted op holds as inserted, too."""
        for nested in op.walk():
            if nested is not op:
                self._adopt_one(nested, frame)

    def _adopt_one(self, op: Operation, frame: Frame) -> None:
        if op.location is UNKNOWN_LOC:
            op.location = frame.location
        self._state.created.append(op)
        if frame.pattern is not None:
            self._engine.check_generates(frame.pattern, op)

    def _resolve(self, new: Replacement | None) -> Group:
        """What a value given as a replacement stands for."""
        if new is None:
            return ()
        if isinstance(new, Operation):
            new = SSAValue.get(new)
        if isinstance(new, SSAValue):
            return self._resolve_value(new)
        values: list[SSAValue] = []
        for value in new:
            group = self._resolve_value(value)
            values.extend(group if isinstance(group, tuple) else (group,))
        return values[0] if len(values) == 1 else tuple(values)

    def _resolve_value(self, value: SSAValue) -> Group:
        group = self._state.lookup(value)
        if group is not None:
            return group
        pattern = self._frame.pattern
        name = "a hook" if pattern is None else pattern.name
        self._engine.values.note_unseen(value, name)
        return value

    def _carry_attributes(self, op: Operation, frame: Frame) -> None:
        names = self._engine.discardable(op)
        if not names:
            return
        carrier = self._carrier(op, frame)
        if carrier is None:
            self._engine.drop(op, names)
            return
        for name in names:
            carrier.attributes.setdefault(name, op.attributes[name])

    def _carrier(self, op: Operation, frame: Frame) -> Operation | None:
        """The new op that takes the place of an old one."""
        state = self._state
        created = state.created[frame.created :]
        if not op.results:
            last = state.plan.ops[-1] if state.plan.ops else None
            return last if any(last is new for new in created) else None
        for result in op.results:
            group = state.lookup(result) or ()
            for value in group if isinstance(group, tuple) else (group,):
                owner = value.owner
                if any(owner is new for new in created):
                    assert isinstance(owner, Operation), "created are ops"
                    return owner
        return None

    def _convert_arguments(
        self,
        block: Block,
        new_block: Block,
        converter: TypeConverter | None,
        signature: Signature | None,
        extra_types: Sequence[Attribute],
        prologue: Prologue | None,
    ) -> None:
        state = self._state
        plan = state.open_plan(new_block, True)
        if signature is None:
            types = [arg.type for arg in block.args]
            if converter is None:
                signature = Signature(tuple((t,) for t in types))
            else:
                signature = converter.convert_signature(types)
        groups: list[tuple[BlockArgument, ...]] = []
        for old, types in zip(block.args, signature.groups, strict=True):
            group = tuple(self._add_arg(new_block, t, old.location) for t in types)
            for arg in group:
                arg._name = old._name
            groups.append(group)
        for type in extra_types:
            self._add_arg(new_block, type, self._frame.location)
        becomes: Sequence[SSAValue | Sequence[SSAValue]] = groups
        if prologue is not None:
            outer, state.plan = state.plan, plan
            becomes = prologue(tuple(groups))
            state.plan = outer
        for old, new in zip(block.args, becomes, strict=True):
            state.set_value(old, self._resolve(new))

    def _add_arg(
        self, block: Block, type: Attribute, location: LocationAttr
    ) -> BlockArgument:
        if location is UNKNOWN_LOC:
            location = self._frame.location
        arg = block.insert_arg(type, len(block.args), location)
        self._state.set_value(arg, arg)
        return arg

    def _terminator(
        self, outer: Frame, hook: TerminatorHook | None
    ) -> Callable[[Operation], None] | None:
        """What to call on the op that ends a region, in a frame of its own."""
        if hook is None:
            return None

        def convert(op: Operation) -> None:
            engine, state = self._engine, self._state
            frame = frame_of_terminator(op, outer, state)
            saved, engine.frame = engine.frame, frame
            try:
                refusal = hook(op, engine.values.operands(op, frame.converter))
                if op.attributes:
                    self._carry_attributes(op, frame)
            finally:
                engine.frame = saved
            if isinstance(refusal, Refusal):
                raise RefusalError(refusal)
            state.replaced.append(op)

        return convert

    def _copy(self, region: Region) -> Region:
        """A copy of a region of the input, whose ops are converted as the others."""
        if region.first_block in self._state.plans:
            # Its ops are known as planned, and the first conversion changed the plan.
            self.refuse("a region of an op that a pattern generated is converted once")
        copy = region.clone()
        self._state.created.extend(copy.walk())
        return copy

    def _plan_of(self, block: Block) -> Plan:
        state = self._state
        plan = state.plans.get(block)
        if plan is not None:
            return plan
        if block.get_toplevel_object() is state.root.get_toplevel_object():
            raise PatternError("a block of the input is not visited yet")
        frame = self._frame
        for op in block.walk():
            self._adopt_one(op, frame)
        for arg in block.args:
            state.set_value(arg, arg)
        plan = state.open_plan(block, False)
        self._engine.visit_block(block, plan, self._engine.accept)
        return plan

    @contextmanager
    def _collect(
        self, block: Block
    ) -> Generator[tuple[Plan, list[Operation]], None, None]:
        """Insert into a list, with the place of a block."""
        state = self._state
        plan = self._plan_of(block)
        outer, state.plan = state.plan, Plan(block, plan, True)
        try:
            yield plan, state.plan.ops
        finally:
            state.plan = outer

    def _splice(self, plan: Plan, at: int, ops: list[Operation]) -> None:
        if not ops:
            return
        count, changed = len(ops), plan.changed
        plan.ops[at:at] = ops
        plan.changed = True

        def undo() -> None:
            del plan.ops[at : at + count]
            plan.changed = changed

        self._state.undo_log.append(undo)
