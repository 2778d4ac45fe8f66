"""
`scf`: control flow.

In a nest the condition of `scf.if` is an array: both branches are evaluated, each under
a mask of the points that take it, and the results are merged.
"""

import itertools
import math
from typing import Any

import numpy as np
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation

from transom.dialects.diagnostics import OpError
from transom.interpreters import numerics
from transom.interpreters.evaluators import Evaluators, Value, Values
from transom.interpreters.interpreter import Frame

SCF = Evaluators()


def scalar(op: Operation, value: Value, what: str) -> Any:
    """A number that is the same at all points of a nest; else an OpError."""
    array = np.asarray(value)
    if array.ndim == 0:
        return array[()]
    if array.size and np.all(array == array.flat[0]):
        return array.flat[0]
    raise OpError(op, f"expected {what} that does not depend on the point of the nest")


@SCF.of(scf.IfOp)
def if_(frame: Frame, op: scf.IfOp, args: Values) -> Values:
    condition = args[0]
    if condition.ndim == 0:
        region = op.true_region if condition else op.false_region
        return frame.region(region, ()).values if region.blocks else ()
    outer = frame.mask
    branches: list[Values] = []
    for region, taken in ((op.true_region, condition), (op.false_region, ~condition)):
        frame.mask = taken if outer is None else taken & outer
        branches.append(frame.region(region, ()).values if region.blocks else ())
    frame.mask = outer
    return [
        numerics.where(condition, on_true, on_false)
        for on_true, on_false in zip(*branches, strict=True)
    ]


@SCF.of(scf.ForOp)
def for_(frame: Frame, op: scf.ForOp, args: Values) -> Values:
    lower, upper, step = (scalar(op, x, "bounds and a step") for x in args[:3])
    carried = args[3:]
    if step <= 0:
        raise OpError(op, f"expected a step > 0, but got {step}")
    trips = max(0, -(-(int(upper) - int(lower)) // int(step)))
    check_steps(frame, op, trips * least_steps(op.body.block))
    make, body = lower.dtype.type, op.body.block
    for value in range(int(lower), int(upper), int(step)):
        carried = frame.values(body, (make(value), *carried))
    return carried


def check_steps(frame: Frame, op: Operation, steps: int) -> None:
    """Refuse a loop at once that takes too many steps."""
    frame.interpreter.count(op, steps)
    frame.interpreter.steps -= steps


def least_steps(block: Block) -> int:
    """How many ops one run of a block evaluates at least, by what is known of loops."""
    total = 0
    for op in block.ops:
        total += 1
        if isinstance(op, scf.ForOp):
            bounds = [_known(value.owner) for value in (op.lb, op.ub, op.step)]
            if None not in bounds:
                trips = len(range(*(b for b in bounds if b is not None)))
                total += trips * least_steps(op.body.block)
    return total


def _known(owner: Operation | Block) -> int | None:
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


@SCF.of(scf.WhileOp)
def while_(frame: Frame, op: scf.WhileOp, args: Values) -> Values:
    carried = args
    while True:
        condition, *passed = frame.region(op.before_region, carried).values
        if not scalar(op, condition, "a condition"):
            return passed
        carried = frame.region(op.after_region, passed).values


@SCF.of(scf.ExecuteRegionOp)
def execute_region(frame: Frame, op: scf.ExecuteRegionOp, args: Values) -> Values:
    return frame.region(op.region, ()).values


@SCF.of(scf.IndexSwitchOp)
def index_switch(frame: Frame, op: scf.IndexSwitchOp, args: Values) -> Values:
    case = scalar(op, args[0], "a case")
    for value, region in zip(op.cases.get_values(), op.case_regions, strict=True):
        if case == value:
            return frame.region(region, ()).values
    return frame.region(op.default_region, ()).values


@SCF.of(scf.ParallelOp)
def parallel(frame: Frame, op: scf.ParallelOp, args: Values) -> Values:
    """The points in lexicographic order; reductions fold in that order."""
    rank = len(op.lowerBound)
    lower, upper, step = (
        [int(x) for x in args[i * rank : (i + 1) * rank]] for i in range(3)
    )
    results = list(args[3 * rank :])
    ranges = [range(*bounds) for bounds in zip(lower, upper, step, strict=True)]
    points = math.prod(len(r) for r in ranges)
    check_steps(frame, op, points * least_steps(op.body.block))
    for point in itertools.product(*ranges):
        left = frame.region(op.body, [np.int64(i) for i in point])
        if not results:
            continue
        assert isinstance(left.terminator, scf.ReduceOp), "the verifier checked it"
        for k, region in enumerate(left.terminator.reductions):
            pair = (results[k], left.values[k])
            (results[k],) = frame.region(region, pair).values
    return results
