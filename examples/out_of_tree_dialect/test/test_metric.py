"""The op computes distances, and the same at every phase."""

import numpy as np
import pytest
import transom
from transom.dialects.parser import parse_ir
from transom.registry import new_context
from transom.runtime.program import ProgramError
from transom.testing import check_phases, interpret, random_inputs
from xdsl.dialects.builtin import ModuleOp

STATIC = """
func.func @main(%a: tensor<4x3xf32>, %b: tensor<5x3xf32>) -> tensor<4x5xf32> {
  %c = graph.neg %a : tensor<4x3xf32>
  %d = metric.distances %c, %b : tensor<4x3xf32>, tensor<5x3xf32> -> tensor<4x5xf32>
  %e = graph.relu %d : tensor<4x5xf32>
  func.return %e : tensor<4x5xf32>
}
"""
SYMBOLIC = """
!points = tensor<?x3xf64, #graph.desc<dims = ["N" : 1 to 9]>>
!all = tensor<?x?xf64, #graph.desc<dims = ["N" : 1 to 9, "N" : 1 to 9]>>
func.func @main(%a: !points) -> !all {
  %d = metric.distances %a, %a : !points, !points -> !all
  func.return %d : !all
}
"""
OPEN = """
func.func @main(%a: tensor<4x?xf32>, %b: tensor<5x?xf32>) -> tensor<4x5xf32> {
  %d = metric.distances %a, %b : tensor<4x?xf32>, tensor<5x?xf32> -> tensor<4x5xf32>
  func.return %d : tensor<4x5xf32>
}
"""


def parse(text: str) -> ModuleOp:
    return parse_ir(new_context(), text, "metric.mlir")


def test_numbers() -> None:
    module = parse(STATIC)
    inputs = random_inputs(module)
    a, b = inputs.values()
    expected = np.linalg.norm(-a[:, None] - b[None], axis=2)
    np.testing.assert_allclose(*interpret(module, inputs).values(), expected, rtol=1e-6)


@pytest.mark.parametrize("text", [STATIC, SYMBOLIC, OPEN])
def test_every_phase(text: str) -> None:
    check_phases(parse(text), sizes={"N": 7})


def test_rows_of_different_lengths_are_refused_at_run_time() -> None:
    program = transom.compile(parse(OPEN))
    a, b = np.zeros((4, 3), np.float32), np.zeros((5, 2), np.float32)
    with pytest.raises(ProgramError) as error:
        program(a, b)
    assert str(error.value) == (
        "'metric.distances': dimension 1 of operand 0 is not that of dimension 1 of "
        "operand 1"
    )
