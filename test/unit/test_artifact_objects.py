"""
Artifacts that are object files: linked where they are of this machine.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from artifact_cases import Bring, bring, module_of

import transom
from transom.dialects.diagnostics import OpError
from transom.dialects.executor import EmittedCode
from transom.runtime import ProgramError, load
from transom.runtime.jit import JitError, emit_object, host_triple
from transom.testing import check_phases

__all__ = ["bring"]

SOURCE = """
define i32 @plus(ptr %x, ptr %y) {
  %v = load float, ptr %x
  %r = fadd float %v, 1.0
  store float %r, ptr %y
  %bad = fcmp ogt float %v, 100.0
  %s = zext i1 %bad to i32
  ret i32 %s
}
define i32 @minus(ptr %x, ptr %y) {
  %v = load float, ptr %x
  %r = fsub float %v, 1.0
  store float %r, ptr %y
  ret i32 0
}
"""

ARTIFACT = """executor.artifact @NAME {
    format = "object", target = #llvm_cpu.target<cpu = "x86-64">, payload = PAYLOAD,
    signature = (memref<f32>, memref<f32>) -> (), effects = [read, write],
    entry = "ENTRY"
  }
  """

MAIN = """(%x: tensor<f32> {graph.name = "x"}) -> (tensor<f32> {graph.name = "y"})
      attributes {target.for = #target.place<@cpu, ?, ?>} {
    %d = tensor.empty() : tensor<f32>
    %a = tir.call @a(%x : tensor<f32>) outs(%d : tensor<f32>)
    %e = tensor.empty() : tensor<f32>
    %y = tir.call @b(%a : tensor<f32>) outs(%e : tensor<f32>)
    func.return %y : tensor<f32>
  }"""


def artifact(name: str, entry: str, payload: str | bytes) -> str:
    """The text of an artifact."""
    if isinstance(payload, bytes):
        payload = f'#executor.bytes<"{payload.hex()}">'
    text = ARTIFACT.replace("NAME", name).replace("ENTRY", entry)
    return text.replace("PAYLOAD", payload)


def x(value: float) -> dict[str, np.ndarray]:
    return {"x": np.array(value, np.float32)}


def test_linked(tmp_path: Path):
    """Two functions of one object, and one of the same object held twice."""
    code = emit_object(SOURCE)
    for second in ("@a", code):
        module = module_of(
            artifact("a", "plus", code) + artifact("b", "plus", second), MAIN
        )
        program = transom.compile(module)
        assert program.run(x(1.5))["y"] == 3.5
        program.save(tmp_path / "p.transom")
        assert load(tmp_path / "p.transom").run(x(1.5))["y"] == 3.5
    module = module_of(artifact("a", "plus", code) + artifact("b", "minus", "@a"), MAIN)
    assert transom.compile(module).run(x(1.5))["y"] == 1.5
    with pytest.raises(ProgramError) as caught:
        transom.compile(module).run(x(101))
    assert str(caught.value) == "artifact 'a' failed"


def test_interpreted_by_reference(bring: Bring):
    """All phases, where a target brings a reference of what it has compiled."""

    def run(code: EmittedCode, arrays: Sequence[Any]) -> None:
        arrays[1][...] = arrays[0] + {"plus": 1, "minus": -1}[code.entry_name]

    bring({"object": run})
    code = emit_object(SOURCE)
    module = module_of(artifact("a", "plus", code) + artifact("b", "minus", "@a"), MAIN)
    check_phases(module, x(0.25))


def refusal(code: bytes, entry: str = "plus") -> str:
    module = module_of(artifact("a", entry, code) + artifact("b", "plus", "@a"), MAIN)
    with pytest.raises((JitError, OpError)) as caught:
        transom.compile(module)
    return str(caught.value)


def test_no_such_function():
    assert refusal(emit_object(SOURCE), "pluss") == (
        "artifact 'a' of format 'object' for '#llvm_cpu.target<cpu = \"x86-64\">' can "
        "not be linked: no symbol 'pluss'; symbols: minus, plus"
    )


def test_damaged():
    assert refusal(emit_object(SOURCE)[:200]) == (
        "artifact 'a' of format 'object' for '#llvm_cpu.target<cpu = \"x86-64\">' can "
        "not be linked: its object file is damaged"
    )


def test_missing_function_of_its_own():
    source = (
        SOURCE
        + "declare void @helper()\n"
        + ("define void @needs() {\n  call void @helper()\n  ret void\n}\n")
    )
    assert refusal(emit_object(source)).endswith(
        "can not be linked: undefined symbols: 'helper'"
    )


@pytest.mark.parametrize("code", [b"MZ", b"\x7fELF", None])
def test_of_another_machine(bring: Bring, code: bytes | None):
    """It is not linked, but run by a reference if there is one."""
    here = host_triple().split("-")[0]
    other = "aarch64" if here == "x86_64" else "x86_64"
    code = code or emit_object(SOURCE, triple=f"{other}-unknown-linux-gnu")
    assert "nothing runs artifact '@a' of format 'object' for" in refusal(code)

    def run(code: EmittedCode, arrays: Sequence[Any]) -> None:
        arrays[1][...] = arrays[0] + 2

    bring({"object": run})
    module = module_of(artifact("a", "plus", code) + artifact("b", "plus", "@a"), MAIN)
    assert transom.compile(module).run(x(1))["y"] == 5
