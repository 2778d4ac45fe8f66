"""
`arith` on numbers, vectors and tensors.

Integers wrap, `i1` is one bit, floats round once per op. Division by zero is an error
where it is executed; what else is undefined gives a fixed pattern.
"""

from typing import Any, cast

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    ShapedType,
)
from xdsl.ir import Attribute, Operation

from transom.interpreters import numerics
from transom.interpreters.evaluators import (
    Array,
    Binary,
    Convert,
    Evaluators,
    Unary,
    Value,
    Values,
)
from transom.interpreters.interpreter import Frame, dtype_of

ARITH = Evaluators()


def element_dtype(op: Operation, type: Attribute) -> np.dtype[Any]:
    """The dtype of a number, or of the elements of a vector or tensor."""
    if isinstance(type, ShapedType):
        type = cast(Any, type).get_element_type()
    return dtype_of(op, type)


def dense_array(op: Operation, value: DenseIntOrFPElementsAttr[Any]) -> Array:
    """The elements of a dense attribute, read-only; a splat takes no memory."""
    dtype = element_dtype(op, value.type)
    shape = value.get_shape()
    data = value.data.data
    if dtype == numerics.BOOL:
        array = np.frombuffer(data, np.uint8) != 0
    else:
        array = np.frombuffer(data, dtype.newbyteorder("<"))
    if array.size == 1:
        return np.broadcast_to(array.reshape(()), shape)
    return array.reshape(shape)


def attribute_value(op: Operation, value: Attribute) -> Value:
    """An integer, float or dense attribute as a value."""
    if isinstance(value, DenseIntOrFPElementsAttr):
        return dense_array(op, cast(DenseIntOrFPElementsAttr[Any], value))
    if isinstance(value, IntegerAttr):
        integer = cast(IntegerAttr[Any], value)
        dtype, data = dtype_of(op, integer.type), integer.value.data
        if dtype == numerics.BOOL:
            return np.bool_(data & 1)
        return dtype.type(data & (2**64 - 1) if dtype.kind == "u" else data)
    if isinstance(value, FloatAttr):
        number = cast(FloatAttr[Any], value)
        dtype = dtype_of(op, number.type)
        return numerics.rounded(np.float64(number.value.data), dtype)[()]
    raise ValueError(f"expected a number, but got '{value}'")


@ARITH.of(arith.ConstantOp)
def constant(frame: Frame, op: arith.ConstantOp, args: Values) -> Values:
    return frame.interpreter.constant(op, lambda: (attribute_value(op, op.value),))


def _same_bits(function: Binary) -> Any:
    """An integer op that does not depend on signedness."""

    def evaluate(frame: Frame, op: Operation, args: Values) -> Values:
        a, b = args
        if a.dtype == numerics.BOOL:
            a, b = a.astype(np.int8), b.astype(np.int8)
            return (numerics.wrap(function(a, b), numerics.BOOL),)
        return (function(a, b),)

    return evaluate


def _integers(view: Unary, function: Binary) -> Any:
    """An integer op on operands of a signedness."""

    def evaluate(frame: Frame, op: Operation, args: Values) -> Values:
        a, b = args
        dtype = a.dtype
        result = np.asarray(function(view(a), view(b)))[()]
        if dtype == numerics.BOOL:
            return (numerics.wrap(result, dtype),)
        return (result.view(dtype),)

    return evaluate


def _division(view: Unary, function: Binary) -> Any:
    """The same for one that has no result where the right operand is 0."""
    divide = _integers(view, function)

    def evaluate(frame: Frame, op: Operation, args: Values) -> Values:
        zero = args[1] == 0
        if np.any(zero):
            executed = True if frame.mask is None else frame.mask
            if np.any(zero & executed):
                raise ZeroDivisionError("division by zero")
        return divide(frame, op, args)

    return evaluate


def _ceiling_divide(a: Value, b: Value) -> Value:
    quotient = a // b
    return quotient + (a % b != 0).astype(quotient.dtype)


def _shift(function: Binary, *, signed: bool) -> Any:
    """A shift; by the width or more it leaves 0, or the sign."""

    def shift(a: Value, b: Value) -> Value:
        width = 8 * a.dtype.itemsize
        amount = numerics.as_unsigned(b)
        inside = np.minimum(amount, width - 1).astype(a.dtype)
        shifted = function(a, inside)
        if signed:
            return shifted
        return numerics.where(amount < width, shifted, np.zeros_like(shifted))

    return _integers(numerics.as_signed if signed else numerics.as_unsigned, shift)


