"""
Convolutions by Winograd's method compute what direct ones do, but for roundings.
"""

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

import transom
from transom.compile_options import use_options
from transom.dialects import graph, tir
from transom.dialects.diagnostics import OpError
from transom.dialects.target import get_config
from transom.driver import declare_devices
from transom.interpreters.weights import WeightStore
from transom.passes.weight_expressions import derived_weight
from transom.passes.winograd.tiles import count_of, rows_per_block, tiles_along
from transom.passes.winograd.transforms import FILTER_MATRIX, transformed_filters
from transom.registry import new_context
from transom.targets.references import interpreter_of
from transom.tools import transom_compile, transom_run

LIMIT = 2e-5
"""The largest error, as a part of the largest value."""

CTX = new_context()

Capture = pytest.CaptureFixture[str]


Shape = tuple[int, ...]


def random_model(random: Random) -> tuple[str, Shape, Shape]:
    """
    A model that starts with a convolution, and the shapes of its input and result.
    What follows is computed with the sums, or on them.
    """
    batch, channels = random.choice((1, 1, 2)), random.choice((32, 39, 46, 48))
    filters = random.choice((16, 32, 48, random.randint(16, 40)))
    pads = [random.randint(0, 2) for _ in range(4)]
    size = [random.randint(8, 15), random.randint(8, 15)]
    result = [size[i] + pads[i] + pads[i + 2] - 2 for i in (0, 1)]
    x = f"tensor<{batch}x{channels}x{size[0]}x{size[1]}xf32>"
    y = f"tensor<{batch}x{filters}x{result[0]}x{result[1]}xf32>"
    w = f"tensor<{filters}x{channels}x3x3xf32>"
    after = ["%c"]
    lines: list[str] = []

    def then(op: str, more: str = "") -> None:
        value = f"%t{len(after)}"
        lines.append(f"{value} = {op} {after[-1]}{more}")
        after.append(value)

    if random.random() < 0.7:
        bias = f"tensor<{filters}x1x1xf32>"
        then("graph.add", f", %bias : {y}, {bias} -> {y}")
    if random.random() < 0.5:
        then("graph.add", f", %r : {y}")
    if random.random() < 0.7:
        then("graph.relu", f" : {y}")
    one = f"tensor<{filters}x{filters}x1x1xf32>"
    if random.random() < 0.5:  # results stay in blocks
        then("graph.conv2d", f", %one : {y}, {one} -> {y}")
    body = "\n".join(lines)
    return (
        f"""
graph.weight @w = {weights(random, (filters, channels, 3, 3))} : {w}
graph.weight @bias = {weights(random, (filters, 1, 1))} : tensor<{filters}x1x1xf32>
graph.weight @one = {weights(random, (filters, filters, 1, 1))}
    : tensor<{filters}x{filters}x1x1xf32>
func.func @main(%x: {x}, %residual: {y}) -> {y} {{
  %w = graph.weight_ref @w : {w}
  %bias = graph.weight_ref @bias : tensor<{filters}x1x1xf32>
  %one = graph.weight_ref @one : tensor<{filters}x{filters}x1x1xf32>
  %r = graph.conv2d %residual, %one : {y}, {one} -> {y}
  %c = graph.conv2d %x, %w padding {pads} : {x}, {w} -> {y}
  {body}
  func.return {after[-1]} : {y}
}}
""",
        (batch, channels, *size),
        (batch, filters, *result),
    )


def weights(random: Random, shape: tuple[int, ...]) -> str:
    """Small numbers, as bytes."""
    rng = np.random.default_rng(random.randrange(2**32))
    array = (rng.standard_normal(shape) / 8).astype(np.float32)
    return f'dense<"0x{array.tobytes().hex()}">'


