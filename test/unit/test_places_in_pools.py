"""
Inputs, outputs and constants in pools of the memory plan: the same bytes in garbage,
from Python and from C, and what is refused.
"""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from main_cases import mains
from main_cases import module as random_module
from test_c_library import DATA_SIZES, LOOP, STATIC, numbers
from test_executors import CASES, UNBOUNDED
from test_main_lowering import inputs, run

import transom
from transom.compiler import to_code
from transom.dialects.diagnostics import OpError
from transom.dialects.executor import PLACES, PoolPlace, places_of
from transom.dialects.parser import parse_ir
from transom.dialects.target import set_phase
from transom.driver import EXECUTORS, lower, place_in_pools, poison
from transom.passes.memory.plan_report import plan_reports
from transom.passes.pipeline import PipelineError
from transom.passes.tir_verify_plan import verify_plan
from transom.registry import new_context
from transom.runtime.main_failures import MainError
from transom.runtime.program import Program
from transom.testing.phases import interpret
from transom.tools import transom_compile, transom_run

BOTH = ("inputs", "outputs")
PLACED = [name for name in CASES if name not in ("data", "nothing", "unbounded")]


@pytest.mark.parametrize("name", PLACED)
def test_programs(name: str, tmp_path: Path) -> None:
    text, arrays = CASES[name]
    expected = transom.compile(transom.parse(text))(*arrays)
    for executor in EXECUTORS:
        program = transom.compile(
            transom.parse(text), executor=executor, in_pools=BOTH, poison_memory=True
        )
        specs = (*program.signature.inputs, *program.signature.outputs)
        assert all(spec.place is not None for spec in specs)
        program.save(tmp_path / executor)
        loaded = transom.runtime.load(tmp_path / executor)
        assert loaded.signature == program.signature
        names = [spec.name for spec in program.signature.inputs]
        bound = program.bind(dict(zip(names, map(np.array, arrays), strict=True)))
        for found in (program(*arrays), loaded(*arrays), bound(), bound()):
            for result, array in expected.items():
                assert found[result].tobytes() == array.tobytes(), executor


@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=(HealthCheck.too_slow,),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
@given(mains(), st.integers(1, 4), st.integers(0, 99))
def test_random_programs(main: str, size: int, seed: int) -> None:
    ctx = new_context()
    ir = parse_ir(ctx, random_module(main))
    set_phase(ir, "scheduled")
    arrays = inputs(size, seed)
    expected = run(ir, arrays)
    place_in_pools(ir, ["inputs"])
    poison(ir, ctx)
    for number, (a, b) in enumerate(zip(expected, run(ir, arrays), strict=True)):
        np.testing.assert_array_equal(a, b, f"interpreted, result {number}")
    program = Program(to_code(lower(ir, "machine", ctx=ctx)))
    for _ in range(2):
        results = program(*(array.copy() for array in arrays))
        for number, (a, b) in enumerate(zip(expected, results.values(), strict=True)):
            np.testing.assert_array_equal(a, b, f"result {number}")


def planned(text: str, *what: str) -> Any:
    """A module at phase `planned`, and its entry."""
    module = transom.parse(text)
    place_in_pools(module, what or BOTH)
    module = transom.lower(module, "planned")
    (entry,) = (op for op in module.body.ops if PLACES in op.attributes)
    return module, entry


def test_inputs_share_with_what_comes_later() -> None:
    """The number of turns is read before the first one writes the result."""
    module, entry = planned(LOOP)
    assert places_of(entry) == {
        ("inputs", "arg0"): PoolPlace("main.workspace", 0, 16),
        ("inputs", "arg1"): PoolPlace("main.workspace", 64, 8),
        ("outputs", "result0"): PoolPlace("main.workspace", 64, 16),
    }
    assert str(transom.parse(str(module))) == str(module)
    assert str(transom.lower(module, "planned")) == str(module)


def test_a_wrong_place_is_found() -> None:
    module, _ = planned(LOOP)
    text = str(module).replace(
        "arg0 = [@main.workspace, 0 : i64", "arg0 = [@main.workspace, 64 : i64"
    )
    wrong = transom.parse(text)
    with pytest.raises(OpError, match=r"written to its bytes|overwritten"):
        verify_plan(wrong)


