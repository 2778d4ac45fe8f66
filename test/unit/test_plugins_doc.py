"""The commands of docs/plugins.md run, and print what the page says."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from fake_distributions import install

from transom.targets.hooks import API_VERSION
from transom.testing import RULES

PAGE = Path(__file__).parents[2] / "docs" / "plugins.md"
FENCE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAMS = {
    "transom": "transom.tools.transom_main",
    "transom-opt": "transom.tools.transom_opt",
}


def sessions() -> list[tuple[str, str]]:
    """The commands of the page, in order, each with what is printed."""
    found: list[tuple[str, str]] = []
    for fence in FENCE.findall(PAGE.read_text()):
        for line in fence.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], ""))
            elif line.startswith("> "):
                command, printed = found[-1]
                found[-1] = (f"{command}\n{line[2:]}", printed)
            else:
                command, printed = found[-1]
                found[-1] = (command, f"{printed}{line}\n")
    return found


def test_the_page(tmp_path: Path) -> None:
    programs, site, work = (tmp_path / name for name in ("bin", "site", "work"))
    for folder in (programs, site, work):
        folder.mkdir()
    for name, module in PROGRAMS.items():
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        program.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(map(str, (site, work / "woofles"))),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    for command, printed in sessions():
        if command.startswith("pip install -e ./"):
            project = work / command.partition("./")[2]
            tables = tomllib.loads((project / "pyproject.toml").read_text())["project"]
            install(site, tables["name"], tables["entry-points"], None, "0.1")
            continue
        if command.startswith("export "):
            name, _, value = command.removeprefix("export ").partition("=")
            environment[name] = value
            continue
        done = subprocess.run(
            command,
            shell=True,
            capture_output=True,
            text=True,
            check=False,
            cwd=work,
            env=environment,
        )
        assert done.stdout + done.stderr == printed, command


def test_the_table_of_rules() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    assert [row for row in rows if row[0] in RULES] == list(RULES.items())


def test_the_version() -> None:
    assert f"    api_version = {API_VERSION}\n" in PAGE.read_text()
