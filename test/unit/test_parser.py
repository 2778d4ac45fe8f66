"""The parser: places on everything, and a positioned error for all bad text."""

import random
from io import StringIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    ModuleOp,
    StringAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from transom.dialects.diagnostics import OpError
from transom.dialects.lexer import TransomLexer
from transom.dialects.parser import (
    parse_attribute_prefix,
    parse_attribute_text,
    parse_ir,
)
from transom.dialects.verifier import verify_module
from transom.registry import new_context


@pytest.fixture(scope="module")
def ctx() -> Context:
    return new_context()


def text_of(module: ModuleOp, debuginfo: bool = False) -> str:
    output = StringIO()
    Printer(stream=output, print_debuginfo=debuginfo).print_op(module)
    return output.getvalue()


def error_of(ctx: Context, text: str | bytes) -> str:
    with pytest.raises(OpError) as info:
        verify_module(parse_ir(ctx, text, "a.mlir"))
    return str(info.value)


SAMPLE = """\
// A module with all that has a place.
#map = affine_map<(d0) -> (d0)>
func.func @f(%x: i32, %c: i1, %i: index) -> i32 {
  scf.for %k = %i to %i step %i {
    %q = arith.addi %x, %x : i32 loc(unknown)
    %r = arith.addi %x, %x : i32 loc("Conv"("m.onnx":3:1))
    %s = arith.addi %x, %x : i32 loc(fused["a":1:1, loc("b":2:2), "N"])
    %t = arith.addi %x, %x : i32 loc(callsite("a":1:1 at "b":2:2))
  }
  cf.cond_br %c, ^64(%x : i32), ^bb64
^64(%y: i32):
  func.return %y : i32
^bb64:
  %z = "test.op"() {a = [1, {b = dense<[1.0, 2.0]> : tensor<2xf32>}],
                    m = #map} : () -> i32
  func.return %z : i32
}
"""


def test_every_op_and_argument_has_a_place(ctx: Context) -> None:
    module = parse_ir(ctx, SAMPLE, "a.mlir", line_offset=10)
    where = {op.name: op.location for op in module.walk()}
    assert str(module.location) == 'loc("a.mlir":11:1)'
    assert str(where["func.func"]) == 'loc("a.mlir":13:1)'
    assert str(where["scf.for"]) == 'loc("a.mlir":14:3)'
    # The terminator that is not in the text is where its loop is.
    assert str(where["scf.yield"]) == 'loc("a.mlir":14:3)'
    func = next(op for op in module.walk() if isinstance(op, FuncOp))
    assert [str(arg.location) for arg in func.args] == [
        'loc("a.mlir":13:14)',
        'loc("a.mlir":13:23)',
        'loc("a.mlir":13:31)',
    ]
    label = func.body.blocks[1]
    assert str(label.args[0].location) == 'loc("a.mlir":21:5)'


def test_written_locations_stay_and_come_back(ctx: Context) -> None:
    module = parse_ir(ctx, SAMPLE, "a.mlir")
    text = text_of(module, debuginfo=True)
    assert "loc(unknown)" in text
    assert 'loc("Conv"("m.onnx":3:1))' in text
    assert text_of(parse_ir(ctx, text, "other.mlir"), debuginfo=True) == text


def test_unknown_stays_unknown_everywhere(ctx: Context) -> None:
    text = """\
builtin.module {
  func.func @f(%x: i32 loc(unknown), %c: i1 loc("a":1:1)) {
    scf.if %c {
      "test.op"() : () -> () loc(unknown)
    } loc(unknown)
    cf.br ^bb1(%x : i32) loc(unknown)
  ^bb1(%y: i32 loc(unknown)):
    func.return loc(unknown)
  } loc(unknown)
} loc(unknown)"""
    assert text_of(parse_ir(ctx, text), debuginfo=True) == text


@pytest.mark.parametrize("text", ["", " \n", "// nothing\n", "#a = i32\n"])
def test_text_without_an_op_is_an_empty_module(ctx: Context, text: str) -> None:
    module = parse_ir(ctx, text, "a.mlir")
    assert not module.body.block.ops
    assert isinstance(module.location, FileLineColLoc)


def test_numeric_and_named_labels_stay_apart(ctx: Context) -> None:
    module = parse_ir(ctx, SAMPLE, "a.mlir")
    func = next(op for op in module.walk() if isinstance(op, FuncOp))
    last = func.body.blocks[0].last_op
    assert last is not None
    assert list(last.successors) == list(func.body.blocks)[1:]


def test_text_beyond_ascii_stays_text(ctx: Context) -> None:
    module = parse_ir(ctx, '"test.op"() {a = "é", b = "\\FF"} : () -> ()')
    again = parse_ir(ctx, text_of(module))
    for op in (module.body.ops.first, again.body.ops.first):
        assert op is not None
        assert op.attributes == {"a": StringAttr("é"), "b": BytesAttr(b"\xff")}


