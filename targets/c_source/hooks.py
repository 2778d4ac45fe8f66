"""
The hooks of `c_source`: scalar loops, and C of them.
"""

from collections.abc import Mapping, Sequence
from typing import NoReturn

from xdsl.dialects.builtin import ModuleOp

from transom.dialects import tir
from transom.dialects.diagnostics import OpError
from transom.dialects.graph import WeightOp
from transom.lowering.emit_c import Options, to_c_text
from transom.passes.owned_functions import is_kernel
from transom.targets.c_source.compiled import run
from transom.targets.c_source.dialect import CSourceAttr
from transom.targets.hooks import Emitted, Reference, TargetHooks

FORMAT = "c"
"""The format of artifacts: the text of a file of C99."""


class CSourceTarget(TargetHooks[CSourceAttr]):
    """A machine that a compiler of C99 is there for."""

    attr_type = CSourceAttr

    def omits(self, target: CSourceAttr) -> frozenset[str]:
        """C has no vectors and no threads, and a library of functions."""
        return frozenset(
            {
                "lower-math-to-polynomials",
                "tir-choose-schedule",
                "tir-parallelize-nests",
            }
        )

    def pass_options(self, target: CSourceAttr) -> Mapping[str, Mapping[str, int]]:
        """Stacks are small: all buffers of kernels are planned with those of main."""
        return {"tir-lift-scratch": {"threshold": 64}}

    def emit(self, module: ModuleOp, target: CSourceAttr) -> Sequence[Emitted]:
        kernels = [
            op for op in module.body.ops if isinstance(op, tir.FuncOp) and is_kernel(op)
        ]
        text = to_c_text(
            module,
            kernels,
            no_weights,
            Options(target.index_width, target.header_names),
        )
        names = tuple(kernel.sym_name.data for kernel in kernels)
        return [Emitted(names, FORMAT, text)]

    def reference(self, target: CSourceAttr) -> Reference:
        return Reference(artifacts={FORMAT: run})


def no_weights(op: WeightOp) -> NoReturn:
    raise OpError(op, "expected kernels to get weights as arguments")
