"""
Outline what one place computes into private functions that carry the place.

Each run of graph ops in a block becomes a function whose `target.for` says where it
runs; the target's hooks own that function from here on. Weights and constants that a
run reads are copied into it. Control flow and the arithmetic of shapes stay in main.

```mlir
func.func @main(%x: …) -> … {               func.func @main(%x: …) -> … {
  %w = graph.weight_ref @w : …                %y = func.call @main_region_0(%x) : …
  %y = graph.fused (%a = %x, %b = %w) …  ==>  func.return %y : …
  func.return %y : …                        }
}                                           func.func private @main_region_0(…) …
```
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import SymbolTable, is_side_effect_free

from transom.dialects import graph
from transom.dialects.symbols import fresh_symbol
from transom.dialects.target import PlaceAttr, place_of, set_place
from transom.passes.function_pass import functions_of

CLONED_OPS = (graph.ConstantOp, graph.WeightRefOp)
"""Ops that cost nothing: every region that reads one has its own."""

GROUPED_OPS = (graph.GraphOp, graph.FusedOp, graph.CompositeOp)
REGION_OPS = (*CLONED_OPS, *GROUPED_OPS, ReturnOp)


def runs_of(block: Block) -> list[list[Operation]]:
    """
    The runs of graph ops of a block, longest first from the top.

    Other pure ops that do not depend on a run are moved in front of it, so that shape
    arithmetic does not cut runs into pieces.
    """
    runs: list[list[Operation]] = []
    run: list[Operation] = []
    for op in tuple(block.ops):
        if isinstance(op, CLONED_OPS):
            continue
        if isinstance(op, GROUPED_OPS):
            run.append(op)
        elif run and _independent(op, run):
            op.detach()
            block.insert_op_before(op, run[0])
        else:
            runs.append(run)
            run = []
    runs.append(run)
    return [run for run in runs if run]


def _independent(op: Operation, run: Sequence[Operation]) -> bool:
    return (
        not op.regions
        and is_side_effect_free(op)
        and not any(operand.owner in run for operand in op.operands)
    )


def outline(run: Sequence[Operation], name: str, place: PlaceAttr) -> FuncOp:
    """
    Move a run of ops of one block into a private function and call that instead.

    Inputs are in the order of first use, results in the order of definition.
    """
    members = set(run)
    inputs: list[SSAValue] = []
    clones: dict[Operation, Operation] = {}
    for operand in _operands(run):
        owner = operand.owner
        if isinstance(owner, CLONED_OPS):
            clones.setdefault(owner, owner.clone())
        elif owner not in members and operand not in inputs:
            inputs.append(operand)
    outputs = [
        result
        for op in run
        for result in op.results
        if any(use.operation not in members for use in result.uses)
    ]
    body = Block(arg_types=[value.type for value in inputs])
    inner: dict[SSAValue, SSAValue] = dict(zip(inputs, body.args, strict=True))
    for argument, value in zip(body.args, inputs, strict=True):
        argument.name_hint = value.name_hint
    for constant, copy in clones.items():
        body.add_op(copy)
        inner[constant.results[0]] = copy.results[0]
    call = CallOp(name, inputs, [value.type for value in outputs])
    call.location = run[0].location
    block = run[0].parent
    assert block is not None, "the ops of a run are in a block"
    block.insert_op_after(call, run[-1])
    for old, new in zip(outputs, call.results, strict=True):
        old.replace_uses_with_if(new, lambda use: use.operation not in members)
        new.name_hint = old.name_hint
    for op in run:
        op.detach()
        op.operands = [inner.get(operand, operand) for operand in op.operands]
        body.add_op(op)
    body.add_op(ReturnOp(*outputs))
    signature = ([v.type for v in inputs], [v.type for v in outputs])
    func = FuncOp(name, signature, Region(body), visibility="private")
    func.location = run[0].location
    set_place(func, place)
    for constant in clones:
        if not constant.results[0].uses:
            constant.detach()
            constant.erase()
    return func


def _operands(ops: Iterable[Operation]) -> Iterable[SSAValue]:
    for op in ops:
        yield from op.operands


@dataclass(frozen=True)
class GraphOutlineRegionsPass(ModulePass):
    name = "graph-outline-regions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in tuple(functions_of(op)):
            place = place_of(func)
            if place is None or is_region(func):
                continue
            self._outline_in(op, func, place)

    def _outline_in(self, module: ModuleOp, func: FuncOp, place: PlaceAttr) -> None:
        blocks = [
            block
            for inner in func.walk()
            if not isinstance(inner, graph.FusedOp | graph.CompositeOp)
            for region in inner.regions
            for block in region.blocks
        ]
        count = 0
        for block in blocks:
            for run in runs_of(block):
                name = fresh_symbol(module, f"{func.sym_name.data}_region_{count}")
                count += 1
                region = outline(run, name, place)
                SymbolTable.insert_or_update(module, region)


def is_region(func: FuncOp) -> bool:
    """
    Whether a function is one that a target's hooks own: private, with a place, and
    nothing but graph ops in one block.
    """
    return (
        func.sym_visibility == StringAttr("private")
        and place_of(func) is not None
        and len(func.body.blocks) == 1
        and all(isinstance(op, REGION_OPS) for op in func.body.block.ops)
    )
