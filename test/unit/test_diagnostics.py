"""Errors with a place: positions, rendering, near names."""

import pytest
from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.test import TestOp

from transom.dialects.diagnostics import (
    Diagnostic,
    Note,
    OpError,
    Position,
    Sources,
    did_you_mean,
    file_location,
    handling,
    location_of,
    name_of,
    position_of,
    report,
)
from transom.dialects.parser import parse_ir
from transom.registry import new_context

A = file_location("a.mlir", 2, 3)
TEXT = "first\n\tsecond line\nthird"


def named(name: str, inner: LocationAttr | NoneAttr) -> NameLoc:
    return NameLoc(StringAttr(name), inner)


@pytest.mark.parametrize(
    ("location", "position", "name"),
    [
        (UnknownLoc(), None, None),
        (A, Position("a.mlir", 2, 3), None),
        (named("Conv_3", A), Position("a.mlir", 2, 3), "Conv_3"),
        (named("Conv_3", NoneAttr()), None, "Conv_3"),
        (
            CallSiteLoc(UnknownLoc(), named("caller", A)),
            Position("a.mlir", 2, 3),
            "caller",
        ),
        (
            FusedLoc((UnknownLoc(), named("x", NoneAttr()), A), NoneAttr()),
            Position("a.mlir", 2, 3),
            "x",
        ),
        (FusedLoc(ArrayAttr[LocationAttr](()), NoneAttr()), None, None),
    ],
)
def test_places(
    location: LocationAttr, position: Position | None, name: str | None
) -> None:
    assert position_of(location) == position
    assert name_of(location) == name


def test_rendering_has_line_caret_and_notes() -> None:
    op = TestOp()
    op.location = A
    other = FileLineColLoc(StringAttr("b.mlir"), IntAttr(1), IntAttr(1))
    error = OpError(op, "expected this", Note(other, "that is here"))
    rendered = error.diagnostic().render(Sources({"a.mlir": TEXT, "b.mlir": "zz"}))
    assert rendered.split("\n") == [
        "a.mlir:2:3: error: expected this",
        "\tsecond line",
        "\t ^",
        "b.mlir:1:1: note: that is here",
        "zz",
        "^",
    ]


def test_text_of_an_error_is_without_sources() -> None:
    assert str(OpError(A, "expected this")) == "a.mlir:2:3: error: expected this"


def test_place_without_a_file() -> None:
    assert Diagnostic("error", UnknownLoc(), "m").place() == "<unknown>"
    assert Diagnostic("error", named("Conv_3", NoneAttr()), "m").place() == '"Conv_3"'


def test_source_line_from_the_file_system(tmp_path: object) -> None:
    file = f"{tmp_path}/x.mlir"
    with open(file, "w") as f:
        f.write("one\r\ntwo\r\n")
    assert Sources().line(Position(file, 2, 1)) == "two"


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a\0b"])
def test_binary_files_show_no_line(tmp_path: object, content: bytes) -> None:
    file = f"{tmp_path}/x.onnx"
    with open(file, "wb") as f:
        f.write(content)
    assert not Sources().line(Position(file, 1, 1))


@pytest.mark.parametrize("file", ["/none/such", "a\0b", "/"])
def test_no_line_of_what_cannot_be_read(file: str) -> None:
    assert not Sources().line(Position(file, 1, 1))


@pytest.mark.parametrize("line", [0, 4])
def test_no_line_outside_the_text(line: int) -> None:
    assert Sources({"a": TEXT}).line(Position("a", line, 1)) is None


def test_long_lines_are_cut_around_the_caret() -> None:
    text = "".join(chr(ord("a") + i % 26) for i in range(1000))
    diagnostic = Diagnostic("error", file_location("a", 1, 501), "m")
    _, shown, caret = diagnostic.render(Sources({"a": text})).split("\n")
    assert len(shown) < 200
    assert shown[caret.index("^")] == text[500]


@pytest.mark.parametrize(
    ("before", "indent"),
    [("ab", "  "), ("\ta", "\t "), ("文Ａ", "    "), ("e\u0301", " ")],
)
def test_the_caret_is_below_its_column_on_a_terminal(before: str, indent: str) -> None:
    where = file_location("a", 1, len(before) + 1)
    *_, caret = (
        Diagnostic("error", where, "m").render(Sources({"a": f"{before}!"})).split("\n")
    )
    assert caret == f"{indent}^"


def test_colours_of_severities() -> None:
    error = OpError(A, "m", Note(A, "n")).diagnostic()
    assert error.render(None, colored=True) == (
        "a.mlir:2:3: \x1b[1;31merror:\x1b[0m m\na.mlir:2:3: \x1b[1;36mnote:\x1b[0m n"
    )


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("lnaes", ["lanes", "width"], "; did you mean 'lanes'?"),
        ("LANES", ["lanes", "width"], "; did you mean 'lanes'?"),
        ("q", ["b", "a"], "; expected one of 'a', 'b'"),
        ("q", ["a"], "; expected 'a'"),
        ("q", [], ""),
        ("q", [f"name{i}" for i in range(99)], ""),
    ],
)
def test_did_you_mean(name: str, candidates: list[str], expected: str) -> None:
    assert did_you_mean(name, candidates) == expected


def test_reports_go_to_the_handler_of_their_context() -> None:
    outer: list[Diagnostic] = []
    inner: list[Diagnostic] = []
    with handling(outer.append):
        with handling(inner.append):
            report("warning", A, "one", Note(A, "more"))
        report("remark", A, "two")
    assert [d.message for d in inner] == ["one"]
    assert [n.message for n in inner[0].notes] == ["more"]
    assert [(d.severity, d.message) for d in outer] == [("remark", "two")]


def test_reports_without_a_handler_are_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    report("warning", A, "expected nothing")
    assert "a.mlir:2:3: warning: expected nothing" in caplog.text


def test_ops_without_a_place_are_where_they_are_used() -> None:
    """Kernels are shared, and have no place: those that call them have."""
    module = parse_ir(new_context(), CALLS, "m.mlir")
    functions = {
        op.sym_name.data: op for op in module.body.ops if isinstance(op, FuncOp)
    }
    for name in ("leaf", "middle", "alone", "round"):
        for op in functions[name].walk():
            op.location = UnknownLoc()
    found = {
        name: position_of(location_of(function.body.block.first_op or function))
        for name, function in functions.items()
    }
    used = Position("m.mlir", 2, 3)
    assert found["leaf"] == found["middle"] == found["main"] == used
    assert found["alone"] is found["round"] is None
    inner = functions["main"].body.block.last_op
    assert inner is not None
    inner.location = UnknownLoc()
    assert position_of(location_of(inner)) == Position("m.mlir", 1, 1)


CALLS = """func.func @main() {
  func.call @middle() : () -> ()
  func.return
}
func.func private @middle() {
  func.call @leaf() : () -> ()
  func.return
}
func.func private @leaf() {
  func.return
}
func.func private @alone() {
  func.return
}
func.func private @round() {
  func.call @round() : () -> ()
  func.return
}
"""
