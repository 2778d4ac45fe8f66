"""
Quantised models for tests, made with `onnx.helper`: every activation is dequantised in
front of an operator and quantised behind it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[Any]


@dataclass
class Tensor:
    """An activation of int8, with its scale and zero point."""

    name: str
    shape: tuple[int, ...]
    scale: float
    zero: int


@dataclass
class QuantizedGraph:
    """
    A graph that grows by operators; weights and scales are random.

    `per_channel` says whether weights have a scale for each channel of the result.
    """

    seed: int = 0
    per_channel: bool = True
    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    initializers: dict[str, Array] = field(default_factory=dict[str, Array])
    inputs: list[Tensor] = field(default_factory=list[Tensor])
    outputs: list[Tensor] = field(default_factory=list[Tensor])

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.count = 0

    # Parts.

    def input(self, shape: Sequence[int], scale: float = 0.05, zero: int = 3) -> Tensor:
        tensor = Tensor(self._name("in"), tuple(shape), scale, zero)
        self.inputs.append(tensor)
        return tensor

    def output(self, tensor: Tensor) -> Tensor:
        self.outputs.append(tensor)
        return tensor

    def conv(
        self,
        x: Tensor,
        filters: int,
        kernel: Sequence[int] = (3, 3),
        *,
        groups: int = 1,
        relu: bool = False,
        bias: bool = True,
        scale: float = 0.1,
        zero: int = -5,
        **attributes: Any,
    ) -> Tensor:
        """A convolution; `attributes` are those of the node."""
        channels = x.shape[1] // groups
        depth = channels * int(np.prod(kernel))
        weights = self._weights((filters, channels, *kernel), filters, depth, 0)
        made = self._float(
            "Conv",
            [self._floats(x), *weights, *([self._bias(x, filters)] if bias else [])],
            kernel_shape=list(kernel),
            group=groups,
            **attributes,
        )
        return self._quantized(self._activated(made, relu), scale, zero)

    def dense(
        self,
        x: Tensor,
        outputs: int,
        *,
        relu: bool = False,
        scale: float = 0.1,
        zero: int = 4,
        transposed: bool = True,
    ) -> Tensor:
        """A `Gemm` with a bias."""
        depth = x.shape[1]
        shape = (outputs, depth) if transposed else (depth, outputs)
        weights = self._weights(shape, outputs, depth, 0 if transposed else 1)
        made = self._float(
            "Gemm",
            [self._floats(x), *weights, self._bias(x, outputs)],
            transB=int(transposed),
        )
        return self._quantized(self._activated(made, relu), scale, zero)

    def same(self, kind: str, x: Tensor, *more: str, **attributes: Any) -> Tensor:
        """An operator whose result has the scale of its input."""
        made = self._float(kind, [self._floats(x), *more], **attributes)
        return self._quantized(made, x.scale, x.zero)

    def mean(self, x: Tensor, scale: float, zero: int) -> Tensor:
        """A mean over rows and columns, of a scale of its own."""
        made = self._float("GlobalAveragePool", [self._floats(x)])
        return self._quantized(made, scale, zero)

    def pair(
        self,
        kind: str,
        a: Tensor,
        b: Tensor,
        scale: float = 0.12,
        zero: int = 7,
        relu: bool = False,
    ) -> Tensor:
        """An operator on two tensors."""
        made = self._float(kind, [self._floats(a), self._floats(b)])
        return self._quantized(self._activated(made, relu), scale, zero)

    def softmax(self, x: Tensor, axis: int = -1) -> Tensor:
        made = self._float("Softmax", [self._floats(x)], axis=axis)
        return self._quantized(made, 1 / 256, -128)

    def flatten(self, x: Tensor) -> Tensor:
        return self.same("Flatten", x)

    def constant(self, values: Array, stem: str = "c") -> str:
        """An initializer."""
        name = self._name(stem)
        self.initializers[name] = values
        return name

    # The model.

    def model(self) -> onnx.ModelProto:
        """The model, with the shapes that are inferred."""
        made = helper.make_model(
            helper.make_graph(
                self.nodes,
                "quantized",
                [self._info(tensor) for tensor in self.inputs],
                [
                    helper.make_tensor_value_info(t.name, TensorProto.INT8, None)
                    for t in self.outputs
                ],
                [numpy_helper.from_array(v, n) for n, v in self.initializers.items()],
            ),
            opset_imports=[helper.make_opsetid("", 17)],
            ir_version=9,
        )
        return onnx.shape_inference.infer_shapes(made, strict_mode=True)

    def save(self, path: Path) -> Path:
        path.write_bytes(self.model().SerializeToString())
        return path

    def random_inputs(self, seed: int = 0) -> Mapping[str, Array]:
        rng = np.random.default_rng(seed)
        return {
            tensor.name: rng.integers(-128, 128, tensor.shape).astype(np.int8)
            for tensor in self.inputs
        }

    # Pieces of nodes.

    def _name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def _float(self, kind: str, inputs: Sequence[str], **attributes: Any) -> str:
        name = self._name(kind.lower())
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def _floats(self, x: Tensor) -> str:
        """An activation, dequantised; once for all readers."""
        name = f"{x.name}_f"
        if all(name not in node.output for node in self.nodes):
            scale = self.constant(np.array(x.scale, np.float32))
            zero = self.constant(np.array(x.zero, np.int8))
            inputs = [x.name, scale, zero]
            self.nodes.append(helper.make_node("DequantizeLinear", inputs, [name]))
        return name

    def _activated(self, name: str, relu: bool) -> str:
        return self._float("Relu", [name]) if relu else name

    def _quantized(self, name: str, scale: float, zero: int) -> Tensor:
        inputs = [
            name,
            self.constant(np.array(scale, np.float32)),
            self.constant(np.array(zero, np.int8)),
        ]
        result = self._name("q")
        self.nodes.append(helper.make_node("QuantizeLinear", inputs, [result]))
        return Tensor(result, self._shape_of(result), scale, zero)

    def _weights(
        self, shape: Sequence[int], outputs: int, depth: int, axis: int
    ) -> list[str]:
        """Dequantised weights, of scales that fill the range of results."""
        values = self.rng.integers(-127, 128, shape).astype(np.int8)
        size = outputs if self.per_channel else ()
        spread = 0.3 / np.sqrt(depth)
        self.scales = self.rng.uniform(0.3, 1.0, size).astype(np.float32) * spread / 10
        self.scales = np.asarray(self.scales, np.float32)
        zeros = np.zeros(self.scales.shape, np.int8)
        inputs = [
            self.constant(values, "w"),
            self.constant(self.scales),
            self.constant(zeros),
        ]
        return [self._float("DequantizeLinear", inputs, axis=axis)]

    def _bias(self, x: Tensor, outputs: int) -> str:
        values = self.rng.integers(-2000, 2000, outputs).astype(np.int32)
        scales = (np.float32(x.scale) * self.scales).astype(np.float32)
        inputs = [
            self.constant(values, "b"),
            self.constant(scales),
            self.constant(np.zeros(scales.shape, np.int32)),
        ]
        return self._float("DequantizeLinear", inputs, axis=0)

    def _info(self, tensor: Tensor) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(
            tensor.name, TensorProto.INT8, tensor.shape
        )

    def _shape_of(self, name: str) -> tuple[int, ...]:
        self.outputs.append(Tensor(name, (), 1.0, 0))
        try:
            *_, info = self.model().graph.output
        finally:
            self.outputs.pop()
        dims = info.type.tensor_type.shape.dim
        return tuple(dim.dim_value for dim in dims)


def small_mobilenet(seed: int = 0) -> QuantizedGraph:
    """
    A network of the operators of MobileNetV2, on an image of 16 x 16; it gives ten
    numbers, and the softmax of them.
    """
    g = QuantizedGraph(seed)
    x = g.input((1, 3, 16, 16))
    x = g.conv(x, 8, strides=[2, 2], pads=[1, 1, 1, 1], relu=True, zero=-128)
    wide = g.conv(x, 16, (1, 1), relu=True, zero=-128)
    wide = g.conv(wide, 16, groups=16, pads=[1, 1, 1, 1], relu=True, zero=-128)
    narrow = g.conv(wide, 8, (1, 1))
    x = g.pair("Add", x, narrow)
    x = g.conv(x, 16, (1, 1), relu=True, zero=-128)
    x = g.same("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = g.same("GlobalAveragePool", x)
    x = g.output(g.dense(g.flatten(x), 10))
    g.output(g.softmax(x))
    return g
