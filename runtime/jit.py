"""
LLVM IR text to running code in this process, or to an object file.

One engine per module, each with a target machine of its own: engines that shared one
have ended the process. What a module needs is looked up before it is linked, because
the linker reports a missing symbol on standard error only.

LLVM ends the process on some inputs (inline assembly for another CPU among them), which
Python cannot catch: text from strangers belongs into a child process.
"""

import ctypes
import os
import platform
import re
import sys
import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from itertools import count
from os import PathLike, fspath
from typing import Any, TypedDict, Unpack

from transom.runtime.elf_symbols import Symbols, is_elf, read_symbols
from transom.runtime.threads import team_symbols

binding: Any = import_module("llvmlite.binding")  # llvmlite has no types

ENGINE_NUMBERS = count()

SUPPORT_LIBRARIES = ("libm.so.6", "libgcc_s.so.1") if sys.platform == "linux" else ()
"""What LLVM calls on its own: mathematics, and conversions of half floats."""


class JitError(Exception):
    """LLVM did not take the text, or a symbol that the code needs is missing."""


class UndefinedSymbols(JitError):
    """Nobody has what code needs; `names` are in order."""

    def __init__(self, names: Sequence[str], hint: str = "") -> None:
        listed = ", ".join(f"'{name}'" for name in names)
        super().__init__(f"undefined symbols: {listed}{hint}")
        self.names = tuple(names)


class RefusedText(JitError):
    """LLVM did not take a text."""

    def __init__(self, message: str) -> None:
        super().__init__(f"LLVM refused the text: {message}")
        found = re.search(r"<string>:(\d+):\d+: error: (.*)", message)
        self.reason = " ".join(message.split()) if found is None else found.group(2)
        self.line = None if found is None else int(found.group(1))
        """The number of the line, from 1, if LLVM says one."""


@cache
def initialize(everything: bool = False) -> None:
    """
    Set LLVM up once per process: for this machine, or for all that it knows.

    (`llvmlite.binding.initialize` must no longer be called: LLVM starts by itself.)
    """
    if everything:
        binding.initialize_all_targets()
        binding.initialize_all_asmprinters()
    else:
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
    # Only the assembly parser of this machine exists; inline assembly needs it.
    binding.initialize_native_asmparser()


@cache
def host_cpu() -> tuple[str, str]:
    """Name and features (`+avx2,-sse4a,…`, sorted) of the CPU this runs on."""
    initialize()
    features = binding.get_host_cpu_features()
    return str(binding.get_host_cpu_name()), str(features.flatten())


@cache
def host_triple() -> str:
    """The target triple of this process."""
    initialize()
    return str(binding.get_process_triple())


def target_machine(
    triple: str,
    cpu: str,
    features: str,
    codegen_level: int,
    reloc: str = "pic",
    abi: str = "",
) -> Any:
    """A new target machine. Position-independent: data may be far away."""
    initialize(everything=triple != host_triple())
    try:
        target = binding.Target.from_triple(with_all_parts(triple))
        return target.create_target_machine(
            cpu=cpu,
            features=features,
            opt=codegen_level,
            reloc=reloc,
            codemodel="default",
            abiname=abi,
        )
    except RuntimeError as e:
        raise JitError(f"no target machine for '{triple}': {e}") from e


def with_all_parts(triple: str) -> str:
    """
    A triple with a vendor. LLVM reads parts by their place, and takes the ABI that
    `thumbv7em-none-eabihf` ends in for a system: floats would be passed otherwise.
    """
    architecture, *rest = triple.split("-")
    if len(rest) == 2 and rest[0] == "none":
        rest.insert(0, "unknown")
    return "-".join((architecture, *rest))


def parse(text: str) -> Any:
    """The LLVM module of a text, verified, in a context of its own."""
    initialize()
    try:
        module = binding.parse_assembly(text, binding.create_context())
        module.verify()
    except RuntimeError as e:
        raise RefusedText(str(e)) from e
    return module


