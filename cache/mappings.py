"""
Large contents in files that are mapped, not read: no process has them in memory of its
own, and processes that use the same ones share them.

A file is a block with the header and the hash of an entry (`disk`), and the content,
which so starts at the start of a page. It is written in place, by a function that fills
the mapping, before the file gets its name. A mapping outlives the name: what a prune
removes is there until nobody uses it. What is too large to be kept, or cannot be, is a
file without a name; without a folder it is memory as any other.
"""

import mmap
import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from transom.cache.disk import BLOCK, HEADER, DiskStore, Untrusted, refuse_others

Fill = Callable[[memoryview], None]
"""Writes a content, all of it."""

LARGEST = 1 / 2
"""The part of the cache's size that one mapped content may take."""


class Damaged(Exception):
    """A file whose content is not what its hash says."""


def open_mapping(path: Path, key: str, size: int) -> mmap.mmap:
    """
    The file of an entry, mapped to be read. Raises `Damaged`, `OSError`, `Untrusted`.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    try:
        status = os.fstat(descriptor)
        refuse_others(status, path)
        if status.st_size != BLOCK + size:
            raise Damaged
        found = mmap.mmap(descriptor, BLOCK + size, access=mmap.ACCESS_READ)
    finally:
        os.close(descriptor)
    if found[: len(HEADER) + sha256().digest_size] != _head(key, found, size):
        raise Damaged
    with suppress(OSError):  # used now; the folder may be read only
        os.utime(path)
    return found


def write_mapping(
    disk: DiskStore, path: Path, key: str, size: int, fill: Fill
) -> mmap.mmap:
    """
    Make the file of an entry, mapped to be read; without a name if it is not to be
    kept. Raises `OSError`, `Untrusted`, and what `fill` raises.
    """
    disk.make_folder(path.parent)
    temporary = disk.temporary_in(path.parent)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(temporary, flags, 0o600)
    try:
        _reserve(descriptor, BLOCK + size)
        with mmap.mmap(descriptor, BLOCK + size) as made:
            with memoryview(made) as view, view[BLOCK:] as content:
                fill(content)
            head = _head(key, made, size)
            made[: len(head)] = head
        found = mmap.mmap(descriptor, BLOCK + size, access=mmap.ACCESS_READ)
        if size <= disk.max_bytes * LARGEST:
            os.replace(temporary, path)
            return found
    except BaseException:
        _remove(temporary)
        raise
    finally:
        os.close(descriptor)
    _remove(temporary)
    return found


def in_memory(size: int, fill: Fill) -> mmap.mmap:
    """A content in memory that no file holds, with room where a file has its head."""
    made = mmap.mmap(-1, BLOCK + size)
    with memoryview(made) as view, view[BLOCK:] as content:
        fill(content)
    return made


def _reserve(descriptor: int, size: int) -> None:
    """Give a file its size and its room: a full disk is an error, no signal later."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
    else:
        for at in range(0, size, BLOCK):
            os.pwrite(descriptor, bytes(min(BLOCK, size - at)), at)


def _head(key: str, mapping: mmap.mmap, size: int) -> bytes:
    """What the file of a content starts with."""
    digest = sha256(f"{key}\n".encode())
    with memoryview(mapping) as view, view[BLOCK : BLOCK + size] as content:
        digest.update(content)
    return HEADER + digest.digest()


def _remove(path: Path) -> None:
    with suppress(OSError):
        os.unlink(path)


__all__ = ["Damaged", "Fill", "Untrusted", "in_memory", "open_mapping", "write_mapping"]
