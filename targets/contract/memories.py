"""
The memories and links that a target brings: new ops, which agree with what a module
declares.
"""

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from transom.dialects.diagnostics import OpError
from transom.dialects.symbols import symbol_name
from transom.dialects.target import DeviceOp, LinkOp, MemoryOp, TargetAttr
from transom.dialects.verifier import verify_module
from transom.targets.contract.rules import (
    MEMORY_ATTACHED,
    MEMORY_DISAGREES,
    MEMORY_INVALID,
    MEMORY_TWICE,
    Origin,
)
from transom.targets.registry import HooksError


def check_new_ops(
    ops: Sequence[MemoryOp | LinkOp], error: Callable[..., HooksError]
) -> None:
    """Raise an error unless ops are in no module, each its own, and verify."""
    seen: set[str] = set()
    for op in ops:
        name = _label(op)
        if op.parent is not None:
            raise error(MEMORY_ATTACHED, op=op.name, name=name)
        if name in seen:
            raise error(MEMORY_TWICE, op=op.name, name=name)
        seen.add(name)
        try:
            op.verify_()
        except VerifyException as e:
            raise error(MEMORY_INVALID, message=f"'{op.name}' {name}: {e}") from e


def verify_memories(
    module: ModuleOp, target: TargetAttr, ops: Sequence[MemoryOp | LinkOp]
) -> tuple[MemoryOp | LinkOp, ...]:
    """
    Those of the ops that hook `memories` brings which a module does not declare yet.

    Raises `OpError` at a declaration that disagrees, and at the module for a link
    between memories that neither declares.
    """
    origin = Origin("memories", target)
    machine = [op for op in module.body.ops if isinstance(op, _MACHINE)]
    declared = {_label(op): op for op in machine}
    new: list[MemoryOp | LinkOp] = []
    for op in ops:
        old = declared.get(_label(op))
        if old is None:
            new.append(op)
        elif (old.name, old.properties) != (op.name, op.properties):
            raise origin.error(MEMORY_DISAGREES, old, old=old, new=op)
    together = ModuleOp([op.clone() for op in (*machine, *new)])
    try:
        verify_module(together)
    except OpError as e:
        raise origin.error(MEMORY_INVALID, module, message=e.message) from None
    return tuple(new)


_MACHINE = (DeviceOp, MemoryOp, LinkOp)


def _label(op: Operation) -> str:
    """What is declared once: a name, or the ends of a link."""
    if isinstance(op, LinkOp):
        source, destination = op.ends
        return f"'@{source} -> @{destination}'"
    return f"'@{symbol_name(op)}'"
