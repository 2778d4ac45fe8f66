"""
The Python API: load a module, lower it phase by phase, compile and run it.

```python
module = transom.load("model.mlir")
planned = transom.lower(module, to="planned")
program = transom.compile(module)
outputs = program.run({"x": x})
```
"""

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.utils.exceptions import ParseError

from transom.dialects.diagnostics import OpError, did_you_mean
from transom.dialects.parser import allow_deep_recursion, parse_attribute_text, parse_ir
from transom.dialects.symbols import lookup
from transom.dialects.target import DeviceOp, TargetAttr, get_config, set_phase
from transom.dialects.verifier import verify_module
from transom.passes.pipeline import (
    PassObserver,
    Pipeline,
    PipelineError,
    parse_pipeline,
)
from transom.passes.verify_phase import verify_phase
from transom.registry import new_context, registry

if TYPE_CHECKING:
    from transom.runtime.program import Program
    from transom.targets.hooks import TargetHooks


@dataclass(frozen=True)
class Phase:
    """A state of a module that has a name, a promise, and passes that lead to it."""

    name: str
    promise: str
    passes: tuple[str, ...]

    def pipeline(
        self, ctx: Context | None = None, module: ModuleOp | None = None
    ) -> Pipeline:
        """
        The passes that take a module of the phase before to this one.

        Options that follow from the target of a module's host are spelled out.
        """
        options: Mapping[str, Mapping[str, int]] = {}
        if module is not None:
            options = options_of_target(module)
        text = ",".join(name + _braces(options.get(name, {})) for name in self.passes)
        return parse_pipeline(text, registry().passes, ctx)


def _braces(options: Mapping[str, int]) -> str:
    if not options:
        return ""
    return "{" + " ".join(f"{key}={value}" for key, value in options.items()) + "}"


def options_of_target(module: ModuleOp) -> Mapping[str, Mapping[str, int]]:
    """Options of shared passes, by the hooks of the target that the host prefers."""
    host = get_config(module).host
    device = None if host is None else lookup(module, host)
    if not isinstance(device, DeviceOp):
        return {}
    hooks_of: Callable[[Attribute], TargetHooks[Any]]
    hooks_of = pkgutil.resolve_name(HOOKS_OF)
    target = device.targets.data[0]
    return hooks_of(target).pass_options(target)


PHASES = (
    Phase(
        "graph",
        "graph ops as imported, types and symbols inferred, constants folded",
        (
            "target-resolve-devices",
            "graph-infer-types",
            "graph-fold-constants",
            "canonicalize",
            "cse",
            "dce",
        ),
    ),
    Phase(
        "placed",
        "every op has a place, copies are inserted",
        ("target-assign-places",),
    ),
    Phase(
        "partitioned",
        "each region is a private function with a place, fused groups are made",
        ("graph-fuse", "graph-outline-regions"),
    ),
    Phase(
        "tensor",
        "kernels are tir functions, main calls them; no graph op computes",
        ("convert-graph-to-tir", "tir-fuse-nests", "tir-choose-schedule"),
    ),
    Phase(
        "scheduled",
        "nests and blocks are loops and vector ops",
        ("convert-tir-to-scf",),
    ),
    Phase(
        "planned",
        "main is on buffers, every static buffer has a pool and an offset",
        ("tir-lift-scratch", "tir-bufferize-main", "tir-plan-memory"),
    ),
    Phase(
        "executable",
        "main is executor ops, control flow and scalars",
        ("convert-tir-to-executor",),
    ),
    Phase(
        "machine",
        "only llvm is left",
        ("lower-executor-to-func", "lower-scf-to-cf", "convert-to-llvm"),
    ),
)
"""The one order of phases, for all targets and executors."""


RESOLVE_DEVICES = "transom.targets.resolve_devices:resolve_devices"
HOOKS_OF = "transom.targets.registry:hooks_of"
"""Loaded when first used: listing passes needs no target."""


def phases() -> tuple[Phase, ...]:
    """All phases in order, with their promises and passes."""
    return PHASES


def load(
    path: str | PathLike[str],
    *,
    ctx: Context | None = None,
    format: str | None = None,
    data_folders: Sequence[str] = (),
) -> ModuleOp:
    """
    Read a module from a file: IR text, or ONNX if `format` or the suffix says so.
    Links to an ONNX model and its external data may only leave its folder for one of
    `data_folders`.

    Raises `OpError` for what is wrong in it, `OSError` if it cannot be read.
    """
    name = fspath(path)
    kind = format or Path(name).suffix.removeprefix(".")
    if kind == "onnx":
        from transom.frontends.onnx import load_onnx

        return load_onnx(name, data_folders)
    text = Path(name).read_bytes()
    module = parse_ir(new_context() if ctx is None else ctx, text, name)
    verify_module(module)
    return module


def lower(
    module: ModuleOp,
    to: str,
    *,
    ctx: Context | None = None,
    observer: PassObserver | None = None,
) -> ModuleOp:
    """
    A copy of a module, taken from the phase that it records to the phase `to`.

    `observer` sees each pass.

    Raises `OpError` if the module cannot get there or is past it already, and
    `PipelineError` if there is no such phase.
    """
    allow_deep_recursion()
    result = module.clone()
    lower_in_place(result, to, ctx=ctx, observer=observer)
    return result


