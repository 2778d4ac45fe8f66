"""
Constants, casts and element access of the `llvm` dialect that xDSL lacks.

Names, operands and syntax are those of MLIR's `llvm` dialect, so that text can be
exchanged with its tools.
"""

from abc import ABC
from typing import ClassVar, cast

from xdsl.dialects import llvm as upstream
from xdsl.dialects.builtin import (
    IntegerAttr,
    SignlessIntegerConstraint,
    UnitAttr,
    VectorType,
    i64,
)
from xdsl.dialects.llvm import GenericCastOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoMemoryEffect

from transom.dialects.llvm.types import FLOAT, INTEGER, as_vector, element_of


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """
    A constant number, vector or array. Unlike xDSL's it keeps its attributes.

    ```mlir
    %c = llvm.mlir.constant(dense<1.000000e+00> : vector<4xf32>) : vector<4xf32>
    ```
    """

    name = "llvm.mlir.constant"

    value = prop_def()
    result = result_def()

    traits = traits_def(NoMemoryEffect())

    def __init__(self, value: Attribute, value_type: Attribute):
        super().__init__(properties={"value": value}, result_types=[value_type])

    @classmethod
    def parse(cls, parser: Parser):
        with parser.in_parens():
            value = upstream.ConstantOp.parse_value(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_characters(":")
        op = cls(value, parser.parse_type())
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            if self.result.type == i64:
                cast(IntegerAttr, self.value).print_without_type(printer)
            else:
                printer.print_attribute(self.value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


class ConstantOfTypeOp(IRDLOperation, ABC):
    """Base of constants that their type describes entirely."""

    res = result_def()

    traits = traits_def(NoMemoryEffect())

    assembly_format = "attr-dict `:` type($res)"

    def __init__(self, result_type: Attribute):
        super().__init__(result_types=[result_type])


@irdl_op_definition
class ZeroOp(ConstantOfTypeOp):
    """
    All bits zero: a null pointer, a zeroed struct, vector or number.

    ```mlir
    %p = llvm.mlir.zero : !llvm.ptr
    ```
    """

    name = "llvm.mlir.zero"


@irdl_op_definition
class PoisonOp(ConstantOfTypeOp):
    """
    A value that must not be used.

    ```mlir
    %p = llvm.mlir.poison : vector<4xf32>
    ```
    """

    name = "llvm.mlir.poison"


@irdl_op_definition
class UIToFPOp(IRDLOperation):
    """
    Unsigned integer to float.

    ```mlir
    %f = llvm.uitofp %i : i32 to f32
    ```
    """

    name = "llvm.uitofp"

    arg = operand_def(INTEGER)
    result = result_def(FLOAT)
    non_neg = opt_prop_def(UnitAttr, prop_name="nonNeg")

    traits = traits_def(NoMemoryEffect())

    assembly_format = (
        "(`nneg` $nonNeg^)? $arg attr-dict `:` type($arg) `to` type($result)"
    )

    def __init__(self, arg: SSAValue | Operation, result_type: Attribute):
        super().__init__(operands=[arg], result_types=[result_type])


@irdl_op_definition
class FPToSIOp(GenericCastOp):
    """
    Float to signed integer, rounding toward zero; poison where it does not fit.

    ```mlir
    %i = llvm.fptosi %f : f32 to i32
    ```
    """

    name = "llvm.fptosi"


@irdl_op_definition
class FPToUIOp(GenericCastOp):
    """
    Float to unsigned integer, rounding toward zero; poison where it does not fit.

    ```mlir
    %i = llvm.fptoui %f : f32 to i32
    ```
    """

    name = "llvm.fptoui"


@irdl_op_definition
class AddrSpaceCastOp(GenericCastOp):
    """
    The same object seen from another address space.

    ```mlir
    %q = llvm.addrspacecast %p : !llvm.ptr to !llvm.ptr<3>
    ```
    """

    name = "llvm.addrspacecast"


@irdl_op_definition
class FreezeOp(IRDLOperation):
    """
    The value, or some fixed value in place of poison.

    ```mlir
    %f = llvm.freeze %v : i32
    ```
    """

    name = "llvm.freeze"

    T: ClassVar = VarConstraint("T", AnyAttr())

    val = operand_def(T)
    res = result_def(T)

    traits = traits_def(NoMemoryEffect())

    assembly_format = "$val attr-dict `:` type($val)"

    def __init__(self, val: SSAValue | Operation):
        super().__init__(operands=[val], result_types=[SSAValue.get(val).type])


@irdl_op_definition
class ExtractElementOp(IRDLOperation):
    """
    One lane of a vector.

    ```mlir
    %e = llvm.extractelement %v[%i : i64] : vector<4xf32>
    ```
    """

    name = "llvm.extractelement"

    E: ClassVar = VarConstraint("E", AnyAttr())

    vector = operand_def(VectorType.constr(E))
    position = operand_def(SignlessIntegerConstraint)
    res = result_def(E)

    traits = traits_def(NoMemoryEffect())

    def __init__(self, vector: SSAValue | Operation, position: SSAValue | Operation):
        result = element_of(SSAValue.get(vector).type)
        super().__init__(operands=[vector, position], result_types=[result])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.vector)
        with printer.in_square_brackets():
            printer.print_ssa_value(self.position)
            printer.print_string(" : ")
            printer.print_attribute(self.position.type)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.vector.type)

    @classmethod
    def parse(cls, parser: Parser):
        vector = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            position = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            position_type = parser.parse_type()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start = parser.pos
        type = as_vector(found := parser.parse_type())
        if type is None:
            parser.raise_error(f"expected a vector type, but got '{found}'", start)
        op = cls(
            parser.resolve_operand(vector, type),
            parser.resolve_operand(position, position_type),
        )
        op.attributes |= attributes
        return op
