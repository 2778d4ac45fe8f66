"""
`make demo`: what it prints, and that the command it ends with works.
"""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from transom.tools.demo import main

MODEL = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = graph.tanh %x : tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}
"""


def test_the_command_at_the_end_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model.mlir"
    model.write_text(MODEL)
    assert main([str(model), "--keep", str(tmp_path / "kept")]) == 0
    out = capsys.readouterr().out.replace("\n", " ")
    assert "Every phase gave the numbers" in out
    kept = sorted(path.name for path in (tmp_path / "kept").iterdir())
    assert len(kept) == 8 and kept[3] == "4.tensor.mlir"
    command = re.search(r"\S*transom-run .*--input random:0", " ".join(out.split()))
    assert command is not None
    words = shlex.split(command.group())
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0 and "result0: 2x3xfloat32" in done.stdout


def test_a_file_with_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model.mlir"
    model.write_text(MODEL.replace("graph.tanh", "graph.sigmod"))
    assert main([str(model)]) == 1
    assert "did you mean 'graph.sigmoid'" in capsys.readouterr().err
