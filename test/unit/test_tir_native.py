"""
Kernels compiled for this machine against NumPy: every access kind, with and without
schedules, sizes that leave a rest, sizes known at run time only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tir_cases import context, parse_kernel
from tir_native import NativeKernel
from xdsl.dialects.builtin import ModuleOp

from transom.dialects import tir
from transom.passes.tir_choose_schedule import TirChooseSchedulePass
from transom.passes.tir_pack_operands import TirPackOperandsPass

Array = np.ndarray[Any, Any]

MACHINES = {
    "plain": None,
    "16x16": TirChooseSchedulePass(vector_bytes=16, register_count=16),
    "32x16": TirChooseSchedulePass(vector_bytes=32, register_count=16),
    "64x32": TirChooseSchedulePass(vector_bytes=64, register_count=32),
}

machines = pytest.mark.parametrize("machine", MACHINES)


def compiled(text: str, machine: str) -> NativeKernel:
    kernel = parse_kernel(text)
    chooser = MACHINES[machine]
    if chooser is not None:
        kernel.detach()
        module = ModuleOp([kernel])
        chooser.apply(context(), module)
        TirPackOperandsPass().apply(context(), module)
    return NativeKernel(kernel)


def numbers(*shape: int, dtype: str = "float32") -> Array:
    random = np.random.default_rng(sum(shape))
    if dtype.startswith("float"):
        return random.standard_normal(shape).astype(dtype)
    return random.integers(-100, 100, shape).astype(dtype)


def blank(*shape: int, dtype: str = "float32") -> Array:
    return np.full(shape, 77, dtype)


MATMUL = """
tir.func @kernel(read %a: memref<{m}x{k}xf32>, read %b: memref<{k}x{n}xf32>,
    read %bias: memref<{n}xf32>, write %o: memref<{m}x{n}xf32>{sizes}) {{
  tir.nest dims [parallel {dm}, parallel {dn}, reduction {dk}]
      ins(%a[d0, d2] : memref<{m}x{k}xf32>, %b[d2, d1] : memref<{k}x{n}xf32>,
          %bias[d1] : memref<{n}xf32>)
      outs(%o[d0, d1] : memref<{m}x{n}xf32>)
    init {{
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }}
    body (%x: f32, %y: f32, %c: f32, %acc: f32) {{
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }}
    finish (%acc: f32, %c: f32) {{
      %zero = arith.constant 0.0 : f32
      %s = arith.addf %acc, %c : f32
      %y = arith.maximumf %s, %zero : f32
      tir.yield %y : f32
    }}
  tir.return
}}
"""


@machines
@pytest.mark.parametrize(
    ("m", "n", "k"), [(8, 32, 16), (1, 1, 1), (5, 37, 3), (13, 19, 0), (0, 4, 4)]
)
@pytest.mark.parametrize("dynamic", [False, True])
def test_matmul_bias_relu(m: int, n: int, k: int, dynamic: bool, machine: str):
    names = {"m": "?", "n": "?", "k": "?"} if dynamic else {"m": m, "n": n, "k": k}
    dims = {"dm": "%m", "dn": "%n", "dk": "%k"}
    if not dynamic:
        dims = {"dm": m, "dn": n, "dk": k}
    sizes = ", read %m: index, read %n: index, read %k: index" if dynamic else ""
    kernel = compiled(MATMUL.format(**names, **dims, sizes=sizes), machine)
    a, b, bias, o = numbers(m, k), numbers(k, n), numbers(n), blank(m, n)
    kernel(a, b, bias, o, *((m, n, k) if dynamic else ()))
    np.testing.assert_allclose(o, np.maximum(a @ b + bias, 0), rtol=1e-5, atol=1e-5)


CONV = """
tir.func @kernel(read %x: memref<{n}x{c}x{h}x{w}xf32>, read %f: memref<{k}x{c}x3x3xf32>,
    read %r: memref<{n}x{k}x{oh}x{ow}xf32>, write %o: memref<{n}x{k}x{oh}x{ow}xf32>) {{
  tir.nest dims [parallel {n}, parallel {k}, parallel {oh}, parallel {ow},
      reduction {c}, reduction 3, reduction 3]
      ins(%x[d0, d4, d2 * {s} + d5 - {p},
          d3 * {s} + d6 - {p}] pad 0.0 : f32 : memref<{n}x{c}x{h}x{w}xf32>,
          %f[d1, d4, d5, d6] : memref<{k}x{c}x3x3xf32>,
          %r[d0, d1, d2, d3] : memref<{n}x{k}x{oh}x{ow}xf32>)
      outs(%o[d0, d1, d2, d3] : memref<{n}x{k}x{oh}x{ow}xf32>)
    init {{
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }}
    body (%a: f32, %b: f32, %c: f32, %acc: f32) {{
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }}
    finish (%acc: f32, %res: f32) {{
      %zero = arith.constant 0.0 : f32
      %s = arith.addf %acc, %res : f32
      %y = arith.maximumf %s, %zero : f32
      tir.yield %y : f32
    }}
  tir.return
}}
"""


def convolved(x: Array, f: Array, stride: int, pad: int) -> Array:
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    windows = windows[:, :, ::stride, ::stride]
    return np.einsum("nchwij,kcij->nkhw", windows, f)


@machines
@pytest.mark.parametrize(
    ("n", "c", "k", "h", "w", "stride", "pad"),
    [
        (1, 3, 4, 7, 56, 1, 1),
        (2, 2, 5, 6, 7, 1, 1),
        (1, 2, 3, 9, 37, 2, 1),
        (1, 1, 2, 5, 5, 1, 0),
        (1, 2, 9, 4, 18, 1, 3),
        (1, 2, 2, 3, 3, 2, 2),
    ],
)
def test_padded_conv_residual_relu(
    n: int, c: int, k: int, h: int, w: int, stride: int, pad: int, machine: str
):
    x, f = numbers(n, c, h, w), numbers(k, c, 3, 3)
    expected = convolved(x, f, stride, pad)
    _, _, oh, ow = expected.shape
    text = CONV.format(n=n, c=c, k=k, h=h, w=w, oh=oh, ow=ow, s=stride, p=pad)
    residual, o = numbers(n, k, oh, ow), blank(n, k, oh, ow)
    compiled(text, machine)(x, f, residual, o)
    expected = np.maximum(expected + residual, 0)
    np.testing.assert_allclose(o, expected, rtol=1e-4, atol=1e-4)


@machines
@pytest.mark.parametrize(("h", "w"), [(8, 33), (1, 1), (3, 16)])
def test_padding_with_sizes_known_at_run_time(h: int, w: int, machine: str):
    kernel = compiled(
        """
        tir.func @kernel(read %x: memref<?x?xf32>, write %o: memref<?x?xf32>,
            read %h: index, read %w: index) {
          tir.nest dims [parallel %h, parallel %w, reduction 3, reduction 3]
              ins(%x[d0 + d2 - 1, d1 + d3 - 1] pad -1.0 : f32 : memref<?x?xf32>)
              outs(%o[d0, d1] : memref<?x?xf32>)
            init {
              %low = arith.constant 0xFF800000 : f32
              tir.yield %low : f32
            }
            body (%v: f32, %m: f32) {
              %n = arith.maximumf %m, %v : f32
              tir.yield %n : f32
            }
            finish (%m: f32) {
              tir.yield %m : f32
            }
          tir.return
        }
        """,
        machine,
    )
    x, o = numbers(h, w), blank(h, w)
    kernel(x, o, h, w)
    padded = np.pad(x, 1, constant_values=-1)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    np.testing.assert_array_equal(o, windows.max((2, 3)))


@machines
def test_padding_of_nothing(machine: str):
    kernel = compiled(
        """
        tir.func @kernel(read %x: memref<?xf32>, read %y: memref<0xf32>,
            write %o: memref<9xf32>) {
          tir.nest dims [parallel 9]
              ins(%x[d0] pad 2.0 : f32 : memref<?xf32>,
                  %y[d0] pad 3.0 : f32 : memref<0xf32>)
              outs(%o[d0] : memref<9xf32>)
            finish (%a: f32, %b: f32) {
              %s = arith.addf %a, %b : f32
              tir.yield %s : f32
            }
          tir.return
        }
        """,
        machine,
    )
    o = blank(9)
    kernel(np.zeros(0, np.float32), np.zeros(0, np.float32), o)
    np.testing.assert_array_equal(o, np.full(9, 5, np.float32))


POOL = """
tir.func @kernel(read %x: memref<{h}x{w}xf32>, write %o: memref<{oh}x{ow}xf32>,
    write %at: memref<{oh}x{ow}xi64>) {{
  tir.nest dims [parallel {oh}, parallel {ow}, reduction 2, reduction 2]
      ins(%x[d0 * 2 + d2, d1 * 2 + d3] : memref<{h}x{w}xf32>)
      outs(%o[d0, d1] : memref<{oh}x{ow}xf32>, %at[d0, d1] : memref<{oh}x{ow}xi64>)
    init {{
      %low = arith.constant 0xFF800000 : f32
      %none = arith.constant 0 : i64
      tir.yield %low, %none : f32, i64
    }}
    body (%v: f32, %best: f32, %where: i64) {{
      %i = tir.index 0 : index
      %j = tir.index 1 : index
      %k = tir.index 2 : index
      %l = tir.index 3 : index
      %two = arith.constant 2 : index
      %width = arith.constant {w} : index
      %i2 = arith.muli %i, %two : index
      %row = arith.addi %i2, %k : index
      %j2 = arith.muli %j, %two : index
      %column = arith.addi %j2, %l : index
      %start = arith.muli %row, %width : index
      %flat = arith.addi %start, %column : index
      %here = arith.index_cast %flat : index to i64
      %more = arith.cmpf ogt, %v, %best : f32
      %b = arith.select %more, %v, %best : f32
      %n = arith.select %more, %here, %where : i64
      tir.yield %b, %n : f32, i64
    }}
    finish (%best: f32, %where: i64) {{
      tir.yield %best, %where : f32, i64
    }}
  tir.return
}}
"""


@machines
@pytest.mark.parametrize(("h", "w"), [(8, 8), (6, 26), (2, 3)])
def test_max_pool_with_indices(h: int, w: int, machine: str):
    oh, ow = h // 2, w // 2
    kernel = compiled(POOL.format(h=h, w=w, oh=oh, ow=ow), machine)
    x, o, at = numbers(h, w), blank(oh, ow), blank(oh, ow, dtype="int64")
    kernel(x, o, at)
    tiles = x[: 2 * oh, : 2 * ow].reshape(oh, 2, ow, 2).swapaxes(1, 2)
    flat = tiles.reshape(oh, ow, 4)
    np.testing.assert_array_equal(o, flat.max(2))
    np.testing.assert_array_equal(x.ravel()[at], o)


@machines
@pytest.mark.parametrize("axis", [0, 1])
def test_cumsum(axis: int, machine: str):
    kinds = ["parallel", "parallel"]
    kinds[axis] = "sequential"
    kernel = compiled(
        f"""
        tir.func @kernel(read %x: memref<5x19xi32>, write %o: memref<5x19xi32>) {{
          tir.nest dims [{kinds[0]} 5, {kinds[1]} 19]
              ins(%x[d0, d1] : memref<5x19xi32>) outs(%o[d0, d1] : memref<5x19xi32>)
            init {{
              %zero = arith.constant 0 : i32
              tir.yield %zero : i32
            }}
            body (%v: i32, %acc: i32) {{
              %s = arith.addi %acc, %v : i32
              tir.yield %s : i32
            }}
            finish (%acc: i32, %v: i32) {{
              tir.yield %acc : i32
            }}
          tir.return
        }}
        """,
        machine,
    )
    x, o = numbers(5, 19, dtype="int32"), blank(5, 19, dtype="int32")
    kernel(x, o)
    np.testing.assert_array_equal(o, np.cumsum(x, axis, dtype=np.int32))


@machines
def test_gather(machine: str):
    kernel = compiled(
        """
        tir.func @kernel(read %data: memref<10x21xf32>, read %which: memref<?xi64>,
            write %o: memref<?x21xf32>, read %n: index) {
          tir.nest dims [parallel %n, parallel 21]
              ins(%data[*] : memref<10x21xf32>, %which[d0] : memref<?xi64>)
              outs(%o[d0, d1] : memref<?x21xf32>)
            finish (%table: memref<10x21xf32>, %row: i64) {
              %i = arith.index_cast %row : i64 to index
              %j = tir.index 1 : index
              %v = memref.load %table[%i, %j] : memref<10x21xf32>
              tir.yield %v : f32
            }
          tir.return
        }
        """,
        machine,
    )
    data, o = numbers(10, 21), blank(4, 21)
    which = np.array([9, 0, 3, 3], np.int64)
    kernel(data, which, o, 4)
    np.testing.assert_array_equal(o, data[which])


@machines
def test_scatter_add(machine: str):
    kernel = compiled(
        """
        tir.func @kernel(read %v: memref<50xf32>, read %which: memref<50xi64>,
            read_write %o: memref<4xf32>) {
          tir.nest dims [parallel 50]
              ins(%v[d0] : memref<50xf32>, %which[d0] : memref<50xi64>)
              outs(%o[*] combine add : memref<4xf32>)
            finish (%x: f32, %at: i64) {
              %i = arith.index_cast %at : i64 to index
              tir.yield %x, %i : f32, index
            }
          tir.return
        }
        """,
        machine,
    )
    v = numbers(50)
    which = np.arange(50, dtype=np.int64) ** 2 % 4
    o = np.arange(4, dtype=np.float32)
    expected = o.copy()
    np.add.at(expected, which, v)
    kernel(v, which, o)
    np.testing.assert_allclose(o, expected, rtol=1e-5)


@machines
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("columns", [1, 8, 19, 100])
def test_sums_of_rows_and_columns(rows: int, columns: int, machine: str):
    shape = f"memref<{rows}x{columns}xf64>"
    kernel = compiled(
        f"""
        tir.func @kernel(read %x: {shape}, write %sum: memref<{rows}xf64>,
            write %high: memref<{rows}xf64>,
                read_write %columns: memref<{columns}xf64>) {{
          tir.nest dims [parallel {rows}, reduction {columns}]
              ins(%x[d0, d1] : {shape})
              outs(%sum[d0] : memref<{rows}xf64>, %high[d0] : memref<{rows}xf64>)
            init {{
              %zero = arith.constant 0.0 : f64
              %low = arith.constant 0xFFF0000000000000 : f64
              tir.yield %zero, %low : f64, f64
            }}
            body (%v: f64, %s: f64, %m: f64) {{
              %t = arith.mulf %v, %v : f64
              %n = arith.addf %t, %s : f64
              %k = arith.maximumf %m, %v : f64
              tir.yield %n, %k : f64, f64
            }}
            finish (%s: f64, %m: f64) {{
              tir.yield %s, %m : f64, f64
            }}
          tir.nest dims [parallel {rows}, parallel {columns}]
              ins(%x[d0, d1] : {shape})
              outs(%columns[d1] combine add : memref<{columns}xf64>)
            finish (%v: f64) {{
              tir.yield %v : f64
            }}
          tir.return
        }}
        """,
        machine,
    )
    x = numbers(rows, columns, dtype="float64")
    total, high = blank(rows, dtype="float64"), blank(rows, dtype="float64")
    of_columns = np.ones(columns)
    kernel(x, total, high, of_columns)
    np.testing.assert_allclose(total, (x * x).sum(1))
    np.testing.assert_array_equal(high, x.max(1))
    np.testing.assert_allclose(of_columns, x.sum(0) + 1)


SOFTMAX = """
tir.func @kernel(read %x: memref<?x{n}xf32>, write %o: memref<?x{n}xf32>,
    read %rows: index) {{
  tir.block (%i: index) in dims [parallel %rows] {{
    %max = tir.alloc : memref<f32>
    %exp = tir.alloc : memref<{n}xf32>
    %sum = tir.alloc : memref<f32>
    tir.nest dims [reduction {n}] at (%i)
        ins(%x[s0, d0] : memref<?x{n}xf32>) outs(%max[] : memref<f32>)
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
    tir.nest dims [] outs(%sum[] : memref<f32>)
      finish {{
        %zero = arith.constant 0.0 : f32
        tir.yield %zero : f32
      }}
    tir.nest dims [parallel {n}] at (%i)
        ins(%x[s0, d0] : memref<?x{n}xf32>, %max[] : memref<f32>)
        outs(%exp[d0] : memref<{n}xf32>, %sum[] combine add : memref<f32>)
      finish (%v: f32, %m: f32) {{
        %d = arith.subf %v, %m : f32
        %e = math.exp %d : f32
        tir.yield %e, %e : f32, f32
      }}
    tir.nest dims [parallel {n}] at (%i)
        ins(%exp[d0] : memref<{n}xf32>, %sum[] : memref<f32>)
        outs(%o[s0, d0] : memref<?x{n}xf32>)
      finish (%e: f32, %s: f32) {{
        %y = arith.divf %e, %s : f32
        tir.yield %y : f32
      }}
  }}
  tir.return
}}
"""


@machines
@pytest.mark.parametrize("columns", [1, 10, 64])
def test_softmax_in_one_kernel(columns: int, machine: str):
    kernel = compiled(SOFTMAX.format(n=columns), machine)
    x, o = numbers(3, columns), blank(3, columns)
    kernel(x, o, 3)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(o, e / e.sum(1, keepdims=True), rtol=1e-5)


@machines
def test_quantised_matmul(machine: str):
    kernel = compiled(
        """
        tir.func @kernel(read %a: memref<7x33xi8>, read %w: memref<33x21xi8>,
            write %o: memref<7x21xi8>) {
          tir.nest dims [parallel 7, parallel 21, reduction 33]
              ins(%a[d0, d2] : memref<7x33xi8>, %w[d2, d1] : memref<33x21xi8>)
              outs(%o[d0, d1] : memref<7x21xi8>)
            init {
              %zero = arith.constant 0 : i32
              tir.yield %zero : i32
            }
            body (%x: i8, %y: i8, %acc: i32) {
              %x32 = arith.extsi %x : i8 to i32
              %y32 = arith.extsi %y : i8 to i32
              %p = arith.muli %x32, %y32 : i32
              %s = arith.addi %acc, %p : i32
              tir.yield %s : i32
            }
            finish (%acc: i32) {
              %shift = arith.constant 9 : i32
              %low = arith.constant -128 : i32
              %high = arith.constant 127 : i32
              %r = arith.shrsi %acc, %shift : i32
              %l = arith.maxsi %r, %low : i32
              %h = arith.minsi %l, %high : i32
              %q = arith.trunci %h : i32 to i8
              tir.yield %q : i8
            }
          tir.return
        }
        """,
        machine,
    )
    a, w = numbers(7, 33, dtype="int8"), numbers(33, 21, dtype="int8")
    o = blank(7, 21, dtype="int8")
    kernel(a, w, o)
    expected = (a.astype(np.int32) @ w.astype(np.int32)) >> 9
    np.testing.assert_array_equal(o, np.clip(expected, -128, 127))


@machines
def test_bools_and_half_precision(machine: str):
    kernel = compiled(
        """
        tir.func @kernel(read %a: memref<37xf16>, read %b: memref<37xf16>,
            write %less: memref<37xi1>, write %low: memref<37xf16>,
                read %mask: memref<37xi1>) {
          tir.nest dims [parallel 37]
              ins(%a[d0] : memref<37xf16>, %b[d0] : memref<37xf16>,
                  %mask[d0] : memref<37xi1>)
              outs(%less[d0] : memref<37xi1>, %low[d0] : memref<37xf16>)
            finish (%x: f16, %y: f16, %m: i1) {
              %x32 = arith.extf %x : f16 to f32
              %y32 = arith.extf %y : f16 to f32
              %c = arith.cmpf olt, %x32, %y32 : f32
              %d = arith.andi %c, %m : i1
              %v = arith.select %d, %x32, %y32 : f32
              %h = arith.truncf %v : f32 to f16
              tir.yield %d, %h : i1, f16
            }
          tir.return
        }
        """,
        machine,
    )
    a, b = numbers(37).astype(np.float16), numbers(38)[:37].astype(np.float16)
    mask = np.arange(37) % 3 != 0
    less, low = np.zeros(37, np.bool_), blank(37, dtype="float16")
    kernel(a, b, less, low, mask)
    np.testing.assert_array_equal(less, (a < b) & mask)
    np.testing.assert_array_equal(low, np.where((a < b) & mask, a, b))


@machines
def test_in_place_reversed_and_strided(machine: str):
    kernel = compiled(
        """
        tir.func @kernel(read_write %x: memref<40xf32>, write %o: memref<20xf32>,
            write %r: memref<40xf32>, read %step: index) {
          tir.nest dims [parallel 40] ins(%x[d0] : memref<40xf32>)
              outs(%x[d0] : memref<40xf32>)
            finish (%v: f32) {
              %s = arith.addf %v, %v : f32
              tir.yield %s : f32
            }
          tir.nest dims [parallel 20] at (%step)
              ins(%x[d0 * s0 + 1] : memref<40xf32>) outs(%o[d0] : memref<20xf32>)
            finish (%v: f32) {
              tir.yield %v : f32
            }
          tir.nest dims [parallel 40] ins(%x[39 - d0] : memref<40xf32>)
              outs(%r[d0] : memref<40xf32>)
            finish (%v: f32) {
              tir.yield %v : f32
            }
          tir.return
        }
        """,
        machine,
    )
    x, o, r = numbers(40), blank(20), blank(40)
    expected = x + x
    kernel(x, o, r, 2)
    np.testing.assert_array_equal(x, expected)
    np.testing.assert_array_equal(o, expected[1::2])
    np.testing.assert_array_equal(r, expected[::-1])


@machines
def test_window_that_is_divided(machine: str):
    # Nearest-neighbour resizing reads index floor(i / 2), a ring modulo.
    kernel = compiled(
        """
        tir.func @kernel(read %x: memref<9xf32>, write %o: memref<18xf32>,
            write %ring: memref<18xf32>) {
          tir.nest dims [parallel 18] ins(%x[d0 floordiv 2] : memref<9xf32>,
              %x[(d0 + 4) mod 9] : memref<9xf32>)
              outs(%o[d0] : memref<18xf32>, %ring[d0] : memref<18xf32>)
            finish (%v: f32, %w: f32) {
              tir.yield %v, %w : f32, f32
            }
          tir.return
        }
        """,
        machine,
    )
    x, o, ring = numbers(9), blank(18), blank(18)
    kernel(x, o, ring)
    np.testing.assert_array_equal(o, np.repeat(x, 2))
    np.testing.assert_array_equal(ring, x[(np.arange(18) + 4) % 9])


def test_choices_follow_the_machine():
    kernel = parse_kernel(
        MATMUL.format(m=64, n=64, k=64, dm=64, dn=64, dk=64, sizes="")
    )
    for bytes, count, width, tile in (
        (16, 16, 4, {0: 6, 1: 8}),
        (64, 32, 16, {0: 6, 1: 64}),
        (32, 4, 8, {0: 2}),
    ):
        module = ModuleOp([kernel.clone()])
        TirChooseSchedulePass(bytes, count).apply(context(), module)
        (nest,) = (op for op in module.walk() if isinstance(op, tir.NestOp))
        assert nest.schedule is not None
        assert nest.schedule.vector_dim == (1, width)
        assert nest.schedule.register_tiles == tile


SPARE_AXES = """
tir.func @kernel(read %b: memref<{n}x1x1xf32>,
    read_write %o: memref<3x{n}x1xf32>{size}) {{
  tir.nest dims [parallel 3, parallel {d}]
      ins(%b[d1, 0, 0] : memref<{n}x1x1xf32>, %o[d0, d1, 0] : memref<3x{n}x1xf32>)
      outs(%o[d0, d1, 0] : memref<3x{n}x1xf32>)
      {schedule}
    finish (%u: f32, %v: f32) {{
      %w = arith.mulf %u, %v : f32
      tir.yield %w : f32
    }}
  tir.return
}}
"""


@machines
@pytest.mark.parametrize("schedule", ["", "schedule #tir.schedule<vector = d1 : 4>"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_axes_of_one_element(dynamic: bool, schedule: str, machine: str):
    """Behind the lanes; also in place, where what is written is read."""
    size, n, d = (", read %n: index", "?", "%n") if dynamic else ("", 37, 37)
    text = SPARE_AXES.format(size=size, n=n, d=d, schedule=schedule)
    kernel = compiled(text, machine)
    b, o = numbers(37, 1, 1), numbers(3, 37, 1)
    expected = b[:, :, 0] * o
    kernel(b, o, *((37,) if dynamic else ()))
    np.testing.assert_array_equal(o, expected)
