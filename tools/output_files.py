"""
Output files that appear whole or not at all.
"""

import os
import sys
import tempfile
from pathlib import Path


def write_whole(path: str, text: str) -> None:
    """
    Write a file by way of a temporary one beside it and a rename.

    What is not a regular file, such as `/dev/null`, is written to directly, and a link
    keeps pointing where it does. Raises `OSError`, and then an old file is as it was.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        target.write_text(text, encoding="utf-8")
        return
    try:
        _replace(target, text)
    except OSError as e:  # about the temporary file
        raise OSError(e.errno, e.strerror, path) from None


def _replace(target: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(
        prefix=f".{target.name}.", suffix=".tmp", dir=target.parent
    )
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, _mode_for(target))
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _mode_for(target: Path) -> int:
    """The mode of the old file, else what a new file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


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
