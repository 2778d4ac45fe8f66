"""
Building the regions of nests from Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar, cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from transom.dialects.tir import affine
from transom.dialects.tir.attributes import CombineKind, DimKind, MapLike

DimSpec = tuple[DimKind | str, int | SSAValue]
"""Kind and bound of a dim; the bound is a number or a value of type `index`."""


@dataclass(frozen=True)
class In:
    """
    An input of a nest to build.

    `map` is an `AffineMap`, a function from dims (then symbols) to indices, or None
    for an indirect access.
    """

    value: SSAValue
    map: MapLike | None = None
    pad: Attribute | None = None


@dataclass(frozen=True)
class Out:
    """An output of a nest to build; see `In`."""

    value: SSAValue
    map: MapLike | None = None
    combine: CombineKind | str | None = None


_OpT = TypeVar("_OpT", bound=Operation)


class RegionBuilder:
    """
    Adds ops to a region of a nest.

    Calling it with an op inserts the op and gives its first result, so that bodies
    read as expressions: `b(arith.AddfOp(acc, b(arith.MulfOp(x, y))))`.
    """

    def __init__(self, block: Block):
        self.block = block

    def insert(self, op: _OpT) -> _OpT:
        self.block.add_op(op)
        return op

    def __call__(self, op: Operation) -> SSAValue:
        return self.insert(op).results[0]

    def index(self, dim: int) -> SSAValue:
        """The current index of `dim`."""
        from transom.dialects.tir.nest import IndexOp

        return self(IndexOp(dim))

    def constant(self, value: int | float, type: Attribute) -> SSAValue:
        if isinstance(type, AnyFloat):
            return self(arith.ConstantOp(FloatAttr(float(value), type)))
        assert isinstance(type, IntegerType | IndexType), "numbers only"
        integer = cast(IntegerType | IndexType, type)
        return self(arith.ConstantOp(IntegerAttr(int(value), integer)))

    def load(self, ref: SSAValue, *indices: SSAValue) -> SSAValue:
        return self(memref.LoadOp.get(ref, indices))


Yields = Iterable[SSAValue]
RegionCallback = (
    Callable[[RegionBuilder], Yields]
    | Callable[[RegionBuilder, SSAValue], Yields]
    | Callable[[RegionBuilder, SSAValue, SSAValue], Yields]
    | Callable[[RegionBuilder, SSAValue, SSAValue, SSAValue], Yields]
    | Callable[[RegionBuilder, SSAValue, SSAValue, SSAValue, SSAValue], Yields]
)
"""Called with a `RegionBuilder` and the block arguments; gives what is yielded."""


def as_map(map: MapLike | None, num_dims: int, num_symbols: int) -> AffineMap | None:
    """`map`, or the map of a function from dims and symbols to indices."""
    if map is None or isinstance(map, AffineMap):
        return map
    dims = [affine.dim(i) for i in range(num_dims)]
    symbols = [affine.sym(i) for i in range(num_symbols)]
    results = tuple(affine.as_expr(expr) for expr in map(*dims, *symbols))
    return AffineMap(num_dims, num_symbols, results)
