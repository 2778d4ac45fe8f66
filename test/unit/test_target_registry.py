"""
What is found for a target attribute and for a conversion: in-tree, by plug-in, missing,
doubled, broken.
"""

import inspect
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, cast

import fake_distributions
import pytest
from fake_distributions import run_python
from xdsl.dialects import test
from xdsl.irdl import irdl_attr_definition

from transom.dialects import plugins
from transom.dialects.plugins import Plugin, PluginError, handling_problems
from transom.dialects.target import TargetAttr
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
)
from transom.targets import TARGETS, registry
from transom.targets.conversions import Conversions
from transom.targets.hooks import TargetHooks
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr
from transom.targets.llvm_cpu.hooks import LlvmCpuTarget
from transom.targets.registry import (
    HooksError,
    conversions_for,
    given_hooks,
    hooks_by_name,
    hooks_of,
    plugin_identities,
    registered_targets,
)


@irdl_attr_definition
class WooflesAttr(TargetAttr):
    """A target that is not in the tree."""

    name = "woofles.target"


class WooflesTarget(TargetHooks[WooflesAttr]):
    """Hooks that another distribution brings."""

    attr_type = WooflesAttr


class OldTarget(WooflesTarget):
    api_version = 0


class TextTarget(WooflesTarget):
    api_version = cast(Any, "1")


class NoVersionTarget(WooflesTarget):
    api_version = cast(Any, None)


class IntTarget(WooflesTarget):
    attr_type = cast(Any, int)


class NoAttrTarget(TargetHooks[Any]):
    """Does not say its attribute."""


class BadTarget(WooflesTarget):
    def __init__(self) -> None:
        raise OSError("no licence")


class NoHooks:
    """Not what an entry point should name."""


class ConvertTest(ConversionPattern[test.TestOp]):
    root = test.TestOp

    def match_and_rewrite(
        self, op: test.TestOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        return Refusal("it is a test")


def place(function: Any, what: str) -> str:
    """The file and line of a function's line, as messages name it."""
    lines, first = inspect.getsourcelines(function)
    number = next(i for i, line in enumerate(lines) if what in line)
    return f"test/unit/test_target_registry.py:{first + number}"


def named(value: str) -> object:
    """What is loaded for the name of an object of this module."""
    return globals()[value]


LOADING = place(named, "globals")
REFUSING = place(BadTarget.__init__, "raise")

CONVERSIONS = Conversions((ConvertTest(),))
OLD_CONVERSIONS = Conversions((), api_version=0)
MISPLACED = Conversions((), joins="convert-tir-to-scf")
NO_PATTERNS = Conversions((ConvertTest,))  # pyright: ignore[reportArgumentType]


def clear() -> None:
    hooks_by_name.cache_clear()
    registry._all_conversions.cache_clear()  # pyright: ignore[reportPrivateUsage]


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Plugin]]:
    """The plug-ins that are installed."""
    installed: list[Plugin] = []
    monkeypatch.setattr(plugins, "installed", lambda: tuple(installed))
    monkeypatch.setattr(plugins, "_PROBLEMS", {})

    def load(entry: EntryPoint) -> object:
        # It names this module, which pytest imports under a name of its own.
        return named(entry.value.partition(":")[2])

    monkeypatch.setattr(EntryPoint, "load", load)
    clear()
    yield installed
    clear()


def target(value: str, name: str = "woofles.target", dist: str = "woofles") -> Plugin:
    return fake_distributions.plugin(plugins.TARGETS, name, f"x:{value}", dist)


def conversions(value: str, name: str = "woofles", dist: str = "woofles") -> Plugin:
    return fake_distributions.plugin(plugins.CONVERSIONS, name, f"x:{value}", dist)


def refused(name: str = "woofles.target") -> str:
    """What is said about the hooks of a target."""
    with pytest.raises(HooksError) as error:
        hooks_by_name(name)
    return str(error.value)


def reported() -> list[str]:
    """What is said about the conversions."""
    problems: list[PluginError] = []
    with handling_problems(problems.append):
        assert conversions_for("convert-graph-to-tir") == ()
    return [str(problem) for problem in problems]


# Hooks.


def test_hooks_of_a_target_in_the_tree():
    hooks = hooks_of(LlvmCpuAttr.get("znver4"))
    assert isinstance(hooks, LlvmCpuTarget)
    assert hooks_of(LlvmCpuAttr.get("host")) is hooks


def test_every_entry_of_the_table_has_hooks_for_its_name():
    for name in TARGETS:
        assert hooks_by_name(name).attr_type.name == name


