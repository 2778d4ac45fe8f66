"""
LLVM's intrinsics that touch memory or control, as ops `llvm.intr.<name>`.
"""

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import (
    I1,
    BoolAttr,
    IntegerAttr,
    IntegerType,
    SignlessIntegerConstraint,
    VectorType,
    i32,
)
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect


class CopyIntrinsic(IRDLOperation, ABC):
    """Copy bytes between two places."""

    dst = operand_def(LLVMPointerType)
    src = operand_def(LLVMPointerType)
    len = operand_def(SignlessIntegerConstraint)
    isVolatile = prop_def(BoolAttr)

    def __init__(
        self,
        dst: SSAValue | Operation,
        src: SSAValue | Operation,
        len: SSAValue | Operation,
        volatile: bool = False,
    ):
        super().__init__(
            operands=[dst, src, len],
            properties={"isVolatile": BoolAttr.from_bool(volatile)},
        )


@irdl_op_definition
class MemcpyOp(CopyIntrinsic):
    """
    Copy bytes between places that are equal or apart.

    ```mlir
    "llvm.intr.memcpy"(%d, %s, %n) <{isVolatile = false}>
        : (!llvm.ptr, !llvm.ptr, i64) -> ()
    ```
    """

    name = "llvm.intr.memcpy"


@irdl_op_definition
class MemmoveOp(CopyIntrinsic):
    """
    Copy bytes between places that may overlap.

    ```mlir
    "llvm.intr.memmove"(%d, %s, %n) <{isVolatile = false}>
        : (!llvm.ptr, !llvm.ptr, i64) -> ()
    ```
    """

    name = "llvm.intr.memmove"


@irdl_op_definition
class MemsetOp(IRDLOperation):
    """
    Set bytes to one value.

    ```mlir
    "llvm.intr.memset"(%d, %byte, %n) <{isVolatile = false}>
        : (!llvm.ptr, i8, i64) -> ()
    ```
    """

    name = "llvm.intr.memset"

    dst = operand_def(LLVMPointerType)
    val = operand_def(IntegerType(8))
    len = operand_def(SignlessIntegerConstraint)
    isVolatile = prop_def(BoolAttr)

    def __init__(
        self,
        dst: SSAValue | Operation,
        val: SSAValue | Operation,
        len: SSAValue | Operation,
        volatile: bool = False,
    ):
        super().__init__(
            operands=[dst, val, len],
            properties={"isVolatile": BoolAttr.from_bool(volatile)},
        )


@irdl_op_definition
class MaskedLoadOp(IRDLOperation):
    """
    Read the lanes that the mask has set; the others come from `pass_thru`.

    ```mlir
    %v = llvm.intr.masked.load %p, %m, %other {alignment = 4 : i32}
        : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
    ```
    """

    name = "llvm.intr.masked.load"

    T: ClassVar = VarConstraint("T", VectorType.constr(AnyAttr()))

    data = operand_def(LLVMPointerType)
    mask = operand_def(VectorType[I1])
    pass_thru = operand_def(T)
    res = result_def(T)
    alignment = prop_def(IntegerAttr)

    irdl_options = (ParsePropInAttrDict(),)

    traits = traits_def(MemoryReadEffect())

    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        data: SSAValue | Operation,
        mask: SSAValue | Operation,
        pass_thru: SSAValue | Operation,
        alignment: int,
    ):
        super().__init__(
            operands=[data, mask, pass_thru],
            result_types=[SSAValue.get(pass_thru).type],
            properties={"alignment": IntegerAttr(alignment, i32)},
        )


@irdl_op_definition
class MaskedStoreOp(IRDLOperation):
    """
    Write the lanes that the mask has set.

    ```mlir
    llvm.intr.masked.store %v, %p, %m {alignment = 4 : i32}
        : vector<4xf32>, vector<4xi1> into !llvm.ptr
    ```
    """

    name = "llvm.intr.masked.store"

    value = operand_def(VectorType.constr(AnyAttr()))
    data = operand_def(LLVMPointerType)
    mask = operand_def(VectorType[I1])
    alignment = prop_def(IntegerAttr)

    irdl_options = (ParsePropInAttrDict(),)

    traits = traits_def(MemoryWriteEffect())

    assembly_format = (
        "$value `,` $data `,` $mask attr-dict `:`"
        " type($value) `,` type($mask) `into` type($data)"
    )

    def __init__(
        self,
        value: SSAValue | Operation,
        data: SSAValue | Operation,
        mask: SSAValue | Operation,
        alignment: int,
    ):
        super().__init__(
            operands=[value, data, mask],
            properties={"alignment": IntegerAttr(alignment, i32)},
        )


@irdl_op_definition
class MaskedGatherOp(IRDLOperation):
    """
    Read each lane that the mask has set through its own pointer.

    ```mlir
    %v = llvm.intr.masked.gather %ps, %m, %other {alignment = 4 : i32}
        : (vector<4x!llvm.ptr>, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
    ```
    """

    name = "llvm.intr.masked.gather"

    T: ClassVar = VarConstraint("T", VectorType.constr(AnyAttr()))

    ptrs = operand_def(VectorType[LLVMPointerType])
    mask = operand_def(VectorType[I1])
    pass_thru = operand_def(T)
    res = result_def(T)
    alignment = prop_def(IntegerAttr)

    irdl_options = (ParsePropInAttrDict(),)

    traits = traits_def(MemoryReadEffect())

    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        ptrs: SSAValue | Operation,
        mask: SSAValue | Operation,
        pass_thru: SSAValue | Operation,
        alignment: int,
    ):
        super().__init__(
            operands=[ptrs, mask, pass_thru],
            result_types=[SSAValue.get(pass_thru).type],
            properties={"alignment": IntegerAttr(alignment, i32)},
        )


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """
    Bring memory near: for reading (0) or writing (1), locality 0 to 3, data (1) or
    instruction (0) cache.

    ```mlir
    llvm.intr.prefetch %p {rw = 0 : i32, hint = 3 : i32, cache = 1 : i32} : !llvm.ptr
    ```
    """

    name = "llvm.intr.prefetch"

    addr = operand_def(LLVMPointerType)
    rw = prop_def(IntegerAttr)
    hint = prop_def(IntegerAttr)
    cache = prop_def(IntegerAttr)

    irdl_options = (ParsePropInAttrDict(),)

    assembly_format = "$addr attr-dict `:` type($addr)"

    def __init__(
        self, addr: SSAValue | Operation, write: bool = False, locality: int = 3
    ):
        super().__init__(
            operands=[addr],
            properties={
                "rw": IntegerAttr(int(write), i32),
                "hint": IntegerAttr(locality, i32),
                "cache": IntegerAttr(1, i32),
            },
        )


@irdl_op_definition
class AssumeOp(IRDLOperation):
    """
    Promise that the condition holds.

    ```mlir
    llvm.intr.assume %c : i1
    ```
    """

    name = "llvm.intr.assume"

    cond = operand_def(IntegerType(1))

    assembly_format = "$cond attr-dict `:` type($cond)"

    def __init__(self, cond: SSAValue | Operation):
        super().__init__(operands=[cond])


@irdl_op_definition
class TrapOp(IRDLOperation):
    """
    End the program abnormally.

    ```mlir
    llvm.intr.trap
    ```
    """

    name = "llvm.intr.trap"

    assembly_format = "attr-dict"
