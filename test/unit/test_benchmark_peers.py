"""The candidates that transom is compared with, and what becomes of those that fail."""

from pathlib import Path

import pytest

from benchmarks.candidates import Candidate
from benchmarks.cases import case_named
from benchmarks.compilation import compile_case
from benchmarks.compiler_peers import _first_error  # pyright: ignore[reportPrivateUsage]
from benchmarks.measurement import measure_case
from benchmarks.peers import CANDIDATES, NumPy, installed

CASE = case_named("layernorm-128x768")

FOREIGN = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(
            CANDIDATES[name].version() is None,
            reason=f"not installed: {', '.join(CANDIDATES[name].packages)}",
        ),
    )
    for name in ("iree", "tvm")
]


@pytest.fixture
def tvm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package `tvm` to be written, which processes that measure import."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path / "tvm.py"


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_compiler_computes_the_same(name: str, threads: int):
    timing = measure_case(CASE, [name, "numpy"], [threads], 2)[threads][name]
    assert timing.is_right, timing.failure
    assert timing.error is not None and len(timing.seconds) == 2


@pytest.mark.parametrize("name", FOREIGN)
def test_what_compiling_costs(name: str):
    found, _ = compile_case(CASE, [name], 1)
    assert found[name].failure is None
    assert found[name].cold and found[name].memory and found[name].warm is None


def test_all_packages_are_needed(monkeypatch: pytest.MonkeyPatch):
    class Half(NumPy):
        packages = ("numpy", "transom-no-such-distribution")

    class Gone(NumPy):
        module = "transom_no_such_module"

    kinds: dict[str, type[Candidate]] = {"numpy": NumPy, "half": Half, "gone": Gone}
    monkeypatch.setattr("benchmarks.peers.CANDIDATES", kinds)
    assert list(installed()) == ["numpy"]


def test_a_candidate_that_fails_leaves_the_others_to_measure(tvm: Path):
    tvm.write_text('raise ImportError("a symbol is missing\\nand more")')
    found = measure_case(CASE, ["tvm", "numpy"], [1], 2)[1]
    assert found["tvm"].failure == "ImportError: a symbol is missing"
    assert len(found["numpy"].seconds) == 2


def test_a_candidate_that_ends_its_process_has_failed(tvm: Path):
    tvm.write_text("import os; os._exit(7)")
    found = measure_case(CASE, ["numpy", "tvm"], [1], 2)[1]
    assert found["tvm"].failure == "the process ended with status 7"
    assert len(found["numpy"].seconds) == 2


def test_what_a_library_prints_is_no_answer(
    tvm: Path, capfd: pytest.CaptureFixture[str]
):
    tvm.write_text('import os; os.system("echo hello"); print(1 / 0)')
    found = measure_case(CASE, ["tvm", "numpy"], [1], 1)[1]
    assert found["tvm"].failure == "ZeroDivisionError: division by zero"
    assert "hello" in capfd.readouterr().err


def test_a_compilation_that_fails_says_why(tvm: Path):
    tvm.write_text('raise ImportError("a symbol is missing")')
    found, _ = compile_case(CASE, ["tvm"], 1)
    assert found["tvm"].failure == (
        "ended with status 1: ImportError: a symbol is missing"
    )


def test_a_slow_candidate_has_fewer_rounds(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("benchmarks.measurement.PATIENCE", 1e-9)
    found = measure_case(CASE, ["numpy"], [1], 3)[1]
    assert len(found["numpy"].seconds) == 1


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("m.mlir:3:1: error: no such op\n  %0\nm.mlir:3:1: note: see\n", "no such op"),
        ("Traceback\n  line\nValidationError: no shape\n", "ValidationError: no shape"),
        ("", "no message"),
    ],
)
def test_what_a_compiler_complains_of(text: str, error: str):
    assert _first_error(text) == error
