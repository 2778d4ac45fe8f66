"""
Kernels that compare elements, or sum them up, where some are NaN, infinite or zeros
with a sign.
"""

from typing import Any

import numpy as np
import pytest
from op_checks import FLOATS, Array, check
from xdsl.ir import Attribute

from transom.dialects import graph
from transom.dialects.dtypes import numpy_dtype

SPECIAL = (np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -2.0)


def special(type: Attribute, *sizes: int) -> Array:
    """Rows of NaN of either sign, infinities, zeros, and some numbers between."""
    chosen = np.random.default_rng(2).choice(SPECIAL, sizes)
    return chosen.astype(numpy_dtype(type))


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize("kind", graph.ArgReduceKind)
def test_arg_reduce_of_special_floats(
    kind: graph.ArgReduceKind, type: Attribute
) -> None:
    """The first NaN, or the first of equal ones: zeros are, and infinities."""
    x = special(type, 40, 5)
    x[20:][np.isnan(x[20:])] = -np.inf if kind == "argmax" else np.inf
    for axis in (0, 1):
        check(lambda v, a=axis: graph.ArgReduceOp(kind, v[0], a), type, x)
    check(lambda v: graph.ArgReduceOp(kind, v[0], 0), type, x[:, 0])


@pytest.mark.parametrize("type", FLOATS, ids=str)
def test_pools_of_special_floats(type: Attribute) -> None:
    """NaN is the largest, and the first NaN is where it is."""
    x = special(type, 2, 3, 9, 8)
    for padding in ((0, 0, 0, 0), (1, 1, 0, 1)):
        for strides in ((1, 1), (2, 2)):
            windows: Any = {"padding": padding, "strides": strides}
            for indices in (False, True):
                check(
                    lambda v, w=windows, i=indices: graph.MaxPool2dOp(
                        v[0], (2, 2), indices=i, **w
                    ),
                    type,
                    x,
                )
            check(
                lambda v, w=windows: graph.AvgPool2dOp(v[0], (2, 2), **w),
                type,
                x,
            )


@pytest.mark.parametrize("type", FLOATS, ids=str)
def test_extremes_and_order_of_special_floats(type: Attribute) -> None:
    x = special(type, 40, 5)
    for kind in ("sum", "prod", "max", "min", "mean"):
        for axis in (0, 1):
            check(lambda v, k=kind, a=axis: graph.ReduceOp(k, v[0], [a]), type, x)
    for kind in graph.CumulateKind:
        for exclusive in (False, True):
            check(
                lambda v, k=kind, e=exclusive: graph.CumulateOp(
                    k, v[0], 1, exclusive=e
                ),
                type,
                x,
            )
    for descending in (False, True):
        check(lambda v, d=descending: graph.ArgsortOp(v[0], 1, descending=d), type, x)
    check(lambda v: graph.ClampOp(v[0], -1.0, 1.0), type, x)
