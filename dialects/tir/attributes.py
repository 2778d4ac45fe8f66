"""
Attributes and types of the `tir` dialect: dims and accesses of nests, schedules,
effects of kernel arguments, C structs, tokens of asynchronous copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import auto

from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyFloat,
    ArrayAttr,
    FloatAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    UnitAttr,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Attribute,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    TypeAttribute,
)
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from transom.dialects.tir import affine


class DimKind(StrEnum):
    PARALLEL = auto()
    REDUCTION = auto()
    SEQUENTIAL = auto()


class CombineKind(StrEnum):
    """How a value is folded into what the output holds; `max`, `min` are signed."""

    ADD = auto()
    MUL = auto()
    MAX = auto()
    MIN = auto()
    UMAX = auto()
    UMIN = auto()
    AND = auto()
    OR = auto()


class Effect(StrEnum):
    READ = auto()
    WRITE = auto()
    READ_WRITE = auto()
    SCRATCH = auto()

    @property
    def reads(self) -> bool:
        return self is not Effect.WRITE

    @property
    def writes(self) -> bool:
        return self is not Effect.READ


@irdl_attr_definition
class EffectAttr(EnumAttribute[Effect], SpacedOpaqueSyntaxAttribute):
    """
    What a kernel does with an argument; `scratch` has no content before or after.

    ```mlir
    #tir<effect read_write>
    ```
    """

    name = "tir.effect"


@irdl_attr_definition
class CombineAttr(EnumAttribute[CombineKind], SpacedOpaqueSyntaxAttribute):
    """
    How an output folds a value into what it holds.

    ```mlir
    #tir<combine add>
    ```
    """

    name = "tir.combine"


@irdl_attr_definition
class DimAttr(ParametrizedAttribute):
    """
    One dim of a nest or block; `?` is a bound given by an operand.

    ```mlir
    #tir.dim<reduction 128>
    ```
    """

    name = "tir.dim"

    kind_name: StringAttr = param_def()
    bound: IntAttr | UnitAttr = param_def()

    def __init__(self, kind: DimKind | str, bound: int | None):
        bound_attr = UnitAttr() if bound is None else IntAttr(bound)
        super().__init__(StringAttr(str(kind)), bound_attr)

    @property
    def kind(self) -> DimKind:
        return DimKind(self.kind_name.data)

    @property
    def static_bound(self) -> int | None:
        return self.bound.data if isinstance(self.bound, IntAttr) else None

    def verify(self) -> None:
        if self.kind_name.data not in tuple(DimKind):
            raise VerifyException(
                "expected a dim that is parallel, reduction or sequential, but got "
                f"'{self.kind_name.data}'"
            )
        if (bound := self.static_bound) is not None and bound < 0:
            raise VerifyException(f"expected a bound of at least 0, but got {bound}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            kind = parser.parse_str_enum(DimKind)
            if parser.parse_optional_punctuation("?"):
                return (StringAttr(kind), UnitAttr())
            bound = parser.parse_integer(allow_boolean=False)
            return (StringAttr(kind), IntAttr(bound))

    def print_parameters(self, printer: Printer) -> None:
        bound = self.static_bound
        with printer.in_angle_brackets():
            printer.print_string(f"{self.kind} {'?' if bound is None else bound}")


MapLike = AffineMap | Callable[..., Iterable[AffineExpr | int]]


@irdl_attr_definition
class AccessAttr(ParametrizedAttribute):
    """
    How a nest reads an input or writes an output.

    A map from dims and symbols to indices, or `*`: the indices are computed in the
    regions. `pad` is what an input gives outside the extent, `combine` how an output
    is folded into the existing content.

    ```mlir
    #tir.access<(d0, d1)[s0] -> (d0 * s0 + d1 - 1), pad 0.000000e+00 : f32>
    ```
    """

    name = "tir.access"

    map_attr: AffineMapAttr | UnitAttr = param_def()
    pad_attr: Attribute = param_def()
    combine_attr: CombineAttr | UnitAttr = param_def()

    def __init__(
        self,
        map: AffineMap | None,
        pad: Attribute | None = None,
        combine: CombineKind | str | None = None,
    ):
        super().__init__(
            UnitAttr() if map is None else AffineMapAttr(affine.normalize_map(map)),
            UnitAttr() if pad is None else pad,
            UnitAttr() if combine is None else CombineAttr(CombineKind(combine)),
        )

    @property
    def map(self) -> AffineMap | None:
        """The indices, or None where the access is indirect."""
        return self.map_attr.data if isinstance(self.map_attr, AffineMapAttr) else None

    @property
    def is_indirect(self) -> bool:
        return isinstance(self.map_attr, UnitAttr)

    @property
    def pad(self) -> Attribute | None:
        return None if isinstance(self.pad_attr, UnitAttr) else self.pad_attr

    @property
    def combine(self) -> CombineKind | None:
        attr = self.combine_attr
        return None if isinstance(attr, UnitAttr) else attr.data

    def with_map(self, map: AffineMap) -> AccessAttr:
        return AccessAttr(map, self.pad, self.combine)

    def verify(self) -> None:
        if self.pad is not None:
            if not isinstance(self.pad, IntegerAttr | FloatAttr):
                raise VerifyException(
                    f"expected a number as pad value, but got '{self.pad}'"
                )
            if self.is_indirect:
                raise VerifyException("expected no pad value for an indirect access")
        if self.map is None:
            return
        for expr in self.map.results:
            if reason := affine.why_illegal(expr):
                raise VerifyException(reason)
            if any(dim >= self.map.num_dims for dim in expr.used_dims()):
                raise VerifyException(
                    f"expected dims below d{self.map.num_dims}, but got "
                    f"'{affine.text(expr)}'"
                )
            if any(s >= self.map.num_symbols for s in affine.used_symbols(expr)):
                raise VerifyException(
                    f"expected symbols below s{self.map.num_symbols}, but got "
                    f"'{affine.text(expr)}'"
                )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            map = None if parser.parse_optional_punctuation("*") else _parse_map(parser)
            pad: Attribute | None = None
            combine: CombineKind | None = None
            while parser.parse_optional_punctuation(","):
                if parser.parse_keyword_in(("pad", "combine")) == "pad":
                    pad = parser.parse_attribute()
                else:
                    combine = parser.parse_str_enum(CombineKind)
        return cls(map, pad, combine).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string("*" if self.map is None else map_text(self.map))
            if self.pad is not None:
                printer.print_string(", pad ")
                printer.print_attribute(self.pad)
            if self.combine is not None:
                printer.print_string(f", combine {self.combine}")


def map_text(map: AffineMap) -> str:
    """`map` as `#tir.access` prints it: `(d0, d1)[s0] -> (d0 * s0 + d1)`."""
    dims = ", ".join(f"d{i}" for i in range(map.num_dims))
    symbols = ", ".join(f"s{i}" for i in range(map.num_symbols))
    results = ", ".join(affine.text(expr) for expr in map.results)
    return f"({dims}){f'[{symbols}]' if symbols else ''} -> ({results})"


def _parse_map(parser: AttrParser) -> AffineMap:
    def count(delimiter: AttrParser.Delimiter, letter: str) -> int:
        names = parser.parse_optional_comma_separated_list(
            delimiter, parser.parse_identifier
        )
        if names is None:
            return 0
        if names != [f"{letter}{i}" for i in range(len(names))]:
            parser.raise_error(f"expected the names {letter}0, {letter}1, …")
        return len(names)

    num_dims = count(parser.Delimiter.PAREN, "d")
    num_symbols = count(parser.Delimiter.SQUARE, "s")
    parser.parse_punctuation("->")
    results = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN,
        lambda: affine.parse_expr(parser, num_dims, num_symbols),
    )
    return AffineMap(num_dims, num_symbols, tuple(results))


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
    accumulators of its own. `vector`: the dim that becomes the lanes of vectors.
    `unroll`: loops to unroll. `parallel`: dims whose loops run on several threads.
    `order`: the loops from outer to inner. `compute_at`: under how many loops of its
    consumer the nest shall be computed.

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
        for key in ("register", "vector", "parallel"):
            for dim in used[key]:
                if kinds[dim] is not DimKind.PARALLEL:
                    raise VerifyException(
                        f"schedule: expected parallel dims in '{key}', but 'd{dim}' "
                        f"is {kinds[dim]}"
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
                    assert isinstance(value, ArrayAttr), "the list above is whole"
                    items = [
                        e.text() if isinstance(e, TileAttr) else f"d{e.data}"
                        for e in value.data
                        if isinstance(e, TileAttr | IntAttr)
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


@irdl_attr_definition
class StructType(ParametrizedAttribute, TypeAttribute):
    """
    A C struct that an external function takes, by value or by pointer.

    ```mlir
    !tir.struct<"ctx", (memref<64xi8>, i32)>
    ```
    """

    name = "tir.struct"

    struct_name: StringAttr = param_def()
    fields: ArrayAttr[Attribute] = param_def()

    @staticmethod
    def get(name: str, fields: Iterable[Attribute]) -> StructType:
        return StructType(StringAttr(name), ArrayAttr(fields))

    def verify(self) -> None:
        if not self.struct_name.data.isidentifier():
            raise VerifyException(
                f"expected a C name, but got '{self.struct_name.data}'"
            )
        for position, field in enumerate(self.fields):
            if not is_c_type(field):
                raise VerifyException(
                    "expected a number, memref or struct as field "
                    f"{position}, but got '{field}'"
                )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            name = parser.parse_str_literal()
            parser.parse_punctuation(",")
            fields = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, parser.parse_type
            )
        return (StringAttr(name), ArrayAttr(fields))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.struct_name.data)
            printer.print_string(", ")
            with printer.in_parens():
                printer.print_list(self.fields, printer.print_attribute)


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute):
    """
    A copy under way, to be waited for once.

    ```mlir
    !tir.token
    ```
    """

    name = "tir.token"


def is_number(type: Attribute) -> bool:
    return isinstance(type, IntegerType | IndexType | AnyFloat)


def is_c_type(type: Attribute) -> bool:
    """Whether a C function may take it: a number, a memref (its address), a struct."""
    return is_number(type) or isinstance(type, MemRefType | StructType)
