"""
Check lines that nobody looks at.
"""

import re
from pathlib import Path

import pytest

from transom.tools.filecheck.lint import lint

TESTS = Path(__file__).parent.parent / "filecheck"

PROBLEMS = {
    "// CHEKC: a": "unknown prefix 'CHEKC'; did you mean 'CHECK:'?",
    "  // CHEKC-NEXT: a": "unknown prefix 'CHEKC'; did you mean 'CHECK-NEXT:'?",
    "; CHECKS-COUNT-2: a": "unknown prefix 'CHECKS'; did you mean 'CHECK-COUNT-2:'?",
    "# CHECK-NXET: a": "unknown directive 'CHECK-NXET:'; did you mean 'CHECK-NEXT:'?",
    "// CHECK-LABLE{LITERAL}: a": (
        "unknown directive 'CHECK-LABLE:'; did you mean 'CHECK-LABEL:'?"
    ),
    "// CHECK-CUONT-2: a": (
        "unknown directive 'CHECK-CUONT-2:'; did you mean 'CHECK-COUNT-2:'?"
    ),
    "// LOC-SMAE: a": "unknown directive 'LOC-SMAE:'; did you mean 'LOC-SAME:'?",
    "// CHECK-NEXT a": "expected ':' after 'CHECK-NEXT'",
    "// CHECK-NEXT : a": "expected no space between 'CHECK-NEXT' and ':'",
    "// OTHER-NEXT: a": "no RUN line uses the prefix 'OTHER'",
    "// CHECK-FOO: a": "no RUN line uses the prefix 'CHECK-FOO'",
}


@pytest.mark.parametrize("line", PROBLEMS)
def test_problem(line: str) -> None:
    (problem,) = lint(f"// RUN: x\n{line}\n", "a.mlir", ["CHECK", "LOC"])
    column = len(line) - len(line.lstrip("/;# ")) + 1
    assert str(problem) == (
        f"a.mlir:2:{column}: error: {PROBLEMS[line]}\n{line}\n{' ' * (column - 1)}^"
    )


@pytest.mark.parametrize(
    "line",
    [
        "// CHECK: a",
        "// CHECK-COUNT-2: a",
        "// LOC-NEXT{LITERAL}: a",
        "// CHECK-A-NEXT: a",
        "// CHECK_NEXT: a",  # FileCheck itself refuses it
        "// RUN: CHEKC: a",
        "// TODO: a",
        "// LOG: a",
        "// CHECK that it is well",
        "// Check: it is well",
        "// CHECKS that",
        '%0 = "CHEKC: a"',
    ],
)
def test_no_problem(line: str) -> None:
    assert list(lint(line, "a.mlir", ["CHECK", "CHECK-A", "LOC"])) == []


def test_our_own_tests() -> None:
    for path in TESTS.rglob("*.mlir"):
        text = path.read_text(encoding="utf-8")
        named = re.findall(r"check-prefix(?:es)?[= ]([\w,-]+)", text)
        prefixes = ["CHECK", *(p for names in named for p in names.split(","))]
        assert list(map(str, lint(text, path.name, prefixes))) == []
