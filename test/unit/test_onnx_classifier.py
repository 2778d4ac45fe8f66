"""
A network as it is shipped, the classifier of text directions of the package
`rapidocr-onnxruntime`, gives onnxruntime's numbers: as it is, with batches of any size,
and quantised. Skipped without the package.
"""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transom

NAME = "ch_ppocr_mobile_v2.0_cls_infer.onnx"
IMAGE = (3, 48, 192)
STEP = 1 / 255
"""Of the quantised result, which lies between 0 and 1."""

runtime: Any = import_module("onnxruntime")  # which has no types


@pytest.fixture(scope="module")
def classifier() -> Path:
    spec = find_spec("rapidocr_onnxruntime")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder, "models", NAME)
        if path.exists():
            return path
    pytest.skip("needs the package 'rapidocr-onnxruntime'")


def images(count: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((count, *IMAGE)).astype(np.float32)


def expected(path: Path, x: Any, *, optimised: bool = True) -> Any:
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    if not optimised:
        level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.graph_optimization_level = level
    session = runtime.InferenceSession(
        str(path), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"x": x})[0]


def found(program: Any, x: Any) -> Any:
    (result,) = program.run({"x": x}).values()
    return result


def test_static_batch(classifier: Path):
    module = transom.load(classifier, shapes={"x": (1, *IMAGE)})
    x = images(1, seed=1)
    result = found(transom.compile(module), x)
    np.testing.assert_allclose(result, expected(classifier, x), 2e-5, 2e-5)


def test_dynamic_batch(classifier: Path):
    """Compiled once for all."""
    program = transom.compile(transom.load(classifier, shapes={"x": (None, *IMAGE)}))
    for count in (1, 3, 2):
        x = images(count, seed=count)
        np.testing.assert_allclose(
            found(program, x), expected(classifier, x), 2e-5, 2e-5
        )


class Calibration:
    """Images that tell the quantiser how large values get."""

    def __init__(self) -> None:
        self.images: Iterator[Any] = (images(1, seed) for seed in range(4))

    def get_next(self) -> dict[str, Any] | None:
        image = next(self.images, None)
        return None if image is None else {"x": image}


def test_quantised(classifier: Path, tmp_path: Path):
    """
    As the nodes of the model say, which is what onnxruntime computes without its
    optimisations: those change the roundings, and so some results by several steps.
    """
    quantization: Any = import_module("onnxruntime.quantization")
    path = tmp_path / "quantised.onnx"
    quantization.quantize_static(
        str(classifier),
        str(path),
        Calibration(),
        quant_format=quantization.QuantFormat.QDQ,
        per_channel=True,
        reduce_range=True,  # or sums overflow where there are no dot products
        activation_type=quantization.QuantType.QUInt8,
        weight_type=quantization.QuantType.QInt8,
    )
    program = transom.compile(transom.load(path, shapes={"x": (1, *IMAGE)}))
    differences: list[float] = []
    for seed in range(10, 16):
        x = images(1, seed)
        difference = found(program, x) - expected(path, x, optimised=False)
        differences.append(float(np.abs(difference).max()))
    assert max(differences) <= 1.01 * STEP
    assert sum(difference > STEP / 2 for difference in differences) <= 2
