"""
Rare searches for garbage while modules grow.

IR is cyclic and long-lived: Python looks for garbage after every few hundred new
objects, finds that nearly all are used, and looks at them again later. That is up to a
sixth of the time of a compilation, more than half of that of reading. While something
is made that stays, it looks after so many objects that little is looked at twice.

Nor is IR taken apart when the process ends, which would be a twelfth of a compilation:
what is in cycles by then goes with the memory of the process, as Python allows. Files
that are open are written before.
"""

import atexit
import gc
import io
from collections.abc import Generator
from contextlib import contextmanager, suppress
from threading import Lock

OBJECTS = 100_000
"""New objects between two searches: some tens of megabytes."""


class _Users:
    """Who asks for rare searches at the moment, in all threads."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.count = 0
        self.before: tuple[int, int, int] = (0, 0, 0)
        self.ever = False

    def enter(self) -> None:
        with self.lock:
            self.count += 1
            if not self.ever:
                self.ever = True
                atexit.register(leave_cycles)
            if self.count == 1:
                self.before = gc.get_threshold()
                # Zero is Python's word for never.
                if 0 < self.before[0] < OBJECTS:
                    gc.set_threshold(OBJECTS, *self.before[1:])

    def leave(self) -> None:
        with self.lock:
            self.count -= 1
            if self.count == 0:
                gc.set_threshold(*self.before)


WRITERS = frozenset({io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom})
"""Files that hold back what is written to them."""


def leave_cycles() -> None:
    """
    Let nothing be searched any more. A file that only a cycle holds would have been
    closed by that: what it holds back is written.
    """
    for file in gc.get_objects():
        if type(file) in WRITERS:
            with suppress(OSError, ValueError):  # it is broken, or closed
                file.flush()
    gc.freeze()


_users = _Users()


@contextmanager
def rare_collection() -> Generator[None]:
    """Let Python search for garbage rarely meanwhile; also to decorate a function."""
    _users.enter()
    try:
        yield
    finally:
        _users.leave()
