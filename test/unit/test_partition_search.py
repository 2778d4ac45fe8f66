"""
The partition search on numbers alone: against all selections where these can be tried,
and against what begins it where they cannot.
"""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transom.passes.partition.problem import (
    INFINITE,
    NOWHERE,
    Candidate,
    Group,
    Link,
    Place,
    Problem,
    Value,
    parse_problem,
)
from transom.passes.partition.search import greedy, solve
from transom.passes.partition.solution import Outcome, report_of
from transom.passes.partition.states import Space
from transom.tools import check_partition

INSTANCE = Path(__file__).parent / "partition" / "three_devices.json"


def cut(problem: Problem, first: int, last: int) -> Problem:
    """Some ops in a row; what they read of others is where the first place is."""
    inside = range(first, last)
    values: list[Value] = []
    for value in problem.values:
        readers = tuple(r - first for r in value.readers if r in inside)
        if value.producer in inside:
            assert value.producer is not None
            producer = value.producer - first
            values.append(
                dataclasses.replace(value, readers=readers, producer=producer)
            )
        elif readers:
            memory = problem.places[0].memory
            values.append(Value(value.size, readers, None, memory))
    candidates = tuple(
        dataclasses.replace(c, ops=tuple(op - first for op in c.ops))
        for c in problem.candidates
        if all(op in inside for op in c.ops)
    )
    after = tuple(
        (a - first, b - first) for a, b in problem.after if a in inside and b in inside
    )
    return dataclasses.replace(
        problem,
        names=problem.names[first:last],
        values=tuple(values),
        candidates=candidates,
        after=after,
    )


def problems_in(problem: Problem, outcome: Outcome) -> list[str]:
    """What a program that shares no code with the search finds wrong."""
    report = json.loads(json.dumps(report_of(problem, outcome)))
    return list(check_partition.problems_of(report))


CUTS = [(0, 12), (8, 20), (14, 25), (20, 31), (28, 39)]


@pytest.mark.parametrize(("first", "last"), CUTS)
def test_pieces_of_the_instance_have_the_least_cost(first: int, last: int):
    problem = cut(parse_problem(INSTANCE.read_text()), first, last)
    outcome = solve(problem)
    assert outcome.is_optimal
    least = check_partition.Checker(problem.to_json()).least()
    assert outcome.cost.unknown == least[0]
    assert outcome.cost.seconds == pytest.approx(least[1], rel=1e-12)


def test_the_whole_instance():
    problem = parse_problem(INSTANCE.read_text())
    assert parse_problem(json.dumps(problem.to_json())) == problem
    outcome = solve(problem)
    assert not problems_in(problem, outcome)
    begun = greedy(Space(problem)).state
    assert begun is not None and outcome.cost < begun.cost
    assert {group.place for group in outcome.groups} == {0, 1, 2}
    assert outcome == solve(problem)


@pytest.mark.parametrize("budget", [1, 50, 500, 5000, 50_000])
def test_more_budget_is_never_worse_than_the_beginning(budget: int):
    problem = parse_problem(INSTANCE.read_text())
    begun = greedy(Space(problem)).state
    assert begun is not None
    outcome = solve(problem, budget)
    assert outcome.cost <= begun.cost
    assert not problems_in(problem, outcome)
    least = solve(problem).cost.seconds
    assert outcome.bound.seconds <= least * (1 + 1e-12)


NUMBERS = st.integers(1, 50).map(lambda n: n / 1e6)


@st.composite
def small_problems(draw: st.DrawFn, max_ops: int = 6) -> Problem:
    """Problems of a few ops, of which some are copied, ordered, or of unknown cost."""
    count = draw(st.integers(1, max_ops))
    ops = range(count)
    readers: list[set[int]] = [set() for _ in range(count + 1)]
    for op in ops:
        for source in draw(st.sets(st.integers(0, op), min_size=1, max_size=2)):
            readers[source].add(op)
    size = st.integers(0, 4000)
    values = [Value(draw(size), tuple(sorted(readers[0])), None, "m0")]
    for op in ops:
        values.append(Value(draw(size), tuple(sorted(readers[op + 1])), op))
    layouts = st.sampled_from(["", "blocked"])
    places = [Place("host", "m0", frozenset({"m0"}))]
    for number in (1, 2):
        reaches = {f"m{number}"} | draw(st.sets(st.sampled_from(["m0", "m1"])))
        launch, relayout = draw(NUMBERS), draw(st.integers(0, 5)) / 1e9
        place = Place(
            f"p{number}",
            f"m{number}",
            frozenset(reaches),
            launch,
            draw(layouts),
            relayout,
        )
        places.append(place)
    pairs = [("m0", "m1"), ("m1", "m0"), ("m1", "m2"), ("m2", "m1"), ("m2", "m0")]
    kept = draw(st.sets(st.sampled_from(pairs)))
    links = [Link(a, b, draw(NUMBERS), 1e9) for a, b in pairs if (a, b) in kept]
    candidates: list[Candidate] = []
    seconds = st.one_of(NUMBERS, st.none())
    for op in ops:
        candidates.append(Candidate((op,), 0, draw(seconds)))
        for place in draw(st.sets(st.integers(1, 2))):
            candidates.append(Candidate((op,), place, draw(seconds), rank=place))
    copied: set[int] = set()
    for op in ops:
        for reader in sorted(readers[op + 1]):
            kind = draw(st.integers(0, 3))
            place = draw(st.integers(1, 2))
            if kind == 0:
                candidates.append(Candidate((op, reader), place, draw(NUMBERS)))
            elif kind == 1:
                candidates.append(Candidate((reader,), place, draw(NUMBERS), (op,)))
                copied.add(op)
    candidates += [Candidate((op,), NOWHERE, 0.0) for op in sorted(copied)]
    orders = st.tuples(st.sampled_from(ops), st.sampled_from(ops))
    after = draw(st.sets(orders.filter(lambda pair: pair[0] < pair[1]), max_size=2))
    return Problem(
        tuple(f"op{op}" for op in ops),
        tuple(values),
        tuple(places),
        tuple(candidates),
        tuple(links),
        tuple(sorted(after)),
    )


