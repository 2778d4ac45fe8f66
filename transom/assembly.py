"""
The output format `asm` of the tools: `transom-opt --to=machine -t asm`.

The machine code of a module as text to look at: that of main, then that of each kernel,
made as it is made for a program, for the CPU of the module's host device.
"""

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from transom.compiler import machine_of
from transom.dialects import llvm
from transom.dialects.diagnostics import OpError, did_you_mean
from transom.dialects.target import get_config
from transom.lowering.emit_llvm import SYMBOL, to_object_texts
from transom.machine_code import MOST, Machine, refusal
from transom.phase_plan import PHASES

MACHINE = PHASES[-1].name


@dataclass(frozen=True)
class AssemblyEmitter(Target):
    name = "asm"

    opt_level: int = 2
    """The effort of LLVM's passes, as `-O` of the other programs."""
    kernel: str | None = None
    """Write kernels of this name alone, with or without the number at its end."""

    def __post_init__(self) -> None:
        if not 0 <= self.opt_level <= MOST:
            raise ValueError(
                f"expected 0 to {MOST} as 'opt-level', but got {self.opt_level}"
            )

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        _check_phase(module)
        machine = Machine.of(machine_of(module), self.opt_level)
        main, kernels = _texts_of(module)
        if self.kernel is None:
            texts = [main, *kernels.values()]
        else:
            named = (self.kernel, f"{self.kernel}_")
            texts = [
                text
                for name, text in kernels.items()
                if name == named[0] or name.startswith(named[1])
            ]
            if not texts:
                near = did_you_mean(self.kernel, kernels)
                raise OpError(module, f"no kernel '{self.kernel}'{near}")
        output.write("\n".join(_assembly(text, machine, module) for text in texts))


def _check_phase(module: ModuleOp) -> None:
    """Raise `OpError` for a module that no phase or hand made LLVM of."""
    phase = get_config(module).phase
    if phase != MACHINE and not any(isinstance(o, llvm.FuncOp) for o in module.ops):
        got = "none" if phase is None else f"'{phase}'"
        raise OpError(
            module,
            f"expected a module at phase '{MACHINE}', but got {got}; "
            f"'--to={MACHINE}' leads there",
        )


def _texts_of(module: ModuleOp) -> tuple[str, dict[str, str]]:
    """What LLVM gets: the text of main, and those of kernels by name."""
    texts = to_object_texts(module)
    kernels = {n: k.text.replace(SYMBOL, n) for n, k in texts.kernels.items()}
    return texts.main, kernels


def _assembly(text: str, machine: Machine, module: ModuleOp) -> str:
    """The code of a text of a module. Raises `OpError` where LLVM refuses it."""
    from transom.runtime.jit import RefusedText

    try:
        return machine.assembly(text)
    except RefusedText as e:
        raise refusal(module, text, e) from e
