"""
ONNX files that are wrong, absurd or hostile are refused in one line.
"""

import os
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_models import model, node, save, value

import transom
from transom.dialects.diagnostics import OpError

X = value("x", [2, 3])
RELU = node("Relu", "x", name="act")


def refused(path: Path) -> str:
    """What is said of a model, in one line without its place."""
    with pytest.raises(OpError) as caught:
        transom.load(path)
    error = caught.value
    assert not error.notes, error.notes
    assert "\n" not in str(error) and len(str(error)) < 400
    place = f"{path}:"
    assert str(error).startswith(place)
    return str(error).removeprefix(place)


def reasons(path: Path) -> list[str]:
    """What is said of the nodes of a model that are not supported."""
    with pytest.raises(OpError) as caught:
        transom.load(path)
    assert "not supported" in caught.value.message
    return [note.message for note in caught.value.notes]


def reason(folder: Path, *args: Any, **options: Any) -> str:
    """Why the only node of a model that is not supported is not."""
    (found,) = reasons(save(folder, model(*args, **options)))
    return found


# Files


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected an ONNX model with a graph and an opset"),
        (b"\x0a\xff", "'m.onnx' is not an ONNX model: it ends inside a number"),
        (b"\x0a\x05a", "'m.onnx' is not an ONNX model: it ends inside the field at "
         "byte 0"),
        (b"\x0b", "'m.onnx' is not an ONNX model: byte 0 starts no field"),
        (b"\xff" * 20, "'m.onnx' is not an ONNX model: a number is long"),
        (b"\x00\x00", "'m.onnx' is not an ONNX model"),
        (b"\x12\x01\xff", "'m.onnx' is not an ONNX model: a name is not UTF-8"),
    ],
)  # fmt: skip
def test_bytes_that_are_no_model(tmp_path: Path, content: bytes, message: str):
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    assert refused(path) == f"1:1: error: {message}"


def test_a_truncated_model(tmp_path: Path):
    data = model([RELU], [X]).SerializeToString()
    path = tmp_path / "m.onnx"
    for size in range(len(data)):
        path.write_bytes(data[:size])
        refused(path)


def test_names_that_are_not_utf8(tmp_path: Path):
    data = model([RELU], [X]).SerializeToString()
    path = tmp_path / "m.onnx"
    path.write_bytes(data.replace(b"act", b"\xff\xfea"))
    assert refused(path).endswith("is not an ONNX model: a name is not UTF-8")


def test_messages_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from transom.dialects import onnx_wire

    monkeypatch.setattr(onnx_wire, "MAX_MESSAGES", 1000)
    proto = model([RELU], [X])
    for _ in range(1000):
        proto.graph.node.add()
    assert refused(save(tmp_path, proto)).endswith("it has more than 1000 parts")


def test_deep_nesting(tmp_path: Path):
    # ModelProto.graph, then NodeProto in GraphProto in AttributeProto, and so on.
    data = b""
    for depth in range(60):
        data = field((1, 5, 6)[depth % 3], data)
    path = tmp_path / "m.onnx"
    path.write_bytes(field(7, data))
    assert refused(path).endswith("expected an ONNX model with a graph and an opset")
    for _ in range(10_000):
        data = field(1, field(5, field(6, data)))
    path.write_bytes(field(7, data))
    assert refused(path).endswith(
        "is not an ONNX model: it is nested more than 64 deep"
    )


def field(number: int, content: bytes) -> bytes:
    """A field of protobuf that holds bytes."""
    size = len(content)
    parts = bytearray([number << 3 | 2])
    while size > 0x7F:
        parts.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([*parts, size]) + content


def test_the_limit_of_protobuf(tmp_path: Path):
    path = tmp_path / "m.onnx"
    with path.open("wb") as file:
        file.truncate(2**31)
    assert refused(path).endswith(
        "expected at most 2147483647 bytes in 'm.onnx', the limit of ONNX, "
        "but got 2147483648"
    )


