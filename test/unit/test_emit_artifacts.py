"""
What hook `emit` may answer, and what becomes of it: workspaces, several payloads.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from toy_npu.dialect import ToyNpuAttr
from toy_npu.hooks import ToyNpuTarget
from xdsl.dialects.builtin import ModuleOp

import transom
from transom.dialects import executor, tir
from transom.dialects.diagnostics import OpError
from transom.dialects.executor import EmittedCode
from transom.dialects.parser import parse_ir
from transom.dialects.symbols import symbol_name
from transom.registry import new_context
from transom.targets.emit_artifacts import TargetEmitArtifactsPass
from transom.targets.hooks import Emitted, Reference, TargetHooks
from transom.testing import check_phases

KERNEL = """
  tir.func @NAME(read %x: memref<4xf32>, write %y: memref<4xf32>)
      attributes {target.for = #target.place<@soc, TARGET, ?>} {
    tir.copy %x, %y : memref<4xf32>, memref<4xf32>
    tir.return
  }
"""

MODULE = f"""
module attributes {{target.config = #target.config<host = @soc, phase = "tensor">}} {{
  target.device @soc {{
    targets = [#llvm_cpu.target<cpu = "host">, #toy_npu.target]
  }}
  func.func @main(%x: tensor<4xf32> {{graph.name = "x"}})
      -> (tensor<4xf32> {{graph.name = "y"}})
      attributes {{target.for = #target.place<@soc, ?, ?>}} {{
    %d = tensor.empty() : tensor<4xf32>
    %a = tir.call @k(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
    %e = tensor.empty() : tensor<4xf32>
    %b = tir.call @l(%a : tensor<4xf32>) outs(%e : tensor<4xf32>)
    %f = tensor.empty() : tensor<4xf32>
    %y = tir.call @m(%b : tensor<4xf32>) outs(%f : tensor<4xf32>)
    func.return %y : tensor<4xf32>
  }}
  {KERNEL.replace("NAME", "k").replace("TARGET", "#toy_npu.target")}
  {KERNEL.replace("NAME", "l").replace("TARGET", "#toy_npu.target")}
  {KERNEL.replace("NAME", "m").replace("TARGET", '#llvm_cpu.target<cpu = "host">')}
}}
"""

Emit = Callable[[ModuleOp, ToyNpuAttr], Sequence[Emitted] | None]


def run(code: EmittedCode, arrays: Sequence[Any]) -> None:
    """Add the number in the payload, by way of the workspace."""
    source, result, workspace = arrays
    held = workspace[:16].view(np.float32)
    held[...] = source + float(code.payload_bytes)
    result[...] = held


def answer(*emitted: Emitted) -> Emit:
    """A hook that always answers with the same code."""
    return lambda module, target: emitted


@pytest.fixture
def emitting(monkeypatch: pytest.MonkeyPatch) -> Callable[[Emit], None]:
    """Let the target do nothing but to emit in this way."""
    for hook in ("convert_graph_to_tir", "tir_pipeline", "omits", "pass_options"):
        monkeypatch.setattr(ToyNpuTarget, hook, getattr(TargetHooks, hook))

    def reference(self: ToyNpuTarget, target: ToyNpuAttr) -> Reference:
        return Reference(artifacts={"add": run})

    monkeypatch.setattr(ToyNpuTarget, "reference", reference)

    def set_emit(answer: Emit) -> None:
        def emit(
            self: ToyNpuTarget, module: ModuleOp, target: ToyNpuAttr
        ) -> Sequence[Emitted] | None:
            return answer(module, target)

        monkeypatch.setattr(ToyNpuTarget, "emit", emit)

    return set_emit


def module() -> ModuleOp:
    return parse_ir(new_context(), MODULE, "emit.mlir")


def ops_of(module: ModuleOp, kind: type[Any]) -> list[Any]:
    return [op for op in module.walk() if isinstance(op, kind)]


def test_workspaces(emitting: Callable[[Emit], None]):
    """Calls get a part of one pool, as large as the largest of them needs."""
    first = Emitted(("k",), "add", "1", {"k": 64})
    emitting(answer(first, Emitted(("l",), "add", b"2", {"l": 32})))
    lowered = transom.lower(module(), to="executable")
    TargetEmitArtifactsPass().apply(new_context(), lowered)
    pools = {
        pool.sym_name.data: pool.size_bytes for pool in ops_of(lowered, executor.PoolOp)
    }
    assert pools["artifacts.workspace"] == 64
    *emitted, other = ops_of(lowered, executor.CallOp)
    views = [call.arguments[-1].owner for call in emitted]
    assert [str(view.result.type) for view in views] == [
        "memref<64xi8>",
        "memref<32xi8>",
    ]
    assert len(other.arguments) == 2
    program = transom.compile(module())
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(program.run({"x": x})["y"], x + 3)


def test_what_is_shown(emitting: Callable[[Emit], None]):
    """Kernels of the target have bodies, other functions are declared."""
    shown: list[str] = []

    def emit(module: ModuleOp, target: ToyNpuAttr) -> None:
        assert target == ToyNpuAttr.get()
        shown.extend(
            f"{op.name} @{symbol_name(op)}"
            for op in module.body.ops
            if op.regions and op.regions[0].blocks
        )

    emitting(emit)
    check_phases(module(), phases=("machine",))
    assert shown[:2] == ["tir.func @k", "tir.func @l"]
    assert len(shown) == 2


def test_nothing_is_emitted(emitting: Callable[[Emit], None]):
    """LLVM takes what the hook leaves."""
    emitting(lambda module, target: None)
    assert not ops_of(transom.lower(module(), to="machine"), executor.ArtifactOp)
    check_phases(module())


def test_pool_name_is_free(emitting: Callable[[Emit], None]):
    emitting(answer(Emitted(("k", "l"), "add", "1", {"k": 16, "l": 16})))
    lowered = transom.lower(module(), to="executable")
    taken = executor.PoolOp("artifacts.workspace", 8)
    lowered.body.block.add_op(taken)
    TargetEmitArtifactsPass().apply(new_context(), lowered)
    names = [pool.sym_name.data for pool in ops_of(lowered, executor.PoolOp)]
    assert "artifacts.workspace_0" in names


def test_workspace_in_a_kernel(emitting: Callable[[Emit], None]):
    """A kernel that calls another has no pool to give."""
    emitting(answer(Emitted(("k", "l"), "add", "1", {"k": 16})))
    text = MODULE.replace(
        "tir.copy %x, %y : memref<4xf32>, memref<4xf32>\n    tir.return\n  }\n\n}",
        "tir.call @k(%x : memref<4xf32>) outs(%y : memref<4xf32>)\n"
        "    tir.return\n  }\n\n}",
    )
    assert text != MODULE
    lowered = transom.lower(parse_ir(new_context(), text, "emit.mlir"), "executable")
    with pytest.raises(OpError) as caught:
        TargetEmitArtifactsPass().apply(new_context(), lowered)
    assert str(caught.value) == (
        "emit.mlir:34:5: error: expected 'executor.call' of '@k', whose code needs a "
        "workspace"
    )


def test_contract(emitting: Callable[[Emit], None]):
    """Breaches are named; all of them are tested with the contract."""
    emitting(answer(Emitted(("k",), "add", "1")))
    with pytest.raises(OpError) as caught:
        transom.compile(module())
    assert "hook 'emit' of '#toy_npu.target' breaks rule 'emission'" in str(
        caught.value
    )


def test_hook_that_raises(emitting: Callable[[Emit], None]):
    """Any exception of a hook is an error that names it; one at an op stays."""

    def broken(module: ModuleOp, target: ToyNpuAttr) -> None:
        raise KeyError("conv")

    def refuses(module: ModuleOp, target: ToyNpuAttr) -> None:
        raise OpError(module, "no code for it")

    messages: list[str] = []
    for hook in (broken, refuses):
        emitting(hook)
        with pytest.raises(OpError) as caught:
            transom.compile(module())
        messages.append(str(caught.value).split("error: ")[1])
    assert messages == [
        "hook 'emit' of '#toy_npu.target' breaks rule 'answers': it raised KeyError: "
        "'conv'",
        "no code for it",
    ]


def test_kernel_names_are_the_entries(emitting: Callable[[Emit], None]):
    emitting(answer(Emitted(("k", "l"), "add", "1", {"k": 16, "l": 16})))
    artifacts = ops_of(transom.lower(module(), to="machine"), executor.ArtifactOp)
    assert [artifact.entry_name for artifact in artifacts] == ["k", "l"]
    assert [artifact.payload_bytes for artifact in artifacts] == [b"1", b"1"]
    assert artifacts[0].argument_effects == (
        tir.Effect.READ,
        tir.Effect.WRITE,
        tir.Effect.SCRATCH,
    )
