"""
`tir.call`, which calls a kernel on values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from xdsl.dialects import cf
from xdsl.dialects.builtin import (
    FlatSymbolRefAttrConstr,
    MemRefType,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    EffectInstance,
    MemoryEffect,
    MemoryEffectKind,
)
from xdsl.utils.exceptions import VerifyException

from transom.dialects.symbols import lookup, symbol_table_of
from transom.dialects.tir.attributes import Effect
from transom.dialects.tir.callee import Callee
from transom.dialects.tir.extern import ExternOp
from transom.dialects.tir.func import FuncOp
from transom.dialects.tir.types import as_shaped, compatible_types, is_number


class CallMemoryEffect(MemoryEffect):
    """
    On tensors a call has no effect, unless its kernel may fail; on memrefs inputs are
    read, outputs read and written.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance] | None:
        assert isinstance(op, CallOp)
        if op.may_fail():
            return None
        effects: set[EffectInstance] = set()
        for value in op.operands:
            if isinstance(value.type, MemRefType):
                effects.add(EffectInstance(MemoryEffectKind.READ, value))
        for value in (*op.outs, *op.scratch):
            if isinstance(value.type, MemRefType):
                effects.add(EffectInstance(MemoryEffectKind.WRITE, value))
        return effects


@irdl_op_definition
class CallOp(IRDLOperation):
    """
    Call a kernel or an artifact on values, in destination-passing style.

    The results are the outputs after the call: one for each tensor in `outs`, of its
    type. Memrefs in `outs` are written in place and have no result. The kernel gets
    inputs, outputs and scratch, in this order.

    ```mlir
    tir.func @kernel(read memref<4xf32>, write memref<4xf32>)
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %d = tensor.empty() : tensor<4xf32>
      %y = tir.call @kernel(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
      func.return %y : tensor<4xf32>
    }
    ```
    """

    name = "tir.call"

    callee = prop_def(FlatSymbolRefAttrConstr)
    ins = var_operand_def()
    outs = var_operand_def()
    scratch = var_operand_def(MemRefType)
    res = var_result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(CallMemoryEffect())

    def __init__(
        self,
        callee: str | SymbolRefAttr,
        ins: Sequence[SSAValue],
        outs: Sequence[SSAValue],
        scratch: Sequence[SSAValue] = (),
    ):
        if isinstance(callee, str):
            callee = SymbolRefAttr(callee)
        super().__init__(
            operands=[ins, outs, scratch],
            properties={"callee": callee},
            result_types=[_tensor_types(outs)],
        )

    @property
    def callee_name(self) -> str:
        return self.callee.string_value()

    def find_callee(self) -> Callee | None:
        """The kernel or artifact, if it is in reach."""
        symbol = lookup(self, self.callee_name)
        return symbol if isinstance(symbol, Callee) else None

    def may_fail(self) -> bool:
        """Whether the kernel has an assertion or checks the status of a C call."""
        kernel = self.find_callee()
        return isinstance(kernel, FuncOp) and any(
            isinstance(op, cf.AssertOp)
            or (isinstance(op, ExternOp) and op.status is not None)
            for op in kernel.walk()
        )

    @classmethod
    def parse(cls, parser: Parser) -> CallOp:
        callee = parser.parse_symbol_name().data
        ins = _parse_typed_operands(parser)
        outs: list[SSAValue] = []
        scratch: list[SSAValue] = []
        if parser.parse_optional_keyword("outs"):
            outs = _parse_typed_operands(parser)
        if parser.parse_optional_keyword("scratch"):
            scratch = _parse_typed_operands(parser)
        attributes = parser.parse_optional_attr_dict()
        op = cls(callee, ins, outs, scratch)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        def print_operand(value: SSAValue) -> None:
            printer.print_ssa_value(value)
            printer.print_string(" : ")
            printer.print_attribute(value.type)

        printer.print_string(" ")
        printer.print_symbol_name(self.callee_name)
        for keyword, values in (
            ("", self.ins),
            (" outs", self.outs),
            (" scratch", self.scratch),
        ):
            if values or not keyword:
                printer.print_string(keyword)
                with printer.in_parens():
                    printer.print_list(values, print_operand)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        for position, value in enumerate(self.outs):
            if as_shaped(value.type) is None:
                raise VerifyException(
                    f"expected a tensor or memref as output {position}, but got "
                    f"'{value.type}'"
                )
        for position, value in enumerate(self.ins):
            if as_shaped(value.type) is None and not is_number(value.type):
                raise VerifyException(
                    f"expected a tensor, memref or number as input {position}, but got "
                    f"'{value.type}'"
                )
        tensors = _tensor_types(self.outs)
        if tuple(self.result_types) != tensors:
            raise VerifyException(
                f"expected one result for each tensor in outs, {_list(tensors)}, but "
                f"got {_list(self.result_types)}"
            )
        self._verify_callee()

    def _verify_callee(self) -> None:
        if symbol_table_of(self) is None:
            return
        kernel = lookup(self, self.callee_name)
        if kernel is None:
            raise VerifyException(f"unknown kernel '@{self.callee_name}'")
        if not isinstance(kernel, Callee):
            raise VerifyException(
                f"expected '@{self.callee_name}' to be a kernel or an artifact, but it "
                f"is a '{kernel.name}'"
            )
        groups = (
            ("input", self.ins, (Effect.READ,)),
            ("output", self.outs, (Effect.WRITE, Effect.READ_WRITE)),
            ("scratch", self.scratch, (Effect.SCRATCH,)),
        )
        arguments = [
            (what, position, value, allowed)
            for what, values, allowed in groups
            for position, value in enumerate(values)
        ]
        types = kernel.argument_types
        if len(arguments) != len(types):
            raise VerifyException(
                f"expected {len(types)} inputs, outputs and scratch together, but got "
                f"{len(arguments)}"
            )
        for (what, position, value, allowed), type, effect in zip(
            arguments, types, kernel.argument_effects, strict=True
        ):
            if effect not in allowed:
                raise VerifyException(
                    f"{what} {position}: expected an argument that is "
                    f"{' or '.join(allowed)}, but the kernel has {effect}"
                )
            if not compatible_types(value.type, type):
                raise VerifyException(
                    f"{what} {position}: expected a value for '{type}', but got "
                    f"'{value.type}'"
                )


def _tensor_types(values: Iterable[SSAValue]) -> tuple[Attribute, ...]:
    return tuple(v.type for v in values if not isinstance(v.type, MemRefType))


def _list(types: Sequence[Attribute]) -> str:
    return f"({', '.join(str(type) for type in types)})"


def _parse_typed_operands(parser: Parser) -> list[SSAValue]:
    def parse_operand() -> SSAValue:
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        return parser.resolve_operand(operand, parser.parse_type())

    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_operand)
