"""
Where a nest is: the indices of its dims, and expressions over them as values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from transom.dialects.tir import affine
from transom.dialects.tir.accesses import Interval, interval_of
from transom.lowering.nest_loops.emitter import Emitter, Index


@dataclass(frozen=True)
class Point:
    """
    A point, or `width` neighbouring ones along `lane_dim`, the lanes of a vector.

    The index of a dim is its base plus its offset; what a base may be is in
    `intervals`.
    """

    bases: tuple[Index, ...]
    offsets: tuple[int, ...]
    intervals: tuple[Interval, ...]
    lane_dim: int | None = None
    width: int = 1

    def lane(self, number: int) -> Point:
        """One lane, as a point."""
        if self.width == 1:
            return self
        assert self.lane_dim is not None, "only lanes make a width"
        offsets = list(self.offsets)
        offsets[self.lane_dim] += number
        return replace(self, offsets=tuple(offsets), width=1)

    def dim_intervals(self) -> list[Interval]:
        """What the dims may be, over all lanes."""
        result: list[Interval] = []
        for dim, (interval, offset) in enumerate(
            zip(self.intervals, self.offsets, strict=True)
        ):
            last = self.width - 1 if dim == self.lane_dim else 0
            result.append(
                Interval(interval.lower + offset, interval.upper + offset + last)
            )
        return result


class Evaluator:
    """Expressions at points as values."""

    def __init__(self, emitter: Emitter, symbols: Sequence[SSAValue]) -> None:
        self.emitter = emitter
        self.symbols = symbols
        self._terms: dict[int, tuple[AffineExpr, affine.Terms]] = {}

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
                value = self.evaluate(lhs, point)
                by = self.evaluate(rhs, point) if divisor is None else divisor
                if kind is AffineBinaryOpKind.FloorDiv:
                    return self.emitter.floordiv(value, by, natural=natural)
                return self.emitter.modulo(value, by, natural=natural)
            case _:
                raise AssertionError("products hold atoms only")
