"""
Results of an entry whose sizes depend on data: the caller does not know how large they
are, but how large they can be.

Such a result is handed over as the elements at the start of memory for as many as
there can be, which `@main.shapes` computes. The sizes of all such results, in their
order, are one more result.

```mlir
func.func @main(%x: tensor<?xf32>) -> tensor<1x?xi64> {
  …
  func.return %y : tensor<1x?xi64>
}
==>
func.func @main(%x: tensor<?xf32>) -> (tensor<?xi64>, tensor<1xindex>)
    attributes {executor.bounded = array<i64: 0>} {
  …
  %flat = tensor.collapse_shape %y … : tensor<1x?xi64> into tensor<?xi64>
  %room = tensor.empty(%most) : tensor<?xi64>
  %r = tensor.insert_slice %flat into %room[0] [%count] [1] : …
  %sizes = tensor.from_elements %n : tensor<1xindex>
  func.return %r, %sizes : tensor<?xi64>, tensor<1xindex>
}
```
"""

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    TensorType,
    i64,
)
from xdsl.ir import Operation, SSAValue

from transom.lowering.bufferize.program import FunctionProgram
from transom.lowering.bufferize.types import AnyTensor, is_tensor, tensor_type
from transom.passes.memory.index_expressions import (
    Apply,
    Expression,
    ExpressionTable,
    Materializer,
    Opaque,
    Size,
)

Known = Callable[[Size | Opaque], bool]
"""Whether the caller knows a size."""


def data_results(program: FunctionProgram) -> list[int]:
    """The results of a function whose sizes depend on more than those of its inputs."""
    is_known = _known_by_caller(program)
    table = program.sizes.table
    return [
        position
        for position, shape in enumerate(program.results)
        if not all(is_known(leaf) for size in shape for leaf in table.leaves(size))
    ]


def _known_by_caller(program: FunctionProgram) -> Known:
    arguments = set(program.func.args)
    return lambda leaf: isinstance(leaf, Size) and leaf.value in arguments


def hand_over_bounded(program: FunctionProgram, positions: Sequence[int]) -> list[int]:
    """
    Change a function, of whose results these depend on data, to hand them over; gives
    them, or none if one has no bound.
    """
    table = program.sizes.table
    bounds: dict[int, Expression] = {}
    for position in positions:
        shape = program.results[position]
        most = [at_most(table, size, _known_by_caller(program)) for size in shape]
        if None not in most:
            bounds[position] = table.product(size for size in most if size is not None)
    if not positions or len(bounds) < len(positions):
        return []  # whoever asks for the sizes tells which has none
    _HandOver(program, bounds).run()
    return list(bounds)


def at_most(
    table: ExpressionTable, expression: Expression, is_known: Known
) -> Expression | None:
    """
    An expression of known sizes that is at least another one; None if there is none.

    Sizes are 0 or more, so that a product of bounds is a bound of the product.
    """
    total = table.constant(0)
    for monomial, factor in expression.terms:
        product = table.constant(factor)
        for number in monomial:
            atom = table.atoms[number]
            bound = _atom_at_most(table, atom, is_known)
            exact = table.atom(atom)
            if bound is None or (factor < 0 and bound != exact):
                return None
            product = table.multiply(product, bound)
        total = table.add(total, product)
    return total


def _atom_at_most(
    table: ExpressionTable, atom: Size | Opaque | Apply, is_known: Known
) -> Expression | None:
    if not isinstance(atom, Apply):
        return table.atom(atom) if is_known(atom) else None
    if all(is_known(leaf) for leaf in table.leaves(table.atom(atom))):
        return table.atom(atom)
    if atom.op == "arith.select":
        _, left, right = (at_most(table, o, is_known) for o in atom.operands)
        return _both(table, left, right)
    if len(atom.operands) != 2:
        return None
    left, right = (at_most(table, operand, is_known) for operand in atom.operands)
    divisor = atom.operands[1].constant
    match atom.op:
        case "arith.minsi" | "arith.minui":
            if left is None or right is None:
                return right if left is None else left
            return table.apply(atom.op, left, right)
        case "arith.maxsi" | "arith.maxui":
            return _both(table, left, right)
        case _ if "div" in atom.op and left is not None and divisor and divisor > 0:
            return table.apply(atom.op, left, table.constant(divisor))
        case _:
            return None


