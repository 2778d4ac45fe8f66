"""
`affine`: loops, and accesses by maps.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects import affine
from xdsl.ir.affine import AffineMap

from transom.interpreters.evaluators import Evaluators, Value, Values
from transom.interpreters.indexing import element, set_element
from transom.interpreters.interpreter import Frame
from transom.interpreters.nest_accesses import Variables, evaluated
from transom.interpreters.scf import check_steps, least_steps

AFFINE = Evaluators()


def applied(map: AffineMap, operands: Values) -> list[Value]:
    """The results of a map on the values of its dims and symbols."""
    symbols = tuple(int(s) for s in operands[map.num_dims :])
    variables = Variables((), symbols)
    at: Sequence[Any] = [np.int64(d) for d in operands[: map.num_dims]]
    return [evaluated(expr, at, variables) for expr in map.results]


@AFFINE.of(affine.ApplyOp)
def apply(frame: Frame, op: affine.ApplyOp, args: Values) -> Values:
    return applied(op.map.data, args)


@AFFINE.of(affine.MinOp)
def min_(frame: Frame, op: affine.MinOp, args: Values) -> Values:
    return (np.int64(min(applied(op.map.data, args))),)


@AFFINE.of(affine.LoadOp)
def load(frame: Frame, op: affine.LoadOp, args: Values) -> Values:
    return (element(frame, args[0], applied(op.map.data, args[1:])),)


@AFFINE.of(affine.StoreOp)
def store(frame: Frame, op: affine.StoreOp, args: Values) -> Values:
    value, array, *operands = args
    set_element(frame, array, applied(op.map.data, operands), value)
    return ()


@AFFINE.of(affine.ForOp)
def for_(frame: Frame, op: affine.ForOp, args: Values) -> Values:
    lower_count, upper_count = len(op.lowerBoundOperands), len(op.upperBoundOperands)
    lower = applied(op.lowerBoundMap.data, args[:lower_count])
    upper = applied(
        op.upperBoundMap.data, args[lower_count : lower_count + upper_count]
    )
    carried = args[lower_count + upper_count :]
    points = range(int(max(lower)), int(min(upper)), op.step.value.data)
    check_steps(frame, op, len(points) * least_steps(op.body.block))
    for value in points:
        carried = frame.values(op.body.block, (np.int64(value), *carried))
    return carried
