"""Element types and NumPy dtypes, both ways."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import (
    IndexType,
    IntegerType,
    NoneType,
    Signedness,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i64,
)
from xdsl.ir import Attribute

from transom.dialects.dtypes import (
    element_type,
    is_float,
    is_unsigned,
    numpy_dtype,
    optional_numpy_dtype,
)

UI8 = IntegerType(8, Signedness.UNSIGNED)
SI16 = IntegerType(16, Signedness.SIGNED)


@pytest.mark.parametrize(
    ("type", "dtype"),
    [
        (i1, np.bool_),
        (i8, np.int8),
        (SI16, np.int16),
        (i64, np.int64),
        (UI8, np.uint8),
        (IndexType(), np.int64),
        (f16, np.float16),
        (bf16, ml_dtypes.bfloat16),
        (f32, np.float32),
        (f64, np.float64),
    ],
)
def test_numpy_dtype(type: Attribute, dtype: type[Any]):
    assert numpy_dtype(type) == np.dtype(dtype)


@pytest.mark.parametrize("type", [i1, i8, i64, UI8, f16, bf16, f32, f64])
def test_element_type_is_the_inverse(type: Attribute):
    assert element_type(numpy_dtype(type)) == type


def test_byte_order_does_not_matter():
    assert element_type(">f4") == f32


def test_unknown():
    assert optional_numpy_dtype(NoneType()) is None
    with pytest.raises(ValueError, match=r"expected an element type .* but got 'i7'"):
        numpy_dtype(IntegerType(7))
    with pytest.raises(ValueError, match=r"expected a dtype .* but got 'complex64'"):
        element_type("complex64")


def test_kinds():
    assert is_unsigned(UI8) and not is_unsigned(i8) and not is_unsigned(f32)
    assert is_float(bf16) and not is_float(IndexType())
