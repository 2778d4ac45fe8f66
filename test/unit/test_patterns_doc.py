"""
The page about patterns: its code runs, as one program from top to bottom.
"""

import re
from pathlib import Path
from typing import Any

from xdsl.ir import Operation

import transom
from transom.dialects import graph
from transom.registry import new_context
from transom.targets.hooks import Accepted, PatternClaim

PAGE = Path(__file__).parents[2] / "docs" / "patterns.md"

QUANTIZED = """
func.func @main(%x: tensor<1x4x8x8xi8>) -> tensor<1x4x8x8xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<0> : tensor<i8>
  %q = graph.constant dense<3> : tensor<4x4x1x1xi8>
  %a = graph.dequantize %x, %s, %z : tensor<1x4x8x8xi8>, tensor<f32>, tensor<i8> -> tensor<1x4x8x8xf32>
  %w = graph.dequantize %q, %s, %z : tensor<4x4x1x1xi8>, tensor<f32>, tensor<i8> -> tensor<4x4x1x1xf32>
  %c = graph.conv2d %a, %w : tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32> -> tensor<1x4x8x8xf32>
  %r = graph.relu %c : tensor<1x4x8x8xf32>
  %y = graph.quantize %r, %s, %z : tensor<1x4x8x8xf32>, tensor<f32>, tensor<i8> -> tensor<1x4x8x8xi8>
  func.return %y : tensor<1x4x8x8xi8>
}
"""  # noqa: E501

DENSE = """
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x2xf32> {
  %y = graph.composite "acme.dense" (%a = %x : tensor<4x8xf32>) -> (tensor<4x2xf32>) {
    %w = graph.constant dense<0.5> : tensor<8x2xf32>
    %b = graph.constant dense<1.0> : tensor<2xf32>
    %p = graph.matmul %a, %w : tensor<4x8xf32>, tensor<8x2xf32> -> tensor<4x2xf32>
    %s = graph.add %p, %b : tensor<4x2xf32>, tensor<2xf32> -> tensor<4x2xf32>
    %g = graph.gelu %s : tensor<4x2xf32>
    graph.yield %g : tensor<4x2xf32>
  }
  func.return %y : tensor<4x2xf32>
}
"""


def names_of_page() -> dict[str, Any]:
    """What the code of the page defines."""
    names: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
        exec(compile(code, str(PAGE), "exec"), names)
    return names


def test_the_code_of_the_page_runs() -> None:
    claim = names_of_page()["claim"]
    assert isinstance(claim, PatternClaim)
    ops: dict[str, Operation] = {op.name: op for op in transom.parse(QUANTIZED).walk()}
    match = claim.pattern.match(ops[graph.QuantizeOp.name])
    assert match is not None and "relu" in match
    assert [op.name for op in match.ops] == [
        "graph.conv2d",
        "graph.relu",
        "graph.quantize",
    ]
    assert [op.name for op in match.copied].count("graph.dequantize") == 2
    assert claim.answer(match) == Accepted()


def test_the_pass_of_the_page_replaces_composites() -> None:
    module = transom.parse(DENSE)
    names_of_page()["pipeline"].apply(new_context(), module)
    module.verify()
    assert [line.strip() for line in str(module).splitlines()][4:6] == [
        "%y = acme.dense %x, %w, %b : tensor<4x8xf32>, tensor<8x2xf32>, tensor<2xf32> "
        "-> tensor<4x2xf32>",
        "func.return %y : tensor<4x2xf32>",
    ]
