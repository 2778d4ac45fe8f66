"""
The choice of targets for the ops of a block by search: the block as a partition
problem, and what was found as a choice.

Ops that no target is asked for, such as control flow, and the end of the block are at
the host: they cost nothing, read the memory of the function, and are in no group.
Constants and weights are at hand everywhere.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ShapedType, TensorType
from xdsl.ir import Operation, SSAValue

from transom.dialects.diagnostics import OpError
from transom.dialects.graph import tensor_type
from transom.dialects.graph.desc import place_of as place_of_type
from transom.dialects.target import LinkOp, PlaceAttr
from transom.passes.graph_outline_regions import CLONED_OPS
from transom.passes.machine import Machine
from transom.passes.op_groups import outer_operands
from transom.passes.partition.problem import (
    INFINITE,
    NOWHERE,
    Candidate,
    Link,
    Place,
    Problem,
    Value,
)
from transom.passes.partition.search import solve
from transom.passes.partition.solution import Outcome
from transom.passes.placement.homes import bytes_of
from transom.passes.placement.topology import memory_of
from transom.targets import claim_candidates
from transom.targets.claim_candidates import Taker
from transom.targets.claim_selection import BlockChoice
from transom.targets.claimed_groups import join_neighbours
from transom.targets.cost_models import CostModel
from transom.targets.function_claims import Scope

HOST = 0
"""The place of what is not asked for."""


@dataclass
class BlockProblem:
    """The partition problem of a block, and what its numbers stand for."""

    problem: Problem
    ops: list[Operation]
    """Of each op."""
    candidates: list[claim_candidates.Candidate | None]
    """Of each candidate; None for what is at the host, or nowhere."""


class ProblemBuilder:
    """Makes partition problems of the blocks of a module."""

    def __init__(self, machine: Machine, costs: CostModel) -> None:
        self.machine = machine
        self.costs = costs
        self.links = tuple(
            Link(
                op.source_name,
                op.destination_name,
                op.seconds(0),
                op.bandwidth.value.data,
            )
            for op in machine.module.ops
            if isinstance(op, LinkOp)
        )

    def build(self, choice: BlockChoice, scope: Scope) -> BlockProblem:
        """The problem of a block with its candidates."""
        ops = [op for op in choice.block.ops if not isinstance(op, CLONED_OPS)]
        number = {op: index for index, op in enumerate(ops)}
        takers = list(dict.fromkeys(c.taker for c in choice.candidates))
        places = [self._host(scope), *(self._place(t, scope) for t in takers)]
        candidates: list[claim_candidates.Candidate | None] = []
        found: list[Candidate] = []
        for candidate in self._allowed(choice):
            candidates.append(candidate)
            found.append(self._candidate(candidate, choice, number, takers))
        for op in ops:
            if op not in choice.takers:
                found.append(Candidate((number[op],), HOST, 0.0))
        for op in dict.fromkeys(op for c in found for op in c.copied):
            found.append(Candidate((op,), NOWHERE, 0.0))
        candidates += [None] * (len(found) - len(candidates))
        problem = Problem(
            tuple(op.name for op in ops),
            tuple(self._values(ops, number, scope)),
            tuple(places),
            tuple(found),
            self.links,
            tuple(_order(choice, ops, number)),
        )
        return BlockProblem(problem, ops, candidates)

    @staticmethod
    def _allowed(choice: BlockChoice) -> Iterable[claim_candidates.Candidate]:
        """The candidates, without those that compete with what is required."""
        required = {
            op
            for candidate, offer in choice.offered.items()
            if offer.is_required
            for op in candidate.ops
        }
        for candidate in choice.candidates:
            offer = choice.offered.get(candidate)
            is_required = offer is not None and offer.is_required
            if is_required or required.isdisjoint(candidate.ops):
                yield candidate

    def _candidate(
        self,
        candidate: claim_candidates.Candidate,
        choice: BlockChoice,
        number: dict[Operation, int],
        takers: Sequence[Taker],
    ) -> Candidate:
        taker = candidate.taker
        order = choice.takers[candidate.root]
        preferred = order.index(taker) if taker in order else 0
        return Candidate(
            tuple(sorted(number[op] for op in candidate.ops)),
            1 + takers.index(taker),
            self.costs.seconds(candidate),
            tuple(number[op] for op in candidate.copied if op in number),
            candidate.label or "",
            preferred,
        )

    def _host(self, scope: Scope) -> Place:
        memory = scope.place.memory_name or ""
        device = self.machine.devices[scope.place.device_name or ""]
        reached = {ref.root_reference.data for ref in device.memory_refs}
        return Place("host", memory, frozenset({memory, *reached}))

    def _place(self, taker: Taker, scope: Scope) -> Place:
        device = self.machine.devices[taker.device]
        wanted = PlaceAttr.get(taker.device, taker.target)
        place = self.machine.within(wanted, scope.place, scope.owner)
        memory = place.memory_name or ""
        reached = {ref.root_reference.data for ref in device.memory_refs}
        name = f"@{taker.device} {taker.target}"
        launch = device.launch_seconds
        return Place(name, memory, frozenset({memory, *reached}), launch)

    def _values(
        self, ops: Sequence[Operation], number: dict[Operation, int], scope: Scope
    ) -> Iterable[Value]:
        readers: dict[SSAValue, dict[int, None]] = {}
        for op in ops:
            for value in outer_operands(op):
                if isinstance(value.type, ShapedType):
                    readers.setdefault(value, {})[number[op]] = None
        for value, found in readers.items():
            owner = value.owner
            if isinstance(owner, CLONED_OPS):
                continue
            producer = number.get(owner) if isinstance(owner, Operation) else None
            memory = _home(value, scope) if producer is None else ""
            yield Value(bytes_of(value), tuple(found), producer, memory)


def _home(value: SSAValue, scope: Scope) -> str:
    """Where a value of outside is: where its type says, or with the function."""
    place: PlaceAttr | None = None
    if isinstance(value.type, TensorType):
        place = place_of_type(tensor_type(value))
    return memory_of(place) or scope.place.memory_name or ""


def _order(
    choice: BlockChoice, ops: Sequence[Operation], number: dict[Operation, int]
) -> Iterable[tuple[int, int]]:
    """Pairs of ops of which the second depends on the first, values or not."""
    for op in ops:
        earlier = choice.graph.before(op)
        for source in sorted(number[s] for s in earlier if s in number):
            yield source, number[op]


def search(
    choice: BlockChoice, scope: Scope, builder: ProblemBuilder, budget: int
) -> tuple[BlockProblem, Outcome]:
    """
    Choose targets for the ops of a block, by search from the greedy choice on.

    Raises `OpError` if there is no choice that gets every value where it is read.
    """
    block = builder.build(choice, scope)
    choice.select()
    outcome = solve(block.problem, budget, first_selection(choice, block))
    if outcome.cost == INFINITE:
        raise OpError(
            choice.block.parent_op() or scope.owner,
            "expected a target for each op with links for what it reads, but there is "
            "no such choice",
        )
    _take(choice, block, outcome)
    return block, outcome


def first_selection(choice: BlockChoice, block: BlockProblem) -> list[int]:
    """The greedy choice as a selection, neighbours together; nothing if it is none."""
    number = {c: n for n, c in enumerate(block.candidates) if c is not None}
    alone: dict[tuple[int, int], int] = {}
    for index, candidate in enumerate(block.problem.candidates):
        if candidate.place in (HOST, NOWHERE):
            alone.setdefault((candidate.place, candidate.ops[0]), index)
    takers = {op: c.taker for op, c in choice.taken.items()}
    # Candidates are in an order that keeps to their dependences, also in a group.
    order = {
        op: rank for rank, group in enumerate(choice.graph.groups()) for op in group.ops
    }
    for op in takers:
        join_neighbours(op, takers, choice.graph)
    position = {op: index for index, op in enumerate(block.ops)}
    found: dict[int, None] = {}
    for group in choice.graph.groups():
        for op in sorted(group.ops, key=order.__getitem__):
            candidate = choice.taken.get(op)
            if op not in position:
                continue
            if candidate is not None:
                if candidate not in number:
                    return []
                found.setdefault(number[candidate])
                continue
            place = NOWHERE if op in choice.absorbed else HOST
            if (place, position[op]) not in alone:
                return []
            found.setdefault(alone[place, position[op]])
    end = alone.get((HOST, len(block.ops) - 1))
    return [*found] if end is None else [*found, end]


def _take(choice: BlockChoice, block: BlockProblem, outcome: Outcome) -> None:
    """Make what was found the choice."""
    choice.taken.clear()
    choice.absorbed.clear()
    choice.groups.clear()
    for group in outcome.groups:
        members: list[Operation] = []
        for number in group.candidates:
            candidate = block.candidates[number]
            if candidate is not None:
                choice.taken |= dict.fromkeys(candidate.ops, candidate)
                members += candidate.ops
        if members:
            choice.groups.append(members)
    for candidate, of_problem in zip(
        block.candidates, block.problem.candidates, strict=True
    ):
        if candidate is not None:
            choice.searched[candidate] = of_problem.seconds
    choice.absorbed |= {op for op in choice.takers if op not in choice.taken}
    choice.regroup()
