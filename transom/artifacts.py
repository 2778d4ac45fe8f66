"""
From the artifacts of a module to what a program loads: their code, and callbacks for
what this machine has no code of.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from xdsl.dialects.builtin import MemRefType, ModuleOp, NoneAttr
from xdsl.ir import Attribute

from transom.dialects import llvm
from transom.dialects.diagnostics import OpError
from transom.dialects.dtypes import optional_numpy_dtype
from transom.dialects.executor import ArtifactOp
from transom.dialects.tir import Effect
from transom.lowering.func_to_llvm import artifact_symbol
from transom.runtime.artifacts import Artifact, Callback
from transom.runtime.callbacks import NUMBERS, Argument
from transom.targets.hooks import Reference, RunArtifact


def artifacts_of(module: ModuleOp) -> tuple[Artifact, ...]:
    """
    The artifacts that a module at phase `machine` calls, as a program has them.

    Raises `OpError` for one that takes what no callback can take, unless it is code of
    this machine.
    """
    return tuple(map(_artifact, _ops(module)))


def callbacks_of(
    module: ModuleOp,
    reference: Reference,
    given: Mapping[str, RunArtifact] | None = None,
) -> dict[str, Callback]:
    """
    Callbacks by name for the artifacts that are no code of this machine: those that are
    given, by name or format, come before the reference of the format.

    Raises `OpError` for an artifact that nothing runs.
    """
    found: dict[str, Callback] = {}
    given = given or {}
    for op in _ops(module):
        artifact = _artifact(op)
        if artifact.is_native:
            continue
        run = (
            given.get(artifact.name)
            or given.get(artifact.format)
            or reference.artifacts.get(artifact.format)
        )
        if run is None:
            raise OpError(
                op,
                f"nothing runs artifact '@{artifact.name}' of format "
                f"'{artifact.format}' for '{artifact.target}': it is no object code of "
                "this machine, and no target brings a reference for the format",
            )
        found[artifact.name] = partial(_run, run, op)
    return found


def _run(
    run: RunArtifact, op: ArtifactOp, artifact: Artifact, values: Sequence[Any]
) -> None:
    """A callback by a reference, which is told of the op, and so of its target."""
    run(op, values)


def _ops(module: ModuleOp) -> Iterator[ArtifactOp]:
    """The artifacts that code calls."""
    declared = {
        op.sym_name.data for op in module.body.ops if isinstance(op, llvm.FuncOp)
    }
    for op in module.body.ops:
        if isinstance(op, ArtifactOp) and artifact_symbol(op.sym_name.data) in declared:
            yield op


def _artifact(op: ArtifactOp) -> Artifact:
    artifact = Artifact(
        op.sym_name.data,
        op.format.data,
        str(op.target),
        op.entry_name,
        op.payload_bytes,
    )
    return artifact if artifact.is_native else _with_arguments(artifact, op)


def _with_arguments(artifact: Artifact, op: ArtifactOp) -> Artifact:
    arguments: list[Argument] = []
    for number, (type, effect) in enumerate(
        zip(op.argument_types, op.argument_effects, strict=True)
    ):
        argument = argument_of(type, effect)
        if argument is None:
            raise OpError(
                op,
                f"no callback runs artifact '@{artifact.name}': expected a number of C "
                f"or a memref of the identity layout as argument {number}, but got "
                f"'{type}'",
            )
        arguments.append(argument)
    return replace(artifact, arguments=tuple(arguments))


def argument_of(type: Attribute, effect: Effect = Effect.READ) -> Argument | None:
    """How a callback takes an argument of a kernel; None if it can not."""
    if not isinstance(type, MemRefType):
        dtype = optional_numpy_dtype(type)
        return (
            None if dtype is None or dtype.name not in NUMBERS else Argument(dtype.name)
        )
    memref = cast("MemRefType[Attribute]", type)
    dtype = optional_numpy_dtype(memref.element_type)
    if dtype is None or not isinstance(memref.layout, NoneAttr):
        return None
    shape = tuple(max(size, -1) for size in memref.get_shape())
    return Argument(dtype.name, shape, effect is Effect.READ)
