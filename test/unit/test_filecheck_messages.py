"""
What `transom-filecheck` says, word by word.
"""

from pathlib import Path

import pytest
from filecheck_cases import check

from transom.tools.filecheck.main import main

COMMAND_LINES: dict[tuple[str, ...], str] = {
    ("--nil",): "unknown option '--nil'",
    (
        "--input-flie=x",
    ): "unknown option '--input-flie=x'; did you mean '--input-file'?",
    ("--check-prefix",): "expected a value after '--check-prefix'",
    ("--allow-empty=1",): "expected no value for '--allow-empty'",
    (): "expected one check file, but got 0",
    ("a", "b"): "expected one check file, but got 2",
    ("a", "--check-prefix=1A"): (
        "supplied check prefix must start with a letter and contain only alphanumeric "
        "characters, hyphens, and underscores: '1A'"
    ),
    ("a", "--comment-prefixes=A,A"): (
        "supplied comment prefix must be unique among check and comment prefixes: 'A'"
    ),
    ("a", "--dump-input=sometimes"): (
        "unknown value 'sometimes' of '--dump-input'; "
        "expected one of 'always', 'fail', 'never'"
    ),
    ("a", "--dump-input-context=x"): (
        "expected a number of lines after '--dump-input-context'"
    ),
    ("a", "--allow-deprecated-dag-overlap"): (
        "'--allow-deprecated-dag-overlap' is not supported; write CHECK lines that do "
        "not overlap"
    ),
    ("a", "-DX"): "expected '-DNAME=VALUE', or '-D#NAME=NUMBER', but got '-DX'",
    ("a", "-D#X=1*"): "'-D#X=1*': unsupported operation '*'",
    ("/nil/nil",): "/nil/nil: No such file or directory",
}


