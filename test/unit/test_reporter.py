"""Errors as text and as JSON, and how programs end early."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opt_program import Run, run_fixture
from xdsl.dialects.builtin import NameLoc, NoneAttr, StringAttr

from transom.dialects.diagnostics import Diagnostic, Note, OpError, file_location
from transom.passes.pipeline import PipelineError
from transom.tools import transom_run
from transom.tools.exit_status import exit_status
from transom.tools.memory_limit import MemoryLimitError
from transom.tools.reporter import Reporter

__all__ = ["run_fixture"]

Capture = pytest.CaptureFixture[str]

BAD = """\
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.relo %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""


def objects(text: str) -> list[dict[str, Any]]:
    """A JSON object a line."""
    return [json.loads(line) for line in text.splitlines()]


def test_a_note_is_one_line_and_an_error_shows_its_place(
    capsys: Capture, tmp_path: Path
) -> None:
    (tmp_path / "a.mlir").write_text(BAD)
    here = file_location(str(tmp_path / "a.mlir"), 1, 1)
    reporter = Reporter("p")
    reporter.emit(Diagnostic("note", here, "that is so"))
    assert capsys.readouterr().err.endswith("a.mlir:1:1: note: that is so\n")
    reporter.emit(OpError(here, "not so", Note(here, "there")).diagnostic())
    assert capsys.readouterr().err.count("func.func @f") == 2


def test_an_error_with_its_range_and_notes(capsys: Capture) -> None:
    reporter = Reporter("p", as_json=True)
    here, there = file_location("a.mlir", 3, 8), file_location("é.mlir", 1, 2)
    error = OpError(here, "expected „this“", Note(there, "that is here"))
    reporter.emit(error.diagnostic())
    text = capsys.readouterr().err
    assert "„this“" in text
    assert objects(text) == [
        {
            "severity": "error",
            "file": "a.mlir",
            "line": 3,
            "column": 8,
            "message": "expected „this“",
            "notes": [
                {
                    "severity": "note",
                    "file": "é.mlir",
                    "line": 1,
                    "column": 2,
                    "message": "that is here",
                    "notes": [],
                }
            ],
        }
    ]


def test_a_place_without_a_file_has_its_name(capsys: Capture) -> None:
    reporter = Reporter("p", as_json=True)
    location = NameLoc(StringAttr("Conv_3"), NoneAttr())
    reporter.emit(Diagnostic("warning", location, "m"))
    (fields,) = objects(capsys.readouterr().err)
    assert (fields["file"], fields["line"], fields["column"]) == (None, None, None)
    assert (fields["severity"], fields["name"]) == ("warning", "Conv_3")


def test_the_range_of_what_is_wrong(run: Run) -> None:
    (fields,) = objects(run(BAD, "--error-format=json").err)
    assert fields["message"] == "unknown op 'graph.relo'; did you mean 'graph.relu'?"
    assert fields["range"] == {
        "start": {"line": 2, "column": 8},
        "end": {"line": 2, "column": 18},
    }


def test_every_diagnostic_is_an_object(run: Run) -> None:
    text = f"{BAD}// -----\n{BAD}"
    found = objects(run(text, "--split-input-file", "--error-format=json").err)
    assert [fields["line"] for fields in found] == [2, 7]


def test_errors_of_the_command_line(run: Run) -> None:
    result = run(BAD, "--error-format=json", "-p", "func.func(cs)")
    assert result.status == 2
    assert objects(result.err) == [
        {
            "severity": "error",
            "file": None,
            "line": None,
            "column": None,
            "message": "unknown pass 'cs'; did you mean 'cse'?",
            "notes": [],
            "pipeline": "func.func(cs)",
            "offset": 10,
        }
    ]
    (fields,) = objects(run(BAD, "--too", "--error-format", "json").err)
    assert fields["message"] == "unknown option '--too'; did you mean '--to'?"


def test_problems_with_expectations(run: Run) -> None:
    text = "// expected-error {{x}}\n"
    (fields,) = objects(run(text, "--verify-diagnostics", "--error-format=json").err)
    assert fields["message"] == 'expected error "x" was not produced'


def test_transom_run_has_it_too(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(BAD.encode()))
    monkeypatch.setattr("sys.stdin", stdin)
    assert transom_run.main(["-", "--error-format=json"]) == 1
    (fields,) = objects(capsys.readouterr().err)
    assert (fields["file"], fields["line"]) == ("<stdin>", 2)
    assert transom_run.main(["--error-format=json", "a.mlir", "--rtol", "x"]) == 2
    (fields,) = objects(capsys.readouterr().err)
    assert fields["message"] == "argument --rtol: invalid float value: 'x'"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variable", "value", "colored"),
    [("TERM", "xterm", True), ("NO_COLOR", "1", False), ("TERM", "dumb", False)],
)
def test_colours_on_a_terminal(
    variable: str, value: str, colored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv(variable, value)
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    Reporter("p").emit(Diagnostic("error", file_location("a", 1, 2), "m"))
    severity = "\x1b[1;31merror:\x1b[0m" if colored else "error:"
    assert terminal.getvalue() == f"a:1:2: {severity} m\n"


# The end of a program.


def raising(error: BaseException) -> Callable[[], bool]:
    def body() -> bool:
        raise error

    return body


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (PipelineError("expected x"), 2, "p: error: expected x\n"),
        (MemoryLimitError("no limit"), 2, "p: error: no limit\n"),
        (
            OpError(file_location("a", 1, 2), "expected x"),
            1,
            "a:1:2: error: expected x\n",
        ),
        (OSError(2, "No such file", "a.mlir"), 1, "p: error: a.mlir: No such file\n"),
        (OSError(5, "Input/output error"), 1, "p: error: Input/output error\n"),
        (BrokenPipeError(), 1, ""),
        (MemoryError(), 1, "p: error: out of memory\n"),
        (KeyboardInterrupt(), 130, ""),
        (SystemExit(), 0, ""),
        (SystemExit(3), 3, ""),
        (KeyError("for the user"), 1, "p: error: 'for the user'\n"),
    ],
)
def test_exit_status(
    error: BaseException, status: int, text: str, capsys: Capture
) -> None:
    assert exit_status(Reporter("p"), [], raising(error), KeyError) == status
    assert capsys.readouterr().err == text


def test_exit_status_of_a_result() -> None:
    assert exit_status(Reporter("p"), [], lambda: True) == 0
    assert exit_status(Reporter("p"), [], lambda: False) == 1


def test_a_bug_is_not_hidden() -> None:
    with pytest.raises(KeyError):
        exit_status(Reporter("p"), ["--traceback"], raising(KeyError("x")))


def test_no_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    assert exit_status(Reporter("p"), [], raising(MemoryError())) == 1
