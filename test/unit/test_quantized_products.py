"""
Products and convolutions of quantised numbers are those of integers: what programs
compute is what NumPy does, to the bit.
"""

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import transom
from transom.dialects.parser import parse_ir
from transom.registry import new_context
from transom.testing import check_phases

RNG = np.random.default_rng(0)


def dense(array: Any) -> str:
    return f"dense<{array.tolist()}>"


def bytes_of(kind: str, *shape: int) -> Any:
    info = np.iinfo(np.uint8 if kind == "ui8" else np.int8)
    return RNG.integers(info.min, info.max, shape, info.dtype, endpoint=True)


class Convolution:
    """A quantised convolution, with a bias and a residual, as text and in NumPy."""

    def __init__(
        self,
        kinds: tuple[str, str],
        zeros: tuple[int, int],
        *,
        channels: tuple[int, int] = (4, 6),
        size: int = 9,
        kernel: int = 3,
        stride: int = 1,
        groups: int = 1,
    ) -> None:
        self.kinds, self.zeros = kinds, zeros
        self.stride, self.groups, self.pad = stride, groups, kernel // 2
        inputs, self.filters = channels
        self.x = bytes_of(kinds[0], 1, inputs, size, size)
        depth = inputs // groups
        self.w = bytes_of(kinds[1], self.filters, depth, kernel, kernel)
        # Scales of a few bits: the products below are exact in f32.
        self.scales = 2.0 ** RNG.integers(-9, -6, (self.filters, 1, 1, 1))
        self.bias = RNG.integers(-99, 99, (self.filters, 1, 1)) * 2.0**-4

    def expected(self) -> Any:
        zx, zw = self.zeros
        x, w = self.x.astype(np.int64) - zx, self.w.astype(np.int64) - zw
        edges = (self.pad, self.pad)
        x = np.pad(x, ((0, 0), (0, 0), edges, edges))
        windows = sliding_window_view(x, w.shape[2:], axis=(2, 3))
        windows = windows[:, :, :: self.stride, :: self.stride]
        parts = [
            np.einsum("nchwij,fcij->nfhw", part, filters)
            for part, filters in zip(
                np.split(windows, self.groups, axis=1),
                np.split(w, self.groups),
                strict=True,
            )
        ]
        y = np.concatenate(parts, 1) * self.scales[:, 0] * 0.5 + self.bias
        return np.clip(np.rint(np.maximum(y, 0) / 0.25) + 7, 0, 255).astype(np.uint8)

    def text(self) -> str:
        (kx, kw), (zx, zw), pad = self.kinds, self.zeros, self.pad
        tx = f"tensor<{'x'.join(map(str, self.x.shape))}x"
        tw = f"tensor<{'x'.join(map(str, self.w.shape))}x"
        y = self.expected().shape
        ty = f"tensor<{'x'.join(map(str, y))}x"
        ts = f"tensor<{self.filters}x1x1x1xf32>"
        tb = f"tensor<{self.filters}x1x1xf32>"
        return f"""
graph.weight @w = {dense(self.w)} : {tw}{kw}>
graph.weight @t = {dense(self.scales)} : {ts}
graph.weight @b = {dense(self.bias)} : {tb}
func.func @main(%q: {tx}{kx}>) -> {ty}ui8> {{
  %half = graph.constant dense<0.5> : tensor<f32>
  %zx = graph.constant dense<{zx}> : tensor<{kx}>
  %zw = graph.constant dense<{zw}> : tensor<{kw}>
  %quarter = graph.constant dense<0.25> : tensor<f32>
  %seven = graph.constant dense<7> : tensor<ui8>
  %w = graph.weight_ref @w : {tw}{kw}>
  %t = graph.weight_ref @t : {ts}
  %b = graph.weight_ref @b : {tb}
  %x = graph.dequantize %q, %half, %zx : {tx}{kx}>, tensor<f32>, tensor<{kx}> -> {tx}f32>
  %v = graph.dequantize %w, %t, %zw : {tw}{kw}>, {ts}, tensor<{kw}> -> {tw}f32>
  %c = graph.conv2d %x, %v strides [{self.stride}, {self.stride}] padding [{pad}, {pad}, {pad}, {pad}] groups {self.groups} : {tx}f32>, {tw}f32> -> {ty}f32>
  %s = graph.add %c, %b : {ty}f32>, {tb} -> {ty}f32>
  %r = graph.relu %s : {ty}f32>
  %y = graph.quantize %r, %quarter, %seven : {ty}f32>, tensor<f32>, tensor<ui8> -> {ty}ui8>
  func.return %y : {ty}ui8>
}}
"""  # noqa: E501


CASES: dict[str, dict[str, Any]] = {
    "few_channels": {"channels": (3, 5)},
    "blocks": {"channels": (32, 48), "size": 6},
    "rest_of_a_block": {"channels": (20, 30), "size": 6},
    "pointwise": {"channels": (24, 64), "kernel": 1},
    "strided": {"channels": (8, 16), "stride": 2},
    "groups": {"channels": (32, 32), "groups": 2, "size": 5},
    "depthwise": {"channels": (32, 32), "groups": 32, "kernel": 5},
    "depthwise_rest": {"channels": (30, 30), "groups": 30},
}


def module_of(text: str) -> Any:
    return parse_ir(new_context(), text, "quantized.mlir")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    ("kinds", "zeros"),
    [(("ui8", "i8"), (9, 0)), (("i8", "i8"), (-5, 0)), (("ui8", "ui8"), (130, 90))],
    ids=["ui8", "i8", "asymmetric"],
)
def test_convolution(name: str, kinds: Any, zeros: Any) -> None:
    case = Convolution(kinds, zeros, **CASES[name])
    program = transom.compile(module_of(case.text()))
    (result,) = program(case.x).values()
    np.testing.assert_array_equal(result, case.expected())


def test_phases_agree() -> None:
    case = Convolution(("i8", "i8"), (-5, 0), channels=(18, 20), size=4)
    check_phases(module_of(case.text()), seed=3)
