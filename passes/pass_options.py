"""
Options of passes as text: `tile{sizes=[4,8] place=#target.place<@cpu> fast=true}`.

An option is a field of the pass's dataclass, read and written by the type of the field:

| type | text |
|---|---|
| `int`, `float` | `4`, `-0x10`, `1.5e-3`, `inf` |
| `bool` | `true`, `false`, or the bare name of the option for `true` |
| `str` | a word, or a literal in double quotes |
| an `Enum`, a `Literal` | one of its values |
| an attribute or type class | its IR syntax |
| `tuple[…]` | `[a,b]`, or `a,b` where an option ends at a space |
| `… | None` | `none`, or the bare name of the option |
"""

import dataclasses
import re
import types
from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any, Literal, NoReturn, TypeVar, Union, cast, get_args, get_origin

from typing_extensions import get_type_hints
from xdsl.context import Context
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.hints import isa

from transom.dialects.diagnostics import did_you_mean
from transom.dialects.parser import parse_attribute_prefix

PassT = TypeVar("PassT", bound=ModulePass)
OptionsT = TypeVar("OptionsT")

Hint = Any
"""A type hint of a field, taken apart at run time."""


class PipelineError(Exception):
    """
    The command line is wrong; a caret shows the place in the text of a pipeline.
    """

    def __init__(
        self, message: str, text: str | None = None, position: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.text = text
        self.position = position

    def __str__(self) -> str:
        if self.text is None or self.position is None:
            return self.message
        start = self.text.rfind("\n", 0, self.position) + 1
        end = self.text.find("\n", self.position)
        line = self.text[start : len(self.text) if end < 0 else end]
        return f"{self.message}\n  {line}\n  {' ' * (self.position - start)}^"


@dataclasses.dataclass
class Cursor:
    """A place in the text of a pipeline."""

    text: str
    ctx: Context
    position: int = 0

    def fail(self, message: str, position: int | None = None) -> NoReturn:
        """Raise a `PipelineError` here or at another position."""
        at = self.position if position is None else position
        raise PipelineError(message, self.text, at)

    def skip_space(self) -> None:
        """Go to the next character that is not white space."""
        self.take(_SPACE)

    def at_end(self) -> bool:
        """True if nothing is left."""
        return self.position >= len(self.text)

    def next_is(self, characters: str) -> bool:
        """True if the next character is one of these."""
        return not self.at_end() and self.text[self.position] in characters

    def take(self, pattern: re.Pattern[str]) -> str | None:
        """Consume what matches here."""
        match = pattern.match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end()
        return match.group()

    def take_character(self, character: str) -> bool:
        """Consume a character if it is the next."""
        if not self.next_is(character):
            return False
        self.position += 1
        return True

    def found(self) -> str:
        """What stands here, for a message."""
        if self.at_end():
            return "the end"
        word = _FOUND.match(self.text, self.position)
        return f"'{word.group() if word else self.text[self.position]}'"


_SPACE = re.compile(r"\s*")
_FOUND = re.compile(r"[^\s,{}()\[\]=]+|.", re.DOTALL)
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_INT = re.compile(r"[+-]?(0x[0-9a-fA-F]+|[0-9]+)")
_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*([eE][+-]?[0-9]+)?|inf|nan)")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_./:+-]*|[0-9][A-Za-z0-9_./:+-]*")
_PLAIN_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_./:+-]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)

_MAX_DIGITS = 4000
"""Python refuses to read integers of more digits (4,300 by default)."""


def parse_options(cursor: Cursor, cls: type[PassT], start: int) -> PassT:
    """
    Parse `{key=value …}` if it follows, and make the pass.

    `start` is the position of the pass's name. Raises `PipelineError`.
    """
    return parse_fields(cursor, cls, f"pass '{cls.name}'", start)


def parse_fields(
    cursor: Cursor, cls: type[OptionsT], owner: str, start: int
) -> OptionsT:
    """
    Parse `{key=value …}` if it follows, and make the dataclass that has these fields.

    `owner` is what the options belong to, for messages. Raises `PipelineError`.
    """
    fields = {f.name: f for f in option_fields(cls)}
    hints = _hints_of(cls)
    values: dict[str, object] = {}
    if cursor.take_character("{"):
        cursor.skip_space()
        while not cursor.take_character("}"):
            key_position = cursor.position
            key = cursor.take(_KEY)
            if key is None:
                cursor.fail(f"expected an option or '}}', but got {cursor.found()}")
            name = key.replace("-", "_")
            if name not in fields:
                known = did_you_mean(key, map(_option_name, fields))
                known = known or "; it takes none"
                cursor.fail(f"unknown option '{key}' of {owner}{known}", key_position)
            if name in values:
                cursor.fail(f"option '{key}' is given twice", key_position)
            values[name] = _parse_option(cursor, key, hints[name])
            cursor.skip_space()
    for name, f in fields.items():
        if name in values or not _is_required(f):
            continue
        if types.NoneType in _members(hints[name]):
            values[name] = None
        else:
            cursor.fail(f"{owner} needs option '{_option_name(name)}'", start)
    try:
        return cls(**values)
    except (ValueError, VerifyException) as e:  # of the class's own check
        cursor.fail(f"{owner}: {e}", start)


