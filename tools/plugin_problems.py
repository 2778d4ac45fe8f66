"""
What the programs say of plug-ins that cannot be used: a warning for each that turns out
to be so, or with `--strict-plugins` an error for each that there is.
"""

from contextlib import AbstractContextManager

from transom.dialects.plugins import handling_problems
from transom.tools.reporter import Reporter

STRICT = "--strict-plugins"
STRICT_HELP = (
    "a plug-in that cannot be used is an error, whether it is asked for or not"
)


def warning_of_plugins(reporter: Reporter) -> AbstractContextManager[None]:
    """Warn of the plug-ins that are left out meanwhile, or were before."""
    return handling_problems(lambda problem: reporter.error(str(problem), "warning"))


def all_plugins_usable(reporter: Reporter) -> bool:
    """
    Load all plug-ins with all that they bring, and write an error for each that cannot
    be used. True if there are none.
    """
    from transom.plugin_states import plugin_statuses

    with handling_problems(lambda problem: None):  # which the statuses have as well
        errors = [status.error for status in plugin_statuses() if status.error]
    for error in errors:
        reporter.error(str(error))
    return not errors
