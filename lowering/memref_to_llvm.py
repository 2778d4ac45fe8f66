"""
Patterns from `memref` to the `llvm` dialect.

A memref is taken apart as `llvm_types` says: views cost at most some arithmetic on
sizes, strides and offsets, and an access is one `getelementptr` where its strides are
known. Accesses are aligned to the element.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerType,
    MemRefType,
    TensorType,
    i1,
    i8,
)
from xdsl.ir import Attribute, Block, SSAValue

from transom.dialects import executor, llvm, tir
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
)
from transom.lowering.failures import (
    Failures,
)
from transom.lowering.llvm_ops import load_op, store_op
from transom.lowering.llvm_types import (
    element_storage,
    pointer_type,
)
from transom.lowering.loops import LLVM, build_nest, constant_of
from transom.lowering.memory_to_llvm import DEFAULT_ALIGNMENT, allocation_patterns
from transom.lowering.memref_parts import MemRef, constant, multiply
from transom.lowering.memref_views_to_llvm import (
    VIEW_PATTERNS,
    alignment_of,
    is_set,
    numbers,
    take,
)


class ConvertLoad(ConversionPattern[memref.LoadOp]):
    root = memref.LoadOp
    drops = ("alignment",)
    generates = (
        llvm.AddOp,
        llvm.ConstantOp,
        llvm.GEPOp,
        llvm.LoadOp,
        llvm.MulOp,
        llvm.TruncOp,
    )

    def match_and_rewrite(
        self, op: memref.LoadOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        source = take(rewriter, op.memref, operands.groups[0])
        indices = numbers(op.indices, operands.named("indices"))
        address = source.element(rewriter, indices)
        load = rewriter.insert(
            load_op(
                address,
                source.storage,
                alignment_of(op, source),
                nontemporal=is_set(op.nontemporal),
            )
        )
        if source.type.element_type == i1:
            load = llvm.TruncOp(load.dereferenced_value, i1)
            rewriter.replace(op, load)
        else:
            rewriter.replace(op, (), (load.dereferenced_value,))


class ConvertStore(ConversionPattern[memref.StoreOp]):
    root = memref.StoreOp
    drops = ("alignment",)
    generates = (
        llvm.AddOp,
        llvm.ConstantOp,
        llvm.GEPOp,
        llvm.MulOp,
        llvm.StoreOp,
        llvm.ZExtOp,
    )

    def match_and_rewrite(
        self, op: memref.StoreOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        value = operands[0]
        target = take(rewriter, op.memref, operands.groups[1])
        indices = numbers(op.indices, operands.named("indices"))
        address = target.element(rewriter, indices)
        if target.type.element_type == i1:
            value = rewriter.insert(llvm.ZExtOp(value, i8)).res
        rewriter.replace(
            op,
            store_op(
                value,
                address,
                alignment_of(op, target),
                nontemporal=is_set(op.nontemporal),
            ),
        )


class ConvertAtomic(ConversionPattern[memref.AtomicRMWOp]):
    root = memref.AtomicRMWOp

    KINDS: Mapping[int, str] = {
        0: "fadd",
        1: "add",
        2: "xchg",
        3: "fmax",
        4: "max",
        5: "umax",
        6: "fmin",
        7: "min",
        8: "umin",
        11: "or",
        12: "and",
    }
    """Number of `arith.atomic_rmw` kinds that are one instruction."""

    def match_and_rewrite(
        self, op: memref.AtomicRMWOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        kind = self.KINDS.get(op.kind.value.data)
        target = take(rewriter, op.memref, operands.groups[1])
        if kind is None or target.storage != target.type.element_type:
            return Refusal(f"no instruction for kind {op.kind.value.data}")
        indices = numbers(op.indices, operands.named("indices"))
        address = target.element(rewriter, indices)
        rewriter.replace(op, llvm.AtomicRMWOp(kind, address, operands[0], "acq_rel"))


class ConvertDim(ConversionPattern[memref.DimOp]):
    root = memref.DimOp

    def match_and_rewrite(
        self, op: memref.DimOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        if not isinstance(op.source.type, MemRefType):
            return Refusal(f"expected a memref of known rank, but got {op.source.type}")
        source = take(rewriter, op.source, operands.groups[0])
        axis = constant_of(op.index)
        if axis is not None:
            if not 0 <= axis < len(source.sizes):
                return Refusal(f"expected an axis of '{source.type}', but got {axis}")
            rewriter.replace(op, (), (constant(rewriter, source.sizes[axis]),))
            return
        result = constant(rewriter, 0)
        for position, size in enumerate(source.sizes):
            here = constant(rewriter, position)
            is_it = rewriter.insert(llvm.ICmpOp(operands[1], here, "eq")).res
            size = constant(rewriter, size)
            result = rewriter.insert(llvm.SelectOp(is_it, size, result)).res
        rewriter.replace(op, (), (result,))


class ConvertRank(ConversionPattern[memref.RankOp]):
    root = memref.RankOp

    def match_and_rewrite(
        self, op: memref.RankOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        source = cast(MemRefType, op.source.type)
        rewriter.replace(op, (), (constant(rewriter, source.get_num_dims()),))


class ConvertGlobal(ConversionPattern[memref.GlobalOp]):
    root = memref.GlobalOp
    generates = (llvm.GlobalOp, llvm.ReturnOp, llvm.ZeroOp)

    def match_and_rewrite(
        self, op: memref.GlobalOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        memref_type = op.type
        storage = element_storage(memref_type.element_type)
        if isinstance(storage, Refusal):
            return storage
        count = memref_type.element_count()
        value: Attribute | None = None
        if isinstance(op.initial_value, DenseIntOrFPElementsAttr):
            # Bools are a byte each in both, and an index has the bytes of an i64.
            type = cast("TensorType[IntegerType]", TensorType(storage, [count]))
            value = DenseIntOrFPElementsAttr(type, op.initial_value.data)
        is_private = op.sym_visibility.data == "private"
        given = 0 if op.alignment is None else op.alignment.value.data
        linkage = "internal" if is_private else "external"
        array = llvm.LLVMArrayType(count, storage)
        new = llvm.GlobalOp(
            array,
            op.sym_name,
            linkage,
            constant=op.constant is not None,
            value=value,
            alignment=max(given, DEFAULT_ALIGNMENT),
        )
        if value is None and is_private:
            zero = llvm.ZeroOp(array)
            new.body.add_block(Block([zero, llvm.ReturnOp(zero.res)]))
        rewriter.replace(op, new)


class ConvertGetGlobal(ConversionPattern[memref.GetGlobalOp]):
    root = memref.GetGlobalOp
    generates = (llvm.AddressOfOp,)

    def match_and_rewrite(
        self, op: memref.GetGlobalOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        type = pointer_type(op.memref.type)
        rewriter.replace(op, llvm.AddressOfOp(op.name_, type))


class ConvertExecutorConstant(ConversionPattern[executor.ConstantOp]):
    """The address of the weight itself: its data are bound when the code is loaded."""

    root = executor.ConstantOp
    generates = (llvm.AddressOfOp,)

    def match_and_rewrite(
        self, op: executor.ConstantOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        rewriter.replace(op, llvm.AddressOfOp(op.weight, pointer_type(op.result.type)))


class ConvertCopy(
    ConversionPattern[memref.CopyOp | tir.CopyOp | tir.CopyAsyncOp | executor.CopyOp]
):
    """
    One `memcpy` where the elements of both lie side by side, else a loop nest. A copy
    that may go on in the background is done at once.
    """

    root = (memref.CopyOp, tir.CopyOp, tir.CopyAsyncOp, executor.CopyOp)

    def match_and_rewrite(
        self,
        op: memref.CopyOp | tir.CopyOp | tir.CopyAsyncOp | executor.CopyOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        source = take(rewriter, op.source, operands.groups[0])
        target = take(rewriter, op.destination, operands.groups[1])
        if source.is_contiguous and target.is_contiguous:
            count = multiply(rewriter, source.count(rewriter), source.element_bytes)
            rewriter.insert(
                llvm.MemcpyOp(
                    target.start(rewriter),
                    source.start(rewriter),
                    constant(rewriter, count),
                )
            )
        else:
            self.copy_by_element(source, target, rewriter)
        rewriter.replace(op, (), [()] * len(op.results))

    def copy_by_element(
        self, source: MemRef, target: MemRef, rewriter: ConversionRewriter
    ) -> None:
        def point(indices: Sequence[SSAValue]) -> None:
            address = source.element(rewriter, indices)
            load = load_op(address, source.storage, source.alignment)
            value = rewriter.insert(load).dereferenced_value
            address = target.element(rewriter, indices)
            rewriter.insert(store_op(value, address, target.alignment))

        sizes = [
            a if isinstance(a, int) else b
            for a, b in zip(source.sizes, target.sizes, strict=True)
        ]
        uppers = [constant(rewriter, size) for size in sizes]
        build_nest(rewriter, uppers, point, LLVM)


class ConvertWait(ConversionPattern[tir.WaitOp]):
    """Nothing goes on in the background."""

    root = tir.WaitOp
    generates = ()

    def match_and_rewrite(
        self, op: tir.WaitOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        rewriter.replace(op, (), ())


class ConvertPrefetch(ConversionPattern[tir.PrefetchOp]):
    root = tir.PrefetchOp

    def match_and_rewrite(
        self, op: tir.PrefetchOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        source = take(rewriter, op.source, operands.groups[0])
        indices = numbers(op.indices, operands.named("indices"))
        # Ahead of the last elements there may be none.
        address = source.element(rewriter, indices, inbounds=False)
        locality = op.locality.value.data
        rewriter.replace(op, llvm.PrefetchOp(address, op.write is not None, locality))


def memref_patterns(failures: Failures) -> tuple[ConversionPattern[Any], ...]:
    """Patterns for one module, whose failures are counted."""
    return (
        *VIEW_PATTERNS,
        *allocation_patterns(failures),
        ConvertAtomic(),
        ConvertCopy(),
        ConvertDim(),
        ConvertExecutorConstant(),
        ConvertGetGlobal(),
        ConvertGlobal(),
        ConvertLoad(),
        ConvertPrefetch(),
        ConvertRank(),
        ConvertStore(),
        ConvertWait(),
    )
