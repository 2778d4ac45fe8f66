"""
Named ops that are said by their accesses: products, convolutions, pools, element-wise.

An access is written with the letters of the loops, in their order, a window as `y+p`:
`y` times its stride plus `p` times its dilation.
"""

from abc import ABC
from collections.abc import Mapping, Sequence
from types import UnionType
from typing import ClassVar

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseIntElementsAttr,
    DenseIntOrFPElementsAttr,
    TensorType,
    i64,
)
from xdsl.dialects.linalg.abstract_ops import NamedOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.irdl import opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from transom.dialects.linalg.bodies import Body, Point
from transom.dialects.linalg.structure import (
    element_of,
    shape_of,
    tensor_types,
    verify_results,
)
from transom.dialects.linalg.upstream_checks import check_counts

Window = tuple[int, int]
"""A stride and a dilation."""


def map_of(
    access: str, loops: Sequence[str], windows: Sequence[Window] = ()
) -> AffineMap:
    """The map of an access; each window takes the next stride and dilation."""
    rest = iter(windows)

    def result(part: str) -> AffineExpr:
        if "+" not in part:
            return AffineDimExpr(loops.index(part))
        point, tap = (AffineDimExpr(loops.index(letter)) for letter in part.split("+"))
        stride, dilation = next(rest)
        return _times(point, stride) + _times(tap, dilation)

    return AffineMap(len(loops), 0, tuple(result(part) for part in access.split()))


def _times(dim: AffineExpr, factor: int) -> AffineExpr:
    return dim if factor == 1 else dim * AffineConstantExpr(factor)


class AccessedOp(NamedOperation, ABC):
    """Base of named ops that are said by their accesses and a body."""

    PRINT_ATTRS_IN_FRONT: ClassVar[bool] = True

    ACCESSES: ClassVar[tuple[str, ...]]
    """The access of each input, then of the output, whose loops are parallel."""
    REDUCED: ClassVar[str] = ""
    """The loops of reductions, in order behind those of the output."""
    POINT: ClassVar[Point]
    """What the body computes."""

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        properties: Mapping[str, Attribute | None] | None = None,
    ) -> None:
        super().__init__(
            inputs,
            outputs,
            [tensor_types(outputs)],
            properties,
            hidden_region=self.get_hidden_region(inputs, outputs),
        )

    @property
    def loops(self) -> list[str]:
        """The letters of the loops."""
        return [*self.ACCESSES[-1].split(), *self.REDUCED.split()]

    @property
    def windows(self) -> Sequence[Window]:
        return ()

    def get_default_indexing_maps(self) -> Sequence[AffineMap]:
        loops, windows = self.loops, self.windows
        return [map_of(access, loops, windows) for access in self.ACCESSES]

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        parallel = len(self.ACCESSES[-1].split())
        return ArrayAttr(
            [IteratorTypeAttr.parallel()] * parallel
            + [IteratorTypeAttr.reduction()] * len(self.REDUCED.split())
        )

    @classmethod
    def input_count(cls) -> int:
        return len(cls.ACCESSES) - 1

    @classmethod
    def get_hidden_region(
        cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]
    ) -> Region:
        check_counts(cls.input_count(), inputs, outputs)
        body = Body([element_of(value.type) for value in (*inputs, *outputs)])
        return body.ends_with(cls.POINT(body))

    def verify_(self) -> None:
        check_counts(self.input_count(), self.inputs, self.outputs)
        verify_results(self)
        super().verify_()


class ContractionOp(AccessedOp, ABC):
    """Base of products; `indexing_maps` may say that operands are transposed."""

    indexing_maps = opt_prop_def(ArrayAttr[AffineMapAttr])

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        return self.indexing_maps or super().get_indexing_maps()

    @classmethod
    def parse(cls, parser: Parser) -> "ContractionOp":
        maps: Attribute | None = None
        if parser.parse_optional_keyword("indexing_maps"):
            parser.parse_punctuation("=")
            maps = parser.parse_attribute()
        op = super().parse(parser)
        if maps is not None:
            op.properties["indexing_maps"] = maps
        return op

    def print(self, printer: Printer) -> None:
        if self.indexing_maps not in (None, super().get_indexing_maps()):
            printer.print_string(" indexing_maps = ")
            printer.print_attribute(self.indexing_maps)
        super().print(printer)


def _ones(count: int) -> DenseIntElementsAttr:
    return DenseIntOrFPElementsAttr.from_list(TensorType(i64, [count]), [1] * count)


class WindowOp(AccessedOp, ABC):
    """Base of convolutions and pools."""

    strides = prop_def(DenseIntElementsAttr)
    dilations = prop_def(DenseIntElementsAttr)

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        strides: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
    ) -> None:
        count = self.count()
        numbers = {"strides": strides, "dilations": dilations}
        super().__init__(
            inputs,
            outputs,
            {
                name: _ones(count)
                if values is None
                else DenseIntOrFPElementsAttr.from_list(
                    TensorType(i64, [count]), list(values)
                )
                for name, values in numbers.items()
            },
        )

    @classmethod
    def count(cls) -> int:
        """How many dims the windows have."""
        return cls.ACCESSES[0].count("+")

    @classmethod
    def parse(cls, parser: Parser) -> "WindowOp":
        op = super().parse(parser)
        for name in ("strides", "dilations"):  # MLIR's default is 1 each
            op.properties.setdefault(name, _ones(cls.count()))
        return op

    @property
    def windows(self) -> Sequence[Window]:
        pairs = zip(
            self.strides.get_values(), self.dilations.get_values(), strict=False
        )
        return [(int(stride), int(dilation)) for stride, dilation in pairs]

    def verify_(self) -> None:
        count = self.count()
        for name in ("strides", "dilations"):
            values = [int(v) for v in getattr(self, name).get_values()]
            if len(values) == 1:
                values *= count
            if len(values) != count or min(values) < 1:
                raise VerifyException(
                    f"expected {count} {name} of at least 1, but got {values}"
                )
        super().verify_()


class PlainWindowOp(AccessedOp, ABC):
    """Base of convolutions that have neither strides nor dilations."""

    @property
    def windows(self) -> Sequence[Window]:
        return [(1, 1)] * self.ACCESSES[0].count("+")


class PointwiseOp(AccessedOp, ABC):
    """Base of element-wise ops: all operands are of the shape of the output."""

    INPUTS: ClassVar[int]
    ELEMENTS: ClassVar[type[Attribute] | UnionType | None] = None
    """What elements of the output may be; None is any numbers."""

    @classmethod
    def input_count(cls) -> int:
        return cls.INPUTS

    @property
    def rank(self) -> int:
        return len(shape_of(self.outputs[0]))

    def get_default_indexing_maps(self) -> Sequence[AffineMap]:
        return [AffineMap.identity(self.rank)] * (self.INPUTS + 1)

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        return ArrayAttr([IteratorTypeAttr.parallel()] * self.rank)

    @classmethod
    def get_hidden_region(
        cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]
    ) -> Region:
        element = element_of(outputs[0].type) if outputs else None
        if cls.ELEMENTS is not None and not isinstance(element, cls.ELEMENTS):
            raise ValueError(f"expected no elements of type '{element}'")
        return super().get_hidden_region(inputs, outputs)
