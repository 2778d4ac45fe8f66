"""
One run of a conversion: which ops stay, which patterns are applied, what is undone.

The ops of the input are visited once, outermost first, in an order in which values come
before their uses. A legal op stays; an illegal one is given to its patterns, best
first. An op that a pattern inserts is dealt with at once in the same way, and if it
cannot be made legal then that pattern has failed, and is taken back.
"""

# pyright: reportPrivateUsage=false
# Loops over the ops of a block read the links between them: the checked accessors of
# xDSL cost more there than all that is done for a legal op.

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn, TypeAlias

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr, UnrealizedConversionCastOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import IsTerminator, is_side_effect_free

from transom.lowering.conversion.order import dominance_order
from transom.lowering.conversion.pattern import (
    ConversionPattern,
    Operands,
    PatternError,
    PatternSet,
    Refusal,
    RefusalError,
    name_of_op,
)
from transom.lowering.conversion.report import (
    BudgetError,
    ConversionReport,
    Dropped,
    Failure,
    Refused,
    failure_of,
    types_of,
)
from transom.lowering.conversion.rewriter import ConversionRewriter
from transom.lowering.conversion.state import Group, Mark, Plan, State
from transom.lowering.conversion.target import (
    ConversionTarget,
    Legality,
    Predicate,
)
from transom.lowering.conversion.type_converter import TypeConverter, types_text

MAX_DEPTH: Final = 100
"""How long a chain of patterns may be in which each rewrites what the last inserted."""


Visitor: TypeAlias = Callable[[Operation], None]


@dataclass(slots=True)
class Case:
    """All that is known about the ops of one class."""

    name: str
    legality: Legality
    predicate: Predicate | None
    recursive: Predicate | None
    patterns: Sequence[ConversionPattern[Operation]]
    cause: str | None
    inherent: frozenset[str] | None
    """Attributes that are not discardable; None: those without a dialect's prefix."""


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
    watched: list[tuple[SSAValue, object]]
    """Values that the pattern was given, and their last use before."""
    replaced: bool = False
    tail: Block | None = None
    """The last of the blocks put behind the current one."""
    tail_of: Block | None = None
    """The block that was current then: nested rewrites may have split it."""


