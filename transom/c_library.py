"""
A model as a C library: object files, an archive or a shared library, with a header.

The library has no state, allocates nothing, and takes its memory from the caller. Its
functions are named after it, all other symbols are hidden, constants are read-only.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

import transom
from transom.c_header import C_TYPES, Header, image_name
from transom.dialects import llvm
from transom.dialects.diagnostics import Note, OpError
from transom.elf_objects import (
    constants_object,
    static_library,
    undefined_in,
    with_symbols,
    writable_bytes,
)
from transom.passes.pipeline import PipelineError
from transom.runtime.artifacts import OBJECT, SYMBOL, Artifact
from transom.runtime.elf_symbols import is_elf, is_for, read_symbols
from transom.runtime.files import write_whole
from transom.runtime.program import Code
from transom.runtime.signature import Dim

FORMAT, VERSION = "transom-c-library", 1

ALLOCATION = "aligned_alloc"
"""What code calls for memory whose size no plan knows."""


@dataclass(frozen=True)
class CLibrary:
    """The objects of a library and its header; all of it is data."""

    name: str
    code: Code
    objects: Mapping[str, bytes]
    """Object files by name, with hidden symbols but for the entry."""
    header: str
    needs: tuple[str, ...]
    """Symbols that are in none of the objects."""

    @property
    def images(self) -> dict[str, bytes]:
        """What pools of constants hold, by the name of a file."""
        return {
            image_name(self.name, pool): self.code.image(pool)
            for pool in self.code.pools
            if pool.content
        }

    @property
    def manifest(self) -> str:
        """What is in the library, as JSON."""
        code = self.code
        return json.dumps(
            {
                "format": FORMAT,
                "version": VERSION,
                "transom": transom.__version__,
                "name": self.name,
                "triple": code.triple,
                "cpu": code.cpu,
                "features": code.features,
                "signature": code.signature.to_json(),
                "pools": [
                    [pool.name, pool.size, pool.alignment] for pool in code.pools
                ],
                "messages": list(code.messages),
                "needs": list(self.needs),
                "sha256": {
                    name: sha256(data).hexdigest()
                    for name, data in (*self.objects.items(), *self.images.items())
                },
            },
            indent=1,
        )


def allocates(code: Code) -> bool:
    """Whether code asks for memory when it runs."""
    return any(ALLOCATION in read_symbols(data).required for data in code.objects)


def check_allocations(module: ModuleOp, code: Code) -> None:
    """
    Raise `OpError` at what allocates when it runs, and name the sizes without bounds.
    """
    found = [
        op
        for op in module.walk()
        if isinstance(op, llvm.CallOp)
        and op.callee is not None
        and op.callee.string_value() == ALLOCATION
    ]
    if not found and not allocates(code):
        return
    unbounded = dict.fromkeys(
        str(dim)
        for spec in code.signature.inputs
        for dim in spec.shape
        if isinstance(dim, Dim) and dim.upper is None
    )
    names = ", ".join(f"'{name}'" for name in unbounded) or "sizes that depend on data"
    how = f"; '--dim {next(iter(unbounded))}=1..8' gives some" if unbounded else ""
    raise OpError(
        found[0] if found else module,
        f"expected bounds of {names}: a library allocates nothing, and the size of a "
        f"buffer is not known before it runs{how}",
        *(Note(op, "so is one here") for op in found[1:]),
    )


def library_of(module: ModuleOp, code: Code, name: str) -> CLibrary:
    """
    The library of a module at phase `machine` and of its code. Raises `OpError` for
    what a library cannot do, `PipelineError` for a name that is no C identifier.
    """
    if not name.isidentifier() or not name.isascii():
        raise PipelineError(f"expected a C identifier as name, but got '{name}'")
    check_allocations(module, code)
    for spec in (*code.signature.inputs, *code.signature.outputs):
        if spec.dtype not in C_TYPES:
            raise OpError(module, f"'{spec.name}': C has no type for {spec.dtype}")
    objects = {"main.o": code.objects[0]}
    objects |= {f"k{n}.o": data for n, data in enumerate(code.objects[1:])}
    required = {name for data in objects.values() for name in undefined_in([data])}
    values = {
        name: array.tobytes()
        for name, array in code.constants.items()
        if name in required  # others are in pools alone
    }
    if values:
        objects["weights.o"] = constants_object(values, code.objects[0])
    artifacts = _artifact_objects(code, module)
    renamed = {code.entry: f"{name}_entry"}
    if code.shapes is not None:
        renamed[code.shapes] = f"{name}_shapes"
    renamed |= {SYMBOL + artifact: f"{name}.{to}" for artifact, to in artifacts.names}
    public = frozenset({f"{name}_entry", f"{name}_shapes"})
    own = {
        symbol
        for data in objects.values()
        for symbol in (*read_symbols(data).defined, *read_symbols(data).hidden)
    }

    def rename(symbol: str) -> str:
        fresh = f"{name}.{symbol}" if symbol in own else symbol
        return renamed.get(symbol, fresh)

    made = {
        member: with_symbols(data, rename, lambda symbol: symbol not in public)
        for member, data in objects.items()
    }
    for member, data in artifacts.objects.items():
        defined = {*read_symbols(data).defined}
        made[member] = with_symbols(
            data,
            lambda symbol, defined=defined, member=member: (
                f"{name}.{member}.{symbol}" if symbol in defined else symbol
            ),
            lambda symbol: True,
        )
    for member, data in made.items():
        if member not in artifacts.objects and writable_bytes(data):
            raise OpError(module, f"expected no state, but '{member}' has some")
    needs = undefined_in(list(made.values()))
    digest = sha256(b"".join(made.values())).hexdigest()
    header = Header(name, code, transom.__version__, digest).text(needs)
    return CLibrary(name, code, made, header, needs)


@dataclass(frozen=True)
class _Artifacts:
    objects: Mapping[str, bytes]
    names: Sequence[tuple[str, str]]
    """For each artifact its name, and the function in an object."""


def _artifact_objects(code: Code, module: ModuleOp) -> _Artifacts:
    """The objects of artifacts. Raises `OpError` for code that cannot be linked."""
    members: dict[bytes, str] = {}
    names: list[tuple[str, str]] = []
    for artifact in code.artifacts:
        if not _is_linkable(artifact, code.triple):
            raise OpError(
                module,
                f"expected object code for '{code.triple}', which is linked, but got "
                f"artifact {artifact}",
            )
        data = artifact.payload_bytes
        member = members.setdefault(data, f"a{len(members)}.o")
        names.append((artifact.name, f"{member}.{artifact.entry_name}"))
    return _Artifacts({member: data for data, member in members.items()}, names)


def _is_linkable(artifact: Artifact, triple: str) -> bool:
    data = artifact.payload_bytes
    architecture = triple.partition("-")[0]
    return artifact.format == OBJECT and is_elf(data) and is_for(data, architecture)


EMITTED = ("static", "shared", "object")
"""What can be written: an archive, a shared library, one object."""


def write_library(
    library: CLibrary, folder: Path, emit: str, compiler: str | None = None
) -> list[Path]:
    """
    Write a library with its header and manifest, each file whole or not at all.

    A shared library and a single object take a C compiler: `compiler`, else `$CC`, else
    one for the triple, else `cc`. Raises `PipelineError` if there is none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = library.name
    match emit:
        case "static":
            path = folder / f"lib{name}.a"
            data = static_library(library.objects)
        case "shared":
            path = folder / f"lib{name}.so"
            # Without lazy binding nothing of it is written to once it is loaded.
            flags = ["-shared", "-nostartfiles", "-Wl,-z,now"]
            data = _linked(library, flags, compiler)
        case _:
            path = folder / f"{name}.o"
            data = _linked(library, ["-r", "-nostdlib"], compiler)
    written = {
        path: data,
        folder / f"{name}.h": library.header.encode(),
        folder / f"{name}.json": (library.manifest + "\n").encode(),
        **{folder / file: image for file, image in library.images.items()},
    }
    for file, content in written.items():
        write_whole(file, content)
    return list(written)


