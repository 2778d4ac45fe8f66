"""
From the answer to memrefs: the function that computes the same in place.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    SymbolRefAttr,
)
from xdsl.ir import Block, Operation, Region, SSAValue

from transom.dialects import tir
from transom.lowering.bufferize.constants import Constants
from transom.lowering.bufferize.memrefs import Views
from transom.lowering.bufferize.placement import Placement
from transom.lowering.bufferize.program import Callees, FunctionProgram, Variable
from transom.lowering.bufferize.storage import Step
from transom.lowering.bufferize.types import is_tensor
from transom.passes.memory.index_expressions import Materializer, Opaque, Size
from transom.passes.memory.sizes import Shape

Emitter = Callable[["Rewriter", Operation], None]
"""Emits what replaces an op, after what it needs and the copies before it."""


@dataclass
class Rewriter:
    """
    Writes the new body in the order of the old one; `block` is where ops go.

    `values` maps old values to new ones, `memrefs` variables to memory.
    """

    program: FunctionProgram
    placement: Placement
    callees: Callees
    constants: Constants
    emitters: Mapping[type[Operation], Emitter]
    block: Block
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    memrefs: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])

    def __post_init__(self) -> None:
        self.sizes = self.program.sizes
        self.assignment = self.placement.assignment
        self.views = Views(self.emit)
        self.source: Operation = self.program.func
        self.materializer = Materializer(self.sizes.table, self.emit, self._leaf)
        self._bases: dict[int, tuple[SSAValue, Variable]] = {}
        self._storages_at: dict[Operation, list[int]] = {}
        self._variables_at: dict[Operation, list[int]] = {}
        for storage, at in self.placement.at.items():
            self._storages_at.setdefault(at, []).append(storage)
        for number, variable in enumerate(self.program.variables):
            at = self.placement.own_position(variable)
            if at is not None and variable.result is None:
                self._variables_at.setdefault(at, []).append(number)

    # Ops

    def emit(self, op: Operation) -> SSAValue | None:
        """Put an op at the end, in the place of the op at hand; its first result."""
        op.location = self.source.location
        self.block.add_op(op)
        return op.results[0] if op.results else None

    def value(self, value: SSAValue) -> SSAValue:
        """The new value of an old one; memory, if it is a tensor."""
        return self.values[value]

    def index(self, value: int) -> SSAValue:
        """A constant."""
        return self.materializer.value(self.sizes.table.constant(value))

    def emit_block(self, block: Block, into: Block) -> None:
        """All ops of a block; what is known in it is forgotten afterwards."""
        outer, known = self.block, self.materializer.known
        self.block, self.materializer.known = into, dict(known)
        self.map_values([a for a in block.args if not is_tensor(a.type)], into.args)
        for op in block.ops:
            self.visit(op)
        self.block, self.materializer.known = outer, known

    def visit(self, op: Operation) -> None:
        """What replaces one op."""
        self.source = op
        for storage in self._storages_at.get(op, ()):
            self._take(storage)
        for variable in self._variables_at.get(op, ()):
            self._show(variable)
        self._move(op)
        emitter = self.emitters.get(type(op))
        if emitter is None:
            self.copy_op(op)
        else:
            last = self.block.last_op
            emitter(self, op)
            _carry_attributes(op, self.block, last)
        self.source = op

    def copy_op(self, op: Operation) -> None:
        """An op without tensors, as it is."""
        new = op.clone(value_mapper=self.values)
        self.block.add_op(new)
        self.map_values(op.results, new.results)

    def map_values(self, old: Iterable[SSAValue], new: Iterable[SSAValue]) -> None:
        """Scalars are known under new names; indices can be used again."""
        for before, after in zip(old, new, strict=True):
            self.values[before] = after
            after.name_hint = after.name_hint or before.name_hint
            if isinstance(before.type, IndexType):
                expression = self.sizes.value(before)
                self.materializer.known.setdefault(expression, after)

    # Sizes

    def _leaf(self, leaf: Size | Opaque) -> SSAValue:
        value = self.value(leaf.value)
        if isinstance(leaf, Opaque):
            return value
        size = self.emit(memref.DimOp(value, self.index(leaf.axis)))
        assert size is not None, "a size is a result"
        return size

    def dynamic(self, shape: Shape, extents: Sequence[int]) -> list[SSAValue]:
        """The values of the sizes that a type leaves open."""
        return [
            self.materializer.value(size)
            for size, extent in zip(shape, extents, strict=True)
            if extent == DYNAMIC_INDEX
        ]

    # Memory

    def allocate(self, variable: Variable) -> SSAValue:
        """New memory like that of a variable."""
        space = variable.type.memory_space
        alloc = tir.AllocOp(
            variable.type,
            self.dynamic(variable.shape, variable.type.get_shape()),
            memory=space if isinstance(space, SymbolRefAttr) else None,
        )
        self.emit(alloc)
        return alloc.result

    def give(self, variable: int, value: SSAValue) -> None:
        """Storage that is given: arguments, constants, and results' memory."""
        known = self.program.variables[variable]
        self._bases[self.assignment.storage(variable)] = (value, known)
        self._name(variable, value)

    def _take(self, storage: int) -> None:
        model = self.program.variables[self.placement.model(storage)]
        self._bases[storage] = (self.allocate(model), model)

    def _show(self, number: int) -> None:
        """A view of the memory of a variable's storage with the variable's shape."""
        base = self._bases.get(self.assignment.storage(number))
        if base is None:
            return  # a constant, which is given when it is computed
        value, model = base
        variable = self.program.variables[number]
        if (variable.type, variable.shape) != (model.type, model.shape):
            extents = variable.type.get_shape()
            value = self.views.reshape(
                value, extents, self.dynamic(variable.shape, extents)
            )
        self._name(number, value)

    def _name(self, number: int, memory: SSAValue) -> None:
        self.memrefs[number] = memory
        for value in self.program.variables[number].values:
            self.values[value] = memory
            memory.name_hint = memory.name_hint or value.name_hint

    # Copies

    def _move(self, op: Operation) -> None:
        point = self.program.points.get(op)
        if point is None:
            return
        saved: dict[int, SSAValue] = {}
        for step in self.assignment.steps(point):
            self._step(step, self.program.moved[op], saved)

    def _step(
        self, step: Step, moved: Sequence[SSAValue], saved: dict[int, SSAValue]
    ) -> None:
        target = step.move.target
        source = self.value(moved[step.move.tag])
        match step.kind:
            case "copy":
                self.emit(tir.CopyOp(source, self.memrefs[target]))
            case "save":
                memory = self.allocate(self.program.variables[target])
                saved[target] = memory
                self.emit(tir.CopyOp(source, memory))
            case "restore":
                self.emit(tir.CopyOp(saved[target], self.memrefs[target]))


