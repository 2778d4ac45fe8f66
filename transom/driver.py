"""
The Python API: load a module, lower it phase by phase.

```python
module = transom.load("model.mlir")
planned = transom.lower(module, to="planned")
```
"""

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from transom.dialects.diagnostics import OpError, did_you_mean
from transom.dialects.parser import allow_deep_recursion, parse_ir
from transom.dialects.target import get_config, set_phase
from transom.passes.pipeline import (
    PassObserver,
    Pipeline,
    PipelineError,
    parse_pipeline,
)
from transom.passes.verify_phase import verify_phase
from transom.registry import new_context, registry


@dataclass(frozen=True)
class Phase:
    """A state of a module that has a name, a promise, and passes that lead to it."""

    name: str
    promise: str
    passes: tuple[str, ...]

    def pipeline(self, ctx: Context | None = None) -> Pipeline:
        """The passes that take a module of the phase before to this one."""
        return parse_pipeline(",".join(self.passes), registry().passes, ctx)


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


def phases() -> tuple[Phase, ...]:
    """All phases in order, with their promises and passes."""
    return PHASES


def load(
    path: str | PathLike[str], *, ctx: Context | None = None, format: str | None = None
) -> ModuleOp:
    """
    Read a module from a file: IR text, or ONNX if `format` or the suffix says so.

    Raises `OpError` for what is wrong in it, `OSError` if it cannot be read.
    """
    name = fspath(path)
    kind = format or Path(name).suffix.removeprefix(".")
    if kind == "onnx":
        from transom.frontends.onnx import load_onnx

        return load_onnx(name)
    text = Path(name).read_bytes()
    return parse_ir(new_context() if ctx is None else ctx, text, name)


def lower(module: ModuleOp, to: str, *, ctx: Context | None = None) -> ModuleOp:
    """
    A copy of a module, taken from the phase that it records to the phase `to`.

    Raises `OpError` if the module cannot get there or is past it already, and
    `PipelineError` if there is no such phase.
    """
    allow_deep_recursion()
    result = module.clone()
    lower_in_place(result, to, ctx=ctx)
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
    for phase in phases_between(module, to):
        phase.pipeline(ctx).apply(ctx, module, observer)
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
