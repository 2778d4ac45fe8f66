"""
Nests in parts, while two of them become one.

A nest that is put together takes over the regions of the nest that it replaces: only
the arguments of their blocks are made anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from transom.dialects.tir import (
    AccessAttr,
    DimKind,
    IndexOp,
    NestOp,
    YieldOp,
    affine,
)

Bound = int | SSAValue


def same_bound(a: Bound, b: Bound) -> bool:
    """Whether two bounds are known to be equal."""
    return a is b or (isinstance(a, int) and isinstance(b, int) and a == b)


@dataclass(frozen=True)
class Input:
    """A memref that a nest reads or writes, and how."""

    value: SSAValue
    access: AccessAttr

    @property
    def element(self) -> Attribute:
        """What regions see of it."""
        type = cast("MemRefType[Attribute]", self.value.type)
        return type if self.access.is_indirect else type.element_type

    def is_visible_in_finish(self, kinds: Sequence[DimKind]) -> bool:
        """Whether `finish` sees it."""
        if self.access.map is None:
            return True
        return all(
            kinds[dim] is not DimKind.REDUCTION for dim in self.access.map.used_dims()
        )


def inputs_of(nest: NestOp) -> list[Input]:
    """The inputs of a nest."""
    return [Input(v, a) for v, a in zip(nest.ins, nest.in_accesses, strict=True)]


def outputs_of(nest: NestOp) -> list[Input]:
    """The outputs of a nest."""
    return [Input(v, a) for v, a in zip(nest.outs, nest.out_accesses, strict=True)]


class Symbols:
    """The symbols of two nests, each value once."""

    def __init__(self, nest: NestOp) -> None:
        self.values: list[SSAValue] = list(nest.symbols)

    def renamed(self, nest: NestOp) -> list[AffineExpr]:
        """What the symbols of another nest are among these."""
        found: list[AffineExpr] = []
        for value in nest.symbols:
            if value not in self.values:
                self.values.append(value)
            found.append(affine.sym(self.values.index(value)))
        return found

    def widened(self, source: Input) -> Input:
        """An input of the first nest, over all symbols."""
        map = source.access.map
        if map is None or map.num_symbols == len(self.values):
            return source
        wide = AffineMap(map.num_dims, len(self.values), map.results)
        return Input(source.value, source.access.with_map(wide))


def moved(
    source: Input,
    rank: int,
    dims: Sequence[AffineExpr],
    symbols: Sequence[AffineExpr],
) -> Input:
    """
    An input of a nest in terms of another nest's dims and symbols, of which there may
    be more than its map says: see `Symbols.widened`.
    """
    map = source.access.map
    if map is None:
        return source
    results = tuple(affine.substitute(e, dims, symbols) for e in map.results)
    count = 1 + max((p for e in results for p in affine.used_symbols(e)), default=-1)
    return Input(source.value, source.access.with_map(AffineMap(rank, count, results)))


class InputList:
    """The inputs of a nest that is put together, each once."""

    def __init__(self) -> None:
        self.inputs: list[Input] = []

    def add(self, source: Input) -> int:
        """The position of an input, a new one or that of an equal one."""
        for position, known in enumerate(self.inputs):
            if known.value is source.value and _same(known.access, source.access):
                return position
        self.inputs.append(source)
        return len(self.inputs) - 1


def _same(a: AccessAttr, b: AccessAttr) -> bool:
    if a.map is None or b.map is None:
        return a == b
    return a.map.results == b.map.results and a.pad == b.pad


def can_rename_indices(nest: NestOp, dims: Sequence[AffineExpr]) -> bool:
    """Whether every `tir.index` of a nest has a form over other dims."""
    return all(
        isinstance(dims[op.position], AffineDimExpr | AffineConstantExpr)
        for op in nest.walk()
        if isinstance(op, IndexOp)
    )


def _index(dim: AffineExpr) -> Operation:
    """The op that has the value of a dim."""
    if isinstance(dim, AffineDimExpr):
        return IndexOp(dim.position)
    assert isinstance(dim, AffineConstantExpr), "can_rename_indices() says so"
    return arith.ConstantOp(IntegerAttr(dim.value, IndexType()))


def rename_indices(block: Block, dims: Sequence[AffineExpr]) -> None:
    """Ask for other dims in a block, those that its own are."""
    for op in [op for op in block.walk() if isinstance(op, IndexOp)]:
        new = _index(dims[op.position])
        assert op.parent is not None, "it was found in a block"
        op.parent.insert_op_before(new, op)
        op.result.replace_all_uses_with(new.results[0])
        op.detach()
        op.erase()


def take_ops(source: Block, block: Block) -> list[SSAValue]:
    """Move the ops of a region to the end of a block; give what the region yields."""
    for op in tuple(source.ops):
        op.detach()
        if isinstance(op, YieldOp):
            yielded = list(op.operands)
            op.erase()
            return yielded
        block.add_op(op)
    raise AssertionError("regions of nests end with 'tir.yield'")


def copy_ops(
    source: Block,
    before: Operation,
    values: dict[SSAValue, SSAValue],
    dims: Sequence[AffineExpr],
) -> list[SSAValue]:
    """
    Copy the ops of a region before an op, where its dims are others; give what the
    region yields there.
    """
    block = before.parent
    assert block is not None, "an op of a block"
    for op in source.ops:
        if isinstance(op, YieldOp):
            return [values.get(value, value) for value in op.operands]
        if isinstance(op, IndexOp):
            copy = _index(dims[op.position])
            values[op.result] = copy.results[0]
        else:
            copy = op.clone(values)
            for region in copy.regions:
                for inner in region.blocks:
                    rename_indices(inner, dims)
        block.insert_op_before(copy, before)
    raise AssertionError("regions of nests end with 'tir.yield'")


@dataclass
class NewNest:
    """A nest in the place of another: with its dims, its loops and its regions."""

    old: NestOp
    inputs: list[Input]
    symbols: Symbols
    kinds: tuple[DimKind, ...] = field(init=False)
    accumulators: tuple[Attribute, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.kinds = self.old.dim_kinds
        self.accumulators = self.old.accumulator_types

    def body_arguments(self) -> tuple[Block, dict[int, SSAValue]]:
        """
        The block of `body` with new arguments behind the old ones, and those for the
        inputs by position. The accumulators are the new ones already.
        """
        block = self.old.body.block
        accumulators = self.old.body_accumulators
        made: dict[int, SSAValue] = {
            position: block.insert_arg(source.element, len(block.args))
            for position, source in enumerate(self.inputs)
        }
        for old in accumulators:
            old.replace_all_uses_with(block.insert_arg(old.type, len(block.args)))
        return block, made

    def finish_arguments(self) -> tuple[Block, dict[int, SSAValue]]:
        """The same of `finish`: the inputs that it sees."""
        block = self.old.finish.block
        for old in tuple(block.args[: len(self.accumulators)]):
            old.replace_all_uses_with(block.insert_arg(old.type, len(block.args)))
        made: dict[int, SSAValue] = {}
        for position, source in enumerate(self.inputs):
            if source.is_visible_in_finish(self.kinds):
                made[position] = block.insert_arg(source.element, len(block.args))
        return block, made

    def build(
        self, outs: Sequence[Input], attributes: Mapping[str, Attribute]
    ) -> NestOp:
        """The new nest, which has the regions now."""
        old = self.old
        inputs = [self.symbols.widened(source) for source in self.inputs]
        outs = [self.symbols.widened(out) for out in outs]
        regions: list[Region] = [
            old.detach_region(region) for region in tuple(old.regions)
        ]
        made = NestOp(
            list(old.dims),
            list(old.bounds),
            self.symbols.values,
            [source.value for source in inputs],
            [source.access for source in inputs],
            [out.value for out in outs],
            [out.access for out in outs],
            regions,
            old.schedule,
        )
        made.location = old.location
        made.attributes = {**attributes, **old.attributes}
        return made


def drop_arguments(block: Block, count: int) -> None:
    """Erase the first arguments of a block, which nothing uses."""
    for argument in tuple(block.args[:count]):
        block.erase_arg(argument)
