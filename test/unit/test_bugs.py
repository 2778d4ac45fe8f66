"""
Exceptions of plug-ins: one line that says what was done, where, and whose code it was.
"""

import inspect
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hook_cases import TWO_TARGETS, CasesAttr, CasesTarget, cases_target
from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from transom.dialects import graph
from transom.dialects.diagnostics import PlacedNote, file_location
from transom.dialects.parser import parse_ir
from transom.lowering.conversion import ConversionPattern, ConversionRewriter, Operands
from transom.passes.pipeline import Pipeline
from transom.registry import new_context
from transom.targets.hooks import Step
from transom.tools import (
    transom_checks,
    transom_main,
    transom_opt,
    transom_reduce,
    transom_run,
)
from transom.tools.bugs import bug

Capture = pytest.CaptureFixture[str]
Main = Callable[[list[str]], int]


class ConvertSqrt(ConversionPattern[graph.SqrtOp]):
    """Looks for what is not there."""

    root = graph.SqrtOp
    benefit = 9

    def match_and_rewrite(
        self, op: graph.SqrtOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        raise KeyError("lanes")


class FailingPatterns(CasesTarget):
    def patterns(self, target: CasesAttr) -> tuple[ConversionPattern[Any], ...]:
        return (ConvertSqrt(),)


class Divide(ModulePass):
    name = "cases-divide"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        print(1 // len(op.regions[1:]))


class FailingPass(CasesTarget):
    def tir_pipeline(self, target: CasesAttr) -> tuple[Step, ...]:
        return (Step(Pipeline("builtin.module", (Divide(),))),)


def line_of(function: Callable[..., Any], what: str) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if what in line)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.mlir").write_text(TWO_TARGETS.replace("x86-64-v3", "host"))
    return "m.mlir"


PROGRAMS: list[tuple[Main, list[str]]] = [
    (transom_opt.main, ["--to=tensor"]),
    (transom_run.main, ["--input", "random:0"]),
]


SHARES = "m.mlir:2:1: note: cases 2/4 ops, llvm_cpu 2/4\n"
"""What lowering says of a module with several targets, and running does not."""


@pytest.mark.parametrize(("main", "words"), PROGRAMS, ids=["opt", "run"])
def test_a_pattern(main: Main, words: list[str], model: str, capsys: Capture) -> None:
    line = line_of(ConvertSqrt.match_and_rewrite, "raise")
    with cases_target(FailingPatterns):
        assert main([model, *words]) == 1
        err = capsys.readouterr().err
        assert err.removeprefix(SHARES) == (
            "m.mlir:13:5: error: pass 'convert-graph-to-tir' failed: KeyError: "
            "'lanes' in ConvertSqrt on 'graph.sqrt' at test/unit/test_bugs.py:"
            f"{line}; this is a bug, '--traceback' shows more\n"
            "    %z = graph.sqrt %y : tensor<4x8xf32>\n"
            "    ^\n"
        )
        with pytest.raises(KeyError):
            main([model, *words, "--traceback"])


def test_a_pass(model: str, capsys: Capture) -> None:
    line = line_of(Divide.apply, "//")
    with cases_target(FailingPass, [Divide]):
        assert transom_run.main([model, "--input", "random:0"]) == 1
        assert capsys.readouterr().err == (
            "transom-run: error: pass 'cases-divide' failed: ZeroDivisionError: "
            "integer division or modulo by zero at test/unit/test_bugs.py:"
            f"{line}; this is a bug, '--traceback' shows more\n"
        )
        with pytest.raises(ZeroDivisionError):
            transom_run.main([model, "--input", "random:0", "--traceback"])


OTHERS: list[tuple[Any, str, list[str]]] = [
    (transom_reduce, "run", ["m.mlir", "--check", "true"]),
    (transom_checks, "run", ["m.mlir"]),
    (transom_main, "arguments", ["plugins"]),
]


@pytest.mark.parametrize(("program", "part", "words"), OTHERS)
def test_other_programs(
    program: Any,
    part: str,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    def fail(*args: Any) -> bool:
        raise KeyError("x")

    monkeypatch.setattr(program, part, fail)
    line = line_of(fail, "raise")
    assert program.main(words) == 1
    assert capsys.readouterr().err == (
        f"{program.PROGRAM}: error: KeyError: 'x' at test/unit/test_bugs.py:{line}; "
        "this is a bug, '--traceback' shows more\n"
    )
    with pytest.raises(KeyError):
        program.main([*words, "--traceback"])


@pytest.mark.parametrize("program", [transom_reduce, transom_checks])
def test_the_flag_is_known(program: Any) -> None:
    assert program.arguments().parse_args(["a.mlir", "--traceback"]).traceback


def caught(function: Callable[[], Any]) -> Exception:
    """What a function raises, as if nobody had called it."""
    with pytest.raises(KeyError) as info:
        function()
    error = info.value
    assert error.__traceback__ is not None
    return error.with_traceback(error.__traceback__.tb_next)


SOURCE = """
def call(table):
    return table["x"]
def call_other(function):
    return function({})
"""


def code(file: str, module: str) -> dict[str, Any]:
    """Functions of a file that is not there."""
    names: dict[str, Any] = {"__name__": module}
    exec(compile(SOURCE, file, "exec"), names)
    return names


def test_whose_code_it_is() -> None:
    """The last frame of somebody else, named from the outermost package on."""
    theirs = code("/site/barky/deep/hooks.py", "barky.deep.hooks")
    package = code("/site/barky/__init__.py", "barky")
    ours = code("/site/transom/passes/a.py", "transom.passes.a")
    xdsl = code("/site/xdsl/ir.py", "xdsl.ir")
    script = code("/home/me/try.py", "__main__")
    cases = [
        (lambda: theirs["call_other"](ours["call"]), "barky/deep/hooks.py:5"),
        (lambda: theirs["call_other"](package["call"]), "barky/__init__.py:3"),
        (lambda: ours["call_other"](xdsl["call"]), "xdsl/ir.py:3"),
        (lambda: xdsl["call_other"](ours["call"]), "transom/passes/a.py:3"),
        (lambda: script["call_other"](xdsl["call"]), "try.py:5"),
    ]
    for function, where in cases:
        error = caught(function)
        assert error.__traceback__ is not None
        # Without the frame of the lambda, which is of this file.
        error = error.with_traceback(error.__traceback__.tb_next)
        assert bug(error).message == (
            f"KeyError: 'x' at {where}; this is a bug, '--traceback' shows more"
        )


class RewriteRelu(RewritePattern):
    """Fails, as one that a pass applies by itself."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: graph.ReluOp, rewriter: PatternRewriter, /) -> None:
        {}["lanes"]


def test_patterns_that_a_pass_applies() -> None:
    text = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.relu %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""
    module = parse_ir(new_context(), text, "m.mlir")
    patterns = GreedyRewritePatternApplier([RewriteRelu()])
    with pytest.raises(KeyError) as info:
        PatternRewriteWalker(patterns).rewrite_module(module)
    found = str(bug(info.value, "fail"))
    start = "m.mlir:3:3: error: pass 'fail' failed: KeyError: 'lanes' in RewriteRelu on"
    assert found.startswith(f"{start} 'graph.relu' at ")


def test_place_and_message() -> None:
    start, inner = file_location("m.mlir", 1, 1), file_location("m.mlir", 4, 8)
    error = ValueError("first\nsecond")
    error.add_note("in a note of somebody else")
    assert str(bug(error, "cse", start)) == (
        "m.mlir:1:1: error: pass 'cse' failed: ValueError: first; this is a bug, "
        "'--traceback' shows more"
    )
    error.add_note(PlacedNote("in A on 'graph.add'", UNKNOWN_LOC))
    error.add_note(PlacedNote("in B on 'graph.mul'", inner))
    assert str(bug(error, None, start)) == (
        "m.mlir:1:1: error: ValueError: first in A on 'graph.add'; this is a bug, "
        "'--traceback' shows more"
    )
    del error.__notes__[1]
    assert bug(error, None, start).location == inner
    assert "in B on 'graph.mul'" in "".join(traceback.format_exception(error))
