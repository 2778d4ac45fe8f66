"""Programs that are found again by the content of their modules."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import numpy as safetensors_numpy
from xdsl.dialects.builtin import ModuleOp

import transom
from transom.cache import CacheWarning, Count, Settings, Store, counted
from transom.dialects.diagnostics import OpError
from transom.program_entries import key_of
from transom.runtime.program import Program
from transom.targets.llvm_cpu.hooks import LlvmCpuTarget
from transom.targets.registry import given_hooks

MODEL = """
graph.weight @w = #graph.file<"w.safetensors", "w"> : tensor<4xf32>
graph.weight @twice : tensor<4xf32> {
  %w = graph.weight_ref @w : tensor<4xf32>
  %s = graph.add %w, %w : tensor<4xf32>
  graph.yield %s : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = graph.weight_ref @twice : tensor<4xf32>
  %y = graph.add %x, %t : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""

X = np.arange(4, dtype=np.float32)


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Store:
    """A cache of programs of the test; kernels are in the one of all tests."""
    made = Store(Settings("on", tmp_path / "cache", 1 << 26))
    # Somebody may be editing while the tests run.
    monkeypatch.setattr("transom.cache.entries.is_current", lambda: True)
    monkeypatch.setattr("transom.program_entries.store", lambda: made)
    return made


def write(folder: Path, first: float = 1.0, text: str = MODEL) -> Path:
    """A model in a folder, and its weight."""
    folder.mkdir(exist_ok=True)
    weight = np.array([first, 2, 3, 4], np.float32)
    (folder / "w.safetensors").write_bytes(safetensors_numpy.save({"w": weight}))
    (folder / "m.mlir").write_text(text)
    return folder / "m.mlir"


def compiled(path: Path, **options: Any) -> tuple[Program, Count]:
    """The program of a file, and what became of its entry."""
    module = transom.load(path)
    with counted() as counts:
        program = transom.compile(module, **options)
    if counts["program"].found:
        assert counts["code"] == counts["kernel-code"] == Count()
    return program, counts["program"]


def test_a_program_is_found_as_it_was_made(tmp_path: Path, cache: Store) -> None:
    """In memory and on disk, and nothing else is asked for."""
    path = write(tmp_path)
    made, count = compiled(path)
    assert count == Count(missed=1, stored=1)
    for expected in (Count(memory=1), Count(disk=1)):
        found, count = compiled(path)
        assert count == expected
        assert found.code.objects == made.code.objects
        assert found.code.signature == made.code.signature
        assert found.code.pools == made.code.pools
        assert list(found.code.constants) == list(made.code.constants)
        assert found(X)["result0"].tolist() == [2, 5, 8, 11]
        cache.forget()


def test_weights_are_those_of_the_files_of_now(tmp_path: Path) -> None:
    """Their numbers are in no entry: not edited ones, nor those of another folder."""
    compiled(write(tmp_path))
    for folder, first in ((tmp_path, 5.0), (tmp_path / "elsewhere", 7.0)):
        program, count = compiled(write(folder, first))
        assert count == Count(memory=1)
        assert program(X)["result0"].tolist() == [2 * first, 5, 8, 11]


def test_weights_that_hooks_may_read_make_a_difference(tmp_path: Path) -> None:
    """A scale may have become a number of the code, as for CMSIS-NN."""
    device = 'target.device @cpu {targets = [#cmsis_nn.target<cpu = "cortex-m55">]}'
    others = {"cmsis_nn": device + MODEL, "hooks": MODEL, "usual": MODEL}
    hooks, found = LlvmCpuTarget(), dict[str, set[str | None]]()
    for name, text in others.items():
        for first in (1.0, 5.0):
            module = transom.load(write(tmp_path, first, text))
            with given_hooks(*([hooks] if name == "hooks" else [])):
                found.setdefault(name, set()).add(key_of(module, 2))
    assert {name: len(keys) for name, keys in found.items()} == {
        "cmsis_nn": 2,
        "hooks": 2,
        "usual": 1,
    }


def test_a_weight_that_is_gone_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path)
    compiled(path)
    (tmp_path / "w.safetensors").unlink()
    with pytest.raises(OpError, match=r"cannot read 'w\.safetensors'"):
        compiled(path)


OTHERS: list[Callable[[str], str]] = [
    lambda text: text.replace("graph.add %x", "graph.mul %x"),
    lambda text: text.replace("graph.add %w", "graph.mul %w"),
    lambda text: text.replace(
        "%x: tensor<4xf32>", '%x: tensor<4xf32> {graph.name = "x"}'
    ),
    lambda text: text.replace("@main", "@other"),
]


