"""
A content-addressed cache of lowered kernels, in memory.

A kernel is nameless content: the key is a hash of what it computes, the place it is
compiled for, and the lowering that made it, never a name or a location. Entries are
immutable: what goes in and what comes out are clones. Safe for use by threads.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock

from transom.dialects import tir

DEFAULT_CAPACITY = 4096
"""Kernels kept; the one that was used longest ago goes first."""


@dataclass(frozen=True)
class CacheReport:
    """How often a kernel was found, and how often it had to be lowered."""

    hits: int
    misses: int


class KernelCache:
    """Lowered kernels by key."""

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        self._capacity = capacity
        self._kernels: OrderedDict[str, tir.FuncOp] = OrderedDict()
        self._lock = Lock()
        self._hits = self._misses = 0

    def get(self, key: str) -> tir.FuncOp | None:
        """A copy of the kernel with this key, or None."""
        with self._lock:
            kernel = self._kernels.get(key)
            if kernel is None:
                self._misses += 1
                return None
            self._hits += 1
            self._kernels.move_to_end(key)
            return kernel.clone()

    def put(self, key: str, kernel: tir.FuncOp) -> None:
        """Keep a copy of a kernel."""
        copy = kernel.clone()
        with self._lock:
            self._kernels[key] = copy
            while len(self._kernels) > self._capacity:
                self._kernels.popitem(last=False)

    @property
    def report(self) -> CacheReport:
        """The hits and misses so far."""
        return CacheReport(self._hits, self._misses)


def content_key(parts: Iterable[str]) -> str:
    """The key of content that is said by some texts, in hexadecimal digits."""
    digest = sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


KERNELS = KernelCache()
"""The cache of this process."""
