"""
What the ops of the dialect share: lists of numbers, the range of results, checks.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import AnyTensorTypeConstr, i8, i32
from xdsl.irdl import prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from transom.dialects.graph.contraction import check_rank
from transom.dialects.graph.elements import ElementSet
from transom.dialects.graph.operation import GraphOp
from transom.dialects.graph.properties import INT_LIST, check_count, int_list
from transom.dialects.graph.shapes import Dim, ResultShape
from transom.dialects.graph.syntax import Signature

TENSOR = AnyTensorTypeConstr

BYTES = ElementSet("i8", frozenset((i8,)))
WORDS = ElementSet("i32", frozenset((i32,)))

WHOLE_RANGE = (-128, 127)
"""What int8 results are clamped to where no activation says otherwise."""


class CmsisNnOp(GraphOp, ABC):
    """
    Base of the ops: `activation` is the least and the greatest result, and of the lists
    of numbers `LISTS` says how many there are.
    """

    LISTS: ClassVar[Mapping[str, int]] = {}

    activation = prop_def(INT_LIST, int_list(WHOLE_RANGE))
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)

    @abstractmethod
    def result_sizes(self) -> Sequence[Dim]:
        """The sizes of the result. Raises `VerifyException` if operands differ."""

    def infer(self) -> tuple[ResultShape, ...]:
        return (ResultShape(tuple(self.result_sizes()), i8),)

    def verify_(self) -> None:
        for name, count in {"activation": 2, **self.LISTS}.items():
            check_count(self.numbers(name), count, f"numbers in '{name}'")
        least, most = self.numbers("activation")
        if not -128 <= least <= most <= 127:
            raise VerifyException(
                f"expected -128 <= least <= greatest <= 127 as 'activation', but got "
                f"{[least, most]}"
            )
        super().verify_()

    def numbers(self, name: str) -> tuple[int, ...]:
        return tuple(getattr(self, name).get_values())

    def static_dims(self, operand: int, rank: int, what: str) -> tuple[int, ...]:
        dims = self.operand_dims(operand)
        check_rank(dims, rank, f"'{what}'")
        sizes = tuple(size for size in dims if isinstance(size, int))
        if len(sizes) != rank:
            raise VerifyException(
                f"expected a static shape of '{what}', but got "
                f"'{self.operand_type(operand)}'"
            )
        return sizes

    def check_elements(self, operand: int, elements: ElementSet, what: str) -> None:
        elements.check(self.operand_type(operand).element_type, f"'{what}'")

    def check_table(self, operand: int, count: int, what: str) -> None:
        """Check that an operand has one i32 per channel of the result."""
        self.check_elements(operand, WORDS, what)
        (size,) = self.static_dims(operand, 1, what)
        if size != count:
            raise VerifyException(
                f"expected '{what}' to have {count} elements, one per channel of the "
                f"result, but got {size}"
            )
