"""
A node test of each operator with sizes that are open: compiled once, run with those of
the test and with larger ones.

Equal sizes of a test have one name, and a size of 1 stays, as it may broadcast. What is
expected of the larger ones is what ONNX's reference evaluation gives. An operator that
needs static sizes is skipped with the reason; `passes.txt` lists the others.
"""

import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="needs the package onnx")
from onnx import defs, numpy_helper  # noqa: E402
from onnx.backend.test.loader import load_model_tests  # noqa: E402
from onnx.backend.test.runner import Runner  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from transom.frontends.onnx_backend import TransomBackend  # noqa: E402

GROWTH = 2
"""By how much sizes grow."""

REFERENCE = {"rtol": 2e-3, "atol": 1e-5}
"""The reference computes some in the type of the elements, in another order."""


WEIGHTED = frozenset(
    {
        *("Conv", "ConvInteger", "ConvTranspose", "DeformConv", "GRU", "LSTM"),
        *("CausalConvWithState", "QLinearConv", "RNN", "STFT"),
    }
)
"""Operators whose second input and those after it are weights, of static sizes."""


def array_of(value: Any) -> Any:
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return value


def is_tensors(values: Any) -> bool:
    kinds = onnx.TensorProto | np.ndarray | np.generic
    return all(isinstance(value, kinds) for value in values)


@cache
def cases() -> Mapping[str, Any]:
    """The first test of each operator whose inputs have dimensions."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests: list[Any] = load_model_tests(kind="node")
    found: dict[str, Any] = {}
    for test in tests:
        nodes, ((given, _), *_) = test.model.graph.node, test.data_sets
        if len(nodes) == 1 and given and is_tensors(given):
            has_sizes = any(size > 1 for v in given for size in np.shape(array_of(v)))
            if has_sizes and nodes[0].domain == "":
                found.setdefault(nodes[0].op_type, test)
    return found


def with_open_sizes(model: Any) -> Any:
    """The model with a name for each size."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    count = 1 if made.graph.node[0].op_type in WEIGHTED else len(made.graph.input)
    for value in (*made.graph.input[:count], *made.graph.output):
        type = value.type
        if type.HasField("optional_type"):
            type = type.optional_type.elem_type
        for dim in type.tensor_type.shape.dim:
            if dim.dim_value > 1:
                dim.dim_param = f"size{dim.dim_value}"
    return made


def grown(array: Any, rng: np.random.Generator) -> Any:
    """Elements like those of an array, in a larger shape."""
    shape = [size + GROWTH if size > 1 else size for size in np.shape(array)]
    return rng.choice(np.ravel(array), shape)


OPERATORS = sorted(
    {schema.name for schema in defs.get_all_schemas() if schema.domain == ""}
)


@pytest.mark.parametrize("kind", OPERATORS)
def test_dynamic(kind: str) -> None:
    test = cases().get(kind)
    if test is None:
        pytest.skip("there is no test of one node with sizes")
    program = TransomBackend.prepare(with_open_sizes(test.model))
    ((given, expected), *_) = test.data_sets
    inputs = [array_of(value) for value in given]
    found = program.run(inputs)
    wanted = [array_of(value) for value in expected]
    Runner.assert_similar_outputs(wanted, list(found), test.rtol, test.atol)
    fixed = set(program.known)  # compiled again for other values
    if kind in WEIGHTED:
        fixed |= set(program.inputs[1:])
    rng = np.random.default_rng(0)
    larger = [
        value if name in fixed else grown(value, rng)
        for name, value in zip(program.inputs, inputs, strict=True)
    ]
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            evaluator = ReferenceEvaluator(with_open_sizes(test.model))
            wanted = evaluator.run(None, dict(zip(program.inputs, larger, strict=True)))
    except Exception:  # whatever it raises for sizes that do not fit
        return
    count = len(program.programs)
    found = program.run(larger)
    assert len(program.programs) == count, "it was compiled again"
    Runner.assert_similar_outputs(wanted, list(found), **REFERENCE)
