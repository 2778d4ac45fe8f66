"""
How often something was found, and where: counts that users and passes ask for.

```python
with transom.cache.counted() as counts:
    transom.compile(module)
print(counts)  # code: 28 on disk, 1 made; tir-fuse-nests: …
```
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from threading import Lock


@dataclass(frozen=True)
class Count:
    """What became of the questions for one kind of entry."""

    memory: int = 0
    """Found in memory."""
    disk: int = 0
    """Found on disk."""
    missed: int = 0
    """Not found, so that it was made."""
    stored: int = 0
    """Written to disk."""
    refused: int = 0
    """Not put into the cache, as what was made may depend on more than the key says."""
    damaged: int = 0
    """Found on disk but damaged, and removed."""

    @property
    def found(self) -> int:
        """Found anywhere."""
        return self.memory + self.disk

    def __add__(self, other: "Count") -> "Count":
        return Count(*(getattr(self, f.name) + getattr(other, f.name) for f in FIELDS))

    def __str__(self) -> str:
        texts = (f"{getattr(self, f.name)} {WORDS[f.name]}" for f in FIELDS)
        return ", ".join(t for t in texts if not t.startswith("0 ")) or "not asked"


FIELDS = fields(Count)
WORDS = {
    "memory": "in memory",
    "disk": "on disk",
    "missed": "made",
    "stored": "stored",
    "refused": "not cacheable",
    "damaged": "damaged",
}


@dataclass
class Counts:
    """Counts by kind of entry, while they are being counted."""

    _kinds: dict[str, Count] = field(default_factory=dict[str, Count])
    _lock: Lock = field(default_factory=Lock, repr=False)

    def add(self, kind: str, count: Count) -> None:
        """Count more of a kind."""
        with self._lock:
            self._kinds[kind] = self._kinds.get(kind, Count()) + count

    def __getitem__(self, kind: str) -> Count:
        with self._lock:
            return self._kinds.get(kind, Count())

    def by_kind(self) -> Mapping[str, Count]:
        """All counts so far, by kind in order of first use."""
        with self._lock:
            return dict(self._kinds)

    @property
    def total(self) -> Count:
        """Of all kinds."""
        return sum(self.by_kind().values(), Count())

    def __str__(self) -> str:
        lines = (f"{kind}: {count}" for kind, count in self.by_kind().items())
        return "; ".join(lines) or "not asked"


PROCESS = Counts()
"""Since the process started."""

_OPEN: ContextVar[tuple[Counts, ...]] = ContextVar("counts", default=())


def count(kind: str, **events: int) -> None:
    """Count events of a kind for the process, and for who asked to count here."""
    more = Count(**events)
    for counts in (PROCESS, *_OPEN.get()):
        counts.add(kind, more)


@contextmanager
def counted() -> Generator[Counts, None, None]:
    """Count what the code inside asks for in this thread, and not what others do."""
    counts = Counts()
    token = _OPEN.set((*_OPEN.get(), counts))
    try:
        yield counts
    finally:
        _OPEN.reset(token)