@pytest.mark.parametrize("args", COMMAND_LINES)
def test_wrong_command_line(
    args: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(args) == 2
    message = COMMAND_LINES[args]
    assert capsys.readouterr().err == f"transom-filecheck: error: {message}\n"


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "--implicit-check-not=PAT" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("transom-filecheck 0")


def test_options_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FILECHECK_OPTS", "--check-prefix A --dump-input=never")
    assert check(tmp_path, "A: x", "x\n") == (0, "")


CHECK_FILES = {
    "CHECK-NEXT: a": (1, "found 'CHECK-NEXT' without previous 'CHECK: line"),
    "CHECK:": (7, "found empty check string with prefix 'CHECK:'"),
    "CHECK: a\nCHECK-EMPTY: b": (
        14,
        "found non-empty check string for empty check with prefix 'CHECK-EMPTY:'",
    ),
    "CHECK-LABEL: [[A:a]]": (
        14,
        "found 'CHECK-LABEL:' with variable definition or use",
    ),
    "CHECK-COUNT-x: a": (1, "invalid count in -COUNT specification on prefix 'CHECK'"),
    "CHECK{FOO}: a": (
        1,
        "unknown modifier '{FOO}' on prefix 'CHECK'; expected '{LITERAL}'",
    ),
    "CHECK-NOT-DAG: a": (1, "unsupported -NOT combo on prefix 'CHECK'"),
    "CHECK_NEXT: a": (1, "misspelled directive 'CHECK_NEXT:'"),
    "CHECK: a{{b": (9, "found start of regex string with no end '}}'"),
    "CHECK: [[A": (8, "invalid substitution block, no ]] found"),
    "CHECK: [[A:b]c]]": (13, 'missing closing "]" for regex variable'),
    "CHECK: [[1, 2]]": (10, r"invalid variable name; write {{\[\[}} for two brackets"),
    "CHECK: [[@FOO]]": (10, "invalid pseudo variable '@FOO'"),
    "CHECK: [[A+1]]": (10, "invalid name in string variable use"),
    "CHECK: [[#A:]]\nCHECK: [[A]]": (
        10,
        "'A' is a numeric variable; write [[#A]]",
    ),
    "CHECK: [[A:a]]\nCHECK: [[#A]]": (11, "'A' is a string variable; write [[A]]"),
    "CHECK: [[A:a]]\nCHECK: [[#A:]]": (
        11,
        "string variable with name 'A' already exists",
    ),
    "CHECK: [[#A:]]\nCHECK: [[A:a]]": (
        10,
        "numeric variable with name 'A' already exists",
    ),
    "CHECK: [[#A:]] [[#A]]": (
        19,
        "numeric variable 'A' defined earlier in the same CHECK directive",
    ),
    "CHECK: [[#%x,A:]]\nCHECK: [[#%d,A:]]": (
        11,
        "format different from previous variable definition",
    ),
    "CHECK: [[#%x,A:]] [[#B:]]\nCHECK: [[#A+B]]": (
        11,
        "implicit format conflict between 'A' (%x) and 'B' (%u), need an explicit "
        "format specifier",
    ),
    "CHECK: [[#%q,A:]]": (11, "invalid format specifier in expression"),
    "CHECK: [[#%#u,A:]]": (11, "alternate form only supported for hex values"),
    "CHECK: [[#@LINE:]]": (11, "definition of pseudo numeric variable unsupported"),
    "CHECK: [[#A: ==]]": (
        16,
        "empty numeric expression should not have a constraint",
    ),
    "CHECK: [[#1*2]]": (12, "unsupported operation '*2'"),
    "CHECK: [[#1 2]]": (13, "unexpected characters at end of expression '2'"),
    "CHECK: [[#1+]]": (13, "invalid operand format"),
    "CHECK: [[#@FOO]]": (11, "invalid pseudo numeric variable '@FOO'"),
    "CHECK: [[#(1]]": (13, "missing ')' at end of nested expression"),
    "CHECK: [[#foo(1,2)]]": (11, "call to undefined function 'foo(1,2)'"),
    "CHECK: [[#max(1)]]": (16, "function 'max' takes 2 arguments but 1 given: ')'"),
    "CHECK: [[#max(1,2]]": (18, "missing ')' at end of call expression"),
    r"CHECK: {{\d+}}": (10, r"invalid regex: '\d' is the letter 'd'; write [0-9]"),
    r"CHECK: {{\q}}": (10, r"invalid regex: '\q' is the letter 'q'"),
    r"CHECK: {{(a)\1}}": (
        13,
        "invalid regex: references to groups are not supported; name a part [[NAME:…]]",
    ),
    "CHECK: {{a\\}}": (11, r"invalid regex: trailing backslash (\)"),
    "CHECK: {{}}": (10, "invalid regex: empty (sub)expression"),
    "CHECK: {{a|}}": (11, "invalid regex: empty (sub)expression"),
    "CHECK: {{|a}}": (10, "invalid regex: empty (sub)expression"),
    "CHECK: {{(a}}": (11, "invalid regex: parentheses not balanced"),
    "CHECK: {{a)}}": (11, "invalid regex: parentheses not balanced"),
    "CHECK: {{a*?}}": (12, "invalid regex: repetition-operator operand invalid"),
    "CHECK: {{(?:a)}}": (11, "invalid regex: repetition-operator operand invalid"),
    "CHECK: {{a{2}}}": (
        11,
        "invalid regex: braces not balanced; write {{(a{2})}}, not {{a{2}}}",
    ),
    "CHECK: {{(a{2,1})}}": (12, "invalid regex: invalid repetition count(s)"),
    "CHECK: {{[a}}": (10, "invalid regex: brackets ([ ]) not balanced"),
    "CHECK: {{[[:foo:]]}}": (11, "invalid regex: invalid character class"),
    "CHECK: {{[b-a]}}": (11, "invalid regex: invalid character range"),
    "CHECK: {{[[=a=]]}}": (11, "invalid regex: collating elements are not supported"),
}


@pytest.mark.parametrize("checks", CHECK_FILES)
def test_wrong_check_lines(checks: str, tmp_path: Path) -> None:
    column, message = CHECK_FILES[checks]
    lines = checks.split("\n")
    expected = (
        f"checks:{len(lines)}:{column}: error: {message}\n"
        f"{lines[-1]}\n{' ' * (column - 1)}^\n"
    )
    assert check(tmp_path, checks, "a\n") == (2, expected)


@pytest.mark.parametrize(
    ("checks", "options", "message"),
    [
        ("a", (), "no check strings found with prefix 'CHECK:'"),
        (
            "A: a",
            ("--check-prefixes=A,B,C",),
            "no check strings found with prefixes 'B:', 'C:'",
        ),
    ],
)
def test_no_checks(
    checks: str, options: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    expected = f"transom-filecheck: error: {message}\n"
    assert check(tmp_path, checks, "a\n", *options) == (2, expected)


def test_empty_input(tmp_path: Path) -> None:
    expected = "transom-filecheck: error: 'input' is empty\n"
    assert check(tmp_path, "CHECK: a", "") == (2, expected)


FAILURES = {
    "missing": (
        "CHECK: sum = [[A:[0-9]+]]\nCHECK-NEXT: twice [[A]] + [[#N+1]]",
        "sum = 4\ntwice 4 + 6\n",
        ("-D#N=4",),
        """\
checks:2:13: error: CHECK-NEXT: expected string not found in input
CHECK-NEXT: twice [[A]] + [[#N+1]]
            ^
input:1:8: note: scanning from here
sum = 4
       ^
input:1:8: note: with "A" equal to "4"
sum = 4
       ^
input:1:8: note: with "#N+1" equal to "5"
sum = 4
       ^
input:2:1: note: possible intended match here
twice 4 + 6
^
""",
    ),
    "wrong line": (
        "CHECK: a\nCHECK-NEXT: b",
        "a\n\nb\n",
        (),
        """\
checks:2:13: error: CHECK-NEXT: is not on the line after the previous match
CHECK-NEXT: b
            ^
input:3:1: note: 'next' match was here
b
^
input:1:2: note: previous match ended here
a
 ^
input:2:1: note: non-matching line after previous match is here

^
""",
    ),
    "same line": (
        "CHECK: a\nCHECK-NEXT: b",
        "ab\n",
        (),
        """\
checks:2:13: error: CHECK-NEXT: is on the same line as previous match
CHECK-NEXT: b
            ^
input:1:2: note: 'next' match was here
ab
 ^
input:1:2: note: previous match ended here
ab
 ^
""",
    ),
    "another line": (
        "CHECK: a\nCHECK-SAME: b",
        "a\nb\n",
        (),
        """\
checks:2:13: error: CHECK-SAME: is not on the same line as the previous match
CHECK-SAME: b
            ^
input:2:1: note: 'same' match was here
b
^
input:1:2: note: previous match ended here
a
 ^
""",
    ),
    "excluded": (
        "CHECK-NOT: b",
        "a\nab\n",
        (),
        """\
checks:1:12: error: CHECK-NOT: excluded string found in input
CHECK-NOT: b
           ^
input:2:2: note: found here
ab
 ^
""",
    ),
    "implicit": (
        "CHECK: a",
        "a\nwarning\n",
        ("--implicit-check-not=warn",),
        """\
command line:1:22: error: IMPLICIT-CHECK-NOT: excluded string found in input
-implicit-check-not='warn'
                     ^
input:2:1: note: found here
warning
^
""",
    ),
    "undefined": (
        "CHECK: a [[A]]",
        "a\n",
        (),
        """\
checks:1:12: error: undefined variable: A
CHECK: a [[A]]
           ^
input:1:1: note: scanning from here
a
^
""",
    ),
    "no value": (
        "CHECK: [[#0-1]]",
        "a\n",
        (),
        """\
checks:1:11: error: unable to represent numeric value
CHECK: [[#0-1]]
          ^
input:1:1: note: scanning from here
a
^
""",
    ),
    "no division": (
        "CHECK: [[#div(1,0)]]",
        "a\n",
        (),
        """\
checks:1:11: error: expected no division by zero
CHECK: [[#div(1,0)]]
          ^
input:1:1: note: scanning from here
a
^
""",
    ),
    "count": (
        "CHECK-COUNT-2: a",
        "a\n",
        (),
        """\
checks:1:16: error: CHECK-COUNT: expected string not found in input (2 out of 2)
CHECK-COUNT-2: a
               ^
input:1:2: note: scanning from here
a
 ^
""",
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failure(name: str, tmp_path: Path) -> None:
    checks, text, options, expected = FAILURES[name]
    found = check(tmp_path, checks, text, "--dump-input=never", *options)
    assert found == (1, expected)


def dump(tmp_path: Path, checks: str, text: str, *options: str) -> str:
    _, output = check(tmp_path, checks, text, *options)
    return output.partition("Input was:\n")[2]


def test_dump_of_what_failed(tmp_path: Path) -> None:
    lines = "".join(f"line {number}\n" for number in range(1, 21))
    checks = "CHECK: line 8\nCHECK-NEXT: lime 9\n"
    assert dump(tmp_path, checks, lines, "--dump-input-context=1") == (
        "<<<<<<\n"
        "         .\n         .\n         .\n"
        "        7: line 7\n"
        "        8: line 8\n"
        "next:2           X error: no match found\n"
        "        9: line 9\n"
        "next:2     ? possible intended match\n"
        "         .\n         .\n         .\n"
        ">>>>>>\n"
    )


def test_dump_of_everything(tmp_path: Path) -> None:
    checks = "CHECK: ab\nCHECK-SAME: c\nCHECK-NOT: xy\n"
    text = "abc\nd\nxy\n"
    assert dump(tmp_path, checks, text, "--dump-input=always", "-v") == (
        "<<<<<<\n"
        "        1: abc\n"
        "check:1    ^~\n"
        "same:2       ^\n"
        "        2: d\n"
        "        3: xy\n"
        "not:3      !! error: no match expected\n"
        ">>>>>>\n"
    )
    filtered = dump(
        tmp_path,
        checks,
        text,
        "-v",
        "--dump-input-filter=annotation",
        "--dump-input-context=0",
    )
    assert "2: d" not in filtered
    assert "1: abc" in filtered


def test_no_dump_if_all_is_well(tmp_path: Path) -> None:
    assert check(tmp_path, "CHECK: a", "a\n") == (0, "")
    status, output = check(tmp_path, "CHECK: a", "a\n", "--dump-input=always")
    assert (status, "1: a" in output) == (0, True)
