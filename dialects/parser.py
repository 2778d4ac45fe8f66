"""
xDSL's parser, with a place on all that it makes and an error for all that it refuses.

`parse_ir` is what programs call: text in, module out, or an `OpError` with a position.
Bad text never ends in another exception.
"""

import math
import re
import struct
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyDenseElement,
    AnyFloat,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    Float80Type,
    Float128Type,
    FloatAttr,
    IndexType,
    IntAttr,
    IntegerType,
    LocationAttr,
    ModuleOp,
    RankedStructure,
    StringAttr,
    TensorType,
    UnknownLoc,
    UnregisteredAttr,
    UnregisteredOp,
    VectorType,
)
from xdsl.ir import (
    Attribute,
    Block,
    Data,
    Dialect,
    Operation,
    ParametrizedAttribute,
    Region,
    SSAValue,
    TypeAttribute,
)
from xdsl.ir.core import BlockArgument
from xdsl.parser import AttrParser, Parser
from xdsl.utils.exceptions import (
    MultipleSpansParseError,
    ParseError,
    VerifyException,
)
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from transom.dialects.dense_splat import compact, splat
from transom.dialects.diagnostics import (
    Note,
    OpError,
    Position,
    did_you_mean,
    file_location,
)
from transom.dialects.elision import ELIDED, REFUSAL
from transom.dialects.file_resources import (
    ExternalResources,
    parse_external_resources,
)
from transom.dialects.lexer import TransomLexer
from transom.dialects.limits import reason_against_size
from transom.dialects.plugins import PluginError

MAX_DEPTH = 1000
"""Regions, attributes and lists may be nested this deep."""

MAX_INTEGER_WIDTH = (1 << 24) - 1
"""The widest integer type, as in MLIR."""

MAX_DENSE_BYTES = 1 << 28
"""Size of `dense<…>` but for splats; more belongs into a file of weights."""

OPEN_DIALECTS = frozenset({"test"})
"""Registered dialects with ops that need no definition, if unregistered ones may be."""

RECURSION_LIMIT = 60_000
"""Python frames that `MAX_DEPTH` levels may need in a parser, printer or clone."""

_BAD_TEXT = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    RecursionError,
    struct.error,
    TypeError,
    ValueError,
)
"""What parsers of ops and attributes raise on text that they did not think of."""


def parse_ir(
    ctx: Context,
    text: str | bytes,
    name: str = "<stdin>",
    *,
    line_offset: int = 0,
    implicit_module: bool = True,
    resources: ExternalResources | None = None,
) -> ModuleOp:
    """
    Parse the text of a module; text without an op is an empty module.

    `name` and `line_offset`, the number of lines before this text, give the places of
    all ops. `resources` takes the external resources of the file. Raises `OpError`.
    """
    allow_deep_recursion()
    if isinstance(text, bytes):
        text = _decode(text, name, line_offset)
    try:
        parser = TransomParser(ctx, text, name, line_offset=line_offset)
    except ParseError as e:  # of the first token
        raise _positioned(e, line_offset) from None
    parser.external_resources = resources
    try:
        return parser.parse_module(implicit_module)
    except ParseError as e:
        raise _positioned(e, line_offset) from None
    except _BAD_TEXT as e:
        raise OpError(parser.location_at(parser.pos), _describe(e)) from e
    except MemoryError:
        raise OpError(parser.location_at(parser.pos), "out of memory") from None


def allow_deep_recursion() -> None:
    """Let Python recurse as deep as IR of `MAX_DEPTH` levels needs."""
    if sys.getrecursionlimit() < RECURSION_LIMIT:
        sys.setrecursionlimit(RECURSION_LIMIT)


