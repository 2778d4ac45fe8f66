"""
Index arithmetic as polynomials, so that equal sizes are seen to be equal.

An `Expression` is a sum of products of atoms: a size that is not known when compiling,
a value that nothing is known about, or an operation that is no polynomial. Two
expressions of one table that are equal have equal values whenever both can be computed.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue

Monomial = tuple[int, ...]


@dataclass(frozen=True)
class Expression:
    """Products of atoms, each with its factor, in one order; no factor is zero."""

    terms: tuple[tuple[Monomial, int], ...]

    @property
    def constant(self) -> int | None:
        """The value, if it does not depend on any atom."""
        match self.terms:
            case ():
                return 0
            case (((), value),):
                return value
            case _:
                return None

    def atoms(self) -> frozenset[int]:
        """The numbers of the atoms that it names itself."""
        return frozenset(atom for monomial, _ in self.terms for atom in monomial)


@dataclass(frozen=True)
class Size:
    """The size of a dimension of a tensor or memref."""

    value: SSAValue
    axis: int


@dataclass(frozen=True)
class Opaque:
    """A value that is not looked into."""

    value: SSAValue


@dataclass(frozen=True)
class Apply:
    """An op of `arith` that is no polynomial; `predicate` is that of a comparison."""

    op: str
    operands: tuple[Expression, ...]
    predicate: int | None = None


Atom = Size | Opaque | Apply

_FOLDS: Mapping[str, Callable[[int, int], int | None]] = {
    "arith.divui": lambda a, b: a // b if a >= 0 and b > 0 else None,
    "arith.divsi": lambda a, b: a // b if a >= 0 and b > 0 else None,
    "arith.floordivsi": lambda a, b: a // b if b > 0 else None,
    "arith.ceildivsi": lambda a, b: -(-a // b) if b > 0 else None,
    "arith.ceildivui": lambda a, b: -(-a // b) if a >= 0 and b > 0 else None,
    "arith.remui": lambda a, b: a % b if a >= 0 and b > 0 else None,
    "arith.remsi": lambda a, b: a % b if a >= 0 and b > 0 else None,
    "arith.minsi": min,
    "arith.maxsi": max,
    "arith.minui": lambda a, b: min(a, b) if a >= 0 and b >= 0 else None,
    "arith.maxui": lambda a, b: max(a, b) if a >= 0 and b >= 0 else None,
}
"""What the ops give on constants; None where the op is undefined or wraps."""

APPLIED: Mapping[str, type[arith.SignlessIntegerBinaryOperation]] = {
    op.name: op
    for op in (
        arith.DivUIOp,
        arith.DivSIOp,
        arith.FloorDivSIOp,
        arith.CeilDivSIOp,
        arith.CeilDivUIOp,
        arith.RemUIOp,
        arith.RemSIOp,
        arith.MinSIOp,
        arith.MaxSIOp,
        arith.MinUIOp,
        arith.MaxUIOp,
    )
}
"""Ops of two operands that become an `Apply`."""


@dataclass
class ExpressionTable:
    """Atoms, numbered in the order of their first use."""

    atoms: list[Atom] = field(default_factory=list[Atom])
    numbers: dict[Atom, int] = field(default_factory=dict[Atom, int])

    def atom(self, atom: Atom) -> Expression:
        """The expression that is one atom."""
        number = self.numbers.get(atom)
        if number is None:
            number = self.numbers[atom] = len(self.atoms)
            self.atoms.append(atom)
        return Expression((((number,), 1),))

    def constant(self, value: int) -> Expression:
        """The expression of a known value."""
        return Expression((((), value),) if value else ())

    def add(self, left: Expression, right: Expression) -> Expression:
        """The sum."""
        return _from_terms((*left.terms, *right.terms))

    def multiply(self, left: Expression, right: Expression) -> Expression:
        """The product."""
        return _from_terms(
            (tuple(sorted((*a, *b))), f * g)
            for a, f in left.terms
            for b, g in right.terms
        )

    def subtract(self, left: Expression, right: Expression) -> Expression:
        """The difference."""
        return self.add(left, self.multiply(right, self.constant(-1)))

    def product(self, factors: Iterable[Expression]) -> Expression:
        """The product of all; 1 for none."""
        result = self.constant(1)
        for factor in factors:
            result = self.multiply(result, factor)
        return result

    def apply(self, op: str, left: Expression, right: Expression) -> Expression:
        """An op of `APPLIED` on two expressions, folded where that is simple."""
        a, b = left.constant, right.constant
        if a is not None and b is not None:
            folded = _FOLDS[op](a, b)
            if folded is not None:
                return self.constant(folded)
        if b == 1 and "div" in op:
            return left
        if left == right and ("min" in op or "max" in op):
            return left
        return self.atom(Apply(op, (left, right)))

    def substitute(
        self, expression: Expression, replace: Callable[[Atom], Expression | None]
    ) -> Expression:
        """The expression with atoms replaced; None keeps one, its operands replaced."""
        total = self.constant(0)
        for monomial, factor in expression.terms:
            product = self.constant(factor)
            for number in monomial:
                product = self.multiply(
                    product, self._substituted(self.atoms[number], replace)
                )
            total = self.add(total, product)
        return total

    def _substituted(
        self, atom: Atom, replace: Callable[[Atom], Expression | None]
    ) -> Expression:
        replacement = replace(atom)
        if replacement is not None:
            return replacement
        if not isinstance(atom, Apply):
            return self.atom(atom)
        operands = tuple(self.substitute(o, replace) for o in atom.operands)
        if atom.op in APPLIED:
            return self.apply(atom.op, *operands)
        return self.atom(Apply(atom.op, operands, atom.predicate))

    def leaves(self, expression: Expression) -> set[Size | Opaque]:
        """All sizes and values that it depends on."""
        found: set[Size | Opaque] = set()
        work = list(expression.atoms())
        while work:
            atom = self.atoms[work.pop()]
            if isinstance(atom, Apply):
                work.extend(n for operand in atom.operands for n in operand.atoms())
            else:
                found.add(atom)
        return found


def _from_terms(terms: Iterable[tuple[Monomial, int]]) -> Expression:
    factors: dict[Monomial, int] = {}
    for monomial, factor in terms:
        factors[monomial] = factors.get(monomial, 0) + factor
    return Expression(tuple(sorted((m, f) for m, f in factors.items() if f)))


Interval = tuple[int | None, int | None]
"""The least and the greatest value; None is no bound."""


@dataclass(frozen=True)
class Bounds:
    """Bounds of expressions from those of their leaves."""

    table: ExpressionTable
    leaf: Callable[[Size | Opaque], Interval]

    def upper(self, expression: Expression) -> int | None:
        """The greatest value, if it is bounded."""
        return self.interval(expression)[1]

    def interval(self, expression: Expression) -> Interval:
        """The least and the greatest value."""
        lower: int | None = 0
        upper: int | None = 0
        for monomial, factor in expression.terms:
            low, high = self._product(monomial)
            if factor < 0:
                low, high = high, low
            lower = None if lower is None or low is None else lower + factor * low
            upper = None if upper is None or high is None else upper + factor * high
        return lower, upper

    def _product(self, monomial: Monomial) -> Interval:
        intervals = [self._atom(self.table.atoms[number]) for number in monomial]
        if len(intervals) == 1:
            return intervals[0]
        lows = [low for low, _ in intervals if low is not None and low >= 0]
        if len(lows) < len(intervals):
            return None, None  # signs would have to be looked at
        highs = [high for _, high in intervals if high is not None]
        return prod(lows), prod(highs) if len(highs) == len(intervals) else None

    def _atom(self, atom: Atom) -> Interval:
        if not isinstance(atom, Apply):
            return self.leaf(atom)
        if atom.op == "arith.select":
            return _union(*(self.interval(o) for o in atom.operands[1:]))
        if atom.op not in APPLIED:
            return None, None
        left, right = (self.interval(operand) for operand in atom.operands)
        match atom.op:
            case "arith.minsi":
                return _both(min, left[0], right[0]), _either(min, left[1], right[1])
            case "arith.maxsi":
                return _either(max, left[0], right[0]), _both(max, left[1], right[1])
            case _:
                pass
        if not _is_natural(left) or not _is_natural(right):
            return None, None
        match atom.op:
            case "arith.minui":
                return _both(min, left[0], right[0]), _either(min, left[1], right[1])
            case "arith.maxui":
                return _either(max, left[0], right[0]), _both(max, left[1], right[1])
            case "arith.remui" | "arith.remsi":
                return 0, None if right[1] is None else max(0, right[1] - 1)
            case _:  # a division by 0 is undefined, so the divisor is 1 or more
                rounded_up = "ceil" in atom.op
                divisor = max(1, right[0] or 1)
                if left[1] is None:
                    return 0, None
                return 0, -(-left[1] // divisor) if rounded_up else left[1] // divisor


def _is_natural(interval: Interval) -> bool:
    return interval[0] is not None and interval[0] >= 0


def _union(left: Interval, right: Interval) -> Interval:
    return _both(min, left[0], right[0]), _both(max, left[1], right[1])


def _both(
    choose: Callable[[int, int], int], a: int | None, b: int | None
) -> int | None:
    return None if a is None or b is None else choose(a, b)


def _either(
    choose: Callable[[int, int], int], a: int | None, b: int | None
) -> int | None:
    if a is None or b is None:
        return b if a is None else a
    return choose(a, b)


@dataclass
class Materializer:
    """
    Turns expressions into ops.

    `emit` puts an op where the values are needed; `leaf` gives the value of a size or
    an opaque value there. `known` holds values that can be used there again.
    """

    table: ExpressionTable
    emit: Callable[[Operation], object]
    leaf: Callable[[Size | Opaque], SSAValue]
    known: dict[Expression, SSAValue] = field(
        default_factory=dict[Expression, SSAValue]
    )

    def value(self, expression: Expression) -> SSAValue:
        """The value of an expression."""
        if (known := self.known.get(expression)) is not None:
            return known
        value = self._computed(expression)
        self.known[expression] = value
        return value

    def _computed(self, expression: Expression) -> SSAValue:
        if (constant := expression.constant) is not None:
            return self._emitted(
                arith.ConstantOp(IntegerAttr.from_index_int_value(constant))
            )
        total: SSAValue | None = None
        for monomial, factor in expression.terms:
            term = self._term(monomial, factor)
            total = term if total is None else self._emitted(arith.AddiOp(total, term))
        assert total is not None, "an expression without terms is constant"
        return total

    def _term(self, monomial: Monomial, factor: int) -> SSAValue:
        values = [self._atom(number) for number in monomial]
        if factor != 1 or not values:
            values.append(self.value(self.table.constant(factor)))
        product = values[0]
        for value in values[1:]:
            product = self._emitted(arith.MuliOp(product, value))
        return product

    def _atom(self, number: int) -> SSAValue:
        atom = self.table.atoms[number]
        expression = self.table.atom(atom)
        if (known := self.known.get(expression)) is not None:
            return known
        value = self._apply(atom) if isinstance(atom, Apply) else self.leaf(atom)
        self.known[expression] = value
        return value

    def _apply(self, atom: Apply) -> SSAValue:
        operands = [self.value(operand) for operand in atom.operands]
        if atom.op == "arith.select":
            condition, left, right = operands
            return self._emitted(arith.SelectOp(condition, left, right))
        left, right = operands
        if atom.op == "arith.cmpi":
            assert atom.predicate is not None, "a comparison has a predicate"
            return self._emitted(arith.CmpiOp(left, right, atom.predicate))
        return self._emitted(APPLIED[atom.op](left, right, IndexType()))

    def _emitted(self, op: Operation) -> SSAValue:
        self.emit(op)
        return op.results[0]
