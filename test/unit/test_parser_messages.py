"""Messages of xDSL's parser: what is expected, then what is there."""

import pytest

from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_ir
from transom.dialects.parser_messages import reworded
from transom.registry import new_context


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("'{' expected", "expected '{', but got 'x'"),
        ("Expected '>'", "expected '>', but got 'x'"),
        ("Expected `a`, `b`, or `c`.", "expected 'a', 'b', or 'c', but got 'x'"),
        ("type expected", "expected a type, but got 'x'"),
        ("Expected region!", "expected a region, which starts with '{', but got 'x'"),
        ("'(' expected in list", "expected '(' in list, but got 'x'"),
        (
            "Expected 'x' in shape delimiter, got EOF",
            "expected 'x' after a size, but got 'x'",
        ),
        ("'='after name expected", "expected '=' after name, but got 'x'"),
        # What says already what is there, or is of another form.
        ("expected 0 operand types but had 1", None),
        ("Complex types!", "complex types"),
        ("SSA value %a is already defined", None),
        ("'offset' stands twice", None),
        ("Unexpected character: \u00a7", "unexpected character '\u00a7'"),
    ],
)
def test_reworded(message: str, expected: str | None) -> None:
    result = message if expected is None else expected
    assert reworded(message, "x") == result
    assert reworded(result, "y") == result  # once is enough


def test_what_is_found() -> None:
    assert reworded("expected ')'", "") == "expected ')', but got the end of the text"
    assert reworded("expected ')'", None) == "expected ')'"
    long = reworded("expected ')'", '"' + "a" * 80)
    assert long == f"expected ')', but got '\"{'a' * 39}…'"
    assert reworded("expected ')'", "a\nb") == "expected ')', but got 'a'"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @f(%x: tensor<4x>)", "expected the type of elements, but got '>'"),
        ("func.func @f(tensor<4>)", "expected 'x' after a size, but got '>'"),
        ("func.func (", "expected a symbol name, such as '@main', but got '('"),
        ("func.func @f(%x)", "expected ':' after block argument name, but got ')'"),
        (
            "func.func @f() {\n  junk\n}",
            "unknown op 'junk'",
        ),
        (
            "func.func @f() {\n  = 1\n}",
            "expected an operation, '}' or the label of a block, but got '='",
        ),
        (
            "func.func @f() {",
            "expected an operation, '}' or the label of a block, but got the end "
            "of the text",
        ),
        ("func.func @f() -> ", "expected a type, but got the end of the text"),
        ("#a i32", "expected '=' after attribute alias name, but got 'i32'"),
        ('func.func @f() attributes {a = "x}', "expected '\"' at the end of a string"),
        ("\u00a7", "unexpected character '\u00a7'"),
        ("func.func @f(%x: @i)", "expected a type, but got '@i'"),
        ("%0 = = 1", "expected the name of an operation, but got '='"),
        ("}", "expected an operation, but got '}'"),
    ],
)
def test_in_a_text(text: str, message: str) -> None:
    with pytest.raises(OpError) as info:
        parse_ir(new_context(), text, "a.mlir")
    assert info.value.message == message
