"""
What the engines of the accelerator do: one op, on buffers in the scratchpad.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    i64,
)
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

KINDS = ("add", "fill", "gelu", "matmul", "mul", "relu", "sum")


class ReadsAndWrites(MemoryEffect):
    """Inputs are read, the output is overwritten."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        assert isinstance(op, ComputeOp), "only one op has this trait"
        reads = {EffectInstance(MemoryEffectKind.READ, value) for value in op.inputs}
        return reads | {EffectInstance(MemoryEffectKind.WRITE, op.output)}


@irdl_op_definition
class ComputeOp(IRDLOperation):
    """
    Compute `output` from some inputs, as NumPy would: `add`, `mul` and `matmul`
    broadcast, `sum` is along axes, `fill` has a value.

    ```mlir
    toy_npu.compute "sum"(%x) to %y {axes = [1]} : (memref<4x8xf32>) -> memref<4xf32>
    ```
    """

    name = "toy_npu.compute"

    kind = prop_def(StringAttr)
    axes = opt_prop_def(ArrayAttr[IntegerAttr])
    value = opt_prop_def(FloatAttr)
    inputs = var_operand_def(MemRefType)
    output = operand_def(MemRefType)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(ReadsAndWrites())

    assembly_format = (
        "$kind `` `(` $inputs `)` `to` $output attr-dict "
        "`:` `(` type($inputs) `)` `->` type($output)"
    )

    def __init__(
        self,
        kind: str,
        inputs: Sequence[SSAValue],
        output: SSAValue,
        *,
        axes: Sequence[int] | None = None,
        value: FloatAttr | None = None,
    ) -> None:
        numbers = None if axes is None else [IntegerAttr(axis, i64) for axis in axes]
        super().__init__(
            operands=[inputs, output],
            properties={
                "kind": StringAttr(kind),
                "axes": None if numbers is None else ArrayAttr(numbers),
                "value": value,
            },
        )

    @property
    def axis_numbers(self) -> tuple[int, ...]:
        """The axes that a sum is along."""
        return tuple(a.value.data for a in self.axes or ())

    def verify_(self) -> None:
        if self.kind.data not in KINDS:
            names = ", ".join(f"'{kind}'" for kind in KINDS)
            raise VerifyException(
                f"expected one of {names}, but got '{self.kind.data}'"
            )
