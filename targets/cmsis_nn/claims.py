"""
What the target claims: the patterns of `matching`, where `plans` has a plan for them,
and its own ops.
"""

from collections.abc import Callable, Sequence

from xdsl.ir import Operation

from transom.lowering.conversion import Refusal
from transom.passes.graph_patterns import Match
from transom.targets.cmsis_nn import ops
from transom.targets.cmsis_nn.cores import Core
from transom.targets.cmsis_nn.known import Known
from transom.targets.cmsis_nn.matching import (
    OPERATORS,
    PATTERNS,
    Found,
    root_behind,
)
from transom.targets.cmsis_nn.patterns import UNKNOWN_SCRATCH, scratch_of
from transom.targets.cmsis_nn.plans import plan
from transom.targets.hooks import Accepted, AnyClaim, Claim, PatternClaim

NOT_QUANTIZED = Refusal("expected 'graph.quantize' of the result, and no other reader")


def claims_for(core: Core) -> Sequence[AnyClaim]:
    """The claims of a core; operators that are not quantised are told so."""
    known = Known()
    return (
        *(
            PatternClaim(pattern, _answer(label, core, known), label)
            for label, pattern in PATTERNS.items()
        ),
        *(
            Claim(kind, lambda op: NOT_QUANTIZED, members=_unless_quantized)
            for kind in OPERATORS
        ),
        Claim(ops.CmsisNnOp, _answer_own(core)),
    )


def _answer(
    label: str, core: Core, known: Known
) -> Callable[[Match], Accepted | Refusal]:
    """Whether a pattern that was found can be computed."""

    def answer(match: Match) -> Accepted | Refusal:
        made = plan(Found(label, match), core, known)
        return made if isinstance(made, Refusal) else Accepted()

    return answer


def _answer_own(core: Core) -> Callable[[Operation], Accepted | Refusal]:
    """Whether an op of the dialect can be computed."""

    def answer(op: Operation) -> Accepted | Refusal:
        if isinstance(op, ops.WindowedConvOp) and scratch_of(op, core) is None:
            return Refusal(UNKNOWN_SCRATCH)
        return Accepted()

    return answer


def _unless_quantized(op: Operation) -> Sequence[Operation]:
    """An operator by itself, unless a pattern may be around it."""
    return () if root_behind(op) is not None else (op,)