def _both(
    table: ExpressionTable, left: Expression | None, right: Expression | None
) -> Expression | None:
    if left is None or right is None:
        return None
    return table.apply("arith.maxsi", left, right)


class _HandOver:
    """The change of one function."""

    def __init__(self, program: FunctionProgram, bounds: dict[int, Expression]) -> None:
        self.function = program.func
        self.bounds = bounds
        terminator = self.function.body.block.last_op
        assert isinstance(terminator, func.ReturnOp), "a function returns"
        self.terminator = terminator
        self.sizes: list[SSAValue] = []
        self.materializer = Materializer(program.sizes.table, self.add, self._leaf)

    def add(self, op: Operation) -> SSAValue:
        """Insert an op at the end of the function."""
        op.location = self.terminator.location
        self.function.body.block.insert_op_before(op, self.terminator)
        return op.results[0]

    def _leaf(self, leaf: Size | Opaque) -> SSAValue:
        assert isinstance(leaf, Size), "bounds are of sizes of arguments"
        return self.add(tensor.DimOp(leaf.value, self._index(leaf.axis)))

    def _index(self, value: int) -> SSAValue:
        return self.add(arith.ConstantOp(IntegerAttr.from_index_int_value(value)))

    def run(self) -> None:
        returned = list(self.terminator.operands)
        tensors = [n for n, value in enumerate(returned) if is_tensor(value.type)]
        for position, bound in self.bounds.items():
            number = tensors[position]
            returned[number] = self._handed_over(returned[number], bound)
        type: AnyTensor = TensorType(IndexType(), [len(self.sizes)])
        sizes = tensor.FromElementsOp.create(operands=self.sizes, result_types=[type])
        returned.append(self.add(sizes))
        self.terminator.operands = returned
        function = self.function
        function.function_type = FunctionType.from_lists(
            function.function_type.inputs.data, [value.type for value in returned]
        )
        if function.res_attrs is not None:
            function.res_attrs = ArrayAttr([*function.res_attrs, DictionaryAttr({})])

    def _handed_over(self, value: SSAValue, bound: Expression) -> SSAValue:
        type = tensor_type(value.type)
        shape, element = type.get_shape(), type.element_type
        plain: AnyTensor = TensorType(element, shape)
        if type != plain:
            value = self.add(tensor.CastOp(value, plain))
        sizes = [
            self.add(tensor.DimOp(value, self._index(axis)))
            for axis, extent in enumerate(shape)
            if extent == DYNAMIC_INDEX
        ]
        self.sizes += sizes
        count = sizes[0]
        for size in sizes[1:]:
            count = self.add(arith.MuliOp(count, size))
        known = [extent for extent in shape if extent != DYNAMIC_INDEX]
        for extent in known:
            count = self.add(arith.MuliOp(count, self._index(extent)))
        flat: AnyTensor = TensorType(element, [DYNAMIC_INDEX])
        if len(shape) > 1:
            value = self.add(_collapsed(value, len(shape), flat))
        room = self.add(tensor.EmptyOp((self.materializer.value(bound),), flat))
        return self.add(
            tensor.InsertSliceOp.get(
                value, room, [DYNAMIC_INDEX], static_offsets=[0], sizes=[count]
            )
        )


def _collapsed(value: SSAValue, rank: int, type: AnyTensor) -> Operation:
    """A view of all dimensions as one."""
    axes = ArrayAttr([IntegerAttr(axis, i64) for axis in range(rank)])
    return tensor.CollapseShapeOp(
        operands=[value],
        result_types=[type],
        properties={"reassociation": ArrayAttr([axes])},
    )
