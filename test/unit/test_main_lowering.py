"""What main computes stays the same on its way from tensors to pools."""

from collections.abc import Sequence

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from main_cases import INPUTS, N, mains, module
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from transom.dialects.parser import allow_deep_recursion, parse_ir
from transom.dialects.verifier import verify_module
from transom.interpreters.interpreter import Interpreter
from transom.passes.pipeline import parse_pipeline
from transom.registry import new_context, registry

PASSES = ("tir-bufferize-main", "tir-plan-memory", "convert-tir-to-executor")

allow_deep_recursion()  # before hypothesis looks at the limit

Arrays = Sequence[NDArray[np.int32]]


def inputs(size: int, seed: int) -> Arrays:
    generator = np.random.default_rng(seed)
    return [
        generator.integers(-99, 99, [size if s == N else int(s) for s in shape]).astype(
            np.int32
        )
        for shape in INPUTS
    ]


def run(ir: ModuleOp, arrays: Arrays) -> Arrays:
    """The results of main, which leaves its inputs as they are."""
    copies = [array.copy() for array in arrays]
    results = Interpreter(ir).run("main", copies)
    for before, after in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(before, after)
    return results


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(mains(), st.integers(1, 4), st.integers(0, 99))
def test_every_step_gives_the_same_numbers(main: str, size: int, seed: int) -> None:
    ctx = new_context()
    ir = parse_ir(ctx, module(main))
    verify_module(ir)
    arrays = inputs(size, seed)
    expected = run(ir, arrays)
    for name in PASSES:
        parse_pipeline(name, registry().passes, ctx).apply(ctx, ir)
        verify_module(ir)
        results = run(ir, arrays)
        for number, (a, b) in enumerate(zip(expected, results, strict=True)):
            np.testing.assert_array_equal(a, b, f"result {number} after {name}")
