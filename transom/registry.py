"""
What is registered: dialects, passes, emitters and readers of xDSL, of transom and of
installed plug-ins.

Everything is a name with a factory; nothing is imported before it is used. A plug-in is
an entry point of the group `xdsl.universe`; a broken one is a problem to report, not
an error, unless something asks for what it would have brought.
"""

import os
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from xdsl.context import Context
from xdsl.ir import Dialect
from xdsl.universe import XDSL_UNIVERSE, Universe
from xdsl.utils.frontend import Frontend
from xdsl.utils.target import Target

from transom.dialects import DIALECTS
from transom.lowering import EMITTERS, LOWERINGS
from transom.passes import PASSES
from transom.passes.pipeline import PassRegistry
from transom.targets import TARGET_DIALECTS, TARGET_PASSES

GROUP = "xdsl.universe"
"""The entry points that are plug-ins."""

DISABLE_VARIABLE = "TRANSOM_DISABLE_PLUGINS"
"""Environment variable with names of plug-ins to pass over, separated by commas."""

REPLACED_DIALECTS = ("arith", "llvm", "scf")
"""Dialects of ours that stand in for xDSL's and do more; never published."""


@dataclass
class Registry:
    """Names and factories, and what is wrong with plug-ins, a line each."""

    dialects: dict[str, Callable[[], Dialect]] = field(
        default_factory=dict[str, Callable[[], Dialect]]
    )
    passes: PassRegistry = field(default_factory=PassRegistry)
    emitters: dict[str, Callable[[], type[Target]]] = field(
        default_factory=dict[str, Callable[[], type[Target]]]
    )
    readers: dict[str, Callable[[], type[Frontend]]] = field(
        default_factory=dict[str, Callable[[], type[Frontend]]]
    )
    problems: tuple[str, ...] = ()

    def context(self, allow_unregistered: bool = False) -> Context:
        """A new context that knows all dialects and has loaded none."""
        ctx = Context(allow_unregistered=allow_unregistered)
        for name, factory in self.dialects.items():
            ctx.register_dialect(name, factory)
        return ctx

    def add(self, universe: Universe) -> str | None:
        """Add all of a universe, or nothing and say which name is taken."""
        for kind, known, new in (
            ("dialect", self.dialects, universe.all_dialects),
            ("pass", self.passes, universe.all_passes),
            ("emitter", self.emitters, universe.all_targets),
            ("reader", self.readers, universe.all_frontends),
        ):
            for name in new:
                if name in known:
                    return f"{kind} '{name}' is registered already"
        self.dialects.update(universe.all_dialects)
        for name, factory in universe.all_passes.items():
            self.passes.register(name, factory)
        self.emitters.update(universe.all_targets)
        self.readers.update(universe.all_frontends)
        return None


def own_passes() -> dict[str, str]:
    """Our passes of all layers: name to `module:Class`."""
    return {**PASSES, **LOWERINGS, **TARGET_PASSES}


def own_universe() -> Universe:
    """What transom adds to xDSL's own, for other tools too."""
    dialects = {**DIALECTS, **TARGET_DIALECTS}
    return Universe(
        all_dialects={
            name: _resolver(path)
            for name, path in dialects.items()
            if name not in REPLACED_DIALECTS
        },
        all_passes={name: _resolver(path) for name, path in own_passes().items()},
    )


@cache
def registry() -> Registry:
    """All that is registered in this environment."""
    result = Registry()
    for universe in (XDSL_UNIVERSE, own_universe()):
        clash = result.add(universe)
        assert clash is None, "a unit test keeps our names apart from xDSL's"
    for name in REPLACED_DIALECTS:
        result.dialects[name] = _resolver(DIALECTS[name])
    # Not published: they write our ops, which other tools do not load.
    result.emitters.update({name: _resolver(p) for name, p in EMITTERS.items()})
    result.problems = tuple(_add_plugins(result))
    return result


def new_context(allow_unregistered: bool = False) -> Context:
    """A context with all registered dialects, each loaded when first met."""
    return registry().context(allow_unregistered)


def _resolver(path: str) -> Callable[[], Any]:
    return lambda: pkgutil.resolve_name(path)


def _add_plugins(result: Registry) -> Iterator[str]:
    """Add the universes of others; yields what went wrong."""
    disabled = os.environ.get(DISABLE_VARIABLE, "").split(",")
    origins: Mapping[str, str] = {"xdsl": "xdsl", "transom": "transom"}
    for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name):
        if entry.name in origins or entry.name in disabled:
            continue
        try:
            universe = entry.load()
        except Exception as e:  # plug-in boundary: any error of an import
            yield f"{_describe(entry)} cannot be loaded: {type(e).__name__}: {e}"
            continue
        if not isinstance(universe, Universe):
            yield f"{_describe(entry)} is not a 'Universe'"
        elif (clash := result.add(universe)) is not None:
            yield f"{_describe(entry)} is left out: {clash}"


def _describe(entry: EntryPoint) -> str:
    dist = "unknown" if entry.dist is None else entry.dist.name
    return f"plug-in '{entry.name}' of distribution '{dist}' ({entry.value})"
