"""
What values become, and in which types: `Values`.
"""

# pyright: reportPrivateUsage=false
# Operands are read without the views that xDSL makes of them.

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from transom.dialects.diagnostics import location_of
from transom.lowering.conversion.frame import frame_of_hook
from transom.lowering.conversion.pattern import (
    Blocked,
    Operands,
    PatternError,
    Refusal,
    RefusalError,
    name_of_op,
)
from transom.lowering.conversion.report import Failure, types_of
from transom.lowering.conversion.state import Group, Plan
from transom.lowering.conversion.type_converter import TypeConverter, types_text

if TYPE_CHECKING:
    from transom.lowering.conversion.engine import Engine


class Values:
    """
    The values of the input as ops need them that stay, and as patterns want them.

    A value may be needed before its op has been visited: in a graph region or a block
    that cannot be reached. A cast without operands stands for it until the end.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._state = engine.state
        self._stand_ins: dict[
            tuple[SSAValue, tuple[Attribute, ...]], UnrealizedConversionCastOp
        ] = {}
        self._has_outside = engine.root.get_toplevel_object() is not engine.root
        self._unseen: list[tuple[SSAValue, str]] = []

    def operands(self, op: Operation, converter: TypeConverter | None) -> Operands:
        """The operands of an op in the types that a pattern expects."""
        assert self._engine.frame is not None, "operands are for a pattern"
        watched = self._engine.frame.watched
        state = self._state
        lookup = state.lookup if state.chained else state.values.get
        groups: list[Group] = []
        for index, value in enumerate(op._operands):
            group = lookup(value)
            if group is not value:
                watched.append((value, value.first_use))
            if group is None or isinstance(group, tuple):
                group = self.converted(value, converter, index)
            else:
                watched.append((group, group.first_use))
                if converter is not None:
                    wanted = converter.convert(value._type)
                    if len(wanted) != 1 or wanted[0] is not group._type:
                        group = self.converted(value, converter, index)
            groups.append(group)
        return Operands(op, groups)

    def converted(
        self, value: SSAValue, converter: TypeConverter | None, index: int | None = None
    ) -> Group:
        """What a value has become, in the types that a converter asks for."""
        group = self._state.lookup(value)
        wanted = (value.type,) if converter is None else converter.convert(value.type)
        if group is None:
            group = self.stand_in_or_outside(value, wanted)
        have = group if isinstance(group, tuple) else (group,)
        if self._engine.frame is not None:
            self._engine.frame.watched.extend((v, v.first_use) for v in have)
        if converter is not None and (
            len(have) != len(wanted)
            or any(h.type != w for h, w in zip(have, wanted, strict=True))
        ):
            group = self.to_target(converter, wanted, have, value, index)
        return group

    # Materialisations

    def to_target(
        self,
        converter: TypeConverter,
        wanted: tuple[Attribute, ...],
        have: tuple[SSAValue, ...],
        value: SSAValue,
        index: int | None,
    ) -> Group:
        """Values of the wanted types, by a target materialisation."""
        outer = self._engine.frame
        assert outer is not None, "patterns ask for types, and they have a frame"
        self._engine.frame = frame_of_hook(outer.op, outer.location, outer, self._state)
        try:
            made = converter.to_target(self._engine.rewriter, wanted, have, value.type)
            if made is None and self._engine.is_stopped:
                made = self._cast(have, wanted)
        finally:
            self._engine.frame = outer
        if made is None:
            raise RefusalError(self._no_target(wanted, have, value, index))
        assert len(made) == len(wanted), "a target materialisation gives all values"
        return made[0] if len(made) == 1 else made

    def _no_target(
        self,
        wanted: tuple[Attribute, ...],
        have: tuple[SSAValue, ...],
        value: SSAValue,
        index: int | None,
    ) -> Refusal:
        for op in self._engine.outcome.failed_ops():
            if value.owner is op:
                name = name_of_op(op)
                return Blocked(f"operand {index} comes from '{name}', which stayed")
        where = "in its pattern" if index is None else f"for operand {index}"
        text = _hook_text("target", have, wanted, where)
        return Refusal(f"no target materialization {text}")

    def to_source(
        self, op: Operation, index: int, value: SSAValue, group: Group
    ) -> SSAValue:
        """A value of the type that an op has always had for an operand."""
        have = group if isinstance(group, tuple) else (group,)
        key = (value, value.type)
        plan: Plan | None = self._state.plan
        while plan is not None:
            if (cast := plan.casts.get(key)) is not None:
                return cast
            plan = plan.outer
        made = None
        converter = self._engine.converter
        if converter is None and self._engine.frame is not None:
            converter = self._engine.frame.converter
        if converter is not None:
            outer = self._engine.frame
            self._engine.frame = frame_of_hook(op, op.location, outer, self._state)
            try:
                made = converter.to_source(self._engine.rewriter, value.type, have)
                if made is None and self._engine.is_stopped:
                    (made,) = self._cast(have, (value.type,))
            finally:
                self._engine.frame = outer
        if made is None:
            where = f"for operand {index}"
            self._fail(op, "source", have, (value.type,), where)
            return value
        casts = self._state.plan.casts
        casts[key] = made
        self._state.undo_log.append(lambda: casts.pop(key))
        return made

    def _cast(
        self, have: tuple[SSAValue, ...], wanted: tuple[Attribute, ...]
    ) -> tuple[SSAValue, ...]:
        """What stands between converted ops and those that stay for now."""
        cast = UnrealizedConversionCastOp.get(have, wanted)
        return tuple(self._engine.rewriter.insert(cast).results)

    def _fail(
        self,
        op: Operation,
        hook: str,
        have: tuple[SSAValue, ...],
        types: tuple[Attribute, ...],
        where: str,
    ) -> None:
        if self._engine.outcome.last_failed() is op:
            return  # it stays for another reason, with the operands that it has
        failure = Failure(
            name_of_op(op),
            location_of(op),
            types_of(op),
            headline=f"no {hook} materialization for",
            cause=_hook_text(hook, have, types, where),
        )
        self._engine.outcome.fail(failure, op, None)

    # Values that are used before they are visited

    def note_unseen(self, value: SSAValue, pattern: str) -> None:
        """Remember that a pattern used a value as if it had been inserted."""
        self._unseen.append((value, pattern))
        self._state.undo_log.append(self._unseen.pop)

    def check_unseen(self) -> None:
        """Raise PatternError if a value was not what the pattern took it for."""
        for value, pattern in self._unseen:
            if self._state.values.get(value) is not value:
                raise PatternError(
                    f"{pattern} replaces a result by a value of type '{value.type}' "
                    "that was not inserted before"
                )

    def stand_in_or_outside(
        self, value: SSAValue, types: tuple[Attribute, ...]
    ) -> Group:
        """A value from outside the root, or what stands for one that comes later."""
        state = self._state
        if self._has_outside and not self._engine.root.is_ancestor(value.owner):
            top = value.owner.get_toplevel_object()
            if top is self._engine.root.get_toplevel_object():
                state.set_value(value, value)
                return value
        cast = self._stand_ins.get((value, types))
        if cast is None:
            cast = UnrealizedConversionCastOp.create(result_types=types)
            self._stand_ins[value, types] = cast
            # Not in the log: what stands for a value outlives what is taken back.
            state.values.update((result, result) for result in cast.results)
        return cast.results[0] if len(types) == 1 else tuple(cast.results)

    def resolve_stand_ins(self) -> None:
        """Put what values have become in place of what stood for them."""
        state = self._state
        for (value, types), cast in self._stand_ins.items():
            stand_ins = set[SSAValue](cast.results)
            updates = [
                (op, operands)
                for op, operands in state.operand_updates.items()
                if stand_ins.intersection(operands)
            ]
            users = [use.operation for result in cast.results for use in result.uses]
            users.extend(op for op, _ in updates)
            if not users:
                continue
            group = state.lookup(value)
            if group is None:
                raise PatternError(
                    f"'{name_of_op(users[0])}' uses a value that was never inserted"
                )
            have = group if isinstance(group, tuple) else (group,)
            if tuple(v.type for v in have) != types:
                have = self._after_definition(users[0], value, have, types)
            becomes = dict(zip(cast.results, have, strict=True))
            for old, new in becomes.items():
                old.replace_all_uses_with(new)
            for _, operands in updates:
                operands[:] = [becomes.get(v, v) for v in operands]  # pyright: ignore[reportArgumentType, reportCallIssue] # keys are results

    def _after_definition(
        self,
        user: Operation,
        value: SSAValue,
        have: tuple[SSAValue, ...],
        types: tuple[Attribute, ...],
    ) -> tuple[SSAValue, ...]:
        """Values in the types that a user expects that comes before them."""
        state, converter = self._state, self._engine.converter
        owners = {v.owner for v in have}
        for plan in state.plan_log:
            places = [i + 1 for i, op in enumerate(plan.ops) if op in owners]
            if not (places or plan.block in owners) or converter is None:
                continue
            outer, state.plan = state.plan, Plan(Block(), plan, True)
            self._engine.frame = frame_of_hook(user, user.location, None, state)
            made: tuple[SSAValue, ...] | None
            if types == (value.type,):
                source = converter.to_source(self._engine.rewriter, value.type, have)
                made = None if source is None else (source,)
            else:
                made = converter.to_target(
                    self._engine.rewriter, types, have, value.type
                )
            at = max(places, default=0)
            plan.ops[at:at] = state.plan.ops
            plan.changed = True
            self._engine.frame, state.plan = None, outer
            if made is not None:
                return made
        hook = "source" if types == (value.type,) else "target"
        self._fail(user, hook, have, types, "for a value that is defined later")
        return tuple(UnrealizedConversionCastOp.get((), types).results)


def _hook_text(
    hook: str, have: tuple[SSAValue, ...], types: tuple[Attribute, ...], where: str
) -> str:
    return (
        f"from {types_text(v.type for v in have)} to {types_text(types)} {where}; see "
        f"TypeConverter.add_{hook}_materialization"
    )
