"""
The `executor` dialect: pools are arrays of bytes, and views parts of them, so that a
wrong plan of memory gives wrong numbers.

What is in memory is not cleared between uses; at first every byte is 0xFF.
"""

from typing import Any, cast

from xdsl.dialects.func import FuncOp

from transom.dialects import executor, graph, tir
from transom.dialects.diagnostics import OpError
from transom.interpreters.evaluators import Evaluators, Values
from transom.interpreters.interpreter import Frame
from transom.interpreters.memref import allocate, view_of_bytes
from transom.interpreters.memref import copy as copy_memref
from transom.interpreters.tir import (
    as_argument,
    call_kernel,
    extern_reference,
    pool_bytes,
)

EXECUTOR = Evaluators()


@EXECUTOR.of(executor.ViewOp)
def view(frame: Frame, op: executor.ViewOp, args: Values) -> Values:
    octets = pool_bytes(frame, op, op.pool.root_reference.data)
    return (view_of_bytes(op, octets, op.offset.value.data, args),)


@EXECUTOR.of(executor.AllocOp)
def alloc(frame: Frame, op: executor.AllocOp, args: Values) -> Values:
    return (allocate(frame, op, op.result.type, args),)


@EXECUTOR.of(executor.FreeOp, executor.SyncOp)
def nothing(frame: Frame, op: Any, args: Values) -> Values:
    return ()


@EXECUTOR.of(executor.CopyOp)
def copy(frame: Frame, op: executor.CopyOp, args: Values) -> Values:
    return copy_memref(frame, op, args)


@EXECUTOR.of(executor.ConstantOp)
def constant(frame: Frame, op: executor.ConstantOp, args: Values) -> Values:
    name = op.weight.root_reference.data
    weight = frame.interpreter.symbol(op, name)
    if not isinstance(weight, graph.WeightOp):
        raise OpError(op, f"expected '@{name}' to be a 'graph.weight'")
    return (as_argument(op, frame.interpreter.weight(weight), op.result.type),)


@EXECUTOR.of(executor.CallOp)
def call(frame: Frame, op: executor.CallOp, args: Values) -> Values:
    name = op.callee.root_reference.data
    callee = frame.interpreter.symbol(op, name)
    if isinstance(callee, tir.Callee):
        types = callee.argument_types
    else:
        types = cast(Any, callee).function_type.inputs.data
    arguments = [as_argument(op, a, t) for a, t in zip(args, types, strict=True)]
    if isinstance(callee, tir.Callee):
        call_kernel(frame, op, callee, arguments)
    elif isinstance(callee, FuncOp) and not callee.is_declaration:
        frame.interpreter.call(callee, arguments)
    else:
        extern_reference(frame, op, name)(*arguments)
    return ()


@EXECUTOR.of(executor.ShapeCallOp)
def shape_call(frame: Frame, op: executor.ShapeCallOp, args: Values) -> Values:
    name = op.callee.root_reference.data
    callee = frame.interpreter.symbol(op, name)
    if isinstance(callee, FuncOp) and not callee.is_declaration:
        return frame.interpreter.call(callee, args)
    sizes = extern_reference(frame, op, name)(*args)
    return (sizes,) if len(op.sizes) == 1 else tuple(sizes)
