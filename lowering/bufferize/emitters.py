"""
What replaces each op on tensors.
"""

from collections.abc import Mapping

from xdsl.dialects import arith, func, memref, scf, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from transom.dialects import executor, graph, tir
from transom.dialects.diagnostics import OpError
from transom.lowering.bufferize.leaf_ops import is_whole
from transom.lowering.bufferize.rewrite import Emitter, Rewriter, new_region, scalars
from transom.lowering.bufferize.types import is_tensor, memref_type, tensor_type


def emit_constant(rewriter: Rewriter, op: Operation) -> None:
    (result,) = op.results
    if not is_tensor(result.type):
        return rewriter.copy_op(op)
    if isinstance(op, graph.WeightRefOp):
        name = op.weight.string_value()
    else:
        assert isinstance(op, arith.ConstantOp | graph.ConstantOp)
        value = op.value
        if not isinstance(value, DenseIntOrFPElementsAttr):
            raise OpError(op, f"expected a dense constant, but got '{value}'")
        name = rewriter.constants.weight(value, op)
    home = rewriter.program.homes[result]
    assert home.variable is not None, "constants are stored"
    type = rewriter.program.variables[home.variable].type
    constant = executor.ConstantOp(name, type)
    rewriter.emit(constant)
    rewriter.give(home.variable, constant.result)


def emit_nothing(rewriter: Rewriter, op: Operation) -> None:
    """What is undefined is memory that nobody has written, or none at all."""


def emit_view(rewriter: Rewriter, op: Operation) -> None:
    source, result = op.operands[0], op.results[0]
    if rewriter.program.homes[source].variable is None:
        return
    memory = rewriter.value(source)
    shape = tensor_type(result.type).get_shape()
    views = rewriter.views
    match op:
        case tensor.CastOp():
            view = views.cast(memory, shape)
        case tensor.CollapseShapeOp():
            view = views.collapse(memory, op.reassociation, shape)
        case tensor.ExpandShapeOp():
            sizes = [rewriter.value(v) for v in op.dynamic_output_shape]
            view = views.expand(memory, op.reassociation, shape, sizes)
        case tensor.ReshapeOp():
            view = views.reshape(memory, shape, reshaped_sizes(rewriter, op))
        case tensor.ExtractSliceOp():
            return emit_slice(rewriter, op, memory)
        case _:
            raise AssertionError(f"'{op.name}' is no view")
    rewriter.values[result] = view
    view.name_hint = view.name_hint or result.name_hint


def emit_slice(rewriter: Rewriter, op: tensor.ExtractSliceOp, memory: SSAValue) -> None:
    if is_whole(rewriter.sizes, op):
        shape = tensor_type(op.result.type).get_shape()
        if len(shape) == len(op.static_sizes):
            rewriter.values[op.result] = rewriter.views.cast(memory, shape)
            return
        sizes = rewriter.dynamic(rewriter.sizes.shape(op.result), shape)
        rewriter.values[op.result] = rewriter.views.reshape(memory, shape, sizes)
        return
    view = rewriter.views.slice(memory, op, rewriter.value)
    if op in rewriter.program.copied:
        rewriter.emit(tir.CopyOp(view, rewriter.value(op.result)))
    else:
        rewriter.values[op.result] = view


def reshaped_sizes(rewriter: Rewriter, op: tensor.ReshapeOp) -> list[SSAValue]:
    """The sizes that a reshape reads from a tensor, those that its type leaves open."""
    shape = tensor_type(op.result.type).get_shape()
    if isinstance(op.shape.owner, tensor.FromElementsOp):
        return rewriter.dynamic(rewriter.sizes.shape(op.result), shape)
    sizes: list[SSAValue] = []
    for axis, extent in enumerate(shape):
        if extent >= 0:
            continue
        load = memref.LoadOp.get(rewriter.value(op.shape), [rewriter.index(axis)])
        value = rewriter.emit(load)
        assert value is not None, "a load has a result"
        if value.type != rewriter.index(0).type:
            value = rewriter.emit(arith.IndexCastOp(value, rewriter.index(0).type))
            assert value is not None, "a cast has a result"
        sizes.append(value)
    return sizes


def emit_insert(rewriter: Rewriter, op: Operation) -> None:
    memory = rewriter.value(op.results[0])
    source = rewriter.value(op.operands[0])
    if isinstance(op, tensor.InsertOp):
        indices = [rewriter.value(v) for v in op.indices]
        rewriter.emit(memref.StoreOp.get(source, memory, indices))
        return
    assert isinstance(op, tensor.InsertSliceOp)
    view = rewriter.views.slice(memory, op, rewriter.value)
    rewriter.emit(tir.CopyOp(source, view))


def emit_extract(rewriter: Rewriter, op: Operation) -> None:
    assert isinstance(op, tensor.ExtractOp)
    memory = rewriter.value(op.tensor)
    load = memref.LoadOp.get(memory, [rewriter.value(v) for v in op.indices])
    rewriter.emit(load)
    rewriter.map_values(op.results, load.results)


def emit_dim(rewriter: Rewriter, op: Operation) -> None:
    assert isinstance(op, tensor.DimOp)
    axis = rewriter.sizes.value(op.index).constant
    shape = rewriter.sizes.shape(op.source)
    if axis is not None and 0 <= axis < len(shape):
        rewriter.values[op.result] = rewriter.materializer.value(shape[axis])
        return
    if rewriter.program.homes[op.source].variable is None:
        raise OpError(op, "expected a constant dimension of 'tensor.empty'")
    dim = memref.DimOp(rewriter.value(op.source), rewriter.value(op.index))
    rewriter.emit(dim)
    rewriter.map_values(op.results, dim.results)


