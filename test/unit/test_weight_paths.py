"""Weights of modules that are written to another folder than they came from."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_weight_files import save_file

from transom.tools import transom_opt, transom_run

MODEL = """\
graph.weight @w = #graph.file<"w.safetensors", "w"> : tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = graph.weight_ref @w : tensor<4xf32>
  %y = graph.add %x, %w : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""
OPT = [sys.executable, "-m", "transom.tools.transom_opt"]
RUN = [sys.executable, "-m", "transom.tools.transom_run"]

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder with a model and its weights in the folder `models`."""
    monkeypatch.chdir(tmp_path)
    Path("models").mkdir()
    Path("models/m.mlir").write_text(MODEL)
    weights = {"w": np.arange(4, dtype=np.float32)}
    save_file(weights, Path("models/w.safetensors"))


def written_path(text: str) -> str:
    return text.partition('#graph.file<"')[2].partition('"')[0]


def result_of(capsys: Capture, *args: str) -> str:
    assert transom_run.main([*args, "--input", "4xf32=1"]) == 0
    return capsys.readouterr().out.strip()


EXPECTED = "result0: 4xfloat32 = [1, 2, 3, 4]"


def test_the_same_folder() -> None:
    assert transom_opt.main(["models/m.mlir", "-o", "models/n.mlir"]) == 0
    assert written_path(Path("models/n.mlir").read_text()) == "w.safetensors"


def test_what_is_thrown_away_is_in_no_folder(capsys: Capture) -> None:
    assert transom_opt.main(["models/m.mlir", "-o", "/dev/null"]) == 0
    assert capsys.readouterr().err == ""


def test_a_folder_above(capsys: Capture) -> None:
    assert transom_opt.main(["models/m.mlir", "-o", "n.mlir"]) == 0
    assert capsys.readouterr().err == ""
    assert written_path(Path("n.mlir").read_text()) == "models/w.safetensors"
    assert result_of(capsys, "n.mlir") == EXPECTED


def test_a_folder_beside_it(capsys: Capture) -> None:
    Path("build").mkdir()
    assert transom_opt.main(["models/m.mlir", "--cse", "-o", "build/n.mlir"]) == 0
    assert capsys.readouterr().err == (
        "models/m.mlir:1:1: warning: the weights in '../models/w.safetensors' are "
        "outside the folder of the output; to read them say "
        "'--allow-external-data-dir=models'\n"
        'graph.weight @w = #graph.file<"w.safetensors", "w"> : tensor<4xf32>\n'
        "^\n"
    )
    assert written_path(Path("build/n.mlir").read_text()) == "../models/w.safetensors"
    assert transom_run.main(["build/n.mlir", "--input", "4xf32=1"]) == 1
    assert (
        "expected a path without '..', but got '../models/" in capsys.readouterr().err
    )
    allowed = "--allow-external-data-dir=models"
    assert result_of(capsys, "build/n.mlir", allowed) == EXPECTED
    # And back: the path is as it was.
    assert transom_opt.main(["build/n.mlir", "-o", "models/again.mlir"]) == 0
    assert written_path(Path("models/again.mlir").read_text()) == "w.safetensors"


def test_a_link_to_a_folder(capsys: Capture) -> None:
    Path("other").mkdir()
    Path("link").symlink_to("other")
    assert transom_opt.main(["models/m.mlir", "-o", "link/n.mlir"]) == 0
    assert written_path(Path("other/n.mlir").read_text()) == "../models/w.safetensors"
    allowed = "--allow-external-data-dir=models"
    assert result_of(capsys, "link/n.mlir", allowed) == EXPECTED


def test_a_pipe(capsys: Capture) -> None:
    assert transom_opt.main(["models/m.mlir"]) == 0
    assert written_path(capsys.readouterr().out) == "models/w.safetensors"
    piped = subprocess.Popen([*OPT, "models/m.mlir"], stdout=subprocess.PIPE)
    done = subprocess.run(
        [*RUN, "-", "--input", "4xf32=1", "--interpret"],
        stdin=piped.stdout,
        capture_output=True,
        text=True,
    )
    assert piped.wait() == 0
    assert (done.stdout.strip(), done.stderr) == (EXPECTED, "")


def test_a_file_that_a_shell_redirects_to(capsys: Capture) -> None:
    with open("models/n.mlir", "w") as file:
        subprocess.run([*OPT, "models/m.mlir"], stdout=file, check=True)
    assert written_path(Path("models/n.mlir").read_text()) == "w.safetensors"
    assert result_of(capsys, "models/n.mlir") == EXPECTED


def test_a_file_that_stands_for_a_pipe() -> None:
    """As test runners use them: only `-o` says that it is the output."""
    Path("elsewhere").mkdir()
    with open("elsewhere/n.mlir", "w") as file:
        subprocess.run([*OPT, "models/m.mlir"], stdout=file, check=True)
    text = Path("elsewhere/n.mlir").read_text()
    assert written_path(text) == "models/w.safetensors"


def test_a_path_that_is_absolute_stays(capsys: Capture) -> None:
    path = str(Path("models/w.safetensors").resolve())
    Path("models/m.mlir").write_text(MODEL.replace("w.safetensors", path))
    assert transom_opt.main(["models/m.mlir", "-o", "n.mlir"]) == 0
    assert written_path(Path("n.mlir").read_text()) == path
    assert capsys.readouterr().err == ""
