"""
What is compared: models of one op, and the light models of the package `onnx`.

Every case is an ONNX model, so that all candidates read the same file. Weights are
random, of He scale, and models end before their last softmax.
"""

import fnmatch
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from math import prod, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.halves import NEIGHBOURS, write_in_halves

if TYPE_CHECKING:
    import onnx

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]
NumPyFunction = Callable[[Mapping[str, Array], Array], object]

HELPERS = Path(__file__).parents[1] / "test" / "unit"

LIGHT_MODELS = (
    "bvlc_alexnet",
    "densenet121",
    "inception_v1",
    "inception_v2",
    "resnet50",
    "shufflenet",
    "squeezenet",
    "vgg19",
    "zfnet512",
)


LIMIT = 2e-5
"""The largest error, as a part of the largest value, of a case in f32."""

WINOGRAD_SIZES = ((56, 64), (28, 128), (14, 256), (56, 256), (28, 512), (112, 128))
"""Rows and columns, and channels, of convolutions by Winograd's method."""


@dataclass(frozen=True)
class Case:
    """A model, how much work it is, and what NumPy does for it."""

    name: str
    group: str
    write: Callable[[Path], Path]
    """Writes the model to a folder; gives its file."""
    flops: int = 0
    """Additions and multiplications, where they are what takes the time."""
    numpy: NumPyFunction | None = None
    """Computes the output, in place, from the inputs and weights by name."""
    winograd: bool = False
    """Whether transom may use Winograd's method, which rounds differently."""
    element: str = "f32"
    """What the model computes with: `f32`, `f16` or `bf16`."""
    limit: float = LIMIT
    """The largest error, as a part of the largest value, that is taken as right."""


@dataclass(frozen=True)
class Op:
    """The parts of a model of one op: shapes of inputs `a`, `b`, … and of weights."""

    kind: str
    inputs: Sequence[Shape]
    weights: Mapping[str, Shape] = field(default_factory=dict[str, Shape])
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    opset: int = 20

    def write(self, folder: Path) -> Path:
        """Write the model."""
        onnx_models = _helpers()
        names = [chr(ord("a") + number) for number in range(len(self.inputs))]
        rng = np.random.default_rng(0)
        weights = {
            name: random_array(rng, shape, he=len(shape) > 1)
            for name, shape in self.weights.items()
        }
        read = " ".join([*names, *weights])
        node = onnx_models.node(self.kind, read, **self.attributes)
        values = [
            onnx_models.value(name, shape)
            for name, shape in zip(names, self.inputs, strict=True)
        ]
        model = onnx_models.model([node], values, weights=weights, opset=self.opset)
        return onnx_models.save(folder, model)


def random_array(rng: np.random.Generator, shape: Shape, *, he: bool = False) -> Array:
    """Normal numbers; those of He scale are divided by the size of what they sum."""
    scale = sqrt(2 / prod(shape[1:])) if he else 1.0
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def random_inputs(model: "onnx.ModelProto") -> dict[str, Array]:
    """Values of the inputs of a model; a size that it leaves open is 1."""
    rng = np.random.default_rng(1)
    return {
        value.name: random_array(
            rng,
            tuple(dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim),
        )
        for value in model.graph.input
    }


def matmul(m: int, k: int, n: int, *, constant: bool) -> Case:
    """A product; `constant` is that its right side is a weight."""
    size = f"{m}" if m == k == n else f"{m}x{k}x{n}"
    if constant:
        op = Op("MatMul", [(m, k)], {"w": (k, n)})
    else:
        op = Op("MatMul", [(m, k), (k, n)])
    right = "w" if constant else "b"
    return Case(
        f"matmul-{size}{'-const' if constant else ''}",
        "matmul",
        op.write,
        2 * m * k * n,
        lambda arrays, out: np.matmul(arrays["a"], arrays[right], out=out),
    )


