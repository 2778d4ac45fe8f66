"""
What a conversion has found so far: `Outcome`.
"""

# pyright: reportPrivateUsage=false
# An op whose uses were taken from it is told by its list of them.

from collections.abc import Iterator
from dataclasses import dataclass, replace

from xdsl.ir import Operation
from xdsl.traits import is_side_effect_free

from transom.lowering.conversion.report import ConversionReport, Dropped, Failure
from transom.lowering.conversion.state import Plan, State


@dataclass(slots=True)
class _Failed:
    failure: Failure
    op: Operation
    plan: Plan | None
    """Where the op was planned to stay; None if it is legal."""


class Outcome:
    """Failures, losses and successes, which can be taken back to a mark."""

    def __init__(self) -> None:
        self._failed: list[_Failed] = []
        self.kept: list[Failure] = []
        self.dropped: list[Dropped] = []
        self.done: list[tuple[str, str | None]] = []
        """Patterns that succeeded, and on what op of the input."""

    def mark(self) -> tuple[int, int, int, int]:
        """A point to go back to."""
        return len(self._failed), len(self.kept), len(self.dropped), len(self.done)

    def rollback(self, mark: tuple[int, int, int, int]) -> None:
        """Forget all since a mark."""
        failed, kept, dropped, done = mark
        del self._failed[failed:]
        del self.kept[kept:]
        del self.dropped[dropped:]
        del self.done[done:]

    def fail(self, failure: Failure, op: Operation, plan: Plan | None) -> None:
        """Note that an op stays that must not, or lacks an operand."""
        self._failed.append(_Failed(failure, op, plan))

    def failed_ops(self) -> Iterator[Operation]:
        """The ops that failed."""
        return (entry.op for entry in self._failed)

    def last_failed(self) -> Operation | None:
        """The op that failed last."""
        return self._failed[-1].op if self._failed else None

    def fill(self, report: ConversionReport) -> None:
        """Put all of it into a report."""
        report.failures = [entry.failure for entry in self._failed]
        report.kept = self.kept
        report.dropped = self.dropped
        for pattern, op_name in self.done:
            report.rewrites[pattern] += 1
            if op_name is not None:
                report.converted[op_name] += 1

    def drop_consumed(self, state: State) -> None:
        """Erase ops that are no longer used, if others have taken up what they say."""
        if not self._failed:
            return
        replaced = set(state.replaced)
        for entry in tuple(reversed(self._failed)):
            op = entry.op
            if entry.plan is None or not is_side_effect_free(op):
                continue
            users = [use.operation for r in op.results for use in r.uses]
            results = set(op.results)
            if users and not any(
                results.intersection(state.operands_of(user))
                for user in users
                if user not in state.dead and _lives(user, replaced, state)
            ):
                state.dead.add(op)
                entry.plan.changed = True
                self._failed.remove(entry)

    def blame_consumers(self) -> None:
        """Say which op keeps one alive that has no pattern of its own."""
        refused = {
            entry.op: entry.failure.op_name
            for entry in self._failed
            if any(not refusal.blocked for refusal in entry.failure.refused)
        }
        for entry in self._failed:
            if entry.failure.refused or entry.plan is None:
                continue
            users = (use.operation for r in entry.op.results for use in r.uses)
            blamed = sorted({refused[user] for user in users if user in refused})
            if blamed:
                entry.failure = replace(entry.failure, blamed=blamed[0])


def _lives(op: Operation, replaced: set[Operation], state: State) -> bool:
    """Whether an op will be in the module, unless it was never inserted."""
    if not op._operand_uses:
        return False
    while op not in replaced:
        block = op.parent
        if block is None or block in state.blocks:
            return True
        parent = block.parent_op()
        if parent is None:
            return True
        op = parent
    return False
