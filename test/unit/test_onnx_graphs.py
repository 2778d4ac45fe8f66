"""
Nodes with graphs of their own, operators that are functions, and picking by place: they
compute what onnxruntime does.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_cases import X, check, floats, ints
from onnx_models import model, node, save, value

import transom
from transom.dialects.diagnostics import OpError


def graph(
    nodes: list[onnx.NodeProto], inputs: str, outputs: str, **weights: Any
) -> onnx.GraphProto:
    """A graph for an attribute."""
    return helper.make_graph(
        nodes,
        "body",
        [helper.make_empty_tensor_value_info(n) for n in inputs.split()],
        [helper.make_empty_tensor_value_info(n) for n in outputs.split()],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in weights.items()],
    )


def typed(
    body: onnx.GraphProto, kinds: Mapping[str, tuple[int, list[int]]]
) -> onnx.GraphProto:
    """onnxruntime wants the types of a body's inputs and outputs."""
    for info in (*body.input, *body.output):
        kind, shape = kinds[info.name]
        info.type.CopyFrom(helper.make_tensor_type_proto(kind, shape))
    return body


FLOAT, INT64, BOOL = map(int, (TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL))

Kinds = dict[str, tuple[int, list[int]]]
"""Element types and shapes by name."""


@pytest.mark.parametrize("taken", [True, False])
def test_if(tmp_path: Path, taken: bool):
    kinds: Kinds = {"t": (FLOAT, [2, 3]), "e": (FLOAT, [2, 3])}
    branches: dict[str, Any] = {
        "then_branch": typed(graph([node("Neg", "x", "t")], "", "t"), kinds),
        "else_branch": typed(
            graph([node("Add", "x one", "e")], "", "e", one=np.float32(1)), kinds
        ),
    }
    check(
        tmp_path,
        [node("If", "c", "y", **branches)],
        {"x": floats(2, 3)},
        {"c": np.array(taken)},
    )


def test_loop(tmp_path: Path):
    """Values from outside, carried ones, ones that are collected; names that shadow."""
    nodes = [
        node("Add", "v x", "next"),
        node("Mul", "next next", "square"),
        node("Identity", "on", "going"),
    ]
    kinds: Kinds = {
        "turn": (INT64, []),
        "on": (BOOL, []),
        "v": (FLOAT, [2, 3]),
        "going": (BOOL, []),
        "next": (FLOAT, [2, 3]),
        "square": (FLOAT, [2, 3]),
    }
    body = typed(graph(nodes, "turn on v", "going next square"), kinds)
    check(
        tmp_path,
        [node("Loop", "n go x", "y z", body=body), node("Neg", "y", "next")],
        {"x": floats(2, 3)},
        {"n": np.int64(4), "go": np.array(True)},
        outputs=["next", "y", "z"],
    )


def test_loop_that_ends_by_its_condition(tmp_path: Path):
    nodes = [node("Add", "v x", "next"), node("Less", "turn two", "going")]
    kinds: Kinds = {
        "turn": (INT64, []),
        "on": (BOOL, []),
        "v": (FLOAT, [3]),
        "going": (BOOL, []),
        "next": (FLOAT, [3]),
    }
    body = typed(graph(nodes, "turn on v", "going next", two=np.int64(2)), kinds)
    check(
        tmp_path,
        [node("Loop", "n go x", "y", body=body)],
        {"x": floats(3)},
        {"n": np.int64(100), "go": np.array(True)},
    )


@pytest.mark.parametrize("back", [0, 1])
def test_scan(tmp_path: Path, back: int):
    nodes = [node("Add", "sum part", "next"), node("Identity", "next", "out")]
    kinds: Kinds = {name: (FLOAT, [2]) for name in ("sum", "part", "next", "out")}
    body = typed(graph(nodes, "sum part", "next out"), kinds)
    check(
        tmp_path,
        [
            node(
                "Scan",
                "s x",
                "y z",
                body=body,
                num_scan_inputs=1,
                scan_input_axes=[1],
                scan_input_directions=[back],
                scan_output_axes=[1],
                scan_output_directions=[back],
            )
        ],
        {"s": floats(2), "x": floats(2, 5)},
        outputs=["y", "z"],
    )


def refused(tmp_path: Path, nodes: list[onnx.NodeProto], **weights: Any) -> str:
    proto = model(nodes, [value("x", [2, 3])], ["y"], weights)
    with pytest.raises(OpError) as caught:
        transom.load(save(tmp_path, proto))
    return caught.value.notes[0].message


