"""
Calls of LLVM's intrinsics, for the ops `llvm.intr.<name>` and `llvm.call_intrinsic`.
"""

from collections.abc import Sequence
from functools import partial
from typing import cast

from xdsl.dialects.builtin import BoolAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects import llvm
from transom.dialects.diagnostics import OpError
from transom.lowering.emit_llvm.instructions import Form, fast_math, form
from transom.lowering.emit_llvm.scope import Scope
from transom.lowering.emit_llvm.text import name_text

INTRINSICS: dict[type[Operation], Form] = {}
"""How each intrinsic is called."""

intrinsic = partial(form, table=INTRINSICS)

Argument = tuple[str, str]
"""Type and value."""


def arguments(
    scope: Scope, op: Operation, values: Sequence[SSAValue]
) -> list[Argument]:
    return [(scope.type(v.type, op), scope.value(v)) for v in values]


def call(
    scope: Scope,
    op: Operation,
    overloads: Sequence[Attribute],
    args: Sequence[Argument],
) -> str:
    """A call of the intrinsic of `op`, which is declared once per module."""
    name = op.name.replace("llvm.intr.", "llvm.", 1)
    suffixes = [scope.types.mangled(type, op) for type in overloads]
    return call_symbol(scope, op, ".".join([name, *suffixes]), args)


def call_symbol(
    scope: Scope, op: Operation, name: str, args: Sequence[Argument]
) -> str:
    symbol = name_text("@", name)
    result = scope.result_type(op)
    types = ", ".join([type for type, _ in args])
    line = f"declare {result} {symbol}({types})"
    if scope.state.intrinsics.setdefault(symbol, line) != line:
        raise OpError(op, f"intrinsic '{name}' is called with two types")
    texts = ", ".join([f"{type} {value}" for type, value in args])
    return f"call {fast_math(op)}{result} {symbol}({texts})"


def flag(value: Attribute) -> Argument:
    """A constant `i1` argument."""
    return "i1", "true" if cast(BoolAttr, value).value.data else "false"


def i32(value: IntegerAttr) -> Argument:
    """A constant `i32` argument."""
    return "i32", str(value.value.data)


@intrinsic(
    llvm.BitReverseOp,
    llvm.ByteSwapOp,
    llvm.CtPopOp,
    llvm.FAbsOp,
    llvm.FAcosOp,
    llvm.FAsinOp,
    llvm.FAtan2Op,
    llvm.FAtanOp,
    llvm.FCeilOp,
    llvm.FCopySignOp,
    llvm.FCosOp,
    llvm.FCoshOp,
    llvm.FExp10Op,
    llvm.FExp2Op,
    llvm.FExpOp,
    llvm.FFloorOp,
    llvm.FLog10Op,
    llvm.FLog2Op,
    llvm.FLogOp,
    llvm.FMAOp,
    llvm.FMaximumOp,
    llvm.FMinimumOp,
    llvm.FMulAddOp,
    llvm.FNearbyintOp,
    llvm.FPowOp,
    llvm.FRintOp,
    llvm.FRoundEvenOp,
    llvm.FRoundOp,
    llvm.FSinOp,
    llvm.FSinhOp,
    llvm.FSqrtOp,
    llvm.FTanOp,
    llvm.FTanhOp,
    llvm.FTruncOp,
    llvm.SAddSatOp,
    llvm.SMaxOp,
    llvm.SMinOp,
    llvm.SShlSatOp,
    llvm.SSubSatOp,
    llvm.UAddSatOp,
    llvm.UMaxOp,
    llvm.UMinOp,
    llvm.UShlSatOp,
    llvm.USubSatOp,
    llvm.VectorFMaxOp,
    llvm.VectorFMinOp,
)
def same_type(scope: Scope, op: Operation) -> str:
    """Intrinsics whose operands and result have one type."""
    return call(scope, op, (op.results[0].type,), arguments(scope, op, op.operands))


@intrinsic(llvm.FPowiOp)
def powi(scope: Scope, op: llvm.FPowiOp) -> str:
    types = (op.res.type, op.power.type)
    return call(scope, op, types, arguments(scope, op, op.operands))


@intrinsic(llvm.AbsOp, llvm.CountLeadingZerosOp, llvm.CountTrailingZerosOp)
def flagged(
    scope: Scope,
    op: llvm.AbsOp | llvm.CountLeadingZerosOp | llvm.CountTrailingZerosOp,
) -> str:
    args = [*arguments(scope, op, op.operands), flag(op.properties[op.FLAG])]
    return call(scope, op, (op.res.type,), args)


