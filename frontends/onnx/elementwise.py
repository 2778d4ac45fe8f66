"""
Element-wise operators.
"""

from collections.abc import Callable
from functools import reduce

from xdsl.dialects.builtin import AnyFloat, f64, i1
from xdsl.ir import Operation, SSAValue

from transom.dialects import graph
from transom.dialects.dtypes import element_type
from transom.dialects.graph.desc import AnyTensor
from transom.dialects.graph.elements import bit_width
from transom.dialects.onnx_weights import dtype_of_kind, kind_name
from transom.frontends.onnx.node import (
    Node,
    Unsupported,
    positive_axis,
    shape_of,
    type_of,
)
from transom.frontends.onnx.small_types import decoded, encoded, small_type
from transom.frontends.onnx.values import entries

Unary = Callable[[SSAValue], Operation]
Binary = Callable[[SSAValue, SSAValue], Operation]


def unary(op: Unary) -> Callable[[Node], SSAValue]:
    return lambda n: n.add(op(n.input()))


def binary(op: Binary) -> Callable[[Node], SSAValue]:
    def handler(n: Node) -> SSAValue:
        return n.add(op(n.input(0), second_operand(n)))

    return handler


def second_operand(n: Node) -> SSAValue:
    """
    The second input. Before opset 7 attributes say that it broadcasts, and from which
    dimension of the first one on it has its own.
    """
    value = n.input(1)
    if n.opset >= 7:
        return value
    if not n.flag("broadcast"):
        n.ignore("axis")
        return value
    rank, own = n.rank(0), shape_of(value)
    axis = positive_axis(n.int_attr("axis", rank - len(own)), rank + 1)
    behind = rank - axis - len(own)
    if behind < 0:
        raise Unsupported(f"expected at most {rank - axis} dimensions, but got {own}")
    return n.reshape(value, [*entries(value), *[1] * behind]) if behind else value


def fold(op: Binary) -> Callable[[Node], SSAValue]:
    """An operator on any number of inputs, from the left."""
    return lambda n: reduce(lambda a, b: n.add(op(a, b)), n.inputs())


def mean(n: Node) -> SSAValue:
    values = n.inputs()
    total = reduce(lambda a, b: n.add(graph.AddOp(a, b)), values)
    count = n.splat(float(len(values)), type_of(total).element_type)
    return n.add(graph.DivOp(total, count))


def compare(predicate: str) -> Callable[[Node], SSAValue]:
    return binary(lambda a, b: graph.CompareOp(predicate, a, b))


def identity(n: Node) -> SSAValue:
    return n.input()


def dropout(n: Node) -> list[SSAValue]:
    """The identity, as models are imported for inference; the mask keeps everything."""
    n.ignore("ratio", "seed", "is_test")
    if n.has(2) and n.scalar(2) and (not n.has(1) or n.scalar(1)):
        raise Unsupported("random numbers are not supported")
    value = n.input()
    if n.output_count() < 2:
        return [value]
    if n.opset < 12:
        raise Unsupported("the mask before opset 12 is not supported")
    if -1 in n.shape():
        raise Unsupported("the mask of sizes that are not static is not supported")
    kept = n.add(graph.BroadcastOp(n.splat(1, i1), n.shape()))
    return [value, kept]


def cast(n: Node) -> SSAValue:
    kind, source = n.int_attr("to"), n.small_type(0)
    small, dtype = small_type(kind), dtype_of_kind(kind)
    saturate = n.int_attr("saturate", 1) != 0
    mode = n.string_attr("round_mode", "up")
    x = n.input() if source is None else decoded(n, n.input(), source)
    if small is not None:
        code = encoded(n, x, small, saturate=saturate, round_mode=mode)
        return n.small(code, small)
    if dtype is None:
        raise Unsupported(f"elements of type {kind_name(kind)} are not supported")
    return n.add(graph.CastOp(x, element_type(dtype)))


def clip(n: Node) -> SSAValue:
    if n.opset < 11:
        low = n.float_attr("min", 0.0) if n.given("min") else None
        high = n.float_attr("max", 0.0) if n.given("max") else None
        return n.add(graph.ClampOp(n.input(), low, high))
    value = n.input()
    if n.has(1):
        value = n.add(graph.MaximumOp(value, n.input(1)))
    if n.has(2):
        value = n.add(graph.MinimumOp(value, n.input(2)))
    return value


def leaky_relu(n: Node) -> SSAValue:
    return n.add(graph.LeakyReluOp(n.input(), n.float_attr("alpha", 0.01)))


def gelu(n: Node) -> SSAValue:
    if n.string_attr("approximate", "none") != "none":
        raise Unsupported("the approximation by tanh is not supported")
    return n.add(graph.GeluOp(n.input()))


