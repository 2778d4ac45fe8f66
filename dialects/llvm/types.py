"""
Type constraints shared by the ops of the `llvm` dialect.
"""

from typing import cast

from xdsl.dialects.builtin import (
    AnyFloatConstr,
    SignlessIntegerConstraint,
    VectorType,
    i1,
)
from xdsl.dialects.llvm import FastMathAttr
from xdsl.ir import Attribute

FLOAT = AnyFloatConstr | VectorType.constr(AnyFloatConstr)
INTEGER = SignlessIntegerConstraint | VectorType.constr(SignlessIntegerConstraint)

NO_FLAGS = FastMathAttr(None)

CALL_LIKE = "`(` operands `)` attr-dict `:` functional-type(operands, results)"
"""Assembly format of most intrinsics."""


def as_vector(type: Attribute) -> VectorType | None:
    """The type if it is a vector type, else None."""
    return cast(VectorType, type) if isinstance(type, VectorType) else None


def element_of(type: Attribute) -> Attribute:
    """Element type of a vector type, any other type itself."""
    return type if (vector := as_vector(type)) is None else vector.element_type


def lanes_of(type: Attribute) -> int | None:
    """Number of lanes of a vector type, None for any other type."""
    return None if (vector := as_vector(type)) is None else vector.get_shape()[0]


def boolean_like(type: Attribute) -> Attribute:
    """`i1`, or the vector of `i1` with as many lanes as `type`."""
    return i1 if (vector := as_vector(type)) is None else VectorType(i1, vector.shape)
