"""
Nests and blocks with whole arrays, compared with one point at a time.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from interpreter_cases import interpret, parse, same
from tir_cases import Case, cases
from tir_evaluator import run_kernel
from xdsl.dialects.builtin import ModuleOp

from transom.dialects import tir
from transom.interpreters import tir_block, tir_nest
from transom.interpreters.interpreter import Interpreter

random_nests = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def check(case: Case) -> None:
    expected = case.copies()
    run_kernel(case.kernel, *expected)
    found = Interpreter(ModuleOp([case.kernel.clone()])).run("kernel", case.arguments)
    written = [
        array
        for array, effect in zip(expected, case.kernel.argument_effects, strict=True)
        if effect is tir.Effect.READ_WRITE
    ]
    for a, b in zip(found, written, strict=True):
        same(a, b)


@random_nests
@given(cases())
def test_random_nests(case: Case):
    check(case)


@random_nests
@given(cases())
def test_random_nests_without_shortcuts(case: Case):
    """Small chunks, no contraction of more than a few elements, no padded copies."""
    from transom.interpreters import nest_accesses

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tir_nest, "MAX_POINTS", 8)
        patch.setattr(tir_nest, "MAX_CONTRACTED", 8)
        patch.setattr(nest_accesses, "MAX_PADDING", -(1 << 30))
        check(case)


def kernel(arguments: str, body: str) -> str:
    return f"tir.func @main({arguments}) {{\n{body}\n  tir.return\n}}"


MATMUL = """
  tir.nest dims [parallel 8, parallel 4, reduction 16]
      ins(%a[d0, d2] : memref<8x16x{0}>, %b[d2, d1] : memref<16x4x{0}>)
      outs(%o[d0, d1] : memref<8x4x{1}>)
    init {{
      %z = arith.constant {2} : {1}
      tir.yield %z : {1}
    }}
    body (%x: {0}, %y: {0}, %s: {1}) {{
      {3}
      tir.yield %t : {1}
    }}
    finish (%s: {1}) {{
      tir.yield %s : {1}
    }}"""


def matmul(operand: str, result: str, zero: str, body: str) -> str:
    return kernel(
        f"read %a: memref<8x16x{operand}>, read %b: memref<16x4x{operand}>, "
        f"write %o: memref<8x4x{result}>",
        MATMUL.format(operand, result, zero, body),
    )


def random(dtype: Any, *shape: int) -> Any:
    generator = np.random.default_rng(0)
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return generator.integers(info.min, info.max, shape, dtype, endpoint=True)
    return generator.standard_normal(shape).astype(dtype)


def test_contraction_is_rounded_once():
    body = """
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32"""
    a, b = random(np.float32, 8, 16), random(np.float32, 16, 4)
    found = interpret(matmul("f32", "f32", "0.0", body), a, b)
    same(found, (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32))


def test_contraction_with_fma():
    body = "%t = math.fma %x, %y, %s : f32"
    a, b = random(np.float32, 8, 16), random(np.float32, 16, 4)
    found = interpret(matmul("f32", "f32", "0.0", body), a, b)
    same(found, (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32))


@pytest.mark.parametrize(("extension", "dtype"), [("si", np.int8), ("ui", np.uint8)])
def test_contraction_of_bytes(extension: str, dtype: Any):
    body = f"""
      %xw = arith.ext{extension} %x : i8 to i32
      %yw = arith.ext{extension} %y : i8 to i32
      %p = arith.muli %xw, %yw : i32
      %t = arith.addi %s, %p : i32"""
    a, b = random(dtype, 8, 16), random(dtype, 16, 4)
    found = interpret(matmul("i8", "i32", "0", body), a.view("i1"), b.view("i1"))
    same(found, a.astype(np.int32) @ b.astype(np.int32))


def test_contraction_of_bfloat16():
    from transom.dialects.dtypes import BFLOAT16

    body = """
      %xw = arith.extf %x : bf16 to f32
      %yw = arith.extf %y : bf16 to f32
      %p = arith.mulf %xw, %yw : f32
      %t = arith.addf %s, %p : f32"""
    a, b = random(BFLOAT16, 8, 16), random(BFLOAT16, 16, 4)
    found = interpret(matmul("bf16", "f32", "0.0", body), a, b)
    same(found, (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32))


def test_narrow_accumulator_rounds_at_every_point():
    """256 + 1 is 256 in bf16: a sum that is written so stands still."""
    from transom.dialects.dtypes import BFLOAT16

    text = kernel(
        "read %a: memref<300xbf16>, write %o: memref<bf16>",
        """
  tir.nest dims [reduction 300] ins(%a[d0] : memref<300xbf16>) outs(%o[] : memref<bf16>)
    init {
      %z = arith.constant 0.0 : bf16
      tir.yield %z : bf16
    }
    body (%x: bf16, %s: bf16) {
      %t = arith.addf %s, %x : bf16
      tir.yield %t : bf16
    }
    finish (%s: bf16) {
      tir.yield %s : bf16
    }""",
    )
    same(interpret(text, np.ones(300, BFLOAT16)), np.array(256, BFLOAT16))


def test_reduction_dim_that_no_input_depends_on():
    text = kernel(
        "read %a: memref<3xf32>, write %o: memref<f32>",
        """
  tir.nest dims [reduction 3, reduction 5]
      ins(%a[d0] : memref<3xf32>) outs(%o[] : memref<f32>)
    init {
      %z = arith.constant 1.0 : f32
      tir.yield %z : f32
    }
    body (%x: f32, %s: f32) {
      %p = arith.mulf %x, %x : f32
      %t = arith.addf %s, %p : f32
      tir.yield %t : f32
    }
    finish (%s: f32) {
      tir.yield %s : f32
    }""",
    )
    same(interpret(text, np.array([1, 2, 3], np.float32)), np.float32(71))


CONV = """
  tir.nest dims [parallel 2, parallel 5, parallel 5, reduction 3, reduction 3,
                 reduction 3]
      ins(%x[d3, d1 * 2 + d4 - 1, d2 * 2 + d5 - 1] pad 0.0 : f32 : memref<3x9x9xf32>,
          %w[d0, d3, d4, d5] : memref<2x3x3x3xf32>, %r[d0, d1, d2] : memref<2x5x5xf32>)
      outs(%o[d0, d1, d2] : memref<2x5x5xf32>)
    init {
      %z = arith.constant 0.0 : f32
      tir.yield %z : f32
    }
    body (%v: f32, %k: f32, %u: f32, %s: f32) {
      %p = arith.mulf %v, %k : f32
      %t = arith.addf %s, %p : f32
      tir.yield %t : f32
    }
    finish (%s: f32, %u: f32) {
      %z = arith.constant 0.0 : f32
      %a = arith.addf %s, %u : f32
      %y = arith.maximumf %a, %z : f32
      tir.yield %y : f32
    }"""


def test_padded_conv_residual_relu():
    text = kernel(
        "read %x: memref<3x9x9xf32>, read %w: memref<2x3x3x3xf32>, "
        "read %r: memref<2x5x5xf32>, write %o: memref<2x5x5xf32>",
        CONV,
    )
    x, w = random(np.float32, 3, 9, 9), random(np.float32, 2, 3, 3, 3)
    r = random(np.float32, 2, 5, 5)
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    expected = r.copy()
    for o, i, j in np.ndindex(2, 5, 5):
        expected[o, i, j] += (
            padded[:, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3] * w[o]
        ).sum()
    np.testing.assert_allclose(
        interpret(text, x, w, r), np.maximum(expected, 0), rtol=1e-5, atol=1e-5
    )


def test_max_pool_with_indices():
    text = kernel(
        "read %x: memref<6xf32>, write %o: memref<3xf32>, write %i: memref<3xi64>",
        """
  tir.nest dims [parallel 3, reduction 2] ins(%x[d0 * 2 + d1] : memref<6xf32>)
      outs(%o[d0] : memref<3xf32>, %i[d0] : memref<3xi64>)
    init {
      %low = arith.constant 0xFF800000 : f32
      %none = arith.constant -1 : i64
      tir.yield %low, %none : f32, i64
    }
    body (%v: f32, %best: f32, %at: i64) {
      %larger = arith.cmpf ogt, %v, %best : f32
      %d0 = tir.index 0 : index
      %d1 = tir.index 1 : index
      %two = arith.constant 2 : index
      %row = arith.muli %d0, %two : index
      %here = arith.addi %row, %d1 : index
      %here64 = arith.index_cast %here : index to i64
      %b = arith.select %larger, %v, %best : f32
      %a = arith.select %larger, %here64, %at : i64
      tir.yield %b, %a : f32, i64
    }
    finish (%b: f32, %a: i64) {
      tir.yield %b, %a : f32, i64
    }""",
    )
    x = np.array([1, 4, 3, 3, -1, -2], np.float32)
    values, places = interpret(text, x)
    same(values, np.array([4, 3, -1], np.float32))
    same(places, np.array([1, 2, 4]))


def test_cumulative_sum():
    text = kernel(
        "read %x: memref<2x4xi32>, write %o: memref<2x4xi32>",
        """
  tir.nest dims [parallel 2, sequential 4]
      ins(%x[d0, d1] : memref<2x4xi32>) outs(%o[d0, d1] : memref<2x4xi32>)
    init {
      %z = arith.constant 0 : i32
      tir.yield %z : i32
    }
    body (%v: i32, %s: i32) {
      %t = arith.addi %s, %v : i32
      tir.yield %t : i32
    }
    finish (%s: i32, %v: i32) {
      tir.yield %s : i32
    }""",
    )
    x = random(np.int32, 2, 4)
    same(interpret(text, x), np.cumsum(x, 1, dtype=np.int32))


def test_recurrence_through_memory():
    """A sequential dim sees what the one before it wrote, also through padding."""
    text = kernel(
        "read_write %x: memref<5xf32>",
        """
  %y = "memref.cast"(%x) : (memref<5xf32>) -> memref<?xf32>
  tir.nest dims [sequential 5]
      ins(%y[d0 - 1] pad 0.0 : f32 : memref<?xf32>, %x[d0] : memref<5xf32>)
      outs(%x[d0] : memref<5xf32>)
    finish (%before: f32, %v: f32) {
      %t = arith.addf %before, %v : f32
      tir.yield %t : f32
    }""",
    )
    same(interpret(text, np.ones(5, np.float32)), np.arange(1, 6, dtype=np.float32))


def test_two_outputs_swap():
    """What is yielded is the content before the outputs are written."""
    text = kernel(
        "read_write %a: memref<3xf32>, read_write %b: memref<3xf32>",
        """
  tir.nest dims [parallel 3] ins(%a[d0] : memref<3xf32>, %b[d0] : memref<3xf32>)
      outs(%a[d0] : memref<3xf32>, %b[d0] : memref<3xf32>)
    finish (%x: f32, %y: f32) {
      tir.yield %y, %x : f32, f32
    }""",
    )
    a, b = random(np.float32, 3), random(np.float32, 3) + 1
    found = interpret(text, a, b)
    same(found[0], b)
    same(found[1], a)


GATHER = """
  tir.nest dims [parallel 3]
      ins(%i[d0] : memref<3xi64>, %t[*] : memref<4xf32>) outs(%o[d0] : memref<3xf32>)
    finish (%at: i64, %table: memref<4xf32>) {
      %index = arith.index_cast %at : i64 to index
      %v = memref.load %table[%index] : memref<4xf32>
      tir.yield %v : f32
    }"""


def test_gather():
    text = kernel(
        "read %i: memref<3xi64>, read %t: memref<4xf32>, write %o: memref<3xf32>",
        GATHER,
    )
    t = random(np.float32, 4)
    same(interpret(text, np.array([3, 0, 3]), t), t[[3, 0, 3]])
    from transom.dialects.diagnostics import OpError

    with pytest.raises(OpError) as raised:
        interpret(text, np.array([3, -1, 5]), t)
    assert raised.value.message == (
        "cannot evaluate 'memref.load': expected indices within [4], but got [-1]"
    )


def test_load_that_is_not_executed():
    text = kernel(
        "read %i: memref<3xi64>, read %t: memref<4xf32>, write %o: memref<3xf32>",
        """
  tir.nest dims [parallel 3]
      ins(%i[d0] : memref<3xi64>, %t[*] : memref<4xf32>) outs(%o[d0] : memref<3xf32>)
    finish (%at: i64, %table: memref<4xf32>) {
      %zero = arith.constant 0 : i64
      %inside = arith.cmpi sge, %at, %zero : i64
      %v = scf.if %inside -> (f32) {
        %index = arith.index_cast %at : i64 to index
        %w = memref.load %table[%index] : memref<4xf32>
        scf.yield %w : f32
      } else {
        %none = arith.constant 7.0 : f32
        scf.yield %none : f32
      }
      tir.yield %v : f32
    }""",
    )
    t = random(np.float32, 4)
    found = interpret(text, np.array([3, -1, 0]), t)
    same(found, np.array([t[3], 7, t[0]], np.float32))


def test_scatter_add():
    text = kernel(
        "read %i: memref<4xindex>, read %u: memref<4xf32>, "
        "read_write %o: memref<3xf32>",
        """
  tir.nest dims [parallel 4]
      ins(%i[d0] : memref<4xindex>, %u[d0] : memref<4xf32>)
      outs(%o[*] combine add : memref<3xf32>)
    finish (%at: index, %v: f32) {
      tir.yield %v, %at : f32, index
    }""",
    )
    i, u = np.array([2, 0, 2, 2]), np.array([1, 2, 4, 8], np.float32)
    same(interpret(text, i, u, np.ones(3, np.float32)), np.array([3, 1, 14], "f4"))


def test_access_outside():
    from transom.dialects.diagnostics import OpError

    text = kernel(
        "read %x: memref<?xf32>, write %o: memref<?xf32>, read %n: index",
        """
  tir.nest dims [parallel %n] ins(%x[d0 + 1] : memref<?xf32>)
      outs(%o[d0] : memref<?xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }""",
    )
    x, o = random(np.float32, 4), random(np.float32, 3)
    same(interpret(text, x, o, 3), x[1:])
    with pytest.raises(OpError) as raised:
        interpret(text, x, np.ones(4, np.float32), 4)
    assert raised.value.message == (
        "cannot evaluate 'tir.nest': expected indices within [4], but got [4]"
    )


def test_run_time_stride():
    text = kernel(
        "read %x: memref<?xf32>, write %o: memref<3xf32>, read %s: index",
        """
  tir.nest dims [parallel 3] at (%s) ins(%x[d0 * s0] : memref<?xf32>)
      outs(%o[d0] : memref<3xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }""",
    )
    x = random(np.float32, 7)
    same(interpret(text, x, np.zeros(3, np.float32), 3), x[::3])


SOFTMAX = """
  tir.block (%i: index) in dims [{0} 4] {{
    %max = tir.alloc : memref<f32>
    %exp = tir.alloc : memref<8xf32>
    %sum = tir.alloc : memref<f32>
    tir.nest dims [reduction 8] at (%i)
        ins(%x[s0, d0] : memref<4x8xf32>) outs(%max[] : memref<f32>)
      init {{
        %low = arith.constant 0xFF800000 : f32
        tir.yield %low : f32
      }}
      body (%v: f32, %m: f32) {{
        %n = arith.maximumf %v, %m : f32
        tir.yield %n : f32
      }}
      finish (%m: f32) {{
        tir.yield %m : f32
      }}
    tir.nest dims [sequential 1] outs(%sum[] : memref<f32>)
      finish () {{
        %z = arith.constant 0.0 : f32
        tir.yield %z : f32
      }}
    tir.nest dims [parallel 8] at (%i)
        ins(%x[s0, d0] : memref<4x8xf32>, %max[] : memref<f32>)
        outs(%exp[d0] : memref<8xf32>, %sum[] combine add : memref<f32>)
      finish (%v: f32, %m: f32) {{
        %d = arith.subf %v, %m : f32
        %e = math.exp %d : f32
        tir.yield %e, %e : f32, f32
      }}
    tir.nest dims [parallel 8] at (%i)
        ins(%exp[d0] : memref<8xf32>, %sum[] : memref<f32>)
        outs(%o[s0, d0] : memref<4x8xf32>)
      finish (%e: f32, %s: f32) {{
        %y = arith.divf %e, %s : f32
        tir.yield %y : f32
      }}
  }}"""


@pytest.mark.parametrize(
    ("predicate", "start"), [("ogt", "-5.0"), ("ole", "5.0"), ("ogt", "0x7FC00000")]
)
def test_what_a_comparison_selects(predicate: str, start: str):
    """NaN is passed over, unless the accumulator starts with it."""
    text = kernel(
        "read %x: memref<2x6xf32>, write %o: memref<2xf32>",
        f"""
  tir.nest dims [parallel 2, reduction 6]
      ins(%x[d0, d1] : memref<2x6xf32>) outs(%o[d0] : memref<2xf32>)
    init {{
      %v = arith.constant {start} : f32
      tir.yield %v : f32
    }}
    body (%v: f32, %best: f32) {{
      %c = arith.cmpf {predicate}, %v, %best fastmath<nsz> : f32
      %n = arith.select %c, %v, %best : f32
      tir.yield %n : f32
    }}
    finish (%best: f32) {{
      tir.yield %best : f32
    }}""",
    )
    x = random(np.float32, 2, 6)
    x[0, 2] = x[1] = np.nan
    first = np.nan if start.startswith("0x") else float(start)
    best = np.nanmin(x[0]) if first > 0 else np.nanmax(x[0])
    expected = np.array([best + 0 * first, first], np.float32)
    same(interpret(text, x, np.zeros(2, np.float32)), expected)


@pytest.mark.parametrize("kind", ["parallel", "sequential"])
def test_block(kind: str):
    text = kernel(
        "read %x: memref<4x8xf32>, write %o: memref<4x8xf32>", SOFTMAX.format(kind)
    )
    x = random(np.float32, 4, 8)
    powers = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(
        interpret(text, x), powers / powers.sum(1, keepdims=True), rtol=1e-6
    )


def test_points_of_a_block_are_evaluated_at_once():
    text = kernel(
        "read %x: memref<4x8xf32>, write %o: memref<4x8xf32>",
        SOFTMAX.format("parallel"),
    )
    interpreter = Interpreter(parse(text))
    interpreter.run("main", [random(np.float32, 4, 8)])
    at_once = interpreter.steps
    interpreter = Interpreter(parse(text.replace("[parallel 4]", "[sequential 4]")))
    interpreter.run("main", [random(np.float32, 4, 8)])
    assert at_once * 3 < interpreter.steps


NESTED_BLOCK = """
  tir.block (%i: index) in dims [parallel 2] {{
    %row = tir.alloc : memref<3xf32>
    tir.nest dims [parallel 3] at (%i)
        ins(%x[s0, d0] : memref<2x3xf32>) outs(%row[d0] : memref<3xf32>)
      finish (%v: f32) {{
        tir.yield %v : f32
      }}
    tir.block (%j: index, %k: index) in dims [{0} 2, {1} 3] {{
      %cell = tir.alloc : memref<2xf32>
      tir.nest dims [parallel 2] at (%k)
          ins(%row[s0] : memref<3xf32>) outs(%cell[d0] : memref<2xf32>)
        finish (%v: f32) {{
          %ji = arith.index_cast %j : index to i32
          %jf = arith.sitofp %ji : i32 to f32
          %y = arith.addf %v, %jf : f32
          tir.yield %y : f32
        }}
      tir.nest dims [parallel 2] at (%i, %j, %k)
          ins(%cell[d0] : memref<2xf32>) outs(%o[s0, s1, s2, d0] : memref<2x2x3x2xf32>)
        finish (%v: f32) {{
          tir.yield %v : f32
        }}
    }}
  }}"""


@pytest.mark.parametrize("kinds", ["parallel parallel", "parallel sequential"])
def test_nested_blocks(kinds: str):
    text = kernel(
        "read %x: memref<2x3xf32>, write %o: memref<2x2x3x2xf32>",
        NESTED_BLOCK.format(*kinds.split()),
    )
    x = random(np.float32, 2, 3)
    expected = np.zeros((2, 2, 3, 2), np.float32)
    for i, j, k, d in np.ndindex(2, 2, 3, 2):
        expected[i, j, k, d] = x[i, k] + np.float32(j)
    same(interpret(text, x), expected)


def test_block_that_is_run_point_by_point():
    """A loop beside the nest depends on the point."""
    text = kernel(
        "read %x: memref<4xf32>, write %o: memref<4xf32>",
        """
  tir.block (%i: index) in dims [parallel 4] {
    %cell = tir.alloc : memref<f32>
    %v = memref.load %x[%i] : memref<4xf32>
    memref.store %v, %cell[] : memref<f32>
    tir.nest dims [parallel 1] at (%i)
        ins(%cell[] : memref<f32>) outs(%o[s0 + d0] : memref<4xf32>)
      finish (%w: f32) {
        %y = arith.addf %w, %w : f32
        tir.yield %y : f32
      }
  }""",
    )
    x = random(np.float32, 4)
    same(interpret(text, x), x + x)


def test_conv_of_resnet_size_is_fast():
    """3x3 over 256 channels: 2.3 million products of 256 each."""
    import time

    text = kernel(
        "read %x: memref<256x14x14xf32>, read %w: memref<256x256x3x3xf32>, "
        "write %o: memref<256x14x14xf32>",
        """
  tir.nest dims [parallel 256, parallel 14, parallel 14, reduction 256, reduction 3,
                 reduction 3]
      ins(%x[d3, d1 + d4 - 1, d2 + d5 - 1] pad 0.0 : f32 : memref<256x14x14xf32>,
          %w[d0, d3, d4, d5] : memref<256x256x3x3xf32>)
      outs(%o[d0, d1, d2] : memref<256x14x14xf32>)
    init {
      %z = arith.constant 0.0 : f32
      tir.yield %z : f32
    }
    body (%v: f32, %k: f32, %s: f32) {
      %p = arith.mulf %v, %k : f32
      %t = arith.addf %s, %p : f32
      tir.yield %t : f32
    }
    finish (%s: f32) {
      tir.yield %s : f32
    }""",
    )
    x, w = random(np.float32, 256, 14, 14), random(np.float32, 256, 256, 3, 3)
    start = time.process_time()
    found = interpret(text, x, w)
    assert time.process_time() - start < 10
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    expected = (padded[:, 3:6, 4:7] * w[5]).sum(dtype=np.float64)
    np.testing.assert_allclose(found[5, 3, 4], expected, rtol=1e-4)


def test_block_that_is_too_large_to_be_evaluated_at_once(
    monkeypatch: pytest.MonkeyPatch,
):
    text = kernel(
        "read %x: memref<4x8xf32>, write %o: memref<4x8xf32>",
        SOFTMAX.format("parallel"),
    )
    x = random(np.float32, 4, 8)
    expected = interpret(text, x)
    monkeypatch.setattr(tir_block, "MAX_BATCH", 0)
    same(interpret(text, x), expected)
