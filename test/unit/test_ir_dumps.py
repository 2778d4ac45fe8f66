"""Dumps of the IR around passes: headers, choices, trees of files."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from opt_cases import SUMS, Opt
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

MODEL = """\
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.relu %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""


@dataclass(frozen=True)
class Fails(ModulePass):
    name = "fails"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise PassFailedException("cannot do it")


@dataclass(frozen=True)
class BreaksTheModule(ModulePass):
    name = "breaks-the-module"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        list(op.walk())[-1].detach()


@pytest.fixture
def opt(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Opt:
    return Opt(tmp_path, capsys, monkeypatch)


def headers(text: str) -> list[str]:
    return re.findall(r"^// -----// (.*) //----- //$", text, re.MULTILINE)


CSE = "CommonSubexpressionElimination (cse)"
DCE = "DeadCodeElimination (dce)"
OF_F = "('func.func' operation: @f)"


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (["--print-ir-before=cse"], [f"IR Dump Before {CSE} {OF_F}"]),
        (["--print-ir-after=dce"], [f"IR Dump After {DCE}"]),
        (
            ["--print-ir-after=dce,cse"],
            [f"IR Dump After {CSE} {OF_F}", f"IR Dump After {DCE}"],
        ),
        (
            ["--print-ir-after", "dce", "--print-ir-before", "dce"],
            [f"IR Dump Before {DCE}", f"IR Dump After {DCE}"],
        ),
        (
            ["--print-ir-before"],
            [f"IR Dump Before {CSE} {OF_F}", f"IR Dump Before {DCE}"],
        ),
        (
            ["-print-ir-after"],
            [f"IR Dump After {CSE} {OF_F}", f"IR Dump After {DCE}"],
        ),
        (["--print-ir-after-change"], [f"IR Dump After {CSE} {OF_F}"]),
        (
            ["--print-ir-after-change", "--print-ir-after=dce"],
            [f"IR Dump After {CSE} {OF_F}", f"IR Dump After {DCE}"],
        ),
        (["--print-ir-after-failure"], []),
    ],
)
def test_which_dumps(opt: Opt, flags: list[str], expected: list[str]) -> None:
    # The flag that may do without names comes before a file, too.
    Path("a.mlir").write_text(SUMS)
    result = opt.on("-p", "func.func(cse),dce", *flags, "a.mlir")
    assert result.status == 0
    assert headers(result.err) == expected


def test_a_flag_without_names_does_not_take_the_file(opt: Opt) -> None:
    assert opt(SUMS, "-p", "cse", "--print-ir-after", "-o", "-").status == 0
    Path("b").write_text(SUMS)
    result = opt.on("--print-ir-after", "./b", "-p", "cse")
    assert headers(result.err) == [f"IR Dump After {CSE}"]


def test_names_of_passes_are_checked(opt: Opt) -> None:
    result = opt(SUMS, "--print-ir-after=cse,dcee")
    assert result.status == 2
    assert result.err == (
        "transom-opt: error: unknown pass 'dcee'; did you mean 'dce'?\n"
    )


def test_a_dump_is_the_op_of_the_pass_or_the_module(opt: Opt) -> None:
    result = opt(SUMS, "-p", "func.func(cse)", "--print-ir-after=cse")
    assert (
        result.err
        == f"""\
// -----// IR Dump After {CSE} {OF_F} //----- //
func.func @f(%x: i32) -> i32 {{
  %a = arith.addi %x, %x : i32
  %c = arith.muli %a, %a : i32
  func.return %c : i32
}}

"""
    )
    flags = ("--print-ir-after=cse", "--print-ir-module-scope")
    result = opt(SUMS, "-p", "func.func(cse)", *flags)
    assert "\nbuiltin.module {\n  func.func @f" in result.err


def test_dumps_and_output_are_printed_by_the_same_flags(opt: Opt) -> None:
    flags = ("--print-ir-after-all", "--print-op-generic", "--print-debuginfo")
    result = opt(SUMS, "-p", "cse", *flags, "--print-value-users")
    for text in (result.err, result.out):
        assert '%a = "arith.addi"(%x, %x)' in text
        assert 'loc("a.mlir":2:3)  // user: %c' in text


