"""
Regular expressions of LLVM, which are POSIX extended ones, as those of Python.

What Python would read differently is refused: `\\d`, which is the letter `d`, lazy
repetitions, groups with `(?`, references to groups.
"""

import re

from transom.tools.filecheck.diagnostics import BadPattern

CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r"\ \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\ \t\n\r\f\v",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}

MEANT = {
    "d": "[0-9]",
    "w": "[A-Za-z0-9_]",
    "s": "[[:space:]]",
    "D": "[^0-9]",
    "W": "[^A-Za-z0-9_]",
    "S": "[^[:space:]]",
    "n": "a CHECK-NEXT line",
    "t": "[[:blank:]]",
}
"""What stands behind a backslash by mistake, and what to write for it."""

_BOUND = re.compile(r"\{(\d+)(?:(,)(\d*))?\}")


def to_python(pattern: str) -> str:
    """The same pattern for `re`, without groups. Raises `BadPattern`."""
    return _Translation(pattern).all()


class _Translation:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.parts: list[str] = []
        self.depth = 0
        self.is_repeatable = False
        """Whether what was read last can be repeated."""
        self.is_empty = True
        """Whether the alternative has nothing yet."""

    def all(self) -> str:
        while self.at < len(self.pattern):
            self.one()
        if self.depth:
            self.fail("parentheses not balanced")
        if self.is_empty and self.pattern:
            self.fail("empty (sub)expression")
        return "".join(self.parts)

    def fail(self, message: str, at: int | None = None) -> None:
        where = min(self.at if at is None else at, max(len(self.pattern) - 1, 0))
        raise BadPattern(where, f"invalid regex: {message}")

    def one(self) -> None:
        character = self.pattern[self.at]
        match character:
            case "\\":
                self.escape()
            case "[":
                self.bracket()
            case "(":
                self.open()
            case ")":
                self.close()
            case "|":
                if self.is_empty:
                    self.fail("empty (sub)expression")
                self.add("|", repeatable=False)
                self.is_empty = True
            case "*" | "+" | "?":
                self.repeat(character)
            case "{" if (bound := _BOUND.match(self.pattern, self.at)) is not None:
                self.bound(bound)
            case "{" if self.pattern[self.at + 1 : self.at + 2].isdigit():
                self.fail("braces not balanced; write {{(a{2})}}, not {{a{2}}}")
            case "^" | "$" | ".":
                self.add(character, repeatable=character == ".")
            case _:
                self.add(re.escape(character))

    def add(self, part: str, *, repeatable: bool = True, size: int = 1) -> None:
        self.parts.append(part)
        self.at += size
        self.is_repeatable = repeatable
        self.is_empty = False

    def escape(self) -> None:
        if self.at + 1 == len(self.pattern):
            self.fail("trailing backslash (\\)")
        character = self.pattern[self.at + 1]
        if character.isdigit() and character != "0":
            self.fail("references to groups are not supported; name a part [[NAME:…]]")
        if character.isalnum():
            help = f"; write {MEANT[character]}" if character in MEANT else ""
            self.fail(f"'\\{character}' is the letter '{character}'{help}")
        self.add(re.escape(character), size=2)

    def open(self) -> None:
        if self.pattern.startswith("(?", self.at):
            self.fail("repetition-operator operand invalid", self.at + 1)
        self.depth += 1
        self.add("(?:", repeatable=False)
        self.is_empty = True

    def close(self) -> None:
        if not self.depth:
            self.fail("parentheses not balanced")
        if self.is_empty and self.parts[-1] != "(?:":
            self.fail("empty (sub)expression")
        self.depth -= 1
        self.add(")")

    def repeat(self, operator: str) -> None:
        if not self.is_repeatable:
            self.fail("repetition-operator operand invalid")
        self.add(operator, repeatable=False)

    def bound(self, bound: re.Match[str]) -> None:
        if not self.is_repeatable:
            self.fail("repetition-operator operand invalid")
        low, high = int(bound[1]), int(bound[3] or 255)
        if low > 255 or high > 255 or low > high:
            self.fail("invalid repetition count(s)")
        self.add(bound[0], repeatable=False, size=len(bound[0]))

    def bracket(self) -> None:
        """A set of characters, in which a backslash is one of them."""
        start, pattern = self.at, self.pattern
        at = start + 1
        is_negated = pattern.startswith("^", at)
        at += is_negated
        parts: list[str] = []
        while not (pattern.startswith("]", at) and parts):
            if at >= len(pattern):
                self.fail("brackets ([ ]) not balanced", start)
            if pattern.startswith(("[=", "[."), at):
                self.fail("collating elements are not supported", at)
            if pattern.startswith("[:", at):
                end = pattern.find(":]", at)
                name = pattern[at + 2 : end]
                if end < 0 or name not in CLASSES:
                    self.fail("invalid character class", at)
                parts.append(CLASSES[name])
                at = end + 2
                continue
            first, at = pattern[at], at + 1
            if (
                pattern.startswith("-", at)
                and at + 1 < len(pattern)
                and pattern[at + 1] != "]"
            ):
                last, at = pattern[at + 1], at + 2
                if last < first:
                    self.fail("invalid character range", at - 3)
                parts.append(f"{_in_set(first)}-{_in_set(last)}")
            else:
                parts.append(_in_set(first))
        # No negated set matches the end of a line.
        content = ("^\\n" if is_negated else "") + "".join(parts)
        self.add(f"[{content}]", size=at + 1 - start)


def _in_set(character: str) -> str:
    return f"\\{character}" if character in "\\]^-[&~|" else character
