"""
What a tensor type says beyond shape and element type: symbolic sizes, physical layout,
and the place where the value is stored.

A tensor type has one encoding slot, so the three are one attribute, `#graph.desc`.
"""

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    Float64Type,
    FloatAttr,
    TensorType,
    UnitAttr,
    f64,
)
from xdsl.ir import Attribute, Data, ParametrizedAttribute
from xdsl.irdl import base, irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from transom.dialects.diagnostics import did_you_mean
from transom.dialects.graph.properties import (
    FLOAT,
    INT_LIST,
    IntList,
    float_attr,
    int_list,
)
from transom.dialects.graph.shapes import DYNAMIC, Symbol
from transom.dialects.target import PlaceAttr

AnyTensor = TensorType[Attribute]
ABSENT = UnitAttr()


@irdl_attr_definition
class SymbolAttr(Data[Symbol | None]):
    """
    A symbolic size with its bounds, or `?` for a size without a name.

    ```mlir
    #graph.symbol<"N" : 1 to 8>
    ```
    """

    name = "graph.symbol"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Symbol | None:
        with parser.in_angle_brackets():
            return parse_symbol(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_symbol(printer, self.data)

    def verify(self) -> None:
        if (symbol := self.data) is None:
            return
        if not symbol.name:
            raise VerifyException("expected a symbol with a name")
        lower, upper = symbol.lower or 0, symbol.upper
        if lower < 0 or (upper is not None and upper < lower):
            raise VerifyException(
                f"expected bounds 0 <= lower <= upper, but got '{symbol}'"
            )


def parse_symbol(parser: AttrParser) -> Symbol | None:
    """`"N"`, `"N" : 1 to 8`, `"N" : ? to 8` or `?`."""
    name = parser.parse_optional_str_literal()
    if name is None:
        if parser.parse_optional_punctuation("?") is None:
            parser.raise_error("expected a name in quotes or '?'")
        return None
    if parser.parse_optional_punctuation(":") is None:
        return Symbol(name)
    lower = _parse_bound(parser)
    parser.parse_keyword("to")
    return Symbol(name, lower, _parse_bound(parser))


def _parse_bound(parser: AttrParser) -> int | None:
    if parser.parse_optional_punctuation("?") is not None:
        return None
    return parser.parse_integer(allow_boolean=False)


def print_symbol(printer: Printer, symbol: Symbol | None) -> None:
    """Print what `parse_symbol` reads."""
    if symbol is None:
        printer.print_string("?")
    else:
        printer.print_string_literal(symbol.name)
        printer.print_string(symbol.bounds)


@irdl_attr_definition
class LayoutAttr(ParametrizedAttribute):
    """
    The physical layout of a tensor.

    `block` splits leading dimensions: the first entry is for dimension 0, missing ones
    are 1. A dimension of size `n` with block `b` becomes `ceil(n / b)` blocks, and the
    place inside the block an innermost physical dimension. `border` is for trailing
    dimensions: the last entry is for the last one, missing ones are 0; so many elements
    lie before and behind the data. Border and the rest of the last block hold `fill`.

    ```mlir
    #graph.layout<block = [1, 16], border = [1, 1], fill = 0.0>
    ```
    """

    name = "graph.layout"

    block: IntList = param_def(INT_LIST)
    border: IntList = param_def(INT_LIST)
    fill: FloatAttr[Float64Type] = param_def(FLOAT)

    @classmethod
    def get(
        cls, block: Sequence[int] = (), border: Sequence[int] = (), fill: float = 0.0
    ) -> "LayoutAttr":
        """The layout with these blocks, borders and fill."""
        return LayoutAttr(
            int_list(block),
            int_list(border),
            float_attr(fill),
        )

    def blocks(self, rank: int) -> tuple[int, ...]:
        """The block size of each of `rank` dimensions."""
        values = self.block.get_values()
        return values + (1,) * (rank - len(values))

    def borders(self, rank: int) -> tuple[int, ...]:
        """The border of each of `rank` dimensions."""
        values = self.border.get_values()
        return (0,) * (rank - len(values)) + values

    @property
    def fill_value(self) -> float:
        """What border and incomplete blocks hold."""
        return self.fill.value.data

    def physical_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """
        The extents in memory of a tensor of this shape: blocks and what is between
        blocks, then the insides of blocks.
        """
        rank = len(shape)
        blocks, borders = self.blocks(rank), self.borders(rank)
        outer = (
            size if size == DYNAMIC else -(-(size + 2 * border) // block)
            for size, block, border in zip(shape, blocks, borders, strict=True)
        )
        return (*outer, *(block for block in blocks if block > 1))

    def verify(self) -> None:
        for block in self.block.get_values():
            if block < 1:
                raise VerifyException(f"expected blocks of 1 or more, but got {block}")
        for border in self.border.get_values():
            if border < 0:
                raise VerifyException(f"expected borders >= 0, but got {border}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        layout: dict[str, Any] = {}

        def entry() -> None:
            key = _parse_key(parser, ("block", "border", "fill"), layout, cls.name)
            if key == "fill":
                layout[key] = _parse_float(parser)
            else:
                layout[key] = parser.parse_comma_separated_list(
                    parser.Delimiter.SQUARE, parser.parse_integer
                )

        parser.parse_optional_comma_separated_list(parser.Delimiter.ANGLE, entry)
        return cls.get(**layout).parameters

    def print_parameters(self, printer: Printer) -> None:
        separator = ""
        with printer.in_angle_brackets():
            for key, values in (("block", self.block), ("border", self.border)):
                if len(values):
                    entries = ", ".join(str(value) for value in values.get_values())
                    printer.print_string(f"{separator}{key} = [{entries}]")
                    separator = ", "
            if self.fill_value or not separator:
                printer.print_string(f"{separator}fill = ")
                printer.print_float(self.fill_value, f64)


def _parse_float(parser: AttrParser) -> float:
    """A number, or the bits of one in hexadecimal, as infinities are printed."""
    is_bits = parser.lexer.input.content.startswith("0x", parser.pos)
    number = parser.parse_number()
    if is_bits and isinstance(number, int):
        return struct.unpack("<d", struct.pack("<Q", number))[0]
    return float(number)


def _parse_key(
    parser: AttrParser, keys: Sequence[str], seen: dict[str, Any], what: str
) -> str:
    start = parser.pos
    key = parser.parse_identifier()
    if key not in keys:
        parser.raise_error(
            f"unknown key '{key}' of '#{what}'{did_you_mean(key, keys)}", start
        )
    if key in seen:
        parser.raise_error(f"expected one '{key}' in '#{what}'", start)
    parser.parse_punctuation("=")
    return key


@irdl_attr_definition
class DescAttr(ParametrizedAttribute):
    """
    The encoding of a tensor: names of its dynamic sizes in order, layout, place.

    ```mlir
    #graph.desc<dims = ["N" : 1 to 8, ?], layout = #graph.layout<block = [1, 16]>>
    ```
    """

    name = "graph.desc"

    dims: ArrayAttr[SymbolAttr] = param_def(ArrayAttr.constr(base(SymbolAttr)))
    layout_field: Attribute = param_def(base(LayoutAttr) | base(UnitAttr))
    place_field: Attribute = param_def(base(PlaceAttr) | base(UnitAttr))

    @classmethod
    def get(
        cls,
        symbols: Sequence[Symbol | None] = (),
        layout: LayoutAttr | None = None,
        place: PlaceAttr | None = None,
    ) -> "DescAttr":
        """The description with one symbol per dynamic dimension, or none at all."""
        if all(symbol is None for symbol in symbols):
            symbols = ()
        return DescAttr(
            ArrayAttr([SymbolAttr(symbol) for symbol in symbols]),
            ABSENT if layout is None else layout,
            ABSENT if place is None else place,
        )

    @property
    def symbols(self) -> tuple[Symbol | None, ...]:
        """One entry per dynamic dimension, or none at all."""
        return tuple(dim.data for dim in self.dims.data)

    @property
    def layout(self) -> LayoutAttr | None:
        """The layout, or None for the canonical one."""
        return self.layout_field if isinstance(self.layout_field, LayoutAttr) else None

    @property
    def place(self) -> PlaceAttr | None:
        """Where the value is stored, or None if nothing is said."""
        return self.place_field if isinstance(self.place_field, PlaceAttr) else None

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        desc: dict[str, Any] = {}

        def entry() -> None:
            key = _parse_key(parser, ("dims", "layout", "place"), desc, cls.name)
            start = parser.pos
            if key == "dims":
                desc[key] = parser.parse_comma_separated_list(
                    parser.Delimiter.SQUARE, lambda: parse_symbol(parser)
                )
                return
            desc[key] = parser.parse_attribute()
            kind = LayoutAttr if key == "layout" else PlaceAttr
            if not isinstance(desc[key], kind):
                parser.raise_error(
                    f"expected '#{kind.name}', but got '{desc[key]}'", start
                )

        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, entry)
        return (
            ArrayAttr([SymbolAttr(symbol) for symbol in desc.get("dims", ())]),
            desc.get("layout", ABSENT),
            desc.get("place", ABSENT),
        )

    def print_parameters(self, printer: Printer) -> None:
        separator = ""
        with printer.in_angle_brackets():
            if self.dims.data:
                printer.print_string("dims = ")
                with printer.in_square_brackets():
                    printer.print_list(
                        self.symbols, lambda symbol: print_symbol(printer, symbol)
                    )
                separator = ", "
            for key, value in (("layout", self.layout), ("place", self.place)):
                if value is not None:
                    printer.print_string(f"{separator}{key} = ")
                    printer.print_attribute(value)
                    separator = ", "


def desc_of(type: Attribute) -> DescAttr | None:
    """The description of a tensor type, or None."""
    encoding = type.encoding if isinstance(type, TensorType) else None
    return encoding if isinstance(encoding, DescAttr) else None


def layout_of(type: Attribute) -> LayoutAttr | None:
    """The layout of a tensor type, or None for the canonical one."""
    return None if (desc := desc_of(type)) is None else desc.layout


def why_not_physical(type: AnyTensor) -> str | None:
    """Why no memref has the layout of a tensor type, or None if one has."""
    layout = layout_of(type)
    if layout is None:
        return None
    rank = type.get_num_dims()
    blocks, borders = layout.block.get_values(), layout.border.get_values()
    if max(len(blocks), len(borders)) > rank:
        return f"expected a layout of {rank} dimensions, but got '{type}'"
    for size, block, border in zip(
        type.get_shape(), layout.blocks(rank), layout.borders(rank), strict=True
    ):
        if size == DYNAMIC and (block > 1 or border):
            return f"expected a known size under blocks and borders, but got '{type}'"
        if block > 1 and border:
            return f"expected blocks and borders on different dims, but got '{type}'"
    return None


def physical_type(type: AnyTensor) -> AnyTensor:
    """
    The tensor type without a layout whose elements are those in memory. The layout is
    one that memrefs have: see `why_not_physical`.
    """
    layout = layout_of(type)
    if layout is None:
        return type
    symbols = dim_symbols(type)
    shape = layout.physical_shape(type.get_shape())
    return tensor(
        shape,
        type.element_type,
        (*symbols, *(None,) * (len(shape) - len(symbols))),
        place=place_of(type),
    )


def place_of(type: Attribute) -> PlaceAttr | None:
    """Where values of a tensor type are stored, or None if nothing is said."""
    return None if (desc := desc_of(type)) is None else desc.place


def check_names(type: AnyTensor) -> None:
    """Check that a tensor type names as many sizes as it leaves open, or none."""
    if isinstance(type.encoding, DescAttr) and type.encoding.dims.data:
        dim_symbols(type)


def dim_symbols(type: AnyTensor) -> tuple[Symbol | None, ...]:
    """One entry per dimension: its symbol, or None if it is static or has no name."""
    desc = desc_of(type)
    shape = type.get_shape()
    if desc is None or not desc.dims.data:
        return (None,) * len(shape)
    symbols = desc.symbols
    if len(symbols) != shape.count(DYNAMIC):
        raise VerifyException(
            f"expected one entry of 'dims' per '?', but got {len(symbols)} for '{type}'"
        )
    rest = iter(symbols)
    return tuple(next(rest) if size == DYNAMIC else None for size in shape)


def tensor(
    shape: Sequence[int | str | Symbol | None],
    element_type: Attribute,
    symbols: Sequence[Symbol | str | None] | None = None,
    *,
    layout: LayoutAttr | None = None,
    place: PlaceAttr | None = None,
) -> AnyTensor:
    """
    A tensor type.

    An entry of `shape` is a size; None, -1 or `DYNAMIC` for an unknown one; or the name
    or `Symbol` of one. `symbols` may name the dynamic dimensions instead, in order or,
    with as many entries as the shape, one per dimension.
    """
    sizes: list[int] = []
    names: list[Symbol | None] = []
    given = _symbols_per_dimension(shape, symbols)
    for entry, symbol in zip(shape, given, strict=True):
        if isinstance(entry, int) and entry >= 0:
            sizes.append(entry)
            continue
        sizes.append(DYNAMIC)
        named = entry if isinstance(entry, str | Symbol) else symbol
        names.append(Symbol(named) if isinstance(named, str) else named)
    return _tensor_type(tuple(sizes), element_type, tuple(names), layout, place)


@lru_cache(maxsize=4096)
def _tensor_type(
    sizes: tuple[int, ...],
    element_type: Attribute,
    names: tuple[Symbol | None, ...],
    layout: LayoutAttr | None,
    place: PlaceAttr | None,
) -> AnyTensor:
    """
    The type of some parts, one object for all who ask: each op infers its types when it
    is made and when it is verified, and a type takes longer to make than to find.
    """
    if not any(names) and layout is None and place is None:
        return TensorType(element_type, sizes)
    return TensorType(element_type, sizes, DescAttr.get(names, layout, place))


def _symbols_per_dimension(
    shape: Sequence[int | str | Symbol | None],
    symbols: Sequence[Symbol | str | None] | None,
) -> Sequence[Symbol | str | None]:
    if not symbols:
        return (None,) * len(shape)
    if len(symbols) == len(shape):
        return symbols
    rest = iter(symbols)
    return [
        None if isinstance(entry, int) and entry >= 0 else next(rest) for entry in shape
    ]


def with_desc(
    type: AnyTensor, *, layout: LayoutAttr | None, place: PlaceAttr | None
) -> AnyTensor:
    """The tensor type with another layout and place, and the same sizes."""
    return tensor(
        type.get_shape(),
        type.element_type,
        dim_symbols(type),
        layout=layout,
        place=place,
    )
