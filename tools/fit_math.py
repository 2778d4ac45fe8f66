"""
Print the coefficients of the polynomials that mathematical functions become.

    python -m transom.tools.fit_math > lowering/math_polynomials/coefficients.py

Each is the best approximation in the largest error, relative to the function that it is
made for: a least squares fit at Chebyshev nodes in f64 whose weights grow where the
error is large (Lawson's algorithm; for a quotient on top of the linearised problem).
What is evaluated in f32 is rounded to it.
"""

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

ROUNDS = 60
"""Of reweighting; the error no longer changes in its second digit."""

NODES = 400


Function: TypeAlias = Callable[[Array], Array]
"""Of arrays of f64, number by number."""


@dataclass(frozen=True)
class Fit:
    """An approximation and what is fitted."""

    name: str
    comment: str
    low: float
    high: float
    function: Function
    """What is approximated, by the argument."""
    weight: Function
    """How much an error there is of the function that is computed in the end."""
    degree: int
    divisor: int = 0
    """The degree of the polynomial that is divided by, 0 for none."""
    in_square: bool = False
    """Whether it is a polynomial in the square of the argument."""
    element: type[Any] = np.float32


def series(term: Callable[[int], float], count: int = 120) -> Function:
    """The sum of `term(k) * x**k`."""

    def total(x: Array) -> Array:
        result: Array = np.zeros_like(x)
        for k in reversed(range(count)):
            result = result * x + term(k)
        return result

    return total


def even_series(term: Callable[[int], float]) -> Function:
    total = series(term, 20)
    return lambda x: total(x * x)


def _erf(x: Array) -> Array:
    return np.array([math.erf(value) for value in x])


HALF_LN2 = math.log(2) / 2 * 1.001  # what is rounded to the nearest may miss it a bit
MANTISSA = (math.sqrt(0.5) - 1, math.sqrt(2) - 1)
EIGHTH_TURN = math.pi / 4 * 1.001

FITS = (
    Fit(
        "EXP",
        "(exp(r) - 1 - r) / r**2 for |r| up to half of ln 2.",
        -HALF_LN2,
        HALF_LN2,
        series(lambda k: 1 / math.factorial(k + 2), 30),
        lambda r: r**2 / np.exp(r),
        degree=3,
    ),
    Fit(
        "EXPM1",
        "The same for results near zero.",
        -HALF_LN2,
        HALF_LN2,
        series(lambda k: 1 / math.factorial(k + 2), 30),
        lambda r: r**2 / np.exp(r),
        degree=4,
    ),
    Fit(
        "LOG",
        "(log(1 + f) - f + f**2 / 2) / f**3 for 1 + f from sqrt(1/2) to sqrt(2).",
        *MANTISSA,
        series(lambda k: (-1) ** k / (k + 3)),
        lambda f: f**3 / np.log1p(f),
        degree=7,
    ),
    Fit(
        "SIN",
        "(sin(r) - r) / r**3, in r**2, for |r| up to an eighth of a turn.",
        0.0,
        EIGHTH_TURN,
        even_series(lambda k: (-1) ** (k + 1) / math.factorial(2 * k + 3)),
        lambda r: r**3 / np.sin(r),
        degree=2,
        in_square=True,
    ),
    Fit(
        "COS",
        "(cos(r) - 1 + r**2 / 2) / r**4, in r**2, for |r| up to an eighth of a turn.",
        0.0,
        EIGHTH_TURN,
        even_series(lambda k: (-1) ** k / math.factorial(2 * k + 4)),
        lambda r: r**4 / np.cos(r),
        degree=2,
        in_square=True,
    ),
    Fit(
        "TANH",
        "tanh(x) / x, in x**2, for |x| up to 9.01.",
        0.0,
        9.01,
        lambda x: np.tanh(x) / x,
        lambda x: x / np.tanh(x),
        degree=4,
        divisor=4,
        in_square=True,
    ),
    Fit(
        "ERF",
        "erf(x) / x, in x**2, for |x| up to 3.64.",
        0.0,
        3.64,
        lambda x: _erf(x) / x,
        lambda x: x / _erf(x),
        degree=5,
        divisor=4,
        in_square=True,
    ),
    Fit(
        "LOG2",
        "log2(1 + f) / f for 1 + f from sqrt(1/2) to sqrt(2), in f64.",
        *MANTISSA,
        lambda f: np.log1p(f) / f / math.log(2),
        lambda f: f / np.log1p(f) * math.log(2),
        degree=12,
        element=np.float64,
    ),
    Fit(
        "EXP2",
        "2**r for |r| up to a half, in f64.",
        -0.5005,
        0.5005,
        lambda r: 2.0**r,
        lambda r: 2.0**-r,
        degree=7,
        element=np.float64,
    ),
)
"""All that is fitted."""


class Quotient(NamedTuple):
    """Coefficients, the lowest first; the divisor ends in 1, which is no factor."""

    numerator: tuple[float, ...]
    divisor: tuple[float, ...]
    error: float
    """The largest one at the nodes, weighted."""


def nodes(low: float, high: float) -> Array:
    """Chebyshev nodes of an interval."""
    angles = (2 * np.arange(NODES) + 1) * math.pi / (2 * NODES)
    return (low + high) / 2 + (high - low) / 2 * np.cos(angles)


def fitted(fit: Fit) -> Quotient:
    """The best coefficients that were found."""
    x = nodes(fit.low, fit.high)
    y, weight = fit.function(x), np.abs(fit.weight(x))
    variable = x * x if fit.in_square else x
    top = np.vander(variable, fit.degree + 1, increasing=True)
    below = np.vander(variable, fit.divisor + 1, increasing=True)[:, 1:]
    lawson: Array = np.ones_like(x)
    divisor: Array = np.ones_like(x)
    best = Quotient((), (), math.inf)
    for _ in range(ROUNDS):
        scale = np.sqrt(lawson) * weight / divisor
        system = np.hstack([top, -y[:, None] * below])
        found = np.linalg.lstsq(system * scale[:, None], y * scale, rcond=None)[0]
        numerator, rest = found[: fit.degree + 1], found[fit.degree + 1 :]
        divisor = np.asarray(1 + below @ rest, np.float64)
        errors: Array = np.abs((top @ numerator / divisor - y) * weight)
        error = float(errors.max())
        if error < best.error:
            whole = np.array([1.0, *rest])
            best = Quotient(
                tuple(float(fit.element(c)) for c in numerator / whole[-1]),
                tuple(float(fit.element(c)) for c in whole / whole[-1]),
                error,
            )
        lawson = lawson * (errors / error + 1e-3)
        lawson /= lawson.sum()
    return best


def text() -> str:
    """The module of coefficients."""
    lines = [
        '"""',
        "Coefficients of polynomials, the lowest first; `transom.tools.fit_math` wrote",
        "this file.",
        '"""',
    ]
    for fit in FITS:
        found = fitted(fit)
        suffix = "_NUMERATOR" if fit.divisor else ""
        lines += _constant(fit.name + suffix, found.numerator)
        if fit.divisor:
            lines += _constant(f"{fit.name}_DIVISOR", found.divisor)
        error = f"The largest error at the nodes is {found.error:.1e}."
        lines += ['"""', fit.comment, "", error, '"""']
    return "\n".join(lines) + "\n"


def _constant(name: str, values: tuple[float, ...]) -> list[str]:
    return ["", f"{name} = (", *(f"    {value!r}," for value in values), ")"]


def main() -> int:
    argparse.ArgumentParser(
        prog="python -m transom.tools.fit_math",
        description=(__doc__ or "").strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    ).parse_args()
    sys.stdout.write(text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
