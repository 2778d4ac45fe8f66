"""
What hooks return for a target is checked before any of it runs.
"""

from typing import Any, cast

import pytest
from contract_answer_cases import (
    CASES,
    Answer,
    SchedulePass,
    accept,
    hooks_with,
    known,
    module,
)
from contract_cases import TARGET, ToyHooks
from toy_npu.dialect import ToyNpuAttr
from toy_npu.hooks import ToyNpuTarget
from xdsl.passes import ModulePass
from xdsl.transforms.canonicalize import CanonicalizePass

from transom.dialects import graph
from transom.dialects.target import LinkOp, MemoryOp
from transom.lowering.convert_tir_to_scf import ConvertTirToScfPass
from transom.passes.pipeline import Pipeline
from transom.phase_plan import PHASES
from transom.targets.contract import memories_of, verify_answers
from transom.targets.hooks import Claim, Reference, Step
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr
from transom.targets.llvm_cpu.hooks import LlvmCpuTarget
from transom.targets.registry import HooksError, given_hooks


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.hook}-{case.message}")
def test_a_wrong_answer(case: Answer):
    with pytest.raises(HooksError) as error:
        verify_answers(hooks_with(case.hook, case.answer), TARGET, known())
    hook = f"hook '{case.hook}' of '#toy_npu.target' breaks rule "
    assert str(error.value) == f"{hook}'{case.breach.rule.name}': {case.message}"


def test_the_scope_is_one_of_two():
    class Hooks(ToyHooks):
        scope = cast(Any, "program")

    with pytest.raises(HooksError) as error:
        verify_answers(Hooks(), TARGET, known())
    assert str(error.value) == (
        "hook 'scope' of '#toy_npu.target' breaks rule 'answers': expected 'function' "
        "or 'module', but got 'program'"
    )


def test_helpers_are_no_misspelt_hooks():
    class Hooks(ToyHooks):
        def _omit(self) -> None: ...
        def emit_c(self) -> None: ...
        def op_patterns(self) -> None: ...
        def memory_size(self) -> None: ...
        def tile(self) -> None: ...

    verify_answers(Hooks(), TARGET, known())


def test_targets_of_the_tree_answer_well():
    passes = known()._replace(
        shared=[name for phase in PHASES for name in phase.passes],
        omissible=[name for phase in PHASES for name in phase.omissible],
    )
    verify_answers(LlvmCpuTarget(), LlvmCpuAttr.get("znver4"), passes)
    verify_answers(ToyNpuTarget(), TARGET, passes)


def test_answers_of_all_kinds_are_right():
    class Hooks(ToyHooks):
        def claims(self, target: ToyNpuAttr) -> list[Claim]:
            return [Claim(graph.ReluOp, accept, "toy.relu")]

        def graph_pipeline(self, target: ToyNpuAttr) -> Pipeline:
            return Pipeline("func.func", (CanonicalizePass(),))

        def convert_graph_to_tir(self, target: ToyNpuAttr) -> ModulePass:
            return SchedulePass("fast")

        def tir_pipeline(self, target: ToyNpuAttr) -> list[Step]:
            return [Step(module(ConvertTirToScfPass()), provides=frozenset({"loops"}))]

        def omits(self, target: ToyNpuAttr) -> frozenset[str]:
            return frozenset({"convert-tir-to-scf"})

        def pass_options(self, target: ToyNpuAttr) -> dict[str, dict[str, int]]:
            return {"tir-choose-schedule": {"vector-bytes": target.lanes.value.data}}

        def memories(self, target: ToyNpuAttr) -> list[MemoryOp | LinkOp]:
            return [MemoryOp("sram"), LinkOp("sram", "dram", 1e9)]

        def reference(self, target: ToyNpuAttr) -> Reference:
            return Reference(externs={"toy_relu": accept})

    verify_answers(Hooks(), TARGET, known())


def test_hooks_are_asked_once_for_a_target():
    asked: list[ToyNpuAttr] = []

    def omits(target: ToyNpuAttr) -> frozenset[str]:
        asked.append(target)
        return frozenset()

    hooks = hooks_with("omits", omits)
    for _ in range(3):
        verify_answers(hooks, TARGET, known())
    assert len(asked) == 2  # twice, to compare
    verify_answers(hooks, ToyNpuAttr.get(lanes=8), known())
    assert len(asked) == 4


def test_memories_are_checked_where_they_are_asked_for():
    with given_hooks(ToyNpuTarget()):
        (memory,) = memories_of(TARGET)
    assert str(memory).startswith("target.memory @toy_sram")
    with (
        given_hooks(hooks_with("memories", lambda target: None)),
        pytest.raises(HooksError),
    ):
        memories_of(TARGET)
