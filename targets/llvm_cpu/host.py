"""
The CPU that this runs on, as a target attribute.
"""

from functools import cache
from importlib import import_module
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, StringAttr

from transom.targets.llvm_cpu.architectures import (
    Architecture,
    architecture_of_triple,
)
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr

NEVER_CHOSEN = frozenset(
    {"clzero", "invpcid", "mwaitx", "pku", "rdpru", "sgx", "shstk", "wbnoinvd"}
)
"""Features whose instructions only system code asks for, so that they do not matter."""


class UnknownHostError(Exception):
    """LLVM does not target the CPU that this runs on."""


def resolved(target: LlvmCpuAttr) -> LlvmCpuAttr:
    """A target for `cpu = "host"` with the CPU named; its own features come last."""
    cpu, features, triple = host_cpu()
    own = [change.data for change in target.features]
    named = {change[1:] for change in own}
    kept = [change for change in features if change[1:] not in named]
    return target.with_keys(
        {
            "cpu": StringAttr(cpu),
            "features": ArrayAttr(map(StringAttr, (*kept, *own))),
            "triple": StringAttr(target.triple.data or triple),
        }
    )


@cache
def host_cpu() -> tuple[str, tuple[str, ...], str]:
    """
    The name of the CPU, the features in which it differs from what LLVM knows of that
    name, and the system's triple where it is not the usual one of the architecture.
    """
    llvm: Any = import_module("llvmlite.binding")  # which has no types

    triple = llvm.get_default_triple()
    architecture = architecture_of_triple(triple)
    if architecture is None:
        raise UnknownHostError(
            f"expected a CPU that LLVM targets, but this is '{triple}'"
        )
    return describe(
        architecture,
        llvm.get_host_cpu_name(),
        dict(llvm.get_host_cpu_features()),
        triple,
    )


def describe(
    architecture: Architecture, cpu: str, has: dict[str, bool], triple: str
) -> tuple[str, tuple[str, ...], str]:
    """
    A CPU as LLVM detects it, in terms of the table.

    Features that the named CPU lacks are not used; a CPU that is not in the table is
    described by its features on top of the base CPU.
    """
    if cpu not in architecture.cpu_features:
        cpu = architecture.base
    known = architecture.cpu_features[cpu]
    added = sorted(
        name
        for name, on in has.items()
        if on
        and name in architecture.implied
        and name not in known
        and not architecture.lacking(cpu, name)
    )
    removed = sorted(
        name
        for name, on in has.items()
        if not on and name in known and name not in NEVER_CHOSEN
    )
    features = (*(f"+{name}" for name in added), *(f"-{name}" for name in removed))
    return cpu, features, "" if triple == architecture.triple else triple
