"""
Modules that nobody writes on purpose: they compute what the reference says, or end in
an error at a place of the text.
"""

from collections.abc import Mapping
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

import transom
from transom.dialects.parser import parse_ir
from transom.dialects.verifier import verify_module
from transom.registry import new_context
from transom.runtime.comparison import compare_all
from transom.testing import interpret, random_inputs


def module_of(text: str) -> ModuleOp:
    """A module that verifies."""
    module = parse_ir(new_context(), text, "m.mlir")
    verify_module(module)
    return module


def agrees(text: str, inputs: Mapping[str, Any] | None = None) -> None:
    """Machine code and the reference give the same numbers."""
    module = module_of(text)
    if inputs is None:
        inputs = random_inputs(module)
    expected = interpret(module, inputs)
    differences = compare_all(transom.compile(module).run(inputs), expected)
    assert not differences, "\n".join(map(str, differences))


PROGRAMS = {
    "only constants": """
func.func @main() -> (tensor<4xf32>, tensor<2xi1>, tensor<bf16>, tensor<0xi8>) {
  %a = graph.constant dense<1.5> : tensor<4xf32>
  %b = graph.constant dense<[true, false]> : tensor<2xi1>
  %c = graph.constant dense<2.5> : tensor<bf16>
  %d = graph.constant dense<> : tensor<0xi8>
  func.return %a, %b, %c, %d : tensor<4xf32>, tensor<2xi1>, tensor<bf16>, tensor<0xi8>
}
""",
    "types of a normalization": """
func.func @main(%x: tensor<1x3x2xf32>, %s: tensor<3xf16>, %v: tensor<3xf64>) -> (
    tensor<1x3x2xf32>, tensor<3x3xf16>) {
  %p = graph.exp %v : tensor<3xf64>
  %a = graph.batch_norm %x, %s, %s, %v, %p epsilon 1.0e-05 : tensor<1x3x2xf32>, tensor<3xf16>, tensor<3xf16>, tensor<3xf64>, tensor<3xf64> -> tensor<1x3x2xf32>
  %h = graph.broadcast %s : tensor<3xf16> -> tensor<3x3xf16>
  %q = graph.exp %s : tensor<3xf16>
  %b = graph.batch_norm %h, %s, %v, %s, %q epsilon 1.0e-05 : tensor<3x3xf16>, tensor<3xf16>, tensor<3xf64>, tensor<3xf16>, tensor<3xf16> -> tensor<3x3xf16>
  func.return %a, %b : tensor<1x3x2xf32>, tensor<3x3xf16>
}
""",  # noqa: E501
    "bools and small integers as index": """
func.func @main(%b: tensor<5xi1>, %u: tensor<5xui8>, %i: tensor<5xi8>) -> (
    tensor<5xindex>, tensor<5xindex>, tensor<5xindex>) {
  %c = graph.constant dense<250> : tensor<ui8>
  %w = graph.or %u, %c : tensor<5xui8>, tensor<ui8> -> tensor<5xui8>
  %n = graph.neg %i : tensor<5xi8>
  %x = graph.cast %b : tensor<5xi1> -> tensor<5xindex>
  %y = graph.cast %w : tensor<5xui8> -> tensor<5xindex>
  %z = graph.cast %n : tensor<5xi8> -> tensor<5xindex>
  func.return %x, %y, %z : tensor<5xindex>, tensor<5xindex>, tensor<5xindex>
}
""",
    "padding of index": """
func.func @main(%x: tensor<1x2x5x4xindex>, %w: tensor<3x2x3x3xindex>) -> (
    tensor<2x2x5x7xindex>, tensor<1x3x5x4xindex>, tensor<1x2x5x4xindex>) {
  %p = graph.pad %x low [0, 0, 0, 3] high [1, 0, 0, 0] value 7 : index : tensor<1x2x5x4xindex> -> tensor<2x2x5x7xindex>
  %c = graph.conv2d %x, %w padding [1, 1, 1, 1] : tensor<1x2x5x4xindex>, tensor<3x2x3x3xindex> -> tensor<1x3x5x4xindex>
  %m = graph.max_pool2d %x kernel [3, 3] padding [1, 1, 1, 1] : tensor<1x2x5x4xindex> -> tensor<1x2x5x4xindex>
  func.return %p, %c, %m : tensor<2x2x5x7xindex>, tensor<1x3x5x4xindex>, tensor<1x2x5x4xindex>
}
""",  # noqa: E501
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees_with_the_reference(name: str) -> None:
    agrees(PROGRAMS[name])
