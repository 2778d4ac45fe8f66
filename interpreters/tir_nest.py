"""
`tir.nest` with whole-array NumPy.

The parallel dims are axes of arrays, and a region is evaluated for all their points at
once; sequential and reduction dims are Python loops, in lexicographic order. Two kinds
of body are faster (see `nest_folds`): those that only fold a value into each
accumulator take many reduction points at once, and of these a sum of products of two
inputs is a contraction.

In a block whose points are evaluated at once (see `tir_block`) the points of the block,
the batch, are further axes, behind those of the nest.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.ir import Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from transom.dialects import tir
from transom.dialects.diagnostics import OpError
from transom.interpreters import numerics
from transom.interpreters.arith import attribute_value
from transom.interpreters.evaluators import Array, Value, Values
from transom.interpreters.interpreter import Frame
from transom.interpreters.nest_accesses import Access, Variable, Variables, picked
from transom.interpreters.nest_folds import Factor, Fold, find_contraction, find_folds
from transom.interpreters.nest_outputs import Output

MAX_POINTS = 1 << 20
"""Elements that an array of a chunk of reduction points may have."""

MAX_CONTRACTED = 1 << 23
"""The same for an operand of a contraction."""

MAX_EXACT_SUM = 1 << 36
"""So many products of bytes are exact in `f64`."""

Point = Mapping[int, int]
"""The values of some variables."""


@dataclass(frozen=True)
class Read:
    """An input: the buffer itself, or elements of it."""

    array: Array
    access: Access | None
    """None if the indices are computed in the regions."""
    view: Array | None
    loops: tuple[int, ...]
    """The variables along the first axes of the view; the points have the others."""

    def value(
        self, at: Point, indices: Sequence[Value], chunk: Sequence[int] = ()
    ) -> Value:
        """
        What a region sees of the input.

        `at` are the values of loops, `indices` those of all variables; the variables of
        `chunk` become axes.
        """
        if self.access is None:
            return self.array
        if self.view is None:
            return self.access.gathered(indices)
        picks = [slice(None) if v in chunk else at.get(v, 0) for v in self.loops]
        return picked(self.view, picks)[()]


class NestRun:
    """One execution of a nest."""

    def __init__(self, frame: Frame, op: tir.NestOp, args: Values) -> None:
        self.frame = frame
        self.op = op
        self.folds, self.factors = frame.interpreter.constant(
            op, lambda: (find_folds(op), find_contraction(op))
        )
        groups = (op.bounds, op.symbols, op.ins, op.outs)
        ends = list(itertools.accumulate(len(group) for group in groups))
        bounds, symbols, self.ins, self.outs = (
            args[end - len(group) : end]
            for end, group in zip(ends, groups, strict=True)
        )
        rest = iter(bounds)
        extents = [int(next(rest)) if b is None else b for b in op.static_bounds]
        if min(extents, default=0) < 0:
            raise ValueError(f"expected bounds >= 0, but got {extents}")
        self.extents = (*extents, *frame.batch)
        """Of the variables: the dims of the nest, then the axes of the batch."""
        self.sequential = op.dims_of_kind(tir.DimKind.SEQUENTIAL)
        self.reduction = op.dims_of_kind(tir.DimKind.REDUCTION)
        parallel = op.dims_of_kind(tir.DimKind.PARALLEL)
        self.inner = (*parallel, *range(op.rank, len(self.extents)))
        """The variables that are axes of every array, in the order of the axes."""
        self.points = tuple(self.extents[v] for v in self.inner)
        self.variables = Variables(
            self.extents, tuple(map(self._symbol, op.symbols, symbols))
        )

    def _symbol(self, operand: SSAValue, value: Value) -> int | Variable:
        if np.ndim(value) == 0:
            return int(value)
        position = self.frame.batch_axis(operand)
        if position is None:
            raise OpError(self.op, "expected symbols that are numbers or block indices")
        return Variable(self.op.rank + position)

    def run(self) -> None:
        """Execute the nest."""
        if 0 in self.points or 0 in (self.extents[v] for v in self.sequential):
            return
        self.frame.interpreter.check_size(self.op, self.points)
        outer = self.frame.indices
        self.reads = self._reads()
        outputs = self._outputs()
        self.frame.indices = self._indices({})
        accumulators = self._region(self.op.init, ()) if self.op.init.blocks else ()
        for at in self._walk(self.sequential):
            accumulators = self._reduce(at, accumulators)
            indices = self.frame.indices = self._indices(at)
            seen = [
                self.reads[i].value(at, indices) for i in self.op.finish_in_positions
            ]
            values = self._region(self.op.finish, (*accumulators, *seen))
            values = [self._detached(value) for value in values]
            accumulators = [self._detached(value) for value in accumulators]
            self._write(outputs, at, values)
        self.frame.indices = outer

    def _region(self, region: Region, arguments: Values) -> Values:
        return self.frame.region(region, arguments).values

    def _detached(self, value: Value) -> Value:
        """The value, copied if writing the outputs might change it."""
        if np.ndim(value) and any(np.may_share_memory(value, o) for o in self.outs):
            return value.copy()
        return value

    # Points.

    def _walk(self, dims: Sequence[int]) -> Iterator[dict[int, int]]:
        """The points of some dims in lexicographic order."""
        for point in itertools.product(*(range(self.extents[d]) for d in dims)):
            yield dict(zip(dims, point, strict=True))

    def _indices(self, at: Point, chunk: Sequence[int] = ()) -> list[Value]:
        """The value of each variable: a number, or one along an axis."""
        indices: list[Value] = [
            np.int64(at.get(v, 0)) for v in range(len(self.extents))
        ]
        axes = (*chunk, *self.inner)
        for place, variable in enumerate(axes):
            values = np.arange(self.extents[variable], dtype=np.int64)
            behind = (1,) * (len(axes) - place - 1)
            indices[variable] = values.reshape(-1, *behind)
        return indices

    # Inputs and outputs.

    def _access(
        self, operand: SSAValue, array: Array, access: tir.AccessAttr
    ) -> Access | None:
        """
        How a buffer is reached; one of a block has an axis for each axis of the batch
        at its allocation, and these are the last ones.
        """
        if access.map is None:
            return None
        pad = None if access.pad is None else attribute_value(self.op, access.pad)
        own = array.ndim - len(cast(Any, operand.type).get_shape())
        total = len(self.extents)
        batch: list[AffineExpr] = [AffineDimExpr(v) for v in range(total - own, total)]
        return Access(array, (*access.map.results, *batch), self.variables, pad)

    def _reads(self) -> list[Read]:
        loops = (*self.sequential, *self.reduction)
        is_empty = 0 in (self.extents[v] for v in self.reduction)
        reads: list[Read] = []
        for array, attr, operand in zip(
            self.ins, self.op.in_accesses, self.op.ins, strict=True
        ):
            access, view = self._access(operand, array, attr), None
            if access is not None and not is_empty:
                overlaps = any(np.may_share_memory(array, out) for out in self.outs)
                view = access.strided((*loops, *self.inner), overlaps)
            reads.append(Read(array, access, view, loops))
        return reads

    def _outputs(self) -> list[Output]:
        order = (*self.sequential, *self.inner)
        outputs: list[Output] = []
        for array, attr, operand in zip(
            self.outs, self.op.out_accesses, self.op.outs, strict=True
        ):
            access = self._access(operand, array, attr)
            view = None if access is None else access.strided(order)
            outputs.append(Output(array, access, view, attr.combine, self.points))
        return outputs

    def _write(self, outputs: Sequence[Output], at: Point, values: Values) -> None:
        lead = [at[d] for d in self.sequential]
        rest = list(values[len(outputs) :])
        for output, value in zip(outputs, values, strict=False):
            if output.access is not None:
                output.write(self.frame, lead, self._indices(at), value)
                continue
            rank = output.array.ndim
            output.scatter(self.frame, rest[:rank], value)
            del rest[:rank]

    # Reduction.

    def _reduce(self, at: Point, accumulators: Values) -> Values:
        """The accumulators after all reduction points of a sequential point."""
        body = self.op.body
        if not body.blocks or 0 in (self.extents[d] for d in self.reduction):
            return accumulators
        if (found := self._contraction()) is not None:
            return [self._contract(at, *found, accumulators[0])]
        folds = self.folds
        chunk = self._chunk() if folds is not None else ()
        loops = self.reduction[: len(self.reduction) - len(chunk)]
        for point in self._walk(loops):
            here = {**at, **point}
            indices = self.frame.indices = self._indices(here, chunk)
            ins = [read.value(here, indices, chunk) for read in self.reads]
            if folds is not None and chunk:
                accumulators = self._fold(folds, ins, accumulators, chunk)
            else:
                accumulators = self._region(body, (*ins, *accumulators))
        return accumulators

    def _chunk(self) -> tuple[int, ...]:
        """The last reduction dims, as many as one array can hold."""
        size = math.prod(self.points)
        for count, dim in enumerate(reversed(self.reduction)):
            size *= self.extents[dim]
            if size > MAX_POINTS:
                return self.reduction[len(self.reduction) - count :]
        return self.reduction

    def _fold(
        self,
        folds: Sequence[Fold],
        ins: Values,
        accumulators: Values,
        chunk: Sequence[int],
    ) -> Values:
        """Fold what all points of a chunk give into the accumulators."""
        terms = self.frame.evaluate(
            self.op.body.block,
            (*ins, *accumulators),
            without=[op for fold in folds for op in fold.ops],
            values=[term for fold in folds for term in fold.terms],
        )
        rest = iter(terms)
        sizes = tuple(self.extents[d] for d in chunk)
        axes = tuple(range(len(sizes)))
        results: list[Value] = []
        for fold, accumulator in zip(folds, accumulators, strict=True):
            term = next(rest)
            if len(fold.terms) == 2:
                term = term.astype(np.float64) * next(rest)
            missing = (1,) * (len(sizes) + len(self.points) - term.ndim)
            term = np.reshape(term, (*missing, *term.shape))
            term = np.broadcast_to(term, (*sizes, *term.shape[len(sizes) :]))
            folded = fold.combination.over(term, axes)
            results.append(fold.combination.both(accumulator, folded))
        return results

    # Contraction.

    def _contraction(self) -> tuple[Sequence[Array], Sequence[Factor]] | None:
        """The views whose products are summed, if the body is no more than that."""
        count = math.prod(self.extents[d] for d in self.reduction)
        if not self.reduction or count > MAX_EXACT_SUM:
            return None
        factors = self.factors
        views = [self.reads[f.position].view for f in factors or ()]
        if factors is None or any(view is None for view in views):
            return None
        return cast("list[Array]", views), factors

    def _contract(
        self,
        at: Point,
        views: Sequence[Array],
        factors: Sequence[Factor],
        accumulator: Value,
    ) -> Value:
        """The accumulator plus a sum of products in `f64`, rounded once."""
        lead = [at[d] for d in self.sequential]
        operands = [
            factor.view(picked(view, lead))
            for view, factor in zip(views, factors, strict=True)
        ]
        loops = self.reduction[: self._loops_of_contraction(operands)]
        total: Value = np.float64(0)
        for point in self._walk(loops):
            parts = [picked(x, list(point.values())) for x in operands]
            total = total + _sum_of_products(parts, len(self.points))
        # A reduction dim that neither operand depends on repeats the sum.
        for axis in range(len(loops), len(self.reduction)):
            if all(x.shape[axis] == 1 for x in operands):
                total = total * self.extents[self.reduction[axis]]
        dtype = accumulator.dtype
        if numerics.is_float_dtype(dtype):
            return numerics.rounded(total + accumulator.astype(np.float64), dtype)
        return accumulator + np.asarray(total).astype(np.int64).astype(dtype)

    def _loops_of_contraction(self, operands: Sequence[Array]) -> int:
        """How many reduction dims have to be loops, lest a copy is too large."""
        for count in range(len(self.reduction)):
            sizes = [math.prod(x.shape[count:]) for x in operands]
            if max(sizes) <= MAX_CONTRACTED:
                return count
        return len(self.reduction)


def _sum_of_products(operands: Sequence[Array], kept: int) -> Array:
    """The sum over all but the last `kept` axes; those of size 1 broadcast."""
    arguments: list[Any] = []
    sizes: dict[int, int] = {}
    for operand in operands:
        axes = range(operand.ndim)
        own = {axis: operand.shape[axis] for axis in axes if operand.shape[axis] > 1}
        sizes |= own
        arguments += [operand.reshape(list(own.values())).astype(np.float64), [*own]]
    last = range(operands[0].ndim - kept, operands[0].ndim)
    result = [axis for axis in last if axis in sizes]
    total: Array = np.einsum(*arguments, result, optimize=True)
    return total.reshape([sizes.get(axis, 1) for axis in last])
