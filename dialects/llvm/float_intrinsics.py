"""
LLVM's intrinsics on floats that xDSL lacks, as ops `llvm.intr.<name>`.

The name of the intrinsic is that of the op without `intr.`; the emitter adds the
types that it is overloaded on.
"""

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import SignlessIntegerConstraint
from xdsl.dialects.llvm import FastMathAttr
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from transom.dialects.llvm.types import CALL_LIKE, FLOAT, NO_FLAGS


class FloatIntrinsic(IRDLOperation, ABC):
    """Base of intrinsics on floats; all operands and the result have one type."""

    fastmathFlags = prop_def(FastMathAttr, default_value=NO_FLAGS)

    irdl_options = (ParsePropInAttrDict(),)

    traits = traits_def(Pure())

    assembly_format = CALL_LIKE


class UnaryFloatIntrinsic(FloatIntrinsic, ABC):
    """A function of one float, applied lane by lane."""

    T: ClassVar = VarConstraint("T", FLOAT)

    arg = operand_def(T)
    res = result_def(T)

    def __init__(self, arg: SSAValue | Operation, fast_math: FastMathAttr = NO_FLAGS):
        super().__init__(
            operands=[arg],
            result_types=[SSAValue.get(arg).type],
            properties={"fastmathFlags": fast_math},
        )


class BinaryFloatIntrinsic(FloatIntrinsic, ABC):
    """A function of two floats, applied lane by lane."""

    T: ClassVar = VarConstraint("T", FLOAT)

    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(T)

    def __init__(
        self,
        lhs: SSAValue | Operation,
        rhs: SSAValue | Operation,
        fast_math: FastMathAttr = NO_FLAGS,
    ):
        super().__init__(
            operands=[lhs, rhs],
            result_types=[SSAValue.get(lhs).type],
            properties={"fastmathFlags": fast_math},
        )


@irdl_op_definition
class FAcosOp(UnaryFloatIntrinsic):
    """
    Arc cosine.

    ```mlir
    %r = llvm.intr.acos(%x) : (vector<4xf32>) -> vector<4xf32>
    ```
    """

    name = "llvm.intr.acos"


@irdl_op_definition
class FAsinOp(UnaryFloatIntrinsic):
    """
    Arc sine.

    ```mlir
    %r = llvm.intr.asin(%x) : (vector<4xf32>) -> vector<4xf32>
    ```
    """

    name = "llvm.intr.asin"


@irdl_op_definition
class FAtanOp(UnaryFloatIntrinsic):
    """
    Arc tangent.

    ```mlir
    %r = llvm.intr.atan(%x) : (vector<4xf32>) -> vector<4xf32>
    ```
    """

    name = "llvm.intr.atan"


@irdl_op_definition
class FCoshOp(UnaryFloatIntrinsic):
    """
    Hyperbolic cosine.

    ```mlir
    %r = llvm.intr.cosh(%x) : (vector<4xf32>) -> vector<4xf32>
    ```
    """

    name = "llvm.intr.cosh"


@irdl_op_definition
class FExp10Op(UnaryFloatIntrinsic):
    """
    Ten to the power of the operand.

    ```mlir
    %r = llvm.intr.exp10(%x) : (vector<4xf32>) -> vector<4xf32>
    ```
    """

    name = "llvm.intr.exp10"


@irdl_op_definition
class FLog10Op(UnaryFloatIntrinsic):
    """
    Logarithm to base ten.

    ```mlir
    %r = llvm.intr.log10(%x) : (vector<4xf32>) -> vector<4xf32>
    ```
    """

    name = "llvm.intr.log10"


@irdl_op_definition
class FNearbyintOp(UnaryFloatIntrinsic):
    """
    To an integral value in the current mode, without raising inexact.

    ```mlir
    %r = llvm.intr.nearbyint(%x) : (vector<4xf32>) -> vector<4xf32>
    ```
    """

    name = "llvm.intr.nearbyint"


@irdl_op_definition
class FRintOp(UnaryFloatIntrinsic):
    """
    To an integral value in the current rounding mode.

    ```mlir
    %r = llvm.intr.rint(%x) : (vector<4xf32>) -> vector<4xf32>
    ```
    """

    name = "llvm.intr.rint"


