"""
What xDSL's ops of `linalg` take for granted: how many operands there are, that elements
are numbers, and that kinds of loops have a name.

Its classes are changed in place. Where it would fail, or read a text that is none of
`mlir-opt`'s, a `VerifyException` says what was expected.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.dialects.linalg import ops as upstream
from xdsl.dialects.linalg.abstract_ops import NamedOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Operation, Region, SSAValue
from xdsl.traits import OpTrait
from xdsl.utils.exceptions import VerifyException

from transom.dialects.linalg.structure import element_of

INPUTS: dict[type[NamedOperation], int] = {
    upstream.AddOp: 2,
    upstream.CopyOp: 1,
    upstream.ExpOp: 1,
    upstream.FillOp: 1,
    upstream.LogOp: 1,
    upstream.MaxOp: 2,
    upstream.MinOp: 2,
    upstream.MulOp: 2,
    upstream.QuantizedMatmulOp: 4,
    upstream.SelectOp: 3,
    upstream.SqrtOp: 1,
    upstream.SubOp: 2,
}
"""How many inputs each of xDSL's named ops has; all have one output."""


def check_counts(
    count: int, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]
) -> None:
    """Raise `VerifyException` unless there are so many inputs, and one output."""
    if (len(inputs), len(outputs)) != (count, 1):
        plural = "input" if count == 1 else "inputs"
        raise VerifyException(
            f"expected {count} {plural} and one output, but got {len(inputs)} and "
            f"{len(outputs)}"
        )


@dataclass(frozen=True)
class TakesInputs(OpTrait):
    """The op has so many inputs, and one output."""

    count: int

    def verify(self, op: Operation) -> None:
        assert isinstance(op, NamedOperation), "whose classes have it"
        check_counts(self.count, op.inputs, op.outputs)


def _check_before_body(op: type[NamedOperation], count: int) -> None:
    """Check the operands of an op before its body is made, which looks at each."""
    make: Any = op.get_hidden_region

    def get_hidden_region(
        cls: type[NamedOperation],
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
    ) -> Region:
        check_counts(count, inputs, outputs)
        for value in (*inputs, *outputs):
            element = element_of(value.type)
            if not isinstance(element, AnyFloat | IntegerType):
                raise VerifyException(
                    "expected elements that are integers or floats, but got "
                    f"'{element}'"
                )
        return make(inputs, outputs)

    changed: Any = op
    changed.get_hidden_region = classmethod(get_hidden_region)


def _unknown_kind(cls: type[IteratorType], value: object) -> IteratorType:
    known = ", ".join(f"'{kind.value}'" for kind in cls)
    raise VerifyException(f"unknown iterator type '{value}'; expected one of {known}")


for _op, _count in INPUTS.items():
    _op.traits.add_trait(TakesInputs(_count))
    _check_before_body(_op, _count)
_kinds: Any = IteratorType
_kinds._missing_ = classmethod(_unknown_kind)
