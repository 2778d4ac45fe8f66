"""
Compute values where they are copied to, as parts of a larger buffer.

What is put together from parts that lie one after the other in memory, such as a
concatenation, is computed there: the parts and the whole become views of one buffer.

```mlir
%a = tir.alloc : memref<1x4xf32>        %m = tir.alloc : memref<48xi8>
%d = tir.alloc : memref<1x12xf32>       %a = memref.view %m[%c0][] : … memref<1x4xf32>
tir.call @k(…) outs(%a : …)        ==>  %d = memref.view %m[%c0][] : … memref<1x12xf32>
%v = memref.subview %d[0, 0] …          tir.call @k(…) outs(%a : …)
tir.copy %a, %v : …
```

A copy stays where a later op writes to the part's source, or an op between reads or
writes the bytes of the whole; where the part is no row of bytes that starts at a
multiple of `alignment`; and where one of the two is memory of somebody else.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    i8,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from transom.dialects import tir
from transom.dialects.executor import element_bytes, static_bytes
from transom.passes.function_pass import functions_of
from transom.passes.memory.buffers import FULL_VIEWS, Effects, effects_of
from transom.passes.memory.sizes import shaped_type, static_values
from transom.passes.statistics import Statistic

IN_PLACE = Statistic("in-place", "copies that are gone, as their source is in place")


@dataclass(frozen=True)
class TirBuildInPlacePass(ModulePass):
    name = "tir-build-in-place"
    statistics = (IN_PLACE,)

    alignment: int = 64
    """Parts start at multiples of so many bytes."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            for block in _blocks(function):
                _BlockBuilder(block, self.alignment).run()


def _blocks(function: FuncOp) -> list[Block]:
    return [
        block
        for op in function.walk()
        if not isinstance(op, tir.FuncOp)
        for region in op.regions
        for block in region.blocks
    ]


@dataclass(frozen=True)
class _Range:
    """Bytes of a buffer."""

    start: int
    end: int

    def overlaps(self, other: "_Range") -> bool:
        return self.start < other.end and other.start < self.end

    def shifted(self, offset: int) -> "_Range":
        return _Range(self.start + offset, self.end + offset)


@dataclass(frozen=True)
class _Use:
    """What an op does to bytes of a buffer; `at` is where it stands in the block."""

    at: int
    bytes: _Range
    writes: bool


@dataclass(eq=False)
class _Whole:
    """Buffers that are in one place, each at an offset in bytes."""

    root: tir.AllocOp
    uses: list[_Use]
    members: dict[tir.AllocOp, int] = field(default_factory=dict[tir.AllocOp, int])


class _BlockBuilder:
    """Joins buffers that one block takes."""

    def __init__(self, block: Block, alignment: int) -> None:
        self.block = block
        self.alignment = alignment
        self.at = {op: number for number, op in enumerate(block.ops)}
        self.wholes: dict[tir.AllocOp, _Whole] = {}
        for op in block.ops:
            if isinstance(op, tir.AllocOp) and _is_movable(op):
                uses = self._uses(op)
                if uses is not None:
                    self.wholes[op] = _Whole(op, uses, {op: 0})

    def run(self) -> None:
        copies = [op for op in self.block.ops if isinstance(op, tir.CopyOp)]
        for copy in copies:
            self._join(copy)
        for whole in dict.fromkeys(self.wholes.values()):
            if len(whole.members) > 1:
                self._materialise(whole)

    def _join(self, copy: tir.CopyOp) -> None:
        """Put the source of a copy where it is copied to, if that changes nothing."""
        part, target = _bytes_of(copy.source), _bytes_of(copy.destination)
        if part is None or target is None:
            return
        source, destination = self.wholes.get(part[0]), self.wholes.get(target[0])
        if source is None or destination is None or source is destination:
            return
        size = static_bytes(source.root.result.type)
        is_all = part[0] is source.root and part[1] == _Range(0, size)
        start = target[1].start + destination.members[target[0]]
        if not is_all or start % self.alignment or not _fit(source, destination):
            return
        copied = self.at[copy]
        place = _Range(start, start + size)
        if not _is_legal(source, destination, place, copied):
            return
        destination.uses = [u for u in destination.uses if u.at != copied]
        destination.uses += [
            _Use(use.at, use.bytes.shifted(start), use.writes)
            for use in source.uses
            if use.at != copied
        ]
        for member, offset in source.members.items():
            destination.members[member] = offset + start
            self.wholes[member] = destination
        view = copy.destination.owner
        copy.detach()
        copy.erase()
        if isinstance(view, memref.SubviewOp) and not view.result.uses:
            view.detach()
            view.erase()
        IN_PLACE.add()

    def _uses(self, alloc: tir.AllocOp) -> list[_Use] | None:
        """All uses of a buffer; None if not all are seen."""
        found: list[_Use] = []
        for op, value in _users(alloc.result):
            if op is None:
                return None
            around = self.block.find_ancestor_op_in_block(op)
            effects = effects_of(op)
            if around is None or (effects is None and op.results):
                return None
            place = _bytes_of(value)
            assert place is not None, "_users() follows the same views"
            found.append(_Use(self.at[around], place[1], _writes(effects, value)))
        return found

    def _materialise(self, whole: _Whole) -> None:
        """One buffer of bytes in front of all its members."""
        root = whole.root
        type = root.result.type
        size = static_bytes(type)
        alignments = [
            member.alignment.value.data
            for member in whole.members
            if member.alignment is not None
        ]
        octets = tir.AllocOp(
            MemRefType(i8, [size], memory_space=type.memory_space),
            alignment=max(alignments, default=None),
            memory=root.memory,
        )
        first = min(whole.members, key=self.at.__getitem__)
        octets.location = root.location
        octets.result.name_hint = root.result.name_hint
        self.block.insert_op_before(octets, first)
        last: Operation = octets
        for member, offset in whole.members.items():
            shift = arith.ConstantOp(IntegerAttr.from_index_int_value(offset))
            view = memref.ViewOp(octets.result, shift.result, [], member.result.type)
            for op in (shift, view):
                op.location = member.location
            view.result.name_hint = member.result.name_hint
            self.block.insert_ops_after((shift, view), last)
            last = view
            member.result.replace_all_uses_with(view.result)
            member.detach()
            member.erase()


