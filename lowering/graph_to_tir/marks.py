"""
Ops about places and layouts.
"""

from transom.dialects import graph
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
)
from transom.lowering.graph_to_tir.movement import copy_nest
from transom.lowering.graph_to_tir.site import Site, dims


class ConvertRelayout(ConversionPattern[graph.RelayoutOp]):
    """A copy, element by element; the operand itself where nothing moves."""

    root = graph.RelayoutOp

    def match_and_rewrite(
        self, op: graph.RelayoutOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        if graph.layout_of(op.result.type) == graph.layout_of(op.input.type):
            rewriter.replace(op, (), tuple(operands))
            return
        site = Site(op, operands, rewriter)
        sizes, out = site.result_sizes(), site.alloc()
        every = dims(len(sizes))
        copy_nest(site, site.ins[0], out, sizes, every, every)
        site.done(out)


class RefuseCopy(ConversionPattern[graph.CopyOp]):
    root = graph.CopyOp

    def match_and_rewrite(
        self, op: graph.CopyOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal:
        return Refusal("expected copies between places in main, not in a kernel")


class RefuseOnDevice(ConversionPattern[graph.OnDeviceOp]):
    root = graph.OnDeviceOp

    def match_and_rewrite(
        self, op: graph.OnDeviceOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal:
        return Refusal("expected no mark that 'target-plan-devices' has not resolved")


PATTERNS = (ConvertRelayout(), RefuseCopy(), RefuseOnDevice())
