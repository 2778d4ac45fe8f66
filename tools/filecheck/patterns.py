"""
Patterns: literal text with `{{regex}}`, `[[NAME:regex]]`, `[[NAME]]` and `[[#…]]`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from transom.tools.filecheck.diagnostics import BadPattern
from transom.tools.filecheck.expressions import (
    NAME,
    Expression,
    Format,
    UndefinedVariable,
    Unrepresentable,
    parse_expression,
)
from transom.tools.filecheck.posix import to_python

T = TypeVar("T")

_STRING = re.compile(rf"({NAME})(:)?")
_FORMAT = re.compile(r"\s*%(#)?(?:\.(\d+))?([udxX])?\s*(,|$)")
_DEFINITION = re.compile(rf"\s*({NAME})\s*:")
_LEGACY_LINE = re.compile(r"@LINE\s*(?:([+-])\s*(\d+)\s*)?")


@dataclass
class Variables:
    """What variables stand for at a point of the matching."""

    strings: dict[str, str] = field(default_factory=dict[str, str])
    numbers: dict[str, int] = field(default_factory=dict[str, int])

    def clear_local(self) -> None:
        """Forget those without a `$` before their name."""
        for values in (self.strings, self.numbers):
            for name in [name for name in values if not name.startswith("$")]:
                del values[name]

    def number(self, name: str) -> int:
        """Raises `UndefinedVariable`."""
        if name not in self.numbers:
            raise UndefinedVariable(name)
        return self.numbers[name]


@dataclass(frozen=True)
class Literal:
    text: str


@dataclass(frozen=True)
class Regex:
    """A regular expression of Python; with a name it defines a variable."""

    pattern: str
    name: str | None = None


@dataclass(frozen=True)
class StringUse:
    name: str
    offset: int = 0
    """Where the block is in the pattern."""


@dataclass(frozen=True)
class Number:
    """A number: any, or that of an expression; with a name it defines a variable."""

    format: Format
    expression: Expression | None
    name: str | None
    source: str
    """The text in the brackets."""
    offset: int = 0


Part = Literal | Regex | StringUse | Number


@dataclass(frozen=True)
class Options:
    """What changes how patterns are read and matched."""

    strict_whitespace: bool = False
    full_lines: bool = False
    ignore_case: bool = False


@dataclass(frozen=True)
class Found:
    """Where a pattern was found, in the text that it was searched in."""

    start: int
    end: int


@dataclass(frozen=True)
class Pattern:
    """What a check line says, ready to be searched for."""

    text: str
    """As it is written."""
    parts: tuple[Part, ...]
    options: Options

    @property
    def has_variables(self) -> bool:
        """Whether it uses variables, or defines one that is a text."""
        return any(
            isinstance(part, StringUse)
            or (isinstance(part, Regex) and part.name is not None)
            or (isinstance(part, Number) and part.expression is not None)
            for part in self.parts
        )

    def find(self, text: str, variables: Variables) -> Found | None:
        """
        The first place in a text, and there the longest; sets variables.

        Raises `UndefinedVariable` and `Unrepresentable`.
        """
        literal = self._literal()
        if literal is not None:
            at = text.find(literal)
            return None if at < 0 else Found(at, at + len(literal))
        regex = re.compile(
            self._regex(variables),
            re.MULTILINE | (re.IGNORECASE if self.options.ignore_case else 0),
        )
        match = regex.search(text)
        if match is None:
            return None
        if self._has_alternatives():
            match = _longest(regex, match)
        self._define(match, variables)
        return Found(match.start(), match.end())

    def _has_alternatives(self) -> bool:
        """Whether a match may be longer than the one that Python finds."""
        return any(
            isinstance(part, Regex)
            and re.search(r"[|?]", part.pattern.replace("(?:", "")) is not None
            for part in self.parts
        )

    def _literal(self) -> str | None:
        if self.options.full_lines or self.options.ignore_case:
            return None
        if all(isinstance(part, Literal) for part in self.parts):
            return "".join(p.text for p in self.parts if isinstance(p, Literal))
        return None

    def _regex(self, variables: Variables) -> str:
        defined: dict[str, int] = {}
        result: list[str] = []
        for index, part in enumerate(self.parts):
            match part:
                case Literal():
                    result.append(re.escape(part.text))
                case Regex(name=None):
                    result.append(f"(?:{part.pattern})")
                case Regex(name=str() as name):
                    defined[name] = index
                    result.append(f"(?P<p{index}>{part.pattern})")
                case StringUse(name, _) if name in defined:
                    result.append(f"(?P=p{defined[name]})")
                case StringUse(name, offset):
                    if name not in variables.strings:
                        raise UndefinedVariable(name, offset)
                    result.append(re.escape(variables.strings[name]))
                case Number(expression=None):
                    result.append(f"(?P<p{index}>{part.format.pattern()})")
                case Number():
                    value = re.escape(_value_text(part, variables))
                    result.append(f"(?P<p{index}>{value})")
                case _:
                    raise AssertionError("all parts are above")
        pattern = "".join(result)
        if self.options.full_lines:
            gap = "" if self.options.strict_whitespace else " *"
            pattern = f"^{gap}{pattern}{gap}$"
        return pattern

    def _define(self, match: re.Match[str], variables: Variables) -> None:
        # Of a name that is defined twice the last one counts.
        for index, part in enumerate(self.parts):
            if isinstance(part, Regex) and part.name is not None:
                variables.strings[part.name] = match[f"p{index}"]
            elif isinstance(part, Number) and part.name is not None:
                variables.numbers[part.name] = part.format.read(match[f"p{index}"])

    def substitutions(self, variables: Variables) -> list[tuple[str, str]]:
        """What each use of a variable stands for, for messages."""
        found: dict[str, str] = {}
        for part in self.parts:
            if isinstance(part, StringUse) and part.name in variables.strings:
                found[part.name] = variables.strings[part.name]
            elif isinstance(part, Number) and part.expression is not None:
                try:
                    found[part.source] = _value_text(part, variables)
                except (UndefinedVariable, Unrepresentable):
                    continue
        return list(found.items())

    def example(self, values: Mapping[str, str]) -> str:
        """Literal text that looks like it, with what variables stand for."""
        shown: list[str] = []
        for part in self.parts:
            match part:
                case Literal(text):
                    shown.append(text)
                case StringUse(name, _):
                    shown.append(values.get(name, ""))
                case Number():
                    shown.append(values.get(part.source, ""))
                case Regex():
                    pass
        return "".join(shown)


def _value_text(part: Number, variables: Variables) -> str:
    assert part.expression is not None, "the caller has looked"
    try:
        return part.format.write(part.expression.evaluate(variables.number))
    except UndefinedVariable as e:
        raise UndefinedVariable(e.name, part.offset) from None
    except Unrepresentable as e:
        raise Unrepresentable(str(e), part.offset) from None


def _longest(regex: re.Pattern[str], match: re.Match[str]) -> re.Match[str]:
    """
    The longest match from the same start, which is what POSIX asks for; Python takes
    the first alternative.
    """
    end = match.string.find("\n", match.end())
    end = len(match.string) if end < 0 else end
    for stop in range(end, match.end(), -1):
        longer = regex.fullmatch(match.string, match.start(), stop)
        # A text that is cut has an end there, which is none of a line.
        if longer is not None and (stop == end or "$" not in regex.pattern):
            return longer
    return match


@dataclass
class PatternParser:
    """Reads the patterns of one check file."""

    options: Options
    number_formats: dict[str, Format] = field(default_factory=dict[str, Format])
    """Formats of the numeric variables that were defined so far."""
    kinds: dict[str, bool] = field(default_factory=dict[str, bool])
    """For each variable that was defined so far: whether it is numeric."""

    def parse(
        self,
        text: str,
        line: int,
        *,
        is_literal: bool = False,
        is_negative: bool = False,
    ) -> Pattern:
        """
        Raises `BadPattern`; `line` is what `@LINE` means. What shall not match need not
        be a whole line.
        """
        options = self.options
        if is_negative:
            options = replace(options, full_lines=False)
        if is_literal:
            return Pattern(text, (Literal(text),), options)
        parts: list[Part] = []
        at = 0
        while at < len(text):
            if text.startswith("{{", at):
                end = _end_of_regex(text, at)
                if end == at + 2:
                    raise BadPattern(end, "invalid regex: empty (sub)expression")
                parts.append(Regex(_at(at + 2, to_python, text[at + 2 : end])))
                at = end + 2
            elif text.startswith("[[", at):
                end = _end_of_block(text, at)
                parts.append(self._block(text[at + 2 : end], at + 2, line, parts))
                at = end + 2
            else:
                found = [text.find(opening, at) for opening in ("{{", "[[")]
                end = min((f for f in found if f >= 0), default=len(text))
                parts.append(Literal(text[at:end]))
                at = end
        return Pattern(text, tuple(parts), options)

    def _block(self, text: str, offset: int, line: int, before: Sequence[Part]) -> Part:
        if text.startswith("#"):
            return self._number(text[1:], offset + 1, line, before)
        if (legacy := _LEGACY_LINE.fullmatch(text)) is not None:
            distance = int((legacy[1] or "+") + (legacy[2] or "0"))
            here = Expression(lambda _: line + distance, ())
            return Number(Format(), here, None, text, offset)
        match = _STRING.match(text)
        if match is None:
            raise BadPattern(
                offset, "invalid variable name; write {{\\[\\[}} for two brackets"
            )
        name = match[1]
        if name.startswith("@"):
            raise BadPattern(offset, f"invalid pseudo variable '{name}'")
        if match[2]:
            self._is_free(name, False, offset)
            regex = _at(offset + match.end(), to_python, text[match.end() :])
            self.kinds[name] = False
            return Regex(regex, name)
        if match.end() != len(text):
            raise BadPattern(offset, "invalid name in string variable use")
        if self.kinds.get(name):
            raise BadPattern(
                offset, f"'{name}' is a numeric variable; write [[#{name}]]"
            )
        return StringUse(name, offset)

    def _number(
        self, text: str, offset: int, line: int, before: Sequence[Part]
    ) -> Number:
        source = "#" + text
        rest, explicit = text, None
        if text.lstrip().startswith("%"):
            match = _FORMAT.match(text)
            if match is None:
                raise BadPattern(offset, "invalid format specifier in expression")
            explicit = Format(match[3] or "u", int(match[2] or 0), match[1] is not None)
            if explicit.has_prefix and explicit.kind not in "xX":
                raise BadPattern(offset, "alternate form only supported for hex values")
            rest = text[match.end() :]
        name = None
        if (match := _DEFINITION.match(rest)) is not None:
            name, rest = match[1], rest[match.end() :]
            if name.startswith("@"):
                raise BadPattern(
                    offset, "definition of pseudo numeric variable unsupported"
                )
            self._is_free(name, True, offset)
        if (constraint := re.match(r"\s*==", rest)) is not None:
            rest = rest[constraint.end() :]
            if not rest.strip():
                raise BadPattern(
                    offset + len(text),
                    "empty numeric expression should not have a constraint",
                )
        start = offset + len(text) - len(rest)
        expression = _at(start, lambda part: parse_expression(part, line), rest)
        for used in () if expression is None else expression.names:
            if any(isinstance(p, Number) and p.name == used for p in before):
                raise BadPattern(
                    offset,
                    f"numeric variable '{used}' defined earlier in the same CHECK "
                    "directive",
                )
            if self.kinds.setdefault(used, True) is False:
                raise BadPattern(
                    offset, f"'{used}' is a string variable; write [[{used}]]"
                )
            self.number_formats.setdefault(used, Format())
        format = explicit or self._implicit_format(expression, offset)
        if name is not None:
            self.kinds[name] = True
            if self.number_formats.get(name, format) != format:
                raise BadPattern(
                    offset, "format different from previous variable definition"
                )
            self.number_formats[name] = format
        return Number(format, expression, name, source, offset)

    def _implicit_format(self, expression: Expression | None, offset: int) -> Format:
        names = () if expression is None else expression.names
        formats = {
            name: self.number_formats[name]
            for name in names
            if name in self.number_formats
        }
        if len(set(formats.values())) > 1:
            (a, one), (b, other) = list(formats.items())[:2]
            raise BadPattern(
                offset,
                f"implicit format conflict between '{a}' (%{one.kind}) and '{b}' "
                f"(%{other.kind}), need an explicit format specifier",
            )
        return next(iter(formats.values()), Format())

    def _is_free(self, name: str, numeric: bool, offset: int) -> None:
        if self.kinds.get(name, numeric) is not numeric:
            other = "string" if numeric else "numeric"
            raise BadPattern(
                offset, f"{other} variable with name '{name}' already exists"
            )


def _at(offset: int, parse: Callable[[str], T], text: str) -> T:
    """Parse a part of a pattern; errors are at an offset in the whole."""
    try:
        return parse(text)
    except BadPattern as e:
        raise BadPattern(offset + e.offset, e.message) from None


def _end_of_regex(text: str, start: int) -> int:
    """Where the `}}` is that belongs to the `{{` at a place."""
    end = text.find("}}", start + 2)
    if end < 0:
        raise BadPattern(start, "found start of regex string with no end '}}'")
    return end


def _end_of_block(text: str, start: int) -> int:
    """Where the `]]` is that belongs to the `[[` at a place."""
    at, depth = start + 2, 0
    while at < len(text):
        if depth == 0 and text.startswith("]]", at):
            return at
        if text[at] == "\\":
            at += 1
        elif text[at] == "[":
            depth += 1
        elif text[at] == "]":
            if depth == 0:
                raise BadPattern(at, 'missing closing "]" for regex variable')
            depth -= 1
        at += 1
    raise BadPattern(start, "invalid substitution block, no ]] found")
