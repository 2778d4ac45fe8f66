"""Random programs compute the same as C; the whole of each is C without a warning."""

import shutil
import subprocess
from io import StringIO
from pathlib import Path

import pytest
from graph_program_builder import Seeded
from graph_programs import Program, build, differences
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr

import transom
from transom.dialects.diagnostics import OpError
from transom.dialects.executor import ArtifactOp
from transom.dialects.parser import parse_ir
from transom.dialects.target import set_phase
from transom.registry import new_context
from transom.targets.c_source.emitter import CSourceEmitter
from transom.testing import interpret

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1", "-c")

TARGET = "#c_source.target"
DEVICE = f'target.device @cpu {{targets = [{TARGET}, #llvm_cpu.target<cpu = "host">]}}'

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="gcc is not installed"
)


@pytest.fixture(scope="module")
def ctx() -> Context:
    return new_context()


def placed(program: Program, ctx: Context) -> ModuleOp:
    """The program on a machine that has a C compiler, at phase `placed`."""
    text = str(program.module).replace("@cpu, ?, ?", f"@cpu, {TARGET}, ?")
    module = parse_ir(
        ctx,
        text.replace("builtin.module {", f"builtin.module {{\n{DEVICE}", 1),
        "random",
    )
    set_phase(module, "placed")
    return module


def compile_strictly(source: str, folder: Path) -> None:
    """Compile C without a warning."""
    (folder / "program.c").write_text(source)
    done = subprocess.run(
        ["gcc", *STRICT, "-o", folder / "program.o", folder / "program.c"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr + source


def main_as_c(module: ModuleOp, ctx: Context) -> str | None:
    """The program as one file; None if it takes memory while it runs."""
    output = StringIO()
    try:
        CSourceEmitter().emit(
            ctx, transom.lower(module, to="executable", ctx=ctx), output
        )
    except OpError as e:
        assert "memory that is taken while the program runs" in str(e)
        return None
    return output.getvalue()


def check(program: Program, ctx: Context, folder: Path) -> bool:
    """Whether all of the program is C."""
    module = placed(program, ctx)
    expected = interpret(program.module, program.inputs)
    compiled = transom.compile(module, opt_level=0, ctx=ctx)
    assert not differences(compiled.run(program.inputs), expected)

    for op in transom.lower(module, to="machine", ctx=ctx).body.ops:
        if isinstance(op, ArtifactOp) and not isinstance(op.payload, SymbolRefAttr):
            compile_strictly(op.payload_bytes.decode(), folder)
    whole = main_as_c(module, ctx)
    if whole is not None:
        compile_strictly(whole, folder)
    return whole is not None


@pytest.mark.parametrize("seed", range(25))
def test_programs_as_c(ctx: Context, seed: int, tmp_path: Path) -> None:
    check(build(Seeded(seed), 20), ctx, tmp_path)
