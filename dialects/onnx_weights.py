"""
The initialisers of an ONNX model, and the tensors of its `Constant` nodes.

Elements are raw bytes, typed fields, or external data: a span of another file, whose
path is relative to the folder of the model and may not leave it. `onnx` is imported
when the first model is read.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from transom.dialects.dtypes import BFLOAT16
from transom.dialects.weight_files import (
    Array,
    FileIdentity,
    OpenFile,
    StoredWeight,
    WeightError,
    WeightFiles,
    checked_flat,
    element_count,
)

if TYPE_CHECKING:
    from onnx import ModelProto, TensorProto

_MAX_MODEL = 2**31 - 1
"""The limit of protobuf."""

_DTYPES: dict[str, np.dtype[Any]] = {
    "BOOL": np.dtype(np.bool_),
    "UINT8": np.dtype("u1"),
    "UINT16": np.dtype("<u2"),
    "UINT32": np.dtype("<u4"),
    "UINT64": np.dtype("<u8"),
    "INT8": np.dtype("i1"),
    "INT16": np.dtype("<i2"),
    "INT32": np.dtype("<i4"),
    "INT64": np.dtype("<i8"),
    "FLOAT16": np.dtype("<f2"),
    "BFLOAT16": BFLOAT16,
    "FLOAT": np.dtype("<f4"),
    "DOUBLE": np.dtype("<f8"),
}

_TYPED_FIELDS = {
    "FLOAT": "float_data",
    "DOUBLE": "double_data",
    "INT64": "int64_data",
    "UINT32": "uint64_data",
    "UINT64": "uint64_data",
}
"""All other types are in `int32_data`; 16-bit floats there are bit patterns."""


def read_onnx(
    file: OpenFile, files: WeightFiles, folder: str
) -> Mapping[str, StoredWeight]:
    """The weights of the model; `folder` is its folder, relative to the base."""
    stored: dict[str, StoredWeight] = {}
    for name, tensor in _named_tensors(_parse(file)):
        stored.setdefault(name, _stored(tensor, file, files, folder))
    return stored


def _parse(file: OpenFile) -> "ModelProto":
    try:
        import onnx
        from google.protobuf.message import DecodeError
    except ImportError:
        raise WeightError(
            f"cannot read '{file.label}': the package 'onnx' is not installed"
        ) from None
    if file.data.size > _MAX_MODEL:
        raise WeightError(f"'{file.label}' exceeds the 2 GiB of an ONNX model")
    try:
        return onnx.ModelProto.FromString(file.data.tobytes())
    except DecodeError:
        raise WeightError(f"'{file.label}' is not an ONNX model") from None


def _named_tensors(model: "ModelProto") -> "Iterator[tuple[str, TensorProto]]":
    for tensor in model.graph.initializer:
        yield tensor.name, tensor
    for node in model.graph.node:
        if node.op_type == "Constant" and len(node.output) == 1:
            for attribute in node.attribute:
                if attribute.name == "value":
                    yield node.output[0], attribute.t


def _stored(
    tensor: "TensorProto", file: OpenFile, files: WeightFiles, folder: str
) -> StoredWeight:
    from onnx import TensorProto

    label = f"weight '{tensor.name}' in '{file.label}'"
    kinds = TensorProto.DataType
    known = tensor.data_type in kinds.values()
    kind = kinds.Name(tensor.data_type) if known else str(tensor.data_type)
    dtype = _DTYPES.get(kind)
    shape = tuple(tensor.dims)

    def load() -> tuple[Array, FileIdentity]:
        assert dtype is not None, "the caller compared the types"
        count = element_count(label, shape)
        if tensor.data_location == TensorProto.EXTERNAL:
            length = count * dtype.itemsize
            data, span = _external(tensor, label, files, folder, length)
        elif tensor.HasField("raw_data"):
            raw = np.frombuffer(tensor.raw_data, np.uint8)
            data, span = OpenFile(file.label, raw, file.identity), (0, raw.size)
        else:
            return _typed(tensor, label, kind, count, dtype), file.identity
        return checked_flat(data, label, span, count, dtype), data.identity

    return StoredWeight(dtype, kind, shape, load)


def _external(
    tensor: "TensorProto",
    label: str,
    files: WeightFiles,
    folder: str,
    default_length: int,
) -> tuple[OpenFile, tuple[int, int]]:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    if "location" not in entries:
        raise WeightError(f"{label}: its external data has no location")
    begin = _decimal(entries, "offset", 0, label)
    length = _decimal(entries, "length", default_length, label)
    try:
        data = files.open(entries["location"], folder)
    except WeightError as e:
        raise WeightError(f"{label}: external data: {e}") from None
    return data, (begin, begin + length)


def _decimal(entries: dict[str, str], key: str, default: int, label: str) -> int:
    text = entries.get(key, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise WeightError(
            f"{label}: expected a number of bytes as {key} of its external data"
        )
    return int(text)


def _typed(
    tensor: "TensorProto", label: str, kind: str, count: int, dtype: np.dtype[Any]
) -> Array:
    values: Iterable[Any] = getattr(tensor, _TYPED_FIELDS.get(kind, "int32_data"))
    array = np.array(values)
    if array.size != count:
        raise WeightError(f"{label}: expected {count} elements, but got {array.size}")
    if kind in ("FLOAT16", "BFLOAT16"):
        return array.astype(np.uint16).view(dtype)
    return array.astype(dtype)
