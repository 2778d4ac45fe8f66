"""
From kernels to command streams.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.ir import BlockArgument, Operation, SSAValue

from toy_npu.commands import Command
from toy_npu.ops import ComputeOp
from transom.dialects import tir
from transom.dialects.diagnostics import OpError
from transom.dialects.dtypes import numpy_dtype


def commands_for(kernel: tir.FuncOp) -> list[Command]:
    """The commands of a kernel. Raises `OpError` at an op that there is none for."""
    tags: dict[SSAValue, int] = {}
    commands: list[Command] = []
    for op in kernel.body.block.ops:
        match op:
            case arith.ConstantOp() | memref.ViewOp() | tir.ReturnOp():
                pass
            case tir.CopyOp():
                commands.append(["copy", operand(op.source), operand(op.destination)])
            case tir.CopyAsyncOp():
                tag = tags[op.token] = len(tags)
                ends = operand(op.source), operand(op.destination)
                commands.append(["dma", *ends, tag])
            case tir.WaitOp():
                commands.append(["wait", tags[op.token]])
            case ComputeOp():
                inputs = [operand(value) for value in op.inputs]
                output = operand(op.output)
                kind = op.kind.data
                commands.append(["compute", kind, inputs, output, attributes_of(op)])
            case _:
                raise OpError(op, f"no command for '{op.name}'")
    return commands


def attributes_of(op: ComputeOp) -> Mapping[str, Any]:
    """What an engine has to know beside the operands."""
    attributes: dict[str, Any] = {}
    if op.axes is not None:
        attributes["axes"] = op.axis_numbers
    if op.value is not None:
        attributes["value"] = op.value.value.data
    return attributes


def operand(value: SSAValue) -> Sequence[Any]:
    """An argument, or the part of one that a view is of."""
    type_ = cast("MemRefType[Any]", value.type)
    offset = 0
    source = value
    while not isinstance(source, BlockArgument):
        view = source.owner
        if not isinstance(view, memref.ViewOp):
            where = view if isinstance(view, Operation) else None
            assert where is not None, "blocks own arguments"
            raise OpError(where, f"expected an argument, but got one of '{where.name}'")
        shift = view.byte_shift.owner
        assert isinstance(shift, arith.ConstantOp), "the planner makes them"
        offset += cast("IntegerAttr[Any]", shift.value).value.data
        source = view.source
    name = numpy_dtype(type_.element_type).name
    return (source.index, offset, type_.get_shape(), name)
