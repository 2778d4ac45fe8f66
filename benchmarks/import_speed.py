"""
What importing an ONNX model costs, against compiling it: process time of both, for a
network of 200 nodes.

```sh
python -m benchmarks.import_speed [ROUNDS]
```

Of weights nothing is read but for their hash: they are mapped into memory. Nothing is
taken from the cache of kernels.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import transom

BLOCKS = 40
"""Of five nodes each."""

CHANNELS = 32


def network() -> onnx.ModelProto:
    """Convolutions with normalisation and residuals, like those of a small network."""
    rng = np.random.default_rng(0)
    nodes: list[onnx.NodeProto] = []
    weights: list[onnx.TensorProto] = []

    def weight(name: str, *shape: int) -> str:
        array = rng.uniform(0.5, 1.0, shape).astype(np.float32)
        weights.append(numpy_helper.from_array(array, name))
        return name

    value = "x"
    for i in range(BLOCKS):
        kernel = 3 if i % 2 else 1
        w = weight(f"w{i}", CHANNELS, CHANNELS, kernel, kernel)
        pads = [kernel // 2] * 4
        statistics = [weight(f"{s}{i}", CHANNELS) for s in ("s", "b", "m", "v")]
        nodes += [
            helper.make_node("Conv", [value, w], [f"c{i}"], pads=pads),
            helper.make_node("BatchNormalization", [f"c{i}", *statistics], [f"n{i}"]),
            helper.make_node("Relu", [f"n{i}"], [f"r{i}"]),
            helper.make_node("Add", [f"r{i}", value], [f"a{i}"]),
            helper.make_node("Clip", [f"a{i}", "low", "high"], [f"y{i}"]),
        ]
        value = f"y{i}"
    for name, number in (("low", -6.0), ("high", 6.0)):
        weights.append(numpy_helper.from_array(np.array(number, np.float32), name))
    shape = [1, CHANNELS, 28, 28]
    infos = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name in ("x", value)
    ]
    graph = helper.make_graph(nodes, "network", infos[:1], infos[1:], weights)
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """The process time of a call, and what it gives."""
    start = process_time()
    result = run()
    return process_time() - start, result


def main(rounds: int) -> None:
    """Print medians of some rounds, each with an empty cache."""
    model = network()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.onnx"
        path.write_bytes(model.SerializeToString())
        transom.load(path)  # what is imported once
        loading: list[float] = []
        compiling: list[float] = []
        for number in range(rounds):
            os.environ["TRANSOM_CACHE_DIR"] = str(Path(folder) / f"cache{number}")
            seconds, module = timed(lambda: transom.load(path))
            loading.append(seconds)
            seconds, _ = timed(lambda module=module: transom.compile(module))
            compiling.append(seconds)
    size = sum(len(tensor.raw_data) for tensor in model.graph.initializer)
    print(f"{len(model.graph.node)} nodes, {size / 2**20:.1f} MiB of weights")
    print(f"import   {median(loading) * 1000:8.1f} ms")
    print(f"compile  {median(compiling) * 1000:8.1f} ms")
    print(f"ratio    {median(loading) / median(compiling):8.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
