"""
`arith`, `math` and `vector` on numbers, against Python's exact integers and fractions.
"""

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter_cases import evaluate, interpret, same

from transom.dialects.diagnostics import OpError
from transom.interpreters import numerics

# All pairs of 8-bit integers, and of bits.
PAIRS = np.array(np.meshgrid(np.arange(-128, 128), np.arange(-128, 128)), np.int8)
A, B = PAIRS.reshape(2, -1)
BITS = (np.array([False, False, True, True]), np.array([False, True, False, True]))


def trunc(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


Integer = Callable[[int, int], int]


def at_points(op: str, a: Any, b: Any, type: str) -> Any:
    """The bits that an op gives for numbers; xDSL has no comparison of tensors."""
    return interpret(
        f"""
tir.func @main(read %a: memref<?x{type}>, read %b: memref<?x{type}>,
               write %o: memref<?xi1>, read %n: index) {{
  tir.nest dims [parallel %n]
      ins(%a[d0] : memref<?x{type}>, %b[d0] : memref<?x{type}>)
      outs(%o[d0] : memref<?xi1>)
    finish (%x: {type}, %y: {type}) {{
      %r = {op} %x, %y : {type}
      tir.yield %r : i1
    }}
  tir.return
}}""",
        a,
        b,
        np.zeros(a.size, np.bool_),
        a.size,
    )


SIGNED: dict[str, Integer] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "divsi": trunc,
    "remsi": lambda a, b: a - trunc(a, b) * b,
    "floordivsi": lambda a, b: a // b,
    "ceildivsi": lambda a, b: -(-a // b),
    "minsi": min,
    "maxsi": max,
    "shli": lambda a, b: a << b % 256 if b % 256 < 8 else 0,
    "shrsi": lambda a, b: a >> min(b % 256, 7),
}
UNSIGNED: dict[str, Integer] = {
    "divui": lambda a, b: a // b,
    "remui": lambda a, b: a % b,
    "ceildivui": lambda a, b: -(-a // b),
    "minui": min,
    "maxui": max,
    "shrui": lambda a, b: a >> b if b < 8 else 0,
}
DIVISIONS = ("div", "rem", "floordiv", "ceildiv")


@pytest.mark.parametrize("name", [*SIGNED, *UNSIGNED])
def test_bytes(name: str):
    a, b = (A[B != 0], B[B != 0]) if name.startswith(DIVISIONS) else (A, B)
    function = SIGNED.get(name) or UNSIGNED[name]
    view = "i1" if name in SIGNED else "u1"
    expected = [
        function(int(x), int(y)) % 256
        for x, y in zip(a.view(view), b.view(view), strict=True)
    ]
    type = f"tensor<{a.size}xi8>"
    found = evaluate(
        f"arith.{name} %0, %1 : {type}", a, b, types=f"({type}, {type}) -> {type}"
    )
    same(found, np.array(expected, np.uint8).view(np.int8))


@pytest.mark.parametrize("name", ["addi", "subi", "muli", "andi", "ori", "xori"])
def test_bits(name: str):
    expected = [
        SIGNED[name](int(a), int(b)) % 2 == 1 for a, b in zip(*BITS, strict=True)
    ]
    found = evaluate(
        f"arith.{name} %0, %1 : tensor<4xi1>",
        *BITS,
        types="(tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>",
    )
    same(found, np.array(expected))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("minsi", [0, 1, 1, 1]),  # a set bit is -1
        ("maxsi", [0, 0, 0, 1]),
        ("minui", [0, 0, 0, 1]),
        ("maxui", [0, 1, 1, 1]),
    ],
)
def test_order_of_bits(name: str, expected: list[int]):
    found = evaluate(
        f"arith.{name} %0, %1 : tensor<4xi1>",
        *BITS,
        types="(tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>",
    )
    same(found, np.array(expected, np.bool_))


def test_comparison_of_bits():
    same(at_points("arith.cmpi slt,", *BITS, "i1"), np.array([0, 0, 1, 0], np.bool_))
    same(at_points("arith.cmpi ult,", *BITS, "i1"), np.array([0, 1, 0, 0], np.bool_))


