"""
The three executors give the same bytes, in memory full of garbage: several inputs and
results, copies between devices, control flow, sizes that are open or depend on data, C
functions with workspaces, artifacts of targets, random programs.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from artifact_cases import X, module_of, scale
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from main_cases import mains
from main_cases import module as random_module
from test_c_library import DATA_SIZES, DYNAMIC, LOOP, STATIC, numbers
from test_extern import MODULE as EXTERN
from test_extern import row_sums
from test_main_lowering import inputs, run
from test_plan_devices import MACHINE, PROGRAMS
from toy_models import MODELS, model
from xdsl.dialects.builtin import ModuleOp

import transom
from transom.compiler import to_code
from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_ir
from transom.dialects.target import set_phase
from transom.driver import EXECUTORS, poison
from transom.kernel_code import lower_with_executable
from transom.passes.pipeline import PipelineError
from transom.registry import new_context
from transom.runtime.program import Program, ProgramError
from transom.testing import random_inputs

SLOW = (HealthCheck.too_slow,)
NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
"""A program takes too long to be made smaller step by step."""
WALKED = EXECUTORS[1:]

Arrays = Mapping[str, Any]


def assert_same_bytes(
    module: ModuleOp, arrays: Arrays, folder: Path | None = None, **options: Any
) -> Arrays:
    """
    Run all executors, with arrays that are bound twice, and what they have saved once,
    if there is a folder; give the outputs.
    """
    expected: Arrays | None = None
    for executor in EXECUTORS:
        program = transom.compile(
            module, executor=executor, poison_memory=True, **options
        )
        bound = program.bind({name: np.array(value) for name, value in arrays.items()})
        runs = [program.run(arrays), bound(), bound()]
        if folder is not None:
            program.save(folder / executor)
            loaded = transom.runtime.load(folder / executor)
            assert loaded.code.executor == executor
            runs.append(loaded.run(arrays))
        expected = runs[0] if expected is None else expected
        for found in runs:
            assert found.keys() == expected.keys()
            for name, array in expected.items():
                assert found[name].shape == array.shape, (executor, name)
                assert found[name].tobytes() == array.tobytes(), (executor, name)
    assert expected is not None
    return expected


def named(arrays: Sequence[Any]) -> Arrays:
    return {f"arg{number}": array for number, array in enumerate(arrays)}


WHILE = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %n: tensor<i32>)
    -> (tensor<4xf32>, tensor<i32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m = tensor.extract %n[] : tensor<i32>
  %i, %v, %w = scf.while (%k = %c0, %a = %x, %b = %y)
      : (i32, tensor<4xf32>, tensor<4xf32>) -> (i32, tensor<4xf32>, tensor<4xf32>) {
    %more = arith.cmpi slt, %k, %m : i32
    scf.condition(%more) %k, %b, %a : i32, tensor<4xf32>, tensor<4xf32>
  } do {
  ^bb0(%k: i32, %a: tensor<4xf32>, %b: tensor<4xf32>):
    %s = graph.add %a, %b : tensor<4xf32>
    %odd = arith.andi %k, %c1 : i32
    %is = arith.cmpi eq, %odd, %c1 : i32
    %t = scf.if %is -> (tensor<4xf32>) {
      %e = graph.exp %a : tensor<4xf32>
      scf.yield %e : tensor<4xf32>
    } else {
      scf.yield %b : tensor<4xf32>
    }
    %next = arith.addi %k, %c1 : i32
    scf.yield %next, %s, %t : i32, tensor<4xf32>, tensor<4xf32>
  }
  %r = tensor.from_elements %i : tensor<i32>
  func.return %v, %r, %w : tensor<4xf32>, tensor<i32>, tensor<4xf32>
}
"""

UNBOUNDED = """
!t = tensor<?x8xf32, #graph.desc<dims = ["N"]>>
func.func @main(%x: !t, %y: !t) -> (!t, tensor<8x?xf32, #graph.desc<dims = ["N"]>>) {
  %a = graph.softmax %x axis 0 : !t
  %b = graph.softmax %a axis 1 : !t
  %c = graph.softmax %b axis 0 : !t
  %d = graph.add %c, %y : !t
  %e = graph.transpose %b permutation [1, 0] : !t
    -> tensor<8x?xf32, #graph.desc<dims = ["N"]>>
  func.return %d, %e : !t, tensor<8x?xf32, #graph.desc<dims = ["N"]>>
}
"""

