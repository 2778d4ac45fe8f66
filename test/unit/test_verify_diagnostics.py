"""`transom-opt --verify-diagnostics`: what is expected, chunk by chunk."""

import io
import sys
from pathlib import Path

import pytest
from opt_program import Run, run_fixture

from transom.tools import transom_opt

__all__ = ["run_fixture"]

GOOD = "func.func private @good()\n"
BAD = """\
func.func @bad() -> i32 {
  // expected-error @below {{Expected arguments to have the same types}}
  func.return
}
"""
SPLIT = "// -----\n"


def test_all_is_as_expected(run: Run) -> None:
    result = run(BAD, "--verify-diagnostics")
    assert (result.status, result.out, result.err) == (0, "", "")


def test_output_is_still_written(run: Run) -> None:
    assert run(GOOD, "--verify-diagnostics").out.startswith("builtin.module")


def test_what_is_not_produced_is_shown_at_its_comment(run: Run) -> None:
    result = run(f"{GOOD}// expected-warning {{{{w}}}}\n", "--verify-diagnostics")
    assert (result.status, result.err) == (
        1,
        'a.mlir:2:4: error: expected warning "w" was not produced\n'
        "// expected-warning {{w}}\n"
        "   ^\n",
    )


def test_what_is_not_expected_is_shown_at_its_place(run: Run) -> None:
    result = run("\n  func.func @f(", "--verify-diagnostics")
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith("a.mlir:2:16: error: unexpected error: ")
    assert result.err.endswith("\n  func.func @f(\n               ^\n")


def test_only_expected_passes_over_the_rest(run: Run) -> None:
    text = BAD.replace("expected-error", "no error")
    assert run(text, "--verify-diagnostics").status == 1
    assert run(text, "--verify-diagnostics=only-expected").status == 0
    missing = "// expected-error {{x}}\n"
    assert run(missing, "--verify-diagnostics=only-expected").status == 1


def test_comments_are_ignored_without_the_flag(run: Run) -> None:
    # As mlir-opt should (llvm-project#222689).
    result = run("// expected-error @unknown {{an error that is never produced}}\n")
    assert (result.status, result.err) == (0, "")


def test_a_comment_of_another_form_fails(run: Run) -> None:
    result = run("// expected-error {x}\n", "--verify-diagnostics")
    assert (result.status, result.err) == (
        1,
        "a.mlir:1:4: error: expected 'expected-SEVERITY @PLACE {{TEXT}}' up to the "
        "end of the line\n// expected-error {x}\n   ^\n",
    )


def test_each_chunk_by_itself(run: Run) -> None:
    """An error that a later chunk expects does not excuse an earlier one."""
    first = BAD.replace("  // expected-error @below", "  // expected-error @+6")
    text = first + SPLIT + BAD.replace("// expected", "// no")
    result = run(text, "--split-input-file", "--verify-diagnostics")
    assert result.status == 1
    messages = [line for line in result.err.splitlines() if ": error: " in line]
    assert [line.split(" op ")[0].split(' "')[0] for line in messages] == [
        "a.mlir:3:3: error: unexpected error: 'func.return'",
        "a.mlir:2:6: error: expected error",
        "a.mlir:8:3: error: unexpected error: 'func.return'",
    ]


def test_lines_are_those_of_the_file(run: Run) -> None:
    # llvm-project#150982: an error in the third chunk.
    text = f"{GOOD}{SPLIT}{GOOD}{SPLIT}{BAD}"
    assert run(text, "--split-input-file", "--verify-diagnostics").status == 0
    plain = run(text, "--split-input-file")
    assert plain.err.startswith("a.mlir:7:3: error: 'func.return' op Expected")


def test_a_place_in_another_file(run: Run) -> None:
    # llvm-project#88302 and #134421.
    op = 'func.func @f() -> i32 {\n  func.return loc("b.mlir":1:3)\n}\n'
    text = "// expected-error @b.mlir:1 {{Expected arguments}}\n"
    assert run(text + op, "--verify-diagnostics").status == 0
    # The comments of that file count as well.
    Path("b.mlir").write_text("x // expected-error {{Expected arguments}}\n")
    assert run(op, "--verify-diagnostics").status == 0
    Path("b.mlir").write_text("x // expected-error {{something else}}\n")
    failed = run(op, "--verify-diagnostics")
    assert failed.status == 1
    assert 'b.mlir:1:6: error: expected error "something else"' in failed.err


def test_no_place_at_all(run: Run) -> None:
    op = "func.func @f() -> i32 {\n  func.return loc(unknown)\n} loc(unknown)\n"
    text = (
        "// expected-error @unknown {{Expected arguments}}\n"
        '// expected-note-re @unknown {{the op is: "func.{{(return|nothing)}}"()}}\n'
    )
    result = run(text + op, "--verify-diagnostics")
    assert (result.status, result.err) == (0, "")


@pytest.mark.parametrize("marker", ["// %%%", "#* next .*"])
def test_another_marker(run: Run, marker: str) -> None:
    text = f"{GOOD}// -----\n{marker} words\n{GOOD}".replace("@good", "@a", 1)
    args = (f"--split-input-file={marker}", "--output-split-marker=// ~~~")
    result = run(text, *args)
    assert result.status == 0
    assert result.out.count("// ~~~\n") == 1
    assert result.out.count("builtin.module") == 2


def test_a_marker_is_at_the_start_of_a_line(run: Run) -> None:
    assert run(f"{GOOD}  // -----\n{GOOD}", "--split-input-file").status == 1


def test_standard_input_has_comments_too(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = io.TextIOWrapper(io.BytesIO(BAD.encode()))
    monkeypatch.setattr(sys, "stdin", content)
    assert transom_opt.main(["--verify-diagnostics"]) == 0
