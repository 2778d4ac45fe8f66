"""
C functions: `tir.extern` calls one, `tir.struct` makes a struct for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    opt_result_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind, Pure
from xdsl.utils.exceptions import VerifyException

from transom.dialects.tir.attributes import (
    Effect,
    EffectAttr,
    StructType,
    is_c_type,
)
from transom.dialects.tir.c_names import is_c_name
from transom.dialects.tir.types import is_number

SYMBOL = "tir.symbol"
"""
The discardable attribute of a `tir.extern` that names what code calls in the place of
the function, such as a stand-in for it.
"""


@dataclass(frozen=True)
class Argument:
    """An argument of a C call to build; `ref` passes a struct by pointer."""

    value: SSAValue
    effect: Effect | str = Effect.READ
    ref: bool = False


def memrefs_behind(value: SSAValue) -> tuple[SSAValue, ...]:
    """The memrefs that a C function reaches through `value`."""
    if isinstance(value.type, MemRefType):
        return (value,)
    if isinstance(value.owner, StructOp):
        return tuple(m for field in value.owner.fields for m in memrefs_behind(field))
    return ()


class ExternMemoryEffect(MemoryEffect):
    """
    What the arguments say. A status check, and a call that writes nothing, are kept as
    if they had any effect.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance] | None:
        assert isinstance(op, ExternOp)
        if op.status is not None or not any(e.writes for e in op.argument_effects):
            return None
        effects: set[EffectInstance] = set()
        for value, effect in zip(op.arguments, op.argument_effects, strict=True):
            for memref in memrefs_behind(value):
                if effect.reads:
                    effects.add(EffectInstance(MemoryEffectKind.READ, memref))
                if effect.writes:
                    effects.add(EffectInstance(MemoryEffectKind.WRITE, memref))
        return effects


