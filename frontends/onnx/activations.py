"""
Activations: functions of one tensor with some numbers as attributes.
"""

from collections.abc import Callable

from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.frontends.onnx.node import Node


class Numbers:
    """Arithmetic on the input of a node with numbers of its element type."""

    def __init__(self, n: Node) -> None:
        self.n = n
        self.x = n.input()
        self.element = n.type().element_type

    def number(self, value: float) -> SSAValue:
        return self.n.splat(value, self.element)

    def add(self, a: SSAValue, b: SSAValue | float) -> SSAValue:
        return self.n.add(graph.AddOp(a, self._value(b)))

    def mul(self, a: SSAValue, b: SSAValue | float) -> SSAValue:
        return self.n.add(graph.MulOp(a, self._value(b)))

    def div(self, a: SSAValue, b: SSAValue | float) -> SSAValue:
        return self.n.add(graph.DivOp(a, self._value(b)))

    def exp(self, a: SSAValue) -> SSAValue:
        return self.n.add(graph.ExpOp(a))

    def clamp(
        self, a: SSAValue, low: float | None, high: float | None = None
    ) -> SSAValue:
        return self.n.add(graph.ClampOp(a, low, high))

    def where(self, predicate: str, limit: float, yes: SSAValue, no: SSAValue):
        """`yes` where the input compares with a limit, else `no`."""
        test = self.n.add(graph.CompareOp(predicate, self.x, self.number(limit)))
        return self.n.add(graph.SelectOp(test, yes, no))

    def _value(self, b: SSAValue | float) -> SSAValue:
        return b if isinstance(b, SSAValue) else self.number(b)


def elu(n: Node) -> SSAValue:
    return _exponential(n, n.float_attr("alpha", 1.0))


def _exponential(n: Node, scale: float) -> SSAValue:
    """`x` above 0, else `scale * (exp(x) - 1)`."""
    f = Numbers(n)
    below = f.mul(f.add(f.exp(f.clamp(f.x, None, 0.0)), -1.0), scale)
    return f.where("lt", 0.0, below, f.x)


def selu(n: Node) -> SSAValue:
    alpha = n.float_attr("alpha", 1.67326319217681884765625)
    gamma = n.float_attr("gamma", 1.05070102214813232421875)
    f = Numbers(n)
    return f.mul(_exponential(n, alpha), gamma)


def celu(n: Node) -> SSAValue:
    alpha = n.float_attr("alpha", 1.0)
    f = Numbers(n)
    scaled = f.clamp(f.div(f.x, alpha), None, 0.0)
    below = f.mul(f.add(f.exp(scaled), -1.0), alpha)
    return f.where("lt", 0.0, below, f.x)


def softplus(n: Node) -> SSAValue:
    """`log(1 + exp(x))`, without overflow."""
    return _softplus(Numbers(n))


def _softplus(f: Numbers) -> SSAValue:
    size = f.n.add(graph.NegOp(f.n.add(graph.AbsOp(f.x))))
    rest = f.n.add(graph.LogOp(f.add(f.exp(size), 1.0)))
    return f.add(f.n.add(graph.ReluOp(f.x)), rest)


def softsign(n: Node) -> SSAValue:
    f = Numbers(n)
    return f.div(f.x, f.add(n.add(graph.AbsOp(f.x)), 1.0))


def thresholded_relu(n: Node) -> SSAValue:
    f = Numbers(n)
    return f.where("gt", n.float_attr("alpha", 1.0), f.x, f.number(0.0))


def hard_swish(n: Node) -> SSAValue:
    f = Numbers(n)
    return f.mul(f.x, f.clamp(f.add(f.mul(f.x, 1.0 / 6.0), 0.5), 0.0, 1.0))


def mish(n: Node) -> SSAValue:
    f = Numbers(n)
    return f.mul(f.x, n.add(graph.TanhOp(_softplus(f))))


def swish(n: Node) -> SSAValue:
    f = Numbers(n)
    scaled = f.mul(f.x, n.float_attr("alpha", 1.0))
    return f.mul(f.x, n.add(graph.SigmoidOp(scaled)))


def shrink(n: Node) -> SSAValue:
    f = Numbers(n)
    limit, bias = n.float_attr("lambd", 0.5), n.float_attr("bias", 0.0)
    above = f.where("gt", limit, f.add(f.x, -bias), f.number(0.0))
    return f.where("lt", -limit, f.add(f.x, bias), above)


HANDLERS: dict[str, Callable[[Node], SSAValue]] = {
    "Celu": celu,
    "Elu": elu,
    "HardSwish": hard_swish,
    "Mish": mish,
    "Selu": selu,
    "Shrink": shrink,
    "Softplus": softplus,
    "Softsign": softsign,
    "Swish": swish,
    "ThresholdedRelu": thresholded_relu,
}
