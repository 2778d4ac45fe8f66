"""
Small modules with `@main`, of what models hold, for `check_target`.
"""

import math
import re
from typing import Any

import numpy as np

SAMPLES: dict[str, str] = {
    "elementwise": """
func.func @main(%x: tensor<3x17xf32>, %y: tensor<17xf32>) -> tensor<3x17xf32> {
  %a = graph.add %x, %y : tensor<3x17xf32>, tensor<17xf32> -> tensor<3x17xf32>
  %b = graph.mul %a, %x : tensor<3x17xf32>
  %c = graph.relu %b : tensor<3x17xf32>
  %d = graph.tanh %c : tensor<3x17xf32>
  func.return %d : tensor<3x17xf32>
}
""",
    "functions": """
func.func @main(%x: tensor<4x9xf32>) -> (tensor<4x9xf32>, tensor<4x9xf32>) {
  %e = graph.exp %x : tensor<4x9xf32>
  %l = graph.log %e : tensor<4x9xf32>
  %r = graph.rsqrt %e : tensor<4x9xf32>
  %s = graph.sqrt %e : tensor<4x9xf32>
  %q = graph.div %s, %r : tensor<4x9xf32>
  %f = graph.erf %l : tensor<4x9xf32>
  %g = graph.gelu %f : tensor<4x9xf32>
  %i = graph.sigmoid %g : tensor<4x9xf32>
  func.return %q, %i : tensor<4x9xf32>, tensor<4x9xf32>
}
""",
    "integers": """
func.func @main(%x: tensor<5x7xi32>, %y: tensor<5x7xi32>) -> tensor<5x7xi32> {
  %a = graph.add %x, %y : tensor<5x7xi32>
  %b = graph.maximum %a, %y : tensor<5x7xi32>
  %c = graph.mul %b, %b : tensor<5x7xi32>
  func.return %c : tensor<5x7xi32>
}
""",
    "matmul": """
func.func @main(
    %x: tensor<6x40xf32>, %w: tensor<40x19xf32>, %b: tensor<19xf32>
) -> tensor<6x19xf32> {
  %m = graph.matmul %x, %w : tensor<6x40xf32>, tensor<40x19xf32> -> tensor<6x19xf32>
  %a = graph.add %m, %b : tensor<6x19xf32>, tensor<19xf32> -> tensor<6x19xf32>
  %r = graph.relu %a : tensor<6x19xf32>
  func.return %r : tensor<6x19xf32>
}
""",
    "conv": """
graph.weight @filter = dense<
    [[[[0.5]], [[-0.25]], [[1.0]]], [[[2.0]], [[0.0]], [[-1.0]]]]
> : tensor<2x3x1x1xf32>
func.func @main(
    %x: tensor<1x3x9x8xf32>, %w: tensor<4x3x3x3xf32>
) -> (tensor<1x4x5x4xf32>, tensor<1x2x4x4xf32>) {
  %c = graph.conv2d %x, %w strides [2, 2] padding [1, 1, 1, 1]
      : tensor<1x3x9x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x5x4xf32>
  %r = graph.relu %c : tensor<1x4x5x4xf32>
  %f = graph.weight_ref @filter : tensor<2x3x1x1xf32>
  %d = graph.conv2d %x, %f
      : tensor<1x3x9x8xf32>, tensor<2x3x1x1xf32> -> tensor<1x2x9x8xf32>
  %p = graph.max_pool2d %d kernel [2, 2] strides [2, 2]
      : tensor<1x2x9x8xf32> -> tensor<1x2x4x4xf32>
  func.return %r, %p : tensor<1x4x5x4xf32>, tensor<1x2x4x4xf32>
}
""",
    "softmax": """
func.func @main(%x: tensor<4x13xf32>) -> tensor<4x13xf32> {
  %s = graph.softmax %x axis 1 : tensor<4x13xf32>
  %l = graph.log %s : tensor<4x13xf32>
  func.return %l : tensor<4x13xf32>
}
""",
    "control_flow": """
func.func @main(%x: tensor<4x8xf32>, %flag: tensor<i1>) -> tensor<4x8xf32> {
  %condition = tensor.extract %flag[] : tensor<i1>
  %y = scf.if %condition -> (tensor<4x8xf32>) {
    %a = graph.relu %x : tensor<4x8xf32>
    scf.yield %a : tensor<4x8xf32>
  } else {
    %b = graph.neg %x : tensor<4x8xf32>
    scf.yield %b : tensor<4x8xf32>
  }
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %z = scf.for %i = %zero to %three step %one iter_args(%v = %y) -> (tensor<4x8xf32>) {
    %w = graph.mul %v, %x : tensor<4x8xf32>
    %t = graph.tanh %w : tensor<4x8xf32>
    scf.yield %t : tensor<4x8xf32>
  }
  func.return %z : tensor<4x8xf32>
}
""",
    "symbolic": """
!rows = tensor<?x6xf32, #graph.desc<dims = ["N" : 1 to 9]>>
!outs = tensor<?x5xf32, #graph.desc<dims = ["N" : 1 to 9]>>
func.func @main(%x: !rows, %w: tensor<6x5xf32>) -> !outs {
  %r = graph.relu %x : !rows
  %m = graph.matmul %r, %w : !rows, tensor<6x5xf32> -> !outs
  %s = graph.softmax %m axis 1 : !outs
  func.return %s : !outs
}
""",
    "several_results": """
func.func @main(
    %x: tensor<6x10xf32>, %y: tensor<6x10xf32>
) -> (tensor<6x10xf32>, tensor<6x1xf32>, tensor<6x10xf32>) {
  %s = graph.add %x, %y : tensor<6x10xf32>
  %t = graph.tanh %s : tensor<6x10xf32>
  %r = graph.reduce sum %t axes [1] keepdims : tensor<6x10xf32> -> tensor<6x1xf32>
  %p = graph.mul %s, %y : tensor<6x10xf32>
  func.return %t, %r, %p : tensor<6x10xf32>, tensor<6x1xf32>, tensor<6x10xf32>
}
""",
    "special_values": """
!v = tensor<3x13xf32>
func.func @main(%x: !v, %y: !v) -> (!v, !v, !v, !v, !v, !v, !v, !v, !v, !v, !v) {
  %a = graph.relu %x : !v
  %b = graph.add %x, %y : !v
  %c = graph.mul %x, %y : !v
  %d = graph.maximum %x, %y : !v
  %e = graph.minimum %x, %y : !v
  %f = graph.abs %x : !v
  %n = graph.neg %x : !v
  %g = graph.div %y, %n : !v
  %h = graph.sqrt %x : !v
  %i = graph.exp %x : !v
  %j = graph.tanh %x : !v
  %k = graph.sigmoid %x : !v
  func.return %a, %b, %c, %d, %e, %f, %g, %h, %i, %j, %k
      : !v, !v, !v, !v, !v, !v, !v, !v, !v, !v, !v
}
""",
}
"""By name; none names a target."""

