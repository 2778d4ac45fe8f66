"""
Kernels are compiled apart from main, each alone, and found again by content.

From phase `tensor` on no shared pass looks from one kernel into another, or from main
into a kernel. Kernels therefore leave the module there: in a module of their own they
go through the phases that are left, and become machine code; a kernel whose code is
known (`transom.cache`, kind `kernel-code`) does not even do that. In main's module
stands a *stub* for each, a kernel of the same signature that asks for the same memory
and can fail with the same messages:

```mlir
tir.func @conv(read %x: …, write %y: …) {     tir.func @conv(read %x: …, write %y: …) {
  %b = tir.alloc : memref<4096xf32>             %b = tir.alloc : memref<4096xf32>
  tir.nest …                             ==>    %false = arith.constant false
  cf.assert %fits, "sizes differ"               cf.assert %false, "sizes differ"
  tir.return                                    tir.return
}                                             }
```

What is known and what is made take the same way, so that both give the same program. A
kernel stays in main's module if it refers to symbols, or if its target has passes that
are not known to treat kernels alone.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from xdsl.context import Context
from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i1
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from transom.cache import (
    content_key,
    count,
    foundation,
    identity_of,
    store,
    turned_off,
)
from transom.compiler import check_runs_here, machine_of
from transom.dialects import tir
from transom.dialects.symbols import symbol_name
from transom.dialects.target import TargetAttr, get_config, target_of
from transom.dialects.verified_functions import content_of
from transom.dialects.verifier import verify_module
from transom.driver import lower_in_place
from transom.kept_main import lower_keeping_main
from transom.lowering.emit_llvm import to_object_texts
from transom.lowering.failures import failure_texts
from transom.lowering.kernels import forget_origin
from transom.machine_code import CODE, KernelObject, Machine, compiled
from transom.passes.kernel_pass import KernelPass, nameless_form, read_kernel
from transom.passes.owned_functions import is_kernel
from transom.passes.pass_options import spell_out_pass
from transom.passes.pipeline import PassObserver, PassObservers
from transom.passes.tir_lift_scratch import TirLiftScratchPass
from transom.phase_plan import PHASES, phase_named, phase_plan
from transom.targets.hooks import TargetHooks
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr
from transom.targets.registry import hooks_of
from transom.targets.resolve_devices import resolve_devices

KERNEL_CODE = "kernel-code"
"""The kind of entry: a stub and the key of an object, by the kernel at `tensor`."""

START = "tensor"
"""The phase at which kernels leave main's module."""

TREAT_KERNELS_ALONE = frozenset(
    {
        "convert-tir-to-executor",
        "convert-to-llvm",
        "lower-executor-to-func",
        "lower-scf-to-cf",
        "target-emit-artifacts",
        "tir-bufferize-main",
        "tir-build-in-place",
        "tir-lift-scratch",
        "tir-plan-memory",
    }
)
"""
Passes after `tensor` that make of a kernel what depends on that kernel alone, and of
main what depends on no kernel but on its signature, the memory that it asks for and the
messages that it can fail with. So do all that derive `KernelPass`.
"""


def lower_to_machine(
    module: ModuleOp,
    ctx: Context,
    opt_level: int = 2,
    observer: PassObserver | None = None,
    *,
    runs_here: bool = True,
) -> Mapping[str, KernelObject]:
    """
    Lower a module itself to phase `machine`, with stubs for the kernels that are given:
    compiled, by name.

    `observer` sees each pass. Raises `OpError`, also for code that cannot run on this
    machine, unless it does not have to.
    """
    reached = get_config(module).phase
    names = [phase.name for phase in PHASES]
    trusting = observer is None
    if trusting:
        verify_module(module)
    if reached is None or names.index(reached) < names.index(START):
        lower_in_place(module, START, ctx=ctx, observer=observer, trusting=trusting)
    else:
        resolve_devices(module)  # a module that was written by hand may name no CPU yet
    kernels = compile_kernels(module, ctx, opt_level, observer, runs_here=runs_here)
    lower_in_place(module, names[-1], ctx=ctx, observer=observer, trusting=trusting)
    return kernels