def test_elements_are_left_out_of_dumps_and_output_if_asked(opt: Opt) -> None:
    text = (
        "func.func private @f() attributes {test.w = dense<[1, 2, 3]> : tensor<3xi8>}"
    )
    flags = ("-p", "cse", "--print-ir-after-all")
    result = opt(text, *flags)
    assert "dense<[1, 2, 3]>" in result.out and "dense<[1, 2, 3]>" in result.err
    result = opt(text, *flags, "--elide-elements-larger=2")
    assert "dense<__elided__>" in result.out and "dense<__elided__>" in result.err
    result = opt(text, "--elide-elements-larger=never")
    assert "dense<[1, 2, 3]>" in result.out
    result = opt(text, "--elide-elements-larger=x")
    assert (result.status, result.err) == (
        2,
        "transom-opt: error: argument --elide-elements-larger/"
        "--elide-elementsattrs-if-larger: expected a number of elements or 'never', "
        "but got 'x'\n",
    )


@pytest.mark.parametrize(
    ("flag", "text", "part"),
    [
        ("--print-local-scope", SUMS, "%a = arith.addi %x, %x : i32\n"),
        ("--print-skip-regions", SUMS, "builtin.module {...}\n"),
        ("--print-unique-ssa-ids", SUMS + SUMS.replace("@f", "@g"), "@g(%x_1: i32)"),
        (
            "--use-nameloc-as-prefix",
            SUMS.replace("%c", "%0").replace(
                "%b : i32", '%b : i32 loc("mul"("m":1:1))'
            ),
            "%mul = arith.muli",
        ),
        ("--syntax-highlight", SUMS, "\x1b["),
        ("--print-no-properties", "func.func private @f()", "@f()"),
    ],
)
def test_flags_of_printing(opt: Opt, flag: str, text: str, part: str) -> None:
    result = opt(text, flag)
    assert result.status == 0
    assert part in result.out


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal")
def test_a_terminal_gets_short_lists(opt: Opt) -> None:
    values = ", ".join(map(str, range(40)))
    text = f"graph.weight @w = dense<[{values}]> : tensor<40xi8>"
    Path("a.mlir").write_text(text)
    terminal, end = os.openpty()
    command = [sys.executable, "-m", "transom.tools.transom_opt", "a.mlir"]
    subprocess.run(command, stdout=end, check=True)
    os.close(end)
    shown = b""
    while b"}" not in shown:
        shown += os.read(terminal, 1 << 16)
    os.close(terminal)
    assert b"dense<__elided__> : tensor<40xi8>" in shown
    assert values in opt(text).out


def test_the_ir_after_a_failure(opt: Opt) -> None:
    opt.register(Fails, BreaksTheModule)
    result = opt(SUMS, "-p", "func.func(cse),fails", "--print-ir-after-failure")
    assert result.status == 1
    assert headers(result.err) == ["IR Dump After Fails Failed (fails)"]
    # What does not verify has failed, too.
    result = opt(SUMS, "-p", "breaks-the-module", "--print-ir-after-failure")
    assert headers(result.err) == [
        "IR Dump After BreaksTheModule Failed (breaks-the-module)"
    ]
    assert "note: found after pass 'breaks-the-module'" in result.err


# Trees.


def files(folder: str) -> list[str]:
    root = Path(folder)
    found = (p for p in root.rglob("*") if p.is_file())
    return sorted(str(p.relative_to(root)) for p in found)


def test_a_tree_has_a_file_per_change(opt: Opt) -> None:
    pipeline = "func.func(canonicalize,cse),dce"
    result = opt(SUMS, "-p", pipeline, "--print-ir-tree-dir=D/E")
    assert (result.status, result.err) == (0, "")
    path = "builtin_module_no-symbol-name/func_func_f/0_1_cse.mlir"
    assert files("D/E") == [path, "index.txt"]
    assert (
        Path("D/E", path).read_text()
        == """\
func.func @f(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  %c = arith.muli %a, %a : i32
  func.return %c : i32
}
"""
    )
    assert (
        Path("D/E/index.txt").read_text()
        == """\
builtin_module_no-symbol-name/func_func_f/0_0_canonicalize.mlir: unchanged, not written
builtin_module_no-symbol-name/func_func_f/0_1_cse.mlir
builtin_module_no-symbol-name/1_dce.mlir: unchanged, not written
"""
    )


