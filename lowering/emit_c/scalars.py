"""
The forms of `arith` and `math` on numbers as C expressions.

Integers wrap as the IR says, which in C is so for unsigned ones only; `index` values
are addresses and counts, and do not wrap. The order of operations is that of the IR:
nothing is contracted or reordered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from typing import cast as typed

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
)
from xdsl.ir import Attribute, Operation

from transom.lowering.conversion import Refusal
from transom.lowering.emit_c.expressions import (
    AND,
    ATOM,
    BITS,
    CHOICE,
    EQUAL,
    LESS,
    OR,
    PLUS,
    SHIFT,
    TIMES,
    UNARY,
    Expression,
    call,
    cast,
    joined,
    negated,
)
from transom.lowering.emit_c.prelude import Prelude
from transom.lowering.emit_c.types import (
    Scalar,
    float_text,
    integer_text,
    scalar_of,
)

SIGNED = {"eq": "==", "ne": "!=", "slt": "<", "sle": "<=", "sgt": ">", "sge": ">="}
UNSIGNED = {"ult": "<", "ule": "<=", "ugt": ">", "uge": ">="}
ORDERED = {"oeq": "==", "ogt": ">", "oge": ">=", "olt": "<", "ole": "<="}
UNORDERED = {"ugt": "<=", "uge": "<", "ult": ">=", "ule": ">"}
"""What must not hold, as one side may be NaN."""

LEVELS = {"+": PLUS, "-": PLUS, "*": TIMES, "/": TIMES, "%": TIMES}

LIBRARY: dict[type[Operation], str] = {
    math.AcosOp: "acos",
    math.AcoshOp: "acosh",
    math.AsinOp: "asin",
    math.AsinhOp: "asinh",
    math.Atan2Op: "atan2",
    math.AtanOp: "atan",
    math.AtanhOp: "atanh",
    math.AbsFOp: "fabs",
    math.CbrtOp: "cbrt",
    math.CeilOp: "ceil",
    math.CopySignOp: "copysign",
    math.CosOp: "cos",
    math.CoshOp: "cosh",
    math.ErfOp: "erf",
    math.Exp2Op: "exp2",
    math.ExpM1Op: "expm1",
    math.ExpOp: "exp",
    math.FloorOp: "floor",
    math.FmaOp: "fma",
    math.Log10Op: "log10",
    math.Log1pOp: "log1p",
    math.Log2Op: "log2",
    math.LogOp: "log",
    math.PowFOp: "pow",
    # In the rounding mode that programs start with.
    math.RoundEvenOp: "rint",
    math.RoundOp: "round",
    math.SinOp: "sin",
    math.SinhOp: "sinh",
    math.SqrtOp: "sqrt",
    math.TanOp: "tan",
    math.TanhOp: "tanh",
    math.TruncOp: "trunc",
    arith.MaxnumfOp: "fmax",
    arith.MinnumfOp: "fmin",
}


FLOAT_SIGNS: dict[type[Operation], str] = {
    arith.AddfOp: "+",
    arith.DivfOp: "/",
    arith.MulfOp: "*",
    arith.SubfOp: "-",
}
WRAPPING_SIGNS: dict[type[Operation], str] = {
    arith.AddiOp: "+",
    arith.MuliOp: "*",
    arith.SubiOp: "-",
}
SIGNED_SIGNS: dict[type[Operation], str] = {arith.DivSIOp: "/", arith.RemSIOp: "%"}
UNSIGNED_SIGNS: dict[type[Operation], str] = {arith.DivUIOp: "/", arith.RemUIOp: "%"}
BIT_SIGNS: dict[type[Operation], str] = {
    arith.AndIOp: "&",
    arith.OrIOp: "|",
    arith.XOrIOp: "^",
}
HELPERS: dict[type[Operation], str] = {
    arith.CeilDivSIOp: "ceil_div",
    arith.CeilDivUIOp: "ceil_div_unsigned",
    arith.FloorDivSIOp: "floor_div",
    arith.MaxSIOp: "max",
    arith.MaxUIOp: "max_unsigned",
    arith.MaximumfOp: "maximum",
    arith.MinSIOp: "min",
    arith.MinUIOp: "min_unsigned",
    arith.MinimumfOp: "minimum",
    math.AbsIOp: "abs",
    math.CountLeadingZerosOp: "leading_zeros",
    math.CountTrailingZerosOp: "trailing_zeros",
    math.CtPopOp: "count_ones",
    math.IPowIOp: "power",
}


class Scalars:
    """Expressions of ops on numbers; helpers that they call are noted in `prelude`."""

    def __init__(self, prelude: Prelude, index_bits: int) -> None:
        self.prelude = prelude
        self.index_bits = index_bits
        self.index_type = f"int{index_bits}_t"

    def scalar(self, type: Attribute) -> Scalar:
        """The C form of a type. Raises `Unsupported` for one that has none."""
        found = scalar_of(type, self.index_bits)
        if isinstance(found, Refusal):
            raise Unsupported(found.reason)
        return found

    def constant(self, value: Attribute) -> Expression:
        """A constant. Raises `Unsupported` for one that is no number."""
        if isinstance(value, IntegerAttr):
            integer = typed("IntegerAttr[Any]", value)
            text = integer_text(integer.value.data, self.scalar(integer.type))
        elif isinstance(value, FloatAttr):
            number = typed("FloatAttr[Any]", value)
            text = float_text(number.value.data, self.scalar(number.type))
        else:
            raise Unsupported(f"no C constant for '{value}'")
        return Expression(text, UNARY if text.startswith(("-", "(")) else ATOM)

    def results(
        self, op: Operation, operands: Sequence[Expression]
    ) -> list[Expression] | None:
        """The expressions of the results of an op; None for an op that has no form."""
        if isinstance(op, arith.ConstantOp):
            return [self.constant(op.value)]
        form = FORMS.get(type(op))
        if form is None:
            return None
        result = form(self, op, operands)
        return list(result) if isinstance(result, tuple) else [result]

    def rounded(self, scalar: Scalar, value: Expression) -> Expression:
        """A result as one of the type that the op names."""
        if not scalar.is_half:
            return value
        return call(self.prelude.fixed(f"round_{scalar.name}"), value)

    def loaded(self, scalar: Scalar, element: Expression) -> Expression:
        """An element of memory as a value."""
        if not scalar.is_half:
            return element
        return call(self.prelude.fixed(f"{scalar.name}_to_float"), element)

    def stored(self, scalar: Scalar, value: Expression) -> Expression:
        """A value as an element of memory."""
        if not scalar.is_half:
            return value
        return call(self.prelude.fixed(f"float_to_{scalar.name}"), value)

    # Forms.

    def float_sign(self, op: Operation, xs: Sequence[Expression]) -> Expression:
        sign = FLOAT_SIGNS[type(op)]
        scalar = self.scalar(op.results[0].type)
        return self.rounded(scalar, joined(sign, LEVELS[sign], *xs))

    def wrapping(self, op: Operation, xs: Sequence[Expression]) -> Expression:
        """Unsigned numbers wrap; what is narrower than an `int` cannot overflow one."""
        sign = WRAPPING_SIGNS[type(op)]
        scalar = self.scalar(op.results[0].type)
        level = LEVELS[sign]
        if isinstance(op.results[0].type, IndexType):
            lhs, rhs = xs
            if sign == "+" and rhs.text.startswith("-") and rhs.text[1:].isdigit():
                sign, rhs = "-", Expression(rhs.text[1:])
            return joined(sign, level, lhs, rhs)
        if scalar.width == 1:
            return joined("&&", AND, *xs) if sign == "*" else joined("!=", EQUAL, *xs)
        if scalar.width >= 32:
            xs = [cast(scalar.unsigned, x) for x in xs]
        return cast(scalar.type, joined(sign, level, *xs))

    def signed(self, op: Operation, xs: Sequence[Expression]) -> Expression:
        sign = SIGNED_SIGNS[type(op)]
        scalar = self.scalar(op.results[0].type)
        value = joined(sign, TIMES, *xs)
        return cast(scalar.type, value) if scalar.width < 32 else value

    def unsigned(self, op: Operation, xs: Sequence[Expression]) -> Expression:
        sign = UNSIGNED_SIGNS[type(op)]
        scalar = self.scalar(op.results[0].type)
        return cast(
            scalar.type,
            joined(sign, TIMES, *(cast(scalar.unsigned, x) for x in xs)),
        )

    def bits(self, op: Operation, xs: Sequence[Expression]) -> Expression:
        sign = BIT_SIGNS[type(op)]
        scalar = self.scalar(op.results[0].type)
        if scalar.width == 1:
            if sign == "&":
                return joined("&&", AND, *xs)
            return joined("||", OR, *xs) if sign == "|" else joined("!=", EQUAL, *xs)
        value = joined(sign, BITS, *xs)
        return cast(scalar.type, value) if scalar.width < 32 else value

    def shift(self, op: Operation, xs: Sequence[Expression]) -> Expression:
        scalar = self.scalar(op.results[0].type)
        value, amount = xs
        if isinstance(op, arith.ShRSIOp):
            shifted = joined(">>", SHIFT, value, amount)
            return cast(scalar.type, shifted) if scalar.width < 32 else shifted
        wide = f"uint{max(32, scalar.width)}_t"
        bits = cast(scalar.unsigned, value)
        if scalar.width < 32:
            bits = cast(wide, bits)
        sign = "<<" if isinstance(op, arith.ShLIOp) else ">>"
        return cast(scalar.type, joined(sign, SHIFT, bits, amount))

    def helper(self, op: Operation, xs: Sequence[Expression]) -> Expression:
        scalar = self.scalar(op.results[0].type)
        if scalar.width == 1:
            raise Unsupported(f"no C form for '{op.name}' of bits")
        return call(self.prelude.of(HELPERS[type(op)], scalar), *xs)

    def library(self, op: Operation, xs: Sequence[Expression]) -> Expression:
        scalar = self.scalar(op.results[0].type)
        suffix = "f" if scalar.type == "float" else ""
        return self.rounded(scalar, call(LIBRARY[type(op)] + suffix, *xs))

    def integer_power(self, op: Operation, xs: Sequence[Expression]) -> Expression:
        scalar = self.scalar(op.results[0].type)
        suffix = "f" if scalar.type == "float" else ""
        base, exponent = xs
        power = call(f"pow{suffix}", base, cast(scalar.type, exponent))
        return self.rounded(scalar, power)

    def reciprocal_root(self, op: Operation, xs: Sequence[Expression]) -> Expression:
        scalar = self.scalar(op.results[0].type)
        suffix = "f" if scalar.type == "float" else ""
        one = Expression(float_text(1.0, scalar))
        root = call(f"sqrt{suffix}", *xs)
        return self.rounded(scalar, joined("/", TIMES, one, root))

    def negative(self, op: Operation, xs: Sequence[Expression]) -> Expression:
        (x,) = xs
        return Expression(f"-{x.at(ATOM)}", UNARY, x.reads)

    def compare_integers(self, op: Operation, xs: Sequence[Expression]) -> Expression:
        assert isinstance(op, arith.CmpiOp)
        number = op.predicate.value.data
        name = arith.CMPI_COMPARISON_OPERATIONS[number]
        scalar = self.scalar(op.lhs.type)
        if scalar.width == 1 and name not in ("eq", "ne"):
            # As a number a set bit is -1, or 1 where there is no sign.
            flip = name.startswith("s")
            sign = SIGNED.get(name) or UNSIGNED[name]
            lhs, rhs = (cast("int", x) for x in xs)
            return joined(sign, LESS, *((rhs, lhs) if flip else (lhs, rhs)))
        if name in UNSIGNED:
            xs = [unsigned_of(scalar, x) for x in xs]
        sign = SIGNED.get(name) or UNSIGNED[name]
        return joined(sign, EQUAL if name in ("eq", "ne") else LESS, *xs)

    def compare_floats(self, op: Operation, xs: Sequence[Expression]) -> Expression:
        assert isinstance(op, arith.CmpfOp)
        name = arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]
        if name in ("false", "true"):
            return Expression(name)
        if name in ORDERED:
            sign = ORDERED[name]
            return joined(sign, EQUAL if sign == "==" else LESS, *xs)
        if name == "une":
            return joined("!=", EQUAL, *xs)
        if name in UNORDERED:
            return negated(joined(UNORDERED[name], LESS, *xs))
        if name in ("one", "ueq"):
            differs = call("islessgreater", *xs)
            apart = joined("!=", EQUAL, differs, Expression("0"))
            same = joined("==", EQUAL, differs, Expression("0"))
            return apart if name == "one" else same
        unordered = call("isunordered", *xs)
        sign = "!=" if name == "uno" else "=="
        return joined(sign, EQUAL, unordered, Expression("0"))

    def select(self, op: Operation, xs: Sequence[Expression]) -> Expression:
        self.scalar(op.results[0].type)
        condition, yes, no = xs
        reads = any(x.reads for x in xs)
        text = f"{condition.at(OR)} ? {yes.at(OR)} : {no.at(OR)}"
        return Expression(text, CHOICE, reads)

    def convert_float(self, op: Operation, xs: Sequence[Expression]) -> Expression:
        before = self.scalar(op.operands[0].type)
        after = self.scalar(op.results[0].type)
        (x,) = xs
        if before.type != after.type:
            x = cast(after.type, x)
        return self.rounded(after, x)

    def from_integer(self, op: Operation, xs: Sequence[Expression]) -> Expression:
        before = self.scalar(op.operands[0].type)
        after = self.scalar(op.results[0].type)
        (x,) = xs
        if isinstance(op, arith.UIToFPOp):
            x = cast(before.unsigned, x)
        value = cast(after.type, x)
        if before.width == 1 and isinstance(op, arith.SIToFPOp):
            value = self.negative(op, [value])
        return self.rounded(after, value)

    def to_integer(self, op: Operation, xs: Sequence[Expression]) -> Expression:
        after = self.scalar(op.results[0].type)
        (x,) = xs
        if after.width == 1:
            return joined("!=", EQUAL, cast("int", x), Expression("0"))
        if isinstance(op, arith.FPToUIOp):
            x = cast(after.unsigned, x)
        return cast(after.type, x)

    def resize(self, op: Operation, xs: Sequence[Expression]) -> Expression:
        """Sign and zero extension, truncation, and casts of an index."""
        before = self.scalar(op.operands[0].type)
        after = self.scalar(op.results[0].type)
        (x,) = xs
        if after.width == 1 and before.width > 1:
            one = joined("&", BITS, x, Expression("1"))
            return joined("!=", EQUAL, one, Expression("0"))
        if before.width == 1:
            value = cast(after.type, x)
            is_signed = isinstance(op, arith.ExtSIOp | arith.IndexCastOp)
            if not is_signed:
                return value
            return cast(after.type, self.negative(op, [value]))
        if isinstance(op, arith.ExtUIOp):
            x = cast(before.unsigned, x)
        return cast(after.type, x) if before.type != after.type else x

    def bitcast(self, op: Operation, xs: Sequence[Expression]) -> Expression:
        before = self.scalar(op.operands[0].type)
        after = self.scalar(op.results[0].type)
        if before.width == 1:
            return xs[0]
        name = self.prelude.bits(before, after)
        return self.loaded(after, call(name, self.stored(before, xs[0])))

    def extended(
        self, op: Operation, xs: Sequence[Expression]
    ) -> tuple[Expression, ...]:
        """The lower and the upper half of a product, or a sum and its carry."""
        scalar = self.scalar(op.results[0].type)
        if scalar.width not in (8, 16, 32):
            raise Unsupported(f"no C form for '{op.name}' of {scalar.width} bits")
        signed = isinstance(op, arith.MulSIExtendedOp)
        wide = f"{'' if signed else 'u'}int64_t"
        if not signed:
            xs = [cast(scalar.unsigned, x) for x in xs]
        xs = [cast(wide, x) for x in xs]
        if isinstance(op, arith.AddUIExtendedOp):
            total = joined("+", PLUS, *xs)
            most = Expression(f"UINT{scalar.width}_MAX")
            return cast(scalar.type, total), joined(">", LESS, total, most)
        product = joined("*", TIMES, *xs)
        width = Expression(str(scalar.width))
        upper = joined(">>", SHIFT, product, width)
        return cast(scalar.type, product), cast(scalar.type, upper)


def unsigned_of(scalar: Scalar, x: Expression) -> Expression:
    """A number as one without a sign; a constant has none."""
    return Expression(f"{x.text}u") if x.text.isdigit() else cast(scalar.unsigned, x)


class Unsupported(Exception):
    """There is no C for something; the message says for what."""


Form = Callable[
    [Scalars, Operation, Sequence[Expression]], Expression | tuple[Expression, ...]
]

FORMS: dict[type[Operation], Form] = {
    **dict.fromkeys(FLOAT_SIGNS, Scalars.float_sign),
    **dict.fromkeys(WRAPPING_SIGNS, Scalars.wrapping),
    **dict.fromkeys(SIGNED_SIGNS, Scalars.signed),
    **dict.fromkeys(UNSIGNED_SIGNS, Scalars.unsigned),
    **dict.fromkeys(BIT_SIGNS, Scalars.bits),
    **dict.fromkeys(HELPERS, Scalars.helper),
    **dict.fromkeys(LIBRARY, Scalars.library),
    arith.AddUIExtendedOp: Scalars.extended,
    arith.BitcastOp: Scalars.bitcast,
    arith.CmpfOp: Scalars.compare_floats,
    arith.CmpiOp: Scalars.compare_integers,
    arith.ExtFOp: Scalars.convert_float,
    arith.ExtSIOp: Scalars.resize,
    arith.ExtUIOp: Scalars.resize,
    arith.FPToSIOp: Scalars.to_integer,
    arith.FPToUIOp: Scalars.to_integer,
    arith.IndexCastOp: Scalars.resize,
    arith.MulSIExtendedOp: Scalars.extended,
    arith.MulUIExtendedOp: Scalars.extended,
    arith.NegfOp: Scalars.negative,
    arith.SIToFPOp: Scalars.from_integer,
    arith.SelectOp: Scalars.select,
    arith.ShLIOp: Scalars.shift,
    arith.ShRSIOp: Scalars.shift,
    arith.ShRUIOp: Scalars.shift,
    arith.TruncFOp: Scalars.convert_float,
    arith.TruncIOp: Scalars.resize,
    arith.UIToFPOp: Scalars.from_integer,
    math.FPowIOp: Scalars.integer_power,
    math.RsqrtOp: Scalars.reciprocal_root,
}
"""Every op that is an expression of its operands."""
