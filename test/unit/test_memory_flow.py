"""Points of programs and what lives at them, against brute force."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from transom.passes.memory.flow_graph import (
    FlowGraph,
    bits,
    live,
    runs,
    touched,
    transposed,
)


@given(st.integers(0, 2**70 - 1))
def test_runs_are_the_bits(mask: int) -> None:
    ranges = list(runs(mask))
    assert [i for start, end in ranges for i in range(start, end)] == list(bits(mask))
    assert all(a[1] < b[0] for a, b in pairwise(ranges))


@given(st.lists(st.integers(0, 2**9 - 1), max_size=12))
def test_transposed_swaps_points_and_members(sets: list[int]) -> None:
    points = transposed(sets, 9)
    for point, members in enumerate(sets):
        for member in range(9):
            assert members >> member & 1 == points[member] >> point & 1


@given(st.data())
def test_liveness_is_a_path_to_a_read(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 8))
    graph = FlowGraph()
    for _ in range(count):
        graph.add()
    point = st.integers(0, count - 1)
    for source, target in data.draw(st.lists(st.tuples(point, point), max_size=14)):
        graph.connect(source, target)
    sets = st.lists(st.integers(0, 7), min_size=count, max_size=count)
    reads, kills = data.draw(sets), data.draw(sets)
    liveness = live(graph, reads, kills)
    reached = touched(graph, reads)
    for member in range(3):
        for start in range(count):
            assert liveness.after[start] >> member & 1 == any(
                _reads_before_kill(graph, reads, kills, member, s)
                for s in graph.successors[start]
            )
            assert reached.after[start] >> member & 1 == any(
                _reaches(graph, source, start)
                for source in range(count)
                if reads[source] >> member & 1
            )


def _reads_before_kill(
    graph: FlowGraph, reads: list[int], kills: list[int], member: int, start: int
) -> bool:
    seen: set[int] = set()
    work = [start]
    while work:
        point = work.pop()
        if point in seen:
            continue
        seen.add(point)
        if reads[point] >> member & 1:
            return True
        if not kills[point] >> member & 1:
            work.extend(graph.successors[point])
    return False


def _reaches(graph: FlowGraph, source: int, target: int) -> bool:
    seen: set[int] = set()
    work = [source]
    while work:
        point = work.pop()
        if point == target:
            return True
        if point not in seen:
            seen.add(point)
            work.extend(graph.successors[point])
    return False
