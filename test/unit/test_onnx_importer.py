"""
Models as a whole: shapes that they compute, sizes, borders, weights and locations.
"""

from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx_cases import M, X, check, floats, ints
from onnx_models import KINDS, light_model, model, node, save, value
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.printer import Printer

import transom
from transom.dialects import graph, tir
from transom.dialects.diagnostics import name_of, position_of
from transom.testing import check_phases, reread

# Shapes that the model computes


def flattened(last: int) -> list[onnx.NodeProto]:
    """`x` as a matrix whose rows are its first dimension, as exporters write it."""
    return [
        node("Shape", "x", "shape"),
        node("Constant", "", "zero", value_int=0),
        node("Gather", "shape zero", "rows"),
        node("Constant", "", "axes", value_ints=[0]),
        node("Unsqueeze", "rows axes", "first"),
        node("Constant", "", "last", value_ints=[last]),
        node("Concat", "first last", "wanted", axis=0),
        node("Reshape", "x wanted", "y"),
    ]


@pytest.mark.parametrize("rows", [2, "N", None])
def test_computed_shapes(tmp_path: Path, rows: int | str | None):
    shapes = {"x": [rows, 3, 5, 7]}
    module = check(tmp_path, flattened(-1), X, shapes=shapes)
    assert not any(isinstance(op, graph.WeightOp) for op in module.walk())
    if rows is None:
        check(tmp_path, flattened(105), X, shapes={"x": [None, "C", None, "W"]})


def test_arithmetic_on_shapes(tmp_path: Path):
    nodes = [
        node("Shape", "x", "s"),
        node("Slice", "s b e", "rows"),
        node("Slice", "s e f", "columns"),
        node("Mul", "rows columns", "count"),
        node("Div", "count two", "half"),
        node("Sub", "half half", "zero"),
        node("Add", "zero half", "same"),
        node("Equal", "same half", "is"),
        node("Where", "is same half", "size"),
        node("Cast", "size", "narrow", to=KINDS["i32"]),
        node("Cast", "narrow", "wide", to=KINDS["i64"]),
        node("Concat", "two wide", "wanted", axis=0),
        node("Reshape", "x wanted", "y"),
        node("Size", "x", "n"),
        node("Range", "nought n step", "r"),
    ]
    weights = {"b": ints(0), "e": ints(1), "f": ints(2), "two": ints(2)}
    weights |= {"nought": ints(0)[0], "step": ints(5)[0]}
    module = check(tmp_path, nodes, M, weights, outputs=["y", "wanted", "r"])
    kinds = {type(op) for op in module.walk()}
    assert kinds == {ModuleOp, FuncOp, ReturnOp, graph.ConstantOp, graph.ReshapeOp}


# Symbolic sizes


def test_symbolic_sizes(tmp_path: Path):
    shapes = {"x": ["N", 6], "z": ["N", 6]}
    weights = {"w": floats(6, 5)}
    nodes = [node("Add", "x z", "a"), node("MatMul", "a w", "y")]
    both = {"x": floats(3, 6), "z": floats(3, 6)}
    module = check(tmp_path, nodes, both, weights, shapes=shapes)
    assert 'tensor<?x5xf32, #graph.desc<dims = ["N"]>>' in str(module)
    check_phases(module, sizes={"N": 4})


def test_sizes_without_a_name(tmp_path: Path):
    for unknown in (None, "?", -1):
        nodes, inputs = [node("Relu", "x")], {"x": floats(2, 3)}
        module = check(tmp_path, nodes, inputs, shapes={"x": [unknown, unknown]})
        assert "tensor<?x?xf32>" in str(module)


# The borders of the graph


def test_values_that_are_outputs_as_they_are(tmp_path: Path):
    """An input, a weight, a constant, a value twice: all may be outputs."""
    nodes = [
        node("Relu", "x", "y"),
        node("Identity", "y", "again"),
        node("Shape", "x", "shape"),
    ]
    weights = {"w": floats(4, 6), "one": ints(1)}
    outputs = ["y", "x", "w", "again", "shape", "one"]
    module = check(tmp_path, nodes, M, weights, outputs=outputs)
    check_phases(module, M)


def test_inputs_that_have_initialisers(tmp_path: Path):
    """Before IR version 4 initialisers were listed as inputs."""
    proto = model(
        [node("Add", "x w")],
        [value("x", [2]), value("w", [2])],
        weights={"w": floats(2)},
    )
    module = transom.load(save(tmp_path, proto))
    (main,) = (op for op in module.walk() if isinstance(op, FuncOp))
    assert len(main.body.block.args) == 1


def test_unused_weights_are_not_read(tmp_path: Path):
    proto = model([node("Relu", "x")], [value("x", [2])], weights={"w": floats(9)})
    proto.graph.initializer[0].raw_data = b"broken"
    assert "weight" not in str(transom.load(save(tmp_path, proto)))


