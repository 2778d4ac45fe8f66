"""
Where a nest is: the indices of its dims, and expressions over them as values.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from transom.dialects.tir import affine
from transom.dialects.tir.accesses import Interval, interval_of, within_periods
from transom.lowering.nest_loops.emitter import Emitter, Index


@dataclass(frozen=True)
class Point:
    """
    A point, or neighbouring ones along `lane_dim`, the lanes of a vector of `width`;
    only the first `count` of the lanes are points.

    The index of a dim is its base plus its offset; what a base may be is in
    `intervals`, and what it is a multiple of in `multiples`. `tile` says how many
    points along each dim are computed together.
    """

    bases: tuple[Index, ...]
    offsets: tuple[int, ...]
    intervals: tuple[Interval, ...]
    multiples: tuple[int, ...]
    lane_dim: int | None = None
    width: int = 1
    count: int = 1
    tile: tuple[int, ...] = ()

    @property
    def is_partial(self) -> bool:
        """Whether some lanes are no points."""
        return self.count < self.width

    def lane(self, number: int) -> Point:
        """One lane, as a point."""
        if self.width == 1:
            return self
        assert self.lane_dim is not None, "only lanes make a width"
        offsets = list(self.offsets)
        offsets[self.lane_dim] += number
        return replace(self, offsets=tuple(offsets), width=1, count=1)

    def dim_intervals(self) -> list[Interval]:
        """What the dims may be, over all points."""
        result: list[Interval] = []
        for dim, (interval, offset) in enumerate(
            zip(self.intervals, self.offsets, strict=True)
        ):
            last = self.count - 1 if dim == self.lane_dim else 0
            result.append(
                Interval(interval.lower + offset, interval.upper + offset + last)
            )
        return result

    def known_of(self, dims: Iterable[int]) -> Hashable:
        """All that decides what `local` makes of an expression over some dims."""
        return (
            self.lane_dim,
            self.count,
            *(
                (
                    base if isinstance(base := self.bases[dim], int) else None,
                    self.offsets[dim],
                    self.intervals[dim],
                    self.multiples[dim],
                )
                for dim in dims
            ),
        )

    # Divisions, which what is known of the bases may decide.

    def local(self, expr: AffineExpr) -> AffineExpr:
        """
        `expr` over how often the bases are their multiples, and the number of the lane
        as a dim more.

        In steps of 16, `(d0 + 8) mod 16` is 8 plus the number of the lane.
        """
        return within_periods(
            affine.substitute(expr, self._parts), self.local_intervals
        )

    @property
    def local_lane(self) -> int:
        """The dim that is the number of the lane in what `local` gives."""
        return len(self.bases)

    @cached_property
    def _parts(self) -> tuple[AffineExpr, ...]:
        """Each dim as a multiple of a dim, an offset and the lane."""
        parts: list[AffineExpr] = []
        for dim, base in enumerate(self.bases):
            if isinstance(base, int):
                part = affine.as_expr(base + self.offsets[dim])
            else:
                many = affine.multiply(affine.dim(dim), self.multiples[dim])
                part = affine.add(many, self.offsets[dim])
            if dim == self.lane_dim:
                part = affine.add(part, affine.dim(self.local_lane))
            parts.append(part)
        return tuple(parts)

    @cached_property
    def local_intervals(self) -> tuple[Interval, ...]:
        return (
            *(
                Interval(-_quotient(-i.lower, m), _quotient(i.upper, m), i.exact)
                for i, m in zip(self.intervals, self.multiples, strict=True)
            ),
            Interval(0, self.count - 1),
        )


def _quotient(bound: float, divisor: int) -> float:
    """Rounded down; infinite bounds stay what they are, where `//` makes them NaN."""
    return bound if math.isinf(bound) else bound // divisor


class _Divided:
    """An expression, and what it becomes where more is known of its dims."""

    def __init__(self, expr: AffineExpr) -> None:
        self.expr = expr
        self.divides = bool(affine.divisors(expr))
        self.dims = sorted(expr.used_dims())
        self._locals: dict[Hashable, AffineExpr] = {}

    def local(self, point: Point) -> AffineExpr:
        """What `point.local` makes of the expression, the same object each time."""
        known = point.known_of(self.dims)
        found = self._locals.get(known)
        if found is None:
            found = self._locals[known] = point.local(self.expr)
        return found


class Evaluator:
    """Expressions at points as values."""

    def __init__(self, emitter: Emitter, symbols: Sequence[SSAValue]) -> None:
        self.emitter = emitter
        self.symbols = symbols
        self._terms: dict[int, tuple[AffineExpr, affine.Terms]] = {}
        self._divided: dict[int, _Divided] = {}

    def terms_of(self, expr: AffineExpr) -> affine.Terms:
        # By identity: the expressions of one nest live as long as this.
        found = self._terms.get(id(expr))
        if found is None:
            found = self._terms[id(expr)] = (expr, affine.terms_of(expr))
        return found[1]

    def dim(self, point: Point, position: int) -> Index:
        """The index of a dim; of the first lane."""
        return self.emitter.add(point.bases[position], point.offsets[position])

    def evaluate(self, expr: AffineExpr, point: Point) -> Index:
        """
        The value at the first lane.

        What depends on outer loops only is summed first, so that it is summed there.
        """
        divided = self._divided.get(id(expr))
        if divided is None:
            divided = self._divided[id(expr)] = _Divided(expr)
        if not divided.divides:
            return self._sum(expr, point)
        emitter = self.emitter
        local, known = divided.local(point), point.local_intervals
        multiples = zip(point.bases, point.multiples, known, strict=False)
        bases = [
            emitter.floordiv(base, multiple, natural=interval.lower >= 0)
            if position in local.used_dims() and multiple > 1
            else base
            for position, (base, multiple, interval) in enumerate(multiples)
        ]
        zeros = (0,) * len(known)
        first = (*known[:-1], Interval(0, 0))
        return self._sum(
            local, Point((*bases, 0), zeros, first, tuple(1 for _ in known))
        )

    def _sum(self, expr: AffineExpr, point: Point) -> Index:
        emitter = self.emitter
        constant = 0
        addends: list[tuple[int, int, SSAValue]] = []
        for product, coefficient in self.terms_of(expr).items():
            if len(product) == 1 and isinstance(product[0], AffineDimExpr):
                position = product[0].position
                constant += coefficient * point.offsets[position]
                value = emitter.multiply(point.bases[position], coefficient)
            else:
                value = coefficient
                for atom in product:
                    value = emitter.multiply(value, self._atom(atom, point))
            if isinstance(value, int):
                constant += value
            else:
                addends.append((emitter.depth_of((value,)), len(addends), value))
        total: Index = 0
        for _, _, value in sorted(addends, key=lambda addend: addend[:2]):
            total = emitter.add(total, value)
        return emitter.add(total, constant)

    def _atom(self, atom: AffineExpr, point: Point) -> Index:
        match atom:
            case AffineDimExpr(position):
                return self.dim(point, position)
            case AffineSymExpr(position):
                return self.symbols[position]
            case AffineBinaryOpExpr(kind, lhs, rhs):
                divisor = affine.constant_value(rhs)
                known = interval_of(lhs, point.lane(0).dim_intervals())
                natural = known.lower >= 0 and divisor is not None
                value = self._sum(lhs, point)
                by = self._sum(rhs, point) if divisor is None else divisor
                if kind is AffineBinaryOpKind.FloorDiv:
                    return self.emitter.floordiv(value, by, natural=natural)
                return self.emitter.modulo(value, by, natural=natural)
            case _:
                raise AssertionError("products hold atoms only")
