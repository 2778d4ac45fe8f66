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
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
    f32,
    f64,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects import graph
from transom.dialects.tir import RegionBuilder
from transom.lowering.conversion import Refusal
from transom.lowering.conversion.pattern import RefusalError

Scalar = Callable[["Element"], SSAValue]


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


def _mod(e: Element) -> SSAValue:
    if e.is_float:
        return _float_mod(e)
    if e.is_unsigned:
        return e.pick(arith.RemUIOp, arith.RemUIOp)
    # The remainder has the sign of the dividend; the result that of the divisor.
    b, (lhs, rhs) = e.b, e.args
    rest = b(arith.RemSIOp(lhs, rhs))
    zero = e.constant(0)
    nonzero = b(arith.CmpiOp(rest, zero, "ne"))
    differ = b(arith.CmpiOp(b(arith.XOrIOp(rest, rhs)), zero, "slt"))
    wrong = b(arith.AndIOp(nonzero, differ))
    return b(arith.SelectOp(wrong, b(arith.AddiOp(rest, rhs)), rest))


def _float_mod(e: Element) -> SSAValue:
    """
    C's `fmod`, by one division in f64: exact while the quotient is below 2^53.
    """
    if isinstance(e.type, Float64Type):
        raise RefusalError(Refusal("expected a float of at most 32 bits, but got f64"))
    b = e.b
    lhs, rhs = (b(arith.ExtFOp(arg, f64)) for arg in e.args)
    quotient = b(math.TruncOp(b(arith.DivfOp(lhs, rhs))))
    rest = b(math.FmaOp(b(arith.NegfOp(quotient)), rhs, lhs))
    # A quotient that was rounded up to the next integer leaves a rest of other sign.
    zero = b.constant(0.0, f64)
    size = b(math.AbsFOp(rhs))
    signed_size = b(math.CopySignOp(size, lhs))
    product = b(arith.MulfOp(rest, lhs))
    over = b(arith.CmpfOp(product, zero, "olt"))
    fixed = b(arith.SelectOp(over, b(arith.AddfOp(rest, signed_size)), rest))
    return b(arith.TruncFOp(b(math.CopySignOp(fixed, lhs)), f32))


def _pow(e: Element) -> SSAValue:
    b = e.b
    if e.is_float:
        return e.pick(math.PowFOp, math.PowFOp)
    integer = integer_type(e.type)
    if integer is None or integer.width.data > 32:
        raise RefusalError(
            Refusal(f"expected a float or at most 32 bits, but got '{e.type}'")
        )
    to_float = arith.UIToFPOp if e.is_unsigned else arith.SIToFPOp
    to_int = arith.FPToUIOp if e.is_unsigned else arith.FPToSIOp
    lhs, rhs = (b(to_float(arg, f64)) for arg in e.args)
    return b(to_int(b(math.PowFOp(lhs, rhs)), IntegerType(integer.width.data)))


def _sigmoid(e: Element) -> SSAValue:
    one = e.constant(1.0)
    power = e.b(math.ExpOp(e.b(arith.NegfOp(e.args[0]))))
    return e.b(arith.DivfOp(one, e.b(arith.AddfOp(one, power))))


def _gelu(e: Element) -> SSAValue:
    b, (x,) = e.b, e.args
    scaled = b(arith.MulfOp(x, e.constant(numbers.sqrt(0.5))))
    grown = b(arith.AddfOp(b(math.ErfOp(scaled)), e.constant(1.0)))
    return b(arith.MulfOp(b(arith.MulfOp(x, e.constant(0.5))), grown))


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


SCALARS: dict[type[Operation], Scalar] = {
    graph.AddOp: _binary(arith.AddfOp, arith.AddiOp),
    graph.SubOp: _binary(arith.SubfOp, arith.SubiOp),
    graph.MulOp: _binary(arith.MulfOp, arith.MuliOp),
    graph.DivOp: _binary(arith.DivfOp, arith.DivSIOp, arith.DivUIOp),
    graph.MinimumOp: _binary(arith.MinimumfOp, arith.MinSIOp, arith.MinUIOp),
    graph.MaximumOp: _binary(arith.MaximumfOp, arith.MaxSIOp, arith.MaxUIOp),
    graph.AndOp: _binary(arith.AndIOp, arith.AndIOp),
    graph.OrOp: _binary(arith.OrIOp, arith.OrIOp),
    graph.XorOp: _binary(arith.XOrIOp, arith.XOrIOp),
    graph.ModOp: _mod,
    graph.PowOp: _pow,
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
    graph.FloorOp: _unary(math.FloorOp),
    graph.CeilOp: _unary(math.CeilOp),
    graph.RoundOp: _unary(math.RoundEvenOp),
}
"""How one element of each op is computed."""