@pytest.mark.parametrize(("type", "dtype"), [("i32", np.int32), ("i64", np.int64)])
def test_wraparound_of_numbers(type: str, dtype: Any):
    top = np.iinfo(dtype).max
    types = f"({type}, {type}) -> {type}"
    found = evaluate(f"arith.addi %0, %1 : {type}", top, 1, types=types)
    same(found, dtype(np.iinfo(dtype).min))
    found = evaluate(f"arith.muli %0, %1 : {type}", top, top, types=types)
    same(found, dtype(1))
    found = evaluate(
        f"arith.divsi %0, %1 : {type}", np.iinfo(dtype).min, -1, types=types
    )
    same(found, dtype(np.iinfo(dtype).min))


@pytest.mark.parametrize("name", ["divsi", "divui", "remsi", "floordivsi", "ceildivui"])
def test_division_by_zero(name: str):
    with pytest.raises(OpError) as raised:
        evaluate(f"arith.{name} %0, %1 : i32", 1, 0, types="(i32, i32) -> i32")
    assert raised.value.message == f"cannot evaluate 'arith.{name}': division by zero"


CMPI: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "eq": ("i1", operator.eq),
    "ne": ("i1", operator.ne),
    "slt": ("i1", operator.lt),
    "sle": ("i1", operator.le),
    "sgt": ("i1", operator.gt),
    "sge": ("i1", operator.ge),
    "ult": ("u1", operator.lt),
    "ule": ("u1", operator.le),
    "ugt": ("u1", operator.gt),
    "uge": ("u1", operator.ge),
}


@pytest.mark.parametrize("predicate", CMPI)
def test_compare_integers(predicate: str):
    view, function = CMPI[predicate]
    found = at_points(f"arith.cmpi {predicate},", A, B, "i8")
    same(found, np.array(function(A.view(view), B.view(view))))


F = np.array([1.0, 2.0, 2.0, math.nan, 1.0, math.nan, 0.0], np.float32)
G = np.array([2.0, 1.0, 2.0, 1.0, math.nan, math.nan, -0.0], np.float32)


def compared(predicate: str, a: float, b: float) -> bool:
    unordered = math.isnan(a) or math.isnan(b)
    if predicate in ("true", "false"):
        return predicate == "true"
    if predicate in ("ord", "uno"):
        return unordered == (predicate == "uno")
    if unordered:
        return predicate[0] == "u"
    return {
        "eq": a == b,
        "ne": a != b,
        "lt": a < b,
        "le": a <= b,
        "gt": a > b,
        "ge": a >= b,
    }[predicate[1:]]


@pytest.mark.parametrize(
    "predicate",
    "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split(),  # noqa: SIM905
)
@pytest.mark.parametrize("type", ["f32", "bf16"])
def test_compare_floats(predicate: str, type: str):
    dtype = ml_dtypes.bfloat16 if type == "bf16" else np.float32
    found = at_points(
        f"arith.cmpf {predicate},", F.astype(dtype), G.astype(dtype), type
    )
    pairs = zip(F.tolist(), G.tolist(), strict=True)
    same(found, np.array([compared(predicate, a, b) for a, b in pairs]))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("minimumf", [1, 1, 2, math.nan, math.nan, math.nan, -0.0]),
        ("maximumf", [2, 2, 2, math.nan, math.nan, math.nan, 0.0]),
        ("minnumf", [1, 1, 2, 1, 1, math.nan, None]),
        ("maxnumf", [2, 2, 2, 1, 1, math.nan, None]),
    ],
)
@pytest.mark.parametrize("type", ["f32", "f16", "bf16", "f64"])
def test_minimum_and_maximum(name: str, expected: list[float | None], type: str):
    dtype = {"f16": "f2", "f32": "f4", "f64": "f8"}.get(type, ml_dtypes.bfloat16)
    tensor = f"tensor<7x{type}>"
    found = evaluate(
        f"arith.{name} %0, %1 : {tensor}",
        F.astype(dtype),
        G.astype(dtype),
        types=f"({tensor}, {tensor}) -> {tensor}",
    ).astype(np.float64)
    for value, wanted in zip(found.tolist(), expected, strict=True):
        if wanted is not None:
            assert repr(value) == repr(float(wanted))


# Rounding, against exact fractions.

FORMATS = {"f16": (11, 5), "bf16": (8, 8), "f32": (24, 8)}
"""Bits of the significand, of the exponent."""

DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
}


EPSILON = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23}


