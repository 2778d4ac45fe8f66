"""
Teams of threads for parallel loops: GNU's OpenMP library, where it is.

Code asks for `GOMP_parallel` weakly, and does all by itself without it. After a team
has run, its threads are not there in a process that was forked, and the library would
wait for them for ever: children run serially, by a variable that code looks at.
"""

import ctypes
import os
import warnings
from collections.abc import Iterable, Mapping
from functools import cache

LIBRARY = "libgomp.so.1"

FORK, SERIAL = "GOMP_parallel", "transom_serial"
"""What code asks for: the function of the library, and the variable that forbids it."""

_SERIAL = ctypes.c_int32(0)


def _forbid_teams() -> None:
    _SERIAL.value = 1


if hasattr(os, "register_at_fork"):  # elsewhere no process is forked
    os.register_at_fork(after_in_child=_forbid_teams)


@cache
def load_team_library() -> bool:
    """
    Load the library for all code of the process, once, with a warning if it is absent.
    """
    try:
        ctypes.CDLL(LIBRARY, mode=ctypes.RTLD_GLOBAL)
    except OSError:
        warnings.warn(
            f"'{LIBRARY}' is not found: parallel loops run on one thread",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
    return True


def team_symbols(optional: Iterable[str]) -> Mapping[str, int]:
    """
    Addresses of variables for code with parallel loops, whose library is loaded then;
    `optional` are the symbols that the code can do without.
    """
    if FORK not in optional:
        return {}
    load_team_library()
    return {SERIAL: ctypes.addressof(_SERIAL)}
