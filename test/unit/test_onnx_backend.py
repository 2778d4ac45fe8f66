"""
`TransomBackend`: inputs whose values the code must know, reasons, devices.
"""

from unittest import SkipTest

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from transom.frontends.onnx_backend import TransomBackend


def reshape_model() -> onnx.ModelProto:
    graph = helper.make_graph(
        [
            helper.make_node("Add", ["shape", "shape"], ["twice"]),
            helper.make_node("Reshape", ["x", "twice"], ["y"], name="r"),
        ],
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [12]),
            helper.make_tensor_value_info("shape", TensorProto.INT64, [2]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def test_a_model_is_compiled_again_for_other_shapes() -> None:
    prepared = TransomBackend.prepare(reshape_model())
    assert prepared.known == ("shape",)
    x = np.arange(12, dtype=np.float32)
    for shape in ([1, 3], [3, 1], [1, 3]):
        (y,) = prepared.run([x, np.array(shape)])
        np.testing.assert_array_equal(y, x.reshape(2 * np.array(shape)))
    assert len(prepared.programs) == 2
    (named,) = prepared.run({"shape": np.array([1, 3]), "x": x})
    assert named.shape == (2, 6)


def test_what_cannot_be_compiled_is_skipped_with_the_reason() -> None:
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node("StringSplit", ["x"], ["y", "n"], delimiter=",")],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
            [helper.make_tensor_value_info("n", TensorProto.INT64, [1])],
        ),
        opset_imports=[helper.make_opsetid("", 20)],
    )
    with pytest.raises(SkipTest) as caught:
        TransomBackend.prepare(model)
    assert str(caught.value) == (
        "1 of 1 nodes are not supported; 'StringSplit' x1 ('graph' has no strings): 'y'"
    )


def test_absent_inputs_are_skipped() -> None:
    prepared = TransomBackend.prepare(reshape_model())
    with pytest.raises(SkipTest, match="an optional input that is absent"):
        prepared.run([None, np.array([1, 3])])


def test_devices() -> None:
    assert TransomBackend.supports_device("CPU")
    assert not TransomBackend.supports_device("CUDA")
    with pytest.raises(ValueError, match="expected device 'CPU', but got 'CUDA:1'"):
        TransomBackend.prepare(reshape_model(), "CUDA:1")


def test_one_node() -> None:
    node = helper.make_node("ReduceL2", ["x"], ["y"], keepdims=0)
    x = np.array([[3, 4]], np.float32)
    (y,) = TransomBackend.run_node(node, [x], outputs_info=[(np.float32, ())])
    assert y == np.float32(5)
    with pytest.raises(ValueError, match="expected 'outputs_info'"):
        TransomBackend.run_node(node, [x])
