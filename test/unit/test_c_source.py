"""Programs as C: run from C, with memory of the caller; what stops it."""

import re
import shutil
import subprocess
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context

import transom
from transom.dialects.executor import PoolOp
from transom.dialects.parser import parse_ir
from transom.lowering.emit_c.names import Names, identifier
from transom.registry import new_context
from transom.runtime import ProgramError
from transom.targets.c_source import compiled
from transom.targets.c_source.emitter import CSourceEmitter

needs_gcc = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="gcc is not installed"
)

MODEL = """
target.device @mcu {targets = [#c_source.target, #llvm_cpu.target<cpu = "host">]}
graph.weight @w = dense<[[1.0, -2.0], [0.5, 4.0], [-1.0, 0.25]]> : tensor<3x2xf32>
func.func @main(
  %x: tensor<?x3xf32, #graph.desc<dims = ["N" : 1 to 4]>>
) -> tensor<?x2xf32, #graph.desc<dims = ["N" : 1 to 4]>> {
  %w = graph.weight_ref @w : tensor<3x2xf32>
  %a = graph.matmul %x, %w : tensor<?x3xf32, #graph.desc<dims = ["N" : 1 to 4]>>,
      tensor<3x2xf32> -> tensor<?x2xf32, #graph.desc<dims = ["N" : 1 to 4]>>
  %s = graph.softmax %a axis 1 : tensor<?x2xf32, #graph.desc<dims = ["N" : 1 to 4]>>
  %y = graph.softmax %s axis 0 : tensor<?x2xf32, #graph.desc<dims = ["N" : 1 to 4]>>
  func.return %y : tensor<?x2xf32, #graph.desc<dims = ["N" : 1 to 4]>>
}
"""

MAIN = r"""
#include <stdalign.h>
#include <stdio.h>
#include "model.c"

int main(void)
{
    static alignas(MODEL_MAIN_WORKSPACE_ALIGNMENT) int8_t
        workspace[MODEL_MAIN_WORKSPACE_SIZE];
    const float x[6] = {1, 2, 3, 0.5f, -1, 2};
    float y[4];
    const int32_t status = model_main(x, 2, y, 2, workspace);
    printf("%d %s\n", (int)status, model_status_text(status));
    printf("%.9g %.9g %.9g %.9g\n", y[0], y[1], y[2], y[3]);
    printf("%s\n", model_status_text(model_main(x, 5, y, 5, workspace)));
    return 0;
}
"""


@pytest.fixture(scope="module")
def ctx() -> Context:
    return new_context()


def emitted(text: str, ctx: Context) -> str:
    module = transom.lower(parse_ir(ctx, text, "model.mlir"), to="executable", ctx=ctx)
    output = StringIO()
    CSourceEmitter().emit(ctx, module, output)
    return output.getvalue()


@needs_gcc
def test_a_program_is_called_from_c(ctx: Context, tmp_path: Path) -> None:
    (tmp_path / "model.c").write_text(emitted(MODEL, ctx))
    (tmp_path / "main.c").write_text(MAIN)
    subprocess.run(
        ["gcc", "-std=c11", "-Wall", "-Werror", "main.c", "-o", "main", "-lm"],
        cwd=tmp_path,
        check=True,
    )
    done = subprocess.run(
        [tmp_path / "main"], capture_output=True, text=True, check=True
    )
    status, numbers, refused = done.stdout.splitlines()
    x = np.array([[1, 2, 3], [0.5, -1, 2]], np.float32)
    program = transom.compile(parse_ir(ctx, MODEL, "model.mlir"), ctx=ctx)
    (expected,) = program.run({"arg0": x}).values()
    assert status == "0 "
    found = np.array(numbers.split(), np.float32).reshape(2, 2)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert "expected dimension 0 of 'arg0' to be N, at most 4" in refused