def lower_with_executable(
    module: ModuleOp,
    ctx: Context,
    opt_level: int = 2,
    observer: PassObserver | None = None,
    *,
    runs_here: bool = True,
) -> tuple[Mapping[str, KernelObject], ModuleOp]:
    """
    As `lower_to_machine`; gives a copy of the module with its main as well.

    Raises `OpError`, also for a module that is at phase `machine`.
    """
    reached = get_config(module).phase
    names = [phase.name for phase in PHASES]
    kernels: Mapping[str, KernelObject] = {}
    if reached is None or names.index(reached) <= names.index(START):
        lower_in_place(module, START, ctx=ctx, observer=observer)
        kernels = compile_kernels(module, ctx, opt_level, observer, runs_here=runs_here)
    return kernels, lower_keeping_main(module, ctx, observer)


def compile_kernels(
    module: ModuleOp,
    ctx: Context,
    opt_level: int = 2,
    observer: PassObserver | None = None,
    *,
    runs_here: bool = True,
) -> Mapping[str, KernelObject]:
    """
    Compile kernels of a module at phase `tensor`, and put stubs in their places.

    Arguments and errors are those of `lower_to_machine`.
    """
    if get_config(module).phase != START:
        return {}
    target = machine_of(module)
    if runs_here:
        check_runs_here(target, module)
    machine = Machine.of(target, opt_level)
    keys = _Keys(module, ctx, machine)
    known: dict[str, _Entry] = {}
    missing: dict[str, str] = {}
    for kernel in _kernels_of(module):
        key = keys.of(kernel)
        if key is not None:
            name = kernel.sym_name.data
            entry = _find(ctx, key, name)
            if entry is None:
                missing[name] = key
            else:
                known[name] = entry
    if missing:
        known |= _Maker(module, ctx, machine, observer).make(missing)
    for kernel in _kernels_of(module):
        entry = known.get(kernel.sym_name.data)
        if entry is not None:
            entry.stub.location = kernel.location
            module.body.block.insert_op_before(entry.stub, kernel)
            kernel.detach()
            kernel.erase()
    return {name: entry.object for name, entry in known.items()}


class _Entry(NamedTuple):
    """What is known of a kernel."""

    stub: Operation
    object: KernelObject


def _find(ctx: Context, key: str, name: str) -> _Entry | None:
    """The entry of a key, if it is whole: its object is an entry of its own."""
    data = store().get(KERNEL_CODE, key)
    if data is None:
        return None
    code_key, declaration, stub_form = json.loads(data)
    stub = read_kernel(ctx, stub_form.encode(), name)
    code = store().get(CODE, code_key)
    if stub is None or code is None:
        return None
    return _Entry(stub, KernelObject(code, declaration))


class _Keys:
    """What the code of the kernels of a module depends on."""

    def __init__(self, module: ModuleOp, ctx: Context, machine: Machine) -> None:
        self.machine = machine
        later = PHASES[PHASES.index(phase_named(START)) + 1 :]
        self.plans = [phase_plan(module, phase, ctx) for phase in later]
        self.by_target: dict[TargetAttr, tuple[str, ...] | None] = {}

    def of(self, kernel: tir.FuncOp) -> str | None:
        """The key of a kernel, or None if it may depend on more than that."""
        if kernel.sym_visibility.data != "private":
            return None
        target = target_of(kernel)
        if not isinstance(target, LlvmCpuAttr):
            return None
        made_by = self.made_by(target)
        form = None
        if made_by is not None and content_of(kernel) is not None:
            form = nameless_form(kernel, to_hash=True, with_places=True)
        if made_by is None or form is None:
            count(KERNEL_CODE, refused=1)
            return None
        return content_key((form, *made_by))

    def made_by(self, target: TargetAttr) -> tuple[str, ...] | None:
        """The passes and the code that the kernels of a target go through."""
        if target not in self.by_target:
            self.by_target[target] = self._made_by(target)
        return self.by_target[target]

    def _made_by(self, target: TargetAttr) -> tuple[str, ...] | None:
        default: type[Any] = TargetHooks
        if type(hooks_of(target)).emit is not default.emit:
            return None
        passes: list[ModulePass] = []
        for plan in self.plans:
            for step in plan.steps:
                if step.pipeline.shown.sees(target):
                    passes += step.pipeline.passes()
        if not all(map(treats_kernels_alone, passes)):
            return None
        packages = {type(pass_).__module__.partition(".")[0] for pass_ in passes}
        return (
            str(target),
            str(self.machine),
            *map(spell_out_pass, passes),
            *map(identity_of, sorted(packages)),
            foundation(),
        )


