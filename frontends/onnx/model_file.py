"""
Reading a model's file without trusting it.
"""

import errno
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import LocationAttr

from transom.dialects.diagnostics import OpError, file_location
from transom.dialects.onnx_weights import parse_model, weights_of
from transom.dialects.weight_files import WeightError, WeightFiles

if TYPE_CHECKING:
    from onnx import GraphProto

DOMAINS = ("", "ai.onnx")
"""The names of ONNX's own operators."""

MIN_OPSET = 6
"""Before, many operators said other things under their names."""


@dataclass(frozen=True)
class Model:
    """A model whose file is read, and whose weights are not."""

    path: str
    graph: "GraphProto"
    """Without the raw data of its initialisers, which `files` gives."""
    opset: int
    opsets: Mapping[str, int]
    """The versions of all domains."""
    files: WeightFiles

    @property
    def file_name(self) -> str:
        """The path of the model relative to its folder."""
        return Path(self.path).name

    def place(self, number: int = 1) -> LocationAttr:
        """A place in the model: the number of a node stands for a line."""
        return place_in(self.path, number)


def place_in(path: str, number: int = 1) -> LocationAttr:
    """The place of the node of this number, counted from 1; the first is the file's."""
    return file_location(path, number, 1)


def read_model(path: str, data_folders: Sequence[str] = ()) -> Model:
    """
    The model of a file; external data is not looked at. Links may lead to one of
    `data_folders`.

    Raises `OpError` if the file is no model, and `OSError` if it can not be read.
    """
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    os.stat(path)
    files = WeightFiles(Path(path).parent, data_folders)
    try:
        file = files.open(Path(path).name)
        model = parse_model(file)
    except WeightError as e:
        raise OpError(place_in(path), str(e)) from None
    files.provide(file, weights_of(model, files, ""))
    proto = model.proto
    if not proto.HasField("graph") or not proto.opset_import:
        raise OpError(
            place_in(path), "expected an ONNX model with a graph and an opset"
        )
    if proto.functions:
        raise OpError(
            place_in(path), "expected a model without functions of its own; inline them"
        )
    opsets = {entry.domain: entry.version for entry in proto.opset_import}
    opset = next((opsets[name] for name in DOMAINS if name in opsets), None)
    if opset is None:
        raise OpError(place_in(path), "expected an opset of the default domain")
    _check_opset(path, opset)
    return Model(path, proto.graph, opset, opsets, files)


def _check_opset(path: str, opset: int) -> None:
    from onnx import defs

    last = defs.onnx_opset_version()
    if not 1 <= opset <= last:
        raise OpError(
            place_in(path), f"expected an opset of 1 to {last}, but got {opset}"
        )


def is_as_later(kind: str, opset: int) -> bool:
    """Whether an operator of an early opset still is what it was at `MIN_OPSET`."""
    from onnx import defs

    if opset >= MIN_OPSET:
        return True
    try:
        early, later = (defs.get_schema(kind, v, "") for v in (opset, MIN_OPSET))
    except defs.SchemaError:
        return False
    return early.since_version == later.since_version
