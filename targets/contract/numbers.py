"""
Whether functions compute what they did before a hook, by the reference evaluation on
random inputs, where these are small.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from transom.dialects.diagnostics import Note, OpError, report
from transom.dialects.dtypes import optional_numpy_dtype
from transom.dialects.graph import dim_symbols
from transom.dialects.symbols import symbols_of
from transom.dialects.target import LOWERED_TO
from transom.dialects.weight_files import base_folder
from transom.interpreters.interpreter import Interpreter, TooManySteps
from transom.interpreters.weights import WeightStore
from transom.runtime.comparison import compare
from transom.runtime.signature import Array
from transom.runtime.values import random_elements
from transom.targets.contract.rules import OTHER_NUMBERS, Origin, nearest_location
from transom.targets.contract.snapshot import type_of
from transom.targets.references import interpreter_of

MAX_ELEMENTS = 1 << 16
"""Elements of all inputs of a function that is run."""

MAX_STEPS = 1_000_000
"""Steps of an evaluation before it is given up: a few seconds."""

DEFAULT_SIZE = 3
"""The size of a dimension that nothing is said of."""


def check_numbers(
    original: ModuleOp, module: ModuleOp, before: Iterable[str], origin: Origin
) -> None:
    """
    Raise `OpError` if a function computes something else than in the original.

    Public functions of the host are run, and those named `before`, as far as they are
    not lowered. A remark says which could not be compared.
    """
    old, new = _interpreter(original), _interpreter(module)
    now = dict(symbols_of(module))
    functions = dict(symbols_of(original))
    public = (name for name, op in functions.items() if _is_public(op))
    for name in (*before, *public):
        function, after = functions[name], now.get(name)
        if after is None:
            continue
        if type_of(after) != type_of(function) or not _is_alive(after):
            continue
        try:
            inputs = _inputs_of(function)
            expected = old.run(name, inputs)
        except (OpError, ValueError) as e:
            _report_not_compared(after, name, origin, e)
            continue
        try:
            found = new.run(name, inputs)
        except TooManySteps as e:
            _report_not_compared(after, name, origin, e)
            continue
        except OpError as e:
            note = Note(e.location, "it fails here")
            difference = f"it fails, where it did not: {e.message}"
            raise origin.error(
                OTHER_NUMBERS, after, note, name=name, difference=difference
            ) from e
        difference = _difference(found, expected)
        if difference is not None:
            raise origin.error(OTHER_NUMBERS, after, name=name, difference=difference)


def _interpreter(module: ModuleOp) -> Interpreter:
    weights = WeightStore(module, base_folder(module))
    return interpreter_of(module, weights=weights, max_steps=MAX_STEPS)


def _report_not_compared(
    function: Operation, name: str, origin: Origin, reason: Exception
) -> None:
    message = reason.message if isinstance(reason, OpError) else str(reason)
    unknown = function.location == UNKNOWN_LOC
    report(
        "remark",
        nearest_location(function) if unknown else function,
        f"what '@{name}' computes is not compared after hook '{origin.hook}' of "
        f"'{origin.target}': {message}",
    )


def _is_public(function: Operation) -> bool:
    return (
        isinstance(function, FuncOp)
        and not function.is_declaration
        and function.sym_visibility in (None, StringAttr("public"))
    )


def _is_alive(function: Operation) -> bool:
    return bool(function.regions and function.regions[0].blocks) and (
        LOWERED_TO not in function.attributes
    )


def _difference(found: Sequence[Array], expected: Sequence[Array]) -> str | None:
    for index, (actual, wanted) in enumerate(zip(found, expected, strict=True)):
        difference = compare(f"result {index}", actual, wanted)
        if difference is not None:
            return f"{difference.name}: {difference.reason}"
    return None


def _inputs_of(function: Operation) -> list[Any]:
    """Random inputs, the same for each run. Raises `ValueError` if there are none."""
    type = type_of(function)
    assert type is not None, "functions have a type"
    rng = np.random.default_rng(0)
    shapes = [list(_shape_of(argument)) for argument in type.inputs.data]
    elements = sum(map(prod, shapes))
    if elements > MAX_ELEMENTS:
        raise ValueError(
            f"expected at most {MAX_ELEMENTS} elements of inputs, but got {elements}"
        )
    return [
        random_elements(rng, shape, _dtype_of(argument))
        for shape, argument in zip(shapes, type.inputs.data, strict=True)
    ]


def _shape_of(type: Attribute) -> Iterator[int]:
    if not isinstance(type, TensorType | MemRefType):
        return
    shaped = cast("TensorType[Any] | MemRefType[Any]", type)
    symbols = dim_symbols(shaped) if isinstance(shaped, TensorType) else ()
    for axis, size in enumerate(shaped.get_shape()):
        symbol = symbols[axis] if symbols else None
        lower = None if symbol is None else symbol.lower
        yield size if size >= 0 else lower or DEFAULT_SIZE


def _dtype_of(type: Attribute) -> np.dtype[Any]:
    if isinstance(type, TensorType | MemRefType):
        type = cast("TensorType[Any] | MemRefType[Any]", type).element_type
    dtype = optional_numpy_dtype(type)
    if dtype is None:
        raise ValueError(f"there are no random values of type '{type}'")
    return dtype
