"""
The lowering to machine code computes what the IR says: compiled, run, and compared with
NumPy.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llvm_cases import compiled, zeros

RNG = np.random.default_rng(7)

UNARY_MATH: list[tuple[str, Callable[[Any], Any], tuple[float, float]]] = [
    ("math.absf", np.abs, (-3, 3)),
    ("math.acos", np.arccos, (-1, 1)),
    ("math.acosh", np.arccosh, (1, 5)),
    ("math.asin", np.arcsin, (-1, 1)),
    ("math.asinh", np.arcsinh, (-3, 3)),
    ("math.atan", np.arctan, (-3, 3)),
    ("math.atanh", np.arctanh, (-0.9, 0.9)),
    ("math.cbrt", np.cbrt, (-3, 3)),
    ("math.ceil", np.ceil, (-3, 3)),
    ("math.cos", np.cos, (-3, 3)),
    ("math.cosh", np.cosh, (-3, 3)),
    ("math.erf", np.vectorize(math.erf), (-3, 3)),
    ("math.exp", np.exp, (-3, 3)),
    ("math.exp2", np.exp2, (-3, 3)),
    ("math.expm1", np.expm1, (-3, 3)),
    ("math.floor", np.floor, (-3, 3)),
    ("math.log", np.log, (0.1, 3)),
    ("math.log10", np.log10, (0.1, 3)),
    ("math.log1p", np.log1p, (-0.5, 3)),
    ("math.log2", np.log2, (0.1, 3)),
    ("math.round", lambda x: np.trunc(x + np.copysign(0.5, x)), (-3, 3)),
    ("math.roundeven", np.round, (-3, 3)),
    ("math.rsqrt", lambda x: 1 / np.sqrt(x), (0.1, 3)),
    ("math.sin", np.sin, (-3, 3)),
    ("math.sinh", np.sinh, (-3, 3)),
    ("math.sqrt", np.sqrt, (0.1, 3)),
    ("math.tan", np.tan, (-1, 1)),
    ("math.tanh", np.tanh, (-3, 3)),
    ("math.trunc", np.trunc, (-3, 3)),
    ("arith.negf", np.negative, (-3, 3)),
]

DTYPES = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
}
TOLERANCE = {"f32": 1e-5, "f64": 1e-12, "f16": 2e-3, "bf16": 1e-2}


@pytest.mark.parametrize("element", DTYPES)
def test_functions_of_one_float(element: str) -> None:
    """Scalars and vectors, in one module: compiling costs more than running."""
    text = ""
    for name, _, _ in UNARY_MATH:
        label = name.replace(".", "_")
        text += f"""
        func.func @{label}(%x: memref<9x{element}>, %y: memref<9x{element}>) {{
          %c0 = arith.constant 0 : index
          %c8 = arith.constant 8 : index
          %v = vector.load %x[%c0] : memref<9x{element}>, vector<8x{element}>
          %w = {name} %v : vector<8x{element}>
          vector.store %w, %y[%c0] : memref<9x{element}>, vector<8x{element}>
          %s = memref.load %x[%c8] : memref<9x{element}>
          %t = {name} %s : {element}
          memref.store %t, %y[%c8] : memref<9x{element}>
          func.return
        }}
        """
    run = compiled(text)
    for name, function, (low, high) in UNARY_MATH:
        x = RNG.uniform(low, high, 9).astype(DTYPES[element])
        y = zeros(9, DTYPES[element])
        assert run(name.replace(".", "_"), x, y) == 0
        expected = function(x.astype(np.float64))
        np.testing.assert_allclose(
            y.astype(np.float64),
            expected,
            rtol=TOLERANCE[element],
            atol=TOLERANCE[element],
            err_msg=f"{name} on {element}",
        )


BINARY_FLOAT: list[tuple[str, Callable[[Any, Any], Any]]] = [
    ("arith.addf", np.add),
    ("arith.subf", np.subtract),
    ("arith.mulf", np.multiply),
    ("arith.divf", np.divide),
    ("arith.maximumf", np.maximum),
    ("arith.minimumf", np.minimum),
    ("arith.maxnumf", np.fmax),
    ("arith.minnumf", np.fmin),
    ("math.atan2", np.arctan2),
    ("math.copysign", np.copysign),
]


@pytest.mark.parametrize("element", DTYPES)
def test_functions_of_two_floats(element: str) -> None:
    text = ""
    for name, _ in BINARY_FLOAT:
        label = name.replace(".", "_")
        text += f"""
        func.func @{label}(%a: memref<9x{element}>, %b: memref<9x{element}>,
                           %y: memref<9x{element}>) {{
          %c0 = arith.constant 0 : index
          %c8 = arith.constant 8 : index
          %v = vector.load %a[%c0] : memref<9x{element}>, vector<8x{element}>
          %u = vector.load %b[%c0] : memref<9x{element}>, vector<8x{element}>
          %w = {name} %v, %u : vector<8x{element}>
          vector.store %w, %y[%c0] : memref<9x{element}>, vector<8x{element}>
          %s = memref.load %a[%c8] : memref<9x{element}>
          %p = memref.load %b[%c8] : memref<9x{element}>
          %t = {name} %s, %p : {element}
          memref.store %t, %y[%c8] : memref<9x{element}>
          func.return
        }}
        """
    run = compiled(text)
    for name, function in BINARY_FLOAT:
        a = RNG.uniform(0.1, 3, 9).astype(DTYPES[element])
        b = RNG.uniform(-3, 3, 9).astype(DTYPES[element])
        a[0] = np.nan
        y = zeros(9, DTYPES[element])
        assert run(name.replace(".", "_"), a, b, y) == 0
        expected = function(a.astype(np.float64), b.astype(np.float64))
        np.testing.assert_allclose(
            y.astype(np.float64),
            expected,
            rtol=TOLERANCE[element],
            atol=TOLERANCE[element],
            err_msg=f"{name} on {element}",
        )


def test_bf16_rounds_as_ml_dtypes_does() -> None:
    """All patterns of the upper bits, with lower bits around the ties."""
    run = compiled("""
    func.func @f(%x: memref<?xf32>, %y: memref<?xbf16>, %z: memref<?xf32>) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %n = memref.dim %x, %zero : memref<?xf32>
      scf.for %i = %zero to %n step %one {
        %a = memref.load %x[%i] : memref<?xf32>
        %b = arith.truncf %a : f32 to bf16
        memref.store %b, %y[%i] : memref<?xbf16>
        %c = arith.extf %b : bf16 to f32
        memref.store %c, %z[%i] : memref<?xf32>
      }
      func.return
    }
    """)
    upper = np.arange(1 << 16, dtype=np.uint32) << 16
    lower = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    x = (upper[:, None] | lower).ravel().view(np.float32)
    y, z = zeros(len(x), ml_dtypes.bfloat16), zeros(len(x))
    assert run("f", x, y, z) == 0
    with np.errstate(all="ignore"):
        expected = x.astype(ml_dtypes.bfloat16)
    nan = np.isnan(x)
    assert (y.view(np.uint16)[~nan] == expected.view(np.uint16)[~nan]).all()
    assert np.isnan(y[nan].astype(np.float32)).all()
    assert (z[~nan] == y[~nan].astype(np.float32)).all()


INTEGERS: list[tuple[str, Callable[[int, int], int]]] = [
    ("arith.addi", lambda a, b: a + b),
    ("arith.subi", lambda a, b: a - b),
    ("arith.muli", lambda a, b: a * b),
    ("arith.andi", lambda a, b: a & b),
    ("arith.ori", lambda a, b: a | b),
    ("arith.xori", lambda a, b: a ^ b),
    ("arith.maxsi", max),
    ("arith.minsi", min),
    ("arith.maxui", lambda a, b: max(a % 256, b % 256)),
    ("arith.minui", lambda a, b: min(a % 256, b % 256)),
    ("arith.divsi", lambda a, b: int(a / b)),
    ("arith.remsi", lambda a, b: int(math.fmod(a, b))),
    ("arith.divui", lambda a, b: a % 256 // (b % 256)),
    ("arith.remui", lambda a, b: a % 256 % (b % 256)),
    ("arith.floordivsi", lambda a, b: a // b),
    ("arith.ceildivsi", lambda a, b: -(-a // b)),
    ("arith.ceildivui", lambda a, b: -(-(a % 256) // (b % 256))),
]


def test_integers_of_eight_bits() -> None:
    """Every pair of values near the ends and the middle, in scalars and vectors."""
    text = ""
    for name, _ in INTEGERS:
        label = name.replace(".", "_")
        text += f"""
        func.func @{label}(%a: memref<?xi8>, %b: memref<?xi8>, %s: memref<?xi8>,
                           %v: memref<?xi8>) {{
          %zero = arith.constant 0 : index
          %one = arith.constant 1 : index
          %four = arith.constant 4 : index
          %n = memref.dim %a, %zero : memref<?xi8>
          scf.for %i = %zero to %n step %one {{
            %x = memref.load %a[%i] : memref<?xi8>
            %y = memref.load %b[%i] : memref<?xi8>
            %z = {name} %x, %y : i8
            memref.store %z, %s[%i] : memref<?xi8>
          }}
          scf.for %i = %zero to %n step %four {{
            %x = vector.load %a[%i] : memref<?xi8>, vector<4xi8>
            %y = vector.load %b[%i] : memref<?xi8>, vector<4xi8>
            %z = {name} %x, %y : vector<4xi8>
            vector.store %z, %v[%i] : memref<?xi8>, vector<4xi8>
          }}
          func.return
        }}
        """
    run = compiled(text)
    values = [-128, -127, -7, -2, -1, 1, 2, 5, 126, 127]
    pairs = [p for p in itertools.product([*values, 0, 3], values) if p != (-128, -1)]
    pairs += [(0, 1)] * (-len(pairs) % 4)
    a, b = (np.array(column, np.int8) for column in zip(*pairs, strict=True))
    for name, function in INTEGERS:
        s, v = zeros(len(a), np.int8), zeros(len(a), np.int8)
        assert run(name.replace(".", "_"), a, b, s, v) == 0
        expected = np.array([function(x, y) for x, y in pairs]).astype(np.int8)
        assert (s == expected).all(), name
        assert (v == expected).all(), name


def test_shifts_and_bit_counts() -> None:
    run = compiled("""
    func.func @f(%x: i32, %k: i32, %y: memref<7xi32>) {
      %a = arith.shli %x, %k : i32
      %b = arith.shrsi %x, %k : i32
      %c = arith.shrui %x, %k : i32
      %d = math.ctlz %x : i32
      %e = math.cttz %x : i32
      %f = math.ctpop %x : i32
      %g = math.absi %x : i32
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %2 = arith.constant 2 : index
      %3 = arith.constant 3 : index
      %4 = arith.constant 4 : index
      %5 = arith.constant 5 : index
      %6 = arith.constant 6 : index
      memref.store %a, %y[%0] : memref<7xi32>
      memref.store %b, %y[%1] : memref<7xi32>
      memref.store %c, %y[%2] : memref<7xi32>
      memref.store %d, %y[%3] : memref<7xi32>
      memref.store %e, %y[%4] : memref<7xi32>
      memref.store %f, %y[%5] : memref<7xi32>
      memref.store %g, %y[%6] : memref<7xi32>
      func.return
    }
    """)
    y = zeros(7, np.int32)
    assert run("f", -12, 2, y) == 0
    assert y.tolist() == [-48, -3, (2**32 - 12) >> 2, 0, 2, 29, 12]


def test_wide_results() -> None:
    run = compiled("""
    func.func @f(%a: i32, %b: i32, %y: memref<5xi32>) {
      %sl, %sh = arith.mulsi_extended %a, %b : i32
      %ul, %uh = arith.mului_extended %a, %b : i32
      %t, %o = arith.addui_extended %a, %b : i32, i1
      %e = arith.extui %o : i1 to i32
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %2 = arith.constant 2 : index
      %3 = arith.constant 3 : index
      %4 = arith.constant 4 : index
      memref.store %sl, %y[%0] : memref<5xi32>
      memref.store %sh, %y[%1] : memref<5xi32>
      memref.store %uh, %y[%2] : memref<5xi32>
      memref.store %t, %y[%3] : memref<5xi32>
      memref.store %e, %y[%4] : memref<5xi32>
      func.return
    }
    """)
    y = zeros(5, np.int32)
    a, b = -3, 2_000_000_000
    assert run("f", a, b, y) == 0
    u = (a % 2**32) * b
    assert y[0] == np.int64(a * b).astype(np.int32)
    assert y[1] == (a * b) >> 32
    assert y.view(np.uint32)[2] == u >> 32
    assert y.view(np.uint32)[3] == (a % 2**32 + b) % 2**32
    assert y[4] == 1


PREDICATES: dict[str, Callable[[int, int], bool]] = {
    "slt": lambda a, b: a < b,
    "ule": lambda a, b: a % 2**32 <= b % 2**32,
    "ne": lambda a, b: a != b,
}


@pytest.mark.parametrize("predicate", PREDICATES)
def test_comparisons_give_bools(predicate: str) -> None:
    """A bool is a byte in memory, 0 or 1, also from vectors."""
    run = compiled(f"""
    func.func @f(%a: memref<8xi32>, %b: memref<8xi32>, %y: memref<8xi1>,
                 %z: memref<8xi32>) {{
      %c0 = arith.constant 0 : index
      %v = vector.load %a[%c0] : memref<8xi32>, vector<8xi32>
      %w = vector.load %b[%c0] : memref<8xi32>, vector<8xi32>
      %m = arith.cmpi {predicate}, %v, %w : vector<8xi32>
      vector.store %m, %y[%c0] : memref<8xi1>, vector<8xi1>
      %n = vector.load %y[%c0] : memref<8xi1>, vector<8xi1>
      %s = arith.select %n, %v, %w : vector<8xi1>, vector<8xi32>
      vector.store %s, %z[%c0] : memref<8xi32>, vector<8xi32>
      func.return
    }}
    """)
    a = np.array([1, -1, 3, 4, -5, 6, 7, 0], np.int32)
    b = np.array([1, 1, 2, 5, -6, 6, -7, 0], np.int32)
    y, z = zeros(8, np.bool_), zeros(8, np.int32)
    assert run("f", a, b, y, z) == 0
    expected = np.array(
        [PREDICATES[predicate](int(p), int(q)) for p, q in zip(a, b, strict=True)]
    )
    assert y.view(np.uint8).tolist() == expected.astype(np.uint8).tolist()
    assert (z == np.where(expected, a, b)).all()


def test_scalar_bools_in_memory() -> None:
    run = compiled("""
    func.func @f(%x: memref<2xi1>, %y: memref<2xi1>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %a = memref.load %x[%c0] : memref<2xi1>
      %b = memref.load %x[%c1] : memref<2xi1>
      %true = arith.constant true
      %c = arith.xori %a, %true : i1
      %d = arith.ori %a, %b : i1
      memref.store %c, %y[%c0] : memref<2xi1>
      memref.store %d, %y[%c1] : memref<2xi1>
      func.return
    }
    """)
    y = zeros(2, np.bool_)
    assert run("f", np.array([False, True]), y) == 0
    assert y.view(np.uint8).tolist() == [1, 1]


CASTS = [
    ("arith.sitofp", "i8", "f32", [-128, -1, 0, 127]),
    ("arith.uitofp", "i8", "f32", [-128, -1, 0, 127]),
    ("arith.sitofp", "i32", "bf16", [-300, 3, 0, 77]),
    ("arith.sitofp", "i16", "f16", [-300, 3, 0, 77]),
    ("arith.fptosi", "f32", "i32", [-1.9, 1.9, 0.0, 7.5]),
    ("arith.fptosi", "bf16", "i32", [-1.9, 1.9, 0.0, 7.5]),
    ("arith.fptoui", "f32", "i8", [0.9, 1.9, 0.0, 200.5]),
    ("arith.extsi", "i8", "i64", [-128, -1, 0, 127]),
    ("arith.extui", "i8", "i64", [-128, -1, 0, 127]),
    ("arith.trunci", "i32", "i8", [-300, 3, 0, 77]),
    ("arith.extf", "f16", "f64", [-1.9, 1.9, 0.0, 7.5]),
    ("arith.truncf", "f64", "f16", [-1.9, 1.9, 0.0, 7.5]),
    ("arith.truncf", "f64", "bf16", [-1.9, 1.9, 0.0, 7.5]),
    ("arith.extf", "bf16", "f64", [-1.9, 1.9, 0.0, 7.5]),
    ("arith.bitcast", "f32", "i32", [-1.9, 1.9, 0.0, 7.5]),
]

NUMPY = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    **{name: dtype.type for name, dtype in DTYPES.items()},
}


@pytest.mark.parametrize(("op", "before", "after", "values"), CASTS)
def test_casts(op: str, before: str, after: str, values: list[float]) -> None:
    run = compiled(f"""
    func.func @f(%x: memref<4x{before}>, %y: memref<4x{after}>,
                 %z: memref<4x{after}>) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %v = vector.load %x[%c0] : memref<4x{before}>, vector<4x{before}>
      %w = {op} %v : vector<4x{before}> to vector<4x{after}>
      vector.store %w, %y[%c0] : memref<4x{after}>, vector<4x{after}>
      scf.for %i = %c0 to %c4 step %c1 {{
        %s = memref.load %x[%i] : memref<4x{before}>
        %t = {op} %s : {before} to {after}
        memref.store %t, %z[%i] : memref<4x{after}>
      }}
      func.return
    }}
    """)
    x = np.array(values).astype(NUMPY[before])
    y, z = zeros(4, NUMPY[after]), zeros(4, NUMPY[after])
    assert run("f", x, y, z) == 0
    source = x
    if op in ("arith.uitofp", "arith.extui"):
        source = x.view(np.uint8)
    if op == "arith.fptoui":
        expected = x.astype(np.uint8).view(np.int8)
    elif op == "arith.bitcast":
        expected = x.view(NUMPY[after])
    else:
        expected = source.astype(NUMPY[after])
    assert y.tobytes() == expected.tobytes() == z.tobytes()


def test_index_casts_and_constants() -> None:
    run = compiled("""
    func.func @f(%n: index, %y: memref<4xindex>) {
      %a = arith.index_cast %n : index to i32
      %b = arith.index_cast %a : i32 to index
      %c = arith.constant dense<[5, -6]> : vector<2xindex>
      %0 = arith.constant 0 : index
      %2 = arith.constant 2 : index
      %3 = arith.constant 3 : index
      %r = arith.constant 1 : index
      vector.store %c, %y[%0] : memref<4xindex>, vector<2xindex>
      memref.store %b, %y[%2] : memref<4xindex>
      %k = arith.index_cast %n : index to i64
      %l = arith.index_cast %k : i64 to index
      memref.store %l, %y[%3] : memref<4xindex>
      func.return
    }
    """)
    y = zeros(4, np.int64)
    assert run("f", -9, y) == 0
    assert y.tolist() == [5, -6, -9, -9]


def test_results_are_returned() -> None:
    run = compiled("""
    func.func @pair(%a: i32, %b: i32) -> (i32, i32) {
      func.return %b, %a : i32, i32
    }
    func.func @f(%a: i32, %b: i32) -> i32 {
      %x, %y = func.call @pair(%a, %b) : (i32, i32) -> (i32, i32)
      %r = arith.subi %x, %y : i32
      func.return %r : i32
    }
    """)
    assert run("f", 3, 10) == 7


def test_recursion_and_while() -> None:
    run = compiled("""
    func.func @collatz(%n: i64) -> i64 {
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %two = arith.constant 2 : i64
      %three = arith.constant 3 : i64
      %last, %steps = scf.while (%x = %n, %s = %zero) : (i64, i64) -> (i64, i64) {
        %c = arith.cmpi ne, %x, %one : i64
        scf.condition(%c) %x, %s : i64, i64
      } do {
      ^bb0(%x: i64, %s: i64):
        %r = arith.remsi %x, %two : i64
        %even = arith.cmpi eq, %r, %zero : i64
        %y = scf.if %even -> (i64) {
          %h = arith.divsi %x, %two : i64
          scf.yield %h : i64
        } else {
          %t = arith.muli %x, %three : i64
          %u = arith.addi %t, %one : i64
          scf.yield %u : i64
        }
        %t = arith.addi %s, %one : i64
        scf.yield %y, %t : i64, i64
      }
      func.return %steps : i64
    }
    """)
    assert run("collatz", 27) == 111


def test_an_index_switch() -> None:
    run = compiled("""
    func.func @f(%i: index) -> i32 {
      %r = scf.index_switch %i -> i32
      case 2 {
        %a = arith.constant 20 : i32
        scf.yield %a : i32
      }
      case -5 {
        %b = arith.constant 50 : i32
        scf.yield %b : i32
      }
      default {
        %c = arith.constant 0 : i32
        scf.yield %c : i32
      }
      func.return %r : i32
    }
    """)
    assert [run("f", i) for i in (2, -5, 0, 3)] == [20, 50, 0, 0]


def test_an_executed_region() -> None:
    run = compiled("""
    func.func @f(%c: i1, %a: i32) -> i32 {
      %one = arith.constant 1 : i32
      %r = scf.execute_region -> (i32) {
        cf.cond_br %c, ^yes, ^no
      ^yes:
        %s = arith.addi %a, %one : i32
        cf.br ^end(%s : i32)
      ^no:
        scf.yield %a : i32
      ^end(%t: i32):
        scf.yield %t : i32
      }
      func.return %r : i32
    }
    """)
    assert (run("f", True, 5), run("f", False, 5)) == (6, 5)


def test_a_parallel_loop_reduces() -> None:
    run = compiled("""
    func.func @f(%x: memref<?x?xf32>, %y: memref<2xf32>) {
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %n = memref.dim %x, %0 : memref<?x?xf32>
      %m = memref.dim %x, %1 : memref<?x?xf32>
      %z = arith.constant 0.0 : f32
      %o = arith.constant 1.0 : f32
      %s, %p = "scf.parallel"(%0, %0, %n, %m, %1, %1, %z, %o)
          <{operandSegmentSizes = array<i32: 2, 2, 2, 2>}> ({
      ^bb0(%i: index, %j: index):
        %v = memref.load %x[%i, %j] : memref<?x?xf32>
        scf.reduce(%v, %v : f32, f32) {
        ^bb1(%a: f32, %b: f32):
          %t = arith.addf %a, %b : f32
          scf.reduce.return %t : f32
        }, {
        ^bb1(%a: f32, %b: f32):
          %t = arith.mulf %a, %b : f32
          scf.reduce.return %t : f32
        }
      }) : (index, index, index, index, index, index, f32, f32) -> (f32, f32)
      memref.store %s, %y[%0] : memref<2xf32>
      memref.store %p, %y[%1] : memref<2xf32>
      func.return
    }
    """)
    x = RNG.uniform(0.5, 1.5, (3, 4)).astype(np.float32)
    y = zeros(2)
    assert run("f", x, y) == 0
    np.testing.assert_allclose(y, [x.sum(), x.prod()], rtol=1e-5)
    assert run("f", zeros((0, 4)), y) == 0
    assert y.tolist() == [0, 1]


LAYOUTS = [
    "6x8xf32",
    "?x8xf32",
    "?x?xf32",
    "6x8xf32, strided<[8, 1]>",
    "?x?xf32, strided<[?, 1], offset: ?>",
    "?x?xf32, strided<[?, ?], offset: ?>",
]


@pytest.mark.parametrize(("before", "after"), itertools.product(LAYOUTS, LAYOUTS))
def test_copies_between_layouts(before: str, after: str) -> None:
    run = compiled(f"""
    func.func @f(%x: memref<{before}>, %y: memref<{after}>) {{
      tir.copy %x, %y : memref<{before}>, memref<{after}>
      func.return
    }}
    """)
    x, y = view_for(before, RNG.random((12, 24), np.float32)), view_for(after)
    assert run("f", x, y) == 0
    assert (y == x).all()
    assert y.base is None or np.count_nonzero(y.base) == np.count_nonzero(x)


def view_for(layout: str, memory: Any = None) -> Any:
    """A 6 x 8 array of a layout, where possible a part of a larger one."""
    memory = zeros((12, 24)) if memory is None else memory
    if "strided<[?, ?]" in layout:
        return memory[1:12:2, 2:24:3][:6, :8]
    if "strided<[?, 1]" in layout:
        return memory[3:9, 5:13]
    return np.ascontiguousarray(memory[:6, :8])


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 3),
    st.integers(0, 4),
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(1, 2),
    st.integers(1, 3),
)
def test_subviews(i: int, j: int, n: int, m: int, s: int, t: int) -> None:
    """A dynamic subview of a dynamic subview, against slices."""
    x = np.arange(200, dtype=np.float32).reshape(10, 20)
    y = zeros((n, m))
    assert SUBVIEW("f", x, i, j, n, m, s, t, y) == 0
    view = x[i : i + 2 * n : 1, j : j + 3 * m][: n * s : s, : m * t : t][:n, :m]
    expected = x[i : i + n * s : s, j : j + m * t : t]
    assert view.shape <= expected.shape
    assert (y == expected).all()


SUBVIEW = compiled("""
func.func @f(%x: memref<10x20xf32>, %i: index, %j: index, %n: index, %m: index,
             %s: index, %t: index, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = memref.subview %x[%i, 0] [6, 20] [1, 1]
      : memref<10x20xf32> to memref<6x20xf32, strided<[20, 1], offset: ?>>
  %w = memref.subview %v[0, %j] [%n, %m] [%s, %t]
      : memref<6x20xf32, strided<[20, 1], offset: ?>>
      to memref<?x?xf32, strided<[?, ?], offset: ?>>
  scf.for %a = %c0 to %n step %c1 {
    scf.for %b = %c0 to %m step %c1 {
      %e = memref.load %w[%a, %b] : memref<?x?xf32, strided<[?, ?], offset: ?>>
      memref.store %e, %y[%a, %b] : memref<?x?xf32>
    }
  }
  func.return
}
""")
