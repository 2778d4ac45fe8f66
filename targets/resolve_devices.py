"""
Make the machine concrete: declare the host if no device is, name its CPU, and add what
targets bring.

A module without a device is compiled for the host, unless it names devices that are to
be declared later. `cpu = "host"` is replaced, wherever it stands, by the CPU that this
runs on and the features in which it differs from what LLVM knows of that CPU. The
memories and links that the targets of a device bring join those that are declared.
Afterwards the module means the same on every machine; running again changes nothing.

```mlir
module {}  ==>  module attributes {
                  target.config = #target.config<
                    host = @host, default_place = #target.place<@host, …, ?>>
                } {
                  target.device @host {targets = [#llvm_cpu.target<cpu = "znver4">]}
                }
```
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from transom.dialects.diagnostics import Diagnostic, OpError, did_you_mean
from transom.dialects.symbols import (
    attributes_of,
    fresh_symbol,
    replace_attributes,
    walk_attributes,
)
from transom.dialects.target import (
    DeviceOp,
    PlaceAttr,
    get_config,
    set_config,
    unbound_places,
)
from transom.dialects.walking import walk_ops
from transom.passes.pipeline import PassObserver
from transom.targets.brought_memories import join_memories
from transom.targets.llvm_cpu.dialect import HOST, LlvmCpuAttr
from transom.targets.llvm_cpu.host import UnknownHostError, resolved


def resolve_devices(module: ModuleOp) -> list[Diagnostic]:
    """
    Make the machine of a module concrete; returns the notes for its user.

    Raises `OpError` if the configuration names a device that is not declared, or a
    target brings a memory that differs from another of its name.
    """
    notes: list[Diagnostic] = []
    if assumes_host(module):
        notes.append(_note_of_host(module))
        _add_host(module)
    resolve_hosts(module)
    if _devices(module):
        _choose_host(module)
        join_memories(module)
    return notes


def assumes_host(module: ModuleOp) -> bool:
    """
    Whether the host is to be the device of a module: it declares none, and names none
    but one that its configuration calls the host.
    """
    host = get_config(module).host
    return not _devices(module) and all(
        place.device_name == host for _, place in unbound_places(module)
    )


def resolve_hosts(root: Operation) -> None:
    """
    Name the CPU of every target for a `host` in an op, so that it is the same anywhere.

    Raises `OpError` where the host cannot be that target.
    """

    def with_cpu(attribute: Attribute) -> Attribute:
        if isinstance(attribute, LlvmCpuAttr) and attribute.cpu.data == HOST:
            return _with_cpu(attribute, root)
        return attribute

    replace_attributes(walk_ops(root), with_cpu)


@dataclass
class ShowHost(PassObserver):
    """Tells the user, by way of `emit`, when this pass assumes the host as device."""

    emit: Callable[[Diagnostic], None]

    def before(self, pass_: ModulePass, op: Operation) -> None:
        if not isinstance(pass_, TargetResolveDevicesPass):
            return
        if isinstance(op, ModuleOp) and assumes_host(op):
            self.emit(_note_of_host(op))


@dataclass
class ShowNotes(ShowHost):
    """Tells the user also what is noted of other passes, each text once."""

    told: set[str] = field(default_factory=set[str])

    def noted(self, note: Diagnostic) -> None:
        if note.message not in self.told:
            self.told.add(note.message)
            self.emit(note)


def _devices(module: ModuleOp) -> list[DeviceOp]:
    return [op for op in module.ops if isinstance(op, DeviceOp)]


def _note_of_host(module: ModuleOp) -> Diagnostic:
    target = _with_cpu(LlvmCpuAttr.get(HOST), module)
    return Diagnostic(
        "note",
        module.location,
        f"no device is declared, so the host is assumed: '{target}'",
    )


def _add_host(module: ModuleOp) -> None:
    """Declare the host under a name that is free."""
    target = _with_cpu(LlvmCpuAttr.get(HOST), module)
    device = DeviceOp(
        fresh_symbol(module, get_config(module).host or "host"), (target,)
    )
    device.location = module.location
    first = module.body.block.first_op
    if first is None:
        module.body.block.add_op(device)
    else:
        module.body.block.insert_op_before(device, first)


def _choose_host(module: ModuleOp) -> None:
    """Complete what the configuration says of devices, and check that they exist."""
    config = get_config(module)
    devices = {device.sym_name.data: device for device in _devices(module)}
    host = config.host
    if host is None:
        runs_main = [
            name
            for name, device in devices.items()
            if any(isinstance(target, LlvmCpuAttr) for target in device.targets.data)
        ]
        if len(runs_main) != 1 and len(devices) != 1:
            raise OpError(
                module,
                "expected 'host' in 'target.config' to name the device that runs main, "
                f"as {len(devices)} are declared",
            )
        host = runs_main[0] if len(runs_main) == 1 else next(iter(devices))
    if host not in devices:
        near = did_you_mean(f"@{host}", (f"@{name}" for name in devices))
        raise OpError(module, f"unknown host device '@{host}'{near}")
    place = config.default_place or PlaceAttr.get(host)
    set_config(module, {"host": SymbolRefAttr(host), "default_place": place})


def _with_cpu(target: LlvmCpuAttr, root: Operation) -> LlvmCpuAttr:
    """A target for the host with its CPU named."""
    try:
        return resolved(target)
    except UnknownHostError as e:
        raise OpError(_user_of(target, root), str(e)) from None
    except VerifyException as e:
        message = f"the host cannot be '{target}': {e}"
        raise OpError(_user_of(target, root), message) from None


def _user_of(target: LlvmCpuAttr, root: Operation) -> Operation:
    """The first op that names a target, else the root."""
    for op in root.walk():
        for attribute in attributes_of(op):
            if target in walk_attributes(attribute):
                return op
    return root


@dataclass(frozen=True)
class TargetResolveDevicesPass(ModulePass):
    name = "target-resolve-devices"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        resolve_devices(op)
