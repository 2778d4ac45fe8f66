"""
In which memory each value of a function is stored.

What an op computes is stored in the memory of the op's place, a view where the value is
that it is a view of, and what is typed with a place there. A kernel whose arguments
name memories computes in these, whatever the types of values say so far. Values that
control flow joins, such as what a loop carries, are stored together: where most bytes
come from and go to, each weighted by the loops around it; the memory of the function if
it is even.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import func, scf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, TensorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import SymbolTable

from transom.dialects import graph, tir
from transom.dialects.executor import element_bytes
from transom.dialects.graph.desc import place_of as place_of_type
from transom.dialects.target import PlaceAttr, place_of
from transom.dialects.target.places import memory_space_name
from transom.passes.memory.sizes import shaped_type
from transom.passes.placement.topology import Topology, memory_of

ANYWHERE = (graph.ConstantOp, graph.WeightRefOp)
"""Ops whose results are at hand in every memory: each place has its own."""

VIEWS = (
    graph.ReshapeOp,
    tensor.CastOp,
    tensor.CollapseShapeOp,
    tensor.ExpandShapeOp,
    tensor.ExtractSliceOp,
    tensor.ReshapeOp,
)
"""Ops whose result is the memory of their first operand."""

SIZES_ONLY = (tensor.DimOp, tensor.EmptyOp, graph.OnDeviceOp)
"""Ops that do not read the data of their operands."""


@dataclass(frozen=True)
class Demand:
    """
    An op that reads an operand in one of the memories that its device reaches, and best
    in `memory`; or exactly there.
    """

    op: Operation
    index: int
    memory: str
    allowed: frozenset[str]

    @property
    def value(self) -> SSAValue:
        """The operand."""
        return self.op.operands[self.index]


class Homes:
    """The memories of a function's values; the function's place names one."""

    def __init__(
        self, function: func.FuncOp, place: PlaceAttr, topology: Topology, base: str
    ) -> None:
        """`base` is the memory of values whose types name none."""
        memory = place.memory_name
        assert memory is not None, "the place names a memory"
        self.base = base
        self.function = function
        self.place = place
        self.memory = memory
        self.topology = topology
        self.found: dict[SSAValue, str | None] = {}
        self.joined = _Joined(function)
        self._find()

    def home(self, value: SSAValue) -> str | None:
        """The memory of a tensor; None for what is at hand in all of them."""
        return self.found[value]

    def _find(self) -> None:
        undecided = list(self.joined.groups())
        for argument in self.function.body.block.args:
            if _is_tensor(argument):
                self.found[argument] = _pinned(argument) or self.memory
        for group in undecided:
            pins = [pin for value in group if (pin := _pinned(value)) is not None]
            if pins:
                self._settle(group, pins[0])
        ops = [op for op in ops_outside_groups(self.function)]
        progress = True
        while progress:
            progress = self._find_results(ops)
            for group in undecided:
                if group[0] not in self.found and (best := self._voted(group)):
                    self._settle(group, best)
                    progress = True
                    break
        for group in undecided:
            if group[0] not in self.found:
                self._settle(group, self.memory)
        self._find_results(ops)

    def _settle(self, group: list[SSAValue], memory: str) -> None:
        for value in group:
            self.found[value] = memory

    def _find_results(self, ops: list[Operation]) -> bool:
        """The homes of results that are known by now; whether any is new."""
        before = len(self.found)
        for op in ops:
            for result in op.results:
                if result in self.found or not _is_tensor(result):
                    continue
                if result in self.joined.group_of:
                    continue
                asked = _asked_for(op, result)
                if asked is not None:
                    self.found[result] = asked
                elif (pin := _pinned(result)) is not None:
                    self.found[result] = pin
                elif isinstance(op, ANYWHERE):
                    self.found[result] = None
                elif isinstance(op, tensor.EmptyOp):
                    self.found[result] = self._memory_to_fill(result)
                elif isinstance(op, VIEWS):
                    if op.operands[0] in self.found:
                        self.found[result] = self.found[op.operands[0]]
                else:
                    self.found[result] = self.memory_of_result(op, result.index)
        return len(self.found) > before

    def memory_of_result(self, op: Operation, index: int) -> str:
        """Where an op stores a result."""
        callee = _callee(op)
        if callee is not None:
            declared = _memory_in(callee.function_type.outputs.data[index])
            if declared is not None:
                return declared
        return memory_of(self.place_of_op(op)) or self.memory

    def place_of_op(self, op: Operation) -> PlaceAttr:
        """Where an op is computed."""
        if isinstance(op, graph.RegionOp):
            return op.place
        callee = kernel_of(op) or _callee(op)
        if callee is not None:
            return place_of(callee) or self.place
        return self.place

    def _memory_to_fill(self, empty: SSAValue) -> str:
        """Where a tensor without content is: where the kernel writes that fills it."""
        for use in empty.uses:
            call = use.operation
            if isinstance(call, tir.CallOp) and empty in call.outs:
                asked = _asked_for(call, empty)
                return asked or memory_of(self.place_of_op(call)) or self.memory
        return self.memory

    # Control flow

    def _voted(self, group: list[SSAValue]) -> str | None:
        """Where most bytes of joined values come from and go to, as far as known."""
        votes: dict[str, int] = {}

        def vote(memory: str | None, op: Operation) -> None:
            if memory is not None:
                weight = bytes_of(group[0]) * 10 ** min(8, _depth(op))
                votes[memory] = votes.get(memory, 0) + weight

        for value, op in self.joined.sources(group):
            if value in self.found:
                vote(self.found[value], op)
        for value in group:
            for use in value.uses:
                for demand in self._read_by(use.operation):
                    if demand.index == use.index:
                        vote(demand.memory, use.operation)
        if not votes:
            return None
        return min(votes, key=lambda m: (-votes[m], m != self.memory, m))

    # Demands

    def demands(self) -> Iterator[Demand]:
        """What all ops of the function ask of their operands."""
        for op in ops_outside_groups(self.function):
            for demand in (*self._read_by(op), *self._joined_by(op)):
                if _is_tensor(demand.value):
                    yield demand

    def _read_by(self, op: Operation) -> Iterator[Demand]:
        """Operands that an op reads where its device reaches them."""
        if isinstance(op, (*SIZES_ONLY, *VIEWS, graph.CopyOp, func.ReturnOp)):
            return
        if op.name.startswith("scf."):
            return
        place = self.place_of_op(op)
        memory = memory_of(place) or self.memory
        reached = self.topology.reached(place.device_name) | {memory}
        callee = _callee(op)
        for index in range(len(op.operands)):
            asked = _asked_for(op, op.operands[index])
            if asked is not None:
                yield Demand(op, index, asked, frozenset({asked}))
            elif callee is not None:
                wanted = _memory_in(callee.function_type.inputs.data[index]) or memory
                yield Demand(op, index, wanted, frozenset({wanted}))
            else:
                yield Demand(op, index, memory, reached)

    def _joined_by(self, op: Operation) -> Iterator[Demand]:
        """Operands that control flow joins with others, or that are returned."""
        if isinstance(op, func.ReturnOp):
            for index in range(len(op.operands)):
                memory = _memory_in(self.function.function_type.outputs.data[index])
                wanted = memory or self.memory
                yield Demand(op, index, wanted, frozenset({wanted}))
        for index, value in self.joined.operands(op):
            memory = self.found.get(value)
            if memory is not None:
                yield Demand(op, index, memory, frozenset({memory}))


class _Joined:
    """Values that control flow joins: one group for each position that is carried."""

    def __init__(self, function: func.FuncOp) -> None:
        self.group_of: dict[SSAValue, int] = {}
        self._groups: list[list[SSAValue]] = []
        self._operands: dict[Operation, list[tuple[int, SSAValue]]] = {}
        for op in ops_outside_groups(function):
            match op:
                case scf.IfOp():
                    for number, result in enumerate(op.results):
                        self._join([result], self._ends(op, number))
                case scf.ForOp():
                    for number, result in enumerate(op.results):
                        argument = op.body.block.args[number + 1]
                        ends = [(op, number + 3), *self._ends(op, number)]
                        self._join([result, argument], ends)
                case scf.WhileOp():
                    self._join_while(op)
                case _:
                    pass

    def _ends(self, op: Operation, number: int) -> list[tuple[Operation, int]]:
        return [
            (block.last_op, number)
            for region in op.regions
            for block in region.blocks
            if block.last_op is not None
        ]

    def _join_while(self, op: scf.WhileOp) -> None:
        before, after = op.before_region.block, op.after_region.block
        condition, end = before.last_op, after.last_op
        assert condition is not None and end is not None, "blocks have terminators"
        for number, argument in enumerate(before.args):
            self._join([argument], [(op, number), (end, number)])
        for number, result in enumerate(op.results):
            self._join([result, after.args[number]], [(condition, number + 1)])

    def _join(
        self, values: list[SSAValue], operands: list[tuple[Operation, int]]
    ) -> None:
        if not _is_tensor(values[0]):
            return
        for value in values:
            self.group_of[value] = len(self._groups)
        self._groups.append(values)
        for op, index in operands:
            self._operands.setdefault(op, []).append((index, values[0]))

    def groups(self) -> Iterator[list[SSAValue]]:
        """The groups, in the order of the text."""
        yield from self._groups

    def operands(self, op: Operation) -> list[tuple[int, SSAValue]]:
        """Operands that become joined values, with one value of the group."""
        return self._operands.get(op, [])

    def sources(self, group: list[SSAValue]) -> Iterator[tuple[SSAValue, Operation]]:
        """What becomes a value of a group, and at which op."""
        for op, entries in self._operands.items():
            for index, value in entries:
                if value is group[0]:
                    yield op.operands[index], op

    def replace(self, old: SSAValue, new: SSAValue) -> None:
        """A value has got another type."""
        number = self.group_of.pop(old, None)
        if number is None:
            return
        self.group_of[new] = number
        group = self._groups[number]
        group[group.index(old)] = new
        for entries in self._operands.values():
            for at, (index, value) in enumerate(entries):
                if value is old:
                    entries[at] = (index, new)


def ops_outside_groups(function: func.FuncOp) -> Iterator[Operation]:
    """All ops of a function but those in regions and groups, in their order."""

    def visit(block: Block) -> Iterator[Operation]:
        for op in tuple(block.ops):
            yield op
            if not isinstance(op, graph.GroupOp):
                for region in op.regions:
                    for inner in region.blocks:
                        yield from visit(inner)

    for block in function.body.blocks:
        yield from visit(block)


def kernel_of(op: Operation) -> Operation | None:
    """The kernel that an op calls, if it calls one."""
    kernel = op.find_callee() if isinstance(op, tir.CallOp) else None
    return kernel if isinstance(kernel, Operation) else None


def _asked_for(op: Operation, value: SSAValue) -> str | None:
    """The memory that a kernel's argument names, for what it takes or gives."""
    if not isinstance(op, tir.CallOp) or (kernel := op.find_callee()) is None:
        return None
    given = [*op.ins, *op.outs, *op.scratch]
    if isinstance(value, OpResult) and value.op is op:
        written = [out for out in op.outs if tensor_of(out.type) is not None]
        value = written[value.index]
    argument = kernel.argument_types[given.index(value)]
    if not isinstance(argument, MemRefType):
        return None
    return memory_space_name(argument.memory_space)


