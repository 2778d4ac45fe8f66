"""
The entries of `#tir.schedule`: tiles of dims, distances of inputs, and how lists of
them are read.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

MASKED = "masked"
"""What `edges` may be."""

MAX_DISTANCE = 1 << 30
"""What `prefetch` may ask ahead, in elements."""

MAX_SIZE = 1 << 30
"""The largest tile, in points."""

MAX_WRITTEN_OUT = 1024
"""How many times loops may hold what one point, or one vector of them, computes."""

MAX_LANES = 4096


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
        if not 1 <= self.size <= MAX_SIZE:
            raise VerifyException(
                f"expected a size of 1 to {MAX_SIZE}, but got {self.size}"
            )

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


NAMED = {"d": "dim", "in": "input"}
"""What a letter and a number name."""


def _parse_number_after(parser: AttrParser, letter: str) -> int:
    pos = parser.pos
    name = parser.parse_optional_identifier() or ""
    number = name.removeprefix(letter)
    if number == name or not (number.isascii() and number.isdigit()):
        article = "an" if letter == "in" else "a"
        parser.raise_error(
            f"expected {article} {NAMED[letter]} such as '{letter}0'", pos, parser.pos
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


def parse_tiles(parser: AttrParser) -> Attribute:
    return ArrayAttr(
        parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parse_tile(parser)
        )
    )


def parse_dims(parser: AttrParser) -> Attribute:
    return ArrayAttr(
        IntAttr(dim)
        for dim in parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parse_dim_name(parser)
        )
    )


def parse_depth(parser: AttrParser) -> Attribute:
    pos = parser.pos
    depth = parser.parse_integer(allow_boolean=False)
    if depth < 0:
        parser.raise_error(
            f"expected a number of loops of at least 0, but got {depth}",
            pos,
            parser.pos,
        )
    return IntAttr(depth)


def parse_inputs(parser: AttrParser) -> Attribute:
    return ArrayAttr(
        IntAttr(position)
        for position in parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parse_input_name(parser)
        )
    )


def parse_aheads(parser: AttrParser) -> Attribute:
    return ArrayAttr(
        parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parse_ahead(parser)
        )
    )


def parse_edges(parser: AttrParser) -> Attribute:
    pos = parser.pos
    if parser.parse_optional_keyword(MASKED) is None:
        parser.raise_error(f"expected '{MASKED}'", pos, parser.pos)
    return StringAttr(MASKED)
