"""
What a model may not be, one test each: refused in one line that names the node, or
handled as the specification says.
"""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_cases import check, floats, ints
from onnx_models import model, node, save, value

import transom
from transom.dialects.diagnostics import OpError, name_of
from transom.dialects.executor import SIGNATURE
from transom.frontends.onnx_backend import TransomBackend
from transom.tools import transom_opt

X = value("x", [2, 3])


def refusal(folder: Path, proto: onnx.ModelProto) -> str:
    """The error and its notes, a line each."""
    with pytest.raises(OpError) as caught:
        transom.load(save(folder, proto))
    error = caught.value
    lines = [error.message, *(note.message for note in error.notes)]
    assert all("\n" not in line for line in lines)
    return "; ".join(lines)


def test_wrong_opset(tmp_path: Path):
    proto = model([node("Relu", "x")], [X])
    proto.opset_import[0].version = 999
    last = onnx.defs.onnx_opset_version()
    expected = f"expected an opset of 1 to {last}, but got 999"
    assert refusal(tmp_path, proto) == expected


def test_no_opset(tmp_path: Path):
    proto = model([node("Relu", "x")], [X])
    del proto.opset_import[:]
    assert refusal(tmp_path, proto) == (
        "expected an ONNX model with a graph and an opset"
    )


def test_missing_attribute(tmp_path: Path):
    proto = model([node("Concat", "x x", name="joined")], [X])
    assert refusal(tmp_path, proto) == (
        "1 of 1 nodes are not supported; "
        "'Concat' x1 (expected attribute 'axis'): 'joined'"
    )


def test_attribute_of_another_type(tmp_path: Path):
    proto = model([node("Softmax", "x", name="soft", axis=1.5)], [X])
    assert refusal(tmp_path, proto).endswith(
        "'Softmax' x1 (expected attribute 'axis' of type INT): 'soft'"
    )


def test_inconsistent_shapes(tmp_path: Path):
    proto = model([node("Add", "x z", name="sum")], [X, value("z", [2, 4])])
    found = refusal(tmp_path, proto)
    assert "'Add' x1 (" in found
    assert found.endswith("'sum'")


def test_inconsistent_types(tmp_path: Path):
    proto = model([node("Add", "x z", name="sum")], [X, value("z", [2, 3], "i64")])
    found = refusal(tmp_path, proto)
    assert "'Add' x1 (" in found
    assert found.endswith("'sum'")


def test_missing_input(tmp_path: Path):
    proto = model([node("Add", "x", name="sum")], [X])
    assert refusal(tmp_path, proto).endswith("'Add' x1 (input 1 is missing): 'sum'")


def test_unknown_domain(tmp_path: Path):
    odd = node("Relu", "x", name="odd")
    odd.domain = "com.example"
    assert refusal(tmp_path, model([odd], [X])).endswith(
        "'Relu' x1 (operators of domain 'com.example' are unknown): 'odd'"
    )


def test_unknown_operator(tmp_path: Path):
    proto = model([node("Odd", "x", name="odd")], [X])
    assert refusal(tmp_path, proto).endswith(
        "'Odd' x1 (there is no such operator in 'graph' yet): 'odd'"
    )


def test_cycle(tmp_path: Path):
    nodes = [node("Add", "x b", "a"), node("Relu", "a", "b"), node("Relu", "b")]
    assert refusal(tmp_path, model(nodes, [X])) == (
        "expected nodes in order, but 'b' is read here and defined by node 2"
    )


def test_node_that_reads_itself(tmp_path: Path):
    assert refusal(tmp_path, model([node("Add", "x y")], [X])) == (
        "expected nodes in order, but 'y' is read here and defined by node 1"
    )


def test_duplicate_names_of_values(tmp_path: Path):
    nodes = [node("Relu", "x"), node("Neg", "x")]
    assert refusal(tmp_path, model(nodes, [X])) == "'y' is defined twice"


def test_duplicate_names_of_nodes(tmp_path: Path):
    """They say nothing to a model; both are in locations."""
    nodes = [node("Neg", "x", "a", name="n"), node("Abs", "a", name="n")]
    module = transom.load(save(tmp_path, model(nodes, [X])))
    names = [name_of(op.location) for op in module.walk() if "graph." in op.name]
    assert names == ["n", "n"]
    x = floats(2, 3)
    np.testing.assert_array_equal(transom.compile(module).run({"x": x})["y"], abs(x))


def test_unnamed_nodes(tmp_path: Path):
    """A node without a name has that of its first output."""
    nodes = [node("Neg", "x", "a"), node("Abs", "a")]
    module = check(tmp_path, nodes, {"x": floats(2, 3)})
    names = [name_of(op.location) for op in module.walk() if "graph." in op.name]
    assert names == ["a", "y"]


def test_value_that_is_not_there(tmp_path: Path):
    assert refusal(tmp_path, model([node("Add", "x nothing")], [X])) == (
        "'nothing' is no value of the graph"
    )


