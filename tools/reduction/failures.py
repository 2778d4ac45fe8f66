"""
How a command failed, told so that it stays the same when the module gets smaller.

Names of values and symbols, numbers, types, and IR in quotes other than names of ops
change with the module; they are left out of the message, and so is help after `; `.
What a program says first counts.
"""

import re
from dataclasses import dataclass

_ERROR = re.compile(r"^(?:.*?: )?(?:fatal )?error: (?P<message>.*)$", re.MULTILINE)
_BUG = re.compile(
    r"^(?:pass '[^']*' failed: )?(\w+): .*? at (\S+\.py):\d+; this is a bug"
)
_TRACEBACK = re.compile(r"^(\w+(?:\.\w+)*(?:Error|Exception|Interrupt)): (.*)$", re.M)
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_OP_NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+")
_PARAMETERS = re.compile(r"<[^<>]*>")
_CHANGING = re.compile(r"@[\w$.-]+|%[\w$.#-]+|\^\w+|#\w+|\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Failure:
    """An exit status, negative for a signal, and what was said first."""

    status: int
    message: str | None

    def __str__(self) -> str:
        what = f"signal {-self.status}" if self.status < 0 else f"status {self.status}"
        return what if self.message is None else f"{what}, '{self.message}'"


def failure_of(status: int, error: str) -> Failure:
    """The failure that an exit status and a standard error tell of."""
    if status < 0:
        return Failure(status, None)
    if (match := _ERROR.search(error)) is not None:
        return Failure(status, normalised(match["message"]))
    lines = _TRACEBACK.findall(error)
    if lines:
        kind, message = lines[-1]
        return Failure(status, f"{kind}: {normalised(message)}")
    return Failure(status, None)


def normalised(message: str) -> str:
    """A message without what changes with the module."""
    if (bug := _BUG.match(message)) is not None:
        return f"{bug[1]} at {bug[2]}"

    def shortened(match: re.Match[str]) -> str:
        text = match[1] if match[1] is not None else match[2]
        return text if _OP_NAME.fullmatch(text) else "_"

    message = _QUOTED.sub(shortened, message).replace("->", "to")
    while (shorter := _PARAMETERS.sub("_", message)) != message:
        message = shorter
    return _CHANGING.sub("_", message.partition("; ")[0])
