"""
Ops of the `llvm` dialect as the conversions make them by the thousand: past the checks
of xDSL's constructors, and with attributes that are made once.
"""

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, UnitAttr, i32, i64
from xdsl.ir import Attribute, SSAValue

from transom.dialects import llvm
from transom.dialects.op_making import make_op

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
    return make_op(llvm.ConstantOp, (), (i64,), {"value": integer(value)})


def add_op(lhs: SSAValue, rhs: SSAValue) -> llvm.AddOp:
    """A sum that does not overflow as a signed number."""
    properties = {"overflowFlags": NO_SIGNED_WRAP}
    return make_op(llvm.AddOp, (lhs, rhs), (lhs.type,), properties)


def multiply_op(lhs: SSAValue, rhs: SSAValue) -> llvm.MulOp:
    """A product that does not overflow as a signed number."""
    properties = {"overflowFlags": NO_SIGNED_WRAP}
    return make_op(llvm.MulOp, (lhs, rhs), (lhs.type,), properties)


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
    return make_op(llvm.GEPOp, (pointer, *dynamic), (pointer.type,), properties)


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
    properties = access_properties(alignment, nontemporal)
    return make_op(llvm.LoadOp, (address,), (type,), properties)


def store_op(
    value: SSAValue, address: SSAValue, alignment: int, nontemporal: bool = False
) -> llvm.StoreOp:
    properties = access_properties(alignment, nontemporal)
    return make_op(llvm.StoreOp, (value, address), (), properties)
