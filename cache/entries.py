"""
What was made before, by the hash of what it was made from: in memory, and on disk.
"""

import mmap
import time
from collections import OrderedDict
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from hashlib import sha256
from threading import Lock
from weakref import WeakValueDictionary

from transom.cache.code_identity import is_current
from transom.cache.counts import count
from transom.cache.disk import BLOCK, DiskStore
from transom.cache.environment import Settings, settings
from transom.cache.mappings import Fill, in_memory

MEMORY_BYTES = 1 << 27
"""Bytes kept in memory; what was used longest ago goes first."""

TRUSTED_FOR = 1.0
"""Seconds for which code that was looked at counts as unchanged."""


class Store:
    """
    Entries by kind and key. Contents are bytes, immutable; safe for use by threads.
    """

    def __init__(self, how: Settings, memory_bytes: int = MEMORY_BYTES) -> None:
        self.settings = how
        self.disk: DiskStore | None = None
        if how.folder is not None:
            self.disk = DiskStore(how.folder, how.max_bytes)
        self._memory_bytes = memory_bytes if how.mode != "off" else 0
        self._entries: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._used = 0
        self._mapped: WeakValueDictionary[tuple[str, str], mmap.mmap] = (
            WeakValueDictionary()
        )
        self._lock = Lock()
        self._code_was_current = -TRUSTED_FOR

    @property
    def keeps(self) -> bool:
        """Whether anything is found: a key may be dear, and is not needed if not."""
        return self.settings.mode != "off"

    def get(self, kind: str, key: str) -> bytes | None:
        """The content of an entry, or None; either is counted."""
        with self._lock:
            content = self._entries.get((kind, key))
            if content is not None:
                self._entries.move_to_end((kind, key))
        if content is not None:
            count(kind, memory=1)
            return content
        content = None if self.disk is None else self.disk.get(kind, key)
        if content is None:
            count(kind, missed=1)
            return None
        count(kind, disk=1)
        self._remember(kind, key, content)
        return content

    def put(self, kind: str, key: str, content: bytes) -> None:
        """
        Keep an entry. On disk only while the code on disk is that of this process: what
        a process makes whose code was changed may be of either.
        """
        self._remember(kind, key, content)
        if self.disk is not None and self._is_code_current():
            self.disk.put(kind, key, content)

    def mapped(self, kind: str, key: str, size: int, fill: Fill) -> memoryview:
        """
        A content of `size` bytes to be read, at the start of a page: found, or made by
        `fill` in the memory that it is given. No process has a copy of its own, if
        there is a folder. The view keeps what it shows.
        """
        with self._lock:
            found = self._mapped.get((kind, key))
        if found is not None:
            count(kind, memory=1)
            return memoryview(found)[BLOCK : BLOCK + size].toreadonly()
        keeps = self.disk is not None and self._is_code_current()
        found = self.disk.map(kind, key, size) if self.disk is not None else None
        if found is not None:
            count(kind, disk=1)
        else:
            count(kind, missed=1)
            if self.disk is not None and keeps:
                found = self.disk.make_mapped(kind, key, size, fill)
            if found is None:
                found = in_memory(size, fill)
        with self._lock:
            self._mapped[kind, key] = found
        return memoryview(found)[BLOCK : BLOCK + size].toreadonly()

    def forget(self) -> None:
        """Forget what is in memory."""
        with self._lock:
            self._entries.clear()
            self._used = 0

    def _remember(self, kind: str, key: str, content: bytes) -> None:
        with self._lock:
            self._used += len(content) - len(self._entries.pop((kind, key), b""))
            self._entries[kind, key] = content
            while self._used > self._memory_bytes:
                _, oldest = self._entries.popitem(last=False)
                self._used -= len(oldest)

    def _is_code_current(self) -> bool:
        now = time.monotonic()
        if now - self._code_was_current >= TRUSTED_FOR and is_current():
            self._code_was_current = now
        return now - self._code_was_current < TRUSTED_FOR


_IS_OFF: ContextVar[bool] = ContextVar("cache is turned off", default=False)


@contextmanager
def turned_off() -> Generator[None]:
    """Find and keep nothing in this context: what is made in it is not as usual."""
    token = _IS_OFF.set(True)
    try:
        yield
    finally:
        _IS_OFF.reset(token)


def store() -> Store:
    """The store that the environment asks for; equal settings share one."""
    return _store(Settings("off") if _IS_OFF.get() else settings())


@cache
def _store(how: Settings) -> Store:
    return Store(how)


def content_key(parts: Iterable[str | bytes]) -> str:
    """The key of what is said by some texts, in hexadecimal digits."""
    digest = sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()
