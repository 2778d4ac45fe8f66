"""
Sizes that are known when they run; constants, weights, groups and marks.
"""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from interpreter_cases import interpret, parse, same
from safetensors import numpy as safetensors_numpy

from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.interpreters.interpreter import Interpreter
from transom.interpreters.weights import WeightStore

BF16 = ml_dtypes.bfloat16


BROADCAST = """
func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %y = graph.add %a, %b : tensor<?xf32>
  func.return %y : tensor<?xf32>
}"""


def test_dynamic_sizes_broadcast():
    a = np.ones(3, np.float32)
    same(interpret(BROADCAST, a, a[:1]), a + a)
    with pytest.raises(OpError, match=r"cannot evaluate 'graph.add': shape mismatch"):
        interpret(BROADCAST, a, a[:2])


def test_a_result_of_another_size_than_its_type_says():
    text = """
func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<3xf32> {
  %y = graph.add %a, %b : tensor<?xf32>, tensor<?xf32> -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}"""
    a = np.ones(3, np.float32)
    same(interpret(text, a, a), a + a)
    with pytest.raises(OpError) as raised:
        interpret(text, a[:2], a[:2])
    assert raised.value.message == (
        "cannot evaluate 'graph.add': expected 'tensor<3xf32>', but the sizes are [2]"
    )


def test_a_huge_broadcast_is_refused():
    text = """
func.func @main(%a: tensor<?x1xf32>, %b: tensor<1x?xf32>) -> tensor<?x?xf32> {
  %y = graph.add %a, %b : tensor<?x1xf32>, tensor<1x?xf32> -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}"""
    a = np.zeros(10**6, np.float32)
    with pytest.raises(OpError) as raised:
        interpret(text, a[:, None], a[None])
    assert raised.value.message.startswith("expected at most 4294967296 bytes")


def test_constants():
    text = """
func.func @main() -> (tensor<2x2xi8>, tensor<2xui8>, tensor<i1>, tensor<2xbf16>) {
  %a = graph.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xi8>
  %b = graph.constant dense<255> : tensor<2xui8>
  %c = graph.constant dense<true> : tensor<i1>
  %d = graph.constant dense<1.5> : tensor<2xbf16>
  func.return %a, %b, %c, %d : tensor<2x2xi8>, tensor<2xui8>, tensor<i1>, tensor<2xbf16>
}"""
    a, b, c, d = interpret(text)
    same(a, np.array([[1, -2], [3, 4]], np.int8))
    same(b, np.array([255, 255], np.uint8))
    same(c, np.array(True))
    same(d, np.array([1.5, 1.5], BF16))


def test_groups_and_marks():
    place = "#target.place<@npu, ?, @sram>"
    stored = f"tensor<2xf32, #graph.desc<place = {place}>>"
    text = f"""
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
  %y = graph.composite "acme.double" (%a = %x : tensor<2xf32>) -> (tensor<2xf32>) {{
    %s = graph.add %a, %a : tensor<2xf32>
    graph.yield %s : tensor<2xf32>
  }}
  %z = graph.fused (%b = %y : tensor<2xf32>, %c = %x : tensor<2xf32>)
      -> (tensor<2xf32>) {{
    %t = graph.sub %b, %c : tensor<2xf32>
    graph.yield %t : tensor<2xf32>
  }}
  %w = graph.on_device %z hint {place} : tensor<2xf32>
  %v = graph.copy %w : tensor<2xf32> -> {stored}
  %u = tensor.cast %v : {stored} to tensor<2xf32>
  func.return %u : tensor<2xf32>
}}"""
    x = np.array([1, 2], np.float32)
    same(interpret(text, x), x)


WEIGHTS = """
graph.weight @w = #graph.file<"m.safetensors", "w"> : tensor<2xf32>
graph.weight @c = dense<[3.0, 4.0]> : tensor<2xf32>
graph.weight @folded : tensor<2xf32> {
  %w = graph.weight_ref @w : tensor<2xf32>
  %c = graph.weight_ref @c : tensor<2xf32>
  %p = graph.mul %w, %c : tensor<2xf32>
  graph.yield %p : tensor<2xf32>
}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %f = graph.weight_ref @folded : tensor<2xf32>
  %y = graph.add %x, %f : tensor<2xf32>
  func.return %y : tensor<2xf32>
}"""


def test_weights(tmp_path: Path):
    w = np.array([1, 2], np.float32)
    (tmp_path / "m.safetensors").write_bytes(safetensors_numpy.save({"w": w}))
    module = parse(WEIGHTS)
    store = WeightStore(module, tmp_path)
    interpreter = Interpreter(module, weights=store)
    (y,) = interpreter.run("main", [w])
    same(y, np.array([4, 10], np.float32))
    folded = next(
        op
        for op in module.ops
        if isinstance(op, graph.WeightOp) and op.sym_name.data == "folded"
    )
    assert store(folded) is store(folded)
    assert not store(folded).flags.writeable


def test_weights_without_a_folder():
    with pytest.raises(OpError) as raised:
        interpret(WEIGHTS, np.ones(2, np.float32))
    assert raised.value.message == (
        "expected a folder to read 'm.safetensors' from, but got none"
    )


def test_weight_that_cannot_be_read(tmp_path: Path):
    module = parse(WEIGHTS)
    with pytest.raises(OpError) as raised:
        Interpreter(module, weights=WeightStore(module, tmp_path)).run(
            "main", [np.ones(2, np.float32)]
        )
    assert raised.value.message == (
        "cannot read 'm.safetensors': No such file or directory"
    )
