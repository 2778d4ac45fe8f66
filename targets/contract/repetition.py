"""
Rules that take running passes again: the same text on the same module, no change the
second time. They cost time, and are checked where a target is tested.
"""

from collections.abc import Callable
from io import StringIO
from itertools import takewhile, zip_longest
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from transom.dialects.diagnostics import OpError
from transom.targets.contract.rules import (
    CHANGED_AGAIN,
    FAILS_AGAIN,
    FAILS_THEN,
    MAX_SHOWN,
    OTHER_TEXT,
    Breach,
    Origin,
    shown,
)


class TextChange(NamedTuple):
    """The first line in which two texts differ."""

    line: int
    first: str
    second: str


def text_change(first: str, second: str) -> TextChange | None:
    """Where two texts differ, or None."""
    if first == second:
        return None
    lines = zip_longest(first.split("\n"), second.split("\n"), fillvalue="")
    for number, (a, b) in enumerate(lines, 1):
        if a != b:
            equal = takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False))
            start = max(0, sum(1 for _ in equal) - MAX_SHOWN // 2)
            return TextChange(number, _from(a, start), _from(b, start))
    raise AssertionError("different texts have different lines")


def _from(line: str, start: int) -> str:
    """A line from somewhere on, if it is too long to be shown as a whole."""
    if start == 0 or len(line.strip()) <= MAX_SHOWN:
        return shown(line.strip())
    return f"…{shown(line[start:])}"


def text_of(module: ModuleOp) -> str:
    """A module with its locations."""
    text = StringIO()
    Printer(stream=text, print_debuginfo=True).print_op(module)
    return text.getvalue()


def check_repetition(
    original: ModuleOp,
    module: ModuleOp,
    origin: Origin,
    again: Callable[[ModuleOp], None],
) -> None:
    """
    Raise `OpError` unless passes that made `module` of `original` do so again, and
    change nothing more in it. Neither module is changed.
    """
    text = text_of(module)
    second = original.clone()
    _run(again, second, FAILS_THEN, origin)
    change = text_change(text, text_of(second))
    if change is not None:
        raise origin.error(OTHER_TEXT, module, **change._asdict())
    third = module.clone()
    _run(again, third, FAILS_AGAIN, origin)
    change = text_change(text, text_of(third))
    if change is not None:
        raise origin.error(CHANGED_AGAIN, module, **change._asdict())


def _run(
    again: Callable[[ModuleOp], None],
    module: ModuleOp,
    failing: Breach,
    origin: Origin,
) -> None:
    try:
        again(module)
    except OpError as e:
        raise origin.error(failing, e.location, *e.notes, message=e.message) from e
