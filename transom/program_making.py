"""
Programs, and their code, of modules: found again (`transom.program_entries`), or made.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from transom.dialects.diagnostics import overheard
from transom.dialects.target import get_config
from transom.driver import poison
from transom.passes.pipeline import MODULE, PassObserver, Pipeline
from transom.phase_plan import PHASES
from transom.program_entries import find_code, keep_code, key_of
from transom.runtime.jit import JitError
from transom.runtime.program import Code, Program

if TYPE_CHECKING:
    from transom.c_functions import Externs
    from transom.targets.hooks import RunArtifact


@dataclass(frozen=True)
class Making:
    """
    How a program is made of a module, whose entry is selected and whose devices are
    declared; the module itself is lowered, if it is.
    """

    executor: str
    opt_level: int = 2
    data_folders: Sequence[str] = ()
    base: Path | None = None
    """What paths of weights are relative to, if not to the folder of the module."""
    externs: "Externs" = "native"
    poison_memory: bool = False
    runs_here: bool = True
    """Whether it is an error if this machine cannot run the code."""
    observer: PassObserver | None = None
    """Sees each pass; of a program that is found, that which names its machine."""

    def program(
        self,
        module: ModuleOp,
        ctx: Context,
        libraries: Sequence[str] = (),
        callbacks: "Mapping[str, RunArtifact] | None" = None,
    ) -> Program:
        """The program. Raises `OpError`, `PipelineError` and `JitError`."""
        key = self._key(module)
        found = self._find(key, module, ctx)
        if found is not None:
            with suppress(JitError):  # making it again tells why
                program = Program(found, libraries)
                self._told_of_host(module, ctx)
                return program
        from transom.compiler import to_program

        with overheard() as said:
            lowered = self._lower(module, ctx)
            program = to_program(
                module, libraries=libraries, callbacks=callbacks, **lowered
            )
        if key is not None and not said:
            keep_code(key, module, program.code)
        return program

    def code(self, module: ModuleOp, ctx: Context) -> Code:
        """The code of the program. Raises `OpError` and `PipelineError`."""
        key = self._key(module)
        found = self._find(key, module, ctx)
        if found is not None:
            self._told_of_host(module, ctx)
            return found
        from transom.compiler import to_code

        with overheard() as said:
            lowered = self._lower(module, ctx)
            code = to_code(module, runs_here=self.runs_here, **lowered)
        if key is not None and not said:
            keep_code(key, module, code)
        return code

    def _key(self, module: ModuleOp) -> str | None:
        """The key of its entry, if there may be one."""
        if self.executor != "aot" or self.externs != "native" or self.poison_memory:
            return None
        return key_of(module, self.opt_level, self.data_folders, self.base)

    def _find(self, key: str | None, module: ModuleOp, ctx: Context) -> Code | None:
        if key is None:
            return None
        return find_code(
            key,
            module,
            ctx,
            self.data_folders,
            self.base,
            runs_here=self.runs_here,
        )

    def _told_of_host(self, module: ModuleOp, ctx: Context) -> None:
        """Let the observer see what passes of the first phase say of the machine."""
        if self.observer is not None and get_config(module).phase is None:
            from transom.targets.resolve_devices import TargetResolveDevicesPass

            pipeline = Pipeline(MODULE, (TargetResolveDevicesPass(),))
            pipeline.apply(ctx, module, self.observer)

    def _lower(self, module: ModuleOp, ctx: Context) -> dict[str, Any]:
        """Lower to phase `machine`; gives what the code is made of beside it."""
        from transom.kernel_code import lower_to_machine, lower_with_executable

        made: dict[str, Any] = {}
        if self.poison_memory:
            poison(module, ctx, self.observer)
        if self.externs != "native":
            from transom.c_functions import lower_with

            made["functions"], executable = lower_with(
                module, self.externs, ctx, self.observer
            )
            if self.executor != "aot":
                made["executable"] = executable
        elif self.executor != "aot":
            made["kernels"], made["executable"] = lower_with_executable(
                module, ctx, self.opt_level, self.observer, runs_here=self.runs_here
            )
        elif get_config(module).phase != PHASES[-1].name:
            made["kernels"] = lower_to_machine(
                module, ctx, self.opt_level, self.observer, runs_here=self.runs_here
            )
        return {
            "base": self.base,
            "opt_level": self.opt_level,
            "data_folders": self.data_folders,
            "executor": self.executor,
            **made,
        }
