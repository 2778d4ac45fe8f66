"""
f16 and bf16 are computed in f32 and rounded to nearest even, in vectors of any CPU:
what compiled code gives is what the reference evaluation gives.
"""

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import transom
from transom.compiler import check_runs_here
from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_ir
from transom.driver import declare_devices
from transom.lowering.emit_llvm import to_llvm_text
from transom.registry import new_context
from transom.runtime import jit
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr
from transom.targets.llvm_cpu.facts import cpu_facts, rounds_to_bf16
from transom.testing import interpret

HALVES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}
EPS = {"f16": 2.0**-10, "bf16": 2.0**-7}
"""Between two numbers that are neighbours, at most, as a part of the smaller one."""

LARGEST = {"f16": 65504.0, "bf16": 255 * 2.0**120}
SMALLEST = {"f16": 2.0**-24, "bf16": 2.0**-133}

CPUS = ("host", "znver3")

halves = pytest.mark.parametrize("t", list(HALVES))
cpus = pytest.mark.parametrize("cpu", CPUS)


def module_for(cpu: str, text: str) -> ModuleOp:
    module = parse_ir(new_context(), text, "halves.mlir")
    if cpu != "host":
        target = LlvmCpuAttr.get(cpu)
        declare_devices(module, {"cpu": str(target)}, new_context())
        try:
            check_runs_here(target, module)
        except OpError as e:
            pytest.skip(str(e))
    return module


def check(cpu: str, text: str, t: str, *inputs: Any) -> Any:
    """Compare what is compiled with the reference; gives the result."""
    module = module_for(cpu, text)
    named = {f"arg{i}": array for i, array in enumerate(inputs)}
    (expected,) = interpret(module.clone(), named).values()
    (found,) = transom.compile(module)(*inputs).values()
    assert found.dtype == expected.dtype
    wanted, got = expected.astype(np.float32), found.astype(np.float32)
    np.testing.assert_allclose(got, wanted, rtol=EPS[t], atol=1e-2 * EPS[t])
    return found


def numbers(t: str, *shape: int) -> Any:
    random = np.random.default_rng(sum(shape))
    return random.standard_normal(shape).astype(np.float32).astype(HALVES[t])


def product(t: str, m: int, k: int, n: int, *, weight: bool = False) -> str:
    b = f"tensor<{k}x{n}x{t}>"
    values = numbers(t, k, n).astype(np.float32).tolist()
    rows = f"""
  %y = graph.matmul %a, %b : tensor<{m}x{k}x{t}>, {b} -> tensor<{m}x{n}x{t}>
  func.return %y : tensor<{m}x{n}x{t}>
}}
"""
    if not weight:
        return f"""
func.func @main(%a: tensor<{m}x{k}x{t}>, %b: {b}) -> tensor<{m}x{n}x{t}> {{{rows}"""
    return f"""
graph.weight @w = dense<{values}> : {b}
func.func @main(%a: tensor<{m}x{k}x{t}>) -> tensor<{m}x{n}x{t}> {{
  %b = graph.weight_ref @w : {b}{rows}"""


@cpus
@halves
@pytest.mark.parametrize(
    "sizes", [(1, 65, 33), (5, 3, 17), (13, 31, 100), (67, 40, 48)]
)
def test_products(sizes: tuple[int, int, int], t: str, cpu: str) -> None:
    m, k, n = sizes
    a = numbers(t, m, k)
    check(cpu, product(t, m, k, n), t, a, numbers(t, k, n))
    check(cpu, product(t, m, k, n, weight=True), t, a)


