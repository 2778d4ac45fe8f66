"""
Lowering of graph functions to kernels and calls: the machinery that the built-in
lowering and those of targets share.

A target *owns* the private functions that were made for it (`graph-outline-regions`):
one block of graph ops with a place. Each `graph.fused`, `graph.composite` or single op
of such a function becomes a kernel, each call of the function becomes calls of its
kernels on values, in destination-passing style:

```mlir
%y = func.call @main_region_0(%x) : …  ==>  %d = tensor.empty() : tensor<4xf32>
                                            %y = tir.call @add_relu_1f2e3d4c(%x : …)
                                                   outs(%d : tensor<4xf32>)
```

The function itself stays, with `target.lowered_to`, so that its kernels can be lowered
again. Kernels are content: two that compute the same for the same place are one, named
by what it does and a hash; locations and origins are on the calls.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar, cast

from xdsl.context import Context
from xdsl.dialects import arith, cf, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    UNKNOWN_LOC,
    ArrayAttr,
    IndexType,
    IntegerAttr,
    ModuleOp,
    SymbolRefAttr,
    TensorType,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import SymbolTable

from transom.dialects import graph, tir
from transom.dialects.diagnostics import OpError
from transom.dialects.graph.shapes import DYNAMIC, Dim, same
from transom.dialects.target import PlaceAttr, place_of, set_place
from transom.dialects.target.verification import LOWERED_TO
from transom.lowering.bufferize.constants import Constants
from transom.lowering.kernel_cache import KERNELS, content_key
from transom.lowering.sizes import Size, reify
from transom.passes.function_pass import functions_of
from transom.passes.graph_fuse import is_scalar_constant
from transom.passes.graph_outline_regions import is_region

OpT = TypeVar("OpT", bound=Operation)

MAX_NAME = 48
"""Characters of a kernel's name before its hash."""


@dataclass
class Kernel:
    """What one kernel computes: a function of tensors, nameless."""

    source: FuncOp
    inputs: tuple[SSAValue, ...]
    """The values of the region function that the kernel reads."""
    op: Operation
    """The op of the region function that becomes a call of the kernel."""
    key: str = ""
    name: str = ""


class FunctionLowering(ModulePass):
    """
    Base of passes that lower the functions of a target.

    A subclass says which functions it owns and how kernels are made of graph functions.
    What is not overridden is the same for all: keys and the cache, names, the form of
    calls, sizes of results and checks at run time, and what is kept.
    """

    HOST_OPS: ClassVar[tuple[type[Operation], ...]] = (
        graph.ConstantOp,
        graph.WeightRefOp,
        graph.CopyOp,
        graph.ReshapeOp,
    )
    """Ops that main does itself: they cost no kernel."""

    def owns(self, func: FuncOp) -> bool:
        """Whether the pass lowers a function. By default: every region."""
        return is_region(func)

    @abstractmethod
    def lower_kernels(self, ctx: Context, module: ModuleOp) -> None:
        """
        Turn each `func.func` of a module, a graph function on tensors, into one
        `tir.func` of the same name: inputs first, then one output per result.

        Raises `OpError` when an op can not be lowered. Depends on nothing but the
        functions, their places and the options of the pass.
        """

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        owned = [
            func
            for func in functions_of(op)
            if LOWERED_TO not in func.attributes and self.owns(func)
        ]
        if not owned:
            return
        kernels = {func: list(self._kernels_of(func)) for func in owned}
        self._make(ctx, op, [k for found in kernels.values() for k in found])
        regions = {func.sym_name.data: func for func in owned}
        for call in [c for c in op.walk() if isinstance(c, CallOp)]:
            region = regions.get(call.callee.string_value())
            if region is not None:
                names = {kernel.op: kernel for kernel in kernels[region]}
                HostBody(call, names).emit(region)
        make_weights(op, [f for f in functions_of(op) if f not in kernels])
        for func, found in kernels.items():
            names = dict.fromkeys(kernel.name for kernel in found)
            func.attributes[LOWERED_TO] = ArrayAttr(SymbolRefAttr(n) for n in names)

    def _kernels_of(self, func: FuncOp) -> Iterator[Kernel]:
        place = place_of(func)
        assert place is not None, "owned functions have a place"
        for op in func.body.block.ops:
            if not isinstance(op, (*self.HOST_OPS, ReturnOp)):
                kernel = isolate(op, place)
                kernel.key = content_key(
                    (self.name, repr(self), str(place), str(kernel.source))
                )
                stem = stem_of(kernel.source)
                kernel.name = f"{stem}_{kernel.key[:8]}"
                yield kernel

    def _make(self, ctx: Context, module: ModuleOp, kernels: Sequence[Kernel]) -> None:
        """Add the kernels to the module that it does not have, from the cache if so."""
        wanted = {kernel.name: kernel for kernel in kernels}
        missing: list[Kernel] = []
        made: dict[str, tir.FuncOp] = {}
        for name, kernel in wanted.items():
            if SymbolTable.lookup_symbol(module, name) is not None:
                continue
            found = KERNELS.get(kernel.key)
            if found is None:
                missing.append(kernel)
            else:
                made[name] = found
        if missing:
            scratch = ModuleOp([])
            for kernel in missing:
                scratch.body.block.add_op(named(kernel.source.clone(), kernel.name))
                scratch.body.block.last_op.location = kernel.op.location  # pyright: ignore[reportOptionalMemberAccess] # just added
            self.lower_kernels(ctx, scratch)
            for lowered in tuple(scratch.body.block.ops):
                assert isinstance(lowered, tir.FuncOp), "what lower_kernels promises"
                lowered.detach()
                strip(lowered)
                kernel = wanted[lowered.sym_name.data]
                place = place_of(kernel.source)
                assert place is not None, "isolate() sets it"
                set_place(lowered, place)
                KERNELS.put(kernel.key, lowered)
                made[lowered.sym_name.data] = lowered
        for name in wanted:
            if name in made:
                module.body.block.add_op(made[name])


