"""
The part of the parser that reads floats and `dense<…>`: in less time and memory than
xDSL's, with the bits of floats, and with limits.
"""

import math
import struct
from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    AnyDenseElement,
    AnyFloat,
    ComplexType,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    RankedStructure,
    TensorType,
)
from xdsl.ir import Attribute
from xdsl.parser import AttrParser, Parser
from xdsl.utils.lexer import Span

from transom.dialects.dense_splat import compact, splat

MAX_DENSE_BYTES = 1 << 28
"""Size of `dense<…>` but for splats; more belongs into a file of weights."""

MAX_DENSE_WIDTH = 64
"""Bits of the integers in a `dense<…>` literal."""


class DenseParser(Parser):
    """Reads numbers; errors are those of the parser derived from it."""

    def parse_float(self, *, allow_negative: bool = True) -> float:
        """A float, or the bits of one that is infinite or no number."""
        digits = self._current_token.text.removeprefix("0x")
        layout = {16: ">d", 8: ">f"}.get(len(digits))
        if layout is None or len(digits) == len(self._current_token.text):
            return super().parse_float(allow_negative=allow_negative)
        bits = self.parse_integer(allow_boolean=False, allow_negative=False)
        return struct.unpack(layout, bits.to_bytes(len(digits) // 2, "big"))[0]

    # Dense literals

    # The class has no public name: xDSL's parser makes what `self` calls so.
    class _TensorLiteralElement(
        Parser._TensorLiteralElement  # pyright: ignore[reportPrivateUsage]
    ):
        """An element that may give the bits of a float, such as `0x7FC00000`."""

        def to_type(
            self,
            parser: AttrParser,
            type: AnyFloat | IntegerType | IndexType | ComplexType,
        ) -> float | int | tuple[float, float] | tuple[int, int]:
            if isinstance(type, AnyFloat) and self.span.text[:2] in ("0x", "0X"):
                return _float_of_bits(parser, cast(int, self.value), self.span, type)
            return super().to_type(parser, type)

    def parse_dense_int_or_fp_elements_attr(
        self, type: RankedStructure[AnyDenseElement] | None
    ) -> DenseIntOrFPElementsAttr:
        start = self.pos
        if type is not None:
            self._refuse_wide_elements(type, start)
        value = self._parse_optional_splat(type)
        if value is not None:
            return value
        self._resume_from(start)
        return compact(super().parse_dense_int_or_fp_elements_attr(type))

    def _parse_optional_splat(
        self, type: RankedStructure[AnyDenseElement] | None
    ) -> DenseIntOrFPElementsAttr | None:
        """`dense<1.0> : tensor<…>`; xDSL's parser makes a list of all elements."""
        self.parse_punctuation("<", " in dense attribute")
        scalar = self._parse_optional_bool_int_or_float()
        if scalar is None or self.parse_optional_punctuation(">") is None:
            return None
        value, span = scalar
        if type is None:
            self.parse_punctuation(":", " in dense attribute")
            start = self.pos
            type = super()._parse_dense_literal_type()
            self._refuse_wide_elements(type, start)
        if isinstance(type.element_type, ComplexType):
            self.raise_error("expected complex values, such as (0.0, 1.0)", span)
        element = self._TensorLiteralElement(value < 0, value, span)
        one = TensorType(type.element_type, (1,))
        try:
            packed = cast(_MakeDense, DenseIntOrFPElementsAttr.from_list)(
                one, (element.to_type(self, type.element_type),)
            )
            return splat(type, packed.data.data)
        except (OverflowError, ValueError, struct.error):
            self.raise_error(
                f"expected a value of '{type.element_type}', but got {value}", span
            )

    def _parse_dense_literal_type(self) -> RankedStructure[AnyDenseElement]:
        start = self.pos
        type = super()._parse_dense_literal_type()
        self._refuse_wide_elements(type, start)
        size = math.prod(type.get_shape()) * type.element_type.compile_time_size
        if size > MAX_DENSE_BYTES:
            self.raise_error(
                f"expected at most {MAX_DENSE_BYTES} bytes of elements that differ, "
                f"but got {size}",
                start,
            )
        return type

    def _refuse_wide_elements(
        self, type: RankedStructure[AnyDenseElement], start: int
    ) -> None:
        element = cast(Attribute, type.element_type)
        if isinstance(element, ComplexType):
            element = cast("ComplexType[AnyFloat | IntegerType]", element).element_type
        is_integer = isinstance(element, IntegerType)
        if is_integer and cast(IntegerType, element).width.data > MAX_DENSE_WIDTH:
            self.raise_error(
                f"expected elements of at most {MAX_DENSE_WIDTH} bits, but got "
                f"'{element}'",
                start,
            )


def _float_of_bits(parser: AttrParser, bits: int, span: Span, type: AnyFloat) -> float:
    """The float with these bits; xDSL would take them for its value."""
    size = type.compile_time_size
    if bits.bit_length() > 8 * size:
        parser.raise_error(
            f"expected the {8 * size} bits of '{type}', but got {span.text}", span
        )
    return type.unpack(bits.to_bytes(size, "little"), 1)[0]


_MakeDense = Callable[
    [RankedStructure[AnyDenseElement], Sequence[object]], DenseIntOrFPElementsAttr
]