_signed, _unsigned = numerics.as_signed, numerics.as_unsigned

ARITH.update(
    {
        arith.AddiOp: _same_bits(lambda a, b: a + b),
        arith.SubiOp: _same_bits(lambda a, b: a - b),
        arith.MuliOp: _same_bits(lambda a, b: a * b),
        arith.AndIOp: _same_bits(lambda a, b: a & b),
        arith.OrIOp: _same_bits(lambda a, b: a | b),
        arith.XOrIOp: _same_bits(lambda a, b: a ^ b),
        arith.DivSIOp: _division(_signed, numerics.truncating_divide),
        arith.DivUIOp: _division(_unsigned, lambda a, b: a // b),
        arith.FloorDivSIOp: _division(_signed, lambda a, b: a // b),
        arith.CeilDivSIOp: _division(_signed, _ceiling_divide),
        arith.CeilDivUIOp: _division(_unsigned, _ceiling_divide),
        arith.RemSIOp: _division(_signed, np.fmod),
        arith.RemUIOp: _division(_unsigned, np.fmod),
        arith.MinSIOp: _integers(_signed, np.minimum),
        arith.MaxSIOp: _integers(_signed, np.maximum),
        arith.MinUIOp: _integers(_unsigned, np.minimum),
        arith.MaxUIOp: _integers(_unsigned, np.maximum),
        arith.ShLIOp: _shift(np.left_shift, signed=False),
        arith.ShRUIOp: _shift(np.right_shift, signed=False),
        arith.ShRSIOp: _shift(np.right_shift, signed=True),
    }
)


def _floats(function: Binary) -> Any:
    """A float op that NumPy rounds once for every dtype."""

    def evaluate(frame: Frame, op: Operation, args: Values) -> Values:
        return (function(args[0], args[1]),)

    return evaluate


def _selecting(function: Binary) -> Any:
    """A float op whose result is one of its operands."""

    def evaluate(frame: Frame, op: Operation, args: Values) -> Values:
        return (np.asarray(function(*args)).astype(args[0].dtype)[()],)

    return evaluate


ARITH.update(
    {
        arith.AddfOp: _floats(lambda a, b: a + b),
        arith.SubfOp: _floats(lambda a, b: a - b),
        arith.MulfOp: _floats(lambda a, b: a * b),
        arith.DivfOp: _floats(lambda a, b: a / b),
        arith.MinimumfOp: _selecting(numerics.minimum),
        arith.MaximumfOp: _selecting(numerics.maximum),
        arith.MinnumfOp: _selecting(
            lambda a, b: np.fmin(numerics.exact(a), numerics.exact(b))
        ),
        arith.MaxnumfOp: _selecting(
            lambda a, b: np.fmax(numerics.exact(a), numerics.exact(b))
        ),
    }
)


@ARITH.of(arith.NegfOp)
def negf(frame: Frame, op: arith.NegfOp, args: Values) -> Values:
    return (-args[0],)


_CMPI: tuple[tuple[Unary, Binary], ...] = (
    (_unsigned, np.equal),
    (_unsigned, np.not_equal),
    (_signed, np.less),
    (_signed, np.less_equal),
    (_signed, np.greater),
    (_signed, np.greater_equal),
    (_unsigned, np.less),
    (_unsigned, np.less_equal),
    (_unsigned, np.greater),
    (_unsigned, np.greater_equal),
)
"""By predicate number."""


@ARITH.of(arith.CmpiOp)
def cmpi(frame: Frame, op: arith.CmpiOp, args: Values) -> Values:
    view, compare = _CMPI[op.predicate.value.data]
    return (compare(view(args[0]), view(args[1])),)


def _never(a: Value, b: Value) -> Value:
    return np.not_equal(a, a) & False


def _one(a: Value, b: Value) -> Value:
    return np.less(a, b) | np.greater(a, b)


_CMPF: tuple[Binary, ...] = (
    _never,
    np.equal,
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
    _one,
    lambda a, b: np.equal(a, a) & np.equal(b, b),
)
"""`false` and the ordered predicates, by number."""

_NEGATED = {8: 6, 9: 5, 10: 4, 11: 3, 12: 2, 13: 1, 14: 7, 15: 0}
"""`ueq` is not `one`, `ugt` is not `ole`, …, `uno` is not `ord`, `true` not `false`."""


@ARITH.of(arith.CmpfOp)
def cmpf(frame: Frame, op: arith.CmpfOp, args: Values) -> Values:
    predicate = op.predicate.value.data
    a, b = (numerics.exact(x) for x in args)
    if predicate < 8:
        return (_CMPF[predicate](a, b),)
    return (np.logical_not(_CMPF[_NEGATED[predicate]](a, b)),)


@ARITH.of(arith.SelectOp)
def select(frame: Frame, op: arith.SelectOp, args: Values) -> Values:
    condition, on_true, on_false = args
    if condition.ndim == 0:
        return (on_true if condition else on_false,)
    return (numerics.where(condition, on_true, on_false),)


@ARITH.of(arith.BitcastOp)
def bitcast(frame: Frame, op: arith.BitcastOp, args: Values) -> Values:
    dtype = element_dtype(op, op.result.type)
    x = np.ascontiguousarray(args[0]) if args[0].ndim else args[0]
    if numerics.BOOL in (dtype, x.dtype):
        return (numerics.wrap(x, dtype),)
    return (x.view(dtype),)


def _conversion(convert: Convert) -> Any:
    """A cast that depends on the result's element type alone."""

    def evaluate(frame: Frame, op: Operation, args: Values) -> Values:
        dtype = element_dtype(op, op.results[0].type)
        return (np.asarray(convert(args[0], dtype))[()],)

    return evaluate


def _to_unsigned(x: Value, dtype: np.dtype[Any]) -> Value:
    if dtype == numerics.BOOL:
        return numerics.float_to_int(x, dtype, saturate=False)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    return numerics.float_to_int(x, unsigned, saturate=False).view(dtype)


def _to_signed(x: Value, dtype: np.dtype[Any]) -> Value:
    if dtype == numerics.BOOL:  # -1 is the only other signed value of one bit
        return numerics.wrap(
            numerics.float_to_int(x, np.dtype(np.int8), saturate=False), dtype
        )
    return numerics.float_to_int(x, dtype, saturate=False)


ARITH.update(
    {
        arith.ExtFOp: _conversion(lambda x, dtype: x.astype(dtype)),
        arith.TruncFOp: _conversion(numerics.rounded),
        arith.ExtSIOp: _conversion(lambda x, dtype: _signed(x).astype(dtype)),
        arith.ExtUIOp: _conversion(lambda x, dtype: _unsigned(x).astype(dtype)),
        arith.TruncIOp: _conversion(numerics.wrap),
        arith.IndexCastOp: _conversion(
            lambda x, dtype: numerics.wrap(_signed(x), dtype)
        ),
        arith.SIToFPOp: _conversion(
            lambda x, dtype: numerics.integer_to_float(_signed(x), dtype)
        ),
        arith.UIToFPOp: _conversion(
            lambda x, dtype: numerics.integer_to_float(_unsigned(x), dtype)
        ),
        arith.FPToSIOp: _conversion(_to_signed),
        arith.FPToUIOp: _conversion(_to_unsigned),
    }
)


def _unbounded(x: Value) -> Any:
    return np.asarray(x).astype(object)


def _pair(view: Unary, function: Binary, overflow: bool) -> Any:
    """An op with a low and a high result, in Python's unbounded integers."""

    def evaluate(frame: Frame, op: Operation, args: Values) -> Values:
        dtype = args[0].dtype
        width = 1 if dtype == numerics.BOOL else 8 * dtype.itemsize
        exact = function(_unbounded(view(args[0])), _unbounded(view(args[1])))
        low, high = exact % (1 << width), (exact >> width) % (1 << width)
        unsigned = np.uint8 if dtype == numerics.BOOL else f"u{dtype.itemsize}"
        high_dtype = numerics.BOOL if overflow else dtype
        return (
            np.asarray(low, unsigned).astype(dtype)[()],
            np.asarray(high, unsigned).astype(high_dtype)[()],
        )

    return evaluate


ARITH.update(
    {
        arith.AddUIExtendedOp: _pair(_unsigned, lambda a, b: a + b, overflow=True),
        arith.MulUIExtendedOp: _pair(_unsigned, lambda a, b: a * b, overflow=False),
        arith.MulSIExtendedOp: _pair(_signed, lambda a, b: a * b, overflow=False),
    }
)
