"""
What has become of each plug-in: loaded with all that it brings, and checked.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.universe import Universe

from transom.dialects import plugins
from transom.dialects.plugins import Plugin, PluginError, State
from transom.interpreters.evaluators import TABLES, table_of_ours, table_of_plugin
from transom.passes.memory.planning.algorithms import ALGORITHMS, planner_of
from transom.registry import Registry, base_registry
from transom.targets import TARGETS
from transom.targets.registry import (
    conversions_of_plugin,
    hooks_of_plugin,
    taken_by_us,
)


@dataclass(frozen=True)
class PluginStatus:
    """A plug-in, and what is wrong with it, if anything is."""

    plugin: Plugin
    state: State
    api_version: int | None = None
    """The version of the hooks' contract that it was written for, where it says."""
    error: PluginError | None = None


def plugin_statuses() -> tuple[PluginStatus, ...]:
    """
    The states of all plug-ins, in order of their names.

    Everything that they bring is imported. What cannot be read is in them as well.
    """
    everything = base_registry()
    found = {plugin: _status_in_universe(plugin, everything) for plugin in _universes()}
    for plugin in plugins.installed():
        if plugin not in found:
            found[plugin] = _status(plugin, everything)
    unread = [
        PluginStatus(error.plugin, error.state, error=error)
        for error in plugins.known_problems()
        if error.plugin not in found
    ]
    return (*(found[plugin] for plugin in plugins.installed()), *unread)


def _universes() -> tuple[Plugin, ...]:
    return plugins.plugins_in(plugins.UNIVERSE)


def _status_in_universe(plugin: Plugin, everything: Registry) -> PluginStatus:
    """Add a plug-in's universe to the others, and load its parts."""
    try:
        everything.add_plugin(plugin)
        universe = plugin.load_as(Universe)
        for name in universe.all_dialects:
            everything.dialects[name]()
        for name in universe.all_passes:
            _check_name(plugin, name, everything.passes[name]().name)
        for name in universe.all_targets:
            everything.emitters[name]()
        for name in universe.all_frontends:
            everything.readers[name]()
    except PluginError as e:
        return PluginStatus(plugin, e.state, error=e)
    return PluginStatus(plugin, State.OK)


def _check_name(plugin: Plugin, key: str, name: str) -> None:
    """Raise `PluginError` for a pass that is not called as it is looked up."""
    if name != key:
        reason = f"has pass '{name}' under the name '{key}'; expected '{name}'"
        raise PluginError(plugin, State.BROKEN, reason)


def _status(plugin: Plugin, everything: Registry) -> PluginStatus:
    if plugin.is_disabled:
        return PluginStatus(plugin, State.DISABLED)
    try:
        version = _CHECKS[plugin.group](plugin, everything)
    except PluginError as e:
        return PluginStatus(plugin, e.state, _stated_version(plugin, e), e)
    return PluginStatus(plugin, State.OK, version)


def _stated_version(plugin: Plugin, error: PluginError) -> int | None:
    if error.state is not State.WRONG_API_VERSION:
        return None
    version = plugin.load().api_version
    return version if isinstance(version, int) else None


def _check_target(plugin: Plugin, everything: Registry) -> int:
    if plugin.name in TARGETS:
        raise taken_by_us(plugin)
    plugins.check_name_of(plugin)
    hooks = hooks_of_plugin(plugin)
    _check_attribute(plugin, hooks.attr_type, everything)
    return hooks.api_version


def _check_attribute(plugin: Plugin, attr_type: type, everything: Registry) -> None:
    """Raise `PluginError` unless the name of hooks is that of their attribute class."""
    dialect = plugin.name.partition(".")[0]
    factory = everything.dialects.get(dialect)
    if factory is None:
        reason = (
            f"has hooks of an attribute whose dialect '{dialect}' is not registered; "
            f"expected an entry point of group '{plugins.UNIVERSE}' that brings it"
        )
        raise PluginError(plugin, State.BROKEN, reason)
    classes = [attr for attr in factory().attributes if attr.name == plugin.name]
    if not classes:
        reason = f"has hooks of an attribute that dialect '{dialect}' lacks"
        raise PluginError(plugin, State.BROKEN, reason)
    if attr_type not in classes:
        owner = everything.owners["dialect", dialect]
        reason = f"is left out: attribute '{plugin.name}' is of distribution '{owner}'"
        raise PluginError(plugin, State.CLASH, reason)


def _check_conversions(plugin: Plugin, everything: Registry) -> int:
    return conversions_of_plugin(plugin).api_version


def _check_evaluators(plugin: Plugin, everything: Registry) -> None:
    if plugin.name in TABLES:
        raise table_of_ours(plugin)
    plugins.check_name_of(plugin)
    table_of_plugin(plugin)


def _check_planners(plugin: Plugin, everything: Registry) -> None:
    plugins.check_name_of(plugin)
    if plugin.name in ALGORITHMS:
        reason = "has the name of an algorithm of transom"
        raise PluginError(plugin, State.CLASH, reason)
    planner_of(plugin)


_CHECKS: Mapping[str, Callable[[Plugin, Registry], Any]] = {
    plugins.CONVERSIONS: _check_conversions,
    plugins.EVALUATORS: _check_evaluators,
    plugins.PLANNERS: _check_planners,
    plugins.TARGETS: _check_target,
}
"""By group: raises `PluginError`, and returns the API version where there is one."""