def mod(n: Node) -> SSAValue:
    """The rest has the sign of the dividend with 'fmod', else that of the divisor."""
    x, y = n.input(0), n.input(1)
    truncates = n.flag("fmod")
    if truncates == is_float(n.type()):  # as 'graph.mod' of these elements
        return n.add(graph.ModOp(x, y))
    if truncates:
        whole = n.add(graph.MulOp(n.add(graph.DivOp(x, y)), y))
        return n.add(graph.SubOp(x, whole))
    rest = n.add(graph.ModOp(x, y))
    zero = n.splat(0, n.type().element_type)
    signs = [n.add(graph.CompareOp("lt", value, zero)) for value in (rest, y)]
    differs = n.add(graph.CompareOp("ne", *signs))
    is_rest = n.add(graph.CompareOp("ne", rest, zero))
    moves = n.add(graph.AndOp(differs, is_rest))
    return n.add(graph.SelectOp(moves, n.add(graph.AddOp(rest, y)), rest))


def bit_cast(n: Node) -> SSAValue:
    """A truth value is a byte of 0 or 1."""
    kind, value = n.int_attr("to"), n.input()
    dtype = dtype_of_kind(kind)
    if dtype is None:
        raise Unsupported(f"elements of type {kind_name(kind)} are not supported")
    target = element_type(dtype)
    if type_of(value).element_type == i1:
        if bit_width(target) != 8:
            raise Unsupported(f"expected a result of 8 bits, but got '{target}'")
        return n.add(graph.CastOp(value, target))
    if target == i1:
        raise Unsupported("bytes other than 0 and 1 are no truth values")
    return n.add(graph.BitcastOp(value, target))


def power(n: Node) -> SSAValue:
    base, exponent = n.input(0), second_operand(n)
    if is_float(type_of(exponent)) and not is_float(type_of(base)):
        wide = (n.add(graph.CastOp(value, f64)) for value in (base, exponent))
        power = n.add(graph.PowOp(*wide))
        return n.add(graph.CastOp(power, type_of(base).element_type))
    if type_of(base).element_type != type_of(exponent).element_type:
        exponent = n.add(graph.CastOp(exponent, type_of(base).element_type))
    return n.add(graph.PowOp(base, exponent))


def is_float(type: AnyTensor) -> bool:
    return isinstance(type.element_type, AnyFloat)


def prelu(n: Node) -> SSAValue:
    x, slope = n.input(0), n.input(1)
    if n.opset < 7 and n.rank(1) == 1 and n.shape(1) != (1,):  # one for each channel
        slope = n.reshape(slope, [-1, *[1] * (n.rank() - 2)])
    zero = n.splat(0, n.type().element_type)
    negative = n.add(graph.CompareOp("lt", x, zero))
    return n.add(graph.SelectOp(negative, n.add(graph.MulOp(x, slope)), x))


def hard_sigmoid(n: Node) -> SSAValue:
    x, element = n.input(), n.type().element_type
    scaled = n.add(graph.MulOp(x, n.splat(n.float_attr("alpha", 0.2), element)))
    moved = n.add(graph.AddOp(scaled, n.splat(n.float_attr("beta", 0.5), element)))
    return n.add(graph.ClampOp(moved, 0.0, 1.0))


HANDLERS: dict[str, Callable[[Node], SSAValue | list[SSAValue]]] = {
    "Abs": unary(graph.AbsOp),
    "Add": binary(graph.AddOp),
    "And": binary(graph.AndOp),
    "BitCast": bit_cast,
    "Cast": cast,
    "Ceil": unary(graph.CeilOp),
    "Clip": clip,
    "Cos": unary(graph.CosOp),
    "Div": binary(graph.DivOp),
    "Dropout": dropout,
    "Equal": compare("eq"),
    "Erf": unary(graph.ErfOp),
    "Exp": unary(graph.ExpOp),
    "Floor": unary(graph.FloorOp),
    "Gelu": gelu,
    "Greater": compare("gt"),
    "GreaterOrEqual": compare("ge"),
    "HardSigmoid": hard_sigmoid,
    "Identity": identity,
    "LeakyRelu": leaky_relu,
    "Less": compare("lt"),
    "LessOrEqual": compare("le"),
    "Log": unary(graph.LogOp),
    "Max": fold(graph.MaximumOp),
    "Mean": mean,
    "Min": fold(graph.MinimumOp),
    "Mod": mod,
    "Mul": binary(graph.MulOp),
    "Neg": unary(graph.NegOp),
    "Not": unary(graph.NotOp),
    "Or": binary(graph.OrOp),
    "PRelu": prelu,
    "Pow": power,
    "Reciprocal": unary(graph.ReciprocalOp),
    "Relu": unary(graph.ReluOp),
    "Round": unary(graph.RoundOp),
    "Sigmoid": unary(graph.SigmoidOp),
    "Sign": unary(graph.SignOp),
    "Sin": unary(graph.SinOp),
    "Sqrt": unary(graph.SqrtOp),
    "Sub": binary(graph.SubOp),
    "Sum": fold(graph.AddOp),
    "Tanh": unary(graph.TanhOp),
    "Where": lambda n: n.add(graph.SelectOp(n.input(0), n.input(1), n.input(2))),
    "Xor": binary(graph.XorOp),
}
