"""
The computation of one element: what an element-wise graph op is in `arith` and `math`.

Kernels are signless, so whether an integer is unsigned is asked of the graph type. f16
and bf16 are computed in f32 and rounded once per op.
"""

import math as numbers
from collections.abc import Callable, Sequence
from typing import ClassVar, cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    IndexType,
    IntegerType,
    Signedness,
    f32,
    i1,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects import graph
from transom.dialects.tir import RegionBuilder
from transom.lowering.graph_to_tir import powers

Scalar = Callable[["Element"], SSAValue]

CONTRACT = arith.FastMathFlagsAttr((FastMathFlag.ALLOW_CONTRACT,))
"""A product and the sum that takes it may be one rounding."""


class Element:
    """
    One element of an op's operands, and the ops to compute its result from them.

    `type` is the element type that the op computes in, as the graph says it: that of
    its operands; `args` are values of the (signless) types that kernels have.
    """

    SMALL_FLOATS: ClassVar = (Float16Type, BFloat16Type)

    def __init__(
        self, b: RegionBuilder, op: Operation, type: Attribute, args: Sequence[SSAValue]
    ) -> None:
        self.b = b
        self.op = op
        self.type = type
        self.args = [widen(b, arg) for arg in args]

    @property
    def is_float(self) -> bool:
        return isinstance(self.type, AnyFloat)

    @property
    def is_unsigned(self) -> bool:
        return is_unsigned(self.type)

    @property
    def width(self) -> int:
        """The bits of an integer."""
        return 64 if isinstance(self.type, IndexType) else width_of(self.type)

    @property
    def computed(self) -> Attribute:
        """The type that the op computes in."""
        return computed_type(self.type)

    def constant(self, value: int | float) -> SSAValue:
        return self.b.constant(value, self.computed)

    def pick(
        self,
        floating: type[Operation],
        signed: type[Operation],
        unsigned: type[Operation] | None = None,
    ) -> SSAValue:
        """Apply the op that this element type has to the arguments."""
        if self.is_float:
            op = floating
        elif self.is_unsigned and unsigned is not None:
            op = unsigned
        else:
            op = signed
        return self.b(op(*self.args))  # pyright: ignore[reportArgumentType] # binary ops


def integer_type(type: Attribute) -> IntegerType | None:
    """The type itself if it is an integer of some width."""
    return cast("IntegerType", type) if isinstance(type, IntegerType) else None


def width_of(type: Attribute) -> int:
    """The bits of an integer type."""
    integer = integer_type(type)
    assert integer is not None, "the caller has looked"
    return integer.width.data


def is_unsigned(type: Attribute) -> bool:
    """Whether a graph element type is an unsigned integer, or a bool."""
    integer = integer_type(type)
    return integer is not None and (
        integer.signedness.data is Signedness.UNSIGNED or integer.width.data == 1
    )


def signless(type: Attribute) -> Attribute:
    """The element type that kernels have for one of the graph."""
    integer = integer_type(type)
    return type if integer is None else IntegerType(integer.width.data)


def computed_type(type: Attribute) -> Attribute:
    """The (signless) type that arithmetic on a graph element type is done in."""
    return f32 if isinstance(type, Element.SMALL_FLOATS) else signless(type)


def widen(b: RegionBuilder, value: SSAValue) -> SSAValue:
    """A value in the type that it is computed in."""
    if isinstance(value.type, Element.SMALL_FLOATS):
        return b(arith.ExtFOp(value, f32))
    return value


def narrow(b: RegionBuilder, value: SSAValue, type: Attribute) -> SSAValue:
    """A computed value, rounded to the element type that it is stored in."""
    if isinstance(type, Element.SMALL_FLOATS) and value.type != type:
        return b(arith.TruncFOp(value, type))
    return value


def extremes(type: Attribute) -> tuple[int | float, int | float]:
    """The smallest and the largest value of a graph element type."""
    if isinstance(type, AnyFloat):
        return -numbers.inf, numbers.inf
    if isinstance(type, IndexType):
        return -(2**63), 2**63 - 1
    width = width_of(type)
    if is_unsigned(type):
        return 0, 2**width - 1
    return -(2 ** (width - 1)), 2 ** (width - 1) - 1


