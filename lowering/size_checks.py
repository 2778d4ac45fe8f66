"""
What the sizes of an op's operands must fulfil that their types leave open.

The verifier checks sizes that are known, and equal symbols are equal sizes. The rest is
a condition on the values at run time: without it a kernel would leave its operands.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from transom.dialects import graph, linalg
from transom.dialects.diagnostics import OpError
from transom.dialects.graph.shapes import (
    DYNAMIC,
    DataDim,
    Dim,
    DimOf,
    add,
    data_dims,
    minimum,
    multiply,
    product,
    same,
)
from transom.dialects.tir import affine

Relation = Literal["eq", "le", "broadcasts"]


class Check(NamedTuple):
    """A condition on two sizes, in terms of an op's operands."""

    lhs: Dim
    relation: Relation
    """`broadcasts` is equal, or 1."""
    rhs: Dim
    message: str
    """What is wrong if it does not hold."""

    @property
    def is_known(self) -> bool:
        """Whether types alone say that it holds."""
        if isinstance(self.lhs, int) and isinstance(self.rhs, int):
            return True  # the verifier has looked
        if self.relation == "broadcasts" and self.lhs == 1:
            return True
        if self.relation == "le" and isinstance(self.lhs, int):
            return self.lhs <= least(self.rhs)
        return same(self.lhs, self.rhs)


def least(dim: Dim) -> int:
    """A number that a size is not below."""
    if isinstance(dim, int):
        return dim
    if isinstance(dim, DimOf):
        return 0 if dim.symbol is None else dim.symbol.lower or 0
    if isinstance(dim, DataDim):
        return 0
    lhs, rhs = least(dim.lhs), least(dim.rhs)
    match dim.operator:
        case "add":
            return lhs + rhs
        case "min" | "broadcast":
            return min(lhs, rhs)
        case "max":
            return max(lhs, rhs)
        case "mul" if lhs >= 0 and rhs >= 0:
            return lhs * rhs
        case "floordiv" if isinstance(dim.rhs, int) and dim.rhs > 0:
            return lhs // dim.rhs
        case _:
            return -(2**63)


def result_dims_of(op: Operation) -> Sequence[Sequence[Dim]]:
    """
    The sizes of the results of an op of a kernel, in terms of its operands. Raises
    `OpError` for an op that does not tell them.
    """
    if isinstance(op, graph.GraphOp):
        return op.result_dims()
    structure = linalg.structure_of(op)
    if structure is None:
        raise OpError(
            op,
            f"expected sizes of results of '{op.name}' that are known; where they are "
            "not, its class has to derive 'graph.GraphOp', whose 'infer' tells them",
        )
    first = len(structure.inputs)
    return [
        [DimOf(first + number, axis) for axis in range(len(linalg.shape_of(output)))]
        for number, output in enumerate(structure.outputs)
    ]


def checks_of(op: Operation) -> list[Check]:
    """The conditions of an op that its types leave open."""
    if isinstance(op, graph.GraphOp):
        return _checks_of_graph(op)
    structure = linalg.structure_of(op)
    if structure is None or all(
        DYNAMIC not in linalg.shape_of(value) for value in structure.operands
    ):
        return []
    return [check for check in _of_structure(structure) if not check.is_known]


def _of_structure(structure: linalg.Structure) -> Iterator[Check]:
    """All that a loop runs along is of one size, and other indices stay inside."""
    name = structure.op.name

    def size(operand: int, axis: int) -> Dim:
        static = linalg.shape_of(structure.operands[operand])[axis]
        return DimOf(operand, axis) if static == DYNAMIC else static

    loops: dict[int, Dim] = {}
    for loop, operand, axis in structure.extents():
        found = size(operand, axis)
        known = loops.setdefault(loop, found)
        message = f"'{name}': sizes along loop {loop} differ"
        yield Check(known, "eq", found, message)
        if isinstance(found, int):
            loops[loop] = found
    for operand, map in enumerate(structure.maps):
        for axis, expr in enumerate(map.results):
            if isinstance(expr, AffineDimExpr):
                continue
            last = _largest(structure.op, expr, loops)
            message = f"'{name}': an index leaves dimension {axis} of operand {operand}"
            yield Check(add(last, 1), "le", size(operand, axis), message)


def _largest(op: Operation, expr: AffineExpr, loops: Mapping[int, Dim]) -> Dim:
    """The largest value of an index, over loops of some sizes."""
    total: Dim = 0
    for atoms, coefficient in affine.terms_of(expr).items():
        term: Dim = coefficient
        for atom in atoms:
            if not isinstance(atom, AffineDimExpr) or coefficient < 0:
                raise OpError(
                    op,
                    "expected sums of loops as indices where sizes are not known, but "
                    f"got '{expr}'",
                )
            term = multiply(term, add(loops[atom.position], -1))
        total = add(total, term)
    return total


def _checks_of_graph(op: graph.GraphOp) -> list[Check]:
    dims = [op.operand_dims(index) for index in range(len(op.operands))]
    if not any(isinstance(dim, DimOf) for sizes in dims for dim in sizes) and not any(
        data_dims(dim) for sizes in op.result_dims() for dim in sizes
    ):
        return []
    found = (*_of_op(op, dims), *_of_results(op))
    return [check for check in found if not check.is_known]


