"""
The pattern from `tir.fork` to the `llvm` dialect: a team of GNU's OpenMP library.

```mlir
tir.fork @k.team0(%x : …) threads 2
==>
%data = llvm.alloca …                         // the arguments, in a struct
%may = …                                      // @GOMP_parallel is there, and we may
llvm.cond_br %may, ^team, ^alone
^team:
  llvm.call @GOMP_parallel(@k.team0.start, %data, 2, 0)
^alone:
  llvm.call @k.team0(0, 1, %x)
```

`@k.team0.start` takes the arguments out of the struct and asks the library for the
number of the thread and the size of the team, which may be smaller than wanted. The
functions of the library are weak: without it, and where `transom_serial` is a variable
that is not zero, all is done by the thread that asks. A run time sets that variable in
processes that were forked, where the library would wait for threads that are not there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from transom.dialects import llvm, tir
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
)
from transom.lowering.failures import enclosing_function
from transom.lowering.func_to_llvm import INTERNAL, NAMED_ADDRESS
from transom.lowering.memref_parts import constant

GOMP_PARALLEL = "GOMP_parallel"
THREAD_NUM, NUM_THREADS = "omp_get_thread_num", "omp_get_num_threads"

SERIAL = "transom_serial"
"""The `int` that a run time sets to have everything done by the thread that asks."""

ALIGNMENT = 64
"""Of the arguments in memory, in bytes: enough for vectors."""

POINTER = llvm.LLVMPointerType()


@dataclass
class Forks:
    """The functions that forks of a module need, which are added in the end."""

    starts: dict[str, "Start"] = field(default_factory=dict[str, "Start"])
    """What threads start with, by the kernel that they run."""

    def define(self, module: ModuleOp) -> None:
        """Add the functions, and declare those of the library."""
        if not self.starts:
            return
        first = module.body.block.first_op
        assert first is not None, "the module has forks"
        module.body.block.insert_ops_before(library_declarations(), first)
        for start in self.starts.values():
            module.body.block.add_op(start.function())


@dataclass(frozen=True)
class Start:
    """The function that a thread of a team starts with."""

    kernel: str
    types: tuple[Attribute, ...]
    location: LocationAttr

    @property
    def name(self) -> str:
        return f"{self.kernel}.start"

    def function(self) -> llvm.FuncOp:
        block = Block(arg_types=[POINTER])
        ops: list[Operation] = []
        numbers: list[SSAValue] = []
        for asked in (THREAD_NUM, NUM_THREADS):
            call = llvm.CallOp(asked, return_type=i32)
            assert call.returned is not None, "the call has a result"
            wide = llvm.ZExtOp(call.returned, i64)
            ops += [call, wide]
            numbers.append(wide.res)
        values: list[SSAValue] = []
        if self.types:
            load = llvm.LoadOp(block.args[0], struct_of(self.types), ALIGNMENT)
            ops.append(load)
            for position, type in enumerate(self.types):
                place = DenseArrayBase.from_list(i64, [position])
                part = llvm.ExtractValueOp(place, load.dereferenced_value, type)
                ops.append(part)
                values.append(part.res)
        ops.append(llvm.CallOp(self.kernel, *numbers, *values, return_type=i32))
        ops.append(llvm.ReturnOp())
        for op in ops:
            op.location = self.location
        block.add_ops(ops)
        function = llvm.FuncOp(
            self.name,
            llvm.LLVMFunctionType([POINTER]),
            INTERNAL,
            body=Region(block),
            other_props={"unnamed_addr": NAMED_ADDRESS},
        )
        function.location = self.location
        return function


def struct_of(types: Sequence[Attribute]) -> llvm.LLVMStructType:
    return llvm.LLVMStructType.from_type_list(types)


def library_declarations() -> list[Operation]:
    """What the run time may have, or not."""
    weak = llvm.LinkageAttr("extern_weak")
    types = {
        GOMP_PARALLEL: llvm.LLVMFunctionType([POINTER, POINTER, i32, i32]),
        NUM_THREADS: llvm.LLVMFunctionType([], i32),
        THREAD_NUM: llvm.LLVMFunctionType([], i32),
    }
    return [
        llvm.GlobalOp(i32, SERIAL, weak),
        *(
            llvm.FuncOp(name, type, weak, other_props={"unnamed_addr": NAMED_ADDRESS})
            for name, type in types.items()
        ),
    ]


class ConvertFork(ConversionPattern[tir.ForkOp]):
    root = tir.ForkOp

    def __init__(self, forks: Forks) -> None:
        self.forks = forks

    def match_and_rewrite(
        self, op: tir.ForkOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        values = operands.flat
        types = tuple(value.type for value in values)
        start = Start(op.callee_name, types, op.location)
        self.forks.starts.setdefault(op.callee_name, start)
        data = self.in_memory(op, values, rewriter)
        team, alone, after = (rewriter.new_block() for _ in range(3))
        self.branch_if_team(team, alone, rewriter)
        rewriter.continue_in(team)
        function = rewriter.insert(llvm.AddressOfOp(start.name, POINTER)).result
        count, flags = (
            rewriter.insert(llvm.ConstantOp(IntegerAttr(n, i32), i32)).result
            for n in (op.thread_count, 0)
        )
        rewriter.insert(llvm.CallOp(GOMP_PARALLEL, function, data, count, flags))
        rewriter.insert(llvm.BrOp(after))
        rewriter.continue_in(alone)
        zero, one = constant(rewriter, 0), constant(rewriter, 1)
        rewriter.insert(
            llvm.CallOp(op.callee_name, zero, one, *values, return_type=i32)
        )
        rewriter.insert(llvm.BrOp(after))
        rewriter.continue_in(after)
        rewriter.replace(op, (), ())

    def in_memory(
        self, op: tir.ForkOp, values: Sequence[SSAValue], rewriter: ConversionRewriter
    ) -> SSAValue:
        """The address of the arguments."""
        if not values:
            return rewriter.insert(llvm.ZeroOp(POINTER)).res
        type = struct_of([value.type for value in values])
        struct: SSAValue = rewriter.insert(llvm.PoisonOp(type)).res
        for position, value in enumerate(values):
            place = DenseArrayBase.from_list(i64, [position])
            struct = rewriter.insert(llvm.InsertValueOp(place, struct, value)).res
        function = enclosing_function(op)
        assert function is not None, "a fork is in a kernel"
        entry = rewriter.converted_block(function.regions[0].blocks[0])
        with rewriter.at_start(entry):
            one = constant(rewriter, 1)
            place = rewriter.insert(llvm.AllocaOp(one, type, ALIGNMENT)).res
        rewriter.insert(llvm.StoreOp(struct, place, ALIGNMENT))
        return place

    def branch_if_team(
        self, team: Block, alone: Block, rewriter: ConversionRewriter
    ) -> None:
        """Go on in `team` if there is a library and nothing against it."""

        def is_there(name: str) -> tuple[SSAValue, SSAValue]:
            address = rewriter.insert(llvm.AddressOfOp(name, POINTER)).result
            null = rewriter.insert(llvm.ZeroOp(POINTER)).res
            return address, rewriter.insert(llvm.ICmpOp(address, null, "ne")).res

        look, ask = rewriter.new_block(), rewriter.new_block()
        _, has_library = is_there(GOMP_PARALLEL)
        rewriter.insert(llvm.CondBrOp(has_library, look, (), alone, ()))
        rewriter.continue_in(look)
        variable, is_set = is_there(SERIAL)
        rewriter.insert(llvm.CondBrOp(is_set, ask, (), team, ()))
        rewriter.continue_in(ask)
        value = rewriter.insert(llvm.LoadOp(variable, i32)).dereferenced_value
        zero = rewriter.insert(llvm.ConstantOp(IntegerAttr(0, i32), i32)).result
        may = rewriter.insert(llvm.ICmpOp(value, zero, "eq")).res
        rewriter.insert(llvm.CondBrOp(may, team, (), alone, ()))
