"""Mistakes of a plug-in are found, and its tests run, by the programs as installed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from fake_distributions import install, run_python

MODEL = """\
func.func @main(%x: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = graph.exp %x : tensor<2x3xf32>
  %s = graph.sub %e, %z : tensor<2x3xf32>
  %r = graph.relu %s : tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}
"""

PASS = """\
from dataclasses import dataclass

from xdsl.dialects.builtin import UnitAttr
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriteWalker, RewritePattern, op_type_rewrite_pattern,
)
from xdsl.universe import Universe

from transom.dialects import graph


class SwapSub(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: graph.SubOp, rewriter):
        if "test.done" not in op.attributes:
            new = graph.SubOp(op.rhs, op.lhs)
            new.attributes["test.done"] = UnitAttr()
            new.location = op.location
            rewriter.replace(op, new)


@dataclass(frozen=True)
class WooflesSwapPass(ModulePass):
    name = "woofles-swap"

    def apply(self, ctx, op):
        PatternRewriteWalker(SwapSub()).rewrite_module(op)


UNIVERSE = Universe(all_passes={"woofles-swap": lambda: WooflesSwapPass})
"""

CONVERSION = """\
from transom.dialects import graph
from transom.lowering.conversion import Operands
from transom.lowering.graph_to_tir.elementwise import ConvertElementwise
from transom.targets.conversions import Conversions


class WooflesConvertSub(ConvertElementwise):
    root = graph.SubOp
    benefit = 2

    def match_and_rewrite(self, op, operands, rewriter):
        swapped = Operands(op, tuple(reversed(tuple(operands))))
        return super().match_and_rewrite(op, swapped, rewriter)


CONVERSIONS = Conversions((WooflesConvertSub(),))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the plug-in is installed, with a model beside it."""
    site = tmp_path / "site"
    site.mkdir()
    (tmp_path / "a.mlir").write_text(MODEL)
    return site


def opt(folder: Path, *args: str) -> str:
    """What the program says of the model, which is wrong."""
    done = run_python(
        folder,
        "-m",
        "transom.tools.transom_opt",
        "a.mlir",
        *args,
        "--check-each",
        "--bisect=D",
        cwd=folder.parent,
        TRANSOM_CACHE="off",
    )
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def passes_in_lit(folder: Path, test: str) -> bool:
    """Run a test as lit does, with the plug-in."""
    tests = folder.parent / "D"
    (tests / "lit.cfg.py").write_text(
        "from transom.tools.lit_format import configure\n"
        'config.name = "written"\n'
        f"config.environment['PYTHONPATH'] = {str(folder)!r}\n"
        "configure(config, __file__)\n"
    )
    lit = Path(sys.executable).with_name("lit")
    done = subprocess.run(
        [sys.executable, lit, "-v", tests / test],
        capture_output=True,
        text=True,
        check=False,
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": str(folder),
            "TRANSOM_CACHE": "off",
        },
    )
    assert ("Passed: 1" in done.stdout) != ("Failed: 1" in done.stdout), done.stdout
    return "Passed: 1" in done.stdout


def test_a_wrong_pattern_in_a_pass(folder: Path) -> None:
    groups = {"xdsl.universe": {"woofles": "woofles:UNIVERSE"}}
    install(folder, "woofles-dist", groups, {"woofles": PASS})
    err = opt(folder, "-p", "cse,woofles-swap,cse")
    assert "error: pass 'woofles-swap' moves the numbers (interpreted)" in err
    assert (
        "a.mlir:3:3: note: the first to move them is rewrite 1 of 1: "
        "pattern 'SwapSub' on 'graph.sub' in '@main'"
    ) in err
    assert (
        "note: a test of 3 ops is written to 'D/woofles-swap.mlir', and it fails"
        in (err)
    )
    assert not passes_in_lit(folder, "woofles-swap.mlir")
    right = PASS.replace("graph.SubOp(op.rhs, op.lhs)", "graph.SubOp(op.lhs, op.rhs)")
    (folder / "woofles.py").write_text(right)
    assert passes_in_lit(folder, "woofles-swap.mlir")


def test_a_wrong_pattern_in_a_conversion(folder: Path) -> None:
    groups = {"transom.conversions": {"woofles": "woofles:CONVERSIONS"}}
    install(folder, "woofles-dist", groups, {"woofles": CONVERSION})
    err = opt(folder, "--to=machine")
    assert "error: pass 'convert-graph-to-tir' moves the numbers (interpreted)" in err
    assert re.search(
        r"^a.mlir:3:3: note: the first to move them is rewrite \d of 3: "
        r"pattern 'WooflesConvertSub' on 'graph.sub' in '@\w+'$",
        err,
        re.MULTILINE,
    )
    assert "is written to 'D/convert-graph-to-tir.mlir', and it fails" in err
    assert not passes_in_lit(folder, "convert-graph-to-tir.mlir")
    (folder / "woofles.py").write_text(CONVERSION.replace("reversed(", "iter("))
    assert passes_in_lit(folder, "convert-graph-to-tir.mlir")