def test_a_tree_has_the_numbers_of_mlir_opt(opt: Opt) -> None:
    # Those of FileTreeIRPrinterConfig in mlir/lib/Pass/IRPrinting.cpp.
    two = SUMS + SUMS.replace("@f", "@g")
    pipeline = "cse,func.func(canonicalize,cse),canonicalize"
    opt(two, "-p", pipeline, "--print-ir-tree-dir=D", "--print-ir-after-all")
    module = "builtin_module_no-symbol-name"
    assert files("D") == [
        f"{module}/0_cse.mlir",
        f"{module}/1_canonicalize.mlir",
        f"{module}/func_func_f/0_0_canonicalize.mlir",
        f"{module}/func_func_f/0_1_cse.mlir",
        f"{module}/func_func_g/0_0_canonicalize.mlir",
        f"{module}/func_func_g/0_1_cse.mlir",
        "index.txt",
    ]


def test_a_tree_has_what_is_before_and_what_failed(opt: Opt) -> None:
    opt.register(Fails)
    flags = ("--print-ir-tree-dir=D", "--print-ir-before-all")
    opt(SUMS, "-p", "cse,dce", *flags)
    module = "builtin_module_no-symbol-name"
    assert files("D") == [
        f"{module}/0_cse_before.mlir",
        f"{module}/1_dce_before.mlir",
        "index.txt",
    ]
    assert opt(SUMS, "-p", "cse,fails", "--print-ir-tree-dir=E").status == 1
    assert files("E") == [
        f"{module}/0_cse.mlir",
        f"{module}/1_fails_failed.mlir",
        "index.txt",
    ]


def test_a_tree_marks_phases(opt: Opt) -> None:
    assert opt(MODEL, "--to=partitioned", "--print-ir-tree-dir=D").status == 0
    index = Path("D/index.txt").read_text()
    marks = re.findall(r"(\d+_phase-.*)", index)
    assert [re.sub(r"^\d+_", "", mark) for mark in marks] == [
        "phase-graph.mlir: phase 'graph' is reached",
        "phase-placed.mlir: phase 'placed' is reached",
        "phase-partitioned.mlir: phase 'partitioned' is reached",
    ]
    (path,) = Path("D").rglob("*phase-placed.mlir")
    again = opt.on(str(path), "--to=partitioned")
    assert again.out == opt(MODEL, "--to=partitioned").out


def test_dumps_of_all_mark_phases(opt: Opt) -> None:
    result = opt(MODEL, "--to=placed", "--print-ir-after-all")
    titles = headers(result.err)
    assert titles[-4:] == [
        "Phase 'graph'",
        "IR Dump After TargetClaimOps (target-claim-ops)",
        "IR Dump After TargetPlanDevices (target-plan-devices)",
        "Phase 'placed'",
    ]


def test_modules_of_a_split_file_have_trees_of_their_own(opt: Opt) -> None:
    text = f"{SUMS}// -----\n{SUMS}"
    opt(text, "-p", "cse", "--print-ir-tree-dir=D", "--split-input-file")
    path = "builtin_module_no-symbol-name/0_cse.mlir"
    assert files("D") == [
        f"module-1/{path}",
        "module-1/index.txt",
        f"module-2/{path}",
        "module-2/index.txt",
    ]


def test_names_of_symbols_are_safe_in_paths(opt: Opt) -> None:
    text = SUMS.replace("@f", '@"../é x"')
    opt(text, "-p", "func.func(cse)", "--print-ir-tree-dir=D")
    assert files("D") == [
        "builtin_module_no-symbol-name/func_func_..%2F%C3%A9%20x/0_0_cse.mlir",
        "index.txt",
    ]


def test_a_folder_that_cannot_be_made(opt: Opt) -> None:
    Path("D").write_text("")
    result = opt(SUMS, "-p", "cse", "--print-ir-tree-dir=D")
    assert result.status == 1
    assert "Not a directory" in result.err or "File exists" in result.err
    assert "Traceback" not in result.err


def test_what_a_pipeline_hides_is_in_dumps_of_the_module(opt: Opt) -> None:
    text = f"""\
target.device @d {{targets = [#llvm_cpu.target<cpu = "znver4">]}}
{MODEL}"""
    hidden = 'builtin.module{without=[#llvm_cpu.target<cpu = "znver4">]}(cse)'
    flags = ("--to=partitioned", "-p", hidden)
    result = opt(text, *flags, "--print-ir-after=cse")
    assert "graph.relu" not in result.err.rsplit("//", 1)[-1]
    result = opt(text, *flags, "--print-ir-after=cse", "--print-ir-module-scope")
    assert "graph.relu" in result.err.rsplit("//", 1)[-1]
    # The phase is seen to be reached inside of that pipeline.
    opt(text, *flags, "--print-ir-tree-dir=D")
    (path,) = Path("D").rglob("*phase-partitioned.mlir")
    assert "graph.relu" in path.read_text()
