"""
Let targets emit their kernels in their own way: code instead of functions.

Hook `emit` of each target that owns kernels is asked for them. If it answers with code,
each kernel becomes an artifact of the same name; kernels in one payload share it. Else
they go on to LLVM.

```mlir
tir.func @k(read %x: memref<4xf32>, …)      executor.artifact @k {
    attributes {target.for = …} {             format = "toy", target = …,
  …                                     ==>   payload = #executor.bytes<"…">, …
}                                           }
```

Memory that a kernel needs is planned with all the other memory if it is an argument of
the kernel by then (`scratch`). What only the code turns out to need, its workspace, is
not: such calls share one more pool, as large as the largest of them asks for.

```mlir
executor.call @k(%x, …)          ==>  %w = executor.view @artifacts.workspace[0] : …
                                      executor.call @k(%x, …, %w)
```
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, MemRefType, ModuleOp, SymbolRefAttr, i8
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from transom.dialects import executor, tir
from transom.dialects.diagnostics import OpError
from transom.dialects.symbols import fresh_symbol, lookup, symbol_name
from transom.dialects.target import TargetAttr, targets_in
from transom.passes.owned_functions import is_kernel, owned_by
from transom.targets.contract.answers import LOWERS_NESTS
from transom.targets.contract.emission import EmissionContract
from transom.targets.contract.rules import RAISED, nearest_location
from transom.targets.hooks import Emitted, TargetHooks
from transom.targets.registry import HooksError, hooks_of

WORKSPACE = "artifacts.workspace"
"""The name of the pool that emitted code works in, unless it is taken."""


@dataclass(frozen=True)
class TargetEmitArtifactsPass(ModulePass):
    name = "target-emit-artifacts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        made: list[executor.ArtifactOp] = []
        for target in targets_in(op):
            for emitted in emit(op, target):
                made += replace_kernels(op, target, emitted)
        pass_workspaces(op, [artifact for artifact in made if artifact.workspace_bytes])


def emit(module: ModuleOp, target: TargetAttr) -> Sequence[Emitted]:
    """
    The code that a target emits for its kernels, if it does.

    Raises `OpError` if its hooks cannot be had or break their contract.
    """
    kernels = [op for op in owned_by(module, target) if is_kernel(op)]
    if not kernels:
        return ()
    try:
        hooks = hooks_of(target)
    except HooksError as e:
        raise OpError(kernels[0], str(e)) from None
    default: Any = TargetHooks
    if type(hooks).emit is default.emit:
        check_nests(kernels, hooks, target)
        return ()
    shown = with_bodies_of(module, kernels)
    contract = EmissionContract(shown, target)
    try:
        emitted = hooks.emit(shown, target)
    except OpError:
        raise
    except Exception as e:  # plug-in boundary: hooks are others' code
        error = f"{type(e).__name__}: {e}"
        raise contract.origin.error(RAISED, kernels[0], error=error) from e
    if checked := contract.check(emitted):
        return checked
    check_nests(kernels, hooks, target)
    return ()


def check_nests(
    kernels: Sequence[Operation], hooks: TargetHooks[Any], target: TargetAttr
) -> None:
    """Raise `OpError` for nests that a target keeps from LLVM and does not emit."""
    if LOWERS_NESTS not in hooks.omits(target):
        return
    for kernel in kernels:
        for op in kernel.walk():
            if isinstance(op, tir.NestOp):
                raise OpError(
                    next(
                        (o for o in (op, kernel) if o.location != UNKNOWN_LOC),
                        nearest_location(kernel),
                    ),
                    f"expected no 'tir.nest' in '@{symbol_name(kernel)}', as LLVM has "
                    f"none; '{target}' omits '{LOWERS_NESTS}', so its hook 'emit' or "
                    "'tir_pipeline' has to take it",
                )


def with_bodies_of(module: ModuleOp, kernels: Sequence[Operation]) -> ModuleOp:
    """A copy of a module in which some functions have a body, others are declared."""
    copies: list[Operation] = []
    for op in module.body.ops:
        if isinstance(op, FuncOp | tir.FuncOp) and op not in kernels:
            copies.append(op.clone_without_regions())
        else:
            copies.append(op.clone())
    shown = ModuleOp(copies, dict(module.attributes))
    shown.location = module.location
    return shown


def replace_kernels(
    module: ModuleOp, target: TargetAttr, emitted: Emitted
) -> list[executor.ArtifactOp]:
    """Put artifacts in the place of the kernels that code was emitted for."""
    made: list[executor.ArtifactOp] = []
    payload: bytes | str | SymbolRefAttr = emitted.payload
    for name in emitted.functions:
        kernel = lookup(module, name)
        assert isinstance(kernel, tir.FuncOp), "the contract says so"
        artifact = executor.ArtifactOp(
            name,
            emitted.format,
            target,
            payload,
            kernel.function_type,
            emitted.workspace.get(name) or None,
            effects=kernel.argument_effects,
        )
        artifact.location = kernel.location
        Rewriter.replace_op(kernel, artifact)
        made.append(artifact)
        payload = SymbolRefAttr(emitted.functions[0])
    return made


def pass_workspaces(module: ModuleOp, artifacts: Iterable[executor.ArtifactOp]) -> None:
    """Give calls of artifacts the workspace that these ask for."""
    wanted = {artifact.sym_name.data: artifact for artifact in artifacts}
    if not wanted:
        return
    size = max(artifact.workspace_bytes for artifact in wanted.values())
    pool = executor.PoolOp(fresh_symbol(module, WORKSPACE), size)
    pool.location = module.location
    for op in tuple(module.walk()):
        if isinstance(op, executor.CallOp | tir.CallOp):
            artifact = wanted.get(op.callee.string_value())
            if isinstance(op, executor.CallOp) and artifact is not None:
                pass_workspace(op, artifact, pool)
            elif artifact is not None:
                raise OpError(
                    op,
                    f"expected 'executor.call' of '@{artifact.sym_name.data}', whose "
                    "code needs a workspace",
                )
    first = next(iter(wanted.values()))
    assert first.parent is not None, "it is in the module"
    first.parent.insert_op_before(pool, first)


def pass_workspace(
    call: executor.CallOp, artifact: executor.ArtifactOp, pool: executor.PoolOp
) -> None:
    """Give a call of an artifact memory of a pool."""
    type = MemRefType(i8, [artifact.workspace_bytes])
    view = executor.ViewOp(pool.sym_name.data, 0, type)
    new = executor.CallOp(call.callee, [*call.arguments, view.result])
    new.attributes = dict(call.attributes)
    for op in (view, new):
        op.location = call.location
    Rewriter.replace_op(call, (view, new), ())
