"""
The format for lit: what it runs without processes, and that lit's shell agrees.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lit.ShUtil import ShParser  # pyright: ignore

from transom.tools.in_process.pipelines import Pipelines, Words, words_of

SCRIPTS = Path(sys.executable).parent


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a b", Words(("a", "b"), (), (), False)),
        ("not a", Words(("a",), (), ("not",), False)),
        ("! not a", Words(("a",), (), ("!", "not"), False)),
        ("not --crash a --crash", Words(("a", "--crash"), (), ("not",), True)),
        (
            "env A=1 -u B C=2 not a D=3",
            Words(("a", "D=3"), (("env", "A=1", "-u", "B", "C=2"),), ("not",), False),
        ),
        ("not", Words((), (), ("not",), False)),
        ("env A=1", Words((), (("env", "A=1"),), (), False)),
    ],
)
def test_words(line: str, expected: Words) -> None:
    assert words_of(line.split()) == expected


@pytest.mark.parametrize(
    ("words", "statuses"),
    [
        ("a", [0, 1, -6]),
        ("not a", [1, 0, 1]),  # a crash is not what was wanted
        ("! a", [1, 0, 0]),
        ("not not a", [0, 1, 1]),
        ("not --crash a", [1, 1, 0]),
    ],
)
def test_inverted_statuses(words: str, statuses: list[int]) -> None:
    assert [words_of(words.split()).status(s) for s in (0, 1, -6)] == statuses


@pytest.mark.parametrize(
    ("line", "takes"),
    [
        ("known a", True),
        ("known a | other | known > x", True),
        ("env A=1 not known 2>&1", True),
        ("other", False),
        ("other | known", True),
        ("known | cd x", False),  # lit says why this is wrong
        ("env A=1", False),
        ("not", False),
    ],
)
def test_takes(line: str, takes: bool) -> None:
    shenv = SimpleNamespace(ulimit={}, umask=-1)
    pipelines = Pipelines({"known": "x:y"})
    pipeline: Any = ShParser(line).parse()
    assert pipelines.takes(pipeline, shenv) is takes
    # Limits of resources are for processes.
    assert not pipelines.takes(pipeline, SimpleNamespace(ulimit={"x": 1}, umask=-1))
    assert not pipelines.takes(pipeline, SimpleNamespace(ulimit={}, umask=0o77))


CONFIG = """
from transom.tools.lit_format import configure
config.name = 'x'
configure(config, __file__{options})
config.environment["PYTHONPATH"] = {folder!r}
config.available_features = ["here"]
"""

IR = """
func.func private @f()
func.func private @g(i32)
"""

TESTS = {
    "pipe": "RUN: transom-opt %s | filecheck %s\n// CHECK: @f",
    "wrong": "RUN: transom-opt %s | filecheck %s\n// CHECK: @h",
    "not": "RUN: not transom-opt %s --nil 2>&1 | filecheck %s\n"
    "// CHECK: transom-opt: error: ",
    "not-wrong": "RUN: not transom-opt %s",
    "files": "RUN: transom-opt %s -o %t.out && cat %t.out %t.out > %t.all\n"
    "// RUN: transom-opt %s > %t.err 2>&1 && transom-opt %s >> %t.err\n"
    "// RUN: diff %t.all %t.err && filecheck %s < %t.err\n"
    "// CHECK-COUNT-2: @f",
    "differs": "RUN: echo -e 'a\\nb' > %t && transom-opt %s | diff %t -",
    "folder": "RUN: mkdir -p %t.d && cd %t.d && transom-opt %s > here\n"
    "// RUN: cd %t.d && cat here | filecheck %s\n// CHECK: @f",
    "grep": "RUN: transom-opt %s | grep @f | filecheck %s --implicit-check-not=@g\n"
    "// CHECK: @f",
    "error-only": "RUN: transom-opt %s -p nil 2>&1 >/dev/null | filecheck %s; true\n"
    "// CHECK: unknown pass 'nil'",
    "no-program": "RUN: transom-opt %s | no-such-program",
    "variable": "RUN: env FILECHECK_OPTS=--check-prefix=A filecheck %s < %s\n"
    "// RUN: not filecheck %s < %s\n// A: @f",
    "expected-failure": "XFAIL: *\n// RUN: transom-opt %s --nil",
    "unsupported": "REQUIRES: elsewhere\n// RUN: transom-opt %s --nil",
    "conditional": "RUN: %if here %{ transom-opt %s %} %else %{ false %}",
    "defined": "DEFINE: %{opt} = transom-opt %s\n// RUN: %{opt} | filecheck %s\n"
    "// CHECK: @f",
    "roundtrip": "RUN: %roundtrip | filecheck %s\n// CHECK: @f",
    "glob": "RUN: cat %S/pip?.mlir | filecheck %s\n// CHECK: func.func private @f",
    "no-run": "",
}
PASSING = {
    "pipe",
    "not",
    "files",
    "folder",
    "grep",
    "error-only",
    "variable",
    "conditional",
    "defined",
    "roundtrip",
    "glob",
}


def write_suite(folder: Path, tests: dict[str, str], options: str = "") -> None:
    config = CONFIG.format(folder=str(folder), options=options)
    (folder / "lit.cfg.py").write_text(config)
    for name, text in tests.items():
        (folder / f"{name}.mlir").write_text(f"// {text}\n{IR}")


def lit(folder: Path, *args: str, **env: str) -> str:
    done = subprocess.run(
        [SCRIPTS / "lit", "-v", "-j2", "--no-progress-bar", *args, folder],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **env},
    )
    return done.stdout + done.stderr


def results(output: str) -> dict[str, str]:
    """Code of each test by its name."""
    found = re.findall(r"^([A-Z]+): x :: ([\w-]+)\.mlir", output, re.MULTILINE)
    return {name: code for code, name in found}


def reports(output: str) -> dict[str, list[str]]:
    """What is said about each test that fails, without what differs by its nature."""
    parts = re.split(r"^\*+ TEST 'x :: ([\w-]+)\.mlir' FAILED \*+$", output, flags=re.M)
    found: dict[str, list[str]] = {}
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        text = text.split("\n****")[0].replace("transom-filecheck", "filecheck")
        found[name] = [line for line in text.split("\n") if line.strip()]
    return found


def test_runs_what_shells_run(tmp_path: Path) -> None:
    write_suite(tmp_path, TESTS)
    output = lit(tmp_path)
    assert {n for n, c in results(output).items() if c == "PASS"} == PASSING
    codes = {results(output)[name] for name in ("expected-failure", "unsupported")}
    assert codes == {"XFAIL", "UNSUPPORTED"}
    assert results(output)["no-run"] == "UNRESOLVED"


def test_agrees_with_the_shell(tmp_path: Path) -> None:
    names = ("wrong", "differs", "no-program", "variable")
    write_suite(tmp_path, {name: TESTS[name] for name in names})
    output = lit(tmp_path)
    shell = lit(tmp_path, TRANSOM_LIT_SHELL="1")
    assert results(output) == results(shell)
    assert reports(output) == reports(shell)
    assert set(reports(output)) == {"wrong", "differs", "no-program"}


PROGRAM = """
import os, sys

