"""`transom-opt`: exit status, messages, output files, flags; never a traceback."""

import io
import os
import stat
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from opt_program import Result, Run, run_fixture
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from transom.dialects import plugins
from transom.dialects.plugins import Plugin, PluginError, State
from transom.registry import Registry, own_universe, registry
from transom.runtime.files import write_whole
from transom.tools import opt_driver, transom_opt

__all__ = ["run_fixture"]

GOOD = """\
func.func @f(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  %b = arith.addi %x, %x : i32
  %c = arith.muli %a, %b : i32
  func.return %c : i32
}
"""
BAD_SYNTAX = "func.func @f( {\n}\n"
EMITTERS = (
    "argument -t/--target: unknown emitter '{}'; expected one of 'arm-asm', "
    "'asm', 'c-source', 'csl', 'llvm', 'llvm-ir', 'mlir', 'mps', 'riscv-asm', 'wat', "
    "'wgsl', 'x86-asm'"
)
BAD_IR = "func.func @f() -> i32 {\n  func.return\n}\n"


# Exit status and messages.


def test_good_input(run: Run) -> None:
    result = run(GOOD, "-p", "func.func(cse)")
    assert (result.status, result.err) == (0, "")
    assert result.out.count("arith.addi") == 1
    assert result.out.endswith("}\n") and not result.out.endswith("\n\n")


def test_syntax_error(run: Run) -> None:
    result = run(BAD_SYNTAX)
    assert (result.status, result.out) == (1, "")
    first, line, caret = result.err.splitlines()
    assert first.startswith("a.mlir:1:15: error: ")
    assert (line, caret) == ("func.func @f( {", " " * 14 + "^")


def test_verifier_error_is_at_its_op(run: Run) -> None:
    result = run(BAD_IR)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith("a.mlir:2:3: error: 'func.return' op Expected")
    assert result.err.endswith("  func.return\n  ^\n")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-p", "cs"], "unknown pass 'cs'; did you mean 'cse'?\n  cs\n  ^"),
        (
            ["--pass-pipeline", "func.func(cs)"],
            "unknown pass 'cs'; did you mean 'cse'?\n  func.func(cs)\n            ^",
        ),
        (
            ["--to", "placd"],
            "argument --to: unknown phase 'placd'; did you mean 'placed'?",
        ),
        (["--print-ir-after", "csee"], "unknown pass 'csee'; did you mean 'cse'?"),
        (["-p"], "argument -p/--passes/--pass-pipeline: expected one argument"),
        (["-t", "x"], EMITTERS.format("x")),
        (
            ["-t", "llvm-ri"],
            "argument -t/--target: unknown emitter 'llvm-ri'; did you mean 'llvm-ir'?",
        ),
        (
            ["-t", "{"],
            "argument -t/--target: expected a name, maybe with options in braces, "
            "but got '{'",
        ),
        (
            ["-t", "mlir{x=1}"],
            "argument -t/--target: unknown option 'x' of 'mlir'; there are flags",
        ),
        (
            ["-t", "llvm-ir{x=1}"],
            "argument -t/--target: unknown option 'x' of 'llvm-ir'; it takes none",
        ),
        (
            ["-f", "mlir{x=1}"],
            "argument -f/--frontend: unknown option 'x' of 'mlir'; there are flags",
        ),
        (
            ["-f", "onx"],
            "argument -f/--frontend: unknown kind of input 'onx'; did you mean 'onnx'?",
        ),
        (["--qqqqqqqq"], "unknown option '--qqqqqqqq'; '--help' lists them"),
        (
            ["--canonicalise"],
            "unknown option '--canonicalise'; did you mean '--canonicalize'?",
        ),
        (
            ["--winograd"],
            "unknown option '--winograd'; 'transom-compile' and 'transom-run' have it",
        ),
        (
            ["--mlir-print-debuginfo"],
            "unknown option '--mlir-print-debuginfo'; "
            "did you mean '--print-debuginfo'?",
        ),
        (
            ["--verify-diagnostics=al"],
            "argument --verify-diagnostics: unknown mode 'al'; did you mean 'all'?",
        ),
        (
            ["--verify-each=maybe"],
            "argument --verify-each: expected true or false, but got 'maybe'",
        ),
        (
            ["--error-format=xml"],
            "argument --error-format: unknown format 'xml'; "
            "expected one of 'json', 'text'",
        ),
        (
            ["--memory-limit=lots"],
            "argument --memory-limit: expected a size, such as 512M or 4G, "
            "but got 'lots'",
        ),
        (
            ["--time-limit=0"],
            "argument --time-limit: expected a number of seconds above 0, but got '0'",
        ),
        (["b.mlir"], "unexpected argument 'b.mlir'"),
        (["-x"], "unknown option '-x'; '--help' lists them"),
    ],
)
def test_wrong_command_line(run: Run, args: list[str], message: str) -> None:
    result = run(GOOD, *args)
    assert result == Result(2, "", f"transom-opt: error: {message}\n")


