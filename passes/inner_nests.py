"""
Nests that become a part of themselves, inside of a block of loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap, AffineSymExpr

from transom.dialects.tir import (
    AccessAttr,
    DimAttr,
    DimKind,
    IndexOp,
    NestOp,
    ScheduleAttr,
    affine,
)

Bound = int | SSAValue
Renamed = Callable[[SSAValue, AccessAttr], tuple[SSAValue, AccessAttr]]
Insert = Callable[[Operation], SSAValue]
"""Puts an op somewhere; gives its result."""


def inner_nest(
    nest: NestOp,
    dims: Sequence[tuple[DimKind, Bound]],
    symbols: Sequence[SSAValue],
    old_dims: Sequence[AffineExpr],
    renamed: Renamed,
    schedule: ScheduleAttr | None,
) -> NestOp:
    """
    A copy of a nest with other dims: `old_dims` says what each of its own is over the
    new ones and `symbols`, which begin with those of the nest.

    `renamed` gives for a memref that it accesses, and how, the one in its place.
    """

    def moved(
        values: Sequence[SSAValue], accesses: Sequence[AccessAttr]
    ) -> tuple[list[SSAValue], list[AccessAttr]]:
        pairs = [renamed(*pair) for pair in zip(values, accesses, strict=True)]
        return [v for v, _ in pairs], [over(access) for _, access in pairs]

    def over(access: AccessAttr) -> AccessAttr:
        if access.map is None:
            return access
        results = [affine.substitute(e, old_dims) for e in access.map.results]
        return access.with_map(AffineMap(len(dims), len(symbols), tuple(results)))

    ins, in_accesses = moved(nest.ins, nest.in_accesses.data)
    outs, out_accesses = moved(nest.outs, nest.out_accesses.data)
    inner = NestOp(
        dim_attrs(dims),
        [bound for _, bound in dims if not isinstance(bound, int)],
        symbols,
        ins,
        in_accesses,
        outs,
        out_accesses,
        [region.clone() for region in nest.regions],
        schedule,
    )
    inner.location = nest.location
    inner.attributes |= nest.attributes
    for op in [op for op in inner.walk() if isinstance(op, IndexOp)]:
        _replace_index(op, old_dims[op.position], symbols)
    return inner


def dim_attrs(dims: Sequence[tuple[DimKind, Bound]]) -> list[DimAttr]:
    """Dims of a nest or block; the bounds that are values are its operands."""
    return [DimAttr(k, bound if isinstance(bound, int) else None) for k, bound in dims]


def _replace_index(op: IndexOp, expr: AffineExpr, symbols: Sequence[SSAValue]) -> None:
    block = op.parent
    assert block is not None, "it was found in a region"

    def insert(new: Operation) -> SSAValue:
        new.location = op.location
        block.insert_op_before(new, op)
        return new.results[0]

    def of_atom(atom: AffineExpr) -> SSAValue:
        if isinstance(atom, AffineDimExpr):
            return insert(IndexOp(atom.position))
        assert isinstance(atom, AffineSymExpr), "dims are sums of dims and symbols"
        return symbols[atom.position]

    op.result.replace_all_uses_with(sum_of(expr, of_atom, insert))
    op.detach()
    op.erase()


def sum_of(
    expr: AffineExpr, of_atom: Callable[[AffineExpr], SSAValue], insert: Insert
) -> SSAValue:
    """The value of a sum of multiples of dims and symbols."""
    total: SSAValue | None = None
    constant = 0
    for product, coefficient in affine.terms_of(expr).items():
        if not product:
            constant = coefficient
            continue
        (atom,) = product
        value = of_atom(atom)
        if coefficient != 1:
            value = insert(arith.MuliOp(value, index_constant(coefficient, insert)))
        total = value if total is None else insert(arith.AddiOp(total, value))
    if total is None:
        return index_constant(constant, insert)
    if constant:
        total = insert(arith.AddiOp(total, index_constant(constant, insert)))
    return total


def index_constant(value: int, insert: Insert) -> SSAValue:
    """A number as an index."""
    return insert(arith.ConstantOp(IntegerAttr(value, IndexType())))
