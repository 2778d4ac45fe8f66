"""
Operators on bits, and tests of floats.
"""

from collections.abc import Callable

from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.frontends.onnx.elementwise import binary, unary
from transom.frontends.onnx.node import Node, Unsupported


def bitwise_not(n: Node) -> SSAValue:
    value = n.input()
    return n.add(graph.NotOp(value))


def bit_shift(n: Node) -> SSAValue:
    direction = n.string_attr("direction", "")
    ops = {"LEFT": graph.ShiftLeftOp, "RIGHT": graph.ShiftRightOp}
    if direction not in ops:
        raise Unsupported(f"expected direction LEFT or RIGHT, but got '{direction}'")
    return n.add(ops[direction](n.input(0), n.input(1)))


def is_nan(n: Node) -> SSAValue:
    value = n.input()
    return n.add(graph.CompareOp("ne", value, value))


def is_inf(n: Node) -> SSAValue:
    value, element = n.input(), n.type().element_type
    positive = n.flag("detect_positive", default=True)
    negative = n.flag("detect_negative", default=True)
    if positive and negative:
        value = n.add(graph.AbsOp(value))
    elif not positive and not negative:
        raise Unsupported("a test for neither infinity is not supported")
    limit = n.splat(float("inf") if positive else float("-inf"), element)
    return n.add(graph.CompareOp("eq", value, limit))


HANDLERS: dict[str, Callable[[Node], SSAValue]] = {
    "Acos": unary(graph.AcosOp),
    "Acosh": unary(graph.AcoshOp),
    "Asin": unary(graph.AsinOp),
    "Asinh": unary(graph.AsinhOp),
    "Atan": unary(graph.AtanOp),
    "Atanh": unary(graph.AtanhOp),
    "BitShift": bit_shift,
    "BitwiseAnd": binary(graph.AndOp),
    "BitwiseNot": bitwise_not,
    "BitwiseOr": binary(graph.OrOp),
    "BitwiseXor": binary(graph.XorOp),
    "Cosh": unary(graph.CoshOp),
    "IsInf": is_inf,
    "IsNaN": is_nan,
    "Sinh": unary(graph.SinhOp),
    "Tan": unary(graph.TanOp),
}
