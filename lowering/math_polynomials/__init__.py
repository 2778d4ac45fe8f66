"""
Functions of f32 as polynomials: what `lower-math-to-polynomials` is made of.
"""

from collections.abc import Callable

from xdsl.dialects import math
from xdsl.ir import Operation

from transom.lowering.math_polynomials.exponential import exp, exp2, expm1
from transom.lowering.math_polynomials.lanes import Lanes, Writer
from transom.lowering.math_polynomials.logarithm import log, log1p, log2, log10
from transom.lowering.math_polynomials.power import constant_of, pow
from transom.lowering.math_polynomials.quotients import erf, tanh
from transom.lowering.math_polynomials.scales import Call, plain_call, scaled_call
from transom.lowering.math_polynomials.trigonometric import cos, sin

FUNCTIONS: dict[type[Operation], Callable[..., Lanes]] = {
    math.CosOp: cos,
    math.ErfOp: erf,
    math.Exp2Op: exp2,
    math.ExpM1Op: expm1,
    math.ExpOp: exp,
    math.Log10Op: log10,
    math.Log1pOp: log1p,
    math.Log2Op: log2,
    math.LogOp: log,
    math.PowFOp: pow,
    math.SinOp: sin,
    math.TanhOp: tanh,
}
"""How each op of `math` is computed; the docstrings say with what error."""

SCALED = (math.ErfOp, math.TanhOp)
"""Those that take `Scales` as well."""


def call_of(op: Operation) -> Call:
    """One of these functions, with what belongs to it."""
    return scaled_call(op) if isinstance(op, SCALED) else plain_call(op)


__all__ = [
    "FUNCTIONS",
    "SCALED",
    "Call",
    "Lanes",
    "Writer",
    "call_of",
    "constant_of",
]
