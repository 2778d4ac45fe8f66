"""
Give every function and every region its place, complete with target and memory.

What a module does not place is at the default place of its configuration; what a place
leaves open is taken from the place around it, or else from its device, the preferred
first. A region at the place of what is around it is dissolved. One for another target
of the device stays, and so does one for another device that reaches the memory which
the values are in. Marks that are met are removed; one that is not is an error if it
pins, and a warning if it is a hint.

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

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from transom.dialects import graph
from transom.dialects.diagnostics import OpError, report
from transom.dialects.symbols import attributes_of, walk_attributes
from transom.dialects.target import LOWERED_TO, PlaceAttr, place_of, set_place
from transom.passes.function_pass import functions_of
from transom.passes.machine import Machine, options_of


def place_function(func: FuncOp, machine: Machine) -> None:
    """Give a function and the regions in it their places, and resolve its marks."""
    place = machine.with_target(machine.function_place(func))
    set_place(func, place)
    place_regions(func, place, machine)
    for op in tuple(func.walk()):
        if isinstance(op, graph.OnDeviceOp):
            resolve_mark(op)
        elif not isinstance(op, graph.RegionOp):
            check_values(op, place, machine)


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


def dissolve(group: graph.RegionOp) -> None:
    """Put the ops of a region where the region stands."""
    block = group.body.block
    end = block.last_op
    parent = group.parent
    assert end is not None and parent is not None, "a region has a terminator and a use"
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


def check_values(op: Operation, place: PlaceAttr, machine: Machine) -> None:
    """Raise `OpError` at an op whose type or attribute names a place out of reach."""
    for attribute in attributes_of(op):
        for other in walk_attributes(attribute):
            if not isinstance(other, PlaceAttr):
                continue
            if other.device_name not in (None, place.device_name):
                machine.within(other, place, op)


@dataclass(frozen=True)
class TargetAssignPlacesPass(ModulePass):
    name = "target-assign-places"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = Machine(op)
        for func in functions_of(op):
            if LOWERED_TO not in func.attributes:
                place_function(func, machine)
