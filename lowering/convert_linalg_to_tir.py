"""
Convert `linalg` on memrefs to `tir`: each structured op becomes a nest.

A target may lower to `linalg`, or a file bring kernels that are written in it; in
functions of any kind it becomes nests, to be fused and scheduled as all others. (On
tensors `linalg-group-kernels` and `convert-graph-to-tir` make kernels of it.)

```mlir
linalg.generic {…} ins(%a : memref<4xf32>)    tir.nest dims [parallel 4]
    outs(%o : memref<4xf32>) {          ==>       ins(%a[d0] : …) outs(%o[d0] : …)
^bb0(%x: f32, %y: f32):                           finish (%x: f32) { … }
```

A reduction whose output is filled right before it starts with that number; the fill
disappears. Afterwards no structured op on memrefs is left.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.passes import ModulePass
from xdsl.traits import is_side_effect_free

from transom.dialects import linalg
from transom.dialects.linalg import Structure
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    ConversionTarget,
    Operands,
    apply_full_conversion,
)
from transom.lowering.linalg_nests import StructureNest


def neighbours(op: Operation, *, backwards: bool) -> Iterator[Operation]:
    """The ops with effects before or behind one in its block, the nearest first."""
    step = op.prev_op if backwards else op.next_op
    while step is not None:
        if not is_side_effect_free(step):
            yield step
        step = step.prev_op if backwards else step.next_op


def covers(structure: Structure, number: int) -> bool:
    """Whether every element of an output is written."""
    map = structure.out_maps[number]
    dims = [expr for expr in map.results if isinstance(expr, AffineDimExpr)]
    return len(dims) == len(map.results) == len({dim.position for dim in dims})


def filled_by(structure: Structure, number: int) -> linalg.FillOp | None:
    """
    The op right before a reduction that fills one of its outputs, if nothing else is in
    the output afterwards.
    """
    output = structure.outputs[number]
    if not structure.loops(linalg.REDUCTION) or not covers(structure, number):
        return None
    if structure.operands.count(output) > 1 or not structure.reads_output(number):
        return None
    for before in neighbours(structure.op, backwards=True):
        if not isinstance(before, linalg.FillOp):
            return None
        if before.outputs[0] is output:
            number_type = linalg.element_of(output.type)
            return before if before.inputs[0].type == number_type else None
    return None


def is_forwarded(fill: linalg.FillOp) -> bool:
    """Whether the op that reads what is filled starts with the number by itself."""
    for op in neighbours(fill, backwards=False):
        structure = linalg.structure_of(op)
        if structure is None:
            return False
        if any(filled_by(structure, i) is fill for i in range(len(structure.outputs))):
            return True
        if not isinstance(op, linalg.FillOp):
            return False
    return False


class ConvertStructured(ConversionPattern[linalg.LinalgStructuredOperation]):
    root = linalg.LinalgStructuredOperation

    def match_and_rewrite(
        self,
        op: linalg.LinalgStructuredOperation,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> None:
        structure = linalg.structure_of(op)
        assert structure is not None, "the root has one"
        if isinstance(op, linalg.FillOp) and is_forwarded(op):
            rewriter.erase(op)
            return
        values = tuple(operands)
        outs = values[len(structure.inputs) :]
        fills = [filled_by(structure, number) for number in range(len(outs))]

        def insert(new: Operation) -> SSAValue:
            return rewriter.insert(new).results[0]

        starts = [None if fill is None else fill.inputs[0] for fill in fills]
        nest = StructureNest(
            structure, values, outs, starts, insert, rewriter.converted
        ).build()
        rewriter.replace(op, nest, ())


@dataclass(frozen=True)
class ConvertLinalgToTirPass(ModulePass):
    name = "convert-linalg-to-tir"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = ConversionTarget()
        target.add_dynamically_legal_op(
            linalg.LinalgStructuredOperation, predicate=lambda op: bool(op.results)
        )
        target.mark_unknown_legal()
        apply_full_conversion(op, target, (ConvertStructured(),))