@irdl_op_definition
class StructOp(IRDLOperation):
    """
    A C struct of these values.

    ```mlir
    func.func @context(%workspace: memref<64xi8>, %size: i32) {
      %s = tir.struct(%workspace, %size) : !tir.struct<"ctx", (memref<64xi8>, i32)>
      func.return
    }
    ```
    """

    name = "tir.struct"

    fields = var_operand_def()
    result = result_def(StructType)

    traits = traits_def(Pure())

    def __init__(self, fields: Sequence[SSAValue], type: StructType):
        super().__init__(operands=[fields], result_types=[type])

    @classmethod
    def parse(cls, parser: Parser) -> StructOp:
        pos = parser.pos
        fields = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        if not isinstance(type, StructType):
            parser.raise_error("expected a '!tir.struct' type", pos, parser.pos)
        op = cls(parser.resolve_operands(fields, type.fields.data, pos), type)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            printer.print_list(self.fields, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        expected = self.result.type.fields.data
        if tuple(self.fields.types) != expected:
            raise VerifyException(
                f"expected the fields of '{self.result.type}', but got "
                f"({', '.join(str(type) for type in self.fields.types)})"
            )


@irdl_op_definition
class ExternOp(IRDLOperation):
    """
    Call a C function.

    Memrefs are passed as the address of their first element, numbers and structs by
    value; `ref` passes a struct by pointer. An argument is only read, unless it says
    `write`, `read_write` or `scratch`. With `status` the result must equal the
    number, else the kernel fails. A workspace is a `tir.alloc` that is passed, so that
    it is planned as any other buffer.

    ```mlir
    tir.func @relu(write %x: memref<64xi8>) {
      %size = arith.constant 64 : i32
      %workspace = tir.alloc : memref<16xi8>
      %ctx = tir.struct(%workspace, %size) : !tir.struct<"ctx", (memref<16xi8>, i32)>
      %status = tir.extern "relu_s8"(ref %ctx, read_write %x, %size) status 0
          : (!tir.struct<"ctx", (memref<16xi8>, i32)>, memref<64xi8>, i32) -> i32
      tir.return
    }
    ```
    """

    name = "tir.extern"

    callee = prop_def(StringAttr)
    by_ref = prop_def(ArrayAttr[BoolAttr])
    effects = prop_def(ArrayAttr[EffectAttr])
    status = opt_prop_def(IntegerAttr)
    arguments = var_operand_def()
    result = opt_result_def()

    traits = traits_def(ExternMemoryEffect())

    def __init__(
        self,
        callee: str,
        arguments: Iterable[Argument | SSAValue],
        result_type: Attribute | None = None,
        status: int | None = None,
    ):
        arguments = [a if isinstance(a, Argument) else Argument(a) for a in arguments]
        super().__init__(
            operands=[[a.value for a in arguments]],
            properties={
                "callee": StringAttr(callee),
                "by_ref": ArrayAttr(BoolAttr.from_bool(a.ref) for a in arguments),
                "effects": ArrayAttr(EffectAttr(Effect(a.effect)) for a in arguments),
                "status": None if status is None else IntegerAttr(status, i64),
            },
            result_types=[[] if result_type is None else [result_type]],
        )

    @property
    def argument_effects(self) -> tuple[Effect, ...]:
        return tuple(effect.data for effect in self.effects)

    @property
    def refs(self) -> tuple[bool, ...]:
        """Whether each argument is passed by pointer."""
        return tuple(bool(ref.value.data) for ref in self.by_ref)

    @property
    def expected_status(self) -> int | None:
        return None if self.status is None else self.status.value.data

    @classmethod
    def parse(cls, parser: Parser) -> ExternOp:
        callee = parser.parse_str_literal()

        def parse_argument():
            effect = parser.parse_optional_keyword_in(tuple(Effect)) or Effect.READ
            ref = parser.parse_optional_keyword("ref") is not None
            return Effect(effect), ref, parser.parse_unresolved_operand()

        pos = parser.pos
        parsed = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parse_argument
        )
        status = None
        if parser.parse_optional_keyword("status"):
            status = parser.parse_integer(allow_boolean=False)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_function_type()
        values = parser.resolve_operands(
            [operand for _, _, operand in parsed], type.inputs.data, pos
        )
        if len(type.outputs.data) > 1:
            parser.raise_error("expected at most one result", pos, parser.pos)
        op = cls(
            callee,
            [
                Argument(value, effect, ref)
                for value, (effect, ref, _) in zip(values, parsed, strict=True)
            ],
            type.outputs.data[0] if type.outputs.data else None,
            status,
        )
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        def print_argument(position: int) -> None:
            effect = self.argument_effects[position]
            if effect is not Effect.READ:
                printer.print_string(f"{effect} ")
            if self.refs[position]:
                printer.print_string("ref ")
            printer.print_ssa_value(self.arguments[position])

        printer.print_string(" ")
        printer.print_string_literal(self.callee.data)
        with printer.in_parens():
            printer.print_list(range(len(self.arguments)), print_argument)
        if self.status is not None:
            printer.print_string(f" status {self.expected_status}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)

    def verify_(self) -> None:
        if not is_c_name(self.callee.data):
            raise VerifyException(f"expected a C name, but got '{self.callee.data}'")
        count = len(self.arguments)
        if len(self.by_ref) != count or len(self.effects) != count:
            raise VerifyException(
                f"expected {count} entries in by_ref and effects, but got "
                f"{len(self.by_ref)} and {len(self.effects)}"
            )
        for position, value in enumerate(self.arguments):
            if not is_c_type(value.type):
                raise VerifyException(
                    f"expected a number, memref or struct as argument {position}, but "
                    f"got '{value.type}'"
                )
            if self.refs[position] and not isinstance(value.type, StructType):
                raise VerifyException(
                    f"expected a struct as argument {position}, which is passed by "
                    f"pointer, but got '{value.type}'"
                )
            effect = self.argument_effects[position]
            if effect is not Effect.READ and is_number(value.type):
                raise VerifyException(
                    f"expected a memref or struct as argument {position}, which is "
                    f"{effect}, but got '{value.type}'"
                )
        result = self.result
        if result is not None and not is_number(result.type):
            raise VerifyException(
                f"expected a number as result, but got '{result.type}'"
            )
        if self.status is not None and not (
            result is not None and isinstance(result.type, IntegerType)
        ):
            raise VerifyException("expected an integer result to compare with status")