def nearest(exact: Fraction, format: str) -> float:
    """The nearest number of a format, ties to even."""
    digits, exponent_bits = FORMATS[format]
    least = 3 - (1 << (exponent_bits - 1)) - digits
    if exact == 0:
        return 0.0
    power = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
    while abs(exact) < Fraction(2) ** power:
        power -= 1
    while abs(exact) >= Fraction(2) ** (power + 1):
        power += 1
    unit = Fraction(2) ** max(power - digits + 1, least)
    result = round(exact / unit) * unit  # Python rounds ties to even
    limit = Fraction(2) ** (1 << (exponent_bits - 1))
    if abs(result) >= limit:
        return math.inf if result > 0 else -math.inf
    return float(result)


def close_floats(format: str) -> st.SearchStrategy[float]:
    """Numbers of a format whose sums and products are finite and often inexact."""
    digits, _ = FORMATS[format]
    limit = (1 << digits) - 1

    def number(significand: int, exponent: int) -> float:
        exact = np.asarray(math.ldexp(significand, exponent))
        return float(exact.astype(DTYPES[format]))

    return st.builds(
        number, st.integers(-limit, limit), st.integers(-digits - 3, -digits + 4)
    )


ARITHMETIC: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "addf": lambda a, b: a + b,
    "subf": lambda a, b: a - b,
    "mulf": lambda a, b: a * b,
    "divf": lambda a, b: a / b,
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_rounds_once(name: str, format: str):
    @settings(max_examples=3, deadline=None, derandomize=True)
    @given(
        st.lists(
            st.tuples(close_floats(format), close_floats(format)),
            min_size=64,
            max_size=64,
        )
    )
    def check(pairs: list[tuple[float, float]]):
        pairs = [(a, b if b or name != "divf" else 1.0) for a, b in pairs]
        a, b = (
            np.array(side).astype(DTYPES[format]) for side in zip(*pairs, strict=True)
        )
        type = f"tensor<64x{format}>"
        found = evaluate(
            f"arith.{name} %0, %1 : {type}", a, b, types=f"({type}, {type}) -> {type}"
        )
        expected = [
            nearest(ARITHMETIC[name](Fraction(x), Fraction(y)), format)
            for x, y in pairs
        ]
        same(np.abs(found), np.abs(np.array(expected)).astype(DTYPES[format]))

    check()


@pytest.mark.parametrize("format", FORMATS)
def test_fma_rounds_once(format: str):
    close = close_floats(format)

    @settings(max_examples=5, deadline=None, derandomize=True)
    @given(st.lists(st.tuples(close, close, close), min_size=64, max_size=64))
    def check(triples: list[tuple[float, float, float]]):
        a, b, c = (
            np.array(side).astype(DTYPES[format]) for side in zip(*triples, strict=True)
        )
        expected = [
            nearest(Fraction(x) * Fraction(y) + Fraction(z), format)
            for x, y, z in triples
        ]
        found = numerics.fused_multiply_add(a, b, c)
        same(np.abs(found), np.abs(np.array(expected)).astype(DTYPES[format]))

    check()


def test_fma_of_one_number():
    """The product alone would round to 1."""
    tiny = np.float32(2.0**-12)
    types = "(f32, f32, f32) -> f32"
    found = evaluate(
        "math.fma %0, %1, %2 : f32",
        np.float32(1) + tiny,
        np.float32(1) - tiny,
        np.float32(-1),
        types=types,
    )
    same(found, np.float32(-(2.0**-24)))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([*FORMATS]))
def test_truncation_rounds_once(x: float, format: str):
    expected = nearest(Fraction(x), format)
    with np.errstate(all="ignore"):
        found = numerics.rounded(np.float64(x), np.dtype(DTYPES[format]))
    assert float(np.asarray(found).astype(np.float64)) == expected


def test_truncation_to_bfloat16_does_not_round_twice():
    """Through f32 this would be a tie that goes down."""
    x = 1 + 2.0**-8 + 2.0**-40
    found = evaluate(
        "arith.truncf %0 : f64 to bf16", np.float64(x), types="(f64) -> bf16"
    )
    assert float(found) == 1 + 2.0**-7


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.integers(-(2**63), 2**63 - 1), st.sampled_from([*FORMATS]))
def test_integer_to_float_rounds_once(x: int, format: str):
    with np.errstate(all="ignore"):
        found = numerics.integer_to_float(np.array(x), np.dtype(DTYPES[format]))
    assert float(found.astype(np.float64)) == nearest(Fraction(x), format)


# Conversions.