@intrinsic(
    llvm.SAddWithOverflowOp,
    llvm.SMulWithOverflowOp,
    llvm.SSubWithOverflowOp,
    llvm.UAddWithOverflowOp,
    llvm.UMulWithOverflowOp,
    llvm.USubWithOverflowOp,
    llvm.VectorReduceAddOp,
    llvm.VectorReduceAndOp,
    llvm.VectorReduceFMaxOp,
    llvm.VectorReduceFMaximumOp,
    llvm.VectorReduceFMinOp,
    llvm.VectorReduceFMinimumOp,
    llvm.VectorReduceMulOp,
    llvm.VectorReduceOrOp,
    llvm.VectorReduceSMaxOp,
    llvm.VectorReduceSMinOp,
    llvm.VectorReduceUMaxOp,
    llvm.VectorReduceUMinOp,
    llvm.VectorReduceXorOp,
)
def operand_type(scope: Scope, op: Operation) -> str:
    """Intrinsics that are overloaded on the type of their first operand."""
    return call(scope, op, (op.operands[0].type,), arguments(scope, op, op.operands))


@intrinsic(llvm.VectorReduceFAddOp, llvm.VectorReduceFMulOp)
def ordered_reduction(
    scope: Scope, op: llvm.VectorReduceFAddOp | llvm.VectorReduceFMulOp
) -> str:
    return call(scope, op, (op.vector.type,), arguments(scope, op, op.operands))


@intrinsic(llvm.MemcpyOp, llvm.MemmoveOp)
def copy(scope: Scope, op: llvm.MemcpyOp | llvm.MemmoveOp) -> str:
    args = [*arguments(scope, op, op.operands), flag(op.isVolatile)]
    return call(scope, op, [v.type for v in op.operands], args)


@intrinsic(llvm.MemsetOp)
def memset(scope: Scope, op: llvm.MemsetOp) -> str:
    args = [*arguments(scope, op, op.operands), flag(op.isVolatile)]
    return call(scope, op, (op.dst.type, op.len.type), args)


@intrinsic(llvm.MaskedLoadOp)
def masked_load(scope: Scope, op: llvm.MaskedLoadOp) -> str:
    data, mask, pass_thru = arguments(scope, op, op.operands)
    args = (data, i32(op.alignment), mask, pass_thru)
    return call(scope, op, (op.res.type, op.data.type), args)


@intrinsic(llvm.MaskedGatherOp)
def masked_gather(scope: Scope, op: llvm.MaskedGatherOp) -> str:
    ptrs, mask, pass_thru = arguments(scope, op, op.operands)
    args = (ptrs, i32(op.alignment), mask, pass_thru)
    return call(scope, op, (op.res.type, op.ptrs.type), args)


@intrinsic(llvm.MaskedStoreOp)
def masked_store(scope: Scope, op: llvm.MaskedStoreOp) -> str:
    value, data, mask = arguments(scope, op, op.operands)
    args = (value, data, i32(op.alignment), mask)
    return call(scope, op, (op.value.type, op.data.type), args)


@intrinsic(llvm.PrefetchOp)
def prefetch(scope: Scope, op: llvm.PrefetchOp) -> str:
    args = [
        *arguments(scope, op, (op.addr,)),
        i32(op.rw),
        i32(op.hint),
        i32(op.cache),
    ]
    return call(scope, op, (op.addr.type,), args)


@intrinsic(llvm.AssumeOp, llvm.TrapOp)
def plain(scope: Scope, op: Operation) -> str:
    """Intrinsics that are not overloaded."""
    return call(scope, op, (), arguments(scope, op, op.operands))


@intrinsic(llvm.StackSaveOp)
def stack_save(scope: Scope, op: llvm.StackSaveOp) -> str:
    return call(scope, op, (op.res.type,), ())


@intrinsic(llvm.StackRestoreOp)
def stack_restore(scope: Scope, op: llvm.StackRestoreOp) -> str:
    return call(scope, op, (op.ptr.type,), arguments(scope, op, (op.ptr,)))


@intrinsic(llvm.CallIntrinsicOp)
def call_intrinsic(scope: Scope, op: llvm.CallIntrinsicOp) -> str:
    if op.op_bundle_operands or len(op.op_bundle_sizes):
        raise OpError(op, "no LLVM form for the operand bundles of an intrinsic")
    return call_symbol(scope, op, op.intrin.data, arguments(scope, op, op.args))
