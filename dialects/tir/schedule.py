"""
`#tir.schedule`: how a nest or block becomes loops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from transom.dialects.tir.attributes import AccessAttr, DimKind
from transom.dialects.tir.schedule_entries import (
    MASKED,
    MAX_LANES,
    MAX_WRITTEN_OUT,
    NAMED,
    AheadAttr,
    TileAttr,
    parse_aheads,
    parse_depth,
    parse_dims,
    parse_edges,
    parse_inputs,
    parse_tile,
    parse_tiles,
)


@irdl_attr_definition
class ScheduleAttr(ParametrizedAttribute):
    """
    How a nest or block becomes loops. Everything is optional.

    `cache`: tile sizes of parallel dims for caches, outermost first; a dim may stand
    more than once. `register`: how many points of a dim are computed together, each
    with accumulators of its own. `vector`: the dim that becomes the lanes of vectors;
    if it is a reduction dim, lanes are summed apart and together in the end. `unroll`:
    loops to unroll, none of parallel dims. `parallel`: parallel dims whose loops run on
    several threads, if `tir.threads` of the kernel says so. `order`: the loops from
    outer to inner, those of parallel dims first and the others as they are numbered.
    `compute_at`: under how many loops of the nest that reads it the nest is computed.
    `pack`: inputs, by position, that are copied into the order in which the loops read
    them. `widen`: inputs that are copied, packed or as they lie, in the wider type that
    they are computed in. `edges = masked`: points that do not fill a vector become one
    all the same, whose other lanes are neither read nor written; otherwise they become
    narrower vectors. `dot`: a reduction dim of which so many points, four of bytes or
    two of i16, are summed by one `tir.dot`. `prefetch`: how many elements ahead of what
    the loops read of an input, in the order of its memory, they ask for memory.
    `register` and `unroll` write out at most 1024 points or vectors.

    ```mlir
    #tir.schedule<register = [d0 : 4], vector = d1 : 16, parallel = [d0]>
    ```
    """

    name = "tir.schedule"

    cache: ArrayAttr[TileAttr] = param_def()
    register: ArrayAttr[TileAttr] = param_def()
    vector: TileAttr | UnitAttr = param_def()
    unroll: ArrayAttr[TileAttr] = param_def()
    parallel: ArrayAttr[IntAttr] = param_def()
    order: ArrayAttr[IntAttr] = param_def()
    compute_at: IntAttr | UnitAttr = param_def()
    pack: ArrayAttr[IntAttr] = param_def()
    widen: ArrayAttr[IntAttr] = param_def()
    edges: StringAttr | UnitAttr = param_def()
    dot: TileAttr | UnitAttr = param_def()
    prefetch: ArrayAttr[AheadAttr] = param_def()

    @staticmethod
    def get(
        *,
        cache: Iterable[tuple[int, int]] = (),
        register: Mapping[int, int] | None = None,
        vector: tuple[int, int] | None = None,
        unroll: Mapping[int, int] | None = None,
        parallel: Iterable[int] = (),
        order: Iterable[int] = (),
        compute_at: int | None = None,
        pack: Iterable[int] = (),
        widen: Iterable[int] = (),
        masked_edges: bool = False,
        dot: tuple[int, int] | None = None,
        prefetch: Mapping[int, int] | None = None,
    ) -> ScheduleAttr:
        """
        Dims and inputs are numbers; `vector` is (dim, width), `dot` (dim, points),
        `prefetch` the elements ahead for each input.
        """

        def tiles(sizes: Iterable[tuple[int, int]]) -> ArrayAttr[TileAttr]:
            return ArrayAttr(TileAttr(dim, size) for dim, size in sizes)

        return ScheduleAttr(
            tiles(cache),
            tiles((register or {}).items()),
            TileAttr(*vector) if vector else UnitAttr(),
            tiles((unroll or {}).items()),
            ArrayAttr(IntAttr(dim) for dim in parallel),
            ArrayAttr(IntAttr(dim) for dim in order),
            UnitAttr() if compute_at is None else IntAttr(compute_at),
            ArrayAttr(IntAttr(position) for position in pack),
            ArrayAttr(IntAttr(position) for position in widen),
            StringAttr(MASKED) if masked_edges else UnitAttr(),
            TileAttr(*dot) if dot else UnitAttr(),
            ArrayAttr(AheadAttr(*ahead) for ahead in (prefetch or {}).items()),
        )

    def steps_of_loops(self, kinds: Sequence[DimKind]) -> list[tuple[int, int]]:
        """
        The loops over parallel dims that this makes of a nest or block with dims of
        these kinds, outermost first: each a dim, and how many points it goes on by.
        """
        tiles = self.register_tiles
        if self.vector_dim is not None:
            dim, width = self.vector_dim
            tiles[dim] = max(width, tiles.get(dim, 1))
        order = self.loop_order or range(len(kinds))
        parallel = [dim for dim in order if kinds[dim] is DimKind.PARALLEL]
        return [*self.cache_tiles, *((dim, tiles.get(dim, 1)) for dim in parallel)]

    def with_parallel(self, dims: Iterable[int]) -> ScheduleAttr:
        """This schedule with other dims whose loops run on several threads."""
        return self._replaced(parallel=ArrayAttr(IntAttr(dim) for dim in dims))

    @property
    def cache_tiles(self) -> tuple[tuple[int, int], ...]:
        return tuple((tile.dim, tile.size) for tile in self.cache)

    @property
    def register_tiles(self) -> dict[int, int]:
        return {tile.dim: tile.size for tile in self.register}

    @property
    def vector_dim(self) -> tuple[int, int] | None:
        """The dim and the width."""
        vector = self.vector
        return None if isinstance(vector, UnitAttr) else (vector.dim, vector.size)

    @property
    def dot_dim(self) -> tuple[int, int] | None:
        """The dim and how many points of it are summed at once."""
        dot = self.dot
        return None if isinstance(dot, UnitAttr) else (dot.dim, dot.size)

    @property
    def unroll_factors(self) -> dict[int, int]:
        return {tile.dim: tile.size for tile in self.unroll}

    @property
    def parallel_dims(self) -> tuple[int, ...]:
        return tuple(dim.data for dim in self.parallel)

    @property
    def loop_order(self) -> tuple[int, ...]:
        return tuple(dim.data for dim in self.order)

    @property
    def compute_at_depth(self) -> int | None:
        depth = self.compute_at
        return None if isinstance(depth, UnitAttr) else depth.data

    @property
    def packed_inputs(self) -> tuple[int, ...]:
        return tuple(position.data for position in self.pack)

    @property
    def widened_inputs(self) -> tuple[int, ...]:
        return tuple(position.data for position in self.widen)

    @property
    def has_masked_edges(self) -> bool:
        return not isinstance(self.edges, UnitAttr)

    @property
    def prefetch_distances(self) -> dict[int, int]:
        """For inputs, by position, how many elements ahead memory is asked for."""
        return {ahead.input: ahead.distance for ahead in self.prefetch}

    def of_inner_loops(
        self, cache_tiles: int, kept: Sequence[int], parallel: Collection[int]
    ) -> ScheduleAttr:
        """
        What is left of this where the outermost loops are those of a block: without the
        first cache tiles, the dims that are not `kept`, and `parallel` of those that
        are no more. Points are summed at once in lanes only.
        """
        numbers = {dim: number for number, dim in enumerate(kept)}

        def tiles(all: Iterable[TileAttr]) -> ArrayAttr[TileAttr]:
            return ArrayAttr(
                TileAttr(numbers[tile.dim], tile.size)
                for tile in all
                if tile.dim in numbers
            )

        def dims(all: Iterable[int]) -> ArrayAttr[IntAttr]:
            return ArrayAttr(IntAttr(numbers[dim]) for dim in all if dim in numbers)

        def one(tile: TileAttr | UnitAttr) -> TileAttr | UnitAttr:
            left = () if isinstance(tile, UnitAttr) else tiles([tile]).data
            return left[0] if left else UnitAttr()

        vector = one(self.vector)
        return self._replaced(
            cache=tiles(self.cache.data[cache_tiles:]),
            register=tiles(self.register),
            vector=vector,
            unroll=tiles(self.unroll),
            parallel=dims(dim for dim in self.parallel_dims if dim in parallel),
            order=dims(self.loop_order),
            dot=vector if isinstance(vector, UnitAttr) else one(self.dot),
        )

    def without_compute_at(self) -> ScheduleAttr:
        """What is left to do where the nest is computed."""
        return self._replaced(compute_at=UnitAttr())

    def without_inputs(self, dropped: Collection[int]) -> ScheduleAttr:
        """What is left for a nest without some of its inputs; the others move up."""

        def moved(position: int) -> int:
            return position - sum(other < position for other in dropped)

        return self._replaced(
            pack=ArrayAttr(
                IntAttr(moved(p)) for p in self.packed_inputs if p not in dropped
            ),
            widen=ArrayAttr(
                IntAttr(moved(p)) for p in self.widened_inputs if p not in dropped
            ),
            prefetch=ArrayAttr(
                AheadAttr(moved(p), distance)
                for p, distance in self.prefetch_distances.items()
                if p not in dropped
            ),
        )

    def without_copies(self) -> ScheduleAttr:
        """What is left to do once the inputs are packed and widened."""
        none = ArrayAttr[IntAttr](())
        return self._replaced(pack=none, widen=none)

    def _replaced(self, **values: Attribute) -> ScheduleAttr:
        own = dict(zip(_SCHEDULE_KEYS, self.parameters, strict=True))
        return ScheduleAttr.new(list((own | values).values()))

    def verify(self) -> None:
        named = {"register": self.register, "unroll": self.unroll}
        for key, tiles in named.items():
            _verify_distinct(key, [tile.dim for tile in tiles])
        _verify_distinct("parallel", self.parallel_dims)
        _verify_distinct("order", self.loop_order)
        _verify_distinct("pack", self.packed_inputs, "in")
        _verify_distinct("widen", self.widened_inputs, "in")
        _verify_distinct("prefetch", [a.input for a in self.prefetch], "in")
        self._verify_written_out()

    def _verify_written_out(self) -> None:
        """Whether the loops stay short: compiling takes as long as they are."""
        dim, width = self.vector_dim or (None, 1)
        if width > MAX_LANES:
            raise VerifyException(
                f"schedule: expected at most {MAX_LANES} lanes in 'vector', but got "
                f"{width}"
            )
        tiles = (
            -(-size // width) if other == dim else size
            for other, size in self.register_tiles.items()
        )
        times = math.prod((*tiles, *self.unroll_factors.values()))
        if times > MAX_WRITTEN_OUT:
            raise VerifyException(
                "schedule: expected 'register' and 'unroll' to write out at most "
                f"{MAX_WRITTEN_OUT} points or vectors, but got {times}; 'cache' makes "
                "loops over larger tiles"
            )

    def verify_for(
        self, kinds: Sequence[DimKind], ins: Sequence[AccessAttr] = ()
    ) -> None:
        """Check against the dims and inputs of the nest or block that has it."""
        of_inputs = {
            "pack": self.packed_inputs,
            "widen": self.widened_inputs,
            "prefetch": tuple(self.prefetch_distances),
        }
        for key, positions in of_inputs.items():
            for position in positions:
                if position >= len(ins):
                    raise VerifyException(
                        f"schedule: expected inputs below in{len(ins)} in '{key}', but "
                        f"got 'in{position}'"
                    )
                if ins[position].is_indirect:
                    raise VerifyException(
                        f"schedule: expected inputs with a map in '{key}', but "
                        f"'in{position}' is indirect"
                    )
        used = {
            "cache": [dim for dim, _ in self.cache_tiles],
            "register": list(self.register_tiles),
            "vector": [self.vector_dim[0]] if self.vector_dim else [],
            "dot": [self.dot_dim[0]] if self.dot_dim else [],
            "unroll": list(self.unroll_factors),
            "parallel": list(self.parallel_dims),
            "order": list(self.loop_order),
        }
        for key, dims in used.items():
            for dim in dims:
                if dim >= len(kinds):
                    raise VerifyException(
                        f"schedule: expected dims below d{len(kinds)} in '{key}', "
                        f"but got 'd{dim}'"
                    )
        for dim in used["parallel"]:
            if kinds[dim] is not DimKind.PARALLEL:
                raise VerifyException(
                    f"schedule: expected parallel dims in 'parallel', but 'd{dim}' is "
                    f"{kinds[dim]}"
                )
        for dim in used["vector"]:
            if kinds[dim] is DimKind.SEQUENTIAL:
                raise VerifyException(
                    "schedule: expected a parallel or reduction dim in 'vector', but "
                    f"'d{dim}' is {kinds[dim]}"
                )
        self._verify_dot(kinds)
        for dim in used["register"]:
            if kinds[dim] is not DimKind.PARALLEL and dim not in used["vector"]:
                raise VerifyException(
                    "schedule: expected parallel dims, or the one of 'vector', in "
                    f"'register', but 'd{dim}' is {kinds[dim]}"
                )
        if self.loop_order and len(self.loop_order) != len(kinds):
            raise VerifyException(
                f"schedule: expected all {len(kinds)} dims in 'order', but got "
                f"{len(self.loop_order)}"
            )

    def _verify_dot(self, kinds: Sequence[DimKind]) -> None:
        if self.dot_dim is None:
            return
        dim, size = self.dot_dim
        if kinds[dim] is not DimKind.REDUCTION:
            raise VerifyException(
                f"schedule: expected a reduction dim in 'dot', but 'd{dim}' is "
                f"{kinds[dim]}"
            )
        if size not in (2, 4):
            raise VerifyException(
                f"schedule: expected 2 or 4 points in 'dot', but got {size}"
            )
        if self.vector_dim is None or self.vector_dim[0] == dim:
            raise VerifyException(
                f"schedule: expected lanes along another dim than 'd{dim}' for 'dot'"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        values: dict[str, Attribute] = {}

        def entry() -> None:
            pos = parser.pos
            key = parser.parse_identifier()
            if key not in _SCHEDULE_KEYS:
                keys = ", ".join(_SCHEDULE_KEYS)
                parser.raise_error(
                    f"unknown schedule entry '{key}'; expected one of {keys}",
                    pos,
                    parser.pos,
                )
            if key in values:
                parser.raise_error(
                    f"schedule entry '{key}' stands twice", pos, parser.pos
                )
            parser.parse_punctuation("=")
            values[key] = _SCHEDULE_KEYS[key](parser)

        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, entry)
        empty = cls.get().parameters
        return tuple(
            values.get(key, default)
            for key, default in zip(_SCHEDULE_KEYS, empty, strict=True)
        )

    def print_parameters(self, printer: Printer) -> None:
        entries: list[str] = []
        for key, value in zip(_SCHEDULE_KEYS, self.parameters, strict=True):
            match value:
                case UnitAttr():
                    continue
                case TileAttr():
                    entries.append(f"{key} = {value.text()}")
                case IntAttr() | StringAttr():
                    entries.append(f"{key} = {value.data}")
                case _:
                    letter = "in" if key in _OF_INPUTS else "d"
                    items = [
                        f"{letter}{e.data}" if isinstance(e, IntAttr) else e.text()
                        for e in cast(ArrayAttr[TileAttr | AheadAttr | IntAttr], value)
                    ]
                    if items:
                        entries.append(f"{key} = [{', '.join(items)}]")
        with printer.in_angle_brackets():
            printer.print_string(", ".join(entries))


_SCHEDULE_KEYS: dict[str, Callable[[AttrParser], Attribute]] = {
    "cache": parse_tiles,
    "register": parse_tiles,
    "vector": parse_tile,
    "unroll": parse_tiles,
    "parallel": parse_dims,
    "order": parse_dims,
    "compute_at": parse_depth,
    "pack": parse_inputs,
    "widen": parse_inputs,
    "edges": parse_edges,
    "dot": parse_tile,
    "prefetch": parse_aheads,
}
_OF_INPUTS = frozenset(("pack", "widen"))


def _verify_distinct(key: str, dims: Sequence[int], letter: str = "d") -> None:
    for dim in dims:
        if list(dims).count(dim) > 1:
            raise VerifyException(
                f"schedule: expected each {NAMED[letter]} once in '{key}', but "
                f"'{letter}{dim}' stands "
                f"{list(dims).count(dim)} times"
            )
