"""Lowering phase by phase: resumable, the input untouched, never backwards."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

import transom
from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_ir
from transom.dialects.plugins import Plugin
from transom.dialects.target import PHASES, get_config
from transom.driver import (
    declare_devices,
    lower_in_place,
    phases_between,
    runs_others,
)
from transom.passes.pipeline import MODULE, PassObserver, Pipeline, PipelineError
from transom.phase_plan import phase_plan, shared_plan
from transom.registry import new_context
from transom.targets.llvm_cpu.hooks import LlvmCpuTarget
from transom.targets.registry import given_hooks
from transom.tools.ir_printing import ir_text
from transom.tools.round_trip import verify_roundtrip

EXAMPLE = Path(__file__).parents[2] / "examples" / "digits.mlir"

TEXT = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.relu %x : tensor<4xf32>
  %z = graph.exp %y : tensor<4xf32>
  func.return %z : tensor<4xf32>
}
"""


@dataclass(frozen=True)
class PassOfOthers(ModulePass):
    """A pass of this file."""

    name = "of-others"

    def apply(self, ctx: Context, op: ModuleOp) -> None: ...


@pytest.fixture
def module(tmp_path: Path) -> ModuleOp:
    file = tmp_path / "a.mlir"
    file.write_text(TEXT)
    return transom.load(file)


def test_phases_are_those_of_the_dialect() -> None:
    assert tuple(phase.name for phase in transom.phases()) == PHASES
    assert all(phase.promise and phase.passes for phase in transom.phases())


@pytest.mark.parametrize("phase", transom.phases(), ids=lambda phase: phase.name)
def test_every_pass_of_a_phase_is_registered(phase: "transom.driver.Phase") -> None:
    plan = shared_plan(phase)
    assert [pass_.name for pass_ in plan.pipeline.passes()] == list(phase.passes)


def test_the_input_is_untouched(module: ModuleOp) -> None:
    before = ir_text(module, debuginfo=True)
    lowered = transom.lower(module, to="partitioned")
    assert ir_text(module, debuginfo=True) == before
    assert get_config(lowered).phase == "partitioned"


def test_lowering_goes_on_where_it_stopped(module: ModuleOp) -> None:
    at_once = transom.lower(module, to="partitioned")
    placed = transom.lower(module, to="placed")
    assert get_config(placed).phase == "placed"
    assert ir_text(transom.lower(placed, to="partitioned")) == ir_text(at_once)
    # The same through text, and twice changes nothing.
    again = transom.lower(at_once, to="partitioned")
    assert ir_text(again) == ir_text(at_once)


def test_only_the_phases_between_run(module: ModuleOp) -> None:
    class Names(PassObserver):
        def __init__(self) -> None:
            self.names: list[str] = []

        def before(self, pass_: ModulePass, op: Operation) -> None:
            self.names.append(pass_.name)

    lower_in_place(module, "graph")
    observer = Names()
    lower_in_place(module, "placed", observer=observer)
    assert observer.names == ["target-claim-ops", "target-plan-devices"]
    assert phases_between(module, "placed") == ()


def verified_phases(module: ModuleOp, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """
    The phases at which a module is verified when transom is trusted; promises are
    checked in any case.
    """
    verified: list[str] = []
    others: list[str] = []

    def noted_in(seen: list[str]) -> Callable[[ModuleOp, str], None]:
        return lambda module, phase: seen.append(phase)

    expected = [phase.name for phase in phases_between(module, "scheduled")]
    with monkeypatch.context() as patch:
        patch.setattr("transom.driver.verify_phase", noted_in(verified))
        patch.setattr("transom.driver.verify_promise", noted_in(others))
        lower_in_place(module, "scheduled", trusting=True)
    assert sorted([*verified, *others], key=PHASES.index) == expected
    return verified


def test_trust_verifies_where_code_of_others_has_run(
    module: ModuleOp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of hooks, of plug-ins, and of passes."""
    monkeypatch.setattr("transom.dialects.plugins.installed", tuple)
    placed = transom.lower(module, "placed")
    assert verified_phases(placed, monkeypatch) == []
    declare_devices(module, {"cpu": '#llvm_cpu.target<cpu = "host">'}, new_context())
    assert verified_phases(module.clone(), monkeypatch) == []
    everywhere = ["graph", "placed", "partitioned", "tensor", "scheduled"]
    with given_hooks(LlvmCpuTarget()):
        assert verified_phases(module.clone(), monkeypatch) == everywhere
    plugin = Plugin("transom.planners", "p", "woofles:PLAN", "woofles", "1")
    monkeypatch.setattr("transom.dialects.plugins.installed", lambda: (plugin,))
    assert verified_phases(module, monkeypatch) == everywhere


@pytest.mark.parametrize("phase", ["graph", "tensor", "scheduled"])
def test_what_comes_in_is_verified_before_it_is_trusted(
    module: ModuleOp, phase: str
) -> None:
    """Modules that are built in Python have not been verified by a parser."""
    lowered = transom.lower(module, phase)
    last = next(op for op in lowered.walk() if isinstance(op, ReturnOp))
    last.operands = ()
    with pytest.raises(OpError):
        transom.compile(lowered)


def test_passes_of_others_are_not_trusted(
    module: ModuleOp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transom.dialects.plugins.installed", tuple)
    plan = phase_plan(module, transom.phases()[0], new_context())
    assert not runs_others(module, plan)
    step = plan.steps[0]._replace(pipeline=Pipeline(MODULE, (PassOfOthers(),)))
    assert runs_others(module, plan._replace(steps=(step,)))


def test_never_backwards(module: ModuleOp) -> None:
    placed = transom.lower(module, to="placed")
    with pytest.raises(OpError) as info:
        transom.lower(placed, to="graph")
    assert info.value.message == (
        "expected a module at or before phase 'graph', but it is at 'placed'"
    )


def test_unknown_phase(module: ModuleOp) -> None:
    with pytest.raises(PipelineError, match="unknown phase 'tensors'; did you mean"):
        transom.lower(module, to="tensors")


@pytest.mark.parametrize("phase", PHASES)
def test_every_phase_parses_back_to_itself(phase: str) -> None:
    module = transom.load(EXAMPLE)
    verify_roundtrip(new_context(), transom.lower(module, to=phase))


def test_load_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "bad"
    file.write_text("\n nonsense")
    with pytest.raises(OpError, match="bad:2:2: error: unknown op 'nonsense'"):
        transom.load(file, format="mlir")
    with pytest.raises(FileNotFoundError):
        transom.load(tmp_path / "none.mlir")


def test_a_device_that_is_not_declared_at_a_later_phase() -> None:
    text = """
    module attributes {target.config = #target.config<phase = "planned">} {
      tir.func @k(read %x: memref<4xf32>)
          attributes {target.for = #target.place<@npu, ?, ?>} {
        tir.return
      }
    }
    """
    module = parse_ir(new_context(), text, "late.mlir")
    with pytest.raises(OpError) as error:
        transom.lower(module, "machine")
    assert str(error.value.diagnostic()) == (
        "late.mlir:3:7: error: device '@npu' of '#target.place<@npu, ?, ?>' is not "
        "declared; '--device' or 'target-bind-devices' declares it"
    )
