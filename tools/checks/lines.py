"""
Check lines for a text: labels for functions, captures for values, the rest as it is.

```text
func.func @f(%x: i32) -> i32 {    CHECK-LABEL: func.func @f(
                                  CHECK-SAME:    {{^}}%[[X:[^ ,:)]+]]: i32) -> i32
  %0 = arith.addi %x, %x : i32    CHECK-NEXT:    %[[ADDI:.*]] = arith.addi %[[X]], …
  func.return %0 : i32            CHECK-NEXT:    func.return %[[ADDI]] : i32
}
```
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from transom.tools.checks.names import Names, of_op, of_value

MAX_SIGNATURE = 80
"""A longer signature takes a line for each argument."""

VALUE = r"[A-Za-z_$.0-9][\w$.-]*"
CAPTURED = "[^ ,:)]+"
"""What a capture matches among others on its line: no more than one name."""

_SYMBOL = re.compile(
    r"\s*(?P<head>(?P<op>\"?[A-Za-z_][\w$]*(?:\.[\w$]+)+\"?)"
    r"(?:\s+(?:public|private|nested))*\s+@(?P<name>[\w$.-]+|\"[^\"]*\"))(?P<tail>.*)"
)
_LLVM = re.compile(
    r"\s*(?P<head>(?P<op>define|declare)\b[^@]*@(?P<name>[\w$.-]+))(?P<tail>.*)"
)
_OP = re.compile(
    r"\s*(?:(?P<results>%[^=\"]*?)\s*=\s*\"?(?P<op>[A-Za-z_][\w$.-]*)"
    r"|\"?(?P<only_op>[A-Za-z_][\w$]*(?:\.[\w$-]+)+))"
)
_SPECIAL = re.compile(
    r"\[\[+|\{\{+|\b(?:RUN|XFAIL|REQUIRES|UNSUPPORTED|DEFINE):|\bEND\."
    r"|\bexpected-(?:error|warning|note|remark)"
)
"""What means something to FileCheck, lit or `--verify-diagnostics`."""

_TOKEN = re.compile(
    rf"(?P<string>\"(?:[^\"\\]|\\.)*\")|%(?P<value>{VALUE})|\^(?P<block>{VALUE})"
    rf"|(?P<alias>[#!](?P<alias_name>[A-Za-z_]\w*)(?![\w.<]))"
    rf"|{_SPECIAL.pattern}"
)
_ALIAS = re.compile(r"[#!](?P<name>[A-Za-z_]\w*) = ")
_CLOSING = re.compile(r"[\W_]*(loc\(.*\))?")
"""What only ends something, maybe with a place."""
_MODULE = re.compile(r"\s*\"?builtin\.module\"?(?!\s+@)[^%]*[({]\s*")


@dataclass(frozen=True)
class CheckLine:
    """A directive without its prefix: `-NEXT` and what is after the colon."""

    suffix: str
    text: str
    indent: int = 0
    """How far the line is from the left, to be read more easily."""


@dataclass
class Section:
    """Check lines from one label to the next; `name` is the symbol of the label."""

    name: str | None
    lines: list[CheckLine] = field(default_factory=list[CheckLine])


@dataclass(frozen=True)
class Selection:
    """What of a text is wanted; all if nothing is said."""

    functions: Sequence[str] = ()
    ops: Sequence[str] = ()
    """Patterns of names of ops, as `graph.*`."""

    def has_function(self, name: str | None) -> bool:
        return not self.functions or name in self.functions

    def has_op(self, name: str) -> bool:
        return not self.ops or any(fnmatchcase(name, p) for p in self.ops)


def check_lines(text: str, selection: Selection) -> list[Section]:
    """The check lines of a text, by the functions in it."""
    return _Writer(selection).all(text)


@dataclass
class _Line:
    """A line of the text that gets a check line."""

    text: str
    op: str
    indent: int
    is_next: bool
    """Whether the line before has one too."""


@dataclass
class _Writer:
    selection: Selection
    aliases: Names = field(default_factory=Names)

    def all(self, text: str) -> list[Section]:
        sections: list[Section] = []
        for label, lines in _parts(text):
            name = None if label is None else label["name"].strip('"')
            if not self.selection.has_function(name) and label is not None:
                continue
            if self.selection.functions and label is None:
                lines = [line for line in lines if _ALIAS.match(line)]
            section = Section(name)
            names = Names()
            if label is not None:
                section.lines.extend(self.label(label, names))
            kept = list(self.kept(lines, label is not None))
            if not kept and label is not None and self.selection.ops:
                continue
            uses = Counter(
                token["value"]
                for line in kept
                for token in _TOKEN.finditer(line.text)
                if token["value"] is not None
            )
            for line in kept:
                section.lines.append(self.line(line, names, uses))
            if section.lines:
                sections.append(section)
        return sections

    def kept(self, lines: Sequence[str], after_label: bool) -> Iterator[_Line]:
        """The lines that get checks: those of wanted ops, without mere brackets."""
        op, is_next = "", after_label
        for line in lines:
            # What begins with no op goes on with the one before.
            if (match := _OP.match(line)) is not None:
                op = match["op"] or match["only_op"]
            is_wanted = (
                _CLOSING.fullmatch(line) is None
                and _MODULE.fullmatch(line) is None
                and (self.selection.has_op(op) or _ALIAS.match(line) is not None)
            )
            if is_wanted:
                yield _Line(line.strip(), op, len(line) - len(line.lstrip()), is_next)
            is_next = is_wanted

    def label(self, label: re.Match[str], names: Names) -> Iterator[CheckLine]:
        """A label, and what is after it on its line."""
        head, tail = label["head"], label["tail"].removesuffix("{").rstrip()
        if "%" not in _without_strings(tail):
            yield CheckLine("-LABEL", self.escaped(f"{head}{tail}"))
            return
        at = tail.find("(") + 1
        yield CheckLine("-LABEL", self.escaped(head + tail[:at]))
        counts = Counter[str]()
        rest = tail[at:]
        parts = [rest] if len(rest) <= MAX_SIGNATURE else list(_arguments(rest))
        for number, part in enumerate(parts):
            text = self.replaced(part, names, counts, "", is_header=True)
            # Right behind what is before: no argument is passed over.
            yield CheckLine("-SAME", "{{^}}" + " " * (number > 0) + text, 4)

    def line(self, line: _Line, names: Names, uses: Counter[str]) -> CheckLine:
        text = self.replaced(line.text, names, uses, line.op)
        return CheckLine("-NEXT" if line.is_next else "", text, line.indent)

    def escaped(self, text: str) -> str:
        """A text that a pattern matches literally, with captures of aliases."""
        return self.replaced(text, Names(), Counter(), "")

    def replaced(
        self,
        text: str,
        names: Names,
        uses: Counter[str],
        op: str,
        is_header: bool = False,
    ) -> str:
        """A line with captures where values are defined, and uses of them."""
        definitions = len(text) if is_header else _end_of_results(text)
        is_header = is_header or text.startswith("^")
        result: list[str] = []
        at = 0
        if (alias := _ALIAS.match(text)) is not None:
            name = self.aliases.bind(alias["name"], of_value(alias["name"]) or "ALIAS")
            result.append(f"{text[0]}[[{name}:.*]]")
            at = alias.end("name")
        for token in _TOKEN.finditer(text, at):
            result.append(text[at : token.start()])
            at = token.end()
            if token["value"] is not None:
                is_result = token.start() < definitions and not is_header
                is_definition = is_result or is_header or _is_bound(text, at)
                result.append(
                    self.value(
                        token["value"], names, uses, op, text, is_definition, is_result
                    )
                )
            elif token["block"] is not None:
                result.append(self.block(token["block"], names))
            elif token["alias"] is not None:
                name = self.aliases.get(token["alias_name"])
                shown = token[0] if name is None else f"{token[0][0]}[[{name}]]"
                result.append(shown)
            else:
                result.append(_SPECIAL.sub(_escaped, token[0]))
        result.append(text[at:])
        return "".join(result)

    def value(
        self,
        value: str,
        names: Names,
        uses: Counter[str],
        op: str,
        text: str,
        is_definition: bool,
        is_result: bool,
    ) -> str:
        name = names.get(value)
        if name is not None and not is_definition:
            return f"%[[{name}]]"
        if not is_definition and self.selection.ops and uses[value] < 2:
            return f"%{{{{{CAPTURED}}}}}"  # of an op that is not wanted
        wish = of_value(value) or (of_op(op, text) if is_result else None)
        if wish is None:
            name = names.bind_numbered(value, "ARG")
        else:
            name = names.bind(value, wish)
        is_alone = is_result and "," not in text[: _end_of_results(text)]
        return f"%[[{name}:{'.*' if is_alone else CAPTURED}]]"

    def block(self, block: str, names: Names) -> str:
        known = names.get(f"^{block}")
        if known is not None:
            return f"^[[{known}]]"
        wish = of_value(block) or f"BB{block}"
        return f"^[[{names.bind(f'^{block}', wish)}:{CAPTURED}]]"


def _parts(text: str) -> Iterator[tuple[re.Match[str] | None, list[str]]]:
    """The lines before the first label, then each label with the lines after it."""
    label: re.Match[str] | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        found = label_in(line)
        if found is None:
            lines.append(line)
            continue
        yield label, lines
        label, lines = found, []
    yield label, lines


def label_in(line: str) -> re.Match[str] | None:
    """The symbol that a line defines, with `op`, `name`, `head` and `tail`."""
    match = _SYMBOL.fullmatch(line) or _LLVM.fullmatch(line)
    if match is None or "call" in match["op"] or match["op"] == "target.link":
        return None
    return match


def _end_of_results(text: str) -> int:
    """Where the names of the results of an op end."""
    match = _OP.match(text)
    if match is None or match["results"] is None:
        return 0
    return match.end("results")


def _is_bound(text: str, at: int) -> bool:
    """Whether a name is given a value behind it, as in `iter_args(%a = %b)`."""
    return re.match(r"\s*=(?!=)", text[at:]) is not None


def _without_strings(text: str) -> str:
    return re.sub(r"\"(?:[^\"\\]|\\.)*\"", "", text)


def _escaped(match: re.Match[str]) -> str:
    """What means something to FileCheck or lit, so that it does not."""
    text = match[0]
    if text[0].isalpha():
        return f"{text[0]}{{{{{text[1:-1]}}}}}{text[-1]}"
    return "{{" + "".join(f"\\{c}" for c in text) + "}}"


def _arguments(text: str) -> Iterator[str]:
    """The parts of a signature between commas that are in no brackets."""
    depth, start = 0, 0
    for at, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}" or (character == ">" and text[at - 1] != "-"):
            depth -= 1
            if depth < 0:  # behind the arguments
                break
        elif character == "," and depth == 0:
            yield text[start : at + 1].strip()
            start = at + 1
    yield text[start:].strip()