def _sigmoid(e: Element) -> SSAValue:
    one = e.constant(1.0)
    power = e.b(math.ExpOp(e.b(arith.NegfOp(e.args[0]))))
    return e.b(arith.DivfOp(one, e.b(arith.AddfOp(one, power))))


def _gelu(e: Element) -> SSAValue:
    b, (x,) = e.b, e.args
    # Constant factors become part of the polynomial.
    half = e.constant(0.5)
    scaled = b(arith.MulfOp(x, e.constant(numbers.sqrt(0.5))))
    share = b(arith.AddfOp(b(arith.MulfOp(b(math.ErfOp(scaled)), half)), half))
    return b(arith.MulfOp(x, share))


def _neg(e: Element) -> SSAValue:
    if e.is_float:
        return e.b(arith.NegfOp(e.args[0]))
    return e.b(arith.SubiOp(e.constant(0), e.args[0]))


def _abs(e: Element) -> SSAValue:
    b, (x,) = e.b, e.args
    if e.is_float:
        return b(math.AbsFOp(x))
    if e.is_unsigned:
        return x
    return b(arith.MaxSIOp(x, b(arith.SubiOp(e.constant(0), x))))


def _sign(e: Element) -> SSAValue:
    b, (x,) = e.b, e.args
    zero = e.constant(0)
    if e.is_float:
        keep = b(arith.CmpfOp(x, zero, "ueq"))  # zeros and NaN stay what they are
        return b(arith.SelectOp(keep, x, b(math.CopySignOp(e.constant(1), x))))
    if e.is_unsigned:
        return b(arith.MinUIOp(x, e.constant(1)))
    return b(arith.MaxSIOp(b(arith.MinSIOp(x, e.constant(1))), e.constant(-1)))


def _relu(e: Element) -> SSAValue:
    zero = e.constant(0)
    if e.is_float:
        return e.b(arith.MaximumfOp(e.args[0], zero))
    return e.args[0] if e.is_unsigned else e.b(arith.MaxSIOp(e.args[0], zero))


def _leaky_relu(e: Element) -> SSAValue:
    assert isinstance(e.op, graph.LeakyReluOp), "the key of the table"
    b, (x,) = e.b, e.args
    scaled = b(arith.MulfOp(x, e.constant(e.op.alpha.value.data)))
    negative = b(arith.CmpfOp(x, e.constant(0.0), "olt"))
    return b(arith.SelectOp(negative, scaled, x))


def _clamp(e: Element) -> SSAValue:
    assert isinstance(e.op, graph.ClampOp), "the key of the table"
    value = e.args[0]
    low, high = e.op.min, e.op.max
    if low is not None:
        e.args = [value, e.constant(low.value.data)]
        value = e.pick(arith.MaximumfOp, arith.MaxSIOp, arith.MaxUIOp)
    if high is not None:
        e.args = [value, e.constant(high.value.data)]
        value = e.pick(arith.MinimumfOp, arith.MinSIOp, arith.MinUIOp)
    return value


def _not(e: Element) -> SSAValue:
    return e.b(arith.XOrIOp(e.args[0], e.constant(1 if e.type == i1 else -1)))


COMPARISONS: dict[str, tuple[str, str, str]] = {
    "eq": ("oeq", "eq", "eq"),
    "ne": ("une", "ne", "ne"),
    "lt": ("olt", "slt", "ult"),
    "le": ("ole", "sle", "ule"),
    "gt": ("ogt", "sgt", "ugt"),
    "ge": ("oge", "sge", "uge"),
}
"""The predicates of `arith` on floats, signed and unsigned integers."""


def compare(
    b: RegionBuilder, predicate: str, type: Attribute, lhs: SSAValue, rhs: SSAValue
) -> SSAValue:
    """Compare two values that are computed from the graph element type `type`."""
    floating, signed, unsigned = COMPARISONS[predicate]
    if isinstance(type, AnyFloat):
        return b(arith.CmpfOp(lhs, rhs, floating))
    return b(arith.CmpiOp(lhs, rhs, unsigned if is_unsigned(type) else signed))


