"""
Files that appear whole or not at all.
"""

import os
import tempfile
from collections.abc import Callable
from io import BytesIO
from os import PathLike, fspath
from pathlib import Path
from typing import BinaryIO

Writer = Callable[[BinaryIO], object]
"""Writes a content that is not put together in memory."""


def write_whole(path: str | PathLike[str], content: str | bytes | Writer) -> None:
    """
    Write a file by way of a temporary one beside it and a rename.

    What is not a regular file, such as `/dev/null`, is written to directly, and a link
    keeps pointing where it does. Text is written as UTF-8. Raises `OSError`, and then
    an old file is as it was.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        # A writer may ask where it is, which not all of these know.
        buffer = BytesIO()
        _write(buffer, content)
        target.write_bytes(buffer.getbuffer())
        return
    try:
        _replace(target, content)
    except OSError as e:  # about the temporary file
        raise OSError(e.errno, e.strerror, fspath(path)) from None


def _write(file: BinaryIO, content: str | bytes | Writer) -> None:
    if callable(content):
        content(file)
    else:
        file.write(content.encode() if isinstance(content, str) else content)


def _replace(target: Path, content: str | bytes | Writer) -> None:
    handle, temporary = tempfile.mkstemp(
        prefix=f".{target.name}.", suffix=".tmp", dir=target.parent
    )
    try:
        with os.fdopen(handle, "wb") as file:
            _write(file, content)
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
