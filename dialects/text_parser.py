"""
xDSL's parser, with a place on all that it makes, names of what is unknown, and limits.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    FileLineColLoc,
    Float80Type,
    Float128Type,
    FloatAttr,
    IntAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
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
from xdsl.parser import Parser
from xdsl.utils.exceptions import (
    ParseError,
    VerifyException,
)
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from transom.dialects.dense_parser import DenseParser
from transom.dialects.diagnostics import (
    OpError,
    did_you_mean,
)
from transom.dialects.elision import ELIDED, REFUSAL
from transom.dialects.file_resources import (
    ExternalResources,
    parse_external_resources,
)
from transom.dialects.lexer import TransomLexer
from transom.dialects.limits import reason_against_size
from transom.dialects.parser_messages import reworded
from transom.dialects.plugins import PluginError

MAX_DEPTH = 1000
"""Regions, attributes and lists may be nested this deep."""

MAX_INTEGER_WIDTH = (1 << 24) - 1
"""The widest integer type, as in MLIR."""

OPEN_DIALECTS = frozenset({"test"})
"""Registered dialects with ops that need no definition, if unregistered ones may be."""

HELP_FOR_OPS = {
    "linalg": "; any op of it can be written as 'linalg.generic', and docs/linalg.md "
    "lists those with names of their own"
}
"""What else to say of an op that a dialect lacks and has no near name for."""


class TransomParser(DenseParser):
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
        for op in block.ops:
            if isinstance(op.location, UnknownLoc) and op not in self._said_unknown:
                op.location = location

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

    def _parse_block(self) -> Block:
        token = self._current_token
        block = super()._parse_block()
        # xDSL notes where a block is defined only if nothing referred to it before.
        self.blocks[token.text[1:]] = (block, token.span)
        return block

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
        dialect_name, dot, rest = name.partition(".")
        content = self.lexer.input.content
        start, end = content.rfind(name, 0, self.pos), len(name)
        if start < 0:  # in the form `#dialect<name>`
            start, end = content.rfind(rest, 0, self.pos), len(rest)
        span = Span(start, start + end, self.lexer.input)
        dialect = self.ctx.get_optional_dialect(dialect_name)
        if dialect is not None:
            near = did_you_mean(name, names_of(dialect), f"{dialect_name}.")
            if not near and kind == "op":
                near = HELP_FOR_OPS.get(dialect_name, "")
        elif dot:
            known = self.ctx.registered_dialect_names
            near = f" of unknown dialect '{dialect_name}'"
            near += did_you_mean(dialect_name, known)
        else:
            near = ""
        self.raise_error(f"unknown {kind} '{name}'{near}", span)

    # Attributes and types, which verify at birth

    def raise_error(
        self,
        msg: str,
        at_position: Span[str] | int | None = None,
        end_position: int | None = None,
    ) -> NoReturn:
        token = self._current_token
        if token.text == ELIDED:
            raise ParseError(token.span, REFUSAL)
        if msg.endswith(" does not have a custom format."):
            self._refuse_custom_form()
        span = token.span
        if isinstance(at_position, Span):
            span = at_position
        elif at_position is not None:
            end = at_position if end_position is None else end_position
            span = Span(at_position, end, self.lexer.input)
        found: str | None = span.text or None
        if span.start == token.span.start:
            found = "" if token.kind == MLIRTokenKind.EOF else token.text
        raise ParseError(span, reworded(msg, found))

    def _refuse_custom_form(self) -> NoReturn:
        """Say that the op whose name was read has only the generic form."""
        content = self.lexer.input.content
        name = re.findall(r"[\w.$]+", content[: self.pos])[-1]
        start = content.rfind(name, 0, self.pos)
        span = Span(start, start + len(name), self.lexer.input)
        message = f"'{name}' has no short form; write it as '\"{name}\"(…) : (…) -> …'"
        raise ParseError(span, message)

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


def _shortened(digits: str) -> str:
    """Digits of a number, for a message."""
    return digits if len(digits) <= 24 else f"a number of {len(digits)} digits"


_INTEGER_TYPE = re.compile(r"[su]?i(\d+)")
_PLAIN = r"(?:[^<>\"-]|-(?!>)|\"[^\"\\\n]*\")*+"
_LEVEL_1 = rf"<{_PLAIN}>"
_LEVEL_2 = rf"<{_PLAIN}(?:{_LEVEL_1}{_PLAIN})*+>"
_LEVEL_3 = rf"<{_PLAIN}(?:{_LEVEL_2}{_PLAIN})*+>"
_SHAPED_TYPE = re.compile(
    rf"(?:tensor|memref|vector)<{_PLAIN}(?:{_LEVEL_3}{_PLAIN})*+>"
)
"""The text of a shaped type with parameters up to three levels deep."""
