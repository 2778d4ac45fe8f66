"""
The examples of `docs/debugging.md` are what the programs print.

`…` stands for anything in a line, and on a line of its own for any lines.
"""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from opt_cases import Opt

from transom.tools.observer_arguments import (
    add_numbers,
    add_printing,
    add_reports,
    add_reproducers,
    add_watching,
)

PAGE = (Path(__file__).parents[2] / "docs" / "debugging.md").read_text()
FILES = re.findall(r"```(?:mlir|python) (\S+)\n(.*?)```", PAGE, re.DOTALL)
SESSIONS: list[str] = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)


def commands(session: str) -> list[tuple[str, list[str]]]:
    """The commands of a session with the lines that they print."""
    found: list[tuple[str, list[str]]] = []
    for line in session.splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        else:
            found[-1][1].append(line)
    return found


def matches(expected: list[str], printed: list[str]) -> bool:
    """Whether lines are what a listing says, from the first to the last."""
    if not expected:
        return not any(line.strip() for line in printed)
    first, *rest = expected
    if first.strip() == "…":
        return any(matches(rest, printed[n:]) for n in range(len(printed) + 1))
    if not printed:
        return False
    pattern = ".*".join(re.escape(part) for part in first.rstrip().split("…"))
    return re.fullmatch(pattern, printed[0].rstrip()) is not None and matches(
        rest, printed[1:]
    )


@pytest.fixture
def opt(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Opt:
    opt = Opt(tmp_path, capsys, monkeypatch)
    scope: dict[str, Any] = {"__name__": "swap_sub"}
    for name, text in FILES:
        if name.endswith(".py"):
            exec(compile(text, name, "exec"), scope)
        else:
            Path(name).write_text(text)
    opt.register(scope["SwapSubPass"])
    return opt


@pytest.mark.parametrize(
    "session", SESSIONS, ids=lambda session: session.split("\n")[0][2:60]
)
def test_session(opt: Opt, session: str) -> None:
    for command, expected in commands(session):
        program, *args = shlex.split(command)
        if program == "cat":
            printed = Path(args[0]).read_text()
        else:
            assert program == "transom-opt"
            result = opt.on(*args)
            assert "unknown option" not in result.err
            printed = result.err + result.out
        assert matches(expected, printed.splitlines()), f"{command}\n{printed}"


def test_every_flag_is_explained() -> None:
    flags: list[str] = []

    def add(*options: str, **rest: Any) -> Any:
        flags.append(options[0])

    for group in (
        add_numbers,
        add_printing,
        add_reports,
        add_reproducers,
        add_watching,
    ):
        group(add)
    known = {
        "--print-between-passes",  # of xdsl-opt, each the same as another
        "--print-local-scope",
        "--print-no-properties",
        "--shrink",
        "--syntax-highlight",
        "--time-passes",
        "--pass-statistics-display",
    }
    missing = [flag for flag in flags if flag not in PAGE and flag not in known]
    assert missing == []
