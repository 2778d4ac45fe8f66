"""
Compute functions of `math` by polynomials instead of calls of the C library.

```mlir
%y = math.tanh %x : vector<8xf32>
==>
%low = arith.constant dense<-9.01> : vector<8xf32>
%below = arith.cmpf ogt, %low, %x : vector<8xf32>
%clamped = arith.select %below, %low, %x : vector<8xi1>, vector<8xf32>
…
%y = arith.divf %top, %bottom : vector<8xf32>
```

So vectors stay vectors. It takes `cos`, `erf`, `exp`, `exp2`, `expm1`, `log`, `log10`,
`log1p`, `log2`, `powf`, `sin` and `tanh` on f32 and smaller floats, which are computed
in f32; on f64 they stay as they are. The errors that each has, and how large they can
be, are in `docs/math.md`. At special values results are those of C; but what `exp` and
`exp2` give below `2**-125.5` is zero.

`sin` and `cos` of large numbers call the C library, in a branch that is taken if any
lane holds one.

Neighbours in a block that are the same function are computed side by side, up to four:
each op of one stands next to that of the others, so that the CPU need not wait for it.
Constants by which the argument or the result of `erf` and `tanh` is multiplied become
part of the coefficients.

What is inside of a nest stays: a target that takes nests takes functions with them.

With `fma`, products are rounded together with the sum that they are part of, as one
instruction of the target does it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, Float32Type, ModuleOp
from xdsl.ir import Block, Operation

from transom.dialects import llvm, tir
from transom.dialects.walking import walk_ops
from transom.lowering.math_polynomials import (
    FUNCTIONS,
    SCALED,
    Call,
    Lanes,
    Writer,
    call_of,
    constant_of,
)
from transom.passes.kernel_pass import KernelPass
from transom.passes.rewrite_steps import may_rewrite

MOST_TOGETHER = 4
"""More chains side by side need more registers than there are."""


def in_nest(op: Operation) -> bool:
    """Whether a nest says what is computed, for its target to take as it is."""
    around = op.parent_op()
    while around is not None and not isinstance(around, tir.NestOp):
        around = around.parent_op()
    return around is not None


def is_expanded(op: Operation) -> bool:
    """Whether an op is a function of floats of at most 32 bits, outside of nests."""
    if type(op) not in FUNCTIONS or in_nest(op):
        return False
    element = llvm.element_of(op.results[0].type)
    return isinstance(element, AnyFloat) and element.bitwidth <= 32


def runs_of(block: Block) -> Iterator[list[Operation]]:
    """The ops of a block that are expanded, neighbours of one kind together."""
    run: list[Operation] = []
    for op in block.ops:
        if run and not (len(run) < MOST_TOGETHER and joins(run, op)):
            yield run
            run = []
        if is_expanded(op):
            run.append(op)
    if run:
        yield run


def joins(run: Sequence[Operation], op: Operation) -> bool:
    """Whether an op can be computed together with those of a run."""
    first = run[0]
    return (
        type(op) is type(first)
        and op.operand_types == first.operand_types
        and not any(operand.owner in run for operand in op.operands)
        # What a power becomes depends on its exponent.
        and all(
            constant_of(mine) == constant_of(theirs)
            for mine, theirs in zip(op.operands, first.operands, strict=True)
        )
    )


def expand(run: Sequence[Operation], has_fma: bool) -> None:
    """Replace some ops of one kind, which do not depend on each other."""
    for scales, calls in groupby(map(call_of, run), lambda call: call.scales):
        function = FUNCTIONS[type(run[0])]
        if isinstance(run[0], SCALED):
            function = partial(function, scales=scales)
        replace([*calls], function, has_fma)


def replace(
    calls: Sequence[Call], function: Callable[..., Lanes], has_fma: bool
) -> None:
    """Compute some calls of a function side by side."""
    writer = Writer(has_fma)
    locations = [call.op.location for call in calls]
    columns = zip(*(call.operands for call in calls), strict=True)
    args = [Lanes(writer, column, locations) for column in columns]
    element = args[0].element
    if not isinstance(element, Float32Type):
        args = [arg.single() for arg in args]
    result = function(*args)
    if not isinstance(element, Float32Type):
        result = result.rounded_to(element)
    last = calls[-1].op
    block = last.parent
    assert block is not None, "runs are found in blocks"
    block.insert_ops_before(writer.ops, last)
    for call, value in zip(calls, result.values, strict=True):
        call.replace_by(value)


@dataclass(frozen=True)
class LowerMathToPolynomialsPass(KernelPass):
    name = "lower-math-to-polynomials"

    fma: bool = False

    def concerns(self, kernel: Operation) -> bool:
        return any(type(op) in FUNCTIONS for op in walk_ops(kernel))

    def apply_to_kernels(self, ctx: Context, module: ModuleOp) -> None:
        blocks = [b for op in walk_ops(module) for r in op.regions for b in r.blocks]
        for block in blocks:
            for run in list(runs_of(block)):
                if may_rewrite("expand a function", run[0]):
                    expand(run, self.fma)
