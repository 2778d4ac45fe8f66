"""
Transforms, sums of products by letters, and operators on the order of elements.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_cases import RNG, check, floats, ints
from onnx_models import model, node, save, value

import transom
from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.frontends.onnx.einsum import parsed
from transom.frontends.onnx.node import Unsupported


def refusal(
    folder: Path, nodes: list[Any], inputs: dict[str, Any], **kwargs: Any
) -> str:
    """Why a node is not supported."""
    infos = [value(name, array.shape) for name, array in inputs.items()]
    with pytest.raises(OpError) as caught:
        transom.load(save(folder, model(nodes, infos, **kwargs)))
    return caught.value.notes[0].message


# Einsum

EQUATIONS: dict[str, tuple[tuple[int, ...], ...]] = {
    "ij->ji": ((3, 4),),
    "ij": ((3, 4),),
    "ii->i": ((4, 4),),
    "ii": ((4, 4),),
    "iij,jk->ik": ((4, 4, 3), (3, 5)),
    "bij, bjk -> bik": ((2, 3, 4), (2, 4, 5)),
    "bhqd,bhkd->bhqk": ((2, 3, 4, 5), (2, 3, 6, 5)),
    "i,j->ij": ((3,), (4,)),
    "i,i": ((3,), (3,)),
    "ij,jk,kl->il": ((2, 3), (3, 4), (4, 5)),
    "ijk,k->ij": ((2, 3, 4), (4,)),
    "abc,cd,d->ab": ((2, 3, 4), (4, 5), (5,)),
    "...ij,...jk->...ik": ((2, 3, 4), (2, 4, 5)),
    "...ij,jk": ((2, 3, 4), (4, 5)),
    "a...b->b...a": ((2, 3, 4),),
    "ij,kj->": ((2, 3), (4, 3)),
    "Ab,bA->A": ((2, 3), (3, 2)),
}


@pytest.mark.parametrize("equation", EQUATIONS)
@pytest.mark.parametrize("is_static", [True, False])
def test_einsum(tmp_path: Path, equation: str, is_static: bool):
    shapes = EQUATIONS[equation]
    if not is_static and ("ii" in equation or "..." in equation):
        pytest.skip("a diagonal needs a static size, and letters are sizes here")
    inputs = {f"x{i}": floats(*shape) for i, shape in enumerate(shapes)}
    terms = equation.replace(" ", "").split("->")[0].split(",")
    symbolic = {f"x{i}": list(term) for i, term in enumerate(terms)}
    nodes = [node("Einsum", " ".join(inputs), equation=equation)]
    check(tmp_path, nodes, inputs, shapes=None if is_static else symbolic)


def test_einsum_multiplies_matrices(tmp_path: Path):
    inputs = {"x": floats(2, 3, 4, 5), "z": floats(2, 3, 6, 5)}
    nodes = [node("Einsum", "x z", equation="bhqd,bhkd->bhqk")]
    module = check(tmp_path, nodes, inputs)
    assert any(isinstance(op, graph.MatmulOp) for op in module.walk())


@pytest.mark.parametrize(
    ("equation", "ranks", "message"),
    [
        ("ij,jk->ik", [2], "expected 1 terms, but got 'ij,jk->ik'"),
        ("i1->i", [2], "expected letters and '...', but got 'i1'"),
        ("ij->i", [3], "expected 3 dimensions, but got 'ij'"),
        (
            "ij->ii",
            [2],
            "expected each dimension of the result once and in a term: 'ij->ii'",
        ),
        (
            "ij->k",
            [2],
            "expected each dimension of the result once and in a term: 'ij->k'",
        ),
    ],
)
def test_einsum_that_is_wrong(equation: str, ranks: list[int], message: str):
    with pytest.raises(Unsupported) as caught:
        parsed(equation, ranks)
    assert str(caught.value) == message


# Transforms


@pytest.mark.parametrize("length", [None, 5, 8, 12])
@pytest.mark.parametrize("parts", [1, 2])
def test_dft(tmp_path: Path, length: int | None, parts: int):
    weights: dict[str, Any] = {"a": ints(1)[0]}
    inputs = {"x": floats(2, 9, 3, parts)}
    names = "x _ a"
    if length is not None:
        names, weights["n"] = "x n a", ints(length)[0]
    for inverse, onesided in ((0, 0), (1, 0), (0, 1)):
        if onesided and parts == 2:
            continue
        dft = node("DFT", names, inverse=inverse, onesided=onesided)
        check(tmp_path, [dft], inputs, weights, opset=20)
        check(
            tmp_path,
            [dft],
            inputs,
            weights,
            opset=20,
            shapes={"x": ["N", 9, "M", parts]},
        )


@pytest.mark.parametrize("length", [8, 9])
def test_a_transform_and_back(tmp_path: Path, length: int):
    """The half of the frequencies of real numbers is enough."""
    x = floats(2, length, 1)
    weights = {"n": ints(length)[0], "a": ints(1)[0]}
    nodes = [
        node("DFT", "x n a", "f", onesided=1),
        node("DFT", "f n a", "y", onesided=1, inverse=1),
    ]
    infos = [value("x", x.shape)]
    path = save(tmp_path, model(nodes, infos, ["f", "y"], weights, opset=20))
    found = transom.compile(transom.load(path)).run({"x": x})
    np.testing.assert_allclose(found["y"], x, atol=1e-6)
    expected = np.fft.rfft(x[..., 0])
    np.testing.assert_allclose(
        found["f"][..., 0] + 1j * found["f"][..., 1], expected, atol=1e-5
    )


def test_stft(tmp_path: Path):
    inputs = {"x": floats(2, 40, 1)}
    weights = {"s": ints(6)[0], "w": floats(16), "n": ints(16)[0]}
    for onesided in (0, 1):
        for names in ("x s w n", "x s w", "x s _ n"):
            stft = node("STFT", names, onesided=onesided)
            used = {name: weights[name] for name in names.split() if name in weights}
            check(tmp_path, [stft], inputs, used)
    reason = refusal(
        tmp_path, [node("STFT", "x s _ n")], {"x": floats(1, 8, 1)}, weights=weights
    )
    assert "expected frames of 1 to 8 elements" in reason


def test_parts_of_numbers(tmp_path: Path):
    reason = refusal(tmp_path, [node("DFT", "x", axis=1)], {"x": floats(2, 4, 3)})
    assert reason == (
        "'DFT' x1 (expected a static size along the axis and 1 or 2 parts of numbers, "
        "but got 4 and 3): 'y'"
    )
    reason = refusal(tmp_path, [node("DFT", "x", axis=2)], {"x": floats(2, 4, 1)})
    assert "expected another axis than that of the parts of numbers" in reason


# The order of elements


@pytest.mark.parametrize("largest", [0, 1])
def test_top_k(tmp_path: Path, largest: int):
    """Of equal elements the first come first."""
    x = RNG.integers(0, 5, (3, 40, 2)).astype(np.float32)
    top = node("TopK", "x k", "y z", axis=1, largest=largest)
    sizes = {"x": ["N", "K", 2]}
    for shapes in (None, sizes):
        check(
            tmp_path, [top], {"x": x}, {"k": ints(7)}, outputs=["y", "z"], shapes=shapes
        )


@pytest.mark.parametrize("is_sorted", [0, 1])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_unique(tmp_path: Path, is_sorted: int, axis: int | None):
    x = RNG.integers(0, 2, (5, 3, 2)).astype(np.float32)
    names = ["y", "i", "r", "c"]
    nodes = [node("Unique", "x", " ".join(names), sorted=is_sorted)]
    if axis is not None:
        nodes = [node("Unique", "x", " ".join(names), sorted=is_sorted, axis=axis)]
    check(tmp_path, nodes, {"x": x}, outputs=names)


def test_unique_of_many(tmp_path: Path):
    x = RNG.integers(-50, 50, 300)
    names = ["y", "i", "r", "c"]
    nodes = [node("Unique", "x", " ".join(names))]
    path = save(tmp_path, model(nodes, [value("x", [300], "i64")], names))
    found = transom.compile(transom.load(path)).run({"x": x})
    expected = np.unique(x, True, True, True)
    for name, array in zip(names, expected, strict=True):
        np.testing.assert_array_equal(found[name], array, err_msg=name)


# Others


def test_tile(tmp_path: Path):
    tile = node("Tile", "x r")
    inputs, weights = {"x": floats(2, 3, 4)}, {"r": ints(2, 1, 3)}
    check(tmp_path, [tile], inputs, weights)
    check(tmp_path, [tile], inputs, weights, shapes={"x": ["A", "B", "C"]})


def test_determinants(tmp_path: Path):
    for size in (1, 2, 3, 4):
        check(tmp_path, [node("Det", "x")], {"x": floats(2, size, size)})
    reason = refusal(tmp_path, [node("Det", "x")], {"x": floats(7, 7)})
    assert "expected square matrices of at most 6 rows" in reason


def test_instance_norm(tmp_path: Path):
    weights = {"s": floats(3), "b": floats(3)}
    norm = node("InstanceNormalization", "x s b")
    inputs = {"x": floats(2, 3, 4, 5)}
    check(tmp_path, [norm], inputs, weights)
    check(tmp_path, [norm], inputs, weights, shapes={"x": ["N", 3, "H", "W"]})


@pytest.mark.parametrize("fmod", [0, 1])
def test_rests(tmp_path: Path, fmod: int):
    some = [-7, -3, -1, 1, 3, 7]
    x, y = (a.ravel().astype(np.int32) for a in np.meshgrid(some, some))
    check(tmp_path, [node("Mod", "x z", fmod=fmod)], {"x": x, "z": y})
    if fmod:
        halves = {"x": x.astype(np.float32) / 2, "z": y.astype(np.float32)}
        check(tmp_path, [node("Mod", "x z", fmod=1)], halves)
