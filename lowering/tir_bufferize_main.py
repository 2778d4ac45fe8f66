"""
Turn the tensors of main into memrefs.

Arguments stay read-only, results are written to memory that the caller passes behind
them. A value that is returned is computed there directly, loops carry tensors in place,
the arms of a branch write to one buffer, and views cost nothing, wherever no later read
sees a difference; elsewhere values are copied.

```mlir
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %d = tensor.empty() : tensor<4xf32>
  %y = tir.call @k(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  func.return %y : tensor<4xf32>
}
==>
func.func @main(%x: memref<4xf32>, %y: memref<4xf32> {tir.result = 0 : i64})
    attributes {executor.signature = …} {
  tir.call @k(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  func.return
}
```

Weights are read through `executor.constant`; other constants become weights. An entry
checks that sizes of one name are equal and within their bounds. If sizes of results are
not named like those of inputs, the function `@main.shapes` computes them. Graph
functions that were kept after their lowering are dropped, and so are weights that only
they read.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    ModuleOp,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, Region
from xdsl.passes import ModulePass

from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.dialects.executor import BOUNDED, SIGNATURE, SignatureAttr
from transom.dialects.symbols import dead_symbols
from transom.dialects.target.verification import LOWERED_TO
from transom.dialects.walking import walk_ops
from transom.lowering.bufferize.bounded_results import data_results, hand_over_bounded
from transom.lowering.bufferize.build import build_program
from transom.lowering.bufferize.constants import Constants
from transom.lowering.bufferize.emitters import EMITTERS
from transom.lowering.bufferize.entry import (
    argument_attributes,
    emit_checks,
    shape_function,
)
from transom.lowering.bufferize.placement import Placement
from transom.lowering.bufferize.positions import Positions
from transom.lowering.bufferize.program import Callees, FunctionProgram
from transom.lowering.bufferize.rewrite import Rewriter, erase_unused
from transom.lowering.bufferize.signatures import is_entry, signature_of
from transom.lowering.bufferize.storage import Assignment
from transom.lowering.bufferize.types import is_tensor, memref_type, tensor_type
from transom.passes.memory.index_expressions import ExpressionTable
from transom.passes.memory.sizes import SizeAnalysis


@dataclass(frozen=True)
class TirBufferizeMainPass(ModulePass):
    name = "tir-bufferize-main"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kept = [f for f in _functions(op) if LOWERED_TO in f.attributes]
        functions = [f for f in _functions(op) if f not in kept and _has_tensors(f)]
        _check_dropped(op, {f.sym_name.data for f in kept})
        _check_recursion(op)
        callees = Callees(op)
        constants = Constants(op)
        table = ExpressionTable()
        replaced: dict[FuncOp, list[FuncOp]] = {}
        for function in _callees_first(functions, callees):
            if function.is_declaration:
                replaced[function] = [_declaration(function)]
                continue
            signature = signature_of(function) if is_entry(function) else None
            program = build_program(function, callees, SizeAnalysis(table))
            bounded = data_results(program) if signature is not None else []
            if bounded := hand_over_bounded(program, bounded):
                program = build_program(function, callees, SizeAnalysis(table))
            callees.done[function.sym_name.data] = program
            new = _bufferized(program, callees, constants, signature)
            if bounded:
                new[0].attributes[BOUNDED] = DenseArrayBase.from_list(i64, bounded)
            replaced[function] = new
        _forget(kept, op)
        for function, new in replaced.items():
            block = function.parent
            assert block is not None, "the function is in the module"
            block.insert_ops_before(new, function)
            function.detach()
            function.erase()
        constants.insert()


def _forget(kept: list[FuncOp], module: ModuleOp) -> None:
    """Remove functions, and the weights that nobody else reads."""
    read = {
        op.weight.string_value()
        for function in kept
        for op in function.walk()
        if isinstance(op, graph.WeightRefOp)
    }
    for function in kept:
        function.detach()
        function.erase()
    for symbol in dead_symbols(module) if read else ():
        if isinstance(symbol, graph.WeightOp) and symbol.sym_name.data in read:
            symbol.detach()
            symbol.erase()


def _functions(module: ModuleOp) -> Iterator[FuncOp]:
    return (f for f in module.body.ops if isinstance(f, FuncOp))


def _has_tensors(function: FuncOp) -> bool:
    """Whether it takes or gives some, or computes with some in between."""
    type = function.function_type
    return any(is_tensor(t) for t in (*type.inputs, *type.outputs)) or any(
        is_tensor(result.type) for op in function.walk() for result in op.results
    )


def _check_dropped(module: ModuleOp, names: set[str]) -> None:
    """What was lowered is not called any more."""
    for op in walk_ops(module) if names else ():
        if isinstance(op, CallOp) and (name := op.callee.string_value()) in names:
            raise OpError(
                op, f"expected no call of '@{name}', as it has been lowered to kernels"
            )


def _check_recursion(module: ModuleOp) -> None:
    """No function calls itself: its stack and its time would have no bound."""
    calls = {
        function.sym_name.data: [op for op in function.walk() if isinstance(op, CallOp)]
        for function in _functions(module)
    }
    done: set[str] = set()
    for name in calls:
        # The calls that lead to a function, each with those that it makes.
        path = {} if name in done else {name: iter(calls[name])}
        while path:
            caller, rest = next(reversed(path.items()))
            call = next(rest, None)
            if call is None:
                done.add(caller)
                del path[caller]
                continue
            callee = call.callee.string_value()
            if callee in path:
                raise OpError(
                    call, f"expected no recursion, but '@{callee}' leads to this call"
                )
            if callee not in done:
                path[callee] = iter(calls.get(callee, ()))


def _callees_first(functions: list[FuncOp], callees: Callees) -> list[FuncOp]:
    """Functions after those that they call."""
    order: list[FuncOp] = []
    seen: set[FuncOp] = set()

    def visit(function: FuncOp) -> None:
        if function in seen:
            return
        seen.add(function)
        for op in function.walk():
            if isinstance(op, CallOp) and (callee := callees.find(op)) in wanted:
                visit(callee)
        order.append(function)

    wanted = set(functions)
    for function in functions:
        visit(function)
    return order


def _bufferized(
    program: FunctionProgram,
    callees: Callees,
    constants: Constants,
    signature: SignatureAttr | None,
) -> list[FuncOp]:
    """
    The function on memrefs, and the function of its results' sizes if needed;
    `signature` is that of an entry.
    """
    function = program.func
    placement = Placement(program, Positions(function), Assignment(program.storage))
    inputs, outputs = _types(function)
    block = Block(arg_types=inputs)
    rewriter = Rewriter(program, placement, callees, constants, EMITTERS, block)
    _give_arguments(rewriter)
    new = FuncOp(
        function.sym_name.data,
        (inputs, outputs),
        Region(block),
        function.sym_visibility,
        arg_attrs=argument_attributes(function),
        res_attrs=_scalar_attributes(function),
    )
    new.location = function.location
    new.attributes = dict(function.attributes)
    shapes: list[FuncOp] = []
    if signature is not None:
        new.attributes[SIGNATURE] = signature
        if (computed := shape_function(program)) is not None:
            shapes.append(computed)
    emit_checks(rewriter)
    for op in function.body.block.ops:
        rewriter.visit(op)
    erase_unused(block)
    return [new, *shapes]


def _give_arguments(rewriter: Rewriter) -> None:
    """Arguments, then the memory of results, are the arguments of the new function."""
    program = rewriter.program
    results = iter(rewriter.block.args)
    for old, new in zip(program.func.args, results, strict=False):
        new.name_hint, new.location = old.name_hint, old.location
        home = program.homes.get(old)
        if home is None or home.variable is None:
            rewriter.map_values((old,), (new,))
        else:
            rewriter.give(home.variable, new)
    for number, variable in enumerate(program.variables):
        if variable.result is not None:
            rewriter.give(number, next(results))


def _types(function: FuncOp) -> tuple[list[Attribute], list[Attribute]]:
    """Arguments, with results that are tensors at their end; results that are not."""
    inputs, outputs = function.function_type.inputs, function.function_type.outputs
    return (
        [_memref(t, function) for t in inputs]
        + [_memref(t, function) for t in outputs if is_tensor(t)],
        [t for t in outputs if not is_tensor(t)],
    )


def _memref(type: Attribute, function: FuncOp) -> Attribute:
    return memref_type(tensor_type(type), function) if is_tensor(type) else type


def _scalar_attributes(function: FuncOp) -> ArrayAttr[DictionaryAttr] | None:
    """The attributes of the results that stay."""
    if function.res_attrs is None:
        return None
    outputs = zip(function.res_attrs, function.function_type.outputs, strict=True)
    staying = [attrs for attrs, type in outputs if not is_tensor(type)]
    # As the text of a function is read: no list rather than an empty one.
    return ArrayAttr(staying) if staying else None


def _declaration(function: FuncOp) -> FuncOp:
    """A function without body; xDSL does not print the attributes of its arguments."""
    new = FuncOp(
        function.sym_name.data, _types(function), Region(), function.sym_visibility
    )
    new.location = function.location
    new.attributes = dict(function.attributes)
    return new