NAMES = ["main", "host", "main_region_0", "kernel", "expf", "memcpy", "main.shapes"]


def test_names_that_the_compiler_uses(tmp_path: Path):
    weights = {name: floats(2, 3) for name in NAMES}
    nodes = [node("Sum", " ".join(["x", *NAMES]), "sum"), node("Exp", "sum")]
    module = check(tmp_path, nodes, {"x": floats(2, 3)}, weights)
    check_phases(module)


def test_names_of_any_kind(tmp_path: Path):
    """Names are any text that can be printed."""
    odd = ['a"b', "a\\b", "layer/1:0", "größe", "%x", "1", "}"]
    weights = {name: floats(2, 3) for name in odd}
    nodes = [node("Sum", " ".join(["x", *odd]), "sum"), node("Exp", "sum", name='"\\')]
    module = check(tmp_path, nodes, {"x": floats(2, 3)}, weights)
    reread(module)
    check_phases(module, phases=["graph", "tensor", "machine"])


# Weights


def test_weights_stay_in_the_file(tmp_path: Path):
    weights = {"w": floats(6, 300), "b": floats(300), "one": np.float32(2)}
    nodes = [node("Gemm", "x w b", "g"), node("Mul", "g one")]
    module = check(tmp_path, nodes, M, weights)
    found = [op for op in module.walk() if isinstance(op, graph.WeightOp)]
    assert [op.sym_name.data for op in found] == ["w", "b"]
    assert all(isinstance(op.value, graph.FileAttr) for op in found)
    assert '#graph.file<"m.onnx", "w", sha256 = "' in str(module)
    assert "graph.constant dense<2.000000e+00> : tensor<f32>" in str(module)


def test_constants_of_nodes_stay_in_the_file(tmp_path: Path):
    tensor = onnx.numpy_helper.from_array(floats(4, 6), "ignored")
    nodes = [node("Constant", "", "k", value=tensor), node("Add", "x k")]
    module = check(tmp_path, nodes, M)
    assert 'graph.weight @k = #graph.file<"m.onnx", "k", sha256' in str(module)


def test_a_file_of_any_name(tmp_path: Path):
    proto = model([node("Add", "x w")], [value("x", [2])], weights={"w": floats(2)})
    module = transom.load(save(tmp_path, proto, "model.pb"), format="onnx")
    check_phases(module)


def test_initialisers_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from transom.dialects import onnx_weights, weight_files

    count = {"parse": 0, "read": 0}

    def counted(name: str, function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            count[name] += 1
            return function(*args, **kwargs)

        return call

    for module, name, key in (
        (onnx_weights, "scan_model", "parse"),
        (weight_files, "checked_flat", "read"),
        (onnx_weights, "checked_flat", "read"),
    ):
        monkeypatch.setattr(module, name, counted(key, getattr(module, name)))
    weights = {"w": floats(6, 5), "b": floats(5), "s": ints(2, 10)}
    nodes = [
        node("Gemm", "x w b", "g"),
        node("Add", "g b", "a"),
        node("MatMul", "x w", "m"),
        node("Mul", "a m", "p"),
        node("Reshape", "p s"),
    ]
    infos = [value("x", [4, 6])]
    transom.load(save(tmp_path, model(nodes, infos, weights=weights)))
    assert count == {"parse": 1, "read": 3}


# Locations


def test_locations_survive_to_kernels(tmp_path: Path):
    nodes = [
        node("Gemm", "x w", "g", name="fc/MatMul"),
        node("Relu", "g", "r", name="fc/Relu"),
        node("Softmax", "r", "y"),
    ]
    weights = {"w": floats(6, 5)}
    path = save(tmp_path, model(nodes, [value("x", [4, 6])], weights=weights))
    module = transom.load(path)
    places = {
        name_of(op.location): position_of(op.location)
        for op in module.walk()
        if isinstance(op, graph.MatmulOp | graph.ReluOp | graph.SoftmaxOp)
    }
    assert places == {
        "fc/MatMul": (str(path), 1, 1),
        "fc/Relu": (str(path), 2, 1),
        "y": (str(path), 3, 1),
    }
    tensor = transom.lower(module, to="tensor")
    calls = [op for op in tensor.walk() if isinstance(op, tir.CallOp)]
    text = " ".join(str(op.location) for op in calls)
    for number, name in enumerate(("fc/MatMul", "fc/Relu", "y"), 1):
        assert f'"{name}"("{path}":{number}:1)' in text
    printed = StringIO()
    Printer(printed, print_debuginfo=True).print_op(tensor)
    assert f'"fc/MatMul"("{path}":1:1)' in printed.getvalue()


def test_a_light_model_on_the_way(tmp_path: Path):
    """The light model's names are those of its outputs, as its nodes have none."""
    path = light_model("squeezenet", tmp_path)
    module = transom.load(path)
    first = next(op for op in module.walk() if isinstance(op, graph.Conv2dOp))
    assert position_of(first.location) == (str(path), 1, 1)
