"""
Every model gives the same numbers at every phase, interpreted and compiled.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, ModuleOp, f32
from xdsl.passes import ModulePass

import transom
from transom import driver
from transom.dialects.parser import parse_ir
from transom.passes.pipeline import Pipeline
from transom.phase_plan import PHASES, Phase, PhasePlan, PlannedStep
from transom.registry import new_context
from transom.runtime.comparison import compare_all
from transom.testing import (
    INTERPRETED,
    PhaseMismatch,
    check_phases,
    interpret,
    random_inputs,
)

ROOT = Path(__file__).parents[2]
MODELS = sorted((ROOT / "test" / "models").glob("*.mlir"))
EXAMPLES = sorted((ROOT / "examples").glob("*.mlir"))


@pytest.mark.parametrize("path", [*MODELS, *EXAMPLES], ids=lambda path: path.stem)
def test_phases_agree(path: Path) -> None:
    module = transom.load(path)
    text = str(module)
    results = check_phases(module, seed=7)
    assert str(module) == text, "the input is not touched"
    assert [r.phase for r in results if r.way == "compiled"] == [
        phase.name for phase in PHASES
    ]
    assert [r.phase for r in results if r.way == "interpreted"] == list(INTERPRETED)


@dataclass(frozen=True)
class PlantedBug(ModulePass):
    """Replaces the constant 0 of every kernel by 1: a ReLU that clips at 1."""

    name = "test-planted-bug"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for constant in [c for c in op.walk() if isinstance(c, arith.ConstantOp)]:
            if constant.value == FloatAttr(0.0, f32):
                constant.properties["value"] = FloatAttr(1.0, f32)


SMALL = """
func.func @main(%x: tensor<3x5xf32>, %w: tensor<5x4xf32>) -> tensor<3x4xf32> {
  %m = graph.matmul %x, %w : tensor<3x5xf32>, tensor<5x4xf32> -> tensor<3x4xf32>
  %r = graph.relu %m : tensor<3x4xf32>
  func.return %r : tensor<3x4xf32>
}
"""


@pytest.mark.parametrize("phase", ["tensor", "scheduled", "planned", "executable"])
def test_a_planted_bug_is_named(phase: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The phase whose passes are wrong is named, whatever was run first."""
    plan_of = driver.phase_plan

    def planted(module: ModuleOp, at: Phase, ctx: Context) -> PhasePlan:
        plan = plan_of(module, at, ctx)
        bug = PlannedStep(Pipeline("builtin.module", (PlantedBug(),)))
        return plan._replace(steps=(*plan.steps, bug)) if at.name == phase else plan

    module = parse_ir(new_context(), SMALL, "small.mlir")
    assert check_phases(module)
    monkeypatch.setattr(driver, "phase_plan", planted)
    with pytest.raises(PhaseMismatch, match=f"at phase '{phase}'") as caught:
        check_phases(module)
    assert caught.value.phase == phase
    (difference,) = caught.value.differences
    assert difference.name == "result0"


def test_a_symbolic_batch_is_compiled_once() -> None:
    module = transom.load(ROOT / "examples" / "digits.mlir")
    program = transom.compile(module, poison_memory=True)
    for batch in (1, 3, 16):
        inputs = random_inputs(module, seed=batch, sizes={"N": batch})
        expected = interpret(module, inputs)
        actual = program.run(inputs)
        assert actual["logits"].shape == (batch, 10)
        assert not compare_all(actual, expected)
