"""
Two real networks give onnxruntime's numbers, at every phase, from text.

SqueezeNet is run in every way at every phase. ResNet-50 goes through the text of every
phase once, is interpreted where modules are interpreted, and run at the end.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_models import light_model, runtime_outputs

import transom
from transom.compiler import to_code
from transom.driver import PHASES
from transom.registry import new_context
from transom.runtime.program import Program
from transom.testing import INTERPRETED, check_phases, interpret, random_inputs, reread

TOLERANCE = 1e-4
"""Of the largest logit."""


def check_logits(found: Mapping[str, Any], expected: Any, way: str) -> None:
    (logits,) = found.values()
    assert logits.shape == expected.shape
    error = np.abs(logits - expected).max() / np.abs(expected).max()
    print(f"{way}: {error:.1e} of the largest logit")
    assert error <= TOLERANCE, way


def test_squeezenet(tmp_path: Path):
    path = light_model("squeezenet", tmp_path)
    module = transom.load(path)
    inputs = random_inputs(module, seed=1)
    (expected,) = runtime_outputs(path, inputs)
    check_logits(interpret(module, inputs), expected, "as imported")
    results = check_phases(module, inputs, relative=TOLERANCE)
    for result in results:
        print(
            f"{result.phase} {result.way}: {result.error:.1e}, {result.seconds:.1f} s"
        )
    assert {r.phase for r in results if r.way == "compiled"} == {p.name for p in PHASES}
    program = Program(to_code(results[-1].module, base=tmp_path))
    check_logits(program.run(inputs), expected, "machine code")


def test_resnet50(tmp_path: Path):
    path = light_model("resnet50", tmp_path)
    module = transom.load(path)
    inputs = random_inputs(module, seed=1)
    (expected,) = runtime_outputs(path, inputs)
    ctx = new_context()
    for phase in PHASES:
        module = reread(transom.lower(module, phase.name, ctx=ctx), ctx)
        if phase.name in INTERPRETED:
            found = interpret(module, inputs, base=tmp_path)
            check_logits(found, expected, f"{phase.name} interpreted")
    program = Program(to_code(module, base=tmp_path))
    check_logits(program.run(inputs), expected, "machine code")


def test_compile(tmp_path: Path):
    """The short way, and a program that holds what it needs."""
    path = light_model("squeezenet", tmp_path)
    module = transom.load(path)
    inputs = random_inputs(module, seed=1)
    (expected,) = runtime_outputs(path, inputs)
    program = transom.compile(module, poison_memory=True)
    path.unlink()
    check_logits(program.run(inputs), expected, "compiled")


@pytest.mark.parametrize("name", ["densenet121", "inception_v2", "shufflenet"])
def test_other_light_models(tmp_path: Path, name: str):
    """What else is imported, checked by interpretation of what was imported."""
    path = light_model(name, tmp_path)
    module = transom.load(path)
    inputs = random_inputs(module, seed=1)
    (expected,) = runtime_outputs(path, inputs)
    check_logits(interpret(module, inputs), expected, name)
