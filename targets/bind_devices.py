"""
Declare a device that places name already, or will.

A place may name a device before there is one: the model is written once, and bound to a
machine later. Until then everything runs that needs no target.

```mlir
func.func @main() attributes {target.for = #target.place<@npu, ?, ?>}
  ==>  // target-bind-devices{device=npu targets=[#toy_npu.target<lanes = 8>]}
target.device @npu {targets = [#toy_npu.target<lanes = 8>]}
func.func @main() attributes {target.for = #target.place<@npu, ?, ?>}
```

Memories are those that the module declares, the device's default one first. Targets for
a `host` are made concrete. Binding a device again changes nothing, unless it differs.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, SymbolRefAttr
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import ParseError

from transom.dialects.diagnostics import Note, OpError, did_you_mean
from transom.dialects.parser import parse_attribute_text
from transom.dialects.symbols import lookup
from transom.dialects.target import DeviceOp, LinkOp, MemoryOp, TargetAttr
from transom.passes.pipeline import PipelineError
from transom.targets.resolve_devices import resolve_hosts

NAME = re.compile(r"[A-Za-z_][\w$.-]*")
"""The name of a device, written without `@`."""


Targets: TypeAlias = str | TargetAttr | Sequence[str | TargetAttr]
"""What says of a device in Python what it is: see `parse_device` for a text."""


def bind_device(module: ModuleOp, device: DeviceOp) -> None:
    """
    Declare a device, after the devices and memories that stand first in a module.

    Raises `OpError` if another one has its name, or there is no such memory.
    """
    device.location = module.location
    _check_memories(module, device)
    resolve_hosts(device)
    name = device.sym_name.data
    declared = lookup(module, name)
    if declared is None:
        _insert(module, device)
        return
    resolve_hosts(declared)
    if not isinstance(declared, DeviceOp) or not _is_same(declared, device):
        raise OpError(
            module,
            f"cannot bind device '@{name}': there is another '@{name}'; remove its "
            "declaration from the module or edit it, or take another name",
            Note(declared, str(declared).split("\n")[0]),
        )


def _is_same(declared: DeviceOp, device: DeviceOp) -> bool:
    """Whether a device is as declared, whatever its targets have brought since."""
    return (
        declared.targets == device.targets
        and declared.listed_memory_refs == device.listed_memory_refs
    )


def _insert(module: ModuleOp, device: DeviceOp) -> None:
    for op in module.body.block.ops:
        if not isinstance(op, DeviceOp | LinkOp | MemoryOp):
            module.body.block.insert_op_before(device, op)
            return
    module.body.block.add_op(device)


def _check_memories(module: ModuleOp, device: DeviceOp) -> None:
    memories = [op.sym_name.data for op in module.ops if isinstance(op, MemoryOp)]
    for ref in device.memory_refs:
        name = ref.root_reference.data
        if name not in memories:
            near = did_you_mean(f"@{name}", (f"@{memory}" for memory in memories))
            raise OpError(
                module,
                f"unknown memory '@{name}' of device '@{device.sym_name.data}'{near}",
            )


def parse_device(text: str, ctx: Context) -> "TargetBindDevicesPass":
    """
    The pass that binds a device, from `NAME=TARGETS`.

    Targets are an attribute, a list of them, or a dictionary with the keys of
    `target.device`: `{targets = […], memories = […]}`. Raises `PipelineError`.
    """
    name, equals, rest = (part.strip() for part in text.partition("="))
    if not equals or NAME.fullmatch(name) is None:
        raise PipelineError(f"expected 'NAME=TARGETS' for a device, but got '{text}'")
    try:
        keys = _keys_of(parse_attribute_text(ctx, rest, f"device '{name}'"))
        targets = [_target(value) for value in keys["targets"]]
        memories = [_memory(value) for value in keys["memories"]]
        return TargetBindDevicesPass(name, tuple(targets), tuple(memories))
    except ParseError as e:
        # The lexer names no more than the character.
        where = f", in '{rest}'" if e.msg.startswith("Unexpected character") else ""
        raise PipelineError(f"device '{name}': {e.msg}{where}") from None
    except ValueError as e:
        raise PipelineError(f"device '{name}': {e}") from None


def device_of(name: str, value: Targets, ctx: Context) -> "TargetBindDevicesPass":
    """
    The pass that binds a device, from the text of `parse_device` after the name, or
    from targets. Raises `PipelineError`.
    """
    if isinstance(value, str):
        return parse_device(f"{name}={value}", ctx)
    targets: list[TargetAttr] = []
    is_list = isinstance(value, Sequence)
    for item in value if is_list else (value,):
        if isinstance(item, TargetAttr):
            targets.append(item)
            continue
        if not isinstance(cast(object, item), str):
            raise PipelineError(
                f"device '{name}': expected target attributes or their texts, but got "
                f"'{item}'"
            )
        parsed = parse_device(f"{name}={item}", ctx)
        if parsed.memories:
            raise PipelineError(
                f"device '{name}': expected a target in a list, but got '{item}'"
            )
        targets += parsed.targets
    try:
        return TargetBindDevicesPass(name, tuple(targets))
    except ValueError as e:
        raise PipelineError(f"device '{name}': {e}") from None


def _keys_of(value: Attribute) -> Mapping[str, Sequence[Attribute]]:
    """The lists of what is said of a device."""
    if not isinstance(value, DictionaryAttr):
        targets = _items(value)
        return {"targets": (value,) if targets is None else targets, "memories": ()}
    found: dict[str, Sequence[Attribute]] = {"targets": (), "memories": ()}
    for key, item in value.data.items():
        if key not in found:
            raise ValueError(f"unknown key '{key}'{did_you_mean(key, found)}")
        items = _items(item)
        if items is None:
            raise ValueError(f"expected a list for '{key}', but got '{item}'")
        found[key] = items
    return found


def _items(value: Attribute) -> Sequence[Attribute] | None:
    """The values of a list, None for what is no list."""
    if not isinstance(value, ArrayAttr):
        return None
    return cast("ArrayAttr[Attribute]", value).data


def _target(value: Attribute) -> TargetAttr:
    if not isinstance(value, TargetAttr):
        raise ValueError(f"expected a target attribute, but got '{value}'")
    return value


def _memory(value: Attribute) -> str:
    if not isinstance(value, SymbolRefAttr) or value.nested_references.data:
        raise ValueError(f"expected a memory such as '@dram', but got '{value}'")
    return value.root_reference.data


@dataclass(frozen=True)
class TargetBindDevicesPass(ModulePass):
    name = "target-bind-devices"

    device: str
    targets: tuple[TargetAttr, ...]
    memories: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.targets:
            raise ValueError(f"expected at least one target of device '@{self.device}'")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        bind_device(op, DeviceOp(self.device, self.targets, self.memories))
