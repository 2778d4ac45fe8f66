"""
Which storage calls, branches, loops and returns read, write and share.
"""

from collections.abc import Sequence

from xdsl.dialects import func, scf
from xdsl.ir import Operation, SSAValue

from transom.dialects.diagnostics import Note, OpError
from transom.lowering.bufferize.program import Builder, Variable
from transom.lowering.bufferize.types import is_tensor, memref_type, tensor_type
from transom.passes.memory.index_expressions import Expression, Opaque, Size
from transom.passes.memory.sizes import Shape


def visit_call(builder: Builder, op: Operation, at: int) -> int:
    assert isinstance(op, func.CallOp)
    reads = builder.read(op.arguments, op)
    written: list[int] = []
    shapes = iter(_called_shapes(builder, op))
    for result in op.results:
        if is_tensor(result.type):
            builder.sizes.set_shape(result, next(shapes))
            variable = builder.define(result, op)
            builder.mention(variable, op)
            written.append(variable)
    return builder.storage.point((at,), reads=reads, writes=written)


def _called_shapes(builder: Builder, op: func.CallOp) -> list[Shape]:
    """The sizes of the tensors that a function gives, from those it is given."""
    callee = builder.callees.find(op)
    tensors = [r for r in op.results if is_tensor(r.type)]
    done = builder.callees.done.get(callee.sym_name.data)
    if done is None:
        for result in tensors:
            if not tensor_type(result.type).has_static_shape():
                raise OpError(
                    op,
                    "expected results of static shape from a function that is "
                    f"declared only, but got '{result.type}'",
                )
        return [builder.sizes.shape(result) for result in tensors]
    given: dict[SSAValue, SSAValue] = dict(
        zip(done.func.args, op.arguments, strict=True)
    )
    table = builder.sizes.table

    def replace(atom: object) -> Expression | None:
        if isinstance(atom, Size) and atom.value in given:
            return builder.sizes.shape(given[atom.value])[atom.axis]
        if isinstance(atom, Opaque) and atom.value in given:
            return builder.sizes.value(given[atom.value])
        if isinstance(atom, Size | Opaque):
            raise OpError(
                op,
                "expected results whose sizes follow from those of the arguments, "
                f"but those of '@{callee.sym_name.data}' depend on data",
            )
        return None

    return [
        tuple(table.substitute(size, replace) for size in shape)
        for shape in done.results
    ]


def visit_if(builder: Builder, op: Operation, at: int) -> int:
    assert isinstance(op, scf.IfOp)
    start = builder.storage.point((at,))
    ends: list[tuple[Operation, int]] = []
    for region in op.regions:
        if region.blocks.first is None:
            ends.append((op, start))
            continue
        block = region.block
        terminator = block.last_op
        assert terminator is not None, "the verifier wants a yield"
        ends.append((terminator, builder.visit_ops(block, start)))
    yields = [end for end, _ in ends]
    targets: list[tuple[int, int]] = []
    for position, result in enumerate(op.results):
        if is_tensor(result.type):
            builder.sizes.set_shape(
                result, _joined_shape(builder, op, position, yields)
            )
            variable = builder.define(result, op)
            builder.mention(variable, op)
            targets.append((variable, position))
    joined = [
        builder.move(end, [(v, end.operands[i]) for v, i in targets], point)
        if end is not op
        else point
        for end, point in ends
    ]
    return builder.storage.point(joined)


def _joined_shape(
    builder: Builder, op: Operation, position: int, yields: Sequence[Operation]
) -> Shape:
    """The sizes of a result of a branch, equal in both arms."""
    left, right = (builder.sizes.shape(y.operands[position]) for y in yields)
    for axis, (a, b) in enumerate(zip(left, right, strict=True)):
        if a != b:
            raise OpError(
                op,
                "expected arms that yield tensors of equal sizes, but dimension "
                f"{axis} of result {position} may differ",
                *(Note(y, "yielded here") for y in yields),
            )
    return left


