"""
What passes propose that a place takes together, before places are chosen.
"""

import math
from collections.abc import Mapping
from typing import ClassVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    Float64Type,
    FloatAttr,
    StringAttr,
    UnitAttr,
    f64,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import base, irdl_attr_definition, param_def
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from transom.dialects.keyed_syntax import KeyedAttr
from transom.dialects.target.places import PlaceAttr

CANDIDATES = "target.candidates"
"""On an op: the candidates that it is a part of, a list."""

ABSENT = UnitAttr()
"""The value of a key that was left out."""


@irdl_attr_definition
class CandidateAttr(KeyedAttr):
    """
    A proposal that a place takes some ops together: those of a block that have a
    candidate of this name. Under a `label` they become a `graph.composite`. `seconds`
    is what they cost, if that is known; `required` leaves no choice.

    ```mlir
    #target.candidate<name = "c0", place = #target.place<@npu, ?, ?>,
                      label = "acme.mac", seconds = 1.0e-06 : f64>
    ```
    """

    name = "target.candidate"

    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {
        "label": ABSENT,
        "seconds": ABSENT,
        "required": BoolAttr.from_bool(False),
    }

    name_attr: StringAttr = param_def(base(StringAttr))
    place: PlaceAttr = param_def(base(PlaceAttr))
    label_attr: Attribute = param_def(base(StringAttr) | base(UnitAttr))
    seconds_attr: Attribute = param_def(base(FloatAttr[Float64Type]) | base(UnitAttr))
    required_attr: BoolAttr = param_def(base(BoolAttr))

    @classmethod
    def get(
        cls,
        name: str,
        place: PlaceAttr,
        label: str | None = None,
        seconds: float | None = None,
        required: bool = False,
    ) -> "CandidateAttr":
        """The candidate of this name. Raises `VerifyException` for a wrong cost."""
        return CandidateAttr(
            StringAttr(name),
            place,
            ABSENT if label is None else StringAttr(label),
            ABSENT if seconds is None else FloatAttr(seconds, f64),
            BoolAttr.from_bool(required),
        )

    @property
    def label(self) -> str | None:
        """The label of the composite, if it becomes one."""
        label = self.label_attr
        return label.data if isinstance(label, StringAttr) else None

    @property
    def seconds(self) -> float | None:
        """The time of one execution; None if it is not known."""
        seconds = self.seconds_attr
        return seconds.value.data if isinstance(seconds, FloatAttr) else None

    @property
    def is_required(self) -> bool:
        """Whether nothing else may be chosen for the ops."""
        return bool(self.required_attr.value.data)

    def verify(self) -> None:
        seconds = self.seconds
        if seconds is not None and not (math.isfinite(seconds) and seconds >= 0):
            raise VerifyException(f"expected seconds >= 0, but got {seconds}")


def candidates_of(op: Operation) -> tuple[CandidateAttr, ...]:
    """The candidates that an op is a part of."""
    found = op.attributes.get(CANDIDATES)
    return found.data if isa(found, ArrayAttr[CandidateAttr]) else ()
