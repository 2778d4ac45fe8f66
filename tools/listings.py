"""
What `--show-phases`, `--list-passes` and `--show-dialects` print.
"""

import inspect
import sys
from collections.abc import Iterable, Iterator
from typing import get_type_hints

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from transom.passes.pass_options import default_of, describe_hint, option_fields
from transom.passes.pipeline import Pipeline, format_pass
from transom.phase_plan import PHASES, Phase, PhasePlan, phase_plan
from transom.registry import REPLACED_DIALECTS, Registry


def phases() -> str:
    """Each phase, its promise, and the shared passes that lead to it."""
    return _phases((phase, phase.passes) for phase in PHASES)


def phases_of(module: ModuleOp, ctx: Context) -> str:
    """
    The phases as they are for the targets of a module, and what each target omits.

    Raises `OpError` if its machine or the hooks of a target are wrong.
    """
    from transom.targets.resolve_devices import resolve_devices

    module = module.clone()
    resolve_devices(module)
    plans = (phase_plan(module, phase, ctx) for phase in PHASES)
    return _phases((plan.phase, _lines_of(plan)) for plan in plans)


def _phases(listed: Iterable[tuple[Phase, Iterable[str]]]) -> str:
    width = max(len(phase.name) for phase in PHASES)
    lines: list[str] = []
    for phase, passes in listed:
        lines.append(f"{phase.name:{width}}  {phase.promise}")
        lines += [" " * (width + 4) + line for line in passes]
    return "\n".join(lines) + "\n"


def _lines_of(plan: PhasePlan) -> Iterator[str]:
    for step in plan.steps:
        origin = "" if step.hook is None else f"  // {step.hook}"
        shown = not step.pipeline.shown.sees_all
        for item in (step.pipeline,) if shown else step.pipeline.items:
            text = str(item) if isinstance(item, Pipeline) else format_pass(item)
            yield text + origin
    for target, name in plan.omissions:
        yield f"// '{target}' omits '{name}'"


def dialects(registered: Registry) -> str:
    """The names of all dialects, by what brings them."""
    lines: list[str] = []
    for origin, names in _by_origin("dialect", registered):
        lines.append(f"dialects of {origin}")
        for name in names:
            replaced = name in REPLACED_DIALECTS
            lines.append(f"  {name}{', in the form of transom' if replaced else ''}")
    return "\n".join(lines) + "\n"


def passes(registered: Registry) -> str:
    """Each pass with what it does and its options, by what brings it."""
    lines: list[str] = []
    for origin, names in _by_origin("pass", registered):
        lines.append(f"passes of {origin}")
        for name in names:
            try:
                cls = registered.passes[name]()
            except Exception as e:  # plug-in boundary: any error of an import
                lines.append(f"  {name}: cannot be loaded: {type(e).__name__}: {e}")
                continue
            summary = _summary(cls)
            lines.append(f"  {name}: {summary}" if summary else f"  {name}")
            hints = get_type_hints(cls)
            for f in option_fields(cls):
                default = default_of(f)
                given = "" if default is None else f" (default: {default})"
                kind = describe_hint(hints[f.name])
                lines.append(f"      {f.name.replace('_', '-')}: {kind}{given}")
    return "\n".join(lines) + "\n"


def _by_origin(kind: str, registered: Registry) -> list[tuple[str, list[str]]]:
    """The names of a kind by distribution: ours first, xDSL's last."""
    groups: dict[str, list[str]] = {}
    for (of_kind, name), origin in sorted(registered.owners.items()):
        if of_kind == kind:
            groups.setdefault(origin, []).append(name)
    rank = {"transom": 0, "xdsl": 2}
    return sorted(groups.items(), key=lambda item: (rank.get(item[0], 1), item[0]))


def _summary(cls: type[ModulePass]) -> str:
    """The first sentence of the class's docstring, else of its module's."""
    text = cls.__dict__.get("__doc__")
    if not text or text.startswith(f"{cls.__name__}("):  # made by @dataclass
        text = sys.modules[cls.__module__].__doc__
    paragraph = inspect.cleandoc(text or "").split("\n\n")[0]
    first, dot, _ = " ".join(paragraph.split()).partition(". ")
    return f"{first}." if dot else first
