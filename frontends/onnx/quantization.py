"""
Numbers as integers with a scale and a zero point, and arithmetic on such.
"""

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import AnyFloat, f32, f64, i8, i32
from xdsl.ir import Attribute, SSAValue

from transom.dialects import graph
from transom.dialects.dtypes import element_type
from transom.dialects.graph.elements import ui8
from transom.dialects.graph.quantization import QUANTIZED, SUMS
from transom.dialects.onnx_weights import dtype_of_kind, kind_name
from transom.frontends.onnx.layers import product
from transom.frontends.onnx.node import Node, Unsupported, positive_axis, shape_of
from transom.frontends.onnx.padding import padded_with
from transom.frontends.onnx.small_types import (
    SmallType,
    clamped,
    decoded,
    encoded,
    small_type,
)
from transom.frontends.onnx.values import (
    cast,
    cut,
    elements_of,
    repeated,
)
from transom.frontends.onnx.windows import Window, convolve, kernel_of, window_of

BYTES = (i8, ui8)


class Steps:
    """How scales and zero points of a node belong to the elements of its input."""

    def __init__(self, n: Node) -> None:
        self.n = n
        self.axis = n.int_attr("axis", 1)
        self.block = n.int_attr("block_size", 0)
        if self.block < 0:
            raise Unsupported(f"expected 'block_size' of 0 and more, not {self.block}")

    def fit(self, value: SSAValue) -> SSAValue:
        """A scale or zero point in a shape that broadcasts with the input."""
        n, own, shape = self.n, shape_of(value), self.n.shape()
        if self.block:
            return self._blocks(value)
        if len(own) == 0 or own == (1,):
            return n.reshape(value, [])
        if len(own) != 1:
            raise Unsupported(
                f"expected a scale or a row of them, but got the shape {list(own)}"
            )
        axis = positive_axis(self.axis, len(shape))
        return n.reshape(value, [-1, *[1] * (len(shape) - axis - 1)])

    def zero_point(self, index: int, element: Attribute) -> SSAValue:
        """
        The zero point of the node in a shape that broadcasts with the input: a scalar
        if there is none, or if all are known to be the same.
        """
        n = self.n
        if not n.has(index):
            return n.splat(0, element)
        known = n.values.constant(n.input_name(index))
        if known is not None and known.dtype.kind in "iu" and known.size:
            first = known.flat[0]
            if (known == first).all():
                return n.splat(int(first), elements_of(n.input(index)))
        return self.fit(n.input(index))

    def _blocks(self, value: SSAValue) -> SSAValue:
        """Each scale is that of a block of elements along the axis."""
        n, own, shape = self.n, shape_of(value), self.n.shape()
        axis = positive_axis(self.axis, len(shape))
        count = -(-shape[axis] // self.block)
        if len(own) != len(shape) or shape[axis] < 1 or own[axis] != count:
            raise Unsupported(
                f"expected scales of blocks of {self.block} along axis {axis} of "
                f"{list(shape)}, but got the shape {list(own)}"
            )
        every = repeated(n, value, axis, self.block)
        return cut(n, every, axis, 0, shape[axis])


def _target(n: Node, name: str) -> Attribute | None:
    """An element type that an attribute names; 0 is none."""
    kind = n.int_attr(name, 0)
    if not kind:
        return None
    dtype = dtype_of_kind(kind)
    if dtype is None:
        raise Unsupported(f"elements of type {kind_name(kind)} are not supported")
    return element_type(dtype)


def quantize(n: Node) -> SSAValue:
    saturate = n.int_attr("saturate", 1) != 0
    x, scale, steps = n.input(0), n.input(1), Steps(n)
    small = small_type(n.int_attr("output_dtype", 0))
    if n.has(2):
        small = n.small_type(2)
    if small is not None:
        return n.small(_small(n, steps, small, saturate), small)
    target, precision = _target(n, "output_dtype"), _target(n, "precision")
    if n.has(2):
        target = elements_of(n.input(2))
    target = target or ui8
    if isinstance(target, AnyFloat):
        raise Unsupported(f"expected a result of integers, but got '{target}'")
    wide = precision or elements_of(scale)
    if not isinstance(wide, AnyFloat):
        raise Unsupported(f"expected a scale of floats, but got '{wide}'")
    if target in QUANTIZED.types and wide in (f32, f64):
        own = x if isinstance(elements_of(x), AnyFloat) else cast(n, x, wide)
        scale = steps.fit(cast(n, scale, wide))
        return n.add(graph.QuantizeOp(own, scale, steps.zero_point(2, target)))
    quotient = graph.DivOp(cast(n, x, wide), steps.fit(cast(n, scale, wide)))
    zero = steps.fit(n.input(2)) if n.has(2) else None
    return rounded(n, n.add(quotient), zero, target)


def _small(n: Node, steps: Steps, small: SmallType, saturate: bool) -> SSAValue:
    """Floats as elements that `graph` has no type for."""
    x, scale = n.input(0), n.input(1)
    wide = _target(n, "precision") or elements_of(scale)
    if not isinstance(wide, AnyFloat):
        raise Unsupported(f"expected a scale of floats, but got '{wide}'")
    if small.is_integer:
        scale = steps.fit(cast(n, scale, f32))
        zero = steps.zero_point(2, small.stored)
        quantized = n.add(graph.QuantizeOp(cast(n, x, f32), scale, zero))
        return clamped(n, quantized, small)
    quotient = n.add(graph.DivOp(cast(n, x, wide), steps.fit(cast(n, scale, wide))))
    if n.has(2) and not _known_zero(n, 2):
        zero = cast(n, decoded(n, steps.fit(n.input(2)), small), wide)
        quotient = n.add(graph.AddOp(quotient, zero))
    return encoded(n, quotient, small, saturate=saturate)


def rounded(n: Node, x: SSAValue, zero: SSAValue | None, target: Attribute) -> SSAValue:
    """Floats as integers, with a zero point that is added after rounding."""
    result = n.add(graph.RoundOp(cast(n, x, f32)))
    if zero is not None:
        result = n.add(graph.AddOp(result, cast(n, zero, f32)))
    return n.add(graph.CastOp(result, target))  # which saturates


def dequantize(n: Node) -> SSAValue:
    x, scale, steps = n.input(0), n.input(1), Steps(n)
    target = _target(n, "output_dtype") or elements_of(scale)
    small = n.small_type(0)
    if small is not None and not small.is_integer:
        number = decoded(n, x, small)
        if n.has(2) and not _known_zero(n, 2):
            zero = decoded(n, steps.fit(n.input(2)), small)
            number = n.add(graph.SubOp(number, zero))
        factor = steps.fit(cast(n, scale, f32))
        return cast(n, n.add(graph.MulOp(number, factor)), target)
    if elements_of(x) in SUMS.types and target == elements_of(scale):
        zero = steps.zero_point(2, elements_of(x))
        return n.add(graph.DequantizeOp(x, steps.fit(scale), zero))
    if elements_of(x) == i32 and n.has(2):
        x = n.add(graph.SubOp(x, steps.fit(n.input(2))))
    elif n.has(2):
        zero = cast(n, steps.fit(n.input(2)), f32)
        x = n.add(graph.SubOp(cast(n, x, f32), zero))
    factor = cast(n, steps.fit(scale), f32)
    return cast(n, n.add(graph.MulOp(cast(n, x, f32), factor)), target)


# Integer arithmetic


def _known_zero(n: Node, index: int) -> bool:
    """Whether a zero point is known to be zero, or is not there."""
    if not n.has(index):
        return True
    value = n.values.constant(n.input_name(index))
    return value is not None and value.dtype != object and not value.any()


def _zero(n: Node, index: int, shape: Sequence[int] | None = None) -> SSAValue | None:
    """
    A zero point as i32, None if it is known to be zero; a row of them in a shape.
    """
    if _known_zero(n, index):
        return None
    return cast(n, _fitted(n, n.input(index), shape), i32)


def _fitted(n: Node, value: SSAValue, shape: Sequence[int] | None) -> SSAValue:
    """A scalar without dimensions, a row in a shape, and anything else as it is."""
    own = shape_of(value)
    if own in ((), (1,)):
        return n.reshape(value, [])
    return value if shape is None or len(own) != 1 else n.reshape(value, shape)


def check_bytes(*values: SSAValue) -> None:
    for value in values:
        if elements_of(value) not in BYTES:
            raise Unsupported(f"expected bytes, but got '{elements_of(value)}'")


def _matmul(n: Node, a: int, b: int, zeros: tuple[int, int]) -> SSAValue:
    """The product of two inputs less their zero points, in i32."""
    check_bytes(n.input(a), n.input(b))
    # A row of zero points has one for each row of the left operand.
    left, right = _zero(n, zeros[0], [-1, 1]), _zero(n, zeros[1])

    def multiplied(x: SSAValue, y: SSAValue) -> SSAValue:
        total = n.add(graph.MatmulOp(x, y, i32))
        moved = cast(n, y, i32)
        if right is not None:
            sums = _sum(n, cast(n, x, i32), -1)
            total = n.add(graph.SubOp(total, n.add(graph.MulOp(sums, right))))
            moved = n.add(graph.SubOp(moved, right))
        if left is not None:
            sums = _sum(n, moved, -2)
            total = n.add(graph.SubOp(total, n.add(graph.MulOp(left, sums))))
        return total

    return product(n, n.input(a), n.input(b), multiplied)


def _sum(n: Node, value: SSAValue, axis: int) -> SSAValue:
    axes = [axis + len(shape_of(value))]
    return n.add(graph.ReduceOp("sum", value, axes=axes, keepdims=True))


def matmul_integer(n: Node) -> SSAValue:
    return _matmul(n, 0, 1, (2, 3))


def qlinear_matmul(n: Node) -> SSAValue:
    total = _matmul(n, 0, 3, (2, 5))
    scales = (
        _scale(n, 1, [-1, 1] if n.rank(0) > 1 else None),
        _scale(n, 4, None),
        _scale(n, 6, None),
    )
    return _requantized(n, total, scales, 7)


def _scale(n: Node, index: int, shape: Sequence[int] | None) -> SSAValue:
    return cast(n, _fitted(n, n.input(index), shape), f32)


def _requantized(
    n: Node, total: SSAValue, scales: Sequence[SSAValue], zero: int
) -> SSAValue:
    """A sum of products in units of two scales, as integers in units of a third."""
    first, second, result = scales
    factor = n.add(graph.MulOp(first, second))
    factor = n.add(graph.DivOp(factor, result))
    scaled = n.add(graph.MulOp(cast(n, total, f32), factor))
    target = elements_of(n.input(zero))
    check_bytes(n.input(zero))
    moved = None if _known_zero(n, zero) else _fitted(n, n.input(zero), None)
    return rounded(n, scaled, moved, target)


def _conv(
    n: Node, x: SSAValue, w: SSAValue, window: Window, zeros: tuple[int, int]
) -> SSAValue:
    """The convolution of two inputs less their zero points, in i32."""
    check_bytes(x, w)
    groups, ones = n.int_attr("group", 1), [1] * len(window.kernel)
    left = _zero(n, zeros[0])
    right = _zero(n, zeros[1], [-1, 1, *ones])
    if right is not None:
        w = n.add(graph.SubOp(cast(n, w, i32), right))
        x = cast(n, x, i32)
        if left is not None:
            x = n.add(graph.SubOp(x, left))
        return convolve(n, x, w, window, groups)
    if left is None:
        return convolve(n, x, w, window, groups, i32)
    if shape_of(left):
        raise Unsupported("expected one zero point of the input")
    low, high = [0, 0, *window.low], [0, 0, *window.high]
    around = padded_with(n, x, low, high, zeros[0])
    total = convolve(n, around, w, window.without_padding(), groups, i32)
    axes = list(range(1, len(shape_of(w))))
    sums = graph.ReduceOp("sum", cast(n, w, i32), axes=axes, keepdims=False)
    sums = n.reshape(n.add(sums), [-1, *ones])
    return n.add(graph.SubOp(total, n.add(graph.MulOp(sums, left))))


def conv_integer(n: Node) -> SSAValue:
    window = window_of(n, kernel_of(n))
    return _conv(n, n.input(0), n.input(1), window, (2, 3))


def qlinear_conv(n: Node) -> SSAValue:
    window = window_of(n, kernel_of(n, 3))
    total = _conv(n, n.input(0), n.input(3), window, (2, 5))
    ones = [1] * len(window.kernel)
    if n.has(8):
        total = n.add(graph.AddOp(total, n.reshape(n.input(8), [-1, *ones])))
    scales = _scale(n, 1, None), _scale(n, 4, [-1, *ones]), _scale(n, 6, None)
    return _requantized(n, total, scales, 7)


HANDLERS: dict[str, Callable[[Node], SSAValue]] = {
    "ConvInteger": conv_integer,
    "DequantizeLinear": dequantize,
    "MatMulInteger": matmul_integer,
    "QLinearConv": qlinear_conv,
    "QLinearMatMul": qlinear_matmul,
    "QuantizeLinear": quantize,
}
