"""
Compare arrays with what was expected, with tolerances that fit the element type.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from transom.runtime.signature import Array


@dataclass(frozen=True)
class Tolerance:
    """
    How far a value may be off: `absolute + relative * |expected|`.

    `scaled` is a further absolute tolerance in units of the largest expected value, for
    sums whose terms cancel.
    """

    relative: float
    absolute: float
    scaled: float


TOLERANCES: dict[str, Tolerance] = {
    "float64": Tolerance(1e-9, 1e-12, 1e-11),
    "float32": Tolerance(1e-4, 1e-6, 1e-5),
    "float16": Tolerance(5e-3, 1e-4, 2e-3),
    "bfloat16": Tolerance(4e-2, 1e-3, 1.6e-2),
}
"""By dtype; all others are compared exactly."""

EXACT = Tolerance(0.0, 0.0, 0.0)

SHOWN = 5
"""Positions that are listed of an output that differs."""


@dataclass(frozen=True)
class Difference:
    """One output that is not as expected; `str` is the report."""

    name: str
    reason: str
    positions: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join((f"'{self.name}': {self.reason}", *self.positions))


def tolerance_of(
    dtype: str, relative: float | None = None, absolute: float | None = None
) -> Tolerance:
    """The tolerance of a dtype; given parts replace its own, and drop `scaled`."""
    default = TOLERANCES.get(dtype, EXACT)
    if relative is None and absolute is None:
        return default
    return Tolerance(
        default.relative if relative is None else relative,
        default.absolute if absolute is None else absolute,
        0.0,
    )


def compare(
    name: str, actual: Array, expected: Array, tolerance: Tolerance | None = None
) -> Difference | None:
    """
    How one output differs from what was expected, or None if it does not.

    Dtype and shape are compared too. NaN equals NaN, and infinities themselves.
    """
    if actual.dtype != expected.dtype:
        return Difference(name, f"expected {expected.dtype}, but got {actual.dtype}")
    if actual.shape != expected.shape:
        return Difference(
            name,
            f"expected shape {list(expected.shape)}, but got {list(actual.shape)}",
        )
    if tolerance is None:
        tolerance = tolerance_of(actual.dtype.name)
    floating = actual.dtype.name in TOLERANCES
    if not floating and tolerance == EXACT:
        wrong = actual != expected
        distance = wrong.astype(np.float64)
    else:
        wrong, distance = _outside(actual, expected, tolerance)
    if not wrong.any():
        return None
    places = np.argwhere(wrong)
    worst = float(np.nanmax(np.where(wrong, distance, 0.0)))
    largest = float(np.max(np.abs(expected.astype(np.float64)), initial=0.0))
    shown = tuple(
        f"  at {[int(i) for i in place]}: expected {expected[tuple(place)]}, "
        f"but got {actual[tuple(place)]}"
        for place in places[:SHOWN]
    )
    if len(places) > SHOWN:
        shown += (f"  … and {len(places) - SHOWN} more",)
    reason = (
        f"{len(places)} of {actual.size} elements differ, "
        f"by at most {worst:.3g} (largest expected: {largest:.3g})"
    )
    return Difference(name, reason, shown)


def _outside(
    actual: Array, expected: Array, tolerance: Tolerance
) -> tuple[Array, Array]:
    """Where values are outside of the tolerance, and how far they are off."""
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(e)
    scale = float(np.max(np.abs(e), initial=0.0, where=finite))
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(a - e)
        allowed = tolerance.absolute + tolerance.relative * np.abs(e)
        allowed = allowed + tolerance.scaled * scale
        close = distance <= allowed
    same = (a == e) | (np.isnan(a) & np.isnan(e))
    wrong = ~(same | (finite & np.isfinite(a) & close))
    return wrong, np.where(np.isnan(distance), np.inf, distance)


def compare_all(
    actual: Mapping[str, Array],
    expected: Mapping[str, Array],
    relative: float | None = None,
    absolute: float | None = None,
) -> list[Difference]:
    """All outputs that differ from those expected; others are not looked at."""
    found: list[Difference] = []
    for name, wanted in expected.items():
        if name not in actual:
            found.append(Difference(name, "there is no such output"))
            continue
        tolerance = tolerance_of(wanted.dtype.name, relative, absolute)
        difference = compare(name, actual[name], wanted, tolerance)
        if difference is not None:
            found.append(difference)
    return found


def largest_error(actual: Array, expected: Array) -> float:
    """The largest distance, in units of the largest expected value; 0 if all agree."""
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(a) & np.isfinite(e)
    distance = float(np.max(np.abs(a - e), initial=0.0, where=finite))
    scale = float(np.max(np.abs(e), initial=0.0, where=finite))
    return distance / scale if scale else distance
