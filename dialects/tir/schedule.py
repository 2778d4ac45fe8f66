"""
`#tir.schedule`: how a nest or block becomes loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, IntAttr, UnitAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from transom.dialects.tir.attributes import DimKind


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
    pos = parser.pos
    name = parser.parse_optional_identifier() or ""
    if not (name.startswith("d") and name[1:].isascii() and name[1:].isdigit()):
        parser.raise_error("expected a dim such as 'd0'", pos, parser.pos)
    return int(name[1:])


def parse_tile(parser: AttrParser) -> TileAttr:
    dim = parse_dim_name(parser)
    parser.parse_punctuation(":")
    return TileAttr(dim, parser.parse_integer(allow_boolean=False))


@irdl_attr_definition
class ScheduleAttr(ParametrizedAttribute):
    """
    How a nest or block becomes loops. Everything is optional.

    `cache`: tile sizes of dims for caches, outermost first; a dim may stand more than
    once. `register`: how many points of a dim are computed together, each with
    accumulators of its own. `vector`: the dim that becomes the lanes of vectors; if it
    is a reduction dim, lanes are summed apart and together in the end. `unroll`: loops
    to unroll. `parallel`: dims whose loops run on several threads. `order`: the loops
    from outer to inner. `compute_at`: under how many loops of its consumer the nest
    shall be computed.

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
    ) -> ScheduleAttr:
        """Dims are numbers; `vector` is (dim, width)."""

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
        )

    def with_parallel(self, dims: Iterable[int]) -> ScheduleAttr:
        """This schedule with other dims whose loops run on several threads."""
        values = dict(zip(_SCHEDULE_KEYS, self.parameters, strict=True))
        values["parallel"] = ArrayAttr(IntAttr(dim) for dim in dims)
        return ScheduleAttr.new(list(values.values()))

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

    def verify(self) -> None:
        named = {"register": self.register, "unroll": self.unroll}
        for key, tiles in named.items():
            _verify_distinct(key, [tile.dim for tile in tiles])
        _verify_distinct("parallel", self.parallel_dims)
        _verify_distinct("order", self.loop_order)

    def verify_for(self, kinds: Sequence[DimKind]) -> None:
        """Check against the dims of the nest or block that has the schedule."""
        used = {
            "cache": [dim for dim, _ in self.cache_tiles],
            "register": list(self.register_tiles),
            "vector": [self.vector_dim[0]] if self.vector_dim else [],
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
                case IntAttr():
                    entries.append(f"{key} = {value.data}")
                case _:
                    items = [
                        e.text() if isinstance(e, TileAttr) else f"d{e.data}"
                        for e in cast(ArrayAttr[TileAttr | IntAttr], value)
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


_SCHEDULE_KEYS: dict[str, Callable[[AttrParser], Attribute]] = {
    "cache": _parse_tiles,
    "register": _parse_tiles,
    "vector": parse_tile,
    "unroll": _parse_tiles,
    "parallel": _parse_dims,
    "order": _parse_dims,
    "compute_at": _parse_depth,
}


def _verify_distinct(key: str, dims: Sequence[int]) -> None:
    for dim in dims:
        if list(dims).count(dim) > 1:
            raise VerifyException(
                f"schedule: expected each dim once in '{key}', but 'd{dim}' stands "
                f"{list(dims).count(dim)} times"
            )
