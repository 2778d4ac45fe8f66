"""
The `tir` dialect: kernels, nests, C functions, copies.

A kernel on tensors gets fresh copies of its outputs. A C function is a Python reference
in `externs`, called with arrays, numbers and, for a struct, the tuple of its fields. An
asynchronous copy is done when it is waited for, and never if it is not.
"""

from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.ir import Attribute, Operation

from transom.dialects import executor, graph, tir
from transom.dialects.diagnostics import OpError, did_you_mean
from transom.interpreters.artifacts import run_artifact
from transom.interpreters.evaluators import Array, Evaluators, Value, Values
from transom.interpreters.interpreter import Frame, dtype_of
from transom.interpreters.memref import copy as copy_memref
from transom.interpreters.memref import view_of_bytes
from transom.interpreters.tir_block import run_block
from transom.interpreters.tir_nest import NestRun

TIR = Evaluators()


@TIR.of(tir.NestOp)
def nest(frame: Frame, op: tir.NestOp, args: Values) -> Values:
    NestRun(frame, op, args).run()
    return ()


@TIR.of(tir.BlockOp)
def block(frame: Frame, op: tir.BlockOp, args: Values) -> Values:
    run_block(frame, op, args)
    return ()


@TIR.of(tir.IndexOp)
def index(frame: Frame, op: tir.IndexOp, args: Values) -> Values:
    return (frame.indices[op.dim.value.data],)


@TIR.of(tir.DotOp)
def dot(frame: Frame, op: tir.DotOp, args: Values) -> Values:
    total, lhs, rhs = args
    if op.lhs_unsigned is not None:
        lhs = lhs.view(np.uint8)
    if op.rhs_unsigned is not None:
        rhs = rhs.view(np.uint8)
    products = lhs.astype(np.int32) * rhs.astype(np.int32)
    return (total + products.sum(-1, dtype=np.int32),)


@TIR.of(tir.CallOp)
def call(frame: Frame, op: tir.CallOp, args: Values) -> Values:
    name = op.callee.string_value()
    kernel = frame.interpreter.symbol(op, name)
    if not isinstance(kernel, tir.Callee):
        raise OpError(op, f"expected '@{name}' to be a kernel or an artifact")
    first = len(op.ins)
    arguments: list[Value] = []
    results: list[Array] = []
    types = kernel.argument_types
    for position, (operand, value, type) in enumerate(
        zip(op.operands, args, types, strict=True)
    ):
        if isinstance(operand.type, TensorType):
            if position < first:
                value = np.ascontiguousarray(value).reshape(value.shape).view()
                value.flags.writeable = False
            else:
                value = np.array(value, order="C")
                results.append(value)
        arguments.append(as_argument(op, value, type))
    call_kernel(frame, op, kernel, arguments)
    return results


def as_argument(op: Operation, value: Value, type: Attribute) -> Value:
    """The value as a kernel's argument, which has no sign."""
    if not isinstance(type, MemRefType):
        return value
    return value.view(dtype_of(op, cast("MemRefType[Any]", type).element_type))


def call_kernel(
    frame: Frame, op: Operation, kernel: Operation, arguments: Values
) -> None:
    """Run a kernel; an artifact, and one that is only declared, by its reference."""
    if isinstance(kernel, executor.ArtifactOp):
        run_artifact(frame, op, kernel, arguments)
        return
    assert isinstance(kernel, tir.FuncOp), "what a call or a fork may call"
    if kernel.is_declaration:
        extern_reference(frame, op, kernel.sym_name.data)(*arguments)
    else:
        frame.interpreter.call(kernel, arguments)


def extern_reference(frame: Frame, op: Operation, name: str) -> Any:
    """The Python reference of something external; an OpError if there is none."""
    externs = frame.interpreter.externs
    if name not in externs:
        hint = did_you_mean(name, externs)
        raise OpError(op, f"no reference evaluation for the external '{name}'{hint}")
    return externs[name]


@TIR.of(tir.ForkOp)
def fork(frame: Frame, op: tir.ForkOp, args: Values) -> Values:
    """A team of one; the numbers are the same for any."""
    kernel = frame.interpreter.symbol(op, op.callee_name)
    call_kernel(frame, op, kernel, (np.int64(0), np.int64(1), *args))
    return ()


@TIR.of(tir.StructOp)
def struct(frame: Frame, op: tir.StructOp, args: Values) -> Values:
    return (tuple(args),)


@TIR.of(tir.ExternOp)
def extern(frame: Frame, op: tir.ExternOp, args: Values) -> Values:
    name = op.callee.data
    result = extern_reference(frame, op, name)(*args)
    if op.result is None:
        return ()
    expected = op.expected_status
    if result is None:
        result = expected
    if expected is not None and result != expected:
        raise OpError(op, f"'{name}' returned status {result}, but expected {expected}")
    return (dtype_of(op, op.result.type).type(result),)


@TIR.of(tir.AllocOp)
def alloc(frame: Frame, op: tir.AllocOp, args: Values) -> Values:
    """New memory, or the part of a pool that a plan has given it."""
    if op.pool is not None and op.offset is not None:
        octets = pool_bytes(frame, op, op.pool.string_value())
        return (view_of_bytes(op, octets, op.offset.value.data, args),)
    rest = iter(args)
    type = cast("MemRefType[Any]", op.result.type)
    shape = [int(next(rest)) if size < 0 else size for size in type.get_shape()]
    dtype = dtype_of(op, type.element_type)
    return (frame.interpreter.allocate(op, [*shape, *frame.batch], dtype),)


def pool_bytes(frame: Frame, op: Operation, name: str) -> Array:
    """The memory of a pool, which lives as long as the run."""
    interpreter = frame.interpreter
    if name not in interpreter.storage:
        pool = interpreter.symbol(op, name)
        if not isinstance(pool, executor.PoolOp):
            raise OpError(op, f"expected '@{name}' to be an 'executor.pool'")
        octets = interpreter.allocate(op, [pool.size_bytes], np.dtype(np.uint8))
        octets.fill(0xFF)  # NaN, whatever the float type of a view
        for weight_name, offset in pool.weights:
            weight = interpreter.symbol(op, weight_name)
            if not isinstance(weight, graph.WeightOp):
                raise OpError(op, f"expected '@{weight_name}' to be a 'graph.weight'")
            data = np.ascontiguousarray(interpreter.weight(weight)).reshape(-1)
            octets[offset : offset + data.nbytes] = data.view(np.uint8)
        interpreter.storage[name] = octets
    return interpreter.storage[name]


@TIR.of(tir.PrefetchOp)
def prefetch(frame: Frame, op: tir.PrefetchOp, args: Values) -> Values:
    return ()


@TIR.of(tir.CopyOp)
def copy(frame: Frame, op: tir.CopyOp, args: Values) -> Values:
    return copy_memref(frame, op, args)


@TIR.of(tir.CopyAsyncOp)
def copy_async(frame: Frame, op: tir.CopyAsyncOp, args: Values) -> Values:
    return ((op, tuple(args)),)


@TIR.of(tir.WaitOp)
def wait(frame: Frame, op: tir.WaitOp, args: Values) -> Values:
    started, buffers = args[0]
    return copy_memref(frame, started, buffers)