def main():
    match sys.argv[1:]:
        case ["hang"]:
            while True:
                pass
        case ["crash"]:
            os.abort()
        case _:
            print(os.getpid())
"""


def install_program(folder: Path) -> None:
    """Make `my-program` a console script."""
    (folder / "lit_format_program.py").write_text(PROGRAM)
    (folder / "x-1.dist-info").mkdir()
    (folder / "x-1.dist-info" / "METADATA").write_text("Name: x\nVersion: 1\n")
    (folder / "x-1.dist-info" / "entry_points.txt").write_text(
        "[console_scripts]\nmy-program = lit_format_program:main\n"
    )


def test_no_process_per_line(tmp_path: Path) -> None:
    """The process of a program is that of the one before."""
    install_program(tmp_path)
    write_suite(
        tmp_path,
        {"same": "RUN: my-program > %t.a\n// RUN: my-program > %t.b && diff %t.a %t.b"},
        ', programs=["my-program"]',
    )
    output = lit(tmp_path, PYTHONPATH=str(tmp_path))
    assert results(output) == {"same": "PASS"}, output


def test_crashes(tmp_path: Path) -> None:
    """A program that takes the process down fails its test, and no other."""
    install_program(tmp_path)
    write_suite(
        tmp_path,
        {
            "a": "RUN: my-program crash",
            "b": "RUN: not --crash my-program crash && my-program",
            "c": "RUN: not my-program crash",
            "d": "RUN: my-program",
        },
        ', programs=["my-program"]',
    )
    output = lit(tmp_path, "-j1", PYTHONPATH=str(tmp_path))
    assert results(output) == {"a": "FAIL", "b": "PASS", "c": "FAIL", "d": "PASS"}
    assert "# error: command failed with exit status: -6\n" in output
    assert "# | Fatal Python error: Aborted\n" in output
    assert re.search(r"# \|   File .*lit_format_program.py\", line \d+ in main", output)


def test_output_on_failure(tmp_path: Path) -> None:
    write_suite(tmp_path, {"wrong": TESTS["wrong"]})
    lines = [line.rstrip() for line in lit(tmp_path).split("\n")]
    path = tmp_path / "wrong.mlir"
    expected = f"""\
