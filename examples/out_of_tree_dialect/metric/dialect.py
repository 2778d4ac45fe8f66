"""
The `metric` dialect: distances between vectors, which are rows of matrices.

Values are tensors as in `graph`, whose ops stand beside these. Lowered to nests by the
patterns of `metric.conversions`.
"""

from collections.abc import Iterable

from transom.dialects.graph import GraphOp, ResultShape
from transom.dialects.graph.operation import DimAt, Value
from transom.dialects.graph.syntax import Signature
from xdsl.dialects.builtin import AnyTensorTypeConstr, f32, f64
from xdsl.ir import Dialect
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.universe import Universe
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class DistancesOp(GraphOp):
    """
    The Euclidean distance of each row of one matrix from each row of another, as
    SciPy's `cdist`.

    ```mlir
    %d = metric.distances %a, %b : tensor<4x3xf32>, tensor<5x3xf32> -> tensor<4x5xf32>
    ```
    """

    name = "metric.distances"

    lhs = operand_def(AnyTensorTypeConstr)
    rhs = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$lhs `,` $rhs attr-dict `:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(self, lhs: Value, rhs: Value) -> None:
        self._build((lhs, rhs), {})

    def infer(self) -> tuple[ResultShape, ...]:
        lhs, rhs = self.operand_dims(0), self.operand_dims(1)
        element = self.operand_type(0).element_type
        if element not in (f32, f64) or self.operand_type(1).element_type != element:
            raise VerifyException(
                "expected operands of 'f32' or of 'f64', but got "
                f"'{self.operand_type(0)}' and '{self.operand_type(1)}'"
            )
        if (len(lhs), len(rhs)) != (2, 2):
            raise VerifyException(
                f"expected two matrices, but got ranks {len(lhs)} and {len(rhs)}"
            )
        if isinstance(lhs[1], int) and isinstance(rhs[1], int) and lhs[1] != rhs[1]:
            raise VerifyException(
                f"expected rows of one length, but got {lhs[1]} and {rhs[1]}"
            )
        return (ResultShape((lhs[0], rhs[0]), element),)

    def equal_dims(self) -> Iterable[tuple[DimAt, DimAt]]:
        return ((DimAt(0, 1), DimAt(1, 1)),)


Metric = Dialect("metric", [DistancesOp], [])

UNIVERSE = Universe(all_dialects={"metric": lambda: Metric})
