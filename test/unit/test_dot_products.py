"""
Products of bytes: the instruction that a CPU has for them is in its code, and what it
computes is what NumPy does.
"""

import re
from typing import Any

import numpy as np
import pytest

import transom
from transom.dialects.parser import parse_ir
from transom.dialects.tir.dot import DotInstructions
from transom.driver import declare_devices
from transom.lowering.emit_llvm import to_llvm_text
from transom.registry import new_context
from transom.runtime import jit
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr
from transom.targets.llvm_cpu.facts import cpu_facts, dot_instructions
from transom.testing import check_phases

RNG = np.random.default_rng(0)
SIGNS = [(a, b) for a in ("ui8", "i8") for b in ("ui8", "i8")]


def numbers(kind: str, *shape: int) -> Any:
    dtype = np.uint8 if kind == "ui8" else np.int8
    info = np.iinfo(dtype)
    return RNG.integers(info.min, info.max, shape, dtype, endpoint=True)


def product(kinds: tuple[str, str], sizes: tuple[int, int, int], weight: Any) -> Any:
    """A module that multiplies by a weight."""
    (left, right), (m, k, n) = kinds, sizes
    text = f"""
graph.weight @w = dense<{weight.tolist()}> : tensor<{k}x{n}x{right}>
func.func @main(%a: tensor<{m}x{k}x{left}>) -> tensor<{m}x{n}xi32> {{
  %w = graph.weight_ref @w : tensor<{k}x{n}x{right}>
  %y = graph.matmul %a, %w : tensor<{m}x{k}x{left}>, tensor<{k}x{n}x{right}> -> tensor<{m}x{n}xi32>
  func.return %y : tensor<{m}x{n}xi32>
}}
"""  # noqa: E501
    return parse_ir(new_context(), text, "product.mlir")


@pytest.mark.parametrize("sizes", [(13, 24, 40), (4, 6, 17), (9, 7, 16), (1, 32, 5)])
@pytest.mark.parametrize("kinds", SIGNS, ids="-".join)
def test_on_this_machine(kinds: tuple[str, str], sizes: tuple[int, int, int]) -> None:
    m, k, n = sizes
    a, w = numbers(kinds[0], m, k), numbers(kinds[1], k, n)
    program = transom.compile(product(kinds, sizes, w))
    (result,) = program(a).values()
    np.testing.assert_array_equal(result, a.astype(np.int32) @ w.astype(np.int32))


@pytest.mark.parametrize("window", [3, 4, 8])
@pytest.mark.parametrize("kinds", SIGNS, ids="-".join)
def test_sums_along_one_vector(kinds: tuple[str, str], window: int) -> None:
    """Whose steps LLVM makes one instruction of, and must not lose any."""
    (left, right), shape = kinds, (12, 1, window, window)
    x, w = numbers(left, 1, 4, window, window), numbers(right, *shape)
    tx, tw = f"tensor<1x4x{window}x{window}x{left}>", f"tensor<12x1x{window}x{window}x"
    text = f"""
graph.weight @w = dense<{w.tolist()}> : {tw}{right}>
func.func @main(%x: {tx}) -> tensor<1x12x1x1xi32> {{
  %w = graph.weight_ref @w : {tw}{right}>
  %y = graph.conv2d %x, %w groups 4 : {tx}, {tw}{right}> -> tensor<1x12x1x1xi32>
  func.return %y : tensor<1x12x1x1xi32>
}}
"""
    (result,) = transom.compile(parse_ir(new_context(), text, "sums.mlir"))(x).values()
    windows = x[0].repeat(3, axis=0).astype(np.int32)
    expected = (windows * w[:, 0]).sum((1, 2))
    np.testing.assert_array_equal(result.reshape(12), expected)


def test_phases_agree() -> None:
    check_phases(product(("ui8", "i8"), (3, 8, 5), numbers("i8", 8, 5)), seed=1)


def assembly(target: LlvmCpuAttr, kinds: tuple[str, str]) -> str:
    """The code of a product for a CPU."""
    module = product(kinds, (16, 64, 64), np.ones((64, 64), np.int8))
    declare_devices(module, {"cpu": str(target)}, new_context())
    lowered = transom.lower(module, to="machine")
    facts = cpu_facts(target)
    return jit.emit_assembly(
        to_llvm_text(lowered), triple=facts.triple, cpu=target.cpu.data
    )


@pytest.mark.parametrize(
    ("cpu", "kinds", "instruction"),
    [
        ("znver4", ("ui8", "i8"), r"vpdpbusd\s.*%zmm"),
        ("cascadelake", ("i8", "ui8"), r"vpdpbusd\s.*%zmm"),
        ("alderlake", ("ui8", "i8"), r"vpdpbusd\s.*%ymm"),
        ("znver4", ("i8", "i8"), r"vpdpwssd\s.*%zmm"),
        ("haswell", ("ui8", "i8"), r"vpmaddwd\s.*%ymm"),
        ("x86-64", ("i8", "i8"), r"pmaddwd\s.*%xmm"),
        ("cortex-a76", ("i8", "i8"), r"sdot\s.*4s"),
        ("cortex-a76", ("ui8", "ui8"), r"udot\s.*4s"),
        ("neoverse-v1", ("ui8", "i8"), r"usdot\s.*4s"),
    ],
)
def test_instructions(cpu: str, kinds: tuple[str, str], instruction: str) -> None:
    assert re.search(instruction, assembly(LlvmCpuAttr.get(cpu), kinds))


def test_no_instruction() -> None:
    """A CPU without dot products multiplies by others."""
    text = assembly(LlvmCpuAttr.get("cortex-a53"), ("i8", "i8"))
    assert "dot" not in text.replace("main", "")


@pytest.mark.parametrize(
    ("target", "known"),
    [
        (LlvmCpuAttr.get("znver4"), DotInstructions.VNNI),
        (LlvmCpuAttr.get("znver4", ["-avx512vnni"]), DotInstructions.PAIRS),
        (LlvmCpuAttr.get("alderlake"), DotInstructions.VNNI),
        (
            LlvmCpuAttr.get("znver4", facts={"has_dot_product": False}),
            DotInstructions.PAIRS,
        ),
        # What the CPU lacks is not used, whatever is said.
        (
            LlvmCpuAttr.get("haswell", facts={"has_dot_product": True}),
            DotInstructions.PAIRS,
        ),
        (LlvmCpuAttr.get("cortex-a76"), DotInstructions.DOTPROD),
        (LlvmCpuAttr.get("neoverse-v1"), DotInstructions.I8MM),
        (LlvmCpuAttr.get("cortex-a53"), DotInstructions.NONE),
        (LlvmCpuAttr.get("cortex-m55"), DotInstructions.NONE),
    ],
)
def test_facts(target: LlvmCpuAttr, known: DotInstructions) -> None:
    assert dot_instructions(target) is known
