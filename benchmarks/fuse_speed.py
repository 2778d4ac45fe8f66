"""
How long it takes to group graph ops and to lower the groups to kernels.

```
python benchmarks/fuse_speed.py [-n OPS] [--models MODEL …]
```

Chains and dense graphs show whether the time grows with the number of ops, or faster;
models (`.onnx` or `.mlir`) show what a user waits for.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

import transom
from transom.cache import counted
from transom.dialects import graph, tir
from transom.dialects.target import PlaceAttr, set_place
from transom.passes.pipeline import parse_pipeline
from transom.registry import new_context, registry

PASSES = (
    "graph-fuse",
    "graph-outline-regions",
    "convert-graph-to-tir",
    "tir-fuse-nests",
)


def module_of(*shapes: Sequence[int], build: Callable[..., SSAValue]) -> ModuleOp:
    """`main` computes what `build` adds to its block, of arguments of some shapes."""
    block = Block(arg_types=[graph.tensor(shape, f32) for shape in shapes])
    result = build(block)
    block.add_op(ReturnOp(result))
    func = FuncOp("main", (block.arg_types, [result.type]), Region(block))
    set_place(func, PlaceAttr.get("cpu"))
    return ModuleOp([func])


def added(block: Block, op: graph.GraphOp) -> SSAValue:
    block.add_op(op)
    return op.results[0]


def chain(count: int) -> ModuleOp:
    """Element-wise ops, each on the result of the one before."""

    def build(block: Block) -> SSAValue:
        value: SSAValue = block.args[0]
        for index in range(count):
            kind = (graph.ReluOp, graph.NegOp, graph.ExpOp)[index % 3]
            value = added(block, kind(value))
        return value

    return module_of((64, 64), build=build)


def dense(count: int) -> ModuleOp:
    """Layers that each concatenate the results of all before (DenseNet)."""

    def build(block: Block) -> SSAValue:
        values: list[SSAValue] = [block.args[0]]
        for _ in range(count // 2):
            joined = added(block, graph.ConcatOp(values, 1))
            values.append(added(block, graph.ReluOp(joined)))
            if len(values) > 8:  # shapes grow exponentially
                del values[0]
                narrow = graph.SliceOp(values[-1], (0, 0), (4, 4))
                values[-1] = added(block, narrow)
        return values[-1]

    return module_of((4, 4), build=build)


def sums(count: int) -> ModuleOp:
    """Every op adds the results of all before it: as many edges as there can be."""

    def build(block: Block) -> SSAValue:
        values: list[SSAValue] = [block.args[0]]
        total: SSAValue = block.args[0]
        while len(values) < count:
            for value in tuple(values[-20:]):
                total = added(block, graph.AddOp(total, value))
                if len(values) < count:
                    values.append(total)
        return total

    return module_of((8, 8), build=build)


def residuals(count: int) -> ModuleOp:
    """Convolutions with bias, activation and a residual."""

    def build(block: Block) -> SSAValue:
        x, w, b = block.args
        value: SSAValue = x
        for _ in range(count // 4):
            conv = graph.Conv2dOp(value, w, padding=(1, 1, 1, 1))
            biased = added(block, graph.AddOp(added(block, conv), b))
            value = added(block, graph.ReluOp(added(block, graph.AddOp(biased, value))))
        return value

    return module_of((1, 8, 8, 8), (8, 8, 3, 3), (8, 1, 1), build=build)


def rows(count: int) -> ModuleOp:
    """Layer normalisations, one after the other."""

    def build(block: Block) -> SSAValue:
        value: SSAValue = block.args[0]
        for _ in range(count // 6):
            mean = added(block, graph.ReduceOp("mean", value, [1], True))
            centred = added(block, graph.SubOp(value, mean))
            square = added(block, graph.MulOp(centred, centred))
            variance = added(block, graph.ReduceOp("mean", square, [1], True))
            factor = added(block, graph.RsqrtOp(variance))
            value = added(block, graph.MulOp(centred, factor))
        return value

    return module_of((64, 64), build=build)


def measure(module: ModuleOp, ctx: Context) -> tuple[list[float], int, int]:
    """Seconds of each pass, and how many kernels and calls of them there are."""
    seconds: list[float] = []
    for name in PASSES:
        pipeline = parse_pipeline(name, registry().passes, ctx)
        start = perf_counter()
        pipeline.apply(ctx, module)
        seconds.append(perf_counter() - start)
    kernels = sum(isinstance(op, tir.FuncOp) for op in module.ops)
    calls = sum(isinstance(op, tir.CallOp) for op in module.walk())
    return seconds, kernels, calls


def main() -> None:
    """Print a line for each graph."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip())
    parser.add_argument("-n", type=int, default=5000, help="ops of the chains")
    parser.add_argument("--models", nargs="*", default=[], type=Path)
    arguments = parser.parse_args()
    ctx = new_context()
    count: int = arguments.n
    graphs: list[tuple[str, Callable[[], ModuleOp]]] = [
        (f"chain of {count}", lambda: chain(count)),
        (f"chain of {count // 4}", lambda: chain(count // 4)),
        (f"residuals, {count}", lambda: residuals(count)),
        (f"rows, {count}", lambda: rows(count)),
        (f"dense, {count // 10}", lambda: dense(count // 10)),
        (f"sums, {count // 10}", lambda: sums(count // 10)),
        *(
            (path.name, lambda p=path: transom.lower(transom.load(p), "placed"))
            for path in arguments.models
        ),
    ]
    heads = "".join(f"{name.removeprefix('convert-'):>22}" for name in PASSES)
    print(f"{'seconds':24}{heads}   kernels / calls")
    for name, make in graphs:
        module = make()
        with counted() as counts:
            seconds, kernels, calls = measure(module, ctx)
        found = counts["convert-graph-to-tir"].found
        cells = "".join(f"{s:22.3f}" for s in seconds)
        print(f"{name:24}{cells}   {kernels} / {calls}, {found} from the cache")


if __name__ == "__main__":
    main()
