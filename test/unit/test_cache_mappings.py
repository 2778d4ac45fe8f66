"""Large contents: mapped, shared, verified, and gone when nobody uses them."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from transom.cache import CacheWarning, Settings, Store, counted
from transom.cache.disk import BLOCK, TEMPORARY

KEY = "ab" + "0" * 62
SIZE = 3 * BLOCK + 5


@pytest.fixture(autouse=True)
def current(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transom.cache.entries.is_current", lambda: True)


def store_in(folder: Path) -> Store:
    return Store(Settings("on", folder / "cache", 1 << 20))


def sevens(memory: memoryview) -> None:
    memory[:] = b"\7" * len(memory)


def never(memory: memoryview) -> None:
    raise AssertionError("it is there already")


def files(folder: Path) -> list[Path]:
    return [path for path in (folder / "cache").rglob("*") if len(path.name) == 64]


def test_a_content_is_made_once(tmp_path: Path) -> None:
    first = store_in(tmp_path)
    with counted() as counts:
        made = first.mapped("weights", KEY, SIZE, sevens)
        assert first.mapped("weights", KEY, SIZE, never) == made
        again = store_in(tmp_path).mapped("weights", KEY, SIZE, never)
    assert bytes(made) == bytes(again) == b"\7" * SIZE
    assert made.readonly and again.readonly
    assert np.frombuffer(again, np.uint8).ctypes.data % BLOCK == 0
    count = counts["weights"]
    assert (count.missed, count.stored, count.memory, count.disk) == (1, 1, 1, 1)


def test_what_is_removed_stays_while_it_is_used(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    made = store.mapped("weights", KEY, SIZE, sevens)
    assert store.disk is not None
    store.disk.clear()
    assert files(tmp_path) == []
    assert bytes(made) == b"\7" * SIZE


@pytest.mark.parametrize("at", [3, 20, BLOCK, BLOCK + SIZE - 1])
def test_a_damaged_file_is_made_again(tmp_path: Path, at: int) -> None:
    store_in(tmp_path).mapped("weights", KEY, SIZE, sevens)
    (path,) = files(tmp_path)
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    with pytest.warns(CacheWarning, match="damaged entry"), counted() as counts:
        made = store_in(tmp_path).mapped("weights", KEY, SIZE, sevens)
    assert bytes(made) == b"\7" * SIZE
    assert counts["weights"].damaged == 1


def test_a_file_that_was_cut_is_made_again(tmp_path: Path) -> None:
    store_in(tmp_path).mapped("weights", KEY, SIZE, sevens)
    (path,) = files(tmp_path)
    os.truncate(path, BLOCK)
    with pytest.warns(CacheWarning, match="damaged entry"):
        made = store_in(tmp_path).mapped("weights", KEY, SIZE, sevens)
    assert bytes(made) == b"\7" * SIZE


def test_a_key_of_another_content_is_not_believed(tmp_path: Path) -> None:
    store_in(tmp_path).mapped("weights", KEY, SIZE, sevens)
    (path,) = files(tmp_path)
    other = path.parent / ("ab" + "1" * 62)
    path.rename(other)
    with pytest.warns(CacheWarning, match="damaged entry"):
        store_in(tmp_path).mapped("weights", other.name, SIZE, sevens)


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="there already"):
        store_in(tmp_path).mapped("weights", KEY, SIZE, never)
    left = [p.name for p in (tmp_path / "cache").rglob("*") if p.is_file()]
    assert not any(name.startswith(TEMPORARY) or len(name) == 64 for name in left)


def test_what_is_too_large_has_no_name(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    made = store.mapped("weights", KEY, 1 << 20, sevens)
    assert files(tmp_path) == []
    assert store.mapped("weights", KEY, 1 << 20, never) == made
    if Path("/proc/self/maps").exists():
        assert "(deleted)" in Path("/proc/self/maps").read_text()


@pytest.mark.parametrize("mode", ["memory", "off"])
def test_without_a_folder_it_is_memory(mode: str) -> None:
    made = Store(Settings(mode)).mapped("weights", KEY, SIZE, sevens)
    assert bytes(made) == b"\7" * SIZE


def test_a_folder_that_cannot_be_written_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder")
    with pytest.warns(CacheWarning, match="cannot write"):
        made = store_in(tmp_path).mapped("weights", KEY, SIZE, sevens)
    assert bytes(made) == b"\7" * SIZE


PROCESS = """
import sys
from pathlib import Path
from transom.cache import Settings, Store
store = Store(Settings("on", Path(sys.argv[1]) / "cache", 1 << 20))
def sevens(memory):
    memory[:] = b"\\7" * len(memory)
for _ in range(20):
    made = store.mapped("weights", "ab" + "0" * 62, 12293, sevens)
    assert bytes(made) == b"\\7" * 12293
    del made
    for path in (Path(sys.argv[1]) / "cache").rglob("ab0*"):
        path.unlink(missing_ok=True)
"""


def test_processes_may_make_and_remove_it_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", PROCESS, str(tmp_path)]
    running = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait(100) for process in running] == [0, 0, 0]
