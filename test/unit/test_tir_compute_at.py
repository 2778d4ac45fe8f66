"""
`tir-compute-at` moves nests, and never changes what a kernel computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tir_cases import context, parse_kernel
from tir_evaluator import run_kernel
from tir_native import NativeKernel
from xdsl.dialects.builtin import ModuleOp

from transom.dialects import tir
from transom.dialects.diagnostics import OpError
from transom.dialects.dtypes import numpy_dtype
from transom.dialects.tir.types import memref_type_of
from transom.passes.consumer_loops import OuterLoops
from transom.passes.tir_compute_at import TirComputeAtPass

KERNEL = """
tir.func @kernel(read %x: memref<{t}xf32>, read %w: memref<{w}xf32>,
    write %o: memref<{o}xf32>) {{
  %t = tir.alloc : memref<{t}xf32>
  tir.nest dims [parallel {m}, parallel {k}]
      ins(%x[{at_x}] : memref<{t}xf32>) outs(%t[{at_x}] : memref<{t}xf32>)
    finish (%v: f32) {{
      %i = tir.index 0 : index
      %j = tir.index 1 : index
      %n = arith.subi %i, %j : index
      %c = arith.index_cast %n : index to i32
      %f = arith.sitofp %c : i32 to f32
      %r = arith.addf %v, %f : f32
      tir.yield %r : f32
    }}
  tir.nest dims [{dims}]
      ins({ins}, %w[{at_w}] : memref<{w}xf32>) outs(%o[d0, d1] : memref<{o}xf32>)
    init {{
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }}
    body ({args}%b: f32, %acc: f32) {{
      %p = arith.mulf {first}, %b : f32
      %q = arith.addf %p, {last} : f32
      %s = arith.addf %acc, %q : f32
      tir.yield %s : f32
    }}
    finish (%acc: f32) {{
      tir.yield %acc : f32
    }}
  tir.return
}}
"""


@dataclass(frozen=True)
class Reader:
    """How the second nest reads what the first computes: dims m, n, and k summed."""

    at: tuple[str, ...]
    """Each access of the buffer; it is read as [first, second] of m and k points."""
    stride: int = 1
    reach: int = 0
    """How many rows more than `stride` for each row are read."""


READERS = {
    "rows": Reader(("d0, d2",)),
    "strided rows": Reader(("d0 * 2 + 1, d2",), stride=2),
    "windows": Reader(("d0 * 2, d2", "d0 * 2 + 3, d2"), stride=2, reach=2),
    "sliding": Reader(("d0 + d2, d2",), reach=-1),
    "backwards": Reader(("{m} - 1 - d0, d2",)),
    "whole": Reader(("d2, d0",)),
}


def kernel_of(reader: Reader, m: int, n: int, k: int, *, transposed: bool) -> Any:
    """The two nests; `transposed` is that the buffer has its axes the other way."""
    reach = k - 1 if reader.reach < 0 else reader.reach
    rows = m * reader.stride + reach
    if reader is READERS["whole"]:
        rows, k = k, m
        dims = (m, n, rows)
    else:
        dims = (m, n, k)
    shape, at_x = (rows, k), "d0, d1"
    accesses = [at.format(m=m) for at in reader.at]
    if transposed:
        shape, at_x = (k, rows), "d1, d0"
        accesses = [", ".join(reversed(at.split(", "))) for at in accesses]
    t = "x".join(map(str, shape))
    names = [f"%a{number}" for number in range(len(accesses))]
    return parse_kernel(
        KERNEL.format(
            t=t,
            m=rows,
            k=k,
            w=f"{dims[2]}x{n}",
            o=f"{m}x{n}",
            at_x=at_x,
            at_w="d2, d1",
            dims=f"parallel {m}, parallel {n}, reduction {dims[2]}",
            ins=", ".join(f"%t[{at}] : memref<{t}xf32>" for at in accesses),
            args="".join(f"{name}: f32, " for name in names),
            first=names[0],
            last=names[-1],
        )
    )


def nests_of(kernel: tir.FuncOp) -> list[tir.NestOp]:
    return [op for op in kernel.walk() if isinstance(op, tir.NestOp)]


def arrays_of(kernel: tir.FuncOp) -> list[Any]:
    rng = np.random.default_rng(0)
    shapes = [memref_type_of(value).get_shape() for value in kernel.args]
    types = [numpy_dtype(memref_type_of(v).element_type) for v in kernel.args]
    pairs = zip(shapes, types, strict=True)
    return [rng.integers(-9, 9, shape).astype(type) for shape, type in pairs]


def check(kernel: tir.FuncOp, *, native: bool = True) -> ModuleOp:
    """Move what schedules say; compare before and after, interpreted and compiled."""
    before, after, compiled = (arrays_of(kernel) for _ in range(3))
    run_kernel(kernel, *before)
    kernel.detach()
    module = ModuleOp([kernel])
    TirComputeAtPass().apply(context(), module)
    module.verify()
    run_kernel(kernel, *after)
    np.testing.assert_array_equal(after[-1], before[-1])
    if native:
        NativeKernel(kernel)(*compiled)
        np.testing.assert_array_equal(compiled[-1], before[-1])
    return module


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.data(),
    st.sampled_from(list(READERS)),
    st.integers(1, 7),
    st.integers(1, 7),
    st.integers(1, 5),
    st.booleans(),
)
def test_any_depth_computes_the_same(
    data: st.DataObject, name: str, m: int, n: int, k: int, transposed: bool
) -> None:
    kernel = kernel_of(READERS[name], m, n, k, transposed=transposed)
    first, second = nests_of(kernel)
    dims = st.sampled_from([0, 1])
    cache = st.lists(st.tuples(dims, st.integers(1, 5)), max_size=2)
    second.schedule = tir.ScheduleAttr.get(
        cache=data.draw(cache),
        register=data.draw(st.dictionaries(dims, st.integers(1, 3))),
        vector=(1, 4) if data.draw(st.booleans()) else None,
        order=data.draw(st.sampled_from([(0, 1, 2), (1, 0, 2)])),
    )
    depth = data.draw(st.integers(0, len(OuterLoops.of(second).steps)))
    first.schedule = tir.ScheduleAttr.get(vector=(data.draw(dims), 4), compute_at=depth)
    try:
        check(kernel, native=data.draw(st.integers(0, 3)) == 0)
    except OpError as e:
        refused = ("expected each step of the loops", "expected whole tiles")
        assume(not e.message.startswith(refused))
        raise


def moved_text(name: str, depth: int, **schedule: Any) -> str:
    kernel = kernel_of(READERS[name], 6, 8, 5, transposed=False)
    first, second = nests_of(kernel)
    second.schedule = tir.ScheduleAttr.get(**schedule)
    first.schedule = tir.ScheduleAttr.get(compute_at=depth)
    return str(check(kernel))


@pytest.mark.parametrize(
    ("name", "buffer"),
    [
        ("rows", "memref<1x5xf32>"),
        ("strided rows", "memref<1x5xf32>"),
        ("windows", "memref<4x5xf32>"),
        ("sliding", "memref<5x5xf32>"),
        ("backwards", "memref<1x5xf32>"),
        ("whole", "memref<5x1xf32>"),
    ],
)
def test_buffers_hold_what_is_read_at_one_step(name: str, buffer: str) -> None:
    text = moved_text(name, 1)
    assert f"tir.alloc : {buffer}" in text
    assert "in dims [parallel 6]" in text


def test_steps_are_those_of_tiles() -> None:
    text = moved_text("rows", 1, register={0: 2})
    assert "in dims [parallel 3]" in text and "tir.alloc : memref<2x5xf32>" in text
    text = moved_text("rows", 1, register={0: 2}, cache=[(0, 4)])
    assert "in dims [parallel 2]" in text and "tir.alloc : memref<4x5xf32>" in text
    # Nothing of the buffer moves with the columns, but something with the rows.
    text = moved_text("rows", 2, order=(1, 0, 2))
    assert "in dims [parallel 8, parallel 6]" in text


def test_chains_move_one_after_the_other() -> None:
    """The first of three is computed where the second is: in the loops of the third."""
    kernel = parse_kernel("""
