"""
Programs of `linalg` ops, and `mlir-opt` as an oracle of what they mean.
"""

import math
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerType

from transom.dialects.linalg import OPERATIONS
from transom.dialects.linalg.named import AccessedOp, PointwiseOp, WindowOp

SIZES = {
    "n": 2, "b": 2, "g": 2, "m": 5, "k": 6, "f": 3, "c": 4,
    "z": 3, "y": 4, "x": 5, "o": 2, "p": 2, "q": 3,
}  # fmt: skip
"""The size of the loop of each letter."""

OLDEST, NEWEST = 16, 24
"""Versions of `mlir-opt` that are looked for."""


@cache
def mlir_opt() -> str | None:
    """The newest `mlir-opt` there is."""
    names = [f"mlir-opt-{n}" for n in range(NEWEST, OLDEST - 1, -1)]
    found = (shutil.which(name) for name in (*names, "mlir-opt"))
    return next((path for path in found if path is not None), None)


@cache
def mlir_opt_version() -> int:
    """The major version of `mlir-opt`."""
    program = mlir_opt()
    assert program is not None, "the test is skipped without it"
    told = subprocess.run(
        [program, "--version"], capture_output=True, text=True, check=True
    )
    version = re.search(r"LLVM version (\d+)", told.stdout)
    assert version is not None, told.stdout
    return int(version[1])


needs_mlir_opt = pytest.mark.skipif(mlir_opt() is None, reason="there is no mlir-opt")


def through_mlir_opt(text: str, *arguments: str) -> str:
    """What `mlir-opt` makes of a module."""
    program = mlir_opt()
    assert program is not None, "the test is skipped without it"
    done = subprocess.run(
        [program, *arguments], input=text, capture_output=True, text=True, check=False
    )
    if unknown := re.search(r"custom op '(.*)' is unknown", done.stderr):
        pytest.skip(f"this mlir-opt has no '{unknown[1]}'")
    if refused := re.search("unsigned (min|max) not on uint", done.stderr):
        pytest.skip(f"this mlir-opt has no {refused[0].replace('not on', 'but of')}")
    assert done.returncode == 0, done.stderr
    return done.stdout


class Case(NamedTuple):
    """A function with one op, and what it is called with."""

    name: str
    text: str
    inputs: tuple[np.ndarray[Any, Any], ...]


def type_of(shape: Sequence[int], element: str = "f32") -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def function(name: str, types: Sequence[str], attributes: str = "") -> str:
    """A function that calls a named op on its arguments, the last being the output."""
    *ins, out = types
    arguments = ", ".join(f"%a{i}: {type}" for i, type in enumerate(types))
    operands = ", ".join(f"%a{i}" for i in range(len(ins)))
    return (
        f"func.func @main({arguments}) -> {out} {{\n"
        f"  %y = {name}{attributes} ins({operands} : {', '.join(ins)})"
        f" outs(%a{len(ins)} : {out}) -> {out}\n"
        f"  func.return %y : {out}\n}}\n"
    )


def _extent(part: str, strides: Iterator[int], dilations: Iterator[int]) -> int:
    if "+" not in part:
        return SIZES[part]
    point, tap = part.split("+")
    return (SIZES[point] - 1) * next(strides) + (SIZES[tap] - 1) * next(dilations) + 1


def numbers(
    seed: int, shape: Sequence[int], dtype: str = "float32"
) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return np.asarray(rng.random(tuple(shape)) + 0.25, dtype)
    return np.asarray(rng.integers(1, 7, tuple(shape)), dtype)


def cases_of(op: type[AccessedOp]) -> Iterator[Case]:
    """The op as it is, and if it has windows with strides and dilations."""
    if issubclass(op, PointwiseOp):
        shapes = [(3, 4)] * (op.input_count() + 1)
        integers = op.ELEMENTS is IntegerType
        element, dtype = ("i32", "int32") if integers else ("f32", "float32")
        inputs = tuple(numbers(i, shape, dtype) for i, shape in enumerate(shapes))
        types = [type_of(shape, element) for shape in shapes]
        yield Case(op.name, function(op.name, types), inputs)
        return
    count = op.count() if issubclass(op, WindowOp) else 0
    for stride, dilation in ((1, 1), (2, 1), (1, 2))[: 3 if count else 1]:
        shapes = [
            tuple(
                _extent(part, iter([stride] * 9), iter([dilation] * 9))
                for part in access.split()
            )
            for access in op.ACCESSES
        ]
        attributes = (
            f" {{dilations = dense<{dilation}> : tensor<{count}xi64>,"
            f" strides = dense<{stride}> : tensor<{count}xi64>}}"
            if count
            else ""
        )
        inputs = tuple(numbers(i, shape) for i, shape in enumerate(shapes))
        text = function(op.name, [type_of(s) for s in shapes], attributes)
        yield Case(f"{op.name}-{stride}-{dilation}", text, inputs)


def named_cases() -> list[Case]:
    """A case or more for each named op."""
    return [
        case for op in OPERATIONS if issubclass(op, AccessedOp) for case in cases_of(op)
    ]


def reference(case: Case, op: type[AccessedOp]) -> np.ndarray[Any, Any]:
    """A product or convolution by its accesses alone: a sum over all loops."""
    match = re.search(r"dense<(\d)>.*dense<(\d)>", case.text)
    dilation, stride = map(int, match.groups()) if match else (1, 1)
    loops = [*op.ACCESSES[-1].split(), *op.REDUCED.split()]
    result = np.array(case.inputs[-1], np.float64)
    for point in np.ndindex(*(SIZES[loop] for loop in loops)):
        at: Mapping[str, int] = dict(zip(loops, point, strict=True))

        def index(part: str, at: Mapping[str, int] = at) -> int:
            y, _, p = part.partition("+")
            return at[y] * stride + at[p] * dilation if p else at[y]

        places = [tuple(map(index, access.split())) for access in op.ACCESSES]
        product = math.prod(
            float(array[place])
            for array, place in zip(case.inputs[:-1], places[:-1], strict=True)
        )
        result[places[-1]] += product
    return result
