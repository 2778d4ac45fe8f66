"""
The types of what a model takes.
"""

import math
from typing import TYPE_CHECKING

from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.dialects.dtypes import element_type
from transom.dialects.graph.desc import AnyTensor
from transom.dialects.onnx_weights import dtype_of_kind, kind_name
from transom.frontends.onnx.model_file import Model
from transom.frontends.onnx.node import Unsupported, shape_in
from transom.frontends.onnx.sizes import MAX_RANK
from transom.frontends.onnx.small_types import small_type

if TYPE_CHECKING:
    from onnx import ValueInfoProto

MAX_ELEMENTS = 2**40
"""Elements of a value; a model with a larger one is absurd."""

UNKNOWN = -1
"""A size that some exporters write in place of none."""

NAMELESS = ("", "?")
"""Names that say nothing: two of them may be different sizes."""


def input_type(model: Model, info: "ValueInfoProto") -> AnyTensor:
    """The type of an input. Raises `OpError` for what is no tensor of numbers."""
    try:
        type = _tensor_of(info)
        check_size(type)
    except Unsupported as e:
        raise OpError(model.place(), f"input '{info.name}': {e}") from None
    return type


def _tensor_of(info: "ValueInfoProto") -> AnyTensor:
    type = info.type
    if type.HasField("optional_type"):  # it has to be there
        type = type.optional_type.elem_type
    if not type.HasField("tensor_type"):
        raise Unsupported("expected a tensor")
    tensor = type.tensor_type
    small, dtype = small_type(tensor.elem_type), dtype_of_kind(tensor.elem_type)
    if small is None and dtype is None:
        kind = kind_name(tensor.elem_type)
        raise Unsupported(f"elements of type {kind} are not supported")
    if not tensor.HasField("shape"):
        raise Unsupported("expected a known number of dimensions")
    shape: list[int | str | None] = []
    for dim in tensor.shape.dim:
        if not dim.HasField("dim_value"):
            shape.append(None if dim.dim_param in NAMELESS else dim.dim_param)
        elif dim.dim_value < UNKNOWN:
            raise Unsupported(f"expected sizes >= 0, but got {dim.dim_value}")
        else:
            shape.append(None if dim.dim_value == UNKNOWN else dim.dim_value)
    if small is not None:
        return graph.tensor(shape, small.stored)
    assert dtype is not None, "one of them is there"
    return graph.tensor(shape, element_type(dtype))


def check_size(type: AnyTensor) -> None:
    """Raises `Unsupported` for a tensor type that nothing can hold."""
    shape = shape_in(type)
    if len(shape) > MAX_RANK:
        raise Unsupported(
            f"expected at most {MAX_RANK} dimensions, but got {len(shape)}"
        )
    sizes = [size for size in shape if size > 0]
    if math.prod(sizes) > MAX_ELEMENTS:
        raise Unsupported(
            f"expected at most {MAX_ELEMENTS} elements, but got {math.prod(sizes)}"
        )
