"""
Write `cpus.py`: the CPUs and features that LLVM knows, and which CPU has which.

    python -m transom.targets.llvm_cpu.generate_cpus > targets/llvm_cpu/cpus.py

LLVM lists names on stderr when a target machine is made for the CPU `help`. It has no
call that lists the features of a CPU, but its inliner knows them: a function may only
be inlined into one that has all of its features. So for every CPU one module is
optimised, in which a function for the CPU calls one for the CPU and one more feature,
for each feature; the calls that are left name the features that the CPU lacks. Each CPU
takes a process of its own, as LLVM ends it for a CPU that cannot run the triple's code;
such CPUs are left out.

Only features that stand for instructions are probed; what tunes code fits every CPU.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

from transom.targets.llvm_cpu.architectures import TUNING

llvm: Any = import_module("llvmlite.binding")  # which has no types

ARCHITECTURES: Mapping[str, tuple[str, str, str]] = {
    "x86_64": ("x86_64-unknown-linux-gnu", "x86-64", ""),
    "aarch64": ("aarch64-unknown-linux-gnu", "generic", ""),
    "riscv64": ("riscv64-unknown-linux-gnu", "generic-rv64", "v"),
    "arm": ("arm-none-eabi", "generic", ""),
    "riscv32": ("riscv32-unknown-elf", "generic-rv32", "v"),
}
"""
The triple to probe with, a CPU whose features all others have, and a feature without
which LLVM refuses some others.
"""

_ARM_PROCESSORS = re.compile(r"processors?\.$")

_RISCV_EXCLUSIVE = re.compile(r"z[dfh]inx|zhinxmin|zce$|zcm[pt]$|xqccmp$")
"""Features that LLVM refuses together with common ones; they are not probed."""

_HELP = """
import sys, llvmlite.binding as llvm
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
llvm.Target.from_triple(sys.argv[1]).create_target_machine(cpu="help")
"""


def names(triple: str) -> tuple[list[str], dict[str, str]]:
    """The CPUs and the features with descriptions that LLVM knows for a triple."""
    command = [sys.executable, "-c", _HELP, triple]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    cpus, features = run.stderr.split("Available features for this target:")
    name = re.compile(r"^  (\S+)\s+- (.*)$", re.MULTILINE)
    return sorted({n for n, _ in name.findall(cpus)}), dict(name.findall(features))


def adds_instructions(architecture: str, name: str, description: str) -> bool:
    """Whether a feature stands for instructions rather than tuning."""
    if TUNING.match(name):
        return False
    match architecture:
        case "aarch64":
            return description.startswith(("Enable", "Support", "Shorthand"))
        case "riscv32" | "riscv64":
            return description.startswith("'") and not _RISCV_EXCLUSIVE.match(name)
        case "arm":
            return _ARM_PROCESSORS.search(description) is None
        case _:
            return True


def probe(triple: str, cpu: str, features: str, all_names: str) -> list[str]:
    """Those of some features, a list in commas, that a CPU with some features has."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    wanted = list(filter(None, all_names.split(",")))
    lines = [f'target triple = "{triple}"', "@g = external global i32"]
    for i, name in enumerate(wanted):
        body = f"store volatile i32 {i}, ptr @g ret void"
        lines.append(f"define internal void @f{i}() #{i} {{ {body} }}")
        lines.append(_attributes(i, cpu, f"{features},+{name}"))
    calls = " ".join(f"call void @f{i}()" for i in range(len(wanted)))
    lines.append(f"define void @caller() #{len(wanted)} {{ {calls} ret void }}")
    lines.append(_attributes(len(wanted), cpu, features))
    module = llvm.parse_assembly("\n".join(lines))
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.inlining_threshold = 1_000_000
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    text = str(module.get_function("caller"))
    left = {int(i) for i in re.findall(r"call .*@f(\d+)\(", text)}
    return [name for i, name in enumerate(wanted) if i not in left]


def _attributes(number: int, cpu: str, features: str) -> str:
    values = f'"target-cpu"="{cpu}" "target-features"="{features}"'
    return f"attributes #{number} = {{ {values} }}"