def make_weights(module: ModuleOp, functions: Sequence[FuncOp]) -> None:
    """Turn the constants that functions still read into weights of the module."""
    constants = Constants(module)
    for op in [op for func in functions for op in func.walk()]:
        if not isinstance(op, graph.ConstantOp) or LOWERED_TO in _around(op).attributes:
            continue
        if op.result.uses:
            name = constants.weight(op.value, op)
            Rewriter.replace_op(op, graph.WeightRefOp(name, op.result.type))
        else:
            Rewriter.erase_op(op)
    constants.insert()


def _around(op: Operation) -> Operation:
    parent = op.parent_op()
    while not isinstance(parent, FuncOp):
        assert parent is not None, "it was found in a function"
        parent = parent.parent_op()
    return parent


def named(func: FuncOp, name: str) -> FuncOp:
    """A function under another name."""
    func.properties["sym_name"] = type(func.sym_name)(name)
    return func


def strip(func: Operation) -> None:
    """Take names of values and locations away: a kernel is nameless content."""
    for op in func.walk():
        op.location = UNKNOWN_LOC
        for result in op.results:
            result.name_hint = None
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    argument.name_hint = None
                    argument.location = UNKNOWN_LOC


def stem_of(source: FuncOp) -> str:
    """What a kernel does, as a part of its name: `conv2d_add_relu`."""
    names = [
        op.name.removeprefix("graph.")
        for op in source.body.block.ops
        if not isinstance(op, graph.ConstantOp | ReturnOp)
    ]
    return "_".join(dict.fromkeys(names))[:MAX_NAME].rstrip("_") or "copy"


def isolate(op: Operation, place: PlaceAttr) -> Kernel:
    """
    The graph function that one op of a region, or the ops of a group, compute.

    Operands that are constants of one value are inside of it.
    """
    group = op if isinstance(op, graph.FusedOp | graph.CompositeOp) else None
    operands = list(dict.fromkeys(op.operands))
    inputs = [value for value in operands if not is_scalar_constant(value.owner)]
    body = Block(arg_types=[value.type for value in inputs])
    inner: dict[SSAValue, SSAValue] = dict(zip(inputs, body.args, strict=True))
    for value in operands:
        if value not in inner:
            constant = cast("Operation", value.owner).clone()
            body.add_op(constant)
            inner[value] = constant.results[0]
    if group is None:
        copy = op.clone(inner)
        copy.attributes.clear()  # they go to the call
        body.add_ops((copy, ReturnOp(*copy.results)))
    else:
        mapped: dict[SSAValue, SSAValue] = {
            argument: inner[operand]
            for argument, operand in zip(
                group.body.block.args, group.operands, strict=True
            )
        }
        inline_group(group, mapped, body)
    result_types = [result.type for result in op.results]
    source = FuncOp(
        "kernel",
        ([value.type for value in inputs], result_types),
        Region(body),
        visibility="private",
    )
    set_place(source, place)
    locations = [inside.location for inside in body.ops]
    strip(source)
    kernel = Kernel(source, tuple(inputs), op)
    for inside, location in zip(body.ops, locations, strict=True):
        inside.location = location
    return kernel