def treats_kernels_alone(pass_: ModulePass) -> bool:
    """Whether what a pass makes of a kernel depends on that kernel alone."""
    return isinstance(pass_, KernelPass) or pass_.name in TREAT_KERNELS_ALONE


@dataclass
class _Maker:
    """Compiles kernels in a module of their own."""

    module: ModuleOp
    ctx: Context
    machine: Machine
    observer: PassObserver | None

    def make(self, keys: Mapping[str, str]) -> dict[str, _Entry]:
        """Entries of kernels, whose keys are given by name; they are kept."""
        apart = self.module_of(keys)
        stubs = _StubObserver()
        observers = [stubs] if self.observer is None else [stubs, self.observer]
        with turned_off():  # what is between is not asked for once the end is known
            lower_in_place(
                apart,
                PHASES[-1].name,
                ctx=self.ctx,
                observer=PassObservers((*observers,)),
                trusting=self.observer is None,
            )
        texts = to_object_texts(apart).kernels
        made: dict[str, _Entry] = {}
        for name, key in keys.items():
            kernel = texts.get(name)
            if kernel is None:  # it turned out not to stand alone
                count(KERNEL_CODE, refused=1)
                continue
            text, declaration = kernel
            stub = stubs.stubs[name]
            form = nameless_form(stub)
            assert form is not None, "a stub is plain"
            code = compiled(text, self.machine, apart, name)
            entry = [self.machine.key(text), declaration, form.decode()]
            store().put(KERNEL_CODE, key, json.dumps(entry).encode())
            made[name] = _Entry(stub, KernelObject(code, declaration))
        return made

    def module_of(self, names: Mapping[str, str]) -> ModuleOp:
        """A module of some kernels, and of what describes the machine."""
        apart = ModuleOp([])
        apart.attributes = dict(self.module.attributes)
        apart.location = self.module.location
        for op in self.module.body.ops:
            is_wanted = is_kernel(op) and symbol_name(op) in names
            if is_wanted or op.name.startswith("target."):
                apart.body.block.add_op(op.clone())
        return apart


@dataclass(frozen=True)
class _StubObserver(PassObserver):
    """Makes stubs of kernels while they are lowered."""

    stubs: dict[str, tir.FuncOp] = field(default_factory=dict[str, tir.FuncOp])

    def before(self, pass_: ModulePass, op: Operation) -> None:
        if not isinstance(op, ModuleOp):
            return
        if isinstance(pass_, TirLiftScratchPass):
            for kernel in _kernels_of(op):
                self.stubs[kernel.sym_name.data] = stub_of(kernel, pass_.lifted(kernel))
        elif pass_.name == "convert-to-llvm":
            for kernel in _kernels_of(op):
                name = kernel.sym_name.data
                if name not in self.stubs:
                    self.stubs[name] = stub_of(kernel, ())
                let_fail(self.stubs[name], failure_texts(kernel))


def _kernels_of(module: ModuleOp) -> Sequence[tir.FuncOp]:
    """The kernels of a module that have a body."""
    return [
        op for op in module.body.ops if isinstance(op, tir.FuncOp) and op.body.blocks
    ]


def stub_of(kernel: tir.FuncOp, buffers: Sequence[tir.AllocOp]) -> tir.FuncOp:
    """A kernel of the same signature that does nothing but ask for some buffers."""
    block = Block(arg_types=kernel.argument_types)
    values: dict[SSAValue, SSAValue] = dict(zip(kernel.args, block.args, strict=True))

    def copy(op: Operation) -> None:
        for operand in op.operands:
            if operand not in values:
                assert isinstance(operand.owner, Operation), "sizes are known at calls"
                copy(operand.owner)
        new = op.clone(values)
        new.attributes.clear()
        block.add_op(new)

    for alloc in buffers:
        copy(alloc)
    block.add_op(tir.ReturnOp())
    stub = tir.FuncOp.create(
        properties=dict(kernel.properties),
        attributes=dict(kernel.attributes),
        regions=[Region(block)],
    )
    forget_origin(stub)
    return stub


def let_fail(stub: tir.FuncOp, texts: Sequence[str]) -> None:
    """Let a stub fail with messages, in their order."""
    last = stub.body.block.last_op
    assert last is not None, "a stub returns"
    for text in texts:
        never = arith.ConstantOp(IntegerAttr(0, i1))
        check = cf.AssertOp(never.result, StringAttr(text))
        stub.body.block.insert_ops_before([never, check], last)
