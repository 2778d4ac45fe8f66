"""
Checking a small model made by hand against onnxruntime.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx_models import model, runtime_outputs, save, value
from xdsl.dialects.builtin import ModuleOp

import transom
from transom.testing import interpret, reread

RNG = np.random.default_rng(0)


def floats(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def ints(*values: int) -> Any:
    return np.array(values, np.int64)


def kind_of(array: Any) -> str:
    name = str(array.dtype.name)
    return "i1" if name == "bool" else name.replace("float", "f").replace("int", "i")


def check(
    folder: Path,
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Any],
    weights: Mapping[str, Any] | None = None,
    *,
    outputs: Sequence[str] = ("y",),
    opset: int = 17,
    shapes: Mapping[str, Sequence[Any]] | None = None,
) -> ModuleOp:
    """Import a model; its text and what it computes are right."""
    infos = [
        value(name, (shapes or {}).get(name, array.shape), kind_of(array))
        for name, array in inputs.items()
    ]
    path = save(folder, model(nodes, infos, outputs, weights, opset=opset))
    module = transom.load(path)
    module.verify()
    found = interpret(reread(module), inputs, base=folder)
    expected = runtime_outputs(path, inputs)
    assert list(found) == list(outputs)
    for name, array in zip(outputs, expected, strict=True):
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        np.testing.assert_allclose(found[name], array, 1e-4, 1e-5, err_msg=name)
    return module


X = {"x": floats(2, 3, 5, 7)}
M = {"x": floats(4, 6)}
