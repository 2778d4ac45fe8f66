"""
Convert `graph` to `tir`: the base of lowerings of graph functions by patterns.

`targets/convert_graph_to_tir.py` has the pass of this name; a target may derive one of
its own.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.dialects.graph.desc import AnyTensor
from transom.dialects.target import TargetAttr
from transom.lowering import linalg_to_tir
from transom.lowering.conversion import (
    ConversionError,
    ConversionPattern,
    ConversionReport,
    ConversionTarget,
    TypeConverter,
    apply_full_conversion,
)
from transom.lowering.conversion.pattern import roots_of
from transom.lowering.conversion_patterns import add_structural_conversions
from transom.lowering.destination_passing import (
    equal_sizes,
    remove_dead_buffers,
    to_destination_passing,
    unify_sizes,
)
from transom.lowering.function_lowering import FunctionLowering
from transom.lowering.graph_to_tir import (
    contraction,
    elementwise,
    marks,
    movement,
    normalization,
    pooling,
    reduction,
    selection,
    sorting,
)
from transom.lowering.graph_to_tir.site import kernel_type
from transom.passes.tir_fuse_nests import forward_sizes

PATTERNS: tuple[ConversionPattern[Any], ...] = (
    *contraction.PATTERNS,
    *elementwise.PATTERNS,
    *marks.PATTERNS,
    *movement.PATTERNS,
    *normalization.PATTERNS,
    *pooling.PATTERNS,
    *reduction.PATTERNS,
    *selection.PATTERNS,
    *sorting.PATTERNS,
    *linalg_to_tir.PATTERNS,
)
"""How each op of a kernel is computed, on memrefs."""


def check_layouts(module: ModuleOp) -> None:
    """Raise `OpError` at an op of a tensor whose layout no memref has."""
    for op in module.walk():
        if isinstance(op, graph.GraphOp):
            for value in (*op.operands, *op.results):
                reason = graph.why_not_physical(cast("AnyTensor", value.type))
                if reason is not None:
                    raise OpError(op, reason)


def without_kernels(report: ConversionReport) -> ConversionReport:
    """
    A report without the failures of the functions that stand for kernels, which are
    not in the module that the user sees; unless there are no others.
    """
    failures = [f for f in report.failures if not f.op_name.startswith("func.")]
    return replace(report, failures=failures or report.failures)


class GraphToTirLowering(FunctionLowering):
    """
    Base of passes that lower graph functions by the patterns of transom, and others.

    A subclass is a dataclass with a `name`. It says in `owns` which functions it is
    for, and in `patterns_for` which patterns it adds.
    """

    def patterns_for(
        self, target: TargetAttr | None
    ) -> Sequence[ConversionPattern[Any]]:
        """
        Patterns that join those of transom for the kernels of a target, and are tried
        before those of the same benefit. By default: none.
        """
        return ()

    def lower_kernels(
        self, ctx: Context, module: ModuleOp, target: TargetAttr | None
    ) -> None:
        check_layouts(module)
        converter = TypeConverter(kernel_type)
        legality = ConversionTarget()
        legality.add_illegal_dialect("graph", "linalg", "tensor")
        legality.add_illegal_op(graph.GraphOp)  # of whatever dialect
        structural = add_structural_conversions(legality, converter)
        added = self.patterns_for(target)
        legality.add_illegal_op(*(root for p in added for root in roots_of(p.root)))
        equal = {
            func.sym_name.data: equal_sizes(func)
            for func in module.body.block.ops
            if isinstance(func, FuncOp)
        }
        try:
            apply_full_conversion(
                module, legality, (*added, *PATTERNS, *structural), converter
            )
        except ConversionError as e:
            raise ConversionError(without_kernels(e.report)) from None
        for func in tuple(module.body.block.ops):
            assert isinstance(func, FuncOp), "kernels are functions"
            unify_sizes(func, equal[func.sym_name.data])
            kernel = to_destination_passing(func)
            forward_sizes(kernel)
            remove_dead_buffers(kernel)
            module.body.block.insert_op_before(kernel, func)
            func.detach()
            func.erase()
