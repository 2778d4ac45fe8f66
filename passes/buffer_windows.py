"""
Which part of a buffer a nest reads while the loops around it stand at one point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineSymExpr

from transom.dialects import tir
from transom.dialects.tir import affine
from transom.dialects.tir.accesses import UNKNOWN, Interval, exact_interval_of
from transom.dialects.tir.types import memref_type_of
from transom.passes.consumer_loops import most


@dataclass(frozen=True)
class Window:
    """
    Neighbours along an axis: where they begin, as a sum of multiples of values and a
    number, and how many there are.
    """

    values: tuple[tuple[SSAValue, int], ...]
    start: int
    extent: int
    is_partial: bool
    """Whether fewer may be needed, at the end of the axis."""

    def begin(self, symbols: Sequence[SSAValue]) -> AffineExpr:
        """Where it begins, over symbols that have all the values."""
        total = affine.as_expr(self.start)
        for value, coefficient in self.values:
            product = affine.multiply(affine.sym(symbols.index(value)), coefficient)
            total = affine.add(total, product)
        return total


@dataclass(frozen=True)
class Reads:
    """What a nest reads of a buffer at one point of a block around it."""

    nest: tir.NestOp
    buffer: SSAValue
    inner: frozenset[tir.BlockOp]
    """The blocks between the two, whose loops pass."""
    may_be_none: bool
    """Whether the nest may have no points there, wherever it would read then."""

    def window(self, axis: int) -> Window | None:
        """What is read along an axis; None if that may be all of it."""
        windows: list[Window] = []
        for value, access in zip(self.nest.ins, self.nest.in_accesses, strict=True):
            if value is not self.buffer:
                continue
            if access.map is None:
                return None
            expr = access.map.results[axis]
            if access.pad is not None and not self._is_inside(expr, axis):
                return None
            window = self._window(expr)
            if window is None:
                return None
            windows.append(window)
        if any(window.values != windows[0].values for window in windows):
            return None
        start = min(window.start for window in windows)
        end = max(window.start + window.extent for window in windows)
        partial = any(window.is_partial for window in windows)
        return Window(windows[0].values, start, end - start, partial)

    def _window(self, expr: AffineExpr) -> Window | None:
        bounds = self.nest.bounds_values()
        values: dict[SSAValue, int] = {}
        start, extent, partial = 0, 1, self.may_be_none
        for product, coefficient in affine.terms_of(expr).items():
            match product:
                case ():
                    start += coefficient
                    continue
                case (AffineDimExpr(position),):
                    points = most(bounds[position])
                    if not isinstance(bounds[position], int):
                        if coefficient < 0:
                            return None  # where it begins moves with what is left
                        partial = True
                case (AffineSymExpr(position),):
                    value = self.nest.symbols[position]
                    if not self._passes(value):
                        values[value] = values.get(value, 0) + coefficient
                        continue
                    points = points_of(value)
                case _:
                    return None
            if not points:
                return None
            reach = coefficient * (points - 1)
            start += min(0, reach)
            extent += abs(reach)
        order = list(self.nest.symbols)
        found = sorted(values.items(), key=lambda entry: order.index(entry[0]))
        return Window(tuple(found), start, extent, partial)

    def _passes(self, value: SSAValue) -> bool:
        """Whether a value is made inside, where it may be another each time."""
        return any(op in self.inner for op in ops_around(value))

    def _is_inside(self, expr: AffineExpr, axis: int) -> bool:
        """Whether an index provably stays within an axis: no pad is read there."""
        symbols = [
            UNKNOWN if bound is None else Interval.of_dim(bound)
            for bound in map(points_of, self.nest.symbols)
        ]
        dims = [Interval.of_dim(most(bound)) for bound in self.nest.bounds_values()]
        extent = memref_type_of(self.buffer).get_shape()[axis]
        return exact_interval_of(expr, dims, symbols).is_inside(extent)


def ops_around(value: SSAValue) -> Iterator[Operation]:
    """The ops that a value is made in, from inside to outside."""
    block = value.owner if isinstance(value, BlockArgument) else value.owner.parent
    while block is not None and (op := block.parent_op()) is not None:
        yield op
        block = op.parent


def points_of(value: SSAValue) -> int | None:
    """How many points the loop has whose index a value is; None if not known."""
    if not isinstance(value, BlockArgument):
        return None
    block = value.owner.parent_op()
    if not isinstance(block, tir.BlockOp):
        return None
    return block.static_bounds[value.index]
