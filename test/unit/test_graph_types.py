"""
Tensor types with names of sizes, layouts and places; types read and written once.
"""

from io import StringIO

import pytest
from graph_cases import context, parse, value
from xdsl.dialects.builtin import StringAttr, TensorType, f32, i64
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from transom.dialects import graph
from transom.dialects.graph.refinement import common, refined
from transom.dialects.target import PlaceAttr

N = graph.Symbol("N", 1, 8)
LAYOUT = graph.LayoutAttr.get((1, 16), (1, 1))
PLACE = PlaceAttr.get("cpu")


def test_tensor():
    assert graph.tensor((2, 3), f32) == TensorType(f32, (2, 3))
    bare = graph.tensor((None, 3, -1), f32)
    assert bare == TensorType(f32, (graph.DYNAMIC, 3, graph.DYNAMIC))
    assert str(graph.tensor(("N", 3), f32)) == (
        'tensor<?x3xf32, #graph.desc<dims = ["N"]>>'
    )
    for named in (
        graph.tensor((N, 3, None), f32),
        graph.tensor((None, 3, None), f32, (N, None)),
        graph.tensor((-1, 3, -1), f32, (N, None, None)),
    ):
        assert graph.dim_symbols(named) == (N, None, None)
    full = graph.tensor((N, 3), f32, layout=LAYOUT, place=PLACE)
    assert (graph.layout_of(full), graph.place_of(full)) == (LAYOUT, PLACE)
    moved = graph.with_desc(full, layout=None, place=PLACE)
    assert moved == graph.tensor((N, 3), f32, place=PLACE)
    assert graph.desc_of(graph.with_desc(moved, layout=None, place=None)) == (
        graph.DescAttr.get((N,))
    )


def test_equal_types_are_one_object():
    zeros, negative = (
        graph.LayoutAttr.get((1, 16), (1, 1), fill) for fill in (0.0, -0.0)
    )
    assert graph.tensor((N, 4), f32, layout=zeros, place=PLACE) is (
        graph.tensor([N, 4], f32, layout=zeros, place=PLACE)
    )
    other = graph.tensor((2, 4), f32, layout=negative)
    assert graph.layout_of(graph.tensor((2, 4), f32, layout=zeros)) == zeros
    assert graph.layout_of(other) == negative


def test_names_are_checked_against_the_shape():
    wrong = TensorType(f32, (4, 3), graph.DescAttr.get((N,)))
    with pytest.raises(VerifyException, match="expected one entry of 'dims' per '\\?'"):
        graph.dim_symbols(wrong)


def test_layouts():
    assert LAYOUT.blocks(4) == (1, 16, 1, 1)
    assert LAYOUT.borders(4) == (0, 0, 1, 1)
    assert LAYOUT.fill_value == 0.0
    assert graph.layout_of(f32) is None


def test_symbols():
    assert N.admits(8) and not N.admits(0) and not N.admits(9)
    assert N.overlaps(graph.Symbol("N", 8)) and not N.overlaps(graph.Symbol("N", 9))
    assert N.narrowed(graph.Symbol("N", 2)) == graph.Symbol("N", 2, 8)
    assert N.widened(graph.Symbol("N", 2, 9)) == graph.Symbol("N", 1, 9)
    assert N.widened(graph.Symbol("N")) == graph.Symbol("N")
    assert str(graph.Symbol("M", None, 4)) == '"M" : ? to 4'


def test_what_two_types_say_together():
    def together(a: object, b: object) -> object:
        types = [graph.tensor((size,), f32) for size in (a, b)]  # pyright: ignore[reportArgumentType]  # sizes of any kind
        result = refined(*types)
        return None if result is None else result

    assert together(None, 4) == graph.tensor((4,), f32)
    assert together(4, None) == graph.tensor((4,), f32)
    assert together(4, 5) is None
    assert together(N, 4) == graph.tensor((4,), f32)
    assert together(9, N) is None
    assert together(N, None) == graph.tensor((N,), f32)
    assert together(N, graph.Symbol("N", 2)) == graph.tensor(
        (graph.Symbol("N", 2, 8),), f32
    )
    assert together("N", "M") is None
    declared = graph.tensor((None,), f32, layout=LAYOUT)
    assert refined(declared, graph.tensor((4,), f32)) == graph.tensor(
        (4,), f32, layout=LAYOUT
    )
    assert refined(declared, graph.tensor((4, 4), f32)) is None


