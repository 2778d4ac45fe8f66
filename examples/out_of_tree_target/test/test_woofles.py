"""The target keeps the rules of all targets; its library computes what it should."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
import transom
from transom.dialects.parser import parse_ir
from transom.registry import new_context
from transom.runtime.program import ProgramError
from transom.testing import check_target

PROJECT = Path(__file__).resolve().parents[1]

MODULE = """
module attributes {target.config = #target.config<host = @cpu>} {
  target.device @cpu {
    targets = [#woofles.target<lanes = LANES>, #llvm_cpu.target<cpu = "host">]
  }
  func.func @main(%a: tensor<5x7xf32>, %b: tensor<7x19xf32>) -> tensor<5x19xf32> {
    %p = graph.matmul %a, %b : tensor<5x7xf32>, tensor<7x19xf32> -> tensor<5x19xf32>
    %s = graph.mul %p, %p : tensor<5x19xf32>
    %r = graph.rsqrt %s : tensor<5x19xf32>
    func.return %r : tensor<5x19xf32>
  }
}
"""


@pytest.fixture(scope="module")
def library() -> str:
    """The C functions of the target, built if need be."""
    subprocess.run(["make", "--silent", "libwoofles.so"], cwd=PROJECT, check=True)
    return str(PROJECT / "libwoofles.so")


def test_the_target(library: str) -> None:
    print(check_target("#woofles.target<lanes = 8>", libraries=[library]))


@pytest.mark.parametrize("lanes", [1, 8, 64])
def test_numbers(library: str, lanes: int) -> None:
    """With panels that fit, with one that is cut off, and with one that is too wide."""
    module = parse_ir(new_context(), MODULE.replace("LANES", str(lanes)))
    rng = np.random.default_rng(0)
    a = rng.uniform(1, 2, (5, 7)).astype(np.float32)
    b = rng.uniform(1, 2, (7, 19)).astype(np.float32)
    (result,) = transom.compile(module, libraries=[library])(a, b).values()
    np.testing.assert_allclose(result, 1 / (a @ b), rtol=1e-5)


def test_a_status_of_the_library_is_an_error(library: str) -> None:
    """The plan of a kernel is text: a number that the library refuses can be put in."""
    module = parse_ir(new_context(), MODULE.replace("LANES", "8"))
    text = str(transom.lower(module, to="tensor"))
    assert text.count("arith.constant 8 : i32") == 1
    broken = parse_ir(
        new_context(), text.replace("arith.constant 8 : i32", "arith.constant 65 : i32")
    )
    program = transom.compile(broken, libraries=[library])
    with pytest.raises(ProgramError, match="'woofles_matmul'"):
        program(np.ones((5, 7), np.float32), np.ones((7, 19), np.float32))