@irdl_op_definition
class FRoundOp(UnaryFloatIntrinsic):
    """
    To the nearest integral value, ties away from zero.

    ```mlir
    %r = llvm.intr.round(%x) : (vector<4xf32>) -> vector<4xf32>
    ```
    """

    name = "llvm.intr.round"


@irdl_op_definition
class FRoundEvenOp(UnaryFloatIntrinsic):
    """
    To the nearest integral value, ties to even.

    ```mlir
    %r = llvm.intr.roundeven(%x) : (vector<4xf32>) -> vector<4xf32>
    ```
    """

    name = "llvm.intr.roundeven"


@irdl_op_definition
class FSinhOp(UnaryFloatIntrinsic):
    """
    Hyperbolic sine.

    ```mlir
    %r = llvm.intr.sinh(%x) : (vector<4xf32>) -> vector<4xf32>
    ```
    """

    name = "llvm.intr.sinh"


@irdl_op_definition
class FTanOp(UnaryFloatIntrinsic):
    """
    Tangent.

    ```mlir
    %r = llvm.intr.tan(%x) : (vector<4xf32>) -> vector<4xf32>
    ```
    """

    name = "llvm.intr.tan"


@irdl_op_definition
class FTanhOp(UnaryFloatIntrinsic):
    """
    Hyperbolic tangent.

    ```mlir
    %r = llvm.intr.tanh(%x) : (vector<4xf32>) -> vector<4xf32>
    ```
    """

    name = "llvm.intr.tanh"


@irdl_op_definition
class FTruncOp(UnaryFloatIntrinsic):
    """
    To an integral value, toward zero.

    ```mlir
    %r = llvm.intr.trunc(%x) : (vector<4xf32>) -> vector<4xf32>
    ```
    """

    name = "llvm.intr.trunc"


@irdl_op_definition
class FAtan2Op(BinaryFloatIntrinsic):
    """
    Angle of the point with y `lhs` and x `rhs`.

    ```mlir
    %r = llvm.intr.atan2(%x, %y) : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
    ```
    """

    name = "llvm.intr.atan2"


@irdl_op_definition
class FMaximumOp(BinaryFloatIntrinsic):
    """
    The larger operand; NaN if either is one (IEEE 754-2019 `maximum`).

    ```mlir
    %r = llvm.intr.maximum(%x, %y) : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
    ```
    """

    name = "llvm.intr.maximum"


@irdl_op_definition
class FMinimumOp(BinaryFloatIntrinsic):
    """
    The smaller operand; NaN if either is one (IEEE 754-2019 `minimum`).

    ```mlir
    %r = llvm.intr.minimum(%x, %y) : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
    ```
    """

    name = "llvm.intr.minimum"


@irdl_op_definition
class FMulAddOp(FloatIntrinsic):
    """
    `a * b + c`, fused or not, whichever is faster.

    ```mlir
    %r = llvm.intr.fmuladd(%a, %b, %c) : (f32, f32, f32) -> f32
    ```
    """

    name = "llvm.intr.fmuladd"

    T: ClassVar = VarConstraint("T", FLOAT)

    a = operand_def(T)
    b = operand_def(T)
    c = operand_def(T)
    res = result_def(T)

    def __init__(
        self,
        a: SSAValue | Operation,
        b: SSAValue | Operation,
        c: SSAValue | Operation,
        fast_math: FastMathAttr = NO_FLAGS,
    ):
        super().__init__(
            operands=[a, b, c],
            result_types=[SSAValue.get(a).type],
            properties={"fastmathFlags": fast_math},
        )


@irdl_op_definition
class FPowiOp(FloatIntrinsic):
    """
    Float to the power of an integer.

    ```mlir
    %r = llvm.intr.powi(%x, %n) : (f32, i32) -> f32
    ```
    """

    name = "llvm.intr.powi"

    T: ClassVar = VarConstraint("T", FLOAT)

    val = operand_def(T)
    power = operand_def(SignlessIntegerConstraint)
    res = result_def(T)

    def __init__(
        self,
        val: SSAValue | Operation,
        power: SSAValue | Operation,
        fast_math: FastMathAttr = NO_FLAGS,
    ):
        super().__init__(
            operands=[val, power],
            result_types=[SSAValue.get(val).type],
            properties={"fastmathFlags": fast_math},
        )
