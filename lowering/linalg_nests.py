"""
Structured ops of `linalg` as nests.

The running value of a reduction, which `linalg` keeps in the output, becomes an
accumulator. It starts with what the output is filled with; if that is not known, with
what changes nothing, and `finish` folds in what the output held:

```mlir
linalg.matmul                         tir.nest … ins(%a …, %b …, %c[d0, d1])
    ins(%a, %b) outs(%c)        ==>       init { 0 }  body { acc + a * b }
                                          finish { c + acc }
```

A body that does not fold starts with it at the first point of the reduction.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import cast

from xdsl.dialects import arith, memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FloatAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    TensorType,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from transom.dialects import linalg, tir
from transom.dialects.linalg import Structure
from transom.dialects.tir.folds import Fold, fold_of
from transom.dialects.tir.nest_builder import RegionBuilder
from transom.lowering.conversion import Refusal
from transom.lowering.conversion.pattern import RefusalError
from transom.lowering.sizes import Size, buffer_size

Insert = Callable[[Operation], SSAValue]

KINDS = {
    linalg.PARALLEL: tir.DimKind.PARALLEL,
    linalg.REDUCTION: tir.DimKind.REDUCTION,
}


def refuse(reason: str) -> RefusalError:
    """A refusal to raise."""
    return RefusalError(Refusal(reason))


def captured(block: Block) -> Iterator[SSAValue]:
    """What the ops of a body use and is defined outside of it, each once."""
    inside: set[SSAValue] = set(block.args)
    for op in block.walk():
        inside.update(op.results)
        for region in op.regions:
            for inner in region.blocks:
                inside.update(inner.args)
    found = (operand for op in block.walk() for operand in op.operands)
    yield from dict.fromkeys(value for value in found if value not in inside)


class StructureNest:
    """
    The nest of a structured op.

    `operands` are the op's, as memrefs and numbers; `outs` are written, and `starts`
    says what each output holds everywhere, if that is known. `convert` gives what
    stands for a value from outside the body.
    """

    def __init__(
        self,
        structure: Structure,
        operands: Sequence[SSAValue],
        outs: Sequence[SSAValue],
        starts: Sequence[SSAValue | None],
        insert: Insert,
        convert: Callable[[SSAValue], SSAValue],
    ) -> None:
        self.structure = structure
        self.operands = operands
        self.outs = outs
        self.starts = starts
        self.insert = insert
        self.convert = convert
        self.reduced = set(structure.loops(linalg.REDUCTION))
        self.ins: list[tir.In] = []
        self.position: dict[SSAValue, int] = {}
        """The input of the nest that stands for an argument or captured buffer."""
        self.olds: dict[int, int] = {}
        """The input of the nest that is what an output held."""

    def build(self) -> tir.NestOp:
        """The nest. Raises `RefusalError`."""
        structure = self.structure
        kinds = map_kinds(structure)
        self._check_outputs()
        count = len(structure.inputs)
        for number, map in enumerate(structure.maps[:count]):
            argument = structure.argument(number)
            value = self.operands[number]
            if argument is None or not argument.uses:
                continue
            if isinstance(value.type, MemRefType):
                self.position[argument] = self._add(value, map)
        for value in captured(structure.body):
            if isinstance(value.type, TensorType | MemRefType):
                self.position[value] = self._add(self.convert(value), None)
        self._check_shared()
        dims = list(zip(kinds, self._bounds(), strict=True))
        outs = [
            tir.Out(out, map)
            for out, map in zip(self.outs, structure.out_maps, strict=True)
        ]
        if not self.reduced:
            for number in range(len(outs)):
                if structure.reads_output(number) and self.starts[number] is None:
                    self._add_old(number)
            return tir.NestOp.build_nest(
                dims,
                ins=self.ins,
                outs=outs,
                finish=self._pointwise,
            )
        folds = [self._fold(number) for number in range(len(outs))]

        def body(b: RegionBuilder, *arguments: SSAValue) -> list[SSAValue]:
            return self._body(b, arguments, folds)

        def finish(b: RegionBuilder, *arguments: SSAValue) -> list[SSAValue]:
            return self._finish(b, arguments, folds)

        return tir.NestOp.build_nest(
            dims,
            ins=self.ins,
            outs=outs,
            init=lambda b: [self._start(b, i, f) for i, f in enumerate(folds)],
            body=body,
            finish=finish,
        )

    # Dims, inputs and outputs.

    def _check_outputs(self) -> None:
        for number, map in enumerate(self.structure.out_maps):
            used = map.used_dims()
            for dim in range(self.structure.rank):
                if (dim in self.reduced) == (dim in used):
                    what = "reduction" if dim in self.reduced else "parallel"
                    has = "no" if dim in self.reduced else "each"
                    raise refuse(
                        f"expected {has} {what} loop in the map of output {number}, "
                        f"but got '{map}'"
                    )

    def _check_shared(self) -> None:
        for number, (out, map) in enumerate(
            zip(self.outs, self.structure.out_maps, strict=True)
        ):
            if any(read.value is out and read.map != map for read in self.ins):
                raise refuse(
                    f"expected output {number}, which is an input too, to be read "
                    "where it is written"
                )

    def _add(self, value: SSAValue, map: AffineMap | None) -> int:
        self.ins.append(tir.In(value, map))
        return len(self.ins) - 1

    def _add_old(self, number: int) -> None:
        value = self.operands[len(self.structure.inputs) + number]
        self.olds[number] = self._add(value, self.structure.out_maps[number])

    def _bounds(self) -> list[Size]:
        """
        The bound of each loop: a number, or the size of a buffer, of what is updated if
        it says so.
        """
        found: dict[int, list[tuple[SSAValue, int]]] = {}
        for loop, operand, axis in self.structure.extents():
            found.setdefault(loop, []).insert(0, (self.operands[operand], axis))
        return [self._size(found[loop]) for loop in range(self.structure.rank)]

    def _size(self, places: Sequence[tuple[SSAValue, int]]) -> Size:
        for buffer, axis in places:
            size = linalg.shape_of(buffer)[axis]
            if size != DYNAMIC_INDEX:
                return size
        return buffer_size(*places[0], self.insert)

    def _element(self, number: int) -> Attribute:
        return linalg.element_of(self.outs[number].type)

    # Regions.

    def _pointwise(self, b: RegionBuilder, *arguments: SSAValue) -> list[SSAValue]:
        olds = [
            arguments[self.olds[number]]
            if number in self.olds
            else self._outer(b, start)
            if (start := self.starts[number]) is not None
            else None
            for number in range(len(self.outs))
        ]
        return self._copy_body(b, arguments, olds)

    def _fold(self, number: int) -> Fold | None:
        """
        How an output is folded, if what it holds is read and is not known: it becomes
        an input of the nest.
        """
        structure = self.structure
        if not structure.reads_output(number) or self.starts[number] is not None:
            return None
        argument = structure.argument(len(structure.inputs) + number)
        assert argument is not None, "it is read"
        fold = fold_of(argument, structure.yielded[number])
        if fold is None and any(
            not isinstance(size, int) or size == 0
            for loop, size in enumerate(self._bounds())
            if loop in self.reduced
        ):
            raise refuse(
                "expected reductions of static sizes, because the body does more than "
                f"fold output {number}, which is not filled before"
            )
        self._add_old(number)
        return fold

    def _start(self, b: RegionBuilder, number: int, fold: Fold | None) -> SSAValue:
        start = self.starts[number]
        if start is not None:
            return self._outer(b, start)
        if fold is not None:
            return b(arith.ConstantOp(cast("FloatAttr | IntegerAttr", fold.neutral)))
        return b.constant(0, self._element(number))

    def _body(
        self,
        b: RegionBuilder,
        arguments: Sequence[SSAValue],
        folds: Sequence[Fold | None],
    ) -> list[SSAValue]:
        ins, accumulators = arguments[: len(self.ins)], arguments[len(self.ins) :]
        seen: list[SSAValue | None] = [
            accumulator
            if fold is not None or number not in self.olds
            else self._at_first(b, ins[self.olds[number]], accumulator)
            for number, (accumulator, fold) in enumerate(
                zip(accumulators, folds, strict=True)
            )
        ]
        values = self._copy_body(b, ins, seen)
        allow_contraction(values)
        return values

    def _at_first(
        self, b: RegionBuilder, old: SSAValue, accumulator: SSAValue
    ) -> SSAValue:
        """What the output held at the first point of the reduction."""
        is_first: SSAValue | None = None
        for dim in sorted(self.reduced):
            zero = b.constant(0, IndexType())
            is_zero = b(arith.CmpiOp(b.index(dim), zero, "eq"))
            is_first = (
                is_zero if is_first is None else b(arith.AndIOp(is_first, is_zero))
            )
        assert is_first is not None, "there is a reduction"
        return b(arith.SelectOp(is_first, old, accumulator))

    def _finish(
        self,
        b: RegionBuilder,
        arguments: Sequence[SSAValue],
        folds: Sequence[Fold | None],
    ) -> list[SSAValue]:
        accumulators = arguments[: len(folds)]
        seen = [
            position
            for position, access in enumerate(self.ins)
            if not isinstance(access.map, AffineMap)
            or not access.map.used_dims() & self.reduced
        ]
        ins = dict(zip(seen, arguments[len(folds) :], strict=True))
        return [
            accumulator
            if fold is None
            else fold.combine(b, ins[self.olds[number]], accumulator)
            for number, (accumulator, fold) in enumerate(
                zip(accumulators, folds, strict=True)
            )
        ]

    # The body.

    def _outer(self, b: RegionBuilder, value: SSAValue) -> SSAValue:
        """A number from outside; a constant is repeated."""
        if isinstance(value.owner, arith.ConstantOp):
            return b(value.owner.clone())
        return self.convert(value)

    def _copy_body(
        self,
        b: RegionBuilder,
        ins: Sequence[SSAValue],
        outputs: Sequence[SSAValue | None],
    ) -> list[SSAValue]:
        """The body's ops, on these elements of the inputs and outputs."""
        structure = self.structure
        values: dict[SSAValue, SSAValue] = {}
        for number, value in enumerate((*structure.inputs, *outputs)):
            argument = structure.argument(number)
            if argument is None or not argument.uses:
                continue
            if argument in self.position:
                values[argument] = ins[self.position[argument]]
            elif number < len(structure.inputs):
                values[argument] = self._outer(b, structure.inputs[number])
            else:
                assert value is not None, "outputs that are read have a value"
                values[argument] = value
        for value in captured(structure.body):
            if value in self.position:
                values[value] = ins[self.position[value]]
            else:
                values[value] = self._outer(b, value)
        for op in structure.body.ops:
            if isinstance(op, linalg.YieldOp):
                return [values[v] for v in op.operands]
            self._copy(b, op, values)
        raise AssertionError("a body ends with 'linalg.yield'")

    def _copy(
        self, b: RegionBuilder, op: Operation, values: dict[SSAValue, SSAValue]
    ) -> None:
        copy = op.clone(values)
        b.insert(copy)
        values.update(zip(op.results, copy.results, strict=True))
        for inner in tuple(copy.walk()):
            new: Operation | None = None
            if isinstance(inner, linalg.IndexOp):
                new = tir.IndexOp(inner.dim.value.data)
            elif isinstance(inner, tensor.ExtractOp):
                new = memref.LoadOp.get(inner.tensor, inner.indices)
            if new is None:
                continue
            block = inner.parent
            assert block is not None, "it was copied into one"
            block.insert_op_before(new, inner)
            inner.results[0].replace_all_uses_with(new.results[0])
            if inner is copy:
                values[op.results[0]] = new.results[0]
            inner.detach()
            inner.erase()


def map_kinds(structure: Structure) -> list[tir.DimKind]:
    """The kinds of a nest's dims. Raises `RefusalError` for loops of other kinds."""
    for kind in structure.kinds:
        if kind not in KINDS:
            raise refuse(f"expected parallel and reduction loops, but got '{kind}'")
    return [KINDS[kind] for kind in structure.kinds]


CONTRACT = FastMathFlag.ALLOW_CONTRACT


def allow_contraction(values: Sequence[SSAValue]) -> None:
    """Let sums of products be one rounding each, as products of `graph` are."""
    for value in values:
        if not isinstance(value.owner, arith.AddfOp):
            continue
        for operand in value.owner.operands:
            if isinstance(operand.owner, arith.MulfOp) and operand.has_one_use():
                for op in (value.owner, operand.owner):
                    flags = dict.fromkeys((*op.fastmath.data, CONTRACT))
                    op.fastmath = arith.FastMathFlagsAttr(tuple(flags))


def start_of(value: SSAValue) -> SSAValue | None:
    """The number that a tensor holds everywhere, if it is filled with one."""
    fill = value.owner
    if not isinstance(fill, linalg.FillOp):
        return None
    number = fill.inputs[0]
    return number if number.type == linalg.element_of(value.type) else None
