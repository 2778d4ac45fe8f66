"""
Saved programs: which machines they are for, and files that are none.
"""

import json
import os
import platform
import time
import tracemalloc
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

import transom
from transom.compiler import to_code
from transom.runtime import ArchiveError, load
from transom.runtime.archive import pack, read, save
from transom.runtime.jit import host_cpu
from transom.runtime.program import Code
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr

MAIN = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.exp %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}"""


@pytest.fixture(scope="module")
def code() -> Code:
    return transom.compile(transom.parse(MAIN)).code


def lacking(features: Iterable[str]) -> list[str]:
    """Those of some features that this CPU lacks."""
    here = set(host_cpu()[1].split(","))
    return sorted(name for name in features if f"-{name}" in here)


def test_bytes_do_not_depend_on_the_time(
    code: Code, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = pack(code)
    monkeypatch.setattr(time, "time", lambda: 1e9)
    assert pack(code) == now


def test_saving_makes_no_copies_of_weights(tmp_path: Path) -> None:
    module = transom.parse("""
    graph.weight @w = dense<1.0> : tensor<1024x1024xf32>
    func.func @main(%x: tensor<4x1024xf32>) -> tensor<4x1024xf32> {
      %w = graph.weight_ref @w : tensor<1024x1024xf32>
      %y = graph.matmul %x, %w
        : tensor<4x1024xf32>, tensor<1024x1024xf32> -> tensor<4x1024xf32>
      func.return %y : tensor<4x1024xf32>
    }""")
    made = transom.compile(module).code
    # One that is not contiguous is, in the file.
    apart = np.arange(12, dtype=np.float32).reshape(3, 4).T
    made = replace(made, constants={**made.constants, "apart": apart})
    size = sum(array.nbytes for array in made.constants.values())
    tracemalloc.start()
    try:
        save(made, tmp_path / "model.transom")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size >= 4 << 20 > 8 * most
    found = read(tmp_path / "model.transom").constants
    assert found.keys() == made.constants.keys()
    for name, array in made.constants.items():
        np.testing.assert_array_equal(found[name], array)


def test_weights_without_elements_are_saved(tmp_path: Path, code: Code) -> None:
    path = tmp_path / "model.transom"
    save(replace(code, constants={"none": np.empty((0, 4), np.float16)}), path)
    (array,) = read(path).constants.values()
    assert array.shape == (0, 4) and array.dtype == np.float16


def test_a_program_is_written_to_what_is_no_file(code: Code) -> None:
    save(code, os.devnull)
    assert not Path(os.devnull).is_file()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names CPUs of x86-64")
def test_a_program_for_a_cpu_that_this_is_not_is_refused(tmp_path: Path) -> None:
    """None of its features is named: they follow from the CPU."""
    cpus = ("sapphirerapids", "znver5", "bdver4")  # no CPU is all of these
    cpu = next(cpu for cpu in cpus if lacking(LlvmCpuAttr.get(cpu).feature_set))
    device = f'target.device @cpu {{targets = [#llvm_cpu.target<cpu = "{cpu}">]}}\n'
    foreign = transom.lower(transom.parse(device + MAIN), "machine")
    path = tmp_path / "model.transom"
    save(to_code(foreign, runs_here=False), path)
    missing = lacking(read(path).needs)
    listed = ", ".join(missing[:4]) + (", …" if len(missing) > 4 else "")
    with pytest.raises(ArchiveError) as caught:
        load(path)
    assert str(caught.value) == f"the program is for '{cpu}'; this CPU lacks {listed}"


@pytest.mark.parametrize("executor", ["aot", "graph", "vm"])
def test_programs_say_what_they_need_of_the_cpu(executor: str, tmp_path: Path) -> None:
    path = tmp_path / "model.transom"
    transom.compile(transom.parse(MAIN), executor=executor).save(path)
    needs = read(path).needs
    assert needs and not lacking(needs)
    load(path)


def test_files_from_before_needs_were_kept_are_loaded(
    code: Code, tmp_path: Path
) -> None:
    path = tmp_path / "model.transom"
    save(code, path)
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(entries["manifest.json"])
    del manifest["needs"]
    entries["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    assert read(path).needs == ()
    load(path)


@pytest.mark.parametrize(
    ("offset", "value"),
    [
        (6, b"\xff\xff"),  # the version of ZIP that it takes to extract an entry
        (8, b"\x01\x00"),  # encrypted
        (8, b"\x20\x00"),  # patched data
        (42, b"\xff\xff\xff\x7f"),  # where the entry is
    ],
)
def test_a_damaged_directory_is_refused(
    code: Code, tmp_path: Path, offset: int, value: bytes
) -> None:
    path = tmp_path / "model.transom"
    save(code, path)
    damaged = bytearray(path.read_bytes())
    first = damaged.index(b"PK\x01\x02") + offset
    damaged[first : first + len(value)] = value
    path.write_bytes(damaged)
    with pytest.raises(ArchiveError, match=r"model.transom' is no program of transom"):
        load(path)


def test_damaged_bytes_are_refused_or_harmless(code: Code, tmp_path: Path) -> None:
    """Whatever is damaged outside of what has a hash, nothing else is raised."""
    path = tmp_path / "model.transom"
    save(code, path)
    whole, random = path.read_bytes(), Random(1)
    first = whole.index(b"PK\x01\x02")
    refused = 0
    for _ in range(400):
        damaged = bytearray(whole)
        damaged[random.randrange(first, len(whole))] = random.randrange(256)
        path.write_bytes(damaged)
        with suppress(ArchiveError):
            read(path)
            refused -= 1
        refused += 1
    assert refused > 100
