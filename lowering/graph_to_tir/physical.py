"""
Nests on tensors that have a layout, as nests on the memrefs that hold them.

A pattern says a nest on tensors: what it reads and writes at `[n, c, y, x]`. Here this
becomes an access of the memref, for `block = [1, 8], border = [1, 1]` that of
`[n, c floordiv 8, y + 1, x + 1, c mod 8]`. A dim that runs through a blocked dimension
is split in two, `c = c0 * 8 + c1`, so that the accesses are plain:

```mlir
tir.nest dims [parallel 1, parallel 32, …]   tir.nest dims [parallel 1, parallel 4, …,
    outs(%o[d0, d1, d2, d3] : …)        ==>                 parallel 8]
                                                 outs(%o[d0, d1, d2 + 1, d3 + 1, d4] …)
```

Border and the rest of the last block hold the layout's fill: borders are written when a
buffer is made (`fill_border`), the rest by the nest that writes the buffer.
"""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import NamedTuple, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    IndexType,
    MemRefType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from transom.dialects import tir
from transom.dialects.tir import affine
from transom.dialects.tir.accesses import Interval, is_inside
from transom.dialects.tir.nest_builder import RegionCallback, Yields, as_map
from transom.dialects.tir.simplification import simplify
from transom.lowering.conversion import Refusal
from transom.lowering.conversion.pattern import RefusalError
from transom.lowering.graph_to_tir.stored import (
    Insert,
    Stored,
    element_of,
    fill_rest,
    number,
    without_border,
)
from transom.lowering.sizes import Size

DimSpec = tuple[str, Size]


class Split(NamedTuple):
    """A dim of a nest on tensors that becomes two, `outer * block + inner`."""

    block: int
    size: int

    @property
    def is_whole(self) -> bool:
        """Whether all places of all blocks are points."""
        return self.size % self.block == 0


