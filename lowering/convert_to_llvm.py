"""
Convert all code on the host to the `llvm` dialect.

Takes `func`, kernels, calls of kernels and of C functions, `cf`, `arith`, `math`,
`memref` and `vector` in one conversion; `lower-scf-to-cf` comes before. A memref
becomes a pointer and the sizes that its type leaves open, a function without results
returns a status. Constants become addresses of the weights, which stay in the module.

```mlir
tir.func @k(read %x: memref<?xf32>, write %y: memref<4xf32>) {
  tir.return
}
==>
llvm.func internal @k(%x: !llvm.ptr {llvm.noalias, llvm.readonly}, %n: i64,
                      %y: !llvm.ptr {llvm.noalias}) -> i32 {
  %0 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %0 : i32
}
```

Weights get names that no function of C has, so that `@memcpy` is not called. An
artifact `@f` is called as the C function `artifact.f`, which whoever links or loads the
code binds to the function in the artifact.

Afterwards functions are `llvm` throughout, what they call is declared, and the texts of
`cf.assert` and of failed calls are `executor.messages` of the module, in the order of
their status codes from 1.
"""

from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnrealizedConversionCastOp,
)
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from transom.dialects import executor, graph, llvm
from transom.dialects.diagnostics import Note, OpError
from transom.dialects.walking import walk_ops
from transom.lowering.arith_to_llvm import ARITH_PATTERNS
from transom.lowering.c_calls import CConvention
from transom.lowering.cf_to_llvm import cf_patterns
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionTarget,
    apply_full_conversion,
)
from transom.lowering.conversion_patterns import RemoveCast
from transom.lowering.dot_to_llvm import ConvertDot
from transom.lowering.failures import Failures
from transom.lowering.fork_to_llvm import ConvertFork, Forks
from transom.lowering.func_to_llvm import NAMED_ADDRESS, func_patterns
from transom.lowering.llvm_types import to_llvm_converter
from transom.lowering.math_to_llvm import MATH_PATTERNS
from transom.lowering.memref_to_llvm import memref_patterns
from transom.lowering.tir_to_llvm import tir_patterns
from transom.lowering.vector_memory_to_llvm import VECTOR_MEMORY_PATTERNS
from transom.lowering.vector_to_llvm import VECTOR_PATTERNS

TRIPLE = "llvm.target_triple"
"""The attribute of a module that names the machine."""


def llvm_patterns(
    failures: Failures, convention: CConvention, forks: Forks
) -> tuple[ConversionPattern[Any], ...]:
    """All patterns to `llvm`, for one module whose failures are counted."""
    return (
        *ARITH_PATTERNS,
        *MATH_PATTERNS,
        *VECTOR_PATTERNS,
        *VECTOR_MEMORY_PATTERNS,
        *cf_patterns(failures),
        *func_patterns(failures),
        *memref_patterns(failures),
        *tir_patterns(failures, convention),
        ConvertDot(),
        ConvertFork(forks),
        RemoveCast(),
    )


def llvm_target() -> ConversionTarget:
    """`llvm` is legal, and what describes a module and is no code."""
    target = ConversionTarget()
    target.add_legal_dialect("llvm", "target")
    target.add_legal_op(ModuleOp, executor.ArtifactOp, executor.PoolOp, graph.WeightOp)
    target.mark_recursively_legal(graph.WeightOp)
    return target


def rename_weights(module: ModuleOp) -> None:
    """Rename weights whose names functions of the C library could have."""
    weights = [op for op in module.body.ops if isinstance(op, graph.WeightOp)]
    taken = {op.sym_name.data for op in weights}
    renamed: dict[str, str] = {}
    for op in weights:
        old = op.sym_name.data
        if old.isidentifier():
            new = f"weight.{old}"
            while new in taken:
                new += ".0"
            taken.add(new)
            renamed[old] = new
            op.sym_name = StringAttr(new)
    for op in walk_ops(module):
        if isinstance(op, executor.ConstantOp | graph.WeightRefOp):
            old = op.weight.string_value()
            op.weight = SymbolRefAttr(renamed.get(old, old))
        elif isinstance(op, executor.PoolOp):
            op.set_weights([(renamed.get(name, name), at) for name, at in op.weights])


def declare_callees(module: ModuleOp) -> None:
    """
    Declare the functions that are called and not there: those of the C library, of the
    support library, and of the user.
    """
    known = {
        op.sym_name.data: op
        for op in module.body.ops
        if isinstance(op, llvm.FuncOp | llvm.GlobalOp)
    }
    calls: dict[str, llvm.CallOp] = {}
    for op in walk_ops(module):
        if not isinstance(op, llvm.CallOp) or op.callee is None:
            continue
        name = op.callee.string_value()
        if name in known:
            continue
        first = calls.setdefault(name, op)
        if signature(op) != signature(first):
            raise OpError(
                op,
                f"expected '{name}' to be called with one type, but got "
                f"'{signature(op)}'",
                Note(first, f"called with '{signature(first)}' here"),
            )
    declarations = [declaration(name, calls[name]) for name in sorted(calls)]
    if declarations and (first_op := module.body.block.first_op) is not None:
        module.body.block.insert_ops_before(declarations, first_op)


def signature(op: llvm.CallOp) -> llvm.LLVMFunctionType:
    """The type of the function that a call calls."""
    output = None if op.returned is None else op.returned.type
    return llvm.LLVMFunctionType([v.type for v in op.args], output)


def declaration(name: str, op: llvm.CallOp) -> llvm.FuncOp:
    """The declaration that a call needs."""
    function = llvm.FuncOp(
        name,
        signature(op),
        llvm.LinkageAttr("external"),
        other_props={
            "arg_attrs": op.attributes.get("arg_attrs"),
            "unnamed_addr": NAMED_ADDRESS,
        },
    )
    # The call may be in a kernel, which is content without a place.
    module = op.get_toplevel_object()
    assert isinstance(module, Operation), "calls are in a module"
    function.location = module.location if op.location == UNKNOWN_LOC else op.location
    return function


@dataclass(frozen=True)
class ConvertToLlvmPass(ModulePass):
    name = "convert-to-llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        triple = op.attributes.get(TRIPLE)
        machine = triple.data if isinstance(triple, StringAttr) else None
        convention = CConvention(machine)
        failures, forks = Failures(op), Forks()
        target = llvm_target()
        target.add_illegal_op(UnrealizedConversionCastOp)
        patterns = llvm_patterns(failures, convention, forks)
        rename_weights(op)
        apply_full_conversion(op, target, patterns, to_llvm_converter())
        failures.record(op)
        forks.define(op)
        declare_callees(op)
