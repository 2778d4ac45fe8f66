"""
Resizing, padding and sampling of images compute what onnxruntime does.
"""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx_cases import RNG, check, floats, ints
from onnx_models import model, node, save, value

import transom
from transom.dialects import graph
from transom.dialects.diagnostics import OpError

WHERE = [
    "half_pixel",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "half_pixel_symmetric",
]
ROUNDINGS = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
SIZES = [(10, 12), (4, 3), (7, 4), (1, 6), (5, 18)]
"""To which an image of 5 x 6 is resized."""


def resized(folder: Path, sizes: tuple[int, ...], **attributes: Any) -> None:
    weights = {"s": ints(1, 2, *sizes)}
    resize = node("Resize", "x _ _ s", **attributes)
    check(folder, [resize], {"x": floats(1, 2, 5, 6)}, weights, opset=19)


@pytest.mark.parametrize("where", [*WHERE, "tf_half_pixel_for_nn"])
def test_nearest(tmp_path: Path, where: str):
    for rounding in ROUNDINGS:
        for sizes in SIZES:
            weights = {"s": ints(1, 2, *sizes)}
            weights |= {"r": np.array([], np.float32), "none": np.array([], np.float32)}
            is_old = where == "tf_half_pixel_for_nn"
            resize = node(
                "Resize",
                "x r none s" if is_old else "x _ _ s",
                coordinate_transformation_mode=where,
                nearest_mode=rounding,
            )
            opset = 11 if is_old else 19
            check(tmp_path, [resize], {"x": floats(1, 2, 5, 6)}, weights, opset=opset)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("where", WHERE)
def test_interpolation(tmp_path: Path, mode: str, where: str):
    for sizes in SIZES:
        resized(tmp_path, sizes, mode=mode, coordinate_transformation_mode=where)


def test_cubic(tmp_path: Path):
    for a in (-0.5, -0.75):
        for inside in (0, 1):
            options: dict[str, Any] = {"cubic_coeff_a": a, "exclude_outside": inside}
            resized(tmp_path, (11, 4), mode="cubic", **options)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_smooth_shrinking(tmp_path: Path, mode: str):
    for sizes in ((2, 3), (4, 9), (1, 2), (5, 2)):
        resized(tmp_path, sizes, mode=mode, antialias=1, exclude_outside=1)


def test_smooth_shrinking_by_picking(tmp_path: Path):
    """The matrix of a large axis is too large."""
    resize = node("Resize", "x _ _ s", mode="linear", antialias=1, exclude_outside=1)
    x = {"x": floats(1, 1, 1, 2100)}
    module = check(tmp_path, [resize], x, {"s": ints(1, 1, 1, 1050)}, opset=18)
    assert not any(isinstance(op, graph.MatmulOp) for op in module.walk())


@pytest.mark.parametrize("scales", [(1, 1, 2, 3), (1, 1, 0.6, 0.6), (1, 1, 1.7, 0.25)])
def test_scales(tmp_path: Path, scales: tuple[float, ...]):
    weights = {"s": np.array(scales, np.float32)}
    for mode in ("nearest", "linear"):
        for where in ("half_pixel", "asymmetric"):
            resize = node(
                "Resize", "x _ s", mode=mode, coordinate_transformation_mode=where
            )
            check(tmp_path, [resize], {"x": floats(1, 2, 5, 6)}, weights, opset=13)
    weights["r"] = np.array([], np.float32)
    check(tmp_path, [node("Resize", "x r s")], {"x": floats(1, 2, 5, 6)}, weights)
    resize = node("Resize", "x s")
    check(tmp_path, [resize], {"x": floats(1, 2, 5, 6)}, weights, opset=10)


def test_upsample(tmp_path: Path):
    x, weights = {"x": floats(1, 2, 3, 4)}, {"s": np.array([1, 1, 2, 1.5], np.float32)}
    for mode in ("nearest", "linear"):
        check(tmp_path, [node("Upsample", "x s", mode=mode)], x, weights, opset=9)
    scales = [1.0, 1.0, 2.0, 3.0]
    check(tmp_path, [node("Upsample", "x", scales=scales)], x, opset=7)