def test_graphs_in_graphs_are_limited(tmp_path: Path):
    body = graph([node("Neg", "x", "t")], "", "t")
    for _ in range(10):
        inner = node("If", "c", "t", then_branch=body, else_branch=body)
        body = graph([inner], "", "t")
    nodes = [node("If", "c", "y", then_branch=body, else_branch=body)]
    reason = refused(tmp_path, nodes, c=np.array(True))
    assert "expected at most 8 graphs in each other" in reason


def test_the_reason_in_a_graph_is_given(tmp_path: Path):
    body = graph([node("StringSplit", "x", "t")], "", "t")
    nodes = [node("If", "c", "y", then_branch=body, else_branch=body)]
    assert refused(tmp_path, nodes, c=np.array(True)) == (
        "'If' x1 (in its graph, 'StringSplit': 'graph' has no strings): 'y'"
    )


@pytest.mark.parametrize(
    ("kind", "attributes"),
    [
        ("ReduceL1", {"axes": [1]}),
        ("ReduceL2", {"axes": [1], "keepdims": 0}),
        ("ReduceLogSumExp", {}),
        ("ReduceSumSquare", {"axes": [-1]}),
        ("Elu", {"alpha": 0.5}),
        ("Softplus", {}),
        ("HardSwish", {}),
        ("MeanVarianceNormalization", {"axes": [0, 2]}),
    ],
)
def test_functions(tmp_path: Path, kind: str, attributes: dict[str, Any]):
    check(tmp_path, [node(kind, "x", **attributes)], X, opset=17)


def test_layer_normalization(tmp_path: Path):
    weights = {"s": floats(4), "b": floats(4)}
    nodes = [node("LayerNormalization", "x s b", axis=-1)]
    check(tmp_path, nodes, {"x": floats(2, 3, 4)}, weights)


@pytest.mark.parametrize("axis", [-1, 1, 0])
def test_layer_normalization_of_several_axes(tmp_path: Path, axis: int):
    shape = (2, 3, 4)[axis:]
    weights = {"s": floats(*shape), "b": floats(*shape)}
    nodes = [node("LayerNormalization", "x s b", "y mean scale", axis=axis)]
    outputs = ("y", "mean", "scale")
    check(tmp_path, nodes, {"x": floats(2, 3, 4)}, weights, outputs=outputs)


def test_layer_normalization_of_sizes_known_late(tmp_path: Path):
    """As transformers have it: batch and sequence are open."""
    nodes = [node("LayerNormalization", "x s", "y", epsilon=1e-3)]
    shapes = {"x": ("batch", "sequence", 4)}
    check(tmp_path, nodes, {"x": floats(2, 3, 4)}, {"s": floats(4)}, shapes=shapes)


def test_layer_normalization_keeps_statistics_of_another_type(tmp_path: Path):
    """By powers of two, which onnxruntime and we round the same."""
    outputs = ("y", "mean", "scale")
    nodes = [node("LayerNormalization", "x s", " ".join(outputs), stash_type=1)]
    x, s = floats(2, 4).astype(np.float16), np.array([1, 2, -0.5, 1], np.float16)
    module = check(tmp_path, nodes, {"x": x}, {"s": s}, outputs=outputs)
    assert "reduce mean" in str(module) and "tensor<2x1xf32>" in str(module)
    bad = [node("LayerNormalization", "x s", stash_type=TensorProto.INT32)]
    path = save(tmp_path, model(bad, [value("x", (2, 4)), value("s", (4,))], opset=17))
    with pytest.raises(OpError):
        transom.load(path)


@pytest.mark.parametrize("scale", [(2, 4), (3, 1, 4)])
def test_layer_normalization_does_not_widen_its_input(
    tmp_path: Path, scale: tuple[int, ...]
):
    nodes = [node("LayerNormalization", "x s b")]
    weights = {"s": floats(*scale), "b": floats(4)}
    path = save(tmp_path, model(nodes, [value("x", (1, 4))], weights=weights, opset=17))
    with pytest.raises(OpError, match="not supported"):
        transom.load(path)
    wide = {"s": floats(4), "b": floats(*scale)}
    path = save(tmp_path, model(nodes, [value("x", (1, 4))], weights=wide, opset=17))
    with pytest.raises(OpError, match="not supported"):
        transom.load(path)


