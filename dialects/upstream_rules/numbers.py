"""
What `arith` can do to numbers.
"""

from collections.abc import Callable, Mapping
from typing import cast

from xdsl.dialects.builtin import (
    Float80Type,
    Float128Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    bf16,
    f16,
    f32,
    f64,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.type import get_element_type_or_self, have_compatible_shape

FLOAT_BITS: dict[Attribute, int] = {
    bf16: 16,
    f16: 16,
    f32: 32,
    f64: 64,
    Float80Type(): 80,
    Float128Type(): 128,
}

COMPARISONS = {"arith.cmpf": 16, "arith.cmpi": 10}
"""How many predicates a comparison has."""


def _float_bits(op: Operation) -> tuple[int, int]:
    """The width of the elements of operand and result, whose shapes agree."""
    source, result = op.operands[0].type, op.results[0].type
    if not have_compatible_shape(source, result):
        raise VerifyException(
            f"expected equal shapes, but got '{source}' and '{result}'"
        )
    elements = map(get_element_type_or_self, (source, result))
    first, second = (FLOAT_BITS.get(element, 0) for element in elements)
    return first, second


def verify_extf(op: Operation) -> None:
    """Every value of the operand is one of the result."""
    first, second = _float_bits(op)
    if first >= second:
        source, result = op.operands[0].type, op.results[0].type
        raise VerifyException(
            f"expected a wider result, but got '{source}' and '{result}'"
        )


def verify_truncf(op: Operation) -> None:
    """The result has fewer bits than the operand."""
    first, second = _float_bits(op)
    if first <= second:
        source, result = op.operands[0].type, op.results[0].type
        raise VerifyException(
            f"expected a narrower result, but got '{source}' and '{result}'"
        )


def verify_compare(op: Operation) -> None:
    """The predicate has a name."""
    predicate = op.properties["predicate"]
    assert isinstance(predicate, IntegerAttr), "its constraint says so"
    count = COMPARISONS[op.name]
    if not 0 <= predicate.value.data < count:
        raise VerifyException(
            f"expected a predicate from 0 to {count - 1}, but got "
            f"{predicate.value.data}"
        )


def verify_constant(op: Operation) -> None:
    """An index is a number of 64 bits."""
    value = op.get_attr_or_prop("value")
    if not isinstance(value, IntegerAttr):
        return
    number = cast("IntegerAttr[IntegerType | IndexType]", value)
    is_index = isinstance(number.type, IndexType)
    if is_index and not -(1 << 63) <= number.value.data < 1 << 63:
        raise VerifyException(
            f"expected an index of 64 bits, but got {number.value.data}"
        )


NUMBERS: Mapping[str, Callable[[Operation], None]] = {
    "arith.cmpf": verify_compare,
    "arith.cmpi": verify_compare,
    "arith.constant": verify_constant,
    "arith.extf": verify_extf,
    "arith.truncf": verify_truncf,
}