class TransomParser(Parser):
    """
    xDSL's parser, which leaves `loc(unknown)` on ops without a trailing `loc(…)`.

    Raises `ParseError` with a span for syntax, for attributes that do not verify and
    for what exceeds a limit; `parse_ir` takes care of the rest.
    """

    external_resources: ExternalResources | None = None
    """Takes the external resources of the file, if somebody wants them."""

    def __init__(
        self,
        ctx: Context,
        input: str,
        name: str = "<unknown>",
        *,
        line_offset: int = 0,
    ) -> None:
        super().__init__(ctx, "", name)
        lexer = TransomLexer(Input(input, name))
        self._parser_state.lexer = lexer
        self._parser_state.current_token = lexer.lex()
        self._file = StringAttr(name)
        self._line_offset = line_offset
        self._line_starts = [m.end() for m in re.finditer("^", input, re.MULTILINE)]
        self._depth = 0
        self._after_location = -1
        self._said_unknown: set[Operation | SSAValue] = set()
        self._awaited: list[tuple[str, SSAValue]] = []
        self._types: dict[str, TypeAttribute] = {}

    # Places

    def location_at(self, position: int) -> LocationAttr:
        """The location of a position in the text."""
        line = bisect_right(self._line_starts, position)
        column = position - self._line_starts[line - 1] + 1
        return FileLineColLoc(
            self._file, IntAttr(line + self._line_offset), IntAttr(column)
        )

    def parse_optional_location(self) -> LocationAttr | None:
        location = super().parse_optional_location()
        if location is not None:
            self._after_location = self.pos
        return location

    def parse_operation(self) -> Operation:
        start = self.pos
        try:
            op = super().parse_operation()
        except (PluginError, VerifyException) as e:  # of a dialect, of an attribute
            self.raise_error(str(e), start)
        if isinstance(op.location, UnknownLoc):
            if self._after_location == self.pos:
                # Printing with locations parses back to itself.
                self._said_unknown.add(op)
            else:
                op.location = self.location_at(start)
        for region in op.regions:
            for block in region.blocks:
                self._stamp_implicit(block, op.location)
        return op

    def _stamp_implicit(self, block: Block, location: LocationAttr) -> None:
        """What has no text of its own is where its op is."""
        for arg in block.args:
            if isinstance(arg.location, UnknownLoc) and arg not in self._said_unknown:
                arg.location = location
        last = block.last_op
        if (
            last is not None
            and isinstance(last.location, UnknownLoc)
            and last not in self._said_unknown
        ):
            last.location = location

    def _register_ssa_definition(
        self, name: str, values: Sequence[SSAValue], span: Span
    ) -> None:
        awaited = self.forward_ssa_references.get(name)
        if awaited is not None:
            self._awaited.extend((name, value) for value in awaited.values())
        super()._register_ssa_definition(name, values, span)
        for value in values:
            if not isinstance(value, BlockArgument):
                continue
            # If a location follows the name, xDSL sets it before or after this.
            self._said_unknown.add(value)
            is_unknown = isinstance(value.location, UnknownLoc)
            if is_unknown and self._after_location != self.pos:
                value.location = self.location_at(span.start)

    # Modules

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        start = self.pos
        ops: list[Operation] = []
        while self._current_token.kind != MLIRTokenKind.EOF:
            kind = self._current_token.kind
            if kind in (MLIRTokenKind.HASH_IDENT, MLIRTokenKind.EXCLAMATION_IDENT):
                self._parse_alias_def()
            elif kind == MLIRTokenKind.FILE_METADATA_BEGIN:
                self._parse_file_metadata_dictionary()
            elif (op := self.parse_optional_operation()) is not None:
                ops.append(op)
            else:
                self.raise_error("expected an operation")
        self._refuse_undefined_values()
        if len(ops) == 1 and isinstance(ops[0], ModuleOp):
            return ops[0]
        if ops and not allow_implicit_module:
            self.raise_error("expected 'builtin.module' around all operations", start)
        module = ModuleOp(ops)
        module.location = self.location_at(0)
        return module

    def _refuse_undefined_values(self) -> None:
        for name, references in self.forward_ssa_references.items():
            for value in references.values():
                use = value.first_use
                where = self.location_at(self.pos) if use is None else use.operation
                raise OpError(where, f"value '%{name}' is used but not defined")
        for name, value in self._awaited:
            # Defined in a region of the op that uses it, which was made afterwards.
            if (use := value.first_use) is not None:
                raise OpError(use.operation, f"value '%{name}' is used but not defined")

    def _parse_external_resources(self) -> None:
        parse_external_resources(self, self.location_at, self.external_resources)

    # Names

    def _get_op_by_name(self, name: str) -> type[Operation]:
        stack = self._parser_state.dialect_stack
        op_type = self.ctx.get_optional_op(name, dialect_stack=stack)
        if op_type is None:
            self._refuse_name("op", name, lambda d: (op.name for op in d.operations))
        # As in MLIR, a dialect that is known is known whole.
        dialect = name.partition(".")[0]
        if (
            issubclass(op_type, UnregisteredOp)
            and dialect in self.ctx.registered_dialect_names
            and dialect not in OPEN_DIALECTS
        ):
            self._refuse_name("op", name, lambda d: (op.name for op in d.operations))
        return op_type

    def _parse_dialect_type_or_attribute_body(
        self,
        attr_name: str,
        is_type: bool,
        is_opaque: bool,
        starting_opaque_pos: int | None,
    ) -> UnregisteredAttr | ParametrizedAttribute | Data[Any]:
        find = self.ctx.get_optional_type if is_type else self.ctx.get_optional_attr
        if "." in attr_name and find(attr_name) is None:
            kind = "type" if is_type else "attribute"
            self._refuse_name(
                kind,
                attr_name,
                lambda d: (
                    attr.name
                    for attr in d.attributes
                    if issubclass(attr, TypeAttribute) == is_type
                ),
            )
        try:
            return super()._parse_dialect_type_or_attribute_body(
                attr_name, is_type, is_opaque, starting_opaque_pos
            )
        except ValueError as e:
            cls = find(attr_name)
            # xDSL pairs the parameters it read with those of the class.
            if cls is None or "zip()" not in str(e):
                raise
            assert issubclass(cls, ParametrizedAttribute), "only these have parameters"
            names = [f"'{name}'" for name, _ in cls.get_irdl_definition().parameters]
            count = f"{len(names)} parameter{'s' * (len(names) != 1)}"
            self.raise_error(f"expected {count} ({', '.join(names)}) of '{attr_name}'")

    def _refuse_name(
        self, kind: str, name: str, names_of: Callable[[Dialect], Iterable[str]]
    ) -> NoReturn:
        """Say that a name is unknown, where it stands, which is just before here."""
        start = self.lexer.input.content.rfind(name, 0, self.pos)
        span = Span(start, start + len(name), self.lexer.input)
        dialect_name, dot, _ = name.partition(".")
        dialect = self.ctx.get_optional_dialect(dialect_name)
        if dialect is not None:
            near = did_you_mean(name, names_of(dialect))
        elif dot:
            known = self.ctx.registered_dialect_names
            near = f" of unknown dialect '{dialect_name}'"
            near += did_you_mean(dialect_name, known)
        else:
            near = ""
        self.raise_error(f"unknown {kind} '{name}'{near}", span)

    # Attributes and types, which verify at birth

    def raise_error(self, msg: str, *position: Any, **positions: Any) -> NoReturn:
        if self._current_token.text == ELIDED:
            super().raise_error(REFUSAL)
        super().raise_error(msg, *position, **positions)

    def parse_optional_attribute(self) -> Attribute | None:
        start = self.pos
        self._enter(start)
        try:
            attribute = super().parse_optional_attribute()
        except (PluginError, VerifyException) as e:
            self.raise_error(str(e), start)
        finally:
            self._depth -= 1
        self._refuse_unusable(attribute, start)
        return attribute

    def parse_optional_type(self) -> TypeAttribute | None:
        start = self.pos
        content = self.lexer.input.content
        # Types are repeated, and rich ones are slow to parse: known by their text.
        match = _SHAPED_TYPE.match(content, start)
        if match is not None and (known := self._types.get(match.group())) is not None:
            self._resume_from(match.end())
            return known
        self._enter(start)
        try:
            type = super().parse_optional_type()
        except (PluginError, VerifyException) as e:
            self.raise_error(str(e), start)
        finally:
            self._depth -= 1
        self._refuse_unusable(type, start)
        if match is not None and type is not None:
            self._types[match.group()] = type
        return type

    def _refuse_unusable(self, attribute: Attribute | None, start: int) -> None:
        """What xDSL makes but can not print, and what MLIR refuses."""
        if isinstance(attribute, FloatAttr):
            number = cast("FloatAttr[AnyFloat]", attribute)
            if isinstance(number.type, Float80Type | Float128Type):
                self.raise_error(f"expected no constant of type '{number.type}'", start)
        elif isinstance(attribute, VectorType):
            vector = cast("VectorType[Attribute]", attribute)
            if 0 in vector.get_shape():
                self.raise_error(f"expected sizes above 0, but got '{vector}'", start)
        elif attribute is not None and (reason := reason_against_size(attribute)):
            self.raise_error(reason, start)

    def _parse_attribute_entry(self) -> tuple[str, Attribute]:
        name, value = super()._parse_attribute_entry()
        dialect, dot, _ = name.partition(".")
        if dot:  # as in MLIR: the dialect has the rules of its discardable attributes
            self.ctx.get_optional_dialect(dialect)
        return name, value

    def _parse_optional_integer_or_float_type(self) -> TypeAttribute | None:
        span = self._current_token.span
        if span.len > len("i9999999"):  # shorter ones are in range
            match = _INTEGER_TYPE.fullmatch(span.text)
            digits = "" if match is None else match.group(1)
            if len(digits) > 9 or (digits and int(digits) > MAX_INTEGER_WIDTH):
                self.raise_error(
                    "invalid integer width: expected at most "
                    f"{MAX_INTEGER_WIDTH} bits, but got {_shortened(digits)}",
                    span,
                )
        return super()._parse_optional_integer_or_float_type()

    def parse_shape_dimension(self, allow_dynamic: bool = True) -> int:
        span = self._current_token.span
        size = super().parse_shape_dimension(allow_dynamic)
        if size >= 1 << 63:
            found = _shortened(str(size))
            self.raise_error(f"expected a dimension below 2^63, but got {found}", span)
        return size

    def parse_optional_region(
        self, arguments: Sequence[Parser.Argument] | None = None
    ) -> Region | None:
        self._enter(self.pos)
        region = super().parse_optional_region(arguments)
        self._depth -= 1
        return region

    def _parse_tensor_literal(
        self,
    ) -> "tuple[list[Parser._TensorLiteralElement], list[int]]":
        self._enter(self.pos)
        literal = super()._parse_tensor_literal()
        self._depth -= 1
        return literal

    def _parse_location(self) -> LocationAttr:
        self._enter(self.pos)
        # Inside `fused[…]` a location is printed with its own `loc(…)`.
        location = self.parse_optional_location()
        if location is None:
            location = super()._parse_location()
        self._depth -= 1
        return location

    def _enter(self, position: int) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self.raise_error(
                f"expected at most {MAX_DEPTH} levels of nesting", position
            )

    # Floats

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
        splat = self._parse_optional_splat(type)
        if splat is not None:
            return splat
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
            type = super()._parse_dense_literal_type()
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
        size = math.prod(type.get_shape()) * type.element_type.compile_time_size
        if size > MAX_DENSE_BYTES:
            self.raise_error(
                f"expected at most {MAX_DENSE_BYTES} bytes of elements that differ, "
                f"but got {size}",
                start,
            )
        return type


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

