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

from transom.runtime.callbacks import address_of

LIBRARY = "libgomp.so.1"

FORK, SERIAL = "GOMP_parallel", "transom_serial"
"""What code asks for: the function of the library, and the variable that forbids it."""

FUNCTIONS = (FORK, "omp_get_num_threads", "omp_get_thread_num")

_SERIAL = ctypes.c_int32(0)


def _forbid_teams() -> None:
    _SERIAL.value = 1


if hasattr(os, "register_at_fork"):  # elsewhere no process is forked
    os.register_at_fork(after_in_child=_forbid_teams)


@cache
def library_functions() -> Mapping[str, int]:
    """
    The addresses of the functions of the library; none, and one warning per process, if
    it is not there.
    """
    try:
        library = ctypes.CDLL(LIBRARY)
        return {name: address_of(library[name]) for name in FUNCTIONS}
    except (OSError, AttributeError):
        warnings.warn(
            f"'{LIBRARY}' is not found: parallel loops run on one thread",
            RuntimeWarning,
            stacklevel=2,
        )
        return {}


def team_symbols(optional: Iterable[str]) -> Mapping[str, int]:
    """
    Addresses for code with parallel loops, by symbol; `optional` are the symbols that
    the code can do without.
    """
    if FORK not in optional:
        return {}
    return {SERIAL: ctypes.addressof(_SERIAL), **library_functions()}
