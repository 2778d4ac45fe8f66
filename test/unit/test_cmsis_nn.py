"""
Quantised models on `#cmsis_nn.target`: what is claimed, and the numbers at each phase
and of compiled programs, with the functions of the library in C.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from cmsis_nn_library import library_path
from onnx_models import runtime_outputs
from quantized_models import QuantizedGraph, small_mobilenet
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

import transom
from transom.dialects import graph, tir
from transom.dialects.executor import PoolOp
from transom.registry import new_context
from transom.targets.bind_devices import device_of
from transom.targets.cmsis_nn.arithmetic import softmax, softmax_numbers
from transom.testing import check_phases

Build = Callable[[QuantizedGraph], None]


def one_conv(g: QuantizedGraph) -> None:
    g.output(g.conv(g.input((1, 3, 6, 6)), 4, relu=True, pads=[1, 1, 1, 1]))


def strided_conv(g: QuantizedGraph) -> None:
    x = g.input((2, 4, 7, 6), scale=0.02, zero=-7)
    g.output(g.conv(x, 6, (3, 2), strides=[2, 1], pads=[1, 0, 2, 1], bias=False))


def grouped_conv(g: QuantizedGraph) -> None:
    g.output(g.conv(g.input((1, 4, 5, 5)), 6, groups=2, dilations=[2, 1]))


def depthwise(g: QuantizedGraph) -> None:
    x = g.conv(g.input((1, 4, 6, 6)), 4, groups=4, pads=[1, 1, 1, 1])
    g.output(g.conv(x, 8, (5, 3), groups=4, pads=[2, 1, 2, 1], strides=[2, 2]))


def pointwise(g: QuantizedGraph) -> None:
    g.output(g.conv(g.input((1, 8, 3, 3)), 5, (1, 1)))


def dense(g: QuantizedGraph) -> None:
    x = g.dense(g.input((3, 8)), 6, relu=True)
    g.output(g.dense(x, 4, transposed=False))


def pools(g: QuantizedGraph) -> None:
    x = g.input((1, 5, 8, 7))
    a = g.same("MaxPool", x, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])
    b = g.same("AveragePool", a, kernel_shape=[2, 3], pads=[1, 1, 0, 1])
    g.output(g.same("GlobalAveragePool", b))


def mean(g: QuantizedGraph) -> None:
    """Of a scale of its own, and rounded once."""
    g.output(g.mean(g.input((2, 3, 5, 4)), scale=0.004, zero=-60))


def rows(g: QuantizedGraph) -> None:
    g.output(g.softmax(g.input((2, 3, 9), scale=0.07)))


def elements(g: QuantizedGraph) -> None:
    x, y = g.input((1, 3, 4, 4)), g.input((1, 3, 4, 4), scale=0.013, zero=-90)
    g.output(g.pair("Add", x, g.pair("Mul", x, y, scale=0.02), relu=True))


def channels(g: QuantizedGraph) -> None:
    """An image and a number for each of its channels: squeeze and excitation."""
    x, row = g.input((2, 3, 4, 5)), g.input((2, 3, 1, 1), scale=0.02, zero=9)
    g.output(g.pair("Mul", row, x, scale=0.05))
    g.output(g.pair("Add", x, row))


def moves(g: QuantizedGraph) -> None:
    x = g.same("Transpose", g.input((2, 3, 4)), perm=[2, 0, 1])
    g.output(g.flatten(g.same("Relu", x)))


def beside_others(g: QuantizedGraph) -> None:
    """The library has no such function: another target of the device computes it."""
    x = g.conv(g.input((1, 3, 4, 4)), 4, (1, 1), scale=0.02)
    g.output(g.conv(g.same("Sigmoid", x), 2, (1, 1)))


MODELS: dict[str, Build] = {
    build.__name__: build
    for build in (
        one_conv,
        strided_conv,
        grouped_conv,
        depthwise,
        pointwise,
        dense,
        pools,
        mean,
        rows,
        elements,
        channels,
        moves,
        beside_others,
    )
}


def load(g: QuantizedGraph, folder: Path, cpu: str) -> ModuleOp:
    """A model on a device with CMSIS-NN and this machine's CPU."""
    return with_device(transom.load(g.save(folder / "model.onnx")), cpu)


def with_device(module: ModuleOp, cpu: str) -> ModuleOp:
    """A module, now with such a device."""
    ctx = new_context()
    targets = [f'#cmsis_nn.target<cpu = "{cpu}">', '#llvm_cpu.target<cpu = "host">']
    device_of("mcu", targets, ctx).apply(ctx, module)
    return module


def owned_ops(module: ModuleOp) -> list[Operation]:
    """The ops of functions of graph ops but main, of a module at `partitioned`."""
    return [
        op
        for func in module.body.ops
        if isinstance(func, FuncOp) and func.sym_name.data != "main"
        for op in func.body.block.ops
    ]


