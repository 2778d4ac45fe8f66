"""
Decide which target of a device computes which ops, by what the targets claim.

Where a place leaves the target open, the targets of its device are asked for each op in
order of preference. What one claims becomes a `graph.region` for it, a pattern in that
a `graph.composite` under its label; neighbouring claims of one target are joined while
regions depend on each other without a cycle. A target that claims nothing takes what
the ones before it left, and its name becomes that of the function's place. A target
that comes later is chosen if both costs are known and its own is lower.

```mlir
target.device @soc {targets = [#toy_npu.target, #llvm_cpu.target<cpu = "cortex-a53">]}
func.func @main(%x: …) attributes {target.for = #target.place<@soc, ?, ?>} {
  %s = graph.add %x, %x : …
  %e = graph.exp %s : …
  ==>
func.func @main(%x: …) attributes {target.for = #target.place<@soc, #llvm_cpu…, ?>} {
  %s = graph.region #target.place<@soc, #toy_npu.target, ?> (%a = %x : …) -> (…) {
    %b = graph.add %a, %a : …
    graph.yield %b : …
  }
  %e = graph.exp %s : …
```

A region or a mark that names a target leaves no choice, and one that names a device
leaves that of its targets; a hint is asked first. An op that no target takes is an
error with the reasons of all. With `explain` each op keeps in `target.refused` which
targets would have come first, and why they do not run it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from transom.dialects import graph
from transom.dialects.diagnostics import Note, OpError
from transom.dialects.target import (
    LOWERED_TO,
    REFUSED,
    PlaceAttr,
    RefusalAttr,
    TargetAttr,
    place_of,
    set_place,
)
from transom.passes.dependence_graph import DependenceGraph
from transom.passes.function_pass import functions_of
from transom.passes.machine import Machine, options_of
from transom.passes.op_groups import group_ops, place_in_order
from transom.passes.target_plan_devices import check_mark
from transom.targets.claim_candidates import Taker, is_asked_for
from transom.targets.claim_selection import BlockChoice
from transom.targets.registry import HooksError


@dataclass
class Scope:
    """A function or a region, whose ops go to the targets of its place."""

    owner: FuncOp | graph.RegionOp
    place: PlaceAttr
    takers: tuple[Taker, ...]
    choices: list[BlockChoice] = field(default_factory=list[BlockChoice])

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

    def __init__(self, func: FuncOp, machine: Machine) -> None:
        self.machine = machine
        self.takers: dict[tuple[str, TargetAttr], Taker] = {}
        self.scopes: list[Scope] = []
        self._add_scope(func, machine.function_place(func))
        blocks = [block for scope in self.scopes for block in scope.blocks()]
        self.marks = take_marks(blocks)

    def _add_scope(self, owner: FuncOp | graph.RegionOp, place: PlaceAttr) -> None:
        scope = Scope(owner, place, tuple(self._takers_at(place, owner)))
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

    def select(self) -> None:
        """Choose a target for each op."""
        for scope in self.scopes:
            for block in scope.blocks():
                takers = {
                    op: self._takers_for(op, scope)
                    for op in block.ops
                    if is_asked_for(op)
                }
                if any(self._is_open(op, scope) for op in takers):
                    choice = BlockChoice(block, takers)
                    choice.select()
                    scope.choices.append(choice)

    def _is_open(self, op: Operation, scope: Scope) -> bool:
        """Whether there is anything to ask or to say about an op."""
        (first, *others) = scope.takers
        return bool(others) or not first.takes_all or op in self.marks

    def _takers_for(self, op: Operation, scope: Scope) -> tuple[Taker, ...]:
        """The targets that may compute an op, by the marks on its results."""
        allowed: tuple[Taker, ...] = scope.takers
        pin: graph.OnDeviceOp | None = None
        hinted: list[Taker] = []
        for mark in self.marks.get(op, ()):
            wanted = self._takers_wanted(mark, scope)
            if mark.mark.data is graph.PlaceMark.HINT:
                hinted += wanted
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
            hinted = [taker for taker in hinted if taker in allowed]
        return tuple(dict.fromkeys((*hinted, *allowed)))

    def _takers_wanted(self, mark: graph.OnDeviceOp, scope: Scope) -> list[Taker]:
        """
        The targets at the places of a mark, those of places out of reach left out.

        Raises `OpError` if the mark pins, and none is within reach.
        """
        around = PlaceAttr.get(scope.place.device_name, None, scope.place.memory_name)
        found: dict[Taker, None] = {}
        problem: OpError | None = None
        for option in options_of(mark.place):
            if option.device_name not in (None, *self.machine.devices):
                continue
            try:
                place = self.machine.within(option, around, mark)
            except OpError as e:
                problem = e
                continue
            found |= dict.fromkeys(self._takers_at(place, mark))
        if (
            problem is not None
            and not found
            and mark.mark.data is graph.PlaceMark.PINNED
        ):
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
        for scope in self.scopes:
            for choice in scope.choices:
                if explain:
                    write_refusals(choice)
                self._warn_of_hints(choice)
                wrap(choice, scope.own)
            if len(scope.takers) > 1 and scope.own is not None:
                name_target(scope.owner, scope.place, scope.own.target)

    def _warn_of_hints(self, choice: BlockChoice) -> None:
        for op, candidate in choice.taken.items():
            taker = candidate.taker
            for mark in self.marks.get(op, ()):
                check_mark(mark, PlaceAttr.get(taker.device, taker.target))


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


def write_refusals(choice: BlockChoice) -> None:
    """Let each op of a block say which targets came first and do not run it."""
    for op, candidate in choice.taken.items():
        takers = choice.takers[op]
        refusals = [
            RefusalAttr.get(taker.target, choice.refusal(op, taker))
            for taker in takers[: takers.index(candidate.taker)]
        ]
        if refusals:
            op.attributes[REFUSED] = ArrayAttr(refusals)


def name_target(
    owner: FuncOp | graph.RegionOp, place: PlaceAttr, target: TargetAttr
) -> None:
    """Complete the place of a function or region with a target."""
    if isinstance(owner, graph.RegionOp):
        owner.place = PlaceAttr.get(place.device_name, target, owner.place.memory_name)
    else:
        wanted = place_of(owner)
        memory = None if wanted is None else wanted.memory_name
        set_place(owner, PlaceAttr.get(place.device_name, target, memory))


def wrap(choice: BlockChoice, own: Taker | None) -> None:
    """Make composites and regions of what was taken, but no regions for `own`."""
    place_in_order(choice.block, groups_of(choice.graph))
    position = choice.graph.position
    in_order = partial(sorted, key=position.__getitem__)

    def copies_in_order(ops: Iterable[Operation]) -> list[Operation]:
        # Those of a block around are in front of all.
        return sorted(ops, key=lambda op: position.get(op, -1))

    takers: dict[Operation, Taker] = {}
    joined: list[tuple[Operation, ...]] = []
    for candidate in dict.fromkeys(choice.taken.values()):
        ops = candidate.ops
        if candidate.label is not None:
            make = partial(graph.CompositeOp, candidate.label)
            ops = (group_ops(in_order(ops), make, copies_in_order(candidate.copied)),)
        if candidate.taker is not own:
            takers |= dict.fromkeys(ops, candidate.taker)
            joined.append(ops)
    dependences = DependenceGraph(choice.block)
    for ops in joined:
        dependences.join_all(ops)
    for op in (*takers, *takers):  # again, as larger groups have other neighbours
        join_neighbours(op, takers, dependences)
    groups = groups_of(dependences)
    place_in_order(choice.block, groups)
    for ops in groups:
        taker = takers.get(ops[0])
        if taker is not None:
            place = PlaceAttr.get(taker.device, taker.target)
            group_ops(ops, partial(graph.RegionOp, place))


def groups_of(dependences: DependenceGraph) -> list[list[Operation]]:
    """The groups in an order that keeps to the dependences, each in the block's."""
    return [dependences.in_order(group) for group in dependences.groups()]


