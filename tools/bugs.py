"""
An exception that nobody expected, of the compiler or of a plug-in, as one line.

```text
m.mlir:4:8: error: pass 'convert-graph-to-tir' failed: KeyError: 'x' in CallMatmul on
'graph.matmul' at woofles/hooks.py:58; this is a bug, '--traceback' shows more
```

Whose code it is: that of the last frame outside of transom, of what it is made with and
of the standard library, or else of the last frame.
"""

import traceback

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr, UnregisteredOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern

from transom.dialects.diagnostics import Diagnostic, PlacedNote, position_of
from transom.dialects.raising_code import code_of_others, last_code

TRACEBACK = "--traceback"
TRACEBACK_HELP = "end in a traceback where the compiler or a plug-in itself is wrong"


def bug(
    error: Exception,
    pass_name: str | None = None,
    start: LocationAttr = UNKNOWN_LOC,
    verdict: str = "this is a bug",
) -> Diagnostic:
    """
    What the user sees of an exception: at the op that was being rewritten, if the
    exception tells of one, else at `start`.
    """
    note = next(iter(_placed_notes(error)), None) or _rewriting(error)
    doing = "" if note is None else f" {note}"
    message = str(error).split("\n")[0]
    failed = "" if pass_name is None else f"pass '{pass_name}' failed: "
    return Diagnostic(
        "error",
        start if note is None or position_of(note.location) is None else note.location,
        f"{failed}{type(error).__name__}: {message}{doing}{_where(error)}; "
        f"{verdict}, '{TRACEBACK}' shows more",
    )


def _placed_notes(error: Exception) -> list[PlacedNote]:
    """What was being done, innermost first."""
    notes: list[str] = getattr(error, "__notes__", [])
    return [note for note in notes if isinstance(note, PlacedNote)]


def _rewriting(error: Exception) -> PlacedNote | None:
    """The innermost pattern that was rewriting an op, by the frames of its methods."""
    found: PlacedNote | None = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
        pattern, op = (frame.f_locals.get(name) for name in (*names, "", "")[:2])
        if isinstance(pattern, RewritePattern) and isinstance(op, Operation):
            name = op.op_name.data if isinstance(op, UnregisteredOp) else op.name
            text = f"in {type(pattern).__name__} on '{name}'"
            found = PlacedNote(text, op.location)
    return found


def _where(error: Exception) -> str:
    code = code_of_others(error) or last_code(error)
    return "" if code is None else f" at {code}"
