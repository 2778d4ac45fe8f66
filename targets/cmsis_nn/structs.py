"""
The structs of CMSIS-NN 7 (`arm_nn_types.h`), whose fields are all `int32_t` but for
addresses. Offsets follow from the data layout of whatever machine code is made for.
"""

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, MemRefType, i8, i32
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects import tir
from transom.lowering.conversion import ConversionRewriter

Field = int | SSAValue

SCRATCH_ALIGNMENT = 16
"""Of scratch memory in bytes: that of a vector of MVE."""


class Structs:
    """Makes structs, and the numbers in them, in a kernel."""

    def __init__(self, rewriter: ConversionRewriter) -> None:
        self._rewriter = rewriter

    def __call__(self, op: Operation) -> SSAValue:
        """Insert an op and give its first result."""
        return self._rewriter.insert(op).results[0]

    def number(self, value: int) -> SSAValue:
        """An `int32_t`."""
        return self(arith.ConstantOp(IntegerAttr(value, i32)))

    def struct(self, name: str, fields: Sequence[Field]) -> SSAValue:
        """`cmsis_nn_<name>` with these fields in order."""
        values = [self.number(f) if isinstance(f, int) else f for f in fields]
        types: list[Attribute] = [value.type for value in values]
        type = tir.StructType.get(f"cmsis_nn_{name}", types)
        return self(tir.StructOp(values, type))

    def tile(self, height: int, width: int) -> SSAValue:
        """The width comes first."""
        return self.struct("tile", (width, height))

    def dims(self, n: int, h: int, w: int, c: int) -> SSAValue:
        return self.struct("dims", (n, h, w, c))

    def activation(self, least: int, most: int) -> SSAValue:
        return self.struct("activation", (least, most))

    def scratch(self, size: int, element: Attribute = i8) -> SSAValue:
        """
        Memory of so many elements, which is planned as any other. It is an address also
        where nothing is needed.
        """
        alloc = tir.AllocOp(
            MemRefType(element, [size]), (), alignment=SCRATCH_ALIGNMENT
        )
        return self(alloc)

    def context(self, buffer: SSAValue, size: int) -> SSAValue:
        """What a function may use as scratch: an address, and bytes."""
        return self.struct("context", (buffer, size))