def visit_for(builder: Builder, op: Operation, at: int) -> int:
    assert isinstance(op, scf.ForOp)
    carried = _carry(builder, op, op.iter_args, op.body.block.args[1:])
    for (_, position), result in zip(
        carried,
        (r for r in op.results if is_tensor(r.type)),
        strict=True,
    ):
        builder.share(result, op.body.block.args[1 + position])
    at = builder.move(op, [(v, op.iter_args[i]) for v, i in carried], at)
    head = builder.storage.point((at,))
    builder.depth += 1
    end = builder.visit_ops(op.body.block, head)
    terminator = op.body.block.last_op
    assert terminator is not None, "the verifier wants a yield"
    _check_carried(builder, terminator, carried, terminator.operands)
    pairs = [(v, terminator.operands[i]) for v, i in carried]
    end = builder.move(terminator, pairs, end)
    builder.depth -= 1
    builder.storage.graph.connect(end, head)
    return builder.storage.point((head,))


def _carry(
    builder: Builder,
    op: Operation,
    initial: Sequence[SSAValue],
    args: Sequence[SSAValue],
) -> list[tuple[int, int]]:
    """Variables of the tensors that a loop carries, with their positions."""
    carried: list[tuple[int, int]] = []
    for position, (value, arg) in enumerate(zip(initial, args, strict=True)):
        if is_tensor(arg.type):
            builder.sizes.set_shape(arg, builder.sizes.shape(value))
            variable = builder.define(arg, op)
            builder.mention(variable, op)
            carried.append((variable, position))
    return carried


def _check_carried(
    builder: Builder,
    terminator: Operation,
    carried: Sequence[tuple[int, int]],
    values: Sequence[SSAValue],
) -> None:
    """A loop has one buffer for a carried tensor, so its sizes stay."""
    for variable, position in carried:
        before = builder.program.variables[variable].shape
        after = builder.sizes.shape(values[position])
        for axis, (a, b) in enumerate(zip(before, after, strict=True)):
            if a != b:
                raise OpError(
                    terminator,
                    "expected a carried tensor to keep its sizes, but dimension "
                    f"{axis} of operand {position} may change",
                )


def visit_while(builder: Builder, op: Operation, at: int) -> int:
    assert isinstance(op, scf.WhileOp)
    before, after = op.before_region.block, op.after_region.block
    carried = _carry(builder, op, op.arguments, before.args)
    at = builder.move(op, [(v, op.arguments[i]) for v, i in carried], at)
    head = builder.storage.point((at,))
    builder.depth += 1
    end = builder.visit_ops(before, head)
    condition = before.last_op
    if not isinstance(condition, scf.ConditionOp):
        raise OpError(op, "expected a loop whose first region ends in 'scf.condition'")
    passed = _carry(builder, op, condition.args, after.args)
    for _, position in passed:
        builder.share(op.results[position], after.args[position])
    pairs = [(v, condition.args[i]) for v, i in passed]
    end = builder.move(condition, pairs, end)
    split = builder.storage.point((end,))
    end = builder.visit_ops(after, split)
    terminator = after.last_op
    assert terminator is not None, "the verifier wants a yield"
    _check_carried(builder, terminator, carried, terminator.operands)
    pairs = [(v, terminator.operands[i]) for v, i in carried]
    end = builder.move(terminator, pairs, end)
    builder.depth -= 1
    builder.storage.graph.connect(end, head)
    return builder.storage.point((split,))


def visit_return(builder: Builder, op: func.ReturnOp, at: int) -> None:
    pairs: list[tuple[int, SSAValue]] = []
    shapes: list[Shape] = []
    for position, value in enumerate(op.operands):
        if not is_tensor(value.type):
            continue
        variable = builder.storage.variable(fixed=True)
        shape = builder.sizes.shape(value)
        type = memref_type(
            tensor_type(builder.program.func.function_type.outputs.data[position]), op
        )
        builder.program.variables.append(Variable(type, shape, op, result=position))
        pairs.append((variable, value))
        shapes.append(shape)
    at = builder.move(op, pairs, at)
    builder.storage.point((at,), reads=[v for v, _ in pairs])
    builder.program.results = tuple(shapes)
