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
"""

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import IndexType, IntegerAttr, i64
from xdsl.ir import OpResult, SSAValue

from transom.lowering.conversion import ConversionRewriter

Body = Callable[[SSAValue, Sequence[SSAValue]], Sequence[SSAValue]]
"""From the induction variable and what is carried to what is carried on."""


def constant_of(value: SSAValue) -> int | None:
    """The number that a value of the input always is, if it is known."""
    if not isinstance(value, OpResult) or not isinstance(value.op, arith.ConstantOp):
        return None
    constant = value.op.value
    return constant.value.data if isinstance(constant, IntegerAttr) else None


def constant_index(rewriter: ConversionRewriter, value: int) -> SSAValue:
    """A new constant of type `index`."""
    attr = IntegerAttr(value, IndexType())
    return rewriter.insert(arith.ConstantOp(attr)).result


def build_loop(
    rewriter: ConversionRewriter,
    lower: SSAValue,
    upper: SSAValue,
    step: SSAValue,
    carried: Sequence[SSAValue],
    body: Body,
    *,
    runs: bool = False,
) -> Sequence[SSAValue]:
    """
    A loop from `lower` up to, not including, `upper`; the step is positive.

    `runs` says that it runs at least once. Gives what is carried in the end; ops
    inserted afterwards come after the loop.
    """
    types = [value.type for value in carried]
    block = rewriter.new_block([lower.type, *types])
    leave = rewriter.new_block(types)
    if runs:
        rewriter.insert(cf.BranchOp(block, lower, *carried))
    else:
        enter = rewriter.insert(arith.CmpiOp(lower, upper, "slt"))
        rewriter.insert(
            cf.ConditionalBranchOp(
                enter.result, block, [lower, *carried], leave, carried
            )
        )
    rewriter.continue_in(block)
    after = body(block.args[0], block.args[1:])
    # An index is as wide as a pointer: it does not get past the end of the memory.
    wide = isinstance(lower.type, IndexType) or lower.type == i64
    flags = arith.IntegerOverflowAttr(
        (arith.IntegerOverflowFlag.NSW,) if wide else "none"
    )
    following = rewriter.insert(arith.AddiOp(block.args[0], step, overflow=flags)).result
    again = rewriter.insert(arith.CmpiOp(following, upper, "slt")).result
    rewriter.insert(
        cf.ConditionalBranchOp(again, block, [following, *after], leave, after)
    )
    rewriter.continue_in(leave)
    return leave.args


def build_nest(
    rewriter: ConversionRewriter,
    uppers: Sequence[SSAValue],
    body: Callable[[Sequence[SSAValue]], None],
) -> None:
    """Loops from zero in steps of one, the last of them innermost."""
    zero, one = constant_index(rewriter, 0), constant_index(rewriter, 1)

    def level(indices: tuple[SSAValue, ...]) -> None:
        if len(indices) == len(uppers):
            body(indices)
            return

        def inside(index: SSAValue, _carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            level((*indices, index))
            return ()

        build_loop(rewriter, zero, uppers[len(indices)], one, (), inside)

    level(())
