"""The in-process format for lit: which RUN lines it takes, and what comes of them."""

import subprocess
import sys
from pathlib import Path

import pytest

from transom.tools.lit_format import Command, pipelines_of, run, run_all

SUBSTITUTIONS = [("%twice", "transom-opt %s | transom-opt"), ("%s", "/a b.mlir")]


def commands(*args: str, inverted: bool = False, merges: bool = False) -> Command:
    return Command(args, inverted, merges)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("// RUN: transom-opt -p cse", [[commands("transom-opt", "-p", "cse")]]),
        (
            "// RUN: transom-opt -p 'a{x=1 y=[2]},b' | filecheck f --check-prefix=A",
            [
                [
                    commands("transom-opt", "-p", "a{x=1 y=[2]},b"),
                    commands("filecheck", "f", "--check-prefix=A"),
                ]
            ],
        ),
        (
            "// RUN: not transom-opt x 2>&1 | filecheck f",
            [
                [
                    commands("transom-opt", "x", inverted=True, merges=True),
                    commands("filecheck", "f"),
                ]
            ],
        ),
        (
            "// RUN: transom-opt \\\n// RUN:   x\n// RUN: filecheck f",
            [[commands("transom-opt", "x")], [commands("filecheck", "f")]],
        ),
        (
            "// RUN: %twice -p a",
            [
                [
                    commands("transom-opt", "/a", "b.mlir"),
                    commands("transom-opt", "-p", "a"),
                ]
            ],
        ),
    ],
)
def test_takes(text: str, expected: list[list[Command]]) -> None:
    assert pipelines_of(text, SUBSTITUTIONS) == expected


@pytest.mark.parametrize(
    "text",
    [
        "no line to run",
        "// RUN: transom-run x",
        "// RUN: transom-opt x > y",
        "// RUN: transom-opt x 2>/dev/null",
        "// RUN: transom-opt x && transom-opt y",
        "// RUN: transom-opt %t",
        "// RUN: A=1 transom-opt x",
        "// RUN: transom-opt 'x",
        "// RUN: transom-opt x\n// RUN: cat y",
        "// REQUIRES: linux\n// RUN: transom-opt x",
        "// RUN: transom-opt x | ",
    ],
)
def test_leaves_to_the_shell(text: str) -> None:
    assert pipelines_of(text, SUBSTITUTIONS) is None


def test_runs_a_pipeline(tmp_path: Path) -> None:
    checks = tmp_path / "checks"
    checks.write_text("// CHECK: builtin.module\n")
    good = [commands("transom-opt"), commands("filecheck", str(checks))]
    assert run_all([good]) is None
    bad = [commands("transom-opt", "none.mlir"), commands("filecheck", str(checks))]
    failure = run_all([good, bad])
    assert failure is not None
    assert "$ transom-opt none.mlir\ntransom-opt: error: none.mlir: No such" in failure
    assert "'<stdin>' is empty" in failure


def test_status_and_streams() -> None:
    wrong = (
        "transom-opt: error: unknown pass 'csee'; did you mean 'cse'?\n  csee\n  ^\n"
    )
    assert run(commands("transom-opt", "-p", "csee"), b"") == (2, "", wrong)
    assert run(commands("transom-opt", "-p", "csee", inverted=True), b"")[0] == 0
    assert run(commands("transom-opt", "-p", "csee", merges=True), b"")[1] == wrong
    assert run(commands("transom-opt", inverted=True), b"")[0] == 1


@pytest.mark.parametrize("shell", ["", "1"])
def test_lit_agrees_with_its_shell(
    tmp_path: Path, shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSOM_LIT_SHELL", shell)
    (tmp_path / "lit.cfg.py").write_text(
        "from transom.tools.lit_format import configure\n"
        "config.name = 'x'\n"
        "configure(config, __file__)\n"
    )
    for name, check in (("good", "@f"), ("bad", "@g")):
        (tmp_path / f"{name}.mlir").write_text(
            f"// RUN: %roundtrip | filecheck %s\n// CHECK: {check}\n"
            "func.func private @f()\n"
        )
    done = subprocess.run(
        [Path(sys.executable).parent / "lit", "-v", "-j1", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "PASS: x :: good.mlir" in done.stdout
    assert "FAIL: x :: bad.mlir" in done.stdout
    assert "Couldn't match" in done.stdout