def run_probe(
    triple: str, caller: tuple[str, str], features: Sequence[str]
) -> frozenset[str] | None:
    """`probe` in a process of its own; None if LLVM ends it."""
    command = [sys.executable, "-m", __spec__.name, "--probe", triple, *caller]
    result = subprocess.run(
        [*command, ",".join(features)], capture_output=True, text=True, check=False
    )
    return frozenset(json.loads(result.stdout)) if result.returncode == 0 else None


def bisect(
    triple: str, caller: tuple[str, str], features: Sequence[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """Those features that a (CPU, features) has, and those that end LLVM with it."""
    found = run_probe(triple, caller, features)
    if found is not None:
        return found, frozenset()
    if len(features) == 1:
        return frozenset(), frozenset(features)
    half = len(features) // 2
    left = bisect(triple, caller, features[:half])
    right = bisect(triple, caller, features[half:])
    return left[0] | right[0], left[1] | right[1]


def probe_all(
    triple: str,
    callers: Iterable[tuple[str, str]],
    features: Sequence[str],
    more: Sequence[str] = (),
    needed: str = "",
) -> list[frozenset[str] | None]:
    """
    What each (CPU, features) has; None for one that LLVM does not take.

    The features `more` are only asked for where the feature `needed` is.
    """

    def one(caller: tuple[str, str]) -> frozenset[str] | None:
        if run_probe(triple, caller, ()) is None:
            return None
        found, _ = bisect(triple, caller, features)
        return found | bisect(triple, caller, more)[0] if needed in found else found

    with ThreadPoolExecutor(2) as executor:
        return list(executor.map(one, callers))


def table(architecture: str, triple: str, base: str, needed: str) -> list[str]:
    """The lines of an architecture's table."""
    cpus, known = names(triple)
    probed = [n for n, d in known.items() if adds_instructions(architecture, n, d)]
    always, refused = bisect(triple, (base, ""), probed)
    alone = sorted(set(probed) - always - refused)
    more: list[str] = []
    if needed:
        _, never = bisect(triple, (base, f"+{needed}"), sorted(refused))
        more, refused = sorted(refused - never), never
    callers = [(base, f"+{name}") for name in alone]
    callers += [(base, f"+{needed},+{name}") for name in more]
    implied: dict[str, frozenset[str]] = {}
    for name, found in zip(
        (*alone, *more), probe_all(triple, callers, alone, more, needed), strict=True
    ):
        if found is not None:
            implied[name] = found
    free = sorted(set(known) - set(implied) - refused)
    lines = [f"        triple={triple!r},", f"        base={base!r},"]
    lines.append(f'        free="{" ".join(free)}",')
    lines.append('        implies="""\\')
    for name, found in implied.items():
        same = {other for other in found & implied.keys() if name in implied[other]}
        others = (*tops(found - same, implied), *sorted(same - {name}))
        lines.append(f"{name}: {' '.join(others)}".rstrip())
    lines.append('""",')
    lines.append('        cpus="""\\')
    found_by_cpu = probe_all(triple, [(cpu, "") for cpu in cpus], alone, more, needed)
    for cpu, found in zip(cpus, found_by_cpu, strict=True):
        if found is not None:
            lines.append(f"{cpu}: {' '.join(tops(found, implied))}".rstrip())
    lines.append('""",')
    return lines


def tops(features: frozenset[str], implied: Mapping[str, frozenset[str]]) -> list[str]:
    """The features that others of the set do not imply; of equal ones the first."""
    return [
        name
        for name in sorted(features & implied.keys())
        if not any(
            name in implied[other] and (other not in implied[name] or other < name)
            for other in features & implied.keys()
            if other != name
        )
    ]


def main() -> None:
    version = ".".join(map(str, llvm.llvm_version_info[:2]))
    print(f'"""\nWhat LLVM {version} knows of CPUs, by `generate_cpus.py`.\n"""\n')
    print("# ruff: noqa: E501\n")
    print("from collections.abc import Mapping\n")
    print("from transom.targets.llvm_cpu.architectures import Architecture\n")
    print("ARCHITECTURES: Mapping[str, Architecture] = {")
    for name, probing in ARCHITECTURES.items():
        print(f"    {name!r}: Architecture(\n        name={name!r},")
        print("\n".join(table(name, *probing)))
        print("    ),")
    print("}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--probe"]:
        print(json.dumps(probe(*sys.argv[2:])))
    else:
        main()