def close(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> bool:
    """Whether two results differ by roundings only."""
    return float(np.abs(found - expected).max()) <= LIMIT * np.abs(expected).max()


def nests_of(module: ModuleOp) -> int:
    """How many nests compute 36 numbers of each tile."""
    return sum(len(op.outs) == 36 for op in module.walk() if isinstance(op, tir.NestOp))


def lowered(text: str, to: str = "tensor", cpu: str = "x86-64-v3") -> ModuleOp:
    """A module at a phase, with Winograd's method allowed."""
    module = transom.parse(text, ctx=CTX)
    declare_devices(module, {"cpu": f'#llvm_cpu.target<cpu = "{cpu}">'}, CTX)
    use_options(module, {"winograd": True})
    return transom.lower(module, to, ctx=CTX)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_nests_compute_what_a_convolution_does(seed: int) -> None:
    text, shape, result = random_model(Random(seed))
    rng = np.random.default_rng(seed)
    inputs = [rng.standard_normal(s).astype(np.float32) for s in (shape, result)]
    (expected,) = interpreter_of(transom.parse(text, ctx=CTX)).run("main", inputs)
    module = lowered(text)
    # Elsewhere filters are filled up to whole vectors, or lie in rows.
    assert nests_of(module) > 0 or result[1] % 8
    (found,) = interpreter_of(module).run("main", inputs)
    assert close(found, expected), text


@pytest.mark.parametrize("seed", (1, 2))
def test_programs_compute_what_a_convolution_does(seed: int) -> None:
    text, shape, result = random_model(Random(seed))
    rng = np.random.default_rng(seed)
    inputs = [rng.standard_normal(s).astype(np.float32) for s in (shape, result)]
    module = transom.parse(text, ctx=CTX)
    (expected,) = interpreter_of(module).run("main", inputs)
    assert nests_of(lowered(text, cpu="host")) > 0
    results = [
        transom.compile(
            module, winograd=True, threads=threads, poison_memory=True, ctx=CTX
        )(*inputs)
        for threads in (1, 2)
    ]
    one, two = (next(iter(result.values())) for result in results)
    assert close(one, expected)
    np.testing.assert_array_equal(one, two)


def test_weights_are_transformed_in_f64() -> None:
    random = Random(0)
    w = weights(random, (2, 3, 3, 3))
    module = transom.parse(f"graph.weight @w = {w} : tensor<2x3x3x3xf32>", ctx=CTX)
    (source,) = module.body.ops
    assert isinstance(source, graph.WeightOp)
    made = derived_weight(
        module,
        "u",
        lambda e: transformed_filters(e, e(graph.WeightRefOp(source))),
        source,
    )
    store = WeightStore(module)
    found, filters = store(made), store(source).astype(np.float64)
    matrix = np.array(FILTER_MATRIX)
    expected = np.swapaxes(matrix @ filters @ matrix.T, 2, 3).astype(np.float32)
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_every_result_is_written_once() -> None:
    for extent in range(4, 40):
        tiles = tiles_along(extent)
        written = [
            part.start + 4 * number + place
            for part in tiles
            for number in range(part.count)
            for place in part.written
        ]
        assert written == list(range(extent))
        assert count_of(tiles) == -(-extent // 4)


@pytest.mark.parametrize(
    ("size", "channels", "filters", "rows"),
    [
        (56, 64, 64, 2),  # two rows of tiles leave room for the weights
        (28, 128, 128, 7),
        (14, 256, 256, 4),  # the last rows overlap
        (28, 512, 512, 7),  # the weights are read from memory: once
        (112, 128, 128, 1),
        (56, 256, 256, 7),  # all rows would move hardly less
    ],
)
def test_blocks_of_rows(size: int, channels: int, filters: int, rows: int) -> None:
    tiles = tiles_along(size)
    found = rows_per_block(tiles, count_of(tiles), channels, filters, 1024 * 1024)
    assert found == rows


def test_the_option_is_written_into_the_module() -> None:
    text, _, _ = random_model(Random(0))
    module = transom.parse(text, ctx=CTX)
    use_options(module, {"winograd": False})
    assert "target.config" not in module.attributes
    use_options(module, {"winograd": True})
    assert get_config(module).options["winograd"]
    use_options(module, {"winograd": False})
    assert not get_config(module).options["winograd"]


def test_the_option_comes_before_kernels() -> None:
    text, _, _ = random_model(Random(0))
    module = transom.lower(transom.parse(text, ctx=CTX), "tensor", ctx=CTX)
    with pytest.raises(OpError) as caught:
        transom.compile(module, winograd=True, ctx=CTX)
    assert caught.value.message == (
        "expected a module before phase 'tensor' to choose option 'winograd', but it "
        "is at 'tensor'"
    )


def test_the_programs_take_the_option(tmp_path: Path, capsys: Capture) -> None:
    text, _, _ = random_model(Random(1))
    model = tmp_path / "model.mlir"
    model.write_text(text)
    words = [str(model), "--input", "random:0"]
    assert transom_run.main([*words, "--output", str(tmp_path / "direct.npz")]) == 0
    assert (
        transom_run.main([*words, "--winograd", "--output", str(tmp_path / "less.npz")])
        == 0
    )
    direct, less = (
        next(iter(np.load(tmp_path / f"{name}.npz").values()))
        for name in ("direct", "less")
    )
    assert close(less, direct)
    assert not np.array_equal(less, direct)
    capsys.readouterr()
    out = ["-o", str(tmp_path / "out")]
    assert transom_compile.main([str(model), "--winograd", *out]) == 0
    (program,) = (tmp_path / "out").iterdir()
    assert program.name == "model.transom"
