"""
Sizes that the user of a model says: shapes of inputs, bounds and values by name.
"""

import argparse
from pathlib import Path

import numpy as np
import pytest
from onnx_cases import floats
from onnx_models import model, node, save, value

import transom
from transom.dialects.diagnostics import OpError
from transom.passes.pipeline import PipelineError
from transom.tools import transom_opt, transom_run
from transom.tools.size_arguments import dim, shape


@pytest.fixture
def path(tmp_path: Path) -> Path:
    infos = [value("x", ["N", None, "W"]), value("z", ["N", 3, "W"])]
    return save(tmp_path, model([node("Add", "x z")], infos))


def inputs_of(path: Path, **sizes: object) -> str:
    """The types of the arguments of a model."""
    text = str(transom.load(path, **sizes))  # pyright: ignore[reportArgumentType]
    return text.partition("@main(")[2].partition(" {graph.name")[0]


def test_a_shape_names_sizes_everywhere(path: Path):
    module = transom.load(path, shapes={"x": (2, 3, 5)})
    assert str(module).count("tensor<2x3x5xf32>") >= 3
    assert "?" not in str(module)
    x = floats(2, 3, 5)
    found = transom.compile(module).run({"x": x, "z": x})
    np.testing.assert_array_equal(found["y"], x + x)


def test_parts_of_a_shape(path: Path):
    """A size that is left out stays what it is."""
    assert '"N"' in inputs_of(path, shapes={"x": (None, 3, 5)})
    assert inputs_of(path, shapes={"x": (None, 3, 5)}).startswith(
        "%x: tensor<?x3x5xf32"
    )


def test_dims(path: Path):
    assert inputs_of(path, dims={"N": (2, 2)}).startswith("%x: tensor<2x?x?xf32")
    assert '"N" : 1 to 8' in inputs_of(path, dims={"N": (1, 8)})
    assert '"N" : ? to 8' in inputs_of(path, dims={"N": (None, 8)})
    both = inputs_of(
        path, dims={"N": (1, 8), "W": (4, 4)}, shapes={"x": (None, 3, None)}
    )
    assert '"N" : 1 to 8' in both and "tensor<?x3x4xf32" in both


def test_an_input_without_a_shape(tmp_path: Path):
    info = value("x", [])
    info.type.tensor_type.ClearField("shape")
    path = save(tmp_path, model([node("Relu", "x")], [info]))
    with pytest.raises(OpError, match="expected a known number of dimensions"):
        transom.load(path)
    assert "tensor<2x?xf32>" in str(transom.load(path, shapes={"x": (2, None)}))


@pytest.mark.parametrize(
    ("shapes", "dims", "message"),
    [
        ({"X": (1, 1, 1)}, {}, "the model has no input 'X'; did you mean 'x'?"),
        ({"x": (1, 1)}, {}, "expected 3 sizes of input 'x', but got 2"),
        (
            {"z": (1, 4, 1)},
            {},
            "expected dimension 1 of input 'z' to be 3, as the model says, but got 4",
        ),
        (
            {"x": (1, 3, 1), "z": (2, 3, 1)},
            {},
            "expected 'N' to be 1 everywhere, but it is 2 in input 'z'",
        ),
        (
            {"x": (1, 3, 1)},
            {"N": (2, 8)},
            "expected 'N' in 2..8, but it is 1 in input 'x'",
        ),
        (
            {"x": (9, 3, 1)},
            {"N": (None, 8)},
            "expected 'N' in ..8, but it is 9 in input 'x'",
        ),
    ],
)
def test_what_the_model_says_otherwise(
    path: Path,
    shapes: dict[str, tuple[int, ...]],
    dims: dict[str, tuple[int | None, int | None]],
    message: str,
):
    with pytest.raises(OpError) as caught:
        transom.load(path, shapes=shapes, dims=dims)
    assert caught.value.message == message


def test_sizes_that_are_unknown(path: Path, tmp_path: Path):
    with pytest.raises(PipelineError, match="unknown size 'M'"):
        transom.load(path, dims={"M": (1, 8)})
    text = tmp_path / "m.mlir"
    text.write_text("func.func @main() {\n  func.return\n}\n")
    with pytest.raises(PipelineError, match="expected an ONNX model"):
        transom.load(text, shapes={"x": (1,)})


BOUNDED = """
!t = tensor<?xf32, #graph.desc<dims = ["N" : 2 to 4]>>
func.func @main(%x: !t) -> !t {
  %y = graph.relu %x : !t
  func.return %y : !t
}
"""


