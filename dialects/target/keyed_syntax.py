"""
The syntax `<key = value, …>` of attributes whose parameters have names.

Keys come in any order; a parameter that has a default may be left out and is printed
only when it differs. Integers of type i64 print bare, strings quoted, enumerations as
bare words, lists in brackets.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    FloatData,
    IntAttr,
    IntegerAttr,
    f64,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import AttrConstraint, VerificationContext
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from transom.dialects.diagnostics import did_you_mean


class KeyedAttr(ParametrizedAttribute):
    """
    Base of attributes that are written `#d.name<key = value, …>`.

    `DEFAULTS` holds the value of each parameter that may be left out. An attribute all
    of whose parameters are left out is written without brackets.
    """

    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {}

    @classmethod
    def from_keys(cls, values: Mapping[str, Attribute]) -> Self:
        """
        The attribute with these parameters, the others at their defaults.

        Raises `VerifyException` for an unknown or a missing key.
        """
        keys = cls.key_names()
        for key in values:
            if key not in keys:
                raise VerifyException(unknown_key(cls, key))
        return cls.new([_value_or_default(cls, key, values) for key in keys])

    @classmethod
    def key_names(cls) -> tuple[str, ...]:
        """The names of the parameters, in the order in which they are printed."""
        return tuple(key for key, _ in cls.get_irdl_definition().parameters)

    def is_default(self, key: str) -> bool:
        """Whether a parameter has the value that leaving it out gives."""
        return self.DEFAULTS.get(key) == getattr(self, key)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        values: dict[str, Attribute] = {}
        start = parser.pos
        parser.parse_optional_comma_separated_list(
            parser.Delimiter.ANGLE, lambda: _parse_entry(cls, parser, values)
        )
        try:
            return [_value_or_default(cls, key, values) for key in cls.key_names()]
        except VerifyException as e:
            parser.raise_error(str(e), start)

    def print_parameters(self, printer: Printer) -> None:
        shown = [key for key in self.key_names() if not self.is_default(key)]
        if not shown:
            return
        with printer.in_angle_brackets():
            printer.print_list(shown, lambda key: self._print_entry(printer, key))

    def _print_entry(self, printer: Printer, key: str) -> None:
        printer.print_string(f"{key} = ")
        print_value(printer, getattr(self, key))


def unknown_key(cls: type[KeyedAttr], key: str) -> str:
    """The message for a key that the attribute class does not have."""
    return f"unknown key '{key}' of '#{cls.name}'{did_you_mean(key, cls.key_names())}"


def print_value(printer: Printer, value: Attribute) -> None:
    """Print the value of a key so that `parse_value` gives the same value back."""
    match value:
        case IntAttr():
            printer.print_int(value.data)
        case IntegerAttr(type=t, value=IntAttr(data=int(number))) if t == i64:
            printer.print_int(number)
        case FloatAttr(type=t, value=FloatData(data=float(number))) if t == f64:
            _print_double(printer, number)
        case EnumAttribute():
            value.print_parameter(printer)
        case ArrayAttr():
            elements = cast("ArrayAttr[Attribute]", value).data
            with printer.in_square_brackets():
                printer.print_list(elements, lambda v: print_value(printer, v))
        case DictionaryAttr():
            with printer.in_braces():
                printer.print_list(
                    value.data.items(), lambda entry: _print_dict_entry(printer, *entry)
                )
        case _:
            printer.print_attribute(cast(Attribute, value))


def _print_double(printer: Printer, value: float) -> None:
    """A float without its type, unless only its bits can be printed."""
    text = repr(value)
    if "e" in text and "." not in text:
        text = text.replace("e", ".0e")
    if text.lstrip("-")[0].isdigit():
        printer.print_string(text)
    else:
        printer.print_attribute(FloatAttr(value, f64))


def _print_dict_entry(printer: Printer, key: str, value: Attribute) -> None:
    printer.print_identifier_or_string_literal(key)
    printer.print_string(" = ")
    print_value(printer, value)


def _parse_entry(
    cls: type[KeyedAttr], parser: AttrParser, values: dict[str, Attribute]
) -> None:
    start = parser.pos
    key = parser.parse_identifier(context_msg=f" as a key of '#{cls.name}'")
    if key not in cls.key_names():
        parser.raise_error(unknown_key(cls, key), start)
    if key in values:
        parser.raise_error(f"key '{key}' of '#{cls.name}' is given twice", start)
    parser.parse_punctuation("=")
    values[key] = parse_value(parser, cls, key)


def parse_value(parser: AttrParser, cls: type[KeyedAttr], key: str) -> Attribute:
    """Parse one value of a key, as the type that the key is declared with."""
    start = parser.pos
    constraint = dict(cls.get_irdl_definition().parameters)[key].constr
    enum = _enumeration(constraint)
    if enum is not None:
        word = parser.parse_optional_identifier_or_str_literal()
        words = [str(member) for member in enum.enum_type]
        if word in words:
            return enum(enum.enum_type(word))
        if word is not None:
            parser.raise_error(
                f"unknown value '{word}' of '{key}'{did_you_mean(word, words)}", start
            )
    value = parser.parse_attribute()
    for candidate in _readings(value):
        try:
            constraint.verify(candidate, VerificationContext())
        except VerifyException:
            continue
        return candidate
    parser.raise_error(
        f"expected {_description(constraint)} for '{key}' of '#{cls.name}', "
        f"but got '{value}'",
        start,
    )


def _readings(value: Attribute) -> Sequence[Attribute]:
    """What a literal may stand for: itself, or the same number of another type."""
    match value:
        case IntegerAttr(type=t, value=IntAttr(data=int(number))) if t == i64:
            return (value, IntAttr(number), FloatAttr(float(number), f64))
        case _:
            return (value,)


def _enumeration(
    constraint: AttrConstraint,
) -> "type[EnumAttribute[StrEnum]] | None":
    for attr_class in constraint.get_bases() or ():
        if issubclass(attr_class, EnumAttribute):
            return cast("type[EnumAttribute[StrEnum]]", attr_class)
    return None


def _description(constraint: AttrConstraint) -> str:
    names = {
        "array": "a list",
        "builtin.int": "an integer",
        "dictionary": "a dictionary",
        "float": "a float",
        "integer": "an integer",
        "string": "a string",
        "symbol_ref": "a symbol",
        "unit": None,
    }
    found: set[str] = set()
    for attr_class in constraint.get_bases() or ():
        name = names.get(attr_class.name, f"'#{attr_class.name}'")
        if name is not None:
            found.add(name)
    return " or ".join(sorted(found)) or "another value"


def _value_or_default(
    cls: type[KeyedAttr], key: str, values: Mapping[str, Attribute]
) -> Attribute:
    value = values.get(key, cls.DEFAULTS.get(key))
    if value is None:
        missing = [
            k for k in cls.key_names() if k not in cls.DEFAULTS and k not in values
        ]
        names = ", ".join(f"'{k}'" for k in missing)
        raise VerifyException(f"expected {names} in '#{cls.name}'")
    return value
