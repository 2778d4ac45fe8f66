"""
The figures of a run as JSON, with the machine and the versions that they hold for.
"""

import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.cases import Case
from benchmarks.compilation import Compilation
from benchmarks.measurement import ROOT, Timing
from benchmarks.peers import CANDIDATES, installed
from transom.targets.llvm_cpu.dialect import HOST, LlvmCpuAttr
from transom.targets.llvm_cpu.facts import cpu_facts
from transom.targets.llvm_cpu.host import resolved

FORMAT = 1


def record_of(
    case: Case, threads: int, timings: Mapping[str, Timing]
) -> dict[str, Any]:
    """What was found of a case."""
    medians = {name: timing.median for name, timing in timings.items()}
    own = medians.get("transom")
    return {
        "case": case.name,
        "group": case.group,
        "flops": case.flops,
        "threads": threads,
        "candidates": {
            name: {
                "seconds": timing.median,
                "spread": timing.spread,
                "error": timing.error,
                **({"failure": timing.failure} if timing.failure else {}),
            }
            for name, timing in timings.items()
        },
        "ratios": {
            name: own / seconds
            for name, seconds in medians.items()
            if name != "transom" and own is not None and seconds is not None
        },
    }


def record_of_compilations(
    case: Case, made: Mapping[str, Compilation], size: int
) -> dict[str, Any]:
    """What it cost to compile a case."""
    return {
        "case": case.name,
        "group": case.group,
        "model_bytes": size,
        "compilations": {name: one._asdict() for name, one in made.items()},
    }


def data_of(
    records: Sequence[Mapping[str, Any]], names: Sequence[str], note: str
) -> dict[str, Any]:
    """
    All figures of a run, with what they hold for: the versions of the candidates with
    some names, and of those that earlier records are of.
    """
    found = installed()
    parts = ("candidates", "compilations")
    used = {name for r in records for part in parts for name in r.get(part, ())}
    # A candidate that is another one in another way has its version.
    packages = {
        CANDIDATES[name].packages[0]: name
        for name in reversed(found)
        if name in used.union(names)
    }
    versions = {n: v for n, v in found.items() if n in packages.values()}
    return {
        "format": FORMAT,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(),
        "machine": machine(),
        "versions": {"python": platform.python_version(), **versions},
        "note": note,
        "records": list(records),
    }


class OtherCommit(Exception):
    """Figures of another commit are in a file."""


def merged(
    earlier: Sequence[Mapping[str, Any]], records: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Records, and the earlier ones of what was not measured again."""
    again = {_key(record) for record in records}
    kept = [record for record in earlier if _key(record) not in again]
    return [*kept, *records]


def _key(record: Mapping[str, Any]) -> tuple[str, int | None]:
    """The case, and on how many threads it ran; None for its compilations."""
    return record["case"], record.get("threads")


def earlier_records(path: Path) -> list[Mapping[str, Any]]:
    """
    The records of a file, if there is one. Raises `OtherCommit` if they are of another
    commit than the tree's.
    """
    if not path.exists():
        return []
    data = json.loads(path.read_text())
    if data["commit"] != commit():
        raise OtherCommit(
            f"'{path}' has figures of commit {data['commit']}, but this is {commit()}"
        )
    return data["records"]


def write_whole(path: Path, text: str) -> None:
    """Write a file, whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(text)
    part.replace(path)


def commit() -> str:
    """The commit that was measured, marked if the tree differs from it."""
    described = subprocess.run(
        ["git", "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return described.stdout.strip() or "unknown"


def machine() -> dict[str, Any]:
    """What the times depend on."""
    target = resolved(LlvmCpuAttr.get(HOST))
    facts = cpu_facts(target)
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "cpu": target.cpu.data,
        "vector_bytes": facts.vector_bytes,
        "l1_bytes": facts.l1_bytes,
        "l2_bytes": facts.l2_bytes,
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 2),
    }


def processor() -> str:
    """The name of the processor."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    names = (
        line.partition(":")[2] for line in text.splitlines() if "model name" in line
    )
    return next(names, platform.processor()).strip()