def test_nul_in_a_string(ctx: Context) -> None:
    parse_ir(ctx, '"test.op"() {a = "x\0y"} : () -> ()')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "\n foo.bar",
            "a.mlir:2:2: error: unknown op 'foo.bar' of unknown dialect 'foo'",
        ),
        (
            '%a = "arit.addi"() : () -> i32',
            "a.mlir:1:7: error: unknown op 'arit.addi' of unknown dialect 'arit'; "
            "did you mean 'arith'?",
        ),
        (
            "func.func @f(%x: i32) {\n  %a = arith.adddi %x, %x : i32\n}",
            "a.mlir:2:8: error: unknown op 'arith.adddi'; did you mean 'arith.addi'?",
        ),
        (  # What all names start with makes none of them near.
            "%a = linalg.contract ins(%x)",
            "a.mlir:1:6: error: unknown op 'linalg.contract'; any op of it can be "
            "written as 'linalg.generic', and docs/linalg.md lists those with names of "
            "their own",
        ),
        (
            '"test.op"() {a = #builtin.itn<3>} : () -> ()',
            "a.mlir:1:19: error: unknown attribute 'builtin.itn'; "
            "did you mean 'builtin.int'?",
        ),
        (
            '"test.op"() : () -> !llvm.ptrr',
            "a.mlir:1:22: error: unknown type 'llvm.ptrr'; did you mean 'llvm.ptr'?",
        ),
        (
            '"test.op"() {a = #builtin<itn<3>>} : () -> ()',
            "a.mlir:1:27: error: unknown attribute 'builtin.itn'; "
            "did you mean 'builtin.int'?",
        ),
        (
            "%a = arith.addi %b, %b : i32",
            "a.mlir:1:1: error: value '%b' is used but not defined",
        ),
        (
            "func.func @f(%x: i16777216) {\n}",
            "a.mlir:1:18: error: invalid integer width: expected at most 16777215 "
            "bits, but got 16777216",
        ),
        (
            "func.func @f(%x: ui99999999999) {\n}",
            "a.mlir:1:18: error: invalid integer width: expected at most 16777215 "
            "bits, but got 99999999999",
        ),
        (
            '"test.op"() : () -> tensor<4x99999999999999999999xf32>',
            "a.mlir:1:30: error: expected a dimension below 2^63, "
            "but got 99999999999999999999",
        ),
        (
            f'"test.op"() {{a = {"1" * 5000}}} : () -> ()',
            "a.mlir:1:18: error: expected a number of at most 4096 digits",
        ),
        (
            '"test.op"() {a = ³1} : () -> ()',
            "a.mlir:1:18: error: expected a number of digits 0 to 9, but got '³1'",
        ),
        (
            '"test.op"() {a = dense<0.0> : tensor<4xcomplex<i32>>} : () -> ()',
            "a.mlir:1:24: error: expected complex values, such as (0.0, 1.0)",
        ),
        (
            '"test.op"() {a = dense<[1, 2]> : tensor<2xi66>} : () -> ()',
            "a.mlir:1:34: error: expected elements of at most 64 bits, but got 'i66'",
        ),
        (
            '"test.op"() {a = dense<1> : tensor<2xcomplex<i65>>} : () -> ()',
            "a.mlir:1:29: error: expected elements of at most 64 bits, but got 'i65'",
        ),
        (
            "%v = arith.constant dense<1> : vector<2xi65>",
            "a.mlir:1:32: error: expected elements of at most 64 bits, but got 'i65'",
        ),
        (
            '"test.op"() {a = #target.any_of} : () -> ()',
            "a.mlir:1:32: error: expected 1 parameter ('places') of 'target.any_of'",
        ),
        (
            '"test.op"() {a = dense<0x1FFFFFFFF> : tensor<2xf32>} : () -> ()',
            "a.mlir:1:24: error: expected the 32 bits of 'f32', but got 0x1FFFFFFFF",
        ),
        (
            '"test.op"() {a = dense<300> : tensor<4xi8>} : () -> ()',
            "a.mlir:1:24: error: expected a value of 'i8', but got 300",
        ),
        (
            '"test.op"() {a = dense<[]> : tensor<100000000xf32>} : () -> ()',
            "a.mlir:1:30: error: expected at most 268435456 bytes of elements that "
            "differ, but got 400000000",
        ),
        (
            f'"test.op"() {{a = {"[" * 1500}{"]" * 1500}}} : () -> ()',
            "a.mlir:1:1018: error: expected at most 1000 levels of nesting",
        ),
        (
            '"test.op"() ({' * 1200 + "})" * 1200,
            "a.mlir:1:14014: error: expected at most 1000 levels of nesting",
        ),
        (
            f'"test.op"() {{a = affine_map<() -> ({"(" * 99999})>}} : () -> ()',
            "error: expected less nesting",
        ),
        (
            "%0 = \n",
            "a.mlir:2:1: error: expected the name of an operation, but got the end of "
            "the text",
        ),
        (b"\n  \xff", "a.mlir:2:3: error: expected UTF-8 text"),
        (
            b"PK\x03\x04\xff",
            "a.mlir:1:5: error: expected IR text, but got a zip file; saved programs "
            "are shown by 'transom show', and run from Python: 'transom.runtime.load'",
        ),
        ('"', "a.mlir:1:1: error: expected '\"' at the end of a string"),
        (
            "{-# external_resources : {a} #-}",
            "a.mlir:1:28: error: expected ':', but got '}'",
        ),
        (
            "func.func @f() { cf.br ^b }",
            'a.mlir:1:24: note: reference to block "^b" without implementation',
        ),
        (
            '"test.op"() ({^a: func.return ^a: }) : () -> ()',
            "a.mlir:1:15: note: originally declared here",
        ),
        (
            "func.func @f() { cf.br ^b ^b: cf.br ^b ^b: func.return }",
            "a.mlir:1:40: error: re-declaration of block 'b'\n"
            "a.mlir:1:27: note: originally declared here",
        ),
        # An attribute that does not verify has a place, inside an op too.
        (
            '"test.op"() {\n  a = dense<1> : vector<4x!test.none>} : () -> ()',
            "a.mlir:2:",
        ),
        (
            "%v = arith.constant 300 : i8",
            "a.mlir:1:21: error: integer value 300 is out of range",
        ),
        # What xDSL takes and then can not print, or MLIR refuses.
        (
            "%v = arith.constant 1.0 : f80",
            "a.mlir:1:21: error: expected no constant of type 'f80'",
        ),
        (
            '"test.op"() : () -> vector<2x0xf32>',
            "a.mlir:1:21: error: expected sizes above 0, but got 'vector<2x0xf32>'",
        ),
        (
            '"test.op"() : () -> tensor<?x4294967296x4294967296xi8>',
            "a.mlir:1:21: error: expected at most 72057594037927936 elements, but got "
            "'tensor<?x4294967296x4294967296xi8>'",
        ),
        # The region defines the name before its op is made.
        (
            """"test.op"(%a) ({
                "test.op"() ({
                ^bb0(%a: i1):
                }) : () -> ()
            }) : (i1) -> ()""",
            "value '%a' is used but not defined",
        ),
        (
            """%y = graph.fused (%a = %a : tensor<4xf32>) -> (tensor<4xf32>) {
                graph.yield %a : tensor<4xf32>
            }""",
            "a.mlir:1:1: error: value '%a' is used but not defined",
        ),
    ],
)
def test_bad_text(ctx: Context, text: str | bytes, message: str) -> None:
    assert message in error_of(ctx, text)


