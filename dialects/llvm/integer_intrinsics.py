"""
LLVM's intrinsics on integers, as ops `llvm.intr.<name>`.
"""

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr
from xdsl.dialects.llvm import LLVMStructType
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

from transom.dialects.llvm.types import CALL_LIKE, INTEGER, boolean_like


class UnaryIntegerIntrinsic(IRDLOperation, ABC):
    """A function of one integer, applied lane by lane."""

    T: ClassVar = VarConstraint("T", INTEGER)

    arg = operand_def(T)
    res = result_def(T)

    traits = traits_def(Pure())

    assembly_format = CALL_LIKE

    def __init__(self, arg: SSAValue | Operation):
        super().__init__(operands=[arg], result_types=[SSAValue.get(arg).type])


class BinaryIntegerIntrinsic(IRDLOperation, ABC):
    """A function of two integers, applied lane by lane."""

    T: ClassVar = VarConstraint("T", INTEGER)

    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(T)

    traits = traits_def(Pure())

    assembly_format = CALL_LIKE

    def __init__(self, lhs: SSAValue | Operation, rhs: SSAValue | Operation):
        super().__init__(operands=[lhs, rhs], result_types=[SSAValue.get(lhs).type])


@irdl_op_definition
class BitReverseOp(UnaryIntegerIntrinsic):
    """
    The bits in reverse order.

    ```mlir
    %r = llvm.intr.bitreverse(%x) : (i32) -> i32
    ```
    """

    name = "llvm.intr.bitreverse"


@irdl_op_definition
class ByteSwapOp(UnaryIntegerIntrinsic):
    """
    The bytes in reverse order.

    ```mlir
    %r = llvm.intr.bswap(%x) : (i32) -> i32
    ```
    """

    name = "llvm.intr.bswap"


@irdl_op_definition
class CtPopOp(UnaryIntegerIntrinsic):
    """
    Number of bits set.

    ```mlir
    %r = llvm.intr.ctpop(%x) : (i32) -> i32
    ```
    """

    name = "llvm.intr.ctpop"


@irdl_op_definition
class SMaxOp(BinaryIntegerIntrinsic):
    """
    The larger operand, signed.

    ```mlir
    %r = llvm.intr.smax(%x, %y) : (i32, i32) -> i32
    ```
    """

    name = "llvm.intr.smax"


@irdl_op_definition
class SMinOp(BinaryIntegerIntrinsic):
    """
    The smaller operand, signed.

    ```mlir
    %r = llvm.intr.smin(%x, %y) : (i32, i32) -> i32
    ```
    """

    name = "llvm.intr.smin"


@irdl_op_definition
class UMaxOp(BinaryIntegerIntrinsic):
    """
    The larger operand, unsigned.

    ```mlir
    %r = llvm.intr.umax(%x, %y) : (i32, i32) -> i32
    ```
    """

    name = "llvm.intr.umax"


@irdl_op_definition
class UMinOp(BinaryIntegerIntrinsic):
    """
    The smaller operand, unsigned.

    ```mlir
    %r = llvm.intr.umin(%x, %y) : (i32, i32) -> i32
    ```
    """

    name = "llvm.intr.umin"


@irdl_op_definition
class SAddSatOp(BinaryIntegerIntrinsic):
    """
    Signed sum, clamped to the range of the type.

    ```mlir
    %r = llvm.intr.sadd.sat(%x, %y) : (i32, i32) -> i32
    ```
    """

    name = "llvm.intr.sadd.sat"


@irdl_op_definition
class SSubSatOp(BinaryIntegerIntrinsic):
    """
    Signed difference, clamped to the range of the type.

    ```mlir
    %r = llvm.intr.ssub.sat(%x, %y) : (i32, i32) -> i32
    ```
    """

    name = "llvm.intr.ssub.sat"


@irdl_op_definition
class SShlSatOp(BinaryIntegerIntrinsic):
    """
    Left shift, clamped to the signed range of the type.

    ```mlir
    %r = llvm.intr.sshl.sat(%x, %y) : (i32, i32) -> i32
    ```
    """

    name = "llvm.intr.sshl.sat"


@irdl_op_definition
class UAddSatOp(BinaryIntegerIntrinsic):
    """
    Unsigned sum, clamped to the range of the type.

    ```mlir
    %r = llvm.intr.uadd.sat(%x, %y) : (i32, i32) -> i32
    ```
    """

    name = "llvm.intr.uadd.sat"


@irdl_op_definition
class USubSatOp(BinaryIntegerIntrinsic):
    """
    Unsigned difference, clamped to zero.

    ```mlir
    %r = llvm.intr.usub.sat(%x, %y) : (i32, i32) -> i32
    ```
    """

    name = "llvm.intr.usub.sat"


