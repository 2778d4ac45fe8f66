"""
Compute convolutions of 3 by 3 by Winograd's method F(4x4, 3x3), where that is allowed.

That takes a quarter of the multiplications, and rounds differently: the largest error
of a layer is some 1e-5 of its largest value. So it must be asked for, by the option
`winograd` of `target.config`; without it nothing changes.

```mlir
tir.nest … ins(%x[…, d1 + d4, d2 + d5, d6], %w[d3, …, d4, d5], …) outs(%y[…]) …
==>
%pixels = tir.alloc : memref<6x6x4x16x16xf32>
%products = tir.alloc : memref<6x6x4x16x16xf32>
tir.nest …    // 36 pixels of a tile in, 36 numbers out
tir.nest …    // 36 products of matrices
tir.nest …    // 36 products in, 16 results out, and what `finish` does with each
```

The weights become derived weights, which are computed in f64 once. Several blocks of
rows of tiles, as many as the cache of `l2-bytes` suggests, are a `tir.block`.

A convolution that stays what it is says why, in `tir.direct`: strides, dilations and
groups, few channels, images below 6 by 6, so many weights for a small image that they
are not read in the time that is saved, weights that are not known, channels that do not
lie side by side.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr, f32
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from transom.dialects import graph, tir
from transom.dialects.target import get_config
from transom.dialects.tir.types import memref_type_of
from transom.passes.kernel_weights import KernelWeights, kernel_around
from transom.passes.rewrite_steps import may_rewrite
from transom.passes.statistics import Statistic
from transom.passes.weight_expressions import Expression, derived_weight
from transom.passes.winograd.convolution import (
    Convolution,
    find_convolution,
    why_direct,
)
from transom.passes.winograd.rewrite import use_winograd
from transom.passes.winograd.transforms import PATCH, transformed_filters

DIRECT = "tir.direct"
"""On a convolution that Winograd's method does not compute: why."""

USED = Statistic("winograd", "convolutions by Winograd's method")
STAYED = Statistic("direct", "convolutions that stay what they are")


@dataclass(frozen=True)
class TirUseWinogradPass(ModulePass):
    name = "tir-use-winograd"
    statistics: ClassVar[tuple[Statistic, ...]] = (USED, STAYED)

    l2_bytes: int = 256 * 1024
    """The cache in which what is computed at a time is to stay."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not get_config(op).options["winograd"]:
            return
        user = _WinogradUser(op, self.l2_bytes)
        for nest in [inner for inner in op.walk() if isinstance(inner, tir.NestOp)]:
            kernel = kernel_around(nest)
            conv = find_convolution(nest)
            if kernel is not None and conv is not None:
                user.decide(kernel, conv)


@dataclass
class _WinogradUser:
    """Rewrites the convolutions of a module."""

    module: ModuleOp
    cache: int
    kernel_weights: KernelWeights = field(init=False)
    weights: dict[str, graph.WeightOp] = field(init=False)

    def __post_init__(self) -> None:
        self.kernel_weights = KernelWeights(self.module)
        self.weights = {}

    def decide(self, kernel: tir.FuncOp, conv: Convolution) -> None:
        """Rewrite a convolution, or note why not."""
        weight = conv.nest.ins[conv.weight]
        sources = self.kernel_weights.handed_over(kernel, weight)
        reason = why_direct(conv, self.cache)
        if reason is None and sources is None:
            reason = "expected a weight that is known in each call"
        if reason is None and not weight.has_one_use():
            reason = "expected a weight that nothing else reads"
        if reason is not None or sources is None:
            conv.nest.attributes[DIRECT] = StringAttr(reason or "")
            STAYED.add()
        elif may_rewrite("use Winograd's method", conv.nest):
            USED.add()
            filters, channels = memref_type_of(weight).get_shape()[:2]
            transformed = self.kernel_weights.replace(
                kernel,
                weight,
                [self.transformed(source) for source in sources],
                MemRefType(f32, (filters, channels, PATCH, PATCH)),
            )
            use_winograd(conv, transformed, self.cache)

    def transformed(self, source: graph.WeightOp) -> graph.WeightOp:
        """The transform of a weight, the same one for all that ask for it."""
        name = source.sym_name.data
        if name not in self.weights:

            def build(e: Expression) -> SSAValue:
                return transformed_filters(e, e(graph.WeightRefOp(source)))

            self.weights[name] = derived_weight(
                self.module, f"{name}.winograd", build, source
            )
        return self.weights[name]
