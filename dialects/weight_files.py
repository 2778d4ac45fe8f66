"""
Read a weight that `#graph.file<"path", "name", sha256 = "…">` names.

The path is relative to a base folder (that of the file which holds the attribute). It
is a safetensors file or the ONNX model that the weight came from; ONNX external data
is followed. What is stored as bytes is memory-mapped, without a copy.

The files may come from anywhere, so nothing in them is believed: a path stays inside
the base folder (or a folder that the caller allowed), is opened without following
links, and offsets and sizes are checked against the file before anything is allocated.
Every failure is a `WeightError` of one line.

`sha256` is that of the weight, not of the file: of its elements in row-major order, as
little-endian bytes. It therefore survives a move of the weight to another container.
"""

import errno
import hashlib
import math
import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from transom.dialects.diagnostics import did_you_mean, position_of

Array: TypeAlias = npt.NDArray[Any]

FileIdentity: TypeAlias = tuple[int, ...]
"""Differs when a file was replaced or edited."""


class WeightError(ValueError):
    """A weight that cannot be read; the message is one line and names the file."""


@dataclass(frozen=True)
class StoredWeight:
    """A weight as a file describes it, before any of its bytes were touched."""

    dtype: np.dtype[Any] | None
    """None if NumPy has no such type; then `dtype_name` says what the file has."""
    dtype_name: str
    shape: tuple[int, ...]
    load: Callable[[], "tuple[Array, FileIdentity]"]
    """
    The elements, flat and of the size that `shape` says, and the file they are from.
    """


@dataclass(frozen=True)
class OpenFile:
    """A memory-mapped file."""

    label: str
    data: Array
    identity: FileIdentity


@dataclass
class WeightFiles:
    """
    Reads weights below the folder `base`.

    `allowed` are further folders (or single files) that links may lead to, and in which
    files with several hard links are accepted, such as the blobs of a download cache.
    """

    base: str | Path
    allowed: Sequence[str | Path] = ()
    _opened: dict[tuple[str, str], OpenFile] = field(
        default_factory=dict[tuple[str, str], OpenFile], init=False
    )
    _containers: dict[FileIdentity, Mapping[str, StoredWeight]] = field(
        default_factory=dict[FileIdentity, Mapping[str, StoredWeight]], init=False
    )
    _verified: set[tuple[FileIdentity, str, str]] = field(
        default_factory=set[tuple[FileIdentity, str, str]], init=False
    )

    def read(
        self,
        path: str,
        name: str,
        shape: Sequence[int],
        dtype: np.dtype[Any],
        sha256: str | None = None,
    ) -> Array:
        """
        The weight `name` of the file at `path`, as a read-only array, at whatever
        address the file has it.

        Raises WeightError if it is not there, if its type differs from `shape` and
        `dtype`, or if its contents do not have the hash `sha256`.
        """
        file = self.open(path)
        stored = self._container(file, path)
        if name not in stored:
            hint = did_you_mean(name, stored)
            raise WeightError(f"'{path}' has no weight {_quoted(name)}{hint}")
        label = f"weight '{name}' in '{path}'"
        weight = stored[name]
        expected = _type_text(shape, dtype)
        if weight.dtype != dtype or weight.shape != tuple(shape):
            found = _type_text(weight.shape, weight.dtype or weight.dtype_name)
            raise WeightError(f"{label}: expected {expected}, but the file has {found}")
        flat, identity = weight.load()
        if dtype == np.bool_ and flat.view(np.uint8).max(initial=0) > 1:
            raise WeightError(f"{label}: expected bytes of 0 and 1 for bool")
        array = flat.reshape(shape)
        array.flags.writeable = False
        if sha256 is not None:
            self._verify(array, label, (identity, name, sha256.lower()))
        return array

    def open(self, path: str, folder: str = "") -> OpenFile:
        """Map the file at `path` relative to `folder`, itself relative to the base."""
        known = self._opened.get((folder, path))
        if known is None or not self._is_at(known, folder, path):
            known = self._opened[folder, path] = self._open(path, folder)
        return known

    def _is_at(self, file: OpenFile, folder: str, path: str) -> bool:
        """Whether a path that a file was opened by still leads to it, as it was."""
        try:
            found = os.stat(os.path.join(self.base, folder, path))
        except OSError:  # opening it tells
            return False
        return identity_of(found) == file.identity

    def _open(self, path: str, folder: str) -> OpenFile:
        pure = PurePosixPath(path)
        if (
            not path
            or "\0" in path
            or pure.is_absolute()
            or PureWindowsPath(path).drive
        ):
            raise WeightError(f"expected a relative path, but got {_quoted(path)}")
        leaves = ".." in pure.parts or ".." in PureWindowsPath(path).parts
        home = os.path.realpath(os.path.join(self.base, folder))
        try:
            real = os.path.realpath(os.path.join(home, *pure.parts))
            roots = [os.path.realpath(a) for a in self.allowed]
            allowed = _container_of(real, roots)
            if leaves and allowed is None:
                raise WeightError(
                    f"expected a path without '..', but got {_quoted(path)}; or allow "
                    "the folder that it leads to ('--allow-external-data-dir')"
                )
            root = allowed or _container_of(real, (home,))
            if root is None:
                raise WeightError(
                    f"'{path}' is a link that leaves its folder; allow the folder "
                    "that it leads to ('--allow-external-data-dir')"
                )
            return _map_file(path, root, real, links_allowed=allowed is not None)
        except OSError as e:
            raise WeightError(f"cannot read '{path}': {e.strerror or e}") from None

    def provide(self, file: OpenFile, weights: Mapping[str, StoredWeight]) -> None:
        """Say what a file holds, so that it is not parsed again."""
        self._containers[file.identity] = weights

    def _container(self, file: OpenFile, path: str) -> Mapping[str, StoredWeight]:
        """What the file holds, read once for each version of it."""
        found = self._containers.get(file.identity)
        if found is None:
            if _is_onnx(file, path):
                from transom.dialects.onnx_weights import parse_model, weights_of

                folder = str(PurePosixPath(path).parent)
                found = weights_of(parse_model(file), self, folder)
            else:
                from transom.dialects.safetensors_weights import read_safetensors

                found = read_safetensors(file)
            self._containers[file.identity] = found
        return found

    def _verify(
        self, array: Array, label: str, key: tuple[FileIdentity, str, str]
    ) -> None:
        if key in self._verified:
            return
        found = content_sha256(array)
        if found != key[2]:
            raise WeightError(f"{label}: expected sha256 {key[2]}, but it has {found}")
        self._verified.add(key)


