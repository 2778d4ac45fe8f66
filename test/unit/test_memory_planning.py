"""Algorithms that plan memory, against brute force and each other."""

from collections.abc import Sequence
from itertools import permutations, product
from unittest.mock import patch

import pytest
from fake_distributions import plugin
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_problems import chain, problems

import transom
from transom.dialects import plugins
from transom.dialects.diagnostics import OpError
from transom.passes.memory.flow_graph import bits
from transom.passes.memory.planning import exact
from transom.passes.memory.planning.algorithms import (
    ALGORITHMS,
    Outcome,
    Verdict,
    check_algorithm,
    plan,
)
from transom.passes.memory.planning.bounds import lower_bound, needed, overfull
from transom.passes.memory.planning.failures import explain
from transom.passes.memory.planning.greedy import place_in_order
from transom.passes.memory.planning.problem import (
    Buffer,
    Place,
    PlanError,
    Pool,
    Problem,
    check_places,
)
from transom.passes.pipeline import PipelineError
from transom.passes.tir_plan_memory import TirPlanMemoryPass
from transom.registry import new_context

HEURISTICS = tuple(name for name in ALGORITHMS if name not in ("auto", "exact"))


def check(problem: Problem, outcome: Outcome) -> None:
    """A plan byte by byte, and that what is said of it is not refuted by it."""
    if outcome.packing is None:
        assert outcome.verdict in (Verdict.INFEASIBLE, Verdict.UNKNOWN)
        return
    taken: set[tuple[int, int, int]] = set()
    places = outcome.packing.places
    for buffer, place in zip(problem.buffers, places, strict=True):
        assert place.pool in buffer.pools
        assert place.offset >= 0 and place.offset % buffer.alignment == 0
        end = place.offset + buffer.size
        capacity = problem.pools[place.pool].capacity
        assert capacity is None or end <= capacity
        assert end <= outcome.packing.tops[place.pool]
        if buffer.pin is not None:
            assert place == buffer.pin
        for point in bits(buffer.points):
            cells = {(place.pool, point, byte) for byte in range(place.offset, end)}
            assert not cells & taken
            taken |= cells
    assert outcome.packing.cost == problem.cost(problem.tops(places))
    assert outcome.bound <= outcome.packing.cost
    is_optimal = outcome.verdict is Verdict.OPTIMAL
    assert is_optimal == (outcome.bound == outcome.packing.cost)


@settings(deadline=None)
@given(problems(), st.sampled_from(HEURISTICS))
def test_no_two_live_buffers_overlap(problem: Problem, algorithm: str) -> None:
    check(problem, plan(problem, algorithm))


@settings(max_examples=40, deadline=None)
@given(problems(most=8))
def test_exact_is_never_beaten(problem: Problem) -> None:
    pytest.importorskip("ortools")
    found = plan(problem, "exact")
    check(problem, found)
    assert found.verdict in (Verdict.OPTIMAL, Verdict.INFEASIBLE)
    for algorithm in (*HEURISTICS, "auto"):
        other = plan(problem, algorithm)
        check(problem, other)
        if found.packing is None:
            assert other.packing is None
        elif other.packing is not None:
            assert other.packing.cost >= found.packing.cost
        else:
            assert other.verdict is Verdict.UNKNOWN


def brute_force(problem: Problem) -> int | None:
    """
    The least cost: some order of buffers, each as low as it can be in some pool, gives
    a best plan.
    """
    least: int | None = None
    for pools in product(*(buffer.pools for buffer in problem.buffers)):
        for order in permutations(range(len(problem.buffers))):
            places = _pushed_down(problem, pools, order)
            tops = problem.tops(places)
            fits = all(
                pool.capacity is None or top <= pool.capacity
                for pool, top in zip(problem.pools, tops, strict=True)
            )
            if fits and (least is None or problem.cost(tops) < least):
                least = problem.cost(tops)
    return least


