"""
Reading a model's file without trusting it.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, LocationAttr, StringAttr

from transom.dialects.diagnostics import OpError

if TYPE_CHECKING:
    from onnx import ModelProto

MAX_BYTES = 2**31 - 1
"""The limit of protobuf."""

MAX_NODES = 1_000_000
"""Nodes of a graph before it is refused."""


def place_in(path: str, line: int = 1) -> LocationAttr:
    """A place in a model: the number of a node stands for a line."""
    return FileLineColLoc(StringAttr(path), IntAttr(line), IntAttr(1))


def read_model(path: str) -> "ModelProto":
    """
    The model of a file; external data is not looked at.

    Raises `OpError` if the file is no model, and `OSError` if it can not be read.
    """
    try:
        import onnx
        from google.protobuf.message import DecodeError
    except ImportError:
        raise OpError(
            place_in(path), "the package 'onnx' is not installed; install transom[onnx]"
        ) from None
    size = os.stat(path).st_size
    if size > MAX_BYTES:
        raise OpError(
            place_in(path),
            f"expected at most {MAX_BYTES} bytes, the limit of ONNX, but got {size}",
        )
    try:
        model = onnx.ModelProto.FromString(Path(path).read_bytes())
    except (DecodeError, ValueError):
        raise OpError(place_in(path), "expected an ONNX model") from None
    if not model.HasField("graph") or not model.opset_import:
        raise OpError(
            place_in(path), "expected an ONNX model with a graph and an opset"
        )
    if len(model.graph.node) > MAX_NODES:
        raise OpError(
            place_in(path),
            f"expected at most {MAX_NODES} nodes, but got {len(model.graph.node)}",
        )
    return model