NUMBERS = """
func.func @main(%x: tensor<f32>, %n: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %v = tensor.extract %x[] : tensor<f32>
  %k = tensor.extract %n[] : tensor<i32>
  %e = math.exp %v : f32
  %t = math.tanh %e : f32
  %s = math.sqrt %t : f32
  %f = arith.sitofp %k : i32 to f32
  %m = arith.maximumf %s, %f : f32
  %g = arith.negf %m : f32
  %r = math.floor %g : f32
  %i = arith.fptosi %r : f32 to i32
  %y = tensor.from_elements %m : tensor<f32>
  %z = tensor.from_elements %i : tensor<i32>
  func.return %y, %z : tensor<f32>, tensor<i32>
}
"""

SCALARS = """
graph.weight @w = dense<3.0> : tensor<f32>
graph.weight @twice : tensor<f32> {
  %w = graph.weight_ref @w : tensor<f32>
  %s = graph.add %w, %w : tensor<f32>
  graph.yield %s : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %w = graph.weight_ref @w : tensor<f32>
  %t = graph.weight_ref @twice : tensor<f32>
  %y = graph.mul %x, %w : tensor<f32>
  %z = graph.mul %x, %t : tensor<f32>
  func.return %y, %z : tensor<f32>, tensor<f32>
}
"""

CASES: Mapping[str, tuple[str, Sequence[Any]]] = {
    "several": (STATIC, [numbers(4, 8), np.array([1, -2, 3, 127], np.int8)]),
    "bounded": (DYNAMIC, [numbers(5, 8), numbers(5, 8)]),
    "unbounded": (UNBOUNDED, [numbers(5, 8), numbers(5, 8)]),
    "data": (DATA_SIZES, [np.array([0, 1, 0, 2, 3], np.float32)]),
    "nothing": (DATA_SIZES, [np.zeros(0, np.float32)]),
    "scalars": (SCALARS, [np.array(0.3, np.float32)]),
    "for": (LOOP, [numbers(4), np.array(3, np.int64)]),
    "while": (WHILE, [numbers(4), -numbers(4), np.array(5, np.int32)]),
    "numbers": (NUMBERS, [np.array(0.3, np.float32), np.array(-7, np.int32)]),
}


@pytest.mark.parametrize("name", CASES)
def test_programs(name: str, tmp_path: Path) -> None:
    text, arrays = CASES[name]
    assert_same_bytes(transom.parse(text), named(arrays), tmp_path)


@pytest.mark.parametrize("name", PROGRAMS)
def test_copies_between_devices(name: str, tmp_path: Path) -> None:
    module = transom.parse(MACHINE + PROGRAMS[name] + "}")
    assert "executor.copy" in str(transom.lower(module, "executable"))
    assert_same_bytes(module, random_inputs(module), tmp_path)


def test_c_functions_with_workspaces() -> None:
    module = parse_ir(new_context(), EXTERN.replace("SIZE", "8000"), "extern.mlir")
    externs = {"row_sums": row_sums}
    (y,) = assert_same_bytes(module, random_inputs(module), externs=externs).values()
    assert y.shape == (4,)


def test_artifacts(tmp_path: Path) -> None:
    (y,) = assert_same_bytes(module_of(), {"x": X}, callbacks={"scale": scale}).values()
    np.testing.assert_array_equal(y, 3 * X)


@pytest.mark.parametrize("target", ["#toy_npu.target", "#toy_vm.target"])
@pytest.mark.parametrize("name", MODELS)
def test_artifacts_of_targets(name: str, target: str) -> None:
    if target.startswith("#toy_npu"):
        target = '#toy_npu.target<features = ["matmul", "gelu"]>'
    module = model(MODELS[name], target)
    assert_same_bytes(module, random_inputs(module))


@pytest.mark.parametrize("executor", EXECUTORS)
def test_calls_at_the_same_time(executor: str) -> None:
    """Also with memory that is taken when the program runs."""
    program = transom.compile(transom.parse(UNBOUNDED), executor=executor)
    sizes = [1, 3, 50, 2, 7, 50]
    arrays = [(numbers(n, 8), -numbers(n, 8)) for n in sizes]
    expected = [program(*pair) for pair in arrays]

    def work(number: int) -> bool:
        place = number % len(sizes)
        found = program(*arrays[place])
        return all(
            found[name].tobytes() == array.tobytes()
            for name, array in expected[place].items()
        )

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(60)))


