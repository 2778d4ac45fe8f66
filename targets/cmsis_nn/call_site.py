"""
Where an op of `cmsis_nn` becomes a call: its operands and result as memory, structs,
loops over pixels, and the base of the patterns.
"""

from abc import abstractmethod
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import IndexType, MemRefType, i32
from xdsl.ir import Attribute, Block, Region, SSAValue

from transom.dialects import tir
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
)
from transom.lowering.graph_to_tir.site import Site
from transom.targets.cmsis_nn import ops
from transom.targets.cmsis_nn.cores import Core
from transom.targets.cmsis_nn.structs import Structs

OpT = TypeVar("OpT", bound=ops.CmsisNnOp)

SUCCESS = 0
"""`ARM_CMSIS_NN_SUCCESS`"""


class CallSite(Site, Structs):
    """Where an op becomes a call: its operands and result as memory, and structs."""

    def __init__(
        self, op: ops.CmsisNnOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        Site.__init__(self, op, operands, rewriter)
        self._rewriter = rewriter
        self.out = self.alloc()

    def ref(self, struct: SSAValue, effect: str = "read") -> tir.Argument:
        """A struct that is passed by its address."""
        return tir.Argument(struct, effect, ref=True)

    @property
    def written(self) -> tir.Argument:
        """The result, as an argument."""
        return tir.Argument(self.out, "write")

    def call(
        self,
        name: str,
        arguments: Sequence[tir.Argument | SSAValue | int],
        has_status: bool = True,
    ) -> None:
        """Call a function; numbers are `int32_t`."""
        values = [self.number(a) if isinstance(a, int) else a for a in arguments]
        result = i32 if has_status else None
        status = SUCCESS if has_status else None
        self._rewriter.insert(tir.ExternOp(name, values, result, status))

    @contextmanager
    def loop(self, count: int) -> Generator[SSAValue]:
        """What is inserted inside runs so often, and gets the number of the run."""
        low, high, step = map(self.constant, (0, count, 1))
        block = Block(arg_types=[IndexType()])
        with self._rewriter.at_end(block):
            yield block.args[0]
            self._rewriter.insert(scf.YieldOp())
        self._rewriter.insert(scf.ForOp(low, high, step, [], Region(block)))

    def pixel(self, image: SSAValue, place: Sequence[SSAValue]) -> SSAValue:
        """The channels at a place (batch, row, column) of `[N, H, W, C]`."""
        type = cast("MemRefType[Attribute]", image.type)
        offsets = [*place, 0]
        sizes, strides = [1, 1, 1, type.get_shape()[3]], [1, 1, 1, 1]
        view = memref.SubviewOp.infer_result_type(type, offsets, sizes, strides)
        return self(memref.SubviewOp.get(image, offsets, sizes, strides, view))

    def shape_struct(self, type: Any) -> SSAValue:
        """The dims of a tensor `[N, H, W, C]`."""
        n, h, w, c = type.get_shape()
        return self.dims(n, h, w, c)


@dataclass(frozen=True)
class CallPattern(ConversionPattern[OpT], Generic[OpT]):
    """Base of patterns that make one call of an op, for a core."""

    core: Core

    def match_and_rewrite(
        self, op: OpT, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        site = CallSite(op, operands, rewriter)
        refusal = self.write(op, site)
        if refusal is None:
            site.done(site.out)
        return refusal

    @abstractmethod
    def write(self, op: OpT, site: CallSite) -> Refusal | None:
        """Write the call."""
