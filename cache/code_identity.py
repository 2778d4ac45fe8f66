"""
What the code is that makes an entry: a wrong number is what it costs to find an entry
that other code has made.

A package is its version and a digest over path, size and time of change of its files:
edits in a development checkout count, and those of tables that the code reads. What a
plug-in's files import counts as well. It is taken once per process, that of transom
when this module is imported, before the code that makes entries; `is_current` tells
whether it still holds, as code that was changed under a running process is not what
that process runs. For the same reason a plug-in's code that is changed while a process
runs, reloaded or not, has no identity in it any more.
"""

import os
import platform
import re
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from os.path import join
from threading import RLock
from uuid import uuid4

FOUNDATION = ("transom", "xdsl", "llvmlite", "numpy", "ml_dtypes")
"""The packages whose code takes part in all that transom makes."""

BY_VERSION = frozenset({"numpy", "ml_dtypes"})
"""Those that nobody edits in place."""

STARTED = time.time_ns()
"""About when the process started: what was changed later may be imported already."""

LOOK_AGAIN = 1.0
"""Seconds for which a plug-in's code that was looked at counts as unchanged."""

NO_CODE = (".pyc", ".pyo")
"""Files that follow from others."""

IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\w+)|import[ \t]+(\w+[^\n#;]*))", re.MULTILINE
)
"""What lines import; a docstring may name one too many."""

NAME = re.compile(rb"(?:^|,)[ \t]*(\w+)")
"""The packages in `a.b as c, d`."""


@dataclass
class _Taken:
    """A package as it was found first: None if it is equal to none."""

    identity: str | None
    seen: float


_taken: dict[str, _Taken] = {}
_lock = RLock()


def identity_of(package: str) -> str:
    """
    The identity of a package's code, as when it was first asked for.

    Code that is in no file, such as that of a session, and code that was changed since
    the process started, are equal to none: they get another identity each time.
    """
    with _lock:
        taken = _taken.get(package)
        if taken is None:
            taken = _taken[package] = _take(package)
        elif package not in FOUNDATION and taken.identity is not None:
            _look_again(package, taken)
        if taken.identity is None:
            return f"{package} of this moment {uuid4().hex}"
        return taken.identity


def is_current() -> bool:
    """Whether the packages that were asked for are what they were then."""
    with _lock:
        taken = {package: taken.identity for package, taken in _taken.items()}
    return all(
        _Code(package).identity() == identity
        for package, identity in taken.items()
        if identity is not None
    )


@cache
def foundation() -> str:
    """The identity of transom, of what it is built on, and of the interpreter."""
    parts = [identity_of(package) for package in FOUNDATION]
    return "\n".join((*parts, f"python {platform.python_version()}"))


def _take(package: str) -> _Taken:
    code = _Code(package)
    identity = code.identity()
    if package not in FOUNDATION and STARTED < code.last_change <= time.time_ns():
        identity = None
    return _Taken(identity, time.monotonic())


def _look_again(package: str, taken: _Taken) -> None:
    now = time.monotonic()
    if now - taken.seen >= LOOK_AGAIN:
        taken.seen = now
        if _Code(package).identity() != taken.identity:
            taken.identity = None


class _Code:
    """The files of a package, and of what they import if it is one of a plug-in."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.last_change = 0
        self._imported: dict[str, None] = {}
        """Other packages, in order of names found."""

    def identity(self) -> str | None:
        """Names, versions if they are known, and digests; None if there is no file."""
        own = self._of(self.package)
        if own is None:
            return None
        parts = [own]
        done = {self.package}
        while missing := self._imported.keys() - done:
            for name in sorted(missing):
                parts += filter(None, (self._of_imported(name),))
            done |= missing
        return "\n".join(parts)

    def _of(self, package: str) -> str | None:
        if package in BY_VERSION:
            return f"{package} {_version_of(package)}"
        digest, is_empty = sha256(), True
        for location in _locations(package):
            for path, name, status in sorted(files_in(location), key=lambda f: f[1]):
                size, changed = status.st_size, status.st_mtime_ns
                digest.update(f"{name}\0{size}\0{changed}\0".encode())
                self.last_change = max(self.last_change, changed)
                is_empty = False
                if package not in FOUNDATION and name.endswith(".py"):
                    imported = _imports_of(path, size, changed)
                    self._imported |= dict.fromkeys(imported)
        if is_empty:
            return None
        return f"{package} {_version_of(package)} {digest.hexdigest()}"

    def _of_imported(self, package: str) -> str | None:
        """What is installed is what was installed at that time; all else is read."""
        if package in FOUNDATION:
            return None
        locations = _locations(package)
        if not any("site-packages" in location for location in locations):
            return self._of(package)
        files = [_first_file(location) for location in locations]
        changed = [os.stat(file).st_mtime_ns for file in files if os.path.exists(file)]
        return f"{package} {_version_of(package)} {changed}"


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # a module without a distribution of its name
        return "?"


def _locations(package: str) -> list[str]:
    """The folders of a package, or the file of a module that may be imported."""
    try:  # what a session holds is in `__main__`, whose file may be another program's
        spec = None if package == "__main__" else find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return []
    if spec.submodule_search_locations is not None:
        return sorted(spec.submodule_search_locations)
    return [] if spec.origin is None else [spec.origin]


def _first_file(location: str) -> str:
    return (
        os.path.join(location, "__init__.py") if os.path.isdir(location) else location
    )


def files_in(location: str) -> Iterator[tuple[str, str, os.stat_result]]:
    """
    Path, name and status of each file, but what follows from others or is hidden. A
    file that goes meanwhile, as when a branch is checked out, is left out.
    """
    if not os.path.isdir(location):
        if os.path.isfile(location):
            yield location, os.path.basename(location), os.stat(location)
        return
    folders = [""]
    while folders:
        folder = folders.pop()
        with suppress(FileNotFoundError), os.scandir(join(location, folder)) as entries:
            for entry in entries:
                name = join(folder, entry.name)
                if entry.name.startswith(".") or entry.name == "__pycache__":
                    continue
                if entry.is_dir():
                    folders.append(name)
                elif not entry.name.endswith(NO_CODE) and entry.is_file():
                    with suppress(FileNotFoundError):
                        yield entry.path, name, entry.stat()


@lru_cache(maxsize=4096)
def _imports_of(path: str, size: int, changed: int) -> tuple[str, ...]:
    """
    The packages that a file imports, without those of Python; size and time say that it
    is the same file.
    """
    with open(path, "rb") as file:
        lines = IMPORT.findall(file.read())
    names = {
        name.decode()
        for source, several in lines
        for name in ((source,) if source else NAME.findall(several))
    }
    return tuple(sorted(names - sys.stdlib_module_names))


identity_of("transom")
