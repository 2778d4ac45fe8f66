"""
`If`, `Loop` and `Scan` that are only decided when a model runs: native and interpreted,
against onnxruntime.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_cases import floats, ints
from onnx_models import model, node, runtime_outputs, save, value
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp

import transom
from transom.dialects.diagnostics import OpError
from transom.testing import check_phases, interpret, reread

TRUE, FALSE = np.array(True), np.array(False)


def info(name: str, shape: Sequence[Any], kind: int = TensorProto.FLOAT) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def turn_infos() -> list[Any]:
    return [info("i", [], TensorProto.INT64), info("c", [], TensorProto.BOOL)]


def run_all(
    folder: Path, proto: onnx.ModelProto, *cases: Mapping[str, Any]
) -> ModuleOp:
    """Compile once, and compare each case with onnxruntime."""
    path = save(folder, proto)
    module = transom.load(path)
    module.verify()
    program = transom.compile(module)
    again = reread(module)
    for inputs in cases:
        expected = runtime_outputs(path, inputs)
        for found in (program.run(dict(inputs)), interpret(again, inputs, base=folder)):
            for name, array in zip(found, expected, strict=True):
                assert (found[name].dtype, found[name].shape) == (
                    array.dtype,
                    array.shape,
                )
                np.testing.assert_allclose(found[name], array, 1e-5, 1e-6, err_msg=name)
    return module


def only(module: ModuleOp, kind: type[Any]) -> Any:
    (op,) = (op for op in module.walk() if isinstance(op, kind))
    return op


# If


def branches(then: onnx.NodeProto, other: onnx.NodeProto, name: str = "c") -> Any:
    graphs = [
        helper.make_graph([n], "g", [], [info(n.output[0], ["N", 3])])
        for n in (then, other)
    ]
    return node("If", name, then_branch=graphs[0], else_branch=graphs[1])


def test_if(tmp_path: Path):
    """Branches see the values around them, and weights are read once for both."""
    either = branches(node("Add", "x w", "p"), node("Mul", "x w", "q"))
    nodes = [either, node("Add", "y w", "z")]
    infos = [value("c", [], "i1"), value("x", ["N", 3])]
    proto = model(nodes, infos, ["y", "z"], {"w": floats(3)})
    cases = [{"c": c, "x": floats(n, 3)} for c in (TRUE, FALSE) for n in (1, 4)]
    module = run_all(tmp_path, proto, *cases)
    assert len(only(module, scf.IfOp).results) == 1
    check_phases(module, cases[0])


def test_if_within_if(tmp_path: Path):
    inner = branches(node("Neg", "x", "p"), node("Abs", "x", "q"), "d")
    inner.output[0] = "r"
    outer = branches(inner, node("Relu", "x", "s"))
    infos = [value("c", [1], "i1"), value("d", [], "i1"), value("x", [2, 3])]
    proto = model([outer], infos)
    run_all(
        tmp_path,
        proto,
        *(
            {"c": c.reshape(1), "d": d, "x": floats(2, 3)}
            for c in (TRUE, FALSE)
            for d in (TRUE, FALSE)
        ),
    )


def test_if_of_other_types(tmp_path: Path):
    then = helper.make_graph([node("Neg", "x", "p")], "g", [], [info("p", [2, 3])])
    other = helper.make_graph(
        [node("ReduceSum", "x", "q")], "g", [], [info("q", [1, 1])]
    )
    nodes = [node("If", "c", then_branch=then, else_branch=other)]
    path = save(tmp_path, model(nodes, [value("c", [], "i1"), value("x", [2, 3])]))
    with pytest.raises(OpError) as caught:
        transom.load(path)
    assert caught.value.notes[0].message == (
        "'If' x1 (expected branches that give values of one type, but got "
        "'tensor<2x3xf32>' and 'tensor<1x1xf32>'): 'y'"
    )


# Loop


def doubling() -> Any:
    """Doubles `a` while its sum is below a limit, and collects it."""
    nodes = [
        node("Add", "a a", "b"),
        node("ReduceSum", "b", "s", keepdims=0),
        node("Less", "s limit", "still"),
        node("Mul", "b w", "row"),
    ]
    outputs = [info("still", [], TensorProto.BOOL), info("b", [3]), info("row", [3])]
    return helper.make_graph(nodes, "body", [*turn_infos(), info("a", [3])], outputs)


def test_loop_with_a_condition(tmp_path: Path):
    """As many rows are collected as there were turns."""
    loop = node("Loop", "m c x", "y rows", body=doubling())
    infos = [value("c", [], "i1"), value("x", [3]), value("limit", [])]
    proto = model([loop], infos, ["y", "rows"], {"m": ints(9)[0], "w": floats(3)})
    ones = np.ones(3, np.float32)
    cases = [
        {"c": c, "x": ones, "limit": np.array(limit, np.float32)}
        for c, limit in ((TRUE, 50), (TRUE, 1e9), (TRUE, 0), (FALSE, 50))
    ]
    module = run_all(tmp_path, proto, *cases)
    assert only(module, scf.WhileOp)


def test_loop_with_a_count(tmp_path: Path):
    """The number of turns is an input; a size is carried that stays open."""
    nodes = [
        node("Cast", "i", "f", to=TensorProto.FLOAT),
        node("Add", "a f", "b"),
        node("Identity", "c", "still"),
    ]
    outputs = [info("still", [], TensorProto.BOOL), info("b", ["N"])]
    body = helper.make_graph(nodes, "body", [*turn_infos(), info("a", ["N"])], outputs)
    loop = node("Loop", "m _ x", body=body)
    proto = model([loop], [value("m", [], "i64"), value("x", ["N"])])
    cases = [
        {"m": np.array(m, np.int64), "x": floats(n)}
        for m, n in ((0, 2), (1, 2), (7, 5))
    ]
    run_all(tmp_path, proto, *cases)


def test_loop_of_many_turns_stays_a_loop(tmp_path: Path):
    nodes = [node("Add", "a x", "b"), node("Identity", "c", "still")]
    outputs = [info("still", [], TensorProto.BOOL), info("b", [2]), info("b", [2])]
    outputs[2].name = "row"
    nodes.append(node("Neg", "b", "row"))
    body = helper.make_graph(nodes, "body", [*turn_infos(), info("a", [2])], outputs)
    loop = node("Loop", "m c x", "y rows", body=body)
    weights = {"m": ints(600)[0], "c": TRUE}
    proto = model([loop], [value("x", [2])], ["y", "rows"], weights)
    module = run_all(tmp_path, proto, {"x": np.array([1, 2], np.float32)})
    assert len(list(module.walk())) < 60


def test_loop_that_grows(tmp_path: Path):
    body = helper.make_graph(
        [node("Concat", "a a", "b", axis=0), node("Identity", "c", "still")],
        "body",
        [*turn_infos(), info("a", ["N"])],
        [info("still", [], TensorProto.BOOL), info("b", ["N"])],
    )
    loop = node("Loop", "m _ x", body=body)
    path = save(tmp_path, model([loop], [value("m", [], "i64"), value("x", [2])]))
    with pytest.raises(OpError) as caught:
        transom.load(path)
    assert caught.value.notes[0].message == (
        "'Loop' x1 (expected a carried value of one type, but got 'tensor<2xf32>' and "
        "'tensor<4xf32>'): 'y'"
    )


def test_loop_without_a_bound(tmp_path: Path):
    loop = node("Loop", "m c x", "y rows", body=doubling())
    infos = [value("m", [], "i64"), value("c", [], "i1"), value("x", [3])]
    infos.append(value("limit", []))
    path = save(tmp_path, model([loop], infos, ["y", "rows"], {"w": floats(3)}))
    with pytest.raises(OpError) as caught:
        transom.load(path)
    assert caught.value.notes[0].message == (
        "'Loop' x1 (expected a constant limit of at most 1048576 turns, as values are "
        "collected): 'y'"
    )


# Scan


@pytest.mark.parametrize("back", [0, 1])
@pytest.mark.parametrize("axis", [0, 1])
def test_scan_of_any_length(tmp_path: Path, back: int, axis: int):
    nodes = [node("Add", "s e", "t"), node("Mul", "t w", "row")]
    inputs, outputs = (
        [info("s", [2]), info("e", [2])],
        [info("t", [2]), info("row", [2])],
    )
    body = helper.make_graph(nodes, "body", inputs, outputs)
    scan = node(
        "Scan",
        "s0 x",
        "y rows",
        body=body,
        num_scan_inputs=1,
        scan_input_axes=[axis],
        scan_input_directions=[back],
        scan_output_axes=[axis],
        scan_output_directions=[1 - back],
    )
    shape = ["T", 2] if axis == 0 else [2, "T"]
    infos = [value("s0", [2]), value("x", shape)]
    proto = model([scan], infos, ["y", "rows"], {"w": floats(2)})
    cases = [
        {"s0": floats(2), "x": floats(n, 2) if axis == 0 else floats(2, n)}
        for n in (1, 2, 7)
    ]
    run_all(tmp_path, proto, *cases)


# Sizes that are values


def test_sizes_as_values(tmp_path: Path):
    """A shape that is not static takes part in what a model computes."""
    nodes = [
        node("Shape", "x", "s"),
        node("Mul", "s two", "d"),
        node("Gather", "s one", "w"),
        node("Cast", "w", "f", to=TensorProto.FLOAT),
        node("Div", "x f", "y"),
    ]
    weights = {"two": ints(2), "one": ints(1)[0]}
    proto = model(nodes, [value("x", ["N", "W", 3])], ["y", "d"], weights)
    run_all(tmp_path, proto, *({"x": floats(n, w, 3)} for n, w in ((1, 2), (4, 5))))
