"""
The algebra of sizes: what a result's dimensions are, as a function of the operands'.

A `Dim` is an `int`, the size of one dimension of one operand (`DimOf`), a size that
depends on the operands' elements (`DataDim`), or an expression over those. Every op
states its result shapes once, in `infer`; the verifier, the inference of result types,
the constructors and the lowering (which turns the expressions into index arithmetic)
all read that.

Expressions are kept simple enough that a size which is exactly an operand's stays one:
a 3x3 convolution with padding 1 has `x + 2 - 3 + 1 == x` rows.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

DYNAMIC = DYNAMIC_INDEX
"""How tensor types hold a size that is not known."""


class Symbol(NamedTuple):
    """A named size with the bounds that it keeps to; None is no bound."""

    name: str
    lower: int | None = None
    upper: int | None = None

    def admits(self, size: int) -> bool:
        """Whether a size is within the bounds."""
        return (self.lower is None or self.lower <= size) and (
            self.upper is None or size <= self.upper
        )

    def overlaps(self, other: "Symbol") -> bool:
        """Whether some size is within the bounds of both."""
        lower = max(self.lower or 0, other.lower or 0)
        uppers = [u for u in (self.upper, other.upper) if u is not None]
        return not uppers or lower <= min(uppers)

    def narrowed(self, other: "Symbol") -> "Symbol":
        """This symbol within the bounds of both."""
        lowers = [b for b in (self.lower, other.lower) if b is not None]
        uppers = [b for b in (self.upper, other.upper) if b is not None]
        return Symbol(self.name, max(lowers, default=None), min(uppers, default=None))

    def widened(self, other: "Symbol") -> "Symbol":
        """This symbol within the bounds of one of the two."""
        lowers, uppers = (self.lower, other.lower), (self.upper, other.upper)
        return Symbol(
            self.name,
            None if None in lowers else min(b for b in lowers if b is not None),
            None if None in uppers else max(b for b in uppers if b is not None),
        )

    @property
    def bounds(self) -> str:
        """The bounds as they are written after the name; empty if there are none."""
        if self.lower is None and self.upper is None:
            return ""
        lower, upper = (
            "?" if bound is None else str(bound) for bound in (self.lower, self.upper)
        )
        return f" : {lower} to {upper}"

    def __str__(self) -> str:
        return f'"{self.name}"{self.bounds}'


Operator = Literal["add", "mul", "floordiv", "max", "min", "broadcast"]


class _Arithmetic:
    """Operators on sizes that are not known; each gives a simplified `Dim`."""

    __slots__ = ()

    def __add__(self, other: "Dim") -> "Dim":
        return add(_dim(self), other)

    def __radd__(self, other: "Dim") -> "Dim":
        return add(other, _dim(self))

    def __sub__(self, other: "Dim") -> "Dim":
        return add(_dim(self), multiply(other, -1))

    def __rsub__(self, other: "Dim") -> "Dim":
        return add(other, multiply(_dim(self), -1))

    def __mul__(self, other: "Dim") -> "Dim":
        return multiply(_dim(self), other)

    def __rmul__(self, other: "Dim") -> "Dim":
        return multiply(other, _dim(self))

    def __floordiv__(self, other: "Dim") -> "Dim":
        return floor_divide(_dim(self), other)


@dataclass(frozen=True, slots=True)
class DimOf(_Arithmetic):
    """The size of an operand's dimension that its type leaves open."""

    operand: int
    axis: int
    symbol: Symbol | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return "?" if self.symbol is None else self.symbol.name


@dataclass(frozen=True, slots=True)
class DataDim(_Arithmetic):
    """
    A size that depends on the elements of an op's operands: the one of this number that
    the op computes (`GraphOp.data_sizes`), at most `upper`.
    """

    number: int
    upper: "Dim" = field(compare=False)

    def __str__(self) -> str:
        return "?"


@dataclass(frozen=True, slots=True)
class DimExpr(_Arithmetic):
    """
    An expression of two sizes.

    `broadcast` is the common size of two that NumPy's rule lets meet: they are equal,
    or one of them is 1 and the result is the other one.
    """

    operator: Operator
    lhs: "Dim"
    rhs: "Dim"

    def __str__(self) -> str:
        infix = {"add": "+", "mul": "*", "floordiv": "//"}.get(self.operator)
        if infix is None:
            return f"{self.operator}({self.lhs}, {self.rhs})"
        return f"({self.lhs} {infix} {self.rhs})"


Dim = int | DimOf | DataDim | DimExpr
"""A size: known, an operand's, one that depends on data, or an expression."""


def _dim(value: _Arithmetic) -> "DimOf | DataDim | DimExpr":
    assert isinstance(value, DimOf | DataDim | DimExpr), "there are no other subclasses"
    return value


class ResultShape(NamedTuple):
    """What is known of a result: its sizes and its element type."""

    dims: tuple[Dim, ...]
    element_type: Attribute


def same(a: Dim, b: Dim) -> bool:
    """Whether two sizes are known to be equal."""
    if a == b:
        return True
    if isinstance(a, DimOf) and isinstance(b, DimOf):
        return (
            a.symbol is not None
            and b.symbol is not None
            and a.symbol.name == b.symbol.name
        )
    return (
        isinstance(a, DimExpr)
        and isinstance(b, DimExpr)
        and a.operator == b.operator
        and same(a.lhs, b.lhs)
        and same(a.rhs, b.rhs)
    )


