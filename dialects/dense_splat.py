"""
Large `dense<…>` values with the same element everywhere: they hold it once.

`dense<1.0> : tensor<100000000xf32>` costs as much as `dense<1.0> : tensor<1xf32>`. A
value whose elements take more than `MAX_FULL_BYTES` and are all the same has the bytes
of one element, whoever made it; all others have the bytes of all elements. So equal
values are equal attributes.
"""

import math
from typing import Any, cast

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, RankedStructure

Dense = DenseIntOrFPElementsAttr[Any]

MAX_FULL_BYTES = 1 << 16
"""Values up to this size always hold all of their elements."""


def splat(type: RankedStructure[Any], element: bytes) -> Dense:
    """The value with an element, as little-endian bytes, everywhere."""
    count = math.prod(type.get_shape())
    once = count * len(element) > MAX_FULL_BYTES
    data = element if once else element * count
    return DenseIntOrFPElementsAttr(type, BytesAttr(data))


def compact(value: Dense) -> Dense:
    """The same value, which holds its element once if it is a large splat."""
    data = value.data.data
    if len(data) <= MAX_FULL_BYTES:
        return value
    size = cast(int, value.get_element_type().compile_time_size)
    # The middle first: most values that are no splats differ there.
    middle = len(data) // size // 2 * size
    if data[middle : middle + size] != data[:size] or not is_splat(data, size):
        return value
    return splat(value.type, data[:size])


def is_splat(data: bytes, size: int) -> bool:
    """Whether data is one element of this size, over and over."""
    return bool(data) and data == data[:size] * (len(data) // size)


def element_count(value: Dense) -> int:
    """The elements that a value has, or has bytes for if these are too few."""
    count = math.prod(value.get_shape())
    size = cast(int, value.get_element_type().compile_time_size)
    if len(value) == 1 and count * size > MAX_FULL_BYTES:
        return count
    return len(value)
