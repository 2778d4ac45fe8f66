"""
Every op on numbers, as C, on numbers at the edges: the interpreter gives the same.

All of them are functions of one file, which is compiled once.
"""

import ctypes
import shutil
import subprocess
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from op_checks import Array, edges, pairs
from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i16, i32, i64

from transom.dialects.dtypes import numpy_dtype
from transom.dialects.parser import parse_ir
from transom.interpreters.interpreter import Interpreter
from transom.lowering.emit_c.scalars import FORMS
from transom.registry import new_context
from transom.runtime.comparison import Tolerance, compare
from transom.targets.c_source.compiled import library_of
from transom.targets.c_source.emitter import CSourceEmitter

TYPES = {str(t): t for t in (i1, i8, i16, i32, i64, f16, bf16, f32, f64)}
INTEGERS = ("i8", "i16", "i32", "i64")
FLOATS = ("f16", "bf16", "f32", "f64")
EXACT = {"arith", "absf", "ceil", "floor", "round", "roundeven", "trunc", "copysign"}

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="gcc is not installed"
)


class Case:
    """A function that applies an op to each element of arrays."""

    def __init__(
        self, op: str, form: str, inputs: tuple[str, ...], output: str
    ) -> None:
        self.op = op
        self.form = form
        self.inputs = inputs
        self.output = output
        words = form.format(*"ab"[: len(inputs)]).replace("%", "")
        self.name = "".join(c if c.isalnum() else "_" for c in words) + "_".join(inputs)

    def arrays(self) -> list[Array]:
        """Numbers for which the result is known."""
        types = [TYPES[name] for name in self.inputs]
        if len(types) == 1:
            return [self.allowed(edges(types[0]))]
        left, right = pairs(types[0])
        if self.inputs[0] in INTEGERS and ("div" in self.op or "rem" in self.op):
            info = np.iinfo(left.dtype)
            keep = (right != 0) & ~((left == info.min) & (right == -1))
            left, right = left[keep], right[keep]
        if "shl" in self.op or "shr" in self.op:
            right = (right & (right.dtype.itemsize * 8 - 1)).astype(right.dtype)
        return [left, right]

    def allowed(self, numbers: Array) -> Array:
        if "fpto" in self.op:
            info = np.iinfo(numpy_dtype(TYPES[self.output]))
            low = 0 if self.op == "arith.fptoui" else info.min
            wide = numbers.astype(np.float64)
            keep = np.isfinite(wide) & (wide > low - 1) & (wide < info.max)
            return numbers[keep]
        if self.op == "math.ctlz" or "sin" in self.op or "cos" in self.op:
            return (
                numbers if self.inputs[0] in INTEGERS else numbers[abs(numbers) < 1e4]
            )
        return numbers

    def text(self, count: int) -> str:
        """The function, for arrays of so many elements."""
        names = ["a", "b"][: len(self.inputs)]
        arguments = ", ".join(
            f"read %{n}s: memref<{count}x{t}>"
            for n, t in zip(names, self.inputs, strict=True)
        )
        loads = "\n".join(
            f"    %{n} = memref.load %{n}s[%i] : memref<{count}x{t}>"
            for n, t in zip(names, self.inputs, strict=True)
        )
        form = self.form.format(*(f"%{n}" for n in names))
        return f"""
tir.func public @{self.name}({arguments}, write %o: memref<{count}x{self.output}>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant {count} : index
  scf.for %i = %c0 to %n step %c1 {{
{loads}
    %r = {form}
    memref.store %r, %o[%i] : memref<{count}x{self.output}>
  }}
  tir.return
}}"""


def unary(op: str, type: str) -> Case:
    return Case(op, f"{op} {{}} : {type}", (type,), type)


def binary(op: str, type: str) -> Case:
    return Case(op, f"{op} {{}}, {{}} : {type}", (type, type), type)


def conversion(op: str, before: str, after: str) -> Case:
    return Case(op, f"{op} {{}} : {before} to {after}", (before,), after)


