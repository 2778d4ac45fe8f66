"""
Functions of a program that somebody else has emitted: object files, which are linked,
and code for machines that this one is not, which callbacks run.
"""

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transom.runtime.callbacks import Argument, Called, Failure, address_of, c_function
from transom.runtime.elf_symbols import is_elf, is_for
from transom.runtime.jit import JitError, JitModule, host_triple, load_object

OBJECT = "object"
"""The format of ELF object files."""

SYMBOL = "artifact."
"""What the name of the C function starts with that main calls for an artifact."""


@dataclass(frozen=True)
class Artifact:
    """A function in code of some format, for some target."""

    name: str
    format: str
    target: str
    """Its attribute as text."""
    entry_name: str
    """The name of the function in the code."""
    payload_bytes: bytes
    """The code."""
    arguments: tuple[Argument, ...] = ()
    """What it takes, the workspace at the end if it has one; unused if it is native."""

    @property
    def is_native(self) -> bool:
        """Whether it is machine code of this machine."""
        return (
            self.format == OBJECT
            and is_elf(self.payload_bytes)
            and is_for(self.payload_bytes, host_triple().partition("-")[0])
        )

    def __str__(self) -> str:
        return f"'{self.name}' of format '{self.format}' for '{self.target}'"


Callback = Callable[[Artifact, Sequence[Any]], None]
"""Runs an artifact on arrays and numbers, as its arguments say; it writes in place."""


@dataclass(frozen=True)
class Bound:
    """C functions by name, and what has to live as long as they are called."""

    addresses: Mapping[str, int]
    keep: Sequence[Any]


def bind(
    artifacts: Iterable[Artifact],
    callbacks: Mapping[str, Callback],
    libraries: Sequence[str],
    failure: Failure,
) -> Bound:
    """
    The C functions for artifacts: in object code of this machine, else a callback by
    the artifact's name or else by its format.

    Raises `JitError` for all that have none of these, and for code that lacks the
    function.
    """
    addresses: dict[str, int] = {}
    keep: list[Any] = []
    modules: dict[bytes, JitModule] = {}
    missing: list[Artifact] = []
    for artifact in artifacts:
        callback = callbacks.get(artifact.name) or callbacks.get(artifact.format)
        if artifact.is_native:
            address = _link(artifact, modules, libraries)
        elif callback is not None:
            function = _c_function_of(artifact, callback, failure)
            keep.append(function)
            address = address_of(function)
        else:
            missing.append(artifact)
            continue
        addresses[SYMBOL + artifact.name] = address
    if missing:
        raise JitError(
            f"nothing here runs artifact {', '.join(map(str, missing))}; give a "
            "callback for its name or format"
        )
    return Bound(addresses, [*keep, *modules.values()])


def _c_function_of(artifact: Artifact, callback: Callback, failure: Failure) -> Any:
    def run(*values: Any) -> None:
        callback(artifact, values)

    called = Called(f"artifact '{artifact.name}'", artifact.arguments, run)
    return c_function(called, failure)


def _link(
    artifact: Artifact, modules: dict[bytes, JitModule], libraries: Sequence[str]
) -> int:
    """The address of an artifact's function; its code is linked once."""
    code = artifact.payload_bytes
    try:
        if code not in modules:
            modules[code] = load_object(code, libraries=libraries)
        return modules[code].address(artifact.entry_name)
    except (IndexError, ValueError, struct.error):  # what reading its symbols raises
        reason = "its object file is damaged"
    except JitError as e:
        reason = str(e)
    raise JitError(f"artifact {artifact} can not be linked: {reason}")
