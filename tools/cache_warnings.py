"""
What the programs say of a cache that cannot be used: a warning of one line.
"""

import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from transom.cache.environment import CacheWarning
from transom.tools.reporter import Reporter


@contextmanager
def warning_of_cache(reporter: Reporter) -> Generator[None, None, None]:
    """Report the warnings of the cache; others are shown as ever."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", CacheWarning)
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
            if issubclass(category, CacheWarning):
                reporter.error(str(message), "warning")
            else:
                others(message, category, *rest)

        warnings.showwarning = show
        yield
