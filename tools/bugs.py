"""
An exception that nobody expected, of the compiler or of a plug-in, as one line.

```text
m.mlir:4:8: error: pass 'convert-graph-to-tir' failed: KeyError: 'x' in CallMatmul on
'graph.matmul' at woofles/hooks.py:58; this is a bug, '--traceback' shows more
```

Whose code it is: that of the last frame outside of transom, of what it is made with and
of the standard library, or else of the last frame.
"""

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr

from transom.dialects.diagnostics import Diagnostic, PlacedNote, position_of
from transom.dialects.raising_code import code_of_others, last_code

TRACEBACK = "--traceback"
TRACEBACK_HELP = "end in a traceback where the compiler or a plug-in itself is wrong"


def bug(
    error: Exception, pass_name: str | None = None, start: LocationAttr = UNKNOWN_LOC
) -> Diagnostic:
    """
    What the user sees of an exception: at the op that was being rewritten, if the
    exception tells of one, else at `start`.
    """
    note = next(iter(_placed_notes(error)), None)
    doing = "" if note is None else f" {note}"
    message = str(error).split("\n")[0]
    failed = "" if pass_name is None else f"pass '{pass_name}' failed: "
    return Diagnostic(
        "error",
        start if note is None or position_of(note.location) is None else note.location,
        f"{failed}{type(error).__name__}: {message}{doing}{_where(error)}; "
        f"this is a bug, '{TRACEBACK}' shows more",
    )


def _placed_notes(error: Exception) -> list[PlacedNote]:
    """What was being done, innermost first."""
    notes: list[str] = getattr(error, "__notes__", [])
    return [note for note in notes if isinstance(note, PlacedNote)]


def _where(error: Exception) -> str:
    code = code_of_others(error) or last_code(error)
    return "" if code is None else f" at {code}"
