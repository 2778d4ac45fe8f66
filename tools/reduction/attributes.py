"""
Attributes: fewer and simpler ones; names of values and locations.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation, SSAValue

from transom.tools.reduction.edits import Edit, is_attached

KEPT = frozenset({"function_type", "op_name__", "sym_name", "sym_visibility"})
"""What an op is, not how."""


def drop_attributes(module: ModuleOp) -> list[Edit]:
    """Discardable attributes, and properties that may be absent."""
    return [
        partial(_set, index, is_property, name, None)
        for index, is_property, name, _ in _attributes(module)
    ]


def simplify_attributes(module: ModuleOp) -> list[Edit]:
    """Zeros for numbers, shorter lists, empty strings."""
    return [
        partial(_set, index, is_property, name, simpler)
        for index, is_property, name, value in _attributes(module)
        for simpler in _simpler(value)
    ]


def _attributes(module: ModuleOp) -> Iterator[tuple[int, bool, str, Attribute]]:
    for index, op in enumerate(module.walk()):
        for is_property, holder in ((False, op.attributes), (True, op.properties)):
            for name, value in holder.items():
                if name not in KEPT:
                    yield index, is_property, name, value


def _set(
    index: int,
    is_property: bool,
    name: str,
    value: Attribute | None,
    ops: Sequence[Operation],
) -> bool:
    op = ops[index]
    holder = op.properties if is_property else op.attributes
    if not is_attached(op, ops[0]) or name not in holder:
        return False
    if value is None:
        del holder[name]
    else:
        holder[name] = value
    return True


def _simpler(value: Attribute) -> Iterator[Attribute]:
    """Attributes of the same kind that say less, simplest first."""
    match value:
        case IntegerAttr():
            for number in (0, 1):
                if abs(value.value.data) > number:
                    yield IntegerAttr(number, value.type)
        case FloatAttr():
            if value.value.data != 0.0:
                yield FloatAttr(0.0, value.type)
        case StringAttr():
            if value.data:
                yield StringAttr("")
        case DictionaryAttr():
            if value.data:
                yield DictionaryAttr({})
            for key in value.data if len(value.data) > 1 else ():
                rest = {k: v for k, v in value.data.items() if k != key}
                yield DictionaryAttr(rest)
        case ArrayAttr():
            yield from _shorter(value)
        case DenseArrayBase():
            zeros = DenseArrayBase(
                value.elt_type, type(value.data)(bytes(len(value.data.data)))
            )
            if zeros != value and isinstance(value.elt_type, IntegerType):
                yield zeros
        case DenseIntOrFPElementsAttr():
            zeros = bytes(len(value.data.data))
            if value.data.data != zeros:
                yield DenseIntOrFPElementsAttr(value.type, type(value.data)(zeros))
        case _:
            pass


def _shorter(value: ArrayAttr[Attribute]) -> Iterator[Attribute]:
    """Lists of fewer elements, then of simpler ones."""
    elements = list(value.data)
    if not elements:
        return
    yield ArrayAttr(())
    half = len(elements) // 2
    if half > 1:
        yield ArrayAttr(elements[:half])
        yield ArrayAttr(elements[half:])
    if len(elements) > 1:
        for position in range(len(elements)):
            yield ArrayAttr(elements[:position] + elements[position + 1 :])
    for position, element in enumerate(elements):
        for simpler in _simpler(element):
            yield ArrayAttr((*elements[:position], simpler, *elements[position + 1 :]))


def drop_names(module: ModuleOp) -> list[Edit]:
    """Names of values."""
    return [
        partial(_forget_names, index)
        for index, op in enumerate(module.walk())
        if any(value.name_hint is not None for value in _values(op))
    ]


def _values(op: Operation) -> Iterator[SSAValue]:
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.args


def _forget_names(index: int, ops: Sequence[Operation]) -> bool:
    for value in _values(ops[index]):
        value.name_hint = None
    return True


def drop_locations(module: ModuleOp) -> list[Edit]:
    """Places in the source."""
    return [
        partial(_forget_places, index)
        for index, op in enumerate(module.walk())
        if not isinstance(op.location, UnknownLoc)
        or any(
            not isinstance(argument.location, UnknownLoc)
            for region in op.regions
            for block in region.blocks
            for argument in block.args
        )
    ]


def _forget_places(index: int, ops: Sequence[Operation]) -> bool:
    op = ops[index]
    op.location = UnknownLoc()
    for region in op.regions:
        for block in region.blocks:
            for argument in block.args:
                argument.location = UnknownLoc()
    return True