def test_what_cannot_be_placed_is_refused() -> None:
    with pytest.raises(OpError) as info:
        planned(UNBOUNDED)
    assert info.value.message == (
        "expected bounds of 'N', to give input 'arg0' a place in a pool; "
        "'--dim N=1..8' gives some"
    )
    with pytest.raises(OpError, match="expected a size of output 'result0' that is kn"):
        planned(DATA_SIZES)
    assert places_of(planned(DATA_SIZES, "inputs")[1])
    module = transom.parse(LOOP)
    with pytest.raises(PipelineError, match="nothing of a program is 'input'; did you"):
        place_in_pools(module, ["input"])
    done = transom.lower(module, "planned")
    with pytest.raises(OpError, match="before phase 'planned' to place inputs, but it"):
        place_in_pools(done, ["inputs"])


CALLER = """
#include "net.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Alignas(64) unsigned char memory[NET_POOL_MAIN_WORKSPACE_BYTES];

int main(void) {
  struct net_inputs in = {0};
  struct net_outputs out = {0};
  struct net_pools pools = {.main_workspace = memory};
  for (int turn = 0; turn < 2; turn++) {
    memset(memory, 0xa5, sizeof memory);
    for (int i = 0; i < 32; i++) net_input_arg0(&pools)[i] = (float)(i % 7) - 3.0f;
    for (int i = 0; i < 4; i++) net_input_arg1(&pools)[i] = (int8_t)(i - 2);
    int32_t status = net_run(&in, &out, &pools);
    if (status != NET_OK) { puts(net_message(status)); return 1; }
  }
  fwrite(net_output_result0(&pools), 1, NET_RESULT0_BYTES, stdout);
  fwrite(net_output_result1(&pools), 1, NET_RESULT1_BYTES, stdout);
  return (char *)net_input_arg1(&pools) - (char *)memory != NET_ARG1_OFFSET;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no 'cc'")
def test_from_c(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "net.mlir"
    model.write_text(STATIC)
    words = [str(model), "--emit=static", "-o", str(tmp_path)]
    assert transom_compile.main([*words, "--in-pools=inputs,outputs"]) == 0
    capsys.readouterr()
    (tmp_path / "main.c").write_text(CALLER)
    command = ["cc", "-Wall", "-Wextra", "-Werror", "-O1", "main.c", "libnet.a"]
    subprocess.run([*command, "-o", "main"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "main"], capture_output=True, check=True)
    x = (np.arange(32) % 7 - 3).astype(np.float32).reshape(4, 8)
    results = transom.compile(transom.parse(STATIC))(x, np.arange(-2, 2, dtype=np.int8))
    assert done.stdout == b"".join(array.tobytes() for array in results.values())


WEIGHTS = """
graph.weight @w = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
graph.weight @v = dense<[[1.0, -2.0], [0.5, 4.0]]> : tensor<2x2xf32>
func.func @main(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = graph.weight_ref @w : tensor<3x2xf32>
  %v = graph.weight_ref @v : tensor<2x2xf32>
  %a = graph.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32> -> tensor<4x2xf32>
  %b = graph.matmul %a, %v : tensor<4x2xf32>, tensor<2x2xf32> -> tensor<4x2xf32>
  func.return %b : tensor<4x2xf32>
}
"""
PRODUCT = np.array([[1, 2], [3, 4], [5, 6]], np.float32) @ np.array(
    [[1, -2], [0.5, 4]], np.float32
)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_constants(executor: str, tmp_path: Path) -> None:
    program = transom.compile(
        transom.parse(WEIGHTS),
        executor=executor,
        in_pools=("constants", "inputs"),
        poison_memory=True,
    )
    (pool,) = (pool for pool in program.code.pools if pool.content)
    assert (pool.name, pool.size, pool.alignment) == ("constants", 80, 64)
    assert [offset for _, offset in pool.content] == [0, 64]
    program.save(tmp_path / "p")
    x = numbers(4, 3)
    for found in (program(x), program(x), transom.runtime.load(tmp_path / "p")(x)):
        np.testing.assert_allclose(found["result0"], x @ PRODUCT, rtol=1e-5)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_packed_weight_is_kept_once(executor: str, tmp_path: Path) -> None:
    """In a pool or not: that from which the packed form was made is read by nothing."""
    rows = numbers(512, 512)
    text = f"""
