"""
Standard output that may be closed.
"""

import os
import sys


def write_stdout(text: str) -> None:
    """
    Write to standard output and flush.

    Raises `OSError`, after which nothing more can be written there: the interpreter
    would report the same again at its end.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        abandon_stdout()
        raise


def abandon_stdout() -> None:
    """Send what is still buffered for standard output nowhere."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
    except (OSError, ValueError):  # not a real file, as under a test
        pass
