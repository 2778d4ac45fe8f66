"""
From patterns of quantised operators to ops of `cmsis_nn`: whether the library computes
one on a core, and the numbers that it takes.
"""

from collections.abc import Callable

from transom.lowering.conversion import Refusal
from transom.lowering.conversion.pattern import RefusalError
from transom.targets.cmsis_nn import matching
from transom.targets.cmsis_nn.cores import Core
from transom.targets.cmsis_nn.known import Known
from transom.targets.cmsis_nn.matching import Found
from transom.targets.cmsis_nn.plans.elements import (
    plan_add,
    plan_move,
    plan_mul,
    plan_softmax,
)
from transom.targets.cmsis_nn.plans.pooling import plan_avg_pool, plan_max_pool
from transom.targets.cmsis_nn.plans.products import plan_conv, plan_dense
from transom.targets.cmsis_nn.plans.site import Builder, Plan, Site

__all__ = ["Builder", "Plan", "plan"]

_PLANNERS: dict[str, Callable[[Site], Plan]] = {
    matching.ADD: plan_add,
    matching.AVG_POOL: plan_avg_pool,
    matching.CONV: plan_conv,
    matching.DENSE: plan_dense,
    matching.MAX_POOL: plan_max_pool,
    matching.MOVE: plan_move,
    matching.MUL: plan_mul,
    matching.SOFTMAX: plan_softmax,
}


def plan(found: Found, core: Core, known: Known) -> Plan | Refusal:
    """How the library computes a pattern on a core, or why it does not."""
    try:
        return _PLANNERS[found.label](Site(found, core, known))
    except RefusalError as e:
        return e.refusal
