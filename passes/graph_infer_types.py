"""
Infer the types of values from those of function arguments.

Importers leave sizes open, and the user of a model gives some of them. The pass carries
what the arguments say through all ops, `scf` regions, function results and calls. What
a type says already is kept; an op whose operands contradict its result is an error. Ops
of other dialects that want the type they had get it by `tensor.cast`.

```mlir
func.func @f(%x: tensor<4x3xf32>) -> tensor<?x3xf32> {
  %y = graph.relu %x : tensor<4x3xf32> -> tensor<?x3xf32>
  func.return %y : tensor<?x3xf32>
}
==>
func.func @f(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %y = graph.relu %x : tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}
```
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects import func, scf, tensor
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.dialects.graph.desc import AnyTensor
from transom.dialects.graph.refinement import common, is_tensor_of_sizes, refined
from transom.passes.function_pass import functions_of

FLEXIBLE_OPS = (
    graph.GraphOp,
    graph.GroupOp,
    graph.YieldOp,
    scf.IfOp,
    scf.ForOp,
    scf.WhileOp,
    scf.ConditionOp,
    scf.YieldOp,
    func.ReturnOp,
    tensor.DimOp,
    tensor.CastOp,
)
"""Ops that this pass retypes, or that take a tensor of any sizes."""


@dataclass(frozen=True)
class GraphInferTypesPass(ModulePass):
    name = "graph-infer-types"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pending = list(functions_of(op))
        while pending:
            function = pending.pop(0)
            if not infer_function(function):
                continue
            for call in calls_of(op, function.sym_name.data):
                retype_results(call, function.function_type.outputs.data)
                caller = enclosing_function(call)
                if caller is not None and caller not in pending:
                    pending.append(caller)


def calls_of(module: ModuleOp, name: str) -> list[func.CallOp]:
    """The calls of a function of the module."""
    return [
        op
        for op in module.walk()
        if isinstance(op, func.CallOp) and op.callee.string_value() == name
    ]


def enclosing_function(op: Operation) -> func.FuncOp | None:
    """The function that an op is in."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, func.FuncOp):
        parent = parent.parent_op()
    return parent


def infer_function(function: func.FuncOp) -> bool:
    """Infer the types in a function; whether those of its results changed."""
    for block in function.body.blocks:
        infer_block(block)
    returns = [
        block.last_op
        for block in function.body.blocks
        if isinstance(block.last_op, func.ReturnOp)
    ]
    outputs = function.function_type.outputs.data
    results = common_types([op.operand_types for op in returns], outputs)
    for op in returns:
        cast_operands(op, results)
    inputs = tuple(argument.type for argument in function.body.blocks[0].args)
    function.function_type = FunctionType.from_lists(inputs, results)
    return tuple(results) != outputs


def infer_block(block: Block) -> None:
    """Infer the types of the results of all ops of a block, in order."""
    for op in tuple(block.ops):
        if isinstance(op, graph.GraphOp):
            infer_op(op)
        elif isinstance(op, graph.GroupOp):
            infer_group(op)
        elif isinstance(op, scf.ForOp):
            infer_for(op)
        elif isinstance(op, scf.WhileOp):
            infer_while(op)
        elif isinstance(op, tensor.CastOp):
            infer_cast(op)
        elif op.regions:
            infer_regions(op)


def infer_op(op: graph.GraphOp) -> None:
    if isinstance(op, graph.OnDeviceOp):
        retype_results(op, op.operand_types)
        return
    if not all(map(is_tensor_of_sizes, (*op.operand_types, *op.result_types))):
        return
    try:
        types = graph.infer_result_types(op)
    except VerifyException as e:
        raise OpError(op, str(e)) from e
    refine_results(op, types[: len(op.results)])


def infer_cast(op: tensor.CastOp) -> None:
    refine_results(op, op.operand_types)
    if op.dest.type == op.source.type:
        op.dest.replace_all_uses_with(op.source)
        Rewriter.erase_op(op)


def infer_group(op: graph.GroupOp) -> None:
    block = op.body.block
    retype_arguments(block, op.operand_types)
    infer_block(block)
    retype_results(op, terminator(block).operand_types)


def infer_regions(op: Operation) -> None:
    """An op such as `scf.if` whose regions each give its results."""
    ends: list[Operation] = []
    for region in op.regions:
        for block in region.blocks:
            infer_block(block)
            if isinstance(block.last_op, scf.YieldOp):
                ends.append(block.last_op)
    if not ends or not op.results:
        return
    types = common_types([end.operand_types for end in ends], op.result_types)
    for end in ends:
        cast_operands(end, types)
    retype_results(op, types)


