"""
The pass graph-fold-constants, against the reference evaluation and by number.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from graph_cases import context, parse
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import (
    FunctionType,
    IntegerType,
    ModuleOp,
    Signedness,
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
from xdsl.ir import Attribute, Block, Operation, Region

from transom.dialects import graph
from transom.dialects.dtypes import BFLOAT16, element_type, numpy_dtype
from transom.dialects.graph.elements import bit_width, is_unsigned, ui8, ui16
from transom.interpreters.interpreter import Interpreter
from transom.passes.constant_evaluation import (
    EVALUATORS,
    array_of,
    dense_of,
    round_to_odd,
)
from transom.passes.graph_fold_constants import GraphFoldConstantsPass

Array = npt.NDArray[Any]
Make = Callable[[list[graph.ConstantOp]], graph.GraphOp]
One = Callable[[graph.ConstantOp], graph.GraphOp]
Two = Callable[[graph.ConstantOp, graph.ConstantOp], graph.GraphOp]


def constant(array: Array) -> graph.ConstantOp:
    type = graph.tensor(array.shape, element_type(array.dtype))
    return graph.ConstantOp(dense_of(array, type))


def module_of(make: Make, arrays: Sequence[Array]) -> ModuleOp:
    """A module whose `main` is an op on constants."""
    constants = [constant(array) for array in arrays]
    op = make(constants)
    block = Block([*constants, op, ReturnOp(op)])
    function = FuncOp(
        "main", FunctionType.from_lists([], op.result_types), Region(block)
    )
    module = ModuleOp([function])
    module.verify()
    return module


def folded(module: ModuleOp) -> Array:
    """What the only op left of `main` is."""
    GraphFoldConstantsPass().apply(context(), module)
    module.verify()
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    result, _ = function.body.block.ops
    assert isinstance(result, graph.ConstantOp), f"{result.name} stayed"
    return array_of(result.value)


def fold(make: Make, *arrays: Any, type: Attribute | None = None) -> Array:
    """The folded result of an op on arrays, or on numbers of an element type."""
    dtype = None if type is None else numpy_dtype(type)
    return folded(module_of(make, [np.asarray(a, dtype) for a in arrays]))


def unary(op: One) -> Make:
    return lambda v: op(v[0])


def binary(op: Two) -> Make:
    return lambda v: op(v[0], v[1])


# Against the reference

FLOATS = (f16, bf16, f32, f64)
INTEGERS = (i8, ui8, i32, i64)
EXACT_FLOAT_UNARY: list[One] = [
    graph.AbsOp,
    graph.CeilOp,
    graph.FloorOp,
    graph.NegOp,
    graph.ReluOp,
    graph.RoundOp,
    graph.SignOp,
    graph.SqrtOp,
    lambda x: graph.ClampOp(x, -1, 0.5),
    lambda x: graph.CastOp(x, i8),
    lambda x: graph.CastOp(x, ui8),
    lambda x: graph.CastOp(x, i64),
    lambda x: graph.CastOp(x, i1),
    lambda x: graph.CastOp(x, f16),
    lambda x: graph.CastOp(x, bf16),
    lambda x: graph.CastOp(x, f64),
    lambda x: graph.ReduceOp("max", x, [1]),
    lambda x: graph.ReduceOp("min", x, [0], keepdims=True),
    lambda x: graph.PadOp(x, (1, 0), (0, 2), -1.0),
    lambda x: graph.SliceOp(x, (0, 3), (-1, 2), (1, -2)),
    lambda x: graph.ReshapeOp(x, (4, -1)),
    lambda x: graph.TransposeOp(x, (1, 0)),
    lambda x: graph.BroadcastOp(x, (2, 3, 4)),
    lambda x: graph.ConcatOp([x, x], 1),
    lambda x: graph.IotaOp(x, 1),
    lambda x: graph.ArgsortOp(x, 1),
    lambda x: graph.ArgsortOp(x, 0, descending=True),
    lambda x: graph.ArgsortOp(x, 1, first=2, descending=True),
    lambda x: graph.CumulateOp("max", x, 1, reverse=True),
    lambda x: graph.CumulateOp("min", x, 0, exclusive=True),
]
NEAR_FLOAT_UNARY: list[One] = [
    graph.AcosOp,
    graph.AcoshOp,
    graph.AsinOp,
    graph.AsinhOp,
    graph.AtanOp,
    graph.AtanhOp,
    graph.CoshOp,
    graph.SinhOp,
    graph.TanOp,
    graph.CosOp,
    graph.ErfOp,
    graph.ExpOp,
    graph.GeluOp,
    graph.LogOp,
    graph.ReciprocalOp,
    graph.RsqrtOp,
    graph.SigmoidOp,
    graph.SinOp,
    graph.TanhOp,
    lambda x: graph.LeakyReluOp(x, 0.25),
    lambda x: graph.SoftmaxOp(x, 1),
    lambda x: graph.LogSoftmaxOp(x, 0),
    lambda x: graph.ReduceOp("sum", x),
    lambda x: graph.ReduceOp("mean", x, [1]),
    lambda x: graph.ReduceOp("prod", x, [0, 1], keepdims=True),
    lambda x: graph.CumulateOp("sum", x, 1),
    lambda x: graph.CumulateOp("sum", x, 0, exclusive=True, reverse=True),
    lambda x: graph.CumulateOp("prod", x, 1),
]


def other_sign(x: graph.ConstantOp) -> graph.BitcastOp:
    """The bits of integers as those of the other signedness."""
    element = x.declared_type().element_type
    signed = not is_unsigned(element)
    kind = Signedness.UNSIGNED if signed else Signedness.SIGNLESS
    return graph.BitcastOp(x, IntegerType(bit_width(element), kind))


INTEGER_UNARY: list[One] = [
    other_sign,
    graph.AbsOp,
    graph.NotOp,
    graph.SignOp,
    lambda x: graph.ClampOp(x, 2, 9),
    lambda x: graph.CastOp(x, i8),
    lambda x: graph.CastOp(x, ui8),
    lambda x: graph.CastOp(x, i1),
    lambda x: graph.CastOp(x, f16),
    lambda x: graph.CastOp(x, f32),
    lambda x: graph.ReduceOp("sum", x),
    lambda x: graph.ReduceOp("prod", x, [1]),
    lambda x: graph.ReduceOp("max", x, [0]),
    lambda x: graph.ArgReduceOp("argmax", x, 1),
    lambda x: graph.ArgReduceOp("argmin", x, 0, keepdims=True),
    lambda x: graph.CumulateOp("sum", x, 1, reverse=True),
    lambda x: graph.CumulateOp("prod", x, 0, exclusive=True),
    lambda x: graph.CumulateOp("max", x, 1, exclusive=True),
    lambda x: graph.ArgsortOp(x, 1, descending=True),
    lambda x: graph.PadOp(x, (0, 0), (1, 1), 7),
]
BINARY: list[type[graph.BinaryOp]] = [
    graph.AddOp,
    graph.SubOp,
    graph.MulOp,
    graph.MinimumOp,
    graph.MaximumOp,
]
BITWISE: list[type[graph.BinaryOp]] = [graph.AndOp, graph.OrOp, graph.XorOp]
SHIFTS: list[type[graph.BinaryOp]] = [graph.ShiftLeftOp, graph.ShiftRightOp]
QUOTIENTS: list[type[graph.BinaryOp]] = [graph.DivOp, graph.ModOp]
ZERO_OF_ANY_SIGN = (graph.ClampOp, graph.MaximumOp, graph.MinimumOp, graph.ReluOp)
"""Ops for which -0.0 and 0.0 are the same."""


def random_array(type: Attribute, seed: int, shape: Sequence[int] = (3, 4)) -> Array:
    rng = np.random.default_rng(seed)
    dtype = numpy_dtype(type)
    if type in FLOATS:
        special = rng.choice([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 300.0], shape)
        usual = rng.normal(size=shape) * 3
        return np.where(rng.random(shape) < 0.2, special, usual).astype(dtype)
    if type == i1:
        return rng.random(shape) < 0.5
    limits = np.iinfo(dtype)
    wide = rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    return np.where(rng.random(shape) < 0.5, wide, wide % 10).astype(dtype)


EPSILONS = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float32": 2.0**-23,
    "float64": 2.0**-52,
}


def check(make: Make, arrays: Sequence[Array], ulps: int = 0) -> None:
    """Check a folded op against its reference evaluation."""
    module = module_of(make, arrays)
    op = next(
        op for op in module.walk() if isinstance(op, graph.GraphOp) and op.operands
    )
    with np.errstate(all="ignore"):
        (expected,) = Interpreter(module).run("main", [])
    found = folded(module)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    if expected.dtype.kind in "iub":
        np.testing.assert_array_equal(found, expected)
        return
    epsilon = EPSILONS[found.dtype.name] * ulps
    a, b = found.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_allclose(a, b, rtol=epsilon, atol=epsilon * 1e-3)
    if not ulps and not isinstance(op, ZERO_OF_ANY_SIGN):
        np.testing.assert_array_equal(
            np.signbit(a) & ~np.isnan(a), np.signbit(b) & ~np.isnan(b)
        )


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize("op", EXACT_FLOAT_UNARY)
def test_exact_on_floats(op: One, type: Attribute):
    for seed in range(4):
        check(unary(op), [random_array(type, seed)])


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize("op", NEAR_FLOAT_UNARY)
def test_near_on_floats(op: One, type: Attribute):
    array = uniform(type, 3, 4)
    check(unary(op), [array], 8)


@pytest.mark.parametrize("type", (*FLOATS, *INTEGERS), ids=str)
def test_matmul(type: Attribute):
    a = random_array(type, 0, (2, 3, 4)) if type in INTEGERS else uniform(type, 2, 3, 4)
    b = random_array(type, 1, (4, 5)) if type in INTEGERS else uniform(type, 4, 5)
    check(binary(graph.MatmulOp), [a, b], 8)
    accumulators: dict[Attribute, Attribute] = {f16: f32, bf16: f32, i8: i32, ui8: i32}
    wide = accumulators.get(type)
    if wide is not None:
        check(lambda v: graph.MatmulOp(v[0], v[1], wide), [a, b], 8)


def uniform(type: Attribute, *shape: int) -> Array:
    return np.random.default_rng(0).uniform(0.1, 2, shape).astype(numpy_dtype(type))


@pytest.mark.parametrize("type", INTEGERS, ids=str)
@pytest.mark.parametrize("op", INTEGER_UNARY)
def test_on_integers(op: One, type: Attribute):
    for seed in range(4):
        check(unary(op), [random_array(type, seed)])


@pytest.mark.parametrize("type", (*FLOATS, *INTEGERS), ids=str)
@pytest.mark.parametrize("op", BINARY)
def test_binary(op: type[graph.BinaryOp], type: Attribute):
    for seed in range(4):
        arrays = [random_array(type, seed), random_array(type, seed + 9, (4,))]
        check(binary(op), arrays)


@pytest.mark.parametrize("op", SHIFTS)
@pytest.mark.parametrize("type", INTEGERS, ids=str)
def test_shifts(type: Attribute, op: type[graph.BinaryOp]):
    numbers = random_array(type, 1)
    places = np.arange(12).reshape(3, 4) * 7 - (3 if numbers.dtype.kind == "i" else 0)
    check(lambda v: op(v[0], v[1]), [numbers, places.astype(numbers.dtype)])


@pytest.mark.parametrize("type", (i1, *INTEGERS), ids=str)
@pytest.mark.parametrize("op", BITWISE)
def test_bitwise(op: type[graph.BinaryOp], type: Attribute):
    check(binary(op), [random_array(type, 1), random_array(type, 2)])


@pytest.mark.parametrize("type", (*FLOATS, *INTEGERS), ids=str)
@pytest.mark.parametrize("op", QUOTIENTS)
def test_quotients(op: type[graph.BinaryOp], type: Attribute):
    for seed in range(4):
        divisor = random_array(type, seed + 9)
        divisor = np.where(divisor == 0, divisor.dtype.type(3), divisor)
        if type not in FLOATS:  # the least integer by -1 is undefined in C
            divisor = np.where(divisor + 1 == 0, divisor.dtype.type(5), divisor)
        check(binary(op), [random_array(type, seed), divisor])


@pytest.mark.parametrize("type", (*FLOATS, *INTEGERS), ids=str)
@pytest.mark.parametrize("predicate", graph.ComparePredicate)
def test_comparisons(predicate: graph.ComparePredicate, type: Attribute):
    a, b = random_array(type, 1), random_array(type, 2)
    check(
        lambda v: graph.CompareOp(predicate, v[0], v[1]),
        [a, np.where(random_array(i1, 3), a, b)],
    )


@pytest.mark.parametrize("type", (f32, i8), ids=str)
def test_with_indices(type: Attribute):
    data, updates = random_array(type, 1, (4, 3)), random_array(type, 2, (2, 3))
    places = np.array([[0, -1, 3], [1, 2, -4]])
    check(lambda v: graph.GatherOp(v[0], v[1], 0), [data, places * 3])
    check(lambda v: graph.GatherElementsOp(v[0], v[1], 0), [data, places * 3])
    check(lambda v: graph.GatherElementsOp(v[0], v[1], 1), [data, places])
    for combine in graph.ScatterCombine:
        check(scatter_of(combine), [data, places * 3, updates])
    condition = random_array(i1, 3, (4, 1))
    check(
        lambda v: graph.SelectOp(v[0], v[1], v[2]), [condition, data, data[:1] + data]
    )


@pytest.mark.parametrize("scale", (f32, f16, bf16), ids=str)
@pytest.mark.parametrize("type", (i8, ui8, i16, ui16), ids=str)
def test_quantization(type: Attribute, scale: Attribute):
    x = np.linspace(-70, 70, 24, dtype=np.float32).reshape(4, 6)
    scales = np.array([[0.25], [0.5], [1.5], [3]]).astype(numpy_dtype(scale))
    zero = np.array([3, 0, 100, 7, 1, 2]).astype(numpy_dtype(type))
    check(lambda v: graph.QuantizeOp(v[0], v[1], v[2]), [x, scales, zero])
    q = random_array(type, 1, (4, 6))
    check(lambda v: graph.DequantizeOp(v[0], v[1], v[2]), [q, scales, zero])


def test_dequantization_of_sums():
    sums = np.array([[1, -5], [2**31 - 1, -(2**31)]], np.int32)
    scale, zero = np.array([0.5, 1e-3], np.float32), np.array(7, np.int32)
    check(lambda v: graph.DequantizeOp(v[0], v[1], v[2]), [sums, scale, zero])


def scatter_of(combine: graph.ScatterCombine) -> Make:
    return lambda v: graph.ScatterOp(v[0], v[1], v[2], 0, combine)


def test_normalization_and_power():
    x = random_array(f32, 1, (2, 3, 2))
    p = np.linspace(0.5, 1.5, 3).astype(np.float32)
    check(lambda v: graph.BatchNormOp(*v, epsilon=1e-3), [x, p, p, p, p], 8)
    check(binary(graph.PowOp), [np.abs(random_array(f32, 2)), random_array(f32, 3)], 4)
    check(
        binary(graph.PowOp),
        [np.array([2, -1, 1, -3, 7]), np.array([3, -3, -2, -1, 70])],
    )


def test_every_evaluator_is_tested():
    tested: set[type[Operation]] = {
        *BINARY,
        *BITWISE,
        *SHIFTS,
        *QUOTIENTS,
        graph.BatchNormOp,
        graph.CompareOp,
        graph.DequantizeOp,
        graph.GatherElementsOp,
        graph.GatherOp,
        graph.MatmulOp,
        graph.PowOp,
        graph.QuantizeOp,
        graph.ScatterOp,
        graph.SelectOp,
    }
    values = constant(np.ones((3, 4), np.float32))
    tested |= {type(op(values)) for op in (*EXACT_FLOAT_UNARY, *NEAR_FLOAT_UNARY)}
    values = constant(np.ones((3, 4), np.int8))
    tested |= {type(op(values)) for op in INTEGER_UNARY}
    assert set(EVALUATORS) <= tested


# By number


def test_saturation():
    numbers = [1e30, -1e30, np.nan, 2.9, -2.9, 255.5, np.inf]
    to_i8 = fold(unary(lambda x: graph.CastOp(x, i8)), numbers, type=f32)
    assert to_i8.tolist() == [127, -128, 0, 2, -2, 127, 127]
    to_ui8 = fold(unary(lambda x: graph.CastOp(x, ui8)), numbers, type=f32)
    assert to_ui8.tolist() == [255, 0, 0, 2, 0, 255, 255]
    to_i64 = fold(unary(lambda x: graph.CastOp(x, i64)), [1e30, -(2.0**63)], type=f64)
    assert to_i64.tolist() == [2**63 - 1, -(2**63)]


def test_integers_wrap():
    assert fold(binary(graph.AddOp), [127], [1], type=i8).tolist() == [-128]
    assert fold(binary(graph.MulOp), [200], [2], type=ui8).tolist() == [144]
    assert fold(unary(graph.NegOp), [-128], type=i8).tolist() == [-128]


def test_integer_quotients_truncate():
    a, b = [7, -7, 7, -7], [2, 2, -2, -2]
    assert fold(binary(graph.DivOp), a, b, type=i32).tolist() == [3, -3, -3, 3]
    assert fold(binary(graph.ModOp), a, b, type=i32).tolist() == [1, 1, -1, -1]
    assert fold(binary(graph.ModOp), a, b, type=f32).tolist() == [1, -1, 1, -1]


@given(st.floats(width=64, allow_nan=False))
def test_f64_is_rounded_once_to_bf16(number: float):
    (found,) = fold(unary(lambda x: graph.CastOp(x, bf16)), [number], type=f64)
    low = np.float64(found)
    neighbours = [
        np.float64(np.nextafter(found, BFLOAT16.type(direction)))
        for direction in (-np.inf, np.inf)
    ]
    if np.isfinite(low):
        assert all(abs(low - number) <= abs(n - number) for n in neighbours)


def test_halfway_cases_of_bf16():
    half = 1 + 2.0**-8
    numbers = [half, half + 2.0**-40, half - 2.0**-40, -half - 2.0**-40]
    found = fold(unary(lambda x: graph.CastOp(x, bf16)), numbers, type=f64)
    above = 1 + 2.0**-7
    assert found.astype(float).tolist() == [1.0, above, 1.0, -above]
    big = 2**62 + 2**54
    found = fold(unary(lambda x: graph.CastOp(x, bf16)), [big, big + 1], type=i64)
    assert found.astype(float).tolist() == [2.0**62, 2.0**62 + 2.0**55]


def test_round_to_odd_keeps_what_is_exact():
    numbers = np.array([0.0, -0.0, 1.5, np.inf, -np.inf, np.nan, 2.0**-149])
    np.testing.assert_array_equal(round_to_odd(numbers), numbers.astype(np.float32))


def test_truth_values_are_any_byte():
    type = graph.tensor((3,), i1)
    value = graph.ConstantOp.from_bytes(type, b"\x01\x00\xff").value
    assert array_of(value).tolist() == [True, False, True]
    assert dense_of(array_of(value), type).data.data == b"\xff\x00\xff"


def test_splats_take_no_memory():
    type = graph.tensor((1000, 1000), f32)
    value = graph.ConstantOp.splat(type, 2.0).value
    array = array_of(value)
    assert array.strides == (0, 0)
    assert dense_of(array, type) == value


def test_a_dead_constant_is_removed_once():
    module = parse("""
      func.func @f() -> tensor<2xf32> {
        %a = graph.constant dense<1.0> : tensor<2xf32>
        %b = graph.add %a, %a : tensor<2xf32>
        func.return %b : tensor<2xf32>
      }
    """)
    GraphFoldConstantsPass().apply(context(), module)
    assert str(module).count("graph.constant") == 1
