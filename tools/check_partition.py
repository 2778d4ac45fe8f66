"""
Check what `graph-search-partition{report=FILE}` writes, without any of its code:

```sh
python -m transom.tools.check_partition FILE
```

For each search the cost of the selection, the bound that follows from candidates
alone, and the gap are computed again from the numbers of the problem; where it has few
ops, all selections are tried. Exit status 1 if the report says anything else.
"""

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from heapq import heappop, heappush
from pathlib import Path
from typing import Any, NamedTuple

Report = Mapping[str, Any]
Destination = tuple[str, str]
"""A memory and a layout."""
Copies = frozenset[tuple[int, Destination]]
"""Values, and where there are copies of them."""

NOWHERE = -1
MAX_TRIED = 14
"""Ops up to which all selections are tried."""

TOLERANCE = 1e-9


class Value(NamedTuple):
    """A value of the problem."""

    bytes: int
    readers: list[int]
    producer: int | None
    memory: str


class Place(NamedTuple):
    """A place of the problem."""

    name: str
    memory: str
    reaches: list[str]
    launch: float
    layout: str
    relayout: float


class Candidate(NamedTuple):
    """A candidate of the problem."""

    ops: list[int]
    place: int
    seconds: float | None
    copied: list[int]
    label: str
    rank: int


class Link(NamedTuple):
    """A link of the problem."""

    source: str
    destination: str
    latency: float
    bandwidth: float


class Group(NamedTuple):
    """A group of a selection."""

    place: int
    candidates: list[int]


class Checker:
    """One problem, as the report has it."""

    def __init__(self, problem: Report) -> None:
        self.ops: Sequence[str] = problem["ops"]
        self.values = [Value(**item) for item in problem["values"]]
        self.places = [Place(**item) for item in problem["places"]]
        self.candidates = [Candidate(**item) for item in problem["candidates"]]
        self.links = [Link(**item) for item in problem["links"]]
        self.after: Sequence[tuple[int, int]] = problem["after"]
        self.way: Callable[[str, str, int], float] = cache(self._way)

    def _way(self, source: str, destination: str, size: int) -> float:
        """Seconds to bring bytes from a memory to another."""
        queue = [(0.0, source)]
        least: dict[str, float] = {}
        while queue:
            seconds, at = heappop(queue)
            if at in least:
                continue
            least[at] = seconds
            for link in self.links:
                if link.source == at:
                    more = link.latency + size / link.bandwidth
                    heappush(queue, (seconds + more, link.destination))
        return least.get(destination, math.inf)

    def reads(self, number: int) -> list[int]:
        """The values that a candidate reads of others."""
        candidate = self.candidates[number]
        inside = set(candidate.ops) | set(candidate.copied)
        return [
            v
            for v, value in enumerate(self.values)
            if value.producer not in inside and inside & set(value.readers)
        ]

    def waits_for(self, number: int) -> set[int]:
        """The ops that have to come before a candidate."""
        candidate = self.candidates[number]
        own, copied = set(candidate.ops), set(candidate.copied)
        producers = {self.values[v].producer for v in self.reads(number)}
        kept = {a for a, b in self.after if b in own | copied}
        of_own = {value.producer for value in self.values if own & set(value.readers)}
        earlier = (producers | kept | copied | of_own) - own
        return {op for op in earlier if op is not None}

    def step(
        self, number: int, last: int, home: Mapping[int, int], copies: Copies
    ) -> tuple[float, Copies]:
        """The seconds of a candidate after others, and what copies there are then."""
        candidate = self.candidates[number]
        if candidate.place == NOWHERE:
            return 0.0, copies
        place = self.places[candidate.place]
        seconds = candidate.seconds or 0.0
        if candidate.place != last:
            seconds += place.launch
        for v in self.reads(number):
            value = self.values[v]
            first = (value.memory, "")
            if value.producer is not None:
                by = home[value.producer]
                if by == NOWHERE:
                    return math.inf, copies
                first = (self.places[by].memory, self.places[by].layout)
            there = [first, *(d for w, d in copies if w == v)]
            if any(m in place.reaches and x == place.layout for m, x in there):
                continue
            memory = first[0]
            if memory not in place.reaches:
                seconds += self.way(memory, place.memory, value.bytes)
                memory = place.memory
            if first[1] != place.layout:
                seconds += place.relayout * value.bytes
            copies |= {(v, (memory, place.layout))}
        return seconds, copies

    def cost(self, groups: Sequence[Group]) -> tuple[int, float, int]:
        """The cost of a selection. Raises `ValueError` if it is none."""
        order = [n for group in groups for n in group.candidates]
        home = {op: NOWHERE for op in range(len(self.ops))}
        for group in groups:
            for n in group.candidates:
                if self.candidates[n].place != group.place:
                    raise ValueError(
                        f"candidate {n} is at another place than its group"
                    )
                home |= dict.fromkeys(self.candidates[n].ops, group.place)
        covered = [op for n in order for op in self.candidates[n].ops]
        if len(set(covered)) != len(covered):
            raise ValueError("an op is covered twice")
        dropped = set(range(len(self.ops))) - set(covered)
        allowed = {c.ops[0] for c in self.candidates if c.place == NOWHERE}
        if dropped - allowed:
            raise ValueError(f"op {min(dropped - allowed)} is not covered")
        done, last, seconds = set(dropped), -2, 0.0
        copies: Copies = frozenset()
        for n in order:
            if not self.waits_for(n) <= done:
                raise ValueError(f"candidate {n} comes before what it waits for")
            more, copies = self.step(n, last, home, copies)
            seconds += more
            last = self.candidates[n].place
            done |= set(self.candidates[n].ops)
        chosen = [self.candidates[n] for n in order]
        unknown = sum(len(c.ops) for c in chosen if c.seconds is None)
        return unknown, seconds, sum(c.rank * len(c.ops) for c in chosen)

    def bound(self) -> float:
        """The sum over ops of the least share of a candidate's seconds."""
        return sum(
            min(
                (c.seconds or 0.0) / len(c.ops) if c.place != NOWHERE else 0.0
                for c in self.candidates
                if op in c.ops
            )
            for op in range(len(self.ops))
        )

    def covers(self, left: frozenset[int]) -> Iterator[tuple[int, ...]]:
        """All sets of candidates that cover some ops once each."""
        if not left:
            yield ()
            return
        for number, candidate in enumerate(self.candidates):
            ops = set(candidate.ops)
            if min(left) in ops and ops <= left:
                for more in self.covers(left - ops):
                    yield (number, *more)

    def least_of_cover(self, cover: Sequence[int]) -> float:
        """The seconds of the best order of some candidates, infinite without one."""
        home = {
            op: self.candidates[n].place for n in cover for op in self.candidates[n].ops
        }
        waits = {n: self.waits_for(n) for n in cover}

        @cache
        def least(left: frozenset[int], last: int, copies: Copies) -> float:
            if not left:
                return 0.0
            open_ops = {op for n in left for op in self.candidates[n].ops}
            best = math.inf
            for n in sorted(left):
                if waits[n] & open_ops:
                    continue
                seconds, then = self.step(n, last, home, copies)
                if seconds < best:
                    place = self.candidates[n].place
                    place = last if place == NOWHERE else place
                    rest: frozenset[int] = left - {n}
                    best = min(best, seconds + least(rest, place, then))
            return best

        no_copies: Copies = frozenset()
        return least(frozenset(cover), -2, no_copies)

    def least(self) -> tuple[int, float]:
        """Unknown costs and seconds of the best selection, by trying all."""
        best = (sys.maxsize, math.inf)
        for cover in self.covers(frozenset(range(len(self.ops)))):
            chosen = [self.candidates[n] for n in cover]
            unknown = sum(
                len(c.ops) for c in chosen if c.seconds is None and c.place != NOWHERE
            )
            if unknown <= best[0]:
                seconds = self.least_of_cover(cover)
                if seconds < math.inf:
                    best = min(best, (unknown, seconds))
        return best