@pytest.mark.parametrize("change", OTHERS)
def test_what_a_program_is_made_of_makes_a_difference(
    change: Callable[[str], str], tmp_path: Path
) -> None:
    compiled(write(tmp_path))
    other = write(tmp_path / "other", text=change(MODEL))
    assert compiled(other)[1] == Count(missed=1, stored=1)
    same = write(tmp_path / "same", text="// A line more.\n" + MODEL)
    assert compiled(same)[1] == Count(memory=1)


OPTIONS: list[dict[str, Any]] = [
    {"opt_level": 1},
    {"threads": 2},
    {"devices": {"cpu": '#llvm_cpu.target<cpu = "x86-64-v2">'}},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: next(iter(options)))
def test_options_make_a_difference(options: dict[str, Any], tmp_path: Path) -> None:
    path = write(tmp_path)
    compiled(path)
    for expected in (Count(missed=1, stored=1), Count(memory=1)):
        assert compiled(path, **options)[1] == expected


@pytest.mark.parametrize(
    "options", [{"executor": "graph"}, {"externs": {}}, {"poison_memory": True}]
)
def test_what_is_made_in_other_ways_has_no_entry(
    options: dict[str, Any], tmp_path: Path
) -> None:
    path = write(tmp_path)
    compiled(path)
    program, count = compiled(path, **options)
    assert count == Count()
    assert program(X)["result0"].tolist() == [2, 5, 8, 11]


def test_blocks_that_branch_have_no_entry(tmp_path: Path) -> None:
    text = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  func.return %x : tensor<4xf32>
}
"""
    module = transom.parse(text)
    with counted() as counts:
        assert key_of(module, 2) is None
    assert counts["program"] == Count(refused=1)


def test_the_code_of_hooks_makes_a_difference(tmp_path: Path) -> None:
    """Also of those for the host, which the module does not name."""
    module = transom.load(write(tmp_path))
    usual = key_of(module, 2)
    with given_hooks(LlvmCpuTarget()):
        given = key_of(module, 2)
        assert given == key_of(module, 2)
    with given_hooks(LlvmCpuTarget()):
        assert len({usual, given, key_of(module, 2)}) == 3
    assert key_of(module, 2) == usual


def test_the_code_of_plug_ins_makes_a_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transom.dialects import plugins
    from transom.dialects.plugins import Plugin

    module = transom.load(write(tmp_path))
    monkeypatch.setattr(plugins, "installed", tuple)
    usual = key_of(module, 2)
    plugin = Plugin("transom.planners", "p", "woofles:PLAN", "woofles", "1")
    monkeypatch.setattr(plugins, "installed", lambda: (plugin,))
    assert key_of(module, 2) != usual
    monkeypatch.setattr(Plugin, "is_disabled", property(lambda _: True))
    assert key_of(module, 2) == usual


def flip(data: bytes) -> bytes:
    return data[:-1] + b"?"


def empty(data: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("damage", [flip, empty])
def test_a_damaged_entry_is_made_again(
    damage: Callable[[bytes], bytes], tmp_path: Path, cache: Store
) -> None:
    path = write(tmp_path)
    made, _ = compiled(path)
    assert cache.disk is not None
    (entry,) = (p for p in (cache.disk.root / "program").rglob("*") if p.is_file())
    entry.write_bytes(damage(entry.read_bytes()))
    cache.forget()
    with pytest.warns(CacheWarning):
        again, count = compiled(path)
    assert count == Count(missed=1, stored=1, damaged=1)
    assert again.code.objects == made.code.objects


def test_equal_modules_have_equal_keys(tmp_path: Path) -> None:
    one, two = (transom.load(write(tmp_path / name)) for name in "ab")
    assert isinstance(one, ModuleOp)
    assert key_of(one, 2) == key_of(two, 2) != key_of(one, 3)


def test_a_program_is_found_without_hooks_and_lowerings(tmp_path: Path) -> None:
    """What is not needed is not imported: that takes longer than all the rest."""
    path = write(tmp_path)
    script = f"""
import sys, transom
from transom.cache import counted
with counted() as counts:
    transom.compile(transom.load({str(path)!r}))
heavy = ("transom.targets.hooks", "transom.lowering.conversion",
         "transom.runtime.bytecode", "transom.runtime.main_graph")
print(counts["program"].disk, [m for m in heavy if m in sys.modules])
"""
    folder = {"TRANSOM_CACHE": "on", "TRANSOM_CACHE_DIR": str(tmp_path / "cache")}
    environment = {**os.environ, **folder}
    ran = [
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        ).stdout
        for _ in range(2)
    ]
    assert ran[0].startswith("0 [")
    assert ran[1] == "1 []\n"
