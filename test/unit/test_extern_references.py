"""
C functions that run in Python, where this machine has no library of them.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_extern import MODULE as NATIVE
from xdsl.dialects.builtin import ModuleOp

import transom
from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_ir
from transom.passes.pipeline import PipelineError
from transom.registry import new_context
from transom.runtime import ProgramError
from transom.runtime.jit import JitError
from transom.targets.hooks import Reference
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr
from transom.targets.llvm_cpu.hooks import LlvmCpuTarget
from transom.testing import check_phases
from transom.tools import transom_run

# A library of the other name may be loaded already, for the life of the process.
MODULE = NATIVE.replace("row_sums", "row_sums_here")

X = np.arange(8000, dtype=np.float32).reshape(4, 2000) / 1000


def row_sums_here(context: Any, dims: Any, x: Any, y: Any) -> int:
    """What the C function of these tests does."""
    workspace, size = context
    rows, columns = dims
    if size < 4 * columns:
        return -1
    assert x.shape == (rows, columns) and not x.flags.writeable
    workspace.view(np.float32)[:columns] = 0
    y[...] = x.sum(axis=1)
    return 0


def module(text: str = MODULE, size: int = 8000) -> ModuleOp:
    return parse_ir(new_context(), text.replace("SIZE", str(size)), "extern.mlir")


UNDEFINED = (
    "undefined symbols: 'row_sums_here'; name their library by '--library FILE', in "
    "Python 'libraries=[…]'"
)
BY_REFERENCE = (
    "; 'row_sums_here' can run by reference evaluation: '--externs=reference', in "
    "Python 'externs=\"reference\"'"
)


@pytest.fixture
def bring(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let `llvm_cpu` bring references of C functions."""

    def set_references(**functions: Callable[..., Any]) -> None:
        def reference(self: LlvmCpuTarget, target: LlvmCpuAttr) -> Reference:
            return Reference(externs=functions)

        monkeypatch.setattr(LlvmCpuTarget, "reference", reference)

    return set_references


def test_by_reference(bring: Callable[..., None]):
    bring(row_sums_here=row_sums_here)
    results = check_phases(module(), {"arg0": X}, compiled_externs="reference")
    assert [(r.phase, r.way) for r in results] == [
        ("tensor", "interpreted"),
        *((p, "compiled") for p in ("tensor", "scheduled", "planned", "executable")),
    ]
    program = transom.compile(module(), externs="reference")
    np.testing.assert_allclose(program.run({"arg0": X})["result0"], X.sum(axis=1))


def test_by_given_functions():
    program = transom.compile(module(), externs={"row_sums_here": row_sums_here})
    np.testing.assert_allclose(program.run({"arg0": X})["result0"], X.sum(axis=1))


def test_status(bring: Callable[..., None]):
    """What the function returns is checked, under its own name."""
    bring(row_sums_here=row_sums_here)
    program = transom.compile(module(size=100), externs="reference")
    with pytest.raises(ProgramError) as caught:
        program.run({"arg0": X})
    assert str(caught.value) == "'row_sums_here' did not return 0, in '@sums'"


def test_no_result_is_good(bring: Callable[..., None]):
    def nothing(context: Any, dims: Any, x: Any, y: Any) -> None:
        y[...] = 7

    bring(row_sums_here=nothing)
    program = transom.compile(module(), externs="reference")
    assert program.run({"arg0": X})["result0"].tolist() == [7] * 4


@pytest.mark.parametrize("returned", ["0", 0.5, 1 << 32])
def test_a_result_that_is_no_number_of_its_type(
    bring: Callable[..., None], returned: object
):
    def wrong(*arguments: Any) -> object:
        return returned

    bring(row_sums_here=wrong)
    program = transom.compile(module(), externs="reference")
    with pytest.raises(ProgramError) as caught:
        program.run({"arg0": X})
    assert str(caught.value) == (
        "C function 'row_sums_here' failed: TypeError: expected a result of int32, "
        f"but got {returned!r}"
    )


