"""
A bound on the memory of this process.
"""

import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_SIZE = re.compile(r"(\d{1,12})([KMGT]?)(i?B)?", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


class MemoryLimitError(Exception):
    """A limit that cannot be set; the message says why."""


def size_of(text: str) -> int:
    """The bytes that `512M` means. Raises `ValueError`."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a size, such as 512M or 4G, but got '{text}'")
    return int(match[1]) << _UNITS[match[2].upper()]


@contextmanager
def memory_limited(size: int | None) -> Generator[None]:
    """
    Let the process use about `size` bytes in this context; more is a `MemoryError`.

    Raises `MemoryLimitError` if it uses more already, and where there is no such limit.
    """
    if size is None:
        yield
        return
    try:
        import resource

        mapped, resident = _used(resource.getpagesize())
    except (ImportError, OSError):
        raise MemoryLimitError("memory cannot be limited on this system") from None
    if size <= resident:
        raise MemoryLimitError(
            f"expected a limit above the {resident >> 20}M that are in use at the start"
        )
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    # Addresses are limited, of which libraries map more than they use.
    bound = mapped + size - resident
    if hard != resource.RLIM_INFINITY:
        bound = min(bound, hard)
    resource.setrlimit(resource.RLIMIT_AS, (bound, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _used(page: int) -> tuple[int, int]:
    """Bytes of addresses and of memory that this process has now."""
    mapped, resident = Path("/proc/self/statm").read_text().split()[:2]
    return int(mapped) * page, int(resident) * page
