"""
C identifiers: made of any symbol, never a word of the language or of its library.
"""

from __future__ import annotations

import re

from transom.dialects.tir.c_names import KEYWORDS

_DECLARED = """
    bool true false main abs div exit malloc free memcpy memset printf NULL INFINITY NAN
"""

_FUNCTIONS = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2
    expm1 fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint
    llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter
    nexttoward pow remainder remquo rint round scalbln scalbn sin sinh sqrt tan tanh
    tgamma trunc j0 j1 jn y0 y1 yn gamma index
"""

_TAKEN = KEYWORDS | frozenset(_DECLARED.split())
"""Words of C99, and names that the headers included here take."""

_MATH = frozenset(_FUNCTIONS.split())

_RESERVED = re.compile(
    r"_.*|u?int\w*_t|isn?\w*|INT\w*|UINT\w*|FP_\w*|HUGE_VAL\w*|str[a-z]\w*|mem[a-z]\w*"
)


def is_reserved(name: str) -> bool:
    """Whether a name belongs to the language or to the library."""
    return (
        name in _TAKEN
        or name.removesuffix("f").removesuffix("l") in _MATH
        or name in _MATH
        or _RESERVED.fullmatch(name) is not None
    )


def identifier(text: str) -> str:
    """The nearest C identifier that is free for programs to use."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", text) or "v"
    if name[0].isdigit():
        name = f"v{name}"
    name = name.lstrip("_") or "v"
    if name[0].isdigit():
        name = f"v{name}"
    return f"{name}_" if is_reserved(name) else name


class Names:
    """Identifiers of one scope, each given once."""

    def __init__(self, outer: Names | None = None) -> None:
        self._outer = outer
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def is_taken(self, name: str) -> bool:
        return name in self._taken or (
            self._outer is not None and self._outer.is_taken(name)
        )

    def new(self, wanted: str) -> str:
        """`wanted`, or with a number behind it if that is taken."""
        base = name = identifier(wanted)
        number = self._next.get(base, 1)
        while self.is_taken(name):
            number += 1
            name = f"{base}_{number}" if base[-1].isdigit() else f"{base}{number}"
        self._next[base] = number
        self._taken.add(name)
        return name

    def take(self, name: str) -> None:
        """Keep a name from being given."""
        self._taken.add(name)