# executed command: transom-opt {path}
# executed command: filecheck {path}
# .---command stderr------------
# | {path}:2:11: error: CHECK: expected string not found in input
# | // CHECK: @h
# |           ^
# | <stdin>:1:1: note: scanning from here
# | builtin.module {{
# | ^
# |
# | Input file: <stdin>
# | Check file: {path}
# |
# | Input was:
# | <<<<<<
# |         1: builtin.module {{
# | check:2    X error: no match found
# |         2:  func.func private @f() -> ()
# |         3:  func.func private @g(i32) -> ()
# |         4: }}
# | >>>>>>
# `-----------------------------
# error: command failed with exit status: 1
"""
    assert expected in "\n".join(lines)


def test_timeout(tmp_path: Path) -> None:
    """A test is stopped, says where it was, and the next one runs."""
    install_program(tmp_path)
    write_suite(
        tmp_path,
        {
            "a": "RUN: sleep 30 | transom-opt %s",
            "b": "RUN: my-program hang | my-program > %t.after",
            "c": "RUN: transom-opt %s | filecheck %s\n// CHECK: @f",
        },
        ', timeout=3, programs=["my-program"]',
    )
    output = lit(tmp_path, "-j1", PYTHONPATH=str(tmp_path))
    assert results(output) == {"a": "TIMEOUT", "b": "TIMEOUT", "c": "PASS"}
    assert output.count("Timeout: Reached timeout of 3 seconds") == 2
    assert not (tmp_path / "Output" / "b.mlir.tmp.after").exists()
    assert re.search(r"# \|   File .*lit_format_program.py\", line \d+ in main", output)


def test_checks_that_nobody_looks_at(tmp_path: Path) -> None:
    tests = {"a": "RUN: transom-opt %s | filecheck %s\n// CHECK: @f\n// CHEKC: @h"}
    write_suite(tmp_path, tests)
    output = lit(tmp_path)
    assert results(output) == {"a": "FAIL"}
    assert (
        f"{tmp_path / 'a.mlir'}:3:4: error: unknown prefix 'CHEKC'; "
        "did you mean 'CHECK:'?\n// CHEKC: @h\n   ^\n" in output
    )
    write_suite(tmp_path, tests, ", lint=False")
    assert results(lit(tmp_path)) == {"a": "PASS"}
