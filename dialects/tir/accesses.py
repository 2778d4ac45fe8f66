"""
Interval arithmetic over accesses: which elements a nest may touch.

Dims run from 0 to their bound; symbols are unknown unless an interval is given.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from transom.dialects.tir import affine

Bound = int | float
"""An integer, or plus or minus infinity."""

MAX_POINTS = 4096
"""Accesses that intervals cannot decide are enumerated up to this many points."""


@dataclass(frozen=True)
class Interval:
    """
    All integers from `lower` to `upper`, both included.

    `exact` says that both ends are reached by some point; otherwise the interval
    may be too wide, never too narrow.
    """

    lower: Bound
    upper: Bound
    exact: bool = True

    @staticmethod
    def of_dim(bound: int | None) -> Interval:
        """What a dim runs through; `bound` None is unknown."""
        if bound is None:
            return Interval(0, math.inf, exact=False)
        return Interval(0, bound - 1)

    @property
    def is_empty(self) -> bool:
        return self.lower > self.upper

    def is_inside(self, extent: int) -> bool:
        return self.lower >= 0 and self.upper < extent

    def __str__(self) -> str:
        return f"{self.lower} to {self.upper}"


UNKNOWN = Interval(-math.inf, math.inf, exact=False)


def _times(a: Bound, b: Bound) -> Bound:
    return 0 if a == 0 or b == 0 else a * b  # not the NaN of 0 * infinity


def _product(lhs: Interval, rhs: Interval) -> Interval:
    corners = [
        _times(a, b) for a in (lhs.lower, lhs.upper) for b in (rhs.lower, rhs.upper)
    ]
    return Interval(min(corners), max(corners), lhs.exact and rhs.exact)


def _floor(value: Bound, divisor: int) -> Bound:
    return value // divisor if isinstance(value, int) else value


def _interval_of_atom(
    atom: AffineExpr, dims: Sequence[Interval], symbols: Sequence[Interval]
) -> Interval:
    match atom:
        case AffineDimExpr(position):
            return dims[position]
        case AffineSymExpr(position):
            return symbols[position] if position < len(symbols) else UNKNOWN
        case AffineBinaryOpExpr(kind, lhs, rhs):
            inner = interval_of(lhs, dims, symbols)
            divisor = affine.constant_value(rhs)
            if divisor is None:
                return UNKNOWN
            if kind is AffineBinaryOpKind.FloorDiv:
                lower = _floor(inner.lower, divisor)
                return Interval(lower, _floor(inner.upper, divisor), inner.exact)
            period = _floor(inner.lower, divisor)
            if period == _floor(inner.upper, divisor) and isinstance(period, int):
                start = period * divisor
                return Interval(inner.lower - start, inner.upper - start, inner.exact)
            return Interval(0, divisor - 1, exact=False)
        case _:
            raise AssertionError("products hold atoms only")


def interval_of(
    expr: AffineExpr, dims: Sequence[Interval], symbols: Sequence[Interval] = ()
) -> Interval:
    """The values of `expr` while each dim and symbol runs through its interval."""
    lower: Bound = 0
    upper: Bound = 0
    exact = True
    seen: set[AffineExpr] = set()
    for product, coefficient in affine.terms_of(expr).items():
        value = Interval(coefficient, coefficient)
        for atom in product:
            value = _product(value, _interval_of_atom(atom, dims, symbols))
            # Both ends are reached if all atoms reach theirs independently.
            variables = {
                e for e in atom.dfs() if isinstance(e, AffineDimExpr | AffineSymExpr)
            }
            exact = exact and not (variables & seen)
            seen |= variables
        lower, upper = lower + value.lower, upper + value.upper
        exact = exact and value.exact
    return Interval(lower, upper, exact)


def _points(expr: AffineExpr, dims: Sequence[Interval], limit: int) -> Interval | None:
    """The exact interval by enumeration, if that takes at most `limit` points."""
    used = sorted(expr.used_dims())
    ranges: list[range] = []
    for position in used:
        lower, upper = dims[position].lower, dims[position].upper
        if not (isinstance(lower, int) and isinstance(upper, int)):
            return None
        ranges.append(range(lower, upper + 1))
    if affine.used_symbols(expr) or math.prod(map(len, ranges)) > limit:
        return None
    point = [0] * len(dims)
    values: list[int] = []
    for coordinates in itertools.product(*ranges):
        for position, coordinate in zip(used, coordinates, strict=True):
            point[position] = coordinate
        values.append(expr.eval(point, ()))
    return Interval(min(values), max(values)) if values else None


def exact_interval_of(
    expr: AffineExpr,
    dims: Sequence[Interval],
    symbols: Sequence[Interval] = (),
    limit: int = MAX_POINTS,
) -> Interval:
    """As `interval_of`, but enumerated where that is not exact and points are few."""
    interval = interval_of(expr, dims, symbols)
    if interval.exact:
        return interval
    return _points(expr, dims, limit) or interval


def within_periods(expr: AffineExpr, dims: Sequence[Interval]) -> AffineExpr:
    """
    `expr` without each `floordiv` and `mod` whose result these intervals decide:
    `(d0 + 8) mod 16` is `d0 + 8` while d0 is below 8.
    """
    if not isinstance(expr, AffineBinaryOpExpr):
        return expr
    lhs, rhs = within_periods(expr.lhs, dims), within_periods(expr.rhs, dims)
    divisor = affine.constant_value(rhs)
    if divisor is not None and divisor > 0:
        inside = interval_of(lhs, dims)
        period = _floor(inside.lower, divisor)
        if period == _floor(inside.upper, divisor) and isinstance(period, int):
            if expr.kind is AffineBinaryOpKind.FloorDiv:
                return affine.as_expr(period)
            if expr.kind is AffineBinaryOpKind.Mod:
                return affine.add(lhs, -period * divisor)
    return affine.normalize(AffineBinaryOpExpr(expr.kind, lhs, rhs))


@dataclass(frozen=True)
class OutOfRange:
    """Axis `axis` is read or written at `interval`, but has `extent` elements."""

    axis: int
    interval: Interval
    extent: int


def find_out_of_range(
    map: AffineMap,
    dims: Sequence[Interval],
    shape: Sequence[int],
    symbols: Sequence[Interval] = (),
) -> OutOfRange | None:
    """
    The first axis of `shape` that `map` provably leaves.

    Symbols and dims of unknown bound prove nothing.
    """
    if any(dim.is_empty for dim in dims):
        return None
    for axis, (expr, extent) in enumerate(zip(map.results, shape, strict=True)):
        limit = math.inf if extent == DYNAMIC_INDEX else extent
        interval = interval_of(expr, dims, symbols)
        if interval.lower >= 0 and interval.upper < limit:
            continue
        interval = exact_interval_of(expr, dims, symbols)
        if interval.exact and (interval.lower < 0 or interval.upper >= limit):
            return OutOfRange(axis, interval, extent)
    return None


def is_inside(
    map: AffineMap,
    dims: Sequence[Interval],
    shape: Sequence[int],
    symbols: Sequence[Interval] = (),
) -> bool:
    """Whether `map` provably stays inside `shape`."""
    return any(dim.is_empty for dim in dims) or all(
        extent != DYNAMIC_INDEX
        and (
            interval_of(expr, dims, symbols).is_inside(extent)
            or exact_interval_of(expr, dims, symbols).is_inside(extent)
        )
        for expr, extent in zip(map.results, shape, strict=True)
    )


def dims_of_bounds(bounds: Sequence[int | None]) -> tuple[Interval, ...]:
    return tuple(Interval.of_dim(bound) for bound in bounds)
