"""
Memref types of tensor types.
"""

from typing import cast

from xdsl.dialects.builtin import (
    MemRefType,
    NoneAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation

from transom.dialects import tir
from transom.dialects.diagnostics import OpError
from transom.dialects.graph.desc import layout_of, place_of

AnyTensor = TensorType[Attribute]
AnyMemRef = MemRefType[Attribute]


def memref_type(tensor: AnyTensor, user: Operation) -> AnyMemRef:
    """
    The memref that holds a tensor: row-major, in the memory of its place.

    Raises `OpError` at `user` for a layout that memrefs of main do not have.
    """
    if layout_of(tensor) is not None:
        raise OpError(user, f"expected a tensor without a layout, but got '{tensor}'")
    place = place_of(tensor)
    memory = None if place is None else place.memory_name
    return MemRefType(
        tir.signless(tensor.element_type),
        tensor.get_shape(),
        NoneAttr(),
        NoneAttr() if memory is None else SymbolRefAttr(memory),
    )


def is_tensor(type: Attribute) -> bool:
    """Whether values of the type become memrefs."""
    return isinstance(type, TensorType)


def tensor_type(type: Attribute) -> AnyTensor:
    """A type that is known to be a tensor's."""
    assert isinstance(type, TensorType), "only tensors become memrefs"
    return cast(AnyTensor, type)