!t = tensor<512x512xf32>
graph.weight @w = dense<"0x{rows.tobytes().hex()}"> : !t
func.func @main(%x: !t) -> !t {{
  %w = graph.weight_ref @w : !t
  %y = graph.matmul %x, %w : !t, !t -> !t
  func.return %y : !t
}}
"""
    for in_pools in ((), ("constants",)):
        module = transom.parse(text)
        place_in_pools(module, in_pools)
        assert "@w.packed" in str(transom.lower(module, "tensor"))
        (report,) = plan_reports(transom.lower(module, "planned"))
        assert set(report.constants) == {"w.packed"}
        program = transom.compile(module, executor=executor)
        assert set(program.code.constants) == {"w.packed"}
        sizes = [pool.size for pool in program.code.pools if pool.content]
        assert len(sizes) == len(in_pools)
        assert all(size < 2 * rows.nbytes for size in sizes)
        program.save(tmp_path / "p")
        assert (tmp_path / "p").stat().st_size < 1.9 * rows.nbytes
        found = transom.runtime.load(tmp_path / "p")(rows)["result0"]
        np.testing.assert_allclose(found, rows @ rows, rtol=1e-4, atol=1e-4)


def test_constants_are_interpreted() -> None:
    module = transom.parse(WEIGHTS)
    place_in_pools(module, ["constants"])
    x = numbers(4, 3)
    for phase in ("planned", "executable"):
        lowered = transom.lower(module, phase)
        assert "executor.constant" not in str(lowered)
        (found,) = interpret(lowered, {"arg0": x}).values()
        np.testing.assert_allclose(found, x @ PRODUCT, rtol=1e-5)


WITH_CONSTANTS = """
#include "net.h"
#include <stdio.h>

static _Alignas(64) unsigned char memory[NET_POOL_MAIN_WORKSPACE_BYTES];
static _Alignas(64) unsigned char constants[NET_POOL_CONSTANTS_BYTES];

int main(void) {
  FILE *file = fopen("net.constants.bin", "rb");
  if (fread(constants, 1, sizeof constants, file) != sizeof constants) return 2;
  fclose(file);
  float x[12], y[8];
  for (int i = 0; i < 12; i++) x[i] = (float)i;
  struct net_inputs in = {.arg0 = x};
  struct net_outputs out = {.result0 = y};
  struct net_pools pools = {.main_workspace = memory, .constants = constants};
  int32_t status = net_run(&in, &out, &pools);
  fwrite(y, 1, sizeof y, stdout);
  return status;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no 'cc'")
def test_constants_from_c(tmp_path: Path) -> None:
    model = tmp_path / "net.mlir"
    model.write_text(WEIGHTS)
    words = [str(model), "--emit=static", "-o", str(tmp_path), "--in-pools=constants"]
    assert transom_compile.main(words) == 0
    (tmp_path / "main.c").write_text(WITH_CONSTANTS)
    command = ["cc", "-Wall", "-Wextra", "-Werror", "-O1", "main.c", "libnet.a"]
    subprocess.run([*command, "-o", "main"], cwd=tmp_path, check=True)
    done = subprocess.run(
        [tmp_path / "main"], cwd=tmp_path, capture_output=True, check=True
    )
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    (expected,) = transom.compile(transom.parse(WEIGHTS))(x).values()
    assert done.stdout == expected.tobytes()


def test_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "m.mlir"
    model.write_text(LOOP)
    np.save(tmp_path / "x.npy", numbers(4))
    words = [str(model), f"--input={tmp_path / 'x.npy'}", "--input=i64=2"]
    assert transom_run.main([*words, "--poison-memory", "--in-pools=inputs"]) == 0
    placed = capsys.readouterr().out
    assert transom_run.main(words) == 0
    assert capsys.readouterr().out == placed
    assert transom_run.main([*words, "--in-pools=x"]) == 2
    assert "nothing of a program is 'x'; expected one of" in capsys.readouterr().err


def test_places_that_there_are_not() -> None:
    program = transom.compile(transom.parse(WEIGHTS), in_pools=["constants", "inputs"])
    code = program.code
    (spec,) = code.signature.inputs
    pools = [replace(pool, size=8) if pool.content else pool for pool in code.pools]
    with pytest.raises(MainError, match=r"expected weight '.*w' within pool 'constant"):
        Program(replace(code, pools=tuple(pools)))
    for place in (("main.workspace", 1 << 20), ("nowhere", 0)):
        inputs = (replace(spec, place=place),)
        wrong = replace(code, signature=replace(code.signature, inputs=inputs))
        with pytest.raises(MainError, match=f"expected 'arg0' within pool '{place[0]}"):
            Program(wrong)
