"""
Element-wise kernels on numbers at the edges: the least and the largest, signed zeros,
infinities, NaN, halves, and integers around powers of two.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DictionaryAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    StringAttr,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

import transom
from transom.dialects import graph
from transom.dialects.dtypes import numpy_dtype
from transom.runtime.comparison import compare_all
from transom.testing import interpret

ui8, ui16, ui32, ui64 = (IntegerType(w, Signedness.UNSIGNED) for w in (8, 16, 32, 64))
FLOATS: tuple[Attribute, ...] = (f32, f64, f16, bf16)
SIGNED: tuple[Attribute, ...] = (i8, i16, i32, i64)
UNSIGNED: tuple[Attribute, ...] = (ui8, ui16, ui32, ui64)
INTEGERS = (*SIGNED, *UNSIGNED)

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
Make = Callable[[Sequence[SSAValue]], graph.GraphOp]
OpClass: TypeAlias = Any
"""A class of ops whose constructor takes the operands."""


def edges(type: Attribute) -> Array:
    """The numbers of an element type at the edges."""
    dtype = numpy_dtype(type)
    if type == i1:
        return np.array([False, True])
    if isinstance(type, AnyFloat):
        some = [0, 0.5, 1, 1.5, 2, 2.5, 3, 7, 100, 127.5, 1e4, 3e4, 1e-3, 2.0**31]
        some += [2.0**33, 2.0**63, 1e30, 1e-30, np.inf]
        with np.errstate(all="ignore"):
            return np.array([*some, *(-x for x in some), np.nan]).astype(dtype)
    info: Any = np.iinfo(dtype)
    around = {2**k + d for k in (0, 1, 4, 7, 8, 15, 24, 31, 53) for d in (-1, 0, 1)}
    around |= {-x for x in around} | {info.min, info.max, info.min + 1, info.max - 1}
    return np.array([x for x in sorted(around) if info.min <= x <= info.max], dtype)


def pairs(type: Attribute) -> list[Array]:
    """All pairs of them."""
    numbers = edges(type)
    left, right = np.meshgrid(numbers, numbers)
    return [left.ravel(), right.ravel()]


def program(make: Make, type: Attribute, count: int, size: int) -> ModuleOp:
    """`main` applies one op to inputs of an element type."""
    block = Block(arg_types=[graph.tensor((size,), type)] * count)
    op = make(block.args)
    block.add_ops((op, ReturnOp(op.results[0])))

    def names(stem: str, values: Sequence[SSAValue]) -> ArrayAttr[DictionaryAttr]:
        return ArrayAttr(
            DictionaryAttr({"graph.name": StringAttr(f"{stem}{i}")})
            for i in range(len(values))
        )

    func = FuncOp(
        "main",
        (block.arg_types, op.result_types),
        Region(block),
        arg_attrs=names("x", block.args),
        res_attrs=names("y", op.results),
    )
    return ModuleOp([func])


def check(make: Make, type: Attribute, *arrays: Array) -> None:
    """The op gives the same in the graph, in the nest, and as machine code."""
    module = program(make, type, len(arrays), len(arrays[0]))
    module.verify()
    inputs = {f"x{i}": array for i, array in enumerate(arrays)}
    expected = interpret(module, inputs)
    kernels = interpret(transom.lower(module, "tensor"), inputs)
    assert not compare_all(kernels, expected), "as a nest"
    compiled = transom.compile(module, opt_level=1).run(inputs)
    assert not compare_all(compiled, expected), "as machine code"


UNARY: list[tuple[OpClass, tuple[Attribute, ...]]] = [
    *((op, FLOATS) for op in (graph.ExpOp, graph.LogOp, graph.SqrtOp, graph.RsqrtOp)),
    *((op, FLOATS) for op in (graph.ReciprocalOp, graph.TanhOp, graph.SigmoidOp)),
    *((op, FLOATS) for op in (graph.ErfOp, graph.GeluOp)),
    *((op, FLOATS) for op in (graph.FloorOp, graph.CeilOp, graph.RoundOp)),
    *((op, (*FLOATS, *SIGNED)) for op in (graph.NegOp, graph.AbsOp, graph.SignOp)),
    (graph.ReluOp, (*FLOATS, *SIGNED)),
    (graph.NotOp, (i1, *INTEGERS)),
]


@pytest.mark.parametrize(
    "op, type", [(op, type) for op, types in UNARY for type in types], ids=str
)
def test_unary(op: OpClass, type: Attribute) -> None:
    check(lambda v: op(*v), type, edges(type))


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize("op", (graph.SinOp, graph.CosOp))
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
@pytest.mark.parametrize("op", (graph.DivOp, graph.ModOp))
def test_quotients_of_integers(op: OpClass, type: Attribute) -> None:
    """By zero, and of the least number by -1, they are undefined."""
    a, b = pairs(type)
    defined = b != 0
    if type in SIGNED:
        defined &= (a != np.iinfo(a.dtype).min) | (b != -1)
    check(lambda v: op(*v), type, a[defined], b[defined])


@pytest.mark.parametrize("type", (f32, f16, bf16), ids=str)
def test_rest_of_floats(type: Attribute) -> None:
    check(lambda v: graph.ModOp(*v), type, *pairs(type))


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


@pytest.mark.parametrize("type", (*FLOATS, *INTEGERS), ids=str)
def test_clamp(type: Attribute) -> None:
    check(lambda v: graph.ClampOp(v[0], 1, 3), type, edges(type))


@pytest.mark.parametrize("type", FLOATS, ids=str)
def test_leaky_relu(type: Attribute) -> None:
    check(lambda v: graph.LeakyReluOp(v[0], 0.25), type, edges(type))
