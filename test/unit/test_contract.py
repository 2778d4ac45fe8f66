"""
The contract of hooks that return passes: what breaks it, and what is said.
"""

import re

import contract_answer_cases
import contract_call_cases
import contract_change_cases
import contract_function_cases
import contract_outside_cases
import contract_thorough_cases
import pytest
import test_contract_ops
from contract_cases import Case, Run

from transom.dialects.diagnostics import OpError
from transom.targets.contract import BREACHES

CASES = (
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
