"""
What `--show-phases`, `--list-passes` and `--show-dialects` print.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import get_type_hints

from xdsl.passes import ModulePass

from transom.driver import PHASES
from transom.passes.pass_options import describe_hint, option_fields


def phases() -> str:
    """Each phase, its promise, and the passes that lead to it."""
    width = max(len(phase.name) for phase in PHASES)
    lines: list[str] = []
    for phase in PHASES:
        lines.append(f"{phase.name:{width}}  {phase.promise}")
        lines.extend(f"{'':{width}}    {name}" for name in phase.passes)
    return "\n".join(lines) + "\n"


def dialects(names: Iterable[str]) -> str:
    """The names of all dialects."""
    return "".join(f"{name}\n" for name in sorted(names))


def passes(table: Mapping[str, Callable[[], type[ModulePass]]]) -> str:
    """Each pass with its first line of documentation and its options."""
    lines: list[str] = []
    for name in sorted(table):
        try:
            cls = table[name]()
        except Exception as e:  # plug-in boundary: any error of an import
            lines.append(f"{name}: cannot be loaded: {type(e).__name__}: {e}")
            continue
        lines.append(f"{name}: {_summary(cls)}")
        hints = get_type_hints(cls)
        lines.extend(
            f"    {f.name.replace('_', '-')}: {describe_hint(hints[f.name])}"
            for f in option_fields(cls)
        )
    return "\n".join(lines) + "\n"


def _summary(cls: type[ModulePass]) -> str:
    """The first line of the class's docstring, else of its module's."""
    text = cls.__dict__.get("__doc__")
    if not text or text.startswith(f"{cls.__name__}("):  # made by @dataclass
        text = sys.modules[cls.__module__].__doc__
    cleaned = inspect.cleandoc(text or "").split("\n\n")[0]
    return " ".join(cleaned.split())
