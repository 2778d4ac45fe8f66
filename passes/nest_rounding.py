"""
Round a maximum or minimum, and not what it is taken of.

Rounding keeps the order of numbers, so that both give the same: with a relu behind a
convolution of f16 each number is rounded once and extended never.

```mlir
%r = arith.truncf %x : f32 to f16
%w = arith.extf %r : f16 to f32                  %m = arith.maximumf %x, %zero : f32
%m = arith.maximumf %w, %zero : f32       ==>    %y = arith.truncf %m : f32 to f16
%y = arith.truncf %m : f32 to f16
```
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects import tir
from transom.dialects.dtypes import numpy_dtype


def round_once(func: tir.FuncOp) -> bool:
    """
    Round maxima and minima of a kernel once; what is left unused stays. Gives whether
    there were any.
    """
    changed = False
    for op in [op for op in func.walk() if isinstance(op, arith.TruncFOp)]:
        found = _unrounded(op.input, op.result.type)
        if found is None or op.parent is None:
            continue
        value, new = found
        for made in new:
            made.location = op.location
        op.parent.insert_ops_before(new, op)
        op.operands[0] = value
        changed = True
    return changed


def _unrounded(
    value: SSAValue, type: Attribute
) -> tuple[SSAValue, Sequence[Operation]] | None:
    """A value without the roundings to a type in front of it, and the ops for that."""
    op = value.owner
    if isinstance(op, arith.ExtFOp):
        inner = op.input.owner
        if isinstance(inner, arith.TruncFOp) and op.input.type == type:
            return (inner.input, ()) if inner.input.type == value.type else None
        return None
    if not isinstance(op, arith.MaximumfOp | arith.MinimumfOp):
        return None
    if not value.has_one_use():
        return None  # it is needed as it is
    parts = [_unrounded(operand, type) for operand in op.operands]
    if not any(parts):
        return None
    operands: list[SSAValue] = []
    made: list[Operation] = []
    for operand, part in zip(op.operands, parts, strict=True):
        if part is not None:
            operands.append(part[0])
            made += part[1]
        elif _is_round(operand, type):
            operands.append(operand)
        else:
            return None
    new = op.__class__.create(
        operands=operands,
        result_types=op.result_types,
        properties=dict(op.properties),
    )
    return new.results[0], [*made, new]


def _is_round(value: SSAValue, type: Attribute) -> bool:
    """Whether a value is one that rounding to a type leaves as it is."""
    op = value.owner
    if isinstance(op, arith.ExtFOp):
        return op.input.type == type
    if not isinstance(op, arith.ConstantOp) or not isinstance(op.value, FloatAttr):
        return False
    number = op.value.value.data
    with np.errstate(all="ignore"):
        return float(np.float64(number).astype(numpy_dtype(type))) == number
