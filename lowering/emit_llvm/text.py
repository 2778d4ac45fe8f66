"""
Tokens of LLVM IR text: names, strings, types and the constants of simple types.
"""

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    BFloat16Type,
    FixedBitwidthType,
    Float16Type,
    Float32Type,
    Float64Type,
    Float80Type,
    Float128Type,
    IntAttr,
    IntegerType,
    Signedness,
    VectorType,
)
from xdsl.ir import Attribute, Operation

from transom.dialects import llvm
from transom.dialects.diagnostics import OpError
from transom.lowering.llvm_types import MAX_VECTOR_BITS

MAX_INTEGER_BITS = 1024
"""Multiplying wider integers takes LLVM minutes."""

PLAIN_NAME = re.compile(r"[-a-zA-Z$._][-a-zA-Z$._0-9]*\Z")

FLOAT_NAMES: dict[type[Attribute], tuple[str, str]] = {
    BFloat16Type: ("bfloat", "bf16"),
    Float16Type: ("half", "f16"),
    Float32Type: ("float", "f32"),
    Float64Type: ("double", "f64"),
    Float80Type: ("x86_fp80", "f80"),
    Float128Type: ("fp128", "f128"),
}
"""Name of a float type, and its name inside the name of an intrinsic."""


def quoted(data: bytes) -> str:
    """A string literal of LLVM IR."""
    return '"' + "".join(
        chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in data
    ) + '"'  # fmt: skip


def name_text(sigil: str, name: str) -> str:
    """`@name` or `%name`, quoted where it must be."""
    if PLAIN_NAME.match(name):
        return sigil + name
    return sigil + quoted(name.encode())


@dataclass(frozen=True)
class Symbols:
    """References to symbols of a module, some of which have other names in the text."""

    renamed: Mapping[str, str]

    def text(self, name: str) -> str:
        return name_text("@", self.renamed.get(name, name))


class Types:
    """Texts of types; collects the named structs met on the way."""

    def __init__(self) -> None:
        self.named: dict[str, str] = {}
        self.bodies: dict[str, llvm.LLVMStructType] = {}
        # Types are interned per module walk by identity: hashing one costs more than
        # printing it, and the entry keeps the type alive.
        self.texts: dict[int, tuple[Attribute, str]] = {}

    def text(self, type: Attribute, op: Operation) -> str:
        """The type as LLVM writes it; `op` is where it is met."""
        if (known := self.texts.get(id(type))) is not None:
            return known[1]
        text = self.build(type, op)
        self.texts[id(type)] = (type, text)
        return text

    def build(self, type: Attribute, op: Operation) -> str:
        match type:
            case IntegerType() if type.signedness.data == Signedness.SIGNLESS:
                return self.integer(type, op)
            case llvm.LLVMPointerType(addr_space=IntAttr() as space) if space.data:
                return f"ptr addrspace({space.data})"
            case llvm.LLVMPointerType():
                return "ptr"
            case llvm.LLVMVoidType():
                return "void"
            case llvm.LLVMArrayType():
                return f"[{type.size.data} x {self.text(type.type, op)}]"
            case llvm.LLVMStructType():
                return self.struct(type, op)
            case llvm.LLVMFunctionType():
                return self.function(type, op)
            case VectorType():
                return self.vector(type, op)
            case _ if names := FLOAT_NAMES.get(type.__class__):
                return names[0]
            case _:
                raise OpError(op, f"no LLVM type for '{type}'")

    def integer(self, type: IntegerType, op: Operation) -> str:
        if not 1 <= type.width.data <= MAX_INTEGER_BITS:
            raise OpError(
                op, f"expected integers of 1 to {MAX_INTEGER_BITS} bits, not '{type}'"
            )
        return f"i{type.width.data}"

    def vector(self, type: VectorType, op: Operation) -> str:
        if type.get_num_dims() != 1:
            raise OpError(op, f"expected a vector of one dimension, but got '{type}'")
        element = type.element_type
        width = element.bitwidth if isinstance(element, FixedBitwidthType) else 64
        if not 1 <= type.get_shape()[0] <= MAX_VECTOR_BITS // max(width, 1):
            raise OpError(
                op, f"expected a vector of 1 to {MAX_VECTOR_BITS} bits, not '{type}'"
            )
        lanes = f"{type.get_shape()[0]} x {self.text(type.element_type, op)}"
        return f"<vscale x {lanes}>" if type.get_num_scalable_dims() else f"<{lanes}>"

    def function(self, type: llvm.LLVMFunctionType, op: Operation) -> str:
        inputs = [self.text(t, op) for t in type.inputs]
        if type.is_variadic:
            inputs.append("...")
        return f"{self.text(type.output, op)} ({', '.join(inputs)})"

    def struct(self, type: llvm.LLVMStructType, op: Operation) -> str:
        fields = ", ".join(self.text(t, op) for t in type.types)
        body = f"{{ {fields} }}" if fields else "{}"
        name = type.struct_name.data
        if not name:
            return body
        if self.named.setdefault(name, body) != body:
            raise OpError(
                op,
                f"expected one body for struct '{name}', but got "
                f"'{self.named[name]}' and '{body}'",
            )
        return name_text("%", name)

    def mangled(self, type: Attribute, op: Operation) -> str:
        """The type as part of the name of an overloaded intrinsic."""
        match type:
            case IntegerType():
                return f"i{type.width.data}"
            case llvm.LLVMPointerType(addr_space=IntAttr() as space):
                return f"p{space.data}"
            case llvm.LLVMPointerType():
                return "p0"
            case VectorType():
                scalable = "nx" if type.get_num_scalable_dims() else ""
                element = self.mangled(type.element_type, op)
                return f"{scalable}v{type.get_shape()[0]}{element}"
            case _ if names := FLOAT_NAMES.get(type.__class__):
                return names[1]
            case _:
                raise OpError(op, f"no intrinsic takes '{type}'")


def widen_f32(bits: int) -> int:
    """The bits of the double equal to a float; NaNs keep their payload."""
    if bits & 0x7F800000 == 0x7F800000:
        sign, fraction = bits >> 31, bits & 0x7FFFFF
        return sign << 63 | 0x7FF << 52 | fraction << 29
    value = struct.unpack("<f", struct.pack("<I", bits))[0]
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def float_text(type: Attribute, data: bytes) -> str | None:
    """A float from its little-endian bytes, in the exact form; None if unknown."""
    bits = int.from_bytes(data, "little")
    match type:
        case Float32Type():
            return f"0x{widen_f32(bits):016X}"
        case Float64Type():
            return f"0x{bits:016X}"
        case Float16Type():
            return f"0xH{bits:04X}"
        case BFloat16Type():
            return f"0xR{bits:04X}"
        case _:
            return None


def integer_text(type: IntegerType, value: int) -> str:
    """An integer constant without its type."""
    if type.width.data == 1:
        return "true" if value & 1 else "false"
    return str(value)
