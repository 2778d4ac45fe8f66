"""
Schedules change code and never numbers: any legal schedule of a sum of products gives
what the reference evaluation of the nest gives, with its operands packed or not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from tir_cases import context, parse_kernel
from tir_evaluator import run_kernel
from tir_native import NativeKernel
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from transom.dialects import tir
from transom.dialects.tir.types import memref_type_of
from transom.passes.schedules import Machine, choose_schedule
from transom.passes.tir_pack_operands import TirPackOperandsPass

AVX2 = Machine(32, 16, 32 << 10, 512 << 10, mask_bytes=4, chains=8)
AVX512 = Machine(64, 32, 32 << 10, 1 << 20, mask_bytes=1, chains=8)
NEON = Machine(16, 32, 64 << 10, 1 << 20, mask_bytes=0, chains=8)
MACHINES = {"avx2": AVX2, "avx512": AVX512, "neon": NEON}

PRODUCT = """
tir.func @kernel(read %a: memref<{a}x{t}>, read %b: memref<{b}x{t}>,
    write %o: memref<{o}xf32>) {{
  tir.nest dims [{dims}]
      ins(%a[{at_a}] : memref<{a}x{t}>, %b[{at_b}] : memref<{b}x{t}>)
      outs(%o[{at_o}] : memref<{o}xf32>)
    init {{
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }}
    body (%x: {t}, %y: {t}, %acc: f32) {{
      {widen}
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }}
    finish (%acc: f32) {{
      tir.yield %acc : f32
    }}
  tir.return
}}
"""


def product(
    kinds: str, bounds: tuple[int, ...], accesses: tuple[str, str, str], **shapes: Any
) -> tir.FuncOp:
    """A kernel that sums products; `kinds` has p or r for each dim."""
    names = {"p": "parallel", "r": "reduction"}
    dims = [f"{names[k]} {n}" for k, n in zip(kinds, bounds, strict=True)]
    at_a, at_b, at_o = accesses
    t = shapes.pop("t", "f32")
    widen = "%p = arith.mulf %x, %y : f32"
    if t != "f32":
        widen = (
            f"%xw = arith.extf %x : {t} to f32 %yw = arith.extf %y : {t} to f32 "
            "%p = arith.mulf %xw, %yw : f32"
        )
    texts = {name: "x".join(map(str, shape)) for name, shape in shapes.items()}
    return parse_kernel(
        PRODUCT.format(
            dims=", ".join(dims),
            at_a=at_a,
            at_b=at_b,
            at_o=at_o,
            t=t,
            widen=widen,
            **texts,
        )
    )


def nest_of(kernel: tir.FuncOp) -> tir.NestOp:
    (nest,) = (op for op in kernel.walk() if isinstance(op, tir.NestOp))
    return nest


def matmul(m: int, k: int, n: int, form: str = "nn", t: str = "f32") -> tir.FuncOp:
    """`form` says of each operand whether it is transposed."""
    a, at_a = ((m, k), "d0, d2") if form[0] == "n" else ((k, m), "d2, d0")
    b, at_b = ((k, n), "d2, d1") if form[1] == "n" else ((n, k), "d1, d2")
    return product("ppr", (m, n, k), (at_a, at_b, "d0, d1"), a=a, b=b, o=(m, n), t=t)


def convolution(
    f: int,
    size: int,
    c: int,
    kernel: int,
    stride: int,
    lanes: int = 8,
    plain: bool = False,
) -> tir.FuncOp:
    """
    In blocks of as many channels as there are lanes, with a border of zeros; the
    results are without blocks if they are `plain`.
    """
    wide = (size - 1) * stride + kernel
    return product(
        "ppppprrrr"[1:],
        (f, size, size, lanes, c, kernel, kernel, lanes),
        (
            f"d4, d1 * {stride} + d5, d2 * {stride} + d6, d7",
            f"d0 * {lanes} + d3, d4 * {lanes} + d7, d5, d6",
            f"d0 * {lanes} + d3, d1, d2" if plain else "d0, d1, d2, d3",
        ),
        a=(c, wide, wide, lanes),
        b=(f * lanes, c * lanes, kernel, kernel),
        o=(f * lanes, size, size) if plain else (f, size, size, lanes),
    )


def check(kernel: tir.FuncOp, schedule: tir.ScheduleAttr | None) -> str:
    """Compare a scheduled kernel with the reference; gives its text as vectors."""
    a, b, out = (memref_type_of(value) for value in kernel.args)
    random = np.random.default_rng(0)
    arrays: list[Any] = []
    for type in (a, b):
        dtype = "float16" if "f16" in str(type) else "float32"
        arrays.append(random.standard_normal(type.get_shape()).astype(dtype))
    expected = np.full(out.get_shape(), 7, np.float32)
    run_kernel(kernel, *arrays, expected)
    nest_of(kernel).schedule = schedule
    kernel.detach()
    module = ModuleOp([kernel])
    TirPackOperandsPass().apply(context(), module)
    module.verify()
    found = np.full(out.get_shape(), 7, np.float32)
    native = NativeKernel(kernel)
    native(*arrays, found)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    return native.text


sizes = st.integers(1, 19)


@st.composite
def schedules(draw: st.DrawFn, nest: tir.NestOp, lanes: list[int]) -> tir.ScheduleAttr:
    """Any schedule that the loops of the nest can follow."""
    parallel = list(nest.dims_of_kind(tir.DimKind.PARALLEL))
    reduction = list(nest.dims_of_kind(tir.DimKind.REDUCTION))
    width = draw(st.sampled_from([2, 4, 8]))
    vector = (draw(st.sampled_from(lanes)), width)
    tiles = {d: draw(st.integers(1, 4)) for d in parallel if draw(st.booleans())}
    if vector[0] in tiles:
        tiles[vector[0]] *= width
    cache = [(d, draw(st.integers(1, 9))) for d in parallel if draw(st.booleans())]
    unroll = {d: draw(st.integers(1, 5)) for d in reduction if draw(st.booleans())}
    order = [*draw(st.permutations(parallel)), *reduction]
    pack = draw(st.sets(st.sampled_from([0, 1])))
    order = order if draw(st.booleans()) else []
    masked_edges = draw(st.booleans())
    ahead = {draw(st.integers(0, 1)): draw(st.integers(1, 99))}
    try:
        return tir.ScheduleAttr.get(
            cache=cache,
            register=tiles,
            vector=vector,
            unroll=unroll,
            order=order,
            pack=sorted(pack),
            masked_edges=masked_edges,
            prefetch=ahead,
        )
    except VerifyException:  # too much is written out
        reject()


RANDOM = settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@RANDOM
@given(st.data(), sizes, sizes, sizes, st.sampled_from(["nn", "nt", "tn", "tt"]))
def test_any_schedule_of_a_matmul(
    data: st.DataObject, m: int, k: int, n: int, form: str
) -> None:
    kernel = matmul(m, k, n, form)
    check(kernel, data.draw(schedules(nest_of(kernel), [0, 1])))


@RANDOM
@given(st.data(), st.integers(1, 3), st.integers(1, 7), st.sampled_from([1, 3]))
def test_any_schedule_of_a_convolution(
    data: st.DataObject, f: int, size: int, kernel: int
) -> None:
    stride = data.draw(st.integers(1, 2))
    made = convolution(f, size, data.draw(st.integers(1, 2)), kernel, stride)
    check(made, data.draw(schedules(nest_of(made), [0, 2, 3])))


@pytest.mark.parametrize("form", ["nn", "nt", "tn"])
@pytest.mark.parametrize(
    ("m", "k", "n"),
    [
        (1, 1, 1),
        (5, 0, 40),
        (3, 7, 3),
        (7, 33, 33),
        (33, 5, 7),
        (1, 64, 127),
        (40, 3, 31),
    ],
)
def test_choices_compute_the_product(m: int, k: int, n: int, form: str) -> None:
    kernel = matmul(m, k, n, form)
    constants = frozenset({1}) if m % 2 else frozenset[int]()
    check(kernel, choose_schedule(nest_of(kernel), AVX2, constants))


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("t", ["f32", "f16"])
def test_choices_of_machines_and_types(t: str, name: str) -> None:
    kernel = matmul(13, 9, 27, "nn", t)
    check(kernel, choose_schedule(nest_of(kernel), MACHINES[name]))


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [1, 7])
def test_choices_compute_convolutions(size: int, stride: int) -> None:
    kernel = convolution(2, size, 3 - stride, 3, stride)
    check(kernel, choose_schedule(nest_of(kernel), AVX2, frozenset({1})))


def chosen(kernel: tir.FuncOp, machine: Machine, *constants: int) -> str:
    schedule = choose_schedule(nest_of(kernel), machine, frozenset(constants))
    return str(schedule).removeprefix("#tir.schedule")


def test_tiles_follow_registers() -> None:
    large = (512, 512, 512)
    assert "register = [d0 : 3, d1 : 32]" in chosen(matmul(*large), AVX2)
    assert "vector = d1 : 8" in chosen(matmul(*large), AVX2)
    # Tiles of 4 rows leave no rest, for which the columns would come too slowly.
    assert "register = [d0 : 4, d1 : 96]" in chosen(matmul(*large), AVX512)
    assert "vector = d1 : 4" in chosen(matmul(*large), NEON)


def test_pixels_of_a_row_are_tiled_without_a_rest() -> None:
    # 7 pixels by 64 blocks of channels: tiles of 4 and 3 pixels by three blocks.
    assert "register = [d0 : 3, d2 : 4]" in chosen(convolution(64, 7, 2, 3, 1), AVX2, 1)
    # 56 pixels and 8 blocks.
    assert "d2 : 4" in chosen(convolution(8, 56, 8, 3, 1), AVX2, 1)


def test_operands_of_a_sum_with_one_step_are_packed() -> None:
    kernel = matmul(5, 1, 7)
    check(kernel, tir.ScheduleAttr.get(register={0: 2}, vector=(1, 4), pack=[0, 1]))


def test_columns_that_do_not_fit_the_cache_come_by_two_vectors() -> None:
    """
    Three vectors for each of 4608 steps take 864 KiB, two 576 KiB; a quarter of the
    cache is for what passes beside them.
    """
    kernel = convolution(32, 7, 32, 3, 1, lanes=16)
    assert "register = [d0 : 2, d2 : 7]" in chosen(kernel, AVX512, 1)
    larger = replace(AVX512, l2_bytes=1152 << 10)
    assert "register = [d0 : 3, d2 : 7]" in chosen(kernel, larger, 1)


def test_lanes_that_lie_apart_are_stored_in_strips() -> None:
    """Pixels in tiles of powers of two, that many are neighbours in memory."""
    kernel = convolution(4, 112, 4, 7, 2, lanes=16, plain=True)
    assert "register = [d0 : 2, d2 : 8]" in chosen(kernel, AVX512, 1)
    assert "register = [d0 : 3, d2 : 4]" in chosen(
        convolution(8, 56, 8, 3, 1, plain=True), AVX2, 1
    )


@pytest.mark.parametrize("points", [2, 3, 4, 6, 7, 8, 11])
def test_strips_of_any_length(points: int) -> None:
    # Windows are no part of how results are stored: one case has some.
    size, window = (5, 3) if points == 2 else (11, 1)
    kernel = convolution(2, size, 1, window, 1, plain=True)
    schedule = tir.ScheduleAttr.get(
        vector=(3, 8), register={2: points}, pack=[1], masked_edges=True
    )
    text = check(kernel, schedule)
    longest = 1 << (points.bit_length() - 1)
    assert f"store <{min(longest, 8)} x float>" in text


def test_what_is_packed() -> None:
    # A weight always, but one that has the order already.
    assert "pack = [in1]" in chosen(matmul(4, 64, 512), AVX2, 1)
    assert "pack" not in chosen(matmul(4, 64, 8), AVX2, 1)
    # Another operand where it is read often, or lies apart.
    assert "pack" not in chosen(matmul(4, 64, 512), AVX2)
    assert "pack = [in1]" in chosen(matmul(200, 64, 512), AVX2)
    assert "pack = [in1]" in chosen(matmul(200, 64, 24, "nt"), AVX2)
    # Rows that lie a power of two apart fall on one place in the cache.
    assert "pack = [in0, in1]" in chosen(matmul(512, 1024, 512), AVX2)
    assert "pack = [in1]" in chosen(matmul(512, 1000, 512), AVX2)
    # A window would be copied once for each place that it covers.
    assert "pack = [in1]" in chosen(convolution(8, 56, 8, 3, 1), AVX2, 1)


def test_a_row_times_rows_is_summed_along_them() -> None:
    """A weight [N][K] that is used once is read as it lies in the file."""
    text = chosen(matmul(1, 1024, 1024, "nt"), AVX2, 1)
    assert "vector = d2 : 8" in text and "pack" not in text


def test_blocks_of_rows_fit_the_cache() -> None:
    assert "cache = [d0 : " in chosen(matmul(2048, 1024, 512), AVX2)
    assert "cache" not in chosen(matmul(64, 64, 512), AVX2)


def test_an_entry_that_is_changed_by_hand_changes_the_code() -> None:
    def text(**entries: Any) -> str:
        kernel = matmul(12, 16, 32)
        return check(kernel, tir.ScheduleAttr.get(**entries))

    plain = text()
    assert "<8 x float>" not in plain
    narrow = text(vector=(1, 4))
    assert "<4 x float>" in narrow and "<8 x float>" not in narrow
    wide = text(vector=(1, 8))
    assert "<8 x float>" in wide
    tiled = text(vector=(1, 8), register={0: 6, 1: 16})
    carried = "phi <8 x float> [ zeroinitializer"  # and not what leaves a loop
    assert tiled.count(carried) == 12 > wide.count(carried)
    unrolled = text(vector=(1, 8), register={0: 6, 1: 16}, unroll={2: 4})
    assert unrolled.count(carried) == 12
    assert unrolled.count("fmul") == 4 * tiled.count("fmul")
    blocked = text(vector=(1, 8), register={0: 6, 1: 16}, cache=[(0, 6)])
    assert blocked.count("phi i64") != tiled.count("phi i64")
    packed = text(vector=(1, 8), register={0: 6, 1: 16}, pack=[1])
    assert len(packed) > len(tiled)
    ahead = text(vector=(1, 8), register={0: 6, 1: 16}, prefetch={1: 64})
    asked = "call void @llvm.prefetch.p0(ptr"  # two vectors are one line
    assert ahead.count(asked) == 1 > tiled.count(asked) == 0


SOFTMAX = """
tir.func @kernel(read %x: memref<{r}x{n}xf32>, write %o: memref<{r}x{n}xf32>) {{
  tir.block (%i: index) in dims [parallel {r}] {{
    %max = tir.alloc : memref<1xf32>
    tir.nest dims [reduction {n}] at (%i)
        ins(%x[s0, d0] : memref<{r}x{n}xf32>) outs(%max[0] : memref<1xf32>)
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
    tir.nest dims [parallel {n}] at (%i)
        ins(%x[s0, d0] : memref<{r}x{n}xf32>, %max[0] : memref<1xf32>)
        outs(%o[s0, d0] : memref<{r}x{n}xf32>)
      finish (%v: f32, %m: f32) {{
        %d = arith.subf %v, %m : f32
        tir.yield %d : f32
      }}
  }}
  tir.return
}}
"""


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("n", [256, 301])
def test_rows_that_are_asked_for_ahead_are_the_same(n: int, name: str) -> None:
    """The row after the last one is not there, and is asked for all the same."""
    kernel = parse_kernel(SOFTMAX.format(r=3, n=n))
    for nest in [op for op in kernel.walk() if isinstance(op, tir.NestOp)]:
        nest.schedule = choose_schedule(nest, MACHINES[name])
    assert f"prefetch = [in0 : {n}]" in str(kernel)
    x = np.random.default_rng(0).standard_normal((3, n)).astype(np.float32)
    found = np.full_like(x, 7)
    native = NativeKernel(kernel)
    native(x, found)
    assert "@llvm.prefetch" in native.text
    np.testing.assert_array_equal(found, x - x.max(axis=1, keepdims=True))


def test_what_is_asked_for_ahead() -> None:
    # A weight of 4 MiB that up to four rows are multiplied by, in its packed order.
    assert "prefetch = [in1 : 512]" in chosen(matmul(1, 1024, 1024), AVX512, 1)
    assert "prefetch = [in1 : 512]" in chosen(matmul(4, 1024, 1024), AVX512, 1)
    assert "prefetch" not in chosen(matmul(5, 1024, 1024), AVX512, 1)
    # One that the second cache holds, or that comes from memory.
    assert "prefetch" not in chosen(matmul(1, 512, 512), AVX512, 1)
    assert "prefetch" not in chosen(matmul(1, 4096, 4096), AVX512, 1)
    # Not packed, its rows lie apart; along its rows it is read in order.
    assert "prefetch" not in chosen(matmul(1, 1024, 1024), AVX512)
    assert "prefetch = [in1 : 512]" in chosen(matmul(1, 1024, 1024, "nt"), AVX512)
    # Halves are half as large, unless they are packed as f32 for many rows.
    assert "prefetch" not in chosen(matmul(1, 512, 1024, t="f16"), AVX512, 1)
    assert "prefetch = [in1 : 1024]" in chosen(
        matmul(1, 1024, 1024, t="f16"), AVX512, 1
    )
