"""IR as text: users, regions, names and elements that are left out."""

import io

import pytest
from xdsl.dialects.builtin import ModuleOp

from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_ir
from transom.registry import new_context
from transom.tools.ir_printing import (
    ELEMENTS_ON_A_TERMINAL,
    NEVER,
    PrintOptions,
    ir_text,
    program_text,
)

TEXT = """\
builtin.module {
  func.func @f(%c: i1, %x: tensor<4xi32>) -> tensor<4xi32> {
    %w = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    %s = arith.addi %x, %w : tensor<4xi32>
    %p, %p_1 = "test.op"(%s) {a = array<i64: 1, 2, 3>} : (tensor<4xi32>) -> (i32, i32)
    %r = scf.if %c -> (i32) {
      scf.yield %p : i32
    } else {
      scf.yield %p : i32
    }
    func.return %s : tensor<4xi32>
  }
}"""


def parsed(text: str = TEXT) -> ModuleOp:
    return parse_ir(new_context(allow_unregistered=True), text, "a.mlir")


def test_the_default_parses_back_to_itself() -> None:
    assert ir_text(parsed()) == TEXT


def test_users_of_values() -> None:
    text = ir_text(parsed(), PrintOptions(value_users=True))
    assert (
        text
        == """\
builtin.module {
  func.func @f(%c: i1, %x: tensor<4xi32>) -> tensor<4xi32> {
    // %c user: %r
    // %x user: %s
    %w = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>  // user: %s
    %s = arith.addi %x, %w : tensor<4xi32>  // users: %p, func.return
    %p, %p_1 = "test.op"(%s) {a = array<i64: 1, 2, 3>} : (tensor<4xi32>) -> (i32, i32)\
  // users: (scf.yield, scf.yield), (unused)
    %r = scf.if %c -> (i32) {
      scf.yield %p : i32
    } else {
      scf.yield %p : i32
    }  // unused
    func.return %s : tensor<4xi32>
  }
}"""
    )
    assert ir_text(parsed(text)) == TEXT


def test_users_are_named_before_they_are_defined() -> None:
    text = '%0 = "test.op"() : () -> i32\n%1 = arith.addi %0, %0 : i32\n'
    printed = ir_text(parsed(text), PrintOptions(value_users=True))
    assert '%0 = "test.op"() : () -> i32  // user: %1\n' in printed
    assert "%1 = arith.addi %0, %0 : i32  // unused\n" in printed


def test_regions_are_left_out() -> None:
    (func,) = parsed().body.ops
    text = ir_text(func, PrintOptions(skip_regions=True))
    assert text == "func.func @f(%c: i1, %x: tensor<4xi32>) -> tensor<4xi32> {...}"
    with pytest.raises(OpError, match=r"a.mlir:1:59: error: "):
        parsed(text)


def test_long_lists_of_elements_are_left_out() -> None:
    text = ir_text(parsed(), PrintOptions(elide=2))
    assert "%w = arith.constant dense<__elided__> : tensor<4xi32>\n" in text
    assert "{a = array<i64: __elided__>}" in text
    assert ir_text(parsed(), PrintOptions(elide=4)) == TEXT
    splat = parsed("%w = arith.constant dense<7> : tensor<4xi32>")
    assert "dense<7>" in ir_text(splat, PrintOptions(elide=2))


@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "%w = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>",
        'func.func @f() attributes {"test.a" = array<i64: 1, 2, 3>} { func.return }',
        f'func.func @f() attributes {{test.a = "{"x" * 41}"}} {{ func.return }}',
        f'"test.op"() {{a = #executor.bytes<"{"0" * 42}">}} : () -> ()',
    ],
)
def test_what_was_left_out_does_not_parse_back(text: str, generic: bool) -> None:
    elided = ir_text(parsed(text), PrintOptions(elide=2, generic=generic))
    with pytest.raises(OpError) as error:
        parsed(elided)
    assert error.value.message == (
        "expected what '__elided__' stands for, which was left out when this was "
        "printed; print it again without '--elide-elements-larger'"
    )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_short_lists_and_nothing_else_does() -> None:
    assert PrintOptions().on(Terminal()).elide == ELEMENTS_ON_A_TERMINAL
    assert PrintOptions(elide=NEVER).on(Terminal()).elide is None
    assert PrintOptions(elide=5).on(Terminal()).elide == 5
    assert PrintOptions().on(io.StringIO()).elide is None
    assert PrintOptions(elide=5).on(io.StringIO()).elide == 5


def test_names_are_unique_if_asked() -> None:
    one = "func.func @{}(%x: i32) -> i32 {{\n  func.return %x : i32\n}}\n"
    module = parsed(one.format("f") + one.format("g"))
    assert "%x_1" not in ir_text(module)
    unique = ir_text(module, PrintOptions(unique_names=True))
    assert "@g(%x_1: i32)" in unique and "return %x_1 : i32" in unique
    assert ir_text(parsed(unique)) == ir_text(module)


def test_names_from_locations() -> None:
    text = """
        %0 = "test.op"() : () -> i32 loc("conv1/Add"("m.onnx":1:1))
        %1 = "test.op"() : () -> i32 loc("7x"("m.onnx":2:1))
        %2 = "test.op"() : () -> i32 loc("conv1/Add"("m.onnx":3:1))
        %3 = "test.op"() : () -> i32 loc("m.onnx":4:1)
        %4 = "test.op"() : () -> i32 loc(""("m.onnx":5:1))
    """
    printed = ir_text(parsed(text), PrintOptions(names_of_locations=True))
    names = [line.split(" = ")[0].strip() for line in printed.splitlines()[1:-1]]
    assert names == ["%conv1_Add", "%_7x", "%conv1_Add_1", "%0", "%1"]


def test_colours() -> None:
    text = ir_text(parsed(), PrintOptions(highlight=True))
    assert "\x1b[" in text


def test_a_program_has_its_resources() -> None:
    text = """
"test.op"() {a = dense_resource<r> : tensor<1xi32>} : () -> ()
{-#
  dialect_resources: {
    builtin: {
      r: "0x0400000001000000"
    }
  }
#-}
"""
    ctx = new_context(allow_unregistered=True)
    module = parse_ir(ctx, text, "a.mlir")
    assert 'r: "0x0400000001000000"' in program_text(ctx, module, PrintOptions())
