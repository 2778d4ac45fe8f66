"""
Pools as nests over windows.
"""

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, i64
from xdsl.ir import Attribute, SSAValue

from transom.dialects import graph, tir
from transom.lowering.conversion import ConversionPattern, ConversionRewriter, Operands
from transom.lowering.graph_to_tir.contraction import Windows, padding_value
from transom.lowering.graph_to_tir.reduction import combine
from transom.lowering.graph_to_tir.scalars import (
    compare,
    computed_type,
    extremes,
    narrow,
    widen,
)
from transom.lowering.graph_to_tir.site import Site, Size, dims, indices, parallel


class Pool:
    """The nest of a pool: image, channel, row, column, and the window."""

    def __init__(self, site: Site, op: graph.MaxPool2dOp | graph.AvgPool2dOp) -> None:
        kernel = tuple(op.kernel.get_values())
        self.kernel = kernel
        self.windows = Windows(
            tuple(op.strides.get_values()),
            tuple(op.padding.get_values()),
            tuple(op.dilations.get_values()),
        )
        sizes = site.result_sizes()
        self.loop: list[tuple[str, Size]] = [
            *parallel(sizes),
            *(("reduction", size) for size in kernel),
        ]
        n, c, y, x, p, q = dims(6)
        self.reading = indices(
            6, 0, [n, c, self.windows.row(y, p), self.windows.column(x, q)]
        )
        self.writing = indices(6, 0, [n, c, y, x])
        image, result = site.shape(0), op.result.type.get_shape()
        self.leaves = op.ceil_mode is not None or self.windows.reads_outside(
            image[2:], result[2:], kernel
        )
        self.sizes = sizes