SPECIAL = "special_values"
"""The sample that is run on NaN, infinities and zeros with a sign too."""

SPECIAL_VALUES = (math.nan, math.inf, -math.inf, -0.0, 0.0, 1.5, -2.5)


def special_inputs() -> dict[str, np.ndarray[Any, np.dtype[np.float32]]]:
    """Inputs of `SPECIAL`: each of the values beside each other one, or nearly."""
    count, shape = len(SPECIAL_VALUES), (3, 13)
    places = np.arange(math.prod(shape))
    values = np.array(SPECIAL_VALUES, np.float32)
    return {
        "arg0": values[places % count].reshape(shape),
        "arg1": values[(places + places // count) % count].reshape(shape),
    }


HOST = '#llvm_cpu.target<cpu = "host">'
"""What runs the parts that the target does not take."""


def machine_of(target: str) -> str:
    """The text of a host whose preferred target is this one."""
    targets = [target] if target.startswith("#llvm_cpu.") else [target, HOST]
    return f"target.device @cpu {{targets = [{', '.join(targets)}]}}"


def placed_sample(text: str, declared: str) -> str:
    """
    The text of a module: a sample, and the devices that are declared for it, the first
    of which is the host.
    """
    host = re.search(r"target\.device (@[\w.$-]+)", declared)
    assert host is not None, "a machine has a device"
    config = f"#target.config<host = {host[1]}>"
    # Aliases stand before the module that they are used in.
    aliases = [line for line in text.splitlines() if line.startswith(("!", "#"))]
    rest = [line for line in text.splitlines() if not line.startswith(("!", "#"))]
    return "\n".join(
        [
            *aliases,
            f"module attributes {{target.config = {config}}} {{",
            declared,
            *rest,
            "}",
        ]
    )
