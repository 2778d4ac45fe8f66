"""
The memories and links that the targets of devices bring to a module.
"""

from collections.abc import Iterator

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, SymbolRefAttr
from xdsl.ir import Operation

from transom.dialects.diagnostics import Note, OpError
from transom.dialects.symbols import lookup
from transom.dialects.target import DeviceOp, LinkOp, MemoryOp, TargetAttr


def join_memories(module: ModuleOp) -> None:
    """
    Declare what the targets of all devices bring, and what is not declared yet.

    What a target brings under the name of a memory, or between the ends of a link, that
    is declared or brought by another target has to be equal to it. A device reaches the
    memories that its targets bring, after those that it lists; none is its default.

    Raises `OpError`.
    """
    origins: dict[Operation, str] = {}
    links: list[tuple[DeviceOp, TargetAttr, LinkOp]] = []
    devices = [op for op in module.ops if isinstance(op, DeviceOp)]
    for device, target, op in _brought_to(devices):
        if isinstance(op, LinkOp):
            links.append((device, target, op))
            continue
        _join(module, device, target, op, origins)
        name = op.sym_name.data
        if name not in (ref.root_reference.data for ref in device.memory_refs):
            earlier = () if device.brought is None else device.brought.data
            device.brought = ArrayAttr((*earlier, SymbolRefAttr(name)))
    for device, target, link in links:  # whose ends may be of another target
        _join(module, device, target, link, origins)


def _brought_to(
    devices: list[DeviceOp],
) -> Iterator[tuple[DeviceOp, TargetAttr, MemoryOp | LinkOp]]:
    from transom.targets.contract.memories import memories_of  # which load NumPy
    from transom.targets.registry import HooksError

    for device in devices:
        for target in device.targets:
            try:
                brought = memories_of(target)
            except HooksError as e:
                raise OpError(device, str(e)) from e
            for op in brought:
                yield device, target, op.clone()


def _join(
    module: ModuleOp,
    device: DeviceOp,
    target: TargetAttr,
    op: MemoryOp | LinkOp,
    origins: dict[Operation, str],
) -> None:
    """Add what a target brings to a device, unless it is there."""
    if isinstance(op, LinkOp):
        known = _link_between(module, op.ends)
    else:
        known = lookup(module, op.sym_name.data)
    if known is None:
        _check_ends(module, device, target, op)
        op.location = device.location
        origins[op] = f"'{target}' brings it"
        module.body.block.insert_op_before(op, device)
    elif type(known) is not type(op) or known.properties != op.properties:
        raise OpError(
            device,
            f"'{target}' brings '{_head(op)}', but there is '{_head(known)}'",
            Note(known, origins.get(known, "declared here")),
        )


def _link_between(module: ModuleOp, ends: tuple[str, str]) -> LinkOp | None:
    links = (op for op in module.ops if isinstance(op, LinkOp))
    return next((link for link in links if link.ends == ends), None)


def _check_ends(
    module: ModuleOp, device: DeviceOp, target: TargetAttr, op: MemoryOp | LinkOp
) -> None:
    """Raise `OpError` for a link of memories that nobody declares."""
    for name in op.ends if isinstance(op, LinkOp) else ():
        if not isinstance(lookup(module, name), MemoryOp):
            raise OpError(
                device,
                f"'{target}' brings '{_head(op)}', but no memory '@{name}' is declared",
            )


def _head(op: Operation) -> str:
    """An op without what is in it."""
    return str(op).split("\n")[0]