def _callee(op: Operation) -> func.FuncOp | None:
    """The function that an op calls, if it calls one."""
    if not isinstance(op, func.CallOp):
        return None
    callee = SymbolTable.lookup_symbol(op, op.callee)
    return callee if isinstance(callee, func.FuncOp) else None


def tensor_of(type: Attribute) -> TensorType[Attribute] | None:
    """A type that is a tensor's, or None."""
    if not isinstance(type, TensorType):
        return None
    return cast("TensorType[Attribute]", type)


def _is_tensor(value: SSAValue) -> bool:
    return tensor_of(value.type) is not None


def _memory_in(type: Attribute) -> str | None:
    tensor = tensor_of(type)
    return None if tensor is None else memory_of(place_of_type(tensor))


def _pinned(value: SSAValue) -> str | None:
    """The memory that a type names."""
    return _memory_in(value.type)


def bytes_of(value: SSAValue) -> int:
    """The bytes of a tensor; sizes that are open count as one."""
    type = shaped_type(value)
    assert type is not None, "only tensors have homes"
    count = 1
    for size in type.get_shape():
        count *= 1 if size == DYNAMIC_INDEX else size
    return count * (element_bytes(type.element_type) or 1)


def _depth(op: Operation) -> int:
    """How many loops are around an op."""
    depth, around = 0, op.parent_op()
    while around is not None:
        depth += isinstance(around, scf.ForOp | scf.WhileOp)
        around = around.parent_op()
    return depth


def owner_block(value: SSAValue) -> Block:
    """The block that a value is defined in."""
    if isinstance(value, BlockArgument):
        return value.block
    assert isinstance(value, OpResult), "values are arguments or results"
    block = value.op.parent
    assert block is not None, "the op is in a function"
    return block
