"""
What targets and plug-ins bring to the compilation: the hooks of a target attribute,
in-tree by table, others by entry point; conversion patterns without a target.

Nothing is imported before it is asked for, and nothing registers itself: where a
program is found in the cache, no hook is asked.
"""

import pkgutil
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4
from weakref import WeakKeyDictionary

from transom.dialects import plugins
from transom.dialects.diagnostics import did_you_mean
from transom.dialects.plugins import Plugin, PluginError, State
from transom.dialects.target import TargetAttr
from transom.targets import TARGETS

if TYPE_CHECKING:
    from transom.lowering.conversion import ConversionPattern
    from transom.targets.conversions import Conversions
    from transom.targets.hooks import TargetHooks


class HooksError(Exception):
    """The hooks of a target cannot be had; the message says whose fault it is."""


_GIVEN: "ContextVar[Mapping[str, TargetHooks[Any]]]" = ContextVar(
    "given hooks", default=MappingProxyType({})
)


@contextmanager
def given_hooks(*hooks: "TargetHooks[Any]") -> Generator[None]:
    """
    Take these hooks for their attributes in this context, whatever is registered: for
    tests of targets.
    """
    names = {given.attr_type.name: given for given in hooks}
    token = _GIVEN.set({**_GIVEN.get(), **names})
    try:
        yield
    finally:
        _GIVEN.reset(token)


def hooks_of(target: TargetAttr) -> "TargetHooks[Any]":
    """
    The hooks that are registered for the class of a target attribute.

    Raises `HooksError` if there are none, several, or broken ones.
    """
    hooks = _GIVEN.get().get(target.name) or hooks_by_name(target.name)
    if not isinstance(target, hooks.attr_type):
        raise HooksError(
            f"expected hooks for '{type(target).__qualname__}' under the name "
            f"'{target.name}', but they are for '{hooks.attr_type.__qualname__}'"
        )
    return hooks


@cache
def hooks_by_name(name: str) -> "TargetHooks[Any]":
    """
    The hooks that are registered for an attribute name such as `llvm_cpu.target`.

    Those of transom come before those of a plug-in, which is then reported.
    """
    if name in TARGETS:
        for plugin in plugins.plugins_named(plugins.TARGETS, name):
            plugins.report_problem(taken_by_us(plugin))
        return pkgutil.resolve_name(TARGETS[name])()
    try:
        plugin = plugins.plugin_named(plugins.TARGETS, name)
        if plugin is not None:
            return hooks_of_plugin(plugin)
    except PluginError as e:
        raise HooksError(str(e)) from e
    names = registered_targets()
    raise HooksError(
        f"no target '{name}' is registered{did_you_mean(name, names)}; registered "
        f"targets: {', '.join(names)}"
    )


def hooks_of_plugin(plugin: Plugin) -> "TargetHooks[Any]":
    """The hooks that a plug-in brings. Raises `PluginError`."""
    from transom.targets.hooks import TargetHooks

    hooks_class = plugin.load()
    if not (isinstance(hooks_class, type) and issubclass(hooks_class, TargetHooks)):
        raise PluginError(
            plugin, State.BROKEN, "is not a class derived from 'TargetHooks'"
        )
    _check_version(plugin, hooks_class.api_version)
    _check_attr_type(plugin, cast(object, hooks_class))
    try:
        hooks = cast("TargetHooks[Any]", hooks_class())
        named = hooks.attr_type.name
    except Exception as e:  # plug-in boundary: any error of a constructor
        raise plugins.broken(plugin, e) from e
    if named != plugin.name:
        raise PluginError(
            plugin,
            State.BROKEN,
            f"has the hooks of attribute '{named}', whose name it should have",
        )
    return hooks


def registered_targets() -> tuple[str, ...]:
    """The names of the attributes that have hooks, sorted."""
    others = (plugin.name for plugin in plugins.plugins_in(plugins.TARGETS))
    return tuple(sorted({*TARGETS, *others}))