def test_part_of_an_image(tmp_path: Path):
    weights = {
        "r": np.array([0, 0, 0.2, -0.3, 1, 1, 0.9, 1.4], np.float32),
        "s": ints(1, 2, 7, 8),
    }
    for mode in ("nearest", "linear", "cubic"):
        resize = node(
            "Resize",
            "x r _ s",
            mode=mode,
            coordinate_transformation_mode="tf_crop_and_resize",
            extrapolation_value=7.5,
        )
        check(tmp_path, [resize], {"x": floats(1, 2, 5, 6)}, weights)


def test_chosen_axes(tmp_path: Path):
    x, weights = {"x": floats(5, 2, 6)}, {"s": ints(9, 10)}
    resize = node("Resize", "x _ _ s", mode="linear", axes=[2, 0])
    check(tmp_path, [resize], x, weights, opset=18)
    for policy in ("not_larger", "not_smaller"):
        resize = node("Resize", "x _ _ s", axes=[0, 2], keep_aspect_ratio_policy=policy)
        check(tmp_path, [resize], x, weights, opset=18)


def test_resizing_of_other_elements(tmp_path: Path):
    weights = {"s": ints(1, 2, 8, 9)}
    for type in (np.uint8, np.int32):
        x = RNG.integers(0, 100, (1, 2, 5, 6)).astype(type)
        check(tmp_path, [node("Resize", "x _ _ s")], {"x": x}, weights)
    x = floats(1, 2, 5, 6).astype(np.float16)
    module = transom.load(
        save(
            tmp_path,
            model(
                [node("Resize", "x _ _ s", mode="cubic")],
                [value("x", x.shape, "f16")],
                weights=weights,
            ),
        )
    )
    assert str(module).count("graph.cast") == 2  # f32 from end to end


def test_resizing_of_sizes_that_are_not_static(tmp_path: Path):
    weights = {"s": np.array([1, 1, 2, 3], np.float32)}
    shapes = {"x": ["N", "C", "H", "W"]}
    inputs = {"x": floats(2, 3, 5, 6)}
    for where in ("asymmetric", "half_pixel", "align_corners"):
        attributes = {"coordinate_transformation_mode": where, "nearest_mode": "floor"}
        resize = node("Resize", "x _ s", **attributes)
        if where == "asymmetric":
            check(tmp_path, [resize], inputs, weights, shapes=shapes)
            continue
        infos = [value("x", shapes["x"])]
        with pytest.raises(OpError) as caught:
            transom.load(save(tmp_path, model([resize], infos, weights=weights)))
        assert caught.value.notes[0].message == (
            "'Resize' x1 (axis 2 is resized, and its size is not static, 0 or huge): "
            "'y'"
        )
    # The sizes of other axes are computed, as exporters do.
    nodes = [
        node("Shape", "x", "shape"),
        node("Slice", "shape zero two", "first"),
        node("Concat", "first size", "wanted", axis=0),
        node("Resize", "x _ _ wanted", mode="linear"),
    ]
    weights = {"zero": ints(0), "two": ints(2), "size": ints(8, 9)}
    check(tmp_path, nodes, inputs, weights, shapes={"x": ["N", "C", 5, 6]})


PADS = {"edge": (3, 2, 1, 7), "reflect": (3, 2, 1, 1), "wrap": (3, 2, 4, 5)}