def test_hooks_of_a_target_out_of_the_tree(found: list[Plugin]):
    found.append(target("WooflesTarget"))
    assert isinstance(hooks_of(WooflesAttr()), WooflesTarget)
    assert registered_targets() == tuple(sorted([*TARGETS, "woofles.target"]))


def test_a_target_without_hooks_is_told_what_there_is(found: list[Plugin]):
    assert refused("llvm_gpu.target") == (
        "no target 'llvm_gpu.target' is registered; did you mean 'llvm_cpu.target'?; "
        f"registered targets: {', '.join(sorted(TARGETS))}"
    )


def test_two_origins_are_named(found: list[Plugin]):
    found += [target("WooflesTarget"), target("NoHooks", dist="barks")]
    assert refused() == (
        "plug-in 'woofles.target' of distribution 'barks' (x:NoHooks) has the name of "
        "one of distribution 'woofles' (x:WooflesTarget)"
    )


def test_a_plugin_does_not_replace_a_target_in_the_tree(found: list[Plugin]):
    found.append(target("WooflesTarget", "llvm_cpu.target"))
    problems: list[PluginError] = []
    with handling_problems(problems.append):
        assert isinstance(hooks_by_name("llvm_cpu.target"), LlvmCpuTarget)
    assert [str(problem) for problem in problems] == [
        "plug-in 'llvm_cpu.target' of distribution 'woofles' (x:WooflesTarget) is left "
        "out: target 'llvm_cpu.target' is registered by distribution 'transom'"
    ]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("Missing", f"cannot be loaded: KeyError: 'Missing' at {LOADING}"),
        ("BadTarget", f"cannot be loaded: OSError: no licence at {REFUSING}"),
        ("NoHooks", "is not a class derived from 'TargetHooks'"),
        ("CONVERSIONS", "is not a class derived from 'TargetHooks'"),
        (
            "LlvmCpuTarget",
            "has the hooks of attribute 'llvm_cpu.target', whose name it should have",
        ),
        (
            "OldTarget",
            "was written for API version 0 of hooks, but this transom has API "
            "version 1; install versions of both that fit",
        ),
        (
            "TextTarget",
            "has 'api_version = '1''; expected a number, such as 'api_version = 1'",
        ),
        (
            "NoVersionTarget",
            "has 'api_version = None'; expected a number, such as 'api_version = 1'",
        ),
        (
            "IntTarget",
            "is wrong: attr_type must be a class derived from 'TargetAttr', but is "
            "'int'",
        ),
        (
            "NoAttrTarget",
            "is wrong: attr_type must be a class derived from 'TargetAttr', but is "
            "'None'",
        ),
        ("a b", "is not of the form 'module:object'"),
    ],
)
def test_hooks_that_cannot_be_used(found: list[Plugin], value: str, reason: str):
    found.append(target(value))
    assert refused() == (
        f"plug-in 'woofles.target' of distribution 'woofles' (x:{value}) {reason}"
    )


def test_hooks_must_be_for_the_class_of_the_attribute(found: list[Plugin]):
    found.append(target("WooflesTarget"))

    @irdl_attr_definition
    class OtherAttr(TargetAttr):
        name = "woofles.target"

    with pytest.raises(HooksError) as error:
        hooks_of(OtherAttr())
    assert str(error.value) == (
        f"expected hooks for '{OtherAttr.__qualname__}' under the name "
        "'woofles.target', but they are for 'WooflesAttr'"
    )


@pytest.mark.parametrize("name", ["woofles.target", "barks, woof-les", "Woof_les"])
def test_a_disabled_target_is_not_there(
    found: list[Plugin], monkeypatch: pytest.MonkeyPatch, name: str
):
    """By the name of the plug-in, or by that of its distribution."""
    found.append(target("WooflesTarget", dist="woof_les"))
    monkeypatch.setenv(plugins.DISABLE_VARIABLE, name)
    assert refused().startswith("no target 'woofles.target' is registered")


# Conversions.


