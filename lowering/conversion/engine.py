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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn, TypeAlias

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import IsTerminator

from transom.dialects.diagnostics import PlacedNote
from transom.lowering.conversion.frame import Frame
from transom.lowering.conversion.order import dominance_order
from transom.lowering.conversion.outcome import Outcome
from transom.lowering.conversion.pattern import (
    Blocked,
    ConversionPattern,
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
    Refused,
    failure_of,
)
from transom.lowering.conversion.rewriter import ConversionRewriter
from transom.lowering.conversion.state import Plan, State
from transom.lowering.conversion.target import (
    ConversionTarget,
    Legality,
    Predicate,
)
from transom.lowering.conversion.type_converter import TypeConverter
from transom.lowering.conversion.values import Values
from transom.passes.rewrite_steps import current_steps

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
        self.outcome = Outcome()
        self.values = Values(self)
        self.rewriter = ConversionRewriter(self)
        self._cases: dict[type[Operation], Case] = {}
        self._generates: dict[tuple[int, type[Operation]], bool] = {}
        self.steps = current_steps()
        """Rewrites are counted, and after some of them ops stay as they are."""
        self._all_legal = False
        self._work = 0
        self._refused: tuple[Refused, ...] = ()

    # The input

    def run(self) -> None:
        """Visit all that the root holds; the module is not changed."""
        for region in self.root.regions:
            self.visit_region(region, self.visit)
        self.values.check_unseen()
        self.values.resolve_stand_ins()
        self.outcome.drop_consumed(self.state)
        self.outcome.blame_consumers()
        self.outcome.fill(self.report)

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
        source = state.plans.get(block)
        saved, state.plan = state.plan, plan
        if source is None or source is plan:
            ops, last = _ops_of(block), block._last_op
        else:
            ops, last = tuple(source.ops), source.ops[-1] if source.ops else None
        for op in ops:
            if terminator is not None and op is last and _ends_region(op):
                terminator(op)
            else:
                visit(op)
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
                if not self.is_stopped:
                    self.outcome.fail(failure, op, self.state.plan)
            elif case.patterns:
                self.outcome.kept.append(failure)
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

    @property
    def is_stopped(self) -> bool:
        """Whether ops stay that should be converted, as rewrites are used up."""
        return self.steps is not None and self.steps.are_used_up

    def _keep(self, op: Operation, case: Case, visit: Visitor) -> None:
        """Leave an op as it is, but for its operands, successors and contents."""
        state = self.state
        self._update_operands(op)
        if op._successors:
            successors = [state.final_block(s) for s in op._successors]
            if any(
                new is not s for new, s in zip(successors, op._successors, strict=True)
            ):
                state.set_successors(op, successors)
        for result in op.results:
            state.set_value(result, result)
        state.plan.ops.append(op)
        if op.regions:
            saved = self._all_legal
            if case.recursive is not None and not saved:
                self._all_legal = case.recursive(op) is True
            for region in op.regions:
                self.visit_region(region, visit)
                if state.chained:
                    self._update_region(region)
            self._all_legal = saved

    def _update_operands(self, op: Operation) -> None:
        """Plan the operands of an op that stays."""
        state = self.state
        chained = state.chained
        lookup = state.lookup if chained else state.values.get
        planned = state.operands_of(op) if chained else op._operands
        operands: list[SSAValue] | None = None
        for index, value in enumerate(planned):
            group = lookup(value)
            if group is value:
                continue
            if group is None:
                group = self.values.stand_in_or_outside(value, (value.type,))
                if group is value:
                    continue
            if isinstance(group, tuple) or group.type != value.type:
                group = self.values.to_source(op, index, value, group)
            if operands is None:
                operands = list(planned)
            operands[index] = group
        if operands is not None:
            state.set_operands(op, operands)

    def _update_region(self, region: Region) -> None:
        """Plan operands again for ops that had been planned to stay before."""
        for block in region.blocks:
            plan = self.state.plans.get(block)
            for op in () if plan is None else tuple(plan.ops):
                self._update_operands(op)
                for nested in op.regions:
                    self._update_region(nested)

    # Patterns

    def _convert(self, op: Operation, case: Case, op_name: str | None) -> bool:
        """Try the patterns of an op; leaves what they said in `_refused`."""
        outer = self.frame
        depth = 0 if outer is None else outer.depth + (op_name is None)
        if depth > MAX_DEPTH:
            self._out_of_budget()
        location = op.location
        if location is UNKNOWN_LOC and outer is not None:
            location = outer.location
        refused: list[Refused] = []
        state, steps = self.state, self.steps
        taken = 0 if steps is None else len(steps.taken)
        for pattern in case.patterns:
            if steps is not None and not pattern.is_structural and op_name is not None:
                # What a pattern inserts is converted along with its op.
                if steps.are_used_up:
                    continue
                steps.take(pattern.name, op)
            mark = state.mark()
            found = self.outcome.mark()
            converter = pattern.converter or self.converter
            self.frame = frame = Frame(
                op, location, pattern, converter, outer, depth, len(state.created), []
            )
            try:
                operands = self.values.operands(op, converter)
                refusal = pattern.match_and_rewrite(op, operands, self.rewriter)
            except RefusalError as e:
                refusal = e.refusal
            except Exception as e:  # whatever a pattern of someone else raises
                e.add_note(PlacedNote(f"in {pattern.name} on '{case.name}'", location))
                raise
            finally:
                self.frame = outer
            if refusal is None:
                if not frame.replaced:
                    raise PatternError(
                        f"{pattern.name} neither replaced '{case.name}' nor refused it"
                    )
                self.outcome.done.append((pattern.name, op_name))
                self._spend(frame)
                return True
            if len(state.created) > frame.created:
                self._spend(frame)
            if steps is not None:
                steps.give_back(taken)
            self.outcome.rollback(found)
            state.rollback(mark)
            frame.forget_uses()
            blocked = isinstance(refusal, Blocked)
            refused.append(Refused(pattern.name, refusal.reason, blocked))
        self._refused = tuple(refused)
        return False

    def _spend(self, frame: Frame) -> None:
        self._work += 1
        if self._work > self.budget:
            self.frame = frame
            self._out_of_budget()

    # Outcomes

    def drop(self, op: Operation, attributes: Sequence[str]) -> None:
        """Note that discardable attributes are lost."""
        frame = self.frame
        assert frame is not None and frame.pattern is not None, "patterns drop"
        self.outcome.dropped.extend(
            Dropped(name_of_op(op), name, frame.pattern.name, frame.location)
            for name in attributes
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
        key = (id(pattern), op.__class__)  # a dataclass may have no hash
        allowed = self._generates.get(key)
        if allowed is None:
            allowed = _may_generate(pattern, op)
            self._generates[key] = allowed
        if not allowed:
            raise PatternError(
                f"{pattern.name} generated '{name_of_op(op)}', which its 'generates' "
                "does not list"
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
            counts = Counter(name for name, _ in self.outcome.done)
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


def _ops_of(block: Block) -> Iterator[Operation]:
    op = block._first_op
    while op is not None:
        yield op
        op = op._next_op


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
