"""
Ops about places and layouts: kernels have none of them.
"""

from transom.dialects import graph
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
)


class ConvertRelayout(ConversionPattern[graph.RelayoutOp]):
    """The operand, where both are row-major."""

    root = graph.RelayoutOp

    def match_and_rewrite(
        self, op: graph.RelayoutOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        rewriter.replace(op, (), tuple(operands))


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
        return Refusal("expected no mark that 'target-assign-places' has not resolved")


PATTERNS = (ConvertRelayout(), RefuseCopy(), RefuseOnDevice())
