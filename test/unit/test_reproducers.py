"""Reproducers: their form, that they are proven to replay, and running them."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from opt_cases import SUMS, Opt
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from transom.dialects.diagnostics import OpError
from transom.passes.function_pass import FunctionPass

MODEL = """\
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.relu %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""


@dataclass(frozen=True)
class Fails(ModulePass):
    """Fails where there are fewer than two sums, as after `cse`."""

    name = "fails"

    level: int = 3
    text: str = 'a "quoted" word'

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sums = [inner for inner in op.walk() if inner.name == "arith.addi"]
        if len(sums) == 1:
            raise OpError(sums[0], "expected two sums, but got one")


@dataclass(frozen=True)
class Raises(ModulePass):
    name = "raises"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise KeyError(f"x of {object()}")


@dataclass(frozen=True)
class FailsOnce(ModulePass):
    """A pass with a state of its own, as there should be none."""

    name = "fails-once"
    failed: ClassVar[list[bool]] = []

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.failed:
            self.failed.append(True)
            raise PassFailedException("cannot do it")


@dataclass(frozen=True)
class FailsInTwoWays(ModulePass):
    name = "fails-in-two-ways"
    count: ClassVar[list[bool]] = []

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.count.append(True)
        raise PassFailedException(f"for the time {len(self.count)}")


@dataclass(frozen=True)
class RefusesFunctions(FunctionPass):
    name = "refuses-functions"

    def apply_to(self, ctx: Context, func: FuncOp) -> None:
        raise OpError(func, "expected no function")


@dataclass(frozen=True)
class BreaksTheModule(ModulePass):
    name = "breaks-the-module"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        list(op.walk())[-1].detach()


@dataclass(frozen=True)
class Interrupts(ModulePass):
    name = "interrupts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise KeyboardInterrupt


@dataclass(frozen=True)
class Counts(ModulePass):
    """Gives another module each time."""

    name = "counts"
    count: ClassVar[list[bool]] = []

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.count.append(True)
        op.attributes["test.count"] = StringAttr(str(len(self.count)))


