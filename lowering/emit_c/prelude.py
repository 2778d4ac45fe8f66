"""
Helper functions that generated C brings along, each only where it is called.

What C99 has no operator for, or one whose result is not fixed: rounding of 16-bit
numbers, maxima that keep NaN, division that rounds down, counting bits.
"""

from __future__ import annotations

from collections.abc import Iterable
from string import Template

from transom.lowering.emit_c.types import Scalar

_MAX = Template("""\
static inline $type ${kind}_$name($type a, $type b)
{
    return a $sign b ? a : b;
}
""")

_UNSIGNED_MAX = Template("""\
static inline $type ${kind}_$name($type a, $type b)
{
    return ($unsigned)a $sign ($unsigned)b ? a : b;
}
""")

_EXTREME = Template("""\
/* The ${word} number; NaN if one is, and -0 is less than 0. */
static inline $type ${kind}_$name($type a, $type b)
{
    if (isnan(a) || isnan(b)) {
        return a + b;
    }
    if (a == b) {
        return signbit(a) ? $if_negative;
    }
    return a $sign b ? a : b;
}
""")

_FLOOR_DIV = Template("""\
static inline $type floor_div_$name($type a, $type b)
{
    const $type q = ($type)(a / b);
    return (a % b != 0 && (a < 0) != (b < 0)) ? ($type)(q - 1) : q;
}
""")

_CEIL_DIV = Template("""\
static inline $type ceil_div_$name($type a, $type b)
{
    const $type q = ($type)(a / b);
    return (a % b != 0 && (a < 0) == (b < 0)) ? ($type)(q + 1) : q;
}
""")

_CEIL_DIV_UNSIGNED = Template("""\
static inline $type ceil_div_unsigned_$name($type a, $type b)
{
    const $unsigned x = ($unsigned)a;
    const $unsigned y = ($unsigned)b;
    return ($type)(x / y + (x % y != 0));
}
""")

_ABS = Template("""\
static inline $type abs_$name($type a)
{
    return a < 0 ? ($type)(0u - ($wide)a) : a;
}
""")

_LEADING = Template("""\
static inline $type leading_zeros_$name($type a)
{
    int count = 0;
    while (count < $width && ((($unsigned)a >> ($width - 1 - count)) & 1) == 0) {
        ++count;
    }
    return ($type)count;
}
""")

_TRAILING = Template("""\
static inline $type trailing_zeros_$name($type a)
{
    int count = 0;
    while (count < $width && ((($unsigned)a >> count) & 1) == 0) {
        ++count;
    }
    return ($type)count;
}
""")

_ONES = Template("""\
static inline $type count_ones_$name($type a)
{
    int count = 0;
    for (int bit = 0; bit < $width; ++bit) {
        count += (int)((($unsigned)a >> bit) & 1);
    }
    return ($type)count;
}
""")

_POWER = Template("""\
/* Powers of whole numbers, modulo two to the width. */
static inline $type power_$name($type a, $type exponent)
{
    $wide result = 1;
    $wide base = ($wide)a;
    if (exponent < 0) {
        return ($type)(a == 1 ? 1 : a == -1 ? (exponent % 2 != 0 ? -1 : 1) : 0);
    }
    while (exponent > 0) {
        if (exponent % 2 != 0) {
            result *= base;
        }
        base *= base;
        exponent = ($type)(exponent / 2);
    }
    return ($type)result;
}
""")

_BITS = Template("""\
static inline $to bits_${from_name}_to_${to_name}($from a)
{
    $to result;
    memcpy(&result, &a, sizeof result);
    return result;
}
""")

