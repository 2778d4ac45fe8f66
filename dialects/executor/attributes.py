"""
Attributes of the `executor` dialect: kinds of pools, code, the signature of an entry.
"""

from collections.abc import Iterable, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    StringAttr,
    TensorType,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Data, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum


class PoolKind(StrEnum):
    """What a pool holds, and who provides it."""

    WORKSPACE = "workspace"
    CONSTANTS = "constants"
    IO = "io"


@irdl_attr_definition
class PoolKindAttr(EnumAttribute[PoolKind], SpacedOpaqueSyntaxAttribute):
    """
    What a pool holds.
    """

    name = "executor.pool_kind"


@irdl_attr_definition
class BytesAttr(Data[bytes]):
    """
    Bytes, written as hexadecimal digits.

    ```mlir
    #executor.bytes<"7f454c46">
    ```
    """

    name = "executor.bytes"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> bytes:
        with parser.in_angle_brackets():
            start = parser.pos
            text = parser.parse_str_literal()
            try:
                return bytes.fromhex(text)
            except ValueError:
                parser.raise_error("expected pairs of hexadecimal digits", start)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.data.hex())


def _is_element(type: Attribute) -> bool:
    """Whether arrays can have elements of a type."""
    if isinstance(type, IntegerType):
        return cast("IntegerType", type).width.data in (1, 8, 16, 32, 64)
    floats = BFloat16Type | Float16Type | Float32Type | Float64Type
    return isinstance(type, IndexType | floats)


@irdl_attr_definition
class SignatureAttr(ParametrizedAttribute):
    """
    What a program takes and gives, by name, as its users see it.

    ```mlir
    #executor.signature<(x : tensor<?x3xf32>) -> ("y.0" : tensor<?xf32>)>
    ```
    """

    name = "executor.signature"

    input_names: ArrayAttr[StringAttr]
    input_types: ArrayAttr[TensorType[Attribute]]
    output_names: ArrayAttr[StringAttr]
    output_types: ArrayAttr[TensorType[Attribute]]

    @classmethod
    def get(
        cls,
        inputs: Iterable[tuple[str, TensorType[Attribute]]],
        outputs: Iterable[tuple[str, TensorType[Attribute]]],
    ) -> "SignatureAttr":
        """The signature with these names and types."""
        inputs, outputs = tuple(inputs), tuple(outputs)
        return SignatureAttr(
            ArrayAttr(StringAttr(name) for name, _ in inputs),
            ArrayAttr(type for _, type in inputs),
            ArrayAttr(StringAttr(name) for name, _ in outputs),
            ArrayAttr(type for _, type in outputs),
        )

    @property
    def inputs(self) -> tuple[tuple[str, TensorType[Attribute]], ...]:
        """Names and types of the inputs, in order."""
        return _named(self.input_names, self.input_types)

    @property
    def outputs(self) -> tuple[tuple[str, TensorType[Attribute]], ...]:
        """Names and types of the outputs, in order."""
        return _named(self.output_names, self.output_types)

    def verify(self) -> None:
        for what, names, types in (
            ("input", self.input_names.data, self.input_types.data),
            ("output", self.output_names.data, self.output_types.data),
        ):
            if len(names) != len(types):
                raise VerifyException(
                    f"expected a type for each {what}, but got {len(names)} names and "
                    f"{len(types)} types"
                )
            for i, name in enumerate(names):
                if not name.data:
                    raise VerifyException(f"expected a name of {what} {i}")
                if name in names[:i]:
                    raise VerifyException(f"{what} '{name.data}' is listed twice")
                if not _is_element(types[i].element_type):
                    raise VerifyException(
                        f"expected {what} '{name.data}' to have elements of i1, i8 to "
                        "i64, ui8 to ui64, index, f16, bf16, f32 or f64, but got "
                        f"'{types[i]}'"
                    )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def parse_value() -> tuple[str, TensorType[Attribute]]:
            name = parser.parse_identifier_or_str_literal()
            parser.parse_punctuation(":")
            start = parser.pos
            type = parser.parse_type()
            if not isinstance(type, TensorType):
                parser.raise_error(f"expected a tensor type, but got '{type}'", start)
            return name, cast("TensorType[Attribute]", type)

        parens = parser.Delimiter.PAREN
        with parser.in_angle_brackets():
            inputs = parser.parse_comma_separated_list(parens, parse_value)
            parser.parse_punctuation("->")
            outputs = parser.parse_comma_separated_list(parens, parse_value)
        return cls.get(inputs, outputs).parameters

    def print_parameters(self, printer: Printer) -> None:
        def print_value(value: tuple[str, TensorType[Attribute]]) -> None:
            printer.print_identifier_or_string_literal(value[0])
            printer.print_string(" : ")
            printer.print_attribute(value[1])

        with printer.in_angle_brackets():
            with printer.in_parens():
                printer.print_list(self.inputs, print_value)
            printer.print_string(" -> ")
            with printer.in_parens():
                printer.print_list(self.outputs, print_value)


def _named(
    names: ArrayAttr[StringAttr], types: ArrayAttr[TensorType[Attribute]]
) -> tuple[tuple[str, TensorType[Attribute]], ...]:
    return tuple(
        (name.data, type) for name, type in zip(names.data, types.data, strict=True)
    )
