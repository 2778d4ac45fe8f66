"""
Room for the frames of calls, in one piece.

CPython takes memory for frames in pieces of 16 KiB from the system, and gives a piece
back when the last frame in it ends. A loop whose calls begin in one piece and end in
the next takes and gives back memory in each turn. Passes are loops in deep calls: a
model of a hundred ops does so ten thousand times, in places that change with each edit
of the code.

A frame that needs more gets a piece of its own, of the next power of two, and the
frames of its calls follow in what is left of that.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

WORDS = 1 << 16
"""
What the frame says that it needs, in pointers: half a megabyte, so that as much is left
for some thousand frames. Memory that is not used is not touched.
"""


def with_room(function: Callable[P, R]) -> Callable[P, R]:
    """Call a function on a stack with room."""

    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return function(*args, **kwargs)

    call.__code__ = call.__code__.replace(co_stacksize=WORDS)
    return wraps(function)(call)
