"""
What a module is compiled for, written into its `target.config`.
"""

from collections.abc import Mapping

from xdsl.dialects.builtin import BoolAttr, DictionaryAttr, IntegerAttr, ModuleOp, i64

from transom.dialects.diagnostics import OpError
from transom.dialects.target import (
    MAX_THREADS,
    PHASES,
    get_config,
    set_config,
)
from transom.passes.pipeline import PipelineError

DECIDED = "tensor"
"""The phase in which kernels are made for threads and options."""

IN_USE = ("winograd",)
"""The options that kernels make use of."""


def use_threads(module: ModuleOp, threads: int) -> None:
    """
    Let kernels of a module use so many threads; see `tir-parallelize-nests`.

    Raises `PipelineError` for a number that there cannot be, and `OpError` if the
    module is past the phase in which that is decided.
    """
    if not 1 <= threads <= MAX_THREADS:
        raise PipelineError(f"expected 1 to {MAX_THREADS} threads, but got {threads}")
    config = get_config(module)
    if config.threads != threads and _is_decided(module):
        raise OpError(
            module,
            f"expected a module before phase '{DECIDED}' to choose {threads} threads, "
            f"but it is at '{config.phase}', made for {config.threads}; there "
            "'tir.threads' of kernels and 'parallel' in their schedules say it",
        )
    set_config(module, {"threads": IntegerAttr(threads, i64)})


def use_options(module: ModuleOp, options: Mapping[str, bool]) -> None:
    """
    Set options of a module that may change results, some of `IN_USE`; what is not given
    stays. Raises `OpError` if the module is past the phase in which that is decided.
    """
    config = get_config(module)
    wanted = {**config.options, **options}
    if wanted == config.options:
        return
    if _is_decided(module):
        (name, *_) = (n for n in options if wanted[n] != config.options[n])
        raise OpError(
            module,
            f"expected a module before phase '{DECIDED}' to choose option '{name}', "
            f"but it is at '{config.phase}'",
        )
    said = {name: BoolAttr.from_bool(True) for name, value in wanted.items() if value}
    set_config(module, {"options": DictionaryAttr(said)})


def _is_decided(module: ModuleOp) -> bool:
    phase = get_config(module).phase
    return phase is not None and PHASES.index(phase) >= PHASES.index(DECIDED)