def test_conversions_join_the_pass_that_they_name(found: list[Plugin]):
    found.append(conversions("CONVERSIONS"))
    assert conversions_for("convert-graph-to-tir") == CONVERSIONS.patterns
    assert conversions_for("convert-tir-to-scf") == ()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("Missing", f"cannot be loaded: KeyError: 'Missing' at {LOADING}"),
        ("NoHooks", "is not a 'Conversions', but a 'type'"),
        (
            "OLD_CONVERSIONS",
            "was written for API version 0 of hooks, but this transom has API "
            "version 1; install versions of both that fit",
        ),
        (
            "MISPLACED",
            "cannot join pass 'convert-tir-to-scf'; did you mean "
            "'convert-graph-to-tir'?",
        ),
        ("NO_PATTERNS", f"has '{ConvertTest!r}' among its patterns, which is none"),
    ],
)
def test_conversions_that_cannot_be_used(found: list[Plugin], value: str, reason: str):
    found.append(conversions(value))
    assert reported() == [
        f"plug-in 'woofles' of distribution 'woofles' (x:{value}) {reason}"
    ]


def test_of_conversions_of_one_name_none_is_taken(found: list[Plugin]):
    found += [conversions("CONVERSIONS"), conversions("CONVERSIONS", dist="barks")]
    assert reported() == [
        "plug-in 'woofles' of distribution 'woofles' (x:CONVERSIONS) has the name of "
        "one of distribution 'barks' (x:CONVERSIONS)",
        "plug-in 'woofles' of distribution 'barks' (x:CONVERSIONS) has the name of one "
        "of distribution 'woofles' (x:CONVERSIONS)",
    ]


# What code takes part.


IDENTITIES = """
from transom.dialects.target import TargetAttr
from transom.targets.registry import plugin_identities
from xdsl.irdl import irdl_attr_definition
@irdl_attr_definition
class BarksAttr(TargetAttr):
    name = "barks.target"
print(*plugin_identities(), "|", *plugin_identities([BarksAttr()]))
"""


def test_the_identity_of_code_that_takes_part(tmp_path: Path):
    """All conversions, and the hooks of the targets in question, with their code."""
    woofles = "from transom.targets.conversions import Conversions\nC = Conversions(())"
    groups = {plugins.CONVERSIONS: {"woofles": "woofles.c:C"}}
    modules = {"woofles.c": woofles, "woofles.part.other": "", "barks": ""}
    fake_distributions.install(tmp_path, "woofles", groups, modules)
    fake_distributions.install(
        tmp_path,
        "barks",
        {plugins.TARGETS: {"barks.target": "barks:B", "meows.target": "barks:M"}},
        version="2.1",
    )

    def identities() -> tuple[str, str, str]:
        first, second = run_python(tmp_path, "-c", IDENTITIES).stdout.split(" | ")
        assert first in second
        barks = second.strip().replace(first, "").strip()
        assert barks.startswith("barks 2.1 barks:B barks ")
        assert first.startswith("woofles 1.0 woofles.c:C woofles ")
        return first, barks, second

    before = identities()
    assert identities() == before
    (tmp_path / "woofles" / "part" / "other.py").write_text("# changed")
    after = identities()
    assert after[0] != before[0]
    assert after[1] == before[1]
    (tmp_path / "barks.py").write_text("# changed")
    assert identities()[1] != before[1]


def test_hooks_of_a_test_are_like_no_others():
    first, second = WooflesTarget(), WooflesTarget()
    with given_hooks(first):
        before = plugin_identities([WooflesAttr()])
        assert len(before) == 1
        assert plugin_identities([WooflesAttr()]) == before
        with given_hooks(second):
            assert plugin_identities([WooflesAttr()]) != before


def test_without_plugins_nothing_takes_part(found: list[Plugin]):
    assert plugin_identities([LlvmCpuAttr.get("znver4")]) == ()


# Defaults.


def test_hooks_change_nothing_by_default():
    hooks, target = WooflesTarget(), WooflesAttr()
    assert hooks.scope == "function"
    assert str(hooks.graph_pipeline(target)) == "func.func()"
    assert hooks.convert_graph_to_tir(target) is None
    assert hooks.convert_graph_to_artifact(target) is None
    assert hooks.constants(target) is None
    assert hooks.cost(test.TestOp(), target) is None
    reference = hooks.reference(target)
    for nothing in (
        hooks.claims(target),
        hooks.patterns(target),
        hooks.tir_pipeline(target),
        hooks.pass_options(target),
        hooks.omits(target),
        hooks.memories(target),
        reference.ops,
        reference.externs,
        reference.artifacts,
    ):
        assert not nothing


def test_hooks_that_are_given_stand_in_front_of_registered_ones():
    given = WooflesTarget()
    with given_hooks(given):
        assert hooks_of(WooflesAttr()) is given
        with given_hooks(LlvmCpuTarget()):
            assert hooks_of(WooflesAttr()) is given
    with pytest.raises(HooksError, match=r"no target 'woofles\.target'"):
        hooks_of(WooflesAttr())