def _pushed_down(
    problem: Problem, pools: Sequence[int], order: Sequence[int]
) -> list[Place]:
    """Each buffer above all those before it that live with it."""
    offsets: dict[int, int] = {}
    for number in order:
        buffer = problem.buffers[number]
        below = [
            offsets[other] + problem.buffers[other].size
            for other in offsets
            if pools[other] == pools[number]
            and problem.buffers[other].points & buffer.points
            and problem.buffers[other].size
            and buffer.size
        ]
        end = max(below, default=0)
        offsets[number] = -(-end // buffer.alignment) * buffer.alignment
    return [Place(pools[n], offsets[n]) for n in range(len(pools))]


@settings(max_examples=60, deadline=None)
@given(problems(most=4))
def test_exact_is_brute_force(problem: Problem) -> None:
    pytest.importorskip("ortools")
    found = plan(problem, "exact")
    least = brute_force(problem)
    assert (None if found.packing is None else found.packing.cost) == least


@settings(deadline=None)
@given(problems(most=4))
def test_bounds_hold(problem: Problem) -> None:
    least = brute_force(problem)
    assert least is None or lower_bound(problem) <= least
    if overfull(problem) is not None:
        assert least is None


@settings(deadline=None)
@given(problems())
def test_disjoint_lifetimes_share(problem: Problem) -> None:
    apart = tuple(
        Buffer(b.name, b.size, b.alignment, 1 << i)
        for i, b in enumerate(problem.buffers)
    )
    outcome = plan(Problem(apart))
    assert outcome.verdict is Verdict.OPTIMAL
    assert outcome.packing is not None
    assert outcome.packing.tops == (max((b.size for b in apart), default=0),)


def test_without_ortools_is_feasible() -> None:
    problem = chain(3)
    with patch.object(exact, "is_available", lambda: False):
        outcome = plan(problem)
        with pytest.raises(ValueError, match="needs OR-tools: install 'transom"):
            check_algorithm("exact")
    check_places(problem, outcome.packing.places if outcome.packing else ())
    assert outcome.verdict is Verdict.FEASIBLE


@pytest.mark.parametrize("seed", range(0, 12, 2))
def test_auto_is_near_the_bound(seed: int) -> None:
    outcome = plan(chain(seed))
    assert outcome.packing is not None and outcome.gap <= 0.02


def test_equal_problems_have_equal_plans() -> None:
    for algorithm in ("auto", "hill-climb"):
        assert plan(chain(4, 60), algorithm) == plan(chain(4, 60), algorithm)


def test_sums_are_of_multiples_of_the_alignment() -> None:
    problem = Problem((Buffer("a", 48, 64, 1), Buffer("b", 48, 64, 1)))
    assert needed(problem, [0]) == lower_bound(problem) == 64 + 48


def test_fills_the_gap_between_larger_buffers() -> None:
    problem = Problem(
        (
            Buffer("a", 64, 1, 0b011),
            Buffer("b", 32, 1, 0b110),
            Buffer("c", 16, 1, 0b011),
            Buffer("d", 16, 1, 0b001),
        )
    )
    packing = place_in_order(problem, range(4))
    assert packing.tops == (112,) and lower_bound(problem) == 112


def test_four_reuses_of_one_place() -> None:
    """Sizes that differ from one buffer to the next one in the same place."""
    sizes = (400, 400, 800, 400)
    lives = (0b0011, 0b0110, 0b1100, 0b1000)
    problem = Problem(
        tuple(Buffer("b", s, 2, p) for s, p in zip(sizes, lives, strict=True))
    )
    check(problem, plan(problem))


def test_keeps_pins() -> None:
    pinned = Buffer("b", 16, 16, 1, pin=Place(0, 0))
    outcome = plan(Problem((Buffer("a", 16, 16, 1), pinned)))
    assert outcome.packing is not None
    assert outcome.packing.places == (Place(0, 16), Place(0, 0))


def message_of(problem: Problem) -> tuple[int, str]:
    """The error of a problem without a plan."""
    with pytest.raises(PlanError) as error:
        raise explain(problem, plan(problem))
    return error.value.buffer, error.value.message


def test_refuses_a_pin_off_its_alignment() -> None:
    with pytest.raises(PlanError) as error:
        plan(Problem((Buffer("a", 16, 16, 1, pin=Place(0, 8)),)))
    assert error.value.message == (
        "expected an offset that is a multiple of 16, but got 8"
    )


def test_needs_what_lives_at_once() -> None:
    live = (Buffer("a", 48, 8, 1), Buffer("b", 16, 8, 1), Buffer("c", 8, 8, 1))
    assert message_of(Problem(live, (Pool("memory '@sram'", 64),))) == (
        2,
        "expected a plan that fits into the 64 bytes of memory '@sram', but it "
        "needs 72",
    )


def test_needs_more_than_what_lives_at_once() -> None:
    """Pins that leave a hole: 40 bytes live at once, and yet 48 do not do."""
    pytest.importorskip("ortools")
    live = (
        Buffer("a", 16, 8, 0b01, pin=Place(0, 16)),
        Buffer("b", 24, 8, 0b01),
    )
    assert message_of(Problem(live, (Pool("memory '@sram'", 48),))) == (
        1,
        "expected a plan that fits into the 48 bytes of memory '@sram', but it "
        "needs 56",
    )


def test_says_which_memory_is_full() -> None:
    live = (Buffer("a", 32, 8, 1, (0,)), Buffer("b", 64, 8, 1, (0, 1)))
    pools = (Pool("memory '@sram'", 16), Pool("memory '@dram'"))
    assert message_of(Problem(live, pools)) == (
        0,
        "expected a plan that fits into the 16 bytes of memory '@sram', but it "
        "needs 32",
    )


def test_unknown_is_said_where_nothing_is_proved() -> None:
    live = (
        Buffer("a", 16, 8, 0b01, pin=Place(0, 16)),
        Buffer("b", 24, 8, 0b01),
    )
    problem = Problem(live, (Pool("memory '@sram'", 48),))
    with patch.object(exact, "is_available", lambda: False):
        assert plan(problem).verdict is Verdict.UNKNOWN
        assert message_of(problem) == (
            1,
            "found no plan that fits into the 48 bytes of memory '@sram', but it needs "
            "at least 40, and would do with 56",
        )


@pytest.mark.nightly
def test_auto_on_many_chains() -> None:
    """`benchmarks/plan_memory.py` does so on a thousand."""
    good = 0
    for seed in range(100):
        problem = chain(seed)
        outcome = plan(problem)
        assert outcome.packing is not None
        check_places(problem, outcome.packing.places)
        good += outcome.verdict is Verdict.OPTIMAL or outcome.gap <= 0.02
    assert good >= 95


def one_above_the_other(problem: Problem) -> list[Place]:
    """An algorithm of a plug-in: nobody shares."""
    end, places = 0, list[Place]()
    for buffer in problem.buffers:
        offset = -(-end // buffer.alignment) * buffer.alignment
        places.append(Place(0, offset))
        end = offset + buffer.size
    return places


def nowhere(problem: Problem) -> list[Place]:
    """An algorithm that is wrong."""
    return [Place(0, -1) for _ in problem.buffers]


def all_at_zero(problem: Problem) -> list[Place]:
    """An algorithm whose plan is wrong."""
    return [Place(0, 0) for _ in problem.buffers]


MODULE = """
tir.func @k(read memref<16xf32>, write memref<16xf32>)
func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) {
  %a = tir.alloc : memref<16xf32>
  %b = tir.alloc : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  tir.call @k(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  tir.copy %b, %y : memref<16xf32>, memref<16xf32>
  func.return
}
"""


def planned_by(value: str) -> str:
    """The module, planned by a plug-in."""
    made = plugin(plugins.PLANNERS, "woofles-plan", value)
    module = transom.parse(MODULE)
    with patch.object(plugins, "installed", lambda: (made,)):
        TirPlanMemoryPass(algorithm="woofles-plan").apply(new_context(), module)
    return str(module)


def test_a_plug_in_plans() -> None:
    assert "{pool = @main.workspace, offset = 64}" in planned_by(
        "test_memory_planning:one_above_the_other"
    )


@pytest.mark.parametrize(
    "planner, message",
    [
        ("nowhere", "algorithm 'woofles-plan': expected a place in a pool of the buff"),
        ("all_at_zero", "expected to write a buffer apart from those in use"),
    ],
)
def test_what_a_plug_in_gives_is_verified(planner: str, message: str) -> None:
    with pytest.raises(OpError, match=message):
        planned_by(f"test_memory_planning:{planner}")


def test_an_unknown_algorithm_is_refused() -> None:
    message = "unknown algorithm 'greedy-by-siz'; did you m"
    with pytest.raises(PipelineError, match=message):
        TirPlanMemoryPass(algorithm="greedy-by-siz").apply(
            new_context(), transom.parse(MODULE)
        )


def test_checks_the_places_of_others() -> None:
    problem = Problem((Buffer("a", 8, 8, 1),), (Pool("p"), Pool("q")))
    for places in ((), (Place(1, 0),), (Place(0, -8),)):
        with pytest.raises(PlanError):
            check_places(problem, places)
