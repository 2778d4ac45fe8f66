"""What main computes stays the same on its way from tensors to pools."""

from collections.abc import Sequence

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from main_cases import INPUTS, N, mains, module
from numpy.typing import NDArray
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

from transom.compiler import to_code
from transom.dialects import tir
from transom.dialects.diagnostics import OpError
from transom.dialects.executor import PoolOp
from transom.dialects.parser import allow_deep_recursion, parse_ir
from transom.dialects.target import set_phase
from transom.dialects.verifier import verify_module
from transom.driver import lower, poison
from transom.interpreters.interpreter import Interpreter
from transom.passes.pipeline import parse_pipeline
from transom.passes.tir_verify_plan import verify_plan
from transom.registry import new_context, registry
from transom.runtime.program import Program

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)

PASSES = (
    "tir-bufferize-main",
    "tir-build-in-place",
    "tir-plan-memory",
    "convert-tir-to-executor",
)

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


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
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


@settings(max_examples=40, deadline=None, suppress_health_check=SLOW)
@given(mains(), st.data())
def test_an_accepted_plan_gives_the_same_numbers(
    main: str, data: st.DataObject
) -> None:
    """Offsets at random: wrong ones are refused, and what is accepted is right."""
    ctx = new_context()
    ir = parse_ir(ctx, module(main))
    arrays = inputs(3, 0)
    expected = run(ir, arrays)
    for name in PASSES[:3]:
        parse_pipeline(name, registry().passes, ctx).apply(ctx, ir)
    for op in ir.walk():
        if isinstance(op, PoolOp):
            op.size = IntegerAttr(1 << 12, i64)
        if isinstance(op, tir.AllocOp) and op.pool is not None:
            slot = data.draw(st.integers(0, 4))
            op.offset = IntegerAttr(64 * slot, i64)
    try:
        verify_plan(ir)
    except OpError:
        return
    for number, (a, b) in enumerate(zip(expected, run(ir, arrays), strict=True)):
        np.testing.assert_array_equal(a, b, f"result {number}")


@settings(max_examples=15, deadline=None, suppress_health_check=SLOW)
@given(mains(), st.integers(1, 4), st.integers(0, 99))
def test_machine_code_gives_the_same_numbers(main: str, size: int, seed: int) -> None:
    ctx = new_context()
    ir = parse_ir(ctx, module(main))
    set_phase(ir, "scheduled")
    arrays = inputs(size, seed)
    expected = run(ir, arrays)
    poison(ir, ctx)
    program = Program(to_code(lower(ir, "machine", ctx=ctx)))
    for _ in range(2):  # the second run finds the pools as the first one left them
        results = program(*(array.copy() for array in arrays))
        for number, (a, b) in enumerate(zip(expected, results.values(), strict=True)):
            np.testing.assert_array_equal(a, b, f"result {number}")
