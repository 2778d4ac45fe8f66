"""
The hooks of a target attribute: in-tree by table, others by entry point.

Nothing is imported before it is asked for, and nothing registers itself.
"""

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

from transom.dialects.diagnostics import did_you_mean
from transom.dialects.target import TargetAttr
from transom.targets import TARGETS
from transom.targets.hooks import TargetHooks

GROUP = "transom.targets"
"""Entry points of this group have the attribute's name, and name its hooks' class."""


class HooksError(Exception):
    """The hooks of a target cannot be had; the message says whose fault it is."""


def hooks_of(target: TargetAttr) -> TargetHooks[Any]:
    """
    The hooks that are registered for the class of a target attribute.

    Raises `HooksError` if there are none, several, or broken ones.
    """
    hooks = hooks_by_name(target.name)
    if not isinstance(target, hooks.attr_type):
        raise HooksError(
            f"expected hooks for '{type(target).__qualname__}' under the name "
            f"'{target.name}', but they are for '{hooks.attr_type.__qualname__}'"
        )
    return hooks


@cache
def hooks_by_name(name: str) -> TargetHooks[Any]:
    """The hooks that are registered for an attribute name such as `llvm_cpu.target`."""
    others = _entry_points().get(name, ())
    origins = [f"transom ({TARGETS[name]})"] if name in TARGETS else []
    origins += [_describe(entry) for entry in others]
    if not origins:
        names = registered_targets()
        near = did_you_mean(name, names)
        raise HooksError(
            f"no target '{name}' is registered{near}; registered targets: "
            f"{', '.join(names)}"
        )
    if len(origins) > 1:
        raise HooksError(f"target '{name}' is registered by {' and by '.join(origins)}")
    try:
        hooks_class = (
            others[0].load() if others else pkgutil.resolve_name(TARGETS[name])
        )
        hooks = hooks_class()
    except Exception as e:  # plug-in boundary: any error of an import
        raise HooksError(
            f"the hooks of target '{name}' from {origins[0]} cannot be loaded: "
            f"{type(e).__name__}: {e}"
        ) from e
    if not isinstance(hooks, TargetHooks):
        raise HooksError(
            f"expected 'TargetHooks' for target '{name}' from {origins[0]}, "
            f"but got '{hooks_class.__qualname__}'"
        )
    return cast("TargetHooks[Any]", hooks)


def registered_targets() -> tuple[str, ...]:
    """The names of the attributes that have hooks, sorted."""
    return tuple(sorted({*TARGETS, *_entry_points()}))


def _entry_points() -> Mapping[str, tuple[EntryPoint, ...]]:
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for entry in entry_points(group=GROUP):
        found[entry.name] = (*found.get(entry.name, ()), entry)
    return found


def _describe(entry: EntryPoint) -> str:
    dist = "unknown" if entry.dist is None else entry.dist.name
    return f"distribution '{dist}' ({entry.value})"
