"""
The files of `docs/testing.md` can be made, and its commands print what it says.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands_in(text: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a console, with the lines that they print."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output.splitlines()


def agrees(expected: list[str], printed: list[str]) -> bool:
    """Whether lines are as expected; `…` stands for anything, alone for any lines."""
    lines = [".*".join(map(re.escape, line.split("…"))) for line in expected]
    pattern = "".join(
        "(?:.*\n)*?" if line.strip() == "…" else f"{regex} *\n"
        for line, regex in zip(expected, lines, strict=True)
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


def test_the_page(tmp_path: Path) -> None:
    scripts = str(Path(sys.executable).parent)
    env = {**os.environ, "PATH": scripts + os.pathsep + os.environ["PATH"]}
    output = ""
    count = 0
    for kind, name, text in FENCE.findall(PAGE.read_text()):
        if name:
            (tmp_path / name).write_text(text)
        elif kind == "python":
            done = subprocess.run(
                [sys.executable, "-c", text],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=True,
            )
            output = done.stdout
        elif kind == "text" and output:
            assert output == text
        for command, expected in commands_in(text) if kind == "console" else ():
            done = subprocess.run(
                command,
                shell=True,
                cwd=tmp_path,
                env=env,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            printed = done.stdout.splitlines()
            assert agrees(expected, printed), f"$ {command}\n{done.stdout}"
            count += 1
    assert count == 13