def test_what_two_types_both_say():
    a, b = graph.tensor((N, 3, 4), f32), graph.tensor((N, 3, 5), f32)
    assert common(a, b) == graph.tensor((N, 3, None), f32)
    assert common(a, graph.tensor((2, 3, 4), f32)) == graph.tensor((None, 3, 4), f32)
    assert common(a, graph.tensor((N, 3), f32)) is None
    placed = graph.tensor((4,), f32, place=PLACE)
    assert common(placed, graph.tensor((4,), f32)) == graph.tensor((4,), f32)
    laid_out = graph.tensor((4,), f32, layout=LAYOUT)
    assert common(laid_out, graph.tensor((4,), f32)) is None


def test_constructors_carry_names_and_layouts():
    x, bias = value(N, 16, 4, 4), value(16, 1, 1)
    add = graph.AddOp(x, bias)
    assert graph.dim_symbols(add.declared_type()) == (N, None, None, None)
    laid_out = graph.RelayoutOp(x, LAYOUT)
    for op in (
        graph.ReluOp(laid_out),
        graph.AddOp(bias, laid_out),
        graph.CastOp(laid_out, i64),
    ):
        op.verify()
        assert graph.layout_of(op.declared_type()) == LAYOUT
    copy = graph.CopyOp(laid_out, PLACE)
    copy.verify()
    assert (copy.place, graph.layout_of(copy.declared_type())) == (PLACE, LAYOUT)


def test_a_declared_type_may_say_less_or_more():
    for declared in ("?x3", "4x3", "?x?"):
        parse(f"""
          %x = "test.op"() : () -> tensor<?x3xf32>
          %y = graph.relu %x : tensor<?x3xf32> -> tensor<{declared}xf32>
        """)


def test_a_type_is_read_once_per_parser_and_alias():
    def second(alias: str) -> graph.ReluOp:
        module = parse(f"""
          #d = #graph.desc<dims = ["{alias}"]>
          %x = "test.op"() : () -> tensor<?xf32, #d>
          %y = graph.relu %x : tensor<?xf32, #d>
          %z = graph.relu %y : tensor<?xf32, #d>
        """)
        op = list(module.ops)[2]
        assert isinstance(op, graph.ReluOp)
        assert op.input.type is op.result.type
        return op

    assert graph.dim_symbols(second("N").declared_type())[0] == graph.Symbol("N")
    assert graph.dim_symbols(second("M").declared_type())[0] == graph.Symbol("M")


@pytest.mark.parametrize(
    "type",
    [
        "tensor<4x?xf32>",
        'tensor<?xf32, #graph.desc<dims = ["a>b \\" <" : 1 to 2]>>',
        'tensor<?xf32, #graph.desc<dims = ["a"]> // with a > comment\n>',
        "tensor<4xf32 // -> >\n, #graph.desc<layout = #graph.layout<block = [2]>>>",
        "tensor<4xf32, {f = () -> ()}>",
        "!alias",
    ],
)
def test_spellings_of_types(type: str):
    text = f"""
      !alias = tensor<4xf32>
      %x = "test.op"() : () -> {type}
      %y = graph.neg %x : {type}
      %z = graph.add %y, %x : {type}, {type} -> {type}
    """
    module = parse(text)
    x, y, z = list(module.ops)
    assert x.results[0].type == y.results[0].type == z.results[0].type
    assert parse(str(module)).is_structurally_equivalent(module)


def test_types_are_printed_by_value():
    module = parse("""
      %x = "test.op"() : () -> tensor<4xf32>
      %y = graph.neg %x : tensor<4xf32>
    """)
    stream = StringIO()
    printer = Printer(stream)
    for _ in range(2):
        printer.print_op(module)
    assert stream.getvalue().count("graph.neg %x : tensor<4xf32>") == 2


def test_parser_reads_on_behind_a_known_type():
    text = "tensor<4xf32> tensor<4xf32>, 7"
    parser = Parser(context(), text)
    from transom.dialects.graph.syntax import parse_type

    first, second = parse_type(parser), parse_type(parser)
    assert first is second
    parser.parse_punctuation(",")
    assert parser.parse_integer() == 7


def test_file_attribute():
    file = graph.FileAttr.get("a/b.safetensors", 'the "w"')
    assert file.sha256 is None
    assert (file.path, file.tensor.data) == (StringAttr("a/b.safetensors"), 'the "w"')
    assert graph.FileAttr.get("b", "w", "0" * 64).sha256 == "0" * 64
