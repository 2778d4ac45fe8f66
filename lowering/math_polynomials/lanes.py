"""
Arithmetic as formulas: what is written on one number is computed in all lanes.

```python
def softsign(x: Lanes) -> Lanes:
    return x / (x.magnitude() + 1.0)
```

A Python number stands for a constant of the other side's type. On floats `a.fma(b, c)`
is `a * b + c` with one rounding where the target has an instruction for that, and with
two where it has none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias, cast

from xdsl.dialects import arith, math, scf, vector
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from transom.lowering.conversion import ConversionRewriter

Number: TypeAlias = "Lanes | float"


def constant_op(value: Attribute, type: Attribute) -> Operation:
    return arith.ConstantOp.create(properties={"value": value}, result_types=[type])


class Writer(NamedTuple):
    """Where formulas are written, and for what."""

    rewriter: ConversionRewriter
    has_fma: bool

    def __call__(self, op: Operation) -> SSAValue:
        return self.rewriter.insert(op).results[0]


class Lanes:
    """
    A number, or one in each lane of a vector.

    Comparisons give `i1`; a comparison with NaN is false.
    """

    def __init__(self, writer: Writer, value: SSAValue) -> None:
        self.writer = writer
        self.value = value

    # Types.

    @property
    def element(self) -> Attribute:
        type = self.value.type
        if isinstance(type, VectorType):
            return cast("VectorType[Attribute]", type).element_type
        return type

    def of(self, element: Attribute) -> Attribute:
        """`element`, or the vector of it with as many lanes."""
        type = self.value.type
        if isinstance(type, VectorType):
            return VectorType(element, cast("VectorType[Attribute]", type).get_shape())
        return element

    @property
    def is_float(self) -> bool:
        return isinstance(self.element, AnyFloat)

    @property
    def bit_type(self) -> IntegerType:
        """The integer as wide as these floats."""
        return i32 if isinstance(self.element, Float32Type) else i64

    # Building.

    def lift(self, number: Number) -> SSAValue:
        """A value of the same type."""
        if isinstance(number, Lanes):
            return number.value
        type, element = self.value.type, self.element
        attr: Attribute
        if isinstance(type, VectorType):
            numbers = cast("VectorType[Float32Type]", type)
            count = numbers.element_count()
            value = number if self.is_float else int(number)
            attr = DenseIntOrFPElementsAttr.from_list(numbers, (value,) * count)
        elif self.is_float:
            attr = FloatAttr(number, cast(Float32Type, element))
        else:
            attr = IntegerAttr(int(number), cast(IntegerType, element))
        return self.writer(constant_op(attr, self.value.type))

    def constant(self, number: float) -> Lanes:
        return Lanes(self.writer, self.lift(number))

    def _made(self, op: Operation) -> Lanes:
        return Lanes(self.writer, self.writer(op))

    def _binary(
        self, floats: type[Operation], integers: type[Operation], other: Number
    ) -> Lanes:
        kind = cast(
            "Callable[[SSAValue, SSAValue], Operation]",
            floats if self.is_float else integers,
        )
        return self._made(kind(self.value, self.lift(other)))

    # Arithmetic.

    def __add__(self, other: Number) -> Lanes:
        return self._binary(arith.AddfOp, arith.AddiOp, other)

    def __sub__(self, other: Number) -> Lanes:
        return self._binary(arith.SubfOp, arith.SubiOp, other)

    def __mul__(self, other: Number) -> Lanes:
        return self._binary(arith.MulfOp, arith.MuliOp, other)

    def __truediv__(self, other: Number) -> Lanes:
        return self._made(arith.DivfOp(self.value, self.lift(other)))

    def fma(self, factor: Number, addend: Number) -> Lanes:
        """`self * factor + addend`."""
        if not self.writer.has_fma:
            return self * factor + addend
        operands = (self.value, self.lift(factor), self.lift(addend))
        return self._made(math.FmaOp(*operands))

    def polynomial(self, coefficients: Sequence[float]) -> Lanes:
        """The sum of `coefficients[k] * self**k`."""
        *rest, last = coefficients
        result = self.constant(last)
        for coefficient in reversed(rest):
            result = result.fma(self, coefficient)
        return result

    def apply(self, function: Callable[[SSAValue], Operation]) -> Lanes:
        """An op of one operand, such as `math.SqrtOp`."""
        return self._made(function(self.value))

    def magnitude(self) -> Lanes:
        return self.apply(math.AbsFOp)

    def with_sign_of(self, other: Lanes) -> Lanes:
        return self._made(math.CopySignOp(self.value, other.value))

    # Bits.

    def __lshift__(self, places: int) -> Lanes:
        return self._made(arith.ShLIOp(self.value, self.lift(places)))

    def __rshift__(self, places: int) -> Lanes:
        """Copies of the sign come in."""
        return self._made(arith.ShRSIOp(self.value, self.lift(places)))

    def __and__(self, other: Number) -> Lanes:
        return self._made(arith.AndIOp(self.value, self.lift(other)))

    def __or__(self, other: Number) -> Lanes:
        return self._made(arith.OrIOp(self.value, self.lift(other)))

    def __xor__(self, other: Number) -> Lanes:
        return self._made(arith.XOrIOp(self.value, self.lift(other)))

    def inverted(self) -> Lanes:
        """The opposite of a condition."""
        return self ^ 1

    def bits(self) -> Lanes:
        """The integer that has the bits of a float."""
        return self._made(arith.BitcastOp(self.value, self.of(self.bit_type)))

    def floats(self) -> Lanes:
        """The float that has the bits of an integer."""
        type = self.of(f32 if self.element == i32 else f64)
        return self._made(arith.BitcastOp(self.value, type))

    # Conversions.

    def to_float(self) -> Lanes:
        """A whole number as f32."""
        return self._made(arith.SIToFPOp(self.value, cast(AnyFloat, self.of(f32))))

    def wide(self) -> Lanes:
        """An f32, or less, as f64."""
        return self._made(arith.ExtFOp(self.value, cast(AnyFloat, self.of(f64))))

    def single(self) -> Lanes:
        """Another float as f32."""
        type = cast(AnyFloat, self.of(f32))
        if cast(AnyFloat, self.element).bitwidth > 32:
            return self._made(arith.TruncFOp(self.value, type))
        return self._made(arith.ExtFOp(self.value, type))

    def rounded_to(self, element: Attribute) -> Lanes:
        """An f32 as a smaller float."""
        return self._made(arith.TruncFOp(self.value, cast(AnyFloat, self.of(element))))

    # Conditions.

    def is_(self, predicate: str, other: Number) -> Lanes:
        """A comparison by its name in `arith.cmpf`."""
        names = arith.CMPF_COMPARISON_OPERATIONS
        op = arith.CmpfOp.create(
            operands=[self.value, self.lift(other)],
            result_types=[self.of(i1)],
            properties={
                "predicate": IntegerAttr(names.index(predicate), 64),
                "fastmath": arith.FastMathFlagsAttr("none"),
            },
        )
        return self._made(op)

    def equals(self, other: Number) -> Lanes:
        """Whether integers are equal."""
        op = arith.CmpiOp.create(
            operands=[self.value, self.lift(other)],
            result_types=[self.of(i1)],
            properties={"predicate": IntegerAttr(0, 64)},
        )
        return self._made(op)

    def choose(self, yes: Number, no: Lanes) -> Lanes:
        """By this condition, lane by lane."""
        return Lanes(
            self.writer,
            self.writer(arith.SelectOp(self.value, no.lift(yes), no.value)),
        )

    def at_least(self, bound: float) -> Lanes:
        """The larger of this and `bound`; NaN stays. One instruction on most CPUs."""
        limit = self.constant(bound)
        return limit.is_("ogt", self).choose(limit, self)

    def at_most(self, bound: float) -> Lanes:
        """The smaller of this and `bound`; NaN stays."""
        limit = self.constant(bound)
        return limit.is_("olt", self).choose(limit, self)

    def lower_of(self, bound: int) -> Lanes:
        """The smaller of an integer and `bound`."""
        return self._made(arith.MinSIOp(self.value, self.lift(bound)))

    def where_any(self, yes: Callable[[], Lanes], no: Lanes) -> Lanes:
        """`yes` if this condition holds in any lane, which is a branch; else `no`."""
        condition = self.value
        if isinstance(condition.type, VectorType):
            reduction = vector.ReductionOp.create(
                operands=[condition], result_types=[i1], properties={"kind": OR}
            )
            condition = self.writer(reduction)
        block = Block()
        with self.writer.rewriter.at_end(block):
            self.writer.rewriter.insert(scf.YieldOp(yes().value))
        otherwise = Region(Block([scf.YieldOp(no.value)]))
        branch = scf.IfOp(condition, [no.value.type], Region(block), otherwise)
        return self._made(branch)

    def each(self, function: Callable[[Lanes], Lanes]) -> Lanes:
        """A function that is computed for one lane after the other."""
        type = self.value.type
        if not isinstance(type, VectorType):
            return function(self)
        lanes = cast("VectorType[Attribute]", type)
        result = self.value
        for lane in range(lanes.element_count()):
            extract = vector.ExtractOp(self.value, [lane], lanes.element_type)
            made = function(Lanes(self.writer, self.writer(extract)))
            result = self.writer(vector.InsertOp(made.value, result, [lane]))
        return Lanes(self.writer, result)


OR = vector.CombiningKindAttr(vector.CombiningKindFlag.OR)
