"""`--check-each`: the numbers after each pass, and the first pass that moves them."""

import json
import os
import re
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from opt_cases import Opt
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    ModuleOp,
    TensorType,
    UnitAttr,
    UnregisteredOp,
    f32,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from transom.dialects import graph
from transom.lowering.lower_scf_to_cf import LowerScfToCfPass
from transom.passes.function_pass import FunctionPass
from transom.runtime.program import Program
from transom.tools import number_runs
from transom.tools.number_runs import NotRun, largest_at, run_apart

MODEL = """\
func.func @main(%x: tensor<2x3xf32>, %z: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %s = graph.sub %x, %z : tensor<2x3xf32>, tensor<3xf32> -> tensor<2x3xf32>
  %y = graph.exp %s : tensor<2x3xf32>
  func.return %y, %s : tensor<2x3xf32>, tensor<2x3xf32>
}
"""  # noqa: E501
INPUTS = ("--check-input=2x3xf32=1,2,3,4,5,6", "--check-input=3xf32=1,1,2")


def planted(
    pass_name: str, kind: type[Operation], rewrite: Callable[[Any], None]
) -> type[ModulePass]:
    """A pass that does something to each op of a kind."""

    @dataclass(frozen=True)
    class Planted(ModulePass):
        name = pass_name

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            for inner in list(op.walk()):
                if isinstance(inner, kind):
                    rewrite(inner)

    return Planted


def exp_to_sigmoid(op: graph.ExpOp) -> None:
    new = graph.SigmoidOp(op.operands[0])
    new.location = op.location
    Rewriter.replace_op(op, new)


def exp_to_unknown(op: graph.ExpOp) -> None:
    new = UnregisteredOp.with_name("a.exp").create(
        operands=op.operands, result_types=op.result_types
    )
    Rewriter.replace_op(op, new)


def unknown_to_exp(op: UnregisteredOp) -> None:
    Rewriter.replace_op(op, graph.ExpOp(op.operands[0]))


def unknown_to_sigmoid(op: UnregisteredOp) -> None:
    Rewriter.replace_op(op, graph.SigmoidOp(op.operands[0]))


BAD = planted("bad", graph.ExpOp, exp_to_sigmoid)
HIDE = planted("hide", graph.ExpOp, exp_to_unknown)
SHOW = planted("show", UnregisteredOp, unknown_to_exp)
SHOW_BADLY = planted("show-badly", UnregisteredOp, unknown_to_sigmoid)


@dataclass(frozen=True)
class BadInFunctions(FunctionPass):
    name = "bad-in-functions"

    def apply_to(self, ctx: Context, func: FuncOp) -> None:
        for op in list(func.walk()):
            if isinstance(op, graph.ExpOp):
                exp_to_sigmoid(op)