def test_no_file(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        transom.load(tmp_path / "none.onnx")
    (tmp_path / "folder.onnx").mkdir()
    with pytest.raises(IsADirectoryError):
        transom.load(tmp_path / "folder.onnx")
    os.mkfifo(tmp_path / "pipe.onnx")
    assert refused(tmp_path / "pipe.onnx").endswith("not a regular file")


def test_a_link_that_leaves_the_folder(tmp_path: Path):
    path = save(tmp_path, model([RELU], [X]))
    (tmp_path / "below").mkdir()
    link = tmp_path / "below" / "m.onnx"
    link.symlink_to(path)
    assert refused(link).endswith(
        "'m.onnx' is a link that leaves its folder; allow the folder that it leads to "
        "('--allow-external-data-dir')"
    )


# Models


def test_opsets(tmp_path: Path):
    last = onnx.defs.onnx_opset_version()
    for opset in (0, last + 1):
        path = save(tmp_path, model([RELU], [X], opset=opset))
        assert refused(path).endswith(
            f"expected an opset of 1 to {last}, but got {opset}"
        )
    early = [node("Relu", "x", "y")]
    assert reason(tmp_path, early, [X], opset=5) == (
        "'Relu' x1 (it changed before opset 6): 'y'"
    )
    transom.load(save(tmp_path, model([node("Identity", "x", "y")], [X], opset=5)))
    proto = model([RELU], [X])
    proto.opset_import[0].domain = "com.microsoft"
    path = save(tmp_path, proto)
    assert refused(path).endswith("expected an opset of the default domain")


def test_functions(tmp_path: Path):
    proto = model([RELU], [X])
    proto.functions.add(name="f")
    assert refused(save(tmp_path, proto)).endswith(
        "expected a model without functions of its own; inline them"
    )


def test_sparse_initialisers(tmp_path: Path):
    proto = model([RELU], [X])
    proto.graph.sparse_initializer.add()
    path = save(tmp_path, proto)
    assert refused(path).endswith("sparse initialisers are not supported")


def test_no_output(tmp_path: Path):
    path = save(tmp_path, model([RELU], [X], ()))
    assert refused(path).endswith("expected a graph with an output")


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([node("Relu", "z")], "1:1: error: 'z' is no value of the graph"),
        ([node("Relu", "y")], "1:1: error: expected nodes in order, but 'y' is read "
         "here and defined by node 1"),
        ([node("Relu", "b", "a"), node("Relu", "a", "b")], "1:1: error: expected nodes "
         "in order, but 'b' is read here and defined by node 2"),
        ([RELU, node("Neg", "x")], "2:1: error: 'y' is defined twice"),
        ([node("Relu", "x", "x")], "1:1: error: 'x' is defined twice"),
        ([node("Relu", "x", "w")], "1:1: error: 'w' is defined twice"),
        ([node("Dropout", "x", "y y")], "1:1: error: 'y' is defined twice"),
        ([node("Relu", "x", "")], "1:1: error: expected an output of 'Relu'"),
        ([node("Relu", "x", "q")], "1:1: error: output 'y' is no value of the graph"),
        ([node("Relu", "x", "y\x1b[31m")], "1:1: error: expected names of printable "
         "characters, but got 'y\\x1b[31m'"),
        ([node("Re\0lu", "x")], "1:1: error: expected names of printable characters, "
         "but got 'Re\\x00lu'"),
        ([node("Relu", "x", "y" * 2000)], "1:1: error: expected names of at most 1024 "
         "characters, but got 2000"),
    ],
)  # fmt: skip
def test_broken_graphs(tmp_path: Path, nodes: list[onnx.NodeProto], message: str):
    weights = {"w": np.ones(2, np.float32)}
    assert refused(save(tmp_path, model(nodes, [X], weights=weights))) == message


def test_an_attribute_twice(tmp_path: Path):
    broken = node("Flatten", "x", axis=1)
    broken.attribute.append(broken.attribute[0])
    path = save(tmp_path, model([broken], [X]))
    assert refused(path) == "1:1: error: expected attribute 'axis' once"


