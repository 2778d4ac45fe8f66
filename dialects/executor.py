"""
The `executor` dialect: the lowered main, its memory, and code that is already emitted.

Values are memrefs. Pools are module-level symbols; a view is a part of a pool at an
offset that a planner chose. Between calls main holds `scf` and `arith`. Lowered by
`lower-executor-to-func`.
"""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    FixedBitwidthType,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    NoneAttr,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Attribute,
    Dialect,
    Operation,
    SpacedOpaqueSyntaxAttribute,
    SSAValue,
)
from xdsl.irdl import (
    IRDLOperation,
    base,
    eq,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
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
from xdsl.utils.hints import isa
from xdsl.utils.str_enum import StrEnum

from transom.dialects.discardable import (
    DiscardableAttributes,
    verify_class,
    verify_on_function,
    verify_on_module,
)
from transom.dialects.executor_attributes import BytesAttr, SignatureAttr
from transom.dialects.keyed_syntax import KeyedSymbolOp
from transom.dialects.symbols import expect_symbol
from transom.dialects.target import DeviceOp, MemoryOp, TargetAttr
from transom.dialects.target.places import memory_space_name
from transom.dialects.target.topology import DEFAULT_ALIGNMENT, verify_alignment

SIGNATURE, MESSAGES = "executor.signature", "executor.messages"
"""Names of the dialect's discardable attributes: of the entry, and of the module."""


class PoolKind(StrEnum):
    """What a pool holds, and who provides it."""

    WORKSPACE = "workspace"
    CONSTANTS = "constants"
    IO = "io"


@irdl_attr_definition
class PoolKindAttr(EnumAttribute[PoolKind], SpacedOpaqueSyntaxAttribute):
    """
    What a pool holds.
    """

    name = "executor.pool_kind"


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


@irdl_op_definition
class PoolOp(KeyedSymbolOp):
    """
    Memory of a fixed size in bytes that views are parts of. Absent keys: an alignment
    of 64 bytes, the host's memory, the kind workspace.

    ```mlir
    target.memory @dram
    executor.pool @ws {size = 4096, alignment = 64, memory = @dram, kind = workspace}
    ```
    """

    name = "executor.pool"

    size = prop_def(IntegerAttr.constr(type=eq(i64)))
    alignment = opt_prop_def(IntegerAttr.constr(type=eq(i64)))
    memory = opt_prop_def(SymbolRefAttr)
    kind = opt_prop_def(PoolKindAttr)

    traits = traits_def(SymbolOpInterface(), PoolFitsMemory())

    def __init__(
        self,
        name: str,
        size: int,
        alignment: int | None = None,
        memory: str | None = None,
        kind: PoolKind | None = None,
    ) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "size": IntegerAttr(size, i64),
                "alignment": None if alignment is None else IntegerAttr(alignment, i64),
                "memory": None if memory is None else SymbolRefAttr(memory),
                "kind": None if kind is None else PoolKindAttr(kind),
            }
        )

    @property
    def size_bytes(self) -> int:
        """The size."""
        return self.size.value.data

    @property
    def alignment_bytes(self) -> int:
        """The alignment of the pool's start."""
        return _alignment_or_default(self.alignment)

    @property
    def memory_name(self) -> str | None:
        """The symbol of the memory, or None for the host's."""
        return None if self.memory is None else self.memory.root_reference.data

    @property
    def pool_kind(self) -> PoolKind:
        """What the pool holds."""
        return PoolKind.WORKSPACE if self.kind is None else self.kind.data

    def verify_(self) -> None:
        if self.size_bytes < 0:
            raise VerifyException(f"expected a size >= 0, but got {self.size_bytes}")
        verify_alignment(self.alignment_bytes)


