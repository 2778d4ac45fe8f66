"""
Expressions of accesses and their intervals, against enumeration.
"""

from __future__ import annotations

import itertools
from io import StringIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tir_cases import context
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError

from transom.dialects.tir import AccessAttr, accesses, affine
from transom.dialects.tir.accesses import Interval

DIMS, SYMBOLS = 3, 2
DIVISIONS = (AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.CeilDiv)


@st.composite
def raw_exprs(draw: st.DrawFn, depth: int = 3, has_dims: bool = True) -> AffineExpr:
    """Trees as nobody writes them: constants first, nested, unsimplified."""
    kind = draw(st.integers(0, 7)) if depth else draw(st.integers(0, 2))
    if kind == 0:
        return AffineConstantExpr(draw(st.integers(-5, 5)))
    if kind == 1:
        return AffineSymExpr(draw(st.integers(0, SYMBOLS - 1)))
    if kind == 2:
        if not has_dims:
            return AffineConstantExpr(draw(st.integers(0, 5)))
        return AffineDimExpr(draw(st.integers(0, DIMS - 1)))
    lhs = draw(raw_exprs(depth - 1, has_dims))
    if kind <= 4:
        return AffineBinaryOpExpr(
            AffineBinaryOpKind.Add, lhs, draw(raw_exprs(depth - 1, has_dims))
        )
    if kind == 5:
        rhs = draw(raw_exprs(depth - 1, has_dims=False))
        sides = (lhs, rhs) if draw(st.booleans()) else (rhs, lhs)
        return AffineBinaryOpExpr(AffineBinaryOpKind.Mul, *sides)
    divisor = AffineConstantExpr(draw(st.integers(1, 4)))
    kinds = (*DIVISIONS, AffineBinaryOpKind.Mod)
    return AffineBinaryOpExpr(draw(st.sampled_from(kinds)), lhs, divisor)


def parse_expr(text: str) -> AffineExpr:
    parser = Parser(context(), f"{text} )")
    expr = affine.parse_expr(parser, DIMS, SYMBOLS)
    parser.parse_punctuation(")")
    return expr


points = st.tuples(*[st.integers(-4, 6)] * DIMS)
symbols = st.tuples(*[st.integers(-3, 5)] * SYMBOLS)


@settings(max_examples=500, deadline=None)
@given(raw_exprs(), points, symbols)
def test_normal_form_keeps_the_value_and_is_normal(
    expr: AffineExpr, point: tuple[int, ...], values: tuple[int, ...]
):
    normal = affine.normalize(expr)
    assert normal.eval(point, values) == expr.eval(point, values)
    assert affine.normalize(normal) == normal


@settings(max_examples=500, deadline=None)
@given(raw_exprs())
def test_text_parses_back(expr: AffineExpr):
    normal = affine.normalize(expr)
    assert parse_expr(affine.text(normal)) == normal


@settings(max_examples=300, deadline=None)
@given(raw_exprs(), raw_exprs(depth=1), points, symbols)
def test_substitution(
    expr: AffineExpr, new: AffineExpr, point: tuple[int, ...], values: tuple[int, ...]
):
    replaced = affine.substitute(expr, [new])
    first = new.eval(point, values)
    assert replaced.eval(point, values) == expr.eval((first, *point[1:]), values)


@settings(max_examples=300, deadline=None)
@given(raw_exprs(), points, symbols)
def test_coefficients(
    expr: AffineExpr, point: tuple[int, ...], values: tuple[int, ...]
):
    growth = affine.coefficient_of(expr, 1)
    if growth is not None:
        moved = (point[0], point[1] + 1, *point[2:])
        difference = expr.eval(moved, values) - expr.eval(point, values)
        assert growth.eval((), values) == difference


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("1 + d0", "d0 + 1"),
        ("d1 + d0 * 2 - 1", "d0 * 2 + d1 - 1"),
        ("63 - d0", "-d0 + 63"),
        ("s0 * d0", "d0 * s0"),
        ("(d0 + d1) * s1", "d0 * s1 + d1 * s1"),
        ("d0 - d0", "0"),
        ("(d0 * 4 + 5) floordiv 4", "d0 + 1"),
        ("(d0 * 4 + d1 + 5) floordiv 4", "d0 + (d1 + 1) floordiv 4 + 1"),
        ("d0 ceildiv 2", "(d0 + 1) floordiv 2"),
        ("(d0 * 4 + d1) mod 4", "d1 mod 4"),
        ("-(d0 mod 3)", "-(d0 mod 3)"),
        ("2 * (d0 floordiv 3)", "(d0 floordiv 3) * 2"),
        ("d0 floordiv s0", "d0 floordiv s0"),
        ("-2", "-2"),
    ],
)
def test_normal_text(written: str, printed: str):
    assert affine.text(parse_expr(written)) == printed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("d3", "unknown 'd3'; there are 3 dims"),
        ("s2", "unknown 's2'; there are 2 symbols"),
        ("x0", "expected a dim such as 'd0', a symbol such as 's0', an integer or '('"),
        ("d0 *", "expected a dim such as"),
    ],
)
def test_syntax_errors(text: str, message: str):
    with pytest.raises(ParseError, match=message.replace("(", r"\(")):
        parse_expr(text)


