"""
Convolutions and pools over one to three dimensions compute what onnxruntime does.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_cases import RNG, check, floats, ints
from onnx_models import model, node, save, value

import transom
from transom.dialects.diagnostics import OpError

LINE, IMAGE, VOLUME = (2, 4, 11), (2, 4, 8, 9), (2, 4, 6, 7, 5)

CONVOLUTIONS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    (LINE, (3,), {}),
    (LINE, (3,), {"strides": [2], "pads": [1, 2], "dilations": [2]}),
    (LINE, (4,), {"auto_pad": "SAME_UPPER", "strides": [3]}),
    (LINE, (4,), {"auto_pad": "SAME_LOWER", "strides": [2]}),
    (LINE, (2,), {"group": 2}),
    (VOLUME, (2, 3, 2), {}),
    (VOLUME, (1, 1, 1), {"strides": [2, 2, 1]}),
    (
        VOLUME,
        (3, 2, 2),
        {"strides": [2, 1, 2], "pads": [1, 0, 1, 2, 1, 0], "dilations": [2, 1, 3]},
    ),
    (VOLUME, (3, 3, 3), {"auto_pad": "SAME_UPPER", "strides": [2, 2, 2], "group": 4}),
    (VOLUME, (2, 2, 2), {"auto_pad": "VALID", "group": 2}),
]


@pytest.mark.parametrize(("shape", "kernel", "attributes"), CONVOLUTIONS)
def test_conv(
    tmp_path: Path,
    shape: tuple[int, ...],
    kernel: tuple[int, ...],
    attributes: dict[str, Any],
):
    channels = 4 // attributes.get("group", 1)
    weights = {"w": floats(8, channels, *kernel), "b": floats(8)}
    for inputs in ("x w", "x w b"):
        conv = node("Conv", inputs, **attributes)
        check(tmp_path, [conv], {"x": floats(*shape)}, weights)


def test_conv_of_sizes_that_are_not_static(tmp_path: Path):
    weights = {"w": floats(3, 4, 3), "b": floats(3)}
    conv = node("Conv", "x w b", pads=[1, 1])
    shapes = {"x": ["N", 4, "W"]}
    check(tmp_path, [conv], {"x": floats(*LINE)}, weights, shapes=shapes)
    weights = {"w": floats(3, 4, 3, 2, 2)}
    shapes = {"x": ["N", 4, 6, "H", "W"]}
    conv = node("Conv", "x w")
    check(tmp_path, [conv], {"x": floats(*VOLUME)}, weights, shapes=shapes)


TRANSPOSED: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    (LINE, (3,), {}),
    (LINE, (3,), {"strides": [2], "pads": [1, 2], "output_padding": [1]}),
    (LINE, (3,), {"strides": [4], "dilations": [3], "pads": [7, 0]}),
    (LINE, (2,), {"strides": [3], "group": 4}),
    (IMAGE, (3, 3), {}),
    (IMAGE, (3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
    (IMAGE, (4, 4), {"strides": [2, 2], "pads": [1, 1, 1, 1], "group": 2}),
    (IMAGE, (2, 2), {"strides": [2, 2]}),
    (IMAGE, (3, 2), {"strides": [3, 2], "output_padding": [1, 1]}),
    (IMAGE, (3, 2), {"dilations": [2, 3], "pads": [2, 1, 0, 3]}),
    (IMAGE, (2, 5), {"strides": [1, 3], "pads": [1, 4, 1, 4]}),
    (IMAGE, (3, 3), {"strides": [2, 3], "auto_pad": "SAME_UPPER"}),
    (IMAGE, (3, 4), {"strides": [2, 3], "auto_pad": "SAME_LOWER"}),
    (IMAGE, (3, 3), {"strides": [2, 3], "output_shape": [18, 28]}),
    (IMAGE, (3, 3), {"strides": [3, 2], "output_shape": [22, 15]}),
    (
        IMAGE,
        (4, 4),
        {"strides": [2, 2], "output_shape": [15, 17], "auto_pad": "SAME_UPPER"},
    ),
    (IMAGE, (3, 3), {"strides": [2, 2], "auto_pad": "VALID"}),
    (VOLUME, (3, 2, 3), {"strides": [2, 2, 1], "pads": [1, 0, 1, 0, 1, 1]}),
]


@pytest.mark.parametrize(("shape", "kernel", "attributes"), TRANSPOSED)
def test_conv_transpose(
    tmp_path: Path,
    shape: tuple[int, ...],
    kernel: tuple[int, ...],
    attributes: dict[str, Any],
):
    weights = {
        "w": floats(4, 3, *kernel),
        "b": floats(3 * attributes.get("group", 1)),
    }
    for inputs in ("x w", "x w b"):
        conv = node("ConvTranspose", inputs, **attributes)
        check(tmp_path, [conv], {"x": floats(*shape)}, weights)


def test_conv_transpose_of_sizes_that_are_not_static(tmp_path: Path):
    conv = node("ConvTranspose", "x w b", strides=[2, 2], pads=[1, 0, 1, 1])
    weights = {"w": floats(4, 3, 4, 3), "b": floats(3)}
    shapes = {"x": ["N", 4, "H", "W"]}
    check(tmp_path, [conv], {"x": floats(*IMAGE)}, weights, shapes=shapes)


POOLS: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    (LINE, {"kernel_shape": [3]}),
    (LINE, {"kernel_shape": [3], "strides": [2], "pads": [1, 0], "ceil_mode": 1}),
    (LINE, {"kernel_shape": [4], "strides": [3], "auto_pad": "SAME_LOWER"}),
    (VOLUME, {"kernel_shape": [2, 3, 2]}),
    (VOLUME, {"kernel_shape": [2, 2, 3], "strides": [2, 1, 2], "ceil_mode": 1}),
    (VOLUME, {"kernel_shape": [3, 3, 2], "pads": [1, 0, 1, 2, 1, 0]}),
    (VOLUME, {"kernel_shape": [3, 3, 3], "auto_pad": "SAME_UPPER"}),
]


@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize(("shape", "attributes"), POOLS)
def test_pools(
    tmp_path: Path, kind: str, shape: tuple[int, ...], attributes: dict[str, Any]
):
    if kind == "LpPool" and "ceil_mode" in attributes:
        attributes = {**attributes, "ceil_mode": 0}
    pool = node(kind, "x", **attributes)
    check(tmp_path, [pool], {"x": floats(*shape)}, opset=18)


@pytest.mark.parametrize(
    ("shape", "attributes"),
    [
        (LINE, {"kernel_shape": [3], "dilations": [2], "pads": [2, 1]}),
        (IMAGE, {"kernel_shape": [3, 2], "dilations": [2, 3], "pads": [1, 1, 2, 0]}),
        (VOLUME, {"kernel_shape": [2, 2, 2], "dilations": [3, 2, 1]}),
    ],
)
def test_dilated_pools(
    tmp_path: Path, shape: tuple[int, ...], attributes: dict[str, Any]
):
    inputs = {"x": floats(*shape)}
    check(tmp_path, [node("MaxPool", "x", **attributes)], inputs)
    for counted in (0, 1):
        pool = node("AveragePool", "x", count_include_pad=counted, **attributes)
        check(tmp_path, [pool], inputs, opset=19)
    for p in (1, 2, 3):
        pool = node("LpPool", "x", p=p, **attributes)
        check(tmp_path, [pool], inputs, opset=18)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("shape", [LINE, IMAGE, VOLUME])
def test_places_of_maxima(tmp_path: Path, shape: tuple[int, ...], order: int):
    count = len(shape) - 2
    x = RNG.integers(0, 5, shape).astype(np.float32)
    pool = node(
        "MaxPool",
        "x",
        "y i",
        kernel_shape=[3] * count,
        strides=[2] * count,
        pads=[1] * 2 * count,
        storage_order=order,
    )
    check(tmp_path, [pool], {"x": x}, outputs=["y", "i"])


def test_pools_of_halves(tmp_path: Path):
    """Nothing is rounded between the planes and the depth."""
    pool = node("AveragePool", "x", kernel_shape=[3, 3, 3])
    path = save(tmp_path, model([pool], [value("x", VOLUME, "f16")]))
    assert str(transom.load(path)).count("graph.cast") == 2


def test_pools_over_everything(tmp_path: Path):
    for shape in (LINE, IMAGE, VOLUME):
        for p in (1, 2, 3):
            pool = node("GlobalLpPool", "x", p=p)
            check(tmp_path, [pool], {"x": floats(*shape)})


def test_lp_normalization(tmp_path: Path):
    x = floats(3, 4, 5)
    x[1, :, 2] = 0
    x[1, 2, :] = 0
    for p in (1, 2):
        for axis in (0, 1, -1):
            norm = node("LpNormalization", "x", p=p, axis=axis)
            check(tmp_path, [norm], {"x": x}, opset=22)


@pytest.mark.parametrize("size", [1, 3, 9])
def test_lrn(tmp_path: Path, size: int):
    norm = node("LRN", "x", size=size, alpha=0.3, bias=1.5)
    check(tmp_path, [norm], {"x": floats(2, 5, 4, 3)})
    norm = node("LRN", "x", size=size, alpha=0.3, beta=0.6)
    shapes = {"x": ["N", "C", 4, "W"]}
    check(tmp_path, [norm], {"x": floats(2, 5, 4, 3)}, shapes=shapes)


def test_max_unpool(tmp_path: Path):
    attributes: dict[str, Any] = {"kernel_shape": [2, 2], "strides": [2, 2]}
    nodes = [
        node("MaxPool", "x", "m i", **attributes),
        node("MaxUnpool", "m i", "y", **attributes),
    ]
    check(tmp_path, nodes, {"x": floats(2, 3, 6, 8)})


@pytest.mark.parametrize(
    ("image", "block", "attributes"),
    [
        ((5, 6), (2, 3), {}),
        ((5, 6), (2, 3), {"strides": [2, 1], "pads": [1, 0, 2, 1]}),
        ((5, 6), (2, 2), {"dilations": [3, 2]}),
        ((3, 4, 5), (2, 1, 3), {"pads": [1, 0, 0, 0, 0, 1]}),
    ],
)
def test_col2im(
    tmp_path: Path,
    image: tuple[int, ...],
    block: tuple[int, ...],
    attributes: dict[str, Any],
):
    count = len(image)
    pads = attributes.get("pads", [0] * 2 * count)
    places = [
        (size + low + high - (kernel - 1) * dilation - 1) // stride + 1
        for size, low, high, kernel, dilation, stride in zip(
            image,
            pads[:count],
            pads[count:],
            block,
            attributes.get("dilations", [1] * count),
            attributes.get("strides", [1] * count),
            strict=True,
        )
    ]
    x = floats(2, 3 * int(np.prod(block)), int(np.prod(places)))
    weights = {"i": ints(*image), "b": ints(*block)}
    check(
        tmp_path, [node("Col2Im", "x i b", **attributes)], {"x": x}, weights, opset=18
    )


def refused(
    folder: Path, kind: str, shapes: list[list[Any]], opset: int = 18, **attributes: Any
) -> str:
    """Why a node of these inputs has no form."""
    names = [f"x{number}" for number in range(len(shapes))]
    infos = [value(name, shape) for name, shape in zip(names, shapes, strict=True)]
    one = node(kind, " ".join(names), **attributes)
    with pytest.raises(OpError) as caught:
        transom.load(save(folder, model([one], infos, opset=opset)))
    return caught.value.notes[0].message


def test_refusals(tmp_path: Path):
    def conv(*shapes: list[Any], **attributes: Any) -> str:
        return refused(tmp_path, "Conv", list(shapes), **attributes)

    assert conv([2, 3], [4, 3]) == (
        "'Conv' x1 (expected one to three spatial dimensions, but got 0): 'y'"
    )
    assert conv([2, 3, 5], [4, 3, 2], strides=[1, 1]) == (
        "'Conv' x1 (expected 1 numbers as 'strides', but got 2): 'y'"
    )
    assert conv([2, 3, 5], [4, 3, 2], kernel_shape=[3]) == (
        "'Conv' x1 (expected 'kernel_shape' to be that of the weight, (2,)): 'y'"
    )
    assert conv([2, 3, 5], [4, 3]) == (
        "'Conv' x1 (expected a weight with 3 dimensions, but got 2): 'y'"
    )
    assert conv([2, 3, "D", 5, 5], [4, 3, 2, 2, 2]) == (
        "'Conv' x1 (a depth that is not static is not supported): 'y'"
    )
    assert conv([2, 3, 2, 5, 5], [4, 3, 3, 2, 2]) == (
        "'Conv' x1 (expected the kernel, which spans 3 planes, to fit the padded "
        "input of 2): 'y'"
    )
    assert conv([1, 3, 2000, 5, 5], [4, 3, 1999, 2, 2]) == (
        "'Conv' x1 (expected at most 1024 parts, but got 1999): 'y'"
    )
    assert conv([2, 3, "W"], [4, 3, 2], auto_pad="SAME_UPPER") == (
        "'Conv' x1 ('auto_pad' is 'SAME_UPPER', and a size is not static): 'y'"
    )
    assert conv([2, 3, 5], [4, 3, 2], auto_pad="SAME") == (
        "'Conv' x1 ('auto_pad' is 'SAME'): 'y'"
    )
    assert conv([2, 3, 5], [4, 3, 2], dilations=[0]) == (
        "'Conv' x1 (expected a kernel, strides and dilations of 1 and more): 'y'"
    )


def test_refusals_of_transposed_convolutions(tmp_path: Path):
    def conv(*shapes: list[Any], **attributes: Any) -> str:
        return refused(tmp_path, "ConvTranspose", list(shapes), **attributes)

    assert conv([2, 3, 5], [3, 4, "K"]) == (
        "'ConvTranspose' x1 (a kernel of sizes that are not static is not supported): "
        "'y'"
    )
    assert conv([2, 3, 5], [3, 4, 2], auto_pad="SAME") == (
        "'ConvTranspose' x1 ('auto_pad' is 'SAME'): 'y'"
    )
    assert conv([2, 3, 5], [3, 4, 2], pads=[-1, 0]) == (
        "'ConvTranspose' x1 (expected 'pads' and 'output_padding' of 0 and more): 'y'"
    )
    assert conv([2, 3, "W"], [3, 4, 2], output_shape=[9]) == (
        "'ConvTranspose' x1 ('auto_pad' or 'output_shape', and a size is not static): "
        "'y'"
    )
    assert conv([2, 3, 5], [3, 4, 2], output_shape=[0]) == (
        "'ConvTranspose' x1 (expected 'output_shape' above 0, but got [0]): 'y'"
    )
    assert conv([2, 3, 5], [3, 4, 2], group=2) == (
        "'ConvTranspose' x1 (expected the 3 channels of the weight to be a multiple "
        "of 'group' 2): 'y'"
    )


def test_refusals_of_pools(tmp_path: Path):
    def pool(kind: str, *shapes: list[Any], **attributes: Any) -> str:
        return refused(tmp_path, kind, list(shapes), **attributes)

    cube: dict[str, Any] = {"kernel_shape": [2, 2, 2]}
    assert pool("MaxPool", [2, "C", 4, 5, 6], **cube) == (
        "'MaxPool' x1 (channels and a depth that are not static are not supported): 'y'"
    )
    assert pool("MaxPool", [2, 3, 4, "H", 6], **cube) == (
        "'MaxPool' x1 (three spatial dimensions that are not static): 'y'"
    )
    square: dict[str, Any] = {"kernel_shape": [2, 2]}
    assert pool("LpPool", [2, 3, "H", 6], ceil_mode=1, **square) == (
        "'LpPool' x1 ('ceil_mode', and a size is not static): 'y'"
    )
    assert pool("LpPool", [2, 3, 5, 6], p=0, **square) == (
        "'LpPool' x1 (expected 'p' of 1 and more, but got 0): 'y'"
    )
    assert pool("LpNormalization", [2, 3], p=3) == (
        "'LpNormalization' x1 (expected 'p' of 1 or 2, but got 3): 'y'"
    )
    assert pool("GlobalMaxPool", [2, 3]) == (
        "'GlobalMaxPool' x1 (expected spatial dimensions): 'y'"
    )
    assert pool("LRN", [2, 3, 4], size=0) == (
        "'LRN' x1 (expected channels and a 'size' above 0, but got 3 dimensions and 0)"
        ": 'y'"
    )
    assert pool("LRN", [2, 3, "H", "W"], size=3) == (
        "'LRN' x1 (several spatial sizes that are not static): 'y'"
    )


def test_refusals_of_places(tmp_path: Path):
    """Of what takes or gives places in an image."""

    def load(shapes: dict[str, Any], weights: dict[str, Any], one: Any) -> str:
        infos = [
            value(name, shape, "i64" if name == "i" else "f32")
            for name, shape in shapes.items()
        ]
        outputs = [name for name in one.output if name]
        proto = model([one], infos, outputs, weights, opset=18)
        with pytest.raises(OpError) as caught:
            transom.load(save(tmp_path, proto))
        return caught.value.notes[0].message

    square: dict[str, Any] = {"kernel_shape": [2, 2]}
    pool = node("MaxPool", "x", "y i", storage_order=1, **square)
    assert load({"x": [2, 3, "H", 6]}, {}, pool) == (
        "'MaxPool' x1 (places in column-major order of sizes that are not static): 'y'"
    )
    unpool = node("MaxUnpool", "x i s", strides=[2, 2], **square)
    shapes: dict[str, Any] = {"x": [1, 1, 2, 2], "i": [1, 1, 2, 2]}
    assert load(shapes, {"s": ints(1, 1, 4, 3)}, unpool) == (
        "'MaxUnpool' x1 (expected an output of at least [1, 1, 4, 4], "
        "but got [1, 1, 4, 3]): 'y'"
    )
    shapes = {"x": ["N", 1, 2, 2], "i": ["N", 1, 2, 2]}
    assert load(shapes, {"s": ints(1, 1, 4, 4)}, unpool) == (
        "'MaxUnpool' x1 (sizes that are not static are not supported): 'y'"
    )
    weights = {"s": ints(4, 4), "b": ints(2, 2)}
    col2im = node("Col2Im", "x s b")
    assert load({"x": [1, 8, 8]}, weights, col2im) == (
        "'Col2Im' x1 (expected blocks of 4 in 9 places, but got a shape of [1, 8, 8]): "
        "'y'"
    )
    col2im = node("Col2Im", "x s b", strides=[0, 1])
    assert load({"x": [1, 8, 9]}, weights, col2im) == (
        "'Col2Im' x1 (expected an image, blocks, strides and dilations above 0): 'y'"
    )
