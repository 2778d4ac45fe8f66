"""
Softmax and its logarithm as nests over rows, which `tir-fuse-nests` puts in one block.
"""

from collections.abc import Sequence

from xdsl.dialects import arith, math
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from transom.dialects import graph, tir
from transom.dialects.tir.nest_builder import RegionCallback
from transom.lowering.conversion import ConversionPattern, ConversionRewriter, Operands
from transom.lowering.graph_to_tir.reduction import Reduction, reduce_nest
from transom.lowering.graph_to_tir.scalars import computed_type, narrow, signless, widen
from transom.lowering.graph_to_tir.site import Site, Size, dims, indices, parallel


class ConvertSoftmax(ConversionPattern[graph.SoftmaxOp | graph.LogSoftmaxOp]):
    """
    The maximum of each row, the exponentials above it, their sum, and the quotient.

    The logarithm is `x - max - log(sum)`, with no quotient to lose digits in.
    """

    root = graph.SoftmaxOp | graph.LogSoftmaxOp

    def match_and_rewrite(
        self,
        op: graph.SoftmaxOp | graph.LogSoftmaxOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> None:
        site = Site(op, operands, rewriter)
        (x,) = site.ins
        element = site.element(0)
        wide = computed_type(element)
        axis, sizes = op.axis.value.data, site.sizes(x)
        rows: list[Size] = [1 if i == axis else size for i, size in enumerate(sizes)]
        loop = Reduction(sizes, (axis,), keepdims=True)
        every = dims(len(sizes))
        per_row = [
            AffineExpr.constant(0) if i == axis else d for i, d in enumerate(every)
        ]

        def pointwise(
            ins: Sequence[tuple[SSAValue, Sequence[AffineExpr]]],
            out: SSAValue,
            compute: RegionCallback,
        ) -> None:
            rank = len(sizes)
            site.nest(
                parallel(sizes),
                ins=[tir.In(value, indices(rank, 0, access)) for value, access in ins],
                outs=[tir.Out(out, indices(rank, 0, every))],
                finish=compute,
            )

        top = site.temporary(rows, signless(element))
        reduce_nest(site, x, top, loop, "top", element)  # NaN is in the sum
        powers, total = site.temporary(sizes, wide), site.temporary(rows, wide)

        def above(b: tir.RegionBuilder, value: SSAValue, high: SSAValue) -> SSAValue:
            return b(arith.SubfOp(widen(b, value), widen(b, high)))

        def share(b: tir.RegionBuilder, power: SSAValue, all: SSAValue) -> SSAValue:
            # One division per row.
            return b(arith.MulfOp(power, b(arith.DivfOp(b.constant(1.0, wide), all))))

        pointwise(
            [(x, every), (top, per_row)],
            powers,
            lambda b, value, high: [b(math.ExpOp(above(b, value, high)))],
        )
        reduce_nest(site, powers, total, loop, "sum", wide)
        out = site.alloc()
        if isinstance(op, graph.SoftmaxOp):
            pointwise(
                [(powers, every), (total, per_row)],
                out,
                lambda b, power, all: [narrow(b, share(b, power, all), element)],
            )
        else:
            pointwise(
                [(x, every), (top, per_row), (total, per_row)],
                out,
                lambda b, value, high, all: [
                    narrow(
                        b,
                        b(arith.SubfOp(above(b, value, high), b(math.LogOp(all)))),
                        element,
                    )
                ],
            )
        site.done(out)


PATTERNS = (ConvertSoftmax(),)