def test_inputs_and_outputs_twice(tmp_path: Path):
    path = save(tmp_path, model([RELU], [X, X]))
    assert refused(path) == "1:1: error: 'x' is defined twice"
    path = save(tmp_path, model([RELU], [X], ["y", "y"]))
    assert refused(path) == "1:1: error: expected 'y' once among the outputs"
    proto = model([RELU], [X], weights={"w": np.ones(2)})
    proto.graph.initializer.append(proto.graph.initializer[0])
    assert refused(save(tmp_path, proto)) == "1:1: error: 'w' is defined twice"
    path = save(tmp_path, model([RELU], [value("", [1])]))
    assert refused(path) == "1:1: error: expected an input to have a name"


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ([-2], "expected sizes >= 0, but got -2"),
        ([2**40, 2], "expected at most 1099511627776 elements, but got 2199023255552"),
        ([0, 2**62], "expected at most 1099511627776 elements, but got "
         "4611686018427387904"),
        ([1] * 33, "expected at most 32 dimensions, but got 33"),
        (None, "expected a known number of dimensions"),
    ],
)  # fmt: skip
def test_absurd_inputs(tmp_path: Path, shape: list[int] | None, message: str):
    path = save(tmp_path, model([RELU], [value("x", shape)]))
    assert refused(path) == f"1:1: error: input 'x': {message}"


def test_inputs_that_are_no_tensors(tmp_path: Path):
    info = helper.make_tensor_sequence_value_info("x", 1, [2])
    path = save(tmp_path, model([RELU], [info]))
    assert refused(path) == "1:1: error: input 'x': expected a tensor"
    info = helper.make_tensor_value_info("x", onnx.TensorProto.STRING, [2])
    path = save(tmp_path, model([RELU], [info]))
    assert refused(path) == (
        "1:1: error: input 'x': elements of type STRING are not supported"
    )


# Weights


def external(location: str, **entries: str) -> onnx.ModelProto:
    """A model with a weight of six floats in another file."""
    proto = model([node("Add", "x w")], [X], weights={"w": np.ones((2, 3), np.float32)})
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = tensor.EXTERNAL
    for key, text in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=text)
    return proto


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("none.bin", "cannot read 'none.bin': No such file or directory"),
        ("/etc/passwd", "expected a relative path, but got '/etc/passwd'"),
        ("../secret.bin", "expected a path without '..', but got '../secret.bin'; or "
         "allow the folder that it leads to ('--allow-external-data-dir')"),
        ("a/../../b.bin", "expected a path without '..', but got 'a/../../b.bin'; or "
         "allow the folder that it leads to ('--allow-external-data-dir')"),
        ("link.bin", "'link.bin' is a link that leaves its folder; allow the folder "
         "that it leads to ('--allow-external-data-dir')"),
        ("folder/secret.bin", "'folder/secret.bin' is a link that leaves its folder; "
         "allow the folder that it leads to ('--allow-external-data-dir')"),
        ("hard.bin", "'hard.bin' has several hard links; allow its folder"),
    ],
)  # fmt: skip
def test_external_data(tmp_path: Path, location: str, message: str):
    (tmp_path / "secret.bin").write_bytes(bytes(24))
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "link.bin").symlink_to("../secret.bin")
    (folder / "folder").symlink_to("..")
    os.link(tmp_path / "secret.bin", folder / "hard.bin")
    path = save(folder, external(location))
    assert refused(path) == (
        f"1:1: error: weight 'w' in 'm.onnx': external data: {message}"
    )


def test_spans_outside_of_external_data(tmp_path: Path):
    (tmp_path / "w.bin").write_bytes(bytes(24))
    for entries in ({"offset": "4"}, {"length": "999999999999"}, {"offset": "-4"}):
        refused(save(tmp_path, external("w.bin", **entries)))
    transom.load(save(tmp_path, external("w.bin", checksum="unused")))


def test_absurd_weights(tmp_path: Path):
    proto = model([node("Add", "x w")], [X], weights={"w": np.ones((2, 3), np.float32)})
    for dims in ([2**40, 2**20], [-2, -3], [1] * 40, [2**62, 2**62, 0]):
        proto.graph.initializer[0].dims[:] = dims
        refused(save(tmp_path, proto))
    proto.graph.initializer[0].dims[:] = [2, 4]
    assert refused(save(tmp_path, proto)) == (
        "1:1: error: weight 'w' in 'm.onnx': expected 32 bytes, but got 24"
    )