@pytest.mark.parametrize("mode", ["edge", "reflect", "wrap"])
def test_padding(tmp_path: Path, mode: str):
    x = {"x": floats(4, 5)}
    top, left, bottom, right = PADS[mode]
    weights = {"p": ints(top, left, bottom, right)}
    check(tmp_path, [node("Pad", "x p", mode=mode)], x, weights, opset=19)
    check(
        tmp_path, [node("Pad", "x p", mode=mode)], x, {"p": ints(0, 1, 0, 0)}, opset=19
    )
    if mode != "wrap":
        weights = {"p": ints(-1, left, bottom, -2)}
        check(tmp_path, [node("Pad", "x p", mode=mode)], x, weights)
    if mode == "reflect":
        pad = node("Pad", "x", mode=mode, pads=[1, 2, 3, 4])
        check(tmp_path, [pad], x, opset=10)


def test_padding_again_and_again(tmp_path: Path):
    """Places of a small axis come round so often that they are picked one by one."""
    x, weights = {"x": floats(2, 3)}, {"p": ints(0, 40, 0, 31)}
    pad = node("Pad", "x p", mode="wrap")
    module = check(tmp_path, [pad], x, weights, opset=19)
    assert any(isinstance(op, graph.GatherOp) for op in module.walk())


def test_padding_with_less(tmp_path: Path):
    x, weights = {"x": floats(4, 5)}, {"p": ints(-1, 2, 3, -2), "v": np.float32(2)}
    check(tmp_path, [node("Pad", "x p v")], x, weights)


def test_padding_with_what_is_computed(tmp_path: Path):
    inputs, weights = (
        {"x": floats(4, 5), "v": np.array(2.5, np.float32)},
        {"p": ints(-1, 2, 3, 0)},
    )
    for shape in ([4, 5], ["N", 5]):
        shapes = {"x": shape}
        check(tmp_path, [node("Pad", "x p v")], inputs, weights, shapes=shapes)


def test_center_crop_pad(tmp_path: Path):
    weights = {"s": ints(5, 4)}
    crop = node("CenterCropPad", "x s", axes=[0, -1])
    check(tmp_path, [crop], {"x": floats(8, 2, 3)}, weights, opset=18)


GRID_MODES = [("linear", 20), ("nearest", 20), ("cubic", 20), ("bilinear", 16)]


@pytest.mark.parametrize("corners", [0, 1])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize(("mode", "opset"), GRID_MODES)
def test_grid_sample(tmp_path: Path, mode: str, opset: int, padding: str, corners: int):
    inputs = {
        "x": floats(2, 3, 5, 6),
        "g": RNG.uniform(-2.5, 2.5, (2, 3, 4, 2)).astype(np.float32),
    }
    sample = node(
        "GridSample", "x g", mode=mode, padding_mode=padding, align_corners=corners
    )
    check(tmp_path, [sample], inputs, opset=opset)
    shapes = {"x": ["N", "C", 5, 6], "g": ["N", "H", "W", 2]}
    check(tmp_path, [sample], inputs, opset=opset, shapes=shapes)


def test_grid_sample_of_volumes(tmp_path: Path):
    inputs = {
        "x": floats(2, 2, 3, 4, 5),
        "g": RNG.uniform(-1.5, 1.5, (2, 2, 3, 2, 3)).astype(np.float32),
    }
    for mode in ("linear", "nearest"):
        for padding in ("zeros", "border", "reflection"):
            sample = node("GridSample", "x g", mode=mode, padding_mode=padding)
            check(tmp_path, [sample], inputs, opset=20)


def test_grid_sample_reads_nothing_outside(tmp_path: Path):
    """What is beside a place outside is no number, and counts nothing."""
    x = np.full((1, 1, 3, 3), np.nan, np.float32)
    grid = np.full((1, 2, 2, 2), 3, np.float32)
    check(tmp_path, [node("GridSample", "x g")], {"x": x, "g": grid}, opset=20)


@pytest.mark.parametrize("corners", [0, 1])
def test_affine_grid(tmp_path: Path, corners: int):
    for count, size in ((2, (2, 3, 4, 5)), (3, (2, 3, 4, 5, 2)), (2, (1, 1, 2, 2))):
        one = node("AffineGrid", "x s", align_corners=corners)
        inputs = {"x": floats(size[0], count, count + 1)}
        check(tmp_path, [one], inputs, {"s": ints(*size)}, opset=20)


