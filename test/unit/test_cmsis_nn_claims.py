"""What `#cmsis_nn.target` refuses, and the reasons that it gives."""

import pytest

import transom
from transom.dialects import graph
from transom.dialects.target import refusals_of
from transom.registry import new_context
from transom.targets.claim_ops import TargetClaimOpsPass

CONV = """
module attributes {target.config = #target.config<host = @mcu>} {
  target.device @mcu {targets = [#cmsis_nn.target<cpu = "cortex-m55">, #c_source.target]}
  graph.weight @w = dense<1> : tensor<4x2x3x3xi8>
  graph.weight @ws = dense<0.5> : tensor<4x1x1x1xf32>
  func.func @main(%q: tensor<1x2x6x6xi8>) -> tensor<1x4x4x4xi8> {
    %s = graph.constant dense<0.5> : tensor<f32>
    %z = graph.constant dense<3> : tensor<i8>
    %zw = graph.constant dense<0> : tensor<i8>
    %zb = graph.constant dense<0> : tensor<i32>
    %o = graph.constant dense<8.0> : tensor<f32>
    %bs = graph.constant dense<0.25> : tensor<f32>
    %bi = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    %w = graph.weight_ref @w : tensor<4x2x3x3xi8>
    %ws = graph.weight_ref @ws : tensor<4x1x1x1xf32>
    %x = graph.dequantize %q, %s, %z : tensor<1x2x6x6xi8>, tensor<f32>, tensor<i8> -> tensor<1x2x6x6xf32>
    %v = graph.dequantize %w, %ws, %zw : tensor<4x2x3x3xi8>, tensor<4x1x1x1xf32>, tensor<i8> -> tensor<4x2x3x3xf32>
    %b = graph.dequantize %bi, %bs, %zb : tensor<4xi32>, tensor<f32>, tensor<i32> -> tensor<4xf32>
    %bt = graph.reshape %b to [4, 1, 1] : tensor<4xf32> -> tensor<4x1x1xf32>
    %c = graph.conv2d %x, %v : tensor<1x2x6x6xf32>, tensor<4x2x3x3xf32> -> tensor<1x4x4x4xf32>
    %a = graph.add %c, %bt : tensor<1x4x4x4xf32>, tensor<4x1x1xf32> -> tensor<1x4x4x4xf32>
    %r = graph.relu %a : tensor<1x4x4x4xf32>
    %y = graph.quantize %r, %o, %z : tensor<1x4x4x4xf32>, tensor<f32>, tensor<i8> -> tensor<1x4x4x4xi8>
    func.return %y : tensor<1x4x4x4xi8>
  }
}
"""  # noqa: E501

BIAS_SCALE = (
    "expected the bias to have the product of the scales of input and weights as its "
    "scale"
)
BIAS_ZERO = "expected a bias of i32 with zero point 0, but got 'tensor<4xi32>'"
REASONS = {
    "expected 0 as the zero point of the weights": (
        "%zw = graph.constant dense<0>",
        "%zw = graph.constant dense<1>",
    ),
    "expected scales that are positive numbers": (
        "@ws = dense<0.5>",
        "@ws = dense<0.0>",
    ),
    BIAS_ZERO: ("%zb = graph.constant dense<0>", "%zb = graph.constant dense<1>"),
    BIAS_SCALE: ("%bs = graph.constant dense<0.25>", "%bs = graph.constant dense<0.3>"),
    "expected padding with 0, but got 2": (
        "graph.conv2d %x, %v",
        "graph.conv2d %x, %v fill 2",
    ),
    "expected scales whose quotient is above 2^-32": (
        "@ws = dense<0.5>",
        "@ws = dense<1.0e-9>",
    ),
    "expected sums that stay within 32 bits": (
        "%o = graph.constant dense<8.0>",
        "%o = graph.constant dense<1.0e-6>",
    ),
    "expected an activation that leaves some results": (
        "graph.relu %a",
        "graph.clamp %a min 16.0 : f32 max -8.0 : f32",
    ),
}
"""Reasons, each with what is put in the place of what."""


def refusal(text: str) -> str | None:
    """Why the convolution of a module is not computed by the library; None if it is."""
    module = transom.parse(text)
    TargetClaimOpsPass(explain=True).apply(new_context(), module)
    (conv,) = (op for op in module.walk() if isinstance(op, graph.Conv2dOp))
    reasons = [refused.reason.data for refused in refusals_of(conv)]
    return reasons[0] if reasons else None


def test_accepted():
    assert refusal(CONV) is None


@pytest.mark.parametrize("reason", REASONS)
def test_refused(reason: str):
    old, new = REASONS[reason]
    assert old in CONV
    assert refusal(CONV.replace(old, new)) == f"as part of 'cmsis_nn.conv': {reason}"


def test_padding_of_one_tap():
    """The bottom and right padding would be read from behind the input."""
    text = CONV.replace("2x3x3x", "2x1x1x").replace("1x4x4x4", "1x4x8x8")
    text = text.replace(
        "graph.conv2d %x, %v", "graph.conv2d %x, %v padding [1, 1, 1, 1]"
    )
    expected = "as part of 'cmsis_nn.conv': expected no padding of a 1x1 kernel"
    assert refusal(text) == expected


def test_scratch_that_is_not_known():
    """Rows alone, on vectors: the library decides by more than its page says."""
    text = CONV.replace("1x2x6x6", "1x2x1x6").replace("2x3x3x", "2x1x3x")
    text = text.replace("1x4x4x4", "1x4x1x4")
    reason = "only the library itself knows how much scratch memory it takes"
    assert refusal(text) == f"as part of 'cmsis_nn.conv': {reason}"
    assert refusal(text.replace("cortex-m55", "cortex-m7")) is None
