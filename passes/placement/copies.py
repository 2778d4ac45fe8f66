"""
Types that say where values are stored, and copies where an op needs them elsewhere.

There is one copy for each value and destination, before the first op that needs it,
outside of all loops where the value is the same, and inside of an arm if only that
needs it. Without a direct link the copy goes by way of other memories.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import scf
from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from transom.dialects import graph
from transom.dialects.diagnostics import Note, OpError
from transom.dialects.graph.desc import layout_of, with_desc
from transom.dialects.graph.desc import place_of as place_of_type
from transom.passes.placement.homes import (
    ANYWHERE,
    Demand,
    Homes,
    bytes_of,
    ops_outside_groups,
    owner_block,
    tensor_of,
)
from transom.passes.placement.topology import memory_of
from transom.passes.statistics import Statistic

COPIES = Statistic("copies", "copies between memories")

LOOPS = (scf.ForOp, scf.WhileOp)


def store_values(homes: Homes) -> None:
    """
    Give the values of a function the types of their homes, and insert copies.

    Raises `OpError` where no links lead from one memory to another.
    """
    for value, memory in tuple(homes.found.items()):
        _retype(homes, value, memory)
    _retype_signature(homes)
    for op in ops_outside_groups(homes.function):
        if isinstance(op, graph.RegionOp):
            _retype_body(homes, op)
        elif isinstance(op, graph.CopyOp):
            source = _copied_from(homes, op.input, homes.home(op.result))
            if source is not None and source.type == op.result.type:
                op.result.replace_all_uses_with(source)
                _erase_unused(op)
            else:
                _stage(homes, op)
    needs: dict[tuple[SSAValue, str], list[Demand]] = {}
    for demand in homes.demands():
        home = homes.home(demand.value)
        if home is not None and home not in demand.allowed:
            needs.setdefault((demand.value, demand.memory), []).append(demand)
    for (value, memory), demands in needs.items():
        _Copying(homes, value, memory, demands).insert()
    for op in ops_outside_groups(homes.function):
        if isinstance(op, graph.RegionOp):
            _pass_on_types(op)


def _stored_type(homes: Homes, type: Attribute, memory: str | None) -> Attribute:
    """The type of a value in a memory: nothing is said of that of most values."""
    tensor = tensor_of(type)
    if tensor is None or memory is None:
        return type
    known = place_of_type(tensor)
    if memory_of(known) == memory:
        return type
    if known is None and memory == homes.base:
        return type
    place = None
    if memory != homes.base:
        place = homes.topology.place_in(memory, homes.place.device_name)
    return with_desc(tensor, layout=layout_of(tensor), place=place)


def _retype(homes: Homes, value: SSAValue, memory: str | None) -> None:
    type = _stored_type(homes, value.type, memory)
    if type == value.type:
        return
    new = Rewriter.replace_value_with_new_type(value, type)
    homes.found[new] = homes.found.pop(value)
    homes.joined.replace(value, new)


def _copied_from(homes: Homes, value: SSAValue, memory: str | None) -> SSAValue | None:
    """The value in a memory that another one is a copy of, by way of others or not."""
    while isinstance(value.owner, graph.CopyOp):
        value = value.owner.input
        if homes.found.get(value) == memory:
            return value
    return None


def _erase_unused(copy: graph.CopyOp) -> None:
    """Remove a copy that nobody reads, and those that it was made from."""
    op: Operation | Block = copy
    while isinstance(op, graph.CopyOp) and not op.result.uses:
        source = op.input.owner
        op.detach()
        op.erase()
        op = source


def _stage(homes: Homes, copy: graph.CopyOp) -> None:
    """A copy that is there already goes by way of other memories if it has to."""
    source, memory = homes.home(copy.input), homes.home(copy.result)
    if source is None or memory is None or source == memory:
        return
    way = homes.topology.path(source, memory, bytes_of(copy.input))
    if way is None:
        raise _no_way(Demand(copy, 0, memory, frozenset()), source)
    block = copy.parent
    assert block is not None, "the op is in a function"
    for between in way[:-1]:
        place = None
        if between != homes.base:
            place = homes.topology.place_in(between, homes.place.device_name)
        staged = graph.CopyOp(copy.input, place)
        staged.location = copy.location
        block.insert_op_before(staged, copy)
        homes.found[staged.result] = between
        copy.operands[0] = staged.result
        COPIES.add()


def _retype_signature(homes: Homes) -> None:
    """What a function takes and gives is in its memory, unless the types say more."""
    function = homes.function
    outputs = [
        type if place_of_type(type) else _stored_type(homes, type, homes.memory)
        for type in function.function_type.outputs
    ]
    function.function_type = FunctionType.from_lists(
        function.body.block.arg_types, outputs
    )


def _retype_body(homes: Homes, region: graph.RegionOp) -> None:
    """What a region computes is stored in its memory too."""
    memory = memory_of(region.place)
    if memory is None:
        return
    for op in tuple(region.body.walk()):
        if isinstance(op, ANYWHERE):
            continue
        values: list[SSAValue] = [
            *op.results,
            *(a for inner in op.regions for b in inner.blocks for a in b.args),
        ]
        for value in values:
            type = _stored_type(homes, value.type, memory)
            if type != value.type:
                Rewriter.replace_value_with_new_type(value, type)


def _pass_on_types(region: graph.RegionOp) -> None:
    """The arguments of a region have the types of what it gets."""
    for argument, operand in zip(
        tuple(region.body.block.args), region.operands, strict=True
    ):
        if argument.type != operand.type:
            Rewriter.replace_value_with_new_type(argument, operand.type)


@dataclass
class _Copying:
    """A value that some ops need in another memory."""

    homes: Homes
    value: SSAValue
    memory: str
    demands: Sequence[Demand]
    inserted: list[Operation] = field(default_factory=list[Operation])

    def insert(self) -> None:
        value = self._known_copy() or self._copied()
        for demand in self.demands:
            demand.op.operands[demand.index] = value

    def _known_copy(self) -> SSAValue | None:
        """What the value was copied from, if that is where it is needed."""
        return _copied_from(self.homes, self.value, self.memory)

    def _copied(self) -> SSAValue:
        source = self.homes.home(self.value)
        assert source is not None, "what is everywhere is not copied"
        topology, size = self.homes.topology, bytes_of(self.value)
        way = topology.path(source, self.memory, size)
        if way is None:
            raise _no_way(self.demands[0], source)
        before = self._position()
        block = before.parent
        assert block is not None, "the op is in a function"
        value = self.value
        for memory in way:
            place = None
            if memory != self.homes.base:
                place = topology.place_in(memory, self.homes.place.device_name)
            copy = graph.CopyOp(value, place)
            copy.location = self.demands[0].op.location
            copy.result.name_hint = self.value.name_hint
            block.insert_op_before(copy, before)
            value = copy.result
            self.homes.found[value] = memory
            COPIES.add()
        return value

    def _position(self) -> Operation:
        """The op that the copy stands before: it dominates all that need it."""
        block = owner_block(self.value)
        while True:
            around = [_in_block(block, demand.op) for demand in self.demands]
            first = min(around, key=_numbers(block).__getitem__)
            if any(op is not first for op in around) or isinstance(first, LOOPS):
                return first
            if any(demand.op is first for demand in self.demands):
                return first
            inner = _common_block(first, [demand.op for demand in self.demands])
            if inner is None:
                return first
            block = inner


def _no_way(demand: Demand, source: str) -> OpError:
    owner = demand.value.owner
    origin = owner if isinstance(owner, Operation) else owner.parent_op()
    notes = [] if origin is None else [Note(origin, f"it is stored in '@{source}'")]
    return OpError(
        demand.op,
        f"expected operand {demand.index} in memory '@{demand.memory}', but it is in "
        f"'@{source}', and no 'target.link' leads from there",
        *notes,
    )


def _in_block(block: Block, op: Operation) -> Operation:
    found = block.find_ancestor_op_in_block(op)
    assert found is not None, "a value is used where it is defined"
    return found


def _numbers(block: Block) -> dict[Operation, int]:
    return {op: number for number, op in enumerate(block.ops)}


def _common_block(op: Operation, users: Sequence[Operation]) -> Block | None:
    """The block of an op that all users are in, if it is one."""
    for region in op.regions:
        for block in region.blocks:
            if all(block.find_ancestor_op_in_block(user) for user in users):
                return block
    return None