def test_exception(bring: Callable[..., None]):
    def failing(*arguments: Any) -> int:
        raise KeyError("no such row")

    bring(row_sums_here=failing)
    program = transom.compile(module(), externs="reference")
    with pytest.raises(ProgramError) as caught:
        program.run({"arg0": X})
    assert str(caught.value) == (
        "C function 'row_sums_here' failed: KeyError: 'no such row'"
    )


def test_nothing_falls_back_silently(bring: Callable[..., None]):
    """Without the choice, a missing function is an error that says what there is."""
    with pytest.raises(JitError) as caught:
        transom.compile(module())
    assert str(caught.value) == UNDEFINED
    bring(row_sums_here=row_sums_here)
    with pytest.raises(JitError) as caught:
        transom.compile(module())
    assert str(caught.value) == UNDEFINED + BY_REFERENCE


def test_what_has_no_reference_is_native(bring: Callable[..., None]):
    bring(other=row_sums_here)
    with pytest.raises(JitError) as caught:
        transom.compile(module(), externs="reference")
    assert str(caught.value) == UNDEFINED


def test_is_not_saved(bring: Callable[..., None], tmp_path: Path):
    bring(row_sums_here=row_sums_here)
    with pytest.raises(ProgramError) as caught:
        transom.compile(module(), externs="reference").save(tmp_path / "p.transom")
    assert str(caught.value) == (
        "a program that calls C functions in Python is not saved; compile it with "
        "native ones"
    )
    assert not list(tmp_path.iterdir())


def test_choice_that_there_is_not():
    with pytest.raises(PipelineError) as caught:
        transom.compile(module(), externs="simulated")
    assert str(caught.value) == (
        "expected 'native' or 'reference' for C functions, but got 'simulated'"
    )


def test_at_phase_machine(bring: Callable[..., None]):
    bring(row_sums_here=row_sums_here)
    machine = transom.lower(module(), to="machine")
    with pytest.raises(OpError) as caught:
        transom.compile(machine, externs="reference")
    assert str(caught.value).endswith(
        "error: expected a module before phase 'machine' to call C functions in Python"
    )


CALLS = """
!pair = !tir.struct<"pair", (f32, !tir.struct<"inner", (i8, memref<2xf64>)>)>
!inner = !tir.struct<"inner", (i8, memref<2xf64>)>
module attributes {target.config = #target.config<host = @cpu, phase = "tensor">,
                   llvm.target_triple = "TRIPLE"} {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "host">]}
  func.func @main(%x: tensor<2xf64>) -> tensor<3xf64>
      attributes {target.for = #target.place<@cpu, ?, ?>} {
    %d = tensor.empty() : tensor<3xf64>
    %y = tir.call @k(%x : tensor<2xf64>) outs(%d : tensor<3xf64>)
    func.return %y : tensor<3xf64>
  }
  tir.func @k(read %x: memref<2xf64>, write %y: memref<3xf64>)
      attributes {target.for = #target.place<@cpu, ?, ?>} {
    BODY
    tir.return
  }
}
"""


def calls(body: str) -> ModuleOp:
    from transom.runtime.jit import host_triple

    text = CALLS.replace("BODY", body).replace("TRIPLE", host_triple())
    return parse_ir(new_context(), text, "calls.mlir")


def run(body: str, **functions: Callable[..., Any]) -> list[float]:
    program = transom.compile(calls(body), externs=functions)
    x = np.array([1.5, 2.5])
    (found,) = program(x).values()
    return found.tolist()


def test_structs_by_value_and_by_address():
    body = """
    %a = arith.constant 0.25 : f32
    %b = arith.constant -7 : i8
    %i = tir.struct(%b, %x) : !inner
    %p = tir.struct(%a, %i) : !pair
    tir.extern "f"(%p, ref %p, write %y) : (!pair, !pair, memref<3xf64>) -> ()
    """

    def f(by_value: Any, by_address: Any, y: Any) -> None:
        for number, (inner, array) in (by_value, by_address):
            assert type(number) is np.float32 and type(inner) is np.int8
            y[...] = [number, inner, array.sum()]
        assert by_value[1][1] is not by_address[1][1]

    assert run(body, f=f) == [0.25, -7.0, 4.0]


