"""
Small ONNX models made by hand, and the light models of the `onnx` wheel with weights
that are worth computing with.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

Shape = Sequence[int | str | None]

OPSET = 17

KINDS: dict[str, int] = {
    "f32": onnx.TensorProto.FLOAT,
    "f16": onnx.TensorProto.FLOAT16,
    "f64": onnx.TensorProto.DOUBLE,
    "i1": onnx.TensorProto.BOOL,
    "i8": onnx.TensorProto.INT8,
    "i16": onnx.TensorProto.INT16,
    "i32": onnx.TensorProto.INT32,
    "i64": onnx.TensorProto.INT64,
    "ui8": onnx.TensorProto.UINT8,
    "ui16": onnx.TensorProto.UINT16,
    "ui32": onnx.TensorProto.UINT32,
    "ui64": onnx.TensorProto.UINT64,
}


def value(
    name: str, shape: Shape | None = None, kind: str = "f32"
) -> onnx.ValueInfoProto:
    """An input or output."""
    return helper.make_tensor_value_info(name, KINDS[kind], shape)


def node(
    kind: str, inputs: str, outputs: str = "y", name: str = "", **attributes: Any
) -> onnx.NodeProto:
    """A node; names are separated by spaces, and `_` is one that is left out."""
    names = [["" if n == "_" else n for n in s.split()] for s in (inputs, outputs)]
    return helper.make_node(kind, *names, name=name, **attributes)


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto] = (),
    outputs: Sequence[str] = ("y",),
    weights: Mapping[str, Any] | None = None,
    *,
    opset: int = OPSET,
) -> onnx.ModelProto:
    """A model; the types of outputs are left open."""
    initializers = [
        numpy_helper.from_array(np.asarray(array), name)
        for name, array in (weights or {}).items()
    ]
    infos = [helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = helper.make_graph(nodes, "g", inputs, infos, initializers)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8
    )


def save(folder: Path, proto: onnx.ModelProto, name: str = "m.onnx") -> Path:
    """Write a model as it is, right or wrong."""
    path = folder / name
    path.write_bytes(proto.SerializeToString())
    return path


def light_model(name: str, folder: Path, seed: int = 0) -> Path:
    """
    A light model of the `onnx` wheel with random weights, up to the last softmax.

    Its weights are nodes that repeat 0.02; they become initialisers of He scale.
    """
    root = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    proto = onnx.ModelProto.FromString((root / f"light_{name}.onnx").read_bytes())
    graph = proto.graph
    nodes = list(graph.node)
    if nodes[-1].op_type == "Softmax":
        last = nodes.pop()
        del graph.output[:]
        graph.output.append(value(last.input[0]))
    shapes = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    readers = {name: (n.op_type, i) for n in nodes for i, name in enumerate(n.input)}
    rng = np.random.default_rng(seed)
    weights: list[onnx.TensorProto] = []
    for n in nodes:
        if n.op_type == "ConstantOfShape":
            reader = readers[n.output[0]]
            array = _random_weight(rng, shapes[n.input[0]].tolist(), *reader)
            weights.append(numpy_helper.from_array(array, n.output[0]))
    nodes = [n for n in nodes if n.op_type != "ConstantOfShape"]
    read = {name for n in nodes for name in n.input}
    weights += [t for t in graph.initializer if t.name in read]
    names = {t.name for t in weights}
    inputs = [v for v in graph.input if v.name in read - names]
    replaced: list[tuple[Any, list[Any]]] = [
        (graph.node, nodes),
        (graph.initializer, weights),
        (graph.input, inputs),
    ]
    for field, values in replaced:
        del field[:]
        field.extend(values)
    proto.ir_version = 8
    return save(folder, proto, f"{name}.onnx")


def _random_weight(
    rng: np.random.Generator, shape: list[int], operator: str, position: int
) -> Any:
    if operator in ("Conv", "Gemm") and position == 1:
        scale = np.sqrt(2 / np.prod(shape[1:]))
        return (rng.standard_normal(shape) * scale).astype(np.float32)
    if operator == "BatchNormalization" and position in (1, 4):
        return rng.uniform(0.6, 1.4, shape).astype(np.float32)
    return (rng.standard_normal(shape) * 0.1).astype(np.float32)


def runtime_outputs(path: Path, inputs: Mapping[str, Any]) -> list[Any]:
    """What onnxruntime computes, with one thread."""
    runtime: Any = import_module("onnxruntime")  # which has no types
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = runtime.InferenceSession(
        str(path), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, dict(inputs))
