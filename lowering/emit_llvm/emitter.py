"""
The output format `llvm-ir` of the tools: `transom-opt -t llvm-ir`.
"""

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from transom.lowering.emit_llvm.module import to_llvm_text


@dataclass(frozen=True)
class LlvmIrEmitter(Target):
    name = "llvm-ir"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(to_llvm_text(module))
