"""
Loops of basic blocks, for conversions that need one.

A loop tests at its end, with one test before it where it may run no time at all: LLVM
then needs no pass of its own to turn it.

```mlir
  %enter = arith.cmpi slt, %lb, %ub
  cf.cond_br %enter, ^body(%lb, %init…), ^exit(%init…)
^body(%i, %carried…):
  …
  %next = arith.addi %i, %step
  %again = arith.cmpi slt, %next, %ub
  cf.cond_br %again, ^body(%next, %new…), ^exit(%new…)
^exit(%result…):
```

Behind a loop that runs at least once, what is carried is known as the end of the body
has it: the exit has no arguments.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import IndexType, IntegerAttr, i1, i64
from xdsl.ir import Block, Operation, OpResult, SSAValue

from transom.dialects import llvm
from transom.dialects.op_making import make_op
from transom.lowering.conversion import ConversionRewriter
from transom.lowering.llvm_ops import index_list

OpT = TypeVar("OpT", bound=Operation)

NO_SIGNED_WRAP = arith.IntegerOverflowAttr((arith.IntegerOverflowFlag.NSW,))
SIGNED_LESS = IntegerAttr(2, i64)
"""The predicate `slt`."""

Body = Callable[[SSAValue, Sequence[SSAValue]], Sequence[SSAValue]]
"""From the induction variable and what is carried to what is carried on."""


def constant_of(value: SSAValue) -> int | None:
    """The number that a value of the input always is, if it is known."""
    if not isinstance(value, OpResult) or not isinstance(value.op, arith.ConstantOp):
        return None
    constant = value.op.value
    return constant.value.data if isinstance(constant, IntegerAttr) else None


class LoopOps(Protocol):
    """The ops that loops are made of, at some level."""

    def number(self, value: int) -> Operation:
        """A constant of the type of indices."""
        ...

    def add(self, lhs: SSAValue, rhs: SSAValue) -> Operation: ...

    def less(self, lhs: SSAValue, rhs: SSAValue) -> Operation: ...

    def branch(self, block: Block, values: Sequence[SSAValue]) -> Operation: ...

    def branch_if(
        self,
        condition: SSAValue,
        block: Block,
        values: Sequence[SSAValue],
        otherwise: Block,
        others: Sequence[SSAValue],
    ) -> Operation: ...


class CfLoops:
    """Loops of `arith` and `cf`."""

    def number(self, value: int) -> Operation:
        return arith.ConstantOp(IntegerAttr(value, IndexType()))

    def add(self, lhs: SSAValue, rhs: SSAValue) -> Operation:
        # An index is as wide as a pointer: it does not get past the end of the memory.
        wide = isinstance(lhs.type, IndexType) or lhs.type == i64
        flags = {"overflowFlags": NO_SIGNED_WRAP} if wide else {}
        return make_op(arith.AddiOp, (lhs, rhs), (lhs.type,), flags)

    def less(self, lhs: SSAValue, rhs: SSAValue) -> Operation:
        return make_op(arith.CmpiOp, (lhs, rhs), (i1,), {"predicate": SIGNED_LESS})

    def branch(self, block: Block, values: Sequence[SSAValue]) -> Operation:
        return make_op(cf.BranchOp, values, successors=(block,))

    def branch_if(
        self,
        condition: SSAValue,
        block: Block,
        values: Sequence[SSAValue],
        otherwise: Block,
        others: Sequence[SSAValue],
    ) -> Operation:
        return branch_if(
            cf.ConditionalBranchOp, condition, block, values, otherwise, others
        )


class LlvmLoops:
    """Loops of the `llvm` dialect."""

    def number(self, value: int) -> Operation:
        return llvm.ConstantOp(IntegerAttr(value, i64), i64)

    def add(self, lhs: SSAValue, rhs: SSAValue) -> Operation:
        flags = llvm.OverflowAttr((llvm.OverflowFlag.NO_SIGNED_WRAP,))
        return llvm.AddOp(lhs, rhs, overflow=flags)

    def less(self, lhs: SSAValue, rhs: SSAValue) -> Operation:
        return llvm.ICmpOp(lhs, rhs, "slt")

    def branch(self, block: Block, values: Sequence[SSAValue]) -> Operation:
        return make_op(llvm.BrOp, values, successors=(block,))

    def branch_if(
        self,
        condition: SSAValue,
        block: Block,
        values: Sequence[SSAValue],
        otherwise: Block,
        others: Sequence[SSAValue],
    ) -> Operation:
        return branch_if(llvm.CondBrOp, condition, block, values, otherwise, others)


def branch_if(
    kind: type[OpT],
    condition: SSAValue,
    block: Block,
    values: Sequence[SSAValue],
    otherwise: Block,
    others: Sequence[SSAValue],
) -> OpT:
    """A conditional branch of a class; both have the same parts."""
    sizes = index_list((1, len(values), len(others)))
    return make_op(
        kind,
        (condition, *values, *others),
        (),
        {"operandSegmentSizes": sizes},
        successors=(block, otherwise),
    )


CF, LLVM = CfLoops(), LlvmLoops()


def build_loop(
    rewriter: ConversionRewriter,
    lower: SSAValue,
    upper: SSAValue,
    step: SSAValue,
    carried: Sequence[SSAValue],
    body: Body,
    *,
    runs: bool = False,
    ops: LoopOps = CF,
) -> Sequence[SSAValue]:
    """
    A loop from `lower` up to, not including, `upper`; the step is positive.

    `runs` says that it runs at least once. Gives what is carried in the end; ops
    inserted afterwards come after the loop. Its last branch takes the attributes of the
    op that is being rewritten.
    """

    def insert(op: Operation) -> SSAValue:
        return rewriter.insert(op).results[0]

    types = [value.type for value in carried]
    block = rewriter.new_block([lower.type, *types])
    leave = rewriter.new_block(() if runs else types)
    start = (lower, *carried)
    if runs:
        rewriter.insert(ops.branch(block, start))
    else:
        enter = insert(ops.less(lower, upper))
        rewriter.insert(ops.branch_if(enter, block, start, leave, carried))
    rewriter.continue_in(block)
    after = body(block.args[0], block.args[1:])
    following = insert(ops.add(block.args[0], step))
    again = insert(ops.less(following, upper))
    latch = ops.branch_if(
        again, block, (following, *after), leave, () if runs else after
    )
    rewriter.insert(rewriter.carry_to(latch))
    rewriter.continue_in(leave)
    return after if runs else leave.args


def build_nest(
    rewriter: ConversionRewriter,
    uppers: Sequence[SSAValue],
    body: Callable[[Sequence[SSAValue]], None],
    ops: LoopOps = CF,
) -> None:
    """Loops from zero in steps of one, the last of them innermost."""
    zero = rewriter.insert(ops.number(0)).results[0]
    one = rewriter.insert(ops.number(1)).results[0]

    def level(indices: tuple[SSAValue, ...]) -> None:
        if len(indices) == len(uppers):
            body(indices)
            return

        def inside(index: SSAValue, _carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            level((*indices, index))
            return ()

        upper = uppers[len(indices)]
        build_loop(rewriter, zero, upper, one, (), inside, ops=ops)

    level(())
