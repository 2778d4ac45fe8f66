"""
Outline what one place computes into private functions that carry the place.

Each run of graph ops in a block, and each `graph.region`, becomes a function whose
`target.for` says where it runs; the target's hooks own that function from here on.
Weights and constants that a run reads are copied into it, or with `constants=passed`
are arguments. Control flow, the arithmetic
of shapes, copies between places and marks stay in main.

```mlir
func.func @main(%x: …) -> … {               func.func @main(%x: …) -> … {
  %w = graph.weight_ref @w : …                %y = func.call @main_region_0(%x) : …
  %y = graph.fused (%a = %x, %b = %w) …  ==>  func.return %y : …
  func.return %y : …                        }
}                                           func.func private @main_region_0(…) …
```
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import is_side_effect_free

from transom.dialects import graph
from transom.dialects.symbols import fresh_name, symbol_table_of, symbols_of
from transom.dialects.target import LOWERED_TO, PlaceAttr, place_of, set_place
from transom.passes.function_pass import functions_of
from transom.passes.graph_fuse import blocks_outside_kernels
from transom.passes.owned_functions import BORDER_OPS, is_region

CLONED_OPS = (graph.ConstantOp, graph.WeightRefOp)
"""Ops that cost nothing: every region that reads one has its own."""

KERNEL_OPS = (graph.GraphOp, graph.FusedOp, graph.CompositeOp)
"""Ops that a place computes, other than those on borders."""


def is_computed(op: Operation) -> bool:
    """Whether an op is one that a place computes."""
    return isinstance(op, KERNEL_OPS) and op.name not in BORDER_OPS


def runs_of(block: Block) -> list[list[Operation]]:
    """
    The runs of graph ops of a block, longest first from the top; a `graph.region` is a
    run of its own.

    Other pure ops that do not depend on a run are moved in front of it, so that shape
    arithmetic does not cut runs into pieces.
    """
    runs: list[list[Operation]] = []
    run: list[Operation] = []
    members: set[Operation] = set()
    cloned: list[Operation] = []
    for op in tuple(block.ops):
        if isinstance(op, CLONED_OPS):
            cloned.append(op)
        elif is_computed(op):
            run.append(op)
            members.add(op)
        elif run and _is_independent(op, members):
            for moved in (*cloned, op):  # it may read one of these
                moved.detach()
                block.insert_op_before(moved, run[0])
            cloned = []
        else:
            runs.append(run)
            if isinstance(op, graph.RegionOp):
                runs.append([op])
            run, members, cloned = [], set(), []
    runs.append(run)
    return [run for run in runs if run]


def _is_independent(op: Operation, members: set[Operation]) -> bool:
    return (
        not op.regions
        and is_side_effect_free(op)
        and not any(operand.owner in members for operand in op.operands)
    )


def outline(
    run: Sequence[Operation], name: str, place: PlaceAttr, binds: bool = True
) -> FuncOp:
    """
    Move a run of ops of one block into a private function and call that instead.

    Inputs are in the order of first use, results in the order of definition. With
    `binds` constants are copied into the function.
    """
    members = set(run)
    read = dict.fromkeys(v for op in run for v in op.operands if v.owner not in members)
    outputs = [
        result
        for op in run
        for result in op.results
        if any(use.operation not in members for use in result.uses)
    ]
    inputs, body, inner = _border(read, binds)
    block = run[0].parent
    assert block is not None, "the ops of a run are in a block"
    call = CallOp(name, inputs, [value.type for value in outputs])
    call.location = run[0].location
    block.insert_op_after(call, run[-1])
    for old, new in zip(outputs, call.results, strict=True):
        old.replace_uses_with_if(new, lambda use: use.operation not in members)
        new.name_hint = old.name_hint
    for op in run:
        op.detach()
        op.operands = [inner.get(v, v) for v in op.operands]
        body.add_op(op)
    end = ReturnOp(*outputs)
    end.location = call.location
    body.add_op(end)
    remove_unread(read)
    return region_function(call, body, place)


def outline_region(
    region: graph.RegionOp, name: str, place: PlaceAttr, binds: bool = True
) -> FuncOp:
    """
    Make a private function of a `graph.region` and call that instead.

    The inputs are those of the region without its constants, the results the region's.
    """
    read = dict.fromkeys(region.operands)
    inputs, body, inner = _border(read, binds)
    call = CallOp(name, inputs, region.result_types)
    call.location = region.location
    block = region.parent
    assert block is not None, "a region is in a block"
    block.insert_op_before(call, region)
    for old, new in zip(region.results, call.results, strict=True):
        old.replace_all_uses_with(new)
        new.name_hint = old.name_hint
    old_body = region.body.block
    for argument, operand in zip(old_body.args, region.operands, strict=True):
        argument.replace_all_uses_with(inner[operand])
    for op in tuple(old_body.ops):
        op.detach()
        if isinstance(op, graph.YieldOp):
            end = ReturnOp(*op.operands)
            end.location, end.attributes = op.location, dict(op.attributes)
            body.add_op(end)
            op.erase()  # or it would go on reading the results
        else:
            body.add_op(op)
    func = region_function(call, body, place)
    func.attributes |= region.attributes
    region.detach()
    region.erase()
    remove_unread(read)
    return func


def _border(
    read: dict[SSAValue, None], binds: bool
) -> tuple[list[SSAValue], Block, dict[SSAValue, SSAValue]]:
    """
    The inputs of a function that reads some values, its body, which with `binds` has
    copies of the constants among them, and what is in the place of each value.
    """
    bound = [v for v in read if binds and isinstance(v.owner, CLONED_OPS)]
    inputs = [value for value in read if value not in bound]
    body = Block(arg_types=[value.type for value in inputs])
    inner: dict[SSAValue, SSAValue] = dict(zip(inputs, body.args, strict=True))
    for argument, value in zip(body.args, inputs, strict=True):
        argument.name_hint = value.name_hint
    for value in bound:
        assert isinstance(value.owner, Operation), "a constant"
        copy = value.owner.clone()
        body.add_op(copy)
        inner[value] = copy.results[0]
    return inputs, body, inner


def remove_unread(values: dict[SSAValue, None]) -> None:
    """Remove the constants among some values that nothing reads any more."""
    for value in values:
        if isinstance(value.owner, CLONED_OPS) and not value.uses:
            value.owner.detach()
            value.owner.erase()


def region_function(call: CallOp, body: Block, place: PlaceAttr) -> FuncOp:
    """The private function of a place that a call is about."""
    func = FuncOp(
        call.callee.string_value(),
        (call.operand_types, call.result_types),
        Region(body),
        visibility="private",
    )
    inside = (op.location for op in body.ops if op.location != UNKNOWN_LOC)
    func.location = next(inside, call.location)
    set_place(func, place)
    return func


@dataclass(frozen=True)
class GraphOutlineRegionsPass(ModulePass):
    name = "graph-outline-regions"

    constants: Literal["bound", "passed"] = "bound"
    """Whether functions have constants of their own, or take them as arguments."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pending = [f for f in functions_of(op) if LOWERED_TO not in f.attributes]
        while pending:
            func = pending.pop(0)
            if not is_region(func):
                # What is no region yet has runs of its own.
                pending += outline_runs(func, self.constants == "bound")


