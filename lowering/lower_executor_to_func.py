"""
Lower the memory of main from `executor` to `memref`: pools become arguments.

```mlir
func.func @main(%x: memref<4xf32>) {        func.func @main(%x: memref<4xf32>,
                                                            %p: memref<64xi8>) {
  %a = executor.view @p[0] : …         ==>    %a = memref.view %p[%c0][] : …
  executor.copy %x, %a : …                    memref.copy(%x, %a) : …
}                                           }
```

The sizes that `@main.shapes` computes are written to memory too, an argument behind the
others, so that all entries are C functions with a status.

Pools follow the other arguments in the order of their declarations: an entry gets all
of the module, so that its caller knows what to pass; another function those that it or
its callees use, and calls pass them on. Run-time allocations become `memref.alloc` and
`memref.dealloc`. `executor.pool`, `executor.constant`, and calls of kernels and
artifacts stay; `convert-to-llvm` takes them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    i8,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from transom.dialects import executor, graph, tir
from transom.dialects.executor import SIGNATURE
from transom.dialects.symbols import lookup
from transom.dialects.target import get_config
from transom.lowering.bufferize.memrefs import memref_of
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    ConversionTarget,
    Operands,
    Refusal,
    apply_full_conversion,
)


@dataclass(frozen=True)
class Pools:
    """The pools of a module, and those that each function needs, in order."""

    sizes: Mapping[str, int]
    needed: Mapping[str, tuple[str, ...]]
    arguments: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many arguments each function has without pools."""

    def types(self, function: str) -> list[Attribute]:
        """The types of the arguments that a function gets."""
        return [MemRefType(i8, [self.sizes[p]]) for p in self.needed.get(function, ())]

    def argument(
        self, op: Operation, pool: str, rewriter: ConversionRewriter
    ) -> SSAValue:
        """A pool in the function around an op."""
        around = op.parent_op()
        while not isinstance(around, func.FuncOp):
            if around is None:
                rewriter.refuse(f"expected to be in a function that gets '@{pool}'")
            around = around.parent_op()
        name = around.sym_name.data
        entry = around.body.blocks.first
        assert entry is not None, "the function has a body"
        position = self.arguments[name] + self.needed[name].index(pool)
        return rewriter.converted_block(entry).args[position]


def pools_of(module: ModuleOp) -> Pools:
    """What is declared, and who needs what."""
    sizes: dict[str, int] = {}
    functions: dict[str, func.FuncOp] = {}
    for op in module.body.ops:
        if isinstance(op, executor.PoolOp):
            sizes[op.sym_name.data] = op.size_bytes
        elif isinstance(op, func.FuncOp):
            functions[op.sym_name.data] = op
    used = {name: _pools_in(function) for name, function in functions.items()}
    changed = True
    while changed:  # callees first would be one round, but there may be cycles
        changed = False
        for name, function in functions.items():
            for op in function.walk():
                if isinstance(op, func.CallOp | executor.CallOp | executor.ShapeCallOp):
                    missing = used.get(op.callee.string_value(), set()) - used[name]
                    used[name] |= missing
                    changed |= bool(missing)
    needed = {
        name: tuple(
            pool
            for pool in sizes
            if pool in used[name] or SIGNATURE in function.attributes
        )
        for name, function in functions.items()
    }
    arguments = {n: len(f.function_type.inputs) for n, f in functions.items()}
    return Pools(sizes, needed, arguments)


def _pools_in(function: func.FuncOp) -> set[str]:
    return {
        op.pool.string_value()
        for op in function.walk()
        if isinstance(op, executor.ViewOp)
    }