@cpus
@halves
@pytest.mark.parametrize(
    ("channels", "filters", "groups", "size", "window", "stride"),
    [
        (3, 20, 1, 11, 3, 1),
        (16, 32, 1, 7, 3, 2),
        (16, 24, 1, 9, 1, 1),
        (6, 6, 6, 9, 3, 1),
    ],
)
def test_convolutions(
    channels: int,
    filters: int,
    groups: int,
    size: int,
    window: int,
    stride: int,
    t: str,
    cpu: str,
) -> None:
    pad = window // 2
    out = (size + 2 * pad - window) // stride + 1
    x, y = f"tensor<1x{channels}x{size}x{size}x{t}>", f"1x{filters}x{out}x{out}x{t}"
    shape = (filters, channels // groups, window, window)
    w = f"tensor<{'x'.join(map(str, shape))}x{t}>"
    text = f"""
graph.weight @w = dense<{numbers(t, *shape).astype(np.float32).tolist()}> : {w}
func.func @main(%x: {x}) -> tensor<{y}> {{
  %w = graph.weight_ref @w : {w}
  %y = graph.conv2d %x, %w strides [{stride}, {stride}] padding [{pad}, {pad}, {pad}, {pad}]
      groups {groups} : {x}, {w} -> tensor<{y}>
  %r = graph.relu %y : tensor<{y}>
  func.return %r : tensor<{y}>
}}
"""  # noqa: E501
    check(cpu, text, t, numbers(t, 1, channels, size, size))


@cpus
@halves
@pytest.mark.parametrize("stride", [1, 2])
def test_padded_windows(stride: int, t: str, cpu: str) -> None:
    size = 23
    out = (size - 1) // stride + 1
    x, y = f"tensor<1x3x{size}x{size}x{t}>", f"tensor<1x3x{out}x{out}x{t}>"
    text = f"""
func.func @main(%x: {x}) -> {y} {{
  %y = graph.max_pool2d %x kernel [3, 3] strides [{stride}, {stride}]
      padding [1, 1, 1, 1] : {x} -> {y}
  func.return %y : {y}
}}
"""
    array = numbers(t, 1, 3, size, size)
    array[0, 0, 4, 5], array[0, 1], array[0, 2, 0, 0] = np.nan, -np.inf, np.inf
    check(cpu, text, t, array)


@cpus
@halves
def test_special_values(t: str, cpu: str) -> None:
    """NaN and infinities go through a sum, small numbers count, sums overflow."""
    m, k, n = 9, 20, 37
    a, b = numbers(t, m, k), numbers(t, k, n)
    a[0, 3], a[1, 4], a[2, 5] = np.nan, np.inf, -np.inf
    a[3:5], b[0] = 0, 2.0
    a[3, 0], a[4, 0] = LARGEST[t], -LARGEST[t]
    a[5] = SMALLEST[t]
    b[7, 1] = np.nan
    found = check(cpu, product(t, m, k, n), t, a, b).astype(np.float32)
    assert np.isnan(found[0]).all() and np.isnan(found[:, 1]).all()
    numbers_only = np.delete(found, 1, axis=1)
    assert (numbers_only[3] == np.inf).all() and (numbers_only[4] == -np.inf).all()
    assert (numbers_only[5] != 0).any()


def ties(t: str) -> Any:
    """f32 numbers around each half, and around the middle between it and the next."""
    upper = np.arange(1 << 16, dtype=np.uint32)
    if t == "bf16":
        lower = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
        return ((upper << 16)[:, None] | lower).ravel().view(np.float32)
    exact = upper.astype(np.uint16).view(np.float16).astype(np.float64)
    exact = exact[np.isfinite(exact)]
    middle = (np.sort(exact)[1:] + np.sort(exact)[:-1]) / 2
    middles = middle.astype(np.float32)
    sides = [np.nextafter(middles, np.float32(s * np.inf)) for s in (-1, 1)]
    ends = np.array([65519.99, 65520, 65536, 1e30, np.inf, np.nan], np.float32)
    return np.concatenate([exact.astype(np.float32), middles, *sides, ends, -ends])


@cpus
@halves
def test_rounding_to_nearest_even(t: str, cpu: str) -> None:
    x = ties(t)
    x = x[: len(x) - len(x) % 7 + 5]  # a rest that fills no vector
    text = f"""
func.func @main(%x: tensor<{len(x)}xf32>) -> tensor<{len(x)}x{t}> {{
  %y = graph.cast %x : tensor<{len(x)}xf32> -> tensor<{len(x)}x{t}>
  func.return %y : tensor<{len(x)}x{t}>
}}
"""
    (found,) = transom.compile(module_for(cpu, text))(x).values()
    with np.errstate(all="ignore"):
        expected = x.astype(HALVES[t])
    nan = np.isnan(x)
    assert (np.isnan(found.astype(np.float32)) == nan).all()
    same = found.view(np.uint16) == expected.view(np.uint16)
    assert same[~nan].all()


@cpus
@halves
@pytest.mark.parametrize("op", ["add", "mul", "maximum"])
def test_every_op_is_rounded(op: str, t: str, cpu: str) -> None:
    """The sum of two ops is not that of numbers that were never rounded between."""
    shape = "tensor<5x19x" + t + ">"
    text = f"""
func.func @main(%x: {shape}, %y: {shape}) -> {shape} {{
  %s = graph.{op} %x, %y : {shape}
  %r = graph.add %s, %y : {shape}
  func.return %r : {shape}
}}
"""
    x, y = numbers(t, 5, 19), numbers(t, 19, 5).reshape(5, 19)
    module = module_for(cpu, text)
    (expected,) = interpret(module.clone(), {"arg0": x, "arg1": y}).values()
    (found,) = transom.compile(module)(x, y).values()
    np.testing.assert_array_equal(found, expected)


@cpus
@halves
def test_limits_of_products(t: str, cpu: str) -> None:
    """Which are rounded once in a kernel, and twice or thrice in the graph."""
    shape = "tensor<4x24x" + t + ">"
    text = f"""
func.func @main(%x: {shape}, %y: {shape}) -> {shape} {{
  %p = graph.mul %x, %y : {shape}
  %r = graph.relu %p : {shape}
  %m = graph.maximum %r, %y : {shape}
  %c = graph.clamp %m min -1.0 : {t} max 2.5 : {t} : {shape}
  func.return %c : {shape}
}}
"""
    x, y = 3 * numbers(t, 4, 24), numbers(t, 24, 4).reshape(4, 24)
    x[0, :6] = np.nan, np.inf, -np.inf, -0.0, SMALLEST[t], -SMALLEST[t]
    x[1, :6], y[1, :6] = LARGEST[t], [2.0, -2.0, 1.0, 0.5, -0.0, 0.1]
    module = module_for(cpu, text)
    (expected,) = interpret(module.clone(), {"arg0": x, "arg1": y}).values()
    (found,) = transom.compile(module)(x, y).values()
    wanted = expected.astype(np.float32)  # NumPy does not know NaN of bf16
    np.testing.assert_array_equal(found.astype(np.float32), wanted)


@pytest.mark.parametrize(
    ("target", "has_it"),
    [
        (LlvmCpuAttr.get("znver4"), True),
        (LlvmCpuAttr.get("arrowlake"), True),
        (LlvmCpuAttr.get("znver4", ["-avx512bf16"]), False),
        (LlvmCpuAttr.get("znver3"), False),
        (LlvmCpuAttr.get("neoverse-v1"), False),
    ],
)
def test_who_rounds_by_instruction(target: LlvmCpuAttr, has_it: bool) -> None:
    assert rounds_to_bf16(target) is has_it


def assembly(cpu: str, text: str) -> str:
    module = parse_ir(new_context(), text, "halves.mlir")
    target = LlvmCpuAttr.get(cpu)
    declare_devices(module, {"cpu": str(target)}, new_context())
    lowered = transom.lower(module, to="machine")
    triple = cpu_facts(target).triple
    return jit.emit_assembly(to_llvm_text(lowered), triple=triple, cpu=cpu)


@pytest.mark.parametrize(
    ("cpu", "t", "widen", "narrow"),
    [
        ("znver4", "f16", r"vcvtph2ps\s.*%zmm", r"vcvtps2ph\s.*%zmm"),
        ("znver3", "f16", r"vcvtph2ps\s.*%ymm", r"vcvtps2ph\s.*%ymm"),
        ("znver4", "bf16", r"vpmovzxwd\s.*%zmm", r"vcvtneps2bf16\s.*%zmm"),
        ("arrowlake", "bf16", r"vpmovzxwd\s.*%ymm", r"vcvtneps2bf16\s.*%ymm"),
        ("skx", "bf16", r"vpmovzxwd\s.*%zmm", r"vpmovdw\s.*%zmm"),
        ("znver3", "bf16", r"vpmovzxwd\s.*%ymm", r"(vpackusdw|vpshufb)\s"),
    ],
)
def test_vectors(cpu: str, t: str, widen: str, narrow: str) -> None:
    """Conversions are instructions on vectors, and call nothing."""
    text = assembly(cpu, product(t, 64, 64, 64, weight=True))
    assert re.search(widen, text) and re.search(narrow, text)
    assert not re.search(r"call\w*\s.*(hf|bf)", text)
