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
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees_with_the_reference(name: str) -> None:
    agrees(PROGRAMS[name])
