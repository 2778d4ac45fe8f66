"""
What the target does differently: products of matrices are calls of its library, and
`rsqrt` is `1 / sqrt`.
"""

from dataclasses import dataclass
from typing import Any

from transom.dialects import graph, tir
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
)
from transom.lowering.graph_to_tir.site import Site, dims, indices, parallel
from transom.targets.hooks import Accepted, Claim, Reference, TargetHooks
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IntegerAttr, MemRefType, f32, i32
from xdsl.ir import Operation, SSAValue

from woofles.dialect import WooflesAttr


def refused(op: Operation) -> Refusal | None:
    """Why an op is not taken: it has to be on matrices of f32 of known sizes."""
    for type in (graph.tensor_type(value) for value in (*op.operands, *op.results)):
        rank = type.get_num_dims() if type.has_static_shape() else None
        if rank != 2 or type.element_type != f32:
            return Refusal(f"expected a matrix of f32 of known size, but got '{type}'")
    return None


@dataclass(frozen=True)
class CallMatmul(ConversionPattern[graph.MatmulOp]):
    """A product is a call, with room for a panel of the right operand."""

    lanes: int
    root = graph.MatmulOp
    benefit = 2  # the patterns of transom have 1

    def match_and_rewrite(
        self, op: graph.MatmulOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        if (refusal := refused(op)) is not None:
            return refusal
        site = Site(op, operands, rewriter)
        (m, k), (_, n) = site.shape(0), site.shape(1)
        out = site.alloc()
        panel = site(tir.AllocOp(MemRefType(f32, [k * self.lanes]), ()))
        sizes = [IntegerAttr(size, i32) for size in (m, k, n, self.lanes)]
        numbers = [site(arith.ConstantOp(size)) for size in sizes]
        written, work = tir.Argument(out, "write"), tir.Argument(panel, "scratch")
        call = (*site.ins, written, *numbers, work)
        rewriter.insert(tir.ExternOp("woofles_matmul", call, i32, status=0))
        site.done(out)


class ConvertRsqrt(ConversionPattern[graph.RsqrtOp]):
    """All elements in parallel."""

    root = graph.RsqrtOp
    benefit = 2

    def match_and_rewrite(
        self, op: graph.RsqrtOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        def finish(b: tir.RegionBuilder, x: SSAValue) -> tuple[SSAValue]:
            return (b(arith.DivfOp(b.constant(1, x.type), b(math.SqrtOp(x)))),)

        site = Site(op, operands, rewriter)
        sizes, out = site.result_sizes(), site.alloc()
        each = indices(len(sizes), 0, dims(len(sizes)))
        ins, outs = [tir.In(site.ins[0], each)], [tir.Out(out, each)]
        site.nest(parallel(sizes), ins=ins, outs=outs, finish=finish)
        site.done(out)


def matmul(a: Any, b: Any, c: Any, *sizes_and_panel: Any) -> int:
    """What the C function computes, on NumPy arrays."""
    c[...] = a @ b
    return 0


class WooflesTarget(TargetHooks[WooflesAttr]):
    api_version = 1
    attr_type = WooflesAttr

    def claims(self, target: WooflesAttr) -> tuple[Claim, ...]:
        def product(op: Operation) -> Accepted | Refusal:
            if (refusal := refused(op)) is not None:
                return refusal
            (m, k), (_, n) = (graph.tensor_type(v).get_shape() for v in op.operands)
            return Accepted(2e-9 * m * k * n / target.lanes.value.data)

        rsqrt = Claim(graph.RsqrtOp, lambda op: refused(op) or Accepted())
        return (Claim(graph.MatmulOp, product), rsqrt)

    def patterns(self, target: WooflesAttr) -> tuple[ConversionPattern[Any], ...]:
        return (CallMatmul(target.lanes.value.data), ConvertRsqrt())

    def reference(self, target: WooflesAttr) -> Reference:
        return Reference(externs={"woofles_matmul": matmul})
