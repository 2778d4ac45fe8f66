"""
The Python API: load a module, lower it phase by phase, compile and run it.

```python
module = transom.load("model.mlir")
planned = transom.lower(module, to="planned")
program = transom.compile(module)
outputs = program.run({"x": x})
```
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation

from transom.dialects.collection import rare_collection
from transom.dialects.diagnostics import (
    Diagnostic,
    Note,
    OpError,
    did_you_mean,
    position_of,
)
from transom.dialects.parser import allow_deep_recursion, parse_ir
from transom.dialects.roomy_stack import with_room
from transom.dialects.symbols import symbol_name
from transom.dialects.target import (
    PHASE,
    DeviceOp,
    TargetAttr,
    get_config,
    set_phase,
    targets_in,
)
from transom.dialects.verifier import verify_module
from transom.passes.owned_functions import owned_by
from transom.passes.pipeline import MODULE, PassObserver, Pipeline, PipelineError
from transom.passes.verify_phase import verify_phase, verify_promise
from transom.phase_plan import PHASES, Phase, PhasePlan, phase_named, phase_plan
from transom.registry import new_context
from transom.size_bounds import bound_dims, open_dims

if TYPE_CHECKING:
    from transom.c_functions import Externs
    from transom.runtime.program import Program
    from transom.targets.bind_devices import Targets
    from transom.targets.hooks import RunArtifact


def phases() -> tuple[Phase, ...]:
    """All phases in order, with their promises and passes."""
    return PHASES


@with_room
@rare_collection()
def load(
    path: str | PathLike[str],
    *,
    ctx: Context | None = None,
    format: str | None = None,
    data_folders: Sequence[str] = (),
    shapes: Mapping[str, Sequence[int | None]] | None = None,
    dims: Mapping[str, tuple[int | None, int | None]] | None = None,
) -> ModuleOp:
    """
    Read a module from a file: IR text, or ONNX if `format` or the suffix says so.
    Links to an ONNX model and its external data may only leave its folder for one of
    `data_folders`. A target for the `host` names this machine's CPU from here on.

    `dims` bounds symbolic sizes, both ends included, within the bounds that types have;
    those of an ONNX model with equal bounds are static. `shapes` are those of inputs of
    an ONNX model; None is a size that stays open.

    Raises `OpError` for what is wrong in it, `OSError` if it cannot be read, and
    `PipelineError` if `dims` or `shapes` are wrong.
    """
    from transom.arguments import check_dims, check_shapes

    name = fspath(path)
    check_dims(dims)
    check_shapes(shapes)
    kind = format or Path(name).suffix.removeprefix(".")
    if kind == "onnx":
        from transom.frontends.onnx import load_onnx

        module = load_onnx(name, data_folders, shapes=shapes, dims=dims)
    elif shapes:
        raise PipelineError("expected an ONNX model, whose inputs may be given shapes")
    else:
        module = parse(Path(name).read_bytes(), ctx=ctx, name=name)
    bound_dims(module, open_dims(dims or {}, kind))
    return module


@with_room
@rare_collection()
def parse(
    text: str | bytes, *, ctx: Context | None = None, name: str = "<text>"
) -> ModuleOp:
    """
    Read a module from IR text, as `load` does from a file; `name` is what errors call
    the text. Paths in it are relative to the folder of `name`.

    Raises `OpError` for what is wrong in it.
    """
    from transom.arguments import check_text
    from transom.targets.resolve_devices import resolve_hosts

    check_text(text)
    module = parse_ir(new_context() if ctx is None else ctx, text, name)
    resolve_hosts(module)
    verify_module(module)
    return module


def lower(
    module: ModuleOp,
    to: str,
    *,
    ctx: Context | None = None,
    observer: PassObserver | None = None,
    thorough: bool = False,
) -> ModuleOp:
    """
    A copy of a module, taken from the phase that it records to the phase `to`.

    `observer` sees each pass. `thorough` also checks of hooks of targets what takes
    long: that their passes do the same each time, and keep the numbers.

    Raises `OpError` if the module cannot get there or is past it already, and
    `PipelineError` if there is no such phase.
    """
    from transom.arguments import check_module

    check_module(module)
    allow_deep_recursion()
    result = module.clone()
    lower_in_place(result, to, ctx=ctx, observer=observer, thorough=thorough)
    return result


@with_room
@rare_collection()
def lower_in_place(
    module: ModuleOp,
    to: str,
    *,
    ctx: Context | None = None,
    observer: PassObserver | None = None,
    thorough: bool = False,
    trusting: bool = False,
) -> None:
    """
    Lower a module itself; the arguments are those of `lower`.

    The module is verified at each phase; `trusting` is quicker, for a module that has
    been verified and that LLVM verifies in the end: it is only verified where code of
    others has run. Promises are checked in any case. On failure the module is left at
    what the failing pass made of it.
    """
    ctx = new_context() if ctx is None else ctx
    remaining = phases_between(module, to)
    if remaining and remaining[0] is not PHASES[0]:
        from transom.passes.machine import Machine
        from transom.targets.resolve_devices import resolve_devices

        # A module that was written by hand at a later phase may name no CPU yet.
        resolve_devices(module)
        Machine(module)  # which tells what is not declared
    for phase in remaining:
        plan = phase_plan(module, phase, ctx)
        with placements_noted(module, phase, observer):
            run_plan(plan, ctx, module, observer, thorough=thorough)
        set_phase(module, phase.name)
        if trusting and not runs_others(module, plan):
            verify_promise(module, phase.name)
        else:
            verify_phase(module, phase.name)


def runs_others(module: ModuleOp, plan: PhasePlan) -> bool:
    """Whether code that is not transom's takes part in a phase, or may do so."""
    from transom.dialects.plugins import installed
    from transom.targets.registry import plugin_identities

    passes = [pass_ for step in plan.steps for pass_ in step.pipeline.passes()]
    devices = [op for op in module.ops if isinstance(op, DeviceOp)]
    targets = [target for device in devices for target in device.targets]
    return (
        any(not plugin.is_disabled for plugin in installed())
        or bool(plugin_identities(targets))
        or any(
            type(pass_).__module__.partition(".")[0] not in ("transom", "xdsl")
            for pass_ in passes
        )
    )


