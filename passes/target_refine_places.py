"""
Let the memories that kernels ask for flow back into the places of values.

The arguments of a kernel may name memories of its device, such as a scratchpad. What a
call of it takes has to be there, and what it gives is there: types of main follow, and
copies are inserted as `target-plan-devices` does, inside one device too.

```mlir
tir.func @k(read memref<4xf32, @l1>, write memref<4xf32, @l1>)
%y = tir.call @k(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
use(%y)
==>
%c = graph.copy %x : tensor<4xf32> -> tensor<4xf32, … @l1>
%y = tir.call @k(%c : …) outs(%d : tensor<4xf32, … @l1>)
%b = graph.copy %y : tensor<4xf32, … @l1> -> tensor<4xf32>
use(%b)
```

A kernel whose arguments name no memory takes values where its device reaches them, and
so asks for nothing in turn: once is enough, and again changes nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from transom.dialects import tir
from transom.dialects.target import LOWERED_TO, place_of
from transom.dialects.target.places import memory_space_name
from transom.passes.function_pass import functions_of
from transom.passes.machine import Machine
from transom.passes.placement.copies import COPIES, store_values
from transom.passes.placement.homes import Homes
from transom.passes.placement.rehearsal import all_or_nothing
from transom.passes.placement.topology import Topology
from transom.passes.statistics import Statistic


@dataclass(frozen=True)
class TargetRefinePlacesPass(ModulePass):
    name = "target-refine-places"
    statistics: ClassVar[tuple[Statistic, ...]] = (COPIES,)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if any(functions_that_ask(op)):
            all_or_nothing(refine_places, op)


def refine_places(module: ModuleOp) -> None:
    """Store values where kernels ask for them. Raises `OpError`."""
    topology, base = Topology(module), Machine(module).default_place.memory_name
    for func in functions_that_ask(module):
        place = place_of(func)
        if base is not None and place is not None and place.memory_name is not None:
            store_values(Homes(func, place, topology, base))


def functions_that_ask(module: ModuleOp) -> Iterator[FuncOp]:
    """Functions whose kernels name memories."""
    for func in functions_of(module):
        if LOWERED_TO not in func.attributes and asks_for_memory(func):
            yield func


def asks_for_memory(func: FuncOp) -> bool:
    """Whether a kernel that a function calls names a memory for values of main."""
    return any(
        isinstance(type, MemRefType) and memory_space_name(type.memory_space)
        for call in func.walk()
        if isinstance(call, tir.CallOp) and (kernel := call.find_callee()) is not None
        for type in kernel.argument_types[: len(call.ins) + len(call.outs)]
    )
