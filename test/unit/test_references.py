"""
What the targets of a module bring to evaluate it, as one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from toy_npu.dialect import ToyNpuAttr
from toy_npu.hooks import ToyNpuTarget

from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.dialects.executor import ArtifactOp, EmittedCode
from transom.dialects.parser import parse_ir
from transom.interpreters.evaluators import Evaluator, Values
from transom.interpreters.interpreter import Frame
from transom.registry import new_context
from transom.targets.hooks import Reference
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr
from transom.targets.llvm_cpu.hooks import LlvmCpuTarget
from transom.targets.references import reference_of
from transom.targets.registry import hooks_by_name

Bring = Callable[[Callable[[int], Reference], Reference], None]

MODULE = """
target.device @npu {targets = [#toy_npu.target<lanes = 8>, #toy_npu.target<lanes = 4>]}
target.device @cpu {targets = [#llvm_cpu.target<cpu = "znver4">]}
"""

ARTIFACT = """
executor.artifact @a {
  format = "f", target = TARGET, payload = "x", signature = () -> ()
}
"""


def evaluator(frame: Frame, op: object, args: Values) -> Values:
    return args


def other_evaluator(frame: Frame, op: object, args: Values) -> Values:
    return args


@pytest.fixture
def bring(monkeypatch: pytest.MonkeyPatch) -> Bring:
    """Set what two targets bring; a function is of the lanes of the first."""

    def set_references(npu: Callable[[int], Reference], cpu: Reference) -> None:
        def of_npu(self: ToyNpuTarget, target: ToyNpuAttr) -> Reference:
            return npu(target.lanes.value.data)

        def of_cpu(self: LlvmCpuTarget, target: LlvmCpuAttr) -> Reference:
            return cpu

        monkeypatch.setattr(ToyNpuTarget, "reference", of_npu)
        monkeypatch.setattr(LlvmCpuTarget, "reference", of_cpu)

    return set_references


def merged(text: str = MODULE) -> Reference:
    return reference_of(parse_ir(new_context(), text, "references.mlir"))


def refusal(text: str = MODULE) -> str:
    with pytest.raises(OpError) as caught:
        merged(text)
    return str(caught.value).split("error: ")[-1]


def ops(value: Evaluator) -> Mapping[Any, Evaluator]:
    return {graph.ReluOp: value}


def test_merged(bring: Bring):
    """Equal things are no conflict."""
    bring(
        lambda lanes: Reference(ops=ops(evaluator), externs={"f": min}),
        Reference(ops=ops(evaluator), externs={"g": max}),
    )
    reference = merged()
    assert reference.ops == ops(evaluator)
    assert reference.externs == {"f": min, "g": max}


def test_hook_that_raises(bring: Bring):
    def broken(lanes: int) -> Reference:
        raise ValueError("no simulator")

    bring(broken, Reference())
    assert refusal() == (
        "hook 'reference' of '#toy_npu.target<lanes = 8>' breaks rule 'answers': it "
        "raised ValueError: no simulator"
    )


def test_no_hooks(bring: Bring, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TRANSOM_DISABLE_PLUGINS", "toy-npu")
    hooks_by_name.cache_clear()
    try:
        assert refusal().startswith("no target 'toy_npu.target' is registered")
    finally:
        hooks_by_name.cache_clear()


def test_conflicts(bring: Bring):
    bring(
        lambda lanes: Reference(ops=ops(evaluator)),
        Reference(ops=ops(other_evaluator)),
    )
    assert refusal() == (
        "targets '#toy_npu.target<lanes = 8>' and '#llvm_cpu.target<cpu = \"znver4\">' "
        "bring different reference evaluations of op 'graph.relu'"
    )
    bring(lambda lanes: Reference(externs={"f": min}), Reference(externs={"f": max}))
    assert refusal() == (
        "targets '#toy_npu.target<lanes = 8>' and '#llvm_cpu.target<cpu = \"znver4\">' "
        "bring different reference evaluations of C function 'f'"
    )


def runner(log: list[str], name: str) -> Callable[..., None]:
    """A reference of artifacts that only says that it was asked."""

    def run(code: EmittedCode, arrays: Sequence[Any]) -> None:
        log.append(name)

    return run


def run_artifact(target: str, text: str = MODULE) -> None:
    module = parse_ir(
        new_context(), text + ARTIFACT.replace("TARGET", target), "references.mlir"
    )
    (artifact,) = (op for op in module.body.ops if isinstance(op, ArtifactOp))
    reference_of(module).artifacts["f"](artifact, ())


def test_artifacts_by_target(bring: Bring):
    """Each target runs its own artifacts, be it one that nothing else names."""
    log: list[str] = []

    def of_lanes(lanes: int) -> Reference:
        return Reference(artifacts={"f": runner(log, f"npu{lanes}")})

    bring(of_lanes, Reference(artifacts={"f": runner(log, "cpu")}))
    for target in ("lanes = 8", "lanes = 4", "lanes = 2"):
        run_artifact(f"#toy_npu.target<{target}>")
    run_artifact('#llvm_cpu.target<cpu = "znver3">')
    assert log == ["npu8", "npu4", "npu2", "cpu"]


def test_artifacts_of_another_target(bring: Bring):
    """Without one of its own, an artifact is run by the only reference there is."""
    log: list[str] = []
    run = runner(log, "npu")
    bring(lambda lanes: Reference(artifacts={"f": run}), Reference())
    run_artifact('#llvm_cpu.target<cpu = "znver4">')
    assert log == ["npu"]
    bring(
        lambda lanes: Reference(artifacts={"f": runner(log, f"npu{lanes}")}),
        Reference(),
    )
    with pytest.raises(OpError) as caught:
        run_artifact('#llvm_cpu.target<cpu = "znver4">')
    assert str(caught.value) == (
        "references.mlir:5:1: error: targets '#toy_npu.target<lanes = 8>' and "
        "'#toy_npu.target' bring different reference evaluations of format 'f', and "
        "'#llvm_cpu.target<cpu = \"znver4\">' brings none"
    )
