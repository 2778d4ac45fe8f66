"""
Plan the scratchpad: each kernel gets one part of it, in which its buffers share bytes
where they do not live together; buffers that main holds between kernels lie below.

```mlir
%a = tir.alloc {memory = @toy_sram} : …        %pad = tir.alloc {memory = @toy_sram,
%b = tir.alloc {memory = @toy_sram} : …   ==>         pool = @toy_sram.pool, offset = 0}
                                               %a = memref.view %pad[%c0][] : …
                                               %b = memref.view %pad[%c64][] : …
```

The offsets in the pool are for the shared planner to respect, and for its verifier to
check.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    SymbolRefAttr,
    i8,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from toy_npu.convert_graph_to_toy_npu import SRAM
from toy_npu.dialect import ToyNpuAttr
from transom.dialects import executor, tir
from transom.dialects.diagnostics import OpError
from transom.dialects.executor import static_bytes
from transom.dialects.symbols import fresh_symbol
from transom.dialects.target import target_of

ALIGNMENT = 16
POOL = f"{SRAM}.pool"


def rounded(size: int) -> int:
    """A size as a multiple of the alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def kernels_of(module: ModuleOp) -> list[tir.FuncOp]:
    """The kernels of the accelerator."""
    return [
        op
        for op in module.body.ops
        if isinstance(op, tir.FuncOp)
        and not op.is_declaration
        and isinstance(target_of(op), ToyNpuAttr)
    ]


def capacity_of(kernel: tir.FuncOp) -> int:
    """The bytes of the scratchpad that a kernel is compiled for."""
    target = target_of(kernel)
    assert isinstance(target, ToyNpuAttr), "kernels of the accelerator"
    return target.scratchpad.value.data


def unplanned(op: Operation) -> list[tir.AllocOp]:
    """The buffers in the scratchpad that have no offset yet."""
    return [
        inner
        for inner in op.walk()
        if isinstance(inner, tir.AllocOp)
        and inner.memory == SymbolRefAttr(SRAM)
        and inner.offset is None
    ]


@dataclass
class Placed:
    """A buffer of a kernel, the ops between which it lives, and its place."""

    alloc: tir.AllocOp
    start: int
    end: int
    size: int
    offset: int = 0

    def meets(self, other: "Placed") -> bool:
        """Whether both live at one time and share bytes."""
        return (
            self.start <= other.end
            and other.start <= self.end
            and self.offset < other.offset + other.size
            and other.offset < self.offset + self.size
        )


def packed(kernel: tir.FuncOp) -> list[Placed]:
    """Places for the buffers of a kernel: each the lowest that is free, in order."""
    positions = {op: number for number, op in enumerate(kernel.body.block.ops)}
    placed: list[Placed] = []
    for alloc in unplanned(kernel):
        users = [positions[use.operation] for use in alloc.result.uses]
        users += [
            positions[wait.operation]
            for use in alloc.result.uses
            if isinstance(use.operation, tir.CopyAsyncOp)
            for wait in use.operation.token.uses
        ]
        size = rounded(max(static_bytes(alloc.result.type), 1))
        new = Placed(alloc, min(users), max(users), size)
        for offset in sorted({0, *(p.offset + p.size for p in placed)}):
            new.offset = offset
            if not any(new.meets(other) for other in placed):
                break
        placed.append(new)
    return placed


def pad_size(placed: Sequence[Placed]) -> int:
    """The bytes that the buffers of a kernel take together."""
    return max((p.offset + p.size for p in placed), default=0)


def sizes_between_kernels(module: ModuleOp) -> int:
    """The bytes of buffers that main holds between kernels."""
    return sum(
        rounded(static_bytes(alloc.result.type))
        for func in module.body.ops
        if isinstance(func, FuncOp)
        for alloc in func.walk()
        if isinstance(alloc, tir.AllocOp) and alloc.memory == SymbolRefAttr(SRAM)
    )


def plan_kernel(kernel: tir.FuncOp, base: int) -> None:
    """Put the buffers of a kernel into one, which lies at an offset in the pool."""
    placed = packed(kernel)
    if not placed:
        return
    type_ = MemRefType(i8, [pad_size(placed)], NoneAttr(), SymbolRefAttr(SRAM))
    pad = tir.AllocOp(type_, alignment=ALIGNMENT, memory=SRAM, pool=POOL, offset=base)
    first = kernel.body.block.first_op
    assert first is not None, "kernels return"
    kernel.body.block.insert_op_before(pad, first)
    for buffer in placed:
        shift = arith.ConstantOp(IntegerAttr(buffer.offset, IndexType()))
        sizes: Sequence[SSAValue] = ()
        view = memref.ViewOp(pad.result, shift.result, sizes, buffer.alloc.result.type)
        kernel.body.block.insert_op_before(shift, buffer.alloc)
        Rewriter.replace_op(buffer.alloc, view)


@dataclass(frozen=True)
class ToyNpuPlanScratchpadPass(ModulePass):
    name = "toy-npu-plan-scratchpad"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = kernels_of(op)
        if not any(unplanned(func) for func in (*kernels, *functions_of(op))):
            return
        base = 0
        for func in functions_of(op):
            for alloc in unplanned(func):
                alloc.pool, alloc.offset = SymbolRefAttr(POOL), IntegerAttr(base, i64)
                alloc.alignment = IntegerAttr(ALIGNMENT, i64)
                base += rounded(static_bytes(alloc.result.type))
        size = base
        for kernel in kernels:
            needed, capacity = base + pad_size(packed(kernel)), capacity_of(kernel)
            if needed > capacity:
                raise OpError(
                    call_of(op, kernel),
                    f"expected at most {capacity} bytes of scratchpad, but "
                    f"'@{kernel.sym_name.data}' needs {needed}",
                )
            size = max(size, needed)
            plan_kernel(kernel, base)
        pool = executor.PoolOp(fresh_symbol(op, POOL), size, ALIGNMENT, SRAM)
        op.body.block.add_op(pool)


def functions_of(module: ModuleOp) -> list[FuncOp]:
    """The functions of the host."""
    return [op for op in module.body.ops if isinstance(op, FuncOp)]


def call_of(module: ModuleOp, kernel: tir.FuncOp) -> Operation:
    """A call of a kernel, or else the kernel."""
    for op in module.walk():
        if isinstance(op, tir.CallOp) and op.find_callee() is kernel:
            return op
    return kernel
