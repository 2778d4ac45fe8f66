"""
Look over a serialized ONNX model before it is parsed.

The bytes of a model may come from anywhere, and parsing them makes an object for every
message, which takes a hundred times the two bytes that an empty one has in the file.
The scan therefore counts messages and their nesting first. It also leaves the bytes of
initialisers out of what is parsed, so that they stay in the mapped file: each is a span
of it.

The encoding is that of protobuf
(https://protobuf.dev/programming-guides/encoding); which fields are messages is read
from the descriptors of `onnx`.
"""

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor

MAX_MESSAGES = 8_000_000
"""Nodes, attributes, dimensions and so on of a model, all together."""

MAX_DEPTH = 64
"""Nesting of messages; a graph in a node is three levels deeper than its graph."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED_SIZES = {_FIXED64: 8, _FIXED32: 4}

_GRAPH, _INITIALIZER, _RAW_DATA = 7, 5, 9
"""The numbers of the fields `ModelProto.graph`, `GraphProto.initializer` and
`TensorProto.raw_data`."""

Span = tuple[int, int]
"""The first byte, and the one behind the last."""


class WireError(ValueError):
    """The bytes are no model, or an absurd one; the message says what is wrong."""


class Scan(NamedTuple):
    """A model that is safe to parse."""

    rest: bytes
    """The model without the raw data of its initialisers."""
    raw_data: list[Span | None]
    """Where the raw data of each initialiser is, if it has some."""


class _Field(NamedTuple):
    number: int
    kind: int
    begin: int
    """The first byte of the field, which is its tag."""
    payload: int
    end: int


def scan_model(data: memoryview) -> Scan:
    """Look over a serialized `ModelProto`. Raises `WireError`."""
    from onnx import ModelProto

    scanner = _Scanner(data)
    rest = scanner.model(_shape_of(ModelProto.DESCRIPTOR))
    return Scan(rest, scanner.raw_data)


class _Shape(NamedTuple):
    """What the scan must know of a kind of message."""

    messages: "dict[int, Descriptor]"
    strings: frozenset[int]


@cache
def _shape_of(descriptor: "Descriptor") -> _Shape:
    fields: list[Any] = list(descriptor.fields)
    return _Shape(
        {f.number: f.message_type for f in fields if f.message_type is not None},
        frozenset(f.number for f in fields if f.type == f.TYPE_STRING),
    )


class _Scanner:
    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.messages = 0
        self.raw_data: list[Span | None] = []

    def model(self, shape: _Shape) -> bytes:
        """The model without raw data."""
        pieces: list[bytes] = []
        for field in self.fields(0, len(self.data)):
            if field.number == _GRAPH and field.kind == _BYTES:
                graph = self.graph(_shape_of(shape.messages[_GRAPH]), field)
                pieces += [_tag(_GRAPH), _varint(len(graph)), graph]
            else:
                self.check(field, shape, 1)
                pieces.append(self.bytes(field.begin, field.end))
        return b"".join(pieces)

    def graph(self, shape: _Shape, graph: _Field) -> bytes:
        """The graph of the model without raw data."""
        self.count(2)
        pieces: list[bytes] = []
        tensor_shape = _shape_of(shape.messages[_INITIALIZER])
        for field in self.fields(graph.payload, graph.end):
            if field.number == _INITIALIZER and field.kind == _BYTES:
                tensor = self.initializer(tensor_shape, field)
                pieces += [_tag(_INITIALIZER), _varint(len(tensor)), tensor]
            else:
                self.check(field, shape, 2)
                pieces.append(self.bytes(field.begin, field.end))
        return b"".join(pieces)

    def initializer(self, shape: _Shape, tensor: _Field) -> bytes:
        """An initialiser without raw data, of which the last counts."""
        self.count(3)
        pieces: list[bytes] = []
        span: Span | None = None
        for field in self.fields(tensor.payload, tensor.end):
            if field.number == _RAW_DATA and field.kind == _BYTES:
                span = field.payload, field.end
            else:
                self.check(field, shape, 3)
                pieces.append(self.bytes(field.begin, field.end))
        self.raw_data.append(span)
        return b"".join(pieces)

    def check(self, field: _Field, shape: _Shape, depth: int) -> None:
        """Look over a field of a message of this shape."""
        if field.kind != _BYTES:
            return
        if field.number in shape.strings:
            try:
                self.bytes(field.payload, field.end).decode()
            except UnicodeDecodeError:
                raise WireError("a name is not UTF-8") from None
        inner = shape.messages.get(field.number)
        if inner is not None:
            self.count(depth + 1)
            inner_shape = _shape_of(inner)
            for below in self.fields(field.payload, field.end):
                self.check(below, inner_shape, depth + 1)

    def count(self, depth: int) -> None:
        """Note that there is one more message."""
        self.messages += 1
        if self.messages > MAX_MESSAGES:
            raise WireError(f"it has more than {MAX_MESSAGES} parts")
        if depth > MAX_DEPTH:
            raise WireError(f"it is nested more than {MAX_DEPTH} deep")

    def bytes(self, begin: int, end: int) -> bytes:
        return self.data[begin:end].tobytes()

    def fields(self, at: int, end: int) -> Iterator[_Field]:
        """The fields of the message in these bytes."""
        while at < end:
            begin = at
            tag, at = self.varint(at, end)
            kind = tag & 7
            if kind == _VARINT:
                payload = at
                _, at = self.varint(at, end)
            elif kind == _BYTES:
                size, payload = self.varint(at, end)
                at = payload + size
            elif kind in _FIXED_SIZES:
                payload = at
                at += _FIXED_SIZES[kind]
            else:
                raise WireError(f"byte {begin} starts no field")
            if at > end:
                raise WireError(f"it ends inside the field at byte {begin}")
            yield _Field(tag >> 3, kind, begin, payload, at)

    def varint(self, at: int, end: int) -> tuple[int, int]:
        """A number of seven bits a byte, and the place behind it."""
        value = shift = 0
        while at < end and shift < 70:
            byte = self.data[at]
            value |= (byte & 0x7F) << shift
            at += 1
            if byte < 0x80:
                return value, at
            shift += 7
        raise WireError("it ends inside a number" if at >= end else "a number is long")


def _tag(number: int) -> bytes:
    return _varint(number << 3 | _BYTES)


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
