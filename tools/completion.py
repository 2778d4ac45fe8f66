"""
What a shell can complete of the command line of `transom-opt`.
"""

import argparse
from collections.abc import Iterable

import shtab

from transom.tools.opt_arguments import Names, add_arguments

_BY_METAVAR = {"FILE": shtab.FILE, "DIR": shtab.DIRECTORY}


def completion(program: str, names: Names, shell: str) -> str:
    """A script for a shell, which it reads when it starts."""
    parser = argparse.ArgumentParser(program)
    choices: dict[str, Iterable[str]] = {
        "--to": names.phases,
        "--target": names.emitters,
        "--frontend": names.readers,
    }
    for action in add_arguments(parser, names, ""):
        if isinstance(action.metavar, str) and action.metavar in _BY_METAVAR:
            setattr(action, "complete", _BY_METAVAR[action.metavar])  # noqa: B010
        for flag in action.option_strings:
            action.choices = choices.get(flag, action.choices)
    for name in names.passes:
        parser.add_argument(f"--{name}", action="store_true", help="run this pass")
    return shtab.complete(parser, shell)