def _is_movable(alloc: tir.AllocOp) -> bool:
    type = alloc.result.type
    return (
        alloc.pool is None
        and type.has_static_shape()
        and isinstance(type.layout, NoneAttr)
        and element_bytes(type.element_type) is not None
        and not alloc.attributes
    )


def _fit(source: _Whole, destination: _Whole) -> bool:
    """Whether two buffers may be in one memory."""
    a, b = source.root, destination.root
    return (a.memory, a.result.type.memory_space) == (
        b.memory,
        b.result.type.memory_space,
    )


def _is_legal(source: _Whole, destination: _Whole, place: _Range, copied: int) -> bool:
    """
    Whether the source of a copy can be in the destination from its first use on.

    Until the copy nothing else touches those bytes; from then on both are read only, as
    long as the source is used.
    """
    first = min(use.at for use in source.uses)
    last = max(use.at for use in source.uses)
    if any(use.writes and use.at > copied for use in source.uses):
        return False
    for use in destination.uses:
        if use.at == copied or not first <= use.at <= last:
            continue
        if use.bytes.overlaps(place) and (use.at < copied or use.writes):
            return False
    return True


def _users(value: SSAValue) -> Iterator[tuple[Operation | None, SSAValue]]:
    """Ops that use a buffer through views, each with the view; None if it gets lost."""
    for use in tuple(value.uses):
        op = use.operation
        if isinstance(op, memref.DimOp):
            continue
        if isinstance(op, (*FULL_VIEWS, memref.SubviewOp)):
            if _bytes_of(op.results[0]) is None:
                yield None, value
            else:
                yield from _users(op.results[0])
        elif op.regions or any(isinstance(r.type, MemRefType) for r in op.results):
            yield None, value
        else:
            yield op, value


def _writes(effects: Effects | None, value: SSAValue) -> bool:
    return effects is None or value in (*effects.overwrites, *effects.touches)


def _bytes_of(value: SSAValue) -> tuple[tir.AllocOp, _Range] | None:
    """The buffer of a memref and a range of its bytes around all elements."""
    op = value.owner
    if isinstance(op, tir.AllocOp):
        if not _is_movable(op):
            return None
        return op, _Range(0, static_bytes(op.result.type))
    if isinstance(op, memref.SubviewOp):
        found, part = _bytes_of(op.source), _part_of(op)
        if found is None or part is None:
            return None
        return found[0], part.shifted(found[1].start)
    if isinstance(op, FULL_VIEWS):
        return _bytes_of(op.operands[0])
    return None


def _part_of(op: memref.SubviewOp) -> _Range | None:
    """The bytes of a slice, if they are one after the other without gaps."""
    type = shaped_type(op.source)
    unit = None if type is None else element_bytes(type.element_type)
    if not isinstance(type, MemRefType) or not isinstance(type.layout, NoneAttr):
        return None
    extents = type.get_shape()
    offsets, sizes = static_values(op.static_offsets), static_values(op.static_sizes)
    strides = static_values(op.static_strides)
    if unit is None or DYNAMIC_INDEX in (*extents, *offsets, *sizes):
        return None
    if any(stride != 1 for stride in strides):
        return None
    start, count, step, is_full = 0, 1, 1, True
    for extent, offset, size in reversed(
        tuple(zip(extents, offsets, sizes, strict=True))
    ):
        if not is_full and size != 1:
            return None
        start += offset * step
        count *= size
        is_full = is_full and size == extent
        step *= extent
    return _Range(start * unit, (start + count) * unit)
