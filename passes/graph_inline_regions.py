"""
Put what was partitioned back where it came from.

Private functions that one place computes, which `graph-outline-regions` makes, are put
in the place of calls of them; regions and composites are dissolved. So the module
computes what it did before it was partitioned, by the same ops; constants that several
functions had are there once for each. Functions that have been lowered stay.

```mlir
%y = func.call @main_region_0(%x) : …       %a = graph.add %x, %x : …
                                        ==>  %y = graph.relu %a : …
```
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from transom.dialects import graph
from transom.passes.function_pass import functions_of
from transom.passes.owned_functions import is_region
from transom.passes.target_plan_devices import dissolve


def inline_call(call: CallOp, func: FuncOp) -> None:
    """Put copies of the ops of a function in the place of a call of it."""
    values: dict[SSAValue, SSAValue] = dict(
        zip(func.body.block.args, call.operands, strict=True)
    )
    block = call.parent
    assert block is not None, "a call is in a function"
    for op in func.body.block.ops:
        if isinstance(op, ReturnOp):
            for old, new in zip(call.results, op.operands, strict=True):
                old.replace_all_uses_with(values[new])
        else:
            block.insert_op_before(op.clone(values), call)
    call.detach()
    call.erase()


def dissolve_groups(root: Operation) -> None:
    """Dissolve the regions and composites in an op, also those in each other."""
    groups = [
        op for op in root.walk() if isinstance(op, (graph.RegionOp, graph.CompositeOp))
    ]
    for group in reversed(groups):
        dissolve(group)


@dataclass(frozen=True)
class GraphInlineRegionsPass(ModulePass):
    name = "graph-inline-regions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        dissolve_groups(op)
        while inline_all(op):  # what calls functions of a place may be one afterwards
            pass


def inline_all(module: ModuleOp) -> bool:
    """Inline and remove the functions that one place computes; whether there is one."""
    regions = {f.sym_name.data: f for f in functions_of(module) if is_region(f)}
    calls = [op for op in module.walk() if isinstance(op, CallOp)]
    inlined: set[str] = set()
    for call in calls:
        name = call.callee.string_value()
        if name in regions:
            inline_call(call, regions[name])
            inlined.add(name)
    for name in sorted(inlined):
        regions[name].detach()
        regions[name].erase()
    return bool(inlined)
