"""Devices whose memories are apart: programs that copy, and what is refused."""

import numpy as np
import pytest
from xdsl.dialects import scf

import transom
from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.passes.target_plan_devices import TargetPlanDevicesPass
from transom.passes.target_refine_places import TargetRefinePlacesPass
from transom.registry import new_context
from transom.targets.claim_ops import TargetClaimOpsPass
from transom.testing import random_inputs
from transom.testing.phases import interpret

HOST = '#llvm_cpu.target<cpu = "host">'
MACHINE = f"""
module attributes {{target.config = #target.config<host = @cpu, default_place = #target.place<@cpu, ?, ?>>}} {{
  target.memory @dram
  target.memory @vram {{size = 4096}}
  target.link @dram -> @vram {{bandwidth = 1.0e+09}}
  target.link @vram -> @dram {{bandwidth = 1.0e+09}}
  target.device @cpu {{targets = [{HOST}], memories = [@dram]}}
  target.device @gpu {{targets = [{HOST}], memories = [@vram]}}
"""  # noqa: E501
ON_GPU = "pinned #target.place<@gpu, ?, ?> : tensor<3x5xf32>"

SHARED = f"""
func.func @main(%a: tensor<3x5xf32>, %b: tensor<3x5xf32>, %c: tensor<3x5xf32>) -> tensor<3x5xf32> {{
  %s = graph.add %a, %b : tensor<3x5xf32>
  %t = graph.add %b, %c : tensor<3x5xf32>
  %p = graph.on_device %t {ON_GPU}
  %y = graph.sub %s, %p : tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}}
"""  # noqa: E501

LOOP = f"""
graph.weight @w = dense<0.5> : tensor<3x5xf32>
func.func @main(%x: tensor<3x5xf32>, %k: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<5x3xf32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %w = graph.weight_ref @w : tensor<3x5xf32>
  %r, %h = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x, %u = %x) -> (tensor<3x5xf32>, tensor<3x5xf32>) {{
    %m = graph.mul %v, %k : tensor<3x5xf32>
    %pm = graph.on_device %m {ON_GPU}
    %z = graph.add %pm, %w : tensor<3x5xf32>
    %pz = graph.on_device %z {ON_GPU}
    %t = graph.tanh %u : tensor<3x5xf32>
    scf.yield %pz, %t : tensor<3x5xf32>, tensor<3x5xf32>
  }}
  %s = graph.add %r, %h : tensor<3x5xf32>
  %v = graph.reshape %r to [5, 3] : tensor<3x5xf32> -> tensor<5x3xf32>
  func.return %s, %v : tensor<3x5xf32>, tensor<5x3xf32>
}}
"""  # noqa: E501

BRANCH = f"""
func.func @main(%x: tensor<3x5xf32>, %c: tensor<i1>) -> tensor<3x5xf32> {{
  %b = tensor.extract %c[] : tensor<i1>
  %r = scf.if %b -> (tensor<3x5xf32>) {{
    %m = graph.exp %x : tensor<3x5xf32>
    %p = graph.on_device %m {ON_GPU}
    scf.yield %p : tensor<3x5xf32>
  }} else {{
    scf.yield %x : tensor<3x5xf32>
  }}
  %y = graph.relu %r : tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}}
"""

CALLS = """
func.func @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %a = func.call @twice(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %b = func.call @on_gpu(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %y = graph.sub %b, %a : tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}
func.func private @twice(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %y = graph.add %x, %x : tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}
func.func private @on_gpu(%x: tensor<3x5xf32>) -> tensor<3x5xf32> attributes {target.for = #target.place<@gpu, ?, ?>} {
  %y = func.call @twice(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %c = func.call @twice(%y) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %c : tensor<3x5xf32>
}
"""  # noqa: E501

