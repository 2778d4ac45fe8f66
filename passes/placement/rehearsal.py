"""
Doing something to a copy of a module first, so that what fails changes nothing.
"""

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp

from transom.dialects.diagnostics import Diagnostic, handling
from transom.passes.statistics import Statistic, collecting


def all_or_nothing(rewrite: Callable[[ModuleOp], None], module: ModuleOp) -> None:
    """
    Rewrite a module, or leave it as it is if `rewrite` raises.

    What it reports and counts is told once.
    """
    with handling(_say_nothing), collecting(_count_nothing):
        rewrite(module.clone())
    rewrite(module)


def _say_nothing(diagnostic: Diagnostic) -> None:
    pass


def _count_nothing(statistic: Statistic, count: int) -> None:
    pass
