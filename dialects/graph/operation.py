"""
What all ops of the dialect share: one statement of their result shapes (`infer`) for
the verifier, for the inference of types and for the constructors.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from xdsl.dialects.builtin import TensorType
from xdsl.interfaces import (
    HasCanonicalizationPatternsInterface,
    HasFolderInterface,
)
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.ir.core import SSAValues
from xdsl.irdl import IRDLOperation
from xdsl.pattern_rewriter import RewritePattern
from xdsl.utils.exceptions import VerifyException

from transom.dialects.graph.desc import AnyTensor, LayoutAttr, dim_symbols, tensor
from transom.dialects.graph.shapes import (
    DYNAMIC,
    Dim,
    DimOf,
    ResultShape,
    Symbol,
    static_or_dynamic,
    symbols_of,
)

Value = SSAValue | Operation
"""What a constructor takes: a value, or an op with one result."""


class DimAt(NamedTuple):
    """A dimension of an operand."""

    operand: int
    axis: int


class GraphOp(
    HasFolderInterface, HasCanonicalizationPatternsInterface, IRDLOperation, ABC
):
    """
    Base of the ops on tensors.

    A subclass says in `infer` what its operand types must be and what its results are.
    """

    @abstractmethod
    def infer(self) -> tuple[ResultShape, ...]:
        """
        The shape and element type of each result, as a function of operand types and
        properties.

        Raises `VerifyException` when those break a rule of the op.
        """

    def equal_dims(self) -> Iterable[tuple[DimAt, DimAt]]:
        """
        Dimensions that must be equal, where `infer` can not tell because a size is not
        known: they are compared at run time.
        """
        return ()

    def data_sizes(
        self, operands: Sequence[SSAValue], add: Callable[[Operation], SSAValue]
    ) -> tuple[SSAValue, ...]:
        """
        The sizes of results that depend on elements of the operands, by the number of
        their `DataDim`: scalars of type i64, computed by graph ops that `add` inserts.
        """
        return ()

    def result_dims(self) -> tuple[tuple[Dim, ...], ...]:
        """The sizes of each result in terms of the operands' (see `shapes`)."""
        return tuple(shape.dims for shape in self.infer()[: len(self.results)])

    def operand_type(self, index: int) -> AnyTensor:
        """The tensor type of an operand."""
        return cast(AnyTensor, self._operands[index].type)

    def operand_dims(self, index: int) -> tuple[Dim, ...]:
        """The sizes of an operand."""
        return dims_of(self.operand_type(index), index)

    def declared_type(self) -> AnyTensor:
        """The type of the first result, of which `infer` may take what is free."""
        return cast(AnyTensor, self.results[0].type)

    def retype(self, *types: Attribute) -> None:
        """Give a new op, which nothing uses yet, these result types."""
        assert not any(result.uses for result in self.results), "it is new"
        self.results = SSAValues(
            OpResult(type, self, index) for index, type in enumerate(types)
        )

    def inferred_layout(self, shape: ResultShape) -> LayoutAttr | None:
        """The layout of a result of this shape, None for the canonical one."""
        return None

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        from transom.dialects.graph.folding import FOLDS

        fold = FOLDS.get(type(self))
        folded = None if fold is None else fold(self)
        return None if folded is None else (folded,)

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from transom.dialects.graph.canonicalization import PATTERNS

        return PATTERNS.get(cls, ())

    def verify_(self) -> None:
        for index, (result, shape) in enumerate(
            zip(self.results, self.infer(), strict=False)
        ):
            what = "the result" if len(self.results) == 1 else f"result {index}"
            check_type(result.type, shape, what)

    def _build(
        self,
        operands: Iterable[Value],
        properties: Mapping[str, Attribute | None],
        declared: AnyTensor | None = None,
        *,
        results: int = 1,
    ) -> None:
        """
        Initialise the op with the inferred types of its first `results` results.

        `declared` is what `infer` finds in `declared_type`, for ops that need it.
        Raises `VerifyException` when `infer` does.
        """
        values = [SSAValue.get(operand) for operand in operands]
        for value in values:
            tensor_type(value)
        Operation.__init__(
            self,
            operands=values,
            result_types=() if declared is None else (declared,),
            properties={k: v for k, v in properties.items() if v is not None},
        )
        try:
            self.retype(*infer_result_types(self)[:results])
        except VerifyException:
            self.drop_all_references()  # there is no op
            raise


def tensor_type(value: Value) -> AnyTensor:
    """
    The type of a value that must be a ranked tensor.

    Raises `VerifyException` if it is none.
    """
    type = SSAValue.get(value).type
    if not isinstance(type, TensorType):
        raise VerifyException(f"expected a ranked tensor, but got '{type}'")
    return cast(AnyTensor, type)


def dims_of(type: AnyTensor, operand: int) -> tuple[Dim, ...]:
    """The sizes of the type of the operand of this number."""
    shape = type.get_shape()
    if DYNAMIC not in shape:
        return shape
    return tuple(
        DimOf(operand, axis, symbol) if size == DYNAMIC else size
        for axis, (size, symbol) in enumerate(
            zip(shape, dim_symbols(type), strict=True)
        )
    )


def infer_result_types(op: GraphOp) -> tuple[AnyTensor, ...]:
    """
    The most general types of the results that the operand types allow.

    The result of an element-wise op has the layout of the operands of its shape.
    Raises `VerifyException` when the operand types break a rule of the op.
    """
    return tuple(
        tensor(
            static_or_dynamic(shape.dims),
            shape.element_type,
            symbols_of(shape.dims),
            layout=op.inferred_layout(shape),
        )
        for shape in op.infer()
    )


def check_type(type: Attribute, shape: ResultShape, what: str) -> None:
    """
    Check that a declared type agrees with an inferred shape.

    A declared `?` agrees with anything and a declared size with an inferred `?`; known
    sizes and names must be equal.
    """
    assert isinstance(type, TensorType), "the constraint of every result"
    declared = cast(AnyTensor, type)
    sizes = declared.get_shape()
    if len(sizes) != len(shape.dims):
        raise VerifyException(
            f"expected {what} to have rank {len(shape.dims)}, but got '{type}'"
        )
    if declared.element_type != shape.element_type:
        raise VerifyException(
            f"expected {what} to have element type '{shape.element_type}', "
            f"but got '{type}'"
        )
    if sizes == shape.dims and DYNAMIC not in sizes:
        return
    symbols = dim_symbols(declared)
    for axis, (size, symbol, dim) in enumerate(
        zip(sizes, symbols, shape.dims, strict=True)
    ):
        if isinstance(dim, int):
            wrong = size not in (DYNAMIC, dim) or (symbol and not symbol.admits(dim))
        else:
            wrong = isinstance(dim, DimOf) and not _agree(size, symbol, dim.symbol)
        if wrong:
            raise VerifyException(
                f"expected dimension {axis} of {what} to be {dim}, but got '{type}'"
            )


def _agree(size: int, declared: Symbol | None, inferred: Symbol | None) -> bool:
    if inferred is None:
        return True
    if size != DYNAMIC:
        return inferred.admits(size)
    return declared is None or (
        declared.name == inferred.name and declared.overlaps(inferred)
    )
