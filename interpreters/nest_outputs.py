"""
How a nest writes an output: strided, by index arrays, or folded into what is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from transom.dialects import tir
from transom.interpreters import numerics
from transom.interpreters.evaluators import Array, Value, Values
from transom.interpreters.indexing import checked_indices
from transom.interpreters.interpreter import Frame
from transom.interpreters.nest_accesses import Access, is_injective, picked
from transom.interpreters.nest_folds import ADD, MULTIPLY, Combination

_COMBINATIONS: dict[tir.CombineKind, Combination] = {
    tir.CombineKind.ADD: ADD,
    tir.CombineKind.MUL: MULTIPLY,
    tir.CombineKind.MAX: Combination(np.maximum, final=numerics.maximum),
    tir.CombineKind.MIN: Combination(np.minimum, final=numerics.minimum),
    tir.CombineKind.UMAX: Combination(np.maximum, numerics.as_unsigned),
    tir.CombineKind.UMIN: Combination(np.minimum, numerics.as_unsigned),
    tir.CombineKind.AND: Combination(np.bitwise_and),
    tir.CombineKind.OR: Combination(np.bitwise_or),
}

_OF_BITS: dict[tir.CombineKind, Combination] = {
    tir.CombineKind.ADD: Combination(np.logical_xor),
    tir.CombineKind.MUL: Combination(np.logical_and),
    tir.CombineKind.MAX: Combination(np.logical_and),
    tir.CombineKind.MIN: Combination(np.logical_or),
    tir.CombineKind.UMAX: Combination(np.logical_or),
    tir.CombineKind.UMIN: Combination(np.logical_and),
}
"""The same of `i1`, whose set bit is -1 where it is signed."""


@dataclass(frozen=True)
class Output:
    """An output of a nest; the axes of `view` are sequential dims and the points."""

    array: Array
    access: Access | None
    """None if the indices are computed in the regions."""
    view: Array | None
    combine: tir.CombineKind | None
    points: tuple[int, ...]

    @property
    def combination(self) -> Combination | None:
        """How values are folded into what is there."""
        if self.combine is None:
            return None
        if self.array.dtype == numerics.BOOL and self.combine in _OF_BITS:
            return _OF_BITS[self.combine]
        return _COMBINATIONS[self.combine]

    def write(
        self, frame: Frame, lead: Sequence[int], at: Sequence[Value], value: Value
    ) -> None:
        """
        Write the values of all points; `lead` are the sequential indices, `at` the
        values of all variables.
        """
        assert self.access is not None, "the indices are known"
        target = None if self.view is None else picked(self.view, lead)
        combination = self.combination
        if target is not None and combination is None:
            target[...] = value
            return
        value = np.broadcast_to(value, self.points)
        if target is not None and combination is not None:
            value = _folded(combination, value, target.shape)
            if is_injective(target):
                target[...] = combination.both(target, value)
                return
        self._put(frame, self.access.indices(at), value)

    def scatter(self, frame: Frame, indices: Values, value: Value) -> None:
        """Write the values of all points at indices that were computed."""
        spread = [np.broadcast_to(index, self.points) for index in indices]
        self._put(frame, spread, np.broadcast_to(value, self.points))

    def _put(self, frame: Frame, indices: Values, value: Array) -> None:
        combination = self.combination
        if not indices:
            assert combination is not None, "a single element takes many values"
            total = combination.over(value, tuple(range(value.ndim)))
            self.array[()] = combination.both(self.array[()], total)
            return
        shape = np.broadcast_shapes(indices[0].shape, value.shape)
        places = checked_indices(
            frame, self.array.shape, [np.broadcast_to(i, shape) for i in indices]
        )
        value = np.broadcast_to(value, shape)
        if combination is None:
            self.array[places] = value
            return
        _fold_at(combination, self.array, places, value)


def _folded(combination: Combination, value: Array, shape: tuple[int, ...]) -> Array:
    """The value with all along axes that the output lacks made one."""
    pairs = enumerate(zip(value.shape, shape, strict=True))
    axes = tuple(axis for axis, (own, size) in pairs if size == 1 and own > 1)
    return combination.over(value, axes, keepdims=True) if axes else value


def _fold_at(
    combination: Combination, array: Array, places: tuple[Array, ...], value: Array
) -> None:
    """Fold values into an array one by one, where some may meet; floats in `f64`."""
    if numerics.is_float_dtype(array.dtype):
        wide = array.astype(np.float64)
        combination.ufunc.at(wide, places, value.astype(np.float64))
        array[...] = numerics.rounded(wide, array.dtype)
        return
    seen: Any = combination.view(array)
    combination.ufunc.at(seen, places, combination.view(value))
