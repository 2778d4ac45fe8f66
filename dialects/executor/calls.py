"""
What main runs: kernels, artifacts, shape functions; and waiting for them.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import (
    Attribute,
    Operation,
    SSAValue,
)
from xdsl.irdl import (
    IRDLOperation,
    base,
    eq,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import (
    MemoryReadEffect,
    MemoryWriteEffect,
    SymbolOpInterface,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from transom.dialects.executor.attributes import (
    BytesAttr,
)
from transom.dialects.executor.memref_types import (
    signless,
)
from transom.dialects.keyed_syntax import KeyedSymbolOp
from transom.dialects.symbols import expect_symbol
from transom.dialects.target import DeviceOp, TargetAttr


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


def _verify_types(
    types: Sequence[Attribute], expected: Sequence[Attribute], name: str, what: str
) -> None:
    if len(types) != len(expected):
        raise VerifyException(
            f"expected {len(expected)} {what}s for '@{name}', but got {len(types)}"
        )
    for i, (mine, theirs) in enumerate(zip(types, expected, strict=True)):
        if mine != theirs and signless(mine) != signless(theirs):
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
