"""
Folds: ops whose result is a value that is there already, or a constant of one number.

A fold is exact. `x + 0.0` is not `x` for `-0.0`, and `x * 0.0` is not 0 for NaN; such
rules hold for integers only. Constants proper are folded by `graph-fold-constants`.
"""

import math
from collections.abc import Callable
from typing import Any, cast

from xdsl.dialect_interfaces.constant_materialization import (
    ConstantMaterializationInterface,
)
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerType,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects.graph.arithmetic import (
    AddOp,
    AndOp,
    DivOp,
    MaximumOp,
    MinimumOp,
    MulOp,
    OrOp,
    PowOp,
    SubOp,
    XorOp,
)
from transom.dialects.graph.constants import ConstantOp
from transom.dialects.graph.cumulative import CumulateOp
from transom.dialects.graph.desc import AnyTensor
from transom.dialects.graph.elements import is_float, is_unsigned
from transom.dialects.graph.elementwise import (
    BinaryOp,
    BitcastOp,
    CastOp,
    SelectOp,
    UnaryOp,
)
from transom.dialects.graph.functions import (
    AbsOp,
    CeilOp,
    ClampOp,
    FloorOp,
    NegOp,
    NotOp,
    ReluOp,
    RoundOp,
    SignOp,
)
from transom.dialects.graph.indexing import SliceOp
from transom.dialects.graph.marks import CopyOp, RelayoutOp
from transom.dialects.graph.movement import ConcatOp, PadOp
from transom.dialects.graph.operation import GraphOp
from transom.dialects.graph.reduction import ReduceOp
from transom.dialects.graph.reshaping import BroadcastOp, ReshapeOp, TransposeOp
from transom.dialects.graph.shapes import DYNAMIC, same

Fold = Callable[[Any], SSAValue | Attribute | None]


class GraphConstants(ConstantMaterializationInterface):
    """Makes `graph.constant` of the attributes that folds give."""

    def materialize_constant(
        self, value: Attribute, type: Attribute
    ) -> Operation | None:
        if not isinstance(value, DenseIntOrFPElementsAttr):
            return None
        elements = cast(DenseIntOrFPElementsAttr[Any], value)
        return ConstantOp(elements) if elements.type == type else None


def constant_of(value: SSAValue) -> ConstantOp | None:
    """The constant that a value is, or None."""
    owner = value.owner
    return owner if isinstance(owner, ConstantOp) else None


