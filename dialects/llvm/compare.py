"""
Comparisons and selection of the `llvm` dialect, on scalars, vectors and pointers.

Replace xDSL's, which take scalar floats and no pointers.
"""

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import I1, IntegerAttr, VectorType, i64
from xdsl.dialects.llvm import (
    FastMathAttr,
    FCmpPredicateFlag,
    ICmpPredicateFlag,
    LLVMPointerType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException

from transom.dialects.llvm.types import FLOAT, INTEGER, boolean_like, lanes_of


class CompareOp(IRDLOperation, ABC):
    """Base of the comparisons; the predicate is stored as its number."""

    FLAGS: ClassVar[type[ICmpPredicateFlag] | type[FCmpPredicateFlag]]

    predicate = prop_def(IntegerAttr)

    @classmethod
    def parse(cls, parser: Parser):
        start = parser.pos
        text = parser.parse_str_literal()
        names = [str(flag) for flag in cls.FLAGS]
        if text not in names:
            parser.raise_error(
                f"expected one of {', '.join(names)}, but got '{text}'", start
            )
        lhs = parser.parse_unresolved_operand()
        parser.parse_characters(",")
        rhs = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_characters(":")
        type = parser.parse_type()
        operands = parser.resolve_operands([lhs, rhs], [type, type], parser.pos)
        properties: dict[str, Attribute] = {
            "predicate": IntegerAttr(names.index(text), i64)
        }
        if (flags := attributes.pop("fastmathFlags", None)) is not None:
            properties["fastmathFlags"] = flags
        return cls.create(
            operands=operands,
            result_types=[boolean_like(type)],
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer):
        flag = self.FLAGS.from_int(self.predicate.value.data)
        printer.print_string(f' "{flag}" ')
        printer.print_ssa_value(self.operands[0])
        printer.print_string(", ")
        printer.print_ssa_value(self.operands[1])
        attributes = dict(self.attributes)
        flags = self.properties.get("fastmathFlags")
        if flags is not None and flags != FastMathAttr(None):
            attributes["fastmathFlags"] = flags
        printer.print_op_attributes(attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)

    def verify_(self) -> None:
        type, result_type = self.operands[0].type, self.results[0].type
        if lanes_of(type) != lanes_of(result_type):
            raise VerifyException(
                f"expected a result of type '{boolean_like(type)}', "
                f"but got '{result_type}'"
            )
        if not 0 <= self.predicate.value.data < len(list(self.FLAGS)):
            raise VerifyException(
                f"expected a predicate number below {len(list(self.FLAGS))}, "
                f"but got {self.predicate.value.data}"
            )


@irdl_op_definition
class ICmpOp(CompareOp):
    """
    Compare integers or pointers, scalars or vectors.

    ```mlir
    %c = llvm.icmp "slt" %a, %b : vector<4xi32>
    ```
    """

    name = "llvm.icmp"
    FLAGS: ClassVar = ICmpPredicateFlag

    T: ClassVar = VarConstraint("T", INTEGER | base(LLVMPointerType))

    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(I1 | VectorType[I1])

    traits = traits_def(NoMemoryEffect())

    def __init__(
        self,
        lhs: SSAValue | Operation,
        rhs: SSAValue | Operation,
        predicate: str | IntegerAttr,
    ):
        if isinstance(predicate, str):
            predicate = IntegerAttr(ICmpPredicateFlag(predicate).to_int(), i64)
        super().__init__(
            operands=[lhs, rhs],
            result_types=[boolean_like(SSAValue.get(lhs).type)],
            properties={"predicate": predicate},
        )


@irdl_op_definition
class FCmpOp(CompareOp):
    """
    Compare floats, scalars or vectors.

    ```mlir
    %c = llvm.fcmp "olt" %a, %b : vector<4xf32>
    ```
    """

    name = "llvm.fcmp"
    FLAGS: ClassVar = FCmpPredicateFlag

    T: ClassVar = VarConstraint("T", FLOAT)

    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(I1 | VectorType[I1])
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    traits = traits_def(Pure())

    def __init__(
        self,
        lhs: SSAValue | Operation,
        rhs: SSAValue | Operation,
        predicate: str | IntegerAttr,
        fast_math: FastMathAttr | None = None,
    ):
        if isinstance(predicate, str):
            predicate = IntegerAttr(FCmpPredicateFlag(predicate).to_int(), i64)
        super().__init__(
            operands=[lhs, rhs],
            result_types=[boolean_like(SSAValue.get(lhs).type)],
            properties={
                "predicate": predicate,
                "fastmathFlags": fast_math or FastMathAttr(None),
            },
        )


@irdl_op_definition
class SelectOp(IRDLOperation):
    """
    Choose between two values, whole or lane by lane.

    ```mlir
    %r = llvm.select %c, %a, %b : vector<4xi1>, vector<4xf32>
    ```
    """

    name = "llvm.select"

    T: ClassVar = VarConstraint("T", AnyAttr())

    cond = operand_def(I1 | VectorType[I1])
    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(T)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    traits = traits_def(Pure())

    assembly_format = "$cond `,` $lhs `,` $rhs attr-dict `:` type($cond) `,` type($res)"

    irdl_options = (ParsePropInAttrDict(),)

    def __init__(
        self,
        cond: Operation | SSAValue,
        lhs: Operation | SSAValue,
        rhs: Operation | SSAValue,
    ):
        super().__init__(
            operands=[cond, lhs, rhs], result_types=[SSAValue.get(lhs).type]
        )

    def verify_(self) -> None:
        lanes = lanes_of(self.cond.type)
        if lanes is not None and lanes != lanes_of(self.res.type):
            raise VerifyException(
                f"expected a vector of {lanes} lanes, but got '{self.res.type}'"
            )
