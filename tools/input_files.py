"""
Standard input that may be closed.
"""

import errno
import sys

STDIN = "<stdin>"
"""The name of standard input in messages and locations."""


def read_stdin() -> bytes:
    """All of standard input. Raises `OSError`."""
    stream = sys.stdin
    if stream is None:  # pyright: ignore[reportUnnecessaryComparison]  # `<&-`
        raise OSError(errno.EBADF, "is closed", STDIN)
    try:
        return stream.buffer.read()
    except OSError as e:  # such as a folder
        raise OSError(e.errno, e.strerror, STDIN) from None
