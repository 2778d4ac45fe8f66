"""
`DepthToSpace` and `SpaceToDepth`: blocks of an image as channels, and back. The node
tests of ONNX have them in the opset that defines them as functions.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_cases import check, floats
from onnx_models import model, node, save, value

import transom
from transom.dialects.diagnostics import OpError
from transom.testing import interpret

OPEN = {"x": ("N", "C", "H", "W")}


@pytest.mark.parametrize("opset", [6, 11, 13, 21])
@pytest.mark.parametrize("shapes", [None, OPEN], ids=("static", "open"))
def test_depth_to_space(tmp_path: Path, opset: int, shapes: Any):
    x = {"x": floats(2, 8, 3, 5)}
    modes: tuple[dict[str, Any], ...] = ({}, {"mode": "CRD"}, {"mode": "DCR"})
    for mode in modes if opset > 6 else modes[:1]:
        nodes = [node("DepthToSpace", "x", blocksize=2, **mode)]
        check(tmp_path, nodes, x, opset=opset, shapes=shapes)


@pytest.mark.parametrize("opset", [6, 13])
@pytest.mark.parametrize("shapes", [None, OPEN], ids=("static", "open"))
def test_space_to_depth(tmp_path: Path, opset: int, shapes: Any):
    nodes = [node("SpaceToDepth", "x", blocksize=3)]
    check(tmp_path, nodes, {"x": floats(2, 8, 6, 9)}, opset=opset, shapes=shapes)


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_back_and_forth(tmp_path: Path, mode: str):
    """The latest `SpaceToDepth` has modes; compiled, for sizes that are known late."""
    nodes = [
        node("DepthToSpace", "x", "s", blocksize=2, mode=mode),
        node("SpaceToDepth", "s", "y", blocksize=2, mode=mode),
    ]
    info = [value("x", OPEN["x"])]
    path = save(tmp_path, model(nodes, info, ["s", "y"], opset=28))
    x = {"x": floats(1, 8, 2, 3)}
    module = transom.load(path)
    expected, found = interpret(module, x), transom.compile(module).run(x)
    np.testing.assert_array_equal(found["y"], x["x"])
    np.testing.assert_array_equal(found["s"], expected["s"])
    assert found["s"].shape == (1, 2, 4, 6)


REFUSED: list[tuple[str, tuple[int, ...], dict[str, Any], str]] = [
    ("DepthToSpace", (1, 6, 2, 2), {}, "channels in blocks of 4, but got 6"),
    ("DepthToSpace", (4, 2, 2), {}, "expected an input of 4 dimensions"),
    ("DepthToSpace", (1, 4, 2, 2), {"mode": "RCD"}, "'mode' is 'RCD'"),
    ("SpaceToDepth", (1, 4, 2, 3), {}, "expected sizes in blocks of 2, but got 3"),
    ("SpaceToDepth", (1, 4, 2, 2), {"blocksize": 0}, "'blocksize' of 1 and more, but"),
]


@pytest.mark.parametrize("kind, shape, attributes, message", REFUSED)
def test_refused(
    tmp_path: Path, kind: str, shape: Any, attributes: dict[str, Any], message: str
):
    given: dict[str, Any] = {"blocksize": 2, **attributes}
    path = save(tmp_path, model([node(kind, "x", **given)], [value("x", shape)], ["y"]))
    with pytest.raises(OpError) as caught:
        transom.load(path)
    assert message in " ".join(note for _, note in caught.value.notes)
