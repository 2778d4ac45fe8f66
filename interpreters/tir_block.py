"""
`tir.block`: sequential dims are loops; the points of parallel dims are evaluated at
once where the block holds only nests, buffers of its own and arithmetic, else one by
one.

At once, the points become a batch: the index of a parallel dim is an array, a buffer of
the block gets an axis for each parallel dim behind its own, and nests take these axes
along.
"""

import itertools
import math
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects import math as math_dialect
from xdsl.ir import Operation, SSAValue

from transom.dialects import tir
from transom.interpreters.evaluators import Values
from transom.interpreters.interpreter import Frame

MAX_BATCH = 1 << 27
"""Elements of all buffers of a block for all its points."""

_ARITHMETIC = {*arith.Arith.operations, *math_dialect.Math.operations}


def run_block(frame: Frame, op: tir.BlockOp, args: Values) -> None:
    """Execute the block for all its points."""
    rest = iter(args)
    extents = [int(next(rest)) if b is None else b for b in op.static_bounds]
    if min(extents, default=0) < 0:
        raise ValueError(f"expected bounds >= 0, but got {extents}")
    parallel = [
        dim for dim, kind in enumerate(op.dim_kinds) if kind is tir.DimKind.PARALLEL
    ]
    batch = [extents[dim] for dim in parallel]
    if 0 in extents:
        return
    at_once = frame.interpreter.constant(op, lambda: is_batchable(op))
    if not at_once or _buffer_size(op) * math.prod(batch) > MAX_BATCH:
        parallel, batch = [], []
    outer = frame.batch, frame.batch_arguments
    behind = len(frame.batch)
    frame.batch = (*batch, *outer[0])
    frame.batch_arguments = (*(op.indices[dim] for dim in parallel), *outer[1])
    indices: list[Any] = [None] * len(extents)
    for place, dim in enumerate(parallel):
        trailing = (1,) * (len(parallel) - place - 1 + behind)
        indices[dim] = np.arange(extents[dim], dtype=np.int64).reshape(-1, *trailing)
    loops = [dim for dim in range(len(extents)) if dim not in parallel]
    for point in itertools.product(*(range(extents[dim]) for dim in loops)):
        for dim, value in zip(loops, point, strict=True):
            indices[dim] = np.int64(value)
        frame.region(op.body, indices)
    frame.batch, frame.batch_arguments = outer


def is_batchable(op: tir.BlockOp) -> bool:
    """Whether the points of the block can be evaluated at once."""
    return all(_is_batchable(inner, op) for inner in op.body.block.ops)


def _is_batchable(inner: Operation, block: tir.BlockOp) -> bool:
    match inner:
        case tir.NestOp():
            reached = [
                value
                for values, accesses in (
                    (inner.ins, inner.in_accesses),
                    (inner.outs, inner.out_accesses),
                )
                for value, access in zip(values, accesses, strict=True)
                if access.is_indirect
            ]
            return not any(
                _is_local(value, block) for value in (*reached, *inner.bounds)
            ) and all(_is_index(value, block) for value in inner.symbols)
        case tir.AllocOp():
            return not inner.dynamic_sizes and inner.pool is None
        case tir.BlockOp():
            return not inner.bounds and is_batchable(inner)
        case tir.YieldOp():
            return True
        case _:
            return type(inner) in _ARITHMETIC


def _is_local(value: SSAValue, block: tir.BlockOp) -> bool:
    """Whether a value is computed in the block, or in one around it."""
    owner = value.owner
    at = owner if isinstance(owner, Operation) else owner.parent_op()
    while at is not None:
        if at is block or isinstance(at, tir.BlockOp):
            return True
        at = at.parent_op()
    return False


def _is_index(value: SSAValue, block: tir.BlockOp) -> bool:
    """Whether a value is an index of a block, or does not depend on one."""
    return (
        value in block.indices
        or not _is_local(value, block)
        or (
            not isinstance(value.owner, Operation)
            and isinstance(value.owner.parent_op(), tir.BlockOp)
        )
    )


def _buffer_size(op: tir.BlockOp) -> int:
    return sum(
        math.prod(inner.result.type.get_shape())
        for inner in op.walk()
        if isinstance(inner, tir.AllocOp)
    )