@irdl_op_definition
class UShlSatOp(BinaryIntegerIntrinsic):
    """
    Left shift, clamped to the unsigned range of the type.

    ```mlir
    %r = llvm.intr.ushl.sat(%x, %y) : (i32, i32) -> i32
    ```
    """

    name = "llvm.intr.ushl.sat"


class FlaggedIntegerIntrinsic(IRDLOperation, ABC):
    """A function of one integer with a flag: whether one input gives poison."""

    FLAG: ClassVar[str]

    T: ClassVar = VarConstraint("T", INTEGER)

    arg = operand_def(T)
    res = result_def(T)

    irdl_options = (ParsePropInAttrDict(),)

    traits = traits_def(Pure())

    assembly_format = CALL_LIKE

    def __init__(self, arg: SSAValue | Operation, poison: bool = False):
        super().__init__(
            operands=[arg],
            result_types=[SSAValue.get(arg).type],
            properties={self.FLAG: BoolAttr.from_bool(poison)},
        )


@irdl_op_definition
class AbsOp(FlaggedIntegerIntrinsic):
    """
    Absolute value; of the smallest integer itself, or poison.

    ```mlir
    %r = llvm.intr.abs(%x) {is_int_min_poison = false} : (i32) -> i32
    ```
    """

    name = "llvm.intr.abs"
    FLAG: ClassVar = "is_int_min_poison"

    is_int_min_poison = prop_def(BoolAttr)


@irdl_op_definition
class CountLeadingZerosOp(FlaggedIntegerIntrinsic):
    """
    Number of zero bits above the highest set bit; of zero the width, or poison.

    ```mlir
    %r = llvm.intr.ctlz(%x) {is_zero_poison = false} : (i32) -> i32
    ```
    """

    name = "llvm.intr.ctlz"
    FLAG: ClassVar = "is_zero_poison"

    is_zero_poison = prop_def(BoolAttr)


@irdl_op_definition
class CountTrailingZerosOp(FlaggedIntegerIntrinsic):
    """
    Number of zero bits below the lowest set bit; of zero the width, or poison.

    ```mlir
    %r = llvm.intr.cttz(%x) {is_zero_poison = false} : (i32) -> i32
    ```
    """

    name = "llvm.intr.cttz"
    FLAG: ClassVar = "is_zero_poison"

    is_zero_poison = prop_def(BoolAttr)


class WithOverflow(IRDLOperation, ABC):
    """An integer operation and whether it overflowed, as a struct."""

    T: ClassVar = VarConstraint("T", INTEGER)

    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(LLVMStructType)

    traits = traits_def(Pure())

    assembly_format = CALL_LIKE

    def __init__(self, lhs: SSAValue | Operation, rhs: SSAValue | Operation):
        type = SSAValue.get(lhs).type
        result = LLVMStructType.from_type_list([type, boolean_like(type)])
        super().__init__(operands=[lhs, rhs], result_types=[result])


@irdl_op_definition
class SAddWithOverflowOp(WithOverflow):
    """
    Signed sum, and whether it did not fit.

    ```mlir
    %r = llvm.intr.sadd.with.overflow(%x, %y) : (i32, i32) -> !llvm.struct<(i32, i1)>
    ```
    """

    name = "llvm.intr.sadd.with.overflow"


@irdl_op_definition
class SSubWithOverflowOp(WithOverflow):
    """
    Signed difference, and whether it did not fit.

    ```mlir
    %r = llvm.intr.ssub.with.overflow(%x, %y) : (i32, i32) -> !llvm.struct<(i32, i1)>
    ```
    """

    name = "llvm.intr.ssub.with.overflow"


@irdl_op_definition
class SMulWithOverflowOp(WithOverflow):
    """
    Signed product, and whether it did not fit.

    ```mlir
    %r = llvm.intr.smul.with.overflow(%x, %y) : (i32, i32) -> !llvm.struct<(i32, i1)>
    ```
    """

    name = "llvm.intr.smul.with.overflow"


@irdl_op_definition
class UAddWithOverflowOp(WithOverflow):
    """
    Unsigned sum, and whether it did not fit.

    ```mlir
    %r = llvm.intr.uadd.with.overflow(%x, %y) : (i32, i32) -> !llvm.struct<(i32, i1)>
    ```
    """

    name = "llvm.intr.uadd.with.overflow"


@irdl_op_definition
class USubWithOverflowOp(WithOverflow):
    """
    Unsigned difference, and whether it did not fit.

    ```mlir
    %r = llvm.intr.usub.with.overflow(%x, %y) : (i32, i32) -> !llvm.struct<(i32, i1)>
    ```
    """

    name = "llvm.intr.usub.with.overflow"


@irdl_op_definition
class UMulWithOverflowOp(WithOverflow):
    """
    Unsigned product, and whether it did not fit.

    ```mlir
    %r = llvm.intr.umul.with.overflow(%x, %y) : (i32, i32) -> !llvm.struct<(i32, i1)>
    ```
    """

    name = "llvm.intr.umul.with.overflow"
