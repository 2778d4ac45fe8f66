"""
Memory of main: pools, views of them, allocations, copies and weights.
"""

import math
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    i64,
)
from xdsl.ir import (
    Attribute,
    Operation,
    SSAValue,
)
from xdsl.irdl import (
    IRDLOperation,
    eq,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import (
    MemoryAllocEffect,
    MemoryFreeEffect,
    MemoryReadEffect,
    MemoryWriteEffect,
    Pure,
    SymbolOpInterface,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from transom.dialects.executor.attributes import (
    PoolKind,
    PoolKindAttr,
)
from transom.dialects.executor.memref_types import (
    alignment_or_default,
    compatible,
    element_bytes,
    signless,
    static_bytes,
    verify_dynamic_sizes,
    verify_identity_layout,
)
from transom.dialects.keyed_syntax import KeyedSymbolOp
from transom.dialects.symbols import expect_symbol
from transom.dialects.target import MemoryOp
from transom.dialects.target.places import memory_space_name
from transom.dialects.target.topology import verify_alignment


class PoolFitsMemory(SymbolUserOpInterface):
    """The memory of a pool is declared, holds the pool, and is aligned as well."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, PoolOp), "only pools have this trait"
        name = op.memory_name
        if name is None:
            return
        memory = expect_symbol(op, name, MemoryOp, "memory")
        size, alignment = memory.size_bytes, memory.alignment_bytes
        if size is not None and op.size_bytes > size:
            raise VerifyException(
                f"expected a size of at most {size}, that of memory '@{name}', "
                f"but got {op.size_bytes}"
            )
        if op.alignment_bytes > alignment:
            raise VerifyException(
                f"expected an alignment of at most {alignment}, that of memory "
                f"'@{name}', but got {op.alignment_bytes}"
            )


class ContentIsWeights(SymbolUserOpInterface):
    """What a pool of constants holds are weights, within its bytes."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, PoolOp), "only pools have this trait"
        for name, offset in op.weights:
            weight = expect_symbol(op, name, Operation, "weight")
            type = weight.get_attr_or_prop("type")
            if not isinstance(type, TensorType):
                raise VerifyException(
                    f"expected a weight, but '@{name}' is a '{weight.name}'"
                )
            tensor = cast("TensorType[Attribute]", type)
            unit = element_bytes(signless(tensor.element_type)) or 0
            end = offset + unit * math.prod(tensor.get_shape())
            if not 0 <= offset <= end <= op.size_bytes:
                raise VerifyException(
                    f"expected weight '@{name}' within {op.size_bytes} bytes, but got "
                    f"{offset} to {end}"
                )


@irdl_op_definition
class PoolOp(KeyedSymbolOp):
    """
    Memory of a fixed size in bytes that views are parts of. Absent keys: an alignment
    of 64 bytes, the host's memory, the kind workspace. A pool of constants says which
    weights are in it before main runs, each with its offset in bytes; nothing writes to
    it.

    ```mlir
    target.memory @dram
    executor.pool @ws {size = 4096, alignment = 64, memory = @dram, kind = workspace}
    graph.weight @w = dense<1.0> : tensor<4xf32>
    executor.pool @c {size = 16, kind = constants, content = [[@w, 0]]}
    ```
    """

    name = "executor.pool"

    size = prop_def(IntegerAttr.constr(type=eq(i64)))
    alignment = opt_prop_def(IntegerAttr.constr(type=eq(i64)))
    memory = opt_prop_def(SymbolRefAttr)
    kind = opt_prop_def(PoolKindAttr)
    content = opt_prop_def(ArrayAttr)

    traits = traits_def(SymbolOpInterface(), PoolFitsMemory(), ContentIsWeights())

    def __init__(
        self,
        name: str,
        size: int,
        alignment: int | None = None,
        memory: str | None = None,
        kind: PoolKind | None = None,
        content: Sequence[tuple[str, int]] = (),
    ) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "size": IntegerAttr(size, i64),
                "alignment": None if alignment is None else IntegerAttr(alignment, i64),
                "memory": None if memory is None else SymbolRefAttr(memory),
                "kind": None if kind is None else PoolKindAttr(kind),
                "content": _content(content),
            }
        )

    @property
    def size_bytes(self) -> int:
        """The size."""
        return self.size.value.data

    @property
    def alignment_bytes(self) -> int:
        """The alignment of the pool's start."""
        return alignment_or_default(self.alignment)

    @property
    def memory_name(self) -> str | None:
        """The symbol of the memory, or None for the host's."""
        return None if self.memory is None else self.memory.root_reference.data

    @property
    def pool_kind(self) -> PoolKind:
        """What the pool holds."""
        return PoolKind.WORKSPACE if self.kind is None else self.kind.data

    @property
    def weights(self) -> tuple[tuple[str, int], ...]:
        """The weights that are in it before main runs, each with its offset."""
        if self.content is None:
            return ()
        entries = cast("ArrayAttr[ArrayAttr[Attribute]]", self.content)
        return tuple(map(_weight_place, entries))

    def set_weights(self, weights: Sequence[tuple[str, int]]) -> None:
        """Say which weights are in it, and where."""
        self.content = _content(weights)

    def verify_(self) -> None:
        if self.size_bytes < 0:
            raise VerifyException(f"expected a size >= 0, but got {self.size_bytes}")
        verify_alignment(self.alignment_bytes)
        if self.content is not None and self.pool_kind is not PoolKind.CONSTANTS:
            raise VerifyException("expected kind 'constants' of a pool with content")


