"""`transom-opt`: what it lists about itself."""

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import transom
from transom.registry import REPLACED_DIALECTS, Registry, own_universe, registry
from transom.tools import listings, transom_opt

Capture = pytest.CaptureFixture[str]


def printed(capsys: Capture, *args: str) -> str:
    assert transom_opt.main(args) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_version(capsys: Capture) -> None:
    expected = f"transom-opt {transom.__version__} on xdsl {version('xdsl')}\n"
    assert printed(capsys, "--version") == printed(capsys, "-v") == expected


def test_help_is_in_groups(capsys: Capture) -> None:
    text = printed(capsys, "--help")
    titles = re.findall(r"^(\S.*):$", text, re.MULTILINE)
    assert titles[:5] == ["options", "input", "output", "passes and phases", "checks"]
    assert {"diagnostics", "printing", "watching passes"} <= set(titles)
    assert "\n  --split-input-file[=MARKER]\n" in text
    assert "lower to a phase: graph, placed, partitioned, tensor," in text
    assert "convert-scf-to-cf" not in text  # names of passes are listed elsewhere
    assert all(len(line) <= 90 for line in text.splitlines())


def test_every_flag_is_explained(capsys: Capture) -> None:
    text = printed(capsys, "--help")
    entries = re.split(r"^  (?=\S)", text.partition("\n\n")[2], flags=re.MULTILINE)
    for entry in entries:
        if entry.startswith("-"):
            assert re.search(r"\s{2,}\S", entry), entry


def test_help_loads_no_dialect_of_a_level() -> None:
    """So that it takes little longer than that of `xdsl-opt`."""
    code = (
        "import sys; from transom.tools import transom_opt; transom_opt.main(['-h']); "
        "print([m for m in sys.modules if m.startswith('transom.dialects.')], "
        "file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    for level in ("graph", "tir", "executor", "llvm"):
        assert f"'transom.dialects.{level}'" not in done.stderr
    assert "'transom.dialects.parser'" in done.stderr


def test_phases(capsys: Capture) -> None:
    text = printed(capsys, "--show-phases")
    assert "tensor       kernels are tir functions" in text


def test_passes_by_origin(capsys: Capture) -> None:
    text = printed(capsys, "--list-passes")
    ours, _, xdsls = text.partition("passes of xdsl\n")
    assert ours.startswith("passes of transom\n  cmsis-nn-select-ops: Turn quantised")
    assert "\n      vector-bytes: an integer (default: 32)\n" in ours
    assert "\n      phase: a string\n" in ours
    assert "\n  canonicalize: Applies all canonicalization patterns.\n" in xdsls
    assert "\n  canonicalize-dmp\n" in xdsls


def test_a_pass_that_cannot_be_loaded() -> None:
    def broken() -> type:
        raise ImportError("no module named 'x'")

    fresh = Registry()
    fresh.passes.register("p", broken)
    fresh.owners["pass", "p"] = "woofles"
    assert listings.passes(fresh) == (
        "passes of woofles\n  p: cannot be loaded: ImportError: no module named 'x'\n"
    )


def test_dialects_by_origin(capsys: Capture) -> None:
    text = printed(capsys, "--show-dialects")
    ours, _, xdsls = text.partition("dialects of xdsl\n")
    assert ours.startswith("dialects of transom\n")
    assert "\n  graph\n" in ours
    for name in REPLACED_DIALECTS:
        assert f"  {name}, in the form of transom\n" in xdsls


def test_plugins_come_between_ours_and_xdsls() -> None:
    fresh = Registry()
    fresh.add(own_universe(), "transom")
    fresh.owners.update({("dialect", "woof"): "woofles", ("dialect", "a"): "xdsl"})
    titles = re.findall(r"^dialects of (.*)$", listings.dialects(fresh), re.MULTILINE)
    assert titles == ["transom", "woofles", "xdsl"]


@pytest.mark.parametrize(
    ("line", "last", "expected"),
    [
        ("--to p", 2, {"placed", "partitioned", "planned"}),
        ("--canon", 1, {"--canonicalize", "--canonicalize-dmp"}),
        ("-t ll", 2, {"llvm", "llvm-ir"}),
        ("--verify-d", 1, {"--verify-diagnostics"}),
    ],
)
def test_completion_in_bash(
    capsys: Capture, tmp_path: Path, line: str, last: int, expected: set[str]
) -> None:
    script = tmp_path / "completion.bash"
    script.write_text(printed(capsys, "--print-completion", "bash"))
    done = subprocess.run(
        [
            "bash",
            "-c",
            f"source {script}; COMP_WORDS=(transom-opt {line}); COMP_CWORD={last}; "
            '_shtab_transom_opt; echo "${COMPREPLY[@]}"',
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()) == expected


def test_completion_in_zsh(capsys: Capture) -> None:
    text = printed(capsys, "--print-completion=zsh")
    assert text.startswith("#compdef transom-opt\n")
    for name in registry().passes:
        assert f"--{name}[run this pass]" in text


def test_completion_in_another_shell(capsys: Capture) -> None:
    assert transom_opt.main(["--print-completion", "fish"]) == 2
    assert capsys.readouterr().err == (
        "transom-opt: error: argument --print-completion: unknown shell 'fish'; "
        "expected one of 'bash', 'tcsh', 'zsh'\n"
    )
