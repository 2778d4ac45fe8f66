"""
Graph ops built in Python, from numbers and lists as an importer has them.
"""

from collections.abc import Callable

import pytest
from graph_cases import context, parse, shape_of, value
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    bf16,
    f32,
    f64,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.test_value import create_ssa_value

from transom.dialects import graph
from transom.dialects.target import AnyOfAttr, PlaceAttr

PLACE = PlaceAttr.get("npu")


def built(text: str) -> graph.GraphOp:
    """The last op of a text."""
    op = parse(text).body.block.last_op
    assert isinstance(op, graph.GraphOp)
    return op


def same_op(op: graph.GraphOp, text: str) -> None:
    """Check that a built op is the one of a text, on operands of any name."""
    op.verify()
    expected = built(text)
    assert type(op) is type(expected)
    assert op.properties == expected.properties
    assert op.result_types == expected.result_types


X = '%x = "test.op"() : () -> tensor<1x4x8x8xf32>\n'


def test_convolution_and_pools():
    x, w = value(1, 4, 8, 8), value(6, 2, 3, 3)
    same_op(
        graph.Conv2dOp(x, w, strides=(2, 2), padding=[1, 1, 1, 1], groups=2),
        f'{X}%w = "test.op"() : () -> tensor<6x2x3x3xf32>\n'
        "%y = graph.conv2d %x, %w strides [2, 2] padding [1, 1, 1, 1] groups 2 "
        ": tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32> -> tensor<1x6x4x4xf32>",
    )
    same_op(
        graph.MaxPool2dOp(x, (2, 2), strides=(2, 2), ceil_mode=True, indices=True),
        f"{X}%y, %i = graph.max_pool2d %x kernel [2, 2] strides [2, 2] ceil_mode "
        ": tensor<1x4x8x8xf32> -> tensor<1x4x4x4xf32>, tensor<1x4x4x4xi64>",
    )
    same_op(
        graph.AvgPool2dOp(x, (3, 3), padding=(1, 1, 1, 1), count_include_pad=True),
        f"{X}%y = graph.avg_pool2d %x kernel [3, 3] padding [1, 1, 1, 1] "
        "count_include_pad : tensor<1x4x8x8xf32>",
    )


def test_defaults_are_there():
    conv = graph.Conv2dOp(value(1, 4, 8, 8), value(6, 4, 3, 3))
    assert conv.strides.get_values() == (1, 1)
    assert conv.padding.get_values() == (0, 0, 0, 0)
    assert conv.groups.value.data == 1
    parsed = built(
        f'{X}%w = "test.op"() : () -> tensor<6x4x3x3xf32>\n'
        "%y = graph.conv2d %x, %w "
        ": tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32> -> tensor<1x6x6x6xf32>"
    )
    assert parsed.properties == conv.properties


def test_reductions():
    x = value(1, 4, 8, 8)
    same_op(
        graph.ReduceOp("sum", x, axes=[1], keepdims=True),
        f"{X}%y = graph.reduce sum %x axes [1] keepdims "
        ": tensor<1x4x8x8xf32> -> tensor<1x1x8x8xf32>",
    )
    assert shape_of(graph.ReduceOp(graph.ReduceKind.MAX, x)) == ()
    arg = graph.ArgReduceOp("argmin", x, 1)
    assert (shape_of(arg), arg.declared_type().element_type) == ((1, 8, 8), i64)
    with pytest.raises(ValueError, match="'median' is not a valid ReduceKind"):
        graph.ReduceOp("median", x)


def test_elementwise():
    x, n = value(4), value(4, type=i32)
    clamp = graph.ClampOp(x, 0, 6)
    assert (clamp.min, clamp.max) == (FloatAttr(0.0, f32), FloatAttr(6.0, f32))
    assert graph.ClampOp(n, max=3).max == IntegerAttr(3, i32)
    assert graph.ClampOp(n, max=3).min is None
    assert graph.LeakyReluOp(x, 1).alpha == FloatAttr(1.0, f64)
    assert graph.CompareOp(graph.ComparePredicate.GE, x, x).predicate.data == "ge"
    assert graph.CastOp(x, bf16).declared_type() == TensorType(bf16, (4,))
    assert graph.BitcastOp(x, i32).declared_type() == TensorType(i32, (4,))
    add = graph.AddOp(graph.NegOp(x), x)
    assert add.lhs.owner is not x.owner
    assert graph.SoftmaxOp(x, 0).axis.value.data == 0