def _carry_attributes(op: Operation, block: Block, last: Operation | None) -> None:
    """
    Give the discardable attributes of an op to the last op that was put behind `last`
    for it, unless one of those has them.
    """
    made_op = block.first_op if last is None else last.next_op
    new: list[Operation] = []
    while made_op is not None:
        new.append(made_op)
        made_op = made_op.next_op
    for name, value in op.attributes.items() if new else ():
        if not any(name in made.attributes for made in new):
            new[-1].attributes[name] = value


def new_region(rewriter: Rewriter, old: Region) -> Region:
    """The region of a branch or loop; tensors are no arguments any more."""
    region = Region()
    for block in old.blocks:
        arguments = [a for a in block.args if not is_tensor(a.type)]
        into = Block(arg_types=[a.type for a in arguments])
        region.add_block(into)
        for before, after in zip(arguments, into.args, strict=True):
            after.name_hint = before.name_hint
            after.location = before.location
        rewriter.emit_block(block, into)
    return region


def scalars(rewriter: Rewriter, values: Iterable[SSAValue]) -> list[SSAValue]:
    """The new values of those that are no tensors."""
    return [rewriter.value(v) for v in values if not is_tensor(v.type)]


def erase_unused(block: Block) -> None:
    """Drop memory that nothing is done with, and views of it."""
    unused = (
        tir.AllocOp,
        memref.CastOp,
        memref.CollapseShapeOp,
        memref.ExpandShapeOp,
        memref.SubviewOp,
        memref.DimOp,
        arith.ConstantOp,
    )
    for op in reversed(tuple(block.ops)):
        for region in op.regions:
            for inner in region.blocks:
                erase_unused(inner)
        if isinstance(op, unused) and not any(r.uses for r in op.results):
            op.detach()
            op.erase()
