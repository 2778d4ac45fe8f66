"""
ONNX's published node tests: what is imported gives the published values.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx.backend.test.loader import load_model_tests
from onnx_models import save

import transom
from transom.dialects.diagnostics import OpError
from transom.frontends.onnx.small_types import small_type
from transom.testing import interpret

IMPORTED = 600
"""At least so many tests are imported, of 1884."""

ROUNDING = {"bfloat16": 2**-6, "float16": 2**-9}
"""Two units in the last place; the published runner grants as much to bfloat16."""


def noise_of(published: Any) -> float:
    """
    What rounding leaves of a sum that should be 0, as in the published values of
    Fourier transforms, whose summands are as large as their largest sums.
    """
    if published.dtype not in (np.float32, np.float64) or not published.size:
        return 0
    finite = published[np.isfinite(published)]
    largest = np.abs(finite).max(initial=0)
    return float(np.finfo(published.dtype).eps * largest)


def array_of(value: Any) -> Any:
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    return np.asarray(value)


def frozen(proto: onnx.ModelProto, inputs: Sequence[Any]) -> onnx.ModelProto:
    """A model whose inputs but the first are initialisers, such as axes."""
    result = onnx.ModelProto()
    result.CopyFrom(proto)
    infos = list(proto.graph.input)[1:]
    for info, array in zip(infos, inputs[1:], strict=True):
        tensor = onnx.numpy_helper.from_array(array, info.name)
        result.graph.initializer.append(tensor)
    return result


def check(folder: Path, test: Any) -> bool:
    """Whether a test is imported, with right results."""
    ((given, expected),) = test.data_sets
    if any(value is None or isinstance(value, list) for value in given):
        return False  # optional values and sequences
    inputs = [array_of(value) for value in given]
    for proto in (test.model, frozen(test.model, inputs)):
        try:
            module = transom.load(save(folder, proto))
        except OpError:
            continue
        small = {
            info.name: type
            for info in (*proto.graph.input, *proto.graph.output)
            if (type := small_type(info.type.tensor_type.elem_type)) is not None
        }
        arrays = {
            info.name: small[info.name].to_bytes(x) if info.name in small else x
            for info, x in zip(proto.graph.input, inputs, strict=True)
        }
        found = interpret(module, arrays, base=folder)
        for name in small.keys() & found.keys():
            found[name] = small[name].from_bytes(found[name])
        for a, b in zip(found.values(), map(array_of, expected), strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape), test.name
            published = b.astype(np.float64)
            np.testing.assert_allclose(
                a.astype(np.float64),
                published,
                rtol=max(test.rtol, ROUNDING.get(str(a.dtype), 0)),
                atol=max(test.atol, noise_of(b)),
                err_msg=test.name,
            )
        return True
    return False


def test_nodes(tmp_path: Path):
    with np.errstate(all="ignore"):  # what ONNX computes as expected values
        tests: list[Any] = load_model_tests(kind="node")
    plain = [t for t in tests if len(t.data_sets) == 1]
    count = sum(check(tmp_path, test) for test in plain)
    print(f"{count} of {len(tests)} node tests are imported")
    assert count >= IMPORTED