def find_compiler(triple: str, asked: str | None = None) -> str:
    """What links for a triple. Raises `PipelineError` if there is no such compiler."""
    from transom.runtime.jit import host_triple

    architecture = triple.partition("-")[0]
    names = [f"{architecture}-linux-gnu-gcc"]
    if host_triple().partition("-")[0] == architecture:
        names = ["cc", "gcc", "clang"]
    for name in filter(None, (asked, os.environ.get("CC"), *names)):
        if (found := shutil.which(name)) is not None:
            return found
        if name == asked:
            break
    tried = asked or "', '".join(names)
    raise PipelineError(f"no C compiler links for '{triple}': there is no '{tried}'")


def _linked(library: CLibrary, flags: Sequence[str], compiler: str | None) -> bytes:
    """What a C compiler links of the objects."""
    program = find_compiler(library.code.triple, compiler)
    with tempfile.TemporaryDirectory(prefix="transom-") as folder:
        paths = [Path(folder) / name for name in library.objects]
        for path, data in zip(paths, library.objects.values(), strict=True):
            path.write_bytes(data)
        result = Path(folder) / "linked"
        done = subprocess.run(
            [program, *flags, "-o", result, *paths],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise PipelineError(f"'{program}' cannot link: {done.stderr.strip()}")
        return result.read_bytes()