def taken_by_us(plugin: Plugin) -> PluginError:
    """The problem of hooks under the name of a target of transom."""
    return PluginError(
        plugin,
        State.CLASH,
        f"is left out: target '{plugin.name}' is registered by distribution 'transom'",
    )


def conversions_for(pass_name: str) -> "tuple[ConversionPattern[Any], ...]":
    """
    The patterns of plug-ins that join a pass, in order of the plug-ins' names.

    What cannot be used is reported and left out.
    """
    return tuple(
        pattern
        for _, conversions in _all_conversions()
        if conversions.joins == pass_name
        for pattern in conversions.patterns
    )


@cache
def _all_conversions() -> "tuple[tuple[Plugin, Conversions], ...]":
    found: list[tuple[Plugin, Conversions]] = []
    for plugin in plugins.plugins_in(plugins.CONVERSIONS):
        try:
            found.append((plugin, conversions_of_plugin(plugin)))
        except PluginError as e:
            plugins.report_problem(e)
    return tuple(found)


def conversions_of_plugin(plugin: Plugin) -> "Conversions":
    """
    The conversions that a plug-in brings. Raises `PluginError`.

    Of several of the same name none is taken.
    """
    from transom.lowering.conversion import ConversionPattern
    from transom.targets.conversions import JOINED_PASSES, Conversions

    plugins.check_name_of(plugin)
    conversions = plugin.load_as(Conversions)
    _check_version(plugin, conversions.api_version)
    if conversions.joins not in JOINED_PASSES:
        near = did_you_mean(conversions.joins, JOINED_PASSES)
        reason = f"cannot join pass '{conversions.joins}'{near}"
        raise PluginError(plugin, State.BROKEN, reason)
    for pattern in conversions.patterns:
        if not isinstance(cast(object, pattern), ConversionPattern):
            reason = f"has '{pattern!r}' among its patterns, which is none"
            raise PluginError(plugin, State.BROKEN, reason)
    return conversions


def _check_attr_type(plugin: Plugin, hooks_class: object) -> None:
    """Raise `PluginError` unless hooks are for a class of target attributes."""
    attr_type: object = getattr(hooks_class, "attr_type", None)
    is_class = isinstance(attr_type, type)
    if not (is_class and issubclass(cast("type[object]", attr_type), TargetAttr)):
        found = attr_type.__qualname__ if is_class else repr(attr_type)
        raise PluginError(
            plugin,
            State.BROKEN,
            "is wrong: attr_type must be a class derived from 'TargetAttr', but is "
            f"'{found}'",
        )


def _check_version(plugin: Plugin, version: object) -> None:
    from transom.targets.hooks import API_VERSION

    if type(version) is not int:
        raise PluginError(
            plugin,
            State.BROKEN,
            f"has 'api_version = {version!r}'; expected a number, such as "
            f"'api_version = {API_VERSION}'",
        )
    if version != API_VERSION:
        raise PluginError(
            plugin,
            State.WRONG_API_VERSION,
            f"was written for API version {version} of hooks, but this transom has "
            f"API version {API_VERSION}; install versions of both that fit",
        )


def plugin_identities(targets: Iterable[TargetAttr] = ()) -> tuple[str, ...]:
    """
    Distribution, version and digest of the code of each plug-in that takes part in
    lowering for these targets: their hooks, and all conversions.
    """
    given = _GIVEN.get()
    names = {target.name for target in targets}
    taking_part = [
        *(
            plugin
            for plugin in plugins.plugins_in(plugins.TARGETS)
            if plugin.name in names - {*TARGETS, *given}
        ),
        *(plugin for plugin, _ in _all_conversions()),
    ]
    return tuple(
        sorted(
            {
                *map(plugins.code_identity, taking_part),
                *(_identity_of_given(given[name]) for name in names & {*given}),
            }
        )
    )


_IDENTITIES: "WeakKeyDictionary[TargetHooks[Any], str]" = WeakKeyDictionary()


def _identity_of_given(hooks: "TargetHooks[Any]") -> str:
    """What stands for hooks that a test gives: no others are equal to them."""
    return _IDENTITIES.setdefault(hooks, uuid4().hex)