def _content(weights: Sequence[tuple[str, int]]) -> ArrayAttr[Attribute] | None:
    entries = [
        ArrayAttr([SymbolRefAttr(name), IntegerAttr(offset, i64)])
        for name, offset in weights
    ]
    return ArrayAttr(entries) if entries else None


def _weight_place(entry: Attribute) -> tuple[str, int]:
    """A weight and its offset. Raises `VerifyException` for anything else."""
    parts = cast("ArrayAttr[Attribute]", entry) if isinstance(entry, ArrayAttr) else ()
    match tuple(parts):
        case (SymbolRefAttr() as weight, IntegerAttr() as offset):
            return weight.string_value(), offset.value.data
        case _:
            raise VerifyException(
                f"expected a weight and an offset as content, but got '{entry}'"
            )


class ViewIsInPool(SymbolUserOpInterface):
    """A view names a pool, lies in it, and is in its memory."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, ViewOp), "only views have this trait"
        op.verify_type()  # traits come before `verify_`
        name = op.pool.root_reference.data
        pool = expect_symbol(op, name, PoolOp, "pool")
        end = op.offset_bytes + op.size_bytes
        if end > pool.size_bytes:
            raise VerifyException(
                f"expected a view within the {pool.size_bytes} bytes of '@{name}', "
                f"but it ends at byte {end}"
            )
        memory = memory_space_name(op.result_type.memory_space)
        if memory is not None and memory != pool.memory_name:
            found = "another" if pool.memory is None else f"'{pool.memory}'"
            raise VerifyException(
                f"expected a pool in memory '@{memory}', but '@{name}' is in {found}"
            )


@irdl_op_definition
class ViewOp(IRDLOperation):
    """
    The part of a pool that starts at an offset in bytes, as a memref. One with dynamic
    sizes says how many bytes it reserves at most.

    ```mlir
    executor.pool @ws {size = 4096}
    func.func @main(%n: index) {
      %a = executor.view @ws[128] : memref<4x8xf32>
      %b = executor.view @ws[256](%n) reserves 1024 : memref<?x8xf32>
      func.return
    }
    ```
    """

    name = "executor.view"

    pool = prop_def(SymbolRefAttr)
    offset = prop_def(IntegerAttr.constr(type=eq(i64)))
    dynamic_sizes = var_operand_def(IndexType)
    reserved = opt_prop_def(IntegerAttr.constr(type=eq(i64)))
    result = result_def(MemRefType)

    traits = traits_def(Pure(), ViewIsInPool())

    assembly_format = (
        "$pool `[` $offset `]` (`(` $dynamic_sizes^ `)`)? (`reserves` $reserved^)? "
        "attr-dict `:` type($result)"
    )

    def __init__(
        self,
        pool: str,
        offset: int,
        result_type: MemRefType,
        dynamic_sizes: Sequence[SSAValue | Operation] = (),
        reserved: int | None = None,
    ) -> None:
        super().__init__(
            operands=[dynamic_sizes],
            result_types=[result_type],
            properties={
                "pool": SymbolRefAttr(pool),
                "offset": IntegerAttr(offset, i64),
                "reserved": None if reserved is None else IntegerAttr(reserved, i64),
            },
        )

    @property
    def result_type(self) -> MemRefType:
        """The type of the view."""
        return self.result.type

    @property
    def offset_bytes(self) -> int:
        """Where in the pool the view starts."""
        return self.offset.value.data

    @property
    def size_bytes(self) -> int:
        """How many bytes of the pool the view takes, at most."""
        if self.reserved is not None:
            return self.reserved.value.data
        return static_bytes(self.result_type)

    def verify_type(self) -> None:
        """Raise `VerifyException` unless type, sizes and offset agree."""
        verify_dynamic_sizes(self.result_type, self.dynamic_sizes)
        verify_identity_layout(self.result_type)
        if self.offset_bytes < 0:
            raise VerifyException(
                f"expected an offset >= 0, but got {self.offset_bytes}"
            )
        unit = element_bytes(self.result_type.element_type)
        if unit is None:
            raise VerifyException(
                f"expected elements of a known size, but got '{self.result_type}'"
            )
        if self.offset_bytes % unit:
            raise VerifyException(
                f"expected an offset that is a multiple of {unit}, the size of an "
                f"element, but got {self.offset_bytes}"
            )
        if self.dynamic_sizes and self.reserved is None:
            raise VerifyException("expected 'reserves' on a view with dynamic sizes")
        if self.reserved is not None and not self.dynamic_sizes:
            raise VerifyException("expected no 'reserves' on a view of static size")
        if self.size_bytes < 0:
            raise VerifyException(
                f"expected to reserve >= 0 bytes, but got {self.size_bytes}"
            )


@irdl_op_definition
class AllocOp(IRDLOperation):
    """
    Memory whose size is known at run time only, to be freed by `executor.free`. Its
    memory is that of the type; the alignment is in bytes (absent: 64).

    ```mlir
    func.func @main(%n: index) {
      %a = executor.alloc(%n) align 128 : memref<?x8xf32>
      executor.free %a : memref<?x8xf32>
      func.return
    }
    ```
    """

    name = "executor.alloc"

    dynamic_sizes = var_operand_def(IndexType)
    alignment = opt_prop_def(IntegerAttr.constr(type=eq(i64)))
    result = result_def(MemRefType)

    traits = traits_def(MemoryAllocEffect())

    assembly_format = (
        "`(` $dynamic_sizes `)` (`align` $alignment^)? attr-dict `:` type($result)"
    )

    def __init__(
        self,
        result_type: MemRefType,
        dynamic_sizes: Sequence[SSAValue | Operation] = (),
        alignment: int | None = None,
    ) -> None:
        super().__init__(
            operands=[dynamic_sizes],
            result_types=[result_type],
            properties={
                "alignment": None if alignment is None else IntegerAttr(alignment, i64)
            },
        )

    @property
    def alignment_bytes(self) -> int:
        """The alignment of the memory's start."""
        return alignment_or_default(self.alignment)

    def verify_(self) -> None:
        result_type = self.result.type
        verify_dynamic_sizes(result_type, self.dynamic_sizes)
        verify_identity_layout(result_type)
        verify_alignment(self.alignment_bytes)


