"""`transom cache`, and what the programs say of a cache that cannot be used."""

import json
import warnings
from pathlib import Path

import pytest

from transom.cache import store
from transom.tools.exit_status import exit_status
from transom.tools.reporter import Reporter
from transom.tools.transom_main import main
from transom.tools.transom_run import main as run_main

MODEL = Path(__file__).parents[1] / "models" / "two_results.mlir"


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A cache on disk with two entries of a kind and one of another."""
    monkeypatch.setattr("transom.cache.entries.is_current", lambda: True)
    monkeypatch.setenv("TRANSOM_CACHE", "on")
    monkeypatch.setenv("TRANSOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TRANSOM_CACHE_SIZE", "1M")
    store().put("code", "aa", bytes(5000))
    store().put("code", "bb", b"x")
    store().put("kernel-code", "aa", b"x")
    return tmp_path / "cache"


def test_the_default_is_to_tell(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = (
        f"folder  {folder}\n"
        "size    16.0 KiB of 1.0 MiB in 3 entries\n\n"
        "KIND                  ENTRIES         SIZE\n"
        "code                        2     12.0 KiB\n"
        "kernel-code                 1      4.0 KiB\n"
    )
    for words in (["cache"], ["cache", "--stats"], ["cache", "--prune"]):
        assert main(words) == 0
        assert capsys.readouterr().out == expected


def test_all_entries_are_removed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cache", "--clear"]) == 0
    expected = f"folder  {folder}\nsize    0.0 KiB of 1.0 MiB in 0 entries\n"
    assert capsys.readouterr().out == expected
    assert [path for path in folder.rglob("??") if path.is_file()] == []


def test_old_entries_are_removed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSOM_CACHE_SIZE", "5K")
    assert main(["cache", "--prune", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["entries"] <= 1 and said["size"] <= 5 << 10


def test_what_is_there_as_json(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cache", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "folder": str(folder),
        "entries": 3,
        "size": 16384,
        "limit": 1048576,
        "kinds": {
            "code": {"entries": 2, "size": 12288},
            "kernel-code": {"entries": 1, "size": 4096},
        },
    }


def test_one_thing_at_a_time(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "--clear", "--prune"]) == 2
    assert capsys.readouterr().err == (
        "transom: error: argument --prune: not allowed with argument --clear\n"
    )
    assert store().get("code", "bb") == b"x"


def test_a_cache_that_is_off_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRANSOM_CACHE", "memory")
    assert main(["cache"]) == 1
    assert capsys.readouterr().err == (
        "transom: error: nothing is kept on disk: TRANSOM_CACHE is 'memory'\n"
    )


def test_programs_go_on_without_a_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And say so in one line of their own."""
    monkeypatch.setattr("transom.cache.entries.is_current", lambda: True)
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "cache"
    monkeypatch.setenv("TRANSOM_CACHE", "on")
    monkeypatch.setenv("TRANSOM_CACHE_DIR", str(folder))
    words = [str(MODEL)]
    for _ in range(2):
        words += ["--input", "random:0"]
    assert run_main(words) == 0
    captured = capsys.readouterr()
    assert "result0: " in captured.out
    warned = [line for line in captured.err.splitlines() if "warning" in line]
    assert warned == [
        f"transom-run: warning: cannot write to the cache: '{folder}': Not a directory"
    ]


def test_other_warnings_are_shown_as_ever() -> None:
    def body() -> bool:
        warnings.warn("something else", UserWarning, stacklevel=1)
        return True

    with pytest.warns(UserWarning, match="something else"):
        assert exit_status(Reporter("program"), [], body) == 0
