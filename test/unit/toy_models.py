"""
Models for the targets of the tests: as text, with the targets of the device left open.
"""

from xdsl.dialects.builtin import ModuleOp

from transom.dialects.parser import parse_ir
from transom.registry import new_context

CPU = '#llvm_cpu.target<cpu = "host">'

WEIGHTS = """
graph.weight @w = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
graph.weight @v = dense<[[1.0, -2.0], [0.5, 4.0]]> : tensor<2x2xf32>
graph.weight @u = dense<[[-1.0, 0.25], [2.0, 1.0]]> : tensor<2x2xf32>
"""

CHAIN = f"""{WEIGHTS}
func.func @main(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {{
  %w = graph.weight_ref @w : tensor<3x2xf32>
  %v = graph.weight_ref @v : tensor<2x2xf32>
  %u = graph.weight_ref @u : tensor<2x2xf32>
  %a = graph.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32> -> tensor<4x2xf32>
  %b = graph.matmul %a, %v : tensor<4x2xf32>, tensor<2x2xf32> -> tensor<4x2xf32>
  %c = graph.matmul %b, %u : tensor<4x2xf32>, tensor<2x2xf32> -> tensor<4x2xf32>
  func.return %c : tensor<4x2xf32>
}}
"""

REDUCTION = """
func.func @main(%x: tensor<2x4x8xf32>, %b: tensor<8xf32>) -> tensor<2x8xf32> {
  %h = graph.constant dense<0.5> : tensor<f32>
  %s = graph.add %x, %b : tensor<2x4x8xf32>, tensor<8xf32> -> tensor<2x4x8xf32>
  %r = graph.relu %s : tensor<2x4x8xf32>
  %t = graph.mul %r, %h : tensor<2x4x8xf32>, tensor<f32> -> tensor<2x4x8xf32>
  %y = graph.reduce sum %t axes [1] : tensor<2x4x8xf32> -> tensor<2x8xf32>
  func.return %y : tensor<2x8xf32>
}
"""

TWO_REGIONS = f"""{WEIGHTS}
func.func @main(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {{
  %w = graph.weight_ref @w : tensor<3x2xf32>
  %v = graph.weight_ref @v : tensor<2x2xf32>
  %p = graph.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32> -> tensor<4x2xf32>
  %q = graph.relu %p : tensor<4x2xf32>
  %e = graph.tanh %q : tensor<4x2xf32>
  %r = graph.matmul %e, %v : tensor<4x2xf32>, tensor<2x2xf32> -> tensor<4x2xf32>
  %y = graph.relu %r : tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}}
"""
"""The host computes `tanh`, so that there are two regions of a target without it."""

BRANCHES = """
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %a = graph.add %x, %x : tensor<8xf32>
  %b = graph.mul %x, %x : tensor<8xf32>
  %c = graph.relu %a : tensor<8xf32>
  %d = graph.relu %b : tensor<8xf32>
  %e = graph.add %c, %x : tensor<8xf32>
  func.return %e, %d, %a : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
"""
"""Results inside of the work are results of main too."""

PATTERN = f"""{WEIGHTS}
func.func @main(%x: tensor<4x3xf32>, %b: tensor<2xf32>) -> tensor<4x2xf32> {{
  %w = graph.weight_ref @w : tensor<3x2xf32>
  %p = graph.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32> -> tensor<4x2xf32>
  %s = graph.add %p, %b : tensor<4x2xf32>, tensor<2xf32> -> tensor<4x2xf32>
  %y = graph.relu %s : tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}}
"""

LOOP = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    %b = graph.add %a, %x : tensor<4xf32>
    %c = graph.relu %b : tensor<4xf32>
    scf.yield %c : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}
"""

RESHAPED = """
func.func @main(%x: tensor<2x4xf32>) -> tensor<4x2xf32> {
  %a = graph.relu %x : tensor<2x4xf32>
  %b = graph.reshape %a to [4, 2] : tensor<2x4xf32> -> tensor<4x2xf32>
  %y = graph.add %b, %b : tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}
"""
"""A view by the host between two pieces of work."""

SYMBOLIC = """
!t = tensor<?x4xf32, #graph.desc<dims = ["N" : 1 to 8]>>
func.func @main(%x: !t) -> !t {
  %a = graph.add %x, %x : !t
  %y = graph.relu %a : !t
  func.return %y : !t
}
"""

MODELS = {
    "branches": BRANCHES,
    "chain": CHAIN,
    "loop": LOOP,
    "pattern": PATTERN,
    "reduction": REDUCTION,
    "reshaped": RESHAPED,
    "symbolic": SYMBOLIC,
    "two_regions": TWO_REGIONS,
}


def model(text: str, target: str) -> ModuleOp:
    """A model on a device that prefers a target to its CPU."""
    device = f"target.device @soc {{targets = [{target}, {CPU}]}}\n"
    return parse_ir(new_context(), device + text, "model.mlir")
