"""
Models in f16 and bf16, and what it takes to run them.

A model in halves has a twin in f32 with the same numbers: what there is to be gained,
and what a peer can run that has no such op.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    import onnx

HALVES: Mapping[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}
"""The dtypes of arrays."""

NEIGHBOURS = {"f16": 1e-3, "bf16": 8e-3}
"""The distance of two numbers that are next to each other, as a part of them."""

TWIN = "f32.onnx"
"""The file of the model in f32 that lies beside one in halves."""

BF16_OPSET = 22
"""The first one that has convolutions of bf16."""


def write_in_halves(path: Path, element: str) -> Path:
    """Replace a model in f32 by one in halves, with its twin; gives its file."""
    import onnx

    model = onnx.ModelProto.FromString(path.read_bytes())
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT:
            numbers = onnx.numpy_helper.to_array(tensor).astype(HALVES[element])
            _set(tensor, numbers.astype(np.float32), onnx.TensorProto.FLOAT)
    path.with_name(TWIN).write_bytes(model.SerializeToString())
    kinds = {"f16": onnx.TensorProto.FLOAT16, "bf16": onnx.TensorProto.BFLOAT16}
    kind = kinds[element]
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT:
            numbers = onnx.numpy_helper.to_array(tensor).astype(HALVES[element])
            _set(tensor, numbers, kind)
    for value in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
            value.type.tensor_type.elem_type = kind
    if element == "bf16":
        model.opset_import[0].version = BF16_OPSET
    path.write_bytes(model.SerializeToString())
    return path


def _set(tensor: "onnx.TensorProto", numbers: Any, kind: int) -> None:
    tensor.ClearField("float_data")
    tensor.raw_data = numbers.tobytes()
    tensor.data_type = kind


def rounded(inputs: Mapping[str, Any], element: str) -> dict[str, Any]:
    """Inputs of a model as its elements; those in f32 stay what they are."""
    if element not in HALVES:
        return dict(inputs)
    return {name: array.astype(HALVES[element]) for name, array in inputs.items()}


def widened(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays of halves in f32."""
    return {
        name: array.astype(np.float32) if array.dtype in HALVES.values() else array
        for name, array in arrays.items()
    }
