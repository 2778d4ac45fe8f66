"""
The functions that become polynomials: how far they are from the exact ones.

Errors are measured against f64 on floats of all exponents, and on dense samples where
functions bend; the bounds are those that their docstrings promise.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tir_cases import context
from xdsl.dialects.builtin import ModuleOp

import transom
from transom.lowering.convert_to_llvm import ConvertToLlvmPass
from transom.lowering.emit_llvm import to_llvm_text
from transom.lowering.lower_math_to_polynomials import LowerMathToPolynomialsPass
from transom.lowering.lower_scf_to_cf import LowerScfToCfPass
from transom.lowering.math_polynomials import FUNCTIONS, coefficients
from transom.runtime import jit
from transom.tools import fit_math

Array = np.ndarray[Any, Any]

KERNEL = """
tir.func public @k({inputs}, write %o: memref<?x{element}>, read %n: index) {{
  %zero = arith.constant 0 : index
  %step = arith.constant 8 : index
  scf.for %i = %zero to %n step %step {{
    {loads}
    {constants}
    {op}
    vector.store %r, %o[%i] : memref<?x{element}>, vector<8x{element}>
  }}
  tir.return
}}
"""


CALL = "%r = {name} {args} : {type}"

SCALED_CALL = """
    %in = arith.constant dense<{scales[0]!r}> : {type}
    %out = arith.constant dense<{scales[1]!r}> : {type}
    %scaled = arith.mulf {args}, %in : {type}
    %unscaled = {name} %scaled : {type}
    %r = arith.mulf %unscaled, %out : {type}
