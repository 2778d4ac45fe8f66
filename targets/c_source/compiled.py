"""
Running emitted C on this machine: compiled by the C compiler that is here.

The compiler is what the environment's `CC` names, with its flags, else `cc`, `gcc` or
`clang`. What was compiled is kept for the life of the process, by its text.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Attribute

from transom.dialects.executor import ArtifactOp, EmittedCode
from transom.lowering.emit_c import c_identifier
from transom.runtime.artifacts import Artifact
from transom.runtime.callbacks import NUMBERS

# Exact numbers: contraction would round once where the IR rounds twice.
FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared")

SECONDS = 300
"""After which a compiler is stopped."""

_lock = threading.Lock()
_libraries: dict[bytes, ctypes.CDLL] = {}


class CompilerError(RuntimeError):
    """Emitted C cannot be compiled here."""


def compiler() -> list[str]:
    """
    The command of the C compiler.

    Raises `CompilerError` if there is none.
    """
    if named := os.environ.get("CC"):
        return shlex.split(named)
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return [name]
    raise CompilerError(
        "expected a C compiler to run C with: found no cc, gcc or clang; the "
        "environment variable CC can name one"
    )


def compile_library(source: bytes, folder: Path) -> Path:
    """
    A shared library of a file of C, in a folder.

    Raises `CompilerError` with what the compiler says.
    """
    unit, library = folder / "kernels.c", folder / "kernels.so"
    unit.write_bytes(source)
    command = [*compiler(), *FLAGS, "-o", str(library), str(unit), "-lm"]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except OSError as e:
        raise CompilerError(f"cannot run '{command[0]}': {e.strerror}") from None
    except subprocess.TimeoutExpired:
        raise CompilerError(
            f"'{command[0]}' did not end within {SECONDS} seconds"
        ) from None
    if done.returncode:
        text = "\n".join(done.stderr.strip().splitlines()[:10])
        raise CompilerError(f"'{command[0]}' failed with {done.returncode}: {text}")
    return library


def library_of(source: bytes) -> ctypes.CDLL:
    """The loaded library of a file of C, compiled once in a process."""
    with _lock:
        found = _libraries.get(source)
        if found is None:
            with tempfile.TemporaryDirectory(prefix="transom-c-") as folder:
                # Loaded libraries stay mapped when their file is gone.
                found = ctypes.CDLL(str(compile_library(source, Path(folder))))
            _libraries[source] = found
        return found


def run(code: EmittedCode, values: Sequence[Any]) -> None:
    """
    Call a function of emitted C on arrays and numbers.

    Raises `CompilerError` if it cannot be compiled, and `RuntimeError` if it returns a
    status other than 0.
    """
    call(code.payload_bytes, code.entry_name, values, shapes_of(code))


def call(
    source: bytes,
    name: str,
    values: Sequence[Any],
    shapes: Sequence[tuple[int, ...] | None],
) -> None:
    """Call a function by name; `shapes` say of memory which sizes are passed (-1)."""
    function = getattr(library_of(source), c_identifier(name))
    arguments: list[Any] = []
    for value, shape in zip(values, shapes, strict=True):
        if shape is None:
            arguments.append(NUMBERS[np.asarray(value).dtype.name](value))
            continue
        array = cast("np.ndarray[Any, Any]", value)
        arguments.append(ctypes.c_void_p(array.ctypes.data))
        arguments += [
            ctypes.c_int64(size)
            for size, known in zip(array.shape, shape, strict=True)
            if known < 0
        ]
    function.restype = ctypes.c_int32
    if status := function(*arguments):
        raise RuntimeError(f"'{name}' returned {status}")


def shapes_of(code: EmittedCode) -> list[tuple[int, ...] | None]:
    """The shape of each argument, -1 for a size that is passed; None for a number."""
    if isinstance(code, Artifact):
        return [argument.shape for argument in code.arguments]
    assert isinstance(code, ArtifactOp), "references run artifacts"
    return [_shape(type) for type in code.argument_types]


def _shape(type: Attribute) -> tuple[int, ...] | None:
    if not isinstance(type, MemRefType):
        return None
    sizes = cast("MemRefType[Attribute]", type).get_shape()
    return tuple(-1 if size == DYNAMIC_INDEX else size for size in sizes)
