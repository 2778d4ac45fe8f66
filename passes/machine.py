"""
The devices of a module: what places on them leave open, and what one of them reaches.
"""

from collections.abc import Sequence
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from transom.dialects.diagnostics import Note, OpError, did_you_mean
from transom.dialects.target import (
    AnyOfAttr,
    DeviceOp,
    MemoryOp,
    PlaceAttr,
    Planner,
    get_config,
    place_of,
    unbound_places,
)


def options_of(wanted: PlaceAttr | AnyOfAttr) -> Sequence[PlaceAttr]:
    """The places that a mark allows, the preferred first."""
    return wanted.places.data if isinstance(wanted, AnyOfAttr) else (wanted,)


class Machine:
    """
    What a module declares of its machine.

    Raises `OpError` if it declares no device, or one is named and not declared.
    """

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        self.devices = {
            op.sym_name.data: op for op in module.ops if isinstance(op, DeviceOp)
        }
        self._target_planned = {
            op.sym_name.data
            for op in module.ops
            if isinstance(op, MemoryOp) and op.planner is Planner.TARGET
        }
        self._check_promises()
        if not self.devices:
            raise OpError(
                module,
                "expected a device; 'target-resolve-devices' adds that of the host",
            )

    def _check_promises(self) -> None:
        unbound = unbound_places(self.module)
        if not unbound:
            return
        where, place = unbound[0]
        near = did_you_mean(f"@{place.device_name}", (f"@{d}" for d in self.devices))
        if "mean" not in near:  # another device is hardly what was meant
            near = ""
        raise OpError(
            where,
            f"device '@{place.device_name}' of '{place}' is not declared{near}; "
            "'--device' or 'target-bind-devices' declares it",
            *(
                Note(op, f"nor is '@{also.device_name}' of '{also}'")
                for op, also in unbound[1:]
            ),
        )

    @cached_property
    def default_place(self) -> PlaceAttr:
        """
        The place of what has no other: its device, and a target if the module says one.

        Raises `OpError` if the module does not say which of several devices.
        """
        place = get_config(self.module).default_place or PlaceAttr.get()
        name = place.device_name
        if name is None and len(self.devices) == 1:
            (name,) = self.devices
        if name is None:
            names = ", ".join(f"'@{device}'" for device in self.devices)
            raise OpError(
                self.module,
                f"expected 'default_place' in 'target.config' to name one of the "
                f"devices {names}",
            )
        memory = place.memory_name or self.default_memory(self.devices[name])
        return PlaceAttr.get(name, place.target, memory)

    def default_memory(self, device: DeviceOp) -> str | None:
        """
        The first memory that a device lists and that is not left to a target to plan.

        What its targets bring is for what they own, and is nobody's default.
        """
        names = (ref.root_reference.data for ref in device.listed_memory_refs)
        return next((name for name in names if name not in self._target_planned), None)

    def function_place(self, func: FuncOp) -> PlaceAttr:
        """
        Where a function is compiled for, complete but for a target that is open.

        Raises `OpError` if its values cannot be where those of the module are.
        """
        default, wanted = self.default_place, place_of(func)
        if wanted is None:
            return default
        if default.memory_name is None:
            default = PlaceAttr.get(
                default.device_name, default.target, wanted.memory_name
            )
        return self.within(wanted, default, func)

    def with_target(self, place: PlaceAttr) -> PlaceAttr:
        """A place whose target is the preferred one of its device if it is open."""
        if place.target is not None:
            return place
        device = self.devices[place.device_name or ""]
        return PlaceAttr.get(
            place.device_name, device.targets.data[0], place.memory_name
        )

    def within(self, wanted: PlaceAttr, around: PlaceAttr, op: Operation) -> PlaceAttr:
        """
        The place that an op wants, with what it leaves open taken from the one around.

        Its memory is that around it if its device reaches that, or else the device's
        own. Raises `OpError` if it has none, so that values cannot be copied there.
        """
        name = wanted.device_name or around.device_name
        assert name is not None, "the place around has a device"
        is_same = name == around.device_name
        reached = [m.root_reference.data for m in self.devices[name].memory_refs]
        memory = wanted.memory_name
        if memory is None and (is_same or around.memory_name in reached):
            memory = around.memory_name
        elif memory is None:
            memory = self.default_memory(self.devices[name])
        if not is_same and memory is None:
            why = f"'@{around.device_name}' and '@{name}' share no memory that is named"
            raise _out_of_reach(op, wanted, around, why)
        if memory is not None and around.memory_name is None:
            why = f"the memory of '@{around.device_name}' is not named"
            raise _out_of_reach(op, wanted, around, why)
        target = around.target if is_same else None
        return PlaceAttr.get(name, wanted.target or target, memory)


def _out_of_reach(
    op: Operation, wanted: PlaceAttr, around: PlaceAttr, why: str
) -> OpError:
    return OpError(
        op,
        f"expected '{op.name}' where it reaches the values of '{around}', "
        f"but it is to be at '{wanted}'; {why}",
    )
