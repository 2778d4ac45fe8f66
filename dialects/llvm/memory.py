"""
Loads, stores and atomic updates of the `llvm` dialect.

Replace xDSL's, which lose `volatile`, `nontemporal` and `invariant` of loads and the
ordering of stores in text.
"""

from collections.abc import Mapping
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i64
from xdsl.dialects.llvm import ATOMIC_ORDERING_KEYWORDS, LLVMPointerType
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
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind


def effects_of_access(op: Operation, kind: MemoryEffectKind):
    """The effect of an access; unknown where it is volatile or atomic."""
    ordering = op.properties.get("ordering")
    atomic = isinstance(ordering, IntegerAttr) and ordering.value.data != 0
    if atomic or "volatile_" in op.properties:
        return None
    return {EffectInstance(kind)}


class ReadEffect(MemoryEffect):
    """Reads memory, and does more if it is volatile or atomic."""

    @classmethod
    def get_effects(cls, op: Operation):
        return effects_of_access(op, MemoryEffectKind.READ)


class WriteEffect(MemoryEffect):
    """Writes memory, and does more if it is volatile or atomic."""

    @classmethod
    def get_effects(cls, op: Operation):
        return effects_of_access(op, MemoryEffectKind.WRITE)


def parse_ordering(parser: Parser) -> int:
    """`atomic seq_cst`, or nothing."""
    if parser.parse_optional_keyword("atomic") is None:
        return 0
    start = parser.pos
    keyword = parser.parse_identifier()
    for number, name in ATOMIC_ORDERING_KEYWORDS.items():
        if name == keyword:
            return number
    names = ", ".join(ATOMIC_ORDERING_KEYWORDS.values())
    parser.raise_error(f"expected one of {names}, but got '{keyword}'", start)


def access_properties(
    alignment: int | None, ordering: int, **flags: bool
) -> dict[str, Attribute]:
    """Properties of a load or a store, of which the false flags are left out."""
    properties: dict[str, Attribute] = {"ordering": IntegerAttr(ordering, i64)}
    if alignment is not None:
        properties["alignment"] = IntegerAttr(alignment, i64)
    properties |= {name: UnitAttr() for name, given in flags.items() if given}
    return properties


def move_to_properties(
    attributes: dict[str, Attribute], properties: dict[str, Attribute], *names: str
) -> None:
    """Take the named entries of a parsed dictionary as properties."""
    for name in names:
        if (value := attributes.pop(name, None)) is not None:
            properties[name] = value


def print_with_properties(
    printer: Printer,
    attributes: Mapping[str, Attribute],
    properties: Mapping[str, Attribute],
    *names: str,
) -> None:
    """Print the dictionary with the named properties in it."""
    shown = {n: properties[n] for n in names if n in properties}
    printer.print_op_attributes({**attributes, **shown})


@irdl_op_definition
class LoadOp(IRDLOperation):
    """
    Read a value of any type through a pointer.

    ```mlir
    %v = llvm.load volatile %p {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
    ```
    """

    name = "llvm.load"

    ptr = operand_def(LLVMPointerType)
    alignment = opt_prop_def(IntegerAttr)
    ordering = prop_def(IntegerAttr, default_value=IntegerAttr(0, i64))
    volatile_ = opt_prop_def(UnitAttr)
    nontemporal = opt_prop_def(UnitAttr)
    invariant = opt_prop_def(UnitAttr)
    dereferenced_value = result_def()

    traits = traits_def(ReadEffect())

    def __init__(
        self,
        ptr: SSAValue | Operation,
        result_type: Attribute,
        alignment: int | None = None,
        ordering: int = 0,
        volatile: bool = False,
        nontemporal: bool = False,
        invariant: bool = False,
    ):
        super().__init__(
            operands=[ptr],
            result_types=[result_type],
            properties=access_properties(
                alignment,
                ordering,
                volatile_=volatile,
                nontemporal=nontemporal,
                invariant=invariant,
            ),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" volatile " if self.volatile_ else " ")
        printer.print_ssa_value(self.ptr)
        if ordering := self.ordering.value.data:
            printer.print_string(f" atomic {ATOMIC_ORDERING_KEYWORDS[ordering]}")
        if self.invariant:
            printer.print_string(" invariant")
        print_with_properties(
            printer, self.attributes, self.properties, "alignment", "nontemporal"
        )
        printer.print_string(" : ")
        printer.print_attribute(self.ptr.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.dereferenced_value.type)

    @classmethod
    def parse(cls, parser: Parser):
        volatile = parser.parse_optional_keyword("volatile") is not None
        ptr = parser.parse_unresolved_operand()
        ordering = parse_ordering(parser)
        invariant = parser.parse_optional_keyword("invariant") is not None
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        ptr_type = parser.parse_type()
        parser.parse_punctuation("->")
        result_type = parser.parse_type()
        op = cls(
            parser.resolve_operand(ptr, ptr_type),
            result_type,
            ordering=ordering,
            volatile=volatile,
            invariant=invariant,
        )
        move_to_properties(attributes, op.properties, "alignment", "nontemporal")
        op.attributes |= attributes
        return op


