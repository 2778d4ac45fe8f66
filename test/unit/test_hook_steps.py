"""
What is said when a step of a hook fails, or its target does not do what it says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import pytest
from hook_cases import CasesAttr, CasesTarget, cases_target, two_targets
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

import transom
from transom.dialects import tir
from transom.dialects.diagnostics import OpError
from transom.passes.pipeline import Pipeline
from transom.targets.hooks import Step
from transom.tools.pass_observers import VerifyEach


@dataclass(frozen=True)
class RenameKernels(ModulePass):
    """Gives kernels other names, but not what calls them."""

    name = "cases-rename-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.body.ops:
            if isinstance(kernel, tir.FuncOp) and not kernel.is_declaration:
                kernel.sym_name = StringAttr("renamed")


@dataclass(frozen=True)
class Refuse(ModulePass):
    """Does not take what it sees."""

    name = "cases-refuse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise OpError(op, "expected something else")


class Runs(CasesTarget):
    """Runs the only pass of a test on its kernels."""

    made: ClassVar[type[ModulePass]] = RenameKernels

    def tir_pipeline(self, target: CasesAttr) -> Sequence[Step]:
        return (Step(Pipeline("builtin.module", (self.made(),))),)


class RunsRefuse(Runs):
    made = Refuse


BY_HOOK = "note: run by hook 'tir_pipeline' of '#cases.target'"


def test_what_the_verifier_finds_in_a_step_names_the_hook() -> None:
    with cases_target(Runs, (RenameKernels,)) as ctx:
        module = transom.lower(two_targets(ctx), "tensor", ctx=ctx)
        (name,) = {
            op.sym_name.data
            for op in module.body.ops
            if isinstance(op, tir.FuncOp) and "exp" in op.sym_name.data
        }
        with pytest.raises(OpError) as caught:
            transom.lower(module, "scheduled", ctx=ctx, observer=VerifyEach())
    at = "two_targets.mlir:12:5"
    assert str(caught.value).splitlines() == [
        f"{at}: error: 'tir.call' op unknown kernel '@{name}'",
        f"{at}: note: found after pass 'cases-rename-kernels'",
        f"{at}: {BY_HOOK}",
    ]


def test_what_a_pass_of_a_step_refuses_names_the_hook() -> None:
    with cases_target(RunsRefuse, (Refuse,)) as ctx, pytest.raises(OpError) as caught:
        transom.lower(two_targets(ctx), "scheduled", ctx=ctx)
    assert str(caught.value) == (
        "two_targets.mlir:2:1: error: expected something else\n"
        f"two_targets.mlir:2:1: {BY_HOOK}"
    )


class KeepsNests(CasesTarget):
    """Takes nests itself, it says, but does not."""

    def omits(self, target: CasesAttr) -> frozenset[str]:
        return frozenset({"convert-tir-to-scf"})

    def emit(self, module: ModuleOp, target: CasesAttr) -> None:
        return None


def test_nests_that_a_target_keeps_to_the_end_are_told_whose_they_are() -> None:
    with cases_target(KeepsNests) as ctx:
        module = transom.lower(two_targets(ctx), "executable", ctx=ctx)
        (name,) = {
            op.sym_name.data
            for op in module.body.ops
            if isinstance(op, tir.FuncOp) and "exp" in op.sym_name.data
        }
        with pytest.raises(OpError) as caught:
            transom.lower(module, "machine", ctx=ctx)
    assert str(caught.value) == (
        f"two_targets.mlir:12:5: error: expected no 'tir.nest' in '@{name}', as LLVM "
        "has none; '#cases.target' omits 'convert-tir-to-scf', so its hook 'emit' or "
        "'tir_pipeline' has to take it"
    )
