"""
Shapes as values: lists of sizes some of which are only known at run time.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.dialects.weight_files import Array
from transom.frontends.onnx.node import shape_of, type_of

MAX_KNOWN = 1024
"""Elements of a value that is evaluated while a model is imported."""

MAX_RANK = 32


@dataclass(frozen=True)
class RuntimeSize:
    """The size of a dimension that its type leaves open."""

    value: SSAValue
    axis: int
    symbol: str | None

    def is_size_of(self, value: SSAValue, axis: int) -> bool:
        """Whether a dimension is known to have this size."""
        if (value, axis) == (self.value, self.axis):
            return True
        symbol = graph.dim_symbols(type_of(value))[axis]
        return symbol is not None and symbol.name == self.symbol


Size: TypeAlias = int | RuntimeSize


def sizes_of(value: SSAValue) -> list[Size]:
    """The shape of a value."""
    symbols = graph.dim_symbols(type_of(value))
    return [
        RuntimeSize(value, axis, None if symbol is None else symbol.name)
        if size < 0
        else size
        for axis, (size, symbol) in enumerate(
            zip(shape_of(value), symbols, strict=True)
        )
    ]


def array_of(sizes: Sequence[Size]) -> Array:
    """Sizes as an array: of int64 if all are static, else of objects."""
    array = np.empty(len(sizes), object)
    array[:] = sizes
    return settled(array)


def settled(array: Array) -> Array:
    """An array of int64 if it is one of objects without a `RuntimeSize` in it."""
    objects: list[Any] = list(array.flat) if array.dtype == object else [None]
    if any(not isinstance(value, int) for value in objects):
        return array
    return array.astype(np.int64)


def is_few(shape: Sequence[int]) -> bool:
    """Whether an array of this shape may be made."""
    return (
        len(shape) <= MAX_RANK
        and min(shape, default=0) >= 0
        and math.prod(shape) <= MAX_KNOWN
    )
