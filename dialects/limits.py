"""
How large a value may be: its size in bytes, and that of all it is computed from, is a
number of 64 bits.
"""

import math
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, TensorType
from xdsl.ir import Attribute

MAX_ELEMENTS = 1 << 56
"""Elements of a tensor or a memref, as far as its type says."""


def reason_against_size(type: Attribute) -> str | None:
    """What is wrong with a type whose static sizes make too many elements."""
    if not isinstance(type, TensorType | MemRefType):
        return None
    shaped = cast("TensorType[Attribute] | MemRefType[Attribute]", type)
    shape = shaped.get_shape()
    if 0 in shape or math.prod(n for n in shape if n != DYNAMIC_INDEX) <= MAX_ELEMENTS:
        return None
    return f"expected at most {MAX_ELEMENTS} elements, but got '{type}'"
