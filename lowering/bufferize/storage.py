"""
Which values may share storage: leaving SSA form, with buffers for registers.

At first each variable has storage of its own and values reach it by moves: before a
loop and on its back edge, at the end of each arm of a branch, into the caller's buffers
at the return. That is right without any analysis. Then the two sides of a move get one
storage wherever that changes nothing a later point reads, and the move is gone.

Two variables interfere if one is written where the other is still to be read, unless
the write is a move from the other (then both hold the same value), or if one op reads
the one and writes the other (kernels may assume that their arguments do not overlap).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from transom.passes.memory.flow_graph import FlowGraph, Liveness, bits, live


class Move(NamedTuple):
    """
    A copy between two variables.

    `tag` is the index of the value moved among those of its point; `whole` says that
    the source value is all that its variable stores, and not a part of it.
    """

    target: int
    source: int
    tag: int
    whole: bool = True


class Step(NamedTuple):
    """
    A copy that is left: a move done directly, or in two halves by way of a temporary.
    """

    kind: Literal["copy", "save", "restore"]
    move: Move


@dataclass
class StorageProgram:
    """
    Points that read, write and move variables.

    `undefined` variables at a point take a value there that nobody has set.
    """

    graph: FlowGraph = field(default_factory=FlowGraph)
    count: int = 0
    reads: list[int] = field(default_factory=list[int])
    writes: list[int] = field(default_factory=list[int])
    undefined: list[int] = field(default_factory=list[int])
    moves: list[tuple[Move, ...]] = field(default_factory=list[tuple[Move, ...]])
    fixed: int = 0
    """Variables whose storage is given; no two of them share."""
    constant: int = 0
    """Variables whose storage is given and never written."""

    def variable(self, *, fixed: bool = False, constant: bool = False) -> int:
        """A new variable."""
        variable = self.count
        self.count += 1
        if fixed:
            self.fixed |= 1 << variable
        if constant:
            self.constant |= 1 << variable
        return variable

    def point(
        self,
        predecessors: Iterable[int],
        *,
        reads: Iterable[int] = (),
        writes: Iterable[int] = (),
        undefined: Iterable[int] = (),
        moves: Sequence[Move] = (),
    ) -> int:
        """A new point; moves happen at once, and alone."""
        assert all(m.whole or m.target != m.source for m in moves), "a part is smaller"
        self.reads.append(_mask(reads) | _mask(move.source for move in moves))
        self.writes.append(_mask(writes) | _mask(move.target for move in moves))
        self.undefined.append(_mask(undefined))
        self.moves.append(tuple(moves))
        return self.graph.add(*predecessors)

    def liveness(self) -> Liveness:
        """What is read later."""
        kills = [a | b for a, b in zip(self.writes, self.undefined, strict=True)]
        return live(self.graph, self.reads, kills)


def _mask(members: Iterable[int]) -> int:
    mask = 0
    for member in members:
        mask |= 1 << member
    return mask


class Affinity(NamedTuple):
    """Two variables that had better share storage; the heaviest are tried first."""

    weight: int
    left: int
    right: int


class Assignment:
    """Storages: sets of variables, each known by one of its members."""

    program: StorageProgram
    _storage: list[int]
    _members: dict[int, int]
    _interference: list[int]
    _live: Liveness

    def __init__(self, program: StorageProgram) -> None:
        self.program = program
        self._live = program.liveness()
        self._storage = list(range(program.count))
        self._members = {v: 1 << v for v in range(program.count)}
        self._interference = _interference(program, self._live)

    def storage(self, variable: int) -> int:
        """The storage of a variable."""
        return self._storage[variable]

    def storages(self) -> tuple[int, ...]:
        """All storages."""
        return tuple(self._members)

    def members(self, storage: int) -> tuple[int, ...]:
        """The variables of a storage, ascending."""
        return tuple(bits(self._members[storage]))

    def coalesce(
        self,
        affinities: Iterable[Affinity],
        join: Callable[[int, int], bool] = lambda left, right: True,
    ) -> None:
        """
        Let variables share where that is sound.

        `join` is asked about two storages that do not interfere. If it does not refuse,
        the first becomes that of both.
        """
        for affinity in sorted(affinities, key=lambda a: -a.weight):
            left, right = self.storage(affinity.left), self.storage(affinity.right)
            if left != right and self._may_share(left, right) and join(left, right):
                self._join(left, right)

    def _may_share(self, left: int, right: int) -> bool:
        members = self._members[left] | self._members[right]
        if members & self.program.constant:
            return False
        return not self._interference[left] & self._members[right]

    def _join(self, left: int, right: int) -> None:
        for member in bits(self._members[right]):
            self._storage[member] = left
        self._members[left] |= self._members.pop(right)
        self._interference[left] |= self._interference[right]

    def steps(self, point: int) -> tuple[Step, ...]:
        """The copies that are left of the moves of a point, in order."""
        pending = {
            self.storage(move.target): move
            for move in self.program.moves[point]
            if self._live.after[point] >> move.target & 1
            and not (
                move.whole and self.storage(move.target) == self.storage(move.source)
            )
        }
        return tuple(self._ordered(pending))

    def _ordered(self, pending: dict[int, Move]) -> Iterator[Step]:
        """Overwrite nothing that a pending move reads; break cycles by saving one."""
        saved: set[int] = set()
        while pending:
            sources = {
                self.storage(m.source) for t, m in pending.items() if t not in saved
            }
            free = next((t for t in pending if t not in sources), None)
            if free is not None:
                move = pending.pop(free)
                yield Step("restore" if free in saved else "copy", move)
                continue
            cycle = next(t for t in pending if t not in saved)
            saved.add(cycle)
            yield Step("save", pending[cycle])


def _interference(program: StorageProgram, liveness: Liveness) -> list[int]:
    """For each variable those that it cannot share storage with; symmetric."""
    interference = [0] * program.count
    for point in range(len(program.graph)):
        after = liveness.after[point]
        moves = program.moves[point]
        if moves:
            _interfere_moves(interference, moves, after)
            continue
        around = after | program.reads[point] | program.writes[point]
        for written in bits(program.writes[point]):
            interference[written] |= around
    for variable in bits(program.fixed):
        interference[variable] |= program.fixed
    for variable in range(program.count):
        interference[variable] &= ~(1 << variable)
        for other in bits(interference[variable]):
            interference[other] |= 1 << variable
    return interference


def _interfere_moves(
    interference: list[int], moves: Sequence[Move], after: int
) -> None:
    targets = _mask(move.target for move in moves)
    for move in moves:
        if not after >> move.target & 1:
            continue
        others = after
        if not move.whole:
            others |= 1 << move.source
        elif not targets >> move.source & 1:
            others &= ~(1 << move.source)
        interference[move.target] |= others
