"""
`#tir.schedule`: how a nest or block becomes loops.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from transom.dialects.tir.attributes import AccessAttr, DimKind

MASKED = "masked"
"""What `edges` may be."""

MAX_DISTANCE = 1 << 30
"""What `prefetch` may ask ahead, in elements."""


@irdl_attr_definition
class TileAttr(ParametrizedAttribute):
    """
    A size along a dim: a tile, a vector width, an unroll factor.

    ```mlir
    #tir.tile<d1 : 16>
    ```
    """

    name = "tir.tile"

    dim_attr: IntAttr = param_def()
    size_attr: IntAttr = param_def()

    def __init__(self, dim: int, size: int):
        super().__init__(IntAttr(dim), IntAttr(size))

    @property
    def dim(self) -> int:
        return self.dim_attr.data

    @property
    def size(self) -> int:
        return self.size_attr.data

    def verify(self) -> None:
        if self.dim < 0:
            raise VerifyException(f"expected a dim of at least 0, but got {self.dim}")
        if self.size < 1:
            raise VerifyException(f"expected a size of at least 1, but got {self.size}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return parse_tile(parser).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.text())

    def text(self) -> str:
        return f"d{self.dim} : {self.size}"


def parse_dim_name(parser: AttrParser) -> int:
    return _parse_number_after(parser, "d")


def parse_input_name(parser: AttrParser) -> int:
    return _parse_number_after(parser, "in")


_NAMED = {"d": "dim", "in": "input"}
"""What a letter and a number name."""


def _parse_number_after(parser: AttrParser, letter: str) -> int:
    pos = parser.pos
    name = parser.parse_optional_identifier() or ""
    number = name.removeprefix(letter)
    if number == name or not (number.isascii() and number.isdigit()):
        article = "an" if letter == "in" else "a"
        parser.raise_error(
            f"expected {article} {_NAMED[letter]} such as '{letter}0'", pos, parser.pos
        )
    return int(number)


def parse_tile(parser: AttrParser) -> TileAttr:
    dim = parse_dim_name(parser)
    parser.parse_punctuation(":")
    return TileAttr(dim, parser.parse_integer(allow_boolean=False))


@irdl_attr_definition
class AheadAttr(ParametrizedAttribute):
    """
    How many elements ahead of what is read of an input memory is asked for.

    ```mlir
    #tir.ahead<in0 : 1024>
    ```
    """

    name = "tir.ahead"

    input_attr: IntAttr = param_def()
    distance_attr: IntAttr = param_def()

    def __init__(self, input: int, distance: int):
        super().__init__(IntAttr(input), IntAttr(distance))

    @property
    def input(self) -> int:
        return self.input_attr.data

    @property
    def distance(self) -> int:
        return self.distance_attr.data

    def verify(self) -> None:
        if self.input < 0:
            raise VerifyException(
                f"expected an input of at least 0, but got {self.input}"
            )
        if not 1 <= self.distance <= MAX_DISTANCE:
            raise VerifyException(
                f"expected a distance of 1 to {MAX_DISTANCE} elements, but got "
                f"{self.distance}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return parse_ahead(parser).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.text())

    def text(self) -> str:
        return f"in{self.input} : {self.distance}"


def parse_ahead(parser: AttrParser) -> AheadAttr:
    position = parse_input_name(parser)
    parser.parse_punctuation(":")
    return AheadAttr(position, parser.parse_integer(allow_boolean=False))


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
    `compute_at`: under how many loops of its consumer the nest shall be computed.
    `pack`: inputs, by position, that are copied into the order in which the loops read
    them. `widen`: inputs that are copied, packed or as they lie, in the wider type that
    they are computed in. `edges = masked`: points that do not fill a vector become one
    all the same, whose other lanes are neither read nor written; otherwise they become
    narrower vectors. `dot`: a reduction dim of which so many points, four of bytes or
    two of i16, are summed by one `tir.dot`. `prefetch`: how many elements ahead of what
    the loops read of an input, in the order of its memory, they ask for memory.

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


def _parse_tiles(parser: AttrParser) -> Attribute:
    return ArrayAttr(
        parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parse_tile(parser)
        )
    )


def _parse_dims(parser: AttrParser) -> Attribute:
    return ArrayAttr(
        IntAttr(dim)
        for dim in parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parse_dim_name(parser)
        )
    )


def _parse_depth(parser: AttrParser) -> Attribute:
    return IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False))


def _parse_inputs(parser: AttrParser) -> Attribute:
    return ArrayAttr(
        IntAttr(position)
        for position in parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parse_input_name(parser)
        )
    )


def _parse_aheads(parser: AttrParser) -> Attribute:
    return ArrayAttr(
        parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parse_ahead(parser)
        )
    )


def _parse_edges(parser: AttrParser) -> Attribute:
    pos = parser.pos
    if parser.parse_optional_keyword(MASKED) is None:
        parser.raise_error(f"expected '{MASKED}'", pos, parser.pos)
    return StringAttr(MASKED)


_SCHEDULE_KEYS: dict[str, Callable[[AttrParser], Attribute]] = {
    "cache": _parse_tiles,
    "register": _parse_tiles,
    "vector": parse_tile,
    "unroll": _parse_tiles,
    "parallel": _parse_dims,
    "order": _parse_dims,
    "compute_at": _parse_depth,
    "pack": _parse_inputs,
    "widen": _parse_inputs,
    "edges": _parse_edges,
    "dot": parse_tile,
    "prefetch": _parse_aheads,
}
_OF_INPUTS = frozenset(("pack", "widen"))


def _verify_distinct(key: str, dims: Sequence[int], letter: str = "d") -> None:
    for dim in dims:
        if list(dims).count(dim) > 1:
            raise VerifyException(
                f"schedule: expected each {_NAMED[letter]} once in '{key}', but "
                f"'{letter}{dim}' stands "
                f"{list(dims).count(dim)} times"
            )
