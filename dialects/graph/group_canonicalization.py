"""
Simplifications of groups of ops, applied by `canonicalize`.
"""

from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from transom.dialects.graph.constants import ConstantOp
from transom.dialects.graph.structure import FusedOp, GroupOp, RegionOp, YieldOp
from transom.dialects.graph.weights import WeightRefOp


class DissolveWithoutWork(RewritePattern):
    """A fused group of nothing but constants, as what it computed was folded."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FusedOp, rewriter: PatternRewriter, /):
        *constants, last = op.body.block.ops
        if not isinstance(last, YieldOp):
            return
        if not all(isinstance(inner, ConstantOp | WeightRefOp) for inner in constants):
            return
        for argument, value in zip(op.body.block.args, op.inputs, strict=True):
            rewriter.replace_all_uses_with(argument, value)
        results = tuple(last.values)
        rewriter.erase(last)
        for constant in constants:
            constant.detach()
            rewriter.insert(constant)
        rewriter.replace(op, (), results)


class DropUnusedInputs(RewritePattern):
    """Inputs that a group does not use, or has twice."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FusedOp | RegionOp, rewriter: PatternRewriter, /):
        block = op.body.block
        first: dict[SSAValue, SSAValue] = {}
        kept: list[SSAValue] = []
        for argument, value in zip(tuple(block.args), op.inputs, strict=True):
            if value in first:
                rewriter.replace_all_uses_with(argument, first[value])
            if not argument.uses:
                rewriter.erase_block_argument(argument)
                continue
            first[value] = argument
            kept.append(value)
        if len(kept) != len(op.inputs):
            _rebuild_group(op, kept, op.result_types, rewriter)


class DropUnusedResults(RewritePattern):
    """Results of a group that nothing uses."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FusedOp | RegionOp, rewriter: PatternRewriter, /):
        used = [index for index, result in enumerate(op.results) if result.uses]
        last = op.body.block.last_op
        if len(used) in (0, len(op.results)) or not isinstance(last, YieldOp):
            return
        rewriter.replace(last, YieldOp(*(last.values[index] for index in used)))
        types = [op.result_types[index] for index in used]
        _rebuild_group(op, op.inputs, types, rewriter, used)


def _rebuild_group(
    op: GroupOp,
    inputs: Sequence[SSAValue],
    types: Sequence[Attribute],
    rewriter: PatternRewriter,
    used: Sequence[int] | None = None,
) -> None:
    """Replace a group by one with the same body; `used` are the results it keeps."""
    new = type(op).create(
        operands=inputs,
        result_types=types,
        properties=op.properties,
        attributes=op.attributes,
        location=op.location,
        regions=(op.detach_region(op.body),),
    )
    results: list[SSAValue | None] = [None] * len(op.results)
    for result, index in zip(
        new.results, range(len(op.results)) if used is None else used, strict=True
    ):
        results[index] = result
    rewriter.replace(op, new, results)
