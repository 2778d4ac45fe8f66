"""
`cf`: branches between the blocks of a region, and assertions.
"""

import numpy as np
from xdsl.dialects import cf

from transom.dialects.diagnostics import OpError
from transom.interpreters.evaluators import Evaluators, Jump, Values
from transom.interpreters.interpreter import Frame

CF = Evaluators()


@CF.of(cf.AssertOp)
def assert_(frame: Frame, op: cf.AssertOp, args: Values) -> Values:
    holds = args[0] if frame.mask is None else args[0] | ~frame.mask
    if not np.all(holds):
        raise OpError(op, f"assertion failed: {op.msg.data}")
    return ()


@CF.of(cf.BranchOp)
def branch(frame: Frame, op: cf.BranchOp, args: Values) -> Values:
    return (Jump(op.successor, args),)


@CF.of(cf.ConditionalBranchOp)
def cond_br(frame: Frame, op: cf.ConditionalBranchOp, args: Values) -> Values:
    count = len(op.then_arguments)
    if args[0]:
        return (Jump(op.then_block, args[1 : 1 + count]),)
    return (Jump(op.else_block, args[1 + count :]),)


@CF.of(cf.SwitchOp)
def switch(frame: Frame, op: cf.SwitchOp, args: Values) -> Values:
    flag, *rest = args
    default, rest = rest[: len(op.default_operands)], rest[len(op.default_operands) :]
    cases = [] if op.case_values is None else list(op.case_values.iter_values())
    for value, operands, block in zip(
        cases, op.case_operand, op.case_blocks, strict=True
    ):
        mine, rest = rest[: len(operands)], rest[len(operands) :]
        if flag == value:
            return (Jump(block, mine),)
    return (Jump(op.default_block, default),)
