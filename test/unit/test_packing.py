"""Packing and the points that it works on, against brute force."""

from itertools import pairwise

import pytest
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
from transom.passes.memory.packing import Buffer, PackingError, lower_bound, pack

buffers = st.lists(
    st.builds(
        Buffer,
        name=st.just("b"),
        size=st.integers(0, 40),
        alignment=st.sampled_from([1, 2, 8, 16]),
        points=st.integers(0, 2**12 - 1),
    ),
    max_size=14,
)


def sum_at_worst_point(blocks: list[Buffer]) -> int:
    return max(
        sum(block.size for block in blocks if block.points >> point & 1)
        for point in range(64)
    )


@given(buffers)
def test_no_two_live_buffers_overlap(blocks: list[Buffer]) -> None:
    packing = pack(blocks)
    taken: set[tuple[int, int]] = set()
    for block, offset in zip(blocks, packing.offsets, strict=True):
        assert offset % block.alignment == 0
        assert offset >= 0 and offset + block.size <= packing.size
        for point in bits(block.points):
            cells = {(point, offset + byte) for byte in range(block.size)}
            assert not cells & taken
            taken |= cells


@given(buffers)
def test_bound_is_the_worst_point(blocks: list[Buffer]) -> None:
    assert lower_bound(blocks) == sum_at_worst_point(blocks)
    assert lower_bound(blocks) <= pack(blocks).size


@given(buffers)
def test_disjoint_lifetimes_share(blocks: list[Buffer]) -> None:
    apart = [Buffer(b.name, b.size, b.alignment, 1 << i) for i, b in enumerate(blocks)]
    assert pack(apart).size == max((b.size for b in blocks), default=0)


def test_fills_the_gap_between_larger_buffers() -> None:
    blocks = [
        Buffer("a", 64, 1, 0b011),
        Buffer("b", 32, 1, 0b110),
        Buffer("c", 16, 1, 0b011),
        Buffer("d", 16, 1, 0b001),
    ]
    packing = pack(blocks)
    assert packing.size == lower_bound(blocks) == 112


def test_keeps_pins() -> None:
    blocks = [Buffer("a", 16, 16, 1), Buffer("b", 16, 16, 1, pin=0)]
    assert pack(blocks).offsets == (16, 0)


def test_refuses_overlapping_pins() -> None:
    blocks = [Buffer("a", 16, 8, 1, pin=8), Buffer("b", 16, 8, 1, pin=0)]
    with pytest.raises(PackingError) as error:
        pack(blocks)
    assert error.value.message == (
        "expected fixed offsets that do not overlap, but 16 bytes at 8 and 16 bytes "
        "at 0 live together"
    )


def test_refuses_a_pin_off_its_alignment() -> None:
    with pytest.raises(PackingError) as error:
        pack([Buffer("a", 16, 16, 1, pin=8)])
    assert error.value.message == (
        "expected an offset that is a multiple of 16, but got 8"
    )


def test_refuses_more_than_the_capacity() -> None:
    blocks = [Buffer("a", 48, 1, 1), Buffer("b", 16, 1, 1), Buffer("c", 8, 1, 1)]
    with pytest.raises(PackingError) as error:
        pack(blocks, capacity=64)
    assert error.value.buffer == 2
    assert error.value.message == "expected to need at most 64 bytes, but 72 are"


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
