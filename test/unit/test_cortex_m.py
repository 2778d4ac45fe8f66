"""
Quantised networks as bare-metal programs on Cortex-M, run by QEMU: the code of transom,
static memory, and the functions of CMSIS-NN in the variant of each core.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import test_onnx_classifier
from cmsis_nn_library import library_path
from cortex_m import (
    BOARDS,
    build_c,
    build_library,
    main_text,
    need_tools,
    numbers,
    run_on_board,
)
from quantized_models import QuantizedGraph, small_mobilenet
from test_cmsis_nn import MODELS, load, with_device
from test_onnx_classifier import Calibration, expected

import transom

classifier = test_onnx_classifier.classifier  # the fixture

MODELS_OF_ONE_PROGRAM = (
    "beside_others",
    "channels",
    "depthwise",
    "dense",
    "elements",
    "mean",
    "one_conv",
    "pools",
    "rows",
)


def check(g: QuantizedGraph, cpu: str, folder: Path, in_c: bool = False) -> None:
    """A board computes what this machine does."""
    program = transom.compile(load(g, folder, cpu), libraries=[library_path()])
    inputs = g.random_inputs()
    expected = program.run(inputs)
    build = build_c if in_c else build_library
    build(folder / "model.onnx", cpu, folder)
    source = folder / "main.c"
    shapes = {name: array.shape for name, array in expected.items()}
    source.write_text(main_text(inputs, shapes, in_c))
    sources = [source] if in_c else [source, folder / "libnet.a"]
    found = numbers(run_on_board(sources, cpu, folder))
    for array, (name, wanted) in zip(found, expected.items(), strict=True):
        np.testing.assert_array_equal(array, wanted.reshape(-1), err_msg=name)


@pytest.mark.parametrize("cpu", BOARDS)
def test_a_network(cpu: str, tmp_path: Path):
    """On all variants of the library; M4, M7 and M55 pass floats in registers."""
    need_tools()
    check(small_mobilenet(), cpu, tmp_path)


@pytest.mark.parametrize("per_channel", [True, False], ids=["channels", "tensor"])
@pytest.mark.parametrize("cpu", ["cortex-m4", "cortex-m55"])
def test_all_operators(cpu: str, per_channel: bool, tmp_path: Path):
    """Several small models in one program, whose scratch memory is shared."""
    need_tools()
    g = QuantizedGraph(5, per_channel)
    for name in MODELS_OF_ONE_PROGRAM if per_channel else ("dense", "one_conv"):
        MODELS[name](g)
    check(g, cpu, tmp_path)


@pytest.mark.parametrize("cpu", ["cortex-m3", "cortex-m55"])
def test_a_network_in_c(cpu: str, tmp_path: Path):
    """The kernels and main as C, for machines that LLVM does not know."""
    need_tools()
    check(small_mobilenet(), cpu, tmp_path, in_c=True)


SHIPPED = """
#include <stdio.h>
#include "net.h"
static _Alignas(64) uint8_t memory[NET_POOL_MAIN_WORKSPACE_BYTES];
static float x[NET_X_BYTES / 4], y[2];
int main(void) {
    uint32_t state = 1;
    for (size_t k = 0; k < NET_X_BYTES / 4; ++k) {
        state = state * 1664525u + 1013904223u;
        x[k] = (float)(state >> 16) / 32768.0f - 1.0f;
    }
    const struct net_inputs in = {.x = x};
    struct net_outputs out = {.save_infer_model_scale_0_tmp_1 = y};
    const struct net_pools pools = {.main_workspace = memory};
    const int32_t status = net_run(&in, &out, &pools);
    printf("%d %d", (int)(y[0] * 255.0f + 0.5f), (int)(y[1] * 255.0f + 0.5f));
    return (int)status;
}
"""
"""Runs the classifier on numbers that look random, and prints both results of 255."""


def looks_random(count: int) -> Any:
    """The same numbers."""
    state, values = 1, np.empty(count, np.float32)
    for place in range(count):
        state = (state * 1664525 + 1013904223) % 2**32
        values[place] = (state >> 16) / 32768 - 1
    return values


@pytest.mark.nightly
def test_a_shipped_network(classifier: Path, tmp_path: Path):
    """
    A classifier as it is shipped, quantised by onnxruntime, in 512 KiB of code and of
    memory: all 53 convolutions are calls of the library, activations are C of LLVM.
    """
    need_tools()
    quantization: Any = import_module("onnxruntime.quantization")
    model = onnx.load_from_string(classifier.read_bytes())
    dims = model.graph.input[0].type.tensor_type.shape.dim
    for dim, size in zip(dims, (1, 3, 48, 192), strict=True):
        dim.dim_value = size
    paths = [tmp_path / f"{name}.onnx" for name in ("static", "prepared", "model")]
    paths[0].write_bytes(model.SerializeToString())
    quantization.quant_pre_process(
        str(paths[0]), str(paths[1]), skip_symbolic_shape=True
    )
    kind = quantization.QuantType.QInt8
    quantization.quantize_static(
        str(paths[1]),
        str(paths[2]),
        Calibration(),
        quant_format=quantization.QuantFormat.QDQ,
        activation_type=kind,
        weight_type=kind,
    )
    module = with_device(transom.load(paths[2]), "cortex-m55")
    placed = str(transom.lower(module, to="placed"))
    assert placed.count('graph.composite "cmsis_nn.conv"') == 53
    x = looks_random(3 * 48 * 192).reshape(1, 3, 48, 192)
    program = transom.compile(module, libraries=[library_path()])
    (here,) = program.run({"x": x}).values()
    wanted = expected(paths[2], x, optimised=False)
    assert np.abs(here - wanted).max() <= 8 / 255
    build_library(paths[2], "cortex-m55", tmp_path)
    source = tmp_path / "main.c"
    source.write_text(SHIPPED)
    text = run_on_board([source, tmp_path / "libnet.a"], "cortex-m55", tmp_path)
    found = np.array(text.split(), int)
    assert np.abs(found - here.reshape(-1) * 255).max() <= 2