@pytest.fixture
def opt(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Opt:
    opt = Opt(tmp_path, capsys, monkeypatch)
    opt.register(BAD, HIDE, SHOW, SHOW_BADLY, BadInFunctions)
    return opt


MOVED = """\
a.mlir:1:1: error: pass 'bad' moves the numbers (interpreted): output 'result0': \
6 of 6 elements differ, by at most 53.6 (largest expected: 54.6); at [1, 1] \
54.598148345947266 is expected, but 0.9820137619972229 is there
"""


def test_the_first_pass_that_moves_the_numbers_is_named(opt: Opt) -> None:
    result = opt(MODEL, "-p", "cse,bad,cse,bad", "--check-each", *INPUTS)
    assert (result.status, result.out) == (1, "")
    report, error = result.err.split("a.mlir:1:1: error")
    assert report == (
        "numbers after each pass\ncse  unchanged\nbad  interpreted: wrong\n"
    )
    assert f"a.mlir:1:1: error{error}".startswith(MOVED)
    assert result.err.count("error:") == 1


def test_every_phase_of_a_model_that_is_right(opt: Opt) -> None:
    result = opt(MODEL, "--to=machine", "--check-each")
    assert result.status == 0
    lines = result.err[result.err.index("numbers after each pass") :].splitlines()[1:]
    assert len(lines) > 15
    verdicts = {line.split("  ", 1)[1].strip() for line in lines}
    assert all(": right, largest error" in v or v == "unchanged" for v in verdicts)
    assert lines[-1].startswith("convert-to-llvm")
    assert "as machine code: right" in lines[-1]
    assert opt(MODEL, "--to=machine").out == result.out


@pytest.mark.parametrize("name", ["control_flow", "integers", "run_time_broadcast"])
def test_every_pass_of_a_model_can_be_checked(opt: Opt, name: str) -> None:
    path = Path(__file__).parents[1] / "models" / f"{name}.mlir"
    result = opt.on(str(path), "--to=machine", "--check-each", "-o", "out.mlir")
    assert result.status == 0
    assert "not run" not in result.err


def test_by_phase(opt: Opt) -> None:
    result = opt(MODEL, "--to=planned", "--check-each=phase")
    assert result.status == 0
    lines = result.err[result.err.index("numbers after each pass") :].splitlines()[1:]
    assert [line.split("  ")[0] for line in lines] == [
        "phase graph",
        "phase placed",
        "phase partitioned",
        "phase tensor",
        "phase scheduled",
        "phase planned",
    ]


def test_by_phase_the_pass_is_named_too(opt: Opt) -> None:
    flags = ("--to=graph", "-p", "cse,bad,dce", "--check-each=phase")
    result = opt(MODEL, *flags, *INPUTS)
    assert result.status == 1
    assert MOVED in result.err
    assert (
        "numbers after each pass\n"
        "phase graph    interpreted: right, largest error 0\n"
        "the last pass  interpreted: wrong\n"
    ) in result.err


def test_all_outputs_that_moved_are_listed(opt: Opt) -> None:
    def double(op: graph.SubOp) -> None:
        Rewriter.replace_op(op, graph.AddOp(op.lhs, op.rhs))

    opt.register(planted("doubles", graph.SubOp, double))
    result = opt(MODEL, "-p", "doubles", "--check-each", *INPUTS)
    assert (
        "error: pass 'doubles' moves the numbers (interpreted): output 'result0'"
        in (result.err)
    )
    assert (
        "a.mlir:1:1: note: output 'result1': 6 of 6 elements differ, by at most 4 "
        "(largest expected: 4); at [0, 2] 1.0 is expected, but 5.0 is there"
    ) in result.err


@pytest.mark.parametrize(
    "pipeline",
    [
        "func.func(cse,bad-in-functions)",
        'builtin.module{without=[#llvm_cpu.target<cpu = "znver4">]}'
        "(cse,bad-in-functions)",
    ],
)
def test_anchors_and_filters(opt: Opt, pipeline: str) -> None:
    result = opt(MODEL, "-p", pipeline, "--check-each")
    assert result.status == 1
    assert "error: pass 'bad-in-functions' moves the numbers" in result.err


def test_what_is_hidden_from_a_pass_is_run_all_the_same(opt: Opt) -> None:
    text = f"""\
target.device @d {{targets = [#llvm_cpu.target<cpu = "znver4">]}}
{MODEL}"""
    hidden = 'builtin.module{without=[#llvm_cpu.target<cpu = "znver4">]}(cse,dce)'
    result = opt(text, "--to=partitioned", "-p", hidden, "--check-each")
    assert result.status == 0
    assert "not run" not in result.err


def test_modules_that_cannot_be_run_are_said(opt: Opt) -> None:
    flags = ("--allow-unregistered-dialect", "--check-each")
    result = opt(MODEL, "-p", "hide,show", *flags)
    assert (result.status, result.err) == (
        0,
        "numbers after each pass\n"
        "hide  not run: no reference evaluation for 'a.exp'\n"
        "show  unchanged\n",
    )
    result = opt(MODEL, "-p", "hide", *flags)
    assert result.status == 0
    assert "hide  not run: no reference evaluation for 'a.exp'\n" in result.err


def test_passes_without_a_run_in_between_are_suspects(opt: Opt) -> None:
    flags = ("--allow-unregistered-dialect", "--check-each")
    result = opt(MODEL, "-p", "cse,hide,show-badly", *flags)
    assert result.status == 1
    assert (
        "error: one of the passes 'hide' or 'show-badly' moves the numbers "
        "(interpreted): output 'result0'"
    ) in result.err
    assert (
        "note: after 'hide' not run: no reference evaluation for 'a.exp'\n"
    ) in result.err


def test_a_module_that_cannot_be_run_at_all(opt: Opt) -> None:
    text = MODEL.replace("graph.exp %s :", '"a.b"(%s) : (tensor<2x3xf32>) ->')
    flags = ("--allow-unregistered-dialect", "--check-each")
    result = opt(text, "-p", "cse", *flags)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(
        "a.mlir:1:1: error: the module cannot be run, so that nothing can be checked: "
        "no reference evaluation for 'a.b'\n"
    )


def test_an_evaluation_that_breaks_is_no_end(opt: Opt) -> None:
    def break_it(op: graph.ExpOp) -> None:
        op.detach()

    opt.register(planted("breaks", graph.ExpOp, break_it))
    result = opt(MODEL, "-p", "breaks", "--check-each", "--disable-verify")
    assert "breaks  not run: " in result.err
    assert "Traceback" not in result.err


def test_no_pass(opt: Opt) -> None:
    result = opt(MODEL, "--check-each")
    assert (result.status, result.err) == (
        0,
        "no pass ran, so that there was nothing to check\n",
    )


# Inputs, functions and tolerances.


def test_inputs(opt: Opt) -> None:
    np.save("x.npy", np.full((2, 3), 100.0, np.float32))
    flags = ("--check-input=x=x.npy", "--check-input=z=random:3")
    named = MODEL.replace("f32>,", 'f32> {graph.name = "x"},', 1).replace(
        "tensor<3xf32>)", 'tensor<3xf32> {graph.name = "z"})', 1
    )
    result = opt(named, "-p", "bad", "--check-each", *flags)
    assert "inf is expected, but 1.0 is there" in result.err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            ["--check-input=q=random:1"],
            "--check-input: unknown name 'q'; expected 'arg0', 'arg1'",
        ),
        (
            ["--check-input=2x3xf32=1"],
            "--check-input: expected a value for 'arg1'; give one with --input, such "
            "as 'arg1=random:0' or 'arg1=FILE.npy'",
        ),
        (["--bisect"], "expected '--check-each' with '--bisect'"),
    ],
)
def test_wrong_inputs(opt: Opt, flags: list[str], message: str) -> None:
    check = [] if flags == ["--bisect"] else ["--check-each"]
    result = opt(MODEL, "-p", "cse", *check, *flags)
    assert (result.status, result.err) == (2, f"transom-opt: error: {message}\n")


