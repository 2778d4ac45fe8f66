"""
`convert-tir-to-scf` keeps what kernels compute: every access kind, random nests.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from tir_cases import Case, cases, context, text_of
from tir_evaluator import run_kernel
from xdsl.dialects.builtin import ModuleOp

from transom.dialects import tir
from transom.dialects.parser import parse_ir
from transom.dialects.tir.tiles import sizes_of_unknown
from transom.lowering.convert_tir_to_scf import ConvertTirToScfPass


def lowered(kernel: tir.FuncOp) -> tir.FuncOp:
    module = ModuleOp([kernel.clone()])
    ConvertTirToScfPass().apply(context(), module)
    module.verify()
    result = module.body.block.first_op
    assert isinstance(result, tir.FuncOp)
    assert not any(isinstance(op, tir.NestOp | tir.BlockOp) for op in result.walk())
    return result


@settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(cases(schedules=True))
def test_random_nests_compute_the_same(case: Case):
    before, after = case.copies(), case.copies()
    run_kernel(case.kernel, *before)
    loops = lowered(case.kernel)
    note(text_of(loops))
    run_kernel(loops, *after)
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b)


PRODUCT = """
tir.func @product(
  read %a: memref<?x3xf32>, read %b: memref<3x?xf32>, write %o: memref<?x?xf32>
) {{
  %zeroth = arith.constant 0 : index
  %first = arith.constant 1 : index
  %m = memref.dim %o, %zeroth : memref<?x?xf32>
  %n = memref.dim %o, %first : memref<?x?xf32>
  tir.nest dims [parallel %m, parallel %n, reduction 3]
      ins(%a[d0, d2] : memref<?x3xf32>, %b[d2, d1] : memref<3x?xf32>)
      outs(%o[d0, d1] : memref<?x?xf32>)
      schedule #tir.schedule<
        register = [d0 : {rows}, d1 : {columns}], vector = d1 : {width}>
    init {{
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }}
    body (%x: f32, %y: f32, %acc: f32) {{
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }}
    finish (%sum: f32) {{
      tir.yield %sum : f32
    }}
  tir.return
}}
"""


@pytest.mark.parametrize(
    ("rows", "columns", "width"), [(5, 8, 8), (6, 16, 8), (7, 4, 2), (12, 4, 4)]
)
def test_sizes_that_are_known_late_leave_no_point_out(
    rows: int, columns: int, width: int
):
    """Tiles of several sizes share what whole ones leave."""
    text = PRODUCT.format(rows=rows, columns=columns, width=width)
    module = parse_ir(context(), text, "<text>")
    kernel = module.body.block.first_op
    assert isinstance(kernel, tir.FuncOp)
    loops = lowered(kernel)
    for m in range(rows + 8):
        for n in (0, 1, width - 1, columns + width + 3):
            a = np.arange(3 * m, dtype=np.float32).reshape(m, 3)
            b = np.arange(3 * n, dtype=np.float32).reshape(3, n)
            out = np.full((m, n), np.nan, np.float32)
            run_kernel(loops, a, b, out)
            np.testing.assert_array_equal(out, a @ b)


@given(st.integers(1, 200), st.sampled_from([1, 2, 4, 8, 16, 32]))
def test_each_tile_of_a_range_divides_the_one_before(vectors: int, width: int):
    tile = vectors * width
    sizes = sizes_of_unknown(tile, width)
    assert sizes[0] == tile and sizes[-1] == 1
    assert all(more % less == 0 for more, less in itertools.pairwise(sizes))