def test_movement():
    x = value(2, 3)
    assert graph.ReshapeOp(x, [graph.InputDim(1), -1]).shape.data == (
        graph.InputDim(1),
        -1,
    )
    assert shape_of(graph.BroadcastOp(x, TensorType(f32, (4, 2, 3)))) == (4, 2, 3)
    assert graph.PadOp(x, (0, 0), (1, 1)).value == FloatAttr(0.0, f32)
    assert graph.PadOp(value(2, type=i1), (0,), (1,), True).value == IntegerAttr(1, i1)
    assert graph.SliceOp(x, (0, 0), (1, 1)).steps.get_values() == (1, 1)
    assert graph.CumulateOp("sum", x, 1, reverse=True).reverse == UnitAttr()
    assert graph.CumulateOp("max", x, 0).kind.data is graph.CumulateKind.MAX
    assert graph.ArgsortOp(x, 1, descending=True).descending == UnitAttr()
    assert graph.ArgsortOp(x, 1).declared_type() == TensorType(i64, (2, 3))
    assert graph.ArgsortOp(x, 1, first=2).declared_type() == TensorType(i64, (2, 2))
    assert graph.GatherOp(x, value(type=i64)).axis.value.data == 0
    lists = DenseArrayBase.from_list(i64, [1, 0])
    assert graph.TransposeOp(x, lists).permutation is lists


def test_constants_and_weights():
    type = graph.tensor((2,), i8)
    splat = graph.ConstantOp.splat(type, 3)
    splat.verify()
    assert splat.value.get_values() == (3, 3)
    pair = graph.ConstantOp.from_bytes(type, b"\x01\xff")
    assert pair.value.get_values() == (1, -1)
    too_few = graph.ConstantOp.from_bytes(type, b"\x01")
    with pytest.raises(VerifyException, match="expected 2 elements for 'tensor<2xi8>'"):
        too_few.verify()
    weight = graph.WeightOp("w", type, graph.FileAttr.get("m.safetensors", "w"))
    weight.verify()
    reference = graph.WeightRefOp(weight)
    assert reference.weight == SymbolRefAttr("w")
    assert reference.declared_type() == type
    assert graph.WeightRefOp("w", type).weight == reference.weight
    module = parse("graph.weight @w = dense<0> : tensor<2xi8>")
    module.body.block.add_op(reference)
    assert graph.weight_of(reference) is module.body.block.first_op


def test_weights_are_looked_up_again_when_they_change():
    module = parse("""
    graph.weight @v = dense<0> : tensor<2xi8>
    graph.weight @w = dense<1> : tensor<2xi8>
    """)
    v, w = module.body.block.ops
    assert isinstance(v, graph.WeightOp) and isinstance(w, graph.WeightOp)
    reference = graph.WeightRefOp(w)
    module.body.block.add_op(reference)
    assert graph.weight_of(reference) is w
    w.sym_name, v.sym_name = StringAttr("u"), StringAttr("w")
    assert graph.weight_of(reference) is v
    v.detach()
    assert graph.weight_of(reference) is None
    module.body.block.add_op(v)
    assert graph.weight_of(reference) is v


def test_groups_and_marks():
    x = value(4)
    body = Block(arg_types=[x.type])
    result = graph.NegOp(body.args[0])
    body.add_ops((result, graph.YieldOp(result)))
    fused = graph.FusedOp([x], [x.type], Region(body))
    fused.verify()
    empty = graph.CompositeOp("acme.id", [x], [x.type])
    empty.body.block.add_op(graph.YieldOp(empty.body.block.args[0]))
    empty.verify()
    assert empty.composite == StringAttr("acme.id")
    region = graph.RegionOp(PLACE, [x], [x.type])
    region.body.block.add_op(graph.YieldOp(region.body.block.args[0]))
    region.verify()
    hint = graph.OnDeviceOp(x, AnyOfAttr.get([PLACE]), "hint")
    hint.verify()
    assert hint.mark.data == graph.PlaceMark.HINT


MISTAKES: list[tuple[Callable[[SSAValue], graph.GraphOp], str]] = [
    (lambda x: graph.AddOp(x, value(3)), "expected shapes that broadcast"),
    (lambda x: graph.SoftmaxOp(x, 1), "expected 0 <= axis < 1, but got 1"),
    (lambda x: graph.ReshapeOp(x, [3]), "expected a shape for the elements"),
    (lambda x: graph.ReshapeOp(x, [-2]), "expected sizes and -1 at most once"),
    (
        lambda x: graph.CastOp(create_ssa_value(f32), i8),
        "expected a ranked tensor, but got 'f32'",
    ),
    (
        lambda x: graph.NegOp(create_ssa_value(f32)),
        "expected a ranked tensor, but got 'f32'",
    ),
    (
        lambda x: graph.MatmulOp(create_ssa_value(f32), x),
        "expected a ranked tensor, but got 'f32'",
    ),
]


@pytest.mark.parametrize("make, message", MISTAKES)
def test_mistakes_are_found_at_once(
    make: Callable[[SSAValue], graph.GraphOp], message: str
):
    x = value(4)
    with pytest.raises(VerifyException, match=message):
        make(x)
    assert not x.uses, "an op that could not be built uses nothing"


def test_context_loads_the_dialect():
    assert context().get_optional_op("graph.add") is graph.AddOp