def test_a_known_dialect_has_no_unregistered_ops() -> None:
    context = new_context(allow_unregistered=True)
    parse_ir(context, '"foo.bar"() : () -> () "test.any"() : () -> ()')
    message = "unknown op 'arith.any'"
    assert message in error_of(context, '"arith.any"() : () -> ()')
    for name in ("foo.bar", "test.any"):
        assert error_of(context, f"%0 = {name} %x") == (
            f"a.mlir:1:6: error: '{name}' has no short form; "
            f"write it as '\"{name}\"(…) : (…) -> …'"
        )


def test_refuses_a_bare_op_where_a_module_is_asked_for(ctx: Context) -> None:
    with pytest.raises(OpError, match=r"expected 'builtin\.module' around"):
        parse_ir(ctx, "func.func @f() { func.return }", implicit_module=False)


def test_parses_what_is_nested_deep(ctx: Context) -> None:
    depth = 900
    text = '"test.op"() ({' * depth + "}) : () -> ()" * depth
    module = parse_ir(ctx, text)
    again = parse_ir(ctx, text_of(module.clone()))
    assert sum(1 for _ in again.walk()) == depth + 1


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("dense<1> : tensor<2x2xi8>", (1, 1, 1, 1)),
        ("dense<-1> : tensor<2xi64>", (-1, -1)),
        ("dense<true> : tensor<3xi1>", (-1, -1, -1)),
        ("dense<1.5> : tensor<2xbf16>", (1.5, 1.5)),
        ("dense<2> : tensor<2xf32>", (2.0, 2.0)),
        ("dense<7> : tensor<2xindex>", (7, 7)),
        ("dense<3> : tensor<i32>", (3,)),
        ("dense<1.0> : tensor<0xf32>", ()),
        ("dense<[1, 2]> : tensor<2xi32>", (1, 2)),
    ],
)
def test_dense_literals_are_as_xdsl_reads_them(
    ctx: Context, text: str, values: tuple[float, ...]
) -> None:
    attr = parse_attribute_text(ctx, text)
    assert isinstance(attr, DenseIntOrFPElementsAttr)
    assert attr.get_values() == values
    assert attr == Parser(ctx, text).parse_attribute()


