"""Main as it is called once it is lowered: pools, sizes in memory, unsigned results."""

import numpy as np

from transom.dialects.parser import parse_ir
from transom.interpreters.interpreter import Interpreter
from transom.registry import new_context


def run(text: str, *inputs: object) -> list[np.ndarray]:
    module = parse_ir(new_context(), text, "m.mlir")
    return Interpreter(module).run("main", inputs)


def test_pools_are_not_passed() -> None:
    (result,) = run(
        """
        func.func @main(%x: memref<4xf32>, %y: memref<4xf32> {tir.result = 0 : i64},
                        %pool: memref<16xi8>) attributes {executor.signature =
            #executor.signature<(x : tensor<4xf32>) -> (y : tensor<4xf32>)>} {
          tir.copy %x, %y : memref<4xf32>, memref<4xf32>
          func.return
        }
        """,
        np.arange(4, dtype=np.float32),
    )
    assert result.tolist() == [0, 1, 2, 3]


def test_results_have_the_element_type_of_the_signature() -> None:
    (result,) = run(
        """
        func.func @main(%x: memref<2xi8>, %y: memref<2xi8> {tir.result = 0 : i64})
            attributes {executor.signature =
            #executor.signature<(x : tensor<2xui8>) -> (y : tensor<2xui8>)>} {
          tir.copy %x, %y : memref<2xi8>, memref<2xi8>
          func.return
        }
        """,
        np.array([1, 255], np.uint8),
    )
    assert result.dtype == np.uint8
    assert result.tolist() == [1, 255]


def test_sizes_of_results_in_memory() -> None:
    (result,) = run(
        """
        func.func @main(%x: memref<?xf32>, %y: memref<?xf32> {tir.result = 0 : i64})
            attributes {executor.signature =
            #executor.signature<(x : tensor<?xf32>) -> (y : tensor<?xf32>)>} {
          %c0 = arith.constant 0 : index
          %v = memref.load %x[%c0] : memref<?xf32>
          memref.store %v, %y[%c0] : memref<?xf32>
          func.return
        }
        func.func @main.shapes(%n: index, %sizes: memref<1xindex>) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %m = arith.addi %n, %c1 : index
          memref.store %m, %sizes[%c0] : memref<1xindex>
          func.return
        }
        """,
        np.array([7.0, 8.0], np.float32),
    )
    assert result.shape == (3,)
    assert result[0] == 7
