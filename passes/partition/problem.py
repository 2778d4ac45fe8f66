"""
The partition problem: ops in order, values between them, and candidates at places.

Each op is covered by one candidate. Candidates at one place that follow each other are
one group, which is launched once; in the order of groups every value is computed before
it is read, so that groups never depend on each other in a cycle. A value is in the
memory of the place that computes it; where a place does not reach that, or wants it in
another layout, it is copied, once for each value and destination.

The cost of a selection is that of its candidates, of the launches and of the copies. A
candidate whose cost is not known is worse than any whose cost is: costs are compared by
the ops of unknown cost first, then by seconds, then by the preference of the targets.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush
from typing import Any, NamedTuple


class Cost(NamedTuple):
    """What is compared, in this order."""

    unknown: float
    """Ops whose cost is not known."""

    seconds: float
    """Known costs, launches and copies; infinite if a copy is not possible."""

    rank: float
    """How far down the lists of preference the places of the ops are, as a sum."""

    def plus(self, other: "Cost") -> "Cost":
        """The sum, part by part."""
        return Cost(
            self.unknown + other.unknown,
            self.seconds + other.seconds,
            self.rank + other.rank,
        )


ZERO = Cost(0.0, 0.0, 0.0)
INFINITE = Cost(math.inf, math.inf, math.inf)


@dataclass(frozen=True)
class Place:
    """Where candidates run."""

    name: str
    memory: str
    """Where what it computes is stored."""

    reaches: frozenset[str]
    """All memories that it reads."""

    launch: float = 0.0
    """Seconds for each group."""

    layout: str = ""
    """The layout in which it computes and reads values."""

    relayout: float = 0.0
    """Seconds per byte to bring a value into that layout."""


@dataclass(frozen=True)
class Link:
    """A way for bytes from one memory to another."""

    source: str
    destination: str
    latency: float
    """In seconds."""
    bandwidth: float
    """In bytes per second."""


@dataclass(frozen=True)
class Value:
    """What ops read; of the op that computes it, or there from the start."""

    size: int
    """In bytes."""
    readers: tuple[int, ...]
    producer: int | None = None
    memory: str = ""
    """Where it is, if it is there from the start."""


@dataclass(frozen=True)
class Candidate:
    """Ops that a place would take together, in order."""

    ops: tuple[int, ...]
    place: int
    seconds: float | None
    """None if it is not known."""

    copied: tuple[int, ...] = ()
    """Ops that it computes for itself, whoever covers them."""

    label: str = ""
    rank: int = 0


NOWHERE = -1
"""The place of an op that is not computed, as only copies of it are read."""


@dataclass(frozen=True)
class Group:
    """Candidates that run together, in order."""

    place: int
    candidates: tuple[int, ...]


@dataclass(frozen=True)
class Problem:
    """
    A partition problem. Ops are numbered so that values are computed before they are
    read, and `after` has pairs of ops whose order is kept besides.
    """

    names: tuple[str, ...]
    values: tuple[Value, ...]
    places: tuple[Place, ...]
    candidates: tuple[Candidate, ...]
    links: tuple[Link, ...] = ()
    after: tuple[tuple[int, int], ...] = ()
    _paths: dict[tuple[str, str, int], float] = field(
        default_factory=dict[tuple[str, str, int], float], compare=False, repr=False
    )

    @property
    def count(self) -> int:
        """How many ops there are."""
        return len(self.names)

    @cached_property
    def before(self) -> tuple[frozenset[int], ...]:
        """For each op those that come before it."""
        found: list[set[int]] = [set() for _ in self.names]
        for value in self.values:
            for reader in value.readers if value.producer is not None else ():
                assert value.producer is not None, "asked above"
                if reader != value.producer:
                    found[reader].add(value.producer)
        for first, second in self.after:
            found[second].add(first)
        return tuple(frozenset(ops) for ops in found)

    @cached_property
    def reads(self) -> tuple[tuple[int, ...], ...]:
        """For each candidate the values that it reads of others."""
        by_reader: list[list[int]] = [[] for _ in self.names]
        for number, value in enumerate(self.values):
            for reader in dict.fromkeys(value.readers):
                by_reader[reader].append(number)
        found: list[tuple[int, ...]] = []
        for candidate in self.candidates:
            inside = {*candidate.ops, *candidate.copied}
            found.append(
                tuple(
                    dict.fromkeys(
                        number
                        for op in (*candidate.copied, *candidate.ops)
                        for number in by_reader[op]
                        if self.values[number].producer not in inside
                    )
                )
            )
        return tuple(found)

    def cost_of(self, number: int) -> Cost:
        """The cost of a candidate alone."""
        candidate = self.candidates[number]
        if candidate.place == NOWHERE:
            return ZERO
        unknown = len(candidate.ops) if candidate.seconds is None else 0
        rank = candidate.rank * len(candidate.ops)
        return Cost(unknown, candidate.seconds or 0.0, rank)

    def path_seconds(self, source: str, destination: str, size: int) -> float:
        """The time to copy some bytes the fastest way; infinite if there is none."""
        if source == destination:
            return 0.0
        key = (source, destination, size)
        if key not in self._paths:
            self._paths[key] = self._fastest(*key)
        return self._paths[key]

    def _fastest(self, source: str, destination: str, size: int) -> float:
        queue: list[tuple[float, str]] = [(0.0, source)]
        done: set[str] = set()
        while queue:
            seconds, here = heappop(queue)
            if here == destination:
                return seconds
            if here in done:
                continue
            done.add(here)
            for link in self.links:
                if link.source == here and link.destination not in done:
                    there = seconds + link.latency + size / link.bandwidth
                    heappush(queue, (there, link.destination))
        return math.inf

    # As text.

    def to_json(self) -> dict[str, Any]:
        """The problem as JSON has it."""
        return {
            "ops": list(self.names),
            "after": [list(pair) for pair in self.after],
            "values": [
                {
                    "bytes": value.size,
                    "readers": list(value.readers),
                    "producer": value.producer,
                    "memory": value.memory,
                }
                for value in self.values
            ],
            "places": [
                {
                    "name": place.name,
                    "memory": place.memory,
                    "reaches": sorted(place.reaches),
                    "launch": place.launch,
                    "layout": place.layout,
                    "relayout": place.relayout,
                }
                for place in self.places
            ],
            "links": [
                {
                    "source": link.source,
                    "destination": link.destination,
                    "latency": link.latency,
                    "bandwidth": link.bandwidth,
                }
                for link in self.links
            ],
            "candidates": [
                {
                    "ops": list(candidate.ops),
                    "place": candidate.place,
                    "seconds": candidate.seconds,
                    "copied": list(candidate.copied),
                    "label": candidate.label,
                    "rank": candidate.rank,
                }
                for candidate in self.candidates
            ],
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Problem":
        """The problem that JSON describes."""

        def items(key: str) -> Sequence[Mapping[str, Any]]:
            return data.get(key, ())

        return Problem(
            tuple(data["ops"]),
            tuple(
                Value(
                    v["bytes"],
                    tuple(v["readers"]),
                    v.get("producer"),
                    v.get("memory", ""),
                )
                for v in items("values")
            ),
            tuple(
                Place(
                    p["name"],
                    p["memory"],
                    frozenset(p.get("reaches", [p["memory"]])),
                    p.get("launch", 0.0),
                    p.get("layout", ""),
                    p.get("relayout", 0.0),
                )
                for p in items("places")
            ),
            tuple(
                Candidate(
                    tuple(c["ops"]),
                    c["place"],
                    c.get("seconds"),
                    tuple(c.get("copied", ())),
                    c.get("label", ""),
                    c.get("rank", 0),
                )
                for c in items("candidates")
            ),
            tuple(
                Link(k["source"], k["destination"], k["latency"], k["bandwidth"])
                for k in items("links")
            ),
            tuple((first, second) for first, second in data.get("after", ())),
        )


def parse_problem(text: str) -> Problem:
    """The problem in the text of an instance file."""
    return Problem.from_json(json.loads(text))
