"""
How the programs tell what went wrong: text for people, JSON for editors.

As text, a diagnostic is what `Diagnostic.render` makes of it, and an error without a
place is `PROGRAM: error: MESSAGE`. As JSON, each is an object on a line of its own:

```json
{"severity": "error", "file": "a.mlir", "line": 3, "column": 8, "message": "…",
 "range": {"start": {"line": 3, "column": 8}, "end": {"line": 3, "column": 14}},
 "notes": [{"severity": "note", "file": "a.mlir", "line": 1, "column": 1, …}]}
```

`file`, `line` and `column` are null where there is none, `range` is there if known, and
its end is the first column after it. An error in the text of a pipeline has that text
as `pipeline` and the place in it, counted in characters from 0, as `offset`.
"""

import json
import os
import sys
from dataclasses import dataclass, field
from typing import IO, Any

from transom.dialects.diagnostics import Diagnostic, Position, Sources
from transom.passes.pipeline import PipelineError


@dataclass
class Reporter:
    """Writes diagnostics and errors of a program to standard error."""

    program: str
    as_json: bool = False
    sources: Sources = field(default_factory=Sources)

    def emit(self, diagnostic: Diagnostic) -> None:
        """Write a diagnostic with its notes."""
        if self.as_json:
            self._write_json(_object(diagnostic))
        else:
            # What is only to be known is one line.
            sources = None if diagnostic.severity == "note" else self.sources
            self.write(diagnostic.render(sources, is_colored()))

    def error(self, message: str, severity: str = "error") -> None:
        """Write an error that has no place in a file."""
        if self.as_json:
            self._write_json(_placeless(severity, message))
        else:
            self.write(f"{self.program}: {severity}: {message}")

    def pipeline_error(self, error: PipelineError) -> None:
        """Write what is wrong with the command line, maybe in a pipeline's text."""
        if not self.as_json:
            self.error(str(error))
            return
        fields = _placeless("error", error.message)
        if error.text is not None:
            fields |= {"pipeline": error.text, "offset": error.position}
        self._write_json(fields)

    def write(self, text: str) -> None:
        """Write a line; a standard error that is closed takes none."""
        if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]  # `2>&-`
            return
        sys.stderr.write(text + "\n")

    def _write_json(self, fields: dict[str, Any]) -> None:
        self.write(json.dumps(fields, ensure_ascii=False))


def is_colored() -> bool:
    """Whether standard error is a terminal that is to show colours."""
    quiet = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    stream: IO[str] | None = sys.stderr
    return stream is not None and stream.isatty() and not quiet


def _placeless(severity: str, message: str) -> dict[str, Any]:
    return {
        "severity": severity,
        "file": None,
        "line": None,
        "column": None,
        "message": message,
        "notes": [],
    }


def _object(diagnostic: Diagnostic) -> dict[str, Any]:
    fields = _placeless(diagnostic.severity, diagnostic.message)
    if (start := diagnostic.position) is not None:
        fields |= {"file": start.file, "line": start.line, "column": start.column}
        if diagnostic.end is not None:
            fields["range"] = {"start": _place(start), "end": _place(diagnostic.end)}
    elif diagnostic.name is not None:
        fields["name"] = diagnostic.name
    fields["notes"] = [_object(note) for note in diagnostic.notes]
    return fields


def _place(position: Position) -> dict[str, int]:
    return {"line": position.line, "column": position.column}
