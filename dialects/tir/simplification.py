"""
Simpler accesses, from what their dims run through.

A place in blocks of 8 is `d0 * 8 + d1` with `d1` from 0 to 7: divided by 8 it is `d0`,
and the rest is `d1`. The normal form of `affine` does not know that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from transom.dialects.tir import affine
from transom.dialects.tir.accesses import Interval, interval_of


def simplify_map(map: AffineMap, dims: Sequence[Interval]) -> AffineMap:
    """The map with simpler results, equal wherever the dims run."""
    results = tuple(simplify(expr, dims) for expr in map.results)
    return AffineMap(map.num_dims, map.num_symbols, results)


def simplify(expr: AffineExpr, dims: Sequence[Interval]) -> AffineExpr:
    """An expression that is equal wherever the dims run, and normal."""
    match expr:
        case AffineDimExpr(position) if dims[position].lower == dims[position].upper:
            return affine.as_expr(int(dims[position].lower))
        case AffineBinaryOpExpr(kind, lhs, rhs):
            lhs, rhs = simplify(lhs, dims), simplify(rhs, dims)
            divisor = affine.constant_value(rhs)
            if divisor is not None and divisor > 0:
                if kind is AffineBinaryOpKind.FloorDiv:
                    return _quotient(lhs, divisor, dims)
                if kind is AffineBinaryOpKind.Mod:
                    return _rest(lhs, divisor, dims)
            return affine.normalize(AffineBinaryOpExpr(kind, lhs, rhs))
        case _:
            return expr


def _quotient(expr: AffineExpr, divisor: int, dims: Sequence[Interval]) -> AffineExpr:
    interval = interval_of(expr, dims)
    if interval.lower >= 0 and interval.upper < divisor:
        return affine.as_expr(0)
    for factor, blocks, _ in _blocks(expr, divisor, dims):
        return affine.floordiv(blocks, divisor // factor)
    return affine.floordiv(expr, divisor)


def _rest(expr: AffineExpr, divisor: int, dims: Sequence[Interval]) -> AffineExpr:
    interval = interval_of(expr, dims)
    if interval.lower >= 0 and interval.upper < divisor:
        return expr
    for factor, blocks, inside in _blocks(expr, divisor, dims):
        rest = affine.modulo(blocks, divisor // factor)
        return affine.add(affine.multiply(rest, factor), inside)
    return affine.modulo(expr, divisor)


def _blocks(
    expr: AffineExpr, divisor: int, dims: Sequence[Interval]
) -> Iterator[tuple[int, AffineExpr, AffineExpr]]:
    """
    `expr` as `blocks * factor + inside`, with `inside` from 0 to `factor` - 1: for each
    such factor of the divisor, largest first.
    """
    terms = affine.terms_of(expr)
    factors = {gcd(coefficient, divisor) for coefficient in terms.values()}
    for factor in sorted({divisor, *factors} - {1}, reverse=True):
        blocks: affine.Terms = {}
        inside: affine.Terms = {}
        for product, coefficient in terms.items():
            is_split = not product or coefficient % factor == 0
            whole = coefficient // factor if is_split else 0
            if whole:
                blocks[product] = whole
            if coefficient - whole * factor:
                inside[product] = coefficient - whole * factor
        rest = affine.from_terms(inside)
        interval = interval_of(rest, dims)
        if interval.lower >= 0 and interval.upper < factor:
            yield factor, affine.from_terms(blocks), rest
