"""
Programs on disk: one file with a manifest, the code and the weights.

The file is a ZIP archive of stored entries: `manifest.json` (format version, target,
signature, pools, messages, and a SHA-256 of every other entry), the object files of
`code/`, one entry of raw little-endian elements per weight, and the code of artifacts.
Nothing in it is executed or unpickled before its hash has been checked; sizes are
checked against the file first.
"""

import errno
import json
import os
import struct
import zipfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from os import PathLike, fspath
from typing import Any, BinaryIO, cast

import numpy as np

from transom.runtime.artifacts import Artifact, Callback
from transom.runtime.callbacks import Argument
from transom.runtime.files import write_whole
from transom.runtime.jit import JitError, UndefinedSymbols, host_cpu, host_triple
from transom.runtime.main_failures import MainError
from transom.runtime.program import Code, PoolSpec, Program
from transom.runtime.signature import Array, Signature, dtype_of

FORMAT = "transom-program"
VERSION = 4
MAX_MANIFEST = 16 << 20
"""Bytes of a manifest before it is refused."""

DAMAGES = (
    zipfile.BadZipFile,
    struct.error,
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What reading bytes that are no archive, or JSON that is no manifest, may raise."""


class ArchiveError(ValueError):
    """A file that is no program, is damaged, or is for another machine."""


def save(code: Code, path: str | PathLike[str]) -> None:
    """Write a program to a file, whole or not at all."""
    write_whole(path, lambda file: _write(file, code))


def pack(code: Code) -> bytes:
    """What a file of a program holds."""
    buffer = BytesIO()
    _write(buffer, code)
    return buffer.getvalue()


def _write(file: BinaryIO, code: Code) -> None:
    """Write the content of a program, of whose weights no copy is made."""
    objects = {f"code/{n}.o": data for n, data in enumerate(code.objects)}
    entries: dict[str, bytes | memoryview] = dict(objects)
    artifacts = [_artifact_to_json(artifact, entries) for artifact in code.artifacts]
    constants: list[dict[str, Any]] = []
    for number, (symbol, array) in enumerate(code.constants.items()):
        entry = f"weights/{number}"
        flat = np.ascontiguousarray(array).reshape(-1)
        entries[entry] = flat.view(np.uint8).data
        constants.append(
            {
                "symbol": symbol,
                "dtype": array.dtype.name,
                "shape": list(array.shape),
                "entry": entry,
            }
        )
    if code.graph is not None:
        entries["graph.json"] = code.graph.encode()
    if code.bytecode is not None:
        entries["main.bytecode"] = code.bytecode
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "objects": list(objects),
        "triple": code.triple,
        "cpu": code.cpu,
        "features": code.features,
        "needs": list(code.needs),
        "entry": code.entry,
        "shapes": code.shapes,
        "signature": code.signature.to_json(),
        "pools": [
            [pool.name, pool.size, pool.alignment, list(pool.content)]
            for pool in code.pools
        ],
        "messages": list(code.messages),
        "constants": constants,
        "artifacts": artifacts,
        "graph": None if code.graph is None else "graph.json",
        "bytecode": None if code.bytecode is None else "main.bytecode",
        "sha256": {name: sha256(data).hexdigest() for name, data in entries.items()},
    }
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_member("manifest.json"), json.dumps(manifest, indent=1))
        for name, data in entries.items():
            member = _member(name)
            member.file_size = len(data)
            with archive.open(member, "w") as entry:
                entry.write(data)


def _member(name: str) -> zipfile.ZipInfo:
    """A file of an archive, without the time: equal programs have equal bytes."""
    member = zipfile.ZipInfo(name)
    member.external_attr = 0o600 << 16
    return member


def load(
    path: str | PathLike[str],
    libraries: tuple[str, ...] = (),
    callbacks: Mapping[str, Callback] | None = None,
) -> Program:
    """
    Load a program for this machine. `libraries` hold C functions that it calls, and
    `callbacks` run artifacts in it that are no code of this machine, by their name or
    format.

    Raises `JitError` for what it calls and is not there, `ArchiveError` if the file is
    none, was damaged or cut, or is for a machine that this one is not, and `OSError` if
    it can not be read.
    """
    code = read(path)
    check_machine(code)
    try:
        return Program(code, libraries, callbacks)
    except MainError as e:
        raise ArchiveError(f"'{fspath(path)}' is damaged: {e}") from e
    except UndefinedSymbols as e:
        raise JitError(
            f"{e}; name their library: a saved program holds none, "
            "'load(…, libraries=[…])' takes it"
        ) from None


def read(path: str | PathLike[str]) -> Code:
    """
    The content of a file, checked against its hashes but not loaded.

    Raises `ArchiveError`, and `OSError` if it can not be read.
    """
    name = fspath(path)
    with open(name, "rb") as file:
        return _read(file, os.stat(name).st_size, name)


def unpack(data: bytes, name: str) -> Code:
    """What `pack` was given; errors call it by a name. Raises `ArchiveError`."""
    return _read(BytesIO(data), len(data), name)


def _read(file: BinaryIO, size: int, name: str) -> Code:
    try:
        return _checked(file, size, name)
    except ArchiveError:
        raise
    except DAMAGES as e:
        if isinstance(e, OSError) and e.errno != errno.EINVAL:
            raise  # the file cannot be read; to seek where nothing can be is damage
        raise ArchiveError(f"'{name}' is no program of transom: {e}") from e


def _checked(file: BinaryIO, size: int, name: str) -> Code:
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            if info.compress_type != zipfile.ZIP_STORED or info.file_size > size:
                raise ArchiveError(f"entry '{info.filename}' is not stored as it is")
        if archive.getinfo("manifest.json").file_size > MAX_MANIFEST:
            raise ArchiveError("the manifest is too large")
        parsed: Any = json.loads(archive.read("manifest.json"))
        if not isinstance(parsed, dict):
            raise ArchiveError(f"'{name}' is no program of transom")
        manifest = cast("dict[str, Any]", parsed)
        if manifest.get("format") != FORMAT:
            raise ArchiveError(f"'{name}' is no program of transom")
        if manifest["version"] != VERSION:
            raise ArchiveError(
                f"expected version {VERSION} of the format, "
                f"but got {manifest['version']}; compile the program again"
            )
        hashes: Mapping[str, str] = manifest["sha256"]
        data = {entry: archive.read(entry) for entry in hashes}
    for entry, expected in hashes.items():
        if sha256(data[entry]).hexdigest() != expected:
            raise ArchiveError(f"'{name}' is damaged: entry '{entry}'")
    return Code(
        objects=tuple(data[name] for name in manifest["objects"]),
        triple=str(manifest["triple"]),
        cpu=str(manifest["cpu"]),
        features=str(manifest["features"]),
        entry=str(manifest["entry"]),
        shapes=manifest["shapes"],
        signature=Signature.from_json(manifest["signature"]),
        pools=tuple(map(_pool, manifest["pools"])),
        messages=tuple(map(str, manifest["messages"])),
        constants={
            str(entry["symbol"]): _weight(entry, data)
            for entry in manifest["constants"]
        },
        artifacts=tuple(
            _artifact_from_json(entry, data) for entry in manifest["artifacts"]
        ),
        graph=None if manifest["graph"] is None else data[manifest["graph"]].decode(),
        bytecode=(None if manifest["bytecode"] is None else data[manifest["bytecode"]]),
        needs=tuple(map(str, manifest.get("needs", ()))),  # which files once lacked
    )


def _artifact_to_json(
    artifact: Artifact, entries: dict[str, bytes | memoryview]
) -> dict[str, Any]:
    """An artifact as JSON values; its code is an entry, one for equal codes."""
    entry = f"artifacts/{sha256(artifact.payload_bytes).hexdigest()[:16]}"
    entries[entry] = artifact.payload_bytes
    return {
        "name": artifact.name,
        "format": artifact.format,
        "target": artifact.target,
        "entry_name": artifact.entry_name,
        "arguments": [
            [argument.dtype, argument.shape, argument.is_read_only]
            for argument in artifact.arguments
        ],
        "entry": entry,
    }


def _artifact_from_json(
    entry: Mapping[str, Any], data: Mapping[str, bytes]
) -> Artifact:
    arguments: list[Argument] = []
    for dtype, shape, is_read_only in entry["arguments"]:
        dtype_of(dtype)
        sizes = None if shape is None else tuple(map(int, shape))
        arguments.append(Argument(str(dtype), sizes, bool(is_read_only)))
    return Artifact(
        str(entry["name"]),
        str(entry["format"]),
        str(entry["target"]),
        str(entry["entry_name"]),
        data[entry["entry"]],
        tuple(arguments),
    )


def _pool(entry: Sequence[Any]) -> PoolSpec:
    name, size, alignment, content = entry
    places = tuple((str(weight), int(offset)) for weight, offset in content)
    return PoolSpec(str(name), int(size), int(alignment), places)


def _weight(entry: Mapping[str, Any], data: Mapping[str, bytes]) -> Array:
    array = np.frombuffer(data[entry["entry"]], dtype_of(entry["dtype"]))
    return array.reshape(entry["shape"])


def check_machine(code: Code) -> None:
    """
    Raise `ArchiveError` unless this machine can run the code: an instruction that the
    CPU lacks would end the process.
    """
    if code.triple.split("-")[0] != host_triple().split("-")[0]:
        raise ArchiveError(
            f"the program is for '{code.triple}', this machine is '{host_triple()}'"
        )
    here = set(host_cpu()[1].split(","))
    changes = [f for f in code.features.split(",") if f.startswith("+")]
    missing = {change[1:] for change in changes if change not in here}
    # What follows from the name of a CPU may be what LLVM does not look for.
    missing |= {name for name in code.needs if f"-{name}" in here}
    if missing:
        names = sorted(missing)
        listed = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
        raise ArchiveError(f"the program is for '{code.cpu}'; this CPU lacks {listed}")
