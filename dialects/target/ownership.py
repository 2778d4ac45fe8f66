"""
Which targets a module is for, and which of them a function is for.
"""

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from transom.dialects.symbols import lookup
from transom.dialects.target.configuration import place_of
from transom.dialects.target.places import PlaceAttr, TargetAttr
from transom.dialects.target.topology import DeviceOp


def target_of(func: Operation) -> TargetAttr | None:
    """
    The target that a function is compiled for: that of its place, or else the one that
    the place's device prefers. None if the function has no place, or the device is not
    declared.
    """
    place = place_of(func)
    return None if place is None else target_of_place(place, func)


def target_of_place(place: PlaceAttr, user: Operation) -> TargetAttr | None:
    """The target of a place that `user` names; see `target_of`."""
    if place.target is not None or place.device_name is None:
        return place.target
    device = lookup(user, place.device_name)
    return device.targets.data[0] if isinstance(device, DeviceOp) else None


def targets_in(module: ModuleOp) -> tuple[TargetAttr, ...]:
    """
    The targets that a module names, each once: those of its devices, in the order of
    declaration and of preference, then those that functions are for.
    """
    found: dict[TargetAttr, None] = {}
    for op in module.body.ops:
        if isinstance(op, DeviceOp):
            found |= dict.fromkeys(op.targets.data)
    for op in module.body.ops:
        target = target_of(op)
        if target is not None:
            found[target] = None
    return tuple(found)
