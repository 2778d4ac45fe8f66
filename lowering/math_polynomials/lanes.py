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
from typing import TypeAlias, cast

from xdsl.dialects import arith, math, scf, vector
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    VectorType,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

Number: TypeAlias = "Lanes | float"


class Writer:
    """Collects the ops that formulas are made of."""

    def __init__(self, has_fma: bool) -> None:
        self.has_fma = has_fma
        self.ops: list[Operation] = []

    def insert(self, op: Operation, location: LocationAttr) -> SSAValue:
        op.location = location
        self.ops.append(op)
        return op.results[0]

    def block_of(self, write: Callable[[], Lanes]) -> Block:
        """A block that yields the one value of what is written in it."""
        outside, self.ops = self.ops, []
        result = write()
        block = Block([*self.ops, scf.YieldOp(*result.values)])
        self.ops = outside
        return block


class Lanes:
    """
    A number, or one in each lane of a vector; or several such values of one type, which
    are computed side by side, each at a location of its own.

    A chain of operations waits for each of its results. Chains side by side wait
    together: each operation is written for all values before the next one is.
    Comparisons give `i1`; a comparison with NaN is false.
    """

    def __init__(
        self,
        writer: Writer,
        values: Sequence[SSAValue],
        locations: Sequence[LocationAttr],
    ) -> None:
        self.writer = writer
        self.values = tuple(values)
        self.locations = tuple(locations)

    def with_values(self, values: Sequence[SSAValue]) -> Lanes:
        return Lanes(self.writer, values, self.locations)

    def parts(self) -> list[Lanes]:
        """The values, one by one."""
        pairs = zip(self.values, self.locations, strict=True)
        return [Lanes(self.writer, [value], [where]) for value, where in pairs]

    # Types.

    @property
    def type(self) -> Attribute:
        return self.values[0].type

    @property
    def vector_type(self) -> VectorType[Attribute] | None:
        """The type of vectors, None of scalars."""
        type = self.type
        if isinstance(type, VectorType):
            return cast("VectorType[Attribute]", type)
        return None

    @property
    def element(self) -> Attribute:
        vector_type = self.vector_type
        return self.type if vector_type is None else vector_type.element_type

    def of(self, element: Attribute) -> Attribute:
        """`element`, or the vector of it with as many lanes."""
        vector_type = self.vector_type
        if vector_type is None:
            return element
        return VectorType(element, vector_type.get_shape())

    @property
    def is_float(self) -> bool:
        return isinstance(self.element, AnyFloat)

    @property
    def bit_type(self) -> IntegerType:
        """The integer as wide as these floats."""
        return i32 if isinstance(self.element, Float32Type) else i64

    # Building.

    def lift(self, number: Number) -> Lanes:
        """Values of the same type."""
        return number if isinstance(number, Lanes) else self.constant(number)

    def constant(self, number: float) -> Lanes:
        """A number, in as many values and lanes, which are one op."""
        type, element, vector_type = self.type, self.element, self.vector_type
        attr: Attribute
        if vector_type is not None:
            numbers = cast("VectorType[Float32Type]", vector_type)
            count = numbers.element_count()
            value = number if self.is_float else int(number)
            attr = DenseIntOrFPElementsAttr.from_list(numbers, (value,) * count)
        elif self.is_float:
            attr = FloatAttr(number, cast(Float32Type, element))
        else:
            attr = IntegerAttr(int(number), cast(IntegerType, element))
        op = arith.ConstantOp.create(properties={"value": attr}, result_types=[type])
        result = self.writer.insert(op, self.locations[0])
        return self.with_values([result] * len(self.values))

    def apply(self, make: Callable[..., Operation], *others: Lanes) -> Lanes:
        """An op such as `math.SqrtOp` of each value, and of values of others."""
        columns = zip(
            self.locations,
            self.values,
            *(other.values for other in others),
            strict=True,
        )
        return self.with_values(
            [self.writer.insert(make(*operands), where) for where, *operands in columns]
        )

    def _binary(
        self, floats: type[Operation], integers: type[Operation], other: Number
    ) -> Lanes:
        return self.apply(floats if self.is_float else integers, self.lift(other))

    # Arithmetic.

    def __add__(self, other: Number) -> Lanes:
        return self._binary(arith.AddfOp, arith.AddiOp, other)

    def __sub__(self, other: Number) -> Lanes:
        return self._binary(arith.SubfOp, arith.SubiOp, other)

    def __mul__(self, other: Number) -> Lanes:
        return self._binary(arith.MulfOp, arith.MuliOp, other)

    def __truediv__(self, other: Number) -> Lanes:
        return self.apply(arith.DivfOp, self.lift(other))

    def fma(self, factor: Number, addend: Number) -> Lanes:
        """`self * factor + addend`."""
        if not self.writer.has_fma:
            return self * factor + addend
        return self.apply(math.FmaOp, self.lift(factor), self.lift(addend))

    def polynomial(self, coefficients: Sequence[float]) -> Lanes:
        """The sum of `coefficients[k] * self**k`."""
        *rest, last = coefficients
        result = self + rest.pop() if last == 1 and rest else self.constant(last)
        for coefficient in reversed(rest):
            result = result.fma(self, coefficient)
        return result

    def magnitude(self) -> Lanes:
        return self.apply(math.AbsFOp)

    def with_sign_of(self, other: Lanes) -> Lanes:
        return self.apply(math.CopySignOp, other)

    # Bits.

    def __lshift__(self, places: int) -> Lanes:
        return self.apply(arith.ShLIOp, self.lift(places))

    def __rshift__(self, places: int) -> Lanes:
        """Copies of the sign come in."""
        return self.apply(arith.ShRSIOp, self.lift(places))

    def __and__(self, other: Number) -> Lanes:
        return self.apply(arith.AndIOp, self.lift(other))

    def __or__(self, other: Number) -> Lanes:
        return self.apply(arith.OrIOp, self.lift(other))

    def __xor__(self, other: Number) -> Lanes:
        return self.apply(arith.XOrIOp, self.lift(other))

    def inverted(self) -> Lanes:
        """The opposite of a condition."""
        return self ^ 1

    def bits(self) -> Lanes:
        """The integer that has the bits of a float."""
        return self._cast(arith.BitcastOp, self.bit_type)

    def floats(self) -> Lanes:
        """The float that has the bits of an integer."""
        return self._cast(arith.BitcastOp, f32 if self.element == i32 else f64)

    # Conversions.

    def _cast(self, kind: Callable[..., Operation], element: Attribute) -> Lanes:
        type = self.of(element)

        def make(value: SSAValue) -> Operation:
            return kind(value, type)

        return self.apply(make)

    def to_float(self) -> Lanes:
        """A whole number as f32."""
        return self._cast(arith.SIToFPOp, f32)

    def wide(self) -> Lanes:
        """An f32, or less, as f64."""
        return self._cast(arith.ExtFOp, f64)

    def single(self) -> Lanes:
        """Another float as f32."""
        is_wide = cast(AnyFloat, self.element).bitwidth > 32
        return self._cast(arith.TruncFOp if is_wide else arith.ExtFOp, f32)

    def rounded_to(self, element: Attribute) -> Lanes:
        """An f32 as a smaller float."""
        return self._cast(arith.TruncFOp, element)

    # Conditions.

    def is_(self, predicate: str, other: Number) -> Lanes:
        """A comparison by its name in `arith.cmpf`."""
        number = arith.CMPF_COMPARISON_OPERATIONS.index(predicate)
        return self._compare(
            arith.CmpfOp,
            other,
            {
                "predicate": IntegerAttr(number, 64),
                "fastmath": arith.FastMathFlagsAttr("none"),
            },
        )

    def equals(self, other: Number) -> Lanes:
        """Whether integers are equal."""
        return self._compare(arith.CmpiOp, other, {"predicate": IntegerAttr(0, 64)})

    def _compare(
        self, kind: type[Operation], other: Number, properties: dict[str, Attribute]
    ) -> Lanes:
        def make(*operands: SSAValue) -> Operation:
            return kind.create(
                operands=operands,
                result_types=[self.of(i1)],
                properties=dict(properties),
            )

        return self.apply(make, self.lift(other))

    def choose(self, yes: Number, no: Lanes) -> Lanes:
        """By this condition, lane by lane."""
        return self.apply(arith.SelectOp, no.lift(yes), no)

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
        return self.apply(arith.MinSIOp, self.lift(bound))

    def where_any(self, yes: Callable[[], Lanes], no: Lanes) -> Lanes:
        """
        `yes` if this one condition holds in any lane, which is a branch; else `no`.
        """
        any = self
        if self.vector_type is not None:

            def reduce(value: SSAValue) -> Operation:
                return vector.ReductionOp.create(
                    operands=[value], result_types=[i1], properties={"kind": OR}
                )

            any = self.apply(reduce)
        taken = Region(self.writer.block_of(yes))
        other = Region(self.writer.block_of(lambda: no))

        def branch(value: SSAValue) -> Operation:
            return scf.IfOp(value, [no.type], taken, other)

        return any.apply(branch)

    def lane_by_lane(self, function: Callable[[Lanes], Lanes]) -> Lanes:
        """A function that is computed for one lane after the other."""
        lanes = self.vector_type
        if lanes is None:
            return function(self)
        result = self
        for lane in range(lanes.element_count()):
            result = self._with_lane(function, lane, lanes.element_type, result)
        return result

    def _with_lane(
        self,
        function: Callable[[Lanes], Lanes],
        lane: int,
        element: Attribute,
        result: Lanes,
    ) -> Lanes:
        def extract(value: SSAValue) -> Operation:
            return vector.ExtractOp(value, [lane], element)

        def insert(value: SSAValue, into: SSAValue) -> Operation:
            return vector.InsertOp(value, into, [lane])

        return function(self.apply(extract)).apply(insert, result)


OR = vector.CombiningKindAttr(vector.CombiningKindFlag.OR)


def joined(parts: Sequence[Lanes]) -> Lanes:
    """Values side by side."""
    return Lanes(
        parts[0].writer,
        [value for part in parts for value in part.values],
        [where for part in parts for where in part.locations],
    )
