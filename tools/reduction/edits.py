"""
What changes a candidate, and what all edits need: values that can stand in for others.
"""

from collections.abc import Callable, Iterator, Sequence

from xdsl.dialects import arith, ub
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
    VectorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove, IsTerminator
from xdsl.utils.hints import isa

from transom.dialects.symbols import symbol_name, walk_symbol_uses

Edit = Callable[[Sequence[Operation]], bool]
"""
Changes a candidate, whose ops it gets in the order of the text as they were before any
edit of a chunk. False if there was nothing to do.
"""

Strategy = Callable[[ModuleOp], list[Edit]]
"""The edits that a module offers, in the order in which they are tried."""

Source = Callable[[Operation, Attribute], SSAValue | None]
"""A value of a type that an op in the place of another one could use, if there is."""

MAX_OPS_BEFORE = 32
"""How far before an op to look for another value."""


def is_attached(op: Operation, root: Operation) -> bool:
    """Whether an op is still part of the module."""
    parent: Operation | None = op
    while parent is not None and parent is not root:
        parent = parent.parent_op()
    return parent is root


def is_terminator(op: Operation) -> bool:
    """Whether an op ends its block."""
    return op.has_trait(IsTerminator, value_if_unregistered=False) or bool(
        op.successors
    )


def enclosing_blocks(op: Operation) -> Iterator[Block]:
    """The blocks around an op whose arguments it can see, innermost first."""
    block = op.parent_block()
    while block is not None:
        yield block
        entry = None if block.parent is None else block.parent.first_block
        if entry is not None and entry is not block:
            yield entry
        parent = block.parent_op()
        if parent is None or parent.has_trait(
            IsolatedFromAbove, value_if_unregistered=False
        ):
            return
        block = parent.parent_block()


def from_operands(op: Operation, type: Attribute) -> SSAValue | None:
    """The first operand of the type."""
    return next((value for value in op.operands if value.type == type), None)


def from_scope(op: Operation, type: Attribute) -> SSAValue | None:
    """An argument of a block around the op, else a result of an op shortly before."""
    for block in enclosing_blocks(op):
        for value in block.args:
            if value.type == type:
                return value
    before = op.prev_op
    for _ in range(MAX_OPS_BEFORE):
        if before is None:
            break
        for value in before.results:
            if value.type == type:
                return value
        before = before.prev_op
    return None


def from_constant(op: Operation, type: Attribute) -> SSAValue | None:
    """Zero, for types of numbers and for tensors and vectors of static shape."""
    value = zero_of(type)
    if value is None:
        return None
    constant = arith.ConstantOp(value)
    _insert_before(op, constant)
    return constant.result


def zero_of(
    type: Attribute,
) -> IntegerAttr | FloatAttr | DenseIntOrFPElementsAttr | None:
    """The attribute for zero, or for an array of zeros of static shape."""
    if isa(type, IntegerType | IndexType):
        return IntegerAttr(0, type)
    if isa(type, AnyFloat):
        return FloatAttr(0.0, type)
    if not isa(type, TensorType | VectorType) or not type.has_static_shape():
        return None
    if isa(type, TensorType[IntegerType | IndexType]) or isa(
        type, VectorType[IntegerType | IndexType]
    ):
        return DenseIntOrFPElementsAttr.from_list(type, (0,))
    if isa(type, TensorType[AnyFloat]) or isa(type, VectorType[AnyFloat]):
        return DenseIntOrFPElementsAttr.from_list(type, (0.0,))
    return None


def from_argument(op: Operation, type: Attribute) -> SSAValue | None:
    """A new argument of the function around the op, if nothing refers to that."""
    for block in enclosing_blocks(op):
        func = block.parent_op()
        if isinstance(func, FuncOp) and block is func.body.first_block:
            module = func.parent_op()
            if module is None or _is_used(module, func):
                return None
            argument = block.insert_arg(type, len(block.args))
            set_function_type(func, block.arg_types, func.function_type.outputs.data)
            if func.arg_attrs is not None:
                func.properties.pop("arg_attrs")
            return argument
    return None


def from_poison(op: Operation, type: Attribute) -> SSAValue | None:
    """A value of any type that nobody may look at."""
    poison = ub.PoisonOp(type)
    _insert_before(op, poison)
    return poison.result


def _insert_before(op: Operation, new: Operation) -> None:
    block = op.parent_block()
    assert block is not None, "only the module has no block, and it is never replaced"
    new.location = op.location
    block.insert_op_before(new, op)


def _is_used(module: Operation, func: FuncOp) -> bool:
    name = symbol_name(func)
    return any(use.name == name for use in walk_symbol_uses(module))


def set_function_type(
    func: Operation, inputs: Sequence[Attribute], outputs: Sequence[Attribute]
) -> None:
    """Give a function other types."""
    func.properties["function_type"] = FunctionType.from_lists(inputs, outputs)


VALUES: tuple[Source, ...] = (
    from_operands,
    from_scope,
    from_constant,
    from_argument,
    from_poison,
)
ARGUMENTS: tuple[Source, ...] = (from_argument, from_constant, from_poison)


def replace_results(
    op: Operation, sources: Sequence[Source], *, values: Sequence[SSAValue] = ()
) -> None:
    """
    Let the users of an op use other values: of `values` the first of the type that no
    earlier result took, else what the sources give.
    """
    rest = list(values)
    for result in op.results:
        if not result.uses:
            continue
        found = next((v for v in rest if v.type == result.type), None)
        if found is not None:
            rest.remove(found)
        else:
            found = stand_in(op, result.type, sources)
        result.replace_all_uses_with(found)


def stand_in(op: Operation, type: Attribute, sources: Sequence[Source]) -> SSAValue:
    """A value of a type in the place of an op; the last source always has one."""
    for source in sources:
        if (value := source(op, type)) is not None:
            return value
    raise AssertionError("the last source has a value of any type")


def erase(op: Operation) -> None:
    """Take an op without used results out of the module, with all that it holds."""
    op.detach()
    op.erase()


def erase_blocks(region: Region, blocks: Sequence[Block]) -> None:
    """Take blocks out of a region, whatever still refers to them."""
    for block in blocks:
        for op in block.ops:
            op.drop_all_references()
    for block in blocks:
        region.erase_block(block, safe_erase=False)
