"""
What main does in the place of a call of a region: kernel calls, views and sizes.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar, cast

from xdsl.dialects import arith, cf, tensor
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    IndexType,
    IntegerAttr,
    TensorType,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from transom.dialects import graph, tir
from transom.dialects.diagnostics import OpError
from transom.dialects.graph.shapes import DYNAMIC, DataDim, Dim
from transom.lowering.kernels import Kernel
from transom.lowering.shape_functions import SIZES, plain_type
from transom.lowering.size_checks import Check, checks_of, result_dims_of
from transom.lowering.sizes import Size, mixed_sizes, reify

OpT = TypeVar("OpT", bound=Operation)
AnyTensor: TypeAlias = "TensorType[Attribute]"

SizeOf: TypeAlias = Callable[[int, int], Size]
"""The size of an operand's dimension."""

Scope = dict[SSAValue, "SSAValue | Operation"]
"""Values of a kernel: one of main for an input, else the op that makes it."""


class HostBody:
    """What a call of a region function becomes, in front of the call."""

    def __init__(self, call: CallOp, kernels: dict[Operation, Kernel]) -> None:
        assert call.parent is not None, "calls are in blocks"
        self.call = call
        self.block: Block = call.parent
        self.kernels = kernels
        self.values: dict[SSAValue, SSAValue] = {}
        self.constants: dict[Operation, SSAValue] = {}
        self.sizes: dict[tuple[SSAValue, int], Size] = {}
        self.data_sizes: dict[Block | None, Sequence[SSAValue]] = {}
        self.checked: set[tuple[Size, str, Size]] = set()
        self.origin: Operation = call
        self.inserted: list[Operation] = []

    def __call__(self, op: Operation) -> SSAValue:
        return self.insert(op).results[0]

    def insert(self, op: OpT) -> OpT:
        """Insert an op with the location of the op that it comes from."""
        if op.location == UNKNOWN_LOC:
            op.location = self.origin.location
        self.block.insert_op_before(op, self.call)
        self.inserted.append(op)
        return op

    def emit(self, region: FuncOp) -> list[graph.ConstantOp]:
        """
        Emit the body of a region and put its results in the call's place; gives the
        constants that this brings to main.
        """
        block = region.body.block
        check_plain(self.call)
        self.values.update(zip(block.args, self.call.operands, strict=True))
        for op in block.ops:
            self.origin = op
            if isinstance(op, ReturnOp):
                for old, value in zip(self.call.results, op.operands, strict=True):
                    new = self.values[value]
                    new.name_hint = new.name_hint or old.name_hint
                    old.replace_all_uses_with(new)
            elif op in self.kernels:
                self._call(self.kernels[op])
            elif isinstance(op, graph.ReshapeOp):
                check_plain(op)
                self._check(op, cast("Scope", self.values))
                view = self.values[op.result] = self._reshape(op)
                if view is not self.values[op.input]:
                    view.name_hint = view.name_hint or op.result.name_hint
                    made = view.owner
                    assert isinstance(made, Operation), "views are made by ops"
                    made.attributes |= op.attributes
            elif isinstance(op, graph.ConcatOp):
                self.values[op.result] = self._concat(op)
            else:
                check_plain(op)
                copy = self.insert(op.clone(self.values))
                self.values.update(zip(op.results, copy.results, strict=True))
        self.call.detach()
        self.call.erase()
        return self._constants()

    def _constants(self) -> list[graph.ConstantOp]:
        """The constants that are read, without copies of those inside of kernels."""
        found: list[graph.ConstantOp] = []
        for op in self.inserted:
            if isinstance(op, graph.ConstantOp):
                if op.result.uses:
                    found.append(op)
                else:
                    op.detach()
                    op.erase()
        return found

    # Kernels.

    def _call(self, kernel: Kernel) -> None:
        inputs = [self._input(source) for source in kernel.inputs]
        if kernel.sizes is not None:
            plain = [self._as(i, cast("AnyTensor", plain_type(i.type))) for i in inputs]
            types = [IndexType()] * kernel.data_sizes
            shapes = self.insert(CallOp(kernel.name + SIZES, plain, types))
            self.data_sizes[kernel.source.body.block] = shapes.results
        outs = self.outputs(kernel.source.body.block, inputs)
        call = self.insert(tir.CallOp(kernel.name, inputs, outs))
        call.attributes |= {**self.call.attributes, **kernel.attributes}
        for old, new in zip(kernel.op.results, call.results, strict=True):
            new.name_hint = old.name_hint
            self.values[old] = new

    def outputs(self, block: Block, inputs: Sequence[SSAValue]) -> list[SSAValue]:
        """
        Tensors for the results of a block of ops on some inputs, whose sizes are
        checked; arguments behind these are of static sizes.
        """
        scope: Scope = dict(zip(block.args, inputs, strict=False))
        for op in block.ops:
            self._check(op, scope)
            scope.update((result, op) for result in op.results)
        last = block.last_op
        assert isinstance(last, ReturnOp), "kernels return"
        return [
            self._empty(cast("AnyTensor", returned.type), returned, scope)
            for returned in last.operands
        ]

    def _input(self, source: SSAValue | Operation) -> SSAValue:
        """An input of a kernel: a value of the region, or a constant in a group."""
        if isinstance(source, SSAValue):
            return self.values[source]
        if source not in self.constants:
            copy = source.clone()
            copy.attributes.clear()  # they are on the call
            self.constants[source] = self(copy)
        return self.constants[source]

    def _empty(self, type: AnyTensor, returned: SSAValue, scope: Scope) -> SSAValue:
        dynamic = [
            self.value_of(self._size(returned, axis, scope))
            for axis, size in enumerate(type.get_shape())
            if size == DYNAMIC
        ]
        return self(tensor.EmptyOp(dynamic, graph.physical_type(type)))

    # Sizes.

    def value_of(self, size: Size) -> SSAValue:
        """A size as a value."""
        if isinstance(size, int):
            return self(arith.ConstantOp(IntegerAttr(size, IndexType())))
        return size

    def _size(self, value: SSAValue, axis: int, scope: Scope) -> Size:
        """The size of a value inside a kernel, computed from the kernel's inputs."""
        static = cast("AnyTensor", value.type).get_shape()[axis]
        if static != DYNAMIC:
            return static
        known = self.sizes.get((value, axis))
        if known is None:
            source = scope[value]
            if isinstance(source, SSAValue):
                known = self._dim(source, axis)
            elif isinstance(source, tensor.EmptyOp | tensor.PadOp):
                known = self._size_of_tensor(source, axis, scope)
            else:
                assert isinstance(value, OpResult), "it is not an input"
                dims = result_dims_of(source)[value.index]
                known = self._reified(source, dims[axis], scope)
            self.sizes[(value, axis)] = known
        return known

    def _size_of_tensor(
        self, op: tensor.EmptyOp | tensor.PadOp, axis: int, scope: Scope
    ) -> Size:
        """A size of a result that operands of the op say, which are numbers."""

        def number(value: SSAValue) -> SSAValue:
            source = scope[value]
            if isinstance(source, Operation):  # a constant inside of the kernel
                return self(source.clone())
            return source

        if isinstance(op, tensor.EmptyOp):
            dynamic = [
                i for i, s in enumerate(op.tensor.type.get_shape()) if s == DYNAMIC
            ]
            return number(op.dynamic_sizes[dynamic.index(axis)])
        total = self.value_of(self._size(op.source, axis, scope))
        for static, values in ((op.static_low, op.low), (op.static_high, op.high)):
            sizes = mixed_sizes(static, list(map(number, values)))
            total = self(arith.AddiOp(total, self.value_of(sizes[axis])))
        return total

    def _reified(self, op: Operation, dim: Dim, scope: Scope) -> Size:
        """A size of an op, computed from what is in scope."""
        size_of = self._size_in(op, scope)
        return reify(dim, size_of, self, lambda data: self._of_data(op, size_of, data))

    def _of_data(self, op: Operation, size_of: SizeOf, dim: DataDim) -> Size:
        """
        A size that the shape function has computed; that it is at most its bound is
        said for those who plan memory.
        """
        block = op.parent
        if block not in self.data_sizes:
            raise OpError(
                op,
                f"expected '{op.name}' to be a kernel by itself, as the sizes of its "
                "results depend on data",
            )
        computed = self.data_sizes[block][dim.number]
        bound = self.value_of(reify(dim.upper, size_of, self))
        return self(arith.MinSIOp(computed, bound))

    def _size_in(self, op: Operation, scope: Scope) -> SizeOf:
        return lambda operand, axis: self._size(op.operands[operand], axis, scope)

    def _dim(self, value: SSAValue, axis: int) -> Size:
        """The size of a value of main."""
        static = cast("AnyTensor", value.type).get_shape()[axis]
        if static != DYNAMIC:
            return static
        known = self.sizes.get((value, axis))
        if known is None:
            index = self.value_of(axis)
            known = self.sizes[(value, axis)] = self(tensor.DimOp(value, index))
        return known

    def _check(self, op: Operation, scope: Scope) -> None:
        """Check at run time what the types of an op leave open."""
        for check in checks_of(op):
            lhs = self._reified(op, check.lhs, scope)
            rhs = self._reified(op, check.rhs, scope)
            if lhs is not rhs and (lhs, check.relation, rhs) not in self.checked:
                self.checked.add((lhs, check.relation, rhs))
                self._assert(check, self.value_of(lhs), self.value_of(rhs))

    def _assert(self, check: Check, lhs: SSAValue, rhs: SSAValue) -> None:
        if check.relation == "le":
            holds = self(arith.CmpiOp(lhs, rhs, "sle"))
        else:
            holds = self(arith.CmpiOp(lhs, rhs, "eq"))
        if check.relation == "broadcasts":
            is_one = self(arith.CmpiOp(lhs, self.value_of(1), "eq"))
            holds = self(arith.OrIOp(holds, is_one))
        self.insert(cf.AssertOp(holds, check.message))

    # Views.

    def _reshape(self, op: graph.ReshapeOp) -> SSAValue:
        """A view of the same elements: through one dimension, unless it has one."""
        source, type = self.values[op.input], op.result.type
        old = cast("AnyTensor", source.type)
        element = type.element_type
        sizes: list[Size] = [
            size
            if size != DYNAMIC
            else reify(dim, lambda _, axis: self._dim(source, axis), self)
            for size, dim in zip(type.get_shape(), op.result_dims()[0], strict=True)
        ]
        count = _count(old.get_shape())
        if old.get_num_dims() == 0 == type.get_num_dims():
            return source
        if type.get_num_dims() == 0:
            ones: AnyTensor = TensorType(element, [1] * old.get_num_dims())
            return self(collapse(self._as(source, ones), (), type))
        if old.get_num_dims() == 0:
            return self._as(self._expanded(source, sizes, element), type)
        if old.get_num_dims() > 1:
            flat: AnyTensor = TensorType(element, [count])
            source = self(collapse(source, range(old.get_num_dims()), flat))
        if type.get_num_dims() == 1:
            return self._as(source, type)
        source = self._as(source, TensorType(element, [_count(type.get_shape())]))
        return self(
            tensor.ExpandShapeOp(
                source,
                [
                    self.value_of(size)
                    for size, declared in zip(sizes, type.get_shape(), strict=True)
                    if declared == DYNAMIC
                ],
                _groups(range(len(sizes))),
                list(type.get_shape()),
                type,
            )
        )

    def _concat(self, op: graph.ConcatOp) -> SSAValue:
        """Parts that lie one after the other: each is put into the whole."""
        type = graph.physical_type(op.result.type)
        axis, rank = op.axis.value.data, type.get_num_dims()
        whole = self(tensor.EmptyOp((), type))
        offset = 0
        for operand in op.inputs:
            part = self.values[operand]
            sizes = cast("AnyTensor", part.type).get_shape()
            offsets = [0] * rank
            offsets[axis] = offset
            put = tensor.InsertSliceOp.from_static_parameters(
                part, whole, offsets, sizes, [1] * rank
            )
            whole = self(put)
            offset += sizes[axis]
        whole.name_hint = op.result.name_hint
        made = whole.owner
        assert isinstance(made, Operation), "there is at least one part"
        made.attributes |= op.attributes
        return whole

    def _expanded(
        self, source: SSAValue, sizes: Sequence[Size], element: Attribute
    ) -> SSAValue:
        """A scalar as a tensor of one element."""
        ones = [self.value_of(1) for _ in sizes]
        shape = tensor.FromElementsOp(*ones)
        type: AnyTensor = TensorType(element, [1] * len(sizes))
        return self(tensor.ReshapeOp(source, self(shape), type))

    def _as(self, source: SSAValue, type: AnyTensor) -> SSAValue:
        """A value in a type that differs in what it says about sizes only."""
        return source if source.type == type else self(tensor.CastOp(source, type))


