"""
Element-wise kernels on numbers at the edges: the least and the largest, signed zeros,
infinities, NaN, halves, and integers around powers of two.
"""

from collections.abc import Sequence

import numpy as np
import pytest
from op_checks import (
    FLOATS,
    INTEGERS,
    SIGNED,
    OpClass,
    check,
    edges,
    pairs,
    ui8,
)
from xdsl.dialects.builtin import f16, f32, f64, i1, i32
from xdsl.ir import Attribute, Block, SSAValue

from transom.dialects import graph
from transom.dialects.dtypes import numpy_dtype
from transom.dialects.graph.elements import bit_width

UNARY: list[tuple[OpClass, tuple[Attribute, ...]]] = [
    *((op, FLOATS) for op in (graph.ExpOp, graph.LogOp, graph.SqrtOp, graph.RsqrtOp)),
    *((op, FLOATS) for op in (graph.ReciprocalOp, graph.TanhOp, graph.SigmoidOp)),
    *((op, FLOATS) for op in (graph.ErfOp, graph.GeluOp)),
    *((op, FLOATS) for op in (graph.FloorOp, graph.CeilOp, graph.RoundOp)),
    *((op, (*FLOATS, *SIGNED)) for op in (graph.NegOp, graph.AbsOp, graph.SignOp)),
    *((op, FLOATS) for op in (graph.AcosOp, graph.AsinOp, graph.AtanOp)),
    *((op, FLOATS) for op in (graph.AcoshOp, graph.AsinhOp, graph.AtanhOp)),
    *((op, FLOATS) for op in (graph.CoshOp, graph.SinhOp)),
    (graph.ReluOp, (*FLOATS, *SIGNED)),
    (graph.NotOp, (i1, *INTEGERS)),
]


@pytest.mark.parametrize(
    "op, type", [(op, type) for op, types in UNARY for type in types], ids=str
)
def test_unary(op: OpClass, type: Attribute) -> None:
    check(lambda v: op(*v), type, edges(type))


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize("op", (graph.SinOp, graph.CosOp, graph.TanOp))
def test_periodic(op: OpClass, type: Attribute) -> None:
    numbers = edges(type)
    check(lambda v: op(*v), type, numbers[np.abs(numbers) < 2e4])


BINARY: list[tuple[OpClass, tuple[Attribute, ...]]] = [
    *((op, (*FLOATS, *INTEGERS)) for op in (graph.AddOp, graph.SubOp, graph.MulOp)),
    *((op, (*FLOATS, *INTEGERS)) for op in (graph.MinimumOp, graph.MaximumOp)),
    *((op, (i1, *INTEGERS)) for op in (graph.AndOp, graph.OrOp, graph.XorOp)),
    (graph.DivOp, FLOATS),
]


@pytest.mark.parametrize(
    "op, type", [(op, type) for op, types in BINARY for type in types], ids=str
)
def test_binary(op: OpClass, type: Attribute) -> None:
    check(lambda v: op(*v), type, *pairs(type))


@pytest.mark.parametrize("type", INTEGERS, ids=str)
@pytest.mark.parametrize("op", (graph.ShiftLeftOp, graph.ShiftRightOp))
def test_shifts(op: OpClass, type: Attribute) -> None:
    """Also by the width of the type and more, and by negative numbers."""
    numbers, _ = pairs(type)
    places = np.arange(len(numbers)) % 70 - (3 if type in SIGNED else 0)
    check(lambda v: op(*v), type, numbers, places.astype(numbers.dtype))


@pytest.mark.parametrize("type", INTEGERS, ids=str)
@pytest.mark.parametrize("op", (graph.DivOp, graph.ModOp))
def test_quotients_of_integers(op: OpClass, type: Attribute) -> None:
    """Also by zero, and of the least number by -1."""
    check(lambda v: op(*v), type, *pairs(type))


@pytest.mark.parametrize("type", FLOATS, ids=str)
def test_rest_of_floats(type: Attribute) -> None:
    check(lambda v: graph.ModOp(*v), type, *pairs(type))


def test_rest_of_floats_far_apart() -> None:
    """The quotient has up to 2,098 bits, and divisors have no normal form."""
    some = np.array([1e308, 1.5e-323, 5e-324, 3.0, 1e-300, 2.2e-308, 7e200])
    x, y = (a.ravel() for a in np.meshgrid(some, some))
    check(lambda v: graph.ModOp(*v), f64, x, y)


@pytest.mark.parametrize("type", (*FLOATS, *INTEGERS), ids=str)
def test_power(type: Attribute) -> None:
    a, b = pairs(type)
    if type in INTEGERS:  # 0 to a negative power is undefined
        a, b = a[(a != 0) | (b >= 0)], b[(a != 0) | (b >= 0)]
    check(lambda v: graph.PowOp(*v), type, a, b)


@pytest.mark.parametrize("type", (f32, f16, i32, ui8), ids=str)
@pytest.mark.parametrize("exponent", (0, 1, 2, 3, 7))
def test_power_with_a_constant(type: Attribute, exponent: int) -> None:
    def make(values: Sequence[SSAValue]) -> graph.GraphOp:
        constant = graph.ConstantOp.splat(graph.tensor((), type), exponent)
        (x,) = values
        assert isinstance(x.owner, Block)
        x.owner.add_op(constant)
        return graph.PowOp(x, constant)

    check(make, type, edges(type))


@pytest.mark.parametrize("type", (i1, *FLOATS, *INTEGERS), ids=str)
@pytest.mark.parametrize("predicate", graph.ComparePredicate)
def test_compare(type: Attribute, predicate: graph.ComparePredicate) -> None:
    if type == i1 and predicate not in ("eq", "ne"):
        pytest.skip("truth values have no order")
    check(lambda v: graph.CompareOp(predicate, v[0], v[1]), type, *pairs(type))


@pytest.mark.parametrize("target", (i1, *FLOATS, *INTEGERS), ids=str)
@pytest.mark.parametrize("source", (i1, *FLOATS, *INTEGERS), ids=str)
def test_cast(source: Attribute, target: Attribute) -> None:
    check(lambda v: graph.CastOp(v[0], target), source, edges(source))


@pytest.mark.parametrize("source", (*FLOATS, *INTEGERS), ids=str)
def test_bitcast(source: Attribute) -> None:
    for target in (*FLOATS, *INTEGERS):
        if bit_width(source) != bit_width(target):
            continue
        x = edges(source)
        with np.errstate(invalid="ignore"):
            bits = x.view(numpy_dtype(target)).astype(np.float64)
        x = x[~np.isnan(bits) & ~np.isnan(x)]  # which may lose its other bits
        check(lambda v, t=target: graph.BitcastOp(v[0], t), source, x)


@pytest.mark.parametrize("type", (*FLOATS, *INTEGERS), ids=str)
def test_clamp(type: Attribute) -> None:
    check(lambda v: graph.ClampOp(v[0], 1, 3), type, edges(type))


@pytest.mark.parametrize("type", FLOATS, ids=str)
def test_leaky_relu(type: Attribute) -> None:
    check(lambda v: graph.LeakyReluOp(v[0], 0.25), type, edges(type))
