"""
Convert nests and blocks of `tir` to loops on scalars and vectors.

```mlir
tir.nest dims [parallel 4, reduction 8]       scf.for %i = %c0 to %c4 step %c1 {
    ins(%a[d0, d1] : …) outs(%o[d0] : …)        %sum = scf.for %k = %c0 to %c8 step %c1
  init { tir.yield %zero : f32 }                    iter_args(%acc = %zero) -> (f32) {
  body (%x: f32, %acc: f32) {           ==>       %x = memref.load %a[%i, %k]
    %s = arith.addf %acc, %x : f32                %s = arith.addf %acc, %x : f32
    tir.yield %s : f32                            scf.yield %s : f32
  }                                             }
  finish (%acc: f32) {                          memref.store %sum, %o[%i]
    tir.yield %acc : f32                      }
  }
```

Afterwards no `tir.nest` and no `tir.block` is left. Accumulators stay in registers: the
whole reduction runs inside of the loops of the parallel dims. Of a schedule, `cache`
and `order` (of parallel dims), `register`, `vector`, `unroll` (of the others) and
`parallel` are followed, and `edges`; without one all is scalar. Where lanes lie apart,
and points along another dim of the tile next to each other, squares of points are
transposed in registers. Guards stand only where a padded access may leave the extent:
the range of the vector dim is split, vectors at the border are masked. A vector dim is
left out where `finish` or `body` branches, or where it is a reduction dim whose order
matters. `dot` is what CPUs have instructions for: the option of this name says which.
The option `bf16` says that there is one that rounds vectors to bf16.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from transom.dialects import tir
from transom.dialects.tir.dot import DotInstructions, dot_factors
from transom.dialects.tir.rounding import let_round
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    ConversionTarget,
    Operands,
    Refusal,
    apply_partial_conversion,
)
from transom.lowering.nest_loops import Emitter, NestLoops
from transom.lowering.nest_loops.emitter import INDEX
from transom.passes.kernel_pass import KernelPass


def why_not(nest: tir.NestOp, schedule: tir.ScheduleAttr) -> str | None:
    """What of a schedule these loops cannot follow."""
    kinds = nest.dim_kinds
    for dim, _ in schedule.cache_tiles:
        if kinds[dim] is not tir.DimKind.PARALLEL:
            return (
                f"expected cache tiles of parallel dims, but 'd{dim}' is {kinds[dim]}"
            )
    for dim in schedule.unroll_factors:
        if kinds[dim] is tir.DimKind.PARALLEL:
            return (
                f"expected no parallel dim in 'unroll', but got 'd{dim}'; 'register' "
                "computes its points together"
            )
    if schedule.dot_dim is not None:
        dim, size = schedule.dot_dim
        extent = nest.static_bounds[dim]
        if extent is None or extent % size:
            return f"expected a multiple of {size} as bound of 'd{dim}' for 'dot'"
        if dot_factors(nest) is None:
            return "expected a body that adds a product of i8 or i16 to i32 for 'dot'"
    order = schedule.loop_order
    inner = [dim for dim in order if kinds[dim] is not tir.DimKind.PARALLEL]
    if list(order[len(order) - len(inner) :]) != sorted(inner):
        return "expected parallel dims first in 'order', then the others as they are"
    if schedule.compute_at_depth is not None:
        return "expected no 'compute_at' any more; 'tir-compute-at' has not run"
    copied = {"pack": schedule.packed_inputs, "widen": schedule.widened_inputs}
    for key, positions in copied.items():
        if positions:
            return (
                f"expected no '{key}' any more; 'tir-pack-operands', in phase "
                "'tensor', makes the copies"
            )
    return None


class ConvertNest(ConversionPattern[tir.NestOp]):
    root = tir.NestOp

    def __init__(self, dot: DotInstructions) -> None:
        self.dot = dot

    def match_and_rewrite(
        self, op: tir.NestOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        if op.schedule is not None and (reason := why_not(op, op.schedule)):
            return Refusal(reason)
        emitter = Emitter()
        NestLoops(op, emitter, rewriter.converted, self.dot).write()
        for new in emitter.take_ops():
            rewriter.insert(new)
        rewriter.replace(op, (), ())


class ConvertBlock(ConversionPattern[tir.BlockOp]):
    root = tir.BlockOp

    def match_and_rewrite(
        self, op: tir.BlockOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        if op.schedule is not None and op.schedule != tir.ScheduleAttr.get(
            parallel=op.schedule.parallel_dims
        ):
            return Refusal("expected only 'parallel' in the schedule of a block")
        bounds = iter(operands)
        limits = [
            next(bounds) if bound is None else bound for bound in op.static_bounds
        ]
        parallel = op.schedule.parallel_dims if op.schedule is not None else ()
        emitter = Emitter()
        limit_values = [emitter.index(limit) for limit in limits]
        zero, one = emitter.index(0), emitter.index(1)
        for new in emitter.take_ops():
            rewriter.insert(new)

        def loops(dim: int, indices: tuple[SSAValue, ...]) -> None:
            if dim == op.rank:
                rewriter.inline_block(op.body.block, indices)
                return
            block = Block(arg_types=[INDEX])
            with rewriter.at_end(block):
                loops(dim + 1, (*indices, block.args[0]))
                rewriter.insert(scf.ReduceOp() if dim in parallel else scf.YieldOp())
            region = Region(block)
            if dim in parallel:
                loop = scf.ParallelOp([zero], [limit_values[dim]], [one], region)
            else:
                loop = scf.ForOp(zero, limit_values[dim], one, (), region)
            rewriter.insert(loop)

        loops(0, ())
        rewriter.replace(op, (), ())


@dataclass(frozen=True)
class ConvertTirToScfPass(KernelPass):
    name = "convert-tir-to-scf"

    dot: DotInstructions = DotInstructions.NONE
    bf16: bool = False

    def concerns(self, kernel: Operation) -> bool:
        return any(isinstance(op, tir.NestOp | tir.BlockOp) for op in kernel.walk())

    def apply_to_kernels(self, ctx: Context, module: ModuleOp) -> None:
        target = ConversionTarget()
        target.add_illegal_op(tir.NestOp, tir.BlockOp)
        apply_partial_conversion(
            module, target, (ConvertNest(self.dot), ConvertBlock())
        )
        if self.bf16:
            for op in module.walk():
                let_round(op)