@irdl_op_definition
class FreeOp(IRDLOperation):
    """
    Give back what `executor.alloc` took.

    ```mlir
    func.func @main(%n: index) {
      %a = executor.alloc(%n) : memref<?xf32>
      executor.free %a : memref<?xf32>
      func.return
    }
    ```
    """

    name = "executor.free"

    memref = operand_def(MemRefType)

    traits = traits_def(MemoryFreeEffect())

    assembly_format = "$memref attr-dict `:` type($memref)"

    def __init__(self, memref: SSAValue | Operation) -> None:
        super().__init__(operands=[memref])

    def verify_(self) -> None:
        owner = self.memref.owner
        if isinstance(owner, Operation) and not isinstance(owner, AllocOp):
            raise VerifyException(
                f"expected a result of 'executor.alloc', but got one of '{owner.name}'"
            )


@irdl_op_definition
class CopyOp(IRDLOperation):
    """
    Copy all elements of a memref to another, of any memories and layouts.

    ```mlir
    func.func @main(%a: memref<4xf32, @dram>, %b: memref<4xf32, @sram>) {
      executor.copy %a, %b : memref<4xf32, @dram>, memref<4xf32, @sram>
      func.return
    }
    ```
    """

    name = "executor.copy"

    source = operand_def(MemRefType)
    destination = operand_def(MemRefType)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = (
        "$source `,` $destination attr-dict `:` type($source) `,` type($destination)"
    )

    def __init__(
        self, source: SSAValue | Operation, destination: SSAValue | Operation
    ) -> None:
        super().__init__(operands=[source, destination])

    def verify_(self) -> None:
        source = cast(MemRefType, self.source.type)
        destination = cast(MemRefType, self.destination.type)
        if source.element_type != destination.element_type or not compatible(
            source.get_shape(), destination.get_shape()
        ):
            raise VerifyException(
                "expected memrefs of one shape and element type, but got "
                f"'{source}' and '{destination}'"
            )