@pytest.mark.parametrize("opset", [18, 21])
@pytest.mark.parametrize(
    "sizes", [("N", 6, "H", "W"), ("N", 6, 4, "W"), ("N", "C", 4, 5), None], ids=str
)
def test_group_normalization(tmp_path: Path, opset: int, sizes: Any):
    """Scales are of groups in opset 18, and of channels since 21."""
    count = 6 if opset == 21 else 3
    weights = {"s": floats(count), "b": floats(count)}
    nodes = [node("GroupNormalization", "x s b", num_groups=3, epsilon=1e-3)]
    x, shapes = {"x": floats(2, 6, 4, 5)}, {"x": sizes} if sizes else None
    check(tmp_path, nodes, x, weights, opset=opset, shapes=shapes)


def test_group_normalization_of_a_rest(tmp_path: Path):
    nodes = [node("GroupNormalization", "x s b", num_groups=4)]
    infos = [value("x", (2, 6, 3)), value("s", (6,)), value("b", (6,))]
    path = save(tmp_path, model(nodes, infos, ["y"], opset=21))
    with pytest.raises(OpError) as caught:
        transom.load(path)
    wanted = "expected channels in 4 groups, but got the shape [2, 6, 3]"
    assert wanted in caught.value.notes[0][1]


def test_gather_elements_and_nd(tmp_path: Path):
    places = {"i": np.array([[0, -1, 2], [1, 1, 0]])}
    nodes = [node("GatherElements", "x i", axis=0)]
    check(tmp_path, nodes, {"x": floats(3, 3)}, places)
    nd = {"i": np.array([[[0, 1]], [[-1, 2]]])}
    check(tmp_path, [node("GatherND", "x i")], {"x": floats(3, 3, 2)}, nd)
    batch = {"i": np.array([[1], [0]])}
    nodes = [node("GatherND", "x i", batch_dims=1)]
    check(tmp_path, nodes, {"x": floats(2, 3, 2)}, batch)


def test_nonzero(tmp_path: Path):
    """The size of the output depends on the input."""
    x = np.array([[0, 2, 0], [np.nan, 0, -1]], np.float32)
    check(tmp_path, [node("NonZero", "x")], {"x": x})
    check(tmp_path, [node("NonZero", "x")], {"x": np.array([True, False, True])})


@pytest.mark.parametrize("reduction", ["none", "add", "mul"])
def test_scatter_nd(tmp_path: Path, reduction: str):
    inputs = {"x": floats(4, 3), "u": floats(2, 3)}
    nodes = [node("ScatterND", "x i u", reduction=reduction)]
    check(tmp_path, nodes, inputs, {"i": np.array([[3], [-4]])}, opset=16)


def test_places_in_a_matrix(tmp_path: Path):
    for upper in (0, 1):
        nodes = [node("Trilu", "x k", upper=upper)]
        check(tmp_path, nodes, {"x": floats(2, 3, 4)}, {"k": np.int64(-1)})
    check(tmp_path, [node("EyeLike", "x", k=1)], {"x": floats(3, 4)})
    check(tmp_path, [node("Hardmax", "x", axis=1)], {"x": floats(3, 4)})
    weights = {"d": np.int64(4), "v": np.array([-1, 2], np.float32)}
    nodes = [node("OneHot", "i d v", axis=1)]
    check(tmp_path, nodes, {"i": np.array([[0, -1], [3, 2]])}, weights)


def test_tests_of_floats(tmp_path: Path):
    x = {"x": np.array([1, np.nan, np.inf, -np.inf], np.float32)}
    check(tmp_path, [node("IsNaN", "x")], x)
    check(tmp_path, [node("IsInf", "x")], x)
    check(tmp_path, [node("IsInf", "x", detect_negative=0)], x)


def test_bits(tmp_path: Path):
    inputs = {"a": ints(5, -3, 12), "b": ints(6, 7, -1)}
    for kind in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        check(tmp_path, [node(kind, "a b")], inputs, opset=18)
    check(tmp_path, [node("BitwiseNot", "a")], {"a": ints(5, -3)}, opset=18)
    shifted = {"a": np.array([3, 200], np.uint8), "b": np.array([2, 1], np.uint8)}
    for direction in ("LEFT", "RIGHT"):
        check(tmp_path, [node("BitShift", "a b", direction=direction)], shifted)


@pytest.mark.parametrize("kind", ["ArgMax", "ArgMin"])
def test_the_last_of_equal_extremes(tmp_path: Path, kind: str):
    x = {"x": np.array([[1, 3, 3], [2, 2, 1]], np.float32)}
    for axis in (0, 1):
        check(tmp_path, [node(kind, "x", axis=axis, select_last_index=1)], x)


