"""
The border of a function: checks of what its callers pass, and the sizes of what they
have to provide.
"""

from xdsl.dialects import arith, cf, func
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    i64,
)
from xdsl.ir import Block, Operation, Region, SSAValue

from transom.dialects.diagnostics import OpError
from transom.dialects.graph.desc import dim_symbols
from transom.dialects.graph.shapes import Symbol
from transom.lowering.bufferize.program import FunctionProgram
from transom.lowering.bufferize.rewrite import Rewriter
from transom.lowering.bufferize.signatures import (
    SHAPES,
    argument_names,
    result_names,
)
from transom.lowering.bufferize.types import is_tensor, tensor_type
from transom.passes.memory.index_expressions import (
    Expression,
    Materializer,
    Opaque,
    Size,
)

RESULT = "tir.result"
"""The discardable attribute of an argument that a result is written to."""


def emit_checks(rewriter: Rewriter) -> None:
    """Sizes that have one name are equal and in its bounds, or the call fails."""
    function = rewriter.program.func
    names = argument_names(function)
    seen: dict[str, tuple[Symbol, str]] = {}
    for name, argument in zip(names, function.args, strict=True):
        if not is_tensor(argument.type):
            continue
        for axis, symbol in enumerate(dim_symbols(tensor_type(argument.type))):
            if symbol is None:
                continue
            size = rewriter.sizes.table.atom(Size(argument, axis))
            value = rewriter.materializer.value(size)
            place = f"dimension {axis} of '{name}'"
            first, first_place = seen.setdefault(symbol.name, (symbol, place))
            if first_place != place:
                known = rewriter.materializer.value(rewriter.sizes.symbols[symbol.name])
                _assert(
                    rewriter,
                    (value, known, "eq"),
                    f"expected {place} to be {symbol.name}, as {first_place} is",
                )
            if first_place == place or first != symbol:
                _check_bounds(rewriter, symbol, value, place)


def _check_bounds(
    rewriter: Rewriter, symbol: Symbol, value: SSAValue, place: str
) -> None:
    for bound, predicate, what in (
        (symbol.lower, "sge", "at least"),
        (symbol.upper, "sle", "at most"),
    ):
        if bound is not None and not (predicate == "sge" and bound <= 0):
            message = f"expected {place} to be {symbol.name}, {what} {bound}"
            _assert(rewriter, (value, rewriter.index(bound), predicate), message)


def _assert(
    rewriter: Rewriter, comparison: tuple[SSAValue, SSAValue, str], message: str
) -> None:
    left, right, predicate = comparison
    compared = arith.CmpiOp(left, right, predicate)
    rewriter.emit(compared)
    rewriter.emit(cf.AssertOp(compared.result, message))


def shape_function(program: FunctionProgram) -> func.FuncOp | None:
    """
    The function `@NAME.shapes` from the dynamic sizes of inputs to those of results.

    None if the signature says it all, as each size has the name of an input's. Raises
    `OpError` for a size that depends on more than the sizes of inputs.
    """
    function = program.func
    open_sizes = _open_sizes(program)
    if not open_sizes:
        return None
    block = Block()
    values: dict[Size, SSAValue] = {}
    for argument in function.args:
        if is_tensor(argument.type):
            for axis, extent in enumerate(tensor_type(argument.type).get_shape()):
                if extent == DYNAMIC_INDEX:
                    index = block.insert_arg(IndexType(), len(block.args))
                    values[Size(argument, axis)] = index

    def leaf(leaf: Size | Opaque) -> SSAValue:
        assert isinstance(leaf, Size), "sizes that depend on data were refused"
        return values[leaf]

    materializer = Materializer(program.sizes.table, block.add_op, leaf)
    results = [
        materializer.value(size)
        for position, shape in enumerate(program.results)
        for size, extent in zip(
            shape,
            tensor_type(function.function_type.outputs.data[position]).get_shape(),
            strict=True,
        )
        if extent == DYNAMIC_INDEX
    ]
    block.add_op(func.ReturnOp(*results))
    for op in block.ops:
        op.location = function.location
    shapes = func.FuncOp(
        f"{function.sym_name.data}{SHAPES}",
        FunctionType.from_lists(block.arg_types, [v.type for v in results]),
        Region(block),
    )
    shapes.location = function.location
    return shapes


def _open_sizes(program: FunctionProgram) -> list[Expression]:
    """Sizes of results that no input has under the same name."""
    function = program.func
    known = {
        symbol.name
        for argument in function.args
        if is_tensor(argument.type)
        for symbol in dim_symbols(tensor_type(argument.type))
        if symbol is not None
    }
    found: list[Expression] = []
    terminator = function.body.block.last_op
    assert terminator is not None, "a function returns"
    for position, shape in enumerate(program.results):
        type = tensor_type(function.function_type.outputs.data[position])
        for axis, symbol in enumerate(dim_symbols(type)):
            if type.get_shape()[axis] == DYNAMIC_INDEX and (
                symbol is None or symbol.name not in known
            ):
                _check_size(program, shape[axis], position, axis, terminator)
                found.append(shape[axis])
    return found


def _check_size(
    program: FunctionProgram,
    size: Expression,
    position: int,
    axis: int,
    terminator: Operation,
) -> None:
    arguments = set(program.func.args)
    for leaf in program.sizes.table.leaves(size):
        if not isinstance(leaf, Size) or leaf.value not in arguments:
            name = result_names(program.func)[position]
            raise OpError(
                terminator,
                f"expected results whose sizes follow from those of inputs, but "
                f"dimension {axis} of '{name}' depends on data and has no bound",
            )


def argument_attributes(function: func.FuncOp) -> ArrayAttr[DictionaryAttr] | None:
    """The attributes of the arguments, then of those that stand for results."""
    given = function.arg_attrs
    empty = DictionaryAttr({})
    attributes = (
        list(given.data)
        if given is not None
        else [empty] * len(function.function_type.inputs)
    )
    results = function.res_attrs
    outputs = function.function_type.outputs.data
    number = 0
    for position, type in enumerate(outputs):
        if not is_tensor(type):
            continue
        entry = {} if results is None else dict(results.data[position].data)
        entry[RESULT] = IntegerAttr(number, i64)
        attributes.append(DictionaryAttr(entry))
        number += 1
    return ArrayAttr(attributes) if any(a.data for a in attributes) else None
