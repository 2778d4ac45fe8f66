"""
Give every function, every region and every value its place, and insert the copies.

What a module does not place is at the default place of its configuration; what a place
leaves open is taken from the place around it, or else from its device, the preferred
first. A private function without a place is where it is called from, and cloned if that
is in several places. A region at the place of what is around it is dissolved. Marks
that are met are removed; one that is not is an error if it pins, a warning if a hint.

A value is stored where it is computed, and what loops and branches join where most of
its bytes come from and go to. Where a device does not reach the memory of an operand,
there is one copy for all ops that need it there, outside of loops, along the links that
`target.link` declares. Weights and constants are at hand everywhere. Types name the
memory of values that are not in that of the default place.

```mlir
func.func @main(%x: tensor<4xf32>) {
  %y = graph.relu %x : tensor<4xf32>
  %z = graph.on_device %y hint #target.place<@cpu, ?, ?> : tensor<4xf32>
  ==>
func.func @main(%x: tensor<4xf32>) attributes {target.for = #target.place<@cpu, …>} {
  %y = graph.relu %x : tensor<4xf32>
```
"""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import SymbolTable

from transom.dialects import graph
from transom.dialects.diagnostics import OpError, report
from transom.dialects.symbols import fresh_symbol, symbol_table_of
from transom.dialects.target import LOWERED_TO, PlaceAttr, place_of, set_place
from transom.passes.function_pass import functions_of
from transom.passes.machine import Machine, options_of
from transom.passes.placement.copies import COPIES, store_values
from transom.passes.placement.homes import Homes
from transom.passes.placement.rehearsal import all_or_nothing
from transom.passes.placement.topology import Topology
from transom.passes.statistics import Statistic


def place_function(func: FuncOp, machine: Machine) -> None:
    """Give a function and the regions in it their places, and resolve its marks."""
    place = machine.with_target(machine.function_place(func))
    set_place(func, place)
    place_regions(func, place, machine)
    for op in tuple(func.walk()):
        if isinstance(op, graph.OnDeviceOp):
            resolve_mark(op)


def place_regions(op: Operation, place: PlaceAttr, machine: Machine) -> None:
    """Complete the places of the regions in an op at a place; dissolve some of them."""
    inner = [o for r in op.regions for block in r.blocks for o in tuple(block.ops)]
    for child in inner:
        if not isinstance(child, graph.RegionOp):
            place_regions(child, place, machine)
            continue
        own = machine.with_target(machine.within(child.place, place, child))
        child.place = own
        place_regions(child, own, machine)
        if own == place:
            dissolve(child)


def dissolve(group: graph.GroupOp) -> None:
    """Put the ops of a group where the group stands."""
    block = group.body.block
    end = block.last_op
    parent = group.parent
    assert end is not None and parent is not None, "a group is in a block"
    for argument, operand in zip(block.args, group.inputs, strict=True):
        argument.replace_all_uses_with(operand)
    for op in tuple(block.ops):
        if op is not end:
            op.detach()
            parent.insert_op_before(op, group)
    for result, value in zip(group.results, end.operands, strict=True):
        result.replace_all_uses_with(value)
    group.detach()
    group.erase()


def resolve_mark(op: graph.OnDeviceOp) -> None:
    """
    Remove a mark, if what computes the value is where the mark wants it.

    Raises `OpError` if it is not, and the mark pins.
    """
    check_mark(op, place_of_value(op.input))
    op.result.replace_all_uses_with(op.input)
    op.detach()
    op.erase()


def check_mark(mark: graph.OnDeviceOp, place: PlaceAttr) -> None:
    """
    Report a hint that is not met where a value is computed at a place.

    Raises `OpError` for a pin.
    """
    if any(place.join(option) is not None for option in options_of(mark.place)):
        return
    wanted = f"to be computed at '{mark.place}', but it is at '{place}'"
    if mark.mark.data is graph.PlaceMark.PINNED:
        raise OpError(mark, f"expected the value {wanted}")
    report("warning", mark, f"the value was {wanted}")


def place_of_value(value: SSAValue) -> PlaceAttr:
    """Where a value is computed, in a function whose regions have their places."""
    owner = value.owner
    op = owner if isinstance(owner, Operation) else owner.parent_op()
    while op is not None:
        if isinstance(op, graph.RegionOp):
            return op.place
        if isinstance(op, FuncOp) and (place := place_of(op)) is not None:
            return place
        op = op.parent_op()
    raise AssertionError("values are in functions, which have a place by now")


def place_uncalled(module: ModuleOp, machine: Machine) -> None:
    """
    Place private functions that say no place where their callers are.

    One that is called from several places is cloned: there is one for each of them, of
    which that of the first caller keeps the name.
    """
    functions = {f.sym_name.data: f for f in functions_of(module)}
    callers = [f for f in functions.values() if not _is_polymorphic(f)]
    instances: dict[tuple[str, PlaceAttr], str] = {}
    while callers:
        caller = callers.pop(0)
        place = machine.with_target(machine.function_place(caller))
        for call in [op for op in caller.walk() if isinstance(op, CallOp)]:
            name = call.callee.string_value()
            callee = functions.get(name)
            if callee is None or (name, place) in instances:
                pass
            elif _is_polymorphic(callee):
                set_place(callee, place)
                instances[name, place] = name
                callers.append(callee)
            elif any(known == name for known, _ in instances):
                clone = _clone(callee, place)
                instances[name, place] = clone.sym_name.data
                functions[clone.sym_name.data] = clone
                callers.append(clone)
            instance = instances.get((name, place), name)
            if instance != name:
                call.callee = SymbolRefAttr(instance)


def _is_polymorphic(func: FuncOp) -> bool:
    """Whether a function may be wherever it is called from."""
    visibility = func.sym_visibility
    is_private = visibility is not None and visibility.data == "private"
    return is_private and place_of(func) is None and LOWERED_TO not in func.attributes


def _clone(func: FuncOp, place: PlaceAttr) -> FuncOp:
    """The function for another place."""
    table = symbol_table_of(func)
    assert table is not None, "functions are in a module"
    clone = func.clone()
    base = f"{func.sym_name.data}_on_{place.device_name}"
    clone.sym_name = StringAttr(fresh_symbol(table, base))
    set_place(clone, place)
    SymbolTable.insert_or_update(table, clone)
    return clone


def plan_devices(module: ModuleOp) -> None:
    """Place functions, regions and values of a module. Raises `OpError`."""
    machine = Machine(module)
    place_uncalled(module, machine)
    functions = [f for f in functions_of(module) if LOWERED_TO not in f.attributes]
    for func in functions:
        place_function(func, machine)
    base = machine.default_place.memory_name
    topology = Topology(module)
    for func in functions:
        place = place_of(func)
        assert place is not None, "functions have a place by now"
        if base is not None and place.memory_name is not None:
            store_values(Homes(func, place, topology, base))


@dataclass(frozen=True)
class TargetPlanDevicesPass(ModulePass):
    name = "target-plan-devices"
    statistics: ClassVar[tuple[Statistic, ...]] = (COPIES,)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        all_or_nothing(plan_devices, op)