def infer_for(op: scf.ForOp) -> None:
    """The carried values have the most precise type that holds in every iteration."""
    types = tuple(value.type for value in op.iter_args)
    while True:
        trial = op.body.clone()
        yielded = carry(trial.block, types)
        trial.drop_all_references()
        wider = common_types([types, yielded], types)
        if wider == types:
            break
        types = wider
    first = len(op.operands) - len(types)
    cast_operands(op, types, first)
    carry(op.body.block, types)
    cast_operands(terminator(op.body.block), types)
    retype_results(op, types)


def carry(block: Block, types: Sequence[Attribute]) -> tuple[Attribute, ...]:
    """Infer a loop body with carried values of these types; the types it yields."""
    first = len(block.args) - len(types)
    retype_arguments(block, (*(a.type for a in block.args[:first]), *types))
    infer_block(block)
    return tuple(terminator(block).operand_types)


def infer_while(op: scf.WhileOp) -> None:
    """As `infer_for`, through the region of the condition and that of the body."""
    types = tuple(value.type for value in op.arguments)
    while True:
        trials = (op.before_region.clone(), op.after_region.clone())
        yielded, _ = iterate(*trials, types)
        for trial in trials:
            trial.drop_all_references()
        wider = common_types([types, yielded], types)
        if wider == types:
            break
        types = wider
    cast_operands(op, types)
    _, passed = iterate(op.before_region, op.after_region, types)
    cast_operands(terminator(op.after_region.block), types)
    retype_results(op, passed)


def iterate(
    before: Region, after: Region, types: Sequence[Attribute]
) -> tuple[tuple[Attribute, ...], tuple[Attribute, ...]]:
    """The types that the body of a `scf.while` yields, and those that it is passed."""
    retype_arguments(before.block, types)
    infer_block(before.block)
    passed = tuple(terminator(before.block).operand_types[1:])
    retype_arguments(after.block, passed)
    infer_block(after.block)
    return tuple(terminator(after.block).operand_types), passed


def terminator(block: Block) -> Operation:
    """The last op of a block that has one."""
    assert block.last_op is not None, "the verifier asked for a terminator"
    return block.last_op


def common_types(
    choices: Sequence[Sequence[Attribute]], declared: Sequence[Attribute]
) -> tuple[Attribute, ...]:
    """
    What each value can be that comes from one of several places, or from none, where it
    stays what it is declared to be.
    """
    if not choices:
        return tuple(declared)
    result = list(choices[0])
    for types in choices[1:]:
        for index, (a, b) in enumerate(zip(result, types, strict=True)):
            if a == b:
                continue
            both = common(cast(AnyTensor, a), cast(AnyTensor, b))
            assert both is not None, "they were equal before sizes were refined"
            result[index] = both
    return tuple(result)


def refine_results(op: Operation, types: Sequence[Attribute]) -> None:
    """Give results the types that they have and the inferred ones together."""
    new: list[Attribute] = []
    for result, inferred in zip(op.results, types, strict=True):
        declared = result.type
        if not (is_tensor_of_sizes(declared) and is_tensor_of_sizes(inferred)):
            new.append(declared)
            continue
        type = refined(cast(AnyTensor, declared), cast(AnyTensor, inferred))
        if type is None:
            raise OpError(
                op, f"expected a result of type '{inferred}', but got '{declared}'"
            )
        new.append(type)
    retype_results(op, new)


def retype_results(op: Operation, types: Sequence[Attribute]) -> None:
    for result, type in zip(op.results, types, strict=True):
        retype(result, type)


def retype_arguments(block: Block, types: Sequence[Attribute]) -> None:
    for argument, type in zip(block.args, types, strict=True):
        retype(argument, type)


def retype(value: SSAValue, type: Attribute) -> None:
    """Give a value another type; uses that are not flexible see the one it had."""
    old = value.type
    if type == old:
        return
    value = Rewriter.replace_value_with_new_type(value, type)
    for use in tuple(value.uses):
        if not isinstance(use.operation, FLEXIBLE_OPS):
            cast_operand(use.operation, use.index, old)


def cast_operands(op: Operation, types: Sequence[Attribute], first: int = 0) -> None:
    """Cast operands from the first on to these types, where they have others."""
    for index, type in enumerate(types, first):
        if op.operands[index].type != type:
            cast_operand(op, index, type)


def cast_operand(op: Operation, index: int, type: Attribute) -> None:
    block = op.parent
    assert block is not None, "the op is in a function"
    conversion = tensor.CastOp(op.operands[index], cast(AnyTensor, type))
    conversion.location = op.location
    block.insert_op_before(conversion, op)
    op.operands[index] = conversion.results[0]