def cases() -> list[Case]:
    found: list[Case] = []
    for t in INTEGERS:
        for op in (
            *("addi", "subi", "muli", "divsi", "divui", "remsi", "remui"),
            *("floordivsi", "ceildivsi", "ceildivui", "andi", "ori", "xori"),
            *("shli", "shrsi", "shrui", "maxsi", "maxui", "minsi", "minui"),
        ):
            found.append(binary(f"arith.{op}", t))
        found += [unary(f"math.{op}", t) for op in ("absi", "ctlz", "cttz", "ctpop")]
        for predicate in CMPI_COMPARISON_OPERATIONS:
            form = f"arith.cmpi {predicate}, {{}}, {{}} : {t}"
            found.append(Case("arith.cmpi", form, (t, t), "i1"))
    for predicate in CMPI_COMPARISON_OPERATIONS:
        form = f"arith.cmpi {predicate}, {{}}, {{}} : i1"
        found.append(Case("arith.cmpi", form, ("i1", "i1"), "i1"))
    found += [
        binary(f"arith.{op}", "i1") for op in ("andi", "ori", "xori", "addi", "muli")
    ]
    for t in FLOATS:
        for op in (
            *("addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf"),
            "minnumf",
        ):
            found.append(binary(f"arith.{op}", t))
        found.append(unary("arith.negf", t))
        found.append(binary("math.copysign", t))
        for op in (
            *("absf", "ceil", "floor", "round", "roundeven", "trunc", "sqrt"),
            *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "erf"),
            *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
            *("asinh", "acosh", "atanh", "cbrt", "rsqrt"),
        ):
            found.append(unary(f"math.{op}", t))
        for predicate in CMPF_COMPARISON_OPERATIONS:
            form = f"arith.cmpf {predicate}, {{}}, {{}} : {t}"
            found.append(Case("arith.cmpf", form, (t, t), "i1"))
        for i in INTEGERS:
            found.append(conversion("arith.sitofp", i, t))
            found.append(conversion("arith.uitofp", i, t))
            found.append(conversion("arith.fptosi", t, i))
            found.append(conversion("arith.fptoui", t, i))
        found.append(conversion("arith.sitofp", "i1", t))
        found.append(conversion("arith.uitofp", "i1", t))
    for before, after in (("i8", "i16"), ("i8", "i64"), ("i16", "i32"), ("i32", "i64")):
        found.append(conversion("arith.extsi", before, after))
        found.append(conversion("arith.extui", before, after))
        found.append(conversion("arith.trunci", after, before))
    for after in INTEGERS:
        found.append(conversion("arith.extsi", "i1", after))
        found.append(conversion("arith.extui", "i1", after))
        found.append(conversion("arith.trunci", after, "i1"))
    for before, after in (
        ("f16", "f32"),
        ("bf16", "f32"),
        ("f32", "f64"),
        ("f16", "f64"),
    ):
        found.append(conversion("arith.extf", before, after))
        found.append(conversion("arith.truncf", after, before))
    for before, after in (
        ("f32", "i32"),
        ("f64", "i64"),
        ("f16", "i16"),
        ("bf16", "i16"),
    ):
        found.append(conversion("arith.bitcast", before, after))
        found.append(conversion("arith.bitcast", after, before))
    return found


CASES = cases()


@pytest.fixture(scope="module")
def compiled(
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, tuple[Array, Array]]:
    """By name of a case: what C computes, and what the interpreter does."""
    ctx = new_context()
    inputs = {case.name: case.arrays() for case in CASES}
    text = "".join(case.text(len(inputs[case.name][0])) for case in CASES)
    module = parse_ir(ctx, text, "ops.mlir")
    output = StringIO()
    CSourceEmitter(prefix="").emit(ctx, module, output)
    source = output.getvalue()
    compile_strictly(source, tmp_path_factory.mktemp("c"))
    library = library_of(source.encode())
    results: dict[str, tuple[Array, Array]] = {}
    interpreter = Interpreter(module)
    for case in CASES:
        arrays = inputs[case.name]
        found = np.zeros(len(arrays[0]), numpy_dtype(TYPES[case.output]))
        with np.errstate(all="ignore"):
            (expected,) = interpreter.run(case.name, [*arrays, found])
        function = getattr(library, case.name)
        function(*(ctypes.c_void_p(a.ctypes.data) for a in (*arrays, found)))
        results[case.name] = found, expected
    return results


def compile_strictly(source: str, folder: Path) -> None:
    """Compile C without a warning."""
    (folder / "ops.c").write_text(source)
    flags = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-c")
    done = subprocess.run(
        ["gcc", *flags, "-o", folder / "ops.o", folder / "ops.c"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_op(case: Case, compiled: dict[str, tuple[Array, Array]]) -> None:
    found, expected = compiled[case.name]
    is_exact = case.op.split(".")[0] in EXACT or case.op.split(".")[1] in EXACT
    tolerance = Tolerance(0.0, 0.0, 0.0) if is_exact else Tolerance(1e-6, 1e-12, 0.0)
    if case.output in ("f16", "bf16") and not is_exact:
        tolerance = Tolerance(1e-2, 1e-3, 0.0)
    assert compare(case.name, found, expected, tolerance) is None


def test_every_form_is_here() -> None:
    """What is not in the table has a test of its own."""
    tested = {case.op for case in CASES}
    others = {
        *("arith.addui_extended", "arith.mulsi_extended", "arith.mului_extended"),
        *("arith.index_cast", "arith.select", "math.atan2", "math.fma", "math.fpowi"),
        *("math.ipowi", "math.powf"),
    }
    assert {op.name for op in FORMS} - tested == others