def optimize(module: Any, machine: Any, opt_level: int) -> None:
    """Run LLVM's default passes of a level in place; level 0 runs none."""
    if opt_level == 0:
        return
    options = binding.create_pipeline_tuning_options(speed_level=opt_level)
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


class EmitOptions(TypedDict, total=False):
    """What code is made for, and with what effort."""

    triple: str
    """Absent or empty: this machine."""
    cpu: str
    """Absent or empty: the generic one of the triple."""
    features: str
    opt_level: int
    """The effort of LLVM's IR passes, 0 to 3; 0, the default, runs none of them."""
    codegen_level: int
    """That of code generation, by default 3."""
    reloc: str
    abi: str


def emit_object(text: str, **options: Unpack[EmitOptions]) -> bytes:
    """Machine code as an object file. Raises `JitError`."""
    module, machine = _optimized(text, options)
    return bytes(machine.emit_object(module))


def emit_assembly(text: str, **options: Unpack[EmitOptions]) -> str:
    """Machine code as assembly text. Raises `JitError`."""
    module, machine = _optimized(text, options)
    return str(machine.emit_assembly(module))


def _optimized(text: str, options: EmitOptions) -> tuple[Any, Any]:
    """A module after LLVM's IR passes, and the machine that it is for."""
    module = parse(text)
    machine = target_machine(
        options.get("triple") or host_triple(),
        options.get("cpu", ""),
        options.get("features", ""),
        options.get("codegen_level", 3),
        options.get("reloc", "pic"),
        options.get("abi", ""),
    )
    module.triple = str(machine.triple)
    module.data_layout = str(machine.target_data)
    optimize(module, machine, options.get("opt_level", 0))
    return module, machine


class JitModule:
    """
    Code and data in this process. Addresses are valid as long as the object lives.
    """

    def __init__(
        self, engine: Any, tracker: Any, exports: Sequence[str], keep: Sequence[Any]
    ) -> None:
        self._addresses = {name: int(tracker[name]) for name in exports}
        self._keep = keep
        self._close = weakref.finalize(self, close, tracker, engine)

    def address(self, name: str) -> int:
        """The address of a function or variable. Raises `JitError` for others."""
        try:
            return self._addresses[name]
        except KeyError:
            known = ", ".join(sorted(self._addresses))
            raise JitError(f"no symbol '{name}'; symbols: {known}") from None

    @property
    def symbols(self) -> Sequence[str]:
        """Names that have an address, sorted."""
        return sorted(self._addresses)

    def function(self, name: str, result: Any, *arguments: Any) -> Any:
        """The function as a ctypes callable that keeps this module alive."""
        callable_: Any = ctypes.CFUNCTYPE(result, *arguments)(self.address(name))
        callable_.module = self
        return callable_

    def close(self) -> None:
        """Free the code now. Its addresses must not be used afterwards."""
        self._close()


def close(tracker: Any, engine: Any) -> None:
    """Free a library before the engine that it lives in."""
    tracker.close()
    engine.close()


def load_library(name: str | PathLike[str]) -> None:
    """
    Load a shared library for the life of the process: a file, also one of the working
    folder, or else what the loader of the system finds by that name.

    Raises `JitError` with the loader's reason.
    """
    file = os.path.abspath(name) if os.path.isfile(name) else fspath(name)
    try:
        _load_permanently(file)
    except RuntimeError as e:
        reason = " ".join(str(e).split()).removeprefix(f"{file}: ")
        raise JitError(f"cannot load the library '{fspath(name)}': {reason}") from None


@cache
def _load_permanently(file: str) -> None:
    """Load a shared library once. Raises `RuntimeError`, again each time."""
    binding.load_library_permanently(file)


def load_libraries(names: Iterable[str | PathLike[str]]) -> list[str]:
    """Load shared libraries; give those that could not be loaded."""
    absent: list[str] = []
    for name in names:
        try:
            load_library(name)
        except JitError:
            absent.append(fspath(name))
    return absent