@pytest.mark.parametrize("mode", ["avg", "max"])
def test_roi_align(tmp_path: Path, mode: str):
    inputs = {
        "x": floats(2, 3, 8, 9),
        "r": np.array(
            [[0, 1, 5, 6], [-2, -3, 4, 3], [2, 2, 20, 5], [3, 3, 3.2, 3]], np.float32
        ),
        "b": ints(0, 1, 1, 0),
    }
    for where, opset in (("half_pixel", 16), ("output_half_pixel", 16), ("", 10)):
        attributes: dict[str, Any] = {
            "mode": mode,
            "output_height": 3,
            "output_width": 2,
            "sampling_ratio": 2,
            "spatial_scale": 0.7,
        }
        if where:
            attributes["coordinate_transformation_mode"] = where
        align = node("RoiAlign", "x r b", **attributes)
        check(tmp_path, [align], inputs, opset=opset)


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"strides": [2, 1], "pads": [1, 0, 2, 1], "dilations": [1, 2]},
        {"group": 2},
        {"offset_group": 2},
        {"group": 4, "offset_group": 2, "pads": [1, 1, 1, 1]},
    ],
)
def test_deform_conv(tmp_path: Path, attributes: dict[str, Any]):
    kernel, image = (3, 2), (6, 7)
    strides = attributes.get("strides", [1, 1])
    dilations = attributes.get("dilations", [1, 1])
    pads = attributes.get("pads", [0, 0, 0, 0])
    sizes = [
        (image[i] + pads[i] + pads[i + 2] - (kernel[i] - 1) * dilations[i] - 1)
        // strides[i]
        + 1
        for i in (0, 1)
    ]
    parts = attributes.get("offset_group", 1)
    inputs = {
        "x": floats(2, 4, *image),
        "o": floats(2, parts * 12, *sizes) * 2,
        "m": floats(2, parts * 6, *sizes),
    }
    weights = {"w": floats(8, 4 // attributes.get("group", 1), *kernel), "b": floats(8)}
    conv = node("DeformConv", "x w o b m", **attributes)
    check(tmp_path, [conv], inputs, weights, opset=19)
    del inputs["m"]
    conv = node("DeformConv", "x w o", **attributes)
    check(tmp_path, [conv], inputs, weights, opset=19)


# Refusals


def refused(
    folder: Path,
    one: onnx.NodeProto,
    shapes: dict[str, Any],
    weights: dict[str, Any] | None = None,
    kind: str = "f32",
    opset: int = 19,
) -> str:
    """Why a node has no form."""
    infos = [value(name, shape, kind) for name, shape in shapes.items()]
    with pytest.raises(OpError) as caught:
        transom.load(save(folder, model([one], infos, weights=weights, opset=opset)))
    return caught.value.notes[0].message


X: dict[str, Any] = {"x": [1, 2, 5, 6]}


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"mode": "best"}, "'mode' is 'best'"),
        (
            {"coordinate_transformation_mode": "left"},
            "'coordinate_transformation_mode' is 'left'",
        ),
        ({"nearest_mode": "left"}, "'nearest_mode' is 'left'"),
        ({"keep_aspect_ratio_policy": "no"}, "'keep_aspect_ratio_policy' is 'no'"),
        ({"axes": [2]}, "expected 1 sizes, but got 4"),
    ],
)
def test_attributes_of_resizing(
    tmp_path: Path, attributes: dict[str, Any], reason: str
):
    resize = node("Resize", "x _ _ s", **attributes)
    found = refused(tmp_path, resize, X, {"s": ints(1, 2, 3, 4)})
    assert found == f"'Resize' x1 ({reason}): 'y'"


