"""
Sums of products of neighbouring integers, several for each lane of a vector, and the
nests that are made of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    IntegerType,
    StringAttr,
    UnitAttr,
    VectorType,
    i8,
    i16,
    i32,
)
from xdsl.ir import Attribute, BlockArgument, OpResult, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from transom.dialects.tir.nest import NestOp


class DotInstructions(StrEnum):
    """What instructions a CPU has for dot products."""

    NONE = "none"
    PAIRS = "pairs"
    """Two i16 (x86 `vpmaddwd`)."""
    VNNI = "vnni"
    """Also four bytes, those of one operand unsigned (x86 `vpdpbusd`)."""
    DOTPROD = "dotprod"
    """Four bytes of equal signs (AArch64 `sdot`, `udot`)."""
    I8MM = "i8mm"
    """Four bytes (AArch64 `sdot`, `udot`, `usdot`)."""

    def takes_bytes(self, first_unsigned: bool, second_unsigned: bool) -> bool:
        """Whether there is one for four bytes of these signs."""
        match self:
            case DotInstructions.VNNI:
                return first_unsigned != second_unsigned
            case DotInstructions.DOTPROD:
                return first_unsigned == second_unsigned
            case _:
                return self is DotInstructions.I8MM

    @property
    def takes_pairs(self) -> bool:
        """Whether there is one for two i16."""
        return self in (DotInstructions.PAIRS, DotInstructions.VNNI)


GROUPS: Mapping[Attribute, int] = {i8: 4, i16: 2}
"""How many elements of a type there are for a lane of 32 bits."""


@irdl_op_definition
class DotOp(IRDLOperation):
    """
    In each lane, the accumulator plus the sum of products of the numbers that the
    operands have for that lane: four bytes or two i16, each of them signed unless it is
    said that they are not. A `lhs` of one dimension is the same for all lanes. The sum
    wraps. `using` names the instructions for it that the CPU has.

    ```mlir
    func.func @sum(%acc: vector<16xi32>, %a: vector<4xi8>, %b: vector<16x4xi8>) -> vector<16xi32> {
      %sum = tir.dot %acc, %a, %b lhs_unsigned using "vnni" : vector<16xi32>, vector<4xi8>, vector<16x4xi8>
      func.return %sum : vector<16xi32>
    }
    ```
    """  # noqa: E501

    T: ClassVar = VarConstraint("T", base(VectorType))

    name = "tir.dot"

    accumulator = operand_def(T)
    lhs = operand_def(VectorType)
    rhs = operand_def(VectorType)
    lhs_unsigned = opt_prop_def(UnitAttr)
    rhs_unsigned = opt_prop_def(UnitAttr)
    instructions = opt_prop_def(StringAttr)
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = (
        "$accumulator `,` $lhs `,` $rhs (`lhs_unsigned` $lhs_unsigned^)? "
        "(`rhs_unsigned` $rhs_unsigned^)? (`using` $instructions^)? attr-dict "
        "`:` type($accumulator) `,` type($lhs) `,` type($rhs)"
    )

    def __init__(
        self,
        accumulator: SSAValue,
        lhs: SSAValue,
        rhs: SSAValue,
        *,
        lhs_unsigned: bool = False,
        rhs_unsigned: bool = False,
        using: DotInstructions = DotInstructions.NONE,
    ) -> None:
        has_none = using is DotInstructions.NONE
        super().__init__(
            operands=[accumulator, lhs, rhs],
            result_types=[accumulator.type],
            properties={
                "lhs_unsigned": UnitAttr() if lhs_unsigned else None,
                "rhs_unsigned": UnitAttr() if rhs_unsigned else None,
                "instructions": None if has_none else StringAttr(using),
            },
        )

    @property
    def using(self) -> DotInstructions:
        """Which instructions the CPU has."""
        if self.instructions is None:
            return DotInstructions.NONE
        return DotInstructions(self.instructions.data)

    @property
    def lanes(self) -> int:
        return vector_of(self.accumulator).element_count()

    @property
    def group(self) -> int:
        """How many products there are for each lane."""
        return vector_of(self.rhs).get_shape()[-1]

    def verify_(self) -> None:
        total, lhs, rhs = map(vector_of, self.operands)
        if total.element_type != i32 or len(total.get_shape()) != 1:
            raise VerifyException(
                f"expected an accumulator of one dimension of i32, but got '{total}'"
            )
        group = GROUPS.get(rhs.element_type)
        if group is None:
            raise VerifyException(
                f"expected 'rhs' of i8 or i16, but got '{rhs.element_type}'"
            )
        lanes = self.lanes
        wanted = VectorType(rhs.element_type, [lanes, group])
        if rhs != wanted:
            raise VerifyException(f"expected 'rhs' of type '{wanted}', but got '{rhs}'")
        shared = VectorType(rhs.element_type, [group])
        if lhs not in (wanted, shared):
            raise VerifyException(
                f"expected 'lhs' of type '{shared}' or '{wanted}', but got '{lhs}'"
            )
        if self.instructions is not None:
            known = [str(kind) for kind in DotInstructions]
            if self.instructions.data not in known:
                raise VerifyException(
                    f"unknown instructions {self.instructions}; expected one of "
                    f"{', '.join(known)}"
                )
        is_unsigned = self.lhs_unsigned is not None or self.rhs_unsigned is not None
        if is_unsigned and rhs.element_type != i8:
            raise VerifyException("expected i16 to be signed")


def vector_of(value: SSAValue) -> VectorType:
    """The type of a value that is known to be a vector."""
    return cast(VectorType, value.type)


# Nests.


@dataclass(frozen=True)
class DotFactor:
    """An input of a nest whose integers are multiplied."""

    position: int
    element: IntegerType
    is_unsigned: bool


def dot_factors(nest: NestOp) -> tuple[DotFactor, DotFactor] | None:
    """
    The two inputs of a nest whose `body` adds their product, of i8 or i16, to an i32;
    None for another nest.
    """
    accumulators = nest.body_accumulators
    if len(accumulators) != 1 or accumulators[0].type != i32:
        return None
    (total,) = nest.yielded(nest.body)
    if not isinstance(total, OpResult) or not isinstance(total.op, arith.AddiOp):
        return None
    parts = [value for value in total.op.operands if value is not accumulators[0]]
    if len(parts) != 1 or not isinstance(parts[0].owner, arith.MuliOp):
        return None
    factors = [_factor(nest, value) for value in parts[0].owner.operands]
    first, second = factors
    if first is None or second is None or first.position == second.position:
        return None
    return first, second


def _factor(nest: NestOp, value: SSAValue) -> DotFactor | None:
    """An input that a value is extended from."""
    op = value.owner
    if not isinstance(op, arith.ExtSIOp | arith.ExtUIOp):
        return None
    source, is_unsigned = op.input, isinstance(op, arith.ExtUIOp)
    if not isinstance(source, BlockArgument) or source not in nest.body_ins:
        return None
    if source.type not in GROUPS or (source.type == i16 and is_unsigned):
        return None
    position = nest.body_ins.index(source)
    return DotFactor(position, cast(IntegerType, source.type), is_unsigned)