def cast_element(
    b: RegionBuilder, value: SSAValue, source: Attribute, target: Attribute
) -> SSAValue:
    """
    A value of graph element type `source` as one of `target`.

    Floats become integers towards zero, saturating, and NaN becomes 0; anything but
    zero is true. `value` is of the signless type, the result too.
    """
    wide = widen(b, value)
    if target == i1:
        zero = b.constant(0, wide.type)
        if isinstance(wide.type, AnyFloat):
            return b(arith.CmpfOp(wide, zero, "une"))
        return b(arith.CmpiOp(wide, zero, "ne"))
    if isinstance(source, AnyFloat):
        if isinstance(target, AnyFloat):
            made = _cast_float(b, wide, _computed_float(target))
        else:
            made = _float_to_int(b, wide, target)
    elif isinstance(target, AnyFloat):
        if isinstance(source, IndexType):
            wide = b(arith.IndexCastOp(wide, IntegerType(64)))
        to_float = arith.UIToFPOp if is_unsigned(source) else arith.SIToFPOp
        made = b(to_float(wide, _computed_float(target)))
    else:
        made = _cast_int(b, wide, source, target)
    return narrow(b, made, target)


def _computed_float(type: Attribute) -> AnyFloat:
    computed = computed_type(type)
    assert isinstance(computed, AnyFloat), "the caller has looked"
    return computed


def _cast_float(b: RegionBuilder, value: SSAValue, result: AnyFloat) -> SSAValue:
    assert isinstance(value.type, AnyFloat), "the caller has looked"
    if value.type.bitwidth == result.bitwidth:
        return value
    if value.type.bitwidth < result.bitwidth:
        return b(arith.ExtFOp(value, result))
    return b(arith.TruncFOp(value, result))


def _float_to_int(b: RegionBuilder, value: SSAValue, target: Attribute) -> SSAValue:
    low, high = extremes(target)
    # Both bounds are powers of two (or 0), and so exact in every float type.
    bottom, top = b.constant(low, value.type), b.constant(high + 1, value.type)
    in_range = b(
        arith.AndIOp(
            b(arith.CmpfOp(value, bottom, "oge")), b(arith.CmpfOp(value, top, "olt"))
        )
    )
    width = 64 if isinstance(target, IndexType) else width_of(target)
    type = IntegerType(width)
    safe = b(arith.SelectOp(in_range, value, b.constant(0.0, value.type)))
    to_int = arith.FPToUIOp if is_unsigned(target) else arith.FPToSIOp
    made = b(to_int(safe, type))
    largest = b.constant(_as_signed(int(high), width), type)
    above = b(arith.CmpfOp(value, top, "oge"))
    made = b(arith.SelectOp(above, largest, made))
    below = b(arith.CmpfOp(value, bottom, "olt"))
    made = b(arith.SelectOp(below, b.constant(low, type), made))
    if isinstance(target, IndexType):
        return b(arith.IndexCastOp(made, target))
    return made


def _as_signed(value: int, width: int) -> int:
    return value - 2**width if value >= 2 ** (width - 1) else value


def _cast_int(
    b: RegionBuilder, value: SSAValue, source: Attribute, target: Attribute
) -> SSAValue:
    if isinstance(source, IndexType) or isinstance(target, IndexType):
        if source == target:
            return value
        return b(arith.IndexCastOp(value, signless(target)))
    wide = IntegerType(width_of(target))
    if width_of(source) == width_of(target):
        return value
    if width_of(source) > width_of(target):
        return b(arith.TruncIOp(value, wide))
    extend = arith.ExtUIOp if is_unsigned(source) else arith.ExtSIOp
    return b(extend(value, wide))
