"""
Options in the braces of `-t EMITTER{…}` and `-f KIND{…}`.
"""

import argparse
import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from xdsl.utils.arg_spec import ArgSpec, ArgSpecConvertible, parse_spec

from transom.dialects.diagnostics import did_you_mean
from transom.dialects.plugins import PluginError
from transom.passes.pipeline import PipelineError
from transom.registry import OWN_READERS

Factories = Mapping[str, Callable[..., Any]]


def check_specs(
    args: argparse.Namespace, emitters: Factories, readers: Factories
) -> None:
    """
    Raise `PipelineError` for options that the emitter or the reader does not have.
    """
    emitter = parse_spec(args.target)
    has_flags = emitter.name == "mlir"
    _check("-t/--target", emitter, None if has_flags else emitters[emitter.name])
    if args.frontend is not None:
        reader = parse_spec(args.frontend)
        has_flags = reader.name in OWN_READERS
        _check("-f/--frontend", reader, None if has_flags else readers[reader.name])


def _check(flag: str, spec: ArgSpec, factory: Callable[..., Any] | None) -> None:
    """Check what a factory makes; None stands for what has flags instead."""
    known: list[str] = []
    cls: type[ArgSpecConvertible] | None = None
    if factory is not None:
        if inspect.signature(factory).parameters:
            return  # a function that writes, as xDSL had them
        try:
            cls = factory()
        except PluginError:  # said where it is put to use
            return
        assert cls is not None, "a factory makes a class"
        known = [f.name for f in fields(cls) if f.init and f.name != "name"]
    for key in spec.parameters:
        if key.replace("-", "_") not in known:
            none = "; it takes none" if factory is not None else "; there are flags"
            near = did_you_mean(key, known) or none
            raise PipelineError(
                f"argument {flag}: unknown option '{key}' of '{spec.name}'{near}"
            )
    try:
        if cls is not None:
            cls.from_spec(spec)
    except ValueError as e:  # of values of another type
        raise PipelineError(f"argument {flag}: '{spec.name}': {e}") from None