@pytest.mark.parametrize(
    "text",
    [
        "dense<[1.000000e+00, 0x7FC00000, 0xFF800000]> : tensor<3xf32>",
        "dense<0x7F800000> : tensor<2xf32>",
        "dense<0x7FF0000000000000> : tensor<2xf64>",
        "dense<0x7F80> : tensor<2xbf16>",
        "dense<0x7C00> : tensor<2xf16>",
    ],
)
def test_floats_without_a_decimal_are_their_bits(ctx: Context, text: str) -> None:
    attr = str(parse_attribute_text(ctx, text))
    assert attr.lower() == text.lower()
    assert str(parse_attribute_text(ctx, attr)) == attr


@pytest.mark.parametrize(
    "number", ["0x7ff0000000000000", "0xfff0000000000000", "0x7ff8000000000000"]
)
def test_float_properties_may_be_bits(ctx: Context, number: str) -> None:
    text = f"""
    func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {{
      %y = graph.leaky_relu %x alpha {number} : tensor<3xf32>
      func.return %y : tensor<3xf32>
    }}
    """
    module = parse_ir(ctx, text, "a.mlir")
    assert f"alpha {number} : tensor" in str(module)
    assert str(parse_ir(ctx, str(module), "a.mlir")) == str(module)


def test_hexadecimal_integers_are_values(ctx: Context) -> None:
    attr = parse_attribute_text(ctx, "dense<0x10> : tensor<2xi32>")
    assert str(attr) == "dense<16> : tensor<2xi32>"


def test_attribute_prefix_ends_after_the_attribute(ctx: Context) -> None:
    text = "a=dense<1> : tensor<2xi8>  next"
    attr, end = parse_attribute_prefix(ctx, text, 2)
    assert str(attr) == "dense<1> : tensor<2xi8>"
    assert text[end:] == "  next"


def test_attribute_text_is_one_attribute(ctx: Context) -> None:
    with pytest.raises(ParseError, match="expected the end, but got 'i8'"):
        parse_attribute_text(ctx, "i32 i8")


# The lexer agrees with xDSL's.

TOKENS = """
-> : , ( ) } [ ] < > = + * ? / | { {-# #-} - ... @a @"b_c" #a !b ^c %d %0 #0
a.b_$ x1 0x1F 0xi 0 12 1.5 1.e-3 1. "s" "\\0A" "unclosed // é
"""


@given(
    st.lists(
        st.tuples(
            st.sampled_from(TOKENS.split()), st.sampled_from(["", " ", "\n", "//x\n"])
        ),
        max_size=12,
    )
)
@settings(deadline=None, max_examples=300)
def test_lexes_as_xdsl_does(parts: list[tuple[str, str]]) -> None:
    text = "".join(a + b for a, b in parts)
    assert lex(TransomLexer, text) == lex(MLIRLexer, text)


def lex(cls: type[MLIRLexer], text: str) -> list[object]:
    lexer = cls(Input(text, "t"))
    found: list[object] = []
    while True:
        try:
            token = lexer.lex()
        except ParseError as e:
            found.append(e.span.start)
            return found
        kind, span = token.kind, token.span
        found.append((kind, span.start, span.end))
        if kind == MLIRTokenKind.EOF:
            return found


# Never another exception: random edits of a good text.


@given(st.integers(min_value=0, max_value=1 << 32))
@settings(deadline=None, max_examples=150)
def test_mutated_text_is_parsed_or_refused(seed: int) -> None:
    context = new_context(allow_unregistered=seed % 2 == 0)
    text = mutate(random.Random(seed), SAMPLE)
    try:
        verify_module(parse_ir(context, text, "a.mlir"))
    except OpError as e:
        assert e.diagnostic().position is not None


WORDS = '-1 0 "a" %x ^64 @f { } ( ) [ ] < > : , = i32 i0 index none dense loc #map'


def mutate(rng: random.Random, text: str) -> str:
    for _ in range(rng.randint(1, 3)):
        a = rng.randrange(len(text) + 1)
        b = min(len(text), a + rng.choice((0, 0, 1, 2, 8, 40)))
        new = rng.choice(
            ("", rng.choice(WORDS.split()), chr(rng.randrange(1, 300)), text[a:b] * 2)
        )
        text = text[:a] + new + text[b:]
    return text
