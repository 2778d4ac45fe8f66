"""
`transom-reduce`: what it does, what it writes and when, and what it says.
"""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from time import perf_counter

import pytest
from reduction_cases import scalar_program

from transom.tools.transom_reduce import main

SCRIPT = Path(sys.executable).parent / "transom-reduce"

SMALL = """\
func.func @f(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  %c = arith.muli %b, %b : i32
  func.return %c : i32
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "in.mlir"
    path.write_text(SMALL)
    return path


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("seed", range(2))
def test_a_failure_of_200_ops(seed: int, tmp_path: Path) -> None:
    path, out = tmp_path / "in.mlir", tmp_path / "out.mlir"
    path.write_text(scalar_program(200, seed))
    start = perf_counter()
    args = [str(path), "--pipeline", "lower-scf-to-cf,convert-to-llvm", "--fails"]
    assert main([*args, "-o", str(out), "-q"]) == 0
    assert perf_counter() - start < 30  # 2 s on a machine that does nothing else
    assert re.sub("@f[0-9]+", "@f", out.read_text()) == (
        "builtin.module {\n"
        "  func.func @f(%0: i32) {\n"
        "    %1 = math.ipowi %0, %0 : i32\n"
        "    func.return\n"
        "  }\n"
        "}\n"
    )
    assert files_in(tmp_path) == ["in.mlir", "out.mlir"]


ONE_PRODUCT = """\
builtin.module {
  func.func @f(%0: i32) {
    %1 = arith.muli %0, %0 : i32
    func.return
  }
}
"""
NOTHING = "builtin.module {\n}\n"


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("transom-opt %s", "--expect-stdout", r"arith\.muli"), ONE_PRODUCT),
        (("grep -q arith.muli",), ONE_PRODUCT),
        (("grep -q muli %s && kill -ABRT $$", "--expect-status", "-6"), ONE_PRODUCT),
        (("not transom-opt -p nil", "--expect-stderr", "unknown pass"), NOTHING),
        (("exit 3", "--expect-status", "3"), NOTHING),
    ],
)
def test_check(
    args: tuple[str, ...],
    expected: str,
    file: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([str(file), "--check", *args]) == 0
    output = capsys.readouterr()
    assert output.out == expected
    assert output.err.startswith("transom-reduce: 4 ops to ")
    assert files_in(file.parent) == ["in.mlir"]


def test_other_failures_do_not_count(file: Path) -> None:
    """A smaller module fails in another way, and is not taken."""
    out = file.parent / "out.mlir"
    check = (
        "grep -q muli %s || { echo 'error: no product' >&2; exit 1; }; "
        "echo 'error: a product' >&2; exit 1"
    )
    assert main([str(file), "--check", check, "--fails", "-q", "-o", str(out)]) == 0
    assert "muli" in out.read_text()


def test_files_beside_the_module_are_found(file: Path) -> None:
    (file.parent / "other.txt").write_text("x")
    out = file.parent / "out.mlir"
    check = "test -e $(dirname %s)/other.txt"
    assert main([str(file), "--check", check, "-q", "-o", str(out)]) == 0
    assert out.read_text() == "builtin.module {\n}\n"


def test_limits(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(file), "--check", "true", "--max-steps", "1"]) == 0
    err = capsys.readouterr().err
    assert err.startswith("transom-reduce: 4 ops to 4 in 1 steps, ")
    assert err.endswith(" s, stopped by a limit\n")
    assert main([str(file), "--check", "true", "--max-seconds", "0"]) == 0
    assert "in 0 steps" in capsys.readouterr().err


def test_forms(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text('"test.op"() {a} : () -> ()\n"nil.op"() {b} : () -> ()\n')
    args = ["--check", "grep -q nil.op %s", "--allow-unregistered-dialect"]
    assert main([str(file), *args, "--print-op-generic", "-v"]) == 0
    output = capsys.readouterr()
    assert output.out == (
        '"builtin.module"() ({\n  "nil.op"() : () -> ()\n}) : () -> ()\n'
    )
    assert "transom-reduce: 1 ops\n" in output.err


def test_standard_input(file: Path) -> None:
    done = subprocess.run(
        [SCRIPT, "-", "--check", "grep -q muli", "-q"],
        input=SMALL,
        capture_output=True,
        text=True,
        check=True,
        cwd=file.parent,
    )
    assert "muli" in done.stdout
    assert done.stderr == ""


NOT_INTERESTING: dict[tuple[str, ...], str] = {
    ("--check", "transom-opt -p nil"): (
        "expected the command to end with status 0 on this module, but it ends with 2: "
        "transom-opt: error: unknown pass 'nil'"
    ),
    ("--check", "true", "--expect-status", "3"): (
        "expected the command to end with status 3 on this module, but it ends with 0"
    ),
    ("--pipeline", "cse", "--fails"): (
        "expected the command to fail on this module, but it ends with status 0"
    ),
    ("--check", "echo a", "--expect-stdout", "^b"): (
        "expected '^b' in the output of the command on this module"
    ),
    ("--check", "echo a", "--expect-stderr", "a"): (
        "expected 'a' in the errors of the command on this module"
    ),
    ("--check", "sleep 9; true", "--check-seconds", "0.1"): (
        "the command takes longer than 0.1 s on this module"
    ),
}


@pytest.mark.parametrize("args", NOT_INTERESTING)
def test_not_interesting(
    args: tuple[str, ...], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(file), *args]) == 1
    first = capsys.readouterr().err.split("\n")[0]
    assert first == f"{file}:1:1: error: {NOT_INTERESTING[args]}"
    assert files_in(file.parent) == ["in.mlir"]


COMMAND_LINES: dict[tuple[str, ...], str] = {
    (): "expected one of '--check' and '--pipeline'",
    ("--check", "a", "--pipeline", "b"): "expected one of '--check' and '--pipeline'",
    ("--pipeline", "cse"): (
        "expected '--fails' or one of '--expect-status', '--expect-stdout' and "
        "'--expect-stderr' with '--pipeline'"
    ),
    ("--check", "a", "--max-steps", "0"): (
        "argument --max-steps: expected a number above 0, but got '0'"
    ),
    ("--check", "a", "--expect-stderr", "("): (
        "argument --expect-stderr: expected a regular expression: missing ), "
        "unterminated subpattern at position 0"
    ),
}


@pytest.mark.parametrize("args", COMMAND_LINES)
def test_wrong_command_line(
    args: tuple[str, ...], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(file), *args]) == 2
    assert capsys.readouterr().err == f"transom-reduce: error: {COMMAND_LINES[args]}\n"


def test_wrong_input(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("func.func @f() -> i1 { func.return }")
    assert main([str(file), "--check", "true"]) == 1
    assert capsys.readouterr().err.startswith(f"{file}:1:24: error: 'func.return' op ")
    assert main([str(file.parent / "nil.mlir"), "--check", "true"]) == 1
    message = f"transom-reduce: error: {file.parent / 'nil.mlir'}: No such file or"
    assert capsys.readouterr().err.startswith(message)


@pytest.mark.parametrize(
    ("to_file", "number"),
    [(True, signal.SIGINT), (False, signal.SIGINT), (True, signal.SIGKILL)],
)
def test_an_interrupt_leaves_the_best_so_far(
    to_file: bool, number: signal.Signals, tmp_path: Path
) -> None:
    path, out = tmp_path / "in.mlir", tmp_path / "out.mlir"
    path.write_text(scalar_program(60, 0))
    steps = tmp_path / "steps"
    check = (
        "grep -q ipowi %s || exit 1; "
        f"echo x >> {steps}; test $(wc -l < {steps}) -lt 4 || exec sleep 20"
    )
    words = [SCRIPT, path, "--check", check, *(["-o", out] if to_file else [])]
    process = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell lets jobs in the background ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    for _ in range(300):
        if steps.exists() and len(steps.read_text().splitlines()) >= 4:
            break
        time.sleep(0.1)
    process.send_signal(number)
    written, err = process.communicate(timeout=90)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    assert err == ""
    text = out.read_text() if to_file else written
    assert text.startswith("builtin.module {\n")
    assert text.count("\n") < path.read_text().count("\n")
    if number == signal.SIGINT:
        assert not [name for name in files_in(tmp_path) if name.startswith(".reduce")]
