"""
Give every function its place, where one device is all that is used.

What a module does not place is at the default place of its configuration. Marks that
ask for that place are granted and removed, and regions that are at it are dissolved; a
mark for another device is an error, as is any use of a second device.

```mlir
func.func @main(%x: tensor<4xf32>) {
  %y = graph.relu %x : tensor<4xf32>
  %z = graph.on_device %y hint #target.place<@cpu, ?, ?> : tensor<4xf32>
  ==>
func.func @main(%x: tensor<4xf32>) attributes {target.for = #target.place<@cpu, …>} {
  %y = graph.relu %x : tensor<4xf32>
```
"""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from transom.dialects import graph
from transom.dialects.diagnostics import OpError, did_you_mean
from transom.dialects.symbols import attributes_of, walk_attributes
from transom.dialects.target import (
    LOWERED_TO,
    AnyOfAttr,
    DeviceOp,
    PlaceAttr,
    get_config,
    place_of,
    set_place,
)
from transom.passes.function_pass import functions_of


def default_place(module: ModuleOp) -> PlaceAttr:
    """
    The place of what has no other, with the preferred target and memory of its device.

    Raises `OpError` if the configuration does not say which of several devices that is.
    """
    devices = {op.sym_name.data: op for op in module.ops if isinstance(op, DeviceOp)}
    if not devices:
        raise OpError(
            module, "expected a device; 'target-resolve-devices' adds that of the host"
        )
    place = get_config(module).default_place or PlaceAttr.get()
    name = place.device_name
    if name is None and len(devices) == 1:
        (name,) = devices
    if name is None:
        names = ", ".join(f"'@{device}'" for device in devices)
        raise OpError(
            module,
            f"expected 'default_place' in 'target.config' to name one of the devices "
            f"{names}",
        )
    device = devices.get(name)
    if device is None:
        near = did_you_mean(f"@{name}", (f"@{device}" for device in devices))
        raise OpError(module, f"unknown device '@{name}'{near}")
    return completed(place, device)


def completed(place: PlaceAttr, device: DeviceOp) -> PlaceAttr:
    """A place with what it leaves open taken from its device, the preferred first."""
    memory = place.memory_name
    if memory is None and device.memory_refs:
        memory = device.memory_refs[0].root_reference.data
    target = place.target or device.targets.data[0]
    return PlaceAttr.get(device.sym_name.data, target, memory)


def joined(wanted: Attribute, place: PlaceAttr) -> PlaceAttr | None:
    """Both places at once, for the first of several that allows it; else None."""
    options = wanted.places.data if isinstance(wanted, AnyOfAttr) else (wanted,)
    for option in options:
        assert isinstance(option, PlaceAttr), "verified: a place or several"
        if (both := option.join(place)) is not None:
            return both
    return None


def place_function(func: FuncOp, default: PlaceAttr) -> None:
    """Give a function its place, and resolve the marks in it."""
    wanted = place_of(func)
    place = default if wanted is None else joined(wanted, default)
    if place is None:
        raise _second_device(func, f"function '@{func.sym_name.data}'", wanted, default)
    set_place(func, place)
    for op in tuple(func.walk()):
        if isinstance(op, graph.OnDeviceOp):
            if joined(op.place, place) is None:
                raise _second_device(op, f"'{op.name}'", op.place, place)
            op.result.replace_all_uses_with(op.input)
            op.detach()
            op.erase()
        elif isinstance(op, graph.RegionOp):
            if joined(op.place, place) is None:
                raise _second_device(op, f"'{op.name}'", op.place, place)
            dissolve(op)
        else:
            for other in _places_in(op):
                if other.device_name not in (None, place.device_name):
                    raise _second_device(op, f"'{op.name}'", other, place)


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


def _places_in(op: Operation) -> Iterator[PlaceAttr]:
    for attribute in attributes_of(op):
        for part in walk_attributes(attribute):
            if isinstance(part, PlaceAttr):
                yield part


def _second_device(
    op: Operation, what: str, wanted: Attribute | None, place: PlaceAttr
) -> OpError:
    return OpError(
        op,
        f"expected all of the module on one device, at '{place}', "
        f"but {what} is to be at '{wanted}'; placement on several is not available",
    )


@dataclass(frozen=True)
class TargetAssignPlacesPass(ModulePass):
    name = "target-assign-places"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        default = default_place(op)
        for func in functions_of(op):
            if LOWERED_TO not in func.attributes:
                place_function(func, default)
