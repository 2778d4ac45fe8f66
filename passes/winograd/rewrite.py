"""
Nests in the place of a convolution: one block of rows of tiles, or a `tir.block` over
several and over the images of a batch.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from xdsl.dialects.builtin import IndexType, MemRefType, f32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap

from transom.dialects import tir
from transom.dialects.tir import affine
from transom.passes.winograd.convolution import Convolution
from transom.passes.winograd.epilogue import Epilogue, epilogue_of, suits_registers
from transom.passes.winograd.nests import BlockNests
from transom.passes.winograd.tiles import (
    Tiles,
    count_of,
    rows_per_block,
    tiles_along,
)
from transom.passes.winograd.transforms import OUTPUTS


def use_winograd(conv: Convolution, weight: SSAValue, cache: int) -> None:
    """
    Replace a convolution. `weight` holds its transformed weights, and what a block
    reads and writes shall stay in a cache of so many bytes.
    """
    nest = conv.nest
    ops: list[Operation]
    if suits_registers(conv):
        ops = blocks(conv, epilogue_of(conv), weight, cache)
    else:
        dims = sums_dims(conv)
        sums = tir.AllocOp(MemRefType(f32, conv.sizes(dims)))
        map = AffineMap(nest.rank, 0, tuple(affine.dim(dim) for dim in dims))
        stored = Epilogue([(sums.result, map)])
        ops = [sums, *blocks(conv, stored, weight, cache), tail(conv, sums.result, map)]
    assert nest.parent is not None, "the nest is in a kernel"
    nest.parent.insert_ops_before(located(ops, conv), nest)
    nest.detach()
    nest.erase()


def located(ops: Iterable[Operation], conv: Convolution) -> list[Operation]:
    """Ops that are where the convolution is."""
    made = list(ops)
    for op in made:
        op.location = conv.nest.location
    return made


def blocks(
    conv: Convolution, epilogue: Epilogue, weight: SSAValue, cache: int
) -> list[Operation]:
    """The nests, in a `tir.block` if there are several images or blocks of rows."""
    rows, columns = tiles_along(conv.height), tiles_along(conv.width)
    channels, filters = conv.sizes(conv.channels), conv.sizes(conv.filters)
    count = rows_per_block(
        rows, count_of(columns), prod(channels), prod(filters), cache
    )
    sizes = conv.sizes(conv.batch)
    if count < count_of(rows):
        sizes = (*sizes, count_of(rows) // count)
        rows = (Tiles(0, count, 0, range(OUTPUTS)),)
    body = Block(arg_types=[IndexType()] * len(sizes))
    ops = BlockNests(conv, epilogue, weight, rows, columns, body.args).write()
    if not sizes:
        return ops
    body.add_ops([*located(ops, conv), tir.YieldOp()])
    dims = [tir.DimAttr(tir.DimKind.SEQUENTIAL, size) for size in sizes]
    return [tir.BlockOp(dims, [], Region(body))]


# An epilogue that is no matter of vectors of filters.


def sums_dims(conv: Convolution) -> tuple[int, ...]:
    """The dims by which sums are stored that are not finished at once."""
    *outer, lanes = conv.filters
    return (*conv.batch, *outer, conv.rows.point, conv.columns.point, lanes)


def tail(conv: Convolution, sums: SSAValue, map: AffineMap) -> tir.NestOp:
    """The nest that finishes sums which are stored by a map."""
    nest = conv.nest
    parallel = nest.dims_of_kind(tir.DimKind.PARALLEL)
    dims = [affine.as_expr(0)] * nest.rank
    for new, dim in enumerate(parallel):
        dims[dim] = affine.dim(new)

    def moved(map: AffineMap) -> AffineMap:
        exprs = tuple(affine.substitute(expr, dims) for expr in map.results)
        return AffineMap(len(parallel), 0, exprs)

    epilogue = epilogue_of(conv)

    def finish(
        b: tir.RegionBuilder, sum: SSAValue, *inputs: SSAValue
    ) -> list[SSAValue]:
        return epilogue.compute(b, sum, inputs, dims)

    reads = [tir.In(read.value, moved(read.map), read.pad) for read in epilogue.ins]
    return tir.NestOp.build_nest(
        [("parallel", size) for size in conv.sizes(parallel)],
        ins=[tir.In(sums, moved(map)), *reads],
        outs=[tir.Out(value, moved(map)) for value, map in epilogue.outs],
        finish=finish,
    )