@cache
def _hints_of(cls: type) -> dict[str, Any]:
    """The types of the fields of a dataclass; Python evaluates their texts."""
    return get_type_hints(cls)


def format_pass(pass_: ModulePass) -> str:
    """The pass with its options that differ from their defaults."""
    return f"{pass_.name}{format_fields(pass_)}"


def spell_out_pass(pass_: ModulePass) -> str:
    """The pass with all its options, as a later version may have other defaults."""
    return f"{pass_.name}{format_fields(pass_, spelled_out=True)}"


def format_fields(value: object, spelled_out: bool = False) -> str:
    """
    The fields of a dataclass that differ from their defaults, or all: `{key=value …}`.
    """
    options: list[str] = []
    for f in option_fields(type(value)):
        text = format_value(getattr(value, f.name))
        if spelled_out or _is_required(f) or text != format_value(_default(f)):
            options.append(f"{_option_name(f.name)}={text}")
    return f"{{{' '.join(options)}}}" if options else ""


def format_value(value: object) -> str:
    """The text of an option's value."""
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case Enum():
            return format_value(value.value)
        case int() | float():
            return repr(value)
        case str():
            plain = _PLAIN_WORD.fullmatch(value) and value not in _RESERVED
            return value if plain else _quote(value)
        case tuple():
            items = cast(tuple[object, ...], value)
            return f"[{','.join(map(format_value, items))}]"
        case _:
            return str(value)


def option_fields(cls: type[Any]) -> tuple["dataclasses.Field[Any]", ...]:
    """The fields of a pass, or of another dataclass, that are options."""
    return tuple(f for f in dataclasses.fields(cls) if f.init and f.name != "name")


def default_of(f: "dataclasses.Field[Any]") -> str | None:
    """The text of an option's default, None if the option must be given."""
    return None if _is_required(f) else format_value(_default(f))


def describe_hint(hint: Hint) -> str:
    """A type as a message or a listing names it."""
    if _is_union(hint):
        return " or ".join(describe_hint(h) for h in get_args(hint))
    if get_origin(hint) is Literal:
        return " or ".join(f"'{a}'" for a in get_args(hint))
    if get_origin(hint) is tuple:
        inner = [describe_hint(h) for h in get_args(hint) if h is not ...]
        return f"a list of {' and '.join(inner)}"
    if hint in _NOUNS:
        return _NOUNS[hint]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return " or ".join(f"'{e.value}'" for e in hint)
    cls = cast(object, get_origin(hint) or hint)
    name = getattr(cls, "name", None) or getattr(cls, "__name__", str(cls))
    return f"an attribute '{name}'" if isinstance(name, str) else "an attribute"


_RESERVED = ("true", "false", "none", "inf", "nan")
_NOUNS: dict[Hint, str] = {
    int: "an integer",
    float: "a number",
    bool: "'true' or 'false'",
    str: "a string",
    types.NoneType: "'none'",
    Attribute: "an attribute",
}


def _option_name(field_name: str) -> str:
    return field_name.replace("_", "-")


def _is_required(f: "dataclasses.Field[Any]") -> bool:
    return f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING


def _default(f: "dataclasses.Field[Any]") -> object:
    if f.default_factory is not dataclasses.MISSING:
        return f.default_factory()
    return f.default


def _is_union(hint: Hint) -> bool:
    return get_origin(hint) in (Union, types.UnionType)


