"""
What ops do to memory, as `tir-verify-plan` sees it: on its own, so that a mistake of
the planner is not repeated.
"""

from collections.abc import Iterator

from xdsl.dialects import func, memref, scf
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from transom.dialects import tir

SAME_BYTES = (memref.CastOp, memref.CollapseShapeOp, memref.ExpandShapeOp)
"""Ops whose result is all of their operand's memory."""

HARMLESS = (memref.DimOp, scf.YieldOp, scf.ConditionOp, func.ReturnOp)
"""Ops that take memrefs and do nothing to the memory."""


def sources_of(value: SSAValue) -> list[SSAValue]:
    """The memrefs that a memref may be made of."""
    owner = value.owner
    if isinstance(owner, Block):
        assert isinstance(value, BlockArgument), "blocks own their arguments"
        around = owner.parent_op()
        if around is None or isinstance(around, func.FuncOp):
            return []
    else:
        around = owner
    found = [v for v in around.operands if isinstance(v.type, MemRefType)]
    for region in around.regions:
        for block in region.blocks:
            if block.last_op is not None:
                found += [
                    v for v in block.last_op.operands if isinstance(v.type, MemRefType)
                ]
    return found


def accesses_of(op: Operation) -> Iterator[tuple[SSAValue, bool, bool]]:
    """The memrefs of an op, and whether each is read and written."""
    match op:
        case tir.CallOp() if (kernel := op.find_callee()) is not None:
            for value, effect in zip(op.operands, kernel.argument_effects, strict=True):
                if isinstance(value.type, MemRefType):
                    yield (
                        value,
                        effect in (tir.Effect.READ, tir.Effect.READ_WRITE),
                        effect is not tir.Effect.READ,
                    )
        case tir.CopyOp() | memref.CopyOp():
            yield op.source, True, False
            yield op.destination, False, True
        case tir.CopyAsyncOp() if not op.is_handed_on:
            yield op.source, True, False
            yield op.destination, False, True
        case tir.WaitOp() if isinstance(copy := op.token.owner, tir.CopyAsyncOp):
            yield copy.source, True, False
            yield copy.destination, True, False
        case memref.LoadOp():
            yield op.memref, True, False
        case memref.StoreOp():
            yield op.memref, False, True
        case func.CallOp():
            yield from _call_uses(op)
        case _:
            for value in op.operands:
                if isinstance(value.type, MemRefType):
                    yield value, True, True


def _call_uses(op: func.CallOp) -> Iterator[tuple[SSAValue, bool, bool]]:
    """Of a function on the host: results are written to arguments that say so."""
    module = op.parent_op()
    while module is not None and not isinstance(module, ModuleOp):
        module = module.parent_op()
    attributes = None
    for symbol in () if module is None else module.body.ops:
        if (
            isinstance(symbol, func.FuncOp)
            and symbol.sym_name.data == op.callee.string_value()
        ):
            attributes = symbol.arg_attrs
    for number, value in enumerate(op.arguments):
        if isinstance(value.type, MemRefType):
            known = attributes is not None
            result = known and "tir.result" in attributes.data[number].data
            yield value, not result, result or not known
