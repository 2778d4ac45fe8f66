"""
What was made before is found again: lowered kernels and machine code, by content.

An entry is found by a hash of all that it was made from: the content of a kernel, its
place and target, the passes with their options, and the code of transom, of what it is
built on and of plug-ins that took part. A name or a location is never a part of it, nor
is time. `docs/cache.md` tells users about it.

```python
with transom.cache.counted() as counts:
    program = transom.compile(module)
print(counts)
transom.cache.report()["code"].disk   # since the process started
```

This layer knows nothing of IR and imports no other.
"""

if __name__ != "transom.cache":
    raise ImportError("import transom.cache, not cache")

from transom.cache.code_identity import foundation, identity_of
from transom.cache.counts import PROCESS, Count, Counts, count, counted
from transom.cache.disk import DiskStore, Usage
from transom.cache.entries import Store, content_key, store, turned_off
from transom.cache.environment import CacheWarning, Settings, settings

__all__ = [
    "CacheWarning",
    "Count",
    "Counts",
    "DiskStore",
    "Settings",
    "Store",
    "Usage",
    "content_key",
    "count",
    "counted",
    "foundation",
    "identity_of",
    "report",
    "settings",
    "store",
    "turned_off",
]


def report() -> Counts:
    """What was found and what was made since the process started, by kind."""
    return PROCESS