def test_zero_sized_dims(tmp_path: Path):
    inputs = {"x": floats(0, 3)}
    nodes = [node("Relu", "x", "a"), node("ReduceSum", "a", "y", keepdims=0)]
    check(tmp_path, nodes, inputs, opset=18)
    joined = node("Concat", "x z", axis=0)
    check(tmp_path, [joined], {**inputs, "z": floats(2, 3)})
    check(tmp_path, [node("MatMul", "x z")], {**inputs, "z": floats(3, 4)})
    path = save(tmp_path, model(nodes, [value("x", [0, 3])], opset=18))
    assert transom.compile(transom.load(path)).run(inputs)["y"] == 0


def test_rank_0_tensors(tmp_path: Path):
    scalar = {"x": np.array(2.5, np.float32)}
    for kind in ("Relu", "Exp", "Identity"):
        check(tmp_path, [node(kind, "x")], scalar)
    check(tmp_path, [node("Add", "x w")], scalar, {"w": floats(3)})
    check(tmp_path, [node("Reshape", "x s")], scalar, {"s": ints(1, 1)})
    path = save(tmp_path, model([node("Exp", "x")], [value("x", [])]))
    found = transom.compile(transom.load(path)).run(scalar)["y"]
    assert found.shape == ()
    np.testing.assert_allclose(found, np.exp(2.5), 1e-6)


@pytest.mark.parametrize(
    "wrong",
    [
        node("Softmax", "x"),
        node("MatMul", "x x"),
        node("MaxPool", "x", kernel_shape=[2]),
    ],
    ids=lambda wrong: wrong.op_type,
)
def test_rank_0_where_dimensions_are_needed(tmp_path: Path, wrong: onnx.NodeProto):
    proto = model([wrong], [value("x", [])])
    assert f"'{wrong.op_type}' x1 (" in refusal(tmp_path, proto)


def test_initializers_that_are_inputs(tmp_path: Path):
    """As before IR version 4: values of the model, not inputs of the program."""
    weights = {"w": floats(3)}
    proto = model([node("Add", "x w")], [X, value("w", [3])], weights=weights)
    path = save(tmp_path, proto)
    program = transom.compile(transom.load(path))
    x = floats(2, 3)
    np.testing.assert_array_equal(program.run({"x": x})["y"], x + weights["w"])
    (found,) = TransomBackend.prepare(proto).run([x])
    np.testing.assert_array_equal(found, x + weights["w"])


def test_empty_optional_inputs(tmp_path: Path):
    """An empty name is an input that is left out."""
    clip = node("Clip", "x _ high")
    check(tmp_path, [clip], {"x": floats(2, 3)}, {"high": np.float32(0.5)})
    resize = node("Resize", "x _ _ s", mode="nearest")
    check(tmp_path, [resize], {"x": floats(1, 1, 2, 3)}, {"s": ints(1, 1, 4, 6)})


def test_empty_input_that_is_needed(tmp_path: Path):
    proto = model([node("Add", "_ x", name="sum")], [X])
    assert refusal(tmp_path, proto).endswith("'Add' x1 (input 0 is missing): 'sum'")


def test_input_of_an_unknown_type(tmp_path: Path):
    info = helper.make_tensor_value_info("x", TensorProto.STRING, [2])
    assert refusal(tmp_path, model([node("Identity", "x")], [info])) == (
        "input 'x': elements of type STRING are not supported"
    )


def test_all_in_one_run(tmp_path: Path):
    """With counts, names and reasons."""
    nodes: list[Any] = [node("Odd", "x", f"a{i}", name=f"odd{i}") for i in range(3)]
    nodes += [node("Concat", "x x", "c", name="joined"), node("Add", "a0 c")]
    assert refusal(tmp_path, model(nodes, [X])) == (
        "4 of 5 nodes are not supported; "
        "'Odd' x3 (there is no such operator in 'graph' yet): 'odd0', 'odd1', 'odd2'; "
        "'Concat' x1 (expected attribute 'axis'): 'joined'"
    )


def test_names_of_nodes_survive_to_the_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """The calls that are left at phase `machine` say which nodes they come from."""
    nodes = [
        node("MatMul", "x w", "a", name="fc/MatMul"),
        node("Relu", "a", "b", name="fc/Relu"),
        node("Softmax", "b", name="probabilities"),
    ]
    path = save(tmp_path, model(nodes, [X], weights={"w": floats(3, 4)}))
    for phase in ("tensor", "planned", "executable", "machine"):
        assert transom_opt.main([str(path), f"--to={phase}", "--print-debuginfo"]) == 0
        text = capsys.readouterr().out
        for number, proto in enumerate(nodes, 1):
            assert f'"{proto.name}"("{path}":{number}:1)' in text, phase
    assert SIGNATURE in text
