"""
`tir.threads`: how many threads may run the parallel loops of a kernel.
"""

from __future__ import annotations

from xdsl.dialects.builtin import I64, IntegerAttr, i64
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

THREADS = "tir.threads"
"""The discardable attribute of a `tir.func`; without it all of a kernel is serial."""


def threads_of(kernel: Operation) -> int:
    """How many threads may run a parallel loop of a kernel."""
    value = kernel.attributes.get(THREADS)
    return value.value.data if isa(value, IntegerAttr[I64]) else 1


def set_threads(kernel: Operation, threads: int) -> None:
    """Say how many threads may run a parallel loop of a kernel."""
    kernel.attributes[THREADS] = IntegerAttr(threads, i64)


def verify_threads(value: Attribute) -> None:
    """Raise `VerifyException` unless an attribute is a number of threads."""
    if not isa(value, IntegerAttr[I64]) or value.value.data < 1:
        raise VerifyException(
            f"expected an integer of at least 1 for '{THREADS}', but got '{value}'"
        )
