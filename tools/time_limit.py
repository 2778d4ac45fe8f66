"""
A bound on the time that a module takes.
"""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType


class TimeLimitError(BaseException):
    """
    Raised when the time is over, wherever the program is; as an interrupt, it is not
    for handlers of errors.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(f"out of time after {seconds:g} s")


@contextmanager
def time_limited(seconds: float | None) -> Generator[None]:
    """
    Raise `TimeLimitError` in this context once so many seconds are over.

    Only the main thread can be interrupted; in others, and on systems without timers,
    there is no limit. Code that is not Python is interrupted when it returns.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if seconds is None or not is_main or not hasattr(signal, "setitimer"):
        yield
        return
    limit = seconds

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeLimitError(limit)

    old = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
