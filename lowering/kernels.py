"""
What one kernel computes, taken out of the function that it is part of.
"""

from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from transom.dialects import graph
from transom.dialects.target import PlaceAttr, TargetAttr, place_of, set_place
from transom.passes.graph_fuse import is_scalar_constant

MAX_NAME = 48
"""Characters of a kernel's name before its hash."""

UNNAMED_OPS = (graph.ConstantOp, ReturnOp, arith.ConstantOp, tensor.EmptyOp)
"""Ops that the name of a kernel does not mention."""


@dataclass
class Kernel:
    """What one kernel computes: a function of tensors, nameless."""

    source: FuncOp
    inputs: tuple[SSAValue | Operation, ...]
    """
    What the kernel reads: values of the region function, and constants and weights
    inside of the op.
    """
    op: Operation
    """The op of the region function that becomes a call of the kernel."""
    attributes: dict[str, Attribute]
    """The discardable attributes of the op and of those in it, for the call."""
    target: TargetAttr | None = None
    """The target that it is compiled for, or that its device prefers."""
    content: str = ""
    """A hash of what it computes, for which place, and of the pass that lowers it."""
    key: str = ""
    """A hash of its content, its target and the code that lowers it: of the result."""
    name: str = ""
    data_sizes: int = 0
    """How many sizes of its results depend on data."""
    sizes: "Kernel | FuncOp | None" = None
    """
    What computes these: a kernel that the shape function calls, or the function itself.
    """

    @property
    def place(self) -> PlaceAttr:
        """The place that the kernel is compiled for."""
        place = place_of(self.source)
        assert place is not None, "isolate() sets it"
        return place


def isolate(op: Operation, place: PlaceAttr) -> Kernel:
    """
    The kernel of one op of a region, or of the ops of a group.

    Constants of one value are inside of it, wherever they were; others are inputs.
    """
    body = Block()
    made = Body(body)
    inputs: list[SSAValue | Operation] = []
    for value in dict.fromkeys(op.operands):
        if is_scalar_constant(value.owner):
            made.values[value] = made.copy(cast("Operation", value.owner))[0]
        else:
            inputs.append(value)
            made.values[value] = body.insert_arg(value.type, len(body.args))
    results = made.add(op)
    body.add_op(ReturnOp(*results))
    inputs += made.constants
    source = FuncOp(
        "kernel",
        (body.arg_types, [result.type for result in op.results]),
        Region(body),
        visibility="private",
    )
    set_place(source, place)
    forget_names(source)
    return Kernel(source, tuple(inputs), op, made.attributes)


class Body:
    """The block of a kernel that is being filled."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.values: dict[SSAValue, SSAValue] = {}
        self.constants: list[Operation] = []
        self.attributes: dict[str, Attribute] = {}

    def copy(self, op: Operation) -> list[SSAValue]:
        """Add a copy of an op, and give its results."""
        copy = op.clone(self.values)
        for name, attribute in copy.attributes.items():
            self.attributes.setdefault(name, attribute)
        copy.attributes.clear()
        self.block.add_op(copy)
        return list(copy.results)

    def add(self, op: Operation) -> list[SSAValue]:
        """Add what an op computes, without the groups around it."""
        if isinstance(op, graph.GroupOp):
            for name, attribute in op.attributes.items():
                self.attributes.setdefault(name, attribute)
            return self._add_group(op)
        if isinstance(op, graph.WeightRefOp) or (
            isinstance(op, graph.ConstantOp) and not is_scalar_constant(op)
        ):
            self.constants.append(op)
            return [self.block.insert_arg(op.results[0].type, len(self.block.args))]
        return self.copy(op)

    def _add_group(self, group: graph.GroupOp) -> list[SSAValue]:
        block = group.body.block
        for argument, operand in zip(block.args, group.operands, strict=True):
            self.values[argument] = self.values[operand]
        for op in block.ops:
            if isinstance(op, graph.YieldOp):
                return [self.values[value] for value in op.operands]
            self.values.update(zip(op.results, self.add(op), strict=True))
        raise AssertionError("a group ends with 'graph.yield'")


def stem_of(source: FuncOp) -> str:
    """What a kernel does, as a part of its name: `conv2d_add_relu`."""
    names = [
        op.name.removeprefix("graph.").removeprefix("linalg.").replace(".", "_")
        for op in source.body.block.ops
        if not isinstance(op, UNNAMED_OPS)
    ]
    return "_".join(dict.fromkeys(names))[:MAX_NAME].rstrip("_") or "copy"


def forget_names(func: Operation) -> None:
    """Take the names of values away: a kernel is nameless content."""
    for op in func.walk():
        for result in op.results:
            result.name_hint = None
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    argument.name_hint = None


def forget_origin(func: Operation) -> None:
    """Take names and locations away."""
    forget_names(func)
    for op in func.walk():
        op.location = UNKNOWN_LOC
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    argument.location = UNKNOWN_LOC
