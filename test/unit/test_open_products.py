"""
Products whose number of rows is known at run time only.
"""

import numpy as np
import pytest
from tir_cases import parse_kernel

import transom
from transom.dialects import tir
from transom.passes.schedules import Machine, choose_schedule

AVX512 = Machine(64, 32, 32 << 10, 1 << 20, mask_bytes=1, chains=8)

OPEN = """
tir.func @kernel(read %a: memref<?x{k}xf32>, read %b: memref<?x{k}xf32>,
    write %o: memref<?x?xf32>, read %m: index, read %n: index) {{
  tir.nest dims [parallel %m, parallel %n, reduction {k}]
      ins(%a[d0, d2] : memref<?x{k}xf32>, %b[d1, d2] : memref<?x{k}xf32>)
      outs(%o[d0, d1] : memref<?x?xf32>)
    init {{
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }}
    body (%x: f32, %y: f32, %acc: f32) {{
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }}
    finish (%acc: f32) {{
      tir.yield %acc : f32
    }}
  tir.return
}}
"""


ROWS = 'tensor<?x{k}xf32, #graph.desc<dims = ["{n}" : 0 to 128]>>'
OPEN_MODEL = """
target.device @cpu {{targets = [#llvm_cpu.target<cpu = "{cpu}">]}}
func.func @main(%a: {a}, %b: {b}) -> {y} {{
  %t = graph.transpose %b permutation [1, 0] : {b} -> {t}
  %y = graph.matmul %a, %t : {a}, {t} -> {y}
  func.return %y : {y}
}}
"""


@pytest.mark.parametrize("cpu", ["x86-64-v3", "host"])
@pytest.mark.parametrize("k", [8, 19])
def test_rows_of_an_open_number_are_packed(k: int, cpu: str) -> None:
    dims = '"M" : 0 to 128, "N" : 0 to 128'
    text = OPEN_MODEL.format(
        cpu=cpu,
        a=ROWS.format(k=k, n="M"),
        b=ROWS.format(k=k, n="N"),
        t=f'tensor<{k}x?xf32, #graph.desc<dims = ["N" : 0 to 128]>>',
        y=f"tensor<?x?xf32, #graph.desc<dims = [{dims}]>>",
    )
    module = transom.parse(text)
    assert " mod " in str(transom.lower(module, to="tensor"))
    program = transom.compile(module, poison_memory=True)
    rng = np.random.default_rng(0)
    for m, n in ((1, 1), (3, 17), (10, 33), (29, 100), (64, 64), (5, 0)):
        a = rng.standard_normal((m, k)).astype(np.float32)
        b = rng.standard_normal((n, k)).astype(np.float32)
        found = program(a, b)["result0"]
        np.testing.assert_allclose(found, a @ b.T, rtol=1e-5, atol=1e-5)


def test_tiles_of_open_dims_leave_little() -> None:
    """More vectors at once would leave whole ones alone, and waiting for each other."""
    kernel = parse_kernel(OPEN.format(k=64))
    (nest,) = (op for op in kernel.walk() if isinstance(op, tir.NestOp))
    schedule = str(choose_schedule(nest, AVX512))
    assert "register = [d0 : 10, d1 : 32]" in schedule