def test_an_input_that_does_not_fit(opt: Opt) -> None:
    flags = ("--check-input=2x2xf32=1", "--check-input=3xf32=1")
    result = opt(MODEL, "-p", "cse", "--check-each", *flags)
    assert result.status == 1
    assert "the module cannot be run" in result.err
    assert "expected 'tensor<2x3xf32>', but got an array of float32" in result.err


def test_another_function(opt: Opt) -> None:
    text = f"{MODEL}{MODEL.replace('@main', '@other').replace('exp', 'tanh')}"
    result = opt(text, "-p", "bad", "--check-each", "--check-function=other")
    assert result.status == 0
    result = opt(text, "-p", "bad", "--check-each")
    assert result.status == 1


def test_tolerances(opt: Opt) -> None:
    text = """\
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = graph.constant dense<1.0> : tensor<2xf32>
  %y = graph.mul %x, %c : tensor<2xf32>
  func.return %y : tensor<2xf32>
}
"""

    def change(op: graph.ConstantOp) -> None:
        type = TensorType(f32, [2])
        value = DenseIntOrFPElementsAttr.from_list(type, (1.001,))
        Rewriter.replace_op(op, graph.ConstantOp(value))

    opt.register(planted("changes", graph.ConstantOp, change))
    for flags, status in (
        ((), 1),
        (("--check-rtol=0.01",), 0),
        (("--check-rtol=0", "--check-atol=0.1"), 0),
    ):
        assert opt(text, "-p", "changes", "--check-each", *flags).status == status


# Modules that are too large to be interpreted.


LARGE = MODEL.replace("2x3", "20x3")
LOOPS = ("--check-each", "--check-max-steps=60")
"""Enough for nests, which are evaluated as a whole, and not for loops."""


def test_too_many_steps(opt: Opt) -> None:
    result = opt(LARGE, "--to=scheduled", *LOOPS)
    assert result.status == 0
    assert re.search(
        r"convert-tir-to-scf +not run: expected at most 60 interpreted steps, but at "
        "least ",
        result.err,
    )


def test_what_is_finished_is_run(opt: Opt) -> None:
    result = opt(LARGE, "--to=scheduled", *LOOPS, "--check-finish")
    assert result.status == 0
    assert "finished by the passes that follow: right, largest error" in result.err
    assert "not run" not in result.err


def test_a_wrong_pass_shows_when_it_is_finished(opt: Opt) -> None:
    def swap(op: arith.SubfOp) -> None:
        Rewriter.replace_op(op, arith.SubfOp(op.rhs, op.lhs))

    opt.register(planted("swaps", arith.SubfOp, swap))
    flags = (*LOOPS, "--check-finish")
    result = opt(LARGE, "--to=scheduled", "-p", "cse,swaps", *flags)
    assert result.status == 1
    assert (
        "error: pass 'swaps' moves the numbers (finished by the passes that follow)"
    ) in result.err