def emit_from_elements(rewriter: Rewriter, op: Operation) -> None:
    assert isinstance(op, tensor.FromElementsOp)
    if rewriter.program.homes[op.result].variable is None:
        return
    memory = rewriter.value(op.result)
    shape = tensor_type(op.result.type).get_shape()
    for number, element in enumerate(op.elements):
        indices: list[SSAValue] = []
        for extent in reversed(shape):
            indices.insert(0, rewriter.index(number % extent))
            number //= extent
        rewriter.emit(memref.StoreOp.get(rewriter.value(element), memory, indices))


def emit_splat(rewriter: Rewriter, op: Operation) -> None:
    """A loop nest that stores one value everywhere."""
    assert isinstance(op, tensor.SplatOp)
    memory, value = rewriter.value(op.result), rewriter.value(op.input)
    zero, one = rewriter.index(0), rewriter.index(1)
    ends = [rewriter.materializer.value(s) for s in rewriter.sizes.shape(op.result)]
    indices: list[SSAValue] = []
    outer = rewriter.block
    for end in ends:
        body = Block(arg_types=[zero.type])
        rewriter.emit(scf.ForOp(zero, end, one, [], Region(body)))
        if indices:
            rewriter.emit(scf.YieldOp())
        indices.append(body.args[0])
        rewriter.block = body
    rewriter.emit(memref.StoreOp.get(value, memory, indices))
    if indices:
        rewriter.emit(scf.YieldOp())
    rewriter.block = outer


def emit_copy(rewriter: Rewriter, op: Operation) -> None:
    source, target = rewriter.value(op.operands[0]), rewriter.value(op.results[0])
    rewriter.emit(tir.CopyOp(source, target))


def emit_kernel_call(rewriter: Rewriter, op: Operation) -> None:
    assert isinstance(op, tir.CallOp)
    results = iter(op.results)
    outs = [next(results) if is_tensor(v.type) else v for v in op.outs]
    call = tir.CallOp(
        op.callee,
        [rewriter.value(v) for v in op.ins],
        [rewriter.value(v) for v in outs],
        [rewriter.value(v) for v in op.scratch],
    )
    call.attributes = dict(op.attributes)
    rewriter.emit(call)


def emit_call(rewriter: Rewriter, op: Operation) -> None:
    """A call of a host function: tensors that it gives are memory that it is given."""
    assert isinstance(op, func.CallOp)
    callee = rewriter.callees.find(op)
    kept = [r for r in op.results if not is_tensor(r.type)]
    arguments = list(zip(op.arguments, callee.function_type.inputs, strict=True))
    outputs = list(zip(op.results, callee.function_type.outputs, strict=True))
    passed: list[SSAValue] = []
    for value, type in arguments + [pair for pair in outputs if is_tensor(pair[1])]:
        new = rewriter.value(value)
        if is_tensor(type):
            wanted = memref_type(tensor_type(type), op)
            new = rewriter.views.cast(new, wanted.get_shape())
        passed.append(new)
    call = func.CallOp(op.callee, passed, [r.type for r in kept])
    call.attributes = dict(op.attributes)
    rewriter.emit(call)
    rewriter.map_values(kept, call.results)


def emit_branch(rewriter: Rewriter, op: Operation) -> None:
    """A branch or loop: tensors are in memory, so only scalars are carried."""
    kept = [r for r in op.results if not is_tensor(r.type)]
    types = [r.type for r in kept]
    operands = scalars(rewriter, op.operands)
    regions = [new_region(rewriter, region) for region in op.regions]
    new = type(op).create(
        operands=operands,
        properties=dict(op.properties),
        attributes=dict(op.attributes),
        result_types=types,
        regions=regions,
    )
    rewriter.source = op
    rewriter.emit(new)
    rewriter.map_values(kept, new.results)


def emit_terminator(rewriter: Rewriter, op: Operation) -> None:
    new = type(op).create(
        operands=scalars(rewriter, op.operands), attributes=dict(op.attributes)
    )
    rewriter.emit(new)


EMITTERS: Mapping[type[Operation], Emitter] = {
    arith.ConstantOp: emit_constant,
    func.CallOp: emit_call,
    func.ReturnOp: emit_terminator,
    graph.ConstantOp: emit_constant,
    graph.CopyOp: emit_copy,
    graph.WeightRefOp: emit_constant,
    scf.ConditionOp: emit_terminator,
    scf.ForOp: emit_branch,
    scf.IfOp: emit_branch,
    scf.WhileOp: emit_branch,
    scf.YieldOp: emit_terminator,
    tensor.CastOp: emit_view,
    tensor.CollapseShapeOp: emit_view,
    tensor.DimOp: emit_dim,
    tensor.EmptyOp: emit_nothing,
    tensor.ExpandShapeOp: emit_view,
    tensor.ExtractOp: emit_extract,
    tensor.ExtractSliceOp: emit_view,
    tensor.FromElementsOp: emit_from_elements,
    tensor.InsertOp: emit_insert,
    tensor.InsertSliceOp: emit_insert,
    tensor.ReshapeOp: emit_view,
    tensor.SplatOp: emit_splat,
    tir.CallOp: emit_kernel_call,
}