_INTEGER_TYPE = re.compile(r"[su]?i(\d+)")
_PLAIN = r"(?:[^<>\"-]|-(?!>)|\"[^\"\\\n]*\")*+"
_LEVEL_1 = rf"<{_PLAIN}>"
_LEVEL_2 = rf"<{_PLAIN}(?:{_LEVEL_1}{_PLAIN})*+>"
_LEVEL_3 = rf"<{_PLAIN}(?:{_LEVEL_2}{_PLAIN})*+>"
_SHAPED_TYPE = re.compile(
    rf"(?:tensor|memref|vector)<{_PLAIN}(?:{_LEVEL_3}{_PLAIN})*+>"
)
"""The text of a shaped type with parameters up to three levels deep."""


def parse_attribute_prefix(
    ctx: Context, text: str, position: int = 0, name: str = "<text>"
) -> tuple[Attribute, int]:
    """
    Parse an attribute or type that starts at a position of a text.

    Returns it with the position after its last character. Raises `ParseError` with a
    span relative to `position`.
    """
    allow_deep_recursion()
    parser = TransomParser(ctx, text[position:], name)
    start = parser.pos
    try:
        attribute = parser.parse_attribute()
    except _BAD_TEXT as e:
        parser.raise_error(_describe(e), start)
    return attribute, position + len(text[position : position + parser.pos].rstrip())


