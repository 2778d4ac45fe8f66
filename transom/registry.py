"""
What is registered: dialects, passes, emitters and readers of xDSL, of transom and of
installed plug-ins.

Everything is a name with a factory; nothing is imported before it is used. A plug-in is
an entry point of the group `xdsl.universe`; a broken one, or one with a name that is
taken, is reported and left out, whatever it is that runs.
"""

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar, cast

from xdsl.context import Context
from xdsl.ir import Dialect
from xdsl.universe import XDSL_UNIVERSE, Universe
from xdsl.utils.frontend import Frontend
from xdsl.utils.target import Target

from transom.dialects import DIALECTS, plugins
from transom.dialects.plugins import Plugin, PluginError, State
from transom.lowering import EMITTERS, LOWERINGS
from transom.passes import PASSES
from transom.passes.pipeline import PassRegistry
from transom.targets import TARGET_DIALECTS, TARGET_EMITTERS, TARGET_PASSES

PartT = TypeVar("PartT")

OWN_EMITTERS = {
    **EMITTERS,
    **TARGET_EMITTERS,
    "asm": "transom.assembly:AssemblyEmitter",
}
"""Output formats of the tools that are not published: they write our ops, which other
tools do not load."""

OWN_READERS = ("mlir", "onnx")
"""Kinds of files that our tools read themselves, whatever readers there are."""

REPLACED_DIALECTS = ("arith", "linalg", "llvm", "scf")
"""Dialects of ours that stand in for xDSL's and do more; never published."""


@dataclass
class Registry:
    """Names and factories, and which distribution each name is of."""

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
    owners: dict[tuple[str, str], str] = field(
        default_factory=dict[tuple[str, str], str]
    )
    """Distributions by kind and name, such as `("dialect", "graph")`."""

    def context(self, allow_unregistered: bool = False) -> Context:
        """A new context that knows all dialects and has loaded none."""
        ctx = Context(allow_unregistered=allow_unregistered)
        for name, factory in self.dialects.items():
            ctx.register_dialect(name, factory)
        return ctx

    def add(self, universe: Universe, owner: str) -> str | None:
        """
        Add all that a distribution brings; or nothing, and say which name is taken.
        """
        brought = [
            *(("dialect", name) for name in universe.all_dialects),
            *(("pass", name) for name in universe.all_passes),
            *(("emitter", name) for name in universe.all_targets),
            *(("reader", name) for name in universe.all_frontends),
        ]
        for kind, name in brought:
            if (other := self.owners.get((kind, name))) is not None:
                return f"{kind} '{name}' is registered by distribution '{other}'"
        self.owners.update(dict.fromkeys(brought, owner))
        self.dialects.update(universe.all_dialects)
        for name, factory in universe.all_passes.items():
            self.passes.register(name, factory)
        self.emitters.update(universe.all_targets)
        self.readers.update(universe.all_frontends)
        return None

    def add_plugin(self, plugin: Plugin) -> None:
        """
        Add all that a plug-in brings. Its parts raise `PluginError` if they cannot be
        loaded; so does this, and then adds nothing.
        """
        universe = plugin.load_as(Universe)
        try:
            guarded = Universe(
                all_dialects={
                    name: self._dialect_of(plugin, name, factory)
                    for name, factory in universe.all_dialects.items()
                },
                all_passes=_guarded(plugin, "pass", universe.all_passes),
                all_targets=_guarded(plugin, "emitter", universe.all_targets),
                all_frontends=_guarded(plugin, "reader", universe.all_frontends),
            )
        except AttributeError as e:  # its tables are no dictionaries
            raise plugins.broken(plugin, e) from e
        if (clash := self.add(guarded, plugin.distribution)) is not None:
            raise PluginError(plugin, State.CLASH, f"is left out: {clash}")

    def _dialect_of(
        self, plugin: Plugin, name: str, factory: Callable[[], Dialect]
    ) -> Callable[[], Dialect]:
        """A factory that checks the dialect as well."""

        def load() -> Dialect:
            part = f"dialect '{name}'"
            dialect = cast(object, _load_part(plugin, part, factory))
            if not isinstance(dialect, Dialect):
                kind = type(dialect).__qualname__
                reason = f"brings {part}, which is a '{kind}'"
                raise PluginError(plugin, State.BROKEN, reason)
            if dialect.name != name:
                reason = f"brings {part}, which is named '{dialect.name}'"
                raise PluginError(plugin, State.BROKEN, reason)
            for kind, parts in (
                ("op", dialect.operations),
                ("attribute", dialect.attributes),
            ):
                for taken in (p.name for p in parts):
                    owner = self.owners.get(("dialect", taken.partition(".")[0]))
                    if taken.partition(".")[0] != name and owner is not None:
                        raise PluginError(
                            plugin,
                            State.CLASH,
                            f"brings {part} with {kind} '{taken}', a name of "
                            f"distribution '{owner}'",
                        )
            return dialect

        return load


def _guarded(
    plugin: Plugin, kind: str, factories: Mapping[str, Callable[[], PartT]]
) -> dict[str, Callable[[], PartT]]:
    """Factories whose errors name the plug-in."""

    def guarded(name: str, factory: Callable[[], PartT]) -> Callable[[], PartT]:
        return lambda: _load_part(plugin, f"{kind} '{name}'", factory)

    return {name: guarded(name, factory) for name, factory in factories.items()}


def _load_part(plugin: Plugin, part: str, factory: Callable[[], PartT]) -> PartT:
    try:
        return factory()
    except Exception as e:  # plug-in boundary: any error of an import
        raise plugins.broken(plugin, e, part) from e


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
    result = base_registry()
    for plugin in plugins.plugins_in(plugins.UNIVERSE):
        try:
            result.add_plugin(plugin)
        except PluginError as e:
            plugins.report_problem(e)
    return result


def base_registry() -> Registry:
    """What there is without any plug-in."""
    result = Registry()
    for owner, universe in (("xdsl", XDSL_UNIVERSE), ("transom", own_universe())):
        clash = result.add(universe, owner)
        assert clash is None, "a unit test keeps our names apart from xDSL's"
    for name in REPLACED_DIALECTS:
        result.dialects[name] = _resolver(DIALECTS[name])
    emitters = {name: _resolver(path) for name, path in OWN_EMITTERS.items()}
    unpublished = Universe(all_targets=emitters)
    clash = result.add(unpublished, "transom")
    assert clash is None, "a unit test keeps our names apart from xDSL's"
    result.owners.update({("reader", name): "transom" for name in OWN_READERS})
    return result


def new_context(allow_unregistered: bool = False) -> Context:
    """A context with all registered dialects, each loaded when first met."""
    return registry().context(allow_unregistered)


def _resolver(path: str) -> Callable[[], Any]:
    return lambda: pkgutil.resolve_name(path)
