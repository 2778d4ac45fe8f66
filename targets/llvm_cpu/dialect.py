"""
The `llvm_cpu` dialect: CPUs that LLVM generates code for.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.utils.exceptions import VerifyException

from transom.dialects.diagnostics import did_you_mean
from transom.dialects.target import TargetAttr
from transom.targets.llvm_cpu.architectures import (
    Architecture,
    architecture_of_cpu,
    architecture_of_triple,
    architectures,
)

HOST = "host"
"""Stands for the CPU that this runs on, until `target-resolve-devices` names it."""


@irdl_attr_definition
class LlvmCpuAttr(TargetAttr):
    """
    A CPU as LLVM knows it, with features switched on (`+f`) and off (`-f`) in order,
    and the triple of the system on it (absent: the usual one of its architecture).

    ```mlir
    #llvm_cpu.target<cpu = "znver4", features = ["-avx512f"]>
    ```
    """

    name = "llvm_cpu.target"

    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {
        "features": ArrayAttr(()),
        "triple": StringAttr(""),
    }

    cpu: StringAttr = param_def()
    features: ArrayAttr[StringAttr] = param_def()
    triple: StringAttr = param_def()

    @classmethod
    def get(
        cls, cpu: str, features: Sequence[str] = (), triple: str = ""
    ) -> "LlvmCpuAttr":
        """The target of this CPU."""
        return LlvmCpuAttr(
            StringAttr(cpu), ArrayAttr(map(StringAttr, features)), StringAttr(triple)
        )

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

    def subsumes(self, other: TargetAttr) -> bool:
        """Whether code for this CPU runs on the other, which has all its features."""
        if self == other:
            return True
        if not isinstance(other, LlvmCpuAttr) or HOST in (
            self.cpu.data,
            other.cpu.data,
        ):
            return False
        mine, theirs = self.architecture, other.architecture
        return (
            mine is theirs
            and self.triple.data in ("", other.triple.data)
            and self.feature_set <= other.feature_set
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


def _near_cpu(cpu: str, architecture: Architecture | None) -> str:
    among = architectures().values() if architecture is None else (architecture,)
    names = [name for known in among for name in known.cpu_features]
    return did_you_mean(cpu, (HOST, *names))


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


LlvmCpu = Dialect("llvm_cpu", [], [LlvmCpuAttr])
