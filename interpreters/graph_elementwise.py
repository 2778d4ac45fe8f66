"""
Element-wise graph ops.

Integers wrap; floats round once per op: `f16` and `bf16` are computed in `f32`, the
functions of `f32` in `f64`.
"""

from typing import Any

import numpy as np
from xdsl.ir import Operation

from transom.dialects import graph
from transom.interpreters import numerics
from transom.interpreters.arith import attribute_value
from transom.interpreters.evaluators import (
    Array,
    Binary,
    Evaluators,
    Unary,
    Value,
    Values,
)
from transom.interpreters.interpreter import Frame, dtype_of
from transom.interpreters.numerics import is_float_dtype, where
from transom.interpreters.tensor import result_type

ELEMENTWISE = Evaluators()


def check_broadcast(frame: Frame, op: Operation, args: Values) -> None:
    """Refuse a result that is absurdly large; ValueError if the shapes do not meet."""
    shape = np.broadcast_shapes(*(x.shape for x in args))
    frame.interpreter.check_size(op, shape)


def _binary(for_floats: Binary, for_integers: Binary) -> Any:
    """An op on two tensors that broadcast."""

    def evaluate(frame: Frame, op: Operation, args: Values) -> Values:
        check_broadcast(frame, op, args)
        a, b = args
        function = for_floats if is_float_dtype(a.dtype) else for_integers
        return (np.asarray(function(a, b)).astype(a.dtype),)

    return evaluate


def _add(a: Value, b: Value) -> Value:
    return a + b


def _subtract(a: Value, b: Value) -> Value:
    return a - b


def _multiply(a: Value, b: Value) -> Value:
    return a * b


def _true_divide(a: Value, b: Value) -> Value:
    return a / b


def _fmod(a: Value, b: Value) -> Value:
    return np.fmod(numerics.exact(a), numerics.exact(b))


def _float_power(a: Value, b: Value) -> Value:
    return numerics.through_wide(np.power, a, b, dtype=a.dtype)


def _integer_power(a: Value, b: Value) -> Value:
    return numerics.power(a, b, truncate=a.dtype.kind == "i")


def _shift_left(a: Value, b: Value) -> Value:
    inside = (b >= 0) & (b < 8 * a.dtype.itemsize)
    return where(inside, np.left_shift(a, where(inside, b, 0)), 0)


def _shift_right(a: Value, b: Value) -> Value:
    last = 8 * a.dtype.itemsize - 1
    inside = (b >= 0) & (b <= last)
    left = np.right_shift(a, where(inside, b, np.asarray(last, b.dtype)))
    return left if a.dtype.kind == "i" else where(inside, left, 0)


ELEMENTWISE.update(
    {
        graph.AddOp: _binary(_add, _add),
        graph.SubOp: _binary(_subtract, _subtract),
        graph.MulOp: _binary(_multiply, _multiply),
        graph.DivOp: _binary(_true_divide, numerics.truncating_divide),
        graph.ModOp: _binary(_fmod, np.remainder),
        graph.PowOp: _binary(_float_power, _integer_power),
        graph.MinimumOp: _binary(numerics.minimum, np.minimum),
        graph.MaximumOp: _binary(numerics.maximum, np.maximum),
        graph.AndOp: _binary(np.bitwise_and, np.bitwise_and),
        graph.OrOp: _binary(np.bitwise_or, np.bitwise_or),
        graph.XorOp: _binary(np.bitwise_xor, np.bitwise_xor),
        graph.ShiftLeftOp: _binary(_shift_left, _shift_left),
        graph.ShiftRightOp: _binary(_shift_right, _shift_right),
    }
)


def _unary(function: Unary) -> Any:
    """A function of numbers whose result needs no rounding."""

    def evaluate(frame: Frame, op: Operation, args: Values) -> Values:
        (x,) = args
        return (np.asarray(function(numerics.exact(x))).astype(x.dtype),)

    return evaluate


def _function(function: Unary) -> Any:
    """A function of floats, computed in more precision."""

    def evaluate(frame: Frame, op: Operation, args: Values) -> Values:
        (x,) = args
        return (np.asarray(numerics.through_wide(function, x, dtype=x.dtype)),)

    return evaluate


def _relu(x: Value) -> Value:
    zero = np.zeros_like(x)
    if x.dtype.kind == "f":
        return numerics.maximum(x, zero)
    return np.maximum(x, zero)


def _rsqrt(x: Value) -> Value:
    return 1.0 / np.sqrt(x)


def _reciprocal(x: Value) -> Value:
    return 1.0 / x


def _sigmoid(x: Value) -> Value:
    return 1.0 / (1.0 + np.exp(-x))


def _gelu(x: Value) -> Value:
    return x / 2 * (1.0 + numerics.erf(x / np.sqrt(2.0)))