def test_refusals_of_resizing(tmp_path: Path):
    linear = node("Resize", "x _ _ s", mode="linear")
    assert refused(tmp_path, linear, X, {"s": ints(1, 2, 3, 4)}, "i32") == (
        "'Resize' x1 ('mode' is 'linear', of integers): 'y'"
    )
    assert refused(tmp_path, linear, X, {"s": ints(1, 2, 3, 2**21)}) == (
        "'Resize' x1 (expected sizes of at most 1048576, but got 2097152): 'y'"
    )
    scaled = node("Resize", "x _ s")
    assert refused(tmp_path, scaled, X, {"s": np.array([1, 0], np.float32)}) == (
        "'Resize' x1 (expected 4 scales above 0, but got [1.0, 0.0]): 'y'"
    )
    crop = node(
        "Resize", "x r _ s", coordinate_transformation_mode="tf_crop_and_resize"
    )
    weights = {"r": np.array([1, 0], np.float32), "s": ints(1, 2, 3, 4)}
    assert refused(tmp_path, crop, X, weights) == (
        "'Resize' x1 (expected 8 borders of a part, but got 2): 'y'"
    )
    kept = node("Resize", "x _ _ s", keep_aspect_ratio_policy="not_larger")
    shapes = {"x": [1, 2, "H", 6]}
    assert refused(tmp_path, kept, shapes, {"s": ints(1, 2, 3, 4)}) == (
        "'Resize' x1 (axis 2 is resized, and its size is not static, 0 or huge): 'y'"
    )
    smooth = node("Resize", "x _ _ s", mode="linear", antialias=1)
    shapes = {"x": [1, 5, "H", "W"]}
    nodes = [
        node("Shape", "x", "shape"),
        node("Slice", "shape two four", "last"),
        node("Concat", "size last", "s", axis=0),
        smooth,
    ]
    weights = {"two": ints(2), "four": ints(4), "size": ints(1, 2)}
    proto = model(nodes, [value("x", shapes["x"])], weights=weights, opset=19)
    with pytest.raises(OpError) as caught:
        transom.load(save(tmp_path, proto))
    assert caught.value.notes[0].message == (
        "'Resize' x1 (several sizes behind an axis are not static): 'y'"
    )
    nodes[2] = node("Concat", "last size", "s", axis=0)
    proto = model(nodes, [value("x", shapes["x"])], weights=weights, opset=19)
    with pytest.raises(OpError) as caught:
        transom.load(save(tmp_path, proto))
    assert caught.value.notes[0].message == (
        "'Resize' x1 (axis 0 gets a size that is not static): 'y'"
    )
    assert refused(tmp_path, node("Upsample", "x"), X, opset=7) == (
        "'Upsample' x1 (expected attribute 'scales'): 'y'"
    )


def test_refusals_of_padding(tmp_path: Path):
    pads = {"p": ints(0, 1, 1, 1)}
    assert refused(tmp_path, node("Pad", "x p", mode="best"), {"x": [2, 3]}, pads) == (
        "'Pad' x1 ('mode' is 'best'): 'y'"
    )
    assert refused(tmp_path, node("Pad", "x p"), X, pads) == (
        "'Pad' x1 (expected two pads for each axis, but got [0, 1, 1, 1]): 'y'"
    )
    edge = node("Pad", "x p", mode="edge")
    assert refused(tmp_path, edge, {"x": ["N", 3]}, pads) == (
        "'Pad' x1 (axis 0 is padded with its elements, and its size is not static, "
        "0 or huge): 'y'"
    )