CONVERSIONS: list[tuple[str, str, Any, Any]] = [
    ("extsi", "(i8) -> i32", np.int8(-1), np.int32(-1)),
    ("extui", "(i8) -> i32", np.int8(-1), np.int32(255)),
    ("extsi", "(i1) -> i32", np.True_, np.int32(-1)),
    ("extui", "(i1) -> i32", np.True_, np.int32(1)),
    ("trunci", "(i32) -> i8", np.int32(0x1FF), np.int8(-1)),
    ("trunci", "(i32) -> i1", np.int32(2), np.False_),
    ("sitofp", "(i8) -> f32", np.int8(-1), np.float32(-1)),
    ("uitofp", "(i8) -> f32", np.int8(-1), np.float32(255)),
    ("sitofp", "(i1) -> f32", np.True_, np.float32(-1)),
    ("uitofp", "(i1) -> f32", np.True_, np.float32(1)),
    ("fptosi", "(f32) -> i8", np.float32(-127.9), np.int8(-127)),
    ("fptoui", "(f32) -> i8", np.float32(255.9), np.int8(-1)),
    ("fptosi", "(f64) -> i64", np.float64(-(2.0**63)), np.int64(-(2**63))),
    ("index_cast", "(i32) -> index", np.int32(-5), np.int64(-5)),
    ("index_cast", "(index) -> i8", np.int64(257), np.int8(1)),
    ("extf", "(f16) -> f64", np.float16(0.1), np.float64(np.float16(0.1))),
    ("bitcast", "(f32) -> i32", np.float32(1), np.int32(0x3F800000)),
    ("bitcast", "(i16) -> f16", np.int16(0x3C00), np.float16(1)),
]


@pytest.mark.parametrize(("name", "types", "value", "expected"), CONVERSIONS)
def test_conversions(name: str, types: str, value: Any, expected: Any):
    source, _, target = types.partition(" -> ")
    op = f"arith.{name} %0 : {source.strip('()')} to {target}"
    same(evaluate(op, value, types=types), expected)


@pytest.mark.parametrize("x", [128.0, -129.0, math.inf, -math.inf, math.nan, 1e30])
def test_float_to_integer_out_of_range(x: float):
    """Undefined: here the least integer, as x86 has it; a saturating cast is not."""
    found = evaluate("arith.fptosi %0 : f32 to i8", np.float32(x), types="(f32) -> i8")
    same(found, np.int8(-128))
    saturated = 0 if math.isnan(x) else -128 if x < 0 else 127
    found = numerics.float_to_int(np.float32(x), np.dtype(np.int8), saturate=True)
    same(found, np.int8(saturated))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u4", "i8", "u8"])
def test_saturation(dtype: str):
    info = np.iinfo(dtype)
    x = np.array([-1e30, -0.9, 0.9, 1e30, math.nan, float(info.max) * 2, 42.5])
    found = numerics.float_to_int(x, np.dtype(dtype), saturate=True)
    same(found, np.array([info.min, 0, 0, info.max, 0, info.max, 42], dtype))


# Constants and selection.


@pytest.mark.parametrize(
    ("constant", "type", "expected"),
    [
        ("true", "i1", np.True_),
        ("-1 : i8", "i8", np.int8(-1)),
        ("7 : index", "index", np.int64(7)),
        ("1.1 : f32", "f32", np.float32(1.1)),
        ("1.1 : bf16", "bf16", ml_dtypes.bfloat16(1.1)),
        ("dense<2.0> : tensor<2x3xf16>", "tensor<2x3xf16>", np.full((2, 3), 2, "f2")),
        (
            "dense<[true, false]> : tensor<2xi1>",
            "tensor<2xi1>",
            np.array([True, False]),
        ),
        (
            "dense<[[1], [2]]> : tensor<2x1xi64>",
            "tensor<2x1xi64>",
            np.array([[1], [2]]),
        ),
        ("dense<[1, 2]> : vector<2xi32>", "vector<2xi32>", np.array([1, 2], "i4")),
    ],
)
def test_constants(constant: str, type: str, expected: Any):
    same(evaluate(f"arith.constant {constant}", types=f"() -> {type}"), expected)


def test_select():
    types = "(i1, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>"
    op = "arith.select %0, %1, %2 : tensor<2xf32>"
    a, b = np.zeros(2, "f4"), np.ones(2, "f4")
    same(evaluate(op, True, a, b, types=types), a)
    same(evaluate(op, False, a, b, types=types), b)