def base_folder(module: ModuleOp) -> Path:
    """The folder that paths in a module are relative to: that of its file."""
    position = position_of(module.location)
    if position is None or position.file.startswith("<"):
        return Path.cwd()
    return Path(position.file).parent


def content_sha256(array: Array) -> str:
    """The hash that `#graph.file` records: of the little-endian row-major elements."""
    little = array.dtype.newbyteorder("<")
    contiguous = np.ascontiguousarray(array, dtype=little)
    return hashlib.sha256(contiguous.reshape(-1).view(np.uint8).data).hexdigest()


def checked_flat(
    file: OpenFile, label: str, span: tuple[int, int], count: int, dtype: np.dtype[Any]
) -> Array:
    """The `count` elements at bytes `span` of the file, without a copy."""
    begin, end = span
    size = file.data.size
    if not 0 <= begin <= end <= size:
        raise WeightError(
            f"{label}: bytes {begin} to {end} lie outside the {size} bytes of "
            f"'{file.label}'"
        )
    if end - begin != count * dtype.itemsize:
        raise WeightError(
            f"{label}: expected {count * dtype.itemsize} bytes, but got {end - begin}"
        )
    return file.data[begin:end].view(dtype)


def element_count(label: str, shape: Sequence[int]) -> int:
    """The number of elements; a negative or absurd size is an error."""
    if len(shape) > 32 or any(not 0 <= size < 2**48 for size in shape):
        raise WeightError(f"{label}: expected at most 32 sizes of 0 to 2^48")
    return math.prod(shape)


def _is_onnx(file: OpenFile, path: str) -> bool:
    """By suffix, else by content: safetensors have a JSON object at byte 8."""
    if path.endswith((".onnx", ".safetensors")):
        return path.endswith(".onnx")
    return file.data[8:9].tobytes() != b"{"


def identity_of(status: os.stat_result) -> FileIdentity:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _container_of(real: str, roots: Iterable[str]) -> str | None:
    for root in roots:
        if real == root or Path(root) in Path(real).parents:
            return root
    return None


def _map_file(path: str, root: str, real: str, *, links_allowed: bool) -> OpenFile:
    """
    Map `real`, which lies in `root`, opening one folder after the other without
    following links, so that a link put there after the check is an error, too.
    """
    descriptor = os.open(root, os.O_RDONLY | os.O_NONBLOCK)
    try:
        for part in Path(real).relative_to(root).parts:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            below = os.open(part, flags, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        if info.st_nlink > 1 and not links_allowed:
            raise WeightError(f"'{path}' has several hard links; allow its folder")
        identity = identity_of(info)
        if info.st_size == 0:
            return OpenFile(path, np.empty(0, np.uint8), identity)
        with open(descriptor, "rb", closefd=False) as file:
            data = np.memmap(file, np.uint8, mode="r").view(np.ndarray)
        return OpenFile(path, data, identity)
    finally:
        os.close(descriptor)


def _type_text(shape: Sequence[int], dtype: np.dtype[Any] | str) -> str:
    return f"'{'x'.join((*map(str, shape), str(dtype)))}'"


def _quoted(path: str) -> str:
    return f"'{path}'".replace("\0", "\\0").replace("\n", "\\n")
