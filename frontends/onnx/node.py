"""
One node of a model, as the handlers of operators see it.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from xdsl.dialects.builtin import AnyFloat, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects import graph
from transom.dialects.graph.desc import AnyTensor
from transom.dialects.graph.shapes import DYNAMIC
from transom.dialects.weight_files import Array

if TYPE_CHECKING:
    from onnx import AttributeProto, NodeProto, TensorProto

    from transom.frontends.onnx.small_types import SmallType


class Unsupported(Exception):
    """
    Why a node has no form in `graph`.

    `missing` is a value of the model whose elements would have to be known.
    """

    def __init__(self, message: str, missing: str | None = None) -> None:
        super().__init__(message)
        self.missing = missing


class Values(Protocol):
    """What a node can ask of the graph that it is in."""

    def value(self, name: str) -> SSAValue:
        """The value of a name. Raises `Unsupported` if it has no form in `graph`."""
        ...

    def constant(self, name: str) -> Array | None:
        """The elements of a value that are known now, if they are and are few."""
        ...

    def small_type(self, name: str) -> "SmallType | None":
        """The type of a value's elements, if it is one that `graph` has not."""
        ...

    def mark_small(self, value: SSAValue, small: "SmallType") -> None:
        """Let the elements of a value be of a type that `graph` has not."""
        ...

    def is_used(self, name: str) -> bool:
        """Whether something reads the value of a name."""
        ...

    def elements(self, name: str, tensor: "TensorProto") -> Array:
        """The elements of a tensor that stands in a node. Raises `Unsupported`."""
        ...

    def insert(self, op: Operation) -> Operation:
        """Insert an op at the place of the current node."""
        ...


