"""
Names of captures, from names of values or from the ops that make them.
"""

import itertools
import re
from dataclasses import dataclass, field

_CONSTANT = re.compile(r"\bconstant (?:\{[^}]*\} )?(-?\d+|true|false)\b")


@dataclass
class Names:
    """Captures of the values of one function, by the values' names in the text."""

    by_value: dict[str, str] = field(default_factory=dict[str, str])
    taken: set[str] = field(default_factory=set[str])

    def bind(self, value: str, wish: str) -> str:
        """A new capture for a value, of a name like the one wished for."""
        name, count = wish, 1
        while name in self.taken:
            name, count = f"{wish}_{count}", count + 1
        self.taken.add(name)
        self.by_value[value] = name
        return name

    def bind_numbered(self, value: str, stem: str) -> str:
        """The same, with the first number behind the name that is free."""
        numbers = (f"{stem}{number}" for number in itertools.count())
        return self.bind(value, next(n for n in numbers if n not in self.taken))

    def get(self, value: str) -> str | None:
        """The capture of a value, if it has one."""
        return self.by_value.get(value)


def of_value(name: str) -> str | None:
    """The capture for a value with a name; None if the name is a number."""
    return None if name.isdigit() else _legal(name)


def of_op(op: str, line: str) -> str:
    """The capture for the result of an op that has no name; `line` is its text."""
    if (constant := _CONSTANT.search(line)) is not None:
        return "C" + _legal(constant[1].replace("-", "M"))
    stem = op.rpartition(".")[2]
    return "CST" if stem == "constant" else _legal(stem)


def _legal(name: str) -> str:
    word = re.sub(r"\W", "_", name, flags=re.ASCII).upper().strip("_")
    return word if word and not word[0].isdigit() else f"V{word}"
