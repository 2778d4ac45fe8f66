"""
The rules of nests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import memref
from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType
from xdsl.ir import Attribute, Region
from xdsl.ir.affine import AffineMap
from xdsl.traits import is_side_effect_free
from xdsl.utils.exceptions import VerifyException

from transom.dialects.tir import affine
from transom.dialects.tir.accesses import find_out_of_range
from transom.dialects.tir.attributes import AccessAttr, CombineKind, DimKind
from transom.dialects.tir.types import memref_type_of, number_type_of

if TYPE_CHECKING:
    from transom.dialects.tir.nest import IndexOp, NestOp


def verify_nest(nest: NestOp) -> None:
    verify_bounds(nest.static_bounds, len(nest.bounds))
    if not nest.outs:
        raise VerifyException("expected at least one output")
    for what, values, accesses in (
        ("input", nest.ins, nest.in_accesses),
        ("output", nest.outs, nest.out_accesses),
    ):
        if len(values) != len(accesses):
            raise VerifyException(
                f"expected one access per {what}, but got {len(accesses)} for "
                f"{len(values)}"
            )
        for position, access in enumerate(accesses):
            _verify_access(
                nest, f"{what} {position}", memref_type_of(values[position]), access
            )
    for position, access in enumerate(nest.in_accesses):
        _verify_in(nest, position, access)
    for position, access in enumerate(nest.out_accesses):
        _verify_out(nest, position, access)
    _verify_shared(nest)
    _verify_regions(nest)
    if nest.schedule is not None:
        nest.schedule.verify_for(nest.dim_kinds, nest.in_accesses.data)
        _verify_threads(nest, nest.schedule.parallel_dims)


def verify_bounds(static_bounds: Sequence[int | None], num_operands: int) -> None:
    dynamic = sum(1 for bound in static_bounds if bound is None)
    if dynamic != num_operands:
        raise VerifyException(
            f"expected {dynamic} operands for the dynamic bounds, but got "
            f"{num_operands}"
        )


def _verify_access(
    nest: NestOp, what: str, type: MemRefType, access: AccessAttr
) -> None:
    map = access.map
    if map is None:
        return
    expected = (nest.rank, len(nest.symbols))
    if (map.num_dims, map.num_symbols) != expected:
        raise VerifyException(
            f"{what}: expected a map of {expected[0]} dims and {expected[1]} symbols, "
            f"but got one of {map.num_dims} and {map.num_symbols}"
        )
    shape = type.get_shape()
    if len(map.results) != len(shape):
        raise VerifyException(
            f"{what}: expected {len(shape)} indices for '{type}', but got "
            f"{len(map.results)}"
        )
    if access.pad is not None:
        return
    if found := find_out_of_range(map, nest.dim_intervals, shape):
        raise VerifyException(
            f"{what}: expected indices below {found.extent} on axis {found.axis}, but "
            f"'{affine.text(map.results[found.axis])}' is {found.interval}"
            if found.interval.lower >= 0
            else f"{what}: expected indices of at least 0 on axis {found.axis}, but "
            f"'{affine.text(map.results[found.axis])}' is {found.interval}"
        )


def _verify_in(nest: NestOp, position: int, access: AccessAttr) -> None:
    what = f"input {position}"
    if access.combine is not None:
        raise VerifyException(f"{what}: expected no combine; outputs combine")
    if access.pad is None:
        return
    element = nest.in_types[position]
    if (found := number_type_of(access.pad)) != element:
        raise VerifyException(
            f"{what}: expected a pad value of type '{element}', but got '{found}'"
        )


def _verify_out(nest: NestOp, position: int, access: AccessAttr) -> None:
    what = f"output {position}"
    if access.pad is not None:
        raise VerifyException(f"{what}: expected no pad value; inputs are padded")
    if access.combine is not None:
        _verify_combine(what, access.combine, nest.finish_yield_types[position])
    if access.map is None:
        return
    used = access.map.used_dims()
    for dim, kind in enumerate(nest.dim_kinds):
        if kind is DimKind.REDUCTION and dim in used:
            raise VerifyException(
                f"{what}: expected no reduction dim in the map, but got 'd{dim}'"
            )
        # Without its dim in the map an element is written many times, in an order
        # that parallel dims do not promise.
        if (
            kind is not DimKind.REDUCTION
            and dim not in used
            and access.combine is None
            and nest.static_bounds[dim] not in (0, 1)
        ):
            raise VerifyException(
                f"{what}: expected all parallel and sequential dims in the map, but "
                f"'d{dim}' is missing; 'combine' folds many values into one element"
            )


_BITWISE = (CombineKind.AND, CombineKind.OR, CombineKind.UMAX, CombineKind.UMIN)


def _verify_combine(what: str, combine: CombineKind, element: Attribute) -> None:
    if combine in _BITWISE and not isinstance(element, IntegerType | IndexType):
        raise VerifyException(
            f"{what}: expected integers for combine {combine}, but got '{element}'"
        )


def _verify_shared(nest: NestOp) -> None:
    outputs = zip(nest.outs, nest.out_accesses, strict=True)
    for i, (value, access) in enumerate(outputs):
        for j, other in enumerate(nest.ins):
            if value is not other:
                continue
            in_map = nest.in_accesses.data[j].map
            if access.map is None or access.map != in_map:
                raise VerifyException(
                    f"output {i} is input {j} too: expected the same map, but got "
                    f"'{_map_text(access.map)}' and '{_map_text(in_map)}'"
                )
            if access.combine is not None:
                raise VerifyException(
                    f"output {i} is input {j} too: expected no combine, because the "
                    "order of reading and writing is not said"
                )


def _verify_threads(nest: NestOp, dims: Sequence[int]) -> None:
    """Threads do not fold values into one element."""
    for position, access in enumerate(nest.out_accesses):
        if access.combine is None:
            continue
        used = access.map.used_dims() if access.map is not None else set[int]()
        for dim in dims:
            if dim not in used:
                raise VerifyException(
                    f"schedule: expected 'd{dim}', which is parallel, in the map of "
                    f"output {position}, which combines"
                )


def _map_text(map: AffineMap | None) -> str:
    return "[*]" if map is None else f"[{', '.join(map_texts(map))}]"


def map_texts(map: AffineMap) -> list[str]:
    return [affine.text(expr) for expr in map.results]


def _verify_regions(nest: NestOp) -> None:
    from transom.dialects.tir.nest import YieldOp

    for name, region in zip(nest.REGION_NAMES, nest.regions, strict=True):
        if len(region.blocks) > 1:
            raise VerifyException(f"{name}: expected a single block")
        if region.blocks and not isinstance(region.block.last_op, YieldOp):
            raise VerifyException(f"{name}: expected 'tir.yield' at the end")
    if bool(nest.init.blocks) != bool(nest.body.blocks):
        raise VerifyException("expected both init and body, or neither")
    reduced = nest.dims_of_kind(DimKind.REDUCTION)
    if reduced and not nest.accumulator_types:
        raise VerifyException(
            f"expected init and body with an accumulator, because 'd{reduced[0]}' is "
            "a reduction dim"
        )
    accumulators = nest.accumulator_types
    if nest.init.blocks:
        _verify_arguments("init", nest.init, ())
        _verify_arguments("body", nest.body, (*nest.in_types, *accumulators))
        _verify_yield("body", nest.body, accumulators)
    finish_types = tuple(nest.in_types[i] for i in nest.finish_in_positions)
    _verify_arguments("finish", nest.finish, (*accumulators, *finish_types))
    _verify_yield("finish", nest.finish, nest.finish_yield_types)
    for name, region in zip(nest.REGION_NAMES, nest.regions, strict=True):
        if region.blocks:
            _verify_pure(name, region)


_PURE_DIALECTS = ("arith", "math")
_PURE_OPS = (
    "scf.condition",
    "scf.for",
    "scf.if",
    "scf.while",
    "scf.yield",
    "tir.yield",
)


def _verify_pure(name: str, region: Region) -> None:
    """Regions compute numbers: they load from indirect inputs, and write nothing."""
    for op in region.walk():
        if isinstance(op, memref.LoadOp):
            if op.memref not in region.block.args:
                raise VerifyException(
                    f"{name}: expected loads from indirect inputs only, which are "
                    "arguments of the region"
                )
        elif not (
            op.dialect_name() in _PURE_DIALECTS
            or op.name in _PURE_OPS
            or is_side_effect_free(op)
        ):
            raise VerifyException(
                f"{name}: expected ops without effects, but got '{op.name}'"
            )


def _list(types: Sequence[Attribute]) -> str:
    return f"({', '.join(str(type) for type in types)})"


def _verify_arguments(name: str, region: Region, types: tuple[Attribute, ...]) -> None:
    if tuple(region.block.arg_types) != types:
        raise VerifyException(
            f"{name}: expected arguments {_list(types)}, but got "
            f"{_list(region.block.arg_types)}"
        )


def _verify_yield(name: str, region: Region, types: tuple[Attribute, ...]) -> None:
    terminator = region.block.last_op
    assert terminator is not None, "checked above"
    found = tuple(terminator.operand_types)
    if found != types:
        raise VerifyException(
            f"{name}: expected a yield of {_list(types)}, but got {_list(found)}"
        )


def verify_index(op: IndexOp) -> None:
    from transom.dialects.tir.nest import NestOp

    region = op.parent_region()
    while region is not None and not isinstance(region.parent, NestOp):
        region = region.parent.parent_region() if region.parent else None
    if region is None:
        raise VerifyException("expected an enclosing 'tir.nest'")
    nest = region.parent
    assert isinstance(nest, NestOp), "the loop ended there"
    if not 0 <= op.position < nest.rank:
        raise VerifyException(
            f"expected a dim from 0 to {nest.rank - 1}, but got {op.position}"
        )
    kind = nest.dim_kinds[op.position]
    name = nest.REGION_NAMES[nest.regions.index(region)]
    if (name == "init" and kind is not DimKind.PARALLEL) or (
        name == "finish" and kind is DimKind.REDUCTION
    ):
        raise VerifyException(f"{name}: dim {op.position} is {kind} and has no index")