class Engine:
    """The run of one conversion on one op."""

    def __init__(
        self,
        root: Operation,
        target: ConversionTarget,
        patterns: PatternSet,
        converter: TypeConverter | None,
        closed: bool,
        budget: int,
    ) -> None:
        self.root = root
        self.target = target
        self.patterns = patterns
        self.converter = converter
        self.closed = closed
        self.budget = budget
        self.report = ConversionReport()
        self.state = State(root)
        self.frame: Frame | None = None
        self.rewriter = ConversionRewriter(self)
        self._cases: dict[type[Operation], Case] = {}
        self._generates: dict[
            tuple[ConversionPattern[Operation], type[Operation]], bool
        ] = {}
        self._all_legal = False
        self._work = 0
        self._failed: list[tuple[Failure, Operation, Plan | None]] = []
        self._kept: list[Failure] = []
        self._dropped: list[Dropped] = []
        self._done: list[tuple[str, str | None]] = []
        self._refused: tuple[Refused, ...] = ()
        self._placeholders: dict[
            tuple[SSAValue, tuple[Attribute, ...]], UnrealizedConversionCastOp
        ] = {}
        self.unseen: list[tuple[SSAValue, str]] = []
        self._outside_top = root.get_toplevel_object() is not root

    # The input

    def run(self) -> None:
        """Visit all that the root holds; the module is not changed."""
        for region in self.root.regions:
            self.visit_region(region, self.visit)
        self._check_unseen()
        self._resolve_placeholders()
        self._drop_consumed()
        self._blame_consumers()
        report = self.report
        report.failures = [failure for failure, _, _ in self._failed]
        report.kept = self._kept
        report.dropped = self._dropped
        for pattern, op_name in self._done:
            report.rewrites[pattern] += 1
            if op_name is not None:
                report.converted[op_name] += 1

    def visit_region(self, region: Region, visit: Visitor) -> None:
        """Visit the ops of a region that stays where it is."""
        state = self.state
        for block in dominance_order(region):
            if block not in state.plans:
                for arg in block._args:
                    state.set_value(arg, arg)
                self.visit_block(block, state.open_plan(block, False), visit)

    def visit_block(
        self,
        block: Block,
        plan: Plan,
        visit: Visitor,
        terminator: Visitor | None = None,
    ) -> Plan:
        """
        Visit the ops of a block, to be planned for another or the same block; give the
        plan of the block in which they end.
        """
        state = self.state
        saved, state.plan = state.plan, plan
        op = block._first_op
        while op is not None:
            following = op._next_op
            if following is None and terminator is not None and _ends_region(op):
                terminator(op)
            else:
                visit(op)
            op = following
        saved, state.plan = state.plan, saved
        return saved

    def visit(self, op: Operation) -> None:
        """Decide on an op of the input."""
        case = self._cases.get(op.__class__) or self._case(op)
        legality, cause = case.legality, case.cause
        if self._all_legal:
            legality = Legality.LEGAL
        elif legality is Legality.DYNAMIC:
            legality, cause = self._ask(case, op)
        if legality is not Legality.LEGAL:
            self._refused = ()
            if case.patterns and self._convert(op, case, case.name):
                return
            failure = failure_of(op, cause, self._refused)
            if legality is Legality.ILLEGAL:
                self._fail(failure, op)
            elif case.patterns:
                self._kept.append(failure)
        self._keep(op, case, self.visit)

    def accept(self, op: Operation) -> None:
        """Deal with an op that a pattern inserted; raises RefusalError if it cannot."""
        case = self._cases.get(op.__class__) or self._case(op)
        legality, cause = case.legality, case.cause
        if legality is Legality.DYNAMIC:
            legality, cause = self._ask(case, op)
        if legality is not Legality.LEGAL:
            self._refused = ()
            if case.patterns and self._convert(op, case, None):
                return
            if legality is Legality.ILLEGAL:
                reason = failure_of(op, cause, self._refused).reason
                raise RefusalError(
                    Refusal(
                        f"generated '{case.name}', which has no legal form ({reason})"
                    )
                )
        self._keep(op, case, self.accept)

    def _keep(self, op: Operation, case: Case, visit: Visitor) -> None:
        """Leave an op as it is, but for its operands, successors and contents."""
        state = self.state
        values = state.values
        operands: list[SSAValue] | None = None
        for index, value in enumerate(op._operands):
            group = values.get(value)
            if group is value:
                continue
            if group is None:
                group = self._missing(value, (value.type,))
                if group is value:
                    continue
            if isinstance(group, tuple) or group.type != value.type:
                group = self._to_source(op, index, value, group)
            if operands is None:
                operands = list(op._operands)
            operands[index] = group
        if operands is not None:
            state.operand_updates.append((op, operands))
        if op._successors:
            blocks = state.blocks
            successors = [blocks.get(s, s) for s in op._successors]
            if any(s in blocks for s in op._successors):
                state.successor_updates.append((op, successors))
        for result in op.results:
            values[result] = result
            state.value_log.append(result)
        state.plan.ops.append(op)
        if op.regions:
            saved = self._all_legal
            if case.recursive is not None and not saved:
                self._all_legal = case.recursive(op) is True
            for region in op.regions:
                self.visit_region(region, visit)
            self._all_legal = saved

    # Patterns

    def _convert(self, op: Operation, case: Case, op_name: str | None) -> bool:
        """Try the patterns of an op; leaves what they said in `_refused`."""
        outer = self.frame
        depth = 0 if op_name is not None or outer is None else outer.depth + 1
        if depth > MAX_DEPTH:
            self._out_of_budget()
        location = op.location
        if location is UNKNOWN_LOC and outer is not None:
            location = outer.location
        refused: list[Refused] = []
        state = self.state
        for pattern in case.patterns:
            mark = state.mark()
            marks = len(self._failed), len(self._kept), len(self._dropped)
            done = len(self._done)
            converter = pattern.converter or self.converter
            self.frame = frame = Frame(
                op, location, pattern, converter, outer, depth, len(state.created), []
            )
            try:
                operands = self.operands(op, converter)
                refusal = pattern.match_and_rewrite(op, operands, self.rewriter)
            except RefusalError as e:
                refusal = e.refusal
            except Exception as e:  # whatever a pattern of someone else raises
                e.add_note(f"in {pattern.name} on '{case.name}'")
                raise
            finally:
                self.frame = outer
            if refusal is None:
                if not frame.replaced:
                    raise PatternError(
                        f"{pattern.name} neither replaced '{case.name}' nor refused it"
                    )
                self._done.append((pattern.name, op_name))
                self._spend(frame)
                return True
            if len(state.created) > frame.created:
                self._spend(frame)
            self._take_back(mark, frame, marks, done)
            refused.append(Refused(pattern.name, refusal.reason))
        self._refused = tuple(refused)
        return False

    def _spend(self, frame: Frame) -> None:
        self._work += 1
        if self._work > self.budget:
            self.frame = frame
            self._out_of_budget()

    def _take_back(
        self, mark: Mark, frame: Frame, marks: tuple[int, int, int], done: int
    ) -> None:
        """Undo a pattern that refused, also the uses by ops it never inserted."""
        self.state.rollback(mark)
        for value, last_use in frame.watched:
            while value.first_use is not last_use and value.first_use is not None:
                value.remove_use(value.first_use)
        del self._failed[marks[0] :]
        del self._kept[marks[1] :]
        del self._dropped[marks[2] :]
        del self._done[done:]

    def nested_frame(self, op: Operation, outer: Frame) -> Frame:
        """A frame for an op that the pattern around it deals with."""
        location = outer.location if op.location is UNKNOWN_LOC else op.location
        created = len(self.state.created)
        return Frame(
            op,
            location,
            outer.pattern,
            outer.converter,
            outer,
            outer.depth,
            created,
            [],
        )

    def operands(self, op: Operation, converter: TypeConverter | None) -> Operands:
        """The operands of an op in the types that a pattern expects."""
        assert self.frame is not None, "operands are for a pattern"
        watched = self.frame.watched
        values = self.state.values
        groups: list[Group] = []
        for index, value in enumerate(op._operands):
            group = values.get(value)
            if group is None or isinstance(group, tuple):
                group = self.converted(value, converter, index)
            else:
                if converter is not None:
                    wanted = converter.convert(value._type)
                    if len(wanted) != 1 or wanted[0] is not group._type:
                        group = self.converted(value, converter, index)
                if not isinstance(group, tuple):
                    watched.append((group, group.first_use))
            groups.append(group)
        return Operands(op, groups)

    def converted(
        self, value: SSAValue, converter: TypeConverter | None, index: int | None = None
    ) -> Group:
        """What a value has become, in the types that a converter asks for."""
        group = self.state.values.get(value)
        wanted = (value.type,) if converter is None else converter.convert(value.type)
        if group is None:
            group = self._missing(value, wanted)
        if converter is not None:
            have = group if isinstance(group, tuple) else (group,)
            if len(have) != len(wanted) or any(
                h.type is not w and h.type != w
                for h, w in zip(have, wanted, strict=True)
            ):
                group = self.to_target(converter, wanted, have, value, index)
        if self.frame is not None:
            watched = self.frame.watched
            for v in group if isinstance(group, tuple) else (group,):
                watched.append((v, v.first_use))
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
        outer = self.frame
        assert outer is not None, "patterns ask for types, and they have a frame"
        self.frame = _hook_frame(outer.op, outer.location, outer, self.state)
        try:
            made = converter.to_target(self.rewriter, wanted, have, value.type)
        finally:
            self.frame = outer
        if made is None:
            raise RefusalError(Refusal(self._no_target(wanted, have, value, index)))
        assert len(made) == len(wanted), "a target materialisation gives all values"
        return made[0] if len(made) == 1 else made

    def _no_target(
        self,
        wanted: tuple[Attribute, ...],
        have: tuple[SSAValue, ...],
        value: SSAValue,
        index: int | None,
    ) -> str:
        for _, op, _ in self._failed:
            if value.owner is op:
                return f"operand {index} comes from '{name_of_op(op)}', which stayed"
        where = "in its pattern" if index is None else f"for operand {index}"
        return f"no target materialization {_hook_text('target', have, wanted, where)}"

    def _to_source(
        self, op: Operation, index: int, value: SSAValue, group: Group
    ) -> SSAValue:
        """A value of the type that an op has always had for an operand."""
        have = group if isinstance(group, tuple) else (group,)
        key = (value, value.type)
        plan: Plan | None = self.state.plan
        while plan is not None:
            if (cast := plan.casts.get(key)) is not None:
                return cast
            plan = plan.outer
        made = None
        converter = self.converter
        if converter is None and self.frame is not None:
            converter = self.frame.converter
        if converter is not None:
            outer = self.frame
            self.frame = _hook_frame(op, op.location, outer, self.state)
            try:
                made = converter.to_source(self.rewriter, value.type, have)
            finally:
                self.frame = outer
        if made is None:
            where = f"for operand {index}"
            self._no_hook(op, "source", have, (value.type,), where)
            return value
        casts = self.state.plan.casts
        casts[key] = made
        self.state.undo_log.append(lambda: casts.pop(key))
        return made

    def _no_hook(
        self,
        op: Operation,
        hook: str,
        have: tuple[SSAValue, ...],
        types: tuple[Attribute, ...],
        where: str,
    ) -> None:
        if self._failed and self._failed[-1][1] is op:
            return  # it stays for another reason, with the operands that it has
        failure = Failure(
            name_of_op(op),
            op.location,
            types_of(op),
            headline=f"no {hook} materialization for",
            cause=_hook_text(hook, have, types, where),
        )
        self._fail(failure, op, legal=True)

    # Values that are used before they are visited

    def _missing(self, value: SSAValue, types: tuple[Attribute, ...]) -> Group:
        """A value from outside the root, or what stands for one that comes later."""
        state = self.state
        if self._outside_top and not self.root.is_ancestor(value.owner):
            top = value.owner.get_toplevel_object()
            if top is self.root.get_toplevel_object():
                state.set_value(value, value)
                return value
        cast = self._placeholders.get((value, types))
        if cast is None:
            cast = UnrealizedConversionCastOp.create(result_types=types)
            self._placeholders[value, types] = cast
            # Not in the log: what stands for a value outlives what is taken back.
            state.values.update((result, result) for result in cast.results)
        return cast.results[0] if len(types) == 1 else tuple(cast.results)

    def _check_unseen(self) -> None:
        for value, pattern in self.unseen:
            if self.state.values.get(value) is not value:
                raise PatternError(
                    f"{pattern} replaces a result by a value of type '{value.type}' "
                    "that was not inserted before"
                )

    def _resolve_placeholders(self) -> None:
        """Put what values have become in place of what stood for them."""
        state = self.state
        for (value, types), cast in self._placeholders.items():
            stand_ins = set[SSAValue](cast.results)
            updates = [u for u in state.operand_updates if stand_ins.intersection(u[1])]
            users = [use.operation for result in cast.results for use in result.uses]
            users.extend(op for op, _ in updates)
            if not users:
                continue
            group = state.values.get(value)
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
        state, converter = self.state, self.converter
        owners = {v.owner for v in have}
        for plan in state.plan_log:
            places = [i + 1 for i, op in enumerate(plan.ops) if op in owners]
            if not (places or plan.block in owners) or converter is None:
                continue
            outer, state.plan = state.plan, Plan(Block(), plan, True)
            self.frame = _hook_frame(user, user.location, None, state)
            made: tuple[SSAValue, ...] | None
            if types == (value.type,):
                source = converter.to_source(self.rewriter, value.type, have)
                made = None if source is None else (source,)
            else:
                made = converter.to_target(self.rewriter, types, have, value.type)
            at = max(places, default=0)
            plan.ops[at:at] = state.plan.ops
            plan.changed = True
            self.frame, state.plan = None, outer
            if made is not None:
                return made
        hook = "source" if types == (value.type,) else "target"
        self._no_hook(user, hook, have, types, "for a value that is defined later")
        return tuple(UnrealizedConversionCastOp.get((), types).results)

    # Outcomes

    def _fail(self, failure: Failure, op: Operation, legal: bool = False) -> None:
        self._failed.append((failure, op, None if legal else self.state.plan))

    def drop(self, op: Operation, attributes: Sequence[str]) -> None:
        """Note that discardable attributes are lost."""
        frame = self.frame
        assert frame is not None and frame.pattern is not None, "patterns drop"
        for name in attributes:
            self._dropped.append(
                Dropped(name_of_op(op), name, frame.pattern.name, frame.location)
            )

    def discardable(self, op: Operation) -> list[str]:
        """The attributes of an op that go where the op goes."""
        frame = self.frame
        drops = frame.pattern.drops if frame and frame.pattern else ()
        inherent = (self._cases.get(op.__class__) or self._case(op)).inherent
        return [
            name
            for name in op.attributes
            if name not in drops
            and (("." in name) if inherent is None else name not in inherent)
        ]

    def check_generates(
        self, pattern: ConversionPattern[Operation], op: Operation
    ) -> None:
        """Raise PatternError if a pattern did not say that it generates an op."""
        key = (pattern, op.__class__)
        allowed = self._generates.get(key)
        if allowed is None:
            allowed = _may_generate(pattern, op)
            self._generates[key] = allowed
        if not allowed:
            raise PatternError(
                f"{pattern.name} generated '{name_of_op(op)}', which its 'generates' "
                "does not list"
            )

    def _drop_consumed(self) -> None:
        """Erase ops without a pattern of their own that others have taken up."""
        if not self._failed:
            return
        updates = {op: operands for op, operands in self.state.operand_updates}
        replaced = set(self.state.replaced)
        dead = self.state.dead
        for entry in tuple(reversed(self._failed)):
            _, op, plan = entry
            if plan is None or not is_side_effect_free(op):
                continue
            users = [use.operation for r in op.results for use in r.uses]
            results = set(op.results)
            if users and not any(
                results.intersection(updates.get(user, user._operands))
                for user in users
                if user not in dead and self._lives(user, replaced)
            ):
                dead.add(op)
                plan.changed = True
                self._failed.remove(entry)

    def _lives(self, op: Operation, replaced: set[Operation]) -> bool:
        """Whether an op will be in the module, unless it was never inserted."""
        if not op._operand_uses:
            return False
        while op not in replaced:
            block = op.parent
            if block is None or block in self.state.blocks:
                return True
            parent = block.parent_op()
            if parent is None:
                return True
            op = parent
        return False

    def _blame_consumers(self) -> None:
        """Say which op keeps one alive that has no pattern of its own."""
        refused = {op: f.op_name for f, op, _ in self._failed if f.refused}
        for index, (failure, op, plan) in enumerate(self._failed):
            if failure.refused or plan is None:
                continue
            users = (use.operation for r in op.results for use in r.uses)
            blamed = sorted({refused[user] for user in users if user in refused})
            if blamed:
                self._failed[index] = (
                    Failure(
                        failure.op_name,
                        failure.location,
                        failure.types,
                        cause=failure.cause,
                        blamed=blamed[0],
                    ),
                    op,
                    plan,
                )

    def _out_of_budget(self) -> NoReturn:
        chain: list[str] = []
        frame, op = self.frame, self.root
        while frame is not None:
            op = frame.op
            if frame.pattern is not None:
                chain.append(frame.pattern.name)
            frame = frame.outer
        if len(chain) <= MAX_DEPTH:
            counts = Counter(name for name, _ in self._done)
            chain = [name for name, _ in counts.most_common(3)]
        names = ", ".join(f"'{name}'" for name in sorted(set(chain)))
        raise BudgetError(
            op,
            f"expected the conversion to end, but after {self._work} rewrites there is "
            f"still work for {names}",
        )

    # What is known about a class of ops

    def _case(self, op: Operation) -> Case:
        name = name_of_op(op)
        rule = self.target.rule_for(op)
        legality, cause = rule.legality, None
        if legality is Legality.UNKNOWN and self.closed:
            legality, cause = Legality.ILLEGAL, "the target does not mention it"
        inherent = None
        if isinstance(op, IRDLOperation):
            inherent = frozenset(op.get_irdl_definition().attributes)
        case = Case(
            name,
            legality,
            rule.predicate,
            rule.recursive,
            self.patterns.for_op(op, name),
            cause,
            inherent,
        )
        if not case.patterns and legality is Legality.UNKNOWN:
            case.legality = Legality.LEGAL
        self._cases[op.__class__] = case
        return case

    def _ask(self, case: Case, op: Operation) -> tuple[Legality, str | None]:
        assert case.predicate is not None, "a dynamic rule has one"
        answer = case.predicate(op)
        if isinstance(answer, Refusal):
            return Legality.ILLEGAL, answer.reason
        return (Legality.LEGAL if answer else Legality.ILLEGAL), None


def _ends_region(op: Operation) -> bool:
    return not op._successors and op.has_trait(IsTerminator, value_if_unregistered=True)


def _may_generate(pattern: ConversionPattern[Operation], op: Operation) -> bool:
    if pattern.generates is None:
        return True
    name = name_of_op(op)
    return any(
        name == kind if isinstance(kind, str) else isinstance(op, kind)
        for kind in pattern.generates
    )


def _hook_text(
    hook: str, have: tuple[SSAValue, ...], types: tuple[Attribute, ...], where: str
) -> str:
    return (
        f"from {types_text(v.type for v in have)} to {types_text(types)} {where}; see "
        f"TypeConverter.add_{hook}_materialization"
    )


def _hook_frame(
    op: Operation, location: LocationAttr, outer: Frame | None, state: State
) -> Frame:
    """A frame for a materialisation: no pattern is responsible for its ops."""
    depth = 0 if outer is None else outer.depth
    return Frame(op, location, None, None, outer, depth, len(state.created), [])
