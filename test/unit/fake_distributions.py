"""
Distributions for tests of plug-ins: in a folder that goes on the path, or made up.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from pathlib import Path

from transom.dialects.plugins import Plugin

Groups = Mapping[str, Mapping[str, str]]
"""Entry points: `module:object` by name, by group."""


def install(
    folder: Path,
    name: str,
    groups: Groups,
    modules: Mapping[str, str] | None = None,
    version: str = "1.0",
) -> None:
    """Put a distribution into a folder, as an installer would."""
    metadata = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    )
    lines: list[str] = []
    for group, entries in groups.items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    for module, code in (modules or {}).items():
        file = folder / f"{module.replace('.', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(code)


def run_python(
    folder: Path, *args: str | Path, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run Python with the distributions of a folder, and what is on the path here."""
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    return subprocess.run(
        [sys.executable, *args],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path, **environment},
    )


def plugin(
    group: str, name: str, value: str, distribution: str = "woofles-dist"
) -> Plugin:
    """A plug-in of a distribution that is not there."""
    entry = EntryPoint(name, value, group)
    return Plugin(group, name, value, distribution, "1.0", entry)
