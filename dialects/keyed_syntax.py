"""
The syntax `key = value, …` of attributes and ops whose parameters have names.

Keys come in any order; what may be left out and is, is not printed. Integers of type
i64 and floats of type f64 print bare, strings quoted, enumerations as bare words, also
in lists, which stand in brackets.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    ArrayOfConstraint,
    DictionaryAttr,
    FloatAttr,
    FloatData,
    IntAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    f64,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import (
    AttrConstraint,
    BaseAttr,
    IRDLOperation,
    OptPropertyDef,
    RangeOf,
    VerificationContext,
    prop_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.lexer import Position
from xdsl.utils.str_enum import StrEnum

from transom.dialects.diagnostics import did_you_mean

PRESET = "preset"
"""The key that stands for a set of values."""


class KeyedAttr(ParametrizedAttribute):
    """
    Base of attributes that are written `#d.name<key = value, …>`.

    The keys are the parameters' names; a parameter `k_attr` has the key `k`, which
    leaves `k` free for an accessor. `DEFAULTS` holds the value, by key, of each
    parameter that may be left out. An attribute all of whose parameters are left out is
    written without brackets.

    `PRESETS` names sets of values. Where it is not empty, `preset = "name"` stands for
    the values of that set; keys beside it replace them. It is read, never printed.
    """

    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {}
    PRESETS: ClassVar[Mapping[str, Mapping[str, Attribute]]] = {}

    @classmethod
    def from_keys(cls, values: Mapping[str, Attribute]) -> Self:
        """
        The attribute with these parameters, the others as the preset among the values
        says, or at their defaults.

        Raises `VerifyException` for an unknown or a missing key or preset.
        """
        keys, accepted = cls.key_constraints(), cls._accepted_keys()
        for key in values:
            if key not in accepted:
                raise VerifyException(_unknown_key(f"'#{cls.name}'", key, accepted))
        given = {**cls.DEFAULTS, **cls._preset_of(values), **values}
        missing = ", ".join(f"'{key}'" for key in keys if key not in given)
        if missing:
            raise VerifyException(f"expected {missing} in '#{cls.name}'")
        return cls.new([given[key] for key in keys])

    def with_keys(self, values: Mapping[str, Attribute]) -> Self:
        """This attribute with some parameters replaced."""
        return self.from_keys({**self.keys(), **values})

    @classmethod
    def key_constraints(cls) -> Mapping[str, AttrConstraint]:
        """The keys, in the order in which they are printed, and what they may hold."""
        parameters = cls.get_irdl_definition().parameters
        return {name.removesuffix("_attr"): param.constr for name, param in parameters}

    @classmethod
    def _accepted_keys(cls) -> Mapping[str, AttrConstraint]:
        """All keys that may be written."""
        keys = cls.key_constraints()
        if not cls.PRESETS:
            return keys
        assert PRESET not in keys, "a class with presets has no parameter of that name"
        return {PRESET: BaseAttr(StringAttr), **keys}

    @classmethod
    def _preset_of(cls, values: Mapping[str, Attribute]) -> Mapping[str, Attribute]:
        """The values of the preset that is named among some, if one is."""
        name = values.get(PRESET) if cls.PRESETS else None
        if not isinstance(name, StringAttr):
            return {}
        if name.data not in cls.PRESETS:
            raise VerifyException(
                f"unknown preset '{name.data}' of '#{cls.name}'"
                f"{did_you_mean(name.data, cls.PRESETS)}"
            )
        return cls.PRESETS[name.data]

    def keys(self) -> Mapping[str, Attribute]:
        """The parameters by key."""
        return dict(zip(self.key_constraints(), self.parameters, strict=True))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        values = _parse_entries(
            parser, parser.Delimiter.ANGLE, f"'#{cls.name}'", cls._accepted_keys()
        )
        try:
            return cls.from_keys(values).parameters
        except VerifyException as e:
            parser.raise_error(str(e), start)

    def print_parameters(self, printer: Printer) -> None:
        shown = [(k, v) for k, v in self.keys().items() if self.DEFAULTS.get(k) != v]
        if shown:
            keys = self.key_constraints()
            with printer.in_angle_brackets():
                printer.print_list(
                    shown, lambda entry: _print_entry(printer, *entry, keys[entry[0]])
                )


class KeyedSymbolOp(IRDLOperation):
    """
    Base of symbols that are written `d.op @name {key = value, …}`.
    """

    sym_name = prop_def(StringAttr)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        start = parser.pos
        name = parser.parse_symbol_name()
        properties, attributes = parse_keyed_properties(
            parser, cls, ("sym_name",), start
        )
        return cls.create(
            properties={"sym_name": name, **properties}, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name)
        print_keyed_properties(printer, self, ("sym_name",))


def parse_keyed_properties(
    parser: Parser,
    op_class: type[IRDLOperation],
    written_elsewhere: Collection[str],
    start: Position,
) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """
    Parse `{key = value, …}`, if present: properties, and discardable attributes.

    The latter have a dot in their name. `written_elsewhere` names the properties that
    the op's syntax has a place of its own for; `start` is where a key is missed.
    """
    definitions = op_class.get_irdl_definition().properties
    constraints = {
        key: definition.constr
        for key, definition in definitions.items()
        if key not in written_elsewhere
    }
    values = _parse_entries(
        parser, parser.Delimiter.BRACES, f"'{op_class.name}'", constraints, dotted=True
    )
    for key in constraints:
        if key not in values and not isinstance(definitions[key], OptPropertyDef):
            parser.raise_error(f"expected '{key}' in '{op_class.name}'", start)
    properties = {key: values[key] for key in constraints if key in values}
    return properties, {k: v for k, v in values.items() if k not in properties}


def print_keyed_properties(
    printer: Printer, op: IRDLOperation, written_elsewhere: Collection[str]
) -> None:
    """Print ` {key = value, …}` unless it is empty."""
    definitions = op.get_irdl_definition().properties
    keys = [
        key
        for key in definitions
        if key in op.properties and key not in written_elsewhere
    ]

    def print_one(key: str) -> None:
        if key in keys:
            _print_entry(printer, key, op.properties[key], definitions[key].constr)
        else:
            _print_discardable(printer, key, op.attributes[key])

    if keys or op.attributes:
        printer.print_string(" ")
        with printer.in_braces():
            printer.print_list((*keys, *op.attributes), print_one)


def print_value(printer: Printer, value: Attribute) -> None:
    """Print the value of a key so that parsing gives the same value back."""
    match value:
        case IntAttr():
            printer.print_int(value.data)
        case IntegerAttr(type=t, value=IntAttr(data=int(number))) if t == i64:
            printer.print_int(number)
        case FloatAttr(type=t, value=FloatData(data=float(number))) if (
            t == f64 and math.isfinite(number)
        ):
            printer.print_string(_decimal(number))
        case ArrayAttr():
            with printer.in_square_brackets():
                printer.print_list(value.data, lambda v: print_value(printer, v))
        case DictionaryAttr():
            with printer.in_braces():
                printer.print_list(
                    value.data.items(), lambda entry: _print_named(printer, *entry)
                )
        case _:
            printer.print_attribute(value)


def _decimal(value: float) -> str:
    """The shortest digits that read back as the same double, always with a point."""
    if value == 0 or 1e-4 <= abs(value) < 1e6:
        return repr(value)
    texts = (f"{value:.{digits}e}" for digits in range(1, 17))
    return next(text for text in texts if float(text) == value)


def _print_entry(
    printer: Printer, key: str, value: Attribute, constraint: AttrConstraint
) -> None:
    if isinstance(value, EnumAttribute):
        printer.print_string(f"{key} = ")
        value.print_parameter(printer)
    elif _words_of(constraint) is not None:
        words = cast("ArrayAttr[EnumAttribute[StrEnum]]", value)
        printer.print_string(f"{key} = ")
        with printer.in_square_brackets():
            printer.print_list(words.data, lambda word: word.print_parameter(printer))
    else:
        _print_named(printer, key, value)


def _print_discardable(printer: Printer, name: str, value: Attribute) -> None:
    printer.print_identifier_or_string_literal(name)
    if not isinstance(value, UnitAttr):
        printer.print_string(" = ")
        printer.print_attribute(value)


def _print_named(printer: Printer, name: str, value: Attribute) -> None:
    printer.print_identifier_or_string_literal(name)
    printer.print_string(" = ")
    print_value(printer, value)


def _parse_entries(
    parser: AttrParser,
    delimiter: AttrParser.Delimiter,
    owner: str,
    constraints: Mapping[str, AttrConstraint],
    *,
    dotted: bool = False,
) -> dict[str, Attribute]:
    """Parse the entries within delimiters, none if these are absent."""
    values: dict[str, Attribute] = {}

    def parse_entry() -> None:
        start = parser.pos
        key = parser.parse_identifier_or_str_literal(f" as a key of {owner}")
        if key in values:
            parser.raise_error(f"key '{key}' of {owner} is given twice", start)
        if key in constraints:
            parser.parse_punctuation("=", f" after key '{key}' of {owner}")
            values[key] = _parse_value(parser, owner, key, constraints[key])
        elif dotted and "." in key:
            flag = parser.parse_optional_punctuation("=") is None
            values[key] = UnitAttr() if flag else parser.parse_attribute()
        else:
            parser.raise_error(_unknown_key(owner, key, constraints), start)

    parser.parse_optional_comma_separated_list(delimiter, parse_entry, f" in {owner}")
    return values


def _unknown_key(owner: str, key: str, keys: Collection[str]) -> str:
    return f"unknown key '{key}' of {owner}{did_you_mean(key, keys)}"


def _parse_value(
    parser: AttrParser, owner: str, key: str, constraint: AttrConstraint
) -> Attribute:
    """Parse the value of a key as the kind of attribute that it is declared with."""
    start = parser.pos
    if (enumeration := _enumeration(constraint)) is not None:
        return _parse_word(parser, key, enumeration)
    if (words := _words_of(constraint)) is not None:
        return ArrayAttr(
            parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: _parse_word(parser, key, words)
            )
        )
    value = parser.parse_attribute()
    for reading in _readings(value):
        if _satisfies(reading, constraint):
            return reading
    parser.raise_error(
        f"expected {_kinds(constraint)} for '{key}' of {owner}, but got '{value}'",
        start,
    )


def _enumeration(constraint: AttrConstraint) -> type[EnumAttribute[StrEnum]] | None:
    """The enumeration that a value is one of, if it is."""
    for attr_class in constraint.get_bases() or ():
        if issubclass(attr_class, EnumAttribute):
            return cast("type[EnumAttribute[StrEnum]]", attr_class)
    return None


def _words_of(constraint: AttrConstraint) -> type[EnumAttribute[StrEnum]] | None:
    """The enumeration that the values of a list are of, if they are."""
    if not isinstance(constraint, ArrayOfConstraint):
        return None
    elements = cast("ArrayOfConstraint[Attribute]", constraint).elem_range_constraint
    return _enumeration(elements.constr) if isinstance(elements, RangeOf) else None


def _parse_word(
    parser: AttrParser, key: str, enumeration: type[EnumAttribute[StrEnum]]
) -> Attribute:
    start = parser.pos
    words = [str(member) for member in enumeration.enum_type]
    word = parser.parse_optional_identifier_or_str_literal()
    if word not in words:
        found = "value" if word is None else f"value '{word}'"
        parser.raise_error(
            f"unknown {found} of '{key}'{did_you_mean(word or '', words)}", start
        )
    return enumeration(enumeration.enum_type(word))


def _readings(value: Attribute) -> Sequence[Attribute]:
    """What a literal may stand for: itself, or the same number of another type."""
    match value:
        case IntegerAttr(type=t, value=IntAttr(data=int(number))) if t == i64:
            return (value, IntAttr(number), FloatAttr(float(number), f64))
        case _:
            return (value,)


def _satisfies(value: Attribute, constraint: AttrConstraint) -> bool:
    try:
        constraint.verify(value, VerificationContext())
    except VerifyException:
        return False
    return True


_KINDS: Mapping[str, str] = {
    "array": "a list",
    "builtin.int": "an integer",
    "dictionary": "a dictionary",
    "float": "a float",
    "integer": "an integer",
    "string": "a string",
    "symbol_ref": "a symbol",
}


def _kinds(constraint: AttrConstraint) -> str:
    """What a value of a key has to be, in words."""
    classes = constraint.get_bases() or ()
    names = {c.name for c in classes} - {"unit"}  # stands for a value left out
    words = sorted(_KINDS.get(name, f"a '#{name}'") for name in names)
    return " or ".join(words) or "another kind of value"
