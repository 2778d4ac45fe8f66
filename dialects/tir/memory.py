"""
Memory inside kernels: local buffers, prefetches and copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    I64,
    IndexType,
    IntegerAttr,
    MemRefType,
    SymbolRefAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.pattern_rewriter import RewritePattern
from xdsl.printer import Printer
from xdsl.traits import (
    EffectInstance,
    HasCanonicalizationPatternsTrait,
    MemoryAllocEffect,
    MemoryEffect,
    MemoryEffectKind,
)
from xdsl.utils.exceptions import VerifyException

from transom.dialects.tir.attributes import TokenType
from transom.dialects.tir.types import compatible_shapes, memref_type_of


class AllocCanonicalizations(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from transom.dialects.tir.canonicalization import ALLOC_PATTERNS

        return ALLOC_PATTERNS


ALLOC_KEYS = ("alignment", "memory", "pool", "offset", "reserves")
"""The properties of `tir.alloc`, in the order in which they are printed."""


@irdl_op_definition
class AllocOp(IRDLOperation):
    """
    A buffer that lives to the end of the enclosing block of ops.

    `alignment` is in bytes, `memory` names a `target.memory`; `pool` and `offset`
    (bytes) are where a plan has put it, and `reserves` how many bytes are there for one
    of dynamic size.

    ```mlir
    func.func @scratch(%n: index) {
      %a = tir.alloc(%n) {alignment = 64, memory = @sram} : memref<?x4xf32>
      func.return
    }
    ```
    """

    name = "tir.alloc"

    alignment = opt_prop_def(IntegerAttr[I64])
    memory = opt_prop_def(SymbolRefAttr)
    pool = opt_prop_def(SymbolRefAttr)
    offset = opt_prop_def(IntegerAttr[I64])
    reserves = opt_prop_def(IntegerAttr[I64])
    dynamic_sizes = var_operand_def(IndexType())
    result = result_def(MemRefType)

    traits = traits_def(MemoryAllocEffect(), AllocCanonicalizations())

    def __init__(
        self,
        type: MemRefType,
        dynamic_sizes: Sequence[SSAValue] = (),
        *,
        alignment: int | None = None,
        memory: str | SymbolRefAttr | None = None,
        pool: str | SymbolRefAttr | None = None,
        offset: int | None = None,
        reserves: int | None = None,
    ):
        def number(value: int | None) -> Attribute | None:
            return None if value is None else IntegerAttr(value, i64)

        def symbol(value: str | SymbolRefAttr | None) -> Attribute | None:
            return SymbolRefAttr(value) if isinstance(value, str) else value

        super().__init__(
            operands=[dynamic_sizes],
            properties={
                "alignment": number(alignment),
                "memory": symbol(memory),
                "pool": symbol(pool),
                "offset": number(offset),
                "reserves": number(reserves),
            },
            result_types=[type],
        )

    @classmethod
    def parse(cls, parser: Parser) -> AllocOp:
        operands = parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        sizes = [parser.resolve_operand(o, IndexType()) for o in operands or ()]
        attributes: dict[str, Attribute] = {}

        def parse_entry() -> None:
            pos = parser.pos
            key = parser.parse_identifier_or_str_literal()
            if key in attributes:
                parser.raise_error(f"'{key}' stands twice", pos, parser.pos)
            value: Attribute = UnitAttr()
            if parser.parse_optional_punctuation("="):
                value = parser.parse_attribute()
            attributes[key] = value

        parser.parse_optional_comma_separated_list(parser.Delimiter.BRACES, parse_entry)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        properties = {
            key: attributes.pop(key) for key in ALLOC_KEYS if key in attributes
        }
        return cls.create(
            operands=sizes,
            properties=properties,
            attributes=attributes,
            result_types=[type],
        )

    def print(self, printer: Printer) -> None:
        if self.dynamic_sizes:
            with printer.in_parens():
                printer.print_list(self.dynamic_sizes, printer.print_ssa_value)

        def print_entry(entry: tuple[str, Attribute]) -> None:
            key, value = entry
            printer.print_identifier_or_string_literal(key)
            if key in self.properties and isinstance(value, IntegerAttr):
                printer.print_string(f" = {value.value.data}")
            elif not isinstance(value, UnitAttr):
                printer.print_string(" = ")
                printer.print_attribute(value)

        entries = [
            (key, self.properties[key]) for key in ALLOC_KEYS if key in self.properties
        ]
        entries += self.attributes.items()
        if entries:
            printer.print_string(" ")
            with printer.in_braces():
                printer.print_list(entries, print_entry)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        dynamic = self.result.type.get_shape().count(DYNAMIC_INDEX)
        if len(self.dynamic_sizes) != dynamic:
            raise VerifyException(
                f"expected {dynamic} sizes for '{self.result.type}', but got "
                f"{len(self.dynamic_sizes)}"
            )
        if self.alignment is not None:
            alignment = self.alignment.value.data
            if alignment < 1 or alignment & (alignment - 1):
                raise VerifyException(
                    f"expected an alignment that is a power of 2, but got {alignment}"
                )
        if self.offset is not None:
            if self.pool is None:
                raise VerifyException("expected a pool for the offset")
            if self.offset.value.data < 0:
                raise VerifyException(
                    "expected an offset of at least 0, but got "
                    f"{self.offset.value.data}"
                )
        if self.reserves is not None:
            if not dynamic or self.offset is None:
                raise VerifyException(
                    "expected 'reserves' only with dynamic sizes and an offset"
                )
            if self.reserves.value.data < 0:
                raise VerifyException(
                    "expected to reserve at least 0 bytes, but got "
                    f"{self.reserves.value.data}"
                )


class PrefetchMemoryEffect(MemoryEffect):
    """None on values; written down as a read so that it is neither moved nor erased."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance] | None:
        return None


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """
    Ask for an element to be brought near; changes no value.

    `locality` is 0 (used once) to 3 (used often, the default). The indices may be out
    of range, as they are ahead of the last element: then nothing comes, and nothing is
    a fault.

    ```mlir
    func.func @ahead(%a: memref<64xf32>, %i: index) {
      tir.prefetch %a[%i] write locality 2 : memref<64xf32>
      func.return
    }
    ```
    """

    name = "tir.prefetch"

    source = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    write = opt_prop_def(UnitAttr)
    locality = prop_def(IntegerAttr[I64])

    traits = traits_def(PrefetchMemoryEffect())

    def __init__(
        self,
        source: SSAValue,
        indices: Sequence[SSAValue],
        *,
        write: bool = False,
        locality: int = 3,
    ):
        super().__init__(
            operands=[source, indices],
            properties={
                "write": UnitAttr() if write else None,
                "locality": IntegerAttr(locality, i64),
            },
        )

    @classmethod
    def parse(cls, parser: Parser) -> PrefetchOp:
        source = parser.parse_unresolved_operand()
        indices = [
            parser.resolve_operand(operand, IndexType())
            for operand in parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_unresolved_operand
            )
        ]
        write = parser.parse_optional_keyword("write") is not None
        locality = 3
        if parser.parse_optional_keyword("locality"):
            locality = parser.parse_integer(allow_boolean=False)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        value = parser.resolve_operand(source, parser.parse_type())
        op = cls(value, indices, write=write, locality=locality)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        with printer.in_square_brackets():
            printer.print_list(self.indices, printer.print_ssa_value)
        if self.write is not None:
            printer.print_string(" write")
        if self.locality.value.data != 3:
            printer.print_string(f" locality {self.locality.value.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)

    def verify_(self) -> None:
        rank = memref_type_of(self.source).get_num_dims()
        if len(self.indices) != rank:
            raise VerifyException(
                f"expected {rank} indices, but got {len(self.indices)}"
            )
        locality = self.locality.value.data
        if not 0 <= locality <= 3:
            raise VerifyException(
                f"expected a locality from 0 to 3, but got {locality}"
            )


class CopyMemoryEffect(MemoryEffect):
    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        assert isinstance(op, CopyOp | CopyAsyncOp)
        return {
            EffectInstance(MemoryEffectKind.READ, op.source),
            EffectInstance(MemoryEffectKind.WRITE, op.destination),
        }


def _verify_copy(source: SSAValue, destination: SSAValue) -> None:
    a, b = memref_type_of(source), memref_type_of(destination)
    if a.element_type != b.element_type or not compatible_shapes(
        a.get_shape(), b.get_shape()
    ):
        raise VerifyException(
            f"expected equal elements and extents, but got '{a}' and '{b}'"
        )


class CopyCanonicalizations(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from transom.dialects.tir.canonicalization import COPY_PATTERNS

        return COPY_PATTERNS


@irdl_op_definition
class CopyOp(IRDLOperation):
    """
    Copy all elements; the buffers are of equal extents and do not overlap.

    ```mlir
    func.func @load(%a: memref<64xf32>, %b: memref<64xf32, @sram>) {
      tir.copy %a, %b : memref<64xf32>, memref<64xf32, @sram>
      func.return
    }
    ```
    """

    name = "tir.copy"

    source = operand_def(MemRefType)
    destination = operand_def(MemRefType)

    traits = traits_def(CopyMemoryEffect(), CopyCanonicalizations())

    assembly_format = (
        "$source `,` $destination attr-dict `:` type($source) `,` type($destination)"
    )

    def __init__(self, source: SSAValue, destination: SSAValue):
        super().__init__(operands=[source, destination])

    def verify_(self) -> None:
        _verify_copy(self.source, self.destination)


@irdl_op_definition
class CopyAsyncOp(IRDLOperation):
    """
    Start a copy; it is done after a `tir.wait` for its token.

    ```mlir
    func.func @load(%a: memref<64xf32>, %b: memref<64xf32, @sram>) {
      %t = tir.copy_async %a, %b : memref<64xf32>, memref<64xf32, @sram>
      tir.wait %t
      func.return
    }
    ```
    """

    name = "tir.copy_async"

    source = operand_def(MemRefType)
    destination = operand_def(MemRefType)
    token = result_def(TokenType())

    traits = traits_def(CopyMemoryEffect())

    assembly_format = (
        "$source `,` $destination attr-dict `:` type($source) `,` type($destination)"
    )

    def __init__(self, source: SSAValue, destination: SSAValue):
        super().__init__(operands=[source, destination], result_types=[TokenType()])

    @property
    def is_handed_on(self) -> bool:
        """Whether anything but `tir.wait` takes the token."""
        return not all(isinstance(use.operation, WaitOp) for use in self.token.uses)

    def verify_(self) -> None:
        _verify_copy(self.source, self.destination)


@irdl_op_definition
class WaitOp(IRDLOperation):
    """
    Wait until a copy is done.

    ```mlir
    func.func @wait(%t: !tir.token) {
      tir.wait %t
      func.return
    }
    ```
    """

    name = "tir.wait"

    token = operand_def(TokenType())

    assembly_format = "$token attr-dict"

    def __init__(self, token: SSAValue):
        super().__init__(operands=[token])
