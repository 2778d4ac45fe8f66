"""Comments that expect diagnostics, and what does not agree with them."""

import pytest
from xdsl.dialects.builtin import UnknownLoc

from transom.dialects.diagnostics import Diagnostic, OpError, file_location
from transom.tools.expected_diagnostics import compare, expectations_in


def at(line: int, message: str, severity: str = "error", *notes: Diagnostic):
    return Diagnostic(severity, file_location("a.mlir", line, 1), message, notes)


def problems(text: str, *diagnostics: Diagnostic, only_expected: bool = False):
    return compare(expectations_in(text, "a.mlir"), diagnostics, only_expected)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x // expected-error {{boom}}", 1),
        ("// expected-error @+1 {{boom}}\nx", 2),
        ("// expected-error@+2 {{boom}}\n\nx", 3),
        ("x\n// expected-error @-1 {{boom}}", 1),
        ("x\n// expected-note {{n}}\n// expected-error @above {{boom}}", 1),
        ("// expected-error @below {{boom}}\n// expected-note @below {{n}}\nx", 3),
    ],
)
def test_places(text: str, line: int) -> None:
    (expectation,) = [e for e in expectations_in(text, "a.mlir") if e.text == "boom"]
    assert expectation.line == line


def test_lines_are_those_of_the_file() -> None:
    (expectation,) = expectations_in("// expected-error @+1 {{a}}", "a.mlir", 10)
    assert (expectation.line, expectation.position.line) == (12, 11)


def test_all_is_as_expected() -> None:
    text = (
        "x // expected-error {{a part}}\n"
        "y // expected-warning {{w}}\n"
        "// expected-remark @unknown {{r}}\n"
        "z // expected-note {{with {{'braces'}} }}"
    )
    note = at(4, "with {{'braces'}} in it", "note")
    assert not problems(
        text,
        at(1, "this is a part of it", "error", note),
        at(2, "w", "warning"),
        Diagnostic("remark", UnknownLoc(), "r"),
    )


def test_another_file_is_unknown() -> None:
    other = Diagnostic("error", file_location("b.mlir", 1, 1), "boom")
    assert not problems("// expected-error @unknown {{boom}}", other)
    assert problems("// expected-error {{boom}}", other)


def test_not_produced() -> None:
    assert problems("// expected-error {{boom}}") == [
        'a.mlir:1:4: error: expected error "boom" was not produced'
    ]


def test_unexpected() -> None:
    assert problems("", at(3, "boom")) == ["a.mlir:3:1: error: unexpected error: boom"]
    assert not problems("", at(3, "boom"), only_expected=True)


def test_unexpected_note() -> None:
    error = at(1, "boom", "error", at(2, "why", "note"))
    assert problems("// expected-error {{boom}}", error) == [
        "a.mlir:2:1: error: unexpected note: why"
    ]


def test_wrong_severity() -> None:
    assert problems("// expected-warning {{boom}}", at(1, "boom")) == [
        "a.mlir:1:1: error: 'error' diagnostic emitted when expecting a 'warning'"
    ]


def test_each_expectation_is_met_once() -> None:
    text = "// expected-error {{boom}}"
    assert problems(text, at(1, "boom"), at(1, "boom")) == [
        "a.mlir:1:1: error: unexpected error: boom"
    ]


def test_regular_expressions() -> None:
    text = "// expected-error-re {{took {{[0-9]+}} steps (at most)}}"
    assert not problems(text, at(1, "it took 12 steps (at most)"))
    assert problems(text, at(1, "it took x steps (at most)"))


def test_wrong_regular_expression() -> None:
    with pytest.raises(OpError, match=r"a.mlir:1:4: error: expected a regular express"):
        expectations_in("// expected-error-re {{ {{(}} }}", "a.mlir")