def _quote(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'.replace("\n", "\\n")


def _unquote(literal: str) -> str:
    def unescape(match: re.Match[str]) -> str:
        return "\n" if match.group(1) == "n" else match.group(1)

    return re.sub(r"\\(.)", unescape, literal[1:-1], flags=re.DOTALL)


def _parse_option(cursor: Cursor, key: str, hint: Hint) -> object:
    """What stands after the name of an option."""
    if not cursor.take_character("="):
        members = get_args(hint) if _is_union(hint) else (hint,)
        if bool in members:
            return True
        if types.NoneType in members:
            return None
        cursor.fail(f"expected '=' and {describe_hint(hint)} after '{key}'")
    start = cursor.position
    value = _Reader(cursor, " \t\n\r}").read(hint)
    if value is _FAILED:
        cursor.position = start
        cursor.fail(
            f"expected {describe_hint(hint)} for option '{key}', "
            f"but got {cursor.found()}"
        )
    return value


_FAILED = object()
"""What a reader returns for a text that is no value of the type."""


@dataclasses.dataclass
class _Reader:
    """Reads one value that ends at one of the characters `ends`."""

    cursor: Cursor
    ends: str

    def read(self, hint: Hint) -> object:
        """The value, or `_FAILED`, after which the cursor stands anywhere."""
        start = self.cursor.position
        for member in sorted(_members(hint), key=_rank):
            self.cursor.position = start
            value = self._read_one(member)
            ended = self.cursor.at_end() or self.cursor.next_is(self.ends)
            if value is not _FAILED and ended:
                return value
        return _FAILED

    def _read_one(self, hint: Hint) -> object:
        if hint in _READERS:
            return _READERS[hint](self)
        if get_origin(hint) is Literal:
            return self._read_choice({format_value(a): a for a in get_args(hint)})
        if get_origin(hint) is tuple:
            return self._read_tuple(get_args(hint))
        if isinstance(hint, type) and issubclass(hint, Enum):
            return self._read_choice({format_value(e): e for e in hint})
        return self._read_attribute(hint)

    def read_bool(self) -> object:
        return self._read_choice({"true": True, "false": False})

    def read_none(self) -> object:
        return self._read_choice({"none": None})

    def read_int(self) -> object:
        text = self.cursor.take(_INT)
        if text is None or len(text) > _MAX_DIGITS:
            return _FAILED
        return int(text, 16 if "x" in text else 10)

    def read_float(self) -> object:
        text = self.cursor.take(_FLOAT)
        return _FAILED if text is None else float(text)

    def read_str(self) -> object:
        if (literal := self.cursor.take(_STRING)) is not None:
            return _unquote(literal)
        word = self.cursor.take(_WORD)
        return _FAILED if word is None else word

    def _read_choice(self, choices: dict[str, object]) -> object:
        literal = self.cursor.take(_STRING)
        word = literal if literal is not None else self.cursor.take(_WORD)
        if word is None:
            word = self.cursor.take(_INT) or ""
        if literal is not None and word not in choices:
            word = format_value(_unquote(literal))
        return choices.get(word, _FAILED)

    def _read_tuple(self, members: tuple[Hint, ...]) -> object:
        bracketed = self.cursor.take_character("[")
        if not bracketed and "]" in self.ends:
            return _FAILED  # a list in a list has its brackets
        ends = ",] \t\n\r" if bracketed else self.ends + ","
        values: list[object] = []
        self._skip_space(bracketed)
        if bracketed and self.cursor.take_character("]"):
            return _checked_tuple(values, members)
        while True:
            hint = members[0] if members[-1] is ... else _item(members, len(values))
            value = _FAILED if hint is None else _Reader(self.cursor, ends).read(hint)
            if value is _FAILED:
                return _FAILED
            values.append(value)
            self._skip_space(bracketed)
            if not self.cursor.take_character(","):
                break
            self._skip_space(bracketed)
        if bracketed and not self.cursor.take_character("]"):
            return _FAILED
        return _checked_tuple(values, members)

    def _skip_space(self, bracketed: bool) -> None:
        if bracketed:
            self.cursor.skip_space()

    def _read_attribute(self, hint: Hint) -> object:
        cursor = self.cursor
        start = cursor.position
        try:
            value, cursor.position = parse_attribute_prefix(
                cursor.ctx, cursor.text, start
            )
        except ParseError as e:
            cursor.fail(e.msg, start + e.span.start)
        if not isa(value, hint):
            return _FAILED
        return value


_READERS: dict[Hint, Callable[[_Reader], object]] = {
    bool: _Reader.read_bool,
    int: _Reader.read_int,
    float: _Reader.read_float,
    str: _Reader.read_str,
    types.NoneType: _Reader.read_none,
}


def _members(hint: Hint) -> tuple[Hint, ...]:
    return get_args(hint) if _is_union(hint) else (hint,)


def _rank(hint: Hint) -> int:
    """The narrow types of a union are tried first, strings after all words."""
    if hint in (bool, int, float):
        return (bool, int, float).index(hint)
    if hint is types.NoneType:
        return 4
    if hint is str:
        return 6
    if get_origin(hint) is tuple:
        return 7
    if get_origin(hint) is Literal or (isinstance(hint, type) and _is_enum(hint)):
        return 3
    return 8


def _is_enum(cls: type) -> bool:
    return issubclass(cls, Enum)


def _item(members: tuple[Hint, ...], index: int) -> Hint | None:
    return members[index] if index < len(members) else None


def _checked_tuple(values: list[object], members: tuple[Hint, ...]) -> object:
    fixed = bool(members) and members[-1] is not ...
    return _FAILED if fixed and len(values) != len(members) else tuple(values)