@contextmanager
def placements_noted(
    module: ModuleOp, phase: Phase, observer: PassObserver | None
) -> Generator[None]:
    """
    Note, after the phase that chooses places, which target runs how many ops, if the
    module has several targets.
    """
    if observer is None or phase.name != "placed" or len(targets_in(module)) < 2:
        yield
        return
    from transom.passes.op_placements import PlacementSummary, collecting

    summary = PlacementSummary()
    with collecting(summary.add):
        yield
    if summary.counts:
        observer.noted(Diagnostic("note", module.location, summary.line()))


def run_plan(
    plan: PhasePlan,
    ctx: Context,
    module: ModuleOp,
    observer: PassObserver | None = None,
    *,
    thorough: bool = False,
) -> None:
    """
    Run the steps of a phase on a module; after those of a hook check its contract.
    `observer` is told which shared passes a target's functions went without. Without
    those that the phase promises something by, functions say that they are not there.

    Raises `OpError`.
    """
    for step in plan.steps:
        if step.hook is None or step.target is None:
            step.pipeline.apply(ctx, module, observer)
            continue
        from transom.targets.contract import HookContract

        contract = HookContract(module, step.target, step.hook, thorough=thorough)
        try:
            step.pipeline.apply(ctx, module, observer)
        except OpError as e:
            whose = f"run by hook '{step.hook}' of '{step.target}'"
            e.notes = (*e.notes, Note(e.location, whose))
            raise
        contract.check(lambda again, step=step: step.pipeline.apply(ctx, again))
    for target, omitted in plan.omissions:
        functions = owned_by(module, target)
        if functions and observer is not None:
            note = f"'{target}' omits '{omitted}' for its functions"
            where = place_of_owned(module, functions[0], target)
            observer.noted(Diagnostic("note", where, note))
        if omitted in plan.phase.keeps_promise:
            before = PHASES[PHASES.index(plan.phase) - 1].name
            for function in functions:
                function.attributes.setdefault(PHASE, StringAttr(before))


def place_of_owned(
    module: ModuleOp, function: Operation, target: TargetAttr
) -> LocationAttr:
    """
    Where a function of a target comes from: its place, that of a call of it, or that of
    the device which has the target.
    """
    name = symbol_name(function)
    calls = (op for op in module.walk() if callee_name(op) == name)
    devices = (
        op for op in module.ops if isinstance(op, DeviceOp) and target in op.targets
    )
    for op in (function, *calls, *devices):
        if position_of(op.location) is not None:
            return op.location
    return function.location


def callee_name(op: Operation) -> str | None:
    """The function that an op calls."""
    callee = op.properties.get("callee")
    return callee.string_value() if isinstance(callee, SymbolRefAttr) else None


def phases_between(module: ModuleOp, to: str) -> tuple[Phase, ...]:
    """The phases that a module goes through to reach the phase `to`."""
    names = [phase.name for phase in PHASES]
    last = PHASES.index(phase_named(to))
    reached = get_config(module).phase
    first = 0 if reached is None else names.index(reached) + 1
    if first > last + 1:
        raise OpError(
            module,
            f"expected a module at or before phase '{to}', but it is at '{reached}'",
        )
    return PHASES[first : last + 1]


EXECUTORS = ("aot", "graph", "vm")
"""What can run main: machine code, a graph that is walked, or bytecode."""

OPT_LEVELS = range(4)
"""How much LLVM's passes may do."""


