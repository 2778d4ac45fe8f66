"""
Making composites and regions of what was chosen for the ops of a block.
"""

from collections.abc import Iterable, Mapping
from functools import partial

from xdsl.dialects.builtin import ArrayAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from transom.dialects import graph
from transom.dialects.target import (
    REFUSED,
    PlaceAttr,
    RefusalAttr,
    TargetAttr,
    place_of,
    set_place,
)
from transom.passes.dependence_graph import DependenceGraph
from transom.passes.op_groups import group_ops, place_in_order
from transom.targets.claim_candidates import Taker
from transom.targets.claim_selection import BlockChoice


def write_refusals(choice: BlockChoice) -> None:
    """Let each op of a block say which targets came first and do not run it."""
    for op, candidate in choice.taken.items():
        takers = choice.takers[op]
        before = takers.index(candidate.taker) if candidate.taker in takers else 0
        refusals = [
            RefusalAttr.get(taker.target, choice.refusal(op, taker))
            for taker in takers[:before]
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
    made: dict[Operation, Operation] = {}
    for candidate in dict.fromkeys(choice.taken.values()):
        ops = candidate.ops
        if candidate.label is not None:
            make = partial(graph.CompositeOp, candidate.label)
            copied = copies_in_order(candidate.copied)
            ops = (group_ops(in_order(ops), make, copied),)
            made |= dict.fromkeys(candidate.ops, ops[0])
        if candidate.taker is not own:
            takers |= dict.fromkeys(ops, candidate.taker)
            joined.append(ops)
    dependences = DependenceGraph(choice.block)
    for ops in (*joined, *together(choice, made, takers)):
        group = dependences.join_all(ops)
        assert group is not None, "they were chosen in an order"
    for op in (*takers, *takers):  # again, as larger groups have other neighbours
        join_neighbours(op, takers, dependences)
    groups = groups_of(dependences)
    place_in_order(choice.block, groups)
    for ops in groups:
        taker = takers.get(ops[0])
        if taker is not None:
            place = PlaceAttr.get(taker.device, taker.target)
            group_ops(ops, partial(graph.RegionOp, place))


def together(
    choice: BlockChoice,
    made: Mapping[Operation, Operation],
    takers: Mapping[Operation, Taker],
) -> Iterable[list[Operation]]:
    """The groups of a choice that has some, with composites for what is in these."""
    for group in choice.groups:
        ops = dict.fromkeys(made.get(op, op) for op in group)
        kept = [op for op in ops if op in takers]
        if len(kept) > 1:
            yield kept


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
