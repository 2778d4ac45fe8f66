"""
Machine code of a module: an object for main, and one per kernel.

An object is kept by the text that it was compiled from, the machine and the effort of
LLVM's passes (`transom.cache`, kind `code`). A kernel has no name in its text, so that
two models that share a kernel share its code; it gets its name in the object.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from xdsl.dialects.builtin import ModuleOp

from transom.cache import content_key, foundation, store
from transom.dialects import llvm
from transom.dialects.diagnostics import OpError
from transom.lowering.emit_llvm import SYMBOL, to_object_texts
from transom.lowering.emit_llvm.text import name_text
from transom.lowering.emit_llvm.written_out import is_written_out
from transom.targets.llvm_cpu.architectures import architecture_of_triple
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr

if TYPE_CHECKING:
    from transom.runtime.jit import EmitOptions, RefusedText

CODE = "code"
"""The kind of entry: an object file by its text."""

MOST = 3
"""The highest effort of LLVM's passes."""


@dataclass(frozen=True)
class Machine:
    """What code is compiled for, and with what effort."""

    triple: str
    cpu: str
    features: str
    opt_level: int

    @classmethod
    def of(cls, target: LlvmCpuAttr, opt_level: int) -> "Machine":
        """The machine of a target whose CPU is concrete."""
        from transom.runtime.jit import host_triple

        triple, architecture = host_triple(), target.architecture
        if architecture is not None and architecture_of_triple(triple) != architecture:
            triple = architecture.triple
        return cls(
            target.triple.data or triple,
            target.cpu.data,
            ",".join(feature.data for feature in target.features),
            opt_level,
        )

    @property
    def abi(self) -> str:
        """How floats are passed, where the triple does not say: in their registers."""
        doubles = "+d" in self.features.split(",")
        return "lp64d" if doubles and self.triple.startswith("riscv64") else ""

    @property
    def reloc(self) -> str:
        """How addresses are found: through no table where nothing loads the program."""
        return "static" if "-none" in self.triple else "pic"

    def effort_for(self, text: str) -> int:
        """How much LLVM's passes do for a text, unless all is asked for."""
        spares = self.opt_level < MOST and is_written_out(text)
        return 0 if spares else self.opt_level

    def key(self, text: str) -> str:
        """The key of the object of a text."""
        return content_key((str(self), foundation(), text))

    def compile(self, text: str) -> bytes:
        """The object file of a text. Raises `RefusedText`."""
        from transom.runtime.jit import emit_object

        found = store().get(CODE, self.key(text))
        if found is None:
            found = emit_object(text, **self._options(text))
            store().put(CODE, self.key(text), found)
        return found

    def assembly(self, text: str) -> str:
        """The code of a text as assembly. Raises `RefusedText`."""
        from transom.runtime.jit import emit_assembly

        return emit_assembly(text, **self._options(text))

    def _options(self, text: str) -> "EmitOptions":
        return {
            "triple": self.triple,
            "cpu": self.cpu,
            "features": self.features,
            "opt_level": self.effort_for(text),
            "reloc": self.reloc,
            "abi": self.abi,
        }


class KernelObject(NamedTuple):
    """The code of a kernel."""

    data: bytes
    """A nameless object."""
    declaration: str
    """What its callers must see it as."""


def objects_of(
    module: ModuleOp,
    machine: Machine,
    kernels: Mapping[str, KernelObject],
    without: Collection[str] = (),
) -> tuple[bytes, ...]:
    """
    The object files of a module at phase `machine`, that of main first.

    `kernels` are compiled already, and are stubs in the module; functions that are
    named in `without` are in no object. Raises `OpError` at
    what LLVM cannot express.
    """
    from transom.runtime.elf_symbols import rename_symbol

    texts = to_object_texts(module, kernels.keys(), without)
    objects = [compiled(texts.main, machine, module)]
    for name, kernel in texts.kernels.items():
        known = kernels.get(name)
        if known is None:
            data = compiled(kernel.text, machine, module, name)
        else:
            data = known.data
            assert known.declaration == kernel.declaration, (
                f"'{name}' is called as what it was compiled to"
            )
        objects.append(rename_symbol(data, SYMBOL, name))
    assert kernels.keys() <= texts.kernels.keys(), "stubs stand alone"
    return tuple(objects)


def compiled(
    text: str, machine: Machine, module: ModuleOp, kernel: str = SYMBOL
) -> bytes:
    """
    The object file of a text of a module; if it is that of a kernel, nameless.

    Raises `OpError` at the function that LLVM refuses.
    """
    from transom.runtime.jit import RefusedText

    try:
        return machine.compile(text)
    except RefusedText as e:
        raise refusal(module, text.replace(SYMBOL, kernel), e) from e


def refusal(module: ModuleOp, text: str, error: "RefusedText") -> OpError:
    """What LLVM says of a line of a module's text, at the function of the line."""
    if error.line is None:
        return OpError(module, f"LLVM refuses the module: {error.reason}")
    lines = text.split("\n")[: error.line]
    functions = {
        f" {name_text('@', op.sym_name.data)}(": op
        for op in module.body.block.ops
        if isinstance(op, llvm.FuncOp)
    }
    heads = (line for line in reversed(lines) if line.startswith(("define", "declare")))
    head = next(heads, "")
    found = [op for name, op in functions.items() if name in head]
    where = found[0] if found else module
    return OpError(where, f"LLVM refuses '{lines[-1].strip()}': {error.reason}")