@pytest.fixture
def opt(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Opt:
    for cls in (FailsOnce, FailsInTwoWays, Counts):
        getattr(cls, "failed" if cls is FailsOnce else "count").clear()
    opt = Opt(tmp_path, capsys, monkeypatch)
    opt.register(
        Fails,
        Raises,
        FailsOnce,
        FailsInTwoWays,
        RefusesFunctions,
        BreaksTheModule,
        Interrupts,
        Counts,
    )
    return opt


def pipeline_in(file: str) -> str:
    found = re.findall(r'pipeline: "(.*)"', Path(file).read_text())
    assert len(found) == 1
    return found[0]


def note_of(err: str) -> str:
    (note,) = re.findall(r"^a.mlir:1:1: note: (reproducer .*)$", err, re.MULTILINE)
    return note


ERROR = "a.mlir:2:3: error: expected two sums, but got one\n"
SAME = "it fails in the same way when run again"


# Of failures.


def test_a_failure_leaves_a_reproducer(opt: Opt) -> None:
    result = opt(SUMS, "-p", "func.func(cse),fails", "--crash-reproducer=r.mlir")
    assert (result.status, result.out) == (1, "")
    assert (
        result.err
        == f"""\
{ERROR}  %a = arith.addi %x, %x : i32
  ^
a.mlir:1:1: note: reproducer written to 'r.mlir'; {SAME}
"""
    )
    assert (
        Path("r.mlir").read_text()
        == """\
builtin.module {
  func.func @f(%x: i32 loc("a.mlir":1:14)) -> i32 {
    %a = arith.addi %x, %x : i32 loc("a.mlir":2:3)
    %b = arith.addi %x, %x : i32 loc("a.mlir":3:3)
    %c = arith.muli %a, %b : i32 loc("a.mlir":4:3)
    func.return %c : i32 loc("a.mlir":5:3)
  } loc("a.mlir":1:1)
} loc("a.mlir":1:1)

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(func.func(cse),fails{level=3 \
text=\\22a \\\\\\22quoted\\\\\\22 word\\22})",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
"""
    )


def test_it_fails_again_when_run(opt: Opt) -> None:
    opt(SUMS, "-p", "func.func(cse),fails", "--crash-reproducer=r.mlir")
    result = opt.on("--run-reproducer", "r.mlir")
    assert result.status == 1
    assert result.err.startswith(ERROR)


def test_no_failure_leaves_nothing(opt: Opt) -> None:
    result = opt(SUMS, "-p", "fails", "--crash-reproducer=r.mlir")
    assert (result.status, result.err) == (0, "")
    assert not Path("r.mlir").exists()


def test_one_reproducer_and_one_error_on_standard_output(opt: Opt) -> None:
    # llvm-project#57639
    result = opt(SUMS, "-p", "cse,fails", "--crash-reproducer=-")
    assert result.status == 1
    assert result.out.count("mlir_reproducer") == 1
    assert result.out.startswith("builtin.module {") and result.out.endswith("#-}\n")
    assert result.err.count("error:") == 1
    assert note_of(result.err) == f"reproducer written to standard output; {SAME}"


def test_local_reproducer_of_an_empty_module(opt: Opt) -> None:
    # llvm-project#128344
    flags = ("--crash-reproducer=r.mlir", "--local-reproducer")
    for pipeline in ("cse", "func.func(cse)", ""):
        result = opt("", "-p", pipeline, *flags)
        assert (result.status, result.err) == (0, "")
    result = opt("", "-p", "raises", *flags)
    assert pipeline_in("r.mlir") == "builtin.module(raises)"
    assert SAME in result.err


def test_a_local_reproducer_has_the_failing_pass_alone(opt: Opt) -> None:
    flags = ("--crash-reproducer=r.mlir", "--local-reproducer")
    result = opt(SUMS, "-p", "func.func(cse),dce,fails,canonicalize", *flags)
    assert note_of(result.err) == f"reproducer written to 'r.mlir'; {SAME}"
    assert pipeline_in("r.mlir").startswith("builtin.module(fails{level=3")
    text = Path("r.mlir").read_text()
    assert text.count("arith.addi") == 1
    assert 'loc("a.mlir":2:3)' in text


def test_a_local_reproducer_of_a_pass_on_functions(opt: Opt) -> None:
    flags = ("--crash-reproducer=r.mlir", "--local-reproducer")
    result = opt(SUMS, "-p", "func.func(cse,refuses-functions)", *flags)
    assert pipeline_in("r.mlir") == "builtin.module(func.func(refuses-functions))"
    assert SAME in result.err


def test_what_does_not_verify_has_failed(opt: Opt) -> None:
    result = opt(SUMS, "-p", "breaks-the-module", "--crash-reproducer=r.mlir")
    assert note_of(result.err) == f"reproducer written to 'r.mlir'; {SAME}"
    Path("r.mlir").unlink()
    flags = ("--no-verify-each", "--crash-reproducer=r.mlir")
    result = opt(SUMS, "-p", "breaks-the-module", *flags)
    assert note_of(result.err) == f"reproducer written to 'r.mlir'; {SAME}"
    assert "verify_each: false" in Path("r.mlir").read_text()


def test_addresses_in_messages_are_not_compared(opt: Opt) -> None:
    result = opt(SUMS, "-p", "raises", "--crash-reproducer=r.mlir")
    assert note_of(result.err) == f"reproducer written to 'r.mlir'; {SAME}"


def test_it_is_said_if_it_does_not_reproduce(opt: Opt) -> None:
    result = opt(SUMS, "-p", "fails-once", "--crash-reproducer=r.mlir")
    assert note_of(result.err) == (
        "reproducer written to 'r.mlir', but when run again it ends without an error"
    )
    result = opt(SUMS, "-p", "fails-in-two-ways", "--crash-reproducer=r.mlir")
    assert note_of(result.err) == (
        "reproducer written to 'r.mlir', but when run again it fails otherwise: "
        "pass 'fails-in-two-ways' failed: PassFailedException: for the time 2"
    )


def test_an_interrupted_run_leaves_one_too(opt: Opt) -> None:
    result = opt(SUMS, "-p", "cse,interrupts", "--crash-reproducer=r.mlir")
    assert result.status == 130
    assert pipeline_in("r.mlir") == "builtin.module(cse,interrupts)"


def test_the_first_failure_of_a_split_file(opt: Opt) -> None:
    text = "// -----\n".join((SUMS.replace("@f", "@first"), SUMS))
    flags = ("--split-input-file", "--crash-reproducer=r.mlir")
    result = opt(text, "-p", "cse,fails", *flags)
    assert result.err.count("error:") == 2
    assert result.err.count("reproducer written") == 1
    assert "@first" in Path("r.mlir").read_text()


def test_expected_errors_need_no_note(opt: Opt) -> None:
    text = SUMS.replace(
        "  %a", "  // expected-error @+1 {{expected two sums}}\n  %a", 1
    )
    flags = ("--verify-diagnostics", "--crash-reproducer=r.mlir")
    result = opt(text, "-p", "cse,fails", *flags)
    assert (result.status, result.err) == (0, "")


def test_phases_are_spelled_out(opt: Opt) -> None:
    result = opt(MODEL, "--to=placed", "-p", "raises", "--crash-reproducer=r.mlir")
    assert SAME in result.err
    assert pipeline_in("r.mlir") == (
        "builtin.module(target-resolve-devices,graph-infer-types,"
        "graph-fold-constants{max-elements=65536},graph-fold-batch-norm,"
        "canonicalize,cse,dce,"
        "target-set-phase{phase=graph},target-claim-ops{explain=false},"
        "target-plan-devices,"
        "target-set-phase{phase=placed},raises)"
    )


def test_a_promise_that_is_broken_is_reproduced(opt: Opt) -> None:
    config = "target.config = #target.config<phase = {}>"
    text = f"""\
builtin.module attributes {{{config.format('"placed"')}}} {{
  target.device @d {{targets = [#llvm_cpu.target<cpu = "znver4">]}}
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
    %y = graph.relu %x : tensor<4xf32>
    func.return %y : tensor<4xf32>
  }}
}}
"""
    result = opt(text, "--to=partitioned", "--crash-reproducer=r.mlir")
    assert result.status == 1
    assert SAME in result.err
    assert "(target-resolve-devices," in pipeline_in("r.mlir")


# Of any run.


def test_a_reproducer_of_a_run_that_is_good(opt: Opt) -> None:
    flags = ("-p", "func.func(cse)", "--generate-reproducer=r.mlir")
    result = opt(SUMS, *flags)
    assert result.status == 0
    assert note_of(result.err) == (
        "reproducer written to 'r.mlir'; it gives the same module when run again"
    )
    assert opt.on("--run-reproducer", "r.mlir").out == result.out


def test_the_identical_pipeline_replays(opt: Opt) -> None:
    # llvm-project#173750
    text = "builtin.module(func.func(cse))"
    opt(SUMS, "-p", text, "--generate-reproducer=r.mlir")
    assert pipeline_in("r.mlir") == text
    opt.on("--run-reproducer", "r.mlir", "--generate-reproducer=again.mlir")
    assert Path("again.mlir").read_text() == Path("r.mlir").read_text()


def test_a_reproducer_of_a_run_that_fails(opt: Opt) -> None:
    flags = ("--generate-reproducer=r.mlir", "--crash-reproducer=c.mlir")
    result = opt(SUMS, "-p", "cse,fails", *flags)
    assert result.err.count(SAME) == 2
    assert Path("r.mlir").read_text() == Path("c.mlir").read_text()


def test_it_is_said_if_another_module_comes_out(opt: Opt) -> None:
    result = opt(SUMS, "-p", "counts", "--generate-reproducer=r.mlir")
    assert note_of(result.err) == (
        "reproducer written to 'r.mlir', but when run again it gives another module"
    )


def test_a_good_run_may_replay_as_a_failure(opt: Opt) -> None:
    flags = ("--allow-unregistered-dialect", "--generate-reproducer=r.mlir")
    result = opt('"a.b"() : () -> ()', *flags)
    assert "it gives the same module when run again" in result.err
    FailsOnce.failed.append(True)

    @dataclass(frozen=True)
    class FailsLater(ModulePass):
        name = "fails-later"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            if len(FailsOnce.failed) > 1:
                raise PassFailedException("too late")
            FailsOnce.failed.append(True)

    opt.register(FailsLater)
    result = opt(SUMS, "-p", "fails-later", "--generate-reproducer=r.mlir")
    assert note_of(result.err) == (
        "reproducer written to 'r.mlir', but when run again it fails: "
        "pass 'fails-later' failed: PassFailedException: too late"
    )


def test_nothing_is_left_out_of_a_reproducer(opt: Opt) -> None:
    flags = ("--elide-elements-larger=1", "--generate-reproducer=r.mlir")
    attributes = "{test.w = dense<[1, 2, 3]> : tensor<3xi8>}"
    opt(f"func.func private @f() attributes {attributes}", *flags)
    assert "dense<[1, 2, 3]>" in Path("r.mlir").read_text()


# Running them, and the command line.


@pytest.mark.parametrize(
    ("section", "message"),
    [
        (
            "",
            "a.mlir:1:1: error: expected a section 'mlir_reproducer' in the external "
            "resources of the file, as '--generate-reproducer' writes it",
        ),
        (
            "mlir_reproducer: {verify_each: true}",
            "a.mlir:4:25: error: expected a string for 'pipeline' of 'mlir_reproducer'",
        ),
        (
            'mlir_reproducer: {pipeline: "cse", verify_each: "x"}',
            "a.mlir:4:25: error: expected 'true' or 'false' for 'verify_each' of "
            "'mlir_reproducer'",
        ),
        (
            'mlir_reproducer: {pipeline: "func.func(csee)"}',
            "a.mlir:4:25: error: unknown pass 'csee'; did you mean 'cse'?\n"
            "  func.func(csee)\n            ^",
        ),
    ],
)
def test_files_without_a_good_section(opt: Opt, section: str, message: str) -> None:
    text = "func.func private @f()\n\n{-#\n  external_resources: { %s }\n#-}\n"
    result = opt(text % section, "--run-reproducer")
    assert result.status == 1
    assert result.err.startswith(message + "\n")


def test_a_section_is_passed_over_if_not_asked_for(opt: Opt) -> None:
    opt(SUMS, "-p", "cse", "--generate-reproducer=r.mlir")
    result = opt.on("r.mlir")
    assert result.out.count("arith.addi") == 2
    assert "external_resources" not in result.out


def test_verify_each_is_as_the_file_says(opt: Opt) -> None:
    flags = ("--no-verify-each", "--generate-reproducer=r.mlir")
    opt(SUMS, "-p", "breaks-the-module,fails", *flags)
    result = opt.on("--run-reproducer", "r.mlir")
    assert "found after pass" not in result.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["--local-reproducer"],
            "expected '--crash-reproducer=FILE' with '--local-reproducer'",
        ),
        (
            ["--split-input-file", "--generate-reproducer=r.mlir"],
            "expected one module for '--generate-reproducer', but not a split file",
        ),
        (
            ["--run-reproducer", "-p", "cse"],
            "expected no passes or phases with '--run-reproducer', which takes them "
            "from the file",
        ),
    ],
)
def test_flags_that_do_not_fit(opt: Opt, args: list[str], message: str) -> None:
    result = opt(SUMS, *args)
    assert (result.status, result.err) == (2, f"transom-opt: error: {message}\n")


def test_a_file_that_cannot_be_written(opt: Opt) -> None:
    result = opt(SUMS, "-p", "cse,fails", "--crash-reproducer=none/r.mlir")
    assert result.status == 1
    assert result.err.startswith(ERROR)
    assert (
        "a.mlir:1:1: warning: no reproducer is written: none/r.mlir: "
        "No such file or directory\n"
    ) in result.err
    result = opt(SUMS, "-p", "cse", "--generate-reproducer=none/r.mlir")
    assert (result.status, result.out) == (1, "")
    assert result.err == (
        "transom-opt: error: none/r.mlir: No such file or directory\n"
    )
