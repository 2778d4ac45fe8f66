"""Index arithmetic as polynomials: equal values, right bounds, right ops."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.utils.test_value import create_ssa_value

from transom.passes.memory.index_expressions import (
    APPLIED,
    Apply,
    Bounds,
    Expression,
    ExpressionTable,
    Materializer,
    Opaque,
    Size,
)

LEAVES: list[SSAValue] = [create_ssa_value(IndexType()) for _ in range(3)]

# A tree: a leaf's number, ("constant", value), or (op, left, right).
Tree = int | tuple[str, int] | tuple[str, "Tree", "Tree"]
DIVISIONS = ("arith.floordivsi", "arith.ceildivsi", "arith.divsi", "arith.remui")
trees: st.SearchStrategy[Tree] = st.recursive(
    st.integers(0, 2) | st.tuples(st.just("constant"), st.integers(0, 4)),
    lambda inner: (
        st.tuples(
            st.sampled_from(("add", "multiply", "arith.minsi", "arith.maxsi")),
            inner,
            inner,
        )
        | st.tuples(
            st.sampled_from(DIVISIONS),
            inner,
            st.tuples(st.just("constant"), st.integers(1, 4)),
        )
    ),
    max_leaves=8,
)

PYTHON: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
    "arith.addi": lambda a, b: a + b,
    "arith.muli": lambda a, b: a * b,
    "arith.minsi": min,
    "arith.maxsi": max,
    "arith.floordivsi": lambda a, b: a // b,
    "arith.divsi": lambda a, b: a // b,
    "arith.ceildivsi": lambda a, b: -(-a // b),
    "arith.remui": lambda a, b: a % b,
}


def expression(table: ExpressionTable, tree: Tree) -> Expression:
    match tree:
        case int():
            return table.atom(Opaque(LEAVES[tree]))
        case ("constant", int(value)):
            return table.constant(value)
        case (op, left, right):
            a, b = expression(table, left), expression(table, right)
            match op:
                case "add":
                    return table.add(a, b)
                case "multiply":
                    return table.multiply(a, b)
                case _:
                    return table.apply(op, a, b)
        case _:
            raise AssertionError(tree)


def value(tree: Tree, leaves: list[int]) -> int:
    match tree:
        case int():
            return leaves[tree]
        case ("constant", int(constant)):
            return constant
        case (op, left, right):
            return PYTHON[op](value(left, leaves), value(right, leaves))
        case _:
            raise AssertionError(tree)


sizes = st.lists(st.integers(0, 6), min_size=3, max_size=3)


@given(trees, sizes)
def test_materialized_ops_compute_the_tree(tree: Tree, leaves: list[int]) -> None:
    table = ExpressionTable()
    ops: list[Operation] = []

    def leaf(atom: Size | Opaque) -> SSAValue:
        return atom.value

    result = Materializer(table, ops.append, leaf).value(expression(table, tree))
    values: dict[SSAValue, int] = dict(zip(LEAVES, leaves, strict=True))
    for op in ops:
        op.verify()
        if isinstance(op, arith.ConstantOp):
            assert isinstance(op.value, IntegerAttr)
            values[op.result] = op.value.value.data
        else:
            a, b = (values[operand] for operand in op.operands)
            values[op.results[0]] = PYTHON[op.name](a, b)
    assert values[result] == value(tree, leaves)


@given(trees, trees, sizes)
def test_equal_expressions_have_equal_values(
    left: Tree, right: Tree, leaves: list[int]
) -> None:
    table = ExpressionTable()
    if expression(table, left) == expression(table, right):
        assert value(left, leaves) == value(right, leaves)


@given(trees, st.lists(st.integers(0, 3), min_size=3, max_size=3), sizes)
def test_bounds_hold(tree: Tree, lower: list[int], extents: list[int]) -> None:
    table = ExpressionTable()
    ranges = [(a, a + b) for a, b in zip(lower, extents, strict=True)]
    low, high = Bounds(table, lambda leaf: ranges[LEAVES.index(leaf.value)]).interval(
        expression(table, tree)
    )
    assert high is not None, "all leaves are bounded and natural"
    for leaves in ([a for a, _ in ranges], [b for _, b in ranges]):
        result = value(tree, leaves)
        assert result <= high
        assert low is None or low <= result


def test_polynomials_are_equal_in_any_order() -> None:
    table = ExpressionTable()
    n, m = (table.atom(Opaque(leaf)) for leaf in LEAVES[:2])
    two = table.constant(2)
    left = table.multiply(table.add(n, m), table.add(n, m))
    squares = table.add(table.multiply(n, n), table.multiply(m, m))
    right = table.add(table.multiply(table.multiply(m, two), n), squares)
    assert left == right
    assert table.subtract(left, right).constant == 0


def test_unbounded_leaf_gives_no_bound() -> None:
    table = ExpressionTable()
    n = table.atom(Opaque(LEAVES[0]))
    bounds = Bounds(table, lambda _: (0, None))
    assert bounds.upper(n) is None
    assert bounds.upper(table.apply("arith.minsi", n, table.constant(7))) == 7


def test_substitute_reaches_into_operations() -> None:
    table = ExpressionTable()
    n, m = (table.atom(Opaque(leaf)) for leaf in LEAVES[:2])
    half = table.apply("arith.floordivsi", n, table.constant(2))

    def replace(atom: object) -> Expression | None:
        return table.constant(9) if atom == Opaque(LEAVES[0]) else None

    assert table.substitute(half, replace).constant == 4
    assert table.substitute(m, replace) == m
    assert table.leaves(table.add(half, m)) == {Opaque(LEAVES[0]), Opaque(LEAVES[1])}


def test_every_applied_op_is_an_atom() -> None:
    table = ExpressionTable()
    n, m = (table.atom(Opaque(leaf)) for leaf in LEAVES[:2])
    for op in APPLIED:
        applied = table.apply(op, n, m)
        (number,) = applied.atoms()
        assert table.atoms[number] == Apply(op, (n, m))
