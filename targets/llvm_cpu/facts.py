"""
What code generation wants to know of a CPU: functions of the target attribute alone.

Whether an instruction may be used follows from the features. Sizes of caches are not
among what LLVM knows of a CPU; they are those of the CPU's family, or else cautious.
What the attribute says itself, under `facts`, replaces what is derived.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from transom.dialects.tir.dot import DotInstructions
from transom.targets.llvm_cpu.architectures import Architecture
from transom.targets.llvm_cpu.dialect import HOST, LlvmCpuAttr
from transom.targets.llvm_cpu.presets import KIB, MIB


@dataclass(frozen=True)
class CpuFacts:
    """Derived facts of a CPU; sizes in bytes."""

    architecture: str
    triple: str

    vector_bytes: int
    """The widest vector register that is worth using; 0 without a vector unit."""

    vector_registers: int
    """How many registers of that width there are."""

    has_fma: bool
    """Whether a fused multiply-add is one instruction on vectors of f32."""

    mask_bytes: int
    """The smallest element of which a part of a vector is loaded and stored by one
    instruction; 0 if there is none."""

    fma_chains: int
    """How many multiply-adds that do not wait for each other fill the unit."""

    has_dot_product: bool
    """Whether products of 8-bit integers are summed into 32 bits by one instruction."""

    has_bf16: bool
    """Whether products of bf16 are summed into f32 by one instruction."""

    has_fp16: bool
    """Whether arithmetic on vectors of f16 is instructions, not conversions."""

    l1_bytes: int
    """The data cache next to a core."""

    l2_bytes: int
    """The cache of a core behind it; 0 if there is none."""

    cache_line: int

    def vector_elements(self, element_bytes: int) -> int:
        """How many elements of a size a vector holds, at least one."""
        return max(1, self.vector_bytes // element_bytes)


def vector_bytes(target: LlvmCpuAttr) -> int:
    """The widest vector register that is worth using on a CPU; 0 if it has none."""
    return cpu_facts(target).vector_bytes


def has_feature(target: LlvmCpuAttr, feature: str) -> bool:
    """Whether code for a target may use a feature. Not for a `host`."""
    return feature in _all_features(target)


@lru_cache(maxsize=256)
def cpu_facts(target: LlvmCpuAttr) -> CpuFacts:
    """
    The facts of a target. A `host` has to be resolved before.
    """
    assert target.cpu.data != HOST, "target-resolve-devices comes first"
    architecture = target.architecture
    assert architecture is not None, "verified, as the CPU is known"
    features = _all_features(target)
    width, registers = _vectors(architecture, features)
    l1_bytes, l2_bytes = _caches(target.cpu.data, architecture)
    derived = CpuFacts(
        architecture=architecture.name,
        triple=target.triple.data or architecture.triple,
        vector_bytes=width,
        vector_registers=registers,
        has_fma=_has_fma(architecture, features),
        mask_bytes=_mask_bytes(features),
        fma_chains=_fma_chains(target.cpu.data),
        has_dot_product=bool(features & {"avx512vnni", "avxvnni", "dotprod"}),
        has_bf16=bool(features & {"avx512bf16", "bf16", "zvfbfwma"}),
        has_fp16=bool(features & {"avx512fp16", "fullfp16", "mve.fp", "zvfh"}),
        l1_bytes=l1_bytes,
        l2_bytes=l2_bytes,
        cache_line=32 if architecture.name == "arm" else 64,
    )
    said: Mapping[str, Any] = target.said_facts  # of the kinds of the fields
    return replace(derived, **said)


def _all_features(target: LlvmCpuAttr) -> frozenset[str]:
    """Features with those that every CPU of the architecture has."""
    architecture = target.architecture
    assert architecture is not None, "verified, as the CPU is known"
    removed = {f.data[1:] for f in target.features if f.data.startswith("-")}
    return target.feature_set | (architecture.free_features - removed)


def _vectors(architecture: Architecture, features: frozenset[str]) -> tuple[int, int]:
    """The width in bytes, and the number, of vector registers."""
    match architecture.name:
        case "x86_64" if "avx512vl" in features:
            return 64, 32
        case "x86_64" if "avx" in features:
            return 32, 16
        case "x86_64":
            return 16, 16
        case "aarch64" if "neon" in features:
            return 16, 32
        case "arm" if "neon" in features:
            return 16, 16
        case "arm" if "mve" in features:
            return 16, 8
        case "riscv32" | "riscv64" if features & {"v", "zve32x"}:
            lengths = (re.fullmatch(r"zvl(\d+)b", name) for name in features)
            bits = [int(match.group(1)) for match in lengths if match is not None]
            return max([32, *bits]) // 8, 32
        case _:
            return 0, 0


def _has_fma(architecture: Architecture, features: frozenset[str]) -> bool:
    match architecture.name:
        case "x86_64":
            return bool(features & {"fma", "fma4", "avx512f"})
        case "aarch64":
            return "neon" in features
        case "arm":
            return "mve.fp" in features or {"neon", "vfp4"} <= features
        case _:
            return "zve32f" in features


def _mask_bytes(features: frozenset[str]) -> int:
    if features & {"sve", "mve", "v", "zve32x"} or {"avx512vl", "avx512bw"} <= features:
        return 1
    return 4 if features & {"avx", "avx512vl"} else 0


def dot_instructions(target: LlvmCpuAttr) -> DotInstructions:
    """
    What instructions a CPU has for dot products. None of bytes where the facts deny it.
    """
    facts, features = cpu_facts(target), _all_features(target)
    is_wide = facts.vector_bytes > 32
    match facts.architecture:
        case "x86_64":
            vnni = "avx512vnni" if is_wide else "avxvnni"
            has_bytes = vnni in features or {"avx512vnni", "avx512vl"} <= features
            if facts.has_dot_product and has_bytes:
                return DotInstructions.VNNI
            return DotInstructions.PAIRS
        case "aarch64" if facts.has_dot_product and "dotprod" in features:
            has_mixed = "i8mm" in features
            return DotInstructions.I8MM if has_mixed else DotInstructions.DOTPROD
        case _:
            return DotInstructions.NONE


def rounds_to_bf16(target: LlvmCpuAttr) -> bool:
    """Whether a CPU has an instruction that LLVM rounds vectors of f32 to bf16 by."""
    features = _all_features(target)
    has_it = "avxneconvert" in features or {"avx512bf16", "avx512vl"} <= features
    return cpu_facts(target).architecture == "x86_64" and has_it


def _fma_chains(cpu: str) -> int:
    """Latency times how many start at once; znver1 splits a vector into halves."""
    return 5 if cpu in ("znver1", "btver2") else 8


_CACHES: tuple[tuple[str, int, int], ...] = (
    (r"znver5", 48 * KIB, MIB),
    (r"znver4", 32 * KIB, MIB),
    (r"znver", 32 * KIB, 512 * KIB),
    (r"(sapphire|emerald|granite|diamond)rapids", 48 * KIB, 2 * MIB),
    (r"icelake[-_]server|rocketlake|tigerlake|icelake", 48 * KIB, 512 * KIB),
    (r"(alder|raptor|meteor|arrow|lunar|panther|nova)lake", 48 * KIB, 1280 * KIB),
    (r"skylake[-_]avx512|skx|cascadelake|cooperlake|x86-64-v4", 32 * KIB, MIB),
    (r"apple-", 64 * KIB, 4 * MIB),
    (r"neoverse-[nv]", 64 * KIB, MIB),
    (r"cortex-x", 64 * KIB, MIB),
    (r"cortex-a\d\d$", 32 * KIB, 512 * KIB),
    (r"cortex-m(7|55|85)", 16 * KIB, 0),
    (r"cortex-m|arm\d|sc\d\d\d", 4 * KIB, 0),
)
"""Data cache and second level cache of families, the first that fits the CPU's name."""


def _caches(cpu: str, architecture: Architecture) -> tuple[int, int]:
    for family, l1_bytes, l2_bytes in _CACHES:
        if re.match(family, cpu):
            return l1_bytes, l2_bytes
    return 32 * KIB, 0 if architecture.name == "riscv32" else 256 * KIB
