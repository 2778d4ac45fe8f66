"""
The storage program of a function.
"""

from collections.abc import Mapping

from xdsl.dialects import func, scf, tensor
from xdsl.ir import Operation

from transom.dialects import graph, tir
from transom.dialects.diagnostics import OpError
from transom.lowering.bufferize.control_flow import (
    visit_call,
    visit_for,
    visit_if,
    visit_return,
    visit_while,
)
from transom.lowering.bufferize.leaf_ops import (
    CONSTANTS,
    VIEWS,
    visit_constant,
    visit_copy,
    visit_dim,
    visit_empty,
    visit_extract,
    visit_filled,
    visit_insert,
    visit_kernel_call,
    visit_view,
)
from transom.lowering.bufferize.program import (
    Builder,
    Callees,
    FunctionProgram,
    Handler,
)
from transom.lowering.bufferize.types import is_tensor
from transom.passes.memory.sizes import SizeAnalysis

HANDLERS: Mapping[type[Operation], Handler] = {
    **dict.fromkeys(VIEWS, visit_view),
    **dict.fromkeys(CONSTANTS, visit_constant),
    func.CallOp: visit_call,
    graph.CopyOp: visit_copy,
    scf.ForOp: visit_for,
    scf.IfOp: visit_if,
    scf.WhileOp: visit_while,
    tensor.DimOp: visit_dim,
    tensor.EmptyOp: visit_empty,
    tensor.ExtractOp: visit_extract,
    tensor.FromElementsOp: visit_filled,
    tensor.InsertOp: visit_insert,
    tensor.InsertSliceOp: visit_insert,
    tensor.SplatOp: visit_filled,
    tir.CallOp: visit_kernel_call,
}


def build_program(
    function: func.FuncOp, callees: Callees, sizes: SizeAnalysis
) -> FunctionProgram:
    """
    The storage program of a function.

    Raises `OpError` at what cannot be bufferised.
    """
    block = function.body.blocks.first
    terminator = None if block is None else block.last_op
    if block is None or not isinstance(terminator, func.ReturnOp):
        raise OpError(function, "expected a function of one block")
    builder = Builder(FunctionProgram(function, sizes), callees, HANDLERS)
    at = builder.storage.point(())
    for argument in function.args:
        if is_tensor(argument.type):
            builder.define(argument, function, constant=True)
    at = builder.visit_ops(block, at)
    visit_return(builder, terminator, at)
    return builder.program
