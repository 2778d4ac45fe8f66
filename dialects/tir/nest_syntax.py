"""
Custom syntax of nests and blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from transom.dialects.tir import affine
from transom.dialects.tir.attributes import (
    AccessAttr,
    CombineKind,
    DimAttr,
    DimKind,
)
from transom.dialects.tir.schedule import ScheduleAttr

if TYPE_CHECKING:
    from transom.dialects.tir.nest import NestOp


@dataclass
class NestParts:
    """A nest as it was parsed."""

    dims: list[DimAttr]
    bounds: list[SSAValue]
    symbols: list[SSAValue]
    ins: list[SSAValue] = field(default_factory=list[SSAValue])
    in_accesses: list[AccessAttr] = field(default_factory=list[AccessAttr])
    outs: list[SSAValue] = field(default_factory=list[SSAValue])
    out_accesses: list[AccessAttr] = field(default_factory=list[AccessAttr])
    regions: list[Region] = field(default_factory=list[Region])
    schedule: ScheduleAttr | None = None
    attributes: dict[str, Attribute] = field(default_factory=dict[str, Attribute])


def parse_dims(parser: Parser) -> tuple[list[DimAttr], list[SSAValue]]:
    """`dims [parallel 64, parallel %n, reduction 128]`"""
    dims: list[DimAttr] = []
    bounds: list[SSAValue] = []

    def parse_dim() -> None:
        kind = parser.parse_str_enum(DimKind)
        operand = parser.parse_optional_unresolved_operand()
        if operand is not None:
            bounds.append(parser.resolve_operand(operand, IndexType()))
            dims.append(DimAttr(kind, None))
        else:
            dims.append(DimAttr(kind, parser.parse_integer(allow_boolean=False)))

    parser.parse_keyword("dims")
    parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_dim)
    return dims, bounds


def print_dims(
    printer: Printer, dims: Sequence[DimAttr], bounds: Sequence[SSAValue]
) -> None:
    operands = iter(bounds)

    def print_dim(dim: DimAttr) -> None:
        printer.print_string(f"{dim.kind} ")
        if dim.static_bound is None:
            printer.print_ssa_value(next(operands))
        else:
            printer.print_string(str(dim.static_bound))

    printer.print_string("dims [")
    printer.print_list(dims, print_dim)
    printer.print_string("]")


def parse_optional_index_operands(parser: Parser, keyword: str) -> list[SSAValue]:
    if parser.parse_optional_keyword(keyword) is None:
        return []
    operands = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )
    return [parser.resolve_operand(operand, IndexType()) for operand in operands]


def parse_optional_schedule(parser: Parser) -> ScheduleAttr | None:
    if parser.parse_optional_keyword("schedule") is None:
        return None
    pos = parser.pos
    schedule = parser.parse_attribute()
    if not isinstance(schedule, ScheduleAttr):
        parser.raise_error("expected '#tir.schedule<…>'", pos, parser.pos)
    return schedule


def _parse_accesses(
    parser: Parser, num_dims: int, num_symbols: int, is_out: bool
) -> tuple[list[SSAValue], list[AccessAttr]]:
    values: list[SSAValue] = []
    accesses: list[AccessAttr] = []

    def parse_indices() -> AffineMap | None:
        if parser.parse_optional_punctuation("*"):
            return None
        exprs: list[affine.AffineExpr] = []
        if parser.parse_optional_punctuation("]"):
            return AffineMap(num_dims, num_symbols, ())
        while True:
            exprs.append(affine.parse_expr(parser, num_dims, num_symbols))
            if parser.parse_optional_punctuation(",") is None:
                return AffineMap(num_dims, num_symbols, tuple(exprs))

    def parse_access() -> None:
        operand: UnresolvedOperand = parser.parse_unresolved_operand()
        parser.parse_punctuation("[")
        map = parse_indices()
        if map is None or map.results:
            parser.parse_punctuation("]")
        pad = combine = None
        if is_out:
            if parser.parse_optional_keyword("combine"):
                combine = parser.parse_str_enum(CombineKind)
        elif parser.parse_optional_keyword("pad"):
            pad = parser.parse_attribute()
        parser.parse_punctuation(":")
        values.append(parser.resolve_operand(operand, parser.parse_type()))
        accesses.append(AccessAttr(map, pad, combine))

    parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_access)
    return values, accesses


def _parse_region(parser: Parser, with_arguments: bool) -> Region:
    arguments: list[Parser.Argument] = []
    if with_arguments:
        arguments = (
            parser.parse_optional_comma_separated_list(
                parser.Delimiter.PAREN, lambda: parse_argument(parser)
            )
            or []
        )
    return parser.parse_region(arguments)


def parse_argument(parser: Parser) -> Parser.Argument:
    """`%x: f32`, with a location as `--print-debuginfo` prints it."""
    argument = parser.parse_argument()
    argument.location = parser.parse_optional_location()
    return argument


def parse_nest(parser: Parser) -> NestParts:
    dims, bounds = parse_dims(parser)
    symbols = parse_optional_index_operands(parser, "at")
    parts = NestParts(dims, bounds, symbols)
    counts = (len(dims), len(symbols))
    if parser.parse_optional_keyword("ins"):
        parts.ins, parts.in_accesses = _parse_accesses(parser, *counts, is_out=False)
    if parser.parse_optional_keyword("outs"):
        parts.outs, parts.out_accesses = _parse_accesses(parser, *counts, is_out=True)
    parts.schedule = parse_optional_schedule(parser)
    dictionary = parser.parse_optional_attr_dict_with_keyword(
        ("dims", "in_accesses", "out_accesses", "schedule", "operandSegmentSizes")
    )
    if dictionary is not None:
        parts.attributes = dict(dictionary.data)
    for name in ("init", "body"):
        present = parser.parse_optional_keyword(name) is not None
        region = _parse_region(parser, name == "body") if present else Region()
        parts.regions.append(region)
    parser.parse_keyword("finish")
    parts.regions.append(_parse_region(parser, with_arguments=True))
    return parts


def _print_accesses(
    printer: Printer,
    keyword: str,
    values: Sequence[SSAValue],
    accesses: Sequence[AccessAttr],
) -> None:
    def print_access(pair: tuple[SSAValue, AccessAttr]) -> None:
        value, access = pair
        printer.print_ssa_value(value)
        indices = (
            "*"
            if access.map is None
            else ", ".join(affine.text(expr) for expr in access.map.results)
        )
        printer.print_string(f"[{indices}]")
        if access.pad is not None:
            printer.print_string(" pad ")
            printer.print_attribute(access.pad)
        if access.combine is not None:
            printer.print_string(f" combine {access.combine}")
        printer.print_string(" : ")
        printer.print_attribute(value.type)

    if values:
        _new_line(printer)
        printer.print_string(f"{keyword}(")
        printer.print_list(zip(values, accesses, strict=True), print_access)
        printer.print_string(")")


def _new_line(printer: Printer) -> None:
    # Two levels deeper than the op, as a continued line.
    with printer.indented(), printer.indented():
        printer.print_string("\n")


def print_nest(op: NestOp, printer: Printer) -> None:
    printer.print_string(" ")
    print_dims(printer, op.dims.data, op.bounds)
    if op.symbols:
        printer.print_string(" at (")
        printer.print_list(op.symbols, printer.print_ssa_value)
        printer.print_string(")")
    _print_accesses(printer, "ins", op.ins, op.in_accesses.data)
    _print_accesses(printer, "outs", op.outs, op.out_accesses.data)
    if op.schedule is not None:
        _new_line(printer)
        printer.print_string("schedule ")
        printer.print_attribute(op.schedule)
    printer.print_op_attributes(op.attributes, print_keyword=True)
    with printer.indented():
        for name, region in zip(op.REGION_NAMES, op.regions, strict=True):
            if not region.blocks:
                continue
            printer.print_string(f"\n{name} ")
            if region.block.args:
                with printer.in_parens():
                    printer.print_list(region.block.args, printer.print_block_argument)
                printer.print_string(" ")
            printer.print_region(region, print_entry_block_args=False)
