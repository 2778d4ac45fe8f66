"""
How far ahead of their loads loops ask for memory, where that was measured to be faster.

The units that look ahead by themselves follow what is read one after the other, but
only to the end of a page, and not to the row after one that is read several times.
Where much is computed with what is read, nothing was gained: in products of matrices,
convolutions and element-wise loops.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr

from transom.dialects import tir
from transom.dialects.tir import affine
from transom.dialects.tir.steps import Step
from transom.dialects.tir.types import memref_type_of
from transom.passes.schedules.view import NestView, bytes_of
from transom.passes.schedules.widening import count_of

SHORT_ROW_BYTES = 1024
"""Of rows that are shorter than this the next one comes by itself."""

STREAM_BYTES = 2048
"""How far ahead of a stream memory is asked for."""

STREAM_READS = 4
"""What is read more often is computed with for longer than it takes to come."""

FAR = 16
"""What is so many times as large as the cache of the core comes from memory, and no
sooner if it is asked for."""


def stream(view: NestView, position: int, element_bytes: int) -> dict[int, int]:
    """
    How far ahead an input is asked for that a sum reads once, or a few times, in the
    order of its memory, where an element has `element_bytes`.

    It has to be larger than the cache of the core, from which it comes soon enough.
    """
    machine = view.machine
    total = count_of(view, position) * element_bytes
    if isinstance(view.nest.parent_op(), tir.BlockOp):
        return {}
    if not machine.l2_bytes < total <= FAR * machine.l2_bytes:
        return {}
    others = [d for d in view.parallel if d not in view.dims_of_input(position)]
    reads = math.prod(view.bounds[d] or math.inf for d in others)
    return {position: STREAM_BYTES // element_bytes} if reads <= STREAM_READS else {}


def streams_of(view: NestView, dim: int) -> dict[int, int]:
    """The same for all inputs that lie next to each other along `dim`, the lanes."""
    result: dict[int, int] = {}
    for position, step in enumerate(view.in_steps(dim)):
        if step is Step.CONTIGUOUS and _is_in_order(view, position):
            result |= stream(view, position, view.input_element_bytes(position))
    return result


def _is_in_order(view: NestView, position: int) -> bool:
    """Whether the loops, those of parallel dims outside, follow memory."""
    map = view.nest.in_accesses.data[position].map
    assert map is not None, "the access is not indirect"
    dims = [e.position for e in map.results if isinstance(e, AffineDimExpr)]
    loops = [dim for dim in (*view.parallel, *view.reduction) if dim in dims]
    return len(dims) == len(map.results) and dims == loops


def next_points(view: NestView, dim: int) -> dict[int, int]:
    """
    For inputs of a nest in a block, how far away they are read at the next point of the
    block; `dim` is that of the lanes.

    An input that several nests read, such as the rows of a softmax, is near when the
    second of them reads it: the loop has time to ask for the next row. All that a point
    touches has to stay near meanwhile.
    """
    nest = view.nest
    block = nest.parent_op()
    if not isinstance(block, tir.BlockOp):
        return {}
    index = _last_index(block)
    if index is None:
        return {}
    result: dict[int, int] = {}
    for position, (value, access) in enumerate(
        zip(nest.ins, nest.in_accesses, strict=True)
    ):
        distance = _growth(nest, value, access, index)
        if not distance or view.in_steps(dim)[position] is not Step.CONTIGUOUS:
            continue
        earlier = [other for other in _nests_before(nest) if value in other.ins]
        row_bytes = _touched(nest, value, access)
        if (
            len(earlier) == 1
            and row_bytes >= SHORT_ROW_BYTES
            and _bytes_of_point(block) + row_bytes <= view.machine.l1_bytes
        ):
            result[position] = distance
    return result


def _last_index(block: tir.BlockOp) -> SSAValue | None:
    """The index that is another one at the next point."""
    pairs = zip(block.indices, block.static_bounds, strict=True)
    moving = [index for index, bound in pairs if bound != 1]
    return moving[-1] if moving else None


def _growth(
    nest: tir.NestOp, value: SSAValue, access: tir.AccessAttr, index: SSAValue
) -> int:
    """How many elements on an access reads when an index grows by 1; 0 if unknown."""
    strides = memref_type_of(value).get_strides()
    if access.map is None or strides is None or index not in nest.symbols:
        return 0
    symbols = [affine.sym(number) for number in range(len(nest.symbols))]
    symbols[nest.symbols.index(index)] = affine.dim(nest.rank)
    total = 0
    for expr, stride in zip(access.map.results, strides, strict=True):
        step = affine.coefficient_of(affine.substitute(expr, (), symbols), nest.rank)
        size = None if step is None else affine.constant_value(step)
        if size is None or (size and stride is None):
            return 0
        total += size * (stride or 0)
    return max(0, total)


def _nests_before(nest: tir.NestOp) -> Iterator[tir.NestOp]:
    """The nests in front of a nest, in the same block."""
    op = nest.prev_op
    while op is not None:
        if isinstance(op, tir.NestOp):
            yield op
        op = op.prev_op


def _bytes_of_point(block: tir.BlockOp) -> float:
    """What the nests of a block touch at one of its points."""
    touched: dict[SSAValue, float] = {}
    for nest in block.body.block.ops:
        if not isinstance(nest, tir.NestOp):
            continue
        pairs = (
            *zip(nest.ins, nest.in_accesses, strict=True),
            *zip(nest.outs, nest.out_accesses, strict=True),
        )
        for value, access in pairs:
            own = _touched(nest, value, access)
            touched[value] = max(own, touched.get(value, 0))
    return sum(touched.values())


def _touched(nest: tir.NestOp, value: SSAValue, access: tir.AccessAttr) -> float:
    """How many bytes of a memref a nest reads or writes at most."""
    type = memref_type_of(value)
    shape = type.get_shape()
    whole = math.prod(math.inf if size < 0 else size for size in shape)
    own = math.inf
    if access.map is not None:
        bounds = [nest.static_bounds[dim] for dim in access.map.used_dims()]
        own = math.prod(math.inf if bound is None else bound for bound in bounds)
    return min(own, whole) * bytes_of(type.element_type)