def _of_op(op: graph.GraphOp, dims: Sequence[Sequence[Dim]]) -> Iterator[Check]:
    match op:
        case graph.ElementwiseOp():
            yield from _broadcast(op, dims, op.result_dims()[0])
        case graph.BroadcastOp():
            yield from _broadcast(op, dims, op.result_dims()[0])
        case graph.MatmulOp():
            batch = [sizes[:-2] for sizes in dims]
            yield from _broadcast(op, batch, op.result_dims()[0][:-2])
            yield _equal(op, dims, (0, len(dims[0]) - 1), (1, len(dims[1]) - 2))
        case graph.Conv2dOp():
            groups = op.groups.value.data
            channels = multiply(dims[1][1], groups)
            message = f"'{op.name}': the channels are not those of the weight"
            yield Check(dims[0][1], "eq", channels, message)
            yield from _windows(op, dims[0], dims[1][2:], op.dilations.get_values())
        case graph.MaxPool2dOp() | graph.AvgPool2dOp():
            kernel = op.kernel.get_values()
            yield from _windows(op, dims[0], kernel, op.dilations.get_values())
        case graph.BatchNormOp():
            for index in range(1, len(dims)):
                yield _equal(op, dims, (index, 0), (0, 1))
        case graph.ConcatOp():
            for index in range(1, len(dims)):
                for axis in range(len(dims[0])):
                    if axis != op.axis.value.data:
                        yield _equal(op, dims, (index, axis), (0, axis))
        case graph.ReshapeOp():
            message = f"'{op.name}': the elements do not fill the shape"
            yield Check(product(dims[0]), "eq", product(op.result_dims()[0]), message)
        case graph.SliceOp():
            yield from _slice(op, dims[0])
        case graph.GatherOp() | graph.GatherElementsOp() | graph.ScatterOp():
            yield from _indexed(op, dims)
        case _:
            for one, other in op.equal_dims():
                yield _equal(op, dims, one, other)


def _of_results(op: graph.GraphOp) -> Iterator[Check]:
    """Types may say more than can be inferred."""
    for number, (result, sizes) in enumerate(
        zip(op.results, op.result_dims(), strict=False)
    ):
        shape = cast("TensorType[Attribute]", result.type).get_shape()
        for axis, (declared, size) in enumerate(zip(shape, sizes, strict=True)):
            if declared != DYNAMIC and not isinstance(size, int):
                message = (
                    f"'{op.name}': dimension {axis} of result {number} "
                    f"is not {declared}"
                )
                yield Check(size, "eq", declared, message)


def _broadcast(
    op: graph.GraphOp, dims: Sequence[Sequence[Dim]], result: Sequence[Dim]
) -> Iterator[Check]:
    for index, sizes in enumerate(dims):
        offset = len(result) - len(sizes)
        for axis, size in enumerate(sizes):
            message = (
                f"'{op.name}': dimension {axis} of operand {index} does not broadcast"
            )
            if not isinstance(size, int):
                yield Check(size, "broadcasts", result[axis + offset], message)


def _equal(
    op: graph.GraphOp,
    dims: Sequence[Sequence[Dim]],
    one: tuple[int, int],
    other: tuple[int, int],
) -> Check:
    """That two dimensions of operands are equal, each as (operand, dimension)."""
    (a, x), (b, y) = one, other
    message = (
        f"'{op.name}': dimension {x} of operand {a} "
        f"is not that of dimension {y} of operand {b}"
    )
    return Check(dims[a][x], "eq", dims[b][y], message)


def _windows(
    op: "graph.Conv2dOp | graph.MaxPool2dOp | graph.AvgPool2dOp",
    image: Sequence[Dim],
    kernel: Sequence[Dim],
    dilations: Sequence[int],
) -> Iterator[Check]:
    padding = op.padding.get_values()
    for axis in range(2):
        extent = add(multiply(add(kernel[axis], -1), dilations[axis]), 1)
        padded = add(image[2 + axis], padding[axis] + padding[axis + 2])
        message = f"'{op.name}': dimension {2 + axis} of operand 0 is below the window"
        yield Check(extent, "le", padded, message)


def _slice(op: graph.SliceOp, dims: Sequence[Dim]) -> Iterator[Check]:
    for axis, (size, start, wanted, step) in enumerate(
        zip(
            dims,
            op.starts.get_values(),
            op.sizes.get_values(),
            op.steps.get_values(),
            strict=True,
        )
    ):
        if isinstance(size, int) or wanted == 0:
            continue
        first: Dim = start if start >= 0 else add(size, start)
        last = add(first, (wanted - 1) * step)
        message = f"'{op.name}': the slice leaves dimension {axis}"
        if wanted < 0:
            yield Check(0, "le", op.result_dims()[0][axis], message)
        if wanted > 0 or step > 0:
            yield Check(0, "le", first, message)
        if wanted > 0 or step < 0:
            yield Check(add(first, 1), "le", size, message)
        if wanted > 0 and step > 0:
            yield Check(add(last, 1), "le", size, message)
        if wanted > 0 and step < 0:
            yield Check(0, "le", last, message)


def _indexed(
    op: "graph.GatherOp | graph.GatherElementsOp | graph.ScatterOp",
    dims: Sequence[Sequence[Dim]],
) -> Iterator[Check]:
    data, indices, *updates = dims
    axis = op.axis.value.data
    for sizes in updates:
        for place in range(len(sizes)):
            yield _equal(op, dims, (2, place), (1, place))
    if not isinstance(op, graph.GatherOp):
        for place in range(len(data)):
            if place != axis:
                message = f"'{op.name}': dimension {place} of the indices is too large"
                yield Check(indices[place], "le", data[place], message)
    message = f"'{op.name}': there is nothing along axis {axis}"
    # Where there are no indices the product is 0, and at most any size.
    yield Check(minimum(product(indices), 1), "le", data[axis], message)