def brute_force(expr: AffineExpr, dims: list[Interval], values: list[Interval]):
    ranges = [range(int(i.lower), int(i.upper) + 1) for i in (*dims, *values)]
    found = [
        expr.eval(point[:DIMS], point[DIMS:]) for point in itertools.product(*ranges)
    ]
    return min(found), max(found)


def interval(lower: int, length: int) -> Interval:
    return Interval(lower, lower + length)


intervals = st.builds(interval, st.integers(-3, 3), st.integers(0, 4))


@settings(max_examples=500, deadline=None)
@given(
    raw_exprs(),
    st.lists(intervals, min_size=DIMS, max_size=DIMS),
    st.lists(intervals, min_size=SYMBOLS, max_size=SYMBOLS),
)
def test_intervals_hold_all_values_and_exact_ones_no_more(
    expr: AffineExpr, dims: list[Interval], values: list[Interval]
):
    found = accesses.interval_of(expr, dims, values)
    lower, upper = brute_force(expr, dims, values)
    assert found.lower <= lower and upper <= found.upper
    if found.exact:
        assert (found.lower, found.upper) == (lower, upper)


@settings(max_examples=300, deadline=None)
@given(raw_exprs(), st.lists(intervals, min_size=DIMS, max_size=DIMS))
def test_few_points_are_enumerated(expr: AffineExpr, dims: list[Interval]):
    expr = affine.substitute(expr, (), [affine.as_expr(2), affine.as_expr(3)])
    found = accesses.exact_interval_of(expr, dims)
    assert found.exact
    assert (found.lower, found.upper) == brute_force(expr, dims, [Interval(0, 0)] * 2)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(raw_exprs(depth=2), min_size=1, max_size=2),
    st.lists(intervals, min_size=DIMS, max_size=DIMS),
    st.integers(1, 8),
)
def test_range_checks_are_right(
    exprs: list[AffineExpr], dims: list[Interval], extent: int
):
    exprs = [affine.substitute(e, (), [affine.as_expr(2)] * 2) for e in exprs]
    map = AffineMap(DIMS, 0, tuple(exprs))
    shape = [extent] * len(exprs)
    inside = all(
        lower >= 0 and upper < extent
        for lower, upper in (brute_force(e, dims, [Interval(0, 0)] * 2) for e in exprs)
    )
    assert (accesses.find_out_of_range(map, dims, shape) is None) == inside
    assert accesses.is_inside(map, dims, shape) == inside


def test_unknown_bounds_prove_nothing():
    dims = accesses.dims_of_bounds([None, 4])
    shifted = AffineMap(2, 0, (affine.add(affine.dim(0), -1),))
    assert accesses.find_out_of_range(shifted, dims, [8]) is None
    assert not accesses.is_inside(shifted, dims, [8])
    other = AffineMap(2, 1, (affine.add(affine.dim(1), affine.sym(0)),))
    assert accesses.find_out_of_range(other, dims, [2]) is None
    known = AffineMap(2, 0, (affine.dim(1),))
    assert accesses.is_inside(known, dims, [4])
    assert not accesses.is_inside(known, dims, [-(2**63)])


def test_nothing_runs_so_nothing_leaves():
    dims = accesses.dims_of_bounds([0])
    map = AffineMap(1, 0, (affine.add(affine.dim(0), 9),))
    assert accesses.find_out_of_range(map, dims, [1]) is None
    assert accesses.is_inside(map, dims, [1])


def test_accesses_are_normal_however_they_are_made():
    raw = AffineBinaryOpExpr(
        AffineBinaryOpKind.Add, AffineConstantExpr(1), AffineDimExpr(0)
    )
    access = AccessAttr(AffineMap(1, 0, (raw,)))
    stream = StringIO()
    Printer(stream).print_attribute(access)
    assert stream.getvalue() == "#tir.access<(d0) -> (d0 + 1)>"
    assert Parser(context(), stream.getvalue()).parse_attribute() == access
