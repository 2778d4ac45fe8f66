"""
Calls of main: of kernels, artifacts, shape functions; and waiting for them.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    FunctionType,
    IndexType,
    IntegerType,
    SymbolRefAttr,
)
from xdsl.ir import (
    Attribute,
    Operation,
    SSAValue,
)
from xdsl.irdl import (
    IRDLOperation,
    base,
    irdl_op_definition,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import (
    MemoryReadEffect,
    MemoryWriteEffect,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from transom.dialects.executor.artifact import ArtifactOp
from transom.dialects.executor.memref_types import (
    signless,
)
from transom.dialects.symbols import expect_symbol
from transom.dialects.target import DeviceOp


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
        function_type = FunctionType.from_lists(function.argument_types, ())
    else:
        function_type = function.get_attr_or_prop("function_type")
    if function_type is None:
        raise VerifyException(
            f"expected a function, but '@{name}' is a '{function.name}'"
        )
    if isinstance(function_type, FunctionType):  # else it is lowered already
        _verify_types(operands, function_type.inputs.data, name, "operand")
        _verify_types(results, function_type.outputs.data, name, "result")