@with_room
@rare_collection()
def compile(
    module: ModuleOp,
    *,
    devices: "Mapping[str, Targets] | None" = None,
    executor: str | None = None,
    threads: int | None = None,
    dims: Mapping[str, tuple[int | None, int | None]] | None = None,
    opt_level: int = 2,
    libraries: Sequence[str] = (),
    data_folders: Sequence[str] = (),
    externs: "Externs" = "native",
    callbacks: "Mapping[str, RunArtifact] | None" = None,
    poison_memory: bool = False,
    in_pools: Sequence[str] = (),
    ctx: Context | None = None,
    **options: bool,
) -> "Program":
    """
    A program in this process, from a module at any phase; the module is not changed.

    It runs `@main`, or else the only public function. `devices` declares devices by
    name, each with a target attribute or its text, a list of them, or as text a
    dictionary `{targets = […], memories = […]}`; without any the host CPU is used.
    `executor` is one of `EXECUTORS`, by default what the module says, or `aot`. `dims`
    bounds symbolic sizes, both ends included. `threads` is how many threads a kernel
    may use, by default what the module says, or one; results never depend on it.
    `libraries` are shared libraries of the C functions that kernels call,
    `data_folders` are those that links to weights may lead to, `opt_level` is the
    effort of LLVM's passes (0 to 3). `options` are those of `target.config` that may
    change results: with `winograd=True` convolutions of 3 by 3 take fewer
    multiplications and round differently (`tir-use-winograd`); there is no other yet.

    With `externs` the C functions run in Python: "reference" takes the reference
    evaluations that the module's targets bring, a dictionary functions by name.
    Artifacts that are no code of this machine run by `callbacks`, by name or format, or
    else by the reference evaluation of their target.

    With `poison_memory` the program fills memory with garbage where nothing is in it
    (`tir-poison-memory`), so that a wrong plan of its memory shows in its outputs.

    `in_pools` names what has a place in the pools of the memory plan beside the buffers
    of main: `inputs`, `outputs`, `constants`. Programs copy inputs and outputs there
    and back; callers of a C library write and read them in place.

    Raises `OpError` for what is wrong in the module, `PipelineError` for arguments that
    are, and `JitError` if a C function that the code calls is found nowhere.
    """
    from transom.arguments import check_arguments, check_module
    from transom.compile_options import use_options, use_threads
    from transom.entry import select_entry
    from transom.program_making import Making

    check_module(module)
    check_arguments(compile, locals())
    executor = executor_of(module, executor)
    if opt_level not in OPT_LEVELS:
        raise PipelineError(f"expected 0 to 3 as 'opt_level', but got {opt_level!r}")
    ctx = new_context() if ctx is None else ctx
    allow_deep_recursion()
    result = module.clone()
    declare_devices(result, devices or {}, ctx)
    bound_dims(result, dims or {})
    if threads is not None:
        use_threads(result, int(threads))
    use_options(result, options)
    place_in_pools(result, in_pools)
    if get_config(result).phase != PHASES[-1].name:
        select_entry(result)
    making = Making(
        executor,
        opt_level=opt_level,
        data_folders=data_folders,
        externs=externs,
        poison_memory=poison_memory,
    )
    return making.program(result, ctx, libraries, callbacks)


def executor_of(module: ModuleOp, executor: str | None) -> str:
    """
    What runs main: `executor`, or else what the module says.

    Raises `PipelineError` for one that there is not.
    """
    if executor is None:
        return get_config(module).executor.value
    if executor not in EXECUTORS:
        near = did_you_mean(str(executor), EXECUTORS)
        raise PipelineError(f"unknown executor '{executor}'{near}")
    return executor


def poison(
    module: ModuleOp, ctx: Context, observer: PassObserver | None = None
) -> None:
    """
    Take a module to phase `planned` and let it fill memory with garbage where nothing
    is in it. Raises `OpError` if it is past that phase.
    """
    from transom.passes.tir_poison_memory import TirPoisonMemoryPass

    lower_in_place(module, "planned", ctx=ctx, observer=observer)
    pipeline = Pipeline(MODULE, (TirPoisonMemoryPass(),))
    pipeline.apply(ctx, module, observer)


def declare_devices(
    module: ModuleOp, devices: "Mapping[str, Targets]", ctx: Context
) -> None:
    """
    Add a device for each name, with these targets: see `device_of`.

    Raises `OpError` if the module has another one of that name.
    """
    from transom.targets.bind_devices import device_of

    passes = [device_of(name, value, ctx) for name, value in devices.items()]
    for pass_ in passes:
        pass_.apply(ctx, module)


def place_in_pools(module: ModuleOp, what: Sequence[str]) -> None:
    """
    Give inputs, outputs or constants of a module places in pools; see `InPools`.

    Raises `PipelineError` for what there is not, and `OpError` if the module's memory
    is planned.
    """
    from xdsl.dialects.builtin import ArrayAttr

    from transom.dialects.target import InPools, InPoolsAttr, set_config

    if not what:
        return
    words = [str(word) for word in InPools]
    for word in what:
        if word not in words:
            near = did_you_mean(word, words)
            raise PipelineError(f"nothing of a program is '{word}'{near}")
    config, decided = get_config(module), "planned"
    names = [phase.name for phase in PHASES]
    if config.phase is not None and names.index(config.phase) >= names.index(decided):
        raise OpError(
            module,
            f"expected a module before phase '{decided}' to place "
            f"{' and '.join(what)}, but it is at '{config.phase}'",
        )
    chosen = sorted({*config.in_pools, *map(InPools, what)})
    attr = ArrayAttr([InPoolsAttr(word) for word in chosen])
    set_config(module, {"in_pools": attr})
