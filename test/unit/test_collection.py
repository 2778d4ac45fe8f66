"""Searches for garbage are rare while modules grow, and are as before afterwards."""

import gc
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from transom.dialects.collection import OBJECTS, rare_collection


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 11, 12)
    yield
    gc.set_threshold(*before)


def test_nested_and_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), rare_collection():
        assert gc.get_threshold() == (OBJECTS, 11, 12)
        with rare_collection():
            pass
        assert gc.get_threshold() == (OBJECTS, 11, 12)
        raise ZeroDivisionError
    assert gc.get_threshold() == (700, 11, 12)


@pytest.mark.parametrize("first", [0, OBJECTS + 1])
def test_what_is_rare_already_stays(first: int) -> None:
    """Zero means never."""
    gc.set_threshold(first, 11, 12)
    with rare_collection():
        assert gc.get_threshold()[0] == first
    assert gc.get_threshold() == (first, 11, 12)


def test_threads_that_overlap() -> None:
    """The last one that leaves restores what was there before the first one."""
    is_in, may_leave = threading.Event(), threading.Event()

    def work() -> None:
        with rare_collection():
            is_in.set()
            may_leave.wait()

    thread = threading.Thread(target=work)
    with rare_collection():
        thread.start()
        is_in.wait()
    assert gc.get_threshold()[0] == OBJECTS
    may_leave.set()
    thread.join()
    assert gc.get_threshold() == (700, 11, 12)


@pytest.mark.parametrize(("use", "is_searched"), [("pass", True), ("load()", False)])
def test_nothing_is_searched_when_the_process_ends(use: str, is_searched: bool) -> None:
    """Unless no IR was made: then Python does as it likes."""
    script = f"""
import gc
from transom.dialects.collection import rare_collection

class Cycle:
    def __init__(self):
        self.own = self
    def __del__(self):
        print("taken apart")

@rare_collection()
def load():
    pass

{use}
gc.collect()
gc.disable()
cycle = Cycle()
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert (ran.stdout == "taken apart\n") == is_searched


def test_what_a_file_in_a_cycle_holds_back_is_written(tmp_path: Path) -> None:
    path = tmp_path / "text"
    script = f"""
import gc
from transom.dialects.collection import rare_collection

class Cycle:
    def __init__(self):
        self.own = self
        self.file = open({str(path)!r}, "w")

with rare_collection():
    pass
gc.disable()
Cycle().file.write("kept")
closed = open({str(path)!r} + "2", "w")
closed.close()
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert (path.read_text(), ran.stderr) == ("kept", "")