def inline_group(
    group: "graph.FusedOp | graph.CompositeOp",
    mapped: dict[SSAValue, SSAValue],
    body: Block,
) -> None:
    """Copy what a group computes to the end of a block, which then returns it."""
    for inside in group.body.block.ops:
        if isinstance(inside, graph.YieldOp):
            body.add_op(ReturnOp(*(mapped[value] for value in inside.operands)))
        else:
            body.add_op(inside.clone(mapped))


class HostBody:
    """What a call of a region function becomes, in front of the call."""

    def __init__(self, call: CallOp, kernels: dict[Operation, Kernel]) -> None:
        assert call.parent is not None, "calls are in blocks"
        self.call = call
        self.block: Block = call.parent
        self.kernels = kernels
        self.values: dict[SSAValue, SSAValue] = {}
        self.sizes: dict[tuple[SSAValue, int], Size] = {}
        self.checked: set[tuple[Size, Size]] = set()
        self.origin: Operation = call

    def __call__(self, op: Operation) -> SSAValue:
        return self.insert(op).results[0]

    def insert(self, op: OpT) -> OpT:
        """Insert an op with the location of the op that it comes from."""
        if op.location == UNKNOWN_LOC:
            op.location = self.origin.location
        self.block.insert_op_before(op, self.call)
        return op

    def emit(self, region: FuncOp) -> None:
        """Emit the body of a region and put its results in the call's place."""
        block = region.body.block
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
                self.values[op.result] = self._reshape(op)
            else:
                copy = self.insert(op.clone(self.values))
                self.values.update(zip(op.results, copy.results, strict=True))
        self._drop_unused()
        self.call.detach()
        self.call.erase()

    def _drop_unused(self) -> None:
        """Remove copies of constants that are inside of the kernels now."""
        for value in self.values.values():
            owner = value.owner
            if isinstance(owner, graph.ConstantOp) and not value.uses:
                owner.detach()
                owner.erase()

    def _call(self, kernel: Kernel) -> None:
        block = kernel.source.body.block
        inputs = [self.values[value] for value in kernel.inputs]
        scope: dict[SSAValue, SSAValue | Operation] = {
            argument: value for argument, value in zip(block.args, inputs, strict=True)
        }
        for op in block.ops:
            if isinstance(op, graph.GraphOp):
                self._check_broadcast(op, scope)
                scope.update((result, op) for result in op.results)
        last = block.last_op
        assert isinstance(last, ReturnOp), "kernels return"
        outs = [
            self._empty(cast("TensorType[Attribute]", result.type), returned, scope)
            for result, returned in zip(kernel.op.results, last.operands, strict=True)
        ]
        call = self.insert(tir.CallOp(kernel.name, inputs, outs))
        for name, attribute in kernel.op.attributes.items():
            call.attributes[name] = attribute
        for old, new in zip(kernel.op.results, call.results, strict=True):
            new.name_hint = old.name_hint
            self.values[old] = new

    def _empty(
        self,
        type: TensorType[Attribute],
        returned: SSAValue,
        scope: dict[SSAValue, SSAValue | Operation],
    ) -> SSAValue:
        dynamic = [
            self.value_of(self._size(returned, axis, scope))
            for axis, size in enumerate(type.get_shape())
            if size == DYNAMIC
        ]
        return self(tensor.EmptyOp(dynamic, type))

    def value_of(self, size: Size) -> SSAValue:
        """A size as a value."""
        if isinstance(size, int):
            return self(arith.ConstantOp(IntegerAttr(size, IndexType())))
        return size

    def _size(
        self, value: SSAValue, axis: int, scope: dict[SSAValue, SSAValue | Operation]
    ) -> Size:
        """The size of a value inside a kernel, computed from the kernel's inputs."""
        static = cast("TensorType[Attribute]", value.type).get_shape()[axis]
        if static != DYNAMIC:
            return static
        known = self.sizes.get((value, axis))
        if known is None:
            source = scope[value]
            if isinstance(source, SSAValue):
                known = self._dim(source, axis)
            else:
                assert isinstance(source, graph.GraphOp), "kernels hold graph ops"
                dims = source.result_dims()[cast("int", value.index)]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] # an op's result
                known = reify(dims[axis], self._size_in(source, scope), self)
            self.sizes[(value, axis)] = known
        return known

    def _size_in(
        self, op: Operation, scope: dict[SSAValue, SSAValue | Operation]
    ) -> Callable[[int, int], Size]:
        return lambda operand, axis: self._size(op.operands[operand], axis, scope)

    def _dim(self, value: SSAValue, axis: int) -> Size:
        """The size of a value of main."""
        static = cast("TensorType[Attribute]", value.type).get_shape()[axis]
        if static != DYNAMIC:
            return static
        known = self.sizes.get((value, axis))
        if known is None:
            index = self.value_of(axis)
            known = self.sizes[(value, axis)] = self(tensor.DimOp(value, index))
        return known

    def _check_broadcast(
        self, op: graph.GraphOp, scope: dict[SSAValue, SSAValue | Operation]
    ) -> None:
        """
        Check at run time that operands broadcast whose types leave it open.
        """
        if not isinstance(op, graph.ElementwiseOp) or len(op.operands) < 2:
            return
        result = op.result_dims()[0]
        for index, operand in enumerate(op.operands):
            sizes = op.operand_dims(index)
            offset = len(result) - len(sizes)
            for axis, size in enumerate(sizes):
                full: Dim = result[axis + offset]
                if not isinstance(size, int) and not same(size, full):
                    actual = self._size(operand, axis, scope)
                    wanted = reify(full, self._size_in(op, scope), self)
                    self._assert_broadcasts(op, actual, wanted, (index, axis))

    def _assert_broadcasts(
        self, op: Operation, actual: Size, wanted: Size, where: tuple[int, int]
    ) -> None:
        if (actual, wanted) in self.checked:
            return
        self.checked.add((actual, wanted))
        value, full = self.value_of(actual), self.value_of(wanted)
        equal = self(arith.CmpiOp(value, full, "eq"))
        is_one = self(arith.CmpiOp(value, self.value_of(1), "eq"))
        fits = self(arith.OrIOp(equal, is_one))
        operand, axis = where
        self.insert(
            cf.AssertOp(
                fits,
                f"'{op.name}': dimension {axis} of operand {operand} "
                "does not broadcast",
            )
        )

    def _reshape(self, op: graph.ReshapeOp) -> SSAValue:
        """A view of the same elements: through one dimension, unless it has one."""
        source = self.values[op.input]
        type = op.result.type
        old = cast("TensorType[Attribute]", source.type)
        element = type.element_type
        sizes: list[Size] = [
            size
            if size != DYNAMIC
            else reify(dim, lambda _, axis: self._dim(source, axis), self)
            for size, dim in zip(type.get_shape(), op.result_dims()[0], strict=True)
        ]
        if old.get_num_dims() != 1:
            flat: TensorType[Attribute] = TensorType(element, [_count(old.get_shape())])
            source = self._flatten(source, flat)
        if type.get_num_dims() == 1:
            return self._as(source, type)
        if type.get_num_dims() == 0:
            return self(collapse(source, (), type))
        return self(
            tensor.ExpandShapeOp(
                source,
                [size for size in sizes if not isinstance(size, int)],
                _groups(range(len(sizes))),
                [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes],
                type,
            )
        )

    def _flatten(self, source: SSAValue, flat: TensorType[Attribute]) -> SSAValue:
        rank = cast("TensorType[Attribute]", source.type).get_num_dims()
        if rank == 0:
            return self(tensor.ExpandShapeOp(source, [], _groups(()), [1], flat))
        return self(collapse(source, range(rank), flat))

    def _as(self, source: SSAValue, type: TensorType[Attribute]) -> SSAValue:
        """A value in a type that differs in what it says about sizes only."""
        return source if source.type == type else self(tensor.CastOp(source, type))


def collapse(
    source: SSAValue, axes: Sequence[int], type: TensorType[Attribute]
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


__all__ = [
    "LOWERED_TO",
    "BlockArgument",
    "FunctionLowering",
    "HostBody",
    "Kernel",
    "OpError",
    "isolate",
]
