"""
One node of a model, as the handlers of operators see it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects import graph

if TYPE_CHECKING:
    from onnx import NodeProto

    from transom.frontends.onnx.importer import Importer

Array = np.ndarray[Any, np.dtype[Any]]


class Unsupported(Exception):
    """Why a node has no form in `graph`."""


class Node:
    """
    Inputs, attributes and the place of a node; what handlers build goes to its place.

    Attributes that a handler does not ask for make the node unsupported, so that none
    is ignored by accident.
    """

    def __init__(self, importer: "Importer", proto: "NodeProto", opset: int) -> None:
        self.importer = importer
        self.proto = proto
        self.opset = opset
        self._attributes = {a.name: a for a in proto.attribute}
        self._asked: set[str] = set()

    # Inputs

    def has(self, index: int) -> bool:
        """Whether an optional input is there."""
        return index < len(self.proto.input) and bool(self.proto.input[index])

    def input(self, index: int = 0) -> SSAValue:
        """An input that must be there."""
        if not self.has(index):
            raise Unsupported(f"input {index} is missing")
        return self.importer.value(self.proto.input[index])

    def inputs(self) -> list[SSAValue]:
        """All inputs."""
        return [self.input(index) for index in range(len(self.proto.input))]

    def constant(self, index: int) -> Array:
        """An input whose elements must be known now, such as a shape."""
        name = self.proto.input[index] if self.has(index) else ""
        known = self.importer.constant(name)
        if known is None:
            raise Unsupported(f"input {index} is not constant")
        return known

    def integers(self, index: int) -> list[int]:
        """A constant input of integers as a list."""
        values = self.constant(index)
        if not np.issubdtype(values.dtype, np.integer):
            raise Unsupported(f"input {index} has no integers")
        return [int(value) for value in values.reshape(-1)]

    def type(self, index: int = 0) -> TensorType[Attribute]:
        """The type of an input."""
        return type_of(self.input(index))

    def shape(self, index: int = 0) -> tuple[int, ...]:
        """The shape of an input; -1 is a size that is not known."""
        return self.type(index).get_shape()

    def rank(self, index: int = 0) -> int:
        """The number of dimensions of an input."""
        return len(self.shape(index))

    def output_count(self) -> int:
        """How many outputs there are up to the last one that something reads."""
        names = list(self.proto.output)
        while names and names[-1] not in self.importer.used:
            names.pop()
        return len(names)

    # Attributes

    def _attribute(self, name: str, default: Any) -> Any:
        import onnx

        self._asked.add(name)
        proto = self._attributes.get(name)
        return default if proto is None else onnx.helper.get_attribute_value(proto)

    def given(self, name: str) -> bool:
        """Whether an attribute is there."""
        return name in self._attributes

    def int_attr(self, name: str, default: int) -> int:
        return int(self._attribute(name, default))

    def int_list(self, name: str, default: Sequence[int]) -> list[int]:
        return [int(value) for value in self._attribute(name, default)]

    def float_attr(self, name: str, default: float) -> float:
        return float(self._attribute(name, default))

    def string_attr(self, name: str, default: str) -> str:
        value = self._attribute(name, default)
        return value.decode() if isinstance(value, bytes) else str(value)

    def tensor_attr(self, name: str) -> Array | None:
        """An attribute that is a tensor."""
        import onnx

        value = self._attribute(name, None)
        return None if value is None else onnx.numpy_helper.to_array(value)

    def raw(self, name: str) -> Any:
        """An attribute as ONNX gives it."""
        return self._attribute(name, None)

    def ignore(self, *names: str) -> None:
        """Say of attributes that they change nothing."""
        self._asked.update(names)

    def axis(self, name: str, default: int, rank: int) -> int:
        """An attribute that counts from the end if it is negative."""
        return positive_axis(self.int_attr(name, default), rank)

    def check_attributes(self) -> None:
        """Raise `Unsupported` for attributes that the handler did not ask for."""
        left = sorted(set(self._attributes) - self._asked)
        if left:
            names = ", ".join(f"'{name}'" for name in left)
            raise Unsupported(f"attribute {names} is not supported")

    # Results

    def add(self, op: Operation) -> SSAValue:
        """Insert an op and give its first result."""
        return self.importer.insert(op).results[0]

    def splat(self, value: float, element_type: Attribute) -> SSAValue:
        """A constant scalar."""
        type = graph.tensor([], element_type)
        return self.add(graph.ConstantOp.splat(type, value))

    def known(self, array: Array) -> SSAValue:
        """A constant, whose elements later handlers may ask for if they are few."""
        return self.importer.known_value(self.proto.output[0], array)

    def reshape(self, value: SSAValue, shape: Sequence[Any]) -> SSAValue:
        """A value in another shape; nothing if it has it."""
        return self.add(graph.ReshapeOp(value, shape))


def type_of(value: SSAValue) -> TensorType[Attribute]:
    """The type of a value of the model."""
    return cast("TensorType[Attribute]", value.type)


def positive_axis(axis: int, rank: int) -> int:
    """An axis that counts from the start. Raises `Unsupported` if there is none."""
    if not -rank <= axis < rank:
        raise Unsupported(f"axis {axis} is none of {rank} dimensions")
    return axis + rank if axis < 0 else axis