ELEMENTWISE.update(
    {
        graph.NegOp: _unary(np.negative),
        graph.AbsOp: _unary(np.abs),
        graph.SignOp: _unary(np.sign),
        graph.NotOp: _unary(np.invert),
        graph.ReluOp: _unary(_relu),
        graph.FloorOp: _unary(np.floor),
        graph.CeilOp: _unary(np.ceil),
        graph.RoundOp: _unary(np.rint),
        graph.ExpOp: _function(np.exp),
        graph.LogOp: _function(np.log),
        graph.SqrtOp: _function(np.sqrt),
        graph.RsqrtOp: _function(_rsqrt),
        graph.ReciprocalOp: _function(_reciprocal),
        graph.TanhOp: _function(np.tanh),
        graph.SigmoidOp: _function(_sigmoid),
        graph.ErfOp: _function(numerics.erf),
        graph.GeluOp: _function(_gelu),
        graph.SinOp: _function(np.sin),
        graph.CosOp: _function(np.cos),
        graph.AcosOp: _function(np.arccos),
        graph.AcoshOp: _function(np.arccosh),
        graph.AsinOp: _function(np.arcsin),
        graph.AsinhOp: _function(np.arcsinh),
        graph.AtanOp: _function(np.arctan),
        graph.AtanhOp: _function(np.arctanh),
        graph.CoshOp: _function(np.cosh),
        graph.SinhOp: _function(np.sinh),
        graph.TanOp: _function(np.tan),
    }
)


@ELEMENTWISE.of(graph.LeakyReluOp)
def leaky_relu(frame: Frame, op: graph.LeakyReluOp, args: Values) -> Values:
    x = numerics.wide(args[0])
    result = where(x < 0, x * op.alpha.value.data, x)
    return (numerics.rounded(result, args[0].dtype),)


@ELEMENTWISE.of(graph.ClampOp)
def clamp(frame: Frame, op: graph.ClampOp, args: Values) -> Values:
    (x,) = args
    floats = is_float_dtype(x.dtype)
    larger, smaller = (
        (numerics.maximum, numerics.minimum) if floats else (np.maximum, np.minimum)
    )
    for bound, limited in ((op.min, larger), (op.max, smaller)):
        if bound is not None:
            x = limited(x, np.asarray(attribute_value(op, bound)))
    return (x.astype(args[0].dtype),)


_COMPARE: dict[graph.ComparePredicate, Binary] = {
    graph.ComparePredicate.EQ: np.equal,
    graph.ComparePredicate.NE: np.not_equal,
    graph.ComparePredicate.LT: np.less,
    graph.ComparePredicate.LE: np.less_equal,
    graph.ComparePredicate.GT: np.greater,
    graph.ComparePredicate.GE: np.greater_equal,
}


@ELEMENTWISE.of(graph.CompareOp)
def compare(frame: Frame, op: graph.CompareOp, args: Values) -> Values:
    check_broadcast(frame, op, args)
    a, b = (numerics.exact(x) for x in args)
    return (np.asarray(_COMPARE[op.predicate.data](a, b)),)


@ELEMENTWISE.of(graph.SelectOp)
def select(frame: Frame, op: graph.SelectOp, args: Values) -> Values:
    check_broadcast(frame, op, args)
    return (where(*args),)


def _quantized_in(*floats: Array) -> np.dtype[Any]:
    """The type that quantisation is computed in."""
    is_wide = any(x.dtype == numerics.F64 for x in floats)
    return numerics.F64 if is_wide else numerics.F32


@ELEMENTWISE.of(graph.QuantizeOp)
def quantize(frame: Frame, op: graph.QuantizeOp, args: Values) -> Values:
    check_broadcast(frame, op, args)
    x, scale, zero_point = args
    dtype = _quantized_in(x, scale)
    whole = np.rint(x.astype(dtype) / scale.astype(dtype)) + zero_point.astype(dtype)
    return (numerics.float_to_int(whole, zero_point.dtype, saturate=True),)


@ELEMENTWISE.of(graph.DequantizeOp)
def dequantize(frame: Frame, op: graph.DequantizeOp, args: Values) -> Values:
    check_broadcast(frame, op, args)
    x, scale, zero_point = args
    dtype = _quantized_in(scale)
    moved = x.astype(np.int32) - zero_point.astype(np.int32)
    product = moved.astype(dtype) * scale.astype(dtype)
    return (numerics.rounded(product, scale.dtype),)


def converted(x: Array, dtype: np.dtype[Any]) -> Array:
    """The numbers as another type, by the rules of `graph.cast`."""
    if dtype == x.dtype:
        return x
    if dtype == numerics.BOOL:
        return numerics.exact(x) != 0
    if is_float_dtype(x.dtype):
        if is_float_dtype(dtype):
            return numerics.rounded(x, dtype)
        return numerics.float_to_int(x, dtype, saturate=True)
    if is_float_dtype(dtype):
        return numerics.integer_to_float(x, dtype)
    return x.astype(dtype)


@ELEMENTWISE.of(graph.BitcastOp)
def bitcast(frame: Frame, op: graph.BitcastOp, args: Values) -> Values:
    dtype = dtype_of(op, result_type(op).element_type)
    return (np.ascontiguousarray(args[0]).view(dtype).reshape(args[0].shape),)


@ELEMENTWISE.of(graph.CastOp)
def cast_(frame: Frame, op: graph.CastOp, args: Values) -> Values:
    return (converted(args[0], dtype_of(op, result_type(op).element_type)),)