@pytest.mark.parametrize("executor", WALKED)
def test_kernels_on_several_threads(executor: str) -> None:
    text = """
    func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %a = graph.matmul %x, %x : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      %y = graph.softmax %a axis 1 : tensor<64x64xf32>
      func.return %y : tensor<64x64xf32>
    }
    """  # noqa: E501
    x = numbers(64, 64)
    (expected,) = transom.compile(transom.parse(text))(x).values()
    program = transom.compile(transom.parse(text), executor=executor, threads=2)
    (found,) = program(x).values()
    assert found.tobytes() == expected.tobytes()


@settings(
    max_examples=12, deadline=None, suppress_health_check=SLOW, phases=NO_SHRINKING
)
@given(mains(), st.integers(1, 4), st.integers(0, 99))
def test_random_programs(main: str, size: int, seed: int) -> None:
    """Also what the interpreter gives; machine code is compared with it elsewhere."""
    ctx = new_context()
    ir = parse_ir(ctx, random_module(main))
    set_phase(ir, "scheduled")
    arrays = inputs(size, seed)
    expected = run(ir, arrays)
    poison(ir, ctx)
    kernels, executable = lower_with_executable(ir, ctx)
    for executor in WALKED:
        code = to_code(ir, kernels=kernels, executable=executable, executor=executor)
        program = Program(code)
        for _ in range(2):
            results = program(*(array.copy() for array in arrays))
            for number, (a, b) in enumerate(
                zip(expected, results.values(), strict=True)
            ):
                np.testing.assert_array_equal(a, b, f"{executor}: result {number}")


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_module_names_its_executor(executor: str) -> None:
    text = f"""
    module attributes {{target.config = #target.config<executor = {executor}>}} {{
      func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
        %y = graph.neg %x : tensor<2xf32>
        func.return %y : tensor<2xf32>
      }}
    }}
    """
    assert transom.compile(transom.parse(text)).code.executor == executor
    chosen = transom.compile(transom.parse(text), executor="vm")
    assert chosen.code.executor == "vm"
    with pytest.raises(PipelineError, match="unknown executor 'grap'; did you mean"):
        transom.compile(transom.parse(text), executor="grap")


CHECK = """
func.func @main(%x: tensor<2xf32>, %ok: tensor<i1>) -> tensor<2xf32> {
  %v = tensor.extract %ok[] : tensor<i1>
  cf.assert %v, "not so"
  func.return %x : tensor<2xf32>
}
"""


@pytest.mark.parametrize("executor", EXECUTORS)
def test_checks_are_messages(executor: str) -> None:
    program = transom.compile(transom.parse(CHECK), executor=executor)
    (y,) = program(numbers(2), np.array(True)).values()
    np.testing.assert_array_equal(y, numbers(2))
    with pytest.raises(ProgramError, match=r"^not so$"):
        program(numbers(2), np.array(False))


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_kernel_that_fails_ends_main(executor: str) -> None:
    def fail(*arguments: Any) -> int:
        return -1

    module = parse_ir(new_context(), EXTERN.replace("SIZE", "8000"), "extern.mlir")
    program = transom.compile(module, executor=executor, externs={"row_sums": fail})
    with pytest.raises(ProgramError, match="'row_sums' did not return 0, in '@sums'"):
        program.run(random_inputs(module))


@pytest.mark.parametrize("executor", WALKED)
def test_what_cannot_be_walked_is_refused(executor: str) -> None:
    text = """
    func.func @main(%x: tensor<i32>) -> tensor<i32> {
      %v = tensor.extract %x[] : tensor<i32>
      %w, %high = arith.mulsi_extended %v, %v : i32
      %y = tensor.from_elements %w : tensor<i32>
      func.return %y : tensor<i32>
    }
    """
    with pytest.raises(OpError) as info:
        transom.compile(transom.parse(text), executor=executor)
    assert (
        info.value.message == f"executor '{executor}' has no op 'arith.mulsi_extended'"
    )
    assert "4:" in str(info.value.location)
