"""
Who is asked for the ops of a function: the targets of its places, by marks and regions,
and what passes and patterns of the module propose.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation

from transom.dialects import graph
from transom.dialects.diagnostics import Note, OpError, report
from transom.dialects.target import PlaceAttr, TargetAttr, place_of
from transom.passes import op_placements
from transom.passes.candidates import propose, take_proposals
from transom.passes.graph_patterns import Matcher
from transom.passes.machine import Machine, options_of
from transom.passes.op_placements import OpPlacement
from transom.passes.target_plan_devices import check_mark, dissolve
from transom.targets.claim_candidates import Taker, is_asked_for
from transom.targets.claim_selection import BlockChoice
from transom.targets.claimed_groups import name_target, wrap, write_refusals
from transom.targets.placement_reasons import placements_in, settled
from transom.targets.proposals import ModulePattern, Offer
from transom.targets.registry import HooksError


@dataclass
class Scope:
    """A function or a region, whose ops go to the targets of its place."""

    owner: FuncOp | graph.RegionOp
    place: PlaceAttr
    takers: tuple[Taker, ...]
    others: tuple[Taker, ...] = ()
    """Targets of other devices, where the choice is among all."""
    choices: list[BlockChoice] = field(default_factory=list[BlockChoice])
    settled: list[tuple[Operation, ...]] = field(
        default_factory=list[tuple[Operation, ...]]
    )
    """Ops of blocks in which there is nothing to choose."""

    @property
    def own(self) -> Taker | None:
        """The target whose ops need no region: the only one, or what takes the rest."""
        if len(self.takers) == 1:
            return self.takers[0]
        return next((taker for taker in self.takers if taker.takes_all), None)

    def blocks(self) -> Iterator[Block]:
        """Its blocks, without those of regions and groups in it."""
        pending: list[Operation] = [self.owner]
        while pending:
            op = pending.pop()
            for region in op.regions:
                for block in region.blocks:
                    yield block
                    pending += (
                        o for o in block.ops if not isinstance(o, graph.GroupOp)
                    )


class FunctionClaims:
    """The claims on the ops of a function, whose marks are taken out of it."""

    def __init__(
        self,
        func: FuncOp,
        machine: Machine,
        patterns: Sequence[ModulePattern] = (),
        everywhere: bool = False,
    ) -> None:
        """With `everywhere` what is not placed may go to any device."""
        self.func = func
        self.machine = machine
        self.patterns = patterns
        self.everywhere = everywhere
        self.takers: dict[tuple[str, TargetAttr], Taker] = {}
        self.scopes: list[Scope] = []
        self.hints = dissolve_hints(func)
        self.preferred: dict[Operation, dict[Taker, Attribute]] = {}
        self._add_scope(func, machine.function_place(func))
        blocks = [block for scope in self.scopes for block in scope.blocks()]
        self.marks = take_marks(blocks)
        self.proposals = take_proposals(blocks)

    def _add_scope(self, owner: FuncOp | graph.RegionOp, place: PlaceAttr) -> None:
        scope = Scope(owner, place, tuple(self._takers_at(place, owner)))
        if self.everywhere and isinstance(owner, FuncOp) and place_of(owner) is None:
            scope.others = tuple(self._takers_elsewhere(scope))
        self.scopes.append(scope)
        for block in scope.blocks():
            for op in block.ops:
                if isinstance(op, graph.RegionOp):
                    self._add_scope(op, self.machine.within(op.place, place, op))

    def _takers_at(self, place: PlaceAttr, user: Operation) -> Iterator[Taker]:
        """The targets that a place allows, the preferred first."""
        name = place.device_name or ""
        device = self.machine.devices[name]
        targets = device.targets.data if place.target is None else (place.target,)
        for target in targets:
            if (name, target) not in self.takers:
                try:
                    self.takers[name, target] = Taker.of(name, target)
                except HooksError as e:
                    where = device if place.target is None else user
                    raise OpError(where, str(e)) from e
            yield self.takers[name, target]

    def _takers_elsewhere(self, scope: Scope) -> Iterator[Taker]:
        """The targets of other devices that have a memory for what they compute."""
        for name in self.machine.devices:
            if name != scope.place.device_name:
                try:
                    elsewhere = PlaceAttr.get(name)
                    self.machine.within(elsewhere, scope.place, scope.owner)
                except OpError:
                    continue  # out of reach
                yield from self._takers_at(elsewhere, scope.owner)

    def select(self, choose: Callable[[BlockChoice, Scope], None]) -> None:
        """Let a target be chosen for each op."""
        matcher = Matcher()
        for scope in self.scopes:
            for block in scope.blocks():
                takers = {
                    op: self._takers_for(op, scope)
                    for op in block.ops
                    if is_asked_for(op)
                }
                offers = list(self._offers(block, scope, matcher))
                if offers or any(self._is_open(op, scope) for op in takers):
                    choice = BlockChoice(block, takers, offers, matcher, self.preferred)
                    choose(choice, scope)
                    choice.check_required()
                    scope.choices.append(choice)
                elif takers:
                    scope.settled.append(tuple(takers))

    def _is_open(self, op: Operation, scope: Scope) -> bool:
        """Whether there is anything to ask or to say about an op."""
        (first, *others) = (*scope.takers, *scope.others)
        return bool(others) or not first.takes_all or op in self.marks

    def _offers(self, block: Block, scope: Scope, matcher: Matcher) -> Iterator[Offer]:
        """What the module proposes for ops of a block."""
        for proposal in self.proposals.get(block, ()):
            candidate, ops = proposal.candidate, proposal.ops
            for op in ops:
                if not is_asked_for(op):
                    raise OpError(
                        op,
                        f"'{op.name}', a part of candidate {candidate.name_attr}, is "
                        "not for a target to compute",
                    )
            takers = self._takers_of((candidate.place,), scope, ops[0])
            yield Offer(
                candidate.name_attr.data,
                tuple(takers),
                ops,
                (),
                candidate.label,
                candidate.seconds,
                candidate.is_required,
            )
        for pattern in self.patterns:
            label, place = pattern.labelled.label, pattern.place
            for match in pattern.matches(block, matcher):
                takers = (
                    self._takers_of((place,), scope, match.root)
                    if place is not None
                    else [*scope.takers, *scope.others]
                )
                yield Offer(
                    pattern.name,
                    tuple(takers),
                    match.ops,
                    match.copied,
                    label,
                    pattern.seconds,
                )

    def _takers_for(self, op: Operation, scope: Scope) -> tuple[Taker, ...]:
        """The targets that may compute an op, by the marks on its results."""
        allowed: tuple[Taker, ...] = (*scope.takers, *scope.others)
        pin: graph.OnDeviceOp | None = None
        hinted: dict[Taker, Attribute] = {}
        for mark in self.marks.get(op, ()):
            wanted = self._takers_wanted(mark, scope)
            if mark.mark.data is graph.PlaceMark.HINT:
                hinted |= {t: mark.place for t in wanted if t not in hinted}
                continue
            if pin is not None and not (wanted := [t for t in wanted if t in allowed]):
                raise OpError(
                    mark,
                    f"expected '{op.name}' to be computed at '{mark.place}', "
                    f"but it is pinned to '{pin.place}' as well",
                    Note(pin, "pinned here"),
                )
            allowed, pin = tuple(wanted), mark
        if pin is not None:
            hinted = {t: place for t, place in hinted.items() if t in allowed}
        self.preferred[op] = hinted
        return tuple(dict.fromkeys((*hinted, *allowed)))

    def _takers_wanted(self, mark: graph.OnDeviceOp, scope: Scope) -> list[Taker]:
        """
        The targets at the places of a mark, those of places out of reach left out.

        Raises `OpError` if the mark pins, and none is within reach.
        """
        pinned = mark.mark.data is graph.PlaceMark.PINNED
        return self._takers_of(options_of(mark.place), scope, mark, pinned)

    def _takers_of(
        self,
        options: Iterable[PlaceAttr],
        scope: Scope,
        mark: Operation,
        is_pinned: bool = False,
    ) -> list[Taker]:
        """The targets at some places, those of places out of reach left out."""
        around = PlaceAttr.get(scope.place.device_name, None, scope.place.memory_name)
        found: dict[Taker, None] = {}
        problem: OpError | None = None
        for option in options:
            if option.device_name not in (None, *self.machine.devices):
                continue
            try:
                place = self.machine.within(option, around, mark)
            except OpError as e:
                problem = e
                continue
            found |= dict.fromkeys(self._takers_at(place, mark))
        if problem is not None and not found and is_pinned:
            raise problem
        return list(found)

    def untaken(self) -> Iterator[tuple[Operation, str]]:
        """The ops that no target takes, with the reasons of all in one line."""
        for scope in self.scopes:
            for choice in scope.choices:
                for op in choice.untaken():
                    yield (
                        op,
                        "; ".join(
                            f"'{taker.target}': {choice.refusal(op, taker)}"
                            for taker in choice.takers[op]
                        ),
                    )

    def apply(self, explain: bool) -> None:
        """Write down what was chosen. All ops are taken."""
        if op_placements.is_asked():
            op_placements.tell(list(self._placements()))
        for scope in self.scopes:
            for choice in scope.choices:
                if explain:
                    write_refusals(choice)
                self._warn_of_hints(choice)
                wrap(choice, scope.own)
            is_open = len(scope.takers) + len(scope.others) > 1
            if is_open and scope.own is not None:
                name_target(scope.owner, scope.place, scope.own.target)

    def _placements(self) -> Iterator[OpPlacement]:
        """Where each op runs, and why."""
        name = self.func.sym_name.data
        for scope in self.scopes:
            for choice in scope.choices:
                yield from placements_in(choice, name)
            for ops in scope.settled:
                yield from settled(ops, scope.takers[0], name)

    def _warn_of_hints(self, choice: BlockChoice) -> None:
        for op, candidate in choice.taken.items():
            place = PlaceAttr.get(candidate.taker.device, candidate.taker.target)
            for mark in self.marks.get(op, ()):
                check_mark(mark, place)
            hint = self.hints.get(op)
            if hint is not None and place.join(hint) is None:
                report(
                    "warning",
                    op,
                    f"the op was to be computed at '{hint}', but it is at '{place}'",
                )


def dissolve_hints(func: FuncOp) -> dict[Operation, PlaceAttr]:
    """
    Make proposals of the regions of a function that are hints.

    Gives the places that their ops should have.
    """
    hints: dict[Operation, PlaceAttr] = {}
    regions = [op for op in func.walk() if isinstance(op, graph.RegionOp)]
    for number, region in enumerate(regions):
        if region.hint is not None:
            ops = [op for op in region.body.block.ops if is_asked_for(op)]
            propose(ops, f"region{number}", region.place)
            hints |= dict.fromkeys(ops, region.place)
            dissolve(region)
    return hints


def take_marks(
    blocks: Iterable[Block],
) -> dict[Operation, list[graph.OnDeviceOp]]:
    """
    Remove the marks on values that ops compute which targets are asked for.

    Gives them by op; ops that are erased keep their attributes and location.
    """
    found: dict[Operation, list[graph.OnDeviceOp]] = {}
    for mark in [op for block in blocks for op in block.ops]:
        if not isinstance(mark, graph.OnDeviceOp):
            continue
        producer = mark.input.owner
        if isinstance(producer, Operation) and is_asked_for(producer):
            mark.result.replace_all_uses_with(mark.input)
            mark.detach()
            mark.erase()
            found.setdefault(producer, []).append(mark)
    return found
