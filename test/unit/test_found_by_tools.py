"""Programs that `transom-run` and `transom-compile` find again."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import numpy as safetensors_numpy

import transom
from transom import kernel_code
from transom.cache import Count, Settings, Store, counted
from transom.dialects.diagnostics import report
from transom.tools import transom_compile, transom_run

MODEL = """
graph.weight @w = #graph.file<"w.safetensors", "w"> : tensor<4xf32>
func.func @main(%x: tensor<4xf32> {graph.name = "x"})
    -> (tensor<4xf32> {graph.name = "y"}) {
  %w = graph.weight_ref @w : tensor<4xf32>
  %y = graph.add %x, %w : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""

UNBOUNDED = """
!t = tensor<?x8xf32, #graph.desc<dims = ["N"]>>
func.func @main(%x: !t, %y: !t) -> !t {
  %a = graph.softmax %x axis 0 : !t
  %b = graph.softmax %a axis 1 : !t
  %c = graph.softmax %b axis 0 : !t
  %d = graph.add %c, %y : !t
  func.return %d : !t
}
"""

NOTE = "note: no device is declared, so the host is assumed"

Capture = pytest.CaptureFixture[str]
MADE, FOUND = Count(missed=1, stored=1), Count(memory=1)


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Store:
    """A cache of programs of the test; kernels are in the one of all tests."""
    made = Store(Settings("on", tmp_path / "cache", 1 << 26))
    # Somebody may be editing while the tests run.
    monkeypatch.setattr("transom.cache.entries.is_current", lambda: True)
    monkeypatch.setattr("transom.program_entries.store", lambda: made)
    return made


@pytest.fixture
def model(tmp_path: Path) -> str:
    weight = np.array([1, 2, 3, 4], np.float32)
    (tmp_path / "w.safetensors").write_bytes(safetensors_numpy.save({"w": weight}))
    (tmp_path / "m.mlir").write_text(MODEL)
    return str(tmp_path / "m.mlir")


def told(
    tool: Any, capture: Capture, *words: str, status: int = 0
) -> tuple[str, str, Count]:
    """What a tool prints, and what became of the entry."""
    with counted() as counts:
        assert tool.main(words) == status
    said = capture.readouterr()
    return said.out, said.err, counts["program"]


def run(model: str, capture: Capture, *words: str) -> tuple[str, str, Count]:
    return told(transom_run, capture, model, "--input", "4xf32=1", *words)


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_run_says_the_same_of_what_is_found(model: str, capsys: Capture) -> None:
    """Also which machine is assumed."""
    out, err, count = run(model, capsys)
    assert (out, count) == ("y: 4xfloat32 = [2, 3, 4, 5]\n", MADE)
    assert NOTE in err
    assert run(model, capsys) == (out, err, FOUND)
    device = ["--device", 'cpu=#llvm_cpu.target<cpu = "host">']
    assert run(model, capsys, *device) == (out, "", MADE)
    assert run(model, capsys, *device) == (out, "", FOUND)


def test_all_find_the_same_entry(model: str, tmp_path: Path, capsys: Capture) -> None:
    words = [model, "-o", str(tmp_path / "out")]
    _, err, count = told(transom_compile, capsys, *words)
    assert NOTE in err and count == MADE
    made = contents(tmp_path / "out" / "m.transom")
    assert told(transom_compile, capsys, *words)[1:] == (err, FOUND)
    assert contents(tmp_path / "out" / "m.transom") == made
    assert run(model, capsys)[2] == FOUND
    with counted() as counts:
        transom.compile(transom.load(model))
    assert counts["program"] == FOUND


def test_a_library_is_made_of_what_is_found(
    model: str, tmp_path: Path, capsys: Capture
) -> None:
    words = [model, "--emit=static", "-o"]
    for folder, expected in ("one", MADE), ("two", FOUND):
        count = told(transom_compile, capsys, *words, str(tmp_path / folder))[2]
        assert count == expected
    for name in ("libm.a", "m.h", "m.json"):
        one, two = (tmp_path / folder / name for folder in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_what_allocates_is_refused_at_its_place(
    tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(UNBOUNDED)
    words = [str(path), "--emit=static", "-o", str(tmp_path / "out")]
    _, err, count = told(transom_compile, capsys, *words, status=1)
    assert "m.mlir:4:3: error: expected bounds of 'N'" in err and count == MADE
    again = told(transom_compile, capsys, *words, status=1)
    assert again == ("", err, FOUND)


def test_code_of_another_machine_does_not_run(
    model: str, tmp_path: Path, capsys: Capture
) -> None:
    device = ["--device", 'cpu=#llvm_cpu.target<cpu = "cortex-a72">']
    device = ["--device", 'cpu=#llvm_cpu.target<cpu = "rv64">'] if is_arm() else device
    compiling = [model, "-o", str(tmp_path), *device]
    for expected in (MADE, FOUND):
        assert told(transom_compile, capsys, *compiling)[2] == expected
        running = [model, "--input", "4xf32=1", *device]
        out, err, _ = told(transom_run, capsys, *running, status=1)
        assert not out and "error: this machine cannot run code for" in err


def is_arm() -> bool:
    from transom.runtime.jit import host_triple

    return host_triple().startswith("aarch64")


def test_weights_are_beside_the_file_that_is_named(
    model: str, tmp_path: Path, capsys: Capture
) -> None:
    """Wherever the locations of IR lead to."""
    text = f'module {{\n{MODEL}\n}} loc("elsewhere/m.mlir":1:1)\n'
    (tmp_path / "m.mlir").write_text(text)
    out, err, count = run(model, capsys)
    assert (out, count) == ("y: 4xfloat32 = [2, 3, 4, 5]\n", MADE)
    assert run(model, capsys) == (out, err, FOUND)


def test_what_was_said_is_said_again(
    model: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A warning on the way keeps no entry."""
    usual: Callable[..., Any] = kernel_code.lower_to_machine

    def warning(module: Any, *args: Any, **options: Any) -> Any:
        report("warning", module, "one way is slow")
        return usual(module, *args, **options)

    monkeypatch.setattr(kernel_code, "lower_to_machine", warning)
    for _ in range(2):
        _, err, count = run(model, capsys)
        assert "warning: one way is slow" in err
        assert count == Count(missed=1)


@pytest.mark.parametrize("words", [["--poison-memory"], ["--executor=graph"]])
def test_other_ways_have_no_entry(
    words: list[str], model: str, capsys: Capture
) -> None:
    run(model, capsys)
    out, _, count = run(model, capsys, *words)
    assert (out, count) == ("y: 4xfloat32 = [2, 3, 4, 5]\n", Count())


def test_a_damaged_entry_is_made_again(
    model: str, capsys: Capture, cache: Store
) -> None:
    out, *_ = run(model, capsys)
    assert cache.disk is not None
    (entry,) = (p for p in (cache.disk.root / "program").rglob("*") if p.is_file())
    entry.write_bytes(entry.read_bytes()[:-1] + b"?")
    cache.forget()
    again, err, count = run(model, capsys)
    assert again == out and "warning: the cache has a damaged entry" in err
    assert count == Count(missed=1, stored=1, damaged=1)
