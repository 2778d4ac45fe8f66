"""
Mathematical functions of single numbers in main: all that machine code has, each
executor has, with the same bits.
"""

from collections.abc import Sequence

import numpy as np
import pytest
from xdsl.dialects import arith

import transom
from transom.driver import EXECUTORS
from transom.lowering.conversion.pattern import roots_of
from transom.lowering.math_to_llvm import FUNCTIONS, INTRINSICS, MATH_PATTERNS
from transom.runtime.main_ops import SCALAR_OPS
from transom.runtime.main_scalars import (
    FLOAT_PREDICATES,
    INTEGER_PREDICATES,
    INTEGER_UNARY,
)
from transom.runtime.main_values import DTYPES

FLOATS = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16"}
OF_TWO = ("math.atan2", "math.copysign", "math.powf")
ONE = sorted(
    {op.name for op in (*FUNCTIONS, *INTRINSICS)} - {*OF_TWO, "math.fma", "math.fpowi"}
    | {"math.rsqrt"}
)


def program_text(type: str, lines: Sequence[str]) -> str:
    """A main with a number `%a`, another one `%b`, and `%n` as exponent."""
    names = [line.split()[0] for line in lines]
    types = [type] * len(lines)
    return f"""
    func.func @main(%x: tensor<{type}>, %z: tensor<{type}>, %m: tensor<i32>)
        -> tensor<{len(lines)}x{type}> {{
      %a = tensor.extract %x[] : tensor<{type}>
      %b = tensor.extract %z[] : tensor<{type}>
      %n = tensor.extract %m[] : tensor<i32>
      {chr(10).join(lines)}
      %y = tensor.from_elements {", ".join(names)} : tensor<{len(types)}x{type}>
      func.return %y : tensor<{len(types)}x{type}>
    }}
    """


def test_each_function_of_machine_code_is_there() -> None:
    roots = [root for p in MATH_PATTERNS for root in roots_of(p.root)]
    names = {root if isinstance(root, str) else root.name for root in roots}
    assert names <= SCALAR_OPS


def test_each_comparison_is_there() -> None:
    assert set(FLOAT_PREDICATES) == set(arith.CMPF_COMPARISON_OPERATIONS)
    assert set(INTEGER_PREDICATES) == set(arith.CMPI_COMPARISON_OPERATIONS)
    nan, one = np.float32("nan"), np.float32(1)
    assert FLOAT_PREDICATES["uno"](nan, one)
    assert not FLOAT_PREDICATES["ord"](one, nan)
    assert FLOAT_PREDICATES["ord"](one, one)


@pytest.mark.parametrize("type", FLOATS)
def test_floats(type: str) -> None:
    lines = [f"%r{i} = {op} %a : {type}" for i, op in enumerate(ONE)]
    lines += [f"%s{i} = {op} %a, %b : {type}" for i, op in enumerate(OF_TWO)]
    lines += [f"%p = math.fpowi %a, %n : {type}, i32"]
    module = transom.parse(program_text(type, lines))
    programs = [transom.compile(module, executor=e) for e in EXECUTORS]
    dtype = DTYPES[FLOATS[type]]
    values = (0.3, -0.7, -0.0, 1.5, 37.25, np.inf, np.nan)
    for a, b, n in zip(values, reversed(values), (3, -5, 0, 12, 1, -1, 2), strict=True):
        arrays = [np.array(a, dtype), np.array(b, dtype), np.array(n, np.int32)]
        expected, *others = (program(*arrays)["result0"] for program in programs)
        for other in others:
            np.testing.assert_array_equal(
                other.astype(np.float64), expected.astype(np.float64), strict=True
            )
            signs = np.signbit(expected) == np.signbit(other)
            assert np.all(signs | np.isnan(expected.astype(np.float64)))


@pytest.mark.parametrize("type", ["i8", "i32", "i64"])
def test_integers(type: str) -> None:
    lines = [f"%r{i} = {op} %a : {type}" for i, op in enumerate(INTEGER_UNARY)]
    module = transom.parse(program_text(type, lines))
    programs = [transom.compile(module, executor=e) for e in EXECUTORS]
    bits = int(type[1:])
    for a in (0, 1, 40, -1, -(1 << bits - 1), (1 << bits - 1) - 1):
        x = np.array(a, f"int{bits}")
        expected, *others = (
            p(x, x, np.array(0, np.int32))["result0"] for p in programs
        )
        for other in others:
            np.testing.assert_array_equal(other, expected, strict=True)