@dataclass(frozen=True, eq=False)
class LowerFunction(ConversionPattern[func.FuncOp]):
    """Append the pools to the arguments."""

    pools: Pools
    root = func.FuncOp
    generates = (func.FuncOp,)

    def match_and_rewrite(
        self, op: func.FuncOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        types = self.pools.types(op.sym_name.data)
        region = rewriter.convert_region(op.body, extra_types=types)
        attributes = op.arg_attrs
        if attributes is not None:
            empty = [DictionaryAttr({})] * len(types)
            attributes = ArrayAttr([*attributes.data, *empty])
        properties = dict(op.properties)
        properties["function_type"] = FunctionType.from_lists(
            [*op.function_type.inputs, *types], op.function_type.outputs.data
        )
        if attributes is not None:
            properties["arg_attrs"] = attributes
        rewriter.replace(
            op, func.FuncOp.create(properties=properties, regions=[region])
        )
        return None


@dataclass(frozen=True, eq=False)
class LowerHostCall(ConversionPattern[func.CallOp]):
    """Pass on what the callee needs."""

    pools: Pools
    root = func.CallOp
    generates = (func.CallOp,)

    def match_and_rewrite(
        self, op: func.CallOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        passed = [
            self.pools.argument(op, pool, rewriter)
            for pool in self.pools.needed[op.callee.string_value()]
        ]
        rewriter.replace(
            op, func.CallOp(op.callee, [*operands, *passed], op.result_types)
        )
        return None


@dataclass(frozen=True, eq=False)
class LowerView(ConversionPattern[executor.ViewOp]):
    """Bytes of an argument."""

    pools: Pools
    root = executor.ViewOp
    generates = (arith.ConstantOp, memref.ViewOp, memref.MemorySpaceCastOp)

    def match_and_rewrite(
        self, op: executor.ViewOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        pool = self.pools.argument(op, op.pool.string_value(), rewriter)
        shift = arith.ConstantOp(IntegerAttr.from_index_int_value(op.offset_bytes))
        type = memref_of(op.result)
        view = memref.ViewOp(
            pool,
            rewriter.insert(shift),
            list(operands),
            MemRefType(type.element_type, type.shape),
        )
        if isinstance(type.memory_space, NoneAttr):
            rewriter.replace(op, view)
        else:
            rewriter.insert(view)
            rewriter.replace(op, memref.MemorySpaceCastOp(view.result, type))
        return None


class LowerAlloc(ConversionPattern[executor.AllocOp]):
    root = executor.AllocOp
    generates = (memref.AllocOp,)

    def match_and_rewrite(
        self, op: executor.AllocOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        alignment = IntegerAttr(op.alignment_bytes, i64)
        rewriter.replace(
            op, memref.AllocOp(tuple(operands), (), op.result.type, alignment)
        )
        return None


class LowerFree(ConversionPattern[executor.FreeOp]):
    root = executor.FreeOp
    generates = (memref.DeallocOp,)

    def match_and_rewrite(
        self, op: executor.FreeOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        rewriter.replace(op, memref.DeallocOp.get(operands[0]))
        return None


class LowerCopy(ConversionPattern[executor.CopyOp]):
    """Equal shapes are made equal in the types too."""

    root = executor.CopyOp
    generates = (memref.CopyOp, memref.CastOp)

    def match_and_rewrite(
        self, op: executor.CopyOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        source, destination = operands
        shape = memref_of(destination).get_shape()
        if memref_of(source).get_shape() != shape:
            type = memref_of(source)
            cast = MemRefType(type.element_type, shape, type.layout, type.memory_space)
            source = rewriter.insert(memref.CastOp.get(source, cast)).dest
        rewriter.replace(op, memref.CopyOp(source, destination))
        return None


@dataclass(frozen=True, eq=False)
class LowerShapeCall(ConversionPattern[executor.ShapeCallOp]):
    """A call that passes on the pools that the function needs."""

    pools: Pools
    root = executor.ShapeCallOp
    generates = (func.CallOp,)

    def match_and_rewrite(
        self, op: executor.ShapeCallOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        passed = [
            self.pools.argument(op, pool, rewriter)
            for pool in self.pools.needed.get(op.callee.string_value(), ())
        ]
        rewriter.replace(
            op, func.CallOp(op.callee, [*operands, *passed], op.result_types)
        )
        return None


class LowerSync(ConversionPattern[executor.SyncOp]):
    """What runs on the host has run when it returns."""

    root = executor.SyncOp
    generates = ()

    def match_and_rewrite(
        self, op: executor.SyncOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        root = rewriter.root
        assert isinstance(root, ModuleOp), "the pass converts a module"
        host = get_config(root).host
        name = op.device.string_value()
        if name != host:
            return Refusal(f"expected the host device, but got '@{name}'")
        rewriter.erase(op)
        return None


@dataclass(frozen=True, eq=False)
class LowerCallOfFunction(ConversionPattern[executor.CallOp]):
    """A call of a function on the host, which is no kernel."""

    pools: Pools
    root = executor.CallOp
    generates = (func.CallOp,)

    def match_and_rewrite(
        self, op: executor.CallOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        passed = [
            self.pools.argument(op, pool, rewriter)
            for pool in self.pools.needed[op.callee.string_value()]
        ]
        rewriter.replace(op, func.CallOp(op.callee, [*operands, *passed], ()))
        return None


def return_through_memory(function: func.FuncOp) -> None:
    """Let a function store its results, of type `index`, in a last argument."""
    block = function.body.block
    terminator = block.last_op
    assert isinstance(terminator, func.ReturnOp), "functions return"
    values = terminator.operands
    type = MemRefType(IndexType(), [len(values)])
    sizes = block.insert_arg(type, len(block.args))
    sizes.name_hint = "sizes"
    for position, value in enumerate(values):
        index = arith.ConstantOp(IntegerAttr.from_index_int_value(position))
        store = memref.StoreOp.get(value, sizes, [index.result])
        for new in (index, store):
            new.location = terminator.location
            block.insert_op_before(new, terminator)
    terminator.operands = ()
    function.function_type = FunctionType.from_lists(block.arg_types, ())


@dataclass(frozen=True)
class LowerExecutorToFuncPass(ModulePass):
    name = "lower-executor-to-func"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pools = pools_of(op)

        def has_pools(function: Operation) -> bool:
            assert isinstance(function, func.FuncOp), "asked for functions only"
            name = function.sym_name.data
            expected = pools.arguments[name] + len(pools.needed[name])
            return len(function.function_type.inputs) == expected

        def passes_pools(call: Operation) -> bool:
            assert isinstance(call, func.CallOp), "asked for calls only"
            name = call.callee.string_value()
            expected = pools.arguments.get(name, 0) + len(pools.needed.get(name, ()))
            return name not in pools.needed or len(call.arguments) == expected

        def calls_no_function(call: Operation) -> bool:
            assert isinstance(call, executor.CallOp), "asked for calls only"
            callee = lookup(op, call.callee.string_value())
            return not isinstance(callee, func.FuncOp)

        target = ConversionTarget()
        target.add_illegal_dialect("executor")
        target.add_legal_op(
            executor.ArtifactOp, executor.ConstantOp, executor.PoolOp, tir.FuncOp
        )
        target.add_dynamically_legal_op(executor.CallOp, predicate=calls_no_function)
        target.add_dynamically_legal_op(func.FuncOp, predicate=has_pools)
        target.add_dynamically_legal_op(func.CallOp, predicate=passes_pools)
        target.mark_recursively_legal(tir.FuncOp, graph.WeightOp)
        target.mark_unknown_legal()
        patterns = (
            LowerFunction(pools),
            LowerHostCall(pools),
            LowerView(pools),
            LowerAlloc(),
            LowerFree(),
            LowerCopy(),
            LowerShapeCall(pools),
            LowerSync(),
            LowerCallOfFunction(pools),
        )
        apply_full_conversion(op, target, patterns)
        functions = [f for f in op.body.ops if isinstance(f, func.FuncOp)]
        entries = {f.sym_name.data for f in functions if SIGNATURE in f.attributes}
        for function in functions:
            name, _, kind = function.sym_name.data.rpartition(".")
            if kind == "shapes" and name in entries and function.function_type.outputs:
                return_through_memory(function)
