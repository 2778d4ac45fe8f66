"""What compiling is measured to cost."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import measurement
from benchmarks.cases import case_named
from benchmarks.compilation import anonymous_memory, compile_case, family
from benchmarks.measurement import environment, write_bytecode

GRANDCHILD = "print(flush=True); b = bytearray(64 << 20); print(flush=True); input()"
CHILD = f"""
import subprocess, sys, threading
start = lambda: subprocess.run([sys.executable, "-c", {GRANDCHILD!r}])
threading.Thread(target=start).start()
"""


def test_memory_is_that_of_all_processes():
    """One that a thread has started, too."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None and child.stdout is not None
    child.stdout.readline()
    assert len(list(family(child.pid))) == 2
    child.stdout.readline()
    assert 64 << 20 <= anonymous_memory(child.pid) < 128 << 20
    child.communicate("\n")
    assert list(family(child.pid)) == [child.pid]
    assert anonymous_memory(child.pid) == 0


def test_processes_that_are_measured_keep_bytecode(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setenv("TVM_BIND_THREADS", "0")
    kept = environment(2)
    assert "PYTHONDONTWRITEBYTECODE" not in kept and "TVM_BIND_THREADS" not in kept
    assert kept["OMP_NUM_THREADS"] == kept["TVM_NUM_THREADS"] == "2"


def test_bytecode_is_made_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for folder in ("benchmarks", "transom/targets", "passes/memory"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.py").write_text("")
    (tmp_path / "transom" / "passes").symlink_to("../passes")
    monkeypatch.setattr(measurement, "ROOT", tmp_path)
    write_bytecode()
    made = {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*.pyc")}
    assert made == {"benchmarks", "transom", "passes"}
    assert len(list(tmp_path.rglob("*.pyc"))) == 3


def test_what_compiling_costs():
    """A warm compilation takes less than a cold one; more is not said of times."""
    found, size = compile_case(case_named("tanh-128x3072"), ["transom", "numpy"], 2)
    assert list(found) == ["transom"] and size > 0
    own = found["transom"]
    assert own.cold and own.cold_user and own.warm and own.warm_user and own.memory
    assert own.warm < own.cold and own.cold_user < own.cold
    assert own.cold_spread is not None and own.cold_spread >= 0
