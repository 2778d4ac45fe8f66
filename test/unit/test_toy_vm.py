"""
A target whose functions go to artifacts in one step, with constants of their own.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import numpy as safetensors_numpy
from toy_models import CHAIN, MODELS, SYMBOLIC, TWO_REGIONS, model
from toy_vm.convert_graph_to_toy_vm import ConvertGraphToToyVmPass
from toy_vm.program import run
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

import transom
from transom.dialects import graph, tir
from transom.dialects.diagnostics import OpError
from transom.dialects.executor import ArtifactOp
from transom.registry import new_context
from transom.runtime import load
from transom.testing import check_phases, random_inputs

TARGET = "#toy_vm.target"


def vm(text: str) -> ModuleOp:
    return model(text, TARGET)


def ops_of(module: ModuleOp, kind: type[Operation]) -> list[Any]:
    return [op for op in module.walk() if isinstance(op, kind)]


@pytest.mark.parametrize("name", MODELS)
def test_every_phase(name: str):
    check_phases(vm(MODELS[name]))


def test_symbolic_sizes():
    """Sizes are passed with the memory."""
    (artifact,) = ops_of(transom.lower(vm(SYMBOLIC), to="tensor"), ArtifactOp)
    assert str(artifact.signature) == "(memref<?x4xf32>, memref<?x4xf32>) -> ()"
    check_phases(vm(SYMBOLIC), sizes={"N": 5})


def test_constants_are_its_own():
    """What only artifacts hold is no weight of the program."""
    module = vm(CHAIN)
    tensor = transom.lower(module, to="tensor")
    (artifact,) = ops_of(tensor, ArtifactOp)
    assert len(json.loads(artifact.payload_bytes)["constants"]) == 3
    assert len(ops_of(tensor, graph.WeightOp)) == 3
    program = transom.compile(module)
    assert not program.code.constants
    shared = CHAIN.replace(
        "func.return %c :",
        "%t = graph.tanh %u : tensor<2x2xf32>\n"
        "  %m = graph.reduce max %t axes [0, 1] : tensor<2x2xf32> -> tensor<f32>\n"
        "  %z = graph.mul %c, %m : tensor<4x2xf32>, tensor<f32> -> tensor<4x2xf32>\n"
        "  func.return %z :",
    )
    assert list(transom.compile(vm(shared)).code.constants) == ["weight.u"]


def test_weights_in_files(tmp_path: Path):
    """Paths are relative to the file of the module."""
    elements = np.arange(4, dtype=np.float32)
    data = safetensors_numpy.save({"b": elements})
    (tmp_path / "weights.safetensors").write_bytes(data)
    path = tmp_path / "model.mlir"
    path.write_text("""
target.device @soc {targets = [#toy_vm.target, #llvm_cpu.target<cpu = "host">]}
graph.weight @b = #graph.file<"weights.safetensors", "b"> : tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = graph.weight_ref @b : tensor<4xf32>
  %y = graph.add %x, %b : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
""")
    program = transom.compile(transom.load(path))
    (found,) = program(np.ones(4, np.float32)).values()
    np.testing.assert_array_equal(found, 1 + elements)


def test_workspace_is_planned():
    """It shares memory with what main holds at another time."""
    module = transom.lower(vm(TWO_REGIONS), to="planned")
    workspaces = [
        op for op in ops_of(module, tir.AllocOp) if "xi8" in str(op.result.type)
    ]
    assert [str(op.result.type) for op in workspaces] == ["memref<64xi8>"] * 2
    assert {op.offset.value.data for op in workspaces} == {0, 64}
    assert {str(op.pool) for op in workspaces} == {"@main.workspace"}


def test_equal_functions_are_one():
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.relu %x : tensor<4xf32>
  %t = graph.tanh %a : tensor<4xf32>
  %b = graph.relu %t : tensor<4xf32>
  func.return %b : tensor<4xf32>
}
"""
    module = transom.lower(vm(text), to="tensor")
    (artifact,) = ops_of(module, ArtifactOp)
    calls = [c.callee_name for c in ops_of(module, tir.CallOp)]
    assert calls.count(artifact.sym_name.data) == 2


def test_results_that_are_inputs_or_equal():
    text = """func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y, %z = func.call @r(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  func.return %y, %z : tensor<4xf32>, tensor<4xf32>
}
func.func private @r(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {
  target.for = #target.place<@soc, #toy_vm.target, ?>
} {
  %y = graph.relu %x : tensor<4xf32>
  func.return RESULTS : tensor<4xf32>, tensor<4xf32>
}
"""
    for results in ("%y, %y", "%x, %y"):
        check_phases(vm(text.replace("RESULTS", results)), phases=("graph", "tensor"))


def test_refusal_names_the_op():
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @r(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func private @r(%x: tensor<4xf32>) -> tensor<4xf32> attributes {
  target.for = #target.place<@soc, #toy_vm.target, ?>
} {
  %y = graph.relu %x : tensor<4xf32>
  %z = graph.tanh %y : tensor<4xf32>
  func.return %z : tensor<4xf32>
}
"""
    with pytest.raises(OpError) as caught:
        ConvertGraphToToyVmPass().apply(new_context(), vm(text))
    assert str(caught.value) == (
        "model.mlir:10:3: error: no step of the machine computes 'graph.tanh'"
    )


def test_saved(tmp_path: Path):
    """The simulator that runs a module runs a saved program too."""
    module = vm(TWO_REGIONS)
    program = transom.compile(module)
    program.save(tmp_path / "p.transom")
    loaded = load(tmp_path / "p.transom", callbacks={"toy_vm.program": run})
    inputs = random_inputs(module)
    for name, array in program.run(inputs).items():
        np.testing.assert_array_equal(loaded.run(inputs)[name], array)


def test_same_text_again():
    texts = {str(transom.lower(vm(TWO_REGIONS), to="tensor")) for _ in range(2)}
    assert len(texts) == 1
