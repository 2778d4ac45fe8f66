"""The examples of `docs/transom-opt.md` are what the program prints."""

import argparse
import re
import shlex
from pathlib import Path

import pytest
from test_debugging_doc import commands, matches

from transom.tools import opt_arguments, transom_opt
from transom.tools.opt_arguments import Names
from transom.tools.program_arguments import flags_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "transom-opt.md").read_text()
FILES = re.findall(r"```mlir (\S+)\n(.*?)```", PAGE, re.DOTALL)
SESSIONS: list[str] = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(
    "session", SESSIONS, ids=lambda session: session.split("\n")[0][2:60]
)
def test_session(
    session: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    status = 0
    for command, expected in commands(session):
        program, *args = shlex.split(command)
        if program == "echo":
            assert (args, expected) == (["$?"], [str(status)])
            continue
        assert program == "transom-opt"
        status = transom_opt.main(args)
        captured = capsys.readouterr()
        printed = captured.err + captured.out
        assert matches(expected, printed.splitlines()), f"{command}\n{printed}"


def test_every_flag_is_explained() -> None:
    """Here or on the page about debugging."""
    names = Names(("cse",), ("mlir",), ("mlir",), ("graph",))
    flags = flags_of(opt_arguments.add_arguments(argparse.ArgumentParser(), names, ""))
    pages = PAGE + (ROOT / "docs" / "debugging.md").read_text()
    known = {
        "-h",
        "--help",
        "-v",
        "--version",
        "--frontend",
        "--output-file",
        "--target",
        "--elide-elementsattrs-if-larger",
        # Of xdsl-opt: the same as another, or of no use here.
        "--parsing-diagnostics",
        "--print-between-passes",
        "--print-local-scope",
        "--print-no-properties",
        "--shrink",
        "--syntax-highlight",
        "--time-passes",
        "--pass-statistics-display",
        "--strict-plugins",
    }
    assert [f for f in flags if f not in pages and f not in known] == []


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([\w./-]+)\)", PAGE):
        assert (ROOT / "docs" / target).exists()
    assert "docs/transom-opt.md" in (ROOT / "README.md").read_text()
