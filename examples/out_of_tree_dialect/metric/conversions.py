"""
Convert `metric` to `tir`: one nest per op.

```mlir
%d = metric.distances %a, %b : tensor<4x3xf32>, tensor<5x3xf32> -> tensor<4x5xf32>
==>
tir.nest dims [parallel 4, parallel 5, reduction 3] …
```
"""

from transom.dialects import tir
from transom.lowering.conversion import ConversionPattern, ConversionRewriter, Operands
from transom.lowering.graph_to_tir.site import Site, dims, indices
from transom.targets.conversions import Conversions
from xdsl.dialects import arith, math
from xdsl.ir import SSAValue

from metric.dialect import DistancesOp


class ConvertDistances(ConversionPattern[DistancesOp]):
    """Rows in parallel, the elements of a row a reduction."""

    root = DistancesOp

    def match_and_rewrite(
        self, op: DistancesOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        lhs, rhs = site.ins
        rows, columns = site.result_sizes()
        out = site.alloc()
        i, j, k = dims(3)
        site.nest(
            [
                ("parallel", rows),
                ("parallel", columns),
                ("reduction", site.dim(lhs, 1)),
            ],
            ins=[
                tir.In(lhs, indices(3, 0, (i, k))),
                tir.In(rhs, indices(3, 0, (j, k))),
            ],
            outs=[tir.Out(out, indices(3, 0, (i, j)))],
            init=lambda b: [b.constant(0.0, site.element(0))],
            body=add_square,
            finish=lambda b, total: [b(math.SqrtOp(total))],
        )
        site.done(out)


def add_square(
    b: tir.RegionBuilder, x: SSAValue, y: SSAValue, total: SSAValue
) -> list[SSAValue]:
    """`total + (x - y)²`"""
    difference = b(arith.SubfOp(x, y))
    return [b(arith.AddfOp(total, b(arith.MulfOp(difference, difference))))]


CONVERSIONS = Conversions((ConvertDistances(),), api_version=1)
