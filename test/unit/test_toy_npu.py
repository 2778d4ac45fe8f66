"""
A target of scope `module`: it merges and orders work across its kernels, plans its
scratchpad, prefetches across borders, and emits commands that a simulator runs.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from toy_models import CHAIN, MODELS, SYMBOLIC, TWO_REGIONS, model
from toy_npu import commands
from toy_npu.dialect import ToyNpuAttr
from toy_npu.hooks import ToyNpuTarget
from toy_npu.ops import ComputeOp
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Operation

import transom
from transom.dialects import tir
from transom.dialects.diagnostics import OpError
from transom.dialects.executor import ArtifactOp, PoolOp
from transom.passes.pipeline import parse_pipeline
from transom.passes.tir_verify_plan import verify_plan
from transom.registry import new_context, registry
from transom.targets.hooks import Step
from transom.testing import check_phases, interpret, random_inputs

TARGET = '#toy_npu.target<features = ["matmul", "gelu", "bf16"]>'


def npu(text: str, target: str = TARGET) -> ModuleOp:
    return model(text, target)


def ops_of(module: Operation, kind: type[Operation]) -> list[Any]:
    return [op for op in module.walk() if isinstance(op, kind)]


def artifacts_of(module: ModuleOp) -> list[ArtifactOp]:
    return ops_of(transom.lower(module, to="machine"), ArtifactOp)


@pytest.mark.parametrize("name", MODELS)
def test_every_phase(name: str):
    """Also interpreted where kernels are ops of the target, on planned memory."""
    module = npu(MODELS[name])
    check_phases(module)
    inputs = random_inputs(module)
    expected = interpret(module, inputs)
    for phase in ("scheduled", "planned", "executable"):
        found = interpret(transom.lower(module, to=phase), inputs)
        for label, array in expected.items():
            np.testing.assert_allclose(found[label], array, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("element", "ops"), [("f32", ("add", "gelu")), ("bf16", ("mul", "relu"))]
)
def test_element_types(element: str, ops: tuple[str, str]):
    binary, unary = ops
    type_ = f"tensor<4x8x{element}>"
    text = f"""func.func @main(%x: {type_}) -> {type_} {{
  %a = graph.{binary} %x, %x : {type_}
  %y = graph.{unary} %a : {type_}
  func.return %y : {type_}
}}
"""
    module = npu(text)
    assert len(artifacts_of(module)) == 1
    check_phases(module)


def kernels(module: ModuleOp) -> list[tir.FuncOp]:
    """The kernels that there are at phase `scheduled`, in order of their calls."""
    lowered = transom.lower(module, to="scheduled")
    return [call.find_callee() for call in ops_of(lowered, tir.CallOp)]


def kinds(kernel: tir.FuncOp) -> list[str]:
    return [op.kind.data for op in ops_of(kernel, ComputeOp)]


def test_merged_across_operators():
    """One kernel, in which values stay in the scratchpad."""
    (kernel,) = kernels(npu(CHAIN))
    assert kinds(kernel) == ["matmul"] * 3
    assert [str(effect) for effect in kernel.argument_effects] == [
        *["read"] * 4,
        "write",
    ]
    assert len(ops_of(transom.lower(npu(CHAIN), to="tensor"), tir.CallOp)) == 3


def test_prefetched_across_a_border():
    """The first kernel loads the weights of the second one, which only reads them."""
    first, _, second = kernels(npu(TWO_REGIONS))
    (start,), (wait,) = ops_of(first, tir.CopyAsyncOp), ops_of(first, tir.WaitOp)
    position = list(first.body.block.ops).index
    computes = ops_of(first, ComputeOp)
    assert position(start) < position(computes[0])
    assert position(computes[-1]) < position(wait)
    sram = [type for type in second.argument_types if "@toy_sram" in str(type)]
    assert list(map(str, sram)) == ["memref<2x2xf32, @toy_sram>"]
    assert not ops_of(second, tir.CopyAsyncOp)


def run_passes(module: ModuleOp, names: str) -> None:
    ctx = new_context()
    parse_pipeline(names, registry().passes, ctx).apply(ctx, module)


LARGE_CHAIN = """
graph.weight @w = dense<0.5> : tensor<96x32xf32>
graph.weight @v = dense<0.5> : tensor<32x32xf32>
func.func @main(%x: tensor<64x96xf32>) -> tensor<64x32xf32> {
  %w = graph.weight_ref @w : tensor<96x32xf32>
  %v = graph.weight_ref @v : tensor<32x32xf32>
  %a = graph.matmul %x, %w : tensor<64x96xf32>, tensor<96x32xf32> -> tensor<64x32xf32>
  %t = graph.tanh %a : tensor<64x32xf32>
  %b = graph.relu %t : tensor<64x32xf32>
  %c = graph.matmul %b, %v : tensor<64x32xf32>, tensor<32x32xf32> -> tensor<64x32xf32>
  %d = graph.matmul %c, %v : tensor<64x32xf32>, tensor<32x32xf32> -> tensor<64x32xf32>
  func.return %d : tensor<64x32xf32>
}
"""


def test_each_step_saves_time(monkeypatch: pytest.MonkeyPatch):
    """In cycles of the simulator, over all functions of a model."""
    plan, prefetch, merge = ToyNpuTarget().tir_pipeline(ToyNpuAttr.get())

    def cycles(*steps: Step) -> int:
        def pipeline(self: ToyNpuTarget, target: ToyNpuAttr) -> tuple[Step, ...]:
            return steps

        monkeypatch.setattr(ToyNpuTarget, "tir_pipeline", pipeline)
        found = artifacts_of(npu(LARGE_CHAIN))
        return sum(commands.cycles(artifact, lanes=64) for artifact in found)

    def alone(step: Step) -> Step:
        return replace(step, requires=frozenset())

    nothing = cycles(alone(plan))
    merged = cycles(merge, alone(plan))
    assert cycles(plan, prefetch, merge) < merged < nothing


# The scratchpad.


def test_pins_are_respected():
    """The shared planner leaves the offsets alone, and puts nothing else there."""
    scheduled = transom.lower(npu(TWO_REGIONS), to="scheduled")
    planned = transom.lower(scheduled, to="planned")

    def pins(module: ModuleOp) -> set[tuple[str, int]]:
        return {
            (str(op.result.type), op.offset.value.data)
            for op in ops_of(module, tir.AllocOp)
            if str(op.pool) == "@toy_sram.pool"
        }

    assert pins(planned) == pins(scheduled)
    assert len(pins(planned)) == 3
    (pool,) = [p for p in ops_of(planned, PoolOp) if p.memory_name == "toy_sram"]
    assert pool.sym_name.data == "toy_sram.pool"


def test_plan_is_verified():
    """A buffer between kernels that is in the way of one is found by the verifier."""
    planned = transom.lower(npu(TWO_REGIONS), to="planned")
    held = [
        op
        for op in ops_of(planned, tir.AllocOp)
        if str(op.result.type) == "memref<2x2xf32, @toy_sram>"
    ]
    assert len(held) == 1
    verify_plan(planned)
    held[0].offset = IntegerAttr(16, i64)
    with pytest.raises(OpError) as caught:
        verify_plan(planned)
    assert "expected to write a buffer apart from those in use" in str(caught.value)


def refusal(run: Callable[[], object]) -> str:
    with pytest.raises(OpError) as caught:
        run()
    return str(caught.value)


def test_scratchpad_too_small():
    text = """func.func @main(%x: tensor<512xf32>) -> tensor<512xf32> {
  %y = graph.add %x, %x : tensor<512xf32>
  func.return %y : tensor<512xf32>
}
"""
    target = "#toy_npu.target<scratchpad = 1024>"
    message = refusal(lambda: transom.compile(npu(text, target)))
    error, note = message.splitlines()
    assert error.startswith("model.mlir:3:3: error: expected at most 1024 bytes of ")
    assert error.endswith("needs 4096")
    assert note == f"model.mlir:3:3: note: run by hook 'tir_pipeline' of '{target}'"


def starts(module: ModuleOp) -> list[tir.CopyAsyncOp]:
    """The copies that are started early."""
    return [copy for k in kernels(module) for copy in ops_of(k, tir.CopyAsyncOp)]


def test_no_prefetch_without_room():
    """What does not fit is loaded when it is needed."""
    text = TWO_REGIONS.replace("4x2x", "16x2x").replace("4x3x", "16x3x")
    target = '#toy_npu.target<features = ["matmul"], scratchpad = 1024>'
    large = text.replace("16x2x", "49x2x").replace("16x3x", "49x3x")
    assert [len(starts(npu(t, target))) for t in (text, large)] == [1, 0]
    check_phases(npu(large, target), phases=("scheduled",))


# Sizes.


def test_symbolic_sizes_are_not_taken():
    """The host computes them; who insists is told why not."""
    assert not artifacts_of(npu(SYMBOLIC))
    place = f"#target.place<@soc, {TARGET}, ?>"
    text = SYMBOLIC.replace(
        "-> !t {\n", f"-> !t attributes {{target.for = {place}}} {{\n", 1
    )
    message = refusal(lambda: transom.compile(npu(text)))
    assert "expected a static shape, but got 'tensor<?x4xf32" in message


# Laws.


def test_deterministic():
    texts = {str(transom.lower(npu(TWO_REGIONS), to="machine")) for _ in range(2)}
    assert len(texts) == 1


def test_passes_run_again():
    module = transom.lower(npu(TWO_REGIONS), to="tensor")
    for name in ("merge-kernels", "prefetch", "plan-scratchpad"):
        run_passes(module, f"toy-npu-{name}")
        text = str(module)
        run_passes(module, f"toy-npu-{name}")
        assert str(module) == text


# Commands.


class Code:
    """A command stream on its own."""

    entry_name = "f"

    def __init__(self, *listed: list[Any]) -> None:
        self.payload_bytes = commands.to_text({"f": listed}).encode()


def part(number: int, offset: int = 0) -> list[Any]:
    return [number, offset, [4], "float32"]


def wrong() -> Iterator[tuple[str, Code, str]]:
    yield (
        "race",
        Code(["dma", part(0), part(1), 0], ["copy", part(1), part(0)]),
        ("copy 0 to an operand is not done"),
    )
    yield "lost", Code(["dma", part(0), part(1), 7]), "nothing waits for copy 7"
    yield "outside", Code(["copy", part(0, 4), part(1)]), "no bytes 4 to 20 in 0"
    yield "unknown", Code(["jump"]), "unknown command 'jump'"
    yield (
        "kind",
        Code(["compute", "sqrt", [part(0)], part(1), {}]),
        ("no engine computes 'sqrt'"),
    )


@pytest.mark.parametrize(
    ("code", "message"), [pytest.param(*c[1:], id=c[0]) for c in wrong()]
)
def test_wrong_commands(code: Code, message: str):
    arrays = [np.ones(4, np.float32), np.zeros(4, np.float32)]
    with pytest.raises(commands.SimulationError) as caught:
        commands.run(code, arrays)
    assert str(caught.value) == message


def test_unknown_function():
    code = Code()
    code.entry_name = "g"
    with pytest.raises(commands.SimulationError) as caught:
        commands.run(code, [])
    assert str(caught.value) == "no function 'g' in the stream"
