"""
Quantised networks as bare-metal programs on Cortex-M, run by QEMU: the code of transom,
static memory, and the functions of CMSIS-NN in the variant of each core.
"""

from pathlib import Path

import numpy as np
import pytest
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
from test_cmsis_nn import MODELS, load

import transom

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
