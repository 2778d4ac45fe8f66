"""
The functions of CMSIS-NN for this machine, from `targets/cmsis_nn/reference`: compiled
once per variant, and called with arrays, numbers and tuples in the place of structs.
"""

import ctypes
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import transom.targets.cmsis_nn
from transom.targets.c_source.compiled import CompilerError, compiler

REFERENCE = Path(transom.targets.cmsis_nn.__file__).parent / "reference"

VARIANTS = ("C", "DSP", "MVE")
_folder = tempfile.TemporaryDirectory(prefix="transom-cmsis-nn-")


@cache
def library_path(variant: str = "C") -> str:
    """
    A shared library of a variant; skips the test without a C compiler. A process finds
    the functions in the first that it loads.
    """
    try:
        command = compiler()
    except CompilerError as e:
        pytest.skip(str(e))
    path = Path(_folder.name) / f"lib{variant}.so"
    flags = [
        "-std=c99",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fPIC",
        "-shared",
        "-Wl,-Bsymbolic",
    ]
    source = REFERENCE / "arm_nnfunctions.c"
    subprocess.run(
        [*command, *flags, f"-DCMSIS_NN_{variant}", "-o", path, source], check=True
    )
    return str(path)


def call(variant: str, name: str, *arguments: Any) -> int:
    """
    Call a function. Arrays are passed by their address, tuples as structs by theirs,
    numbers as `int32_t`.
    """
    function = getattr(ctypes.CDLL(library_path(variant)), name)
    function.restype = ctypes.c_int32
    passed = [_passed(argument) for argument in arguments]
    return function(*passed)


def _passed(argument: Any) -> Any:
    if isinstance(argument, tuple):
        return ctypes.byref(struct(cast("tuple[Any, ...]", argument)))
    return _field(argument)


def struct(fields: Sequence[Any]) -> ctypes.Structure:
    """A C struct of numbers, addresses of arrays, and inner structs."""
    values: list[Any] = [
        struct(cast("tuple[Any, ...]", field))
        if isinstance(field, tuple)
        else _field(field)
        for field in fields
    ]
    kinds: list[type[Any]] = [type(value) for value in values]
    named = [(f"field{number}", kind) for number, kind in enumerate(kinds)]
    return type("Struct", (ctypes.Structure,), {"_fields_": named})(*values)


def _field(field: Any) -> Any:
    if isinstance(field, np.ndarray):
        return ctypes.c_void_p(field.ctypes.data)
    return ctypes.c_int32(int(field))