@pytest.mark.parametrize("kind", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("last", [0, 1])
def test_nan_is_the_extreme(tmp_path: Path, kind: str, last: int):
    """As in NumPy, and so in the reference of ONNX; onnxruntime is of no help here."""
    x = np.array([[1, np.nan, np.nan, 3], [np.inf, 2, np.nan, -np.inf]], np.float32)
    nodes = [node(kind, "x", axis=1, select_last_index=last, keepdims=0)]
    path = save(tmp_path, model(nodes, [value("x", x.shape, "f32")], ["y"]))
    found = transom.compile(transom.load(path)).run({"x": x})
    assert found["y"].tolist() == ([2, 2] if last else [1, 2])


@pytest.mark.parametrize("largest", [0, 1])
def test_top_k(tmp_path: Path, largest: int):
    """Of equal elements the first one comes first."""
    x = {"x": np.array([[3, 1, 3, 2], [0, 0, 0, -1]], np.float32)}
    for axis in (0, 1):
        nodes = [node("TopK", "x k", "y i", axis=axis, largest=largest)]
        check(tmp_path, nodes, x, {"k": np.array([2])}, outputs=["y", "i"])


GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("kind", GATES)
def test_recurrent(tmp_path: Path, kind: str, direction: str):
    """With biases, a state to begin with, and sequences of several lengths."""
    steps, batch, inputs, hidden, gates = 4, 3, 5, 2, GATES[kind]
    count = 2 if direction == "bidirectional" else 1
    weights = {
        "w": floats(count, gates * hidden, inputs),
        "r": floats(count, gates * hidden, hidden),
        "b": floats(count, 2 * gates * hidden),
        "n": np.array([4, 2, 1], np.int32),
        "h": floats(count, batch, hidden),
    }
    outputs = ["y", "yh", *(["yc"] if kind == "LSTM" else [])]
    layer = node(
        kind, "x w r b n h", " ".join(outputs), hidden_size=hidden, direction=direction
    )
    check(
        tmp_path, [layer], {"x": floats(steps, batch, inputs)}, weights, outputs=outputs
    )


def test_gates_of_lstm(tmp_path: Path):
    weights = {
        "w": floats(1, 8, 5),
        "r": floats(1, 8, 2),
        "c": floats(1, 3, 2),
        "p": floats(1, 6),
    }
    layer = node("LSTM", "x w r _ _ _ c p", "y", hidden_size=2, clip=0.5)
    check(tmp_path, [layer], {"x": floats(4, 3, 5)}, weights)


def test_reset_gate_of_gru(tmp_path: Path):
    weights = {"w": floats(1, 6, 5), "r": floats(1, 6, 2), "b": floats(1, 12)}
    layer = node("GRU", "x w r b", "y", hidden_size=2, linear_before_reset=1)
    check(tmp_path, [layer], {"x": floats(4, 3, 5)}, weights)


def test_activations_that_are_not_supported(tmp_path: Path):
    weights = {"w": floats(1, 2, 3), "r": floats(1, 2, 2)}
    nodes = [
        node("Unsqueeze", "x a", "u"),
        node("RNN", "u w r", "y", hidden_size=2, activations=["Elu"]),
    ]
    assert refused(tmp_path, nodes, a=np.array([0]), **weights) == (
        "'RNN' x1 (activation 'Elu' is not supported): 'y'"
    )


def test_selections(tmp_path: Path):
    x = {"x": np.array([[0, 2, 0], [-1, 0, np.nan]], np.float32)}
    check(tmp_path, [node("NonZero", "x")], x)
    wanted = {"c": np.array([True, False, True])}
    check(tmp_path, [node("Compress", "x c", axis=1)], x, wanted)
    check(tmp_path, [node("Compress", "x c")], x, wanted)


@pytest.mark.parametrize("center", [0, 1])
def test_non_max_suppression(tmp_path: Path, center: int):
    """Two batches, two classes, scores that are equal, corners in any order."""
    rng = np.random.default_rng(0)
    boxes = rng.uniform(0, 4, (2, 7, 4)).astype(np.float32)
    scores = rng.integers(0, 5, (2, 2, 7)).astype(np.float32) / 5
    weights = {
        "n": np.array([3]),
        "iou": np.array([0.2], np.float32),
        "low": np.array([0.1], np.float32),
    }
    nodes = [
        node("NonMaxSuppression", "boxes scores n iou low", center_point_box=center)
    ]
    check(tmp_path, nodes, {"boxes": boxes, "scores": scores}, weights)


def test_ranks_that_do_not_fit(tmp_path: Path):
    weights = {"n": np.array([3])}
    nodes = [node("NonMaxSuppression", "x x n", "y")]
    assert refused(tmp_path, nodes, **weights) == (
        "'NonMaxSuppression' x1 (expected boxes and scores of 3 dimensions): 'y'"
    )
