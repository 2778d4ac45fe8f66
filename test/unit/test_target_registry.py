"""
The hooks of a target attribute: in-tree, by entry point, missing, doubled, broken.
"""

from collections.abc import Iterator
from importlib.metadata import EntryPoint

import pytest
from xdsl.dialects import test
from xdsl.irdl import irdl_attr_definition

from transom.dialects.target import TargetAttr
from transom.targets import TARGETS, registry
from transom.targets.hooks import TargetHooks
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr
from transom.targets.llvm_cpu.hooks import LlvmCpuTarget
from transom.targets.registry import (
    HooksError,
    hooks_by_name,
    hooks_of,
    registered_targets,
)


@irdl_attr_definition
class WooflesAttr(TargetAttr):
    """A target that is not in the tree."""

    name = "woofles.target"


class WooflesTarget(TargetHooks[WooflesAttr]):
    """Hooks that another distribution brings."""

    attr_type = WooflesAttr


class NoHooks:
    """Not what an entry point should name."""


def entry(value: str, name: str = "woofles.target") -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{value}", registry.GROUP)


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    found: list[EntryPoint] = []

    def entry_points(group: str) -> list[EntryPoint]:
        assert group == "transom.targets"
        return found

    monkeypatch.setattr(registry, "entry_points", entry_points)

    def load(entry: EntryPoint) -> object:
        # It names this module, which pytest imports under a name of its own.
        return globals()[entry.value.partition(":")[2]]

    monkeypatch.setattr(EntryPoint, "load", load)
    hooks_by_name.cache_clear()
    yield found
    hooks_by_name.cache_clear()


def test_hooks_of_a_target_in_the_tree():
    hooks = hooks_of(LlvmCpuAttr.get("znver4"))
    assert isinstance(hooks, LlvmCpuTarget)
    assert hooks_of(LlvmCpuAttr.get("host")) is hooks


def test_every_entry_of_the_table_has_hooks_for_its_name():
    for name in TARGETS:
        assert hooks_by_name(name).attr_type.name == name


def test_hooks_of_a_target_out_of_the_tree(entries: list[EntryPoint]):
    entries.append(entry("WooflesTarget"))
    assert isinstance(hooks_of(WooflesAttr()), WooflesTarget)
    assert registered_targets() == ("llvm_cpu.target", "woofles.target")


def test_a_target_without_hooks_is_told_what_there_is(entries: list[EntryPoint]):
    with pytest.raises(HooksError) as error:
        hooks_by_name("llvm_gpu.target")
    assert str(error.value) == (
        "no target 'llvm_gpu.target' is registered; did you mean 'llvm_cpu.target'?; "
        "registered targets: llvm_cpu.target"
    )


def test_two_origins_are_named(entries: list[EntryPoint]):
    entries += [entry("WooflesTarget"), entry("NoHooks")]
    with pytest.raises(HooksError) as error:
        hooks_of(WooflesAttr())
    assert str(error.value) == (
        f"target 'woofles.target' is registered by distribution 'unknown' "
        f"({__name__}:WooflesTarget) and by distribution 'unknown' ({__name__}:NoHooks)"
    )


def test_an_entry_point_does_not_replace_one_in_the_tree(entries: list[EntryPoint]):
    entries.append(entry("WooflesTarget", "llvm_cpu.target"))
    with pytest.raises(HooksError, match=r"registered by transom \(transom\.targets\."):
        hooks_by_name("llvm_cpu.target")


def test_a_broken_entry_point_is_named_with_its_error(entries: list[EntryPoint]):
    entries.append(entry("Missing"))
    with pytest.raises(HooksError) as error:
        hooks_of(WooflesAttr())
    assert str(error.value) == (
        "the hooks of target 'woofles.target' from distribution 'unknown' "
        f"({__name__}:Missing) cannot be loaded: KeyError: 'Missing'"
    )


def test_an_entry_point_must_name_hooks(entries: list[EntryPoint]):
    entries.append(entry("NoHooks"))
    with pytest.raises(HooksError, match="expected 'TargetHooks' for target 'woofles"):
        hooks_of(WooflesAttr())


def test_hooks_must_be_for_the_attribute_of_their_name(entries: list[EntryPoint]):
    entries.append(EntryPoint("woofles.target", "x:LlvmCpuTarget", registry.GROUP))
    with pytest.raises(HooksError) as error:
        hooks_of(WooflesAttr())
    assert str(error.value) == (
        "expected hooks for 'WooflesAttr' under the name 'woofles.target', but they "
        "are for 'LlvmCpuAttr'"
    )


def test_hooks_change_nothing_by_default():
    hooks, target = LlvmCpuTarget(), LlvmCpuAttr.get("znver4")
    assert hooks.scope == "function"
    assert str(hooks.graph_pipeline(target)) == "func.func()"
    assert hooks.convert_graph_to_tir(target) is None
    assert hooks.convert_graph_to_artifact(target) is None
    assert hooks.constants(target) is None
    assert hooks.cost(test.TestOp(), target) is None
    for nothing in (
        hooks.claims(target),
        hooks.patterns(target),
        hooks.tir_pipeline(target),
        hooks.omits(target),
        hooks.memories(target),
        hooks.reference(target),
    ):
        assert not nothing
