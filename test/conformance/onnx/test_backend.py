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

import numpy as np
import pytest

# The tests of real models write their files there.
os.environ.setdefault("ONNX_HOME", tempfile.mkdtemp(prefix="onnx-home-"))

onnx_test = pytest.importorskip("onnx.backend.test", reason="needs the package onnx")

from transom.frontends.onnx_backend import TransomBackend  # noqa: E402

with np.errstate(all="ignore"), warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what ONNX computes as expected values
    suite = onnx_test.BackendTest(TransomBackend, __name__)
suite.exclude("_cuda$")
globals().update(suite.test_cases)
