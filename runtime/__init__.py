"""
Executors, loaded programs, JIT. Imports none of the compiler.
"""

if __name__ != "transom.runtime":
    raise ImportError("import transom.runtime, not runtime")

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transom.runtime.archive import ArchiveError, load
    from transom.runtime.program import Program, ProgramError
    from transom.runtime.signature import InputError

__all__ = ["ArchiveError", "InputError", "Program", "ProgramError", "load"]

_HOMES = {
    "ArchiveError": "archive",
    "InputError": "signature",
    "Program": "program",
    "ProgramError": "program",
    "load": "archive",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"transom.runtime.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'transom.runtime' has no attribute '{name}'")
