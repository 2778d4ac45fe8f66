"""
Sizes of a model's inputs that its user says: shapes of inputs, and sizes by name.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from transom.dialects.diagnostics import OpError, did_you_mean
from transom.frontends.onnx.inputs import NAMELESS, UNKNOWN
from transom.frontends.onnx.model_file import Model

if TYPE_CHECKING:
    from onnx import TensorProto, TensorShapeProto, ValueInfoProto

Bounds = tuple[int | None, int | None]
"""The least and the largest size; None is no bound."""


def set_sizes(
    model: Model,
    shapes: Mapping[str, Sequence[int | None]],
    dims: Mapping[str, Bounds],
) -> None:
    """
    Give inputs of a model these shapes, of which None leaves a size as it is, and the
    named sizes that have only one value that value, wherever they are.

    Raises `OpError` if the model says otherwise.
    """
    setting = _Setting(model, dims)
    for name, shape in shapes.items():
        setting.take(name, shape)
    setting.replace()


class _Setting:
    def __init__(self, model: Model, dims: Mapping[str, Bounds]) -> None:
        self.model = model
        self.dims = dims
        stored: Sequence[TensorProto] = model.graph.initializer
        names = {tensor.name for tensor in stored}
        self.inputs = {v.name: v for v in model.graph.input if v.name not in names}
        self.sizes = {
            name: low for name, (low, high) in dims.items() if low == high and low
        }
        """The sizes of names."""

    def take(self, name: str, shape: Sequence[int | None]) -> None:
        """An input has this shape."""
        info = self.inputs.get(name)
        if info is None:
            near = did_you_mean(name, self.inputs)
            raise self.error(f"the model has no input '{name}'{near}")
        own = self._shape(info, len(shape))
        if len(own.dim) != len(shape):
            raise self.error(
                f"expected {len(own.dim)} sizes of input '{name}', but got {len(shape)}"
            )
        for axis, (dim, size) in enumerate(zip(own.dim, shape, strict=True)):
            if size is None:
                continue
            if dim.HasField("dim_value") and dim.dim_value != UNKNOWN:
                if dim.dim_value != size:
                    raise self.error(
                        f"expected dimension {axis} of input '{name}' to be "
                        f"{dim.dim_value}, as the model says, but got {size}"
                    )
            elif dim.dim_param in NAMELESS:
                dim.dim_value = size
            else:
                self._name(dim.dim_param, size, name)

    def _shape(self, info: "ValueInfoProto", rank: int) -> "TensorShapeProto":
        """The shape of an input, which may not have one yet."""
        tensor = info.type.tensor_type
        if info.type.HasField("tensor_type") and not tensor.HasField("shape"):
            tensor.shape.SetInParent()
            for _ in range(rank):
                tensor.shape.dim.add()
        return tensor.shape

    def _name(self, symbol: str, size: int, name: str) -> None:
        known = self.sizes.setdefault(symbol, size)
        if known != size:
            raise self.error(
                f"expected '{symbol}' to be {known} everywhere, but it is {size} in "
                f"input '{name}'"
            )
        low, high = self.dims.get(symbol, (None, None))
        if (low is not None and size < low) or (high is not None and size > high):
            shown = f"{'' if low is None else low}..{'' if high is None else high}"
            raise self.error(
                f"expected '{symbol}' in {shown}, but it is {size} in input '{name}'"
            )

    def replace(self) -> None:
        """Put sizes in the place of names."""
        for info in self.inputs.values():
            for dim in info.type.tensor_type.shape.dim:
                if dim.dim_param in self.sizes:
                    dim.dim_value = self.sizes[dim.dim_param]

    def error(self, message: str) -> OpError:
        return OpError(self.model.place(), message)