def test_missing_file(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert transom_opt.main(["none.mlir"]) == 1
    err = capsys.readouterr().err
    assert err == "transom-opt: error: none.mlir: No such file or directory\n"


def test_unknown_suffix(run: Run) -> None:
    result = run(GOOD, file="a.mlr")
    assert result.status == 2
    assert result.err == (
        "transom-opt: error: a.mlr: unknown kind of file 'mlr'; did you mean 'mlir'?; "
        "'-f' says what it is\n"
    )


def test_no_suffix_is_ir_text(run: Run) -> None:
    assert run(GOOD, file="model").status == 0
    assert run(GOOD, "-f", "mlir", file="a.mlr").status == 0


def test_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for args in ([], ["-"]):
        content = io.TextIOWrapper(io.BytesIO(BAD_SYNTAX.encode()))
        monkeypatch.setattr(sys, "stdin", content)
        assert transom_opt.main(args) == 1
        assert capsys.readouterr().err.startswith("<stdin>:1:15: error: ")


def test_onnx_is_read_from_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert transom_opt.main(["-f", "onnx"]) == 2
    assert "expected a file for '-f onnx'" in capsys.readouterr().err


@pytest.mark.parametrize("args", [[], ["--verify-diagnostics"]])
def test_an_onnx_file_that_is_none(run: Run, args: list[str]) -> None:
    result = run(b"\xff\xff", *args, file="a.onnx")
    assert (result.status, result.out) == (1, "")
    assert len(result.err.splitlines()) == 1
    assert result.err.startswith(("a.onnx", '"a.onnx"'))


def test_a_missing_onnx_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert transom_opt.main(["none.onnx"]) == 1
    assert "none.onnx: No such file or directory" in capsys.readouterr().err


def test_input_that_is_not_text(run: Run) -> None:
    result = run(b"\n\xff")
    assert (result.status, result.err) == (
        1,
        "a.mlir:2:1: error: expected UTF-8 text\n�\n^\n",
    )


def test_empty_input_is_an_empty_module(run: Run) -> None:
    assert run("").out == "builtin.module {\n}\n"


def test_disable_verify_is_of_this_run_only(run: Run) -> None:
    post_init = Attribute.__post_init__
    assert run(BAD_IR, "--disable-verify").status == 0
    assert Attribute.__post_init__ is post_init


# Split files.

THREE = f"{GOOD}// -----\n{BAD_IR}// ----- with words\n{GOOD}"


def test_a_bad_chunk_does_not_stop_later_ones(run: Run) -> None:
    result = run(THREE, "--split-input-file")
    assert result.status == 1
    assert result.out.count("@f") == 2
    assert result.out.count("// -----\n") == 1
    # Lines are those of the file.
    assert result.err.startswith("a.mlir:9:3: error: 'func.return' op")
    assert "  func.return\n  ^" in result.err


def test_syntax_errors_in_a_chunk_have_the_line_of_the_file(run: Run) -> None:
    result = run(f"{GOOD}// -----\n\n{BAD_SYNTAX}", "--split-input-file")
    assert result.err.startswith("a.mlir:9:15: error: ")


# Output files.


def test_output_appears_whole_or_not_at_all(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.mlir"
    out.write_text("old")
    assert run(THREE, "--split-input-file", "-o", "out.mlir").status == 1
    assert out.read_text() == "old"
    result = run(GOOD, "-o", "out.mlir")
    assert (result.status, result.out) == (0, "")
    assert out.read_text().startswith("builtin.module")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.mlir", "out.mlir"]


def test_output_onto_the_input(run: Run, tmp_path: Path) -> None:
    assert run(GOOD, "-p", "cse", "-o", "a.mlir").status == 0
    assert (tmp_path / "a.mlir").read_text().count("addi") == 1


def test_output_that_cannot_be_written(run: Run) -> None:
    result = run(GOOD, "-o", "none/out.mlir")
    assert (result.status, result.err) == (
        1,
        "transom-opt: error: none/out.mlir: No such file or directory\n",
    )


def test_output_keeps_links_and_modes(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_whole(str(link), "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_new_files_get_the_usual_mode(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("")
    write_whole(str(tmp_path / "new"), "text")
    assert (tmp_path / "new").stat().st_mode == other.stat().st_mode


def test_output_to_a_device() -> None:
    write_whole(os.devnull, "text")
    assert not Path(os.devnull).is_file()


# Dumps and checks.


def test_dump_after_change(run: Run) -> None:
    result = run(GOOD, "-p", "dce,func.func(cse,dce)", "--print-ir-after-change")
    headers = [line for line in result.err.splitlines() if "IR Dump" in line]
    assert headers == [
        "// -----// IR Dump After CommonSubexpressionElimination (cse) "
        "('func.func' operation: @f) //----- //"
    ]
    assert "builtin.module" not in result.err


def test_dumps_around_all(run: Run) -> None:
    flags = ("--print-ir-before-all", "--print-ir-after-all", "--print-ir-module-scope")
    result = run(GOOD, "-p", "func.func(cse),dce", *flags)
    whens = [line.split()[4] for line in result.err.splitlines() if "IR Dump" in line]
    assert whens == ["Before", "After", "Before", "After"]
    assert result.err.count("builtin.module") == 4


def test_dump_of_one_pass(run: Run) -> None:
    args = ("--print-ir-before", "dce", "--print-ir-after=cse")
    result = run(GOOD, "-p", "cse,dce", *args)
    headers = [line for line in result.err.splitlines() if "IR Dump" in line]
    assert [h.split("(")[0].split()[4] for h in headers] == ["After", "Before"]


def test_dumps_have_locations_if_asked(run: Run) -> None:
    result = run(GOOD, "-p", "cse", "--print-ir-after-all", "--print-debuginfo")
    assert 'loc("a.mlir":2:3)' in result.err
    assert 'loc("a.mlir":2:3)' in result.out


def test_times_go_to_stderr(run: Run) -> None:
    result = run(GOOD, "-p", "cse,dce,cse", "--time-passes")
    names = [line.split()[-1] for line in result.err.splitlines() if "%)" in line]
    assert {"cse", "dce", "Parser", "Output", "Verifier"} < set(names)
    assert names.count("cse") == 1


def test_round_trip_holds(run: Run) -> None:
    assert run(GOOD, "--verify-roundtrip").status == 0


# Passes that go wrong. The table of passes is replaced, never the environment.


@dataclass(frozen=True)
class BreaksTheModule(ModulePass):
    name = "breaks-the-module"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        last = list(op.walk())[-1]
        last.detach()


@dataclass(frozen=True)
class Fails(ModulePass):
    name = "fails"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise PassFailedException("cannot do it")


@dataclass(frozen=True)
class Raises(ModulePass):
    name = "raises"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise KeyError("x")


@dataclass(frozen=True)
class Sleeps(ModulePass):
    name = "sleeps"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        time.sleep(20)


@pytest.fixture
def with_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = Registry(dialects=registry().dialects, emitters=registry().emitters)
    for cls in (BreaksTheModule, Fails, Raises, Sleeps):
        fresh.passes.register(cls.name, lambda cls=cls: cls)
    monkeypatch.setattr(opt_driver, "registry", lambda: fresh)


@pytest.mark.usefixtures("with_passes")
def test_the_pass_that_broke_the_module_is_named(run: Run) -> None:
    result = run(GOOD, "-p", "breaks-the-module")
    assert result.status == 1
    assert "note: found after pass 'breaks-the-module'" in result.err
    assert run(GOOD, "-p", "breaks-the-module", "--no-verify-each").status == 1


@pytest.mark.usefixtures("with_passes")
def test_a_pass_that_fails(run: Run) -> None:
    result = run(GOOD, "-p", "fails", "--print-ir-after-failure")
    assert "IR Dump After Fails Failed (fails)" in result.err
    assert "a.mlir:1:1: error: pass 'fails' failed: cannot do it\n" in result.err
    assert result.status == 1


@pytest.mark.usefixtures("with_passes")
def test_a_bug_is_one_line(run: Run) -> None:
    result = run(GOOD, "-p", "raises")
    assert result.status == 1
    where = "at test/unit/test_transom_opt.py:"
    assert f"error: pass 'raises' failed: KeyError: 'x' {where}" in result.err
    assert "this is a bug, '--traceback' shows more" in result.err
    assert "Traceback" not in result.err
    with pytest.raises(KeyError):
        run(GOOD, "-p", "raises", "--traceback")


@pytest.mark.usefixtures("with_passes")
def test_a_pass_that_takes_too_long(run: Run) -> None:
    result = run(GOOD, "-p", "sleeps", "--time-limit=0.05")
    assert (result.status, result.out) == (1, "")
    first = "a.mlir:1:1: error: pass 'sleeps' failed: out of time after 0.05 s\n"
    assert result.err.startswith(first)
    # The next one has its own time.
    assert run(GOOD, "--time-limit=60").status == 0


def test_an_emitter_that_fails_is_named(run: Run) -> None:
    result = run(GOOD, "-t", "riscv-asm")
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith("a.mlir:1:1: error: emitter 'riscv-asm' failed: ")
    known = "; it is xDSL's and takes few dialects; others are 'asm' and 'llvm-ir', '--"
    assert known in result.err
    assert "bug" not in result.err


# Plug-ins.


def test_broken_plugins_are_warnings(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = Plugin(plugins.UNIVERSE, "x", "x:X", "y", "1")
    problem = PluginError(plugin, State.BROKEN, "cannot be loaded")
    monkeypatch.setattr(plugins, "known_problems", lambda: (problem,))
    result = run(GOOD)
    assert result.status == 0
    assert result.err == f"transom-opt: warning: {problem}\n"
    strict = run(GOOD, "--strict-plugins")
    assert strict == Result(1, "", f"transom-opt: error: {problem}\n")


def test_a_name_that_is_taken_adds_nothing() -> None:
    fresh = Registry()
    assert fresh.add(own_universe(), "transom") is None
    count = len(fresh.dialects)
    message = fresh.add(own_universe(), "woofles")
    assert message is not None
    assert message.endswith("is registered by distribution 'transom'")
    assert len(fresh.dialects) == count
