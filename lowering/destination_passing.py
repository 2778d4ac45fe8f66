"""
Kernels that write their results into arguments, of functions that return memrefs.
"""

from typing import cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, Operation
from xdsl.rewriter import Rewriter

from transom.dialects import graph, tir
from transom.dialects.tir import Effect
from transom.dialects.tir.canonicalization import constant_index
from transom.dialects.tir.types import as_shaped

ArgumentSize = tuple[int, int]
"""The number of an argument, and a dimension of it."""


def equal_sizes(func: FuncOp) -> dict[ArgumentSize, ArgumentSize]:
    """For each size of an argument that has a name the first one of that name."""
    first: dict[str, ArgumentSize] = {}
    return {
        (argument.index, axis): first.setdefault(symbol.name, (argument.index, axis))
        for argument in func.body.block.args
        if as_shaped(argument.type) is not None
        for axis, symbol in enumerate(
            graph.dim_symbols(cast("TensorType[Attribute]", argument.type))
        )
        if symbol is not None
    }


def unify_sizes(func: FuncOp, equal: dict[ArgumentSize, ArgumentSize]) -> None:
    """Ask the first of the arguments with equal sizes: memrefs do not name them."""
    args = func.body.block.args
    for op in [op for op in func.walk() if isinstance(op, memref.DimOp)]:
        axis = constant_index(op.index)
        if not isinstance(op.source, BlockArgument) or axis is None:
            continue
        number, first = equal.get((op.source.index, axis), (op.source.index, axis))
        if op.source is not args[number]:
            index = arith.ConstantOp(IntegerAttr(first, IndexType()))
            Rewriter.replace_op(op, (index, memref.DimOp(args[number], index.result)))


def to_destination_passing(func: FuncOp) -> tir.FuncOp:
    """
    The kernel of a function that returns memrefs: it writes them into arguments.

    A buffer that the function allocates becomes the argument itself; what it returns
    otherwise (an input, or one buffer twice) is copied.
    """
    block = func.body.block
    last = block.last_op
    assert isinstance(last, ReturnOp), "the body of a function ends with it"
    effects = [Effect.READ] * len(block.args)
    inputs = list(block.args)
    copies: list[Operation] = []
    for number in range(len(last.operands)):
        returned = last.operands[number]  # an output, if it is returned twice
        type = cast("MemRefType", returned.type)
        out = block.insert_arg(type, len(block.args))
        effects.append(Effect.WRITE)
        owner = returned.owner
        if isinstance(owner, tir.AllocOp):
            returned.replace_all_uses_with(out)
            owner.detach()
            owner.erase()
        else:
            copies.append(tir.CopyOp(returned, out))
    block.insert_ops_before(copies, last)
    block.insert_op_before(tir.ReturnOp(), last)
    last.detach()
    last.erase()
    body = func.detach_region(func.body)
    assert len(effects) == len(block.args) >= len(inputs), "inputs, then outputs"
    return tir.FuncOp(
        func.sym_name.data,
        [(e, a.type) for e, a in zip(effects, block.args, strict=True)],
        body,
    )


def remove_dead_buffers(func: Operation) -> None:
    """Remove buffers that only their own nest mentions: nobody reads them."""
    for alloc in [op for op in func.walk() if isinstance(op, tir.AllocOp)]:
        users = [use.operation for use in alloc.result.uses]
        if all(
            isinstance(u, tir.NestOp) and list(u.outs) == [alloc.result] for u in users
        ):
            for op in (*users, alloc):
                op.detach()
                op.erase()
