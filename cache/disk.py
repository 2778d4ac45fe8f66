"""
Entries on disk: a file each, published by one rename, verified when it is read.

```
<folder>/v1/                mode 0700
  <kind>/<2 digits>/<key>   an entry
  written                   grows by a byte per block written since the last prune
  prune.lock                held by the process that prunes
```

A file is a header line, a SHA-256 of kind, key and content, and the content; what does
not fit its hash is damaged. Large contents are mapped (`mappings`). Writers write a
file of their own and rename it, so readers see all of an entry or none, whenever a
writer is stopped; the file that a killed writer leaves is removed by the next prune.
What is used has its time of change renewed, and the entries that were not used for
longest go first when the folder is too large. An entry that is removed while it is read
is read to its end.

Nothing of this raises: an entry that cannot be read is not there, one that cannot be
written is not kept, and each kind of trouble is one warning per process.
"""

import mmap
import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count as numbers
from pathlib import Path
from typing import TYPE_CHECKING

from transom.cache.counts import count
from transom.cache.environment import warn

if TYPE_CHECKING:
    from transom.cache.mappings import Fill

VERSION = "v1"
HEADER = b"transom-cache 1\n"

OVERHEAD = len(HEADER) + sha256().digest_size

BLOCK = 4096
"""Bytes of a block: what the size of a file is rounded up to, as disks do."""

PRUNE_TO = 0.8
"""The part of the size that is left after a prune."""

PRUNE_AFTER = 1 / 16
"""The part of the size that is written before the next prune."""

LARGEST = 1 / 8
"""The part of the size that one entry may take."""

LEFT_OVER = 3600.0
"""Seconds after which a file that was never renamed belongs to no running writer."""

TEMPORARY = ".new-"

_file_numbers = numbers()


class Untrusted(Exception):
    """A folder or file that somebody else could have written."""


@dataclass(frozen=True)
class Usage:
    """What is on disk."""

    entries: int
    bytes: int


