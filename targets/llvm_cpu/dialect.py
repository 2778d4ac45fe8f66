"""
The `llvm_cpu` dialect: CPUs that LLVM generates code for.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from transom.dialects.diagnostics import did_you_mean
from transom.dialects.target import Range, TargetAttr
from transom.targets.llvm_cpu.architectures import (
    Architecture,
    architecture_of_cpu,
    architecture_of_triple,
    architectures,
)
from transom.targets.llvm_cpu.presets import MACHINES, Preset

HOST = "host"
"""Stands for the CPU that this runs on, until `target-resolve-devices` names it."""

FACTS: Mapping[str, Range | type[bool]] = {
    "vector_bytes": Range(4, 256, power_of_two=True, or_zero=True),
    "vector_registers": Range(0, 64),
    "has_fma": bool,
    "mask_bytes": Range(1, 16, power_of_two=True, or_zero=True),
    "fma_chains": Range(1, 64),
    "has_dot_product": bool,
    "has_bf16": bool,
    "has_fp16": bool,
    "l1_bytes": Range(0, 1 << 30),
    "l2_bytes": Range(0, 1 << 40),
    "cache_line": Range(16, 256, power_of_two=True),
}
"""What a target may say of its CPU, and what it may be: see `facts.CpuFacts`."""


def _values_of(machine: Preset) -> Mapping[str, Attribute]:
    sizes = {"l1_bytes": machine.l1_bytes, "l2_bytes": machine.l2_bytes}
    known = {k: IntegerAttr(size, i64) for k, size in sizes.items() if size is not None}
    return {
        "cpu": StringAttr(machine.cpu),
        "triple": StringAttr(machine.triple),
        "facts": DictionaryAttr(known),
    }


@irdl_attr_definition
class LlvmCpuAttr(TargetAttr):
    """
    A CPU as LLVM knows it, with features switched on (`+f`) and off (`-f`) in order,
    and the triple of the system on it (absent: the usual one of its architecture).

    ```mlir
    #llvm_cpu.target<cpu = "znver4", features = ["-avx512f"]>
    ```

    `facts` replaces what follows from the features or is guessed: the width and number
    of vector registers, the sizes of caches (`facts.CpuFacts` lists them). They decide
    how code is arranged, not which instructions it may use. That they stand in the
    attribute lets a test try how code comes out for another machine, and a user tell
    what LLVM does not know, and either is in the text of the module.

    ```mlir
    #llvm_cpu.target<cpu = "znver4", facts = {l2_bytes = 524288, vector_bytes = 32}>
    ```

    A preset stands for a machine by name, and is spelled out when it is read.

    ```mlir
    #llvm_cpu.target<preset = "raspberry-pi-5", features = ["+crypto"]>
    ```
    """

    name = "llvm_cpu.target"

    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {
        "features": ArrayAttr(()),
        "triple": StringAttr(""),
        "facts": DictionaryAttr({}),
    }
    PRESETS: ClassVar[Mapping[str, Mapping[str, Attribute]]] = {
        name: _values_of(machine) for name, machine in MACHINES.items()
    }

    cpu: StringAttr = param_def()
    features: ArrayAttr[StringAttr] = param_def()
    triple: StringAttr = param_def()
    facts: DictionaryAttr = param_def()

    @classmethod
    def get(
        cls,
        cpu: str,
        features: Sequence[str] = (),
        triple: str = "",
        facts: Mapping[str, int | bool] | None = None,
    ) -> "LlvmCpuAttr":
        """The target of this CPU."""
        said = {
            name: BoolAttr.from_bool(value)
            if isinstance(value, bool)
            else IntegerAttr(value, i64)
            for name, value in (facts or {}).items()
        }
        return LlvmCpuAttr(
            StringAttr(cpu),
            ArrayAttr(map(StringAttr, features)),
            StringAttr(triple),
            DictionaryAttr(said),
        )

    @property
    def said_facts(self) -> Mapping[str, int | bool]:
        """The facts that the target says itself."""
        return {name: _fact(name, value) for name, value in self.facts.data.items()}

    @property
    def architecture(self) -> Architecture | None:
        """The instruction set; None for a `host` without a triple."""
        if self.triple.data:
            return architecture_of_triple(self.triple.data)
        return architecture_of_cpu(self.cpu.data)

    @property
    def feature_set(self) -> frozenset[str]:
        """All that code may use, what every CPU has left out. Not for a `host`."""
        architecture = self.architecture
        assert architecture is not None, "verified, as the CPU is known"
        return architecture.features(
            self.cpu.data, [change.data for change in self.features]
        )

    @property
    def features_given_up(self) -> frozenset[str]:
        """What every CPU of the architecture has, and code for this one may not use."""
        architecture = self.architecture
        assert architecture is not None, "verified, as the CPU is known"
        changes = [change.data for change in self.features]
        return architecture.given_up(changes)

    def subsumes(self, other: TargetAttr) -> bool:
        """
        Whether code for this CPU runs on the other, which has all its features.

        A system that is not named is any; facts do not matter.
        """
        if self == other:
            return True
        if not isinstance(other, LlvmCpuAttr) or HOST in (
            self.cpu.data,
            other.cpu.data,
        ):
            return False
        return (
            self.architecture is other.architecture
            and self.triple.data in ("", other.triple.data)
            and self.feature_set <= other.feature_set
            and other.features_given_up <= self.features_given_up
        )

    def verify(self) -> None:
        cpu, triple = self.cpu.data, self.triple.data
        if triple and architecture_of_triple(triple) is None:
            first = triple.partition("-")[0]
            raise VerifyException(
                f"unknown architecture '{first}' of triple '{triple}'"
                f"{did_you_mean(first, architectures())}"
            )
        architecture = self.architecture
        if cpu != HOST and (
            architecture is None or cpu not in architecture.cpu_features
        ):
            raise VerifyException(f"unknown CPU '{cpu}'{_near_cpu(cpu, architecture)}")
        _verify_features(self, architecture)
        _verify_facts(self)


def _near_cpu(cpu: str, architecture: Architecture | None) -> str:
    among = architectures().values() if architecture is None else (architecture,)
    names = [name for known in among for name in known.cpu_features]
    near = did_you_mean(cpu, (HOST, *names))
    return near or "; names are those of LLVM, such as 'x86-64-v3' or 'cortex-a53'"


def _verify_features(target: LlvmCpuAttr, architecture: Architecture | None) -> None:
    seen: set[str] = set()
    for change in (feature.data for feature in target.features):
        sign, name = change[:1], change[1:]
        if sign not in ("+", "-"):
            raise VerifyException(f"expected '+{change}' or '-{change}' as a feature")
        if name in seen:
            raise VerifyException(f"feature '{name}' is listed twice")
        seen.add(name)
        if architecture is None:
            names = {n for a in architectures().values() for n in a.feature_names()}
            if name not in names:
                near = did_you_mean(name, names)
                raise VerifyException(f"unknown feature '{name}'{near}")
            continue
        if not architecture.knows_feature(name):
            raise VerifyException(
                f"unknown feature '{name}' of {architecture.name}"
                f"{did_you_mean(name, architecture.feature_names())}"
            )
        if sign == "+" and target.cpu.data != HOST:
            _verify_not_lacking(target.cpu.data, name, architecture)


def _verify_not_lacking(cpu: str, feature: str, architecture: Architecture) -> None:
    lacking = architecture.lacking(cpu, feature)
    if not lacking:
        return
    what = f"'{feature}'"
    if feature not in lacking:
        what = f"'{min(lacking)}', which '{feature}' needs"
    near = architecture.nearest_cpu(cpu, feature)
    help = "" if near is None else f"; the nearest CPU that has it is '{near}'"
    raise VerifyException(f"CPU '{cpu}' lacks {what}{help}")


def _verify_facts(target: LlvmCpuAttr) -> None:
    for name, value in target.facts.data.items():
        if name not in FACTS:
            raise VerifyException(f"unknown fact '{name}'{did_you_mean(name, FACTS)}")
        range, number = FACTS[name], _fact(name, value)
        if isinstance(range, Range):
            range.verify(name, number)


def _fact(name: str, value: Attribute) -> int | bool:
    """The value of a fact. Raises `VerifyException` for one of another kind."""
    if FACTS[name] is bool:
        if isa(value, BoolAttr):
            return bool(value.value.data)
        raise VerifyException(f"expected true or false for '{name}', but got '{value}'")
    if isa(value, IntegerAttr[I64]):
        return value.value.data
    raise VerifyException(f"expected an integer for '{name}', but got '{value}'")


LlvmCpu = Dialect("llvm_cpu", [], [LlvmCpuAttr])
