"""
Products of matrices and vectors.
"""

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from transom.dialects.linalg.bodies import multiply_add
from transom.dialects.linalg.named import ContractionOp


@irdl_op_definition
class MatmulOp(ContractionOp):
    """
    A product of matrices, added to the output.

    ```mlir
    %y = linalg.matmul
        ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>)
        outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
    ```
    """

    name = "linalg.matmul"

    ACCESSES: ClassVar = ("m k", "k n", "m n")
    REDUCED: ClassVar = "k"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class MatmulTransposeAOp(ContractionOp):
    """
    A product with the first matrix transposed.

    ```mlir
    %y = linalg.matmul_transpose_a
        ins(%a, %b : tensor<8x4xf32>, tensor<8x16xf32>)
        outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
    ```
    """

    name = "linalg.matmul_transpose_a"

    ACCESSES: ClassVar = ("k m", "k n", "m n")
    REDUCED: ClassVar = "k"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class MatmulTransposeBOp(ContractionOp):
    """
    A product with the second matrix transposed.

    ```mlir
    %y = linalg.matmul_transpose_b
        ins(%a, %b : tensor<4x8xf32>, tensor<16x8xf32>)
        outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
    ```
    """

    name = "linalg.matmul_transpose_b"

    ACCESSES: ClassVar = ("m k", "n k", "m n")
    REDUCED: ClassVar = "k"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class BatchMatmulOp(ContractionOp):
    """
    A product of matrices for each element of a batch.

    ```mlir
    %y = linalg.batch_matmul
        ins(%a, %b : tensor<2x4x8xf32>, tensor<2x8x16xf32>)
        outs(%c : tensor<2x4x16xf32>) -> tensor<2x4x16xf32>
    ```
    """

    name = "linalg.batch_matmul"

    ACCESSES: ClassVar = ("b m k", "b k n", "b m n")
    REDUCED: ClassVar = "k"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class BatchMatmulTransposeAOp(ContractionOp):
    """
    The same with the first matrices transposed.

    ```mlir
    %y = linalg.batch_matmul_transpose_a
        ins(%a, %b : tensor<2x8x4xf32>, tensor<2x8x16xf32>)
        outs(%c : tensor<2x4x16xf32>) -> tensor<2x4x16xf32>
    ```
    """

    name = "linalg.batch_matmul_transpose_a"

    ACCESSES: ClassVar = ("b k m", "b k n", "b m n")
    REDUCED: ClassVar = "k"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class BatchMatmulTransposeBOp(ContractionOp):
    """
    The same with the second matrices transposed.

    ```mlir
    %y = linalg.batch_matmul_transpose_b
        ins(%a, %b : tensor<2x4x8xf32>, tensor<2x16x8xf32>)
        outs(%c : tensor<2x4x16xf32>) -> tensor<2x4x16xf32>
    ```
    """

    name = "linalg.batch_matmul_transpose_b"

    ACCESSES: ClassVar = ("b m k", "b n k", "b m n")
    REDUCED: ClassVar = "k"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class MatvecOp(ContractionOp):
    """
    A matrix times a vector.

    ```mlir
    %y = linalg.matvec
        ins(%a, %b : tensor<4x8xf32>, tensor<8xf32>)
        outs(%c : tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "linalg.matvec"

    ACCESSES: ClassVar = ("m k", "k", "m")
    REDUCED: ClassVar = "k"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class VecmatOp(ContractionOp):
    """
    A vector times a matrix.

    ```mlir
    %y = linalg.vecmat
        ins(%a, %b : tensor<8xf32>, tensor<8x4xf32>)
        outs(%c : tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "linalg.vecmat"

    ACCESSES: ClassVar = ("k", "k n", "n")
    REDUCED: ClassVar = "k"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class BatchMatvecOp(ContractionOp):
    """
    A matrix times a vector for each element of a batch.

    ```mlir
    %y = linalg.batch_matvec
        ins(%a, %b : tensor<2x4x8xf32>, tensor<2x8xf32>)
        outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
    ```
    """

    name = "linalg.batch_matvec"

    ACCESSES: ClassVar = ("b m k", "b k", "b m")
    REDUCED: ClassVar = "k"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class BatchVecmatOp(ContractionOp):
    """
    A vector times a matrix for each element of a batch.

    ```mlir
    %y = linalg.batch_vecmat
        ins(%a, %b : tensor<2x8xf32>, tensor<2x8x4xf32>)
        outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
    ```
    """

    name = "linalg.batch_vecmat"

    ACCESSES: ClassVar = ("b k", "b k n", "b n")
    REDUCED: ClassVar = "k"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class DotOp(ContractionOp):
    """
    The product of two vectors.

    ```mlir
    %y = linalg.dot
        ins(%a, %b : tensor<8xf32>, tensor<8xf32>)
        outs(%c : tensor<f32>) -> tensor<f32>
    ```
    """

    name = "linalg.dot"

    ACCESSES: ClassVar = ("k", "k", "")
    REDUCED: ClassVar = "k"
    POINT: ClassVar = staticmethod(multiply_add)


OPERATIONS = (
    MatmulOp,
    MatmulTransposeAOp,
    MatmulTransposeBOp,
    BatchMatmulOp,
    BatchMatmulTransposeAOp,
    BatchMatmulTransposeBOp,
    MatvecOp,
    VecmatOp,
    BatchMatvecOp,
    BatchVecmatOp,
    DotOp,
)
