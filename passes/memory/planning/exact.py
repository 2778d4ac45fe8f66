"""
The best plan there is, by constraint programming (OR-tools, `transom[plan]`).

Each buffer is a rectangle: the stretches of its life by the bytes that it takes, in one
of its pools. Rectangles of a pool do not overlap. What each maximal set of buffers that
live together needs is added, as it is that which gives a useful bound.
"""

from typing import Any, NamedTuple

from transom.passes.memory.flow_graph import runs
from transom.passes.memory.planning.greedy import Packing
from transom.passes.memory.planning.problem import Place, Problem

EFFORT = 2.0
"""The limit of the solver's own count of work, of which it does about 1 per second."""

MAX_BUFFERS = 1000
"""Larger problems are not given to the solver, whose model would be too large."""


class Answer(NamedTuple):
    """What the solver found and proved; no packing fits if it is infeasible."""

    packing: Packing | None
    bound: int
    is_infeasible: bool = False


def is_available() -> bool:
    """Whether OR-tools are installed."""
    from importlib.util import find_spec

    return find_spec("ortools") is not None


def solve(problem: Problem, hint: Packing, bound: int) -> Answer:
    """The best packing, starting from one that is known."""
    from ortools.sat.python import cp_model

    model = _Model(problem, hint, bound)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = EFFORT
    solver.parameters.random_seed = 0
    status = solver.solve(model.model)
    if status == cp_model.INFEASIBLE:
        return Answer(None, bound, is_infeasible=True)
    proved = max(bound, -int(-solver.best_objective_bound // 1))
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Answer(None, bound if status == cp_model.MODEL_INVALID else proved)
    places = model.places(solver)
    tops = problem.tops(places)
    cost = problem.cost(tops)
    if status == cp_model.OPTIMAL:
        proved = cost
    return Answer(Packing(places, tops, 0, cost), proved)


class _Model:
    """The constraints; `ortools` has no types."""

    def __init__(self, problem: Problem, hint: Packing, bound: int) -> None:
        from ortools.sat.python import cp_model

        self.problem = problem
        self.model: Any = cp_model.CpModel()
        self.sizes = self._pool_sizes(hint)
        self.tops: list[Any] = [
            self.model.new_int_var(0, size, f"top{pool}")
            for pool, size in enumerate(self.sizes)
        ]
        self.present: list[dict[int, Any]] = []
        self.offsets: list[dict[int, Any]] = []
        self.rectangles: list[tuple[list[Any], list[Any]]] = [
            ([], []) for _ in problem.pools
        ]
        for number in range(len(problem.buffers)):
            self._add_buffer(number)
        for pool, (times, spaces) in enumerate(self.rectangles):
            self.model.add_no_overlap_2d(times, spaces)
            self._add_live_sets(pool)
        cost = sum(rank * top for rank, top in enumerate(self.tops, 1))
        self.model.add(cost >= bound)
        if hint.overflow == 0:
            self.model.add(cost <= hint.cost)
            self._add_hint(hint)
        self.model.minimize(cost)

    def _pool_sizes(self, hint: Packing) -> list[int]:
        """How large each pool may become at most."""
        all_bytes = sum(b.size + b.alignment for b in self.problem.buffers)
        pinned = [
            b.pin.offset + b.size for b in self.problem.buffers if b.pin is not None
        ]
        largest = max([all_bytes, *pinned])
        if hint.overflow == 0:
            largest = min(largest, hint.cost)
        return [
            largest if pool.capacity is None else min(largest, pool.capacity)
            for pool in self.problem.pools
        ]

    def _add_buffer(self, number: int) -> None:
        buffer = self.problem.buffers[number]
        present: dict[int, Any] = {}
        offsets: dict[int, Any] = {}
        pools = buffer.pools if buffer.pin is None else (buffer.pin.pool,)
        for pool in pools:
            literal = self.model.new_bool_var(f"in{number}_{pool}")
            present[pool] = literal
            offset, start = self._offset(number, pool)
            offsets[pool] = offset
            if buffer.size == 0:
                continue
            space = self.model.new_optional_interval_var(
                start, buffer.size, start + buffer.size, literal, ""
            )
            times, spaces = self.rectangles[pool]
            for begin, end in runs(buffer.points):
                times.append(
                    self.model.new_optional_fixed_size_interval_var(
                        begin, end - begin, literal, ""
                    )
                )
                spaces.append(space)
            self.model.add(self.tops[pool] >= start + buffer.size).only_enforce_if(
                literal
            )
        self.model.add_exactly_one(present.values())
        self.present.append(present)
        self.offsets.append(offsets)

    def _offset(self, number: int, pool: int) -> tuple[Any, Any]:
        """A variable in units of the alignment, and the offset in bytes."""
        buffer = self.problem.buffers[number]
        if buffer.pin is not None:
            steps = buffer.pin.offset // buffer.alignment
            variable = self.model.new_int_var(steps, steps, "")
        else:
            last = max(0, self.sizes[pool] - buffer.size) // buffer.alignment
            variable = self.model.new_int_var(0, last, "")
        return variable, variable * buffer.alignment

    def _add_live_sets(self, pool: int) -> None:
        for members in self.problem.live_sets():
            needs = [
                self.problem.buffers[n].size * self.present[n][pool]
                for n in members
                if pool in self.present[n]
            ]
            if needs:
                self.model.add(sum(needs) <= self.tops[pool])

    def _add_hint(self, hint: Packing) -> None:
        for number, place in enumerate(hint.places):
            for pool, literal in self.present[number].items():
                self.model.add_hint(literal, pool == place.pool)
                if pool == place.pool:
                    alignment = self.problem.buffers[number].alignment
                    self.model.add_hint(
                        self.offsets[number][pool], place.offset // alignment
                    )
        for pool, top in enumerate(self.tops):
            self.model.add_hint(top, hint.tops[pool])

    def places(self, solver: Any) -> tuple[Place, ...]:
        """Where the solver has put each buffer."""
        return tuple(
            next(
                Place(
                    pool,
                    solver.value(offsets[pool])
                    * self.problem.buffers[number].alignment,
                )
                for pool, literal in present.items()
                if solver.value(literal)
            )
            for number, (present, offsets) in enumerate(
                zip(self.present, self.offsets, strict=True)
            )
        )
