"""
What is padded is computed in the middle of the result: the same numbers as the
reference evaluation, around elements of any type.
"""

import ml_dtypes
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import transom
from transom.testing import interpret

SLOW = (HealthCheck.too_slow,)

TYPES = {
    "f32": (np.dtype(np.float32), "-1.5 : f32"),
    "bf16": (np.dtype(ml_dtypes.bfloat16), "0.5 : bf16"),
    "ui8": (np.dtype(np.uint8), "200 : ui8"),
    "i64": (np.dtype(np.int64), "-3 : i64"),
}

widths = st.integers(0, 3)


@settings(max_examples=10, deadline=None, suppress_health_check=SLOW)
@given(
    shape=st.lists(st.integers(0, 4), min_size=1, max_size=3),
    type=st.sampled_from(sorted(TYPES)),
    data=st.data(),
)
def test_computed_in_the_middle(
    shape: list[int], type: str, data: st.DataObject
) -> None:
    low = [data.draw(widths) for _ in shape]
    high = [data.draw(widths) for _ in shape]
    dtype, value = TYPES[type]
    padded = [a + n + b for a, n, b in zip(low, shape, high, strict=True)]
    x, y = (f"tensor<{'x'.join(map(str, s))}x{type}>" for s in (shape, padded))
    text = f"""func.func @main(%x: {x}) -> {y} {{
      %s = graph.mul %x, %x : {x}
      %p = graph.pad %s low {low} high {high} value {value} : {x} -> {y}
      func.return %p : {y}
    }}"""
    array = np.random.default_rng(0).integers(0, 9, shape).astype(dtype)
    (expected,) = interpret(transom.parse(text), {"arg0": array}).values()
    (found,) = transom.compile(transom.parse(text))(array).values()
    assert found.tobytes() == expected.tobytes()