"""


class Compiled:
    """A function of `math`, computed for arrays whose sizes are multiples of 8."""

    def __init__(
        self,
        name: str,
        *,
        fma: bool = True,
        operands: int = 1,
        element: str = "f32",
        constants: tuple[float, ...] = (),
        scales: tuple[float, float] | None = None,
    ) -> None:
        """`scales` are factors of the argument and of the result."""
        names = [f"%v{i}" for i in range(operands)]
        args = ", ".join((*names, *(f"%c{i}" for i in range(len(constants)))))
        call = CALL if scales is None else SCALED_CALL
        text = KERNEL.format(
            op=call.format(
                name=name, args=args, type=f"vector<8x{element}>", scales=scales
            ),
            element=element,
            inputs=", ".join(f"read {v}m: memref<?x{element}>" for v in names),
            loads="\n".join(
                f"{v} = vector.load {v}m[%i] : memref<?x{element}>, vector<8x{element}>"
                for v in names
            ),
            constants="\n".join(
                f"%c{i} = arith.constant dense<{c!r}> : vector<8x{element}>"
                for i, c in enumerate(constants)
            ),
        )
        module = transom.parse(text)
        lower(module, fma)
        cpu, features = jit.host_cpu()
        self.text = to_llvm_text(module)
        self.code = jit.compile_llvm_ir(self.text, cpu=cpu, features=features)
        types = [ctypes.c_void_p, ctypes.c_int64] * (operands + 1)
        address = self.code.address("k")
        self.function = ctypes.CFUNCTYPE(ctypes.c_int32, *types, ctypes.c_int64)(
            address
        )

    def __call__(self, *inputs: Array) -> Array:
        out = np.empty_like(inputs[0])
        values: list[Any] = []
        for array in (*inputs, out):
            values += [array.ctypes.data, len(array)]
        assert self.function(*values, len(out)) == 0
        return out


def lower(module: ModuleOp, fma: bool) -> None:
    ctx = context()
    for lowering in (
        LowerMathToPolynomialsPass(fma=fma),
        LowerScfToCfPass(),
        ConvertToLlvmPass(),
    ):
        lowering.apply(ctx, module)
    module.verify()


def promised(name: str) -> float:
    """The error that the docstring of a function promises."""
    (function,) = (f for op, f in FUNCTIONS.items() if op.name == name)
    match = re.search(r"Error: (\d\S*) of", function.__doc__ or "")
    assert match is not None, f"{name} promises no error"
    return float(match.group(1))


def samples() -> Array:
    """Floats of all exponents and signs, and many where functions bend."""
    rng = np.random.default_rng(7)
    every = np.arange(0, 2**32, 2**12 + 1, dtype=np.uint64).astype(np.uint32)
    parts = [
        every.view(np.float32),
        rng.uniform(-100, 100, 2**17),
        rng.uniform(-10, 10, 2**17),
        rng.uniform(-1, 1, 2**17),
        rng.normal(1, 1e-2, 2**16),
        rng.normal(0, 1e3, 2**16),
        np.arange(-40000, 40000) * (math.pi / 2),
    ]
    with np.errstate(over="ignore"):
        found = np.concatenate([part.astype(np.float32) for part in parts])
    return found[: len(found) // 8 * 8]


def _erf(x: Array) -> Array:
    return np.array([math.erf(value) for value in x.tolist()])


EXACT: dict[str, Callable[[Array], Array]] = {
    "math.cos": np.cos,
    "math.erf": _erf,
    "math.exp": np.exp,
    "math.exp2": np.exp2,
    "math.expm1": np.expm1,
    "math.log": np.log,
    "math.log10": np.log10,
    "math.log1p": np.log1p,
    "math.log2": np.log2,
    "math.sin": np.sin,
    "math.tanh": np.tanh,
}

FLUSHED = 2.0**-125.5
"""What is smaller may be zero."""


def worst(found: Array, exact: Array) -> float:
    """
    The largest relative error where results are normal numbers; others must be what
    the exact results are in f32.
    """
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
        normal = np.isfinite(rounded) & (np.abs(exact) >= FLUSHED)
        error = np.abs(found - exact) / np.abs(exact)
    special, wanted = found[~normal], rounded[~normal]
    with np.errstate(invalid="ignore"):
        is_small = np.abs(special - wanted) <= FLUSHED
    is_same = (special == wanted) | (np.isnan(special) & np.isnan(wanted)) | is_small
    assert is_same.all(), (special[~is_same][:5], wanted[~is_same][:5])
    zeros = (wanted == 0) & (special == 0)
    assert (np.signbit(special) == np.signbit(wanted))[zeros].all()
    assert not np.isnan(error[normal]).any()
    return float(error[normal].max())


@pytest.mark.parametrize("fma", [True, False])
@pytest.mark.parametrize("name", EXACT)
def test_error_is_what_is_promised(name: str, fma: bool):
    x = samples()
    with np.errstate(all="ignore"):
        exact = EXACT[name](x.astype(np.float64))
    found = Compiled(name, fma=fma)(x)
    assert worst(found, exact) <= promised(name)


@pytest.mark.parametrize("fma", [True, False])
@pytest.mark.parametrize("scales", [(math.sqrt(0.5), 0.5), (-2.0, 0.5), (0.5, -2.0)])
@pytest.mark.parametrize("name", ["math.erf", "math.tanh"])
def test_error_with_factors(name: str, scales: tuple[float, float], fma: bool):
    x = samples()
    inner, outer = (float(np.float32(scale)) for scale in scales)
    with np.errstate(all="ignore"):
        exact = outer * EXACT[name](x.astype(np.float64) * inner)
    scaled = Compiled(name, fma=fma, scales=(inner, outer))
    plain = Compiled(name, fma=fma)
    assert scaled.text.count("fmul") == plain.text.count("fmul")
    found = scaled(x)
    assert worst(found, exact) <= promised(name)
    assert np.nanmax(np.abs(found)) <= abs(outer)


def test_every_function_is_measured():
    assert {op.name for op in FUNCTIONS} == {*EXACT, "math.powf"}


@pytest.mark.parametrize("name", ["math.tanh", "math.erf", "math.sin", "math.cos"])
def test_results_stay_between_one_and_minus_one(name: str):
    assert np.nanmax(np.abs(Compiled(name)(samples()))) <= 1


SPECIAL = np.array(
    [
        *(0.0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, 0.75, -2.5, 1.5, -0.25),
        *(math.inf, -math.inf, math.nan, 1e-40, -1e-40, 3e38, -3e38, 1e9),
        *(16777217.0, 33554431),
    ],
    np.float32,
)


@pytest.mark.parametrize("fma", [True, False])
def test_power(fma: bool):
    rng = np.random.default_rng(3)
    power = Compiled("math.powf", fma=fma, operands=2)
    base = np.exp(rng.uniform(-87, 88, 2**17)).astype(np.float32)
    exponent = rng.uniform(-126, 127, 2**17) / np.log2(base.astype(np.float64))
    near = (1 + rng.normal(0, 1e-3, 2**17)).astype(np.float32)
    x = np.concatenate([base, near])
    y = np.concatenate([exponent, rng.uniform(-1e4, 1e4, 2**17)]).astype(np.float32)
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), y.astype(np.float64))
    assert worst(power(x, y), exact) <= promised("math.powf")


def test_power_at_special_values():
    x, y = (grid.ravel() for grid in np.meshgrid(SPECIAL, SPECIAL))
    found = Compiled("math.powf", operands=2)(x, y)
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), y.astype(np.float64))
    assert worst(found, exact) <= promised("math.powf")
    negative = np.signbit(exact) & ~np.isnan(exact)
    assert (np.signbit(found) == negative)[~np.isnan(found)].all()


QUARTERS = [q / 4 for q in range(-16, 17) if q]


@pytest.mark.parametrize("exponent", QUARTERS)
def test_power_by_roots(exponent: float):
    rng = np.random.default_rng(3)
    limit = 87 / max(abs(exponent), 1)
    x = np.exp(rng.uniform(-limit, limit, 2**14)).astype(np.float32)
    x = np.concatenate([x, -x, SPECIAL])
    with np.errstate(all="ignore"):
        # An exponent that is one number would be a square root to NumPy.
        exact = np.power(x.astype(np.float64), np.full(len(x), exponent))
    power = Compiled("math.powf", constants=(exponent,))
    assert "sqrt" in power.text or exponent == int(exponent)
    assert worst(power(x), exact) <= 3e-7


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_small_floats_are_computed_in_f32(element: str):
    import ml_dtypes

    dtype = np.dtype(np.float16 if element == "f16" else ml_dtypes.bfloat16)
    x = np.arange(2**16, dtype=np.uint16).view(dtype)
    bits = Compiled("math.tanh", element=element)(x).astype(np.float64)
    with np.errstate(invalid="ignore"):
        exact = np.tanh(x.astype(np.float64))
    rounded = exact.astype(dtype).astype(np.float64)
    spacing = 2.0**-10 if element == "f16" else 2.0**-7
    regular = ~np.isnan(exact)
    assert np.isnan(bits[~regular]).all()
    difference = np.abs(bits - rounded)[regular]
    assert (difference <= spacing * np.abs(rounded[regular])).all()
    assert (difference == 0).mean() > 0.99


def test_coefficients_are_those_that_are_fitted():
    """Another machine's least squares may differ in the last digits."""
    for fit in fit_math.FITS:
        found = fit_math.fitted(fit)
        suffix = "_NUMERATOR" if fit.divisor else ""
        pairs = [(fit.name + suffix, found.numerator)]
        if fit.divisor:
            pairs.append((f"{fit.name}_DIVISOR", found.divisor))
        for name, values in pairs:
            np.testing.assert_allclose(getattr(coefficients, name), values, rtol=1e-2)


def test_printed_coefficients_are_a_module(capsys: pytest.CaptureFixture[str]):
    assert fit_math.main() == 0
    names: dict[str, Any] = {}
    exec(capsys.readouterr().out, names)
    for name in (n for n in names if n.isupper()):
        assert len(names[name]) == len(getattr(coefficients, name))


def rows_of(page: str) -> Iterator[tuple[str, str]]:
    """The functions in the table of a page, and the errors that it tells."""
    for match in re.finditer(r"^\| `(\w+)` \| (\S+) \|", page, re.MULTILINE):
        yield match.group(1), match.group(2)


def test_the_page_tells_the_errors_of_all_functions():
    page = Path(__file__).parents[2] / "docs" / "math.md"
    told = dict(rows_of(page.read_text()))
    assert set(told) == {op.name.removeprefix("math.") for op in FUNCTIONS}
    for name, error in told.items():
        assert float(error) == promised(f"math.{name}")