def parse_attribute_text(ctx: Context, text: str, name: str = "<text>") -> Attribute:
    """Parse a text that is one attribute or type. Raises `ParseError`."""
    attribute, end = parse_attribute_prefix(ctx, text, 0, name)
    if text[end:].strip():
        span = Span(end, end, Input(text, name))
        raise ParseError(span, f"expected the end, but got '{text[end:].strip()}'")
    return attribute


def _shortened(digits: str) -> str:
    """Digits of a number, for a message."""
    return digits if len(digits) <= 24 else f"a number of {len(digits)} digits"


def _decode(text: bytes, name: str, line_offset: int) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as e:
        before = text[: e.start].decode("utf-8")
        line = before.count("\n") + 1 + line_offset
        column = len(before) - (before.rfind("\n") + 1) + 1
        where = file_location(name, line, column)
        raise OpError(where, "expected UTF-8 text") from None


def _describe(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "expected less nesting"
    detail = str(error).strip().split("\n")[0]
    kind = type(error).__name__
    return f"expected valid syntax; the parser stopped at {kind}: {detail}".rstrip(": ")


def _positioned(error: ParseError, line_offset: int) -> OpError:
    """The error of a parser as one with a location, with the line of the file."""
    notes: list[Note] = []
    if isinstance(error, MultipleSpansParseError):
        for span, message in error.refs:
            text = message or error.ref_text or "here"
            notes.append(Note(_location_of_span(span, line_offset), text.rstrip(":")))
    where = _location_of_span(error.span, line_offset)
    return OpError(where, error.msg, *notes, end=_end_of_span(error.span, line_offset))


def _location_of_span(span: Span[str] | Span[bytes], line_offset: int) -> LocationAttr:
    file, line, column = span.get_location()
    return file_location(file, line + line_offset, column)


def _end_of_span(span: Span[str] | Span[bytes], line_offset: int) -> Position | None:
    """The place after a span that has characters."""
    if span.end <= span.start:
        return None
    after: Span[Any] = Span(span.end, span.end, cast(Any, span.input))
    file, line, column = after.get_location()
    return Position(file, line + line_offset, column)