def problems_of(search: Report) -> Iterator[str]:
    """What is wrong in the report of one search."""
    checker = Checker(search["problem"])
    said, bound = search["cost"], search["bound"]
    try:
        unknown, seconds, rank = checker.cost([Group(**g) for g in search["groups"]])
    except ValueError as e:
        yield str(e)
        return
    for name, again in (("unknown", unknown), ("seconds", seconds), ("rank", rank)):
        if not _near(said[name], again):
            yield f"{name} of the cost is {said[name]}, but computed again {again}"
    gap = 0.0
    if unknown > bound["unknown"]:
        gap = 1.0
    elif seconds > bound["seconds"] and said != bound:
        gap = (seconds - bound["seconds"]) / seconds
    if not _near(search["gap"], gap):
        yield f"the gap is {search['gap']}, but computed again {gap}"
    if bound["unknown"] >= unknown and bound["seconds"] > seconds * (1 + TOLERANCE):
        yield f"the bound {bound['seconds']} is above the cost {seconds}"
    if bound["seconds"] < checker.bound() * (1 - TOLERANCE) and gap > 0:
        yield f"the bound {bound['seconds']} is below that of candidates alone"
    if len(checker.ops) <= MAX_TRIED:
        least = checker.least()
        if least[0] == bound["unknown"] and bound["seconds"] > least[1] * (
            1 + TOLERANCE
        ):
            yield f"the bound {bound['seconds']} is above the least cost {least[1]}"
        if gap == 0 and not (least[0] == unknown and _near(seconds, least[1])):
            yield f"the cost is {seconds}, said to be the least, but that is {least[1]}"


def _near(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= TOLERANCE * max(abs(a), abs(b))


def main(args: Sequence[str] | None = None) -> int:
    """Check a report; exit status 0 if it holds, 1 if not, 2 for a wrong call."""
    files = sys.argv[1:] if args is None else list(args)
    if len(files) != 1:
        print("usage: python -m transom.tools.check_partition FILE", file=sys.stderr)
        return 2
    try:
        searches = json.loads(Path(files[0]).read_text())["searches"]
    except OSError as e:
        print(f"check_partition: error: {files[0]}: {e.strerror}", file=sys.stderr)
        return 1
    wrong = False
    for number, search in enumerate(searches):
        for problem in problems_of(search):
            wrong = True
            print(f"{files[0]}: search {number}: {problem}", file=sys.stderr)
        if not wrong:
            seconds, gap = search["cost"]["seconds"], search["gap"]
            print(f"search {number}: {seconds:.6g} s, gap {gap:.2%}")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
