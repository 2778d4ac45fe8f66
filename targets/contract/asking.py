"""
Asking hooks for what depends on the target alone.
"""

from typing import Any, cast

from transom.dialects.target import TargetAttr
from transom.targets.contract.rules import (
    RAISED,
    WRONG_TYPE,
    Breach,
    Origin,
    shown,
)
from transom.targets.hooks import TargetHooks
from transom.targets.registry import HooksError


class Question:
    """A hook that is asked for a target, and what is wrong with its answer."""

    def __init__(self, hooks: TargetHooks[Any], hook: str, target: TargetAttr) -> None:
        self.hooks = hooks
        self.origin = Origin(hook, target)

    def answer(self, target: TargetAttr | None = None) -> object:
        """What the hook returns, for the target or one equal to it."""
        hook, of = self.origin
        try:
            return cast(object, getattr(self.hooks, hook)(target or of))
        except Exception as e:  # plug-in boundary: hooks are others' code
            error = f"{type(e).__name__}: {e}"
            raise self.error(RAISED, error=error) from e

    def error(self, breach: Breach, **fields: object) -> HooksError:
        """The error of a breach."""
        return HooksError(self.origin.message(breach, **fields))

    def expect(self, holds: bool, expected: str, found: object) -> None:
        """Raise `HooksError` unless an answer is as expected."""
        if not holds:
            raise self.error(WRONG_TYPE, expected=expected, found=kind_of(found))


def kind_of(value: object) -> str:
    """What a value is, for a message."""
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"class '{value.__qualname__}'"
    if isinstance(value, str | bytes | int | float):
        return shown(repr(value))
    return f"'{type(value).__qualname__}'"