# Nodes


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (node("Softmax", "x", axis="a"), "expected attribute 'axis' of type INT"),
        (node("Softmax", "x", axis=1.0), "expected attribute 'axis' of type INT"),
        (node("Softmax", "x", axis=2), "axis 2 is none of 2 dimensions"),
        (node("Softmax", "x", beta=1), "attribute 'beta' is not supported"),
        (node("Softmax", "_"), "input 0 is missing"),
        (node("Concat", "x x"), "expected attribute 'axis'"),
        (node("Concat", "", axis=0), "input 0 is missing"),
        (node("Reshape", "x x"), "input 1 is not constant"),
        (node("Reshape", "x f"), "expected integers as input 1"),
        (node("Slice", "x a b c zeros"), "expected steps other than 0"),
        (node("Unsqueeze", "x c2"), "expected each axis once, but got [0, 0]"),
        (node("ReduceMax", "x", keepdims=2), "expected attribute 'keepdims' of 0 or 1, "
         "but got 2"),
        (node("ConstantOfShape", "huge"), "expected a shape of at most 268435456 "
         "elements, but got [4294967296, 4294967296]"),
        (node("ConstantOfShape", "minus"), "expected a shape of at most 268435456 "
         "elements, but got [-1]"),
        (node("Expand", "x expanded"), "expected at most 1099511627776 elements, but "
         "got 6597069766656"),
        (node("Relu", "strings"), "'strings': elements of type STRING are not "
         "supported"),
        (node("Cast", "x", to=99), "elements of type 99 are not supported"),
        (node("Cast", "x", to=8), "elements of type STRING are not supported"),
        (node("Constant", "", value_string="a"), "strings and sparse tensors are not "
         "supported"),
        (node("NonZero", "one"), "a scalar as input is not supported"),
        (node("NoSuchOp", "x"), "there is no such operator in 'graph' yet"),
        (node("Relu", "x", domain="d"), "operators of domain 'd' are unknown"),
    ],
)  # fmt: skip
def test_wrong_nodes(tmp_path: Path, broken: onnx.NodeProto, message: str):
    weights = {
        "a": np.array([0]),
        "b": np.array([1]),
        "c": np.array([0]),
        "c2": np.array([0, 0]),
        "f": np.array([0.5], np.float32),
        "zeros": np.array([0]),
        "huge": np.array([2**32, 2**32]),
        "one": np.array(1),
        "minus": np.array([-1]),
        "expanded": np.array([2**40, 1, 1]),
    }
    proto = model([broken], [X], weights=weights)
    strings = proto.graph.initializer.add(name="strings", data_type=8, dims=[2])
    strings.string_data[:] = [b"a", b"b"]
    (found,) = reasons(save(tmp_path, proto))
    assert found == f"'{broken.op_type}' x1 ({message}): 'y'"


def test_all_that_is_not_supported_is_listed(tmp_path: Path):
    nodes = [node("Odd", "x", f"a{i}", name=f"odd{i}") for i in range(5)]
    nodes += [node("Softmax", "x", "s", name="soft", axis=7)]
    nodes += [node("Add", "a1 s", "y")]  # not reported: what it reads is not there
    path = save(tmp_path, model(nodes, [X]))
    with pytest.raises(OpError) as caught:
        transom.load(path)
    assert str(caught.value).splitlines() == [
        f"{path}:1:1: error: 6 of 7 nodes are not supported",
        f"{path}:1:1: note: 'Odd' x5 (there is no such operator in 'graph' yet): "
        "'odd0', 'odd1', 'odd2', 'odd3', …",
        f"{path}:6:1: note: 'Softmax' x1 (axis 7 is none of 2 dimensions): 'soft'",
    ]


def test_reasons_are_short(tmp_path: Path):
    weights = {"shape": np.full(900, 2)}
    found = reason(tmp_path, [node("Reshape", "x shape")], [X], weights=weights)
    assert len(found) < 250


# Nothing escapes, and nothing large is made


def test_nothing_large_is_made(tmp_path: Path):
    weights = {"s": np.array([2**20, 2**7]), "t": np.array([2**13] * 3)}
    nodes = [
        node("ConstantOfShape", "s", "c"),
        node("ConstantOfShape", "t", "d"),
        node("Range", "zero limit one", "r"),
        node("Relu", "c", "y"),
    ]
    weights |= {"zero": np.array(0), "limit": np.array(2**62), "one": np.array(1)}
    path = save(tmp_path, model(nodes, (), weights=weights))
    transom.load(save(tmp_path, model([RELU], [X]), "warm.onnx"))
    tracemalloc.start()
    reasons(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20