def add(a: Dim, b: Dim) -> Dim:
    """`a + b`, with the constant last and folded."""
    if isinstance(a, int):
        if isinstance(b, int):
            return a + b
        a, b = b, a
    if isinstance(b, int):
        if b == 0:
            return a
        if isinstance(a, DimExpr) and a.operator == "add" and isinstance(a.rhs, int):
            return add(a.lhs, a.rhs + b)
        return DimExpr("add", a, b)
    if isinstance(a, DimExpr) and a.operator == "add" and isinstance(a.rhs, int):
        return add(add(a.lhs, b), a.rhs)
    if isinstance(b, DimExpr) and b.operator == "add" and isinstance(b.rhs, int):
        return add(add(a, b.lhs), b.rhs)
    return DimExpr("add", a, b)


def multiply(a: Dim, b: Dim) -> Dim:
    """`a * b`, with the constant last and folded."""
    if isinstance(a, int):
        if isinstance(b, int):
            return a * b
        a, b = b, a
    if isinstance(b, int):
        if b in (0, 1):
            return a if b else 0
        if isinstance(a, DimExpr) and a.operator == "mul" and isinstance(a.rhs, int):
            return multiply(a.lhs, a.rhs * b)
        if isinstance(a, DimExpr) and a.operator == "add" and isinstance(a.rhs, int):
            return add(multiply(a.lhs, b), a.rhs * b)
        return DimExpr("mul", a, b)
    if isinstance(a, DimExpr) and a.operator == "mul" and isinstance(a.rhs, int):
        return multiply(multiply(a.lhs, b), a.rhs)
    if isinstance(b, DimExpr) and b.operator == "mul" and isinstance(b.rhs, int):
        return multiply(multiply(a, b.lhs), b.rhs)
    return DimExpr("mul", a, b)


def floor_divide(a: Dim, b: Dim) -> Dim:
    """`a // b`, rounding towards minus infinity."""
    if b == 1:
        return a
    if isinstance(b, int) and b != 0:
        if isinstance(a, int):
            return a // b
        if isinstance(a, DimExpr) and isinstance(a.rhs, int):
            if a.operator == "mul" and a.rhs % b == 0:
                return multiply(a.lhs, a.rhs // b)
            if a.operator == "add" and a.rhs % b == 0:
                return add(floor_divide(a.lhs, b), a.rhs // b)
    return DimExpr("floordiv", a, b)


def ceil_divide(a: Dim, b: int) -> Dim:
    """`a / b` for `b > 0`, rounding towards infinity."""
    return floor_divide(add(a, b - 1), b)


def maximum(a: Dim, b: Dim) -> Dim:
    """The larger of two sizes."""
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b)
    return a if same(a, b) else DimExpr("max", a, b)


def minimum(a: Dim, b: Dim) -> Dim:
    """The smaller of two sizes."""
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    return a if same(a, b) else DimExpr("min", a, b)


def broadcast(a: Dim, b: Dim) -> Dim | None:
    """
    The common size of two by NumPy's rule, or None if they can not meet.

    A known size other than 1 decides: that the other one is equal to it, or 1, is
    checked at run time.
    """
    if a == 1 or same(a, b):
        return b if a == 1 else a
    if b == 1:
        return a
    if isinstance(a, int):
        return None if isinstance(b, int) else a
    if isinstance(b, int):
        return b
    return DimExpr("broadcast", a, b)


def product(dims: Iterable[Dim]) -> Dim:
    """The number of elements of a shape."""
    result: Dim = 1
    for dim in dims:
        result = multiply(result, dim)
    return result


def cancelled(dims: Sequence[Dim], divisors: Sequence[Dim]) -> tuple[Dim, Dim]:
    """The two products, without the unknown factors that both have."""
    left = [dim for dim in dims if not isinstance(dim, int)]
    unmatched: list[Dim] = []
    for divisor in divisors:
        if isinstance(divisor, int):
            continue
        match = next((dim for dim in left if same(dim, divisor)), None)
        if match is None:
            unmatched.append(divisor)
        else:
            left.remove(match)
    return (
        multiply(product(left), _known_product(dims)),
        multiply(product(unmatched), _known_product(divisors)),
    )


def _known_product(dims: Iterable[Dim]) -> int:
    result = 1
    for dim in dims:
        if isinstance(dim, int):
            result *= dim
    return result


def evaluate(dim: Dim, size_of: Callable[[int, int], int]) -> int:
    """
    The number that a size is, given the operands' as `size_of(operand, axis)`; the
    bound of one that depends on data.
    """
    if isinstance(dim, int):
        return dim
    if isinstance(dim, DimOf):
        return size_of(dim.operand, dim.axis)
    if isinstance(dim, DataDim):
        return evaluate(dim.upper, size_of)
    a, b = evaluate(dim.lhs, size_of), evaluate(dim.rhs, size_of)
    match dim.operator:
        case "add":
            return a + b
        case "mul":
            return a * b
        case "floordiv":
            return a // b
        case "max":
            return max(a, b)
        case "min":
            return min(a, b)
        case "broadcast":
            if a != b and 1 not in (a, b):
                raise VerifyException(f"expected sizes that broadcast: {a} and {b}")
            return b if a == 1 else a


def data_dims(dim: Dim) -> tuple[DataDim, ...]:
    """The sizes that depend on data in a size."""
    if isinstance(dim, DataDim):
        return (dim,)
    if isinstance(dim, DimExpr):
        return (*data_dims(dim.lhs), *data_dims(dim.rhs))
    return ()


def static_or_dynamic(dims: Iterable[Dim]) -> tuple[int, ...]:
    """The shape of a tensor type with these sizes."""
    return tuple(dim if isinstance(dim, int) else DYNAMIC for dim in dims)


def symbols_of(dims: Iterable[Dim]) -> tuple[Symbol | None, ...]:
    """The symbol of each size that is exactly that of an operand, else None."""
    return tuple(dim.symbol if isinstance(dim, DimOf) else None for dim in dims)
