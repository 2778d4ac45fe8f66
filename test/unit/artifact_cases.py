"""
Modules that call artifacts, and hooks that run them: helpers of the tests of both.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from transom.dialects.executor import EmittedCode
from transom.dialects.parser import parse_ir
from transom.registry import new_context
from transom.targets.hooks import Reference
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr
from transom.targets.llvm_cpu.hooks import LlvmCpuTarget

MODULE = """
module attributes {{target.config = #target.config<host = @cpu, phase = "tensor">}} {{
  target.device @cpu {{targets = [#llvm_cpu.target<cpu = "host">]}}
  {artifacts}
  func.func @main{main}
}}
"""

SCALE = """executor.artifact @scale {
    format = "test", target = #llvm_cpu.target<cpu = "x86-64">, payload = "3",
    workspace = 64, signature = (memref<?x4xf32>, memref<?x4xf32>) -> (),
    effects = [read, write], entry = "times"
  }"""
"""Multiplies by the number in its payload."""

SCALED = """(%x: tensor<?x4xf32, #graph.desc<dims = ["N"]>> {graph.name = "x"})
      -> (tensor<?x4xf32, #graph.desc<dims = ["N"]>> {graph.name = "y"})
      attributes {target.for = #target.place<@cpu, ?, ?>} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?x4xf32, #graph.desc<dims = ["N"]>>
    %d = tensor.empty(%n) : tensor<?x4xf32, #graph.desc<dims = ["N"]>>
    %w = tir.alloc : memref<64xi8>
    %y = tir.call @scale(%x : tensor<?x4xf32, #graph.desc<dims = ["N"]>>)
           outs(%d : tensor<?x4xf32, #graph.desc<dims = ["N"]>>)
           scratch(%w : memref<64xi8>)
    func.return %y : tensor<?x4xf32, #graph.desc<dims = ["N"]>>
  }"""

X = np.arange(8, dtype=np.float32).reshape(2, 4)


def module_of(artifacts: str = SCALE, main: str = SCALED) -> ModuleOp:
    """A module at phase `tensor`."""
    text = MODULE.format(artifacts=artifacts, main=main)
    return parse_ir(new_context(), text, "artifacts.mlir")


def scale(code: EmittedCode, arrays: Sequence[Any]) -> None:
    """Run what `SCALE` stands for."""
    assert code.entry_name == "times"
    source, result, workspace = arrays
    assert workspace.shape == (64,) and workspace.dtype == np.int8
    workspace[...] = 0
    result[...] = source * int(code.payload_bytes)


Run = Callable[[EmittedCode, Sequence[Any]], None]
Bring = Callable[[Mapping[str, Run]], None]


@pytest.fixture
def bring(monkeypatch: pytest.MonkeyPatch) -> Bring:
    """Let `llvm_cpu` bring references of artifacts, by format."""

    def set_reference(artifacts: Mapping[str, Run]) -> None:
        def reference(self: LlvmCpuTarget, target: LlvmCpuAttr) -> Reference:
            return Reference(artifacts=artifacts)

        monkeypatch.setattr(LlvmCpuTarget, "reference", reference)

    return set_reference
