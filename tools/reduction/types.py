"""
Types of smaller shapes, and plainer ones; the same everywhere.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import prod

from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IntAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, BuiltinAttribute, Operation, ParametrizedAttribute

from transom.dialects.symbols import attributes_of, replace_attributes, walk_attributes
from transom.tools.reduction.edits import Edit

Shaped = TensorType[Attribute] | MemRefType[Attribute] | VectorType[Attribute]


def _shaped_types(module: ModuleOp) -> list[Shaped]:
    """All shaped types of a module, each once, in order."""
    found: dict[Shaped, None] = {}
    for op in module.walk():
        for attribute in attributes_of(op):
            for part in walk_attributes(attribute):
                if isinstance(part, TensorType | MemRefType | VectorType):
                    found[part] = None
    return list(found)


def shrink_dims(module: ModuleOp) -> list[Edit]:
    """
    Replace a size by 1, or by 2, or by its half, in all types and in integer attributes
    that have its value, or in types only.
    """
    sizes = {size for type in _shaped_types(module) for size in type.get_shape()}
    return [
        partial(_shrink, size, new, also_integers)
        for also_integers in (True, False)
        for size in sorted(sizes, reverse=True)
        for new in sorted({1, 2, size // 2})
        if 0 < new < size
    ]


def _shrink(size: int, new: int, also_integers: bool, ops: Sequence[Operation]) -> bool:
    def shrunk(attribute: Attribute) -> Attribute:
        match attribute:
            case TensorType() | MemRefType() | VectorType():
                shape = attribute.get_shape()
                if size not in shape:
                    return attribute
                return _with_shape(attribute, [new if d == size else d for d in shape])
            case DenseIntOrFPElementsAttr():
                return _cut(attribute)
            case IntegerAttr() if also_integers and attribute.value.data == size:
                return IntegerAttr(new, attribute.type)
            case ParametrizedAttribute() if also_integers:
                return _with_integer(attribute, size, new)
            case _:
                return attribute

    return _replace(ops, shrunk)


def _with_integer(attribute: ParametrizedAttribute, old: int, new: int) -> Attribute:
    """An attribute of a dialect with another number among its parameters."""
    if isinstance(attribute, BuiltinAttribute) or IntAttr(old) not in (
        attribute.parameters
    ):
        return attribute  # also the width of an integer is such a number
    return type(attribute).new(
        [IntAttr(new) if p == IntAttr(old) else p for p in attribute.parameters]
    )


def _with_shape(type: Attribute, shape: Sequence[int]) -> Attribute:
    match type:
        case TensorType():
            return TensorType(type.element_type, shape, type.encoding)
        case MemRefType():
            return MemRefType(type.element_type, shape, type.layout, type.memory_space)
        case VectorType():
            return VectorType(type.element_type, shape, type.scalable_dims)
        case _:
            raise AssertionError("the caller has matched a shaped type")


def _cut(dense: DenseIntOrFPElementsAttr) -> DenseIntOrFPElementsAttr:
    """The first elements, as many as the type has by now."""
    count = prod(dense.get_shape())
    if len(dense) <= count:
        return dense
    size = dense.type.element_type.compile_time_size
    return DenseIntOrFPElementsAttr(
        dense.type, BytesAttr(dense.data.data[: count * size])
    )


def drop_encodings(module: ModuleOp) -> list[Edit]:
    """Leave out encodings of tensors, layouts and memory spaces of memrefs."""
    return [
        partial(_plain, type)
        for type in _shaped_types(module)
        if _without_extras(type) != type
    ]


def _plain(type: Attribute, ops: Sequence[Operation]) -> bool:
    plain = _without_extras(type)
    return _replace(ops, lambda attribute: plain if attribute == type else attribute)


def _without_extras(type: Attribute) -> Attribute:
    match type:
        case TensorType(encoding=encoding) if encoding != NoneAttr():
            return TensorType(type.element_type, type.get_shape())
        case MemRefType():
            return MemRefType(type.element_type, type.get_shape())
        case _:
            return type


def _replace(
    ops: Sequence[Operation], function: Callable[[Attribute], Attribute]
) -> bool:
    """Apply a function to all types and attributes; `_is_new` sees what changed."""
    replace_attributes(ops[0].walk(), function)
    return True
