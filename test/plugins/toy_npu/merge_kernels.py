"""
Merge calls of kernels that follow each other into one, ordered so that little memory is
held at a time; what only they pass on stays in the scratchpad.

```mlir
%a = tir.call @matmul_…(%x, %w) outs(%d)
%b = tir.call @relu_…(%a) outs(%e)         ==>  %b = tir.call @npu_…(%x, %w) outs(%e)
```

Calls follow each other if what is between them depends on none of them. Kernels that
nobody calls any more are removed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import is_side_effect_free

from toy_npu.dialect import ToyNpuAttr
from transom.cache import content_key
from transom.dialects import tir
from transom.dialects.executor import static_bytes
from transom.dialects.symbols import lookup
from transom.dialects.target import (
    LOWERED_TO,
    PlaceAttr,
    place_of,
    set_place,
    target_of,
)


def kernel_of(op: Operation) -> tir.FuncOp | None:
    """The kernel of the accelerator that an op calls, if it does."""
    if not isinstance(op, tir.CallOp) or not op.results:
        return None
    kernel = op.find_callee()
    if not isinstance(kernel, tir.FuncOp) or kernel.is_declaration:
        return None
    return kernel if isinstance(target_of(kernel), ToyNpuAttr) else None


def runs_of(block: Block) -> Iterator[list[tir.CallOp]]:
    """The calls of a block that follow each other, for one place each."""
    run: list[tir.CallOp] = []
    place: PlaceAttr | None = None
    made: set[SSAValue] = set()
    for op in block.ops:
        kernel = kernel_of(op)
        reads = [v for v in op.operands if v in made]
        if kernel is not None and (not run or place_of(kernel) == place):
            assert isinstance(op, tir.CallOp), "it calls a kernel"
            run.append(op)
            place = place_of(kernel)
            made.update(op.results)
        elif kernel is not None or reads or op.regions or not is_side_effect_free(op):
            yield run
            run, made = [], set()
            if kernel is not None:
                assert isinstance(op, tir.CallOp), "it calls a kernel"
                run, place, made = [op], place_of(kernel), {*op.results}
    yield run


def ordered(run: Sequence[tir.CallOp]) -> list[tir.CallOp]:
    """
    The calls in an order that holds little memory: of those that may be next, the one
    that leaves the least live; the first of several.
    """
    left = list(run)
    done: list[tir.CallOp] = []
    inside = {result for call in run for result in call.results}
    while left:
        ready = [
            call
            for call in left
            if not any(v in inside and v.owner not in done for v in call.ins)
        ]
        best = min(ready, key=lambda call: _live_after([*done, call], run))
        left.remove(best)
        done.append(best)
    return done


def _live_after(done: Sequence[tir.CallOp], run: Sequence[tir.CallOp]) -> int:
    """The bytes of results that calls still to come, or others, read."""
    return sum(
        static_bytes(_memref_of(result))
        for call in done
        for result in call.results
        if any(use.operation not in done for use in result.uses)
    )


def _memref_of(result: SSAValue) -> MemRefType:
    """The memory that the result of a call is in."""
    assert isinstance(result, OpResult), "what a call gives"
    call = result.op
    assert isinstance(call, tir.CallOp), "what gives the result"
    kernel = call.find_callee()
    assert kernel is not None, "it is one of ours"
    type_ = kernel.argument_types[len(call.ins) + result.index]
    assert isinstance(type_, MemRefType), "outputs are memory"
    return cast("MemRefType", type_)


@dataclass
class Merger:
    """The kernel that does what several calls do, in their order."""

    calls: Sequence[tir.CallOp]
    block: Block = field(default_factory=Block)
    inputs: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Arguments by what main passes."""
    resident: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The buffer in the scratchpad that holds a value of main."""

    def __post_init__(self) -> None:
        inside = {result for call in self.calls for result in call.results}
        for call in self.calls:
            for value, type_ in zip(call.ins, self._types(call), strict=False):
                if value not in inside and value not in self.inputs:
                    argument = self.block.insert_arg(type_, len(self.block.args))
                    self.inputs[value] = argument
        self.outputs = [
            result
            for result in (r for call in self.calls for r in call.results)
            if any(use.operation not in self.calls for use in result.uses)
        ]
        arguments: dict[SSAValue, SSAValue] = {
            result: self.block.insert_arg(_memref_of(result), len(self.block.args))
            for result in self.outputs
        }
        for call in self.calls:
            self._take(call, arguments)
        self.block.add_op(tir.ReturnOp())

    def _types(self, call: tir.CallOp) -> Sequence[Attribute]:
        kernel = kernel_of(call)
        assert kernel is not None, "it is one of ours"
        return kernel.argument_types

    def _take(self, call: tir.CallOp, outputs: dict[SSAValue, SSAValue]) -> None:
        """The body of a kernel, without loads of what is in the scratchpad already."""
        kernel = kernel_of(call)
        assert kernel is not None, "it is one of ours"
        passed = zip(kernel.args, (*call.ins, *call.results), strict=True)
        outer: dict[SSAValue, SSAValue] = dict(passed)
        loads = {
            op.destination: outer[op.source]
            for op in kernel.body.block.ops
            if isinstance(op, tir.CopyOp) and op.source in outer
        }
        values: dict[SSAValue, SSAValue] = {}
        for op in kernel.body.block.ops:
            match op:
                case tir.ReturnOp():
                    pass
                case tir.AllocOp() if loads.get(op.result) in self.resident:
                    values[op.result] = self.resident[loads[op.result]]
                case tir.CopyOp() if op.source in outer:
                    value, buffer = outer[op.source], values[op.destination]
                    if value not in self.resident:
                        self.block.add_op(tir.CopyOp(self.inputs[value], buffer))
                        self.resident[value] = buffer
                case tir.CopyOp() if op.destination in outer:
                    value, buffer = outer[op.destination], values[op.source]
                    self.resident[value] = buffer
                    if value in outputs:
                        self.block.add_op(tir.CopyOp(buffer, outputs[value]))
                case _:
                    copy = op.clone(values)
                    self.block.add_op(copy)
                    values.update(zip(op.results, copy.results, strict=True))

    def kernel(self, place: PlaceAttr) -> tir.FuncOp:
        """The kernel, named by what it does."""
        effects = [tir.Effect.READ] * len(self.inputs)
        effects += [tir.Effect.WRITE] * len(self.outputs)
        arguments = list(zip(effects, self.block.arg_types, strict=True))
        kernel = tir.FuncOp("npu", arguments, Region(self.block))
        set_place(kernel, place)
        kernel.sym_name = StringAttr(f"npu_{content_key((str(kernel),))[:8]}")
        return kernel


def merge(run: Sequence[tir.CallOp], module: ModuleOp) -> str:
    """Call one kernel in the place of several; its name."""
    calls = ordered(run)
    first = kernel_of(calls[0])
    place = None if first is None else place_of(first)
    assert place is not None, "kernels have a place"
    merged = Merger(calls)
    kernel = merged.kernel(place)
    if lookup(module, kernel.sym_name.data) is None:
        module.body.block.add_op(kernel)
    outs = dict(
        pair for call in calls for pair in zip(call.results, call.outs, strict=True)
    )
    new = tir.CallOp(
        kernel.sym_name.data,
        list(merged.inputs),
        [outs[result] for result in merged.outputs],
    )
    for call in run:
        new.attributes |= call.attributes
    new.location = run[0].location
    block = run[-1].parent
    assert block is not None, "calls are in blocks"
    block.insert_op_after(new, run[-1])
    for old, result in zip(merged.outputs, new.results, strict=True):
        result.name_hint = old.name_hint
        old.replace_all_uses_with(result)
    for call in reversed(calls):
        call.detach()
        call.erase()
    return kernel.sym_name.data


def forget(module: ModuleOp, merged: Mapping[str, Sequence[str]]) -> None:
    """
    Remove kernels that are not called any more, by name, where they were merged into
    others; functions that are kept say what they are lowered to now.
    """
    called = {c.callee_name for c in module.walk() if isinstance(c, tir.CallOp)}
    gone = {name: into for name, into in merged.items() if name not in called}
    for op in tuple(module.body.ops):
        lowered_to = op.attributes.get(LOWERED_TO)
        if isinstance(lowered_to, ArrayAttr):
            names = cast("ArrayAttr[SymbolRefAttr]", lowered_to)
            now = [n for ref in names for n in gone.get(name_of(ref), (name_of(ref),))]
            op.attributes[LOWERED_TO] = ArrayAttr(
                map(SymbolRefAttr, dict.fromkeys(now))
            )
        if isinstance(op, tir.FuncOp) and op.sym_name.data in gone:
            op.detach()
            op.erase()


def name_of(ref: SymbolRefAttr) -> str:
    """The symbol that is referred to."""
    return ref.string_value()


@dataclass(frozen=True)
class ToyNpuMergeKernelsPass(ModulePass):
    name = "toy-npu-merge-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        merged: dict[str, list[str]] = {}
        for func in [f for f in op.body.ops if isinstance(f, FuncOp)]:
            blocks = [b for o in func.walk() for r in o.regions for b in r.blocks]
            for block in blocks:
                for run in runs_of(block):
                    if len(run) > 1:
                        names = [call.callee_name for call in run]
                        into = merge(run, op)
                        for name in names:
                            merged.setdefault(name, []).append(into)
        forget(op, merged)