def outline_runs(func: FuncOp, binds: bool = True) -> Iterator[FuncOp]:
    """Outline the runs of a function into its symbol table, and give the functions."""
    place, table = place_of(func), symbol_table_of(func)
    assert table is not None, "functions are in a module"
    # Kept here, as looking through the table for each name takes time in its square.
    taken = {name for name, _ in symbols_of(table)}
    count = 0
    # What is in a region is outlined of the function that the region becomes.
    blocks = [b for b in blocks_outside_kernels(func) if not is_in_region(b, func)]
    for block in blocks:
        for run in runs_of(block):
            name = fresh_name(f"{func.sym_name.data}_region_{count}", taken)
            first = run[0]
            if isinstance(first, graph.RegionOp):
                wanted = first.place
                joined = wanted.join(place) if place is not None else None
                made = outline_region(first, name, joined or wanted, binds)
            elif place is None:
                continue
            else:
                made = outline(run, name, place, binds)
            count += 1
            taken.add(name)
            table.regions[0].block.add_op(made)
            yield made


def is_in_region(block: Block, func: FuncOp) -> bool:
    """Whether a block of a function is in a `graph.region` there."""
    op = block.parent_op()
    while op is not None and op is not func:
        if isinstance(op, graph.RegionOp):
            return True
        op = op.parent_op()
    return False