@irdl_op_definition
class StoreOp(IRDLOperation):
    """
    Write a value of any type through a pointer.

    ```mlir
    llvm.store %v, %p {alignment = 64 : i64, nontemporal} : vector<8xf32>, !llvm.ptr
    ```
    """

    name = "llvm.store"

    value = operand_def()
    ptr = operand_def(LLVMPointerType)
    alignment = opt_prop_def(IntegerAttr)
    ordering = opt_prop_def(IntegerAttr)
    volatile_ = opt_prop_def(UnitAttr)
    nontemporal = opt_prop_def(UnitAttr)

    traits = traits_def(WriteEffect())

    def __init__(
        self,
        value: SSAValue | Operation,
        ptr: SSAValue | Operation,
        alignment: int | None = None,
        ordering: int = 0,
        volatile: bool = False,
        nontemporal: bool = False,
    ):
        super().__init__(
            operands=[value, ptr],
            properties=access_properties(
                alignment, ordering, volatile_=volatile, nontemporal=nontemporal
            ),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" volatile " if self.volatile_ else " ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        printer.print_ssa_value(self.ptr)
        ordering = self.ordering.value.data if self.ordering else 0
        if ordering:
            printer.print_string(f" atomic {ATOMIC_ORDERING_KEYWORDS[ordering]}")
        print_with_properties(
            printer, self.attributes, self.properties, "alignment", "nontemporal"
        )
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)
        printer.print_string(", ")
        printer.print_attribute(self.ptr.type)

    @classmethod
    def parse(cls, parser: Parser):
        volatile = parser.parse_optional_keyword("volatile") is not None
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        ptr = parser.parse_unresolved_operand()
        ordering = parse_ordering(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        value_type = parser.parse_type()
        parser.parse_punctuation(",")
        ptr_type = parser.parse_type()
        op = cls(
            parser.resolve_operand(value, value_type),
            parser.resolve_operand(ptr, ptr_type),
            ordering=ordering,
            volatile=volatile,
        )
        move_to_properties(attributes, op.properties, "alignment", "nontemporal")
        op.attributes |= attributes
        return op


ATOMIC_OPERATIONS = [
    "xchg",
    "add",
    "sub",
    "and",
    "nand",
    "or",
    "xor",
    "max",
    "min",
    "umax",
    "umin",
    "fadd",
    "fsub",
    "fmax",
    "fmin",
]
"""What `llvm.atomicrmw` can do, each under the number MLIR gives it."""


@irdl_op_definition
class AtomicRMWOp(IRDLOperation):
    """
    Combine a value into memory and give what was there.

    ```mlir
    %old = llvm.atomicrmw add %p, %v monotonic : !llvm.ptr, i32
    ```
    """

    name = "llvm.atomicrmw"

    T: ClassVar = VarConstraint("T", AnyAttr())

    bin_op = prop_def(IntegerAttr)
    ordering = prop_def(IntegerAttr)
    ptr = operand_def(LLVMPointerType)
    val = operand_def(T)
    res = result_def(T)
    alignment = opt_prop_def(IntegerAttr)

    def __init__(
        self,
        operation: str,
        ptr: SSAValue | Operation,
        val: SSAValue | Operation,
        ordering: str = "seq_cst",
    ):
        numbers = {name: n for n, name in ATOMIC_ORDERING_KEYWORDS.items()}
        super().__init__(
            operands=[ptr, val],
            result_types=[SSAValue.get(val).type],
            properties={
                "bin_op": IntegerAttr(ATOMIC_OPERATIONS.index(operation), i64),
                "ordering": IntegerAttr(numbers[ordering], i64),
            },
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {ATOMIC_OPERATIONS[self.bin_op.value.data]} ")
        printer.print_ssa_value(self.ptr)
        printer.print_string(", ")
        printer.print_ssa_value(self.val)
        printer.print_string(f" {ATOMIC_ORDERING_KEYWORDS[self.ordering.value.data]}")
        print_with_properties(printer, self.attributes, self.properties, "alignment")
        printer.print_string(" : ")
        printer.print_attribute(self.ptr.type)
        printer.print_string(", ")
        printer.print_attribute(self.val.type)

    @classmethod
    def parse(cls, parser: Parser):
        operation = parser.parse_optional_keyword_in(ATOMIC_OPERATIONS)
        if operation is None:
            parser.raise_error(f"expected one of {', '.join(ATOMIC_OPERATIONS)}")
        ptr = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        val = parser.parse_unresolved_operand()
        names = tuple(ATOMIC_ORDERING_KEYWORDS.values())
        ordering = parser.parse_optional_keyword_in(names)
        if ordering is None:
            parser.raise_error(f"expected one of {', '.join(names)}")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        ptr_type = parser.parse_type()
        parser.parse_punctuation(",")
        op = cls(
            operation,
            parser.resolve_operand(ptr, ptr_type),
            parser.resolve_operand(val, parser.parse_type()),
            ordering,
        )
        move_to_properties(attributes, op.properties, "alignment")
        op.attributes |= attributes
        return op
