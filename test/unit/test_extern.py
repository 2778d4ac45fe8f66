"""
Kernels that call C functions: structs by pointer, workspaces, status codes.
"""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import transom
from transom.dialects.parser import parse_ir
from transom.driver import PHASES
from transom.registry import new_context
from transom.runtime import ProgramError
from transom.testing import check_phases

SOURCE = """
#include <stdint.h>

struct context { uint8_t *buffer; int32_t size; };
struct dims { int32_t rows, columns; };

/* Sums of rows by way of the workspace; -1 if that is too small, -2 without rows. */
int32_t row_sums(const struct context *context, const struct dims *dims,
                 const float *x, float *y) {
  float *work = (float *)context->buffer;
  if (context->size < (int32_t)(dims->columns * sizeof(float))) return -1;
  if (x[0] > 100.0f) return -2;
  for (int32_t i = 0; i < dims->rows; i++) {
    for (int32_t j = 0; j < dims->columns; j++) work[j] = x[i * dims->columns + j];
    y[i] = 0.0f;
    for (int32_t j = 0; j < dims->columns; j++) y[i] += work[j];
  }
  return 0;
}
"""

MODULE = """
!context = !tir.struct<"context", (memref<8000xi8>, i32)>
!dims = !tir.struct<"dims", (i32, i32)>
module attributes {target.config = #target.config<host = @cpu, phase = "tensor">} {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "host">]}
  func.func @main(%x: tensor<4x2000xf32>) -> tensor<4xf32>
      attributes {target.for = #target.place<@cpu, ?, ?>} {
    %d = tensor.empty() : tensor<4xf32>
    %y = tir.call @sums(%x : tensor<4x2000xf32>) outs(%d : tensor<4xf32>)
    func.return %y : tensor<4xf32>
  }
  tir.func @sums(read %x: memref<4x2000xf32>, write %y: memref<4xf32>)
      attributes {target.for = #target.place<@cpu, ?, ?>} {
    %workspace = tir.alloc {alignment = 64 : i64} : memref<8000xi8>
    %size = arith.constant SIZE : i32
    %rows = arith.constant 4 : i32
    %columns = arith.constant 2000 : i32
    %ctx = tir.struct(%workspace, %size) : !context
    %dims = tir.struct(%rows, %columns) : !dims
    %status = tir.extern "row_sums"(ref %ctx, ref %dims, %x, write %y) status 0
        : (!context, !dims, memref<4x2000xf32>, memref<4xf32>) -> i32
    tir.return
  }
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The C function as a shared library."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("extern")
    (folder / "sums.c").write_text(SOURCE)
    path = folder / "libsums.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", path, folder / "sums.c"]
    subprocess.run(command, check=True)
    return str(path)


def row_sums(
    context: tuple[npt.NDArray[np.int8], int],
    dims: tuple[int, int],
    x: npt.NDArray[np.float32],
    y: npt.NDArray[np.float32],
) -> int:
    """What the C function does, for the reference evaluation."""
    if context[1] < 4 * dims[1]:
        return -1
    y[:] = x.sum(axis=1)
    return 0


def test_struct_by_pointer_and_workspace(library: str) -> None:
    ctx = new_context()
    module = parse_ir(ctx, MODULE.replace("SIZE", "8000"), "extern.mlir")
    results = check_phases(
        module, libraries=[library], externs={"row_sums": row_sums}, ctx=ctx
    )
    assert [r.phase for r in results if r.way == "compiled"] == [
        phase.name for phase in PHASES[3:]
    ]


def test_the_workspace_is_planned() -> None:
    module = parse_ir(new_context(), MODULE.replace("SIZE", "8000"), "extern.mlir")
    text = str(transom.lower(module, "planned"))
    assert "scratch(" in text, "the workspace is an argument of the kernel"
    assert "executor.pool @main.workspace {size = 8000" in text


def test_a_status_that_is_not_expected_is_an_error(library: str) -> None:
    module = parse_ir(new_context(), MODULE.replace("SIZE", "16"), "extern.mlir")
    program = transom.compile(module, libraries=[library])
    with pytest.raises(
        ProgramError, match=r"^'row_sums' did not return 0, in '@sums'$"
    ):
        program(np.zeros((4, 2000), np.float32))


LOAD = """
import sys
from pathlib import Path
import numpy as np
from transom.runtime import load
from transom.runtime.jit import JitError
try:
    load("p.transom")
except JitError as e:
    print(e)
program = load("p.transom", libraries=["libsums.so"])
print(program(np.ones((4, 2000), np.float32))["result0"])
"""


def test_a_saved_program_needs_the_library(library: str, tmp_path: Path) -> None:
    """In a new process; a bare name is that of a file of the working folder first."""
    module = parse_ir(new_context(), MODULE.replace("SIZE", "8000"), "extern.mlir")
    transom.compile(module, libraries=[library]).save(tmp_path / "p.transom")
    shutil.copy(library, tmp_path / "libsums.so")
    command = [sys.executable, "-c", LOAD]
    run = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert run.stdout == (
        "undefined symbols: 'row_sums'; name their library: a saved program holds "
        "none, 'load(…, libraries=[…])' takes it\n"
        "[2000. 2000. 2000. 2000.]\n"
    )


def test_a_library_of_the_working_folder(library: str, tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text(MODULE.replace("SIZE", "8000"))
    shutil.copy(library, tmp_path / "libsums.so")
    command = [sys.executable, "-m", "transom.tools.transom_run", "m.mlir"]
    command += ["--input", "4x2000xf32=1", "--library", "libsums.so"]
    run = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert run.stdout == "result0: 4xfloat32 = [2000, 2000, 2000, 2000]\n"


def test_a_crash_of_a_library_is_not_silent(library: str, tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text(MODULE.replace("SIZE", "8000"))
    crash = "int row_sums(void) { *(volatile int *)8 = 1; return 0; }"
    (tmp_path / "crash.c").write_text(crash)
    build = ["cc", "-shared", "-fPIC", "-o", "libcrash.so", "crash.c"]
    subprocess.run(build, cwd=tmp_path, check=True)
    command = [sys.executable, "-m", "transom.tools.transom_run", "m.mlir"]
    command += ["--input", "4x2000xf32=1", "--library", "libcrash.so"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == -signal.SIGSEGV
    first, *frames = run.stderr.splitlines()
    assert first == "Fatal Python error: Segmentation fault"
    assert any("runtime/program.py" in line for line in frames)