class Node:
    """
    Inputs, attributes and the place of a node; what handlers build goes to its place.

    Attributes that a handler does not ask for make the node unsupported, so that none
    is ignored by accident. All methods raise `Unsupported` for what is wrong.
    """

    def __init__(self, values: Values, proto: "NodeProto", opset: int) -> None:
        self.values = values
        self.proto = proto
        self.opset = opset
        self._attributes = {a.name: a for a in proto.attribute}
        self._asked: set[str] = set()

    # Inputs

    def has(self, index: int) -> bool:
        """Whether an optional input is there."""
        return index < len(self.proto.input) and bool(self.proto.input[index])

    def input_name(self, index: int) -> str:
        """The name of an input that must be there."""
        if not self.has(index):
            raise Unsupported(f"input {index} is missing")
        return self.proto.input[index]

    def input(self, index: int = 0) -> SSAValue:
        """An input that must be there."""
        return self.values.value(self.input_name(index))

    def small_type(self, index: int) -> "SmallType | None":
        """The type of an input's elements, if it is one that `graph` has not."""
        return self.values.small_type(self.input_name(index))

    def small(self, value: SSAValue, small: "SmallType") -> SSAValue:
        """A result whose elements are of a type that `graph` has not."""
        self.values.mark_small(value, small)
        return value

    def inputs(self) -> list[SSAValue]:
        """All inputs, at least one."""
        return [self.input(index) for index in range(max(len(self.proto.input), 1))]

    def known(self, index: int) -> Array:
        """
        An input whose elements must be known now, such as a shape.

        A size that is not static is a `RuntimeSize` among them.
        """
        found = self.values.constant(self.input_name(index))
        if found is None:
            name = self.input_name(index)
            raise Unsupported(f"input {index} is not constant", name)
        return found

    def constant(self, index: int) -> Array:
        """An input of numbers that must be known now."""
        found = self.known(index)
        if found.dtype == object:
            raise Unsupported(f"input {index} is a size that is not static")
        return found

    def integers(self, index: int) -> list[int]:
        """A constant input of integers as a list."""
        values = self.constant(index)
        if not np.issubdtype(values.dtype, np.integer):
            raise Unsupported(f"expected integers as input {index}")
        return [int(value) for value in values.reshape(-1)]

    def scalar(self, index: int) -> Any:
        """A constant input of one element."""
        values = self.constant(index)
        if values.size != 1:
            raise Unsupported(f"expected one element as input {index}")
        return values.reshape(-1)[0].item()

    def type(self, index: int = 0) -> AnyTensor:
        """The type of an input."""
        return type_of(self.input(index))

    def shape(self, index: int = 0) -> tuple[int, ...]:
        """The shape of an input; -1 is a size that is not known."""
        return shape_of(self.input(index))

    def rank(self, index: int = 0) -> int:
        """The number of dimensions of an input."""
        return len(self.shape(index))

    def output_count(self) -> int:
        """How many outputs there are up to the last one that something reads."""
        names = list(self.proto.output)
        while names and not (names[-1] and self.values.is_used(names[-1])):
            names.pop()
        return len(names)

    # Attributes

    def _attribute(self, name: str, kind: str) -> "AttributeProto | None":
        from onnx import AttributeProto

        self._asked.add(name)
        proto = self._attributes.get(name)
        if proto is None:
            return None
        if proto.ref_attr_name or proto.type != AttributeProto.AttributeType.Value(
            kind
        ):
            raise Unsupported(f"expected attribute '{name}' of type {kind}")
        return proto

    def given(self, name: str) -> bool:
        """Whether an attribute is there."""
        return name in self._attributes

    def int_attr(self, name: str, default: int | None = None) -> int:
        """An integer; without a default it must be there."""
        proto = self._attribute(name, "INT")
        if proto is not None:
            return proto.i
        if default is None:
            raise Unsupported(f"expected attribute '{name}'")
        return default

    def flag(self, name: str, *, default: bool = False) -> bool:
        """An integer that is 0 or 1."""
        value = self.int_attr(name, int(default))
        if value not in (0, 1):
            raise Unsupported(f"expected attribute '{name}' of 0 or 1, but got {value}")
        return bool(value)

    def int_list(self, name: str, default: Iterable[int] | None = None) -> list[int]:
        """A list of integers; without a default it must be there."""
        proto = self._attribute(name, "INTS")
        if proto is not None:
            return list(proto.ints)
        if default is None:
            raise Unsupported(f"expected attribute '{name}'")
        return list(default)

    def float_attr(self, name: str, default: float) -> float:
        proto = self._attribute(name, "FLOAT")
        return default if proto is None else proto.f

    def float_list(self, name: str) -> list[float]:
        proto = self._attribute(name, "FLOATS")
        return [] if proto is None else list(proto.floats)

    def string_attr(self, name: str, default: str) -> str:
        proto = self._attribute(name, "STRING")
        return default if proto is None else proto.s.decode(errors="replace")

    def tensor_attr(self, name: str) -> Array | None:
        """The elements of an attribute that is a tensor."""
        if not self.given(name):
            return None
        return self.values.elements(name, self.tensor_proto(name))

    def tensor_proto(self, name: str) -> "TensorProto":
        """An attribute that is a tensor, whose elements are not read."""
        proto = self._attribute(name, "TENSOR")
        if proto is None:
            raise Unsupported(f"expected attribute '{name}'")
        return proto.t

    def ignore(self, *names: str) -> None:
        """Say of attributes that they change nothing."""
        self._asked.update(names)

    def axis(self, name: str, default: int | None, rank: int) -> int:
        """An attribute that counts from the end if it is negative."""
        return positive_axis(self.int_attr(name, default), rank)

    def check_attributes(self) -> None:
        """Raise `Unsupported` for attributes that the handler did not ask for."""
        left = sorted(set(self._attributes) - self._asked)
        if left:
            raise Unsupported(f"attribute '{left[0]}' is not supported")

    def check_no_graphs(self) -> None:
        """Raise `Unsupported` for a node with graphs of its own."""
        for attribute in self.proto.attribute:
            if attribute.HasField("g") or attribute.graphs:
                raise Unsupported("control flow by graphs in nodes is not supported")

    # Results

    def insert(self, op: Operation) -> Operation:
        """Insert an op at the place of the node."""
        return self.values.insert(op)

    def add(self, op: Operation) -> SSAValue:
        """Insert an op and give its first result."""
        return self.insert(op).results[0]

    def splat(self, value: float, element_type: Attribute) -> SSAValue:
        """A constant scalar."""
        if not isinstance(element_type, AnyFloat) and not float(value).is_integer():
            raise Unsupported(f"'{element_type}' has no {value}")
        type = graph.tensor([], element_type)
        return self.add(graph.ConstantOp.splat(type, value))

    def reshape(self, value: SSAValue, shape: Sequence[Any]) -> SSAValue:
        """A value in another shape."""
        return self.add(graph.ReshapeOp(value, shape))


def type_of(value: SSAValue) -> AnyTensor:
    """The type of a value of the model."""
    type = value.type
    assert isinstance(type, TensorType), "all values of a model are tensors"
    return cast("AnyTensor", type)


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of a value of the model; -1 is a size that is not known."""
    return shape_in(type_of(value))


def shape_in(type: AnyTensor) -> tuple[int, ...]:
    """The shape of a tensor type; -1 is a size that is not known."""
    return tuple(-1 if size == DYNAMIC else size for size in type.get_shape())


def positive_axis(axis: int, rank: int) -> int:
    """An axis that counts from the start. Raises `Unsupported` if there is none."""
    if not -rank <= axis < rank:
        raise Unsupported(f"axis {axis} is none of {rank} dimensions")
    return axis + rank if axis < 0 else axis


def positive_axes(axes: Sequence[int], rank: int) -> list[int]:
    """Axes that count from the start, in order. Raises `Unsupported` for twins."""
    found = sorted(positive_axis(axis, rank) for axis in axes)
    if len(set(found)) != len(found):
        raise Unsupported(f"expected each axis once, but got {list(axes)}")
    return found