def test_results_are_used():
    body = """
    %n = arith.constant 41 : i64
    %r = tir.extern "next"(%n) : (i64) -> i64
    %s = arith.sitofp %r : i64 to f64
    %t = tir.extern "half"(%s) : (f64) -> f64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    memref.store %s, %y[%c0] : memref<3xf64>
    memref.store %t, %y[%c1] : memref<3xf64>
    memref.store %t, %y[%c2] : memref<3xf64>
    """

    def following(number: Any) -> Any:
        return number + 1

    def half(number: Any) -> Any:
        return number / 2

    assert run(body, next=following, half=half) == [42.0, 21.0, 21.0]


def test_one_function_with_several_types():
    """Each call sees memory of the sizes that it says."""
    body = """
    %a = tir.alloc : memref<2xf64>
    tir.extern "fill"(write %a) : (memref<2xf64>) -> ()
    tir.extern "fill"(write %y) : (memref<3xf64>) -> ()
    """
    seen: list[tuple[int, ...]] = []

    def fill(array: Any) -> None:
        seen.append(array.shape)
        array[...] = len(seen)

    assert run(body, fill=fill) == [2.0] * 3
    assert seen == [(2,), (3,)]


def test_failure_of_a_function_without_result():
    """It has no status, but what it raises is not lost."""

    def fill(array: Any) -> None:
        raise ValueError("broken")

    body = 'tir.extern "fill"(write %y) : (memref<3xf64>) -> ()'
    with pytest.raises(ProgramError) as caught:
        run(body, fill=fill)
    assert str(caught.value) == "C function 'fill' failed: ValueError: broken"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            """
    %n = "memref.cast"(%x) : (memref<2xf64>) -> memref<?xf64>
    tir.extern "f"(%n, write %y) : (memref<?xf64>, memref<3xf64>) -> ()
    """,
            "'f' can not be called in Python: argument 0 is 'memref<?xf64>', but "
            "expected a number of C, a memref of known sizes and the identity layout, "
            "or a struct of these",
        ),
        (
            """
    %h = arith.constant 0.5 : f16
    %s = tir.struct(%h) : !tir.struct<"s", (f16)>
    tir.extern "f"(write %y, %s) : (memref<3xf64>, !tir.struct<"s", (f16)>) -> ()
    """,
            "'f' can not be called in Python: argument 1 is "
            "'!tir.struct<\"s\", (f16)>', but expected a number of C, a memref of "
            "known sizes and the identity layout, or a struct of these",
        ),
        (
            """
    %h = tir.extern "f"(write %y) : (memref<3xf64>) -> f16
    """,
            "'f' can not be called in Python: the result is 'f16', but expected a "
            "number of C",
        ),
    ],
    ids=("size", "struct", "result"),
)
def test_what_python_is_not_called_with(body: str, message: str):
    with pytest.raises(OpError) as caught:
        run(body, f=min)
    assert str(caught.value).split("error: ")[1] == message


def test_command_line(
    bring: Callable[..., None],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    bring(row_sums_here=row_sums_here)
    path = tmp_path / "extern.mlir"
    path.write_text(MODULE.replace("SIZE", "8000"))
    command = [str(path), "--input", "4x2000xf32=0.5"]
    assert transom_run.main(command) == 1
    assert capsys.readouterr().err == (
        f"transom-run: error: {UNDEFINED}{BY_REFERENCE}\n"
    )
    assert transom_run.main([*command, "--externs=reference"]) == 0
    assert capsys.readouterr().out == "result0: 4xfloat32 = [1000, 1000, 1000, 1000]\n"
