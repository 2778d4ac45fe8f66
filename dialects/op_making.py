"""
Ops as lowerings make them by the thousand.

`Operation.create` of xDSL sets operands and successors as if the op had some before,
and asks the definition of the class for defaults each time: half of the time that it
takes to make an op.
"""

# pyright: reportPrivateUsage=false
# The fields of an op are set as `Operation.__init__` of xDSL sets them.

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TypeVar

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue, Use
from xdsl.ir.core import SSAValues
from xdsl.irdl import IRDLOperation, OptionalDef

OpT = TypeVar("OpT", bound=Operation)

_NOTHING: Mapping[str, Attribute] = {}


def make_op(
    kind: type[OpT],
    operands: Iterable[SSAValue] = (),
    result_types: Iterable[Attribute] = (),
    properties: Mapping[str, Attribute] = _NOTHING,
    *,
    successors: Sequence[Block] = (),
) -> OpT:
    """A new op, as `kind.create` makes it: with defaults, and without checks."""
    op = kind.__new__(kind)
    op._operands = values = SSAValues(operands)
    op._operand_uses = uses = tuple([Use(op, index) for index in range(len(values))])
    for value, use in zip(values, uses, strict=True):
        value.add_use(use)
    op.results = SSAValues(
        [OpResult(type, op, index) for index, type in enumerate(result_types)]
    )
    default_properties, default_attributes = _defaults(kind)
    op.properties = own = dict(properties)
    for name, default in default_properties:
        own.setdefault(name, default)
    op.attributes = dict(default_attributes)
    op.location = UNKNOWN_LOC
    if successors:
        op.successors = successors
    return op


Defaults = tuple[tuple[str, Attribute], ...]


@cache
def _defaults(kind: type[Operation]) -> tuple[Defaults, Defaults]:
    """The properties and attributes that ops of a class have by default."""
    if not issubclass(kind, IRDLOperation):
        return (), ()
    definition = kind.get_irdl_definition()
    properties, attributes = (
        tuple(
            (name, part.default_value)
            for name, part in parts.items()
            if not isinstance(part, OptionalDef) and part.default_value is not None
        )
        for parts in (definition.properties, definition.attributes)
    )
    return properties, attributes
