"""
Ops of a plug-in that do not derive `graph.GraphOp`: kernels compute them where their
sizes are known, and what is refused says what to do.
"""

import subprocess
from pathlib import Path

import pytest
from fake_distributions import install, run_python

DIALECT = """
from xdsl.dialects.builtin import AnyTensorTypeConstr
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def
from xdsl.irdl import traits_def
from xdsl.traits import Pure
from xdsl.universe import Universe

@irdl_op_definition
class TwiceOp(IRDLOperation):
    name = "mine.twice"
    source = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)
    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

Mine = Dialect("mine", [TwiceOp], [])
UNIVERSE = Universe(all_dialects={"mine": lambda: Mine})
"""

CONVERSIONS = """
from mine.dialect import TwiceOp
from transom.dialects import tir
from transom.lowering.conversion import ConversionPattern
from transom.lowering.graph_to_tir.site import Site, dims, indices
from transom.targets.conversions import Conversions
from xdsl.dialects import arith

class ConvertTwice(ConversionPattern[TwiceOp]):
    root = TwiceOp

    def match_and_rewrite(self, op, operands, rewriter):
        site = Site(op, operands, rewriter)
        (x,) = site.ins
        out = site.alloc()
        access = indices(1, 0, dims(1))
        site.nest(
            [("parallel", site.dim(x, 0))],
            ins=[tir.In(x, access)],
            outs=[tir.Out(out, access)],
            finish=lambda b, e: [b(arith.AddfOp(e, e))],
        )
        site.done(out)

CONVERSIONS = Conversions((ConvertTwice(),), api_version=1)
"""

ALONE = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = mine.twice %x : tensor<4xf32> -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""

FUSED = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.fused (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %b = mine.twice %a : tensor<4xf32> -> tensor<4xf32>
    graph.yield %b : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that has the plug-in."""
    folder = tmp_path_factory.mktemp("plugins")
    install(
        folder,
        "mine",
        {
            "xdsl.universe": {"mine": "mine.dialect:UNIVERSE"},
            "transom.conversions": {"mine": "mine.conversions:CONVERSIONS"},
        },
        {"mine.dialect": DIALECT, "mine.conversions": CONVERSIONS},
    )
    return folder


def run(
    folder: Path, tmp_path: Path, text: str, *args: str
) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "m.mlir"
    file.write_text(text)
    return run_python(folder, "-m", args[0], "m.mlir", *args[1:], cwd=tmp_path)


def test_kernels_compute_it_where_sizes_are_known(folder: Path, tmp_path: Path) -> None:
    numbers = ("--input", "4xf32=1,2,3,-4", "--expected", "4xf32=2,4,6,-8")
    done = run(folder, tmp_path, FUSED, "transom.tools.transom_run", *numbers)
    assert done.returncode == 0, done.stderr


def test_of_open_sizes_it_has_to_tell_them(folder: Path, tmp_path: Path) -> None:
    dynamic = FUSED.replace("4x", "?x")
    done = run(folder, tmp_path, dynamic, "transom.tools.transom_opt", "--to=tensor")
    assert done.returncode == 1
    assert (
        "m.mlir:3:5: error: expected sizes of results of 'mine.twice' that are known; "
        "where they are not, its class has to derive 'graph.GraphOp', whose 'infer' "
        "tells them"
    ) in done.stderr


def test_main_says_what_kernels_compute(folder: Path, tmp_path: Path) -> None:
    done = run(folder, tmp_path, ALONE, "transom.tools.transom_opt", "--to=planned")
    assert done.returncode == 1
    assert (
        "m.mlir:2:3: error: expected an op that can be bufferised, but got "
        "'mine.twice'; kernels are made of ops of 'graph' and 'linalg', of those whose "
        "class derives 'graph.GraphOp', and of what is in a 'graph.fused'"
    ) in done.stderr
