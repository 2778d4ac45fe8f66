"""
Groups of ops, joined while their dependences stay free of cycles.
"""

import itertools
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import i32
from xdsl.dialects.test import TestOp, TestPureOp, TestTermOp
from xdsl.ir import Block, Operation

from transom.passes.dependence_graph import DependenceGraph, Group


def block_of(edges: Sequence[Sequence[int]]) -> tuple[Block, list[Operation]]:
    """A block of pure ops, each of which reads the results of some earlier ones."""
    block = Block()
    ops: list[Operation] = []
    for sources in edges:
        op = TestPureOp([ops[i].results[0] for i in sources], [i32])
        block.add_op(op)
        ops.append(op)
    block.add_op(TestTermOp())
    return block, ops


def group(graph: DependenceGraph, op: Operation) -> Group:
    found = graph.group_of(op)
    assert found is not None
    return found


def has_path_through_others(
    graph: DependenceGraph, first: Group, second: Group, ops: Sequence[Operation]
) -> bool:
    """Whether the second depends on the first through other groups, by all paths."""
    readers: dict[Group, set[Group]] = {}
    for op in ops:
        for operand in op.operands:
            assert isinstance(operand.owner, Operation)
            readers.setdefault(group(graph, operand.owner), set()).add(group(graph, op))
    pending = [g for g in readers.get(first, ()) if g not in (first, second)]
    seen = set(pending)
    while pending:
        for reader in readers.get(pending.pop(), ()):
            if reader is second:
                return True
            if reader is not first and reader not in seen:
                seen.add(reader)
                pending.append(reader)
    return False


@st.composite
def dags(draw: st.DrawFn) -> list[list[int]]:
    count = draw(st.integers(2, 14))
    return [
        draw(st.lists(st.integers(0, i - 1), max_size=3, unique=True)) if i else []
        for i in range(count)
    ]


@given(dags(), st.data())
def test_joins_are_refused_where_they_close_a_cycle(
    edges: list[list[int]], data: st.DataObject
) -> None:
    _, ops = block_of(edges)
    graph = DependenceGraph(ops[0].parent or Block())
    arrows = [(i, j) for j, sources in enumerate(edges) for i in sources]
    for i, j in data.draw(st.permutations(arrows)):
        first, second = group(graph, ops[i]), group(graph, ops[j])
        if first is second:
            continue
        wanted = {*first.ops, *second.ops}
        closes = has_path_through_others(graph, first, second, ops)
        joined = graph.join(first, second)
        assert (joined is None) == closes
        if joined is not None:
            assert set(joined.ops) == wanted
            assert all(group(graph, op) is joined for op in wanted)
        position = {g: n for n, g in enumerate(graph.groups())}
        assert len({g.number for g in position}) == len(position)
        for a, b in arrows:
            source, target = group(graph, ops[a]), group(graph, ops[b])
            assert source is target or position[source] < position[target]


@given(dags(), st.data())
def test_sets_are_joined_unless_something_outside_is_between(
    edges: list[list[int]], data: st.DataObject
) -> None:
    _, ops = block_of(edges)
    graph = DependenceGraph(ops[0].parent or Block())
    for _ in range(data.draw(st.integers(1, 4))):
        chosen = data.draw(st.lists(st.sampled_from(ops), min_size=1, max_size=4))
        groups = {group(graph, op) for op in chosen}
        wanted = {op for g in groups for op in g.ops}
        before = [graph.in_order(g) for g in graph.groups()]
        closes = is_left_and_entered_again(graph, groups, ops)
        joined = graph.join_all(chosen)
        assert (joined is None) == closes
        if joined is None:
            assert [graph.in_order(g) for g in graph.groups()] == before
        else:
            assert set(joined.ops) == wanted
        position = {g: n for n, g in enumerate(graph.groups())}
        for b, sources in enumerate(edges):
            for a in sources:
                source, target = group(graph, ops[a]), group(graph, ops[b])
                assert source is target or position[source] < position[target]


def is_left_and_entered_again(
    graph: DependenceGraph, groups: set[Group], ops: Sequence[Operation]
) -> bool:
    """Whether a path leads from some groups through others and back, by all paths."""
    readers: dict[Group, set[Group]] = {}
    for op in ops:
        for operand in op.operands:
            assert isinstance(operand.owner, Operation)
            readers.setdefault(group(graph, operand.owner), set()).add(group(graph, op))
    pending = [r for g in groups for r in readers.get(g, ()) if r not in groups]
    seen = set(pending)
    while pending:
        for reader in readers.get(pending.pop(), ()):
            if reader in groups:
                return True
            if reader not in seen:
                seen.add(reader)
                pending.append(reader)
    return False


def test_crossed_groups() -> None:
    """Each is convex, but together they would depend on each other."""
    _, ops = block_of([[], [], [0, 1], [1, 0]])
    a1, b1, a2, b2 = ops
    graph = DependenceGraph(a1.parent or Block())
    assert graph.join(group(graph, a1), group(graph, a2)) is not None
    assert graph.join(group(graph, b1), group(graph, b2)) is None


def test_effects_keep_their_order() -> None:
    """An op between two effects depends on them, though it reads neither."""
    value = TestPureOp([], [i32])
    first = TestOp([value.results[0]])
    second = TestOp([], [i32])
    last = TestPureOp([value.results[0], second.results[0]], [i32])
    block = Block([value, first, second, last, TestTermOp()])
    graph = DependenceGraph(block)
    assert graph.join(group(graph, value), group(graph, last)) is None


def test_the_terminator_is_in_no_group() -> None:
    block, ops = block_of([[]])
    graph = DependenceGraph(block)
    assert block.last_op is not None
    assert graph.group_of(block.last_op) is None
    assert [g.ops for g in graph.groups()] == [ops]


def test_a_chain_is_joined_in_little_time() -> None:
    """The search stays between the numbers of groups; a chain has none there."""
    count = 20_000
    block, ops = block_of([[i - 1] if i else [] for i in range(count)])
    graph = DependenceGraph(block)
    for first, second in itertools.pairwise(ops):
        assert graph.join(group(graph, first), group(graph, second)) is not None
    (only,) = graph.groups()
    assert graph.in_order(only) == ops