def join_neighbours(
    op: Operation, takers: Mapping[Operation, Taker], dependences: DependenceGraph
) -> None:
    """Join an op with what computes its operands for the same target."""
    for operand in op.operands:
        owner = operand.owner
        if not isinstance(owner, Operation) or takers.get(owner) is not takers[op]:
            continue
        first, second = dependences.group_of(owner), dependences.group_of(op)
        assert first is not None and second is not None, "takers are of the block"
        if first is not second:
            dependences.join(first, second)


def refused(untaken: Sequence[tuple[Operation, str]]) -> OpError:
    """What to say of ops that no target takes, grouped by kind and reasons."""
    groups: dict[tuple[str, str], list[Operation]] = {}
    for op, reasons in untaken:
        groups.setdefault((op.name, reasons), []).append(op)
    messages = [
        (ops, f"no target takes '{name}' x{len(ops)} ({reasons})")
        for (name, reasons), ops in groups.items()
    ]
    notes: list[Note] = []
    for index, (ops, message) in enumerate(messages):
        notes += [Note(ops[0], message)] if index else []
        notes += [Note(op, "also here") for op in ops[1:]]
    (first, *_), message = messages[0]
    return OpError(first, message, *notes)


@dataclass(frozen=True)
class TargetClaimOpsPass(ModulePass):
    name = "target-claim-ops"

    explain: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = Machine(op)
        claims = [
            FunctionClaims(func, machine)
            for func in functions_of(op)
            if LOWERED_TO not in func.attributes
        ]
        for claim in claims:
            claim.select()
        untaken = [entry for claim in claims for entry in claim.untaken()]
        if untaken:
            raise refused(untaken)
        for claim in claims:
            claim.apply(self.explain)