@needs_gcc
def test_kernels_that_are_c_equal_machine_code(ctx: Context) -> None:
    x = np.random.default_rng(0).standard_normal((3, 3)).astype(np.float32)
    as_c = transom.compile(parse_ir(ctx, MODEL, "model.mlir"), ctx=ctx)
    cpu = MODEL.replace("#c_source.target, ", "")
    native = transom.compile(parse_ir(ctx, cpu, "model.mlir"), ctx=ctx)
    (found,), (expected,) = (
        as_c.run({"arg0": x}).values(),
        native.run({"arg0": x}).values(),
    )
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_no_compiler(monkeypatch: pytest.MonkeyPatch, ctx: Context) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(compiled, "_libraries", {})
    program = transom.compile(parse_ir(ctx, MODEL, "model.mlir"), ctx=ctx)
    with pytest.raises(ProgramError, match="found no cc, gcc or clang"):
        program.run({"arg0": np.ones((1, 3), np.float32)})


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("/nowhere/cc -O1", "cannot run '/nowhere/cc': No such file or directory"),
        ("false", "'false' failed with 1"),
    ],
)
def test_a_compiler_that_fails(
    command: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CC", command)
    with pytest.raises(compiled.CompilerError, match=message):
        compiled.compile_library(b"int x;", tmp_path)


@needs_gcc
def test_what_the_compiler_says_is_told(tmp_path: Path) -> None:
    with pytest.raises(compiled.CompilerError, match=r"kernels\.c:1"):
        compiled.compile_library(b"no C\n", tmp_path)


@needs_gcc
def test_a_status_is_an_error() -> None:
    source = b"int f(void) { return 3; }"
    assert compiled.library_of(source) is compiled.library_of(source)
    with pytest.raises(RuntimeError, match="'f' returned 3"):
        compiled.call(source, "f", (), ())


def test_pools_are_macros(ctx: Context) -> None:
    module = transom.lower(parse_ir(ctx, MODEL, "model.mlir"), to="executable", ctx=ctx)
    (pool,) = (op for op in module.body.ops if isinstance(op, PoolOp))
    text = emitted(MODEL, ctx)
    assert f"#define MODEL_MAIN_WORKSPACE_SIZE {pool.size_bytes}\n" in text
    assert f"#define MODEL_MAIN_WORKSPACE_ALIGNMENT {pool.alignment_bytes}\n" in text


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("k.1", "k_1"),
        ("1x", "v1x"),
        ("__a", "a"),
        ("_1", "v1"),
        ("float", "float_"),
        ("expf", "expf_"),
        ("y0", "y0_"),
        ("memcpy", "memcpy_"),
        ("", "v"),
        ("é", "v"),
    ],
)
def test_identifiers(text: str, name: str) -> None:
    assert identifier(text) == name


def test_names_are_given_once() -> None:
    outer = Names()
    assert [outer.new("a"), outer.new("a"), outer.new("x1"), outer.new("x1")] == [
        *("a", "a2", "x1", "x1_2"),
    ]
    inner = Names(outer)
    assert inner.new("a") == "a3"
    assert Names(outer).new("a") == "a3"


DOC = Path(__file__).parents[2] / "docs" / "c-source.md"


@needs_gcc
def test_the_page_tells_what_is_so(ctx: Context, tmp_path: Path) -> None:
    """The C on the page is that of the model on the page."""
    blocks = re.findall(r"```(\w+)\n(.*?)```", DOC.read_text(), re.DOTALL)
    (model, device), shown = (
        [text for kind, text in blocks if kind == wanted] for wanted in ("mlir", "c")
    )
    found = emitted(model, ctx)
    for text in shown:
        lines = [line.rstrip(";") for line in text.splitlines() if line]
        for line in lines:
            pattern = re.escape(line).replace("…", r"\w+")
            assert re.search(rf"^{pattern}", found, re.MULTILINE), line
    (tmp_path / "model.c").write_text(found)
    (command,) = (
        line
        for kind, text in blocks
        if kind == "sh"
        for line in text.splitlines()
        if line.startswith("gcc")
    )
    subprocess.run(command.split(), cwd=tmp_path, check=True)
    parse_ir(ctx, device, "device.mlir")
