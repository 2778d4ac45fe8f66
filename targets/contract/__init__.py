"""
The contract between transom and the hooks of targets: what is checked, before hooks run
and after each of them. `docs/hooks-contract.md` lists the rules.
"""

from transom.targets.contract.answers import KnownPasses, verify_answers
from transom.targets.contract.emission import EmissionContract
from transom.targets.contract.hook_contract import HookContract
from transom.targets.contract.memories import memories_of
from transom.targets.contract.op_answers import (
    answer_of,
    answers_of,
    cost_of,
    members_of,
)
from transom.targets.contract.rules import BREACHES, RULES, Breach, Origin, Rule

__all__ = [
    "BREACHES",
    "RULES",
    "Breach",
    "EmissionContract",
    "HookContract",
    "KnownPasses",
    "Origin",
    "Rule",
    "answer_of",
    "answers_of",
    "cost_of",
    "members_of",
    "memories_of",
    "verify_answers",
]
