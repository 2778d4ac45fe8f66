"""
Evaluate ops whose operands are all `graph.constant`.

Exporters compute shapes, masks and scales by ops on constants. Results of more than
`max-elements` elements stay ops, so that no text grows out of bounds; weights and what
is derived from them are no constants. Convolutions and pools are not evaluated, nor are
ops whose result is undefined, such as an integer division by zero.

```mlir
%a = graph.constant dense<[1, 2]> : tensor<2xi64>
%b = graph.constant dense<3> : tensor<2xi64>         ==>  %c = graph.constant dense<[3, 6]> : tensor<2xi64>
%c = graph.mul %a, %b : tensor<2xi64>
```
"""  # noqa: E501

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from transom.dialects import graph
from transom.passes.constant_evaluation import array_of, dense_of, evaluate
from transom.passes.function_pass import FunctionPass
from transom.passes.rewrite_steps import may_rewrite
from transom.passes.statistics import Statistic

FOLDED = Statistic("folded", "ops evaluated at compile time")


@dataclass(frozen=True)
class GraphFoldConstantsPass(FunctionPass):
    name = "graph-fold-constants"
    statistics: ClassVar[tuple[Statistic, ...]] = (FOLDED,)

    max_elements: int = 65536

    def apply_to(self, ctx: Context, func: FuncOp) -> None:
        for block in blocks_of(func):
            for op in tuple(block.ops):
                if isinstance(op, graph.GraphOp):
                    self.fold(op)

    def fold(self, op: graph.GraphOp) -> None:
        """Replace an op by a constant if that can be."""
        owners = [value.owner for value in op.operands]
        constants = [owner for owner in owners if isinstance(owner, graph.ConstantOp)]
        if not owners or len(constants) != len(owners):
            return
        if len(op.results) != 1 or not self.is_small(op):
            return
        result = evaluate(op, [array_of(owner.value) for owner in constants])
        if result is None or not may_rewrite("fold a constant", op):
            return
        constant = graph.ConstantOp(dense_of(result, op.declared_type()))
        constant.location = op.location
        constant.attributes.update(op.attributes)
        Rewriter.replace_op(op, constant)
        FOLDED.add()
        for owner in dict.fromkeys(constants):
            if not owner.result.uses:
                Rewriter.erase_op(owner)

    def is_small(self, op: graph.GraphOp) -> bool:
        """Whether the result is static, and within the limit or an operand's size."""
        count = element_count(op.results[0])
        if count is None:
            return False
        operands = [element_count(value) or 0 for value in op.operands]
        return count <= max(self.max_elements, *operands)


def element_count(value: SSAValue) -> int | None:
    """The number of elements of a static tensor, else None."""
    type = value.type
    if not isinstance(type, TensorType) or not type.has_static_shape():
        return None
    return math.prod(type.get_shape())


def blocks_of(op: Operation) -> Iterator[Block]:
    """All blocks in an op, outer ones first."""
    for region in op.regions:
        for block in region.blocks:
            yield block
            for inner in block.ops:
                yield from blocks_of(inner)
