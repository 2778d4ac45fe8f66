"""
Random models and random changes of models are imported, or refused with a reason.
"""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx_models import model, node, save, value

import transom
from transom.dialects.diagnostics import OpError
from transom.frontends.onnx.known import EVALUATORS, SOURCES
from transom.frontends.onnx.operators import HANDLERS


def loads_or_is_refused(path: Path) -> None:
    try:
        module = transom.load(path)
    except OpError as e:
        assert "\n" not in e.message
    else:
        module.verify()


def small_models() -> list[bytes]:
    conv = model(
        [
            node("Conv", "x w b", "c", pads=[1, 1, 1, 1], auto_pad="NOTSET", group=1),
            node("BatchNormalization", "c s s s s", "n"),
            node("Relu", "n", "r"),
            node("MaxPool", "r", "p i", kernel_shape=[2, 2], strides=[2, 2]),
            node("Flatten", "p", "f"),
            node("Gemm", "f g", "y", transB=1, alpha=0.5),
        ],
        [value("x", ["N", 3, 8, 8])],
        weights={
            "w": np.ones((4, 3, 3, 3), np.float32),
            "b": np.ones(4, np.float32),
            "s": np.ones(4, np.float32),
            "g": np.ones((5, 64), np.float32),
        },
    )
    shapes = model(
        [
            node("Shape", "x", "s"),
            node("Gather", "s zero", "n"),
            node("Unsqueeze", "n axes", "u"),
            node("Concat", "u rest", "t", axis=0),
            node("Reshape", "x t", "r"),
            node("Slice", "r start end axis", "l"),
            node("Split", "l", "a b", axis=1),
            node("Pad", "a pads", "q"),
            node("ReduceMean", "q", "m", axes=[1], keepdims=0),
            node("Softmax", "m", "y"),
        ],
        [value("x", ["N", 3, 4])],
        weights={
            "zero": np.array(0),
            "axes": np.array([0]),
            "rest": np.array([12]),
            "start": np.array([0]),
            "end": np.array([8]),
            "axis": np.array([1]),
            "pads": np.array([0, 1, 0, 1]),
        },
    )
    return [conv.SerializeToString(), shapes.SerializeToString()]


@pytest.mark.parametrize("data", small_models(), ids=["conv", "shapes"])
def test_changed_bytes(tmp_path: Path, data: bytes):
    """Random changes of one to four bytes."""
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    transom.load(path)
    rng = random.Random(0)
    for _ in range(300):
        changed = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            changed[rng.randrange(len(data))] = rng.choice(
                (0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256))
            )
        path.write_bytes(changed)
        loads_or_is_refused(path)


INTERESTING = (0, 1, 2, 3, -1, -2, 7, 2**31, -(2**63), 2**63 - 1)


def random_attribute(rng: random.Random, attribute: Any) -> Any:
    """A value of the type that an attribute has, or of another one."""
    kinds: dict[str, Callable[[], Any]] = {
        "INT": lambda: rng.choice(INTERESTING),
        "INTS": lambda: [rng.choice(INTERESTING[:7]) for _ in range(rng.randrange(5))],
        "FLOAT": lambda: rng.choice((0.0, 0.5, -1.0, float("nan"), float("inf"))),
        "STRING": lambda: rng.choice(("SAME_UPPER", "constant", "none", b"\xff")),
        "TENSOR": lambda: numpy_helper.from_array(np.ones(rng.randrange(3))),
    }
    kind = str(attribute.type).rpartition(".")[2]
    if kind not in kinds or rng.random() < 0.05:
        kind = rng.choice(list(kinds))
    return kinds[kind]() or 0


@pytest.mark.parametrize("operator", sorted({*HANDLERS, *EVALUATORS, *SOURCES}))
def test_random_nodes(tmp_path: Path, operator: str):
    """Any attributes of any values on any inputs give ops that verify, or a reason."""
    inputs = [
        value("x0", [2, 3, 8, 8]),
        value("x1", ["N", 3, "H", "W"]),
        value("x2", [3, 4]),
        value("x3", [None]),
        value("x4", []),
        value("x5", [2, 3], "i64"),
        value("x6", [3], "i1"),
        value("x7", [0, 3], "f16"),
    ]
    weights = {
        "w0": np.ones((4, 3, 3, 3), np.float32),
        "w1": np.array([1, 0]),
        "w2": np.array([-1]),
        "w3": np.array([], np.int64),
        "w4": np.array(2, np.int32),
        "w5": np.array([2**62, -(2**63)]),
        "w6": np.array([2.5], np.float32),
    }
    names = [v.name for v in inputs] + list(weights) + ["_"]
    rng = random.Random(operator)
    schema = onnx.defs.get_schema(operator)
    for _ in range(60):
        attributes = {
            name: random_attribute(rng, attribute)
            for name, attribute in schema.attributes.items()
            if rng.random() < 0.6
        }
        read = " ".join(rng.choices(names, k=rng.randrange(5)))
        written = rng.choice(("y", "y", "y z", "_ z y"))
        broken = node(operator, read, written, **attributes)
        outputs = [n for n in written.split() if n != "_"]
        opset = rng.choice((6, 9, 11, 17, 28))
        proto = model([broken], inputs, outputs, weights, opset=opset)
        loads_or_is_refused(save(tmp_path, proto))
