"""
Functions of the host that compute sizes which depend on elements.

The size of a result that depends on elements is known when those are: main calls the
shape function of a kernel before it provides memory for the kernel's results.

```mlir
%y = graph.nonzero %x : …  ==>  %n = func.call @nonzero_1f2e3d4c.sizes(%x) : … -> index
                                %d = tensor.empty(%n) : tensor<1x?xi64>
                                %y = tir.call @nonzero_1f2e3d4c(%x : …) outs(%d : …)
```

What an op says of these sizes (`GraphOp.data_sizes`) are graph ops, which become a
kernel like others; the function calls it, and reads what it has found.
"""

from typing import cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import FunctionType, IndexType, TensorType, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from transom.dialects import graph, tir
from transom.dialects.diagnostics import OpError
from transom.dialects.graph.shapes import data_dims
from transom.lowering.kernels import Kernel, forget_names

SIZES = ".sizes"
"""The end of the name of a shape function; the rest is that of its kernel."""


def depends_on_data(op: Operation) -> bool:
    """Whether sizes of an op's results depend on elements of its operands."""
    return isinstance(op, graph.GraphOp) and any(
        data_dims(dim) for dims in op.result_dims() for dim in dims
    )


def _is_constant(op: Operation) -> bool:
    return isinstance(op, graph.ConstantOp)


def sized_op(kernel: Kernel) -> graph.GraphOp | None:
    """
    The op of a kernel of whose results sizes depend on data, if there is one.

    Raises `OpError` where it has others beside it: what they compute is not there when
    the sizes are asked for.
    """
    block = kernel.source.body.block
    found = [op for op in block.ops if depends_on_data(op)]
    if not found:
        return None
    op, last = found[0], block.last_op
    if any(not _is_constant(other) for other in block.ops if other not in (op, last)):
        raise OpError(
            kernel.op,
            f"expected '{op.name}' to be in no group, as sizes of its results depend "
            "on data",
        )
    assert isinstance(op, graph.GraphOp), "depends_on_data() says so"
    return op


def count_data_sizes(op: graph.GraphOp) -> int:
    """How many sizes of an op's results depend on data."""
    found = (
        data for dims in op.result_dims() for dim in dims for data in data_dims(dim)
    )
    return len({data.number for data in found})


def size_kernel(kernel: Kernel) -> Kernel:
    """The kernel that computes those sizes from the inputs of a kernel."""
    source = kernel.source.clone()
    block = source.body.block
    (op,) = (op for op in block.ops if depends_on_data(op))
    last = block.last_op
    assert isinstance(op, graph.GraphOp), "depends_on_data() says so"
    assert isinstance(last, ReturnOp), "kernels return"

    def add(new: Operation) -> SSAValue:
        new.location = op.location
        block.insert_op_before(new, op)
        return new.results[0]

    sizes = op.data_sizes(op.operands, add)
    block.insert_op_before(ReturnOp(*sizes), last)
    for old in (last, op):
        old.detach()
        old.erase()
    source.function_type = FunctionType.from_lists(
        block.arg_types, [size.type for size in sizes]
    )
    forget_names(source)
    return Kernel(source, kernel.inputs, kernel.op, {}, kernel.target)


def plain_types(kernel: Kernel) -> list[Attribute]:
    """
    The types that the shape function of a kernel takes: without names of sizes, which
    main has checked.
    """
    return [plain_type(type) for type in kernel.source.function_type.inputs]


def plain_type(type: Attribute) -> Attribute:
    """A tensor type without names of sizes."""
    assert isinstance(type, TensorType), "kernels take tensors"
    tensor_type = cast("TensorType[Attribute]", type)
    return TensorType(tensor_type.element_type, tensor_type.get_shape())


def shape_function(name: str, kernel: Kernel, sizes: Kernel) -> FuncOp:
    """The function that calls a kernel of sizes, and gives what it has computed."""
    types = plain_types(kernel)
    block = Block(arg_types=types)

    def add(op: Operation) -> SSAValue:
        op.location = kernel.op.location
        block.add_op(op)
        return op.results[0]

    outs = [add(tensor.EmptyOp((), t)) for t in sizes.source.function_type.outputs]
    call = tir.CallOp(sizes.name, block.args, outs)
    add(call)
    numbers = [add(tensor.ExtractOp(result, (), i64)) for result in call.results]
    indices = [add(arith.IndexCastOp(number, IndexType())) for number in numbers]
    block.add_op(ReturnOp(*indices))
    return FuncOp(
        name,
        (types, [IndexType()] * len(indices)),
        Region(block),
        visibility="private",
    )


def check_shape_function(function: FuncOp, kernel: Kernel) -> None:
    """Raise `OpError` unless a function takes what a kernel takes, and gives sizes."""
    expected = FunctionType.from_lists(
        plain_types(kernel), [IndexType()] * kernel.data_sizes
    )
    if function.function_type != expected:
        raise OpError(
            kernel.op,
            f"expected a shape function of type '{expected}', but got "
            f"'{function.function_type}'",
        )