class ConvertMaxPool2d(ConversionPattern[graph.MaxPool2dOp]):
    """
    The largest value of each window, and where the first such lies in the tensor.
    """

    root = graph.MaxPool2dOp

    def match_and_rewrite(
        self, op: graph.MaxPool2dOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        element = site.element(0)
        pool = Pool(site, op)
        lowest = extremes(element)[0]
        pad = padding_value(element, lowest) if pool.leaves else None
        image = tir.In(site.ins[0], pool.reading, pad)
        out = site.alloc(pool.sizes)
        if len(op.results) == 1:
            site.nest(
                pool.loop,
                ins=[image],
                outs=[tir.Out(out, pool.writing)],
                init=lambda b: [b.constant(lowest, computed_type(element))],
                body=lambda b, x, acc: [combine(b, "max", element, acc, widen(b, x))],
                finish=lambda b, acc: [narrow(b, acc, element)],
            )
            site.done(out)
            return
        where = site.alloc(pool.sizes, 1)
        _, channels, rows, columns = (site.value_of(s) for s in site.sizes(site.ins[0]))

        def body(
            b: tir.RegionBuilder, x: SSAValue, best: SSAValue, at: SSAValue
        ) -> list[SSAValue]:
            value = widen(b, x)
            row, row_inside = _position(b, pool, 0, rows)
            column, column_inside = _position(b, pool, 1, columns)
            plane = _flat(b, b.index(0), channels, b.index(1))
            flat = _flat(b, _flat(b, plane, rows, row), columns, column)
            inside = b(arith.AndIOp(row_inside, column_inside))
            better = _beats(b, element, value, best)
            first = b(arith.CmpiOp(at, b.constant(-1, i64), "eq"))
            take = b(arith.AndIOp(inside, b(arith.OrIOp(better, first))))
            return [
                b(arith.SelectOp(take, value, best)),
                b(arith.SelectOp(take, b(arith.IndexCastOp(flat, i64)), at)),
            ]

        site.nest(
            pool.loop,
            ins=[image],
            outs=[tir.Out(out, pool.writing), tir.Out(where, pool.writing)],
            init=lambda b: [
                b.constant(lowest, computed_type(element)),
                b.constant(-1, i64),
            ],
            body=body,
            finish=lambda b, best, at: [narrow(b, best, element), at],
        )
        site.done(out, where)


def _beats(
    b: tir.RegionBuilder, element: Attribute, value: SSAValue, best: SSAValue
) -> SSAValue:
    """Whether a value is larger; the first NaN is, and nothing is larger than it."""
    if not isinstance(element, AnyFloat):
        return compare(b, "gt", element, value, best)
    larger = b(arith.CmpfOp(value, best, "ugt"))  # or one of the two is NaN
    return b(arith.AndIOp(larger, b(arith.CmpfOp(best, best, "ord"))))


def _flat(
    b: tir.RegionBuilder, outer: SSAValue, size: SSAValue, inner: SSAValue
) -> SSAValue:
    return b(arith.AddiOp(b(arith.MuliOp(outer, size)), inner))


def _position(
    b: tir.RegionBuilder, pool: Pool, axis: int, size: SSAValue
) -> tuple[SSAValue, SSAValue]:
    """The row (axis 0) or column that a point reads, and whether there is such."""
    index = IndexType()
    windows = pool.windows
    start = b(arith.MuliOp(b.index(2 + axis), b.constant(windows.strides[axis], index)))
    step = b(
        arith.MuliOp(b.index(4 + axis), b.constant(windows.dilations[axis], index))
    )
    moved = b(arith.AddiOp(start, step))
    at = b(arith.SubiOp(moved, b.constant(windows.padding[axis], index)))
    return at, b(arith.CmpiOp(at, size, "ult"))  # negative ones are huge


class ConvertAvgPool2d(ConversionPattern[graph.AvgPool2dOp]):
    """
    The sum of each window over the number of elements that count.

    Padding counts if the op says so; what `ceil_mode` reads beyond it never does.
    """

    root = graph.AvgPool2dOp

    def match_and_rewrite(
        self, op: graph.AvgPool2dOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        element = site.element(0)
        pool = Pool(site, op)
        rows, columns = (site.value_of(s) for s in site.sizes(site.ins[0])[2:])
        padded = op.count_include_pad is not None
        fixed = not pool.leaves or (padded and op.ceil_mode is None)
        whole = pool.kernel[0] * pool.kernel[1]

        def finish(b: tir.RegionBuilder, total: SSAValue) -> list[SSAValue]:
            if fixed:
                count = b.constant(float(whole), total.type)
            else:
                cells = b(
                    arith.MuliOp(
                        _extent(b, pool, 0, rows, padded),
                        _extent(b, pool, 1, columns, padded),
                    )
                )
                number = b(arith.IndexCastOp(cells, i64))
                assert isinstance(total.type, AnyFloat), "averages are of floats"
                count = b(arith.SIToFPOp(number, total.type))
            return [narrow(b, b(arith.DivfOp(total, count)), element)]

        out = site.alloc(pool.sizes)
        site.nest(
            pool.loop,
            ins=[
                tir.In(
                    site.ins[0],
                    pool.reading,
                    padding_value(element, 0) if pool.leaves else None,
                )
            ],
            outs=[tir.Out(out, pool.writing)],
            init=lambda b: [b.constant(0, computed_type(element))],
            body=lambda b, x, acc: [combine(b, "sum", element, acc, widen(b, x))],
            finish=finish,
        )
        site.done(out)


def _extent(
    b: tir.RegionBuilder, pool: Pool, axis: int, size: SSAValue, padded: bool
) -> SSAValue:
    """How many rows (axis 0) or columns of the window at this point count."""
    index = IndexType()
    before, after = pool.windows.padding[axis], pool.windows.padding[axis + 2]
    stride = b.constant(pool.windows.strides[axis], index)
    dilation = pool.windows.dilations[axis]
    moved = b(arith.MuliOp(b.index(2 + axis), stride))
    start = b(arith.SubiOp(moved, b.constant(before, index)))

    def places(distance: SSAValue) -> SSAValue:
        """How many places of the window there are in a distance from its start."""
        if dilation == 1:
            return distance
        more = b(arith.AddiOp(distance, b.constant(dilation - 1, index)))
        return b(arith.DivUIOp(more, b.constant(dilation, index)))

    limit = b(arith.AddiOp(size, b.constant(after, index))) if padded else size
    end = places(b(arith.SubiOp(limit, start)))  # a window starts before the limit
    end = b(arith.MinSIOp(end, b.constant(pool.kernel[axis], index)))
    if padded:
        return end
    missing = b(arith.SubiOp(b.constant(0, index), start))
    outside = places(b(arith.MaxSIOp(missing, b.constant(0, index))))
    return b(arith.SubiOp(end, outside))


PATTERNS = (ConvertAvgPool2d(), ConvertMaxPool2d())