def test_a_wrong_pass_that_follows_is_not_blamed_on_one_before(
    opt: Opt, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = LowerScfToCfPass.apply

    def wrong(self: LowerScfToCfPass, ctx: Context, op: ModuleOp) -> None:
        apply(self, ctx, op)
        for inner in list(op.walk()):
            if isinstance(inner, arith.SubfOp) and "test.done" not in inner.attributes:
                new = arith.SubfOp(inner.rhs, inner.lhs)
                new.attributes["test.done"] = UnitAttr()
                Rewriter.replace_op(inner, new)

    monkeypatch.setattr(LowerScfToCfPass, "apply", wrong)
    result = opt(LARGE, "--to=machine", *LOOPS, "--check-finish")
    assert result.status == 1
    assert (
        "not run: wrong when finished, as it was before: one of the passes that follow"
    ) in result.err
    assert "'lower-scf-to-cf' or 'convert-to-llvm' moves the numbers" in result.err


def test_what_cannot_be_finished_either(opt: Opt) -> None:
    flags = ("--allow-unregistered-dialect", "--check-each", "--check-finish")
    result = opt(MODEL, "-p", "hide", *flags)
    assert (
        "hide  not run: no reference evaluation for 'a.exp'; finishing it fails: "
        "phase 'graph' expects no unregistered op, but got 'a.exp'\n"
    ) in result.err


# Machine code on its own.


class Code:
    """Stands for a program."""

    def __init__(self, run: Callable[[], dict[str, Any]]) -> None:
        self._run = run

    def run(self, inputs: object) -> dict[str, Any]:
        return self._run()


def apart(run: Callable[[], dict[str, Any]]) -> dict[str, Any] | NotRun:
    return cast("dict[str, Any] | NotRun", run_apart(cast(Program, Code(run)), {}))


def test_code_runs_in_a_process_of_its_own() -> None:
    own = os.getpid()
    (pid,) = cast("dict[str, Any]", apart(lambda: {"pid": os.getpid()})).values()
    assert pid != own
    large = apart(lambda: {"x": np.ones(1 << 20)})
    assert not isinstance(large, NotRun) and large["x"].sum() == 1 << 20


def test_code_that_ends_its_process() -> None:
    def crash() -> dict[str, Any]:
        os.kill(os.getpid(), signal.SIGSEGV)
        return {}

    assert apart(crash) == NotRun("the code ends the process with SIGSEGV")


def test_code_that_raises() -> None:
    def fail() -> dict[str, Any]:
        raise ValueError("x")

    assert apart(fail) == NotRun("ValueError: x")


def test_code_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang() -> dict[str, Any]:
        time.sleep(60)
        return {}

    monkeypatch.setattr(number_runs, "MAX_SECONDS", 0.2)
    assert apart(hang) == NotRun("the code does not end within 0 s")


@pytest.mark.parametrize(
    ("actual", "expected", "place"),
    [
        ([1.0, 2.5], [1.0, 2.0], "; at [1] 2.0 is expected, but 2.5 is there"),
        ([np.nan, 9.0], [1.0, 2.0], "; at [0] 1.0 is expected, but nan is there"),
        ([np.nan, 9.0], [np.nan, 2.0], "; at [1] 2.0 is expected, but 9.0 is there"),
        ([np.inf, 9.0], [np.inf, 2.0], "; at [1] 2.0 is expected, but 9.0 is there"),
        ([1.0], [1.0, 2.0], ""),
    ],
)
def test_the_place_of_the_largest_error(
    actual: list[float], expected: list[float], place: str
) -> None:
    assert largest_at(np.array(actual), np.array(expected)) == place


# With other flags.


def test_as_json(opt: Opt) -> None:
    flags = ("--check-each", "--output-format=json", "--allow-unregistered-dialect")
    result = opt(MODEL, "-p", "cse,hide", *flags)
    assert json.loads(result.err) == {
        "report": "numbers",
        "data": [
            {"after": "cse", "way": "interpreted", "error": None},
            {
                "after": "hide",
                "way": None,
                "error": None,
                "reason": "no reference evaluation for 'a.exp'",
            },
        ],
    }


def test_wrong_numbers_are_no_crash(opt: Opt) -> None:
    flags = ("--check-each", "--crash-reproducer=r.mlir")
    assert opt(MODEL, "-p", "bad", *flags).status == 1
    assert not Path("r.mlir").exists()


def test_modules_of_a_split_file(opt: Opt) -> None:
    text = f"{MODEL}// -----\n{MODEL.replace('exp', 'tanh')}"
    flags = ("--split-input-file", "--check-each")
    result = opt(text, "-p", "bad", *flags)
    assert result.status == 1
    assert result.err.count("error:") == 1
    assert result.err.count("numbers after each pass") == 2