class ViewIsInPool(SymbolUserOpInterface):
    """A view names a pool, lies in it, and is in its memory."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, ViewOp), "only views have this trait"
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

    def verify_(self) -> None:
        _verify_dynamic_sizes(self.result_type, self.dynamic_sizes)
        _verify_identity_layout(self.result_type)
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
        return _alignment_or_default(self.alignment)

    def verify_(self) -> None:
        result_type = self.result.type
        _verify_dynamic_sizes(result_type, self.dynamic_sizes)
        _verify_identity_layout(result_type)
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


class CalleeTakesArguments(SymbolUserOpInterface):
    """The callee of a kernel call is a function of the operands' types."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, CallOp), "only kernel calls have this trait"
        _verify_call(op, op.callee, op.arguments.types, ())


@irdl_op_definition
class CallOp(IRDLOperation):
    """
    Call a kernel or an artifact on memory. Types are those of the callee up to the
    signedness of elements, as kernels are signless.

    ```mlir
    tir.func @k(read %x: memref<4xf32>, write %y: memref<4xf32>)
    func.func @main(%a: memref<4xf32>, %b: memref<4xf32>) {
      executor.call @k(%a, %b : memref<4xf32>, memref<4xf32>)
      func.return
    }
    ```
    """

    name = "executor.call"

    callee = prop_def(SymbolRefAttr)
    arguments = var_operand_def()

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect(), CalleeTakesArguments())

    assembly_format = "$callee `(` ($arguments^ `:` type($arguments))? `)` attr-dict"

    def __init__(
        self, callee: str | SymbolRefAttr, arguments: Sequence[SSAValue | Operation]
    ) -> None:
        super().__init__(
            operands=[arguments], properties={"callee": SymbolRefAttr.get(callee)}
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
        if source.element_type != destination.element_type or not _compatible(
            source.get_shape(), destination.get_shape()
        ):
            raise VerifyException(
                "expected memrefs of one shape and element type, but got "
                f"'{source}' and '{destination}'"
            )


class DeviceIsDeclared(SymbolUserOpInterface):
    """The device that an op waits for is declared."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, SyncOp), "only synchronisations have this trait"
        expect_symbol(op, op.device.root_reference.data, DeviceOp, "device")


@irdl_op_definition
class SyncOp(IRDLOperation):
    """
    Wait until a device has done all that it was given.

    ```mlir
    target.device @cpu {targets = [#llvm_cpu.target<cpu = "znver4">]}
    func.func @main() {
      executor.sync @cpu
      func.return
    }
    ```
    """

    name = "executor.sync"

    device = prop_def(SymbolRefAttr)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect(), DeviceIsDeclared())

    assembly_format = "$device attr-dict"

    def __init__(self, device: str | SymbolRefAttr) -> None:
        super().__init__(properties={"device": SymbolRefAttr.get(device)})


class WeightHasType(SymbolUserOpInterface):
    """A constant is a weight of the module, of the same shape and element type."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, ConstantOp), "only constants have this trait"
        name = op.weight.root_reference.data
        weight = expect_symbol(op, name, Operation, "weight")
        weight_type = weight.get_attr_or_prop("type")
        memref_type = op.result.type
        if not isinstance(weight_type, TensorType):
            raise VerifyException(
                f"expected a weight, but '@{name}' is a '{weight.name}'"
            )
        tensor_type = cast("TensorType[Attribute]", weight_type)
        if tensor_type.get_shape() != memref_type.get_shape() or _signless(
            tensor_type.element_type
        ) != _signless(memref_type.element_type):
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

    def verify_(self) -> None:
        result_type = self.result.type
        if not result_type.has_static_shape():
            raise VerifyException(f"expected a static shape, but got '{result_type}'")
        _verify_identity_layout(result_type)


class ShapeFunctionFits(SymbolUserOpInterface):
    """The callee of a shape call is a function of the op's types."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, ShapeCallOp), "only shape calls have this trait"
        _verify_call(op, op.callee, op.arguments.types, op.sizes.types)


@irdl_op_definition
class ShapeCallOp(IRDLOperation):
    """
    Compute sizes on the host: scalars, or small memrefs of values that sizes depend on,
    to sizes.

    ```mlir
    func.func private @half(index) -> index
    func.func @main(%n: index) {
      %h = executor.shape_call @half(%n : index) : index
      func.return
    }
    ```
    """

    name = "executor.shape_call"

    callee = prop_def(SymbolRefAttr)
    arguments = var_operand_def()
    sizes = var_result_def(base(IndexType) | base(IntegerType))

    traits = traits_def(MemoryReadEffect(), ShapeFunctionFits())

    assembly_format = (
        "$callee `(` ($arguments^ `:` type($arguments))? `)` attr-dict `:` type($sizes)"
    )

    def __init__(
        self,
        callee: str | SymbolRefAttr,
        arguments: Sequence[SSAValue | Operation],
        result_types: Sequence[Attribute],
    ) -> None:
        super().__init__(
            operands=[arguments],
            result_types=[result_types],
            properties={"callee": SymbolRefAttr.get(callee)},
        )

    def verify_(self) -> None:
        if not self.sizes:
            raise VerifyException("expected at least one result")


@irdl_op_definition
class ArtifactOp(KeyedSymbolOp):
    """
    A function that is already emitted: its format, the target it was emitted for, and
    the code, as text or bytes. A call takes arguments of the signature, and a workspace
    of so many bytes at its end (absent: none). `entry` is the function's name in the
    code (absent: the symbol).

    ```mlir
    executor.artifact @f {
      format = "c", target = #llvm_cpu.target<cpu = "znver4">,
      payload = "void f(float *x, const float *y) { *x = *y; }",
      workspace = 256, signature = (memref<1xf32>, memref<1xf32>) -> ()
    }
    ```
    """

    name = "executor.artifact"

    format = prop_def(StringAttr)
    target = prop_def(base(TargetAttr))
    payload = prop_def(base(StringAttr) | base(BytesAttr))
    workspace = opt_prop_def(IntegerAttr.constr(type=eq(i64)))
    signature = prop_def(FunctionType)
    entry = opt_prop_def(StringAttr)

    traits = traits_def(SymbolOpInterface())

    def __init__(
        self,
        name: str,
        format: str,
        target: TargetAttr,
        payload: str | bytes,
        signature: FunctionType,
        workspace: int | None = None,
        entry: str | None = None,
    ) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "format": StringAttr(format),
                "target": target,
                "payload": StringAttr(payload)
                if isinstance(payload, str)
                else BytesAttr(payload),
                "workspace": None if workspace is None else IntegerAttr(workspace, i64),
                "signature": signature,
                "entry": None if entry is None else StringAttr(entry),
            }
        )

    @property
    def payload_bytes(self) -> bytes:
        """The code."""
        payload = self.payload
        if isinstance(payload, BytesAttr):
            return payload.data
        return payload.data.encode()

    @property
    def workspace_bytes(self) -> int:
        """The size of the workspace that a call needs."""
        return 0 if self.workspace is None else self.workspace.value.data

    @property
    def entry_name(self) -> str:
        """The name of the function in the code."""
        return (self.sym_name if self.entry is None else self.entry).data

    def verify_(self) -> None:
        if not self.format.data:
            raise VerifyException("expected a format that is not empty")
        if not self.payload.data:
            raise VerifyException("expected a payload that is not empty")
        if self.workspace_bytes < 0:
            raise VerifyException(
                f"expected a workspace >= 0, but got {self.workspace_bytes}"
            )
        if self.signature.outputs.data:
            raise VerifyException(
                "expected a signature without results, as results are written to "
                f"arguments, but got '{self.signature}'"
            )


def element_bytes(element_type: Attribute) -> int | None:
    """The size of an element in memory, or None if it is not known."""
    if isinstance(element_type, IndexType):
        return 8
    return element_type.size if isinstance(element_type, FixedBitwidthType) else None


def static_bytes(memref_type: MemRefType) -> int:
    """The size of a memref of static shape and identity layout."""
    unit = element_bytes(memref_type.element_type)
    assert unit is not None, "the verifier of the op has checked the element type"
    return unit * memref_type.element_count()


def _alignment_or_default(alignment: IntegerAttr | None) -> int:
    return DEFAULT_ALIGNMENT if alignment is None else alignment.value.data


def _verify_dynamic_sizes(memref_type: MemRefType, sizes: Sequence[SSAValue]) -> None:
    count = memref_type.get_shape().count(DYNAMIC_INDEX)
    if len(sizes) != count:
        raise VerifyException(
            f"expected {count} dynamic sizes for '{memref_type}', but got {len(sizes)}"
        )


def _verify_identity_layout(memref_type: MemRefType) -> None:
    if not isinstance(memref_type.layout, NoneAttr):
        raise VerifyException(f"expected the identity layout, but got '{memref_type}'")


def _compatible(shape: Sequence[int], other: Sequence[int]) -> bool:
    return len(shape) == len(other) and all(
        DYNAMIC_INDEX in (a, b) or a == b for a, b in zip(shape, other, strict=True)
    )


def _signless(type: Attribute) -> Attribute:
    """A type with the signedness of its integers, and of its elements', left out."""
    if isinstance(type, IntegerType):
        integer = cast(IntegerType, type)
        if integer.signedness.data == Signedness.SIGNLESS:
            return integer
        return IntegerType(integer.width.data)
    if isinstance(type, MemRefType):
        memref = cast("MemRefType[Attribute]", type)
        element_type = _signless(memref.element_type)
        if element_type is memref.element_type:
            return memref
        return MemRefType(
            element_type, memref.shape, memref.layout, memref.memory_space
        )
    return type


def _verify_types(
    types: Sequence[Attribute], expected: Sequence[Attribute], name: str, what: str
) -> None:
    if len(types) != len(expected):
        raise VerifyException(
            f"expected {len(expected)} {what}s for '@{name}', but got {len(types)}"
        )
    for i, (mine, theirs) in enumerate(zip(types, expected, strict=True)):
        if mine != theirs and _signless(mine) != _signless(theirs):
            raise VerifyException(
                f"expected '{theirs}' for {what} {i} of '@{name}', but got '{mine}'"
            )


def _verify_call(
    op: Operation,
    callee: SymbolRefAttr,
    operands: Sequence[Attribute],
    results: Sequence[Attribute],
) -> None:
    """Check that a symbol is a function of these types, up to signedness."""
    name = callee.root_reference.data
    function = expect_symbol(op, name, Operation, "function")
    if isinstance(function, ArtifactOp):
        function_type = function.signature
    else:
        function_type = function.get_attr_or_prop("function_type")
    if function_type is None:
        raise VerifyException(
            f"expected a function, but '@{name}' is a '{function.name}'"
        )
    if isinstance(function_type, FunctionType):  # else it is lowered already
        _verify_types(operands, function_type.inputs.data, name, "operand")
        _verify_types(results, function_type.outputs.data, name, "result")


Executor = Dialect(
    "executor",
    [
        AllocOp,
        ArtifactOp,
        CallOp,
        ConstantOp,
        CopyOp,
        FreeOp,
        PoolOp,
        ShapeCallOp,
        SyncOp,
        ViewOp,
    ],
    [BytesAttr, PoolKindAttr, SignatureAttr],
)


def _verify_signature(op: Operation, value: Attribute) -> None:
    verify_on_function(op, SIGNATURE)
    verify_class(SIGNATURE, value, SignatureAttr)


def _verify_messages(op: Operation, value: Attribute) -> None:
    verify_on_module(op, MESSAGES)
    if not isa(value, ArrayAttr[StringAttr]):
        raise VerifyException(
            f"expected a list of strings for '{MESSAGES}', but got '{value}'"
        )


# A trait of a foreign op: whatever loads the dialect gets its rules.
ModuleOp.traits.add_trait(
    DiscardableAttributes(
        "executor", ((MESSAGES, _verify_messages), (SIGNATURE, _verify_signature))
    )
)