def _compare(e: Element) -> SSAValue:
    assert isinstance(e.op, graph.CompareOp), "the key of the table"
    return compare(e.b, e.op.predicate.data.value, e.type, *e.args)


def _unary(op: Callable[[SSAValue], Operation]) -> Scalar:
    return lambda e: e.b(op(e.args[0]))


def _binary(
    floating: type[Operation],
    signed: type[Operation],
    unsigned: type[Operation] | None = None,
) -> Scalar:
    return lambda e: e.pick(floating, signed, unsigned)


def _shift_left(e: Element) -> SSAValue:
    """A shift by the width or more has no defined result in `arith`."""
    value, places = e.args
    inside = e.b(arith.CmpiOp(places, e.constant(e.width), "ult"))
    moved = e.b(arith.ShLIOp(value, places))
    return e.b(arith.SelectOp(inside, moved, e.constant(0)))


def _shift_right(e: Element) -> SSAValue:
    value, places = e.args
    if not e.is_unsigned:
        places = e.b(arith.MinUIOp(places, e.constant(e.width - 1)))
        return e.b(arith.ShRSIOp(value, places))
    inside = e.b(arith.CmpiOp(places, e.constant(e.width), "ult"))
    moved = e.b(arith.ShRUIOp(value, places))
    return e.b(arith.SelectOp(inside, moved, e.constant(0)))


SCALARS: dict[type[Operation], Scalar] = {
    graph.AddOp: _binary(arith.AddfOp, arith.AddiOp),
    graph.SubOp: _binary(arith.SubfOp, arith.SubiOp),
    graph.MulOp: _binary(arith.MulfOp, arith.MuliOp),
    graph.DivOp: powers.quotient,
    graph.MinimumOp: _binary(arith.MinimumfOp, arith.MinSIOp, arith.MinUIOp),
    graph.MaximumOp: _binary(arith.MaximumfOp, arith.MaxSIOp, arith.MaxUIOp),
    graph.AndOp: _binary(arith.AndIOp, arith.AndIOp),
    graph.OrOp: _binary(arith.OrIOp, arith.OrIOp),
    graph.XorOp: _binary(arith.XOrIOp, arith.XOrIOp),
    graph.ModOp: powers.rest,
    graph.PowOp: powers.power,
    graph.CompareOp: _compare,
    graph.NegOp: _neg,
    graph.AbsOp: _abs,
    graph.SignOp: _sign,
    graph.NotOp: _not,
    graph.ReluOp: _relu,
    graph.LeakyReluOp: _leaky_relu,
    graph.ClampOp: _clamp,
    graph.SigmoidOp: _sigmoid,
    graph.GeluOp: _gelu,
    graph.ReciprocalOp: lambda e: e.b(arith.DivfOp(e.constant(1.0), e.args[0])),
    graph.RsqrtOp: lambda e: e.b(
        arith.DivfOp(e.constant(1.0), e.b(math.SqrtOp(e.args[0])))
    ),
    graph.ExpOp: _unary(math.ExpOp),
    graph.LogOp: _unary(math.LogOp),
    graph.SqrtOp: _unary(math.SqrtOp),
    graph.TanhOp: _unary(math.TanhOp),
    graph.ErfOp: _unary(math.ErfOp),
    graph.SinOp: _unary(math.SinOp),
    graph.CosOp: _unary(math.CosOp),
    graph.AcosOp: _unary(math.AcosOp),
    graph.AcoshOp: _unary(math.AcoshOp),
    graph.AsinOp: _unary(math.AsinOp),
    graph.AsinhOp: _unary(math.AsinhOp),
    graph.AtanOp: _unary(math.AtanOp),
    graph.AtanhOp: _unary(math.AtanhOp),
    graph.CoshOp: _unary(math.CoshOp),
    graph.SinhOp: _unary(math.SinhOp),
    graph.TanOp: _unary(math.TanOp),
    graph.ShiftLeftOp: _shift_left,
    graph.ShiftRightOp: _shift_right,
    graph.FloorOp: _unary(math.FloorOp),
    graph.CeilOp: _unary(math.CeilOp),
    graph.RoundOp: _unary(math.RoundEvenOp),
}
"""How one element of each op is computed."""