@pytest.mark.parametrize("per_channel", [True, False], ids=["channels", "tensor"])
@pytest.mark.parametrize("name", MODELS)
def test_every_phase(name: str, per_channel: bool, tmp_path: Path):
    """Within a step of the floats before `partitioned`, and the same from then on."""
    if not per_channel and name not in ("one_conv", "dense"):
        pytest.skip("has no weights, or is as with scales per channel")
    g = QuantizedGraph(3, per_channel)
    MODELS[name](g)
    cpu = "cortex-m55" if name == "dense" else "cortex-m4"
    module = load(g, tmp_path, cpu)
    inputs = g.random_inputs()
    libraries = [library_path()]
    check_phases(module, inputs, absolute=1, libraries=libraries, phases=["placed"])
    selected = transom.lower(module, to="partitioned")
    inner = [op for outer in owned_ops(selected) for op in outer.walk()]
    left = [op for op in inner if isinstance(op, graph.QuantizeOp)]
    assert len(left) == (name == "beside_others")
    check_phases(
        selected,
        inputs,
        relative=0,
        absolute=0,
        libraries=libraries,
        phases=["partitioned", "tensor", "planned"],
    )


@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m33", "cortex-m55"])
def test_a_whole_network(cpu: str, tmp_path: Path):
    """One region, whose ops have no transpose between them; planned in one pool."""
    g = small_mobilenet()
    module = load(g, tmp_path, cpu)
    ops = owned_ops(transom.lower(module, to="partitioned"))
    assert sum(isinstance(op, graph.TransposeOp) for op in ops) == 1
    assert sum(op.name.startswith("cmsis_nn.") for op in ops) == 10
    program = transom.compile(module, libraries=[library_path()], poison_memory=True)
    for seed in range(3):
        inputs = g.random_inputs(seed)
        expected, _ = runtime_outputs(tmp_path / "model.onnx", inputs)
        found, rows = program.run(inputs).values()
        assert np.abs(found.astype(int) - expected.astype(int)).max() <= 2
        numbers = softmax_numbers(0.1)
        wanted = softmax(found, *numbers.scale, numbers.diff_min)
        np.testing.assert_array_equal(rows, wanted)


def test_scratch_is_planned(tmp_path: Path):
    """It depends on the core, and is a part of the pool."""
    g = QuantizedGraph()
    one_conv(g)
    sizes: dict[str, int] = {}
    for cpu in ("cortex-m3", "cortex-m55"):
        planned = transom.lower(load(g, tmp_path, cpu), to="planned")
        allocs = [op for op in planned.walk() if isinstance(op, tir.AllocOp)]
        (scratch,) = [op for op in allocs if op.alignment is not None]
        assert scratch.pool is not None
        sizes[cpu] = scratch.result.type.get_shape()[0]
        (pool,) = [op for op in planned.body.ops if isinstance(op, PoolOp)]
        assert pool.size_bytes >= sizes[cpu] + 4 * 36
    # Four bytes for each of 27 taps, in fours and in sixteens.
    assert sizes == {"cortex-m3": 4 * 28, "cortex-m55": 4 * 32}


@pytest.mark.parametrize("planned, linked", [("m3", "C"), ("m55", "MVE")])
def test_each_variant(planned: str, linked: str, tmp_path: Path):
    """In a process of its own, as only one variant can be loaded."""
    g = QuantizedGraph()
    dense(g)
    done = run_apart(g, tmp_path, f"cortex-{planned}", linked)
    assert done.returncode == 0, done.stderr
    program = transom.compile(
        load(g, tmp_path, "cortex-m4"), libraries=[library_path()]
    )
    (expected,) = program.run(g.random_inputs()).values()
    with np.load(tmp_path / "y.npz") as results:
        np.testing.assert_array_equal(next(iter(results.values())), expected)


def test_a_status_is_checked(tmp_path: Path):
    """A build of the library that needs more memory than was planned refuses."""
    g = QuantizedGraph()
    one_conv(g)
    done = run_apart(g, tmp_path, "cortex-m3", "MVE")
    assert done.returncode == 1
    assert "'arm_convolve_wrapper_s8' did not return 0" in done.stderr


def run_apart(
    g: QuantizedGraph, folder: Path, cpu: str, variant: str
) -> subprocess.CompletedProcess[str]:
    """`transom-run` on random inputs, with a variant of the library."""
    (x,) = g.random_inputs().values()
    np.save(folder / "x.npy", x)
    targets = f'#cmsis_nn.target<cpu = "{cpu}">, #llvm_cpu.target<cpu = "host">'
    command = [
        *(sys.executable, "-m", "transom.tools.transom_run"),
        *(str(g.save(folder / "model.onnx")), "--input", str(folder / "x.npy")),
        *("--device", f"mcu={{targets = [{targets}]}}"),
        *("--library", library_path(variant), "--output", str(folder / "y.npz")),
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_without_the_library(tmp_path: Path):
    """The functions run in Python too."""
    g = QuantizedGraph()
    one_conv(g)
    module = load(g, tmp_path, "cortex-m4")
    native = transom.compile(module, libraries=[library_path()])
    python = transom.compile(module, externs="reference")
    inputs = g.random_inputs()
    (expected,), (found,) = (p.run(inputs).values() for p in (native, python))
    np.testing.assert_array_equal(found, expected)
