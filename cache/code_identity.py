"""
What the code is that makes an entry: a wrong number is what it costs to find an entry
that other code has made.

A package is its version and a digest over path, size and time of change of its Python
files and libraries, so that edits in a development checkout count. It is taken once per
process, that of transom when this module is imported, before the code that makes
entries; `is_current` tells whether it still holds, as code that was changed under a
running process is not what that process runs.
"""

import os
import platform
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from threading import Lock

SUFFIXES = (".py", ".so", ".pyd", ".dll", ".dylib")
"""Of files that hold code."""

FOUNDATION = ("transom", "xdsl", "llvmlite", "numpy", "ml_dtypes")
"""The packages whose code takes part in all that transom makes."""

BY_VERSION = frozenset({"numpy", "ml_dtypes"})
"""Those that nobody edits in place."""

_taken: dict[str, str] = {}
_lock = Lock()


def identity_of(package: str) -> str:
    """The identity of a package's code, as when it was first asked for."""
    with _lock:
        if package not in _taken:
            _taken[package] = _identity_now(package)
        return _taken[package]


def is_current() -> bool:
    """Whether the packages that were asked for are what they were then."""
    with _lock:
        taken = dict(_taken)
    return all(_identity_now(package) == text for package, text in taken.items())


@cache
def foundation() -> str:
    """The identity of transom, of what it is built on, and of the interpreter."""
    parts = [identity_of(package) for package in FOUNDATION]
    return "\n".join((*parts, f"python {platform.python_version()}"))


def _identity_now(package: str) -> str:
    """The name, the version if it is known, and a digest of the files."""
    try:
        known = version(package)
    except PackageNotFoundError:  # a module without a distribution of its name
        known = "?"
    if package in BY_VERSION:
        return f"{package} {known}"
    digest = sha256()
    for location in _locations(package):
        for name, size, changed in sorted(_files(location)):
            digest.update(f"{name}\0{size}\0{changed}\0".encode())
    return f"{package} {known} {digest.hexdigest()}"


def _locations(package: str) -> list[str]:
    """The folders of a package, or the file of a module."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return []
    if spec.submodule_search_locations is not None:
        return sorted(spec.submodule_search_locations)
    return [] if spec.origin is None else [spec.origin]


def _files(location: str) -> Iterator[tuple[str, int, int]]:
    """Path, size and time of change of each file with code."""
    if not os.path.isdir(location):
        if os.path.isfile(location):
            status = os.stat(location)
            yield os.path.basename(location), status.st_size, status.st_mtime_ns
        return
    folders = [""]
    while folders:
        folder = folders.pop()
        with os.scandir(os.path.join(location, folder)) as entries:
            for entry in entries:
                name = os.path.join(folder, entry.name)
                if entry.name.endswith(SUFFIXES) and entry.is_file():
                    status = entry.stat()
                    yield name, status.st_size, status.st_mtime_ns
                elif entry.name != "__pycache__" and entry.is_dir():
                    folders.append(name)


identity_of("transom")
