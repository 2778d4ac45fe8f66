"""
The nests of one block of rows of tiles: pixels are transformed, 36 products of matrices
are taken, and the products become results, with which the epilogue is computed in
registers.

    V[6][6][channels][tiles]  =  B^T d B
    M[6][6][filters][tiles]   =  sum over channels of U[6][6][filters][channels] * V
    results                   =  epilogue(A^T M A)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType, f32
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from transom.dialects import tir
from transom.dialects.tir import affine
from transom.dialects.tir.nest_builder import DimSpec
from transom.passes.winograd.convolution import Convolution
from transom.passes.winograd.epilogue import Epilogue
from transom.passes.winograd.tiles import Tiles, count_of
from transom.passes.winograd.transforms import (
    OUTPUTS,
    PATCH,
    Arithmetic,
    Values,
    both_ways,
)

SQUARE = tuple(product(range(PATCH), range(PATCH)))
"""The rows and columns of pixels, and of products, of a tile."""


@dataclass(frozen=True)
class Points:
    """
    The dims of a nest over tiles: some outer ones, rows and columns of tiles, lanes.
    """

    sizes: tuple[int, ...]

    @staticmethod
    def of(sizes: Sequence[int], rows: Tiles, columns: Tiles) -> Points:
        """Those of the parts of an axis in blocks, and of some tiles."""
        return Points((*sizes[:-1], rows.count, columns.count, sizes[-1]))

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def dims(self) -> list[DimSpec]:
        """As `build_nest` takes them."""
        return [("parallel", size) for size in self.sizes]

    @property
    def axis(self) -> list[AffineExpr]:
        """The dims of the axis in blocks."""
        outer = [affine.dim(number) for number in range(self.rank - 3)]
        return [*outer, affine.dim(self.rank - 1)]

    @property
    def row(self) -> AffineExpr:
        return affine.dim(self.rank - 3)

    @property
    def column(self) -> AffineExpr:
        return affine.dim(self.rank - 2)


@dataclass
class BlockNests:
    """Writes the nests of one block of rows of tiles of an image."""

    conv: Convolution
    epilogue: Epilogue
    weight: SSAValue
    """`U`, `[filters, channels, 6, 6]` with columns before rows."""
    rows: tuple[Tiles, ...]
    columns: tuple[Tiles, ...]
    symbols: Sequence[SSAValue]
    """The image by the dims of a batch; then the block, if there are several."""
    ops: list[Operation] = field(default_factory=list[Operation])

    def write(self) -> list[Operation]:
        """All ops."""
        channels = self.conv.sizes(self.conv.channels)
        filters = self.conv.sizes(self.conv.filters)
        pixels, products = self._buffer(channels), self._buffer(filters)
        regions = list(product(self.rows, self.columns))
        for rows, columns in regions:
            points = Points.of(channels, rows, columns)
            self.ops.append(self._transform_pixels(points, pixels, rows, columns))
        self.ops.append(self._multiply(channels, filters, pixels, products))
        for rows, columns in regions:
            points = Points.of(filters, rows, columns)
            self.ops.append(self._transform_products(points, products, rows, columns))
        return self.ops

    @property
    def tile_count(self) -> int:
        return count_of(self.rows) * count_of(self.columns)

    def _buffer(self, sizes: Sequence[int]) -> SSAValue:
        """
        `[6][6][outer sizes][tiles][innermost size]`, with room for an odd number of
        tiles: what belongs to one tile would else fall on few places of a cache.
        """
        shape = (PATCH, PATCH, *sizes[:-1], self.tile_count | 1, sizes[-1])
        alloc = tir.AllocOp(MemRefType(f32, shape))
        self.ops.append(alloc)
        return alloc.result

    # Where things are.

    def _dims(self) -> list[AffineExpr]:
        """The convolution's dims: those of a batch are given, others 0 as yet."""
        dims = [affine.as_expr(0)] * self.conv.nest.rank
        for number, dim in enumerate(self.conv.batch):
            dims[dim] = affine.sym(number)
        return dims

    def _row(self, rows: Tiles, tile: AffineExpr) -> AffineExpr:
        """The row of results that a row of tiles starts with."""
        start = affine.add(affine.multiply(tile, OUTPUTS), rows.start)
        number = len(self.conv.batch)
        if number == len(self.symbols):
            return start
        step = count_of(self.rows) * OUTPUTS
        return affine.add(start, affine.multiply(affine.sym(number), step))

    @staticmethod
    def _column(columns: Tiles, tile: AffineExpr) -> AffineExpr:
        """The column of results that a column of tiles starts with."""
        return affine.add(affine.multiply(tile, OUTPUTS), columns.start)

    def _place(
        self, points: Points, rows: Tiles, columns: Tiles, row: int, column: int
    ) -> AffineMap:
        """Where a buffer holds a pixel, or a product, of a tile."""
        width = count_of(self.columns)
        first = rows.first * width + columns.first
        tile = affine.add(affine.multiply(points.row, width), points.column, first)
        *outer, lane = points.axis
        return self._map(points.rank, (row, column, *outer, tile, lane))

    def _map(self, rank: int, exprs: Sequence[AffineExpr | int]) -> AffineMap:
        results = tuple(affine.as_expr(expr) for expr in exprs)
        return AffineMap(rank, len(self.symbols), results)

    def _moved(
        self, map: AffineMap, dims: Sequence[AffineExpr], rank: int
    ) -> AffineMap:
        """A map over the convolution's dims, in terms of those of a nest."""
        exprs = [affine.substitute(expr, dims) for expr in map.results]
        return self._map(rank, exprs)

    # The nests.

    def _transform_pixels(
        self, points: Points, pixels: SSAValue, rows: Tiles, columns: Tiles
    ) -> tir.NestOp:
        conv = self.conv
        image = conv.nest.ins[conv.image]
        pad = conv.nest.in_accesses.data[conv.image].pad
        dims = self._dims()
        for dim, expr in zip(conv.channels, points.axis, strict=True):
            dims[dim] = expr
        dims[conv.rows.point] = self._row(rows, points.row)
        dims[conv.columns.point] = self._column(columns, points.column)
        ins: list[tir.In] = []
        for row, column in SQUARE:
            dims[conv.rows.offset] = affine.as_expr(row)
            dims[conv.columns.offset] = affine.as_expr(column)
            map = self._moved(conv.image_map, dims, points.rank)
            ins.append(tir.In(image, map, pad))

        def finish(b: tir.RegionBuilder, *values: SSAValue) -> Values:
            numbers = Arithmetic(b, conv.flags)
            square = both_ways(numbers.pixels, squares(values))
            return [value for row in square for value in row]

        return tir.NestOp.build_nest(
            points.dims,
            ins=ins,
            outs=[
                tir.Out(pixels, self._place(points, rows, columns, row, column))
                for row, column in SQUARE
            ],
            finish=finish,
            symbols=self.symbols,
        )

    def _multiply(
        self,
        channels: Sequence[int],
        filters: Sequence[int],
        pixels: SSAValue,
        products: SSAValue,
    ) -> tir.NestOp:
        conv = self.conv
        parallel = (PATCH, PATCH, *filters[:-1], self.tile_count, filters[-1])
        rank = len(parallel) + len(channels)
        row, column, *outer, tile, lane = map(affine.dim, range(len(parallel)))
        *sums, last = map(affine.dim, range(len(parallel), rank))
        dims = self._dims()
        for dim, expr in zip(conv.channels, [*sums, last], strict=True):
            dims[dim] = expr
        for dim, expr in zip(conv.filters, [*outer, lane], strict=True):
            dims[dim] = expr
        weight = self._moved(conv.weight_map, dims, rank).results[:2]
        pad = conv.nest.in_accesses.data[conv.weight].pad
        read = self._map(rank, (row, column, *sums, tile, last))
        written = self._map(rank, (row, column, *outer, tile, lane))

        def body(
            b: tir.RegionBuilder, pixel: SSAValue, weight: SSAValue, sum: SSAValue
        ) -> Values:
            number = b(arith.MulfOp(pixel, weight, conv.flags))
            return [b(arith.AddfOp(sum, number, conv.flags))]

        def finish(b: tir.RegionBuilder, sum: SSAValue) -> Values:
            return [sum]

        return tir.NestOp.build_nest(
            [
                *(("parallel", size) for size in parallel),
                *(("reduction", size) for size in channels),
            ],
            ins=[
                tir.In(pixels, read),
                tir.In(self.weight, self._map(rank, (*weight, column, row)), pad),
            ],
            outs=[tir.Out(products, written)],
            init=lambda b: [b.constant(0, f32)],
            body=body,
            finish=finish,
            symbols=self.symbols,
        )

    def _transform_products(
        self, points: Points, products: SSAValue, rows: Tiles, columns: Tiles
    ) -> tir.NestOp:
        conv, epilogue = self.conv, self.epilogue
        dims = self._dims()
        for dim, expr in zip(conv.filters, points.axis, strict=True):
            dims[dim] = expr
        ins = [
            tir.In(products, self._place(points, rows, columns, row, column))
            for row, column in SQUARE
        ]
        outs: list[tir.Out] = []
        written = list(product(rows.written, columns.written))
        inputs: list[list[int]] = []
        """The positions of what the epilogue reads, for each result."""
        known: dict[tuple[SSAValue, AffineMap], int] = {}
        for row, column in written:
            start = self._row(rows, points.row), self._column(columns, points.column)
            dims[conv.rows.point] = affine.add(start[0], row)
            dims[conv.columns.point] = affine.add(start[1], column)
            for value, map in epilogue.outs:
                outs.append(tir.Out(value, self._moved(map, dims, points.rank)))
            own: list[int] = []
            for read in epilogue.ins:
                map = self._moved(read.map, dims, points.rank)
                if (read.value, map) not in known:
                    known[read.value, map] = len(ins)
                    ins.append(tir.In(read.value, map, read.pad))
                own.append(known[read.value, map])
            inputs.append(own)

        def finish(b: tir.RegionBuilder, *values: SSAValue) -> Values:
            numbers = Arithmetic(b, conv.flags)
            sums = both_ways(numbers.results, squares(values[: len(SQUARE)]))
            results: list[SSAValue] = []
            for (row, column), positions in zip(written, inputs, strict=True):
                own = [values[position] for position in positions]
                results += epilogue.compute(b, sums[row][column], own, dims)
            return results

        return tir.NestOp.build_nest(
            points.dims, ins=ins, outs=outs, finish=finish, symbols=self.symbols
        )


def squares(values: Values) -> list[Values]:
    """Rows of `PATCH` values."""
    return [values[first : first + PATCH] for first in range(0, len(values), PATCH)]
