"""
What `docs/artifacts.md` shows is so.
"""

import re
from pathlib import Path

import numpy as np
import pytest

import transom
from transom.dialects.parser import parse_ir
from transom.registry import new_context
from transom.testing import check_phases, reread

PAGE = (Path(__file__).parents[2] / "docs" / "artifacts.md").read_text()
BLOCKS = re.findall(r"```(\w+) ?(\w*)\n(.*?)```", PAGE, re.DOTALL)
LISTINGS = {name: text for kind, name, text in BLOCKS if kind == "mlir" and name}

SCALE = """
module attributes {target.config = #target.config<host = @cpu, phase = "tensor">} {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "host">]}
  executor.artifact @scale {
    format = "numbers", target = #toy_npu.target, payload = "3",
    signature = (memref<4xf32>, memref<4xf32>) -> (), effects = [read, write]
  }
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32>
      attributes {target.for = #target.place<@cpu, ?, ?>} {
    %d = tensor.empty() : tensor<4xf32>
    %y = tir.call @scale(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
    func.return %y : tensor<4xf32>
  }
}
"""


def pattern(line: str) -> str:
    """A line of a listing as an expression; `…` stands for anything."""
    return ".*".join(re.escape(part) for part in line.strip().split("…"))


@pytest.mark.parametrize("phase", [name for name in LISTINGS if name != "input"])
def test_listing(phase: str):
    """Lines are there in this order."""
    module = parse_ir(new_context(), LISTINGS["input"], "artifacts.md")
    printed = str(transom.lower(module, phase)).splitlines()
    rest = iter(printed)
    for line in LISTINGS[phase].splitlines():
        if line.strip() in ("…", ""):
            continue
        expression = pattern(line)
        found = any(re.search(expression, candidate) for candidate in rest)
        assert found, f"{line.strip()!r} is not in (the rest of)\n" + "\n".join(printed)


def test_numbers():
    check_phases(parse_ir(new_context(), LISTINGS["input"], "artifacts.md"))


def test_op():
    """The first block is an op that verifies and prints itself."""
    text = next(text for kind, name, text in BLOCKS if kind == "mlir" and not name)
    module = parse_ir(new_context(), text, "artifacts.md")
    module.verify()
    reread(module)


def test_saved_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """The code of the page runs a saved program."""
    code = next(text for kind, _, text in BLOCKS if kind == "python")
    names: dict[str, object] = {"path": tmp_path / "scale.transom"}

    def scale(code: object, arrays: object) -> None:
        raise AssertionError("not this one")

    module = parse_ir(new_context(), SCALE, "scale.mlir")
    with pytest.MonkeyPatch.context() as patch:
        from toy_npu.hooks import ToyNpuTarget

        from transom.targets.hooks import Reference

        def reference(self: ToyNpuTarget, target: object) -> Reference:
            return Reference(artifacts={"numbers": scale})

        patch.setattr(ToyNpuTarget, "reference", reference)
        transom.compile(module).save(tmp_path / "scale.transom")
    exec(compile(code, "artifacts.md", "exec"), names)
    assert capsys.readouterr().out == (
        f"{{'result0': {np.full(4, 3, np.float32)!r}}}\n"
    )
