"""
Bodies of nests that only fold one value per point into each accumulator.

Such a fold may be done for many reduction points at once, and a sum of products of two
inputs is a contraction. Floats are then summed and multiplied up in `f64` and rounded
once; only accumulators of f32 and wider are, because a narrower one loses what a body
that is written so means to lose.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerType,
    i1,
    i8,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from transom.dialects import tir
from transom.dialects.tir.folds import fold_of
from transom.interpreters import numerics
from transom.interpreters.evaluators import Array, Binary, Unary, Value


def _same(x: Value) -> Value:
    return x


class Combination(NamedTuple):
    """An associative function of two numbers."""

    ufunc: Any
    view: Unary = _same
    """What it sees of an integer."""
    final: Binary | None = None
    """The function where `ufunc` is not exact about zeros."""

    def over(self, term: Array, axes: tuple[int, ...], keepdims: bool = False) -> Array:
        """All elements along the axes; float sums and products in `f64`."""
        if not numerics.is_float_dtype(term.dtype):
            seen = self.view(term)
            result = self.ufunc.reduce(seen, axes, dtype=seen.dtype, keepdims=keepdims)
        elif self.is_exact:
            result = self.ufunc.reduce(numerics.exact(term), axes, keepdims=keepdims)
        else:
            result = self.ufunc.reduce(term, axes, dtype=np.float64, keepdims=keepdims)
        return np.asarray(result)

    def both(self, a: Value, b: Value) -> Value:
        """
        The combination of a number of the result's type and one that may be wider, as
        the former's type.
        """
        dtype = a.dtype
        if not numerics.is_float_dtype(dtype):
            result = self.ufunc(self.view(a), self.view(b))
            return result if dtype == result.dtype else result.view(dtype)
        if self.is_exact:
            function = self.final or self.ufunc
            return function(numerics.exact(a), numerics.exact(b)).astype(dtype)
        return numerics.rounded(self.ufunc(a.astype(np.float64), b), dtype)

    @property
    def is_exact(self) -> bool:
        """Whether the result is one of the operands."""
        return self.ufunc not in (np.add, np.multiply)


ADD, MULTIPLY = Combination(np.add), Combination(np.multiply)


def _beaten(by: Any) -> Binary:
    """The second number where it beats the first one; NaN is not compared."""

    def final(a: Value, b: Value) -> Value:
        with np.errstate(invalid="ignore"):
            taken = by(b, a)
        where: Any = np.where  # whose types are told by none of the arguments
        return where(taken, b, a)

    return final


_SELECTED = {
    -np.inf: Combination(np.fmax, final=_beaten(np.greater)),
    np.inf: Combination(np.fmin, final=_beaten(np.less)),
}
"""What a comparison selects, by what any number beats."""

_FOLDS: dict[type[Operation], Combination] = {
    arith.AddfOp: ADD,
    arith.MulfOp: MULTIPLY,
    arith.AddiOp: ADD,
    arith.MuliOp: MULTIPLY,
    arith.MaximumfOp: Combination(np.maximum, final=numerics.maximum),
    arith.MinimumfOp: Combination(np.minimum, final=numerics.minimum),
    arith.MaxnumfOp: Combination(np.fmax),
    arith.MinnumfOp: Combination(np.fmin),
    arith.MaxSIOp: Combination(np.maximum),
    arith.MinSIOp: Combination(np.minimum),
    arith.MaxUIOp: Combination(np.maximum, numerics.as_unsigned),
    arith.MinUIOp: Combination(np.minimum, numerics.as_unsigned),
    arith.AndIOp: Combination(np.bitwise_and),
    arith.OrIOp: Combination(np.bitwise_or),
    arith.XOrIOp: Combination(np.bitwise_xor),
}

_LOGICAL = (arith.AndIOp, arith.OrIOp, arith.XOrIOp)


@dataclass(frozen=True)
class Fold:
    """How an accumulator takes up the product of one or two values of the body."""

    ops: tuple[Operation, ...]
    combination: Combination
    terms: tuple[SSAValue, ...]


def find_folds(nest: tir.NestOp) -> tuple[Fold, ...] | None:
    """The fold of each accumulator, or None if the body does anything else with one."""
    if not nest.body.blocks:
        return None
    folds: list[Fold] = []
    yielded = nest.yielded(nest.body)
    for accumulator, result in zip(nest.body_accumulators, yielded, strict=True):
        fold = _fold(accumulator, result)
        if fold is None:
            return None
        folds.append(fold)
    return tuple(folds)


def _fold(accumulator: BlockArgument, result: SSAValue) -> Fold | None:
    op = result.owner
    if isinstance(op, arith.SelectOp):
        return _selecting(op, accumulator)
    uses = list(accumulator.uses)
    if not isinstance(op, Operation) or len(uses) != 1 or uses[0].operation is not op:
        return None
    if len(list(result.uses)) != 1 or op.parent is not accumulator.owner:
        return None
    if isinstance(op, math.FmaOp):
        if uses[0].index != 2 or not _is_wide(result.type):
            return None
        return Fold((op,), ADD, (op.a, op.b))
    combination = _FOLDS.get(type(op))
    if combination is None or not _may_fold(op, combination, result.type):
        return None
    return Fold((op,), combination, (op.operands[1 - uses[0].index],))


def _selecting(op: arith.SelectOp, accumulator: BlockArgument) -> Fold | None:
    fold = fold_of(accumulator, op.result)
    if fold is None:
        return None
    lowest = cast("FloatAttr", fold.neutral).value.data
    return Fold(fold.ops, _SELECTED[lowest], (op.lhs,))


def _may_fold(op: Operation, combination: Combination, type: Attribute) -> bool:
    if isinstance(op, _LOGICAL):
        return True
    if isinstance(op, arith.AddfOp | arith.MulfOp):
        return _is_wide(type)
    return type != i1


def _is_wide(type: Attribute) -> bool:
    return isinstance(type, Float32Type | Float64Type)


@dataclass(frozen=True)
class Factor:
    """A factor of a contraction: an input of the nest, and how it is widened."""

    position: int
    view: Unary


def find_contraction(nest: tir.NestOp) -> tuple[Factor, Factor] | None:
    """
    The inputs whose products the only accumulator sums up, or None.

    They are floats, or bytes that are widened, whose sums are exact in `f64`.
    """
    folds = find_folds(nest)
    if folds is None or len(folds) != 1 or folds[0].combination is not ADD:
        return None
    terms: Sequence[SSAValue] = folds[0].terms
    if len(terms) == 1:
        product = terms[0].owner
        if not isinstance(product, arith.MulfOp | arith.MuliOp):
            return None
        terms = product.operands
    factors = [_factor(nest, term) for term in terms]
    a, b = factors
    return None if a is None or b is None else (a, b)


_SIGNS: dict[type[Operation], Unary] = {
    arith.ExtSIOp: numerics.as_signed,
    arith.ExtUIOp: numerics.as_unsigned,
}


def _factor(nest: tir.NestOp, value: SSAValue) -> Factor | None:
    view: Unary = _same
    owner = value.owner
    if isinstance(owner, arith.ExtFOp):
        value = owner.input
    elif isinstance(owner, arith.ExtSIOp | arith.ExtUIOp):
        view, value = _SIGNS[type(owner)], owner.input
        if value.type != i8:
            return None
    elif isinstance(value.type, IntegerType):
        return None
    ins = nest.body_ins
    if value not in ins or nest.in_accesses.data[ins.index(value)].is_indirect:
        return None
    return Factor(ins.index(value), view)
