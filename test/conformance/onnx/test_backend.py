"""
The conformance tests that the `onnx` package brings, compiled to machine code.

A test that transom does not compile is skipped with the reason. Those that pass are
listed in `passes.txt`; one of them that no longer does is a failure. To write the list
again:

```sh
.venv/bin/pytest -n 2 test/conformance/onnx --update-passes
```
"""

import os
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest

LIST = Path(__file__).parent / "passes.txt"

# The tests of real models write their files there.
os.environ.setdefault("ONNX_HOME", tempfile.mkdtemp(prefix="onnx-home-"))

onnx_test = pytest.importorskip("onnx.backend.test", reason="needs the package onnx")

from transom.frontends.onnx_backend import TransomBackend  # noqa: E402

# The expected values were rounded to f16 after each step, and are up to 0.9e-3 from the
# exact ones; those of transom are up to 0.7e-3 off. Two units in the last place, as the
# runner allows for bf16.
TWO_UNITS = {"rtol": 2.0**-9}

# What should be 0 was expected as 1.9e-7, the rounding of sums of about 100.
SMALL = {"atol": 1e-6}
TOLERANCES = {
    "test_attention_4d_causal_fp16": TWO_UNITS,
    "test_attention_4d_causal_fp16_expanded": TWO_UNITS,
    "test_dft_inverse": SMALL,
    "test_dft_inverse_opset19": SMALL,
}

with np.errstate(all="ignore"), warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what ONNX computes as expected values
    suite = onnx_test.BackendTest(TransomBackend, __name__, TOLERANCES)
suite.exclude("_cuda$")
globals().update(suite.test_cases)

BARS = {"Node": 1500, "PyTorchConverted": 78, "PyTorchOperator": 32, "Simple": 7}
"""How many tests of each kind pass at least; all light models do."""


def test_passes_of_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    """By the list, which the tests above keep to."""
    names = set(LIST.read_text().split())
    counts: dict[str, tuple[int, int]] = {}
    for name, case in suite.test_cases.items():
        kind = name.removeprefix("OnnxBackend").removesuffix("ModelTest")
        tests = {test for test in dir(case) if test.endswith("_cpu")}
        counts[kind] = len(tests & names), len(tests)
    with capsys.disabled():
        print("", *(f"{kind}: {a} of {b}" for kind, (a, b) in sorted(counts.items())))
    assert counts["Real"] == (9, 9)
    for kind, bar in BARS.items():
        assert counts[kind][0] >= bar, kind
