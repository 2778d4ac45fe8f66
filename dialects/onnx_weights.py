"""
The initialisers of an ONNX model, and the tensors of its `Constant` nodes.

Elements are raw bytes, typed fields, or external data: a span of another file, whose
path is relative to the folder of the model and may not leave it. Raw bytes of
initialisers stay in the mapped file; nothing is copied when the model is parsed. `onnx`
is imported when the first model is read.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from transom.dialects.dtypes import BFLOAT16
from transom.dialects.onnx_wire import Span, WireError, scan_model
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


class Packed(NamedTuple):
    """How elements that have no dtype are stored: as bytes of fewer bits."""

    dtype: np.dtype[Any]
    bits: int


PACKED: dict[str, Packed] = {
    "FLOAT4E2M1": Packed(np.dtype("u1"), 4),
    "FLOAT8E4M3FN": Packed(np.dtype("u1"), 8),
    "FLOAT8E4M3FNUZ": Packed(np.dtype("u1"), 8),
    "FLOAT8E5M2": Packed(np.dtype("u1"), 8),
    "FLOAT8E5M2FNUZ": Packed(np.dtype("u1"), 8),
    "FLOAT8E8M0": Packed(np.dtype("u1"), 8),
    "INT2": Packed(np.dtype("i1"), 2),
    "INT4": Packed(np.dtype("i1"), 4),
    "UINT2": Packed(np.dtype("u1"), 2),
    "UINT4": Packed(np.dtype("u1"), 4),
}
"""Elements of 8 bits and less, of which the first in a byte has the lowest bits."""

_TYPED_FIELDS = {
    "FLOAT": "float_data",
    "DOUBLE": "double_data",
    "INT64": "int64_data",
    "UINT32": "uint64_data",
    "UINT64": "uint64_data",
}
"""All other types are in `int32_data`; 16-bit floats there are bit patterns."""


@dataclass(frozen=True)
class OnnxModel:
    """A parsed model and the file that it is in."""

    file: OpenFile
    proto: "ModelProto"
    """Without the raw data of the initialisers of its graph."""
    raw_data: list[Span | None]
    """Where in the file the raw data of each initialiser is, if it has some."""


def parse_model(file: OpenFile) -> OnnxModel:
    """The model that a file is. Raises WeightError if it is none, or an absurd one."""
    try:
        import onnx
        from google.protobuf.message import DecodeError
    except ImportError:
        raise WeightError(
            f"cannot read '{file.label}': the package 'onnx' is not installed; "
            "install transom[onnx]"
        ) from None
    if file.data.size > _MAX_MODEL:
        raise WeightError(
            f"expected at most {_MAX_MODEL} bytes in '{file.label}', the limit of "
            f"ONNX, but got {file.data.size}"
        )
    try:
        scan = scan_model(file.data.data)
        return OnnxModel(file, onnx.ModelProto.FromString(scan.rest), scan.raw_data)
    except WireError as e:
        raise WeightError(f"'{file.label}' is not an ONNX model: {e}") from None
    except DecodeError:
        raise WeightError(f"'{file.label}' is not an ONNX model") from None


def weights_of(
    model: OnnxModel, files: WeightFiles, folder: str
) -> Mapping[str, StoredWeight]:
    """The weights of a model; `folder` is its folder, relative to the base."""
    stored: dict[str, StoredWeight] = {}
    for name, tensor, raw in _named_tensors(model):
        stored.setdefault(name, _stored(tensor, raw, model.file, files, folder))
    return stored


def _named_tensors(
    model: OnnxModel,
) -> "Iterator[tuple[str, TensorProto, Array | None]]":
    """Tensors by name, each with its raw data where that is not in the tensor."""
    graph = model.proto.graph
    for tensor, span in zip(graph.initializer, model.raw_data, strict=True):
        yield (
            tensor.name,
            tensor,
            None if span is None else model.file.data[slice(*span)],
        )
    for node in graph.node:
        if node.op_type == "Constant" and len(node.output) == 1:
            for attribute in node.attribute:
                if attribute.name == "value":
                    yield node.output[0], attribute.t, None


def _stored(
    tensor: "TensorProto",
    raw: Array | None,
    file: OpenFile,
    files: WeightFiles,
    folder: str,
) -> StoredWeight:
    from onnx import TensorProto

    label = f"weight '{tensor.name}' in '{file.label}'"
    kind = kind_name(tensor.data_type)
    packed = PACKED.get(kind)
    dtype = _DTYPES.get(kind) if packed is None else packed.dtype
    shape = tuple(tensor.dims)

    def load() -> tuple[Array, FileIdentity]:
        assert dtype is not None, "the caller compared the types"
        count = element_count(label, shape)
        if packed is not None:
            if tensor.data_location == TensorProto.EXTERNAL:
                raise WeightError(f"{label}: external data of {kind} is not supported")
            return _unpacked(tensor, label, raw, count, packed), file.identity
        if tensor.data_location == TensorProto.EXTERNAL:
            length = count * dtype.itemsize
            data, span = _external(tensor, label, files, folder, length)
        elif raw is not None or tensor.HasField("raw_data"):
            held = np.frombuffer(tensor.raw_data, np.uint8) if raw is None else raw
            data, span = OpenFile(file.label, held, file.identity), (0, held.size)
        else:
            return _typed(tensor, label, kind, count, dtype), file.identity
        return checked_flat(data, label, span, count, dtype), data.identity

    return StoredWeight(dtype, kind, shape, load)


def tensor_elements(tensor: "TensorProto", label: str) -> Array:
    """The elements of a tensor that is no weight. Raises WeightError."""
    kind = kind_name(tensor.data_type)
    packed = PACKED.get(kind)
    dtype = _DTYPES.get(kind) if packed is None else packed.dtype
    if dtype is None:
        raise WeightError(f"{label}: elements of type {kind} are not supported")
    count = element_count(label, tensor.dims)
    if tensor.data_location == tensor.EXTERNAL:
        raise WeightError(f"{label}: external data is not supported here")
    if packed is not None:
        return _unpacked(tensor, label, None, count, packed).reshape(tensor.dims)
    if not tensor.HasField("raw_data"):
        return _typed(tensor, label, kind, count, dtype).reshape(tensor.dims)
    raw = np.frombuffer(tensor.raw_data, np.uint8)
    if raw.size != count * dtype.itemsize:
        raise WeightError(
            f"{label}: expected {count * dtype.itemsize} bytes, but got {raw.size}"
        )
    array = raw != 0 if dtype == np.bool_ else raw.view(dtype)
    return array.reshape(tensor.dims)


def kind_name(data_type: int) -> str:
    """The name of an element type of ONNX, else its number."""
    from onnx import TensorProto

    kinds = TensorProto.DataType
    return kinds.Name(data_type) if data_type in kinds.values() else str(data_type)  # pyright: ignore[reportArgumentType] # it is one of them


def dtype_of_kind(data_type: int) -> np.dtype[Any] | None:
    """The dtype of an element type of ONNX, or None if NumPy has none."""
    return _DTYPES.get(kind_name(data_type))


def kind_of_dtype(dtype: np.dtype[Any]) -> int:
    """The element type of ONNX for the dtype of an element type of the IR."""
    from onnx import TensorProto

    (name,) = (name for name, known in _DTYPES.items() if known == dtype)
    return TensorProto.DataType.Value(name)


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


def _unpacked(
    tensor: "TensorProto", label: str, raw: Array | None, count: int, packed: Packed
) -> Array:
    """Elements of few bits, one in each byte; signed numbers keep their sign."""
    if raw is None and tensor.HasField("raw_data"):
        raw = np.frombuffer(tensor.raw_data, np.uint8)
    if raw is None:
        raw = np.array(tensor.int32_data, np.int64).astype(np.uint8)
    size = -(-count * packed.bits // 8)
    if raw.size != size:
        raise WeightError(f"{label}: expected {size} bytes, but got {raw.size}")
    shifts = np.arange(0, 8, packed.bits, dtype=np.uint8)
    parts = (raw[:, None] >> shifts).reshape(-1)[:count]
    high = (parts << np.uint8(8 - packed.bits)).view(packed.dtype)
    return high >> packed.dtype.type(8 - packed.bits)


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
