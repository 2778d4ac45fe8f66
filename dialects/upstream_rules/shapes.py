"""
What `tensor`, `memref` and `vector` ops need to know of shapes: as many indices as
dimensions, and static sizes that agree.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StridedLayoutAttr,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

Shaped: TypeAlias = "TensorType[Attribute] | MemRefType[Attribute]"


def _shaped(type: Attribute) -> Shaped:
    assert isinstance(type, TensorType | MemRefType), "constraints say so"
    return cast(Shaped, type)


def _expect_count(what: str, actual: int, expected: int) -> None:
    if actual != expected:
        raise VerifyException(f"expected {expected} {what}, but got {actual}")


def _expect_same_element(source: Attribute, result: Attribute) -> None:
    first, second = (_shaped(type).element_type for type in (source, result))
    if first != second:
        raise VerifyException(
            f"expected elements of type '{first}' as in the operand, but got '{second}'"
        )


def verify_empty(op: Operation) -> None:
    """There is a size for each dimension that the type leaves open."""
    shape = _shaped(op.results[0].type).get_shape()
    _expect_count("sizes", len(op.operands), shape.count(DYNAMIC_INDEX))


def verify_extract(op: Operation) -> None:
    """There is an index for each dimension of the tensor."""
    rank = _shaped(op.operands[0].type).get_num_dims()
    _expect_count("indices", len(op.operands) - 1, rank)


def verify_insert(op: Operation) -> None:
    """There is an index for each dimension of the tensor."""
    rank = _shaped(op.operands[1].type).get_num_dims()
    _expect_count("indices", len(op.operands) - 2, rank)


def verify_from_elements(op: Operation) -> None:
    """There is a value for each element."""
    result = _shaped(op.results[0].type)
    shape = result.get_shape()
    if DYNAMIC_INDEX in shape:
        raise VerifyException(f"expected a static shape, but got '{result}'")
    _expect_count("elements", len(op.operands), math.prod(shape))


def verify_cast(op: Operation) -> None:
    """A cast changes what is known of sizes, not elements."""
    _expect_same_element(op.operands[0].type, op.results[0].type)


def verify_collapse(op: Operation) -> None:
    """The groups cover the operand; a dimension of the result is the product of one."""
    source, result = op.operands[0].type, op.results[0].type
    _verify_groups(op, _shaped(source), _shaped(result))


def verify_expand(op: Operation) -> None:
    """The groups cover the result; a dimension of the operand is the product of one."""
    source, result = op.operands[0].type, op.results[0].type
    _verify_groups(op, _shaped(result), _shaped(source))
    static = op.properties["static_output_shape"]
    sizes = _numbers(static)
    _expect_count("sizes", len(sizes), _shaped(result).get_num_dims())
    _expect_count("dynamic sizes", len(op.operands) - 1, sizes.count(DYNAMIC_INDEX))


def _numbers(attribute: Attribute) -> tuple[int, ...]:
    assert isinstance(attribute, DenseArrayBase), "constraints say so"
    return cast("DenseArrayBase[IntegerType]", attribute).get_values()


def _verify_groups(op: Operation, wide: Shaped, narrow: Shaped) -> None:
    """`wide` has a dimension for each index in the groups, `narrow` for each group."""
    _expect_same_element(wide, narrow)
    groups = cast("ArrayAttr[ArrayAttr[IntegerAttr]]", op.properties["reassociation"])
    dims = [[index.value.data for index in group] for group in groups]
    _expect_count("groups of dimensions", len(dims), narrow.get_num_dims())
    if not dims and all(size in (1, DYNAMIC_INDEX) for size in wide.get_shape()):
        return  # one element, as a scalar
    if [dim for group in dims for dim in group] != list(range(wide.get_num_dims())):
        raise VerifyException(
            f"expected groups of the dimensions 0 to {wide.get_num_dims() - 1} in "
            f"order, but got {dims}"
        )
    sizes = wide.get_shape()
    for number, (group, size) in enumerate(zip(dims, narrow.get_shape(), strict=True)):
        product = [sizes[dim] for dim in group]
        if DYNAMIC_INDEX in (*product, size):
            continue
        if math.prod(product) != size:
            raise VerifyException(
                f"expected dimension {number} to be of size {math.prod(product)}, "
                f"the product of its group, but got {size}"
            )


def verify_subset(op: Operation) -> None:
    """Static parts of what is taken lie inside, and the result has their sizes."""
    source, result = _shaped(op.operands[0].type), _shaped(op.results[0].type)
    _expect_same_element(source, result)
    _verify_inside(op, source, result)


def verify_insert_slice(op: Operation) -> None:
    """The part that is replaced lies inside, and has the sizes of the operand."""
    part, whole = _shaped(op.operands[0].type), _shaped(op.operands[1].type)
    _expect_same_element(part, whole)
    _verify_inside(op, whole, part)


def _verify_inside(op: Operation, whole: Shaped, part: Shaped) -> None:
    offsets, sizes, steps = (
        _numbers(op.properties[f"static_{name}"])
        for name in ("offsets", "sizes", "strides")
    )
    for what, numbers in (("offsets", offsets), ("sizes", sizes), ("strides", steps)):
        _expect_count(what, len(numbers), whole.get_num_dims())
    for dim, (extent, offset, size, step) in enumerate(
        zip(whole.get_shape(), offsets, sizes, steps, strict=True)
    ):
        if DYNAMIC_INDEX not in (offset, size, step):
            last = offset + (size - 1) * step
            ends = (offset, last) if size > 0 else ()
            if size < 0 or any(
                end < 0 or (extent != DYNAMIC_INDEX and end >= extent) for end in ends
            ):
                raise VerifyException(
                    f"expected a part of dimension {dim} of size {_size(extent)}, but "
                    f"got {size} elements from {offset} in steps of {step}"
                )
    if not _is_reduced(sizes, part.get_shape()):
        raise VerifyException(
            f"expected sizes {'x'.join(map(_size, sizes))}, maybe without 1s, but "
            f"got '{part}'"
        )


def verify_subview(op: Operation) -> None:
    """The result's layout is that of the part of the memref."""
    verify_subset(op)
    source = cast("MemRefType[Attribute]", op.operands[0].type)
    result = cast("MemRefType[Attribute]", op.results[0].type)
    strides, given = source.get_strides(), result.get_strides()
    if strides is None or given is None:
        return
    offsets, sizes, steps = (
        _numbers(op.properties[f"static_{name}"])
        for name in ("offsets", "sizes", "strides")
    )
    moved = [_product(o, s) for o, s in zip(offsets, strides, strict=True)]
    start = _offset(source)
    known = None if start is None or None in moved else sum(filter(None, moved), start)
    _expect_layout("an offset", known, _offset(result))
    rest = list(zip(result.get_shape(), given, strict=True))
    for size, step, stride in zip(sizes, steps, strides, strict=True):
        if rest and size == rest[0][0]:
            _, found = rest.pop(0)
            if size != 1:  # nothing moves along it
                _expect_layout("a stride", _product(step, stride), found)


