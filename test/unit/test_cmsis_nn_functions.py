"""
The functions of CMSIS-NN in NumPy and in C, which share nothing, give the same bytes.
"""

import math
from typing import Any

import numpy as np
import pytest
from cmsis_nn_library import VARIANTS, call
from hypothesis import given, settings
from hypothesis import strategies as st

from transom.targets.cmsis_nn import cores
from transom.targets.cmsis_nn.arithmetic import (
    addition,
    quantized_scale,
    requantized,
    softmax,
    softmax_numbers,
)
from transom.targets.cmsis_nn.calls import FUNCTIONS
from transom.targets.cmsis_nn.cores import Core

CORES = {"C": Core(), "DSP": Core(True), "MVE": Core(True, True)}
GUARD = 32

seeds = st.integers(0, 2**32 - 1)
scales = st.floats(1e-5, 4.0)
zeros = st.integers(-128, 127)


def random_bytes(rng: np.random.Generator, *shape: int) -> Any:
    return rng.integers(-128, 128, shape).astype(np.int8)


def tables(rng: np.random.Generator, channels: int) -> tuple[Any, Any]:
    """Multipliers and shifts of factors such as networks have."""
    pairs = [quantized_scale(f) for f in rng.uniform(1e-4, 0.02, channels)]
    multipliers, shifts = zip(*pairs, strict=True)
    return np.array(multipliers, np.int32), np.array(shifts, np.int32)


def activation(rng: np.random.Generator) -> tuple[int, int]:
    least, most = sorted(int(x) for x in rng.integers(-128, 128, 2))
    return (least, most) if rng.integers(2) else (-128, 127)


class Scratch:
    """Scratch memory of just so many bytes between guards, full of garbage."""

    def __init__(self, size: int) -> None:
        self.memory = np.full(size + 2 * GUARD, 0x5A, np.uint8)
        self.context = (self.memory[GUARD : GUARD + size], size)

    def check(self) -> None:
        around = np.concatenate([self.memory[:GUARD], self.memory[-GUARD:]])
        assert (around == 0x5A).all(), "memory beside the scratch is written"


def same_result(
    variant: str, name: str, before: tuple[Any, ...], shape: Any, *after: Any
) -> None:
    """Both implementations write the same, and say that all is well."""
    expected, found = np.full(shape, 99, np.int8), np.full(shape, 77, np.int8)
    assert FUNCTIONS[name](*before, expected, *after) in (0, None)
    status = call(variant, name, *before, found, *after)
    assert name == "arm_softmax_s8" or status == 0
    np.testing.assert_array_equal(found, expected)


@given(
    st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=20),
    st.integers(2**30, 2**31 - 1),
    st.integers(-31, 0),
)
@settings(max_examples=100, deadline=None)
def test_requantisation(values: list[int], multiplier: int, shift: int):
    """Within the two roundings of the exact product, ties away from zero."""
    found = requantized(np.array(values, np.int64), multiplier, shift)
    for value, result in zip(values, found, strict=True):
        exact = value * multiplier / 2.0 ** (31 - shift)
        assert abs(int(result) - exact) <= 0.5 + 0.5 * 2.0**shift + 1e-6


@given(st.floats(1e-9, 1e9))
def test_scales(factor: float):
    multiplier, shift = quantized_scale(factor)
    assert 2**30 <= multiplier < 2**31
    assert math.isclose(multiplier * 2.0 ** (shift - 31), factor, rel_tol=2**-30)


def test_a_scale_that_is_rounded_up():
    """To the next power of two, which has no multiplier of its own."""
    assert quantized_scale(1 - 2**-40) == (2**30, 1)


