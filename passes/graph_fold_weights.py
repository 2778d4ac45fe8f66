"""
Move weights once, and not in each run: what a reshape, transpose, slice or padding
makes of a weight becomes a weight of its own.

So does what is summed of one, such as a column of a quantised matrix, which its zero
points are multiplied by.

Exporters keep one weight where ops want parts of it in another form, such as the three
matrices of an attention, and importers bring weights into the form that ops know. A
derived weight is evaluated once, and can be packed.

```mlir
%w = graph.weight_ref @w : tensor<8x4x3xf32>
%r = graph.reshape %w to [8, 4, 1, 3] …    ==>  %r = graph.weight_ref @w.moved : tensor<8x4x1x3xf32>
%c = graph.conv2d %x, %r …                      %c = graph.conv2d %x, %r …
```

What only gives a weight another shape, or is read in another order by the kernel it is
fused with, takes no time: it stays, except in front of a convolution.
"""  # noqa: E501

from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from transom.dialects import graph
from transom.dialects.graph.desc import AnyTensor
from transom.passes.function_pass import functions_of
from transom.passes.rewrite_steps import may_rewrite
from transom.passes.statistics import Statistic
from transom.passes.weight_expressions import MOVES, derive_weight

MOVED = Statistic("moved", "weights that became others")


@dataclass(frozen=True)
class GraphFoldWeightsPass(ModulePass):
    name = "graph-fold-weights"
    statistics: ClassVar[tuple[Statistic, ...]] = (MOVED,)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions_of(op):
            # Readers first: a chain becomes one weight.
            for inner in reversed(tuple(func.walk())):
                if is_worthwhile(inner) and may_rewrite("move a weight", inner):
                    fold(op, inner)


def is_worthwhile(op: Operation) -> bool:
    """Whether an op moves a weight, and would do so at run time."""
    if op.parent is None or not _moves(op) or _weight_of(op) is None:
        return False
    if not cast(AnyTensor, op.results[0].type).has_static_shape():
        return False
    users = [use.operation for use in op.results[0].uses]
    if any(isinstance(user, graph.Conv2dOp) for user in users):
        return True
    return isinstance(op, graph.SliceOp | graph.ReduceOp) and bool(users)


def fold(module: ModuleOp, op: Operation) -> None:
    """Replace an op by a reference to what it computes."""
    weight = _weight_of(op)
    assert weight is not None, "is_worthwhile() says so"
    result = op.results[0]
    reference = derive_weight(module, f"{weight}.moved", lambda e: e.known(result), op)
    reference.attributes.update(op.attributes)
    operand = op.operands[0]
    Rewriter.replace_op(op, reference)
    MOVED.add()
    _erase_unused(operand)


def _moves(op: Operation) -> bool:
    return isinstance(
        op, (*MOVES, graph.PadOp, graph.SliceOp, graph.CastOp, graph.ReduceOp)
    )


def _weight_of(op: Operation) -> str | None:
    """The name of the weight that moves lead back to."""
    owner: object = op
    while isinstance(owner, Operation) and _moves(owner) and len(owner.operands) == 1:
        owner = owner.operands[0].owner
    return owner.weight.string_value() if isinstance(owner, graph.WeightRefOp) else None


def _erase_unused(value: SSAValue) -> None:
    """Erase what nothing reads any more."""
    while isinstance(owner := value.owner, Operation) and not value.uses:
        following = owner.operands[0] if owner.operands else None
        Rewriter.erase_op(owner)
        if following is None:
            return
        value = following
