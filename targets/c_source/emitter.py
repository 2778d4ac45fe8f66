"""
The output format `c-source` of the tools: `transom-opt --to=executable -t c-source`.

Main becomes C with the kernels that it calls and the weights that it reads. It takes
inputs, results and memory to work in from its caller, whose sizes and alignments in
bytes are macros. A module without a main that has a signature gives its public
functions.
"""

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.target import Target

from transom.dialects import executor, tir
from transom.dialects.diagnostics import OpError
from transom.dialects.executor import SIGNATURE
from transom.dialects.target import targets_in
from transom.dialects.weight_files import base_folder
from transom.interpreters.weights import WeightStore
from transom.lowering.emit_c import Options, c_identifier, to_c_text
from transom.lowering.lower_executor_to_func import LowerExecutorToFuncPass
from transom.targets.c_source.dialect import CSourceAttr


@dataclass(frozen=True)
class CSourceEmitter(Target):
    name = "c-source"

    prefix: str = "model_"
    """What names of functions that other files see start with."""
    index_bits: int = 64
    """The width of indices and sizes: 32 or 64."""

    def __post_init__(self) -> None:
        if self.index_bits not in (32, 64):
            raise ValueError(
                f"expected 32 or 64 as 'index-bits', but got {self.index_bits}"
            )

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        lowered = module.clone()
        lowered.location = module.location
        LowerExecutorToFuncPass().apply(ctx, lowered)
        ops = tuple(lowered.body.ops)
        entries = [op for op in ops if SIGNATURE in op.attributes]
        entries = entries or [op for op in ops if is_public(op)]
        if not entries:
            raise OpError(module, "expected a public function to write as C")
        try:
            text = to_c_text(
                lowered,
                entries,
                WeightStore(module, base_folder(module)),
                Options(self.index_bits, headers_of(module), prefix=self.prefix),
                self.macros(lowered),
            )
        except OpError as e:
            raise OpError(e.location, e.message + other_target(module), *e.notes) from e
        output.write(text)

    def macros(self, module: ModuleOp) -> str:
        """What a caller has to know of the pools."""
        lines: list[str] = []
        for pool in module.body.ops:
            if isinstance(pool, executor.PoolOp):
                name = c_identifier(self.prefix + pool.sym_name.data).upper()
                lines.append(f"#define {name}_SIZE {pool.size_bytes}")
                lines.append(f"#define {name}_ALIGNMENT {pool.alignment_bytes}")
        return "\n".join(lines)


def other_target(module: ModuleOp) -> str:
    """What to say of kernels that are made for no C compiler."""
    targets = targets_in(module)
    if not targets or any(isinstance(target, CSourceAttr) for target in targets):
        return ""
    return (
        f"; kernels are for '{targets[0]}': declare a device for C, as "
        "'--device c=#c_source.target' does"
    )


def headers_of(module: ModuleOp) -> tuple[str, ...]:
    """The headers that targets of a module name, each once."""
    targets = (t for t in targets_in(module) if isinstance(t, CSourceAttr))
    return tuple(dict.fromkeys(n for target in targets for n in target.header_names))


def is_public(op: Operation) -> bool:
    """Whether an op is a function that other modules see, and has a body."""
    if not isinstance(op, func.FuncOp | tir.FuncOp) or not op.body.blocks:
        return False
    return op.sym_visibility is None or op.sym_visibility.data == "public"
