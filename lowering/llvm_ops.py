"""
Ops of the `llvm` dialect as the conversions make them by the thousand: past the checks
of xDSL's constructors, and with attributes that are made once.
"""

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, UnitAttr, i32, i64
from xdsl.ir import Attribute, SSAValue

from transom.dialects import llvm

MANY = 1 << 14
"""How many attributes of a kind are kept."""

UNIT = UnitAttr()
NO_WRAP_FLAGS = IntegerAttr(0, 32)
NOT_ATOMIC = IntegerAttr(0, i64)
NO_SIGNED_WRAP = IntegerAttr(1, 32)


@lru_cache(MANY)
def integer(value: int) -> IntegerAttr:
    """A number of 64 bits."""
    return IntegerAttr(value, i64)


@lru_cache(MANY)
def index_list(indices: tuple[int, ...]) -> DenseArrayBase:
    """The constant indices of an address."""
    return DenseArrayBase.from_list(i32, indices)


def constant_op(value: int) -> llvm.ConstantOp:
    """A constant i64."""
    return llvm.ConstantOp.create(
        properties={"value": integer(value)}, result_types=[i64]
    )


def add_op(lhs: SSAValue, rhs: SSAValue) -> llvm.AddOp:
    """A sum that does not overflow as a signed number."""
    return llvm.AddOp.create(
        operands=[lhs, rhs],
        result_types=[lhs.type],
        properties={"overflowFlags": NO_SIGNED_WRAP},
    )


def multiply_op(lhs: SSAValue, rhs: SSAValue) -> llvm.MulOp:
    """A product that does not overflow as a signed number."""
    return llvm.MulOp.create(
        operands=[lhs, rhs],
        result_types=[lhs.type],
        properties={"overflowFlags": NO_SIGNED_WRAP},
    )


def gep_op(
    pointer: SSAValue,
    indices: tuple[int, ...],
    dynamic: Sequence[SSAValue],
    element: Attribute,
    inbounds: bool,
) -> llvm.GEPOp:
    """An address; `GEP_USE_SSA_VAL` among the indices stands for a dynamic one."""
    properties: dict[str, Attribute] = {
        "elem_type": element,
        "noWrapFlags": NO_WRAP_FLAGS,
        "rawConstantIndices": index_list(indices),
    }
    if inbounds:
        properties["inbounds"] = UNIT
    return llvm.GEPOp.create(
        operands=[pointer, *dynamic],
        result_types=[pointer.type],
        properties=properties,
    )


def access_properties(alignment: int, nontemporal: bool) -> dict[str, Attribute]:
    properties: dict[str, Attribute] = {
        "alignment": integer(alignment),
        "ordering": NOT_ATOMIC,
    }
    if nontemporal:
        properties["nontemporal"] = UNIT
    return properties


def load_op(
    address: SSAValue, type: Attribute, alignment: int, nontemporal: bool = False
) -> llvm.LoadOp:
    return llvm.LoadOp.create(
        operands=[address],
        result_types=[type],
        properties=access_properties(alignment, nontemporal),
    )


def store_op(
    value: SSAValue, address: SSAValue, alignment: int, nontemporal: bool = False
) -> llvm.StoreOp:
    return llvm.StoreOp.create(
        operands=[value, address],
        properties=access_properties(alignment, nontemporal),
    )
