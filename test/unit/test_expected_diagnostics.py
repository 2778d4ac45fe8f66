"""Comments that expect diagnostics, and what does not agree with them."""

from typing import Any

import pytest
from xdsl.dialects.builtin import UnknownLoc

from transom.dialects.diagnostics import Diagnostic, OpError, file_location
from transom.tools.expected_diagnostics import compare, expectations_in

FORM = "expected 'expected-SEVERITY @PLACE {{TEXT}}' up to the end of the line"


def at(line: int, message: str, severity: str = "error", *notes: Diagnostic):
    return Diagnostic(severity, file_location("a.mlir", line, 1), message, notes)


def problems(text: str, *diagnostics: Diagnostic, **options: Any) -> list[str]:
    return [str(d) for d in compare(text, "a.mlir", diagnostics, **options)]


OTHER = Diagnostic("error", file_location("dir/b.mlir", 3, 1), "boom")


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


@pytest.mark.parametrize(
    "place", ["b.mlir:3", "dir/b.mlir:3", "b.mlir:*", "dir/b.mlir:*"]
)
def test_another_file(place: str) -> None:
    assert not problems(f"// expected-error @{place} {{{{boom}}}}", OTHER)


@pytest.mark.parametrize("place", ["b.mlir:4", ".mlir:3", "unknown", "c/b.mlir:*"])
def test_another_place(place: str) -> None:
    assert problems(f"// expected-error @{place} {{{{boom}}}}", OTHER) == [
        "dir/b.mlir:3:1: error: unexpected error: boom",
        'a.mlir:1:4: error: expected error "boom" was not produced',
    ]


def test_this_file_by_name() -> None:
    assert not problems("// expected-error @a.mlir:7 {{boom}}", at(7, "boom"))


def test_comments_of_another_file_count_once_it_is_concerned() -> None:
    text = "// expected-note @+2 {{why}}\n// expected-error @+1 {{boom}}\nx"
    read: list[str] = []

    def text_of(file: str) -> str:
        read.append(file)
        return text

    assert not problems("", at(1, "m"), only_expected=True, text_of=text_of)
    assert not read
    assert problems("", OTHER, OTHER, text_of=text_of) == [
        "dir/b.mlir:3:1: error: unexpected error: boom",
        'dir/b.mlir:1:4: error: expected note "why" was not produced',
    ]
    assert read == ["dir/b.mlir"]


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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("expected-error-re {{ {{(}} }}", "expected a regular expression: missing )"),
        (
            "expected-error-re {{a {{b} }}",
            "expected '}}' at the end of a regular expression",
        ),
        ("expected-error {{a}} // more", FORM),
        ("expected-error {a}", FORM),
        ("expected-error @+1", FORM),
        ("expected-error @later {{a}}", FORM),
        ("expected-note @+x {{a}}", FORM),
    ],
)
def test_comments_of_another_form(text: str, message: str) -> None:
    with pytest.raises(OpError) as info:
        expectations_in(f"// {text}", "a.mlir")
    assert str(info.value).startswith(f"a.mlir:1:4: error: {message}")


def test_prose_is_no_comment() -> None:
    assert not expectations_in("// No expected-error here, nor expected-warnings.", "a")
