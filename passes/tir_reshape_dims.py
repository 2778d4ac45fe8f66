"""
Give nests the dims that their loops want.

A dim of a sum whose points some input sees in groups only becomes two, the groups and
what is in them: what one group shares is then seen as shared.

```mlir
tir.nest dims [parallel 24, parallel 9, reduction 8]
    ins(%x[d2 + (d0 floordiv 6) * 8, d1], %w[d0, d2]) outs(%y[d0, d1])
==>
tir.nest dims [parallel 4, parallel 6, parallel 9, reduction 8]
    ins(%x[d0 * 8 + d3, d2], %w[d0 * 6 + d1, d3]) outs(%y[d0 * 6 + d1, d2])
```

Two dims that lie behind each other wherever they are used, as the rows and columns of
an image in a 1x1 convolution do, become one: short rows leave lanes of vectors empty.

```mlir
tir.nest dims [parallel 64, parallel 7, parallel 7, reduction 32]
    ins(%x[d3, d1, d2] : memref<32x7x7xf32>, …) outs(%y[d0, d1, d2] : …)
==>
%x_1 = memref.collapse_shape %x [[0], [1, 2]] : …
tir.nest dims [parallel 64, parallel 49, reduction 32]
    ins(%x_1[d2, d1] : memref<32x49xf32>, …) outs(%y_1[d0, d1] : …)
```

Rows of a nest without a sum, such as an addition, become one if they are no whole
vectors. Nests that have a schedule, that are in a block or ask for the number of a
point are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType, ModuleOp, NoneAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from transom.dialects import tir
from transom.dialects.executor import element_bytes
from transom.dialects.tir import affine
from transom.dialects.tir.accesses import dims_of_bounds
from transom.dialects.tir.simplification import simplify_map
from transom.dialects.tir.types import memref_type_of
from transom.passes.kernel_pass import KernelPass
from transom.passes.rewrite_steps import may_rewrite
from transom.passes.statistics import Statistic
from transom.passes.tir_choose_schedule import LIMITS

SPLIT = Statistic("split-dims", "dims that became groups and what is in them")
COLLAPSED = Statistic("collapsed-dims", "pairs of dims that became one")


@dataclass(frozen=True)
class TirReshapeDimsPass(KernelPass):
    name = "tir-reshape-dims"
    statistics: ClassVar[tuple[Statistic, ...]] = (SPLIT, COLLAPSED)
    is_kept: ClassVar[bool] = False

    vector_bytes: int = 32

    def __post_init__(self) -> None:
        LIMITS["vector_bytes"].verify("vector-bytes", self.vector_bytes)

    def apply_to_kernels(self, ctx: Context, module: ModuleOp) -> None:
        for func in module.body.block.ops:
            if not isinstance(func, tir.FuncOp) or len(func.body.blocks) != 1:
                continue
            for op in tuple(func.body.block.ops):
                if not isinstance(op, tir.NestOp) or not is_plain(op):
                    continue
                if tir.DimKind.REDUCTION in op.dim_kinds:
                    reshape_dims(op)
                else:
                    fill_rows(op, self.vector_bytes)


def is_plain(nest: tir.NestOp) -> bool:
    """Whether the dims of a nest may become others."""
    return (
        nest.schedule is None
        and not any(isinstance(op, tir.IndexOp) for op in nest.walk())
        and not any(_forgets_sums(access, nest) for access in nest.in_accesses)
    )


def _forgets_sums(access: tir.AccessAttr, nest: tir.NestOp) -> bool:
    """Whether an input moves with sums of one step only, which are simplified away."""
    if access.map is None:
        return False
    sums = set(nest.dims_of_kind(tir.DimKind.REDUCTION))
    simple = simplify_map(access.map, dims_of_bounds(nest.static_bounds))
    return bool(sums & access.map.used_dims()) and not sums & simple.used_dims()


def reshape_dims(nest: tir.NestOp) -> None:
    """Split and collapse the dims of a sum as long as there are some."""
    while (found := grouped_dim(nest)) is not None and may_rewrite("split", nest):
        split(nest, *found)
        SPLIT.add()
    while (outer := consecutive_dims(nest)) is not None and may_rewrite(
        "collapse", nest
    ):
        collapse(nest, outer)
        COLLAPSED.add()


def fill_rows(nest: tir.NestOp, vector_bytes: int) -> None:
    """Collapse the innermost dims of a nest until its rows are whole vectors."""
    sizes = [element_bytes(memref_type_of(out).element_type) or 1 for out in nest.outs]
    lanes = vector_bytes // max(sizes, default=1)
    while lanes > 1 and nest.rank > 1:
        row = nest.static_bounds[-1]
        if row is None or row % lanes == 0 or not can_collapse(nest, nest.rank - 2):
            return
        if not may_rewrite("collapse", nest):
            return
        collapse(nest, nest.rank - 2)
        COLLAPSED.add()


# Groups.


def grouped_dim(nest: tir.NestOp) -> tuple[int, int] | None:
    """A dim that an input sees in whole groups only, and the size of these."""
    for access in nest.in_accesses:
        if access.map is None:
            continue
        for dim in sorted(access.map.used_dims()):
            bound = nest.static_bounds[dim]
            if bound is None or nest.dim_kinds[dim] is not tir.DimKind.PARALLEL:
                continue
            sizes = {size for e in access.map.results for size in _groups_of(e, dim)}
            if len(sizes) == 1:
                (size,) = sizes
                if size is not None and 1 < size < bound and bound % size == 0:
                    return dim, size
    return None


def _groups_of(expr: AffineExpr, dim: int) -> Iterator[int | None]:
    """For each place of a dim, by what it is divided there; None for anything else."""
    match expr:
        case AffineDimExpr(position) if position == dim:
            yield None
        case AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, AffineDimExpr(at), by) if (
            at == dim
        ):
            yield affine.constant_value(by)
        case AffineBinaryOpExpr():
            yield from _groups_of(expr.lhs, dim)
            yield from _groups_of(expr.rhs, dim)
        case _:
            pass


def split(nest: tir.NestOp, dim: int, size: int) -> None:
    """Let a dim of a nest become one of groups of a size, and one inside of these."""
    dims = list(nest.dims)
    bound, kind = nest.static_bounds[dim], nest.dim_kinds[dim]
    assert bound is not None and bound % size == 0, "whole groups"
    dims[dim : dim + 1] = [tir.DimAttr(kind, bound // size), tir.DimAttr(kind, size)]
    inside = affine.add(affine.multiply(affine.dim(dim), size), affine.dim(dim + 1))
    after = [affine.dim(number + 1) for number in range(dim + 1, nest.rank)]
    _replace_dims(nest, dims, [*map(affine.dim, range(dim)), inside, *after])


# Rows and columns.


def consecutive_dims(nest: tir.NestOp) -> int | None:
    """
    The outer one of two dims next to each other that lie behind each other in all that
    is read and written along them.
    """
    return next((d for d in range(nest.rank - 1) if can_collapse(nest, d)), None)


def can_collapse(nest: tir.NestOp, outer: int) -> bool:
    """Whether a dim and the next one are one in all that is read and written."""
    kinds, bounds = nest.dim_kinds, nest.static_bounds
    return (
        kinds[outer] is kinds[outer + 1] is not tir.DimKind.SEQUENTIAL
        and all(bounds[dim] not in (None, 1) for dim in (outer, outer + 1))
        and all(_can_collapse(*transfer, nest, outer) for transfer in _all(nest))
    )


def _all(nest: tir.NestOp) -> Iterator[tuple[SSAValue, tir.AccessAttr]]:
    yield from zip(nest.ins, nest.in_accesses, strict=True)
    yield from zip(nest.outs, nest.out_accesses, strict=True)


def _can_collapse(
    value: SSAValue, access: tir.AccessAttr, nest: tir.NestOp, outer: int
) -> bool:
    if access.map is None:
        return False
    map = simplify_map(access.map, dims_of_bounds(nest.static_bounds))
    if not {outer, outer + 1} & map.used_dims():
        return True
    axis = _axis_of(map, outer)
    type = memref_type_of(value)
    return (
        axis is not None
        and access.pad is None
        and isinstance(type.layout, NoneAttr)
        and type.get_shape()[axis] > 0
        and type.get_shape()[axis + 1] == nest.static_bounds[outer + 1]
    )


def _axis_of(map: AffineMap, outer: int) -> int | None:
    """The first of the axes that two dims are, if they are nothing else."""
    users = [
        axis
        for axis, expr in enumerate(map.results)
        if {outer, outer + 1} & expr.used_dims()
    ]
    pair = [affine.dim(outer), affine.dim(outer + 1)]
    if [map.results[axis] for axis in users] != pair or users[1] != users[0] + 1:
        return None
    return users[0]


def collapse(nest: tir.NestOp, outer: int) -> None:
    """Let two dims of a nest become one, on views that have one axis for them."""
    first, second = nest.static_bounds[outer : outer + 2]
    assert first is not None and second is not None, "the bounds are known"
    intervals = dims_of_bounds(nest.static_bounds)
    views: dict[tuple[SSAValue, int], SSAValue] = {}

    def flat(
        values: Sequence[SSAValue], accesses: Sequence[tir.AccessAttr], start: int
    ) -> list[tir.AccessAttr]:
        result: list[tir.AccessAttr] = []
        for number, (value, access) in enumerate(zip(values, accesses, strict=True)):
            assert access.map is not None, "no access is indirect"
            map = simplify_map(access.map, intervals)
            if (axis := _axis_of(map, outer)) is not None:
                if (value, axis) not in views:
                    views[value, axis] = _view(value, axis, nest)
                nest.operands[start + number] = views[value, axis]
                rest = map.results[axis + 2 :]
                exprs = (*map.results[: axis + 1], *rest)
                map = AffineMap(map.num_dims, map.num_symbols, exprs)
            combine = access.combine
            result.append(tir.AccessAttr(map, access.pad, combine))
        return result

    before = len(nest.bounds) + len(nest.symbols)
    ins, outs = list(nest.ins), list(nest.outs)
    nest.in_accesses = ArrayAttr(flat(ins, nest.in_accesses.data, before))
    nest.out_accesses = ArrayAttr(flat(outs, nest.out_accesses.data, before + len(ins)))
    dims = list(nest.dims)
    dims[outer : outer + 2] = [tir.DimAttr(nest.dim_kinds[outer], first * second)]
    after = [affine.dim(number - 1) for number in range(outer + 1, nest.rank)]
    _replace_dims(nest, dims, [*map(affine.dim, range(outer + 1)), *after])


def _view(value: SSAValue, axis: int, nest: tir.NestOp) -> SSAValue:
    """A memref with two axes as one, made before a nest."""
    type = memref_type_of(value)
    shape = list(type.get_shape())
    groups = [[number] for number in range(len(shape))]
    groups[axis : axis + 2] = [[axis, axis + 1]]
    shape[axis : axis + 2] = [shape[axis] * shape[axis + 1]]
    i64_groups = ArrayAttr(
        ArrayAttr(IntegerAttr(number, 64) for number in group) for group in groups
    )
    view = memref.CollapseShapeOp.create(
        operands=[value],
        result_types=[
            MemRefType(type.element_type, shape, memory_space=type.memory_space)
        ],
        properties={"reassociation": cast("ArrayAttr[Attribute]", i64_groups)},
    )
    view.location = nest.location
    view.results[0].name_hint = value.name_hint
    assert nest.parent is not None, "nests are in kernels"
    nest.parent.insert_op_before(view, nest)
    return view.results[0]


def _replace_dims(
    nest: tir.NestOp, dims: Sequence[tir.DimAttr], by: Sequence[AffineExpr]
) -> None:
    """Give a nest other dims, and say its old ones by them."""
    nest.dims = ArrayAttr(dims)
    intervals = dims_of_bounds(nest.static_bounds)

    def replaced(access: tir.AccessAttr) -> tir.AccessAttr:
        if access.map is None:
            return access
        exprs = tuple(affine.substitute(expr, by) for expr in access.map.results)
        map = AffineMap(len(dims), access.map.num_symbols, exprs)
        return tir.AccessAttr(simplify_map(map, intervals), access.pad, access.combine)

    nest.in_accesses = ArrayAttr(map(replaced, nest.in_accesses))
    nest.out_accesses = ArrayAttr(map(replaced, nest.out_accesses))
