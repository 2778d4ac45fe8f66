"""
From a module at phase `machine` to a program in this process.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from transom.artifacts import artifacts_of, callbacks_of
from transom.dialects import graph, llvm
from transom.dialects.diagnostics import OpError
from transom.dialects.dtypes import numpy_dtype
from transom.dialects.executor import (
    INPUTS,
    OUTPUTS,
    SIGNATURE,
    ConstantOp,
    PoolOp,
    PoolPlace,
    SignatureAttr,
    bounded_results,
    places_of,
)
from transom.dialects.graph.shapes import DYNAMIC
from transom.dialects.symbols import symbol_name
from transom.dialects.target import DeviceOp, get_config
from transom.dialects.weight_files import base_folder
from transom.elf_objects import with_symbols
from transom.interpreters.weights import WeightStore
from transom.machine_code import KernelObject, Machine, objects_of
from transom.runtime.callbacks import Called
from transom.runtime.jit import JitError, UndefinedSymbols
from transom.runtime.program import Code, PoolSpec, Program
from transom.runtime.signature import Dim, Signature, TensorSpec
from transom.targets.hooks import RunArtifact
from transom.targets.llvm_cpu.dialect import HOST, LlvmCpuAttr
from transom.targets.llvm_cpu.host import NEVER_CHOSEN, resolved
from transom.targets.references import reference_of

MESSAGES = "executor.messages"


def signature_of(
    attr: SignatureAttr,
    bounded: Sequence[int] = (),
    places: Mapping[tuple[str, str], PoolPlace] | None = None,
) -> Signature:
    """
    The signature of a program from that of its entry in the IR; `bounded` are the
    results whose sizes depend on data, `places` those of inputs and outputs in pools.
    """
    known = places or {}
    return Signature(
        tuple(
            _spec(name, type, place=known.get((INPUTS, name)))
            for name, type in attr.inputs
        ),
        tuple(
            _spec(name, type, number in bounded, known.get((OUTPUTS, name)))
            for number, (name, type) in enumerate(attr.outputs)
        ),
    )


def _spec(
    name: str,
    type: TensorType[Attribute],
    is_bounded: bool = False,
    place: PoolPlace | None = None,
) -> TensorSpec:
    shape: list[int | Dim] = []
    for size, symbol in zip(type.get_shape(), graph.dim_symbols(type), strict=True):
        if size != DYNAMIC:
            shape.append(size)
        elif symbol is None:
            shape.append(Dim())
        else:
            shape.append(Dim(symbol.name, symbol.lower, symbol.upper))
    dtype = numpy_dtype(type.element_type).name
    where = None if place is None else (place.pool, place.offset)
    return TensorSpec(name, dtype, tuple(shape), is_bounded, where)


def find_entry(module: ModuleOp) -> Operation:
    """The function that a program starts with. Raises `OpError` if there is none."""
    entries = [op for op in module.body.block.ops if SIGNATURE in op.attributes]
    if len(entries) != 1:
        raise OpError(
            module,
            f"expected one function with '{SIGNATURE}', but got {len(entries)}",
        )
    return entries[0]


def machine_of(module: ModuleOp) -> LlvmCpuAttr:
    """The CPU that main is compiled for: that of the host, if the module names one."""
    devices = [op for op in module.body.block.ops if isinstance(op, DeviceOp)]
    host = get_config(module).host
    for device in devices:
        if host not in (None, device.sym_name.data):
            continue
        for target in device.targets:
            if isinstance(target, LlvmCpuAttr):
                return resolved(target) if target.cpu.data == HOST else target
    where = "of a device" if host is None else f"of device '@{host}'"
    raise OpError(
        module,
        f"expected '#llvm_cpu.target' among the targets {where}, to compile main",
    )


def check_runs_here(target: LlvmCpuAttr, module: ModuleOp) -> None:
    """
    Raise `OpError` unless this machine has all that code for a target may use: wrong
    instructions would end the process.
    """
    here = resolved(LlvmCpuAttr.get(HOST))
    wanted, own = target.architecture, here.architecture
    assert wanted is not None and own is not None, "CPUs are named by now"
    if wanted != own:
        raise OpError(
            module,
            f"this machine cannot run code for '{target}': "
            f"it is of {own.name}, not of {wanted.name}",
        )
    missing = sorted(target.feature_set - here.feature_set - NEVER_CHOSEN)
    if missing:
        listed = ", ".join(missing[:4]) + (", …" if len(missing) > 4 else "")
        raise OpError(
            module, f"this machine cannot run code for '{target}': it lacks {listed}"
        )


def can_run_here(module: ModuleOp) -> bool:
    """Whether this machine can run the code of a module whose CPU is named."""
    try:
        check_runs_here(machine_of(module), module)
    except OpError:
        return False
    return True


def to_code(
    module: ModuleOp,
    *,
    base: Path | None = None,
    opt_level: int = 2,
    data_folders: Sequence[str] = (),
    kernels: Mapping[str, KernelObject] | None = None,
    runs_here: bool = True,
    executable: ModuleOp | None = None,
    executor: str = "graph",
) -> Code:
    """
    Machine code, weights and needs of a module at phase `machine`.

    Weights are read relative to `base`, by default the folder of the module's file;
    links may lead to `data_folders`. `kernels` are those that were compiled before, by
    name. Raises `OpError`, also for code that cannot run on this machine, unless it
    does not have to. With `executable`, the module before main was lowered, main is
    what `executor` runs, a graph or bytecode.
    """
    entry = find_entry(module)
    attr = entry.attributes[SIGNATURE]
    assert isinstance(attr, SignatureAttr), "the dialect verifies it"
    name = symbol_name(entry)
    assert name is not None, "entries are functions"
    target = machine_of(module)
    if runs_here:
        check_runs_here(target, module)
    machine = Machine.of(target, opt_level)
    base = base_folder(module) if base is None else base
    # In machine code small constants are a part of main.
    weights = WeightStore(executable or module, base, data_folders)
    ops = list(module.body.block.ops)
    shapes = f"{name}.shapes"
    main, bytecode = None, None
    if executable is None:
        objects = objects_of(module, machine, kernels or {})
    else:
        if executor == "vm":
            from transom.main_bytecode import bytecode_of

            bytecode = bytecode_of(executable, module)
        else:
            from transom.main_graph import graph_of

            main = graph_of(executable, module)
        walked = [
            op.sym_name.data for op in executable.body.ops if isinstance(op, FuncOp)
        ]
        # Kernels are looked up, which are hidden from all but main's code.
        objects = tuple(
            with_symbols(data, lambda name: name, lambda name: False)
            for data in objects_of(module, machine, kernels or {}, walked)
        )
    return Code(
        objects=objects,
        triple=machine.triple,
        cpu=machine.cpu,
        features=machine.features,
        entry=name,
        shapes=shapes if any(_is_function(op, shapes) for op in ops) else None,
        signature=signature_of(attr, bounded_results(entry), places_of(entry)),
        pools=tuple(
            PoolSpec(
                pool.sym_name.data,
                pool.size_bytes,
                pool.alignment_bytes,
                pool.weights,
            )
            # Weights have the names there that main reads them by.
            for pool in (executable or module).body.block.ops
            if isinstance(pool, PoolOp)
        ),
        messages=messages_of(module),
        constants={
            op.sym_name.data: weights.for_code(op)
            for op in (
                weights_of_code(module)
                if executable is None
                else weights_of_main(executable)
            )
        },
        artifacts=artifacts_of(module),
        graph=main,
        bytecode=bytecode,
        needs=tuple(sorted(target.feature_set - NEVER_CHOSEN)),
    )


def weights_of_code(module: ModuleOp) -> list[graph.WeightOp]:
    """The weights whose addresses code takes; others only make these."""
    taken = {
        op.global_name.string_value()
        for function in module.body.block.ops
        if isinstance(function, llvm.FuncOp)
        for op in function.walk()
        if isinstance(op, llvm.AddressOfOp) and op.result.first_use is not None
    }
    return _weights_named(module, taken)


def weights_of_main(executable: ModuleOp) -> list[graph.WeightOp]:
    """The weights that main reads, where it is no machine code."""
    taken = {
        op.weight.string_value()
        for op in executable.walk()
        if isinstance(op, ConstantOp)
    }
    return _weights_named(executable, taken)


def _weights_named(module: ModuleOp, names: set[str]) -> list[graph.WeightOp]:
    """The weights of these names, and those that pools hold, in order."""
    pools = (op for op in module.body.block.ops if isinstance(op, PoolOp))
    wanted = names | {name for pool in pools for name, _ in pool.weights}
    return [
        op
        for op in module.body.block.ops
        if isinstance(op, graph.WeightOp) and op.sym_name.data in wanted
    ]


def to_program(
    module: ModuleOp,
    *,
    base: Path | None = None,
    opt_level: int = 2,
    data_folders: Sequence[str] = (),
    libraries: Sequence[str] = (),
    kernels: Mapping[str, KernelObject] | None = None,
    callbacks: Mapping[str, RunArtifact] | None = None,
    functions: Mapping[str, Called] | None = None,
    executable: ModuleOp | None = None,
    executor: str = "graph",
) -> Program:
    """
    A program in this process, of a module at phase `machine`; see `to_code`.

    Artifacts that are no code of this machine are run by `callbacks`, by name or
    format, or else by the references of the module's targets; `functions` are called in
    Python, by symbol. Raises `OpError`, and `JitError` for what is found nowhere.
    """
    reference = reference_of(module)
    runs = callbacks_of(module, reference, callbacks)
    code = to_code(
        module,
        base=base,
        opt_level=opt_level,
        data_folders=data_folders,
        kernels=kernels,
        executable=executable,
        executor=executor,
    )
    try:
        return Program(code, libraries, runs, functions)
    except UndefinedSymbols as e:
        known = [f"'{name}'" for name in e.names if name in reference.externs]
        ways = "name their library by '--library FILE', in Python 'libraries=[…]'"
        if known:
            all_of_them = len(known) == len(e.names) > 1
            ways += (
                f"; {'all' if all_of_them else ', '.join(known)} can run by reference "
                "evaluation: '--externs=reference', in Python 'externs=\"reference\"'"
            )
        raise JitError(f"{e}; {ways}") from None


def _is_function(op: Operation, name: str) -> bool:
    return isinstance(op, llvm.FuncOp) and symbol_name(op) == name


def messages_of(module: ModuleOp) -> tuple[str, ...]:
    """What each status of the program says, from 1 on."""
    attr = module.attributes.get(MESSAGES)
    if attr is None:
        return ()
    texts = cast("ArrayAttr[StringAttr]", attr)
    return tuple(text.data for text in texts)
