"""
Lowering of graph functions to artifacts in one step, by a compiler that takes them
whole: the machinery that passes of hook `convert_graph_to_artifact` derive from.

```mlir
%y = func.call @main_region_0(%x) : …  ==>  %d = tensor.empty() : tensor<4xf32>
                                            %w = tir.alloc : memref<256xi8>
                                            %y = tir.call @relu_1f2e3d4c(%x : …)
                                                   outs(%d : …) scratch(%w : …)
```

The artifact takes the function's inputs, then memory for its results, then its
workspace; main sees all of them, so that they are planned like others. Weights are
constants of the function: the code holds them. The function itself stays, with
`target.lowered_to`, until main is on buffers. Functions with the same code are one
artifact, named by what it does and a hash.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    i8,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.passes import ModulePass

from transom.cache import content_key
from transom.dialects import executor, graph, tir
from transom.dialects.diagnostics import OpError
from transom.dialects.symbols import fresh_symbol, lookup
from transom.dialects.target import LOWERED_TO, TargetAttr, target_of
from transom.lowering.conversion import Refusal
from transom.lowering.graph_to_tir.site import kernel_type
from transom.lowering.host_body import HostBody
from transom.lowering.kernels import Body, stem_of
from transom.passes.owned_functions import is_region


@dataclass(frozen=True)
class Compiled:
    """Code for one function."""

    format: str
    payload: bytes | str
    """The code; text stays readable in the IR."""
    workspace: int = 0
    """Bytes of memory that a call needs beside inputs and results."""
    entry: str | None = None
    """The function's name in the code; by default the symbol of the artifact."""


class ArtifactLowering(ModulePass):
    """Base of passes that compile the functions of a target to artifacts."""

    def owns(self, func: FuncOp) -> bool:
        """Whether the pass compiles a function. By default: every region."""
        return is_region(func)

    @abstractmethod
    def compile_function(
        self, ctx: Context, func: FuncOp, target: TargetAttr
    ) -> Compiled:
        """
        Code for a function of graph ops; it is in the module, and not changed.

        The code gets the arguments, then memory for each result, then the workspace if
        there is one. Raises `OpError` at an op that it can not have code for.
        """

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [
            func
            for func in op.body.ops
            if isinstance(func, FuncOp)
            and not func.is_declaration
            and LOWERED_TO not in func.attributes
        ]
        calls: dict[str, list[CallOp]] = {}
        for func in functions:
            for call in func.walk():
                if isinstance(call, CallOp):
                    calls.setdefault(call.callee.string_value(), []).append(call)
        for func in functions:
            if self.owns(func):
                artifact = self._artifact(ctx, op, func)
                for call in calls.get(func.sym_name.data, ()):
                    _call_artifact(call, func, artifact)
                name = SymbolRefAttr(artifact.sym_name.data)
                func.attributes[LOWERED_TO] = ArrayAttr([name])

    def _artifact(
        self, ctx: Context, module: ModuleOp, func: FuncOp
    ) -> executor.ArtifactOp:
        """The artifact of a function, which the module may have already."""
        target = target_of(func)
        if target is None:
            raise OpError(
                func,
                f"expected a target of function '@{func.sym_name.data}' to compile it "
                "for",
            )
        compiled = self.compile_function(ctx, func, target)
        inputs = [_memref(type, func) for type in func.function_type.inputs]
        outputs = [_memref(type, func) for type in func.function_type.outputs]
        artifact = executor.ArtifactOp(
            "artifact",
            compiled.format,
            target,
            compiled.payload,
            FunctionType.from_lists([*inputs, *outputs], []),
            compiled.workspace or None,
            compiled.entry,
            [tir.Effect.READ] * len(inputs) + [tir.Effect.WRITE] * len(outputs),
        )
        name = f"{stem_of(_flat(func))}_{content_key((str(artifact),))[:8]}"
        found = lookup(module, name)
        if isinstance(found, executor.ArtifactOp) and _are_equal(found, artifact):
            return found
        artifact.sym_name = StringAttr(fresh_symbol(module, name))
        artifact.location = func.location
        module.body.block.add_op(artifact)
        return artifact


def _memref(type: Attribute, func: FuncOp) -> MemRefType:
    if graph.layout_of(type) is not None:
        raise OpError(func, f"expected a tensor without a layout, but got '{type}'")
    memref = kernel_type(type)
    if isinstance(memref, Refusal):
        raise OpError(func, memref.reason)
    assert memref is not None, "regions are functions of tensors"
    return memref


def _are_equal(found: executor.ArtifactOp, new: executor.ArtifactOp) -> bool:
    """Whether two artifacts differ in nothing but their names."""
    return {**found.properties, "sym_name": new.sym_name} == new.properties


def _flat(func: FuncOp) -> FuncOp:
    """A copy of a function without groups; constants are arguments at its end."""
    block = Block()
    body = Body(block)
    for argument in func.args:
        body.values[argument] = block.insert_arg(argument.type, len(block.args))
    for op in func.body.block.ops:
        if isinstance(op, ReturnOp):
            block.add_op(ReturnOp(*[body.values[value] for value in op.operands]))
        else:
            body.values.update(zip(op.results, body.add(op), strict=True))
    types = [value.type for value in cast("ReturnOp", block.last_op).operands]
    return FuncOp("flat", (block.arg_types, types), Region(block))


def _call_artifact(call: CallOp, func: FuncOp, artifact: executor.ArtifactOp) -> None:
    """Call an artifact in the place of a function."""
    host = HostBody(call, {})
    outs = host.outputs(_flat(func).body.block, call.operands)
    scratch: list[SSAValue] = []
    if size := artifact.workspace_bytes:
        scratch.append(host(tir.AllocOp(MemRefType(i8, [size]))))
    name = artifact.sym_name.data
    new = host.insert(tir.CallOp(name, call.operands, outs, scratch))
    new.attributes |= call.attributes
    for old, result in zip(call.results, new.results, strict=True):
        result.name_hint = old.name_hint
        old.replace_all_uses_with(result)
    call.detach()
    call.erase()
