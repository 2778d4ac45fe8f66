"""
How C compilers pass arguments: what a caller must do beyond naming the types.

Numbers narrower than an `int` are extended. A struct by value goes as the System V ABI
of x86-64 (eightbytes in registers of their class, else a copy on the stack) or the
procedure call standard of AArch64 (up to four equal floats, up to 16 bytes in integer
registers, else a copy by pointer) say; for other machines it is refused.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    FixedBitwidthType,
    IntegerAttr,
    IntegerType,
    Signedness,
    UnitAttr,
    VectorType,
    f32,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from transom.dialects import llvm
from transom.lowering.conversion import ConversionRewriter

Passed = tuple[SSAValue, dict[str, Attribute]]
"""A value of the call, and its attributes."""

StackCopy = Callable[[SSAValue], SSAValue]
"""From a struct to the address of a copy of it."""


@dataclass(frozen=True)
class Layout:
    """Size and alignment of a C type in bytes."""

    size: int
    alignment: int


def layout(type: Attribute) -> Layout:
    """The layout of a type on a 64-bit machine."""
    if isinstance(type, llvm.LLVMPointerType):
        return Layout(8, 8)
    if isinstance(type, llvm.LLVMStructType):
        size, alignment = 0, 1
        for member in type.types:
            inner = layout(member)
            size = rounded(size, inner.alignment) + inner.size
            alignment = max(alignment, inner.alignment)
        return Layout(rounded(size, alignment), alignment)
    assert isinstance(type, FixedBitwidthType), "C passes numbers and structs of them"
    return Layout(type.size, type.size)


def rounded(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def scalars(
    type: Attribute, offset: int = 0, path: tuple[int, ...] = ()
) -> Iterator[tuple[int, tuple[int, ...], Attribute]]:
    """Offset, position and type of each number and address in a struct."""
    if not isinstance(type, llvm.LLVMStructType):
        yield offset, path, type
        return
    place = 0
    for position, member in enumerate(type.types):
        inner = layout(member)
        place = rounded(place, inner.alignment)
        yield from scalars(member, offset + place, (*path, position))
        place += inner.size


def extension(original: Attribute, type: Attribute) -> dict[str, Attribute]:
    """How a number narrower than an `int` is extended by the caller."""
    if not isinstance(type, IntegerType) or cast(IntegerType, type).bitwidth >= 32:
        return {}
    unsigned = type == i1 or (
        isinstance(original, IntegerType)
        and cast(IntegerType, original).signedness.data == Signedness.UNSIGNED
    )
    return {"llvm.zeroext" if unsigned else "llvm.signext": UnitAttr()}


class Passing(ABC):
    """The arguments of one call, in order."""

    @abstractmethod
    def scalar(self, value: SSAValue, original: Attribute) -> Passed:
        """Pass a number or an address, which is `original` in the input."""

    @abstractmethod
    def struct(
        self, value: SSAValue, copy: StackCopy, rewriter: ConversionRewriter
    ) -> Sequence[Passed]:
        """Pass a struct by value."""


@dataclass
class CConvention:
    """The calling convention of a target triple; None if it is not known."""

    triple: str | None

    def start(self) -> Passing:
        """The convention for one call."""
        architecture = (self.triple or "").partition("-")[0]
        if architecture == "x86_64" and "windows" not in (self.triple or ""):
            return SystemV()
        if architecture in ("aarch64", "arm64"):
            return Aapcs64()
        return Unknown(self.triple)


@dataclass
class Unknown(Passing):
    """Numbers and addresses only."""

    triple: str | None

    def scalar(self, value: SSAValue, original: Attribute) -> Passed:
        return value, extension(original, value.type)

    def struct(
        self, value: SSAValue, copy: StackCopy, rewriter: ConversionRewriter
    ) -> Sequence[Passed]:
        if self.triple is None:
            rewriter.refuse(
                "expected the module to name its machine by 'llvm.target_triple', as a "
                "struct is passed by value"
            )
        rewriter.refuse(f"no rule to pass a struct by value on '{self.triple}'")


def reload(
    value: SSAValue,
    types: Sequence[Attribute],
    copy: StackCopy,
    rewriter: ConversionRewriter,
) -> list[Passed]:
    """A struct as values of other types, eight bytes apart, through memory."""
    address = copy(value)
    parts: list[Passed] = []
    for position, type in enumerate(types):
        place = address
        if position:
            place = rewriter.insert(
                llvm.GEPOp(address, [position], i64, inbounds=True)
            ).result
        part = rewriter.insert(llvm.LoadOp(place, type, 8)).dereferenced_value
        parts.append((part, {}))
    return parts


@dataclass
class SystemV(Passing):
    """System V, x86-64: six integer and eight vector registers."""

    integers: int = 6
    vectors: int = 8

    def scalar(self, value: SSAValue, original: Attribute) -> Passed:
        if isinstance(value.type, AnyFloat):
            self.vectors -= self.vectors > 0
        else:
            self.integers -= self.integers > 0
        return value, extension(original, value.type)

    def struct(
        self, value: SSAValue, copy: StackCopy, rewriter: ConversionRewriter
    ) -> Sequence[Passed]:
        type = value.type
        size = layout(type).size
        if not size:
            return []
        words = [self.word(type, start) for start in range(0, size, 8)]
        floats = sum(not isinstance(w, IntegerType) for w in words)
        if (
            size <= 16
            and self.integers >= len(words) - floats
            and self.vectors >= floats
        ):
            self.integers -= len(words) - floats
            self.vectors -= floats
            return reload(value, words, copy, rewriter)
        alignment = IntegerAttr(max(layout(type).alignment, 8), i64)
        return [(copy(value), {"llvm.byval": type, "llvm.align": alignment})]

    def word(self, struct: Attribute, start: int) -> Attribute:
        """The type that an eightbyte is passed as."""
        inside = [
            (offset, type)
            for offset, _, type in scalars(struct)
            if start <= offset < start + 8
        ]
        if all(isinstance(type, AnyFloat) for _, type in inside):
            if [type for _, type in inside] == [f32, f32]:
                return VectorType(f32, [2])
            if len(inside) == 1 and inside[0][1] in (f32, f64):
                return inside[0][1]
            return f64
        size = layout(struct).size - start
        return IntegerType(min(rounded(size, 1), 8) * 8 if size < 8 else 64)


@dataclass
class Aapcs64(Passing):
    """The procedure call standard of AArch64."""

    counts: list[int] = field(default_factory=list[int])

    def scalar(self, value: SSAValue, original: Attribute) -> Passed:
        return value, extension(original, value.type)

    def struct(
        self, value: SSAValue, copy: StackCopy, rewriter: ConversionRewriter
    ) -> Sequence[Passed]:
        type = value.type
        size = layout(type).size
        if not size:
            return []
        members = list(scalars(type))
        kinds = {member for _, _, member in members}
        if (
            len(kinds) == 1
            and len(members) <= 4
            and isinstance(members[0][2], AnyFloat)
        ):
            array = llvm.LLVMArrayType(len(members), members[0][2])
            result: SSAValue = rewriter.insert(llvm.PoisonOp(array)).res
            for index, (_, path, member) in enumerate(members):
                part = rewriter.insert(
                    llvm.ExtractValueOp(
                        DenseArrayBase.from_list(i64, path), value, member
                    )
                ).res
                place = DenseArrayBase.from_list(i64, [index])
                result = rewriter.insert(llvm.InsertValueOp(place, result, part)).res
            return [(result, {})]
        if size > 16:
            return [(copy(value), {})]
        if size <= 8:
            return reload(value, [i64], copy, rewriter)
        return reload(value, [llvm.LLVMArrayType(2, i64)], copy, rewriter)