class PhysicalNest:
    """A nest on tensors, some of which have layouts, that becomes one on memrefs."""

    def __init__(
        self,
        stored: Mapping[SSAValue, Stored],
        dims: Sequence[DimSpec],
        ins: Sequence[tir.In],
        outs: Sequence[tir.Out],
        symbols: int,
        pads_are_neutral: bool,
    ) -> None:
        self.stored = stored
        self.old_dims = tuple(dims)
        self.symbols = symbols
        self.ins, self.outs = tuple(ins), tuple(outs)
        self.in_maps = [as_map(i.map, len(dims), symbols) for i in ins]
        self.out_maps = [as_map(o.map, len(dims), symbols) for o in outs]
        self._check()
        self.splits = self._find_splits()
        fills = [s.layout.fill_value if (s := stored.get(i.value)) else 0 for i in ins]
        self.pads_are_neutral = (
            pads_are_neutral and 0 in fills and all(map(isfinite, fills))
        )
        self.dims: list[DimSpec] = []
        self.renamed: list[AffineExpr] = [affine.dim(0)] * len(dims)
        self.outer: dict[int, int] = {}
        self.inner: dict[int, int] = {}
        self._split_dims()
        self.seen_in_finish = self._seen_in_finish(
            [kind for kind, _ in self.old_dims], self.in_maps
        )
        self.intervals = tir.accesses.dims_of_bounds(
            [size if isinstance(size, int) else None for _, size in self.dims]
        )

    def _check(self) -> None:
        for access, map in zip(
            (*self.ins, *self.outs), (*self.in_maps, *self.out_maps), strict=True
        ):
            if map is None and access.value in self.stored:
                raise RefusalError(
                    Refusal(
                        "expected a tensor without a layout where indices are computed"
                    )
                )

    # Dims.

    def _find_splits(self) -> dict[int, Split]:
        """The dims that run through blocks, of outputs first."""
        found: dict[int, Split] = {}
        accesses = [
            (access.value, map)
            for access, map in zip(
                (*self.outs, *self.ins), (*self.out_maps, *self.in_maps), strict=True
            )
            if map is not None
        ]
        for value, map in accesses:
            if (stored := self.stored.get(value)) is None:
                continue
            for expr, block in zip(map.results, stored.blocks, strict=True):
                position = self._runs_through(expr, block) if block > 1 else None
                if position is not None and position not in found:
                    size = self.old_dims[position][1]
                    assert isinstance(size, int), "_runs_through() says so"
                    split = Split(block, size)
                    if self._may_split(position, split):
                        found[position] = split
        return found

    def _runs_through(self, expr: AffineExpr, block: int) -> int | None:
        """The dim that moves an index inside of blocks, if it is one that can."""
        bounds = [size if isinstance(size, int) else None for _, size in self.old_dims]
        expr = simplify(expr, tir.accesses.dims_of_bounds(bounds))
        moving = [
            (product, coefficient)
            for product, coefficient in affine.terms_of(expr).items()
            if coefficient % block
        ]
        match moving:
            case [((AffineDimExpr(position),), 1)] if bounds[position] is not None:
                return position
            case _:
                return None

    def _may_split(self, position: int, split: Split) -> bool:
        """
        Whether there may be more points: each output has places for them, in the last
        block of the dimension that the dim runs through.
        """
        if split.is_whole:
            return True
        for access, map in zip(self.outs, self.out_maps, strict=True):
            stored = self.stored.get(access.value)
            if map is None:
                return False
            for axis, expr in enumerate(map.results):
                if position not in expr.used_dims():
                    continue
                if (
                    stored is None
                    or expr != affine.dim(position)
                    or stored.blocks[axis] != split.block
                    or stored.shape[axis] != split.size
                ):
                    return False
        return True

    def _split_dims(self) -> None:
        """
        Number the new dims: the insides of blocks come behind the last dim of the same
        kind, or right behind the block where the order of points matters.
        """
        kinds = [kind for kind, _ in self.old_dims]
        pending: list[int] = []
        for position, (kind, size) in enumerate(self.old_dims):
            split = self.splits.get(position)
            self.outer[position] = len(self.dims)
            if split is None:
                self.dims.append((kind, size))
            else:
                self.dims.append((kind, -(-split.size // split.block)))
                pending.append(position)
            if kind == "sequential" or kind not in kinds[position + 1 :]:
                for waiting in [p for p in pending if kinds[p] == kind]:
                    pending.remove(waiting)
                    self.inner[waiting] = len(self.dims)
                    self.dims.append((kind, self.splits[waiting].block))
        for position in range(len(self.old_dims)):
            outer = affine.dim(self.outer[position])
            self.renamed[position] = outer
            if (split := self.splits.get(position)) is not None:
                inner = affine.dim(self.inner[position])
                self.renamed[position] = affine.add(
                    affine.multiply(outer, split.block), inner
                )

    # Accesses.

    def _map(self, map: AffineMap, stored: Stored | None) -> AffineMap:
        """An access in terms of the new dims, of the buffer."""
        exprs = [affine.substitute(expr, self.renamed) for expr in map.results]
        if stored is not None:
            exprs = stored.place(exprs)
        if stored is not None or self.splits:
            exprs = [simplify(expr, self.intervals) for expr in exprs]
        return AffineMap(len(self.dims), self.symbols, tuple(exprs))

    def _in(self, insert: Insert, access: tir.In, map: AffineMap | None) -> tir.In:
        if map is None:
            return access
        value, pad = access.value, access.pad
        stored = self.stored.get(value)
        element = element_of(value)
        fill = number(0 if stored is None else stored.layout.fill_value, element)
        if stored is not None and pad not in (None, fill):
            # There is another value than what is to be read.
            self._check_rests(map, stored)
            if any(stored.borders):
                value, stored = without_border(insert, value, stored)
        physical = self._map(map, stored)
        shape = cast("MemRefType[Attribute]", value.type).get_shape()
        if stored is not None and pad == fill and _inside(physical, self, shape):
            pad = None  # it is in the border
        if pad is None and self._reads_more(map) and not _inside(physical, self, shape):
            pad = fill
        return tir.In(value, physical, pad)

    def _check_rests(self, map: AffineMap, stored: Stored) -> None:
        """No read beyond the end of a dimension is one of the rest of a block."""
        bounds = [size if isinstance(size, int) else None for _, size in self.old_dims]
        dims = tir.accesses.dims_of_bounds(bounds)
        for axis, (expr, size) in enumerate(
            zip(map.results, stored.shape, strict=True)
        ):
            interval = tir.accesses.interval_of(expr, dims)
            if stored.rest(axis) and not interval.is_inside(size):
                raise RefusalError(
                    Refusal(
                        f"expected whole blocks of dimension {axis}, beyond whose end "
                        "is read"
                    )
                )

    def _reads_more(self, map: AffineMap) -> bool:
        """Whether an access is used at points that the nest on tensors has not."""
        used = {d for expr in map.results for d in expr.used_dims()}
        return any(not s.is_whole for d, s in self.splits.items() if d in used)

    def _fill_rests(
        self,
        insert: Insert,
        sizes_of: Callable[[SSAValue], Sequence[Size]],
    ) -> None:
        """Fill what the nest does not write of the last blocks of outputs."""
        for access, map in zip(self.outs, self.out_maps, strict=True):
            stored = self.stored.get(access.value)
            if stored is None or map is None:
                continue
            for axis, expr in enumerate(map.results):
                is_split = any(expr == affine.dim(d) for d in self.splits)
                if stored.rest(axis) and not is_split:
                    sizes = sizes_of(access.value)
                    fill_rest(insert, access.value, stored, sizes, axis)

    # Regions.

    @staticmethod
    def _seen_in_finish(
        kinds: Sequence[str], maps: Sequence[AffineMap | None]
    ) -> list[bool]:
        """Whether `finish` sees each input: no reduction dim is in its access."""
        reduced = {d for d, kind in enumerate(kinds) if kind == "reduction"}
        return [map is None or not reduced & map.used_dims() for map in maps]

    def insert(
        self,
        insert: Insert,
        symbols: Sequence[SSAValue],
        sizes_of: Callable[[SSAValue], Sequence[Size]],
        *,
        finish: RegionCallback,
        init: RegionCallback | None,
        body: RegionCallback | None,
    ) -> None:
        """Insert the nest, with the regions of one on tensors."""
        ins = [
            self._in(insert, access, map)
            for access, map in zip(self.ins, self.in_maps, strict=True)
        ]
        outs = [
            access
            if map is None
            else tir.Out(
                access.value,
                self._map(map, self.stored.get(access.value)),
                access.combine,
            )
            for access, map in zip(self.outs, self.out_maps, strict=True)
        ]
        self._fill_rests(insert, sizes_of)
        now_seen = self._seen_in_finish(
            [kind for kind, _ in self.dims],
            [cast("AffineMap | None", access.map) for access in ins],
        )
        insert(
            tir.NestOp.build_nest(
                self.dims,
                ins=ins,
                outs=outs,
                init=None if init is None else self._region(init),
                body=None if body is None else self._body(body, len(ins)),
                finish=self._finish(finish, now_seen),
                symbols=symbols,
            )
        )

    def _region(self, callback: Callable[..., Yields]) -> Callable[..., Yields]:
        if not self.splits and len(self.dims) == len(self.old_dims):
            return callback

        def renamed(b: tir.RegionBuilder, *args: SSAValue) -> Yields:
            return callback(_Builder(b, self), *args)

        return renamed

    def _body(self, callback: Callable[..., Yields], ins: int) -> Callable[..., Yields]:
        """The body, which leaves accumulators alone beyond the end of a reduction."""
        partial = [] if self.pads_are_neutral else self._partial("reduction")
        inner = self._region(callback)
        if not partial:
            return inner

        def masked(b: tir.RegionBuilder, *args: SSAValue) -> Yields:
            is_point = self._is_point(b, partial)
            new = list(inner(b, *args))
            return [
                b(arith.SelectOp(is_point, value, old))
                for value, old in zip(new, args[ins:], strict=True)
            ]

        return masked

    def _finish(
        self, callback: Callable[..., Yields], now_seen: Sequence[bool]
    ) -> Callable[..., Yields]:
        """The results, and the fill behind the end of what is written."""
        partial = [*self._partial("parallel"), *self._partial("sequential")]
        inner = self._region(self._with_known(callback, now_seen))
        if not partial:
            return inner

        def masked(b: tir.RegionBuilder, *args: SSAValue) -> Yields:
            values = list(inner(b, *args))
            is_point = self._is_point(b, partial)
            for position, access in enumerate(self.outs):
                stored = self.stored[access.value]
                value = values[position]
                fill = b.constant(stored.layout.fill_value, value.type)
                values[position] = b(arith.SelectOp(is_point, value, fill))
            return values

        return masked

    def _with_known(
        self, callback: Callable[..., Yields], now_seen: Sequence[bool]
    ) -> Callable[..., Yields]:
        """`finish` without the inputs that a reduction of one step read before."""
        if list(now_seen) == self.seen_in_finish:
            return callback
        pairs = zip(self.seen_in_finish, now_seen, strict=True)
        keep = [before for before, now in pairs if now]

        def finish(b: tir.RegionBuilder, *args: SSAValue) -> Yields:
            first = len(args) - len(keep)
            kept = [v for v, known in zip(args[first:], keep, strict=True) if known]
            return callback(b, *args[:first], *kept)

        return finish

    def _partial(self, kind: str) -> list[int]:
        return [
            position
            for position, split in self.splits.items()
            if not split.is_whole and self.old_dims[position][0] == kind
        ]

    def _is_point(self, b: tir.RegionBuilder, positions: Sequence[int]) -> SSAValue:
        """Whether the nest on tensors has a point here."""
        found: SSAValue | None = None
        for position in positions:
            index = _Builder(b, self).index(position)
            end = b.constant(self.splits[position].size, IndexType())
            inside = b(arith.CmpiOp(index, end, "ult"))
            found = inside if found is None else b(arith.AndIOp(found, inside))
        assert found is not None, "there are positions"
        return found

    def index(self, b: tir.RegionBuilder, position: int) -> SSAValue:
        """The current index of a dim of the nest on tensors."""
        outer = b.index(self.outer[position])
        split = self.splits.get(position)
        if split is None:
            return outer
        size = b.constant(split.block, IndexType())
        start = b(arith.MuliOp(outer, size))
        return b(arith.AddiOp(start, b.index(self.inner[position])))


def _inside(map: AffineMap, nest: PhysicalNest, shape: Sequence[int]) -> bool:
    """Whether an access stays in a buffer; dimensions of open size are whole."""
    intervals: Sequence[Interval] = nest.intervals
    known = [(e, n) for e, n in zip(map.results, shape, strict=True) if n >= 0]
    part = AffineMap(map.num_dims, map.num_symbols, tuple(e for e, _ in known))
    return is_inside(part, intervals, [n for _, n in known])


class _Builder(tir.RegionBuilder):
    """Asks for the dims of the nest on tensors."""

    def __init__(self, builder: tir.RegionBuilder, nest: PhysicalNest) -> None:
        super().__init__(builder.block)
        self.builder = builder
        self.nest = nest

    def index(self, dim: int) -> SSAValue:
        return self.nest.index(self.builder, dim)
