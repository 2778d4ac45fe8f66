"""
Plug-ins: what other installed distributions bring to transom, by entry points.

| group | what it brings | names in it |
|---|---|---|
| `xdsl.universe` | dialects, passes, emitters, readers | inside |
| `transom.targets` | the hooks of a target | its attribute, `woofles.target` |
| `transom.conversions` | patterns that join a conversion of ours | free |
| `transom.evaluators` | the reference evaluation of ops | their dialect |
| `transom.planners` | algorithms that plan memory | what `tir-plan-memory` calls them |

Each layer reads its own group and imports a plug-in when it needs it. One that cannot
be used raises `PluginError` where something asks for what it brings, and is reported
once where nothing does. The environment variable `TRANSOM_DISABLE_PLUGINS` holds names,
separated by commas, of plug-ins or of whole distributions to pass over.
"""

import logging
import os
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.metadata import Distribution, EntryPoint, distributions, entry_points
from typing import Any, TypeVar

from transom.dialects.raising_code import code_of_others

T = TypeVar("T")

CONVERSIONS = "transom.conversions"
EVALUATORS = "transom.evaluators"
PLANNERS = "transom.planners"
TARGETS = "transom.targets"
UNIVERSE = "xdsl.universe"
GROUPS = (CONVERSIONS, EVALUATORS, PLANNERS, TARGETS, UNIVERSE)
"""The groups of entry points that are plug-ins."""

DISABLE_VARIABLE = "TRANSOM_DISABLE_PLUGINS"

OURS = ("transom", "xdsl")
"""Distributions whose entry points are no plug-ins: their tables are read instead."""

VALUE = re.compile(r"[\w.]+\s*:\s*[\w.]+")
"""`module:object`, where both may have dots."""


class State(StrEnum):
    """What has become of a plug-in."""

    OK = "ok"
    DISABLED = "disabled"
    BROKEN = "broken"
    CLASH = "clash"
    WRONG_API_VERSION = "wrong API version"


@dataclass(frozen=True)
class Plugin:
    """An entry point, and the distribution that brings it."""

    group: str
    name: str
    value: str
    distribution: str
    version: str
    entry: EntryPoint | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return (
            f"plug-in '{self.name}' of distribution '{self.distribution}' "
            f"({self.value})"
        )

    @property
    def is_disabled(self) -> bool:
        """Whether the environment says to pass it over."""
        return any(self.answers_to(name) for name in disabled_names())

    def answers_to(self, name: str) -> bool:
        """Whether a name is that of the plug-in, or of its distribution."""
        is_distribution = _canonical(name) == _canonical(self.distribution)
        return name == self.name or is_distribution

    def load(self) -> Any:
        """What the entry point names. Raises `PluginError`."""
        if self.entry is None or VALUE.fullmatch(self.value) is None:
            raise PluginError(self, State.BROKEN, "is not of the form 'module:object'")
        if self.group in (CONVERSIONS, TARGETS):
            code_identity(self)  # of the code that is about to be imported
        try:
            return self.entry.load()
        except Exception as e:  # plug-in boundary: any error of an import
            raise broken(self, e) from e

    def load_as(self, cls: type[T]) -> T:
        """What the entry point names, of a class. Raises `PluginError`."""
        value = self.load()
        if not isinstance(value, cls):
            kind = type(value).__qualname__
            reason = f"is not a '{cls.__name__}', but a '{kind}'"
            raise PluginError(self, State.BROKEN, reason)
        return value


class PluginError(Exception):
    """
    A plug-in cannot be used; the message names it and its distribution.

    `reason` goes on from the plug-in's name, as `is not of the form …`.
    """

    def __init__(self, plugin: Plugin, state: State, reason: str) -> None:
        super().__init__(f"{plugin} {reason}")
        self.plugin = plugin
        self.state = state
        self.reason = reason


def broken(plugin: Plugin, error: Exception, part: str | None = None) -> PluginError:
    """The problem of a plug-in that raises when it, or a part of it, is loaded."""
    what = "" if part is None else f"brings {part}, which "
    code = code_of_others(error)
    where = "" if code is None else f" at {code}"
    reason = f"{what}cannot be loaded: {type(error).__name__}: {error}{where}"
    return PluginError(plugin, State.BROKEN, reason)


