"""`transom-opt`: passes and phases, in the order in which the command line has them."""

import argparse
import re

import pytest
from opt_program import Result, Run, run_fixture
from xdsl.xdsl_opt_main import xDSLOptMain

from transom.phase_plan import phase_named, shared_plan
from transom.registry import registry
from transom.tools.opt_arguments import Names, add_arguments, normalize
from transom.tools.opt_driver import TransomOptMain
from transom.tools.program_arguments import flags_of

__all__ = ["run_fixture"]

MODEL = """\
target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">]}
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = graph.exp %x : tensor<4x8xf32>
  %b = graph.exp %x : tensor<4x8xf32>
  %y = graph.add %a, %b : tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
"""


def pipelines(result: Result) -> list[str]:
    """What `--dump-pass-pipeline` printed."""
    return result.err.splitlines()


def leading_to(phase: str) -> str:
    """What `--dump-pass-pipeline` prints for a phase, where no hook adds to it."""
    plan = shared_plan(phase_named(phase))
    return f"{plan.pipeline},target-set-phase{{phase={phase}}}"


def test_a_flag_per_pass(run: Run) -> None:
    flags = ("--canonicalize", "--cse", "--dump-pass-pipeline")
    result = run(MODEL, *flags)
    assert result.status == 0
    assert pipelines(result) == ["canonicalize", "cse"]
    assert result.out == run(MODEL, "-p", "canonicalize,cse").out
    assert result.out.count("graph.exp") == 1


def test_a_flag_with_options(run: Run) -> None:
    flags = ("--to=partitioned", "--convert-graph-to-tir", "--tir-fuse-nests")
    plain = run(MODEL, *flags, "--tir-choose-schedule=vector-bytes=64")
    braced = run(MODEL, *flags, "--tir-choose-schedule={vector-bytes=64}")
    text = "convert-graph-to-tir,tir-fuse-nests,tir-choose-schedule{vector-bytes=64}"
    piped = run(MODEL, flags[0], f"--pass-pipeline=builtin.module({text})")
    assert plain.out == braced.out == piped.out != ""
    assert "vector = d" in plain.out or "#tir.schedule" in plain.out


def test_a_wrong_option_of_a_flag(run: Run) -> None:
    assert run(MODEL, "--tir-choose-schedule=vector-byte=64") == Result(
        2,
        "",
        "transom-opt: error: unknown option 'vector-byte' of pass "
        "'tir-choose-schedule'; did you mean 'vector-bytes'?\n"
        "  tir-choose-schedule{vector-byte=64}\n"
        "                      ^\n",
    )


def test_options_for_a_pass_without_any(run: Run) -> None:
    # llvm-project#185738: a message, not a silent failure.
    assert run(MODEL, "-p", "func.func(cse{x=1})") == Result(
        2,
        "",
        "transom-opt: error: unknown option 'x' of pass 'cse'; it takes none\n"
        "  func.func(cse{x=1})\n"
        "                ^\n",
    )


def test_one_dash_before_a_long_name_as_in_mlir_opt(run: Run) -> None:
    result = run(MODEL, "-cse", "-pass-pipeline=func.func(dce)", "-dump-pass-pipeline")
    assert (result.status, pipelines(result)) == (0, ["cse", "func.func(dce)"])


def test_steps_run_in_the_order_given(run: Run) -> None:
    flags = ("-p", "cse", "--to=graph", "--dce", "--to", "placed", "-pfunc.func(cse)")
    result = run(MODEL, *flags, "--dump-pass-pipeline")
    assert pipelines(result) == [
        "cse",
        leading_to("graph"),
        "dce",
        "target-resolve-devices",
        "target-claim-ops,target-plan-devices,target-set-phase{phase=placed}",
        "func.func(cse)",
    ]


def test_a_phase_that_is_behind(run: Run) -> None:
    result = run(MODEL, "--to=placed", "--to=graph")
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(
        "a.mlir:1:1: error: expected a module at or before phase 'graph', but it is "
        "at 'placed'\n"
    )


@pytest.mark.parametrize("start", [(), ("--to=placed",)])
def test_the_pipelines_that_are_printed_do_the_same(
    run: Run, start: tuple[str, ...]
) -> None:
    begun = run(MODEL, *start).out
    result = run(begun, "--to=machine", "--dump-pass-pipeline")
    lines = pipelines(result)
    assert len(lines) == 8 - len(start)
    again = run(begun, *(f"-p={line}" for line in lines))
    assert (again.status, again.out) == (0, result.out)
    joined = run(begun, "-p", ",".join(lines))
    assert (joined.status, joined.out) == (0, result.out)


def test_passes_by_name_and_the_phase_that_they_reach(run: Run) -> None:
    passes = "target-resolve-devices,graph-infer-types,graph-fold-constants"
    by_name = run(MODEL, "-p", passes)
    assert "phase" not in by_name.out
    recorded = run(MODEL, "-p", passes, "-p", "target-set-phase{phase=graph}")
    assert 'phase = "graph"' in recorded.out
    result = run(MODEL, "-p", passes, "--target-set-phase=phase=graph", "--to=placed",
                 "--dump-pass-pipeline")  # fmt: skip
    assert pipelines(result)[2:] == [
        "target-resolve-devices",
        "target-claim-ops,target-plan-devices,target-set-phase{phase=placed}",
    ]


def test_the_place_in_the_whole_text_of_a_pipeline(run: Run) -> None:
    # llvm-project#58771.
    assert run(MODEL, "--pass-pipeline=builtin.module(func.func(invalid))") == Result(
        2,
        "",
        "transom-opt: error: unknown pass 'invalid'\n"
        "  builtin.module(func.func(invalid))\n"
        "                           ^\n",
    )


# The command line as argparse gets it.

NAMES = Names(("cse", "shrink", "x-y"), ("mlir",), ("mlir",), ("graph",))
FLAGS = ("-p", "--passes", "--shrink", "--split-input-file", "--verify-each", "-o")


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["a", "-", "-p", "q"], ["a", "-", "-p", "q"]),
        (["--cse", "--x-y=a=1"], ["--passes=cse", "--passes=x-y{a=1}"]),
        (["-cse", "-x-y={a}"], ["--passes=cse", "--passes=x-y{a}"]),
        (["--shrink"], ["--shrink"]),
        (["--split-input-file"], ["--split-input-file=// -----"]),
        (["-split-input-file=x"], ["--split-input-file=x"]),
        (["--verify-each"], ["--verify-each=true"]),
        (["--cse", "--", "--cse"], ["--passes=cse", "--", "--cse"]),
        (["-pcse", "-o-"], ["-pcse", "-o-"]),
    ],
)
def test_normalize(args: list[str], expected: list[str]) -> None:
    assert normalize(args, FLAGS, NAMES, "transom-opt") == expected


def test_no_pass_has_the_name_of_a_flag() -> None:
    names = Names(registry().passes, ("mlir",), ("mlir",), ("graph",))
    flags = flags_of(add_arguments(argparse.ArgumentParser(), names, ""))
    assert not {f"--{name}" for name in names.passes} & set(flags)


def test_all_of_xdsls_flags_are_there() -> None:
    parser = argparse.ArgumentParser()
    driver = object.__new__(TransomOptMain)
    driver.available_targets, driver.available_passes = {}, {}
    driver.available_frontends = {}
    xDSLOptMain.register_all_arguments(driver, parser)
    names = Names((), ("mlir",), ("mlir",), ("graph",))
    ours = flags_of(add_arguments(argparse.ArgumentParser(), names, ""))
    assert set(re.findall(r"--[a-z][a-z-]+", parser.format_help())) <= set(ours)