@dataclass
class DiskStore:
    """
    The entries below a folder, of at most `max_bytes` bytes and a sixteenth.
    """

    folder: Path
    max_bytes: int
    _warned: set[str] = field(default_factory=set[str], init=False)
    _can_write: bool = field(default=True, init=False)

    @property
    def root(self) -> Path:
        """The folder of this version of the format."""
        return self.folder / VERSION

    # Reading.

    def get(self, kind: str, key: str) -> bytes | None:
        """The content of an entry, or None; it counts as used now."""
        path = self._path(kind, key)
        try:
            data = self._read(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, Untrusted) as e:
            self._warn_once("read", f"cannot read the cache: {_reason(e, path)}")
            return None
        if data is None:
            return None
        content = data[OVERHEAD:]
        if data[:OVERHEAD] != HEADER + digest_of(kind, key, content):
            self._warn_once("damage", f"the cache has a damaged entry: '{path}'")
            count(kind, damaged=1)
            _remove(path)
            return None
        with suppress(OSError):  # such as a folder that is read only
            os.utime(path)
        return content

    def _read(self, path: Path) -> bytes | None:
        """What a file holds, or None if that is more than the cache may."""
        descriptor = os.open(path, os.O_RDONLY | SAFELY)
        try:
            status = os.fstat(descriptor)
            refuse_others(status, path)
            if not stat.S_ISREG(status.st_mode):
                raise Untrusted(f"'{path}' is not a file")
            if status.st_size > self.max_bytes:
                return None
            with open(descriptor, "rb", closefd=False) as file:
                return file.read()
        finally:
            os.close(descriptor)

    # Writing.

    def put(self, kind: str, key: str, content: bytes) -> None:
        """Keep an entry, if that is possible."""
        if not self._can_write or len(content) > self.max_bytes * LARGEST:
            return
        path = self._path(kind, key)
        try:
            self.make_folder(path.parent)
            self._publish(path, HEADER + digest_of(kind, key, content), content)
        except (OSError, Untrusted) as e:
            self._can_write = False
            self._warn_once("write", f"cannot write to the cache: {_reason(e, path)}")
            return
        count(kind, stored=1)
        if self._note_written(OVERHEAD + len(content)):
            self.prune()

    # Mapped contents.

    def map(self, kind: str, key: str, size: int) -> mmap.mmap | None:
        """The content of an entry that is mapped, behind a block; or None."""
        from transom.cache.mappings import Damaged, open_mapping

        path = self._path(kind, key)
        try:
            return open_mapping(path, f"{kind}/{key}", size)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except Damaged:
            self._warn_once("damage", f"the cache has a damaged entry: '{path}'")
            count(kind, damaged=1)
            _remove(path)
            return None
        except (OSError, Untrusted) as e:
            self._warn_once("read", f"cannot read the cache: {_reason(e, path)}")
            return None

    def make_mapped(
        self, kind: str, key: str, size: int, fill: "Fill"
    ) -> mmap.mmap | None:
        """
        A content in a file that is mapped, behind a block, and kept if that is
        possible; None if there can be no file.
        """
        from transom.cache.mappings import write_mapping

        if not self._can_write:
            return None
        path = self._path(kind, key)
        try:
            made = write_mapping(self, path, f"{kind}/{key}", size, fill)
        except (OSError, Untrusted) as e:
            self._can_write = False
            self._warn_once("write", f"cannot write to the cache: {_reason(e, path)}")
            return None
        count(kind, stored=1)
        if self._note_written(BLOCK + size):
            self.prune()
        return made

    def temporary_in(self, folder: Path) -> Path:
        """The path of a file that no other writer has."""
        name = f"{TEMPORARY}{os.getpid()}-{next(_file_numbers)}-{os.urandom(4).hex()}"
        return folder / name

    def _publish(self, path: Path, head: bytes, content: bytes) -> None:
        temporary = self.temporary_in(path.parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINKS
        try:
            with open(os.open(temporary, flags, 0o600), "wb") as file:
                file.write(head)
                file.write(content)
            os.replace(temporary, path)
        except BaseException:
            _remove(temporary)
            raise

    def make_folder(self, folder: Path) -> None:
        """Make the folders of an entry, of which nobody else has written the first."""
        if not self.root.is_dir():
            self.folder.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                self.root.mkdir(mode=0o700)
        refuse_others(self.root.lstat(), self.root)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _note_written(self, size: int) -> bool:
        """
        Note that so much was written, and tell if it is time to prune.

        To append is atomic, so that no write of another process is forgotten.
        """
        blocks = max(1, -(-size // BLOCK))
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | SAFELY
            with open(os.open(self.root / "written", flags, 0o600), "ab") as file:
                file.write(b"." * blocks)
                file.flush()
                noted = os.fstat(file.fileno()).st_size
        except OSError:
            return False
        return noted * BLOCK >= self.max_bytes * PRUNE_AFTER

    # Looking after it.

    def prune(self) -> Usage:
        """
        Remove what was not used for longest, until enough is free; and what is left.

        One process does it at a time; another that would leaves it to that one.
        """
        from filelock import FileLock, Timeout

        try:
            with FileLock(self.root / "prune.lock", timeout=0, mode=0o600):
                with suppress(OSError):
                    os.truncate(self.root / "written", 0)
                return self._prune()
        except (Timeout, OSError, NotImplementedError):
            return self.usage()

    def _prune(self) -> Usage:
        now = time.time()
        found: list[tuple[float, int, str]] = []
        for path, status in self._files():
            if os.path.basename(path).startswith(TEMPORARY):
                if now - status.st_mtime > LEFT_OVER:
                    _remove(path)
            else:
                found.append((status.st_mtime, _size_on_disk(status), path))
        used = sum(size for _, size, _ in found)
        left = len(found)
        if used > self.max_bytes * PRUNE_TO:
            for _, size, path in sorted(found):
                if used <= self.max_bytes * PRUNE_TO:
                    break
                _remove(path)
                used, left = used - size, left - 1
        return Usage(left, used)

    def clear(self) -> Usage:
        """Remove all entries, and tell what was removed."""
        entries = size = 0
        for path, status in self._files():
            _remove(path)
            if not os.path.basename(path).startswith(TEMPORARY):
                entries, size = entries + 1, size + _size_on_disk(status)
        with suppress(OSError):
            os.truncate(self.root / "written", 0)
        return Usage(entries, size)

    def usage(self) -> Usage:
        """What is on disk now."""
        sizes = [
            _size_on_disk(status)
            for path, status in self._files()
            if not os.path.basename(path).startswith(TEMPORARY)
        ]
        return Usage(len(sizes), sum(sizes))

    def usage_by_kind(self) -> dict[str, Usage]:
        """What is on disk now, by kind."""
        found: dict[str, Usage] = {}
        for path, status in self._files():
            if not os.path.basename(path).startswith(TEMPORARY):
                kind = Path(path).parts[-3]
                old = found.get(kind, Usage(0, 0))
                found[kind] = Usage(old.entries + 1, old.bytes + _size_on_disk(status))
        return dict(sorted(found.items()))

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        """Entries, and files that never became one; what vanishes is left out."""
        for kind in _entries(self.root):
            if not kind.is_dir(follow_symlinks=False):
                continue
            for part in _entries(kind.path):
                for entry in _entries(part.path):
                    with suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(status.st_mode):
                            yield entry.path, status

    def _path(self, kind: str, key: str) -> Path:
        return self.root / kind / key[:2] / key

    def _warn_once(self, what: str, message: str) -> None:
        if what not in self._warned:
            self._warned.add(what)
            warn(message)


NO_LINKS: int = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
SAFELY: int = NO_LINKS | getattr(os, "O_NONBLOCK", 0)
"""Neither through a link, nor waiting for the other end of a pipe."""


def digest_of(kind: str, key: str, content: bytes) -> bytes:
    """What an entry is verified by: it is in its place, and it is whole."""
    digest = sha256(f"{kind}/{key}\n".encode())
    digest.update(content)
    return digest.digest()


def refuse_others(status: os.stat_result, path: Path) -> None:
    """Raise `Untrusted` for what another user has written, or may write."""
    if not hasattr(os, "geteuid"):
        return  # the folders of a user are not open to others
    if status.st_uid != os.geteuid():
        raise Untrusted(f"'{path}' belongs to another user")
    if status.st_mode & 0o022 and not stat.S_ISLNK(status.st_mode):
        raise Untrusted(f"'{path}' may be written by other users")
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise Untrusted(f"'{path}' is neither a file nor a folder")


def _reason(error: OSError | Untrusted, path: Path) -> str:
    if isinstance(error, Untrusted):
        return str(error)
    return f"'{error.filename or path}': {error.strerror or error}"


def _size_on_disk(status: os.stat_result) -> int:
    return -(-status.st_size // BLOCK) * BLOCK


def _entries(folder: str | Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _remove(path: str | Path) -> None:
    with suppress(OSError):
        os.unlink(path)
