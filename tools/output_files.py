"""
Standard output that may be closed.
"""

import errno
import os
import sys


def write_stdout(text: str) -> None:
    """
    Write to standard output, as UTF-8 whatever the locale is, and flush.

    Raises `OSError`, after which nothing more can be written there: the interpreter
    would report the same again at its end.
    """
    stream = sys.stdout
    if stream is None:  # pyright: ignore[reportUnnecessaryComparison]  # `>&-`
        if text:
            raise OSError(errno.EBADF, "is closed", "<stdout>")
        return
    try:
        stream.flush()
        if (buffer := getattr(stream, "buffer", None)) is not None:
            buffer.write(text.encode())
        else:  # text in memory
            stream.write(text)
        stream.flush()
    except OSError as e:
        abandon_stdout()
        raise OSError(e.errno, e.strerror, "<stdout>") from None


def abandon_stdout() -> None:
    """Send what is still buffered for standard output nowhere."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
    except (AttributeError, OSError, ValueError):  # not a real file, as under a test
        pass
