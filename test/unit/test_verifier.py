"""Errors of verifiers are at the op, and values are defined before their uses."""

import pytest
from xdsl.dialects.builtin import UnknownLoc
from xdsl.dialects.func import FuncOp

from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_ir
from transom.dialects.verifier import verify_module
from transom.registry import new_context


def verify(body: str, arguments: str = "%x: i32, %c: i1") -> None:
    text = f"func.func @f({arguments}) {{\n{body}\n}}"
    verify_module(parse_ir(new_context(True), text, "a.mlir"))


@pytest.mark.parametrize(
    "body",
    [
        "%a = arith.addi %x, %x : i32\n%b = arith.addi %a, %x : i32\nfunc.return",
        # From a block that dominates, over blocks that do not.
        """
        %a = arith.addi %x, %x : i32
        cf.cond_br %c, ^a, ^b
        ^a:
          cf.br ^c
        ^b:
          cf.br ^c
        ^c:
          %b = arith.addi %a, %x : i32
          func.return
        """,
        # From the head of a loop, into its body and behind it.
        """
        cf.br ^head
        ^head:
          %a = arith.addi %x, %x : i32
          cf.cond_br %c, ^body, ^exit
        ^body:
          %b = arith.addi %a, %x : i32
          cf.br ^head
        ^exit:
          %d = arith.addi %a, %x : i32
          func.return
        """,
        # Blocks in any order of the text.
        """
        cf.br ^b
        ^a:
          %b = arith.addi %a, %x : i32
          func.return
        ^b:
          %a = arith.addi %x, %x : i32
          cf.br ^a
        """,
        # What cannot be reached is not looked at.
        """
        func.return
        ^a:
          %b = arith.addi %b, %x : i32
          cf.br ^a
        """,
        # Of an op that is not known the regions may be graphs.
        """
        "foo.bar"() ({
          %b = arith.addi %a, %x : i32
          %a = arith.addi %b, %x : i32
        }) : () -> ()
        func.return
        """,
        """
        scf.if %c {
          %a = arith.addi %x, %x : i32
          scf.if %c {
            %b = arith.addi %a, %x : i32
          }
        }
        func.return
        """,
    ],
)
def test_defined_before_use(body: str) -> None:
    verify(body)


@pytest.mark.parametrize(
    ("body", "line", "definition"),
    [
        (
            "%b = arith.addi %a, %x : i32\n%a = arith.addi %x, %x : i32\nfunc.return",
            2,
            3,
        ),
        # Defined on one of two ways.
        (
            "cf.cond_br %c, ^a, ^b\n"
            "^a:\n"
            "%a = arith.addi %x, %x : i32\n"
            "cf.br ^b\n"
            "^b:\n"
            "%b = arith.addi %a, %x : i32\n"
            "func.return",
            7,
            4,
        ),
        # An argument of a block that does not dominate.
        (
            "cf.cond_br %c, ^a(%x : i32), ^b\n"
            "^a(%a: i32):\n"
            "cf.br ^b\n"
            "^b:\n"
            "%b = arith.addi %a, %x : i32\n"
            "func.return",
            6,
            3,
        ),
        # In its own region.
        (
            "%a = scf.if %c -> (i32) {\n"
            "scf.yield %a : i32\n"
            "} else {\n"
            "scf.yield %x : i32\n"
            "}\n"
            "func.return",
            3,
            2,
        ),
    ],
)
def test_used_before_definition(body: str, line: int, definition: int) -> None:
    with pytest.raises(OpError, match="to be defined before it, on every way") as info:
        verify(body)
    diagnostic = info.value.diagnostic()
    assert diagnostic.position is not None
    assert diagnostic.position.line == line
    (note,) = diagnostic.notes
    assert note.position is not None
    assert note.position.line == definition


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("%a = arith.addi %x, %x : i32", "terminates block in single-block region"),
        ('"scf.if"(%c) ({^a:}, {}) : (i1) -> ()\nfunc.return', "expected a terminator"),
        ('%a = "arith.addi"(%x) : (i32) -> i32\nfunc.return', "Expected 2 operands"),
        # Where upstream's verifier stumbles, ours says what is wrong.
        (
            '"scf.while"(%x) ({ scf.condition(%c) }, { scf.yield }) : (i32) -> ()\n'
            "func.return",
            "'scf.while' op expected 1 arguments of the first region, but got 0",
        ),
        ("func.return %x : i32", "Expected arguments to have the same types"),
    ],
)
def test_broken_rules(body: str, message: str) -> None:
    with pytest.raises(OpError) as info:
        verify(body)
    assert message in info.value.message
    assert info.value.message.startswith("'")
    assert info.value.diagnostic().position is not None


def test_an_op_without_a_place_is_shown() -> None:
    text = "func.func @f() -> i32 { func.return }"
    module = parse_ir(new_context(), text)
    (func,) = (op for op in module.walk() if isinstance(op, FuncOp))
    last = func.body.block.last_op
    assert last is not None
    last.location = UnknownLoc()
    with pytest.raises(OpError, match=r'note: the op is: "func\.return"\(\)'):
        verify_module(module)