def resolve(
    needed: Symbols, symbols: Mapping[str, int], libraries: Iterable[str]
) -> dict[str, int]:
    """Addresses of what an object needs. Raises `UndefinedSymbols`."""
    for name in SUPPORT_LIBRARIES:
        with suppress(RuntimeError):
            _load_permanently(name)
    absent = load_libraries(libraries)
    symbols = {**team_symbols(needed.optional), **symbols}
    found: dict[str, int] = {}
    missing: list[str] = []
    for name in needed.required + needed.optional:
        address = symbols.get(name) or binding.address_of_symbol(name)
        if address is not None:
            found[name] = int(address)
        elif name in needed.optional:
            found[name] = 0
        else:
            missing.append(name)
    if missing:
        hint = f"; libraries not found: {', '.join(absent)}" if absent else ""
        raise UndefinedSymbols(sorted(missing), hint)
    return found


LINK_LOCK = threading.Lock()


def load_object(
    data: bytes,
    *,
    symbols: Mapping[str, int] | None = None,
    libraries: Iterable[str] = (),
    keep: Sequence[Any] = (),
) -> JitModule:
    """Load an object file of this machine; see `load_objects`."""
    return load_objects((data,), symbols=symbols, libraries=libraries, keep=keep)


def load_objects(
    objects: Sequence[bytes],
    *,
    symbols: Mapping[str, int] | None = None,
    libraries: Iterable[str] = (),
    keep: Sequence[Any] = (),
) -> JitModule:
    """
    Load object files of this machine, which may use what others of them define.

    `symbols` gives addresses of functions and data by name, before those of the
    process; `libraries` are shared libraries to look in, whose absence alone is no
    error; `keep` is held as long as the module. Raises `JitError`.
    """
    initialize()
    if not all(map(is_elf, objects)):
        raise JitError(f"expected an ELF object on {platform.system()}")
    needed = together([read_symbols(data) for data in objects])
    builder = binding.JITLibraryBuilder()
    for data in objects:
        builder.add_object_img(data)
    for name, address in resolve(needed, symbols or {}, libraries).items():
        builder.import_symbol(name, address)
    for name in needed.defined:
        builder.export_symbol(name)
    with LINK_LOCK:
        engine = binding.create_lljit_compiler(
            target_machine(host_triple(), "", "", 0), use_jit_link=True
        )
        try:
            tracker = builder.link(engine, f"transom.{next(ENGINE_NUMBERS)}")
        except RuntimeError as e:
            engine.close()
            raise JitError(f"LLVM could not link the module: {e}") from e
    return JitModule(engine, tracker, needed.defined, keep)


def together(parts: Sequence[Symbols]) -> Symbols:
    """The symbols of objects that are linked with each other."""
    inside = {name for part in parts for name in part.defined + part.hidden}
    required = dict.fromkeys(n for p in parts for n in p.required if n not in inside)
    optional = dict.fromkeys(
        n for p in parts for n in p.optional if n not in inside and n not in required
    )
    return Symbols(
        tuple(name for part in parts for name in part.defined),
        tuple(required),
        tuple(optional),
    )


def compile_llvm_ir(
    text: str,
    *,
    cpu: str = "",
    features: str = "",
    opt_level: int = 0,
    codegen_level: int = 3,
    symbols: Mapping[str, int] | None = None,
    libraries: Iterable[str] = (),
    keep: Sequence[Any] = (),
) -> JitModule:
    """
    Compile LLVM IR text for this machine and load it.

    The options are those of `EmitOptions` and `load_object`. Raises `JitError`.
    """
    data = emit_object(
        text,
        cpu=cpu,
        features=features,
        opt_level=opt_level,
        codegen_level=codegen_level,
    )
    return load_object(data, symbols=symbols, libraries=libraries, keep=keep)