def splat_of(value: SSAValue) -> int | float | None:
    """The number that all elements of a value are known to be, or None."""
    constant = constant_of(value)
    if constant is None:
        return None
    data = constant.value.data.data
    element_type = constant.value.get_element_type()
    size = element_type.compile_time_size
    if not data or data != data[:size] * (len(data) // size):
        return None
    if element_type == i1:  # true is any byte but 0
        return -1 if data[0] else 0
    return cast(int | float, element_type.unpack(data[:size], 1)[0])


def _all_ones(type: Attribute) -> int:
    """The integer of a type whose bits are all 1, as constants hold it."""
    if is_unsigned(type):
        return (1 << cast(IntegerType, type).width.data) - 1
    return -1


def _is_neutral(value: SSAValue, number: int, zero_sign: float = 0.0) -> bool:
    """
    Whether all elements are this number; if it is 0 of floats, with this sign.
    """
    splat = splat_of(value)
    if splat is None or splat != number:
        return False
    if number or isinstance(splat, int) or not zero_sign:
        return True
    return math.copysign(1.0, splat) == zero_sign


def _pick(op: GraphOp, value: SSAValue) -> SSAValue | None:
    """The value in place of the result, if it has its type."""
    return value if value.type == op.results[0].type else None


def _splat(type: AnyTensor, number: int) -> Attribute | None:
    """The constant of a static integer type."""
    if DYNAMIC in type.get_shape() or is_float(type.element_type):
        return None
    return ConstantOp.splat(type, number).value


def _fold_add(op: AddOp) -> SSAValue | None:
    if _is_neutral(op.rhs, 0, -1.0):
        return _pick(op, op.lhs)
    if _is_neutral(op.lhs, 0, -1.0):
        return _pick(op, op.rhs)
    return None


def _fold_sub(op: SubOp) -> SSAValue | Attribute | None:
    if _is_neutral(op.rhs, 0, 1.0):
        return _pick(op, op.lhs)
    if op.lhs is op.rhs:
        return _splat(op.declared_type(), 0)
    return None


def _fold_mul(op: MulOp) -> SSAValue | Attribute | None:
    for value, other in ((op.rhs, op.lhs), (op.lhs, op.rhs)):
        if _is_neutral(value, 1):
            return _pick(op, other)
        if _is_neutral(value, 0):
            return _splat(op.declared_type(), 0)
    return None


def _fold_right_one(op: DivOp | PowOp) -> SSAValue | None:
    return _pick(op, op.lhs) if _is_neutral(op.rhs, 1) else None


def _fold_same_operands(op: BinaryOp) -> SSAValue | None:
    return _pick(op, op.lhs) if op.lhs is op.rhs else None


def _fold_and(op: AndOp) -> SSAValue | Attribute | None:
    ones = _all_ones(op.declared_type().element_type)
    for value, other in ((op.rhs, op.lhs), (op.lhs, op.rhs)):
        if _is_neutral(value, ones):
            return _pick(op, other)
        if _is_neutral(value, 0):
            return _splat(op.declared_type(), 0)
    return _fold_same_operands(op)


def _fold_or(op: OrOp) -> SSAValue | Attribute | None:
    ones = _all_ones(op.declared_type().element_type)
    for value, other in ((op.rhs, op.lhs), (op.lhs, op.rhs)):
        if _is_neutral(value, 0):
            return _pick(op, other)
        if _is_neutral(value, ones):
            return _splat(op.declared_type(), ones)
    return _fold_same_operands(op)


def _fold_xor(op: XorOp) -> SSAValue | Attribute | None:
    for value, other in ((op.rhs, op.lhs), (op.lhs, op.rhs)):
        if _is_neutral(value, 0):
            return _pick(op, other)
    return _splat(op.declared_type(), 0) if op.lhs is op.rhs else None


def _fold_involution(op: NegOp | NotOp) -> SSAValue | None:
    """`-(-x)` is `x`."""
    inner = op.input.owner
    return _pick(op, inner.input) if isinstance(inner, type(op)) else None


def _fold_idempotent(op: UnaryOp) -> SSAValue | None:
    """`relu(relu(x))` is `relu(x)`."""
    return _pick(op, op.input) if isinstance(op.input.owner, type(op)) else None


def _fold_rounding(op: UnaryOp) -> SSAValue | None:
    """What is an integer already is not rounded again."""
    rounded = isinstance(op.input.owner, CeilOp | FloorOp | RoundOp)
    return _pick(op, op.input) if rounded else None


def _fold_clamp(op: ClampOp) -> SSAValue | None:
    return _pick(op, op.input) if op.min is None and op.max is None else None


def _fold_same_type(op: UnaryOp | BitcastOp | CastOp | BroadcastOp) -> SSAValue | None:
    return _pick(op, op.input)


def _fold_select(op: SelectOp) -> SSAValue | None:
    if op.on_true is op.on_false:
        return _pick(op, op.on_true)
    truth = splat_of(op.cond)
    if truth is None:
        return None
    return _pick(op, op.on_true if truth else op.on_false)


def _fold_reshape(op: ReshapeOp) -> SSAValue | None:
    sizes, result = op.operand_dims(0), op.result_dims()[0]
    unchanged = len(sizes) == len(result) and all(map(same, sizes, result))
    return _pick(op, op.input) if unchanged else None


def _fold_transpose(op: TransposeOp) -> SSAValue | None:
    order = op.permutation.get_values()
    return _pick(op, op.input) if list(order) == sorted(order) else None


def _fold_concat(op: ConcatOp) -> SSAValue | None:
    return _pick(op, op.inputs[0]) if len(op.inputs) == 1 else None


def _fold_slice(op: SliceOp) -> SSAValue | None:
    whole = all(
        start == 0 and step == 1 and same(size, dim)
        for start, step, size, dim in zip(
            op.starts.get_values(),
            op.steps.get_values(),
            op.result_dims()[0],
            op.operand_dims(0),
            strict=True,
        )
    )
    return _pick(op, op.input) if whole else None


def _fold_pad(op: PadOp) -> SSAValue | None:
    padded = any(op.low.get_values()) or any(op.high.get_values())
    return None if padded else _pick(op, op.input)


def _fold_cumulate(op: CumulateOp) -> SSAValue | None:
    single = op.operand_dims(0)[op.axis.value.data] == 1 and op.exclusive is None
    return _pick(op, op.input) if single else None


def _fold_reduce(op: ReduceOp) -> SSAValue | None:
    return None if len(op.axes) else _pick(op, op.input)


FOLDS: dict[type[Operation], Fold] = {
    AbsOp: _fold_idempotent,
    AddOp: _fold_add,
    AndOp: _fold_and,
    BitcastOp: _fold_same_type,
    BroadcastOp: _fold_same_type,
    CastOp: _fold_same_type,
    CeilOp: _fold_rounding,
    ClampOp: _fold_clamp,
    ConcatOp: _fold_concat,
    CopyOp: _fold_same_type,
    CumulateOp: _fold_cumulate,
    DivOp: _fold_right_one,
    FloorOp: _fold_rounding,
    MaximumOp: _fold_same_operands,
    MinimumOp: _fold_same_operands,
    MulOp: _fold_mul,
    NegOp: _fold_involution,
    NotOp: _fold_involution,
    OrOp: _fold_or,
    PadOp: _fold_pad,
    PowOp: _fold_right_one,
    ReduceOp: _fold_reduce,
    RelayoutOp: _fold_same_type,
    ReluOp: _fold_idempotent,
    ReshapeOp: _fold_reshape,
    RoundOp: _fold_rounding,
    SelectOp: _fold_select,
    SignOp: _fold_idempotent,
    SliceOp: _fold_slice,
    SubOp: _fold_sub,
    TransposeOp: _fold_transpose,
    XorOp: _fold_xor,
}
"""The fold of each op that has one."""