def conv(
    kernel: int, size: int, channels: int, filters: int, stride: int = 1, group: int = 1
) -> Case:
    """A convolution of one square image, with bias."""
    pad = kernel // 2
    out = (size + 2 * pad - kernel) // stride + 1
    per_point = channels // group * kernel * kernel
    op = Op(
        "Conv",
        [(1, channels, size, size)],
        {"w": (filters, channels // group, kernel, kernel), "b": (filters,)},
        {"pads": [pad] * 4, "strides": [stride] * 2, "group": group},
    )
    kind = "depthwise" if group == channels else "conv"
    parts = [f"{kernel}x{kernel}", f"{size}", f"{channels}"]
    if kind == "conv":
        parts.append(f"{filters}")
    if stride != 1:
        parts.append(f"s{stride}")
    name = "-".join([kind, *parts])
    return Case(name, kind, op.write, 2 * per_point * filters * out * out)


def op_case(name: str, group: str, op: Op, numpy: NumPyFunction | None = None) -> Case:
    """A case of which only the time counts."""
    return Case(name, group, op.write, numpy=numpy)


def light(name: str) -> Case:
    """A light model of the package `onnx`."""

    def write(folder: Path) -> Path:
        return _helpers().light_model(name, folder)

    return Case(name, "light", write)


def with_winograd(case: Case) -> Case:
    """A case in which transom's convolutions may round differently."""
    return replace(case, name=f"{case.name}-f4x4", group="winograd", winograd=True)


def in_halves(case: Case, element: str, neighbours: int = 1) -> Case:
    """
    A case with inputs, weights and results of another element type. What is right may
    be so many numbers away.
    """

    def write(folder: Path) -> Path:
        return write_in_halves(case.write(folder), element)

    return replace(
        case,
        name=f"{element}-{case.name}",
        group="half",
        element=element,
        limit=neighbours * NEIGHBOURS[element],
        write=write,
    )


def softmax(arrays: Mapping[str, Array], out: Array) -> None:
    """Softmax of rows, as one writes it with NumPy."""
    np.subtract(arrays["a"], arrays["a"].max(-1, keepdims=True), out=out)
    np.exp(out, out=out)
    np.divide(out, out.sum(-1, keepdims=True), out=out)


def layer_norm(arrays: Mapping[str, Array], out: Array) -> None:
    """Layer normalisation of rows, as one writes it with NumPy."""
    x = arrays["a"]
    np.subtract(x, x.mean(-1, keepdims=True), out=out)
    variance = np.square(out).mean(-1, keepdims=True)
    np.multiply(out, 1 / np.sqrt(variance + np.float32(1e-5)), out=out)
    np.multiply(out, arrays["w"], out=out)
    np.add(out, arrays["v"], out=out)


ROWS = (
    op_case(
        "softmax-128x1024",
        "rows",
        Op("Softmax", [(128, 1024)], {}, {"axis": -1}),
        softmax,
    ),
    op_case(
        "softmax-1536x128",
        "rows",
        Op("Softmax", [(1536, 128)], {}, {"axis": -1}),
        softmax,
    ),
    op_case(
        "layernorm-128x768",
        "rows",
        Op("LayerNormalization", [(128, 768)], {"w": (768,), "v": (768,)}),
        layer_norm,
    ),
    op_case("gelu-128x3072", "rows", Op("Gelu", [(128, 3072)])),
    op_case("sigmoid-128x3072", "rows", Op("Sigmoid", [(128, 3072)])),
    op_case("tanh-128x3072", "rows", Op("Tanh", [(128, 3072)])),
)

MEMORY = (
    op_case(
        "transpose-1024",
        "memory",
        Op("Transpose", [(1024, 1024)], {}, {"perm": [1, 0]}),
        lambda arrays, out: np.copyto(out, arrays["a"].T),
    ),
    op_case(
        "transpose-nchw-nhwc",
        "memory",
        Op("Transpose", [(1, 64, 56, 56)], {}, {"perm": [0, 2, 3, 1]}),
        lambda arrays, out: np.copyto(out, arrays["a"].transpose(0, 2, 3, 1)),
    ),
    op_case(
        "transpose-shuffle",
        "memory",
        Op("Transpose", [(1, 4, 28, 28, 28)], {}, {"perm": [0, 2, 1, 3, 4]}),
        lambda arrays, out: np.copyto(out, arrays["a"].transpose(0, 2, 1, 3, 4)),
    ),
    op_case(
        "add-1x64x112x112",
        "memory",
        Op("Add", [(1, 64, 112, 112)] * 2),
        lambda arrays, out: np.add(arrays["a"], arrays["b"], out=out),
    ),
    op_case(
        "add-channels-64x56x56",
        "memory",
        Op("Add", [(1, 64, 56, 56)], {"w": (64, 1, 1)}),
        lambda arrays, out: np.add(arrays["a"], arrays["w"], out=out),
    ),
    op_case(
        "concat-2x128x28x28",
        "memory",
        Op("Concat", [(1, 128, 28, 28)] * 2, {}, {"axis": 1}),
        lambda arrays, out: np.concatenate([arrays["a"], arrays["b"]], 1, out=out),
    ),
    op_case(
        "maxpool-3x3-112-64-s2",
        "memory",
        Op(
            "MaxPool",
            [(1, 64, 112, 112)],
            {},
            {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4},
        ),
    ),
    op_case(
        "avgpool-2x2-56-128-s2",
        "memory",
        Op(
            "AveragePool",
            [(1, 128, 56, 56)],
            {},
            {"kernel_shape": [2, 2], "strides": [2, 2]},
        ),
    ),
    op_case("globalpool-7-2048", "memory", Op("GlobalAveragePool", [(1, 2048, 7, 7)])),
    op_case("lrn-5-56-64", "memory", Op("LRN", [(1, 64, 56, 56)], {}, {"size": 5})),
)

HALVES = (
    matmul(512, 512, 512, constant=True),
    matmul(1024, 1024, 1024, constant=True),
    matmul(1, 1024, 1024, constant=True),
    conv(3, 56, 64, 64),
    conv(1, 56, 64, 256),
    conv(3, 112, 32, 32, group=32),
    *(case for case in ROWS if case.name.startswith(("softmax-128", "layer", "gelu"))),
    *(case for case in MEMORY if case.name.startswith(("transpose-1024", "add-1x64"))),
    op_case(
        "cast-1x64x112x112", "memory", Op("Cast", [(1, 64, 112, 112)], {}, {"to": 1})
    ),
)
"""Cases in f32 that are cases in halves as well; the cast is from these to f32."""

CASES = (
    *(
        matmul(n, n, n, constant=constant)
        for n in (256, 512, 1024, 2048)
        for constant in (False, True)
    ),
    matmul(128, 768, 3072, constant=True),
    matmul(1, 1024, 1024, constant=True),
    matmul(1, 9216, 4096, constant=True),
    conv(3, 56, 64, 64),
    conv(3, 28, 128, 128),
    conv(3, 14, 256, 256),
    conv(3, 7, 512, 512),
    conv(1, 56, 64, 256),
    conv(1, 28, 512, 128),
    conv(1, 14, 256, 1024),
    conv(1, 7, 2048, 512),
    conv(1, 56, 256, 512, stride=2),
    conv(7, 224, 3, 64, stride=2),
    conv(3, 112, 32, 32, group=32),
    *ROWS,
    *MEMORY,
    *(light(name) for name in LIGHT_MODELS),
    *(with_winograd(conv(3, size, n, n)) for size, n in WINOGRAD_SIZES),
    *(with_winograd(light(name)) for name in ("resnet50", "squeezenet", "vgg19")),
    *(in_halves(case, element) for case in HALVES for element in ("f16", "bf16")),
    in_halves(light("squeezenet"), "f16", neighbours=4),
)


class UnknownCase(Exception):
    """No case has the name, or is of the group."""


def select(patterns: Sequence[str]) -> tuple[Case, ...]:
    """
    The cases that one of some patterns fits: names and groups, with `*` and `?`. All,
    if there are no patterns. Raises `UnknownCase`.
    """
    chosen: set[str] = set()
    for pattern in patterns:
        found = {
            case.name
            for case in CASES
            if fnmatch.fnmatchcase(case.name, pattern) or case.group == pattern
        }
        if not found:
            groups = ", ".join(dict.fromkeys(case.group for case in CASES))
            raise UnknownCase(
                f"no case fits '{pattern}'; the groups are {groups}, and --list names "
                "all cases"
            )
        chosen |= found
    return tuple(case for case in CASES if not patterns or case.name in chosen)


def case_named(name: str) -> Case:
    """The case of a name."""
    (found,) = (case for case in CASES if case.name == name)
    return found


def _helpers() -> Any:
    if str(HELPERS) not in sys.path:
        sys.path.insert(0, str(HELPERS))
    return import_module("onnx_models")
