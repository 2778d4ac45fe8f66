"""
Convert `graph` to `tir`: the built-in lowering of graph functions.

Each group of ops of a function with a place becomes a kernel whose ops are nests, and
main calls the kernels (see `function_lowering`).

```mlir
%y = func.call @main_region_0(%x) : …  ==>  %y = tir.call @relu_0123abcd(%x) outs(%d)

                                            tir.func @relu_0123abcd(read %x, write %y) {
                                              tir.nest dims [parallel 4] …
```

Afterwards the functions that the pass owns carry `target.lowered_to`, nobody calls
them, and in their place main holds `tir.call`, views, and shape arithmetic.
"""

from dataclasses import dataclass
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, Operation
from xdsl.rewriter import Rewriter

from transom.dialects import graph, tir
from transom.dialects.diagnostics import Note, OpError
from transom.dialects.tir import Effect
from transom.dialects.tir.canonicalization import constant_index
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionTarget,
    TypeConverter,
    apply_full_conversion,
)
from transom.lowering.conversion_patterns import add_structural_conversions
from transom.lowering.function_lowering import FunctionLowering
from transom.lowering.graph_to_tir import (
    contraction,
    elementwise,
    movement,
    normalization,
    pooling,
    reduction,
)
from transom.lowering.graph_to_tir.site import kernel_type

PATTERNS: tuple[ConversionPattern[Any], ...] = (
    *contraction.PATTERNS,
    *elementwise.PATTERNS,
    *movement.PATTERNS,
    *normalization.PATTERNS,
    *pooling.PATTERNS,
    *reduction.PATTERNS,
)
"""How each graph op is computed, on memrefs."""


ArgumentSize = tuple[int, int]
"""The number of an argument, and a dimension of it."""


def equal_sizes(func: FuncOp) -> dict[ArgumentSize, ArgumentSize]:
    """For each size of an argument that has a name the first one of that name."""
    first: dict[str, ArgumentSize] = {}
    return {
        (argument.index, axis): first.setdefault(symbol.name, (argument.index, axis))
        for argument in func.body.block.args
        for axis, symbol in enumerate(
            graph.dim_symbols(cast("TensorType[Attribute]", argument.type))
        )
        if symbol is not None
    }


def unify_sizes(func: FuncOp, equal: dict[ArgumentSize, ArgumentSize]) -> None:
    """Ask the first of the arguments with equal sizes: memrefs do not name them."""
    args = func.body.block.args
    for op in [op for op in func.walk() if isinstance(op, memref.DimOp)]:
        axis = constant_index(op.index)
        if not isinstance(op.source, BlockArgument) or axis is None:
            continue
        number, first = equal.get((op.source.index, axis), (op.source.index, axis))
        if op.source is not args[number]:
            index = arith.ConstantOp(IntegerAttr(first, IndexType()))
            Rewriter.replace_op(op, (index, memref.DimOp(args[number], index.result)))


def to_destination_passing(func: FuncOp) -> tir.FuncOp:
    """
    The kernel of a function that returns memrefs: it writes them into arguments.

    A buffer that the function allocates becomes the argument itself; what it returns
    otherwise (an input, or one buffer twice) is copied.
    """
    block = func.body.block
    last = block.last_op
    assert isinstance(last, ReturnOp), "the body of a function ends with it"
    effects = [Effect.READ] * len(block.args)
    inputs = list(block.args)
    copies: list[Operation] = []
    for number in range(len(last.operands)):
        returned = last.operands[number]  # an output, if it is returned twice
        type = cast("MemRefType", returned.type)
        out = block.insert_arg(type, len(block.args))
        effects.append(Effect.WRITE)
        owner = returned.owner
        if isinstance(owner, tir.AllocOp):
            returned.replace_all_uses_with(out)
            owner.detach()
            owner.erase()
        else:
            copies.append(tir.CopyOp(returned, out))
    block.insert_ops_before(copies, last)
    block.insert_op_before(tir.ReturnOp(), last)
    last.detach()
    last.erase()
    remove_dead_buffers(func)
    body = func.detach_region(func.body)
    assert len(effects) == len(block.args) >= len(inputs), "inputs, then outputs"
    return tir.FuncOp(
        func.sym_name.data,
        [(e, a.type) for e, a in zip(effects, block.args, strict=True)],
        body,
    )


def remove_dead_buffers(func: FuncOp) -> None:
    """Remove buffers that only their own nest mentions: nobody reads them."""
    for alloc in [op for op in func.walk() if isinstance(op, tir.AllocOp)]:
        users = [use.operation for use in alloc.result.uses]
        if all(
            isinstance(u, tir.NestOp) and list(u.outs) == [alloc.result] for u in users
        ):
            for op in (*users, alloc):
                op.detach()
                op.erase()


def refuse_layouts(module: ModuleOp) -> None:
    """Raise `OpError` for the ops on tensors that are not row-major, all of them."""
    found = [
        (op, value.type)
        for op in module.walk()
        if isinstance(op, graph.GraphOp)
        for value in (*op.results, *op.operands)
        if graph.layout_of(value.type) is not None
    ]
    ops = list(dict.fromkeys(op for op, _ in found))
    if ops:
        raise OpError(
            ops[0],
            f"expected tensors without a layout, but got '{found[0][1]}'",
            *(Note(op, f"'{op.name}' has one too") for op in ops[1:]),
        )


@dataclass(frozen=True)
class ConvertGraphToTirPass(FunctionLowering):
    name = "convert-graph-to-tir"

    def lower_kernels(self, ctx: Context, module: ModuleOp) -> None:
        refuse_layouts(module)
        converter = TypeConverter(kernel_type)
        target = ConversionTarget()
        target.add_illegal_dialect("graph")
        structural = add_structural_conversions(target, converter)
        equal = {
            func.sym_name.data: equal_sizes(func)
            for func in module.body.block.ops
            if isinstance(func, FuncOp)
        }
        apply_full_conversion(module, target, (*PATTERNS, *structural), converter)
        for func in tuple(module.body.block.ops):
            assert isinstance(func, FuncOp), "kernels are functions"
            unify_sizes(func, equal[func.sym_name.data])
            kernel = to_destination_passing(func)
            module.body.block.insert_op_before(kernel, func)
            func.detach()
            func.erase()
