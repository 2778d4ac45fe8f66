"""
Random nests: they print and parse back, and canonicalization keeps what they compute.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from tir_cases import Case, cases, context, parse, text_of
from tir_evaluator import run_kernel
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.transforms.canonicalize import CanonicalizePass

from transom.dialects import tir

random_nests = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def check_roundtrip(module: ModuleOp) -> None:
    for generic in (False, True):
        for locations in (False, True):
            text = text_of(module, generic=generic, locations=locations)
            again = parse(text)
            assert text_of(again, generic=generic, locations=locations) == text
            assert again.is_structurally_equivalent(module)


def check_equal(case: Case, other: tir.FuncOp) -> None:
    before, after = case.copies(), case.copies()
    run_kernel(case.kernel, *before)
    run_kernel(other, *after)
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b)


@random_nests
@given(cases(schedules=True))
def test_random_nests_print_and_parse_back(case: Case):
    module = ModuleOp([case.kernel])
    module.verify()
    check_roundtrip(module)
    case.kernel.detach()


@random_nests
@given(cases())
def test_canonical_nests_compute_the_same(case: Case):
    module = ModuleOp([case.kernel.clone()])
    CanonicalizePass().apply(context(), module)
    module.verify()
    check_roundtrip(module)
    kernel = module.body.block.first_op
    assert isinstance(kernel, tir.FuncOp)
    check_equal(case, kernel)


def _documented() -> list[Any]:
    examples: list[Any] = []
    for owner in (*tir.TIR.operations, *tir.TIR.attributes):
        for number, text in enumerate(
            re.findall(r"```mlir\n(.*?)```", inspect.getdoc(owner) or "", re.DOTALL)
        ):
            examples.append(pytest.param(text, id=f"{owner.name}-{number}"))
    return examples


@pytest.mark.parametrize("text", _documented())
def test_documented_examples_parse_back(text: str):
    if text.startswith("#"):
        text = f"builtin.module attributes {{a = {text.strip()}}} {{}}"
    elif text.startswith("!"):
        text = f"func.func private @f({text.strip()})"
    check_roundtrip(parse(text))


def test_everything_is_documented_by_an_example():
    owners: list[type[Operation] | type[Attribute]] = [
        *tir.TIR.operations,
        *tir.TIR.attributes,
    ]
    for owner in owners:
        assert "```mlir" in (inspect.getdoc(owner) or ""), owner.name
