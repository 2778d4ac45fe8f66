"""
The programs read ONNX models; weights are read where the model is.
"""

from pathlib import Path

import numpy as np
import pytest
from onnx_models import model, node, runtime_outputs, save, value

import transom
from transom.tools import transom_opt, transom_run

WEIGHTS = {"w": np.linspace(-1, 1, 30, dtype=np.float32).reshape(6, 5)}
X = np.linspace(0, 2, 24, dtype=np.float32).reshape(4, 6)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model in a folder that is not the working one, and its input `x.npy`."""
    (tmp_path / "models").mkdir()
    monkeypatch.chdir(tmp_path)
    nodes = [node("MatMul", "x w", "m", name="fc"), node("Relu", "m", name="act")]
    proto = model(nodes, [value("x", [4, 6])], weights=WEIGHTS)
    np.save("x.npy", X)
    found = save(Path("models"), proto)
    np.save("y.npy", runtime_outputs(found, {"x": X})[0])
    return found


def test_a_model_is_run(path: Path, capsys: pytest.CaptureFixture[str]):
    arguments = ["--input", "x.npy", "--expected", "y.npy"]
    assert transom_run.main([str(path), *arguments]) == 0
    assert transom_run.main([str(path), "--interpret", *arguments]) == 0
    text = capsys.readouterr().out
    assert text.count("1 outputs compared: all equal within tolerance") == 2


@pytest.mark.parametrize("phase", ["graph", "tensor", "planned", "machine"])
def test_text_of_a_model_is_run(
    path: Path, phase: str, capsys: pytest.CaptureFixture[str]
):
    text = path.with_name("m.mlir")
    arguments = [str(path), f"--to={phase}", "--print-debuginfo", "-o", str(text)]
    assert transom_opt.main(arguments) == 0
    arguments = ["--input", "x.npy", "--expected", "y.npy"]
    assert transom_run.main([str(text), *arguments]) == 0
    if phase == "tensor":
        assert '"fc"("models/m.onnx":1:1), "act"("models/m.onnx":2:1)' in (
            text.read_text()
        )
        assert transom_run.main([str(text), "--interpret", *arguments]) == 0


def test_text_beside_its_model(path: Path, monkeypatch: pytest.MonkeyPatch):
    """Paths are relative to the file that names them, whatever its locations say."""
    text = path.with_name("m.mlir")
    assert transom_opt.main([str(path), "--print-debuginfo", "-o", str(text)]) == 0
    monkeypatch.chdir("models")
    assert transom_run.main(["m.mlir", "--input", "../x.npy"]) == 0


def test_a_cache_of_links(path: Path, capsys: pytest.CaptureFixture[str]):
    """Download caches link models and their weights to another folder."""
    folder = Path("cache")
    folder.mkdir()
    link, text = folder / "m.onnx", folder / "m.mlir"
    link.symlink_to(path.resolve())
    allowed = ["--allow-external-data-dir", "models"]
    for program in (transom_opt.main, transom_run.main):
        assert program([str(link)]) == 1
        assert "'m.onnx' is a link that leaves its folder" in capsys.readouterr().err
    assert transom_opt.main([str(link), "-o", str(text), *allowed]) == 0
    for file in (str(link), str(text)):
        for way in ([], ["--interpret"]):
            arguments = [file, "--input", "x.npy", "--expected", "y.npy", *way]
            assert transom_run.main([*arguments, *allowed]) == 0
    module = transom.load(link, data_folders=["models"])
    transom.compile(module, data_folders=["models"])


def test_weights_that_are_not_there(path: Path, capsys: pytest.CaptureFixture[str]):
    assert transom_opt.main([str(path), "-o", "elsewhere.mlir"]) == 0
    assert transom_run.main(["elsewhere.mlir", "--input", "x.npy"]) == 0
    path.unlink()
    assert transom_run.main(["elsewhere.mlir", "--input", "x.npy"]) == 1
    assert "error: cannot read 'models/m.onnx': No such" in capsys.readouterr().err


def test_a_weight_that_changed(path: Path, capsys: pytest.CaptureFixture[str]):
    text = path.with_name("m.mlir")
    assert transom_opt.main([str(path), "-o", str(text)]) == 0
    changed = {"w": WEIGHTS["w"] + 1}
    proto = model([node("MatMul", "x w")], [value("x", [4, 6])], weights=changed)
    save(path.parent, proto)
    assert transom_run.main([str(text), "--input", "x.npy"]) == 1
    assert "weight 'w' in 'm.onnx': expected sha256" in capsys.readouterr().err


def test_what_is_not_supported_is_listed(
    path: Path, capsys: pytest.CaptureFixture[str]
):
    nodes = [node("Odd", "x", "z", name="one"), node("Relu", "z")]
    save(path.parent, model(nodes, [value("x", [4, 6])]))
    for program in (transom_opt.main, transom_run.main):
        assert program([str(path)]) == 1
        assert capsys.readouterr().err.splitlines() == [
            "models/m.onnx:1:1: error: 1 of 2 nodes are not supported",
            "models/m.onnx:1:1: note: 'Odd' x1 (there is no such operator in 'graph' "
            "yet): 'one'",
        ]
