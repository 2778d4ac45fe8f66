"""
Sums with other dims are the same sums: convolutions in groups of any size, over images
of any size, as the reference evaluation of the graph has them.
"""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import transom
from transom.testing import interpret

SLOW = (HealthCheck.too_slow,)

sizes = st.integers(1, 9)


@settings(max_examples=12, deadline=None, suppress_health_check=SLOW)
@given(
    groups=st.integers(1, 4),
    filters=st.integers(1, 5),
    depth=st.integers(1, 5),
    image=st.tuples(sizes, sizes),
    batch=st.integers(1, 2),
    kernel=st.sampled_from([1, 1, 1, 3]),
)
def test_convolutions_in_groups(
    groups: int,
    filters: int,
    depth: int,
    image: tuple[int, int],
    batch: int,
    kernel: int,
) -> None:
    rows, columns = image
    x = f"tensor<{batch}x{groups * depth}x{rows}x{columns}xf32>"
    w = f"tensor<{groups * filters}x{depth}x{kernel}x{kernel}xf32>"
    y = f"tensor<{batch}x{groups * filters}x{rows}x{columns}xf32>"
    pad = kernel // 2
    padding = f"padding [{pad}, {pad}, {pad}, {pad}] " if pad else ""
    text = f"""func.func @main(%x: {x}, %w: {w}) -> {y} {{
      %c = graph.conv2d %x, %w {padding}groups {groups} : {x}, {w} -> {y}
      %r = graph.relu %c : {y}
      func.return %r : {y}
    }}"""
    rng = np.random.default_rng(0)
    shapes = {
        "arg0": (batch, groups * depth, rows, columns),
        "arg1": (groups * filters, depth, kernel, kernel),
    }
    inputs = {
        name: rng.standard_normal(shape).astype(np.float32)
        for name, shape in shapes.items()
    }
    (expected,) = interpret(transom.parse(text), inputs).values()
    program = transom.compile(transom.parse(text))
    (found,) = program(*inputs.values()).values()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_groups_and_pixels_are_dims() -> None:
    text = """func.func @main(%x: tensor<1x24x7x5xf32>, %w: tensor<12x6x1x1xf32>)
        -> tensor<1x12x7x5xf32> {
      %c = graph.conv2d %x, %w groups 4
        : tensor<1x24x7x5xf32>, tensor<12x6x1x1xf32> -> tensor<1x12x7x5xf32>
      func.return %c : tensor<1x12x7x5xf32>
    }"""
    module = transom.lower(transom.parse(text), to="tensor")
    assert "[parallel 1, parallel 4, parallel 3, parallel 35, reduction 6" in str(
        module
    )