tir.func @kernel(read %x: memref<6x8xf32>, write %o: memref<6x8xf32>) {
  %s = tir.alloc : memref<6x8xf32>
  %t = tir.alloc : memref<6x8xf32>
  tir.nest dims [parallel 6, parallel 8] ins(%x[d0, d1] : memref<6x8xf32>)
      outs(%s[d0, d1] : memref<6x8xf32>) schedule #tir.schedule<compute_at = 2>
    finish (%v: f32) {
      %y = arith.addf %v, %v : f32
      tir.yield %y : f32
    }
  tir.nest dims [parallel 6, parallel 8] ins(%s[d0, d1] : memref<6x8xf32>)
      outs(%t[d0, d1] : memref<6x8xf32>) schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      %y = arith.mulf %v, %v : f32
      tir.yield %y : f32
    }
  tir.nest dims [parallel 6, parallel 8] ins(%t[d0, d1] : memref<6x8xf32>)
      outs(%o[d0, d1] : memref<6x8xf32>)
    finish (%v: f32) {
      %y = arith.subf %v, %v : f32
      %z = arith.addf %y, %v : f32
      tir.yield %z : f32
    }
  tir.return
}
""")
    text = str(check(kernel))
    assert text.count("tir.block") == 2
    assert "memref<1x8xf32>" in text and "memref<1x1xf32>" in text


OPEN = """
tir.func @kernel(read %x: memref<?x8xf32>, write %o: memref<?x8xf32>) {
  %zero = arith.constant 0 : index
  %m = memref.dim %x, %zero : memref<?x8xf32>
  %t = tir.alloc(%m) : memref<?x8xf32>
  tir.nest dims [parallel %m, parallel 8] ins(%x[d0, d1] : memref<?x8xf32>)
      outs(%t[d0, d1] : memref<?x8xf32>) schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      %y = arith.mulf %v, %v : f32
      tir.yield %y : f32
    }
  tir.nest dims [parallel %m, parallel 8] ins(%t[d0, d1] : memref<?x8xf32>)
      outs(%o[d0, d1] : memref<?x8xf32>) schedule #tir.schedule<SCHEDULE>
    finish (%v: f32) {
      %y = arith.addf %v, %v : f32
      tir.yield %y : f32
    }
  tir.return
}
"""


@pytest.mark.parametrize("rows", [1, 3, 4, 7])
@pytest.mark.parametrize("schedule", ["", "cache = [d0 : 4]"])
def test_sizes_that_are_not_known(schedule: str, rows: int) -> None:
    kernel = parse_kernel(OPEN.replace("SCHEDULE", schedule))
    kernel.detach()
    module = ModuleOp([kernel])
    TirComputeAtPass().apply(context(), module)
    module.verify()
    assert f"memref<{4 if schedule else 1}x8xf32>" in str(module)
    x = np.random.default_rng(0).standard_normal((rows, 8)).astype(np.float32)
    found = np.full_like(x, 7)
    NativeKernel(kernel)(x, found)
    np.testing.assert_array_equal(found, x * x + x * x)


DOTS = """
tir.func @kernel(read %x: memref<3x4x8xi8>, read %w: memref<8x4xi8>,
    write %o: memref<3x4xi32>) {
  %t = tir.alloc : memref<3x4xi32>
  tir.nest dims [parallel 3, parallel 4, reduction 8]
      ins(%x[d0, d1, d2] : memref<3x4x8xi8>, %w[d2, d1] : memref<8x4xi8>)
      outs(%t[d0, d1] : memref<3x4xi32>)
      schedule #tir.schedule<vector = d1 : 4, dot = d2 : 4, compute_at = DEPTH>
    init {
      %z = arith.constant 0 : i32
      tir.yield %z : i32
    }
    body (%a: i8, %b: i8, %s: i32) {
      %c = arith.extsi %a : i8 to i32
      %d = arith.extsi %b : i8 to i32
      %p = arith.muli %c, %d : i32
      %q = arith.addi %s, %p : i32
      tir.yield %q : i32
    }
    finish (%s: i32) {
      tir.yield %s : i32
    }
  tir.nest dims [parallel 3, parallel 4] ins(%t[d0, d1] : memref<3x4xi32>)
      outs(%o[d0, d1] : memref<3x4xi32>)
    finish (%v: i32) {
      tir.yield %v : i32
    }
  tir.return
}
"""


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_dots_need_lanes(depth: int) -> None:
    """A dim of one point is no dim of lanes any more."""
    text = str(check(parse_kernel(DOTS.replace("DEPTH", str(depth)))))
    assert ("dot =" in text) == (depth < 2)


RAGGED = """
tir.func @kernel(read %x: memref<?xf32>, write %o: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %t = tir.alloc(%n) : memref<?xf32>
  tir.nest dims [parallel %n] ins(%x[d0] : memref<?xf32>) outs(%t[d0] : memref<?xf32>)
      schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      %y = arith.mulf %v, %v : f32
      tir.yield %y : f32
    }
  tir.block (%i: index) in dims [parallel 8] {
    %first = arith.muli %i, %c4 : index
    %rest = arith.subi %n, %first : index
    %some = arith.maxsi %rest, %c0 : index
    %few = arith.minui %some, %c4 : index
    tir.nest dims [reduction %few] at (%i) ins(%t[s0 * 4 + d0] : memref<?xf32>)
        outs(%o[s0] : memref<8xf32>)
      init {
        %z = arith.constant 0.0 : f32
        tir.yield %z : f32
      }
      body (%v: f32, %s: f32) {
        %r = arith.addf %s, %v : f32
        tir.yield %r : f32
      }
      finish (%s: f32) {
        tir.yield %s : f32
      }
  }
  tir.return
}
"""


@pytest.mark.parametrize("size", [0, 5, 13, 32])
def test_nothing_is_computed_where_nothing_is_read(size: int) -> None:
    """What would be read lies behind the end then: the evaluator would refuse it."""
    kernel = parse_kernel(RAGGED)
    kernel.detach()
    module = ModuleOp([kernel])
    TirComputeAtPass().apply(context(), module)
    module.verify()
    assert "tir.alloc : memref<4xf32>" in str(module)
    x = np.arange(1, size + 1, dtype=np.float32)
    found, compiled = (np.full(8, 7, np.float32) for _ in range(2))
    run_kernel(kernel, x, found)
    NativeKernel(kernel)(x, compiled)
    parts = np.pad(x * x, (0, 32 - size)).reshape(8, 4)
    np.testing.assert_array_equal(found, parts.sum(axis=1))
    np.testing.assert_array_equal(compiled, found)


def test_empty_readers_read_nothing() -> None:
    """Nor do they at a place that there is not."""
    kernel = parse_kernel("""
tir.func @kernel(read %x: memref<4xf32>, write %o: memref<4x0xf32>) {
  %t = tir.alloc : memref<4xf32>
  tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32>) outs(%t[d0] : memref<4xf32>)
      schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.nest dims [parallel 4, parallel 0] ins(%t[d0 + 100] : memref<4xf32>)
      outs(%o[d0, d1] : memref<4x0xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}
""")
    check(kernel)