def _canonical(distribution: str) -> str:
    """The name of a distribution in its one form, as PEP 503 has it."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def disabled_names() -> frozenset[str]:
    """The names that `TRANSOM_DISABLE_PLUGINS` holds."""
    names = os.environ.get(DISABLE_VARIABLE, "").split(",")
    return frozenset(name.strip() for name in names if name.strip())


@cache
def installed() -> tuple[Plugin, ...]:
    """All plug-ins of this environment, disabled ones too, in order of their names."""
    try:
        entries = [entry for group in GROUPS for entry in entry_points(group=group)]
    except Exception:  # bad metadata of one distribution is enough
        entries = list(_readable_entries())
    found = [_plugin(e, e.dist) for e in entries if e.group in GROUPS]
    known = {plugin for plugin in found if plugin.distribution not in OURS}
    return tuple(
        sorted(known, key=lambda p: (p.name, p.group, p.distribution, p.value))
    )


def plugins_in(group: str) -> tuple[Plugin, ...]:
    """The plug-ins of a group that are not disabled, in order of their names."""
    return tuple(p for p in installed() if p.group == group and not p.is_disabled)


def plugins_named(group: str, name: str) -> tuple[Plugin, ...]:
    """The plug-ins of a group that have a name and are not disabled."""
    return tuple(plugin for plugin in plugins_in(group) if plugin.name == name)


def plugin_named(group: str, name: str) -> Plugin | None:
    """
    The plug-in of this name, or None. Raises `PluginError` if there are several.
    """
    found = plugins_named(group, name)
    if not found:
        return None
    check_name_of(found[-1])
    return found[-1]


def check_name_of(plugin: Plugin) -> None:
    """Raise `PluginError` if others of its group have the name of a plug-in as well."""
    others = [p for p in plugins_named(plugin.group, plugin.name) if p != plugin]
    if not others:
        return
    origins = " and ".join(f"'{p.distribution}' ({p.value})" for p in others)
    reason = f"has the name of one of distribution {origins}"
    raise PluginError(plugin, State.CLASH, reason)


def _plugin(entry: EntryPoint, dist: Distribution | None) -> Plugin:
    name, version = _name_and_version(dist)
    return Plugin(entry.group, entry.name, entry.value, name, version, entry)


def _name_and_version(dist: Distribution | None) -> tuple[str, str]:
    fields: list[str] = []
    for key in ("Name", "Version"):
        try:
            found = dist is not None and key in dist.metadata
            fields.append(dist.metadata[key] if dist and found else "unknown")
        except Exception:  # without METADATA, or with one that is no text
            fields.append("unknown")
    return fields[0], fields[1]


def _readable_entries() -> Iterator[EntryPoint]:
    """All entry points but those of distributions whose metadata cannot be read."""
    seen: set[str] = set()
    for dist in distributions():
        name, version = _name_and_version(dist)
        if name in seen:  # an older one, further down the path
            continue
        seen.add(name)
        try:
            yield from dist.entry_points
        except Exception as e:
            all_of_it = Plugin("*", "*", "entry_points.txt", name, version)
            report_problem(broken(all_of_it, e))


def code_identity(plugin: Plugin) -> str:
    """
    Distribution, version and code of a plug-in, as when that was first asked for.
    """
    from transom.cache import identity_of

    package = plugin.value.partition(":")[0].partition(".")[0].strip()
    named = (plugin.distribution, plugin.version, plugin.value)
    return " ".join((*named, identity_of(package)))


# Problems that stop nothing.

Handler = Callable[[PluginError], None]

_HANDLER: ContextVar[Handler | None] = ContextVar("plug-in handler", default=None)

_PROBLEMS: dict[Plugin, PluginError] = {}
"""What was reported in this process, each plug-in once."""


def report_problem(error: PluginError) -> None:
    """
    Say once that a plug-in is left out: to the handler of this context, else to the
    logger `transom`.
    """
    if error.plugin in _PROBLEMS:
        return
    _PROBLEMS[error.plugin] = error
    handler = _HANDLER.get()
    if handler is not None:
        handler(error)
    else:
        logging.getLogger("transom").warning("%s", error)


def known_problems() -> tuple[PluginError, ...]:
    """What was reported in this process."""
    return tuple(_PROBLEMS.values())


@contextmanager
def handling_problems(handler: Handler) -> Generator[None]:
    """Give the problems of plug-ins to `handler`, those known already first."""
    for error in known_problems():
        handler(error)
    token = _HANDLER.set(handler)
    try:
        yield
    finally:
        _HANDLER.reset(token)
