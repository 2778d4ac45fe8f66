"""
Ranges and names that target attributes check their values with; presets.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_npu.dialect import ToyNpuAttr
from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.utils.exceptions import VerifyException

from transom.dialects.target import Range, verify_names


@st.composite
def ranges(draw: st.DrawFn) -> Range:
    or_zero = draw(st.booleans())
    if draw(st.booleans()):
        low = draw(st.integers(0, 12))
        high = draw(st.integers(low, 16))
        return Range(1 << low, 1 << high, power_of_two=True, or_zero=or_zero)
    low, step = draw(st.integers(1, 50)), draw(st.integers(1, 9))
    return Range(low, low + step * draw(st.integers(0, 20)), step, or_zero=or_zero)


def legal(range_: Range) -> list[int]:
    """All legal numbers, counted out."""
    numbers = range(range_.lower, range_.upper + 1, range_.step)
    if range_.power_of_two:
        numbers = [1 << i for i in range(17) if range_.lower <= 1 << i <= range_.upper]
    return [*([0] if range_.or_zero else []), *numbers]


@given(ranges(), st.integers(-100, 1 << 17))
def test_the_nearest_is_legal_and_none_is_nearer(range_: Range, value: int):
    distance = min(abs(number - value) for number in legal(range_))
    nearest = min(n for n in legal(range_) if abs(n - value) == distance)
    assert range_.nearest(value) == nearest


@pytest.mark.parametrize(
    ("range_", "value", "message"),
    [
        (Range(1, 8), 9, "from 1 to 8, but got 9; the nearest is 8"),
        (Range(1, 8), -2, "from 1 to 8, but got -2; the nearest is 1"),
        (
            Range(4, 16, step=4),
            6,
            "a multiple of 4 from 4 to 16, but got 6; the nearest is 4",
        ),
        (
            Range(3, 11, step=4),
            10,
            "from 3 to 11 in steps of 4, but got 10; the nearest is 11",
        ),
        (
            Range(4, 16, power_of_two=True, or_zero=True),
            1,
            "0 or a power of two from 4 to 16, but got 1; the nearest is 0",
        ),
    ],
)
def test_a_value_out_of_range_is_told_the_nearest(
    range_: Range, value: int, message: str
):
    with pytest.raises(VerifyException) as error:
        range_.verify("size", value)
    assert str(error.value) == f"expected 'size' to be {message}"
    range_.verify("size", range_.nearest(value))


def test_names_are_known_and_given_once():
    verify_names("mode", ["fast", "safe"], ["safe", "fast"])
    with pytest.raises(VerifyException, match=r"^unknown mode 'fats'; did you mean"):
        verify_names("mode", ["fats"], ["safe", "fast"])
    with pytest.raises(VerifyException, match=r"^mode 'fast' is listed twice$"):
        verify_names("mode", ["fast", "fast"], ["safe", "fast"])


@pytest.mark.parametrize("name", ToyNpuAttr.PRESETS)
def test_a_preset_is_spelled_out(name: str):
    target = ToyNpuAttr.from_keys({"preset": StringAttr(name)})
    assert target.keys() == ToyNpuAttr.PRESETS[name]
    assert "preset" not in str(target)


def test_keys_beside_a_preset_replace_its_values():
    target = ToyNpuAttr.from_keys(
        {"lanes": IntegerAttr(16, i64), "preset": StringAttr("small")}
    )
    assert target == ToyNpuAttr.get(16, 128 << 10)


def test_an_unknown_preset_is_named_in_python_too():
    with pytest.raises(VerifyException) as error:
        ToyNpuAttr.from_keys({"preset": StringAttr("smal")})
    assert str(error.value) == (
        "unknown preset 'smal' of '#toy_npu.target'; did you mean 'small'?"
    )
