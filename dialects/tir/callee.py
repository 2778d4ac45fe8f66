"""
What `tir.call` calls: kernels, and code that is emitted already.
"""

from __future__ import annotations

from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation

from transom.dialects.tir.attributes import Effect


class Callee(IRDLOperation):
    """Base of symbols that a kernel call may name; they write into arguments."""

    @property
    def argument_types(self) -> tuple[Attribute, ...]:
        """Memrefs and numbers: inputs, then outputs, then scratch."""
        raise NotImplementedError

    @property
    def argument_effects(self) -> tuple[Effect, ...]:
        """What is done with each argument."""
        raise NotImplementedError
