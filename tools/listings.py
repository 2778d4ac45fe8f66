"""
What `--show-phases`, `--list-passes` and `--show-dialects` print.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import get_type_hints

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from transom.passes.pass_options import describe_hint, option_fields
from transom.passes.pipeline import Pipeline, format_pass
from transom.phase_plan import PHASES, PhasePlan, phase_plan, shared_plan


def phases() -> str:
    """Each phase, its promise, and the passes that lead to it."""
    return _plans(map(shared_plan, PHASES))


def phases_of(module: ModuleOp, ctx: Context) -> str:
    """
    The phases as they are for the targets of a module, and what each target omits.

    Raises `OpError` if its machine or the hooks of a target are wrong.
    """
    from transom.targets.resolve_devices import resolve_devices

    module = module.clone()
    resolve_devices(module)
    return _plans(phase_plan(module, phase, ctx) for phase in PHASES)


def _plans(plans: Iterable[PhasePlan]) -> str:
    width = max(len(phase.name) for phase in PHASES)
    indent = " " * (width + 4)
    lines: list[str] = []
    for plan in plans:
        lines.append(f"{plan.phase.name:{width}}  {plan.phase.promise}")
        for step in plan.steps:
            origin = "" if step.hook is None else f"  // {step.hook}"
            shown = not step.pipeline.shown.sees_all
            items = (step.pipeline,) if shown else step.pipeline.items
            lines += [
                f"{indent}{i if isinstance(i, Pipeline) else format_pass(i)}{origin}"
                for i in items
            ]
        lines += [
            f"{indent}// '{target}' omits '{name}'" for target, name in plan.omissions
        ]
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