def lower_in_place(
    module: ModuleOp,
    to: str,
    *,
    ctx: Context | None = None,
    observer: PassObserver | None = None,
) -> None:
    """
    Lower a module itself; `observer` sees each pass.

    On failure the module is left at what the failing pass made of it.
    """
    ctx = new_context() if ctx is None else ctx
    remaining = phases_between(module, to)
    if remaining and remaining[0] is not PHASES[0]:
        # A module that was written by hand at a later phase may name no CPU yet.
        pkgutil.resolve_name(RESOLVE_DEVICES)(module)
    for phase in remaining:
        # Before the first phase the machine is not concrete, and nothing asks for it.
        concrete = None if phase is PHASES[0] else module
        phase.pipeline(ctx, concrete).apply(ctx, module, observer)
        set_phase(module, phase.name)
        verify_phase(module, phase.name)


def phases_between(module: ModuleOp, to: str) -> tuple[Phase, ...]:
    """The phases that a module goes through to reach the phase `to`."""
    names = [phase.name for phase in PHASES]
    if to not in names:
        raise PipelineError(f"unknown phase '{to}'{did_you_mean(to, names)}")
    reached = get_config(module).phase
    first = 0 if reached is None else names.index(reached) + 1
    last = names.index(to)
    if first > last + 1:
        raise OpError(
            module,
            f"expected a module at or before phase '{to}', but it is at '{reached}'",
        )
    return PHASES[first : last + 1]


def compile(
    module: ModuleOp,
    *,
    devices: Mapping[str, str] | None = None,
    executor: str = "aot",
    threads: int = 1,
    dims: Mapping[str, tuple[int | None, int | None]] | None = None,
    opt_level: int = 2,
    libraries: Sequence[str] = (),
    data_folders: Sequence[str] = (),
    ctx: Context | None = None,
    **options: bool,
) -> "Program":
    """
    A program in this process, from a module at any phase; the module is not changed.

    It runs `@main`, or else the only public function. `devices` declares devices by
    name, each with a target attribute as text; without any the host CPU is used. `dims`
    bounds symbolic sizes, both ends included. `libraries` are shared libraries of the C
    functions that kernels call, `data_folders` are those that links to weights may lead
    to, `opt_level` is the effort of LLVM's passes (0 to 3), and `options` are those of
    `target.config` that may change results.

    Raises `OpError` for what is wrong in the module, `PipelineError` for arguments that
    are, and `JitError` if a C function that the code calls is found nowhere.
    """
    from transom.compiler import select_entry, to_code
    from transom.runtime.program import Program

    if threads != 1:
        raise PipelineError(
            f"expected 1 thread, the only number yet, but got {threads}"
        )
    if executor != "aot":
        raise PipelineError(
            f"expected executor 'aot', the only one yet, not '{executor}'"
        )
    if options:
        listed = ", ".join(f"'{name}'" for name in sorted(options))
        raise PipelineError(f"no kernel makes use of option {listed} yet")
    ctx = new_context() if ctx is None else ctx
    allow_deep_recursion()
    result = module.clone()
    declare_devices(result, devices or {}, ctx)
    bound_dims(result, dims or {})
    if get_config(result).phase != PHASES[-1].name:
        select_entry(result)
        lower_in_place(result, PHASES[-1].name, ctx=ctx)
    code = to_code(result, opt_level=opt_level, data_folders=data_folders)
    return Program(code, libraries)


def declare_devices(module: ModuleOp, devices: Mapping[str, str], ctx: Context) -> None:
    """
    Add a device for each name, with the targets of its text: one, or a list of them.
    """
    from xdsl.dialects.builtin import ArrayAttr

    for name, text in reversed(tuple(devices.items())):
        if lookup(module, name) is not None:
            raise PipelineError(f"the module has a symbol '@{name}' already")
        try:
            attr = parse_attribute_text(ctx, text, f"device '{name}'")
        except ParseError as e:
            raise PipelineError(f"device '{name}': {e.args[-1]}") from None
        targets: tuple[Attribute, ...] = (attr,)
        if isinstance(attr, ArrayAttr):
            targets = cast("ArrayAttr[Attribute]", attr).data
        wrong = [t for t in targets if not isinstance(t, TargetAttr)]
        if wrong:
            raise PipelineError(
                f"device '{name}': expected a target attribute, but got '{wrong[0]}'"
            )
        device = DeviceOp(name, [t for t in targets if isinstance(t, TargetAttr)])
        device.location = module.location
        first = module.body.block.first_op
        if first is None:
            module.body.block.add_op(device)
        else:
            module.body.block.insert_op_before(device, first)


def bound_dims(
    module: ModuleOp, dims: Mapping[str, tuple[int | None, int | None]]
) -> None:
    """Set the bounds of symbolic sizes, wherever a type of the module names them."""
    from transom.dialects.graph import Symbol, SymbolAttr
    from transom.dialects.symbols import replace_attributes

    seen: set[str] = set()

    def bounded(attribute: Attribute) -> Attribute:
        if not isinstance(attribute, SymbolAttr) or attribute.data is None:
            return attribute
        name = attribute.data.name
        seen.add(name)
        if name not in dims:
            return attribute
        return SymbolAttr(Symbol(name, *dims[name]))

    if not dims:
        return
    replace_attributes(module.walk(), bounded)
    for name in dims:
        if name not in seen:
            raise PipelineError(f"unknown size '{name}'{did_you_mean(name, seen)}")