def test_extended():
    text = """
func.func @main(%a: i8, %b: i8) -> (i8, i1, i8, i8, i8, i8) {
  %s, %o = arith.addui_extended %a, %b : i8, i1
  %l, %h = arith.mului_extended %a, %b : i8
  %m, %i = arith.mulsi_extended %a, %b : i8
  func.return %s, %o, %l, %h, %m, %i : i8, i1, i8, i8, i8, i8
}"""
    found = [int(x) for x in interpret(text, -2, 3)]
    unsigned, signed = 254 * 3, -2 * 3
    assert found[:2] == [1, 1]
    assert [x % 256 for x in found[2:4]] == [unsigned % 256, unsigned // 256]
    assert [x % 256 for x in found[4:]] == [signed % 256, (signed >> 8) % 256]


# math


FUNCTIONS: dict[str, Callable[[float], float]] = {
    "absf": abs,
    "acos": math.acos,
    "asin": math.asin,
    "asinh": math.asinh,
    "atan": math.atan,
    "atanh": math.atanh,
    "ceil": math.ceil,
    "cos": math.cos,
    "cosh": math.cosh,
    "erf": math.erf,
    "exp": math.exp,
    "exp2": lambda x: 2.0**x,
    "expm1": math.expm1,
    "floor": math.floor,
    "log1p": math.log1p,
    "roundeven": round,
    "sin": math.sin,
    "sinh": math.sinh,
    "tan": math.tan,
    "tanh": math.tanh,
    "trunc": math.trunc,
}
POSITIVE: dict[str, Callable[[float], float]] = {
    "cbrt": lambda x: x ** (1 / 3),
    "log": math.log,
    "log10": math.log10,
    "log2": math.log2,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "sqrt": math.sqrt,
}


@pytest.mark.parametrize("name", [*FUNCTIONS, *POSITIVE])
@pytest.mark.parametrize("type", ["f16", "bf16", "f32", "f64"])
def test_functions(name: str, type: str):
    x = np.linspace(0.01 if name in POSITIVE else -0.97, 0.99, 33).astype(DTYPES[type])
    function = FUNCTIONS.get(name) or POSITIVE[name]
    expected = [float(function(float(v))) for v in x.astype(np.float64)]
    tensor = f"tensor<33x{type}>"
    found = evaluate(f"math.{name} %0 : {tensor}", x, types=f"({tensor}) -> {tensor}")
    if type == "f64":
        np.testing.assert_allclose(found, expected, rtol=4e-16, atol=1e-17)
    else:
        rounded = numerics.rounded(np.array(expected), x.dtype)
        off = (
            numerics.rounded(found.astype(np.float64), np.dtype(np.float32)) != rounded
        )
        assert np.mean(off) <= 0.07  # of f32 functions of f16, rounded twice
        np.testing.assert_allclose(found.astype("f8"), expected, rtol=EPSILON[type])


def test_round_is_away_from_zero():
    x = np.array([0.5, 1.5, -0.5, -2.5, 0.49999997, 8388609.0], np.float32)
    found = evaluate(
        "math.round %0 : tensor<6xf32>", x, types="(tensor<6xf32>) -> tensor<6xf32>"
    )
    same(found, np.array([1, 2, -1, -3, 0, 8388609], np.float32))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ctlz", [8, 7, 0, 0, 1]),
        ("cttz", [8, 0, 0, 7, 6]),
        ("ctpop", [0, 1, 8, 1, 1]),
        ("absi", [0, 1, 1, -128, 64]),
    ],
)
def test_bit_counts(name: str, expected: list[int]):
    x = np.array([0, 1, -1, -128, 64], np.int8)
    type = "tensor<5xi8>"
    found = evaluate(f"math.{name} %0 : {type}", x, types=f"({type}) -> {type}")
    same(found, np.array(expected, np.int8))


def test_integer_powers():
    base = np.array([3, -2, -1, 1, 2, 10], np.int8)
    exponent = np.array([4, 7, -3, -5, -1, 2], np.int8)
    type = "tensor<6xi8>"
    found = evaluate(
        f"math.ipowi %0, %1 : {type}",
        base,
        exponent,
        types=f"({type}, {type}) -> {type}",
    )
    same(found, np.array([81, -128, -1, 1, 0, 100], np.int8))
    with pytest.raises(OpError, match="0 to a negative power"):
        evaluate("math.ipowi %0, %1 : i8", 0, -1, types="(i8, i8) -> i8")
