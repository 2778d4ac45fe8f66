"""
Where the cache is and how large it may grow, as the environment says.

| variable | meaning | default |
|---|---|---|
| `TRANSOM_CACHE` | `on`; `memory`: not on disk; `off`: nowhere | `on` |
| `TRANSOM_CACHE_DIR` | the folder on disk | the platform's cache folder |
| `TRANSOM_CACHE_SIZE` | its size in bytes, with `K`, `M` or `G` | `1G` |
"""

import os
import re
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path

MODE, FOLDER, SIZE = "TRANSOM_CACHE", "TRANSOM_CACHE_DIR", "TRANSOM_CACHE_SIZE"

MODES = ("on", "memory", "off")

DEFAULT_SIZE = 1 << 30
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class CacheWarning(UserWarning):
    """The cache cannot be used as it was meant to be; what is made is right anyway."""


@dataclass(frozen=True)
class Settings:
    """What the environment says."""

    mode: str = "on"
    folder: Path | None = None
    """None where nothing is kept on disk."""
    max_bytes: int = DEFAULT_SIZE


def settings() -> Settings:
    """The settings by the environment as it is now."""
    return _read(*(os.environ.get(name, "") for name in (MODE, FOLDER, SIZE)))


@cache
def _read(mode: str, folder: str, size: str) -> Settings:
    """Settings by the texts of the variables; what is wrong is warned about once."""
    mode = mode.lower() or "on"
    if mode not in MODES:
        warn(
            f"expected 'on', 'memory' or 'off' for {MODE}, but got '{mode}'; using none"
        )
        mode = "off"
    if mode != "on":
        return Settings(mode)
    return Settings(mode, Path(folder) if folder else default_folder(), _bytes(size))


def _bytes(text: str) -> int:
    if not text:
        return DEFAULT_SIZE
    match = re.fullmatch(r"(\d{1,15})([KMG]?)B?", text.strip().upper())
    if match is None:
        warn(
            f"expected a number of bytes such as '512M' for {SIZE}, but got '{text}'; "
            "using '1G'"
        )
        return DEFAULT_SIZE
    return int(match[1]) * UNITS[match[2]]


def default_folder() -> Path:
    """The platform's folder for caches."""
    from platformdirs import user_cache_path

    return user_cache_path("transom", appauthor=False)


def warn(message: str) -> None:
    """Warn about the cache."""
    warnings.warn(message, CacheWarning, stacklevel=2)
