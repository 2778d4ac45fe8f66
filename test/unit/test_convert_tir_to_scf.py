"""
`convert-tir-to-scf` keeps what kernels compute: every access kind, random nests.
"""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, note, settings
from tir_cases import Case, cases, context, text_of
from tir_evaluator import run_kernel
from xdsl.dialects.builtin import ModuleOp

from transom.dialects import tir
from transom.lowering.convert_tir_to_scf import ConvertTirToScfPass


def lowered(kernel: tir.FuncOp) -> tir.FuncOp:
    module = ModuleOp([kernel.clone()])
    ConvertTirToScfPass().apply(context(), module)
    module.verify()
    result = module.body.block.first_op
    assert isinstance(result, tir.FuncOp)
    assert not any(isinstance(op, tir.NestOp | tir.BlockOp) for op in result.walk())
    return result


@settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(cases(schedules=True))
def test_random_nests_compute_the_same(case: Case):
    before, after = case.copies(), case.copies()
    run_kernel(case.kernel, *before)
    loops = lowered(case.kernel)
    note(text_of(loops))
    run_kernel(loops, *after)
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b)
