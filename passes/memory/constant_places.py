"""
Weights that main reads: those that nothing reads any more are dropped, others may get
places in pools of their own, which are filled before main runs.

```mlir
%w = executor.constant @w : memref<4xf32>   ==>   executor.pool @constants {size = 16,
                                                    kind = constants,
                                                    content = [[@w, 0]]}
                                                  %w = executor.view @constants[0] : …
```

There is one pool for each memory that weights are in, for all functions of the module.
Larger weights come first, so that few bytes are lost to alignments.
"""

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.rewriter import InsertPoint, Rewriter

from transom.dialects import executor
from transom.dialects.executor import PoolKind, static_bytes
from transom.dialects.symbols import symbol_name
from transom.dialects.target import MemoryOp
from transom.dialects.target.places import memory_space_name

NAME = "constants"


def drop_unread_constants(module: ModuleOp) -> None:
    """
    Drop the constants of functions of the host that nothing reads, such as those of
    weights whose packed forms are read in their place.
    """
    for function in tuple(module.body.ops):
        if not isinstance(function, FuncOp):
            continue
        for op in tuple(function.walk()):
            if isinstance(op, executor.ConstantOp) and not op.result.uses:
                Rewriter.erase_op(op)


def place_constants(module: ModuleOp, alignment: int = 64) -> None:
    """Put all weights that functions of the host read into pools."""
    functions = [op for op in module.body.ops if isinstance(op, FuncOp)]
    reads: dict[str | None, list[executor.ConstantOp]] = {}
    for function in functions:
        for op in function.walk():
            if isinstance(op, executor.ConstantOp):
                memory = memory_space_name(op.result.type.memory_space)
                reads.setdefault(memory, []).append(op)
    memories = {
        op.sym_name.data: op for op in module.body.ops if isinstance(op, MemoryOp)
    }
    for memory, ops in sorted(reads.items(), key=lambda item: item[0] or ""):
        declared = memories.get(memory or "")
        limit = alignment if declared is None else declared.alignment_bytes
        pool = _pool(module, memory, ops, min(alignment, limit))
        Rewriter.insert_op(pool, InsertPoint.before(functions[0]))


def _pool(
    module: ModuleOp,
    memory: str | None,
    reads: list[executor.ConstantOp],
    alignment: int,
) -> executor.PoolOp:
    """A pool of the weights that some ops read, which become views."""
    sizes = {op.weight.string_value(): static_bytes(op.result.type) for op in reads}
    offsets: dict[str, int] = {}
    end = 0
    for name, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        offsets[name] = -(-end // alignment) * alignment
        end = offsets[name] + size
    pool_name = _fresh(module, NAME if memory is None else f"{memory}.{NAME}")
    for op in reads:
        view = executor.ViewOp(
            pool_name, offsets[op.weight.string_value()], op.result.type
        )
        view.location = op.location
        view.result.name_hint = op.result.name_hint
        Rewriter.replace_op(op, view)
    return executor.PoolOp(
        pool_name,
        end,
        alignment,
        memory,
        PoolKind.CONSTANTS,
        tuple(offsets.items()),
    )


def _fresh(module: ModuleOp, name: str) -> str:
    taken = {symbol_name(op) for op in module.body.ops}
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    return found
