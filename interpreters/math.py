"""
`math` on numbers, vectors and tensors: computed in more precision, rounded once.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects import math
from xdsl.ir import Operation

from transom.interpreters import numerics
from transom.interpreters.evaluators import Array, Evaluators, Value, Values
from transom.interpreters.interpreter import Frame

MATH = Evaluators()


def _wide(function: Callable[..., Any]) -> Any:
    """A function of floats."""

    def evaluate(frame: Frame, op: Operation, args: Values) -> Values:
        result = numerics.through_wide(function, *args, dtype=args[0].dtype)
        return (np.asarray(result)[()],)

    return evaluate


def _exact(function: Callable[..., Any]) -> Any:
    """A function of floats whose result needs no rounding."""

    def evaluate(frame: Frame, op: Operation, args: Values) -> Values:
        result = function(*(numerics.exact(x) for x in args))
        return (np.asarray(result).astype(args[0].dtype)[()],)

    return evaluate


def _rsqrt(x: Value) -> Value:
    return 1.0 / np.sqrt(x)


def _half_away(x: Value) -> Value:
    whole = np.trunc(x)
    return whole + np.copysign(np.abs(x - whole) >= 0.5, x)


MATH.update(
    {
        math.AbsFOp: _exact(np.abs),
        math.AcosOp: _wide(np.arccos),
        math.AcoshOp: _wide(np.arccosh),
        math.AsinOp: _wide(np.arcsin),
        math.AsinhOp: _wide(np.arcsinh),
        math.Atan2Op: _wide(np.arctan2),
        math.AtanOp: _wide(np.arctan),
        math.AtanhOp: _wide(np.arctanh),
        math.CbrtOp: _wide(np.cbrt),
        math.CeilOp: _exact(np.ceil),
        math.CopySignOp: _exact(np.copysign),
        math.CosOp: _wide(np.cos),
        math.CoshOp: _wide(np.cosh),
        math.ErfOp: _wide(numerics.erf),
        math.Exp2Op: _wide(np.exp2),
        math.ExpM1Op: _wide(np.expm1),
        math.ExpOp: _wide(np.exp),
        math.FloorOp: _exact(np.floor),
        math.Log10Op: _wide(np.log10),
        math.Log1pOp: _wide(np.log1p),
        math.Log2Op: _wide(np.log2),
        math.LogOp: _wide(np.log),
        math.PowFOp: _wide(np.power),
        math.RoundEvenOp: _exact(np.rint),
        math.RoundOp: _exact(_half_away),
        math.RsqrtOp: _wide(_rsqrt),
        math.SinOp: _wide(np.sin),
        math.SinhOp: _wide(np.sinh),
        math.SqrtOp: _wide(np.sqrt),
        math.TanOp: _wide(np.tan),
        math.TanhOp: _wide(np.tanh),
        math.TruncOp: _exact(np.trunc),
    }
)


@MATH.of(math.FmaOp)
def fma(frame: Frame, op: math.FmaOp, args: Values) -> Values:
    return (np.asarray(numerics.fused_multiply_add(*args))[()],)


@MATH.of(math.FPowIOp)
def fpowi(frame: Frame, op: math.FPowIOp, args: Values) -> Values:
    power = np.power(numerics.wide(args[0]), args[1].astype(np.float64))
    return (np.asarray(numerics.rounded(power, args[0].dtype))[()],)


@MATH.of(math.AbsIOp)
def absi(frame: Frame, op: math.AbsIOp, args: Values) -> Values:
    return (np.abs(args[0]),)


@MATH.of(math.IPowIOp)
def ipowi(frame: Frame, op: math.IPowIOp, args: Values) -> Values:
    base, exponent = args
    if np.any((base == 0) & (exponent < 0)):
        raise ZeroDivisionError("0 to a negative power")
    return (np.asarray(numerics.power(base, exponent, truncate=True))[()],)


def _bits(function: Callable[[Array], Array]) -> Any:
    """A count over the bits of an integer, which are the last axis, lowest first."""

    def evaluate(frame: Frame, op: Operation, args: Values) -> Values:
        x = np.asarray(args[0])
        if x.dtype == numerics.BOOL:
            bits = x[..., None].astype(np.uint8)
        else:
            octets = np.ascontiguousarray(x[..., None]).view(np.uint8)
            bits = np.unpackbits(octets, axis=-1, bitorder="little")
        return (function(bits).astype(x.dtype)[()],)

    return evaluate


def _run_of_zeros(bits: Array) -> Array:
    """How many zeros there are before the first one."""
    return np.logical_not(np.maximum.accumulate(bits, axis=-1)).sum(-1)


MATH.update(
    {
        math.CountLeadingZerosOp: _bits(lambda bits: _run_of_zeros(bits[..., ::-1])),
        math.CountTrailingZerosOp: _bits(_run_of_zeros),
        math.CtPopOp: _bits(lambda bits: bits.sum(-1)),
    }
)
