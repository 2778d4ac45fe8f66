"""
Bodies of one op, written in short: `linalg.map { arith.addf } …`.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import IRDLOperation, VarOperandDef, VarResultDef
from xdsl.parser import Parser
from xdsl.printer import Printer


class ShortBody(NamedTuple):
    """The only op of a body as it was written, and where."""

    name: str
    attributes: dict[str, Attribute]
    start: int
    end: int


def parse_optional_short_body(parser: Parser) -> ShortBody | None:
    if not parser.parse_optional_punctuation("{"):
        return None
    start = parser.pos
    name, end = parser.parse_identifier(), parser.pos
    short = ShortBody(name, parser.parse_optional_attr_dict(), start, end)
    parser.parse_punctuation("}")
    return short


def body_of(
    parser: Parser,
    short: ShortBody,
    block: Block,
    operands: Sequence[SSAValue],
    result: Attribute,
) -> Region:
    """A body of an empty block, filled with the op on these operands."""
    name, attributes = short.name, short.attributes
    op_class = parser.ctx.get_optional_op(name)
    if op_class is None or not issubclass(op_class, IRDLOperation):
        parser.raise_error(f"unknown op '{name}'", short.start, short.end)
    known = op_class.get_irdl_definition().properties
    try:
        op = op_class.build(
            operands=operands,
            result_types=[result],
            properties={k: v for k, v in attributes.items() if k in known},
            attributes={k: v for k, v in attributes.items() if k not in known},
        )
    except ValueError as e:
        reason = f"expected an op that can be the body, but got '{name}': {e}"
        parser.raise_error(reason, short.start, short.end)
    block.add_ops([op, YieldOp(*op.results)])
    return Region(block)


def short_op(
    block: Block, operands: Sequence[SSAValue], result: Attribute
) -> IRDLOperation | None:
    """The op of a body that `body_of` would make of it."""
    ops = tuple(block.ops)
    if len(ops) != 2:
        return None
    op, last = ops
    if (
        not isinstance(op, IRDLOperation)
        or _is_variadic(op)
        or op.regions
        or op.successors
        or tuple(op.operands) != tuple(operands)
        or tuple(op.result_types) != (result,)
        or tuple(last.operands) != tuple(op.results)
    ):
        return None
    return op


def _is_variadic(op: IRDLOperation) -> bool:
    """Whether operands or results come in groups, which the short form lacks."""
    definition = op.get_irdl_definition()
    return any(
        isinstance(own, VarOperandDef | VarResultDef)
        for _, own in (*definition.operands, *definition.results)
    )


def print_short_body(printer: Printer, op: IRDLOperation) -> None:
    printer.print_string(f" {{ {op.name}")
    printer.print_op_attributes(_without_defaults(op))
    printer.print_string(" }")


def _without_defaults(op: IRDLOperation) -> Mapping[str, Attribute]:
    """The attributes and properties of an op but those that it has by default."""
    known = op.get_irdl_definition().properties
    said = {k: v for k, v in op.properties.items() if v != known[k].default_value}
    return {**said, **op.attributes}
