"""
Convert structured control flow to branches between blocks.

Takes all of `scf`, unlike xDSL's pass; parallel loops run one after the other. Loops
test at their end, see `loops`.

```mlir
scf.for %i = %lb to %ub step %s {             %c = arith.cmpi slt, %lb, %ub
  "use"(%i)                                   cf.cond_br %c, ^body(%lb), ^exit
}                                           ^body(%i: index):
                                      ==>     "use"(%i)
                                              %n = arith.addi %i, %s
                                              %d = arith.cmpi slt, %n, %ub
                                              cf.cond_br %d, ^body(%n), ^exit
                                            ^exit:
```

Afterwards no `scf` op is left. Ops with regions that hold one block only, such as
`tir.nest`, must be lowered before.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith, cf, scf
from xdsl.dialects.builtin import (
    DenseIntElementsAttr,
    IndexType,
    ModuleOp,
    VectorType,
)
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    ConversionTarget,
    Operands,
    Refusal,
    apply_full_conversion,
)
from transom.lowering.loops import build_loop, constant_of


class LowerFor(ConversionPattern[scf.ForOp]):
    root = scf.ForOp
    generates = (arith.AddiOp, arith.CmpiOp, cf.BranchOp, cf.ConditionalBranchOp)

    def match_and_rewrite(
        self, op: scf.ForOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        lower, upper, step, *carried = operands

        def body(index: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            return tuple(rewriter.inline_block(op.body.block, (index, *carried)))

        first, end = constant_of(op.lb), constant_of(op.ub)
        runs = first is not None and end is not None and first < end
        results = build_loop(rewriter, lower, upper, step, carried, body, runs=runs)
        rewriter.replace(op, (), tuple(results))


class LowerIf(ConversionPattern[scf.IfOp]):
    root = scf.IfOp
    generates = (cf.BranchOp, cf.ConditionalBranchOp)

    def match_and_rewrite(
        self, op: scf.IfOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        (condition,) = operands
        join = rewriter.new_block(op.result_types)
        then = rewriter.new_block()
        has_else = bool(op.false_region.blocks)
        otherwise = rewriter.new_block() if has_else else join
        branch = cf.ConditionalBranchOp(condition, then, (), otherwise, ())
        rewriter.insert(rewriter.carry_to(branch))
        regions = [(then, op.true_region)]
        if has_else:
            regions.append((otherwise, op.false_region))
        for block, region in regions:
            rewriter.continue_in(block)
            results = rewriter.inline_block(region.block, ())
            rewriter.insert(cf.BranchOp(join, *results))
        rewriter.continue_in(join)
        rewriter.replace(op, (), join.args)


class LowerWhile(ConversionPattern[scf.WhileOp]):
    """
    The condition's block is entered from before the loop and from its end; it is not
    copied, as it may be large.
    """

    root = scf.WhileOp
    generates = (cf.BranchOp, cf.ConditionalBranchOp)

    def match_and_rewrite(
        self, op: scf.WhileOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        before = rewriter.new_block([v.type for v in op.arguments])
        after = rewriter.new_block()
        leave = rewriter.new_block()
        rewriter.insert(cf.BranchOp(before, *operands))
        rewriter.continue_in(before)
        condition, *passed = rewriter.inline_block(
            op.before_region.block, tuple(before.args)
        )
        branch = cf.ConditionalBranchOp(condition, after, (), leave, ())
        rewriter.insert(rewriter.carry_to(branch))
        rewriter.continue_in(after)
        results = rewriter.inline_block(op.after_region.block, tuple(passed))
        rewriter.insert(cf.BranchOp(before, *results))
        rewriter.continue_in(leave)
        rewriter.replace(op, (), tuple(passed))


class LowerIndexSwitch(ConversionPattern[scf.IndexSwitchOp]):
    root = scf.IndexSwitchOp
    generates = (cf.BranchOp, cf.SwitchOp)

    def match_and_rewrite(
        self, op: scf.IndexSwitchOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        (flag,) = operands
        numbers = tuple(cast("Sequence[int]", op.cases.get_values()))
        join = rewriter.new_block(op.result_types)
        default = rewriter.new_block()
        cases = [rewriter.new_block() for _ in numbers]
        values = None
        if numbers:
            type = VectorType(IndexType(), [len(numbers)])
            values = DenseIntElementsAttr.from_list(type, numbers)
        switch = cf.SwitchOp(flag, default, (), values, cases, [()] * len(cases))
        rewriter.insert(rewriter.carry_to(switch))
        regions = [(default, op.default_region)]
        regions.extend(zip(cases, op.case_regions, strict=True))
        for block, region in regions:
            rewriter.continue_in(block)
            results = rewriter.inline_block(region.block, ())
            rewriter.insert(cf.BranchOp(join, *results))
        rewriter.continue_in(join)
        rewriter.replace(op, (), join.args)


class LowerExecuteRegion(ConversionPattern[scf.ExecuteRegionOp]):
    root = scf.ExecuteRegionOp

    def match_and_rewrite(
        self, op: scf.ExecuteRegionOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        join = rewriter.new_block(op.result_types)

        def leave(end: Operation, values: Operands) -> None:
            if isinstance(end, scf.YieldOp):
                rewriter.insert(cf.BranchOp(join, *values))
                return
            # Such as `ub.unreachable`: the region does not end there.
            rewriter.insert(
                type(end).create(operands=list(values), properties=dict(end.properties))
            )

        region = rewriter.convert_region(op.region, terminator=leave)
        entry = region.blocks[0]
        rewriter.insert(rewriter.carry_to(cf.BranchOp(entry)))
        rewriter.append_blocks(region)
        rewriter.continue_in(join)
        rewriter.replace(op, (), join.args)


class LowerParallel(ConversionPattern[scf.ParallelOp]):
    root = scf.ParallelOp
    generates = (arith.AddiOp, arith.CmpiOp, cf.BranchOp, cf.ConditionalBranchOp)

    def match_and_rewrite(
        self, op: scf.ParallelOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        lowers, uppers, steps, inits = (
            tuple(operands.named(name))
            for name in ("lowerBound", "upperBound", "step", "initVals")
        )

        def level(
            indices: tuple[SSAValue, ...], carried: Sequence[SSAValue]
        ) -> Sequence[SSAValue]:
            depth = len(indices)
            if depth == len(lowers):
                return self.point(op, indices, carried, rewriter)
            return build_loop(
                rewriter,
                lowers[depth],
                uppers[depth],
                steps[depth],
                carried,
                lambda index, carried: level((*indices, index), carried),
            )

        rewriter.replace(op, (), tuple(level((), inits)))

    def point(
        self,
        op: scf.ParallelOp,
        indices: Sequence[SSAValue],
        carried: Sequence[SSAValue],
        rewriter: ConversionRewriter,
    ) -> Sequence[SSAValue]:
        """The body at one point, and its values folded into what is carried."""
        end = op.body.block.last_op
        assert isinstance(end, scf.ReduceOp), "by the verifier of scf.parallel"
        values = rewriter.inline_block(op.body.block, tuple(indices))
        results: list[SSAValue] = []
        for region, old, value in zip(end.reductions, carried, values, strict=True):
            results += rewriter.inline_block(region.block, (old, value))
        return results


PATTERNS = (
    LowerExecuteRegion(),
    LowerFor(),
    LowerIf(),
    LowerIndexSwitch(),
    LowerParallel(),
    LowerWhile(),
)


@dataclass(frozen=True)
class LowerScfToCfPass(ModulePass):
    name = "lower-scf-to-cf"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = ConversionTarget()
        target.add_illegal_dialect("scf")
        apply_full_conversion(op, target, PATTERNS)
