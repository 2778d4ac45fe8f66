"""
The `executor` dialect: the lowered main, its memory, and code that is already emitted.

Values are memrefs. Pools are module-level symbols; a view is a part of a pool at an
offset that a planner chose. Between calls main holds `scf` and `arith`. Lowered by
`lower-executor-to-func`.
"""

from typing import NamedTuple, cast

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
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
    "INPUTS",
    "MESSAGES",
    "OUTPUTS",
    "PLACES",
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
    "PoolPlace",
    "ShapeCallOp",
    "SignatureAttr",
    "SyncOp",
    "ViewOp",
    "bounded_results",
    "element_bytes",
    "places_of",
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

PLACES = "executor.places"
"""
The discardable attribute of an entry that says where in pools its inputs and outputs
may be: `{inputs = {x = [@pool, 0, 64]}, outputs = {…}}`, offset and size in bytes.
"""

INPUTS, OUTPUTS = "inputs", "outputs"


class PoolPlace(NamedTuple):
    """A part of a pool."""

    pool: str
    offset: int
    size: int
    """In bytes."""


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


def _verify_places(op: Operation, value: Attribute) -> None:
    verify_on_function(op, PLACES)
    is_right = isinstance(value, DictionaryAttr) and all(
        kind in (INPUTS, OUTPUTS)
        and isinstance(places, DictionaryAttr)
        and all(_pool_place(place) is not None for place in places.data.values())
        for kind, places in value.data.items()
    )
    if not is_right:
        raise VerifyException(
            f"expected a pool, an offset and a size for each input and output in "
            f"'{PLACES}', but got '{value}'"
        )


def _pool_place(value: Attribute) -> PoolPlace | None:
    if not isinstance(value, ArrayAttr):
        return None
    match cast("ArrayAttr[Attribute]", value).data:
        case (SymbolRefAttr() as pool, IntegerAttr() as offset, IntegerAttr() as size):
            numbers = (number.value.data for number in (offset, size))
            return PoolPlace(pool.string_value(), *numbers)
        case _:
            return None


def places_of(function: Operation) -> dict[tuple[str, str], PoolPlace]:
    """
    Where in pools the inputs and outputs of an entry may be, by `INPUTS` or `OUTPUTS`
    and their names.
    """
    found: dict[tuple[str, str], PoolPlace] = {}
    value = function.attributes.get(PLACES)
    for kind, places in value.data.items() if isinstance(value, DictionaryAttr) else ():
        assert isinstance(places, DictionaryAttr), "the dialect verifies it"
        for name, attribute in places.data.items():
            place = _pool_place(attribute)
            assert place is not None, "the dialect verifies it"
            found[kind, name] = place
    return found


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
            (PLACES, _verify_places),
            (SIGNATURE, _verify_signature),
        ),
    )
)