@settings(max_examples=120, deadline=None)
@given(small_problems())
def test_small_problems_have_the_least_cost(problem: Problem):
    outcome = solve(problem)
    assert outcome.is_optimal
    assert not problems_in(problem, outcome)


@settings(max_examples=60, deadline=None)
@given(small_problems(max_ops=8), st.integers(1, 300))
def test_bounds_and_costs_hold_for_any_budget(problem: Problem, budget: int):
    outcome = solve(problem, budget)
    # A small budget may end before a way around missing links is found.
    assert outcome.cost == INFINITE or not problems_in(problem, outcome)


def two_places(*seconds: tuple[float | None, float | None], **values: int) -> Problem:
    """A chain of ops that cost this at the host and at another place."""
    size, launch = values.get("size", 0), values.get("launch", 0) / 1e6
    count = len(seconds)
    return Problem(
        tuple(f"op{n}" for n in range(count)),
        (
            Value(size, (0,), None, "m0"),
            *(Value(size, (n + 1,), n) for n in range(count - 1)),
        ),
        (
            Place("host", "m0", frozenset({"m0"})),
            Place("far", "m1", frozenset({"m1"}), launch),
        ),
        tuple(
            Candidate((n,), place, cost, rank=place)
            for n, costs in enumerate(seconds)
            for place, cost in enumerate(costs)
        ),
        (Link("m0", "m1", 0.0, 1e6), Link("m1", "m0", 0.0, 1e6)),
    )


def places_of(outcome: Outcome) -> Sequence[int]:
    return [group.place for group in outcome.groups]


def test_copies_and_launches_count():
    costs = [(4e-6, 1e-6), (4e-6, 5e-6), (4e-6, 1e-6)]
    assert places_of(solve(two_places(*costs))) == [1, 0, 1]
    assert places_of(solve(two_places(*costs, size=1))) == [1]
    assert places_of(solve(two_places(*costs, launch=3))) == [1]
    assert places_of(solve(two_places(*costs, launch=9))) == [0]
    assert places_of(solve(two_places(*costs, size=9))) == [0]


def test_what_is_not_known_is_neither_free_nor_impossible():
    assert places_of(solve(two_places((9.0, None)))) == [0]
    assert places_of(solve(two_places((None, 9.0)))) == [1]
    outcome = solve(two_places((None, None), (1.0, None)))
    assert places_of(outcome) == [0] and outcome.cost.unknown == 1
    # Of equal costs the place that is preferred counts.
    assert places_of(solve(two_places((2.0, 2.0)))) == [0]


def test_without_a_link_there_is_no_way():
    problem = dataclasses.replace(two_places((9.0, 1.0)), links=())
    assert places_of(solve(problem)) == [0]
    only = dataclasses.replace(problem, candidates=problem.candidates[1:])
    outcome = solve(only)
    assert outcome.groups == () and outcome.cost == INFINITE


def test_the_crossed_graph_has_one_pair_at_most():
    """Of a1->a2, b1->b2, a1->b2, b1->a2 both pairs would wait for each other."""
    values = (Value(0, (1, 3), 0), Value(0, (3, 1), 2))
    place = Place("here", "m", frozenset({"m"}))
    other = Place("there", "m", frozenset({"m"}))
    singles = [Candidate((op,), 0, 2.0) for op in range(4)]
    pairs = [Candidate((0, 1), 0, 1.0), Candidate((2, 3), 1, 1.0)]
    problem = Problem(
        ("a1", "a2", "b1", "b2"), values, (place, other), (*singles, *pairs)
    )
    outcome = solve(problem)
    assert outcome.cost.seconds == 5.0
    assert not problems_in(problem, outcome)


def test_a_selection_to_begin_with_is_kept_if_it_is_best():
    problem = two_places(*[(1.0, 1.0)] * 40, size=1)
    first = [2 * n for n in range(40)]
    outcome = solve(problem, 1, first)
    assert outcome.groups == (Group(0, tuple(first)),)


def test_the_checker_finds_what_is_wrong():
    problem = two_places((4e-6, 1e-6), (4e-6, 5e-6), size=1, launch=1)
    report = report_of(problem, solve(problem))
    assert not list(check_partition.problems_of(report))
    wrong: dict[str, dict[str, Any]] = {
        "gap": {**report, "gap": 0.5},
        "seconds": {**report, "cost": {**report["cost"], "seconds": 1.0}},
        "twice": {**report, "groups": report["groups"] * 2},
        "not covered": {**report, "groups": []},
        "above": {**report, "bound": {**report["bound"], "seconds": 1.0}},
    }
    for word, changed in wrong.items():
        assert word in "; ".join(check_partition.problems_of(changed))


def test_the_checker_as_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    problem = two_places((4e-6, 1e-6))
    report = report_of(problem, solve(problem))
    path = tmp_path / "report.json"
    path.write_text(json.dumps({"searches": [report]}))
    assert check_partition.main([str(path)]) == 0
    assert capsys.readouterr().out == "search 0: 1e-06 s, gap 0.00%\n"
    path.write_text(json.dumps({"searches": [{**report, "gap": 1.0}]}))
    assert check_partition.main([str(path)]) == 1
    assert "search 0: the gap is 1.0" in capsys.readouterr().err
    assert check_partition.main([]) == 2
    assert check_partition.main([str(tmp_path / "none")]) == 1
