"""
What the functions of the Python API are given: checked before any of it is used, so
that what is wrong is told by the name of the argument.

All raise `PipelineError`. Code that is typed needs none of it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from os import PathLike
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from transom.compile_options import IN_USE
from transom.dialects.diagnostics import did_you_mean
from transom.dialects.target import OPTIONS
from transom.passes.pipeline import PipelineError

LISTS = ("libraries", "data_folders", "in_pools")
"""Arguments that are lists of texts, which a text by itself would be, too."""

BOUNDS, SHAPES = "{'N': (1, 8)}", "{'x': (1, 3, 224, 224)}"
DEVICES = "{'cpu': '#llvm_cpu.target<cpu = \"host\">'}"


def check_module(value: Any) -> None:
    """A module, and not the file that it is in."""
    if isinstance(value, ModuleOp):
        return
    if isinstance(value, str | PathLike):
        raise PipelineError(
            f"expected a module, but got '{value}'; 'transom.load' reads files, "
            "'transom.parse' texts"
        )
    raise PipelineError(f"expected a module, but got {_said(value)}")


def check_names(name: str, value: Any) -> None:
    """Something by names, or nothing; `name` is that of the argument."""
    if value is None or isinstance(value, Mapping):
        return
    example = f", such as {DEVICES}" if name == "devices" else ""
    raise PipelineError(
        f"expected a dictionary as '{name}'{example}, but got {_said(value)}"
    )


def check_dims(value: Any) -> None:
    """Bounds of sizes, by name: pairs of integers or None."""
    if value is None:
        return
    if not _each(value, _is_pair):
        raise PipelineError(
            f"expected bounds by name as 'dims', such as {BOUNDS}, "
            f"but got {_said(value)}"
        )


def check_shapes(value: Any) -> None:
    """Shapes of inputs, by name: lists of integers or None."""
    if value is None:
        return
    if not _each(value, _are_ends):
        raise PipelineError(
            f"expected shapes by name as 'shapes', such as {SHAPES}, "
            f"but got {_said(value)}"
        )


def check_text(value: Any) -> None:
    """The text of a module, or its bytes."""
    if not isinstance(value, str | bytes):
        raise PipelineError(f"expected the text of a module, but got {_said(value)}")


def check_arguments(function: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """What `compile` was given beside its module; `options` are the last of it."""
    check_names("devices", given["devices"])
    check_names("callbacks", given["callbacks"])
    check_dims(given["dims"])
    threads = given["threads"]
    if threads is not None and not _is_integer(threads):
        raise PipelineError(f"expected a number of threads, but got {_said(threads)}")
    for name in LISTS:
        value = given[name]
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise PipelineError(f"expected a list as '{name}', but got {_said(value)}")
    externs = given["externs"]
    if not isinstance(externs, str | Mapping):
        raise PipelineError(
            "expected 'native', 'reference' or a dictionary as 'externs', "
            f"but got {_said(externs)}"
        )
    check_options(function, given["options"])


def check_options(function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Options that there are, each on or off; what is not may be another argument."""
    for name, value in options.items():
        if name not in OPTIONS:
            parameters = signature(function).parameters.values()
            others = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
            near = did_you_mean(name, [*IN_USE, *others])
            raise PipelineError(f"unknown option '{name}'{near}")
        if name not in IN_USE:
            raise PipelineError(f"no kernel makes use of option '{name}' yet")
        if not isinstance(value, bool):
            raise PipelineError(
                f"expected True or False as '{name}', but got {_said(value)}"
            )


def _each(value: Any, is_right: Callable[[Any], bool]) -> bool:
    """Whether it holds by name what is right."""
    return isinstance(value, Mapping) and all(
        map(is_right, cast("Mapping[Any, Any]", value).values())
    )


def _is_pair(value: Any) -> bool:
    return _are_ends(value) and len(value) == 2


def _are_ends(value: Any) -> bool:
    """Sizes that are known, or None."""
    return isinstance(value, Sequence) and all(
        end is None or _is_integer(end) for end in cast("Sequence[Any]", value)
    )


def _is_integer(value: Any) -> bool:
    """Also one of NumPy; a truth value is no number here."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _said(value: Any) -> str:
    """A value in a message: what it is, if its text would be long."""
    text = repr(value)
    if len(text) <= 40 and "\n" not in text and " at 0x" not in text:
        return text
    return f"one of type '{type(value).__name__}'"