def test_refusals_of_grids(tmp_path: Path):
    shapes: dict[str, Any] = {"x": [1, 2, 5, 6], "g": [1, 3, 4, 2]}
    for attributes, reason in (
        ({"mode": "best"}, "'mode' is 'best'"),
        ({"padding_mode": "best"}, "'padding_mode' is 'best'"),
    ):
        sample = node("GridSample", "x g", **attributes)
        found = refused(tmp_path, sample, shapes, opset=20)
        assert found == f"'GridSample' x1 ({reason}): 'y'"
    sample = node("GridSample", "x g")
    assert refused(tmp_path, sample, {**shapes, "x": [1, 2, "H", 6]}) == (
        "'GridSample' x1 (spatial sizes that are not static, or 0): 'y'"
    )
    assert refused(tmp_path, sample, {**shapes, "g": [1, 3, 4, 3]}) == (
        "'GridSample' x1 (expected places in 2 dimensions, but got the shape "
        "[1, 3, 4, 3]): 'y'"
    )
    sample = node("GridSample", "x g", mode="cubic")
    infos = [value("x", [1, 2, 5, 6], "i32"), value("g", [1, 3, 4, 2])]
    with pytest.raises(OpError) as caught:
        transom.load(save(tmp_path, model([sample], infos, opset=20)))
    assert caught.value.notes[0].message == (
        "'GridSample' x1 ('mode' is 'cubic', of integers): 'y'"
    )


def test_refusals_of_affine_grids(tmp_path: Path):
    affine = node("AffineGrid", "x s", align_corners=1)
    assert refused(tmp_path, affine, {"x": [1, 2, 2]}, {"s": ints(1, 1, 2, 2)}) == (
        "'AffineGrid' x1 (expected matrices for a size in 2 or 3 dimensions, but got "
        "the shape [1, 2, 2] for [1, 1, 2, 2]): 'y'"
    )
    weights = {"s": ints(1, 1, 2, 1)}
    assert refused(tmp_path, affine, {"x": [1, 2, 3]}, weights, opset=20) == (
        "'AffineGrid' x1 (a single pixel has no corners to align): 'y'"
    )


def test_refusals_of_regions(tmp_path: Path):
    shapes: dict[str, Any] = {"x": [1, 2, 5, 6], "r": [3, 4], "b": [3]}

    def align(shapes: dict[str, Any] = shapes, **attributes: Any) -> str:
        infos = [
            value(name, shape, "i64" if name == "b" else "f32")
            for name, shape in shapes.items()
        ]
        one = node("RoiAlign", "x r b", **attributes)
        with pytest.raises(OpError) as caught:
            transom.load(save(tmp_path, model([one], infos, opset=16)))
        return caught.value.notes[0].message

    assert align() == (
        "'RoiAlign' x1 ('sampling_ratio' is 0: how many samples there are depends on "
        "the regions): 'y'"
    )
    assert align(mode="best") == "'RoiAlign' x1 ('mode' is 'best'): 'y'"
    assert align(coordinate_transformation_mode="left") == (
        "'RoiAlign' x1 ('coordinate_transformation_mode' is 'left'): 'y'"
    )
    assert align(sampling_ratio=1, output_width=5000) == (
        "'RoiAlign' x1 (expected sizes of 1 to 4096, but got [1, 5000]): 'y'"
    )
    assert align({**shapes, "r": [3, 5]}, sampling_ratio=1) == (
        "'RoiAlign' x1 (expected an image with 4 dimensions, and regions with 4 ends): "
        "'y'"
    )


def test_refusals_of_deformed_convolutions(tmp_path: Path):
    conv = node("DeformConv", "x w o")
    shapes: dict[str, Any] = {"x": [1, 2, 5, 6], "w": [4, 2, 3, 3], "o": [1, 18, 3, 4]}
    assert refused(tmp_path, conv, {**shapes, "o": [1, 18, 3]}) == (
        "'DeformConv' x1 (expected an image, a weight and offsets with 4 dimensions): "
        "'y'"
    )
    assert refused(tmp_path, conv, {**shapes, "o": [1, 9, 3, 4]}) == (
        "'DeformConv' x1 (expected static sizes that fit each other): 'y'"
    )
    conv = node("DeformConv", "x w o", kernel_shape=[2, 2])
    assert refused(tmp_path, conv, shapes) == (
        "'DeformConv' x1 (expected 'kernel_shape' to be that of the weight, [3, 3]): "
        "'y'"
    )
