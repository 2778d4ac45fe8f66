"""
An interrupt while a program starts is no traceback.
"""

import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130
"""The exit status, as shells say it: 128 and the number of SIGINT."""


@contextmanager
def interruptible_imports() -> Generator[None]:
    """End the process without a word on an interrupt, as nothing was written yet."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        os._exit(INTERRUPTED)

    old = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, old)
