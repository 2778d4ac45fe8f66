"""
Functions of angles, of hyperbolas, and their inverses; element by element.
"""

from xdsl.irdl import irdl_op_definition

from transom.dialects.graph.elementwise import UnaryOp


@irdl_op_definition
class AcosOp(UnaryOp):
    """
    The inverse cosine, from 0 to pi; NaN outside of -1 to 1.

    ```mlir
    %y = graph.acos %x : tensor<4xf32>
    ```
    """

    name = "graph.acos"


@irdl_op_definition
class AcoshOp(UnaryOp):
    """
    The inverse hyperbolic cosine; NaN below 1.

    ```mlir
    %y = graph.acosh %x : tensor<4xf32>
    ```
    """

    name = "graph.acosh"


@irdl_op_definition
class AsinOp(UnaryOp):
    """
    The inverse sine, from -pi / 2 to pi / 2; NaN outside of -1 to 1.

    ```mlir
    %y = graph.asin %x : tensor<4xf32>
    ```
    """

    name = "graph.asin"


@irdl_op_definition
class AsinhOp(UnaryOp):
    """
    The inverse hyperbolic sine.

    ```mlir
    %y = graph.asinh %x : tensor<4xf32>
    ```
    """

    name = "graph.asinh"


@irdl_op_definition
class AtanOp(UnaryOp):
    """
    The inverse tangent, from -pi / 2 to pi / 2.

    ```mlir
    %y = graph.atan %x : tensor<4xf32>
    ```
    """

    name = "graph.atan"


@irdl_op_definition
class AtanhOp(UnaryOp):
    """
    The inverse hyperbolic tangent; NaN outside of -1 to 1.

    ```mlir
    %y = graph.atanh %x : tensor<4xf32>
    ```
    """

    name = "graph.atanh"


@irdl_op_definition
class CoshOp(UnaryOp):
    """
    The hyperbolic cosine.

    ```mlir
    %y = graph.cosh %x : tensor<4xf32>
    ```
    """

    name = "graph.cosh"


@irdl_op_definition
class SinhOp(UnaryOp):
    """
    The hyperbolic sine.

    ```mlir
    %y = graph.sinh %x : tensor<4xf32>
    ```
    """

    name = "graph.sinh"


@irdl_op_definition
class TanOp(UnaryOp):
    """
    The tangent.

    ```mlir
    %y = graph.tan %x : tensor<4xf32>
    ```
    """

    name = "graph.tan"
