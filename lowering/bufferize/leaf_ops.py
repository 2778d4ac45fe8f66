"""
Which storage ops without regions read, write and share.
"""

from xdsl.dialects import arith, func, scf, tensor
from xdsl.ir import Operation, SSAValue

from transom.dialects import graph, tir
from transom.lowering.bufferize.program import Builder, Home
from transom.lowering.bufferize.types import is_tensor
from transom.passes.memory.sizes import SizeAnalysis, kept_axes

VIEWS = (
    tensor.CastOp,
    tensor.CollapseShapeOp,
    tensor.ExpandShapeOp,
    tensor.ExtractSliceOp,
    tensor.ReshapeOp,
)
"""Ops whose result is memory of their first operand."""

CONSTANTS = (arith.ConstantOp, graph.ConstantOp, graph.WeightRefOp)


def visit_constant(builder: Builder, op: Operation, at: int) -> int:
    (result,) = op.results
    if is_tensor(result.type):
        builder.define(result, op, constant=True)
    return at


def visit_empty(builder: Builder, op: Operation, at: int) -> int:
    (result,) = op.results
    if not _is_read(result):
        builder.program.homes[result] = Home(None)
        return at
    return builder.storage.point((at,), writes=[builder.define(result, op)])


def visit_filled(builder: Builder, op: Operation, at: int) -> int:
    """An op that makes a tensor of scalars; none if they are the sizes of a reshape."""
    (result,) = op.results
    if isinstance(op, tensor.FromElementsOp) and all(
        isinstance(use.operation, tensor.ReshapeOp) and use.index == 1
        for use in result.uses
    ):
        builder.program.homes[result] = Home(None)
        return at
    variable = builder.define(result, op)
    builder.mention(variable, op)
    return builder.storage.point((at,), writes=[variable])


def visit_view(builder: Builder, op: Operation, at: int) -> int:
    source, result = op.operands[0], op.results[0]
    home = builder.home(source, op)
    if isinstance(op, tensor.ReshapeOp):
        builder.home(op.shape, op)
    if (
        isinstance(op, tensor.ExtractSliceOp)
        and home.variable is not None
        and not is_whole(builder.sizes, op)
    ):
        if not _wants_rows(result):
            builder.program.homes[result] = Home(home.variable, whole=False)
            return at
        builder.program.copied.add(op)
        variable = builder.define(result, op)
        builder.mention(variable, op)
        return builder.storage.point((at,), reads=[home.variable], writes=[variable])
    builder.program.homes[result] = home
    return at


def is_whole(sizes: SizeAnalysis, op: tensor.ExtractSliceOp) -> bool:
    """Whether a slice is as large as what it is taken from."""
    kept = kept_axes(op)
    taken = dict(zip(kept, sizes.shape(op.result), strict=True))
    one = sizes.table.constant(1)
    return all(
        taken.get(axis, one) == size for axis, size in enumerate(sizes.shape(op.source))
    )


def visit_insert(builder: Builder, op: Operation, at: int) -> int:
    """Of a slice or an element: the destination, with some of it written."""
    source, dest, result = op.operands[0], op.operands[1], op.results[0]
    variable = builder.define(result, op)
    reads = builder.read((source,), op)
    defined = builder.program.homes[dest].variable is not None
    at = builder.move(op, [(variable, dest)], at)
    reads += [variable] if defined else []
    return builder.storage.point((at,), reads=reads, writes=[variable])


def visit_extract(builder: Builder, op: Operation, at: int) -> int:
    return builder.storage.point((at,), reads=builder.read(op.operands[:1], op))


def visit_dim(builder: Builder, op: Operation, at: int) -> int:
    builder.home(op.operands[0], op)
    return at


def visit_copy(builder: Builder, op: Operation, at: int) -> int:
    """A copy that was asked for: between memories, or to own the value."""
    (result,) = op.results
    builder.sizes.set_shape(result, builder.sizes.shape(op.operands[0]))
    reads = builder.read(op.operands[:1], op)
    variable = builder.define(result, op)
    builder.mention(variable, op)
    return builder.storage.point((at,), reads=reads, writes=[variable])


def visit_kernel_call(builder: Builder, op: Operation, at: int) -> int:
    assert isinstance(op, tir.CallOp)
    kernel = op.find_callee()
    reads = builder.read(op.ins, op)
    results = iter(op.results)
    written: list[int] = []
    moved: list[tuple[int, SSAValue]] = []
    for position, out in enumerate(op.outs, len(op.ins)):
        if not is_tensor(out.type):
            continue
        variable = builder.define(next(results), op)
        builder.mention(variable, op)
        written.append(variable)
        effect = (
            tir.Effect.READ_WRITE
            if kernel is None
            else kernel.argument_effects[position]
        )
        home = builder.home(out, op)
        if home.variable is None:
            continue
        if effect is tir.Effect.READ_WRITE:
            moved.append((variable, out))
        elif home.whole:
            builder.prefer(variable, home.variable, weight=1)
    at = builder.move(op, moved, at)
    reads += [variable for variable, _ in moved]
    return builder.storage.point((at,), reads=reads, writes=written)


def _is_read(value: SSAValue) -> bool:
    """Whether what is undefined is read all the same, and so needs memory."""
    for use in value.uses:
        match use.operation:
            case tir.CallOp() as call:
                if use.index < len(call.ins):
                    return True
            case tensor.InsertOp() | tensor.InsertSliceOp():
                if use.index != 1:
                    return True
            case tensor.DimOp() | scf.YieldOp() | scf.ConditionOp() | func.ReturnOp():
                pass
            case scf.ForOp() | scf.WhileOp():
                pass
            case operation if isinstance(operation, VIEWS):
                if use.index or _is_read(operation.results[0]):
                    return True
            case _:
                return True
    return False


def _wants_rows(value: SSAValue) -> bool:
    """Whether a user of a slice needs its elements one after the other."""
    for use in value.uses:
        match use.operation:
            case tir.CallOp() as call:
                if use.index < len(call.ins):
                    return True
            case tensor.CastOp() as cast:
                if _wants_rows(cast.dest):
                    return True
            case func.CallOp() | tensor.CollapseShapeOp() | tensor.ExpandShapeOp():
                return True
            case tensor.ReshapeOp():
                return True
            case _:
                pass
    return False
