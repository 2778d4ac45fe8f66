"""
The memories and links that a target brings: new ops, each once.
"""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from transom.dialects.diagnostics import OpError
from transom.dialects.symbols import symbol_name
from transom.dialects.target import LinkOp, MemoryOp, TargetAttr
from transom.dialects.verifier import verify_module
from transom.targets.contract.asking import Question
from transom.targets.contract.rules import (
    MEMORY_ATTACHED,
    MEMORY_INVALID,
    MEMORY_TWICE,
)
from transom.targets.registry import hooks_of

EXPECTED = "a list of 'MemoryOp' and 'LinkOp'"


def memories_of(target: TargetAttr) -> Sequence[MemoryOp | LinkOp]:
    """
    What hook `memories` of a target brings.

    Raises `HooksError` if that is no list of new memories and links.
    """
    question = Question(hooks_of(target), "memories", target)
    return checked_memories(question.answer(), question)


def checked_memories(answer: object, question: Question) -> Sequence[MemoryOp | LinkOp]:
    """An answer of the hook. Raises `HooksError` unless it is as `memories_of` says."""
    question.expect(isinstance(answer, list | tuple), EXPECTED, answer)
    seen: set[str] = set()
    for op in cast("Sequence[object]", answer):
        question.expect(isinstance(op, MemoryOp | LinkOp), EXPECTED, op)
        assert isinstance(op, MemoryOp | LinkOp), "checked above"
        label = f"'{op.name}' {_identity(op)}"
        if op.parent is not None:
            raise question.error(MEMORY_ATTACHED, op=label)
        if label in seen:
            raise question.error(MEMORY_TWICE, op=label)
        seen.add(label)
        ends = op.ends if isinstance(op, LinkOp) else ()
        declared = [MemoryOp(name) for name in dict.fromkeys(ends)]
        try:
            verify_module(ModuleOp([*declared, op.clone()]))
        except OpError as e:
            message = e.message.removeprefix(f"'{op.name}' op ")
            raise question.error(MEMORY_INVALID, op=label, message=message) from e
    return cast("Sequence[MemoryOp | LinkOp]", answer)


def _identity(op: Operation) -> str:
    """What is declared once: a name, or the ends of a link."""
    if isinstance(op, LinkOp):
        source, destination = op.ends
        return f"'@{source} -> @{destination}'"
    return f"'@{symbol_name(op)}'"
