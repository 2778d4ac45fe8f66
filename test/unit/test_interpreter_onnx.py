"""
Graph ops against the values that ONNX publishes for its operators.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest
from onnx.backend.test.loader import load_model_tests
from onnx_nodes import ADAPTORS, Unsupported, adapt, array_of

from transom.interpreters.interpreter import Interpreter

COVERED = 500
"""At least so many data sets are compared."""


@cache
def node_tests() -> dict[str, list[Any]]:
    """The tests of one node each, by operator."""
    found: dict[str, list[Any]] = {}
    with np.errstate(all="ignore"):  # what ONNX computes as expected values
        tests: list[Any] = load_model_tests(kind="node")
    for test in tests:
        if len(test.model.graph.node) == 1 and not test.name.endswith("_expanded"):
            found.setdefault(test.model.graph.node[0].op_type, []).append(test)
    return found


def check(test: Any) -> int:
    """The number of data sets of a test that graph ops can say, all of them right."""
    count = 0
    for given, expected in test.data_sets:
        try:
            inputs = [array_of(value) for value in given]
            outputs = [np.asarray(array_of(value)) for value in expected]
            module = adapt(test.model, inputs)
        except Unsupported:
            continue
        found = Interpreter(module).run("main", [x for x in inputs if x is not None])
        assert len(found) == len(outputs), test.name
        for a, b in zip(found, outputs, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape), test.name
            np.testing.assert_allclose(
                a.astype(np.float64),
                b.astype(np.float64),
                rtol=test.rtol,
                atol=test.atol,
                err_msg=test.name,
            )
        count += 1
    return count


@pytest.mark.parametrize("operator", ADAPTORS)
def test_operator(operator: str):
    assert sum(check(test) for test in node_tests()[operator]) > 0


def test_coverage():
    total = 0
    for operator in ADAPTORS:
        for test in node_tests()[operator]:
            for given, _ in test.data_sets:
                try:
                    adapt(test.model, [array_of(value) for value in given])
                except Unsupported:
                    continue
                total += 1
    assert total >= COVERED
