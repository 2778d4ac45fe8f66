"""
`transom-run`: inputs, comparison, and what users get wrong.
"""

import io
from pathlib import Path

import numpy as np
import pytest

import transom
from transom.tools.transom_run import main

TEXT = """
func.func @main(
    %x: tensor<2x3xf32> {graph.name = "x"}, %n: tensor<3xi32> {graph.name = "n"})
    -> (tensor<2x3xf32> {graph.name = "y"}, tensor<3xi32> {graph.name = "m"}) {
  %y = graph.relu %x : tensor<2x3xf32>
  %m = graph.add %n, %n : tensor<3xi32>
  func.return %y, %m : tensor<2x3xf32>, tensor<3xi32>
}
"""

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "model.mlir"
    path.write_text(TEXT)
    return str(path)


def test_values_on_the_command_line(model: str, capsys: Capture) -> None:
    assert main([model, "--input", "2x3xf32=-1,2,-3,4,5,6", "--input", "3xi32=7"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "y: 2x3xfloat32 = [0, 2, 0, 4, 5, 6]",
        "m: 3xint32 = [14, 14, 14]",
    ]


@pytest.mark.parametrize("phase", [phase.name for phase in transom.phases()])
def test_every_phase_runs(
    model: str, phase: str, tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / f"{phase}.mlir"
    path.write_text(str(transom.lower(transom.load(model), phase)))
    capsys.readouterr()
    words = ["--input", "n=3xi32=1,2,3", "--input", "x=2x3xf32=1.5"]
    assert main([str(path), *words]) == 0
    out = capsys.readouterr().out
    assert "y: 2x3xfloat32 = [1.5, 1.5, 1.5, 1.5, 1.5, 1.5]" in out
    assert "m: 3xint32 = [2, 4, 6]" in out
    if phase == "machine":
        assert main([str(path), *words, "--interpret"]) == 1
        assert (
            "a module at phase 'machine' is not interpreted" in capsys.readouterr().err
        )
    else:
        assert main([str(path), *words, "--interpret"]) == 0
        assert "m: 3xint32 = [2, 4, 6]" in capsys.readouterr().out


def test_files_of_arrays(model: str, tmp_path: Path, capsys: Capture) -> None:
    x, n = np.full((2, 3), -2, np.float32), np.arange(3, dtype=np.int32)
    np.save(tmp_path / "x.npy", x)
    np.savez(tmp_path / "both.npz", x=x, n=n)
    np.savez(tmp_path / "expected.npz", y=np.zeros((2, 3), np.float32), m=n * 2)
    expected = ["--expected", str(tmp_path / "expected.npz")]
    assert main([model, "--input", str(tmp_path / "both.npz"), *expected]) == 0
    assert "2 outputs compared: all equal within tolerance" in capsys.readouterr().out
    x_file = f"x={tmp_path / 'x.npy'}"
    assert main([model, "--input", x_file, "--input", "3xi32=0,1,2", *expected]) == 0
    result = tmp_path / "out.npz"
    assert main([model, "--input", "random:4", "-q", "-o", str(result)]) == 0
    with np.load(result) as arrays:
        assert sorted(arrays.files) == ["m", "y"]


def test_files_hold_bf16(tmp_path: Path, capsys: Capture) -> None:
    """NumPy has no name for the type, and writes two bytes."""
    path, file = tmp_path / "half.mlir", str(tmp_path / "half.npz")
    path.write_text(TEXT.replace("f32", "bf16"))
    words = [str(path), "--input", "n=3xi32=1,2,3", "-q"]
    assert main([*words, "--input", "random:1", "-o", file]) == 0
    assert main([*words, "--input", "random:1", "--expected", file]) == 0
    assert "2 outputs compared: all equal" in capsys.readouterr().out
    with np.load(file) as arrays:
        np.save(tmp_path / "x.npy", arrays["y"])
    assert main([*words, "--input", f"x={tmp_path / 'x.npy'}", "--expected", file]) == 0


def test_all_differing_outputs_are_listed(model: str, capsys: Capture) -> None:
    words = ["--input", "2x3xf32=1,2,3,4,5,6", "--input", "3xi32=1"]
    expected = ["--expected", "y=2x3xf32=1,2,3.5,4,5,7", "--expected", "m=3xi32=2,3,2"]
    assert main([model, *words, *expected, "-q"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "'y': 2 of 6 elements differ, by at most 1 (largest expected: 7)",
        "  at [0, 2]: expected 3.5, but got 3.0",
        "  at [1, 2]: expected 7.0, but got 6.0",
        "'m': 1 of 3 elements differ, by at most 1 (largest expected: 3)",
        "  at [1]: expected 3, but got 2",
        "2 of 2 outputs differ",
    ]
    assert main([model, *words, *expected[:2], "--rtol", "0.5"]) == 0


def test_random_inputs_are_seeded(model: str, capsys: Capture) -> None:
    outputs: list[str] = []
    for seed in ("1", "1", "2"):
        assert main([model, "--input", f"random:{seed}"]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1] != outputs[2]


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (
            [],
            1,
            "expected a value for 'x', 'n'; give one with --input, such as 'x=random",
        ),
        (["--input", "z=3"], 1, "unknown name 'z'; expected 'x', 'n'"),
        (["--input", "3"], 1, "expected a file, a shape with a value"),
        (["--input", "2x3xf33=1"], 1, "unknown element type 'f33'"),
        (["--input", "2x3xf32=1,2"], 1, "expected 1 or 6 values in '2x3xf32=1,2'"),
        (["--input", "3xi32=1.5"], 1, "expected numbers of type i32 in '3xi32=1.5'"),
        (["--input", "99999999x99999999xf32=1"], 1, "at most 17179869184 are allowed"),
        (["--input", "x=random:x"], 1, "expected 'random:SEED' with a number"),
        (["--input", "x=random:²"], 1, "expected 'random:SEED' with a number"),
        (
            ["--input", "x=2x4xf32=1", "--input", "n=random"],
            1,
            "'x': expected float32[2, 3]",
        ),
        (
            ["--input", "/no/such.npz"],
            1,
            "transom-run: error: /no/such.npz: No such file",
        ),
        (["--input", "random", "-o", "x.txt"], 2, "expected a file ending in .npz"),
        (
            ["--input", "random", "--function", "mian"],
            1,
            "no function '@mian'; did you mean",
        ),
    ],
)
def test_wrong_words(
    model: str, words: list[str], status: int, message: str, capsys: Capture
) -> None:
    assert main([model, *words]) == status
    err = capsys.readouterr().err
    assert message in err
    assert "Traceback" not in err


def test_a_kernel_is_no_function_to_run(tmp_path: Path, capsys: Capture) -> None:
    kernel = tmp_path / "kernel.mlir"
    kernel.write_text("tir.func @k(write %o: memref<4xf32>) {\n  tir.return\n}\n")
    assert main([str(kernel), "--function", "k"]) == 1
    message = "kernel.mlir:1:1: error: '@k' is a kernel; a function that calls it can"
    assert message in capsys.readouterr().err


def test_wrong_files(tmp_path: Path, capsys: Capture) -> None:
    assert main([str(tmp_path / "no.mlir")]) == 1
    assert "No such file or directory" in capsys.readouterr().err
    broken = tmp_path / "broken.mlir"
    broken.write_text("func.func @main(%x: tensor<4xf32>) { graph.relo %x }")
    assert main([str(broken)]) == 1
    assert f"{broken}:1:" in capsys.readouterr().err
    text = tmp_path / "x.npy"
    text.write_text("not an array")
    good = tmp_path / "good.mlir"
    good.write_text(TEXT)
    assert main([str(good), "--input", str(text)]) == 1
    assert "expected a .npy or .npz file" in capsys.readouterr().err


def test_too_many_scalar_steps_are_refused(tmp_path: Path, capsys: Capture) -> None:
    text = TEXT.replace("2x3xf32", "200x300xf32")
    path = tmp_path / "scheduled.mlir"
    source = tmp_path / "source.mlir"
    source.write_text(text)
    path.write_text(str(transom.lower(transom.load(source), "scheduled")))
    words = ["--input", "random:0", "--interpret", "--max-steps", "1000"]
    assert main([str(path), *words]) == 1
    assert "1000" in capsys.readouterr().err


def test_standard_input_shows_its_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    text = "func.func @main(%x: tensor<4xf32>) {\n  graph.relo %x\n}\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["-"]) == 1
    assert capsys.readouterr().err == (
        "<stdin>:2:3: error: unknown op 'graph.relo'; did you mean 'graph.relu'?\n"
        "  graph.relo %x\n"
        "  ^\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the following arguments are required: file"),
        (["x.mlir", "--inputs"], "unknown option '--inputs'; did you mean '--input'?"),
        (["x.mlir", "--to=planned"], "unknown option '--to'; 'transom-opt' has it"),
        (["x.mlir", "--cse"], "unknown option '--cse'; 'transom-opt' has it"),
        (["x.mlir", "-O4"], "argument -O: invalid choice: 4 (choose from 0, 1, 2, 3)"),
        *(
            (
                ["x.mlir", "--interpret", *words],
                f"expected --interpret or {words[0]}, but got both",
            )
            for words in (
                ["--executor", "vm"],
                ["--library", "x.so"],
                ["--poison-memory"],
                ["--threads", "2"],
            )
        ),
        (["x.mlir", "--max-steps=9"], "expected --interpret with --max-steps"),
        (
            ["-", "-f", "onnx"],
            "expected a file: an ONNX model is not read from a pipe",
        ),
    ],
)
def test_wrong_command_lines(words: list[str], message: str, capsys: Capture) -> None:
    assert main(words) == 2
    assert capsys.readouterr().err == f"transom-run: error: {message}\n"
