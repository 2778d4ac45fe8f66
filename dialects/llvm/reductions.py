"""
LLVM's vector reductions, as ops `llvm.intr.vector.reduce.<name>`.
"""

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import (
    AnyFloatConstr,
    SignlessIntegerConstraint,
    VectorType,
)
from xdsl.dialects.llvm import FastMathAttr
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from transom.dialects.llvm.float_intrinsics import FloatIntrinsic
from transom.dialects.llvm.types import CALL_LIKE, NO_FLAGS, element_of


class IntegerReduction(IRDLOperation, ABC):
    """All lanes of an integer vector combined into one."""

    T: ClassVar = VarConstraint("T", SignlessIntegerConstraint)

    arg = operand_def(VectorType.constr(T))
    res = result_def(T)

    traits = traits_def(Pure())

    assembly_format = CALL_LIKE

    def __init__(self, arg: SSAValue | Operation):
        result = element_of(SSAValue.get(arg).type)
        super().__init__(operands=[arg], result_types=[result])


class FloatReduction(FloatIntrinsic, ABC):
    """All lanes of a float vector combined into one."""

    T: ClassVar = VarConstraint("T", AnyFloatConstr)

    arg = operand_def(VectorType.constr(T))
    res = result_def(T)

    def __init__(self, arg: SSAValue | Operation, fast_math: FastMathAttr = NO_FLAGS):
        super().__init__(
            operands=[arg],
            result_types=[element_of(SSAValue.get(arg).type)],
            properties={"fastmathFlags": fast_math},
        )


@irdl_op_definition
class VectorReduceAddOp(IntegerReduction):
    """
    Sum of the lanes.

    ```mlir
    %r = llvm.intr.vector.reduce.add(%v) : (vector<4xi32>) -> i32
    ```
    """

    name = "llvm.intr.vector.reduce.add"


@irdl_op_definition
class VectorReduceAndOp(IntegerReduction):
    """
    Conjunction of the lanes.

    ```mlir
    %r = llvm.intr.vector.reduce.and(%v) : (vector<4xi32>) -> i32
    ```
    """

    name = "llvm.intr.vector.reduce.and"


@irdl_op_definition
class VectorReduceMulOp(IntegerReduction):
    """
    Product of the lanes.

    ```mlir
    %r = llvm.intr.vector.reduce.mul(%v) : (vector<4xi32>) -> i32
    ```
    """

    name = "llvm.intr.vector.reduce.mul"


@irdl_op_definition
class VectorReduceOrOp(IntegerReduction):
    """
    Disjunction of the lanes.

    ```mlir
    %r = llvm.intr.vector.reduce.or(%v) : (vector<4xi32>) -> i32
    ```
    """

    name = "llvm.intr.vector.reduce.or"


@irdl_op_definition
class VectorReduceSMaxOp(IntegerReduction):
    """
    Largest lane, signed.

    ```mlir
    %r = llvm.intr.vector.reduce.smax(%v) : (vector<4xi32>) -> i32
    ```
    """

    name = "llvm.intr.vector.reduce.smax"


@irdl_op_definition
class VectorReduceSMinOp(IntegerReduction):
    """
    Smallest lane, signed.

    ```mlir
    %r = llvm.intr.vector.reduce.smin(%v) : (vector<4xi32>) -> i32
    ```
    """

    name = "llvm.intr.vector.reduce.smin"


@irdl_op_definition
class VectorReduceUMaxOp(IntegerReduction):
    """
    Largest lane, unsigned.

    ```mlir
    %r = llvm.intr.vector.reduce.umax(%v) : (vector<4xi32>) -> i32
    ```
    """

    name = "llvm.intr.vector.reduce.umax"


@irdl_op_definition
class VectorReduceUMinOp(IntegerReduction):
    """
    Smallest lane, unsigned.

    ```mlir
    %r = llvm.intr.vector.reduce.umin(%v) : (vector<4xi32>) -> i32
    ```
    """

    name = "llvm.intr.vector.reduce.umin"


@irdl_op_definition
class VectorReduceXorOp(IntegerReduction):
    """
    Exclusive disjunction of the lanes.

    ```mlir
    %r = llvm.intr.vector.reduce.xor(%v) : (vector<4xi32>) -> i32
    ```
    """

    name = "llvm.intr.vector.reduce.xor"


@irdl_op_definition
class VectorReduceFMaxOp(FloatReduction):
    """
    Largest lane, NaNs left out.

    ```mlir
    %r = llvm.intr.vector.reduce.fmax(%v) : (vector<4xf32>) -> f32
    ```
    """

    name = "llvm.intr.vector.reduce.fmax"


@irdl_op_definition
class VectorReduceFMinOp(FloatReduction):
    """
    Smallest lane, NaNs left out.

    ```mlir
    %r = llvm.intr.vector.reduce.fmin(%v) : (vector<4xf32>) -> f32
    ```
    """

    name = "llvm.intr.vector.reduce.fmin"


@irdl_op_definition
class VectorReduceFMaximumOp(FloatReduction):
    """
    Largest lane, NaN if there is one.

    ```mlir
    %r = llvm.intr.vector.reduce.fmaximum(%v) : (vector<4xf32>) -> f32
    ```
    """

    name = "llvm.intr.vector.reduce.fmaximum"


@irdl_op_definition
class VectorReduceFMinimumOp(FloatReduction):
    """
    Smallest lane, NaN if there is one.

    ```mlir
    %r = llvm.intr.vector.reduce.fminimum(%v) : (vector<4xf32>) -> f32
    ```
    """

    name = "llvm.intr.vector.reduce.fminimum"


class OrderedReduction(FloatIntrinsic, ABC):
    """A start value and all lanes combined in order, or in any order (`reassoc`)."""

    T: ClassVar = VarConstraint("T", AnyFloatConstr)

    start_value = operand_def(T)
    vector = operand_def(VectorType.constr(T))
    res = result_def(T)

    def __init__(
        self,
        start_value: SSAValue | Operation,
        vector: SSAValue | Operation,
        fast_math: FastMathAttr = NO_FLAGS,
    ):
        super().__init__(
            operands=[start_value, vector],
            result_types=[SSAValue.get(start_value).type],
            properties={"fastmathFlags": fast_math},
        )


@irdl_op_definition
class VectorReduceFAddOp(OrderedReduction):
    """
    Sum of the start value and the lanes.

    ```mlir
    %r = llvm.intr.vector.reduce.fadd(%s, %v) : (f32, vector<4xf32>) -> f32
    ```
    """

    name = "llvm.intr.vector.reduce.fadd"


@irdl_op_definition
class VectorReduceFMulOp(OrderedReduction):
    """
    Product of the start value and the lanes.

    ```mlir
    %r = llvm.intr.vector.reduce.fmul(%s, %v) : (f32, vector<4xf32>) -> f32
    ```
    """

    name = "llvm.intr.vector.reduce.fmul"
