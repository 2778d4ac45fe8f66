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


@settings(max_examples=8, deadline=None, suppress_health_check=SLOW)
@given(
    groups=st.integers(1, 4),
    filters=st.sampled_from([1, 2, 3, 5, 8, 24, 40]),
    depth=st.sampled_from([1, 2, 3, 5, 8, 24]),
    image=st.tuples(sizes, sizes),
    batch=st.integers(1, 2),
    kernel=st.sampled_from([1, 1, 1, 3]),
    constant=st.booleans(),
    vector_bytes=st.sampled_from([16, 32]),
)
def test_convolutions_in_groups(
    groups: int,
    filters: int,
    depth: int,
    image: tuple[int, int],
    batch: int,
    kernel: int,
    constant: bool,
    vector_bytes: int,
) -> None:
    """Products in groups and what is computed of them, with weights of any kind."""
    rng = np.random.default_rng(0)
    shape = (groups * filters, depth, kernel, kernel)
    weight = rng.integers(-3, 4, shape).astype(np.float32)
    x, y = (
        f"tensor<{batch}x{groups * n}x{image[0]}x{image[1]}xf32>"
        for n in (depth, filters)
    )
    w = f"tensor<{'x'.join(map(str, shape))}xf32>"
    pad = kernel // 2
    padding = f"padding [{pad}, {pad}, {pad}, {pad}] " if pad else ""
    declared = f"graph.weight @w = dense<{weight.tolist()}> : {w}" if constant else ""
    read = f"%w = graph.weight_ref @w : {w}" if constant else ""
    text = f"""{declared}
    func.func @main(%x: {x}{"" if constant else f", %w: {w}"}) -> ({y}, {y}) {{
      {read}
      %c = graph.conv2d %x, %w {padding}groups {groups} : {x}, {w} -> {y}
      %r = graph.relu %c : {y}
      %s = graph.add %r, %c : {y}
      func.return %r, %s : {y}, {y}
    }}"""
    arrays = [rng.integers(-3, 4, (batch, groups * depth, *image)).astype(np.float32)]
    arrays += [] if constant else [weight]
    inputs = {f"arg{number}": array for number, array in enumerate(arrays)}
    expected = interpret(transom.parse(text), inputs)
    facts = f"{{vector_bytes = {vector_bytes}, vector_registers = 16}}"
    devices = {"cpu": f'#llvm_cpu.target<cpu = "host", facts = {facts}>'}
    found = transom.compile(transom.parse(text), devices=devices)(*arrays)
    for a, b in zip(found.values(), expected.values(), strict=True):
        np.testing.assert_array_equal(a, b)  # sums of small integers are exact


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
