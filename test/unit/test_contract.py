"""
The contract of hooks that return passes: what breaks it, and what is said.
"""

import re
from pathlib import Path

import contract_answer_cases
import contract_call_cases
import contract_change_cases
import contract_function_cases
import contract_outside_cases
import contract_symbol_cases
import contract_thorough_cases
import pytest
import test_contract_ops
from contract_cases import Case, Run, ToyHooks
from toy_npu.dialect import ToyNpuAttr
from xdsl.passes import ModulePass
from xdsl.transforms.canonicalize import CanonicalizePass

from transom.dialects.diagnostics import OpError
from transom.targets.contract import BREACHES
from transom.targets.registry import given_hooks
from transom.tools import transom_opt

CASES = (
    *contract_symbol_cases.CASES,
    *contract_function_cases.CASES,
    *contract_outside_cases.CASES,
    *contract_call_cases.CASES,
    *contract_change_cases.CASES,
    *contract_thorough_cases.CASES,
)

HASH = re.compile(r"(?<=@relu)_[0-9a-f]{8}")
"""The end of a kernel's name."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_a_hook_that_breaks_the_contract(case: Case):
    run = Run(case.hook, case.changes, case.text, case.hooks(), case.thorough)
    with pytest.raises(OpError) as error:
        run.check()
    said = HASH.sub("_…", str(error.value))
    hook = f"hook '{case.hook}' of '#toy_npu.target' breaks rule "
    assert f"error: {hook}'{case.breach.rule.name}': " in said
    assert said.replace(hook, "") == case.message


def test_each_way_to_break_a_rule_has_a_test():
    tried = {case.breach for case in (*CASES, *contract_answer_cases.CASES)}
    assert tried | test_contract_ops.TRIED == set(BREACHES)


class Forgetful(ToyHooks):
    """Hooks with a conversion that converts nothing."""

    def convert_graph_to_tir(self, target: ToyNpuAttr) -> ModulePass:
        return CanonicalizePass()


def test_a_breach_is_an_error_of_the_tools(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "model.mlir"
    file.write_text(
        "target.device @npu {targets = [#toy_npu.target]}\n"
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %y = graph.relu %x : tensor<4xf32>\n"
        "  func.return %y : tensor<4xf32>\n"
        "}\n"
    )
    with given_hooks(Forgetful()):
        assert transom_opt.main(["--to=tensor", str(file)]) == 1
    assert capsys.readouterr().err == (
        f"{file}:3:3: error: hook 'convert_graph_to_tir' of '#toy_npu.target' breaks "
        "rule 'lowered': '@main_region_0' is not lowered; convert it, or raise "
        "'OpError' at the op in the way\n"
        "  %y = graph.relu %x : tensor<4xf32>\n"
        "  ^\n"
    )
