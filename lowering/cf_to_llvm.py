"""
Patterns from `cf` to the `llvm` dialect; an assertion returns its status code.
"""

from typing import Any

from xdsl.dialects import cf
from xdsl.dialects.builtin import IntegerType

from transom.dialects import llvm
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
)
from transom.lowering.failures import Failures
from transom.lowering.loops import LLVM


class ConvertBranch(ConversionPattern[cf.BranchOp]):
    root = cf.BranchOp
    generates = (llvm.BrOp,)

    def match_and_rewrite(
        self, op: cf.BranchOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        block = rewriter.converted_block(op.successor)
        rewriter.replace(op, LLVM.branch(block, operands.flat))


class ConvertConditionalBranch(ConversionPattern[cf.ConditionalBranchOp]):
    root = cf.ConditionalBranchOp
    generates = (llvm.CondBrOp,)

    def match_and_rewrite(
        self,
        op: cf.ConditionalBranchOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        rewriter.replace(
            op,
            LLVM.branch_if(
                operands[0],
                rewriter.converted_block(op.then_block),
                operands.named("then_arguments").flat,
                rewriter.converted_block(op.else_block),
                operands.named("else_arguments").flat,
            ),
        )


class ConvertSwitch(ConversionPattern[cf.SwitchOp]):
    root = cf.SwitchOp
    generates = (llvm.SwitchOp,)

    def match_and_rewrite(
        self, op: cf.SwitchOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        default = (
            rewriter.converted_block(op.default_block),
            operands.named("default_operands").flat,
        )
        groups = iter(operands.named("case_operands").groups)
        numbers = op.case_values.get_values() if op.case_values is not None else ()
        cases = [
            (
                number,
                rewriter.converted_block(block),
                [value for _ in range(count) for value in next(groups)],
            )
            for number, block, count in zip(
                numbers,
                op.case_blocks,
                op.case_operand_segments.get_values(),
                strict=True,
            )
        ]
        assert isinstance(operands[0].type, IntegerType), "an index becomes one"
        rewriter.replace(op, llvm.SwitchOp(operands[0], default, cases))


class ConvertAssert(ConversionPattern[cf.AssertOp]):
    root = cf.AssertOp

    def __init__(self, failures: Failures) -> None:
        self.failures = failures

    def match_and_rewrite(
        self, op: cf.AssertOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        (condition,) = operands
        self.failures.check(op, condition, rewriter)
        rewriter.replace(op, (), ())


def cf_patterns(failures: Failures) -> tuple[ConversionPattern[Any], ...]:
    """Patterns for one module, whose failures are counted."""
    return (
        ConvertAssert(failures),
        ConvertBranch(),
        ConvertConditionalBranch(),
        ConvertSwitch(),
    )