def _product(number: int, stride: int | None) -> int | None:
    if number == 0:
        return 0
    return None if number == DYNAMIC_INDEX or stride is None else number * stride


def _offset(type: "MemRefType[Attribute]") -> int | None:
    """The offset of a memref that has strides."""
    layout = type.layout
    return layout.get_offset() if isinstance(layout, StridedLayoutAttr) else 0


def _expect_layout(what: str, known: int | None, given: int | None) -> None:
    if known is not None and given is not None and known != given:
        raise VerifyException(f"expected {what} of {known}, but got {given}")


def _size(size: int) -> str:
    return "?" if size == DYNAMIC_INDEX else str(size)


def _is_reduced(sizes: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether a shape is a list of sizes without some that are 1."""
    rest = list(shape)
    for size in sizes:
        if rest and size == rest[0]:
            rest.pop(0)
        elif size != 1:
            return False
    return not rest


def verify_broadcast(op: Operation) -> None:
    """Trailing dimensions of the operand are those of the result, or 1."""
    source, result = op.operands[0].type, op.results[0].type
    if not isinstance(source, VectorType):
        return
    vector, wide = cast("VectorType", source), cast("VectorType", result)
    shape, whole = vector.get_shape(), wide.get_shape()
    if len(shape) > len(whole) or any(
        size not in (1, whole[len(whole) - len(shape) + dim])
        for dim, size in enumerate(shape)
    ):
        raise VerifyException(
            f"expected a vector that broadcasts to '{wide}', but got '{vector}'"
        )


def verify_position(op: Operation, position: int) -> None:
    """Static indices lie inside the vector, which is operand `position`."""
    type = op.operands[position].type
    assert isinstance(type, VectorType), "constraints say so"
    vector = cast("VectorType", type)
    indices = _numbers(op.properties["static_position"])
    for index, size in zip(indices, vector.get_shape(), strict=False):
        if index != DYNAMIC_INDEX and not 0 <= index < size:
            raise VerifyException(f"expected an index below {size}, but got {index}")


SHAPES: Mapping[str, Callable[[Operation], None]] = {
    "memref.collapse_shape": verify_collapse,
    "memref.expand_shape": verify_expand,
    "memref.subview": verify_subview,
    "tensor.cast": verify_cast,
    "tensor.collapse_shape": verify_collapse,
    "tensor.empty": verify_empty,
    "tensor.expand_shape": verify_expand,
    "tensor.extract": verify_extract,
    "tensor.extract_slice": verify_subset,
    "tensor.from_elements": verify_from_elements,
    "tensor.insert": verify_insert,
    "tensor.insert_slice": verify_insert_slice,
    "vector.broadcast": verify_broadcast,
    "vector.extract": lambda op: verify_position(op, 0),
    "vector.insert": lambda op: verify_position(op, 1),
}