_FIXED: dict[str, tuple[str, tuple[str, ...]]] = {
    "f16_to_float": (
        """\
static inline float f16_to_float(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    const uint32_t exponent = (h >> 10) & 0x1fu;
    const uint32_t mantissa = h & 0x3ffu;
    uint32_t bits;
    float result;
    if (exponent == 0) {
        /* Zero or denormal: a multiple of 2^-24. */
        result = (float)mantissa * 5.9604644775390625e-08f;
        return sign != 0 ? -result : result;
    }
    bits = exponent == 31 ? sign | 0x7f800000u | (mantissa << 13)
                          : sign | ((exponent + 112u) << 23) | (mantissa << 13);
    memcpy(&result, &bits, sizeof result);
    return result;
}
""",
        (),
    ),
    "float_to_f16": (
        """\
/* Rounds to the nearest number of 16 bits, ties to even. */
static inline uint16_t float_to_f16(float x)
{
    uint32_t bits;
    uint32_t sign;
    uint32_t rest;
    memcpy(&bits, &x, sizeof bits);
    sign = (bits >> 16) & 0x8000u;
    rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u) {
        return (uint16_t)(sign | 0x7e00u | ((rest >> 13) & 0x3ffu));
    }
    if (rest >= 0x477ff000u) {
        return (uint16_t)(sign | 0x7c00u);
    }
    if (rest < 0x38800000u) {
        /* Denormal: adding a half aligns the last bit, and rounds. */
        float magnitude;
        memcpy(&magnitude, &rest, sizeof magnitude);
        magnitude += 0.5f;
        memcpy(&rest, &magnitude, sizeof rest);
        return (uint16_t)(sign | (rest - 0x3f000000u));
    }
    rest += 0xfffu + ((rest >> 13) & 1u);
    return (uint16_t)(sign | ((rest - 0x38000000u) >> 13));
}
""",
        (),
    ),
    "bf16_to_float": (
        """\
static inline float bf16_to_float(uint16_t h)
{
    const uint32_t bits = (uint32_t)h << 16;
    float result;
    memcpy(&result, &bits, sizeof result);
    return result;
}
""",
        (),
    ),
    "float_to_bf16": (
        """\
/* Rounds to the nearest number of 16 bits, ties to even. */
static inline uint16_t float_to_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return (uint16_t)((bits >> 16) | 0x40u);
    }
    bits += 0x7fffu + ((bits >> 16) & 1u);
    return (uint16_t)(bits >> 16);
}
""",
        (),
    ),
    "round_f16": (
        """\
static inline float round_f16(float x)
{
    return f16_to_float(float_to_f16(x));
}
""",
        ("f16_to_float", "float_to_f16"),
    ),
    "round_bf16": (
        """\
static inline float round_bf16(float x)
{
    return bf16_to_float(float_to_bf16(x));
}
""",
        ("bf16_to_float", "float_to_bf16"),
    ),
}

_KINDS: dict[str, tuple[Template, dict[str, str]]] = {
    "max": (_MAX, {"sign": ">"}),
    "min": (_MAX, {"sign": "<"}),
    "max_unsigned": (_UNSIGNED_MAX, {"sign": ">"}),
    "min_unsigned": (_UNSIGNED_MAX, {"sign": "<"}),
    "maximum": (
        _EXTREME,
        {"sign": ">", "word": "greater", "if_negative": "b : a"},
    ),
    "minimum": (
        _EXTREME,
        {"sign": "<", "word": "smaller", "if_negative": "a : b"},
    ),
    "floor_div": (_FLOOR_DIV, {}),
    "ceil_div": (_CEIL_DIV, {}),
    "ceil_div_unsigned": (_CEIL_DIV_UNSIGNED, {}),
    "abs": (_ABS, {}),
    "leading_zeros": (_LEADING, {}),
    "trailing_zeros": (_TRAILING, {}),
    "count_ones": (_ONES, {}),
    "power": (_POWER, {}),
}


class Prelude:
    """The helpers that a unit needs, in an order in which they can be defined."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def of(self, kind: str, scalar: Scalar) -> str:
        """The name of the helper of a kind on numbers of a type."""
        template, values = _KINDS[kind]
        name = f"{kind}_{scalar.name}"
        if name not in self._texts:
            self._texts[name] = template.substitute(
                values,
                kind=kind,
                name=scalar.name,
                type=scalar.type,
                unsigned=scalar.unsigned,
                width=scalar.width,
                wide=f"uint{max(32, scalar.width)}_t",
            )
        return name

    def bits(self, before: Scalar, after: Scalar) -> str:
        """The name of the helper that gives the bits of one type as another."""
        name = f"bits_{before.name}_to_{after.name}"
        if name not in self._texts:
            self._texts[name] = _BITS.substitute(
                {
                    "from": before.storage,
                    "to": after.storage,
                    "from_name": before.name,
                    "to_name": after.name,
                }
            )
        return name

    def fixed(self, name: str) -> str:
        """A helper that has one form, after those that it calls."""
        if name not in self._texts:
            text, needs = _FIXED[name]
            for needed in needs:
                self.fixed(needed)
            self._texts[name] = text
        return name

    def names(self) -> Iterable[str]:
        """All names that are taken."""
        return self._texts.keys()

    def texts(self) -> list[str]:
        """The definitions, in order."""
        return list(self._texts.values())
