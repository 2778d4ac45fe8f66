"""
What a safetensors file holds, without touching its elements.

The format (https://huggingface.co/docs/safetensors): eight bytes with the little-endian
length of a JSON header, the header, the elements. The header maps each name to
`dtype`, `shape` and `data_offsets`, counted from the end of the header.
"""

import json
from typing import Any, cast

import numpy as np

from transom.dialects.dtypes import BFLOAT16
from transom.dialects.weight_files import (
    Array,
    FileIdentity,
    OpenFile,
    StoredWeight,
    WeightError,
    checked_flat,
    element_count,
)

_MAX_HEADER = 100_000_000
"""As in the reference implementation."""

_DTYPES: dict[str, np.dtype[Any]] = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype("u1"),
    "U16": np.dtype("<u2"),
    "U32": np.dtype("<u4"),
    "U64": np.dtype("<u8"),
    "I8": np.dtype("i1"),
    "I16": np.dtype("<i2"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
    "F16": np.dtype("<f2"),
    "BF16": BFLOAT16,
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}


def read_safetensors(file: OpenFile) -> dict[str, StoredWeight]:
    """The weights of the file; raises WeightError if its header is not well-formed."""
    broken = f"'{file.label}' is not a safetensors file"
    if file.data.size < 8:
        raise WeightError(f"{broken}: expected at least 8 bytes")
    length = int.from_bytes(file.data[:8].tobytes(), "little")
    if length > min(_MAX_HEADER, file.data.size - 8):
        raise WeightError(f"{broken}: its header of {length} bytes exceeds the file")
    try:
        header = json.loads(file.data[8 : 8 + length].tobytes())
    except (ValueError, RecursionError):
        raise WeightError(f"{broken}: its header is not JSON") from None
    if not isinstance(header, dict):
        raise WeightError(f"{broken}: its header is not a JSON object")
    entries = cast(dict[str, Any], header)
    return {
        name: _stored(file, f"weight '{name}' in '{file.label}'", entry, 8 + length)
        for name, entry in entries.items()
        if name != "__metadata__"
    }


def _stored(file: OpenFile, label: str, entry: Any, start: int) -> StoredWeight:
    shape, offsets, kind = _fields(label, entry)
    dtype = _DTYPES.get(kind)

    def load() -> tuple[Array, FileIdentity]:
        assert dtype is not None, "the caller compared the types"
        count = element_count(label, shape)
        span = (start + offsets[0], start + offsets[1])
        return checked_flat(file, label, span, count, dtype), file.identity

    return StoredWeight(dtype, kind, shape, load)


def _fields(label: str, entry: Any) -> tuple[tuple[int, ...], tuple[int, ...], str]:
    if isinstance(entry, dict):
        fields = cast(dict[str, Any], entry)
        shape, kind = _sizes(fields.get("shape")), fields.get("dtype")
        offsets = _sizes(fields.get("data_offsets"))
        if shape is not None and offsets is not None and len(offsets) == 2:
            return shape, offsets, str(kind)
    raise WeightError(f"{label}: expected 'dtype', 'shape' and two 'data_offsets'")


def _sizes(value: Any) -> tuple[int, ...] | None:
    if not isinstance(value, list):
        return None
    values = cast(list[Any], value)
    if not all(type(v) is int and v >= 0 for v in values):
        return None
    return tuple(values)