@pytest.mark.parametrize(
    ("asked", "bounds"),
    [
        ((2, 4), "2 to 4"),
        ((3, None), "3 to 4"),
        ((None, 3), "2 to 3"),
        ((3, 3), "3 to 3"),
    ],
)
def test_bounds_are_within_those_of_the_types(
    asked: tuple[int | None, int | None], bounds: str, tmp_path: Path
):
    text = tmp_path / "m.mlir"
    text.write_text(BOUNDED)
    module = str(transom.load(text, dims={"N": asked}))
    assert module.count('"N"') == module.count(f'["N" : {bounds}]') > 1


@pytest.mark.parametrize("asked", ["2..9", "1..4", "9..", "..1", "5"])
def test_other_bounds_are_refused(
    asked: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    text = tmp_path / "m.mlir"
    text.write_text(BOUNDED)
    for tool in (transom_opt, transom_run):
        assert tool.main([str(text), "--dim", f"N={asked}"]) == 2
        assert capsys.readouterr().err.endswith(
            f": error: expected sizes 'N' within 2..4, as {text}:3:1 says, but got "
            f"{asked}\n"
        )


# The command line


def test_opt(path: Path, capsys: pytest.CaptureFixture[str]):
    assert transom_opt.main([str(path), "--shape", "x=2x3x?", "--dim", "W=1..7"]) == 0
    text = capsys.readouterr().out
    assert 'tensor<2x3x?xf32, #graph.desc<dims = ["W" : 1 to 7]>>' in text


def test_opt_of_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Bounds are for any file, shapes for the inputs of a model."""
    path = tmp_path / "m.mlir"
    path.write_text(
        'func.func @main(%x: tensor<?xf32, #graph.desc<dims = ["N"]>>) {\n'
        "  func.return\n}\n"
    )
    assert transom_opt.main([str(path), "--dim", "N=..7"]) == 0
    assert '"N" : ? to 7' in capsys.readouterr().out
    assert transom_opt.main([str(path), "--shape", "x=7"]) == 2
    assert "--shape is for the inputs of an ONNX model" in capsys.readouterr().err


def test_run(path: Path, capsys: pytest.CaptureFixture[str]):
    words = [str(path), "--shape", "x=1x3x2", "--input", "1x3x2xf32=1"]
    assert transom_run.main([*words, "--input", "1x3x2xf32=2"]) == 0
    assert "y: 1x3x2xfloat32 = [3, 3, 3, 3, 3, 3]" in capsys.readouterr().out
    assert transom_run.main([*words, "--dim", "N=1", "--dim", "N=2"]) == 2
    assert "expected --dim of 'N' once" in capsys.readouterr().err


def test_words():
    assert dim("N=8") == ("N", (8, 8))
    assert dim("N=1..8") == ("N", (1, 8))
    assert dim("a=b=1..") == ("a=b", (1, None))
    assert dim("N=..8") == ("N", (None, 8))
    assert shape("x=1x3x?") == ("x", (1, 3, None))
    assert shape("x=") == ("x", ())


@pytest.mark.parametrize(
    "text", ["N", "=8", "N=", "N=..", "N=8..1", "N=a", "N=-1", "N=1..²"]
)
def test_dims_that_are_wrong(text: str):
    with pytest.raises(argparse.ArgumentTypeError, match="expected"):
        dim(text)


@pytest.mark.parametrize("text", ["1x3", "=1x3", "x=1x", "x=axb", "x=-1"])
def test_shapes_that_are_wrong(text: str):
    with pytest.raises(argparse.ArgumentTypeError, match="expected"):
        shape(text)


def test_sizes_of_another_value_in_a_reshape(tmp_path: Path):
    """As linear layers of PyTorch are exported; they are told from outside."""
    nodes = [
        node("Shape", "x", "sizes"),
        node("Flatten", "x", "rows", axis=2),
        node("Reshape", "rows sizes", "y"),
    ]
    path = save(tmp_path, model(nodes, [value("x", ("B", "S", 8))], ["y"]))
    with pytest.raises(OpError) as caught:
        transom.load(path)
    assert "but got 2; give the sizes by --dim or --shape" in caught.value.notes[0][1]
    transom.load(path, dims={"B": (2, 2), "S": (3, 3)}).verify()
    transom.load(path, shapes={"x": (2, 3, 8)}).verify()