PROGRAMS = {"shared": SHARED, "loop": LOOP, "branch": BRANCH, "calls": CALLS}
COPIES = {"shared": 3, "loop": 4, "branch": 2, "calls": 2}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_copy_and_compute_the_same(name: str) -> None:
    module = transom.parse(MACHINE + PROGRAMS[name] + "}")
    before = str(module)
    placed = transom.lower(module, "placed")
    copies = [op for op in placed.walk() if isinstance(op, graph.CopyOp)]
    assert len(copies) == COPIES[name]
    assert not any(isinstance(op.parent_op(), scf.ForOp) for op in copies)
    inputs = random_inputs(module)
    expected = interpret(module, inputs)
    results = transom.compile(module, poison_memory=True).run(inputs)
    for label, array in expected.items():
        np.testing.assert_allclose(results[label], array, rtol=1e-5, atol=1e-6)
        at_placed = interpret(placed, inputs)[label]
        np.testing.assert_allclose(at_placed, array, rtol=1e-6)
    assert str(module) == before


def test_the_memory_of_a_device_is_a_hard_limit() -> None:
    text = MACHINE.replace("4096", "64") + SHARED + "}"
    with pytest.raises(OpError, match="fits into the 64 bytes of memory '@vram', but"):
        transom.lower(transom.parse(text), "planned")


def test_on_failure_nothing_has_changed() -> None:
    """Without a link back; the first region and its copy could have been placed."""
    text = MACHINE.replace("target.link @vram -> @dram {bandwidth = 1.0e+09}", "")
    module = transom.parse(text + SHARED + "}")
    ctx = new_context()
    TargetClaimOpsPass().apply(ctx, module)
    before = str(module)
    with pytest.raises(OpError, match=r"and no .target\.link. leads from there"):
        TargetPlanDevicesPass().apply(ctx, module)
    assert str(module) == before


SCRATCHPAD = f"""
module attributes {{target.config = #target.config<host = @soc, default_place = #target.place<@soc, ?, @dram>, phase = "tensor">}} {{
  target.memory @dram
  target.memory @l1 {{size = 4096}}
  target.link @dram -> @l1 {{bandwidth = 1.0e+09}}
  target.link @l1 -> @dram {{bandwidth = 1.0e+09}}
  target.device @soc {{targets = [{HOST}], memories = [@dram, @l1]}}
  tir.func @negate(read %x: memref<4xf32, @l1>, write %y: memref<4xf32, @l1>) attributes {{target.for = #target.place<@soc, {HOST}, @dram>}} {{
    tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32, @l1>) outs(%y[d0] : memref<4xf32, @l1>) finish (%a: f32) {{
      %b = arith.negf %a : f32
      tir.yield %b : f32
    }}
    tir.return
  }}
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {{target.for = #target.place<@soc, {HOST}, @dram>}} {{
    %d = tensor.empty() : tensor<4xf32>
    %a = tir.call @negate(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
    func.return %a : tensor<4xf32>
  }}
}}
"""  # noqa: E501


def test_memories_of_kernels_flow_back() -> None:
    """A kernel that reads and writes a scratchpad, which main does not know of."""
    module = transom.parse(SCRATCHPAD)
    ctx = new_context()
    TargetRefinePlacesPass().apply(ctx, module)
    assert len([op for op in module.walk() if isinstance(op, graph.CopyOp)]) == 2
    once = str(module)
    TargetRefinePlacesPass().apply(ctx, module)
    assert str(module) == once
    x = np.arange(4, dtype=np.float32)
    (y,) = transom.compile(module, poison_memory=True)(x).values()
    np.testing.assert_array_equal(y, -x)


PLACED_BY_RESULT = f"""
func.func @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {{
  %a = graph.exp %x : tensor<3x5xf32>
  %p = graph.on_device %a {ON_GPU}
  %b = graph.region #target.place<@gpu, ?, ?> (%u = %p : tensor<3x5xf32>) -> (tensor<3x5xf32>) {{
    %v = graph.relu %u : tensor<3x5xf32>
    graph.yield %v : tensor<3x5xf32>
  }}
  func.return %b : tensor<3x5xf32>
}}
"""  # noqa: E501


def test_what_is_placed_is_not_drawn_to_the_default() -> None:
    """The value between two ops of a device stays there; the result comes back once."""
    placed = transom.lower(transom.parse(MACHINE + PLACED_BY_RESULT + "}"), "placed")
    copies = [op for op in placed.walk() if isinstance(op, graph.CopyOp)]
    memories = [None if op.place is None else op.place.memory_name for op in copies]
    assert memories == ["vram", None]