class WeightHasType(SymbolUserOpInterface):
    """A constant is a weight of the module, of the same shape and element type."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, ConstantOp), "only constants have this trait"
        op.verify_type()  # traits come before `verify_`
        name = op.weight.root_reference.data
        weight = expect_symbol(op, name, Operation, "weight")
        weight_type = weight.get_attr_or_prop("type")
        memref_type = op.result.type
        if not isinstance(weight_type, TensorType):
            raise VerifyException(
                f"expected a weight, but '@{name}' is a '{weight.name}'"
            )
        tensor_type = cast("TensorType[Attribute]", weight_type)
        if tensor_type.get_shape() != memref_type.get_shape() or signless(
            tensor_type.element_type
        ) != signless(memref_type.element_type):
            raise VerifyException(
                f"expected a memref of the weight's type '{weight_type}', "
                f"but got '{memref_type}'"
            )


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """
    The memory that holds a weight. It is not written.

    ```mlir
    graph.weight @w = dense<1.0> : tensor<4xf32>
    func.func @main() {
      %w = executor.constant @w : memref<4xf32>
      func.return
    }
    ```
    """

    name = "executor.constant"

    weight = prop_def(SymbolRefAttr)
    result = result_def(MemRefType)

    traits = traits_def(Pure(), WeightHasType())

    assembly_format = "$weight attr-dict `:` type($result)"

    def __init__(self, weight: str | SymbolRefAttr, result_type: MemRefType) -> None:
        super().__init__(
            result_types=[result_type],
            properties={"weight": SymbolRefAttr.get(weight)},
        )

    def verify_type(self) -> None:
        """Raise `VerifyException` unless the type is that of a constant."""
        result_type = self.result.type
        if not result_type.has_static_shape():
            raise VerifyException(f"expected a static shape, but got '{result_type}'")
        verify_identity_layout(result_type)