@pytest.mark.parametrize("variant", VARIANTS)
@given(
    seed=seeds,
    size=st.tuples(st.integers(1, 7), st.integers(1, 7)),
    kernel=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    strides=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    dilations=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    groups=st.sampled_from([1, 2]),
    depthwise=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_convolutions(
    variant: str,
    seed: int,
    size: tuple[int, int],
    kernel: tuple[int, int],
    strides: tuple[int, int],
    dilations: tuple[int, int],
    groups: int,
    depthwise: bool,
):
    rng = np.random.default_rng(seed)
    batch, channels, outputs = int(rng.integers(1, 3)), 4, 8
    padding = int(rng.integers(0, kernel[0])), int(rng.integers(0, kernel[1]))
    out = [
        (n + 2 * p - (k - 1) * d - 1) // s + 1
        for n, p, k, d, s in zip(size, padding, kernel, dilations, strides, strict=True)
    ]
    if min(out) < 1:
        return
    inner = 1 if depthwise else channels // groups
    conv = cores.Conv(batch, size, channels, kernel, inner, outputs, padding, dilations)
    scratch_of = cores.depthwise_scratch if depthwise else cores.conv_scratch
    scratch = scratch_of(conv, CORES[variant])
    if scratch is None:
        return
    name = "depthwise_conv" if depthwise else "convolve"
    filters = (1, *kernel, outputs) if depthwise else (outputs, *kernel, inner)
    quant = tables(rng, outputs)
    params = (
        *(int(x) for x in rng.integers(-128, 129, 2)),
        *((outputs // channels,) if depthwise else ()),
        strides[::-1],
        padding[::-1],
        dilations[::-1],
        activation(rng),
    )
    memory = Scratch(scratch)
    same_result(
        variant,
        f"arm_{name}_wrapper_s8",
        (
            memory.context,
            params,
            quant,
            (batch, *size, channels),
            random_bytes(rng, batch, *size, channels),
            filters,
            random_bytes(rng, *filters),
            (1, 1, 1, outputs),
            rng.integers(-3000, 3000, outputs).astype(np.int32),
            (batch, *out, outputs),
        ),
        (batch, *out, outputs),
    )
    memory.check()


@pytest.mark.parametrize("variant", VARIANTS)
@given(
    seed=seeds,
    rows=st.integers(1, 3),
    depth=st.integers(1, 20),
    outputs=st.integers(1, 9),
    per_channel=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_fully_connected(
    variant: str, seed: int, rows: int, depth: int, outputs: int, per_channel: bool
):
    rng = np.random.default_rng(seed)
    weights = random_bytes(rng, outputs, depth)
    bias = rng.integers(-3000, 3000, outputs).astype(np.int32)
    in_offset, filter_offset, out_offset = (int(x) for x in rng.integers(-127, 129, 3))
    if per_channel:
        quant, name, filter_offset = tables(rng, outputs), "_per_channel", 0
    else:
        quant, name = tuple(quantized_scale(float(rng.uniform(1e-4, 0.02)))), ""
    size = cores.fully_connected_scratch(outputs, CORES[variant])
    memory = Scratch(size)
    if size:
        sums = memory.context[0].view(np.int32)
        arguments = (depth, outputs, weights, in_offset, filter_offset, bias)
        assert call(variant, "arm_vector_sum_s8", sums, *arguments) == 0
        expected = np.zeros(outputs, np.int32)
        FUNCTIONS["arm_vector_sum_s8"](expected, *arguments)
        np.testing.assert_array_equal(sums, expected)
    same_result(
        variant,
        f"arm_fully_connected{name}_s8",
        (
            memory.context,
            (in_offset, filter_offset, out_offset, activation(rng)),
            quant,
            (rows, 1, 1, depth),
            random_bytes(rng, rows, depth),
            (depth, 1, 1, outputs),
            weights,
            (1, 1, 1, outputs),
            bias,
            (rows, 1, 1, outputs),
        ),
        (rows, outputs),
    )
    memory.check()


@pytest.mark.parametrize("variant", VARIANTS)
@given(
    seed=seeds,
    size=st.tuples(st.integers(3, 7), st.integers(3, 7)),
    kernel=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    strides=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    kind=st.sampled_from(["max_pool", "avgpool"]),
)
@settings(max_examples=30, deadline=None)
def test_pools(
    variant: str,
    seed: int,
    size: tuple[int, int],
    kernel: tuple[int, int],
    strides: tuple[int, int],
    kind: str,
):
    rng = np.random.default_rng(seed)
    channels = int(rng.integers(1, 6))
    padding = int(rng.integers(0, kernel[0])), int(rng.integers(0, kernel[1]))
    out = [
        (n + 2 * p - k) // s + 1
        for n, p, k, s in zip(size, padding, kernel, strides, strict=True)
    ]
    average = kind == "avgpool"
    memory = Scratch(cores.avg_pool_scratch(channels, CORES[variant]) if average else 0)
    same_result(
        variant,
        f"arm_{kind}_s8",
        (
            memory.context,
            (strides[::-1], padding[::-1], activation(rng)),
            (2, *size, channels),
            random_bytes(rng, 2, *size, channels),
            (1, *kernel, 1),
            (2, *out, channels),
        ),
        (2, *out, channels),
    )
    memory.check()


@given(seed=seeds, scale=scales, size=st.integers(1, 40))
@settings(max_examples=100, deadline=None)
def test_softmax(seed: int, scale: float, size: int):
    """Also within 0.5 of a step, and a bit, of the softmax of floats."""
    rng = np.random.default_rng(seed)
    x = random_bytes(rng, 2, size)
    numbers = softmax_numbers(scale)
    arguments = (*numbers.scale, numbers.diff_min)
    same_result("C", "arm_softmax_s8", (x, 2, size, *arguments), (2, size))
    powers = np.exp(scale * (x - x.max(axis=1, keepdims=True).astype(float)))
    steps = powers / powers.sum(axis=1, keepdims=True) * 256 - 128
    found = softmax(x, *numbers.scale, numbers.diff_min)
    assert np.abs(found - np.minimum(steps, 127)).max() <= 0.52


@given(seed=seeds, a=scales, b=scales, out=scales)
@settings(max_examples=60, deadline=None)
def test_sums_of_elements(seed: int, a: float, b: float, out: float):
    rng = np.random.default_rng(seed)
    numbers = addition(a, b, out)
    if not all(-31 <= scale.shift <= 0 for scale in numbers):
        return
    offsets = [int(x) for x in rng.integers(-127, 129, 3)]
    inputs = [
        x
        for offset, scale in zip(offsets[:2], numbers[:2], strict=True)
        for x in (offset, *scale)
    ]
    same_result(
        "C",
        "arm_elementwise_add_s8",
        (random_bytes(rng, 64), random_bytes(rng, 64), *inputs, 20),
        64,
        *(offsets[2], *numbers.result),
        *(*activation(rng), 64),
    )


@given(seed=seeds, factor=st.floats(1e-6, 1.0))
@settings(max_examples=60, deadline=None)
def test_products_of_elements(seed: int, factor: float):
    rng = np.random.default_rng(seed)
    a, b, out = (int(x) for x in rng.integers(-127, 129, 3))
    same_result(
        "C",
        "arm_elementwise_mul_s8",
        (random_bytes(rng, 64), random_bytes(rng, 64), a, b),
        64,
        *(out, *quantized_scale(factor)),
        *(*activation(rng), 64),
    )


@pytest.mark.parametrize(
    "suffix, core", [("_dsp", Core(True)), ("_mve", Core(True, True))]
)
def test_scratch_is_what_the_getters_say(suffix: str, core: Core):
    """Those of a core run anywhere."""
    for kernel, channels, padding in ((1, 4, 0), (3, 4, 1), (5, 6, 2), (3, 1, 1)):
        conv = cores.Conv(
            1,
            (8, 8),
            channels,
            (kernel, kernel),
            channels,
            channels,
            (padding, padding),
            (1, 1),
        )
        dims = ((1, 8, 8, channels), (channels, kernel, kernel, channels))
        tiles = ((1, 1), (padding, padding), (1, 1), (-128, 127))
        expected = cores.conv_scratch(conv, core)
        name = f"arm_convolve_wrapper_s8_get_buffer_size{suffix}"
        assert expected == call("C", name, (0, 0, *tiles), *dims, (1, 8, 8, channels))
        expected = cores.depthwise_scratch(conv, core)
        if expected is not None:
            name = f"arm_depthwise_conv_wrapper_s8_get_buffer_size{suffix}"
            filters = (1, kernel, kernel, channels)
            found = call("C", name, (0, 0, 1, *tiles), dims[0], filters, dims[0])
            assert expected == found
    name = f"arm_fully_connected_s8_get_buffer_size{suffix}"
    assert cores.fully_connected_scratch(7, core) == call("C", name, (9, 1, 1, 7))
    name = f"arm_avgpool_s8_get_buffer_size{suffix}"
    assert cores.avg_pool_scratch(7, core) == call("C", name, 5, 7)


def test_missing_scratch_is_an_error():
    """So is memory that is too small: the real library would write behind it."""
    x = np.zeros((1, 4, 4, 2), np.int8)
    params = ((1, 1), (0, 0), (-128, 127))
    dims = ((1, 4, 4, 2), x, (1, 2, 2, 1), (1, 3, 3, 2), np.zeros(18, np.int8))
    assert call("DSP", "arm_avgpool_s8", Scratch(7).context, params, *dims) == -1
    assert call("DSP", "arm_avgpool_s8", Scratch(8).context, params, *dims) == 0
