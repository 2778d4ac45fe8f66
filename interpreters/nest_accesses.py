"""
How a nest reaches elements: strided views of buffers, or arrays of indices.

The variables of an access are the dims of the nest and, in a block whose points are
evaluated at once, those of the block. An access whose indices are linear in them is a
strided view with an axis for each variable; any other is read with index arrays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from transom.interpreters.evaluators import Array, Value
from transom.interpreters.indexing import check_indices, is_inside
from transom.interpreters.numerics import where

MAX_PADDING = 1 << 22
"""Elements that a padded copy of a buffer may add to twice its own."""

Linear = tuple[int, dict[int, int]]
"""A constant, and the coefficient of each variable."""


@dataclass(frozen=True)
class Variables:
    """
    The variables of the accesses of a nest: its dims, then the axes of the batch.

    A symbol is a number or one of the variables.
    """

    extents: tuple[int, ...]
    symbols: tuple["int | Variable", ...]


@dataclass(frozen=True)
class Variable:
    """A variable that a symbol stands for."""

    position: int


def linear(expr: AffineExpr, variables: Variables) -> Linear | None:
    """The expression as a linear form, or None if it is none."""
    match expr:
        case AffineConstantExpr(value):
            return value, {}
        case AffineDimExpr(position):
            return 0, {position: 1}
        case AffineSymExpr(position):
            symbol = variables.symbols[position]
            return (
                (0, {symbol.position: 1})
                if isinstance(symbol, Variable)
                else (
                    symbol,
                    {},
                )
            )
        case AffineBinaryOpExpr(kind, lhs, rhs):
            a, b = linear(lhs, variables), linear(rhs, variables)
            return None if a is None or b is None else _combined(kind, a, b)
        case _:
            raise ValueError(f"expected an affine expression, but got '{expr}'")


def _combined(kind: AffineBinaryOpKind, a: Linear, b: Linear) -> Linear | None:
    if kind is AffineBinaryOpKind.Add:
        keys = a[1] | b[1]
        return a[0] + b[0], {k: a[1].get(k, 0) + b[1].get(k, 0) for k in keys}
    if kind is AffineBinaryOpKind.Mul:
        if a[1] and b[1]:
            return None
        form, factor = (b, a[0]) if b[1] else (a, b[0])
        return form[0] * factor, {k: v * factor for k, v in form[1].items()}
    if a[1] or b[1]:
        return None
    return int(_divided(kind, a[0], b[0])), {}


def _divided(kind: AffineBinaryOpKind, a: Value, b: Value) -> Value:
    if np.any(np.asarray(b) <= 0):
        raise ValueError("expected a divisor > 0")
    if kind is AffineBinaryOpKind.FloorDiv:
        return a // b
    return a % b if kind is AffineBinaryOpKind.Mod else -(-a // b)


def evaluated(expr: AffineExpr, at: Sequence[Value], variables: Variables) -> Value:
    """The value of an expression where the variables have these values."""
    match expr:
        case AffineConstantExpr(value):
            return np.int64(value)
        case AffineDimExpr(position):
            return at[position]
        case AffineSymExpr(position):
            symbol = variables.symbols[position]
            if isinstance(symbol, Variable):
                return at[symbol.position]
            return np.int64(symbol)
        case AffineBinaryOpExpr(kind, lhs, rhs):
            a, b = evaluated(lhs, at, variables), evaluated(rhs, at, variables)
            if kind is AffineBinaryOpKind.Add:
                return a + b
            return a * b if kind is AffineBinaryOpKind.Mul else _divided(kind, a, b)
        case _:
            raise ValueError(f"expected an affine expression, but got '{expr}'")


@dataclass(frozen=True)
class Access:
    """An access of a nest to a buffer."""

    array: Array
    exprs: tuple[AffineExpr, ...]
    variables: Variables
    pad: Value | None = None

    def strided(self, order: Sequence[int], overlaps: bool = False) -> Array | None:
        """
        A view with the variables as axes in this order; one that the access does not
        use has size 1.

        None if there is no such view. With `overlaps` a padded copy, which would not
        see later writes, is none either. Raises IndexError if the access leaves the
        buffer.
        """
        forms = [linear(expr, self.variables) for expr in self.exprs]
        known = [form for form in forms if form is not None]
        if len(known) < len(forms):
            return None
        array = self.array
        lows = [self._range(form)[0] for form in known]
        highs = [self._range(form)[1] for form in known]
        shift = [0] * array.ndim
        if not (is_inside(lows, array.shape) and is_inside(highs, array.shape)):
            if self.pad is None:
                check_indices(lows, array.shape)
                check_indices(highs, array.shape)
            shift = [max(0, -low) for low in lows]
            behind = [
                max(0, high - n + 1) for high, n in zip(highs, array.shape, strict=True)
            ]
            padded = _padded(array, shift, behind, self.pad)
            if padded is None or overlaps:
                return None
            array = padded
        return self._view(array, known, shift, order)

    def _range(self, form: Linear) -> tuple[int, int]:
        """The least and the largest value; both are reached."""
        low = high = form[0]
        for variable, coefficient in form[1].items():
            reach = coefficient * (self.variables.extents[variable] - 1)
            low, high = low + min(reach, 0), high + max(reach, 0)
        return low, high

    def _view(
        self,
        array: Array,
        forms: Sequence[Linear],
        shift: Sequence[int],
        order: Sequence[int],
    ) -> Array:
        first = tuple(
            slice(form[0] + s, form[0] + s + 1)
            for form, s in zip(forms, shift, strict=True)
        )
        used = {v for _, coefficients in forms for v, c in coefficients.items() if c}
        shape = [self.variables.extents[v] if v in used else 1 for v in order]
        strides = [
            sum(f[1].get(v, 0) * s for f, s in zip(forms, array.strides, strict=True))
            for v in order
        ]
        return np.lib.stride_tricks.as_strided(array[(*first, ...)], shape, strides)

    def indices(self, at: Sequence[Value]) -> tuple[Array, ...]:
        """The indices where the variables have these values, not checked."""
        values = [evaluated(expr, at, self.variables) for expr in self.exprs]
        return tuple(np.broadcast_arrays(*values)) if values else ()

    def gathered(self, at: Sequence[Value]) -> Value:
        """
        The elements where the variables have these values.

        Raises IndexError for one outside the buffer, unless the access is padded.
        """
        indices = self.indices(at)
        outside = np.zeros(np.shape(indices[0]) if indices else (), np.bool_)
        for index, extent in zip(indices, self.array.shape, strict=True):
            outside |= (index < 0) | (index >= extent)
        if not outside.any():
            return self.array[indices]
        if self.pad is None:
            first = np.unravel_index(np.argmax(outside), outside.shape)
            check_indices([int(index[first]) for index in indices], self.array.shape)
        if self.array.size == 0:
            return np.full(outside.shape, self.pad, self.array.dtype)
        safe = tuple(where(outside, 0, index) for index in indices)
        return where(outside, self.pad, self.array[safe])


def _padded(
    array: Array, before: Sequence[int], behind: Sequence[int], pad: Any
) -> Array | None:
    """A copy with more elements around, or None if those are too many."""
    shape = [sum(n) for n in zip(before, array.shape, behind, strict=True)]
    size = 1
    for extent in shape:
        size *= extent
    if size > 2 * array.size + MAX_PADDING:
        return None
    padded = np.full(shape, pad, array.dtype)
    inner = zip(before, array.shape, strict=True)
    padded[tuple(slice(low, low + n) for low, n in inner)] = array
    return padded


def picked(view: Array, picks: Sequence[int | slice]) -> Array:
    """The view at these places of its first axes; along an axis of size 1 at 0."""
    at = (
        0 if isinstance(pick, int) and size == 1 else pick
        for pick, size in zip(picks, view.shape, strict=False)
    )
    return view[(*at, ...)]


def is_injective(view: Array) -> bool:
    """Whether a strided view surely has no element twice."""
    axes = sorted(
        (abs(stride), size)
        for stride, size in zip(view.strides, view.shape, strict=True)
        if size > 1
    )
    reach = view.itemsize
    for stride, size in axes:
        if stride < reach:
            return False
        reach += stride * (size - 1)
    return True
