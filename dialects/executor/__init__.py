"""
The `executor` dialect: the lowered main, its memory, and code that is already emitted.

Values are memrefs. Pools are module-level symbols; a view is a part of a pool at an
offset that a planner chose. Between calls main holds `scf` and `arith`. Lowered by
`lower-executor-to-func`.
"""

from xdsl.dialects.builtin import I64, ArrayAttr, DenseArrayBase, ModuleOp, StringAttr
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from transom.dialects.discardable import (
    DiscardableAttributes,
    verify_class,
    verify_on_function,
    verify_on_module,
)
from transom.dialects.executor.artifact import ArtifactOp, EmittedCode
from transom.dialects.executor.attributes import (
    BytesAttr,
    PoolKind,
    PoolKindAttr,
    SignatureAttr,
)
from transom.dialects.executor.calls import CallOp, ShapeCallOp, SyncOp
from transom.dialects.executor.memory import (
    AllocOp,
    ConstantOp,
    CopyOp,
    FreeOp,
    PoolOp,
    ViewOp,
)
from transom.dialects.executor.memref_types import element_bytes, static_bytes

__all__ = [
    "BOUNDED",
    "MESSAGES",
    "SIGNATURE",
    "AllocOp",
    "ArtifactOp",
    "BytesAttr",
    "CallOp",
    "ConstantOp",
    "CopyOp",
    "EmittedCode",
    "Executor",
    "FreeOp",
    "PoolKind",
    "PoolKindAttr",
    "PoolOp",
    "ShapeCallOp",
    "SignatureAttr",
    "SyncOp",
    "ViewOp",
    "bounded_results",
    "element_bytes",
    "static_bytes",
]

SIGNATURE, MESSAGES = "executor.signature", "executor.messages"
"""Names of the dialect's discardable attributes: of the entry, and of the module."""

BOUNDED = "executor.bounded"
"""
The discardable attribute of an entry that names results, by number, whose sizes depend
on data: each is the elements at the start of memory for as many as there can be, and
the sizes of all of them are one more result.
"""


Executor = Dialect(
    "executor",
    [
        AllocOp,
        ArtifactOp,
        CallOp,
        ConstantOp,
        CopyOp,
        FreeOp,
        PoolOp,
        ShapeCallOp,
        SyncOp,
        ViewOp,
    ],
    [BytesAttr, PoolKindAttr, SignatureAttr],
)


def _verify_signature(op: Operation, value: Attribute) -> None:
    verify_on_function(op, SIGNATURE)
    verify_class(SIGNATURE, value, SignatureAttr)


def _verify_bounded(op: Operation, value: Attribute) -> None:
    verify_on_function(op, BOUNDED)
    verify_class(BOUNDED, value, DenseArrayBase)


def bounded_results(function: Operation) -> tuple[int, ...]:
    """The numbers of the results of an entry whose sizes depend on data."""
    value = function.attributes.get(BOUNDED)
    return tuple(value.get_values()) if isa(value, DenseArrayBase[I64]) else ()


def _verify_messages(op: Operation, value: Attribute) -> None:
    verify_on_module(op, MESSAGES)
    if not isa(value, ArrayAttr[StringAttr]):
        raise VerifyException(
            f"expected a list of strings for '{MESSAGES}', but got '{value}'"
        )


# A trait of a foreign op: whatever loads the dialect gets its rules.
ModuleOp.traits.add_trait(
    DiscardableAttributes(
        "executor",
        (
            (BOUNDED, _verify_bounded),
            (MESSAGES, _verify_messages),
            (SIGNATURE, _verify_signature),
        ),
    )
)
