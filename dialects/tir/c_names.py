"""
Names that C functions and structs can have.
"""

import re

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_WORDS = """
auto break case char const continue default do double else enum extern float for goto if
inline int long register restrict return short signed sizeof static struct switch
typedef union unsigned void volatile while _Bool _Complex _Imaginary
"""
KEYWORDS = frozenset(_WORDS.split())
"""The words of C99."""


def is_c_name(text: str) -> bool:
    """Whether C takes a text as the name of a function or a struct."""
    return _IDENTIFIER.fullmatch(text) is not None and text not in KEYWORDS
