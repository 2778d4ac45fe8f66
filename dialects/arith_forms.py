"""
Forms of `arith` that xDSL 0.75 lacks, as in MLIR; active once this is imported.

Comparisons, `select`, `index_cast` and the casts of integers work on vectors lane by
lane:

```mlir
func.func @larger(%a: vector<4xi8>, %b: vector<4xi32>) {
  %w = arith.extsi %a : vector<4xi8> to vector<4xi32>
  %c = arith.cmpi sgt, %w, %b : vector<4xi32>
  %y = arith.select %c, %w, %b : vector<4xi1>, vector<4xi32>
  func.return
}
```

`extsi` and `remui` have no effects. xDSL's classes are changed in place, and only take
more than before, so that `isinstance` and patterns of others see one class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    VectorType,
    container_of,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import AttrConstraint, IRDLOperation
from xdsl.irdl.operations import OperandDef, ResultDef, get_accessors_from_op_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoMemoryEffect
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.type import get_element_type_or_self, have_compatible_shape

_INTEGER = container_of(IntegerType)
_INTEGER_OR_INDEX = container_of(IntegerType | IndexType)
_FLOAT = container_of(AnyFloat)
_BOOL = container_of(IntegerType(1))

_Verify = Callable[[Any], None]


def _widen(
    op: type[IRDLOperation],
    operands: dict[str, AttrConstraint],
    results: dict[str, AttrConstraint],
    verify: _Verify,
) -> None:
    """Replace constraints of operands and results, and what else is verified."""
    definition = op.get_irdl_definition()
    definition = replace(
        definition,
        # Formats that name the types of all operands and results stay right.
        assembly_format=None,
        operands=[
            (name, OperandDef(operands[name]) if name in operands else old)
            for name, old in definition.operands
        ],
        results=[
            (name, ResultDef(results[name]) if name in results else old)
            for name, old in definition.results
        ],
    )
    accessors = get_accessors_from_op_def(definition, verify)
    for name, value in accessors.items():
        _set(op, name, value)


def _set(op: type[IRDLOperation], name: str, value: object) -> None:
    setattr(op, name, value)


def _verify_shapes(op: Operation) -> tuple[Attribute, Attribute]:
    """The elements of operand and result, whose shapes agree."""
    source, result = op.operands[0].type, op.results[0].type
    if not have_compatible_shape(source, result):
        raise VerifyException(
            f"expected equal shapes, but got '{source}' and '{result}'"
        )
    return get_element_type_or_self(source), get_element_type_or_self(result)


def _verify_cast(op: Operation) -> None:
    _verify_shapes(op)


def _verify_index_cast(op: Operation) -> None:
    source, result = _verify_shapes(op)
    if isinstance(source, IndexType) == isinstance(result, IndexType):
        raise VerifyException(
            f"expected a cast between index and integer, but got '{source}' and "
            f"'{result}'"
        )


def _width_of(element: Attribute) -> int:
    assert isinstance(element, IntegerType), "constraints say so"
    return cast(IntegerType, element).width.data


def _verify_widening(op: Operation) -> None:
    source, result = _verify_shapes(op)
    if not _width_of(source) < _width_of(result):
        raise VerifyException(
            f"expected a wider result, but got '{source}' and '{result}'"
        )


def _verify_narrowing(op: Operation) -> None:
    source, result = _verify_shapes(op)
    if not _width_of(source) > _width_of(result):
        raise VerifyException(
            f"expected a narrower result, but got '{source}' and '{result}'"
        )


def _verify_select(op: arith.SelectOp) -> None:
    condition = op.cond.type
    if condition != i1 and not have_compatible_shape(condition, op.result.type):
        raise VerifyException(
            f"expected a condition for each element of '{op.result.type}', but got "
            f"'{condition}'"
        )


def _print_select(op: arith.SelectOp, printer: Printer) -> None:
    printer.print_string(" ")
    printer.print_list(op.operands, printer.print_ssa_value)
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    condition = op.cond.type
    if condition != i1:
        printer.print_attribute(condition)
        printer.print_string(", ")
    printer.print_attribute(op.result.type)


def _parse_select(cls: type[arith.SelectOp], parser: Parser) -> arith.SelectOp:
    operands = [parser.parse_unresolved_operand()]
    for _ in range(2):
        parser.parse_punctuation(",")
        operands.append(parser.parse_unresolved_operand())
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    type: Attribute = parser.parse_type()
    condition: Attribute = i1
    if parser.parse_optional_punctuation(","):
        condition, type = type, parser.parse_type()
    types = (condition, type, type)
    values = [
        parser.resolve_operand(o, t) for o, t in zip(operands, types, strict=True)
    ]
    return cls.create(operands=values, result_types=[type], attributes=attributes)


_Comparison = arith.CmpiOp | arith.CmpfOp


def _verify_compare(op: _Comparison) -> None:
    expected = _condition_type(op.lhs.type)
    if op.lhs.type != op.rhs.type or op.result.type != expected:
        raise VerifyException(
            f"expected operands of one type and a result '{expected}', but got "
            f"'{op.lhs.type}', '{op.rhs.type}' and '{op.result.type}'"
        )


def _condition_type(type: Attribute) -> Attribute:
    """`i1`, or the container of it of equal shape."""
    match type:
        case VectorType():
            return VectorType(i1, type.shape, type.scalable_dims)
        case TensorType():
            return TensorType(i1, type.get_shape(), type.encoding)
        case _:
            return i1


def _init_cmpi(
    self: arith.CmpiOp,
    operand1: Operation | SSAValue,
    operand2: Operation | SSAValue,
    arg: int | str,
) -> None:
    _init_compare(self, (operand1, operand2), arg, _CMPI, {})


def _init_cmpf(
    self: arith.CmpfOp,
    operand1: Operation | SSAValue,
    operand2: Operation | SSAValue,
    arg: int | str,
    fastmath: arith.FastMathFlagsAttr = arith.FastMathFlagsAttr("none"),  # noqa: B008
) -> None:
    _init_compare(self, (operand1, operand2), arg, _CMPF, {"fastmath": fastmath})


_CMPI = tuple(arith.CMPI_COMPARISON_OPERATIONS)
_CMPF = tuple(arith.CMPF_COMPARISON_OPERATIONS)


def _init_compare(
    op: _Comparison,
    operands: tuple[Operation | SSAValue, Operation | SSAValue],
    predicate: int | str,
    predicates: tuple[str, ...],
    properties: dict[str, Attribute],
) -> None:
    lhs, rhs = map(SSAValue.get, operands)
    if isinstance(predicate, str):
        if predicate not in predicates:
            raise VerifyException(
                f"unknown predicate '{predicate}'; expected one of "
                f"{', '.join(predicates)}"
            )
        predicate = predicates.index(predicate)
    IRDLOperation.__init__(
        op,
        operands=[lhs, rhs],
        result_types=[_condition_type(lhs.type)],
        properties={"predicate": IntegerAttr(predicate, 64), **properties},
    )


def _install() -> None:
    _widen(arith.SelectOp, {"cond": _BOOL}, {}, _verify_select)
    for op, init in ((arith.CmpiOp, _init_cmpi), (arith.CmpfOp, _init_cmpf)):
        _widen(op, {}, {"result": _BOOL}, _verify_compare)
        _set(op, "__init__", init)
    _set(arith.SelectOp, "parse", classmethod(_parse_select))
    _set(arith.SelectOp, "print", _print_select)
    casts: tuple[
        tuple[type[IRDLOperation], AttrConstraint, AttrConstraint, _Verify], ...
    ] = (
        (arith.IndexCastOp, _INTEGER_OR_INDEX, _INTEGER_OR_INDEX, _verify_index_cast),
        (arith.ExtSIOp, _INTEGER, _INTEGER, _verify_widening),
        (arith.ExtUIOp, _INTEGER, _INTEGER, _verify_widening),
        (arith.TruncIOp, _INTEGER, _INTEGER, _verify_narrowing),
        (arith.SIToFPOp, _INTEGER, _FLOAT, _verify_cast),
        (arith.UIToFPOp, _INTEGER, _FLOAT, _verify_cast),
        (arith.FPToSIOp, _FLOAT, _INTEGER, _verify_cast),
        (arith.FPToUIOp, _FLOAT, _INTEGER, _verify_cast),
    )
    for op, source, result, verify in casts:
        _widen(op, {"input": source}, {"result": result}, verify)
    for op in (arith.ExtSIOp, arith.RemUIOp):
        if not op.has_trait(NoMemoryEffect):
            op.traits.add_trait(NoMemoryEffect())


_install()

Arith = arith.Arith
"""xDSL's dialect, with these forms."""
