"""
Constants of LLVM IR: from attributes, and from the initialiser regions of globals.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects import llvm
from transom.dialects.diagnostics import OpError
from transom.lowering.emit_llvm.text import (
    Symbols,
    Types,
    float_text,
    integer_text,
    quoted,
)

MAX_WRITTEN_ELEMENTS = 1 << 22
"""Each takes about 50 bytes of memory while it is written."""


def zero_text(type: Attribute, op: Operation) -> str:
    """All bits zero, of any type that has such a value."""
    match type:
        case llvm.LLVMPointerType():
            return "null"
        case IntegerType():
            return integer_text(type, 0)
        case VectorType() | llvm.LLVMArrayType() | llvm.LLVMStructType():
            return "zeroinitializer"
        case _ if isinstance(type, AnyFloat):
            return "0.0"
        case _:
            raise OpError(op, f"no zero of type '{type}'")


class Constants:
    """Texts of constants, without their type."""

    def __init__(self, types: Types, symbols: Symbols) -> None:
        self.types = types
        self.symbols = symbols

    def typed(self, value: Attribute, type: Attribute, op: Operation) -> str:
        """`i32 5`: a constant with its type."""
        return f"{self.types.text(type, op)} {self.text(value, type, op)}"

    def text(self, value: Attribute, type: Attribute, op: Operation) -> str:
        """The constant `value` as one of type `type`."""
        match value, type:
            case IntegerAttr(), IntegerType():
                return integer_text(type, value.value.data)
            case FloatAttr(), _ if isinstance(type, AnyFloat):
                return self.float(value, type, op)
            case DenseIntOrFPElementsAttr(), VectorType() | llvm.LLVMArrayType():
                return self.dense(value, type, op)
            case StringAttr(), llvm.LLVMArrayType():
                return self.string(value, type, op)
            case ArrayAttr(), llvm.LLVMArrayType() | llvm.LLVMStructType():
                return self.aggregate(value, type, op)
            case SymbolRefAttr(), llvm.LLVMPointerType():
                return self.symbols.text(value.string_value())
            case _:
                raise OpError(op, f"no constant of type '{type}' from '{value}'")

    def float(self, value: FloatAttr, type: AnyFloat, op: Operation) -> str:
        if value.type != type:
            raise OpError(op, f"no constant of type '{type}' from '{value}'")
        text = float_text(type, type.pack((value.value.data,)))
        if text is None:
            raise OpError(op, f"no constant of type '{type}'")
        return text

    def string(self, value: StringAttr, type: llvm.LLVMArrayType, op: Operation) -> str:
        data = value.data.encode()
        if type.type != IntegerType(8) or type.size.data != len(data):
            raise OpError(
                op,
                f"expected the type '!llvm.array<{len(data)} x i8>' for a string of "
                f"{len(data)} bytes, but got '{type}'",
            )
        return "c" + quoted(data)

    def aggregate(
        self, value: ArrayAttr[Attribute], type: Attribute, op: Operation
    ) -> str:
        members = member_types(type)
        if len(members) != len(value.data):
            raise OpError(
                op, f"expected {len(members)} values for '{type}', but got '{value}'"
            )
        texts = [self.typed(v, t, op) for v, t in zip(value.data, members, strict=True)]
        return bracketed(type, texts)

    def dense(
        self, value: DenseIntOrFPElementsAttr, type: Attribute, op: Operation
    ) -> str:
        shape, element = nested_shape(type)
        found = cast("Attribute", value.get_element_type())
        if prod(value.get_shape()) != prod(shape) or found != element:
            raise OpError(op, f"no constant of type '{type}' from '{value.type}'")
        data = value.data.data
        if not any(data):
            return "zeroinitializer"
        count, prefix = len(value), self.types.text(element, op) + " "
        size = len(data) // count
        if data == data[:size] * count and isinstance(type, VectorType):
            (scalar,) = self.scalars(data[:size], 1, element, op)
            return f"splat ({prefix}{scalar})"
        if (total := prod(shape)) > MAX_WRITTEN_ELEMENTS:
            raise OpError(
                op,
                f"expected at most {MAX_WRITTEN_ELEMENTS} elements of a constant in "
                f"LLVM's text, but got {total}; a 'graph.weight' has no such limit",
            )
        if element == IntegerType(8) and len(shape) == 1 and is_array(type):
            return "c" + quoted(data * (prod(shape) // count))
        scalars = self.scalars(data, count, element, op) * (prod(shape) // count)
        items = iter([prefix + scalar for scalar in scalars])
        return self.nested(type, lambda: next(items), op)

    def scalars(
        self, data: bytes, count: int, element: Attribute, op: Operation
    ) -> list[str]:
        """The texts of packed numbers."""
        if isinstance(element, IntegerType):
            type = cast(IntegerType, element)
            return [integer_text(type, v) for v in type.unpack(data, count)]
        size = len(data) // count
        texts: list[str] = []
        for i in range(0, len(data), size):
            text = float_text(element, data[i : i + size])
            if text is None:
                raise OpError(op, f"no constant of type '{element}'")
            texts.append(text)
        return texts

    def nested(self, type: Attribute, item: Callable[[], str], op: Operation) -> str:
        """The body of a vector or nested array; `item` gives its scalars in order."""
        match type:
            case VectorType():
                count, inner = type.get_shape()[0], None
            case llvm.LLVMArrayType():
                count, inner = type.size.data, type.type
            case _:
                raise AssertionError("only vectors and arrays have a shape")
        if not isinstance(inner, VectorType | llvm.LLVMArrayType):
            return bracketed(type, [item() for _ in range(count)])
        prefix = self.types.text(cast(Attribute, inner), op) + " "
        members = [
            prefix + self.nested(cast(Attribute, inner), item, op) for _ in range(count)
        ]
        return bracketed(type, members)


def member_types(type: Attribute) -> Sequence[Attribute]:
    """Types of the members of an array or struct."""
    if isinstance(type, llvm.LLVMStructType):
        return type.types.data
    assert isinstance(type, llvm.LLVMArrayType), "only arrays and structs have members"
    return [type.type] * type.size.data


def is_array(type: Attribute) -> bool:
    """Whether the type is an array, as opposed to a vector."""
    return isinstance(type, llvm.LLVMArrayType)


def nested_shape(type: Attribute) -> tuple[list[int], Attribute]:
    """Extents of nested arrays and the vector in them, and the element type."""
    shape: list[int] = []
    while isinstance(type, llvm.LLVMArrayType):
        shape.append(type.size.data)
        type = type.type
    if isinstance(type, VectorType):
        vector = cast(VectorType, type)
        return [*shape, *vector.get_shape()], vector.element_type
    return shape, type


def bracketed(type: Attribute, members: Sequence[str]) -> str:
    """Members, each with its type, in the brackets of `type`."""
    text = ", ".join(members)
    match type:
        case VectorType():
            return f"<{text}>"
        case llvm.LLVMStructType():
            return f"{{ {text} }}" if text else "{}"
        case _:
            return f"[{text}]"


class Initialiser:
    """Evaluates the initialiser region of a global to one constant."""

    def __init__(self, constants: Constants) -> None:
        self.constants = constants
        self.types = constants.types
        self.texts: dict[SSAValue, str] = {}
        self.members: dict[SSAValue, list[str]] = {}

    def run(self, op: llvm.GlobalOp) -> str:
        """The text, without its type."""
        for inner in op.body.block.ops:
            if isinstance(inner, llvm.ReturnOp):
                if inner.arg is None or inner.arg.type != op.global_type:
                    raise OpError(
                        inner, f"expected an initialiser of type '{op.global_type}'"
                    )
                return self.texts[inner.arg]
            self.evaluate(inner)
        raise OpError(op, "expected an initialiser that ends in 'llvm.return'")

    def typed(self, value: SSAValue, op: Operation) -> str:
        return f"{self.types.text(value.type, op)} {self.texts[value]}"

    def evaluate(self, op: Operation) -> None:
        text = constant_text(op, self.constants)
        match op:
            case _ if text is not None:
                pass
            case llvm.GEPOp():
                text = f"getelementptr{gep_flags(op)} ({self.gep_arguments(op)})"
            case llvm.InsertValueOp():
                text = self.insert(op)
            case llvm.PtrToIntOp() | llvm.IntToPtrOp() | llvm.AddrSpaceCastOp():
                (operand,), (result,) = op.operands, op.results
                to = self.types.text(result.type, op)
                mnemonic = op.name.removeprefix("llvm.")
                text = f"{mnemonic} ({self.typed(operand, op)} to {to})"
            case _:
                raise OpError(op, f"no constant expression for '{op.name}'")
        self.texts[op.results[0]] = text

    def gep_arguments(self, op: llvm.GEPOp) -> str:
        indices = gep_indices(op, lambda v: self.typed(v, op))
        element = self.types.text(op.elem_type, op)
        return ", ".join([element, self.typed(op.ptr, op), *indices])

    def insert(self, op: llvm.InsertValueOp) -> str:
        position = op.position.get_values()
        if len(position) != 1:
            raise OpError(
                op,
                "expected one index into a constant; build the inner aggregate first",
            )
        (index,) = position
        type = op.container.type
        members = self.members.get(op.container)
        if members is None:
            word = self.texts[op.container]
            if word not in ("undef", "poison", "zeroinitializer"):
                raise OpError(op, "expected an undefined or zero aggregate to fill")
            members = [
                f"{self.types.text(t, op)} "
                + (zero_text(t, op) if word == "zeroinitializer" else word)
                for t in member_types(type)
            ]
        members = [*members]
        members[index] = self.typed(op.value, op)
        self.members[op.res] = members
        return bracketed(type, members)


def constant_text(op: Operation, constants: Constants) -> str | None:
    """The text of an op that is a constant and no instruction, else None."""
    match op:
        case llvm.ConstantOp():
            return constants.text(op.value, op.result.type, op)
        case llvm.ZeroOp():
            return zero_text(op.res.type, op)
        case llvm.UndefOp():
            return "undef"
        case llvm.PoisonOp():
            return "poison"
        case llvm.AddressOfOp():
            return constants.symbols.text(op.global_name.string_value())
        case _:
            return None


def gep_flags(op: llvm.GEPOp) -> str:
    """` inbounds nuw` and the like."""
    bits = op.noWrapFlags.value.data
    flags = ""
    if op.inbounds is not None or bits & 1:
        flags += " inbounds"
    elif bits & 2:
        flags += " nusw"
    return flags + " nuw" if bits & 4 else flags


def gep_indices(op: llvm.GEPOp, typed: Callable[[SSAValue], str]) -> list[str]:
    """The typed indices, constant and dynamic, in order."""
    dynamic = iter(op.ssa_indices)
    return [
        typed(next(dynamic)) if index == llvm.GEP_USE_SSA_VAL else f"i32 {index}"
        for index in cast("Sequence[int]", op.rawConstantIndices.get_values())
    ]