def is_row_of_parts(op: Operation) -> bool:
    """
    Whether an op puts values together that lie one after the other in the result, so
    that they can be computed there.
    """
    if not isinstance(op, graph.ConcatOp):
        return False
    axis, result = op.axis.value.data, op.result.type
    layout = graph.layout_of(result)
    rank = result.get_num_dims()
    block = 1
    if layout is not None:
        block = layout.blocks(rank)[axis]
        if layout.borders(rank)[axis]:
            return False
    types = [cast("AnyTensor", operand.type) for operand in op.inputs]
    return (
        all(type.has_static_shape() for type in (*types, result))
        and all(graph.layout_of(type) == layout for type in types)
        and all(type.get_shape()[axis] % block == 0 for type in types)
        and all(n == 1 for n in graph.physical_type(result).get_shape()[:axis])
    )


def check_plain(op: Operation) -> None:
    """Raise `OpError` for an op of main on tensors that have a layout."""
    for value in (*op.operands, *op.results):
        if graph.layout_of(value.type) is not None:
            raise OpError(
                op, f"expected tensors without a layout in main, but got '{value.type}'"
            )


def collapse(
    source: SSAValue, axes: Sequence[int], type: AnyTensor
) -> tensor.CollapseShapeOp:
    """A view of these dimensions as one, or of one element as a scalar."""
    return tensor.CollapseShapeOp(
        operands=[source],
        result_types=[type],
        properties={"reassociation": _groups(axes)},
    )


def _count(shape: Sequence[int]) -> int:
    count = 1
    for size in shape:
        if size == DYNAMIC:
            return DYNAMIC
        count *= size
    return count


def _groups(axes: Sequence[int]) -> ArrayAttr[ArrayAttr[IntegerAttr]]:
    """The reassociation between all dimensions and one; none for a scalar."""
    if not axes:
        return ArrayAttr([])
    return ArrayAttr([ArrayAttr([IntegerAttr(axis, i64) for axis in axes])])
