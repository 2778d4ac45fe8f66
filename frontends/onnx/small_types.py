"""
Elements of 8 bits and less that `graph` has no type for: in the module they are bytes.

Integers of 2 and 4 bits are their numbers, as i8 or ui8. Floats are their codes, as
ui8: a table has the number of each code, and arithmetic on bits makes codes of numbers.
`graph.element`, an attribute of arguments and results of main, names the type.

How a number `x` is rounded to a format with `m` bits behind the point, and `emin` as
the exponent of its smallest normal number:

    q = max(2^floor(log2 |x|), 2^emin) * 2^-m      the distance of its neighbours
    r = roundeven(|x| / q) * q                     exact but for the rounding
    code = bits of r, shifted and without the difference of the biases, or r / q if
           r is smaller than all normal numbers
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import AnyFloat, IntegerType, f32, f64, i8, i32
from xdsl.ir import Attribute, SSAValue

from transom.dialects import graph
from transom.dialects.graph.elements import ui8, ui32, ui64
from transom.dialects.onnx_weights import PACKED, kind_name
from transom.frontends.onnx.node import Node, Unsupported
from transom.frontends.onnx.values import cast, constant, elements_of

_finfo: Any = ml_dtypes.finfo  # whose fields have no types

_DTYPES: dict[str, Any] = {
    "FLOAT4E2M1": ml_dtypes.float4_e2m1fn,
    "FLOAT8E4M3FN": ml_dtypes.float8_e4m3fn,
    "FLOAT8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "FLOAT8E5M2": ml_dtypes.float8_e5m2,
    "FLOAT8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "FLOAT8E8M0": ml_dtypes.float8_e8m0fnu,
    "INT2": ml_dtypes.int2,
    "INT4": ml_dtypes.int4,
    "UINT2": ml_dtypes.uint2,
    "UINT4": ml_dtypes.uint4,
}

POWERS = "FLOAT8E8M0"
"""Powers of two, without a sign."""

SMALL_OPERATORS = frozenset(
    ("Cast", "CastLike", "DequantizeLinear", "Identity", "QuantizeLinear")
)
"""Operators that take such elements; there is no arithmetic on them."""


@dataclass(frozen=True)
class SmallType:
    """An element type of ONNX that is stored in bytes."""

    kind: str
    """What ONNX calls it."""

    @property
    def number(self) -> int:
        """The number that ONNX has for it."""
        from onnx import TensorProto

        return TensorProto.DataType.Value(self.kind)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of arrays, of `ml_dtypes`."""
        return np.dtype(_DTYPES[self.kind])

    @property
    def is_integer(self) -> bool:
        return "INT" in self.kind

    @property
    def stored(self) -> IntegerType:
        """The element type in the module."""
        return i8 if self.kind in ("INT2", "INT4") else ui8

    @property
    def bits(self) -> int:
        return PACKED[self.kind].bits

    @property
    def range(self) -> tuple[int, int]:
        """The smallest and the largest integer."""
        if self.stored == i8:
            return -(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1
        return 0, 2**self.bits - 1

    # Floats.

    @cached_property
    def numbers(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        """The number of each code."""
        codes = np.arange(2**self.bits, dtype=np.uint8)
        return codes.view(self.dtype).astype(np.float32)

    @property
    def mantissa(self) -> int:
        return int(_finfo(self.dtype).nmant)

    @property
    def min_exponent(self) -> int:
        return int(_finfo(self.dtype).minexp)

    @property
    def largest(self) -> int:
        """The code of the largest number."""
        positive = self.numbers[: 2 ** (self.bits - 1)]
        finite = np.where(np.isfinite(positive), positive, -1)
        return int(finite.argmax())

    @property
    def infinity(self) -> int | None:
        """The code of infinity, if there is one."""
        (found,) = np.nonzero(np.isposinf(self.numbers))
        return int(found[0]) if found.size else None

    @property
    def nan(self) -> int | None:
        """A code of what is no number, if there is one."""
        code = self.code_of_nan
        return code if np.isnan(self.numbers[code]) else None

    @property
    def code_of_nan(self) -> int:
        """What becomes of that: a negative zero where there is no code of its own."""
        return int(np.array(np.nan, np.float32).astype(self.dtype).view(np.uint8))

    @property
    def has_negative_zero(self) -> bool:
        number = self.numbers[2 ** (self.bits - 1)]
        return bool(number == 0 and np.signbit(number))

    def to_bytes(self, array: Any) -> Any:
        """An array of this type as the module has it."""
        if self.is_integer:
            return array.astype(np.int8 if self.stored == i8 else np.uint8)
        return np.ascontiguousarray(array).view(np.uint8).reshape(array.shape)

    def from_bytes(self, array: Any) -> Any:
        """What the module gives as an array of this type."""
        if self.is_integer:
            return array.astype(self.dtype)
        return array.view(self.dtype)


@cache
def small_type(kind: int) -> SmallType | None:
    """The type for a number that ONNX has for it, if it is one of these."""
    name = kind_name(kind)
    return SmallType(name) if name in _DTYPES else None


def decoded(n: Node, value: SSAValue, small: SmallType) -> SSAValue:
    """The numbers that bytes stand for, as integers of 8 bits or f32."""
    if small.is_integer:
        return value
    table = constant(n, small.numbers)
    return n.add(graph.GatherOp(table, cast(n, value, i32), 0))


def encoded(
    n: Node,
    value: SSAValue,
    small: SmallType,
    *,
    saturate: bool = True,
    round_mode: str = "up",
) -> SSAValue:
    """
    Numbers as bytes of a type; what is too large saturates, or is said to be so.
    `round_mode` is about powers of two.
    """
    if small.is_integer:
        return _wrapped(n, value, small)
    if small.kind == POWERS:
        return _powers(n, cast(n, value, f32), saturate, round_mode)
    wide = elements_of(value) if elements_of(value) in (f32, f64) else f32
    return _Encoder(n, small, wide).encode(cast(n, value, wide), saturate)


def clamped(n: Node, value: SSAValue, small: SmallType) -> SSAValue:
    """Integers of 8 bits, saturated to fewer."""
    low, high = small.range
    least, most = n.splat(low, small.stored), n.splat(high, small.stored)
    return n.add(graph.MinimumOp(n.add(graph.MaximumOp(value, least)), most))


def _wrapped(n: Node, value: SSAValue, small: SmallType) -> SSAValue:
    """The lowest bits of an integer; floats lose what is behind the point before."""
    if isinstance(elements_of(value), AnyFloat):
        value = cast(n, value, i32)
    value = cast(n, value, small.stored)
    distance = n.splat(8 - small.bits, small.stored)
    moved = n.add(graph.ShiftLeftOp(value, distance))
    return n.add(graph.ShiftRightOp(moved, distance))


def _powers(n: Node, value: SSAValue, saturate: bool, round_mode: str) -> SSAValue:
    """The exponent of f32 numbers, rounded by their mantissa; 255 is no number."""

    def number(value: int) -> SSAValue:
        return n.splat(value, ui32)

    bits = n.add(graph.BitcastOp(value, ui32))
    shifted = n.add(graph.ShiftRightOp(bits, number(23)))
    exponent = n.add(graph.AndOp(shifted, number(0xFF)))
    mantissa = n.add(graph.AndOp(bits, number(0x7FFFFF)))
    match round_mode:
        case "up":
            least = number(1)
        case "down":
            least = number(0x800000)
        case "nearest":  # a half goes up, but for numbers that are not normal
            is_normal = n.add(graph.CompareOp("gt", exponent, number(0)))
            halves = number(0x400000), number(0x400001)
            least = n.add(graph.SelectOp(is_normal, *halves))
        case _:
            raise Unsupported(f"'round_mode' is '{round_mode}'")
    goes_up = n.add(graph.CompareOp("ge", mantissa, least))
    limit = number(0xFE if saturate else 0xFF)
    may_grow = n.add(graph.CompareOp("lt", exponent, limit))
    grows = n.add(graph.AndOp(goes_up, may_grow))
    above = n.add(graph.AddOp(exponent, number(1)))
    return n.add(graph.CastOp(n.add(graph.SelectOp(grows, above, exponent)), ui8))


class _Encoder:
    """Makes codes of numbers of one type."""

    def __init__(self, n: Node, small: SmallType, wide: Attribute) -> None:
        self.n, self.small, self.wide = n, small, wide
        double = wide == f64
        self.integer = ui64 if double else ui32
        self.width, self.point = (64, 52) if double else (32, 23)
        self.bias = 1023 if double else 127

    def _float(self, value: float) -> SSAValue:
        return self.n.splat(value, self.wide)

    def _bits(self, value: int) -> SSAValue:
        return self.n.splat(value, self.integer)

    def _code(self, value: int) -> SSAValue:
        return self.n.splat(value, ui8)

    def encode(self, x: SSAValue, saturate: bool) -> SSAValue:
        n, small = self.n, self.small
        size = n.add(graph.AbsOp(x))
        rounded = self._rounded(size)
        code = self._code_of(rounded)
        limit = self._float(float(small.numbers[small.largest]))
        infinite = n.add(graph.CompareOp("eq", size, self._float(float("inf"))))
        above = n.add(graph.CompareOp("gt", rounded, limit))
        too_large = n.add(graph.OrOp(above, infinite))
        code = n.add(
            graph.SelectOp(too_large, self._code(self._beyond(saturate)), code)
        )
        code = self._signed(x, code)
        differs = n.add(graph.CompareOp("ne", x, x))
        return n.add(graph.SelectOp(differs, self._code(small.code_of_nan), code))

    def _beyond(self, saturate: bool) -> int:
        """The code of what is too large."""
        small = self.small
        if saturate or (small.infinity is None and small.nan is None):
            return small.largest
        if small.infinity is not None:
            return small.infinity
        assert small.nan is not None, "there is one of them"
        return small.nan

    def _rounded(self, size: SSAValue) -> SSAValue:
        n, small = self.n, self.small
        exponents = ((1 << (self.width - 1 - self.point)) - 1) << self.point
        bits = n.add(graph.BitcastOp(size, self.integer))
        power = n.add(graph.AndOp(bits, self._bits(exponents)))
        power = n.add(graph.BitcastOp(power, self.wide))
        least = self._float(2.0**small.min_exponent)
        power = n.add(graph.MaximumOp(power, least))
        step = n.add(graph.MulOp(power, self._float(2.0**-small.mantissa)))
        steps = n.add(graph.RoundOp(n.add(graph.DivOp(size, step))))
        return n.add(graph.MulOp(steps, step))

    def _code_of(self, rounded: SSAValue) -> SSAValue:
        """The code of a number of the type, without its sign."""
        n, small = self.n, self.small
        mantissa, least = small.mantissa, small.min_exponent
        bits = n.add(graph.BitcastOp(rounded, self.integer))
        shift = self._bits(self.point - mantissa)
        code = n.add(graph.ShiftRightOp(bits, shift))
        offset = self._bits((self.bias + least - 1) << mantissa)
        code = n.add(graph.CastOp(n.add(graph.SubOp(code, offset)), ui8))
        scale = self._float(2.0 ** (mantissa - least))
        tiny = n.add(graph.CastOp(n.add(graph.MulOp(rounded, scale)), ui8))
        is_tiny = n.add(graph.CompareOp("lt", rounded, self._float(2.0**least)))
        return n.add(graph.SelectOp(is_tiny, tiny, code))

    def _signed(self, x: SSAValue, code: SSAValue) -> SSAValue:
        """A code with the sign of a number."""
        n, small = self.n, self.small
        bits = n.add(graph.BitcastOp(x, self.integer))
        sign = n.add(graph.ShiftRightOp(bits, self._bits(self.width - 1)))
        is_negative = n.add(graph.CompareOp("ne", sign, self._bits(0)))
        if not small.has_negative_zero:
            some = n.add(graph.CompareOp("ne", code, self._code(0)))
            is_negative = n.add(graph.AndOp(is_negative, some))
        flag = self._code(1 << (small.bits - 1))
        negative = n.add(graph.OrOp(code, flag))
        return n.add(graph.SelectOp(is_negative, negative, code))
