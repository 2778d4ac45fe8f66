"""
How long it takes to choose targets for the ops of large graphs, and to make functions
of what was chosen.

```
python -m benchmarks.partition_speed [CASE …] [--half]
```

Each case is timed at its size and at half of it: a factor of about two says that time
grows with the ops, and no faster. Times are CPU seconds of one thread.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from time import thread_time
from typing import ClassVar, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import (
    I64,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    f32,
    f64,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import irdl_attr_definition
from xdsl.passes import ModulePass

from transom.dialects import graph
from transom.dialects.target import DeviceOp, TargetAttr
from transom.passes.graph_outline_regions import GraphOutlineRegionsPass
from transom.passes.graph_patterns import Match, Pattern, op, optional, repeated, value
from transom.passes.target_plan_devices import TargetPlanDevicesPass
from transom.targets.claim_ops import TargetClaimOpsPass
from transom.targets.graph_search_partition import GraphSearchPartitionPass
from transom.targets.hooks import Accepted, AnyClaim, Claim, PatternClaim, TargetHooks
from transom.targets.registry import given_hooks

LAUNCH = 3e-6
"""Seconds for each region: it may be better to stay with a slower target."""

KINDS = (graph.ReluOp, graph.NegOp, graph.ExpOp, graph.AbsOp)


@irdl_attr_definition
class SpeedAttr(TargetAttr):
    """One of several targets that claim different ops."""

    name = "speed.target"

    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {"number": IntegerAttr(0, i64)}

    number: IntegerAttr[I64]


class SpeedTarget(TargetHooks[SpeedAttr]):
    """Claims single ops, of which each target has other ones, and patterns."""

    attr_type = SpeedAttr

    def claims(self, target: SpeedAttr) -> Sequence[AnyClaim]:
        number = target.number.value.data
        kinds = [kind for index, kind in enumerate(KINDS) if number in (0, index)]
        kinds += [graph.ConcatOp, graph.ReduceOp, graph.AddOp]
        cost = (5 - number) * 1e-6  # those that come later are faster

        def accept(op: Operation) -> Accepted:
            return Accepted(cost)

        def accept_match(match: Match) -> Accepted:
            return Accepted(cost * len(match.ops) * 0.9)

        chain = repeated(lambda t: op(kinds[0], t), op(kinds[0], value()), at_most=4)
        sums = op(graph.AddOp, optional(lambda t: op(kinds[0], t), value()), value())
        return (
            *(Claim(kind, accept) for kind in kinds),
            PatternClaim(Pattern(chain), accept_match, f"speed.chain{number}", True),
            PatternClaim(Pattern(sums), accept_match, f"speed.sum{number}", True),
        )


def module_of(targets: int, build: Callable[[Block], SSAValue]) -> ModuleOp:
    """`main` computes what `build` adds to its block."""
    block = Block(arg_types=[graph.tensor((1, 8), f32)])
    result = build(block)
    block.add_op(ReturnOp(result))
    func = FuncOp("main", (block.arg_types, [result.type]), Region(block))
    numbers = [SpeedAttr(IntegerAttr(n, i64)) for n in range(targets)]
    device = DeviceOp("soc", numbers)
    device.launch = FloatAttr(LAUNCH, f64)
    return ModuleOp([device, func])


def added(block: Block, op: graph.GraphOp) -> SSAValue:
    block.add_op(op)
    return op.results[0]


def chain(count: int) -> ModuleOp:
    """Element-wise ops, each on the result of the one before."""

    def build(block: Block) -> SSAValue:
        at: SSAValue = block.args[0]
        for index in range(count):
            at = added(block, KINDS[index % 3](at))
        return at

    return module_of(1, build)


def dense(layers: int) -> ModuleOp:
    """Layers that each concatenate the results of all before (DenseNet-121)."""

    def build(block: Block) -> SSAValue:
        values: list[SSAValue] = [block.args[0]]
        for _ in range(layers):
            joined = added(block, graph.ConcatOp(values, 0))
            summed = added(block, graph.ReduceOp("sum", joined, (0,), True))
            values.append(added(block, graph.ReluOp(summed)))
        return values[-1]

    return module_of(1, build)


def four_targets(count: int) -> ModuleOp:
    """Ops on what was computed a while before, which four targets claim in part."""

    def build(block: Block) -> SSAValue:
        values: list[SSAValue] = [block.args[0]]
        for index in range(count):
            near = values[-1 - index % min(5, len(values))]
            if index % 3 == 2:
                values.append(added(block, graph.AddOp(values[-1], near)))
            else:
                values.append(added(block, KINDS[(index * 7) % 4](near)))
        return values[-1]

    return module_of(4, build)


class Case(NamedTuple):
    """A graph, and how large it is by default."""

    build: Callable[[int], ModuleOp]
    size: int
    choose: ModulePass


CASES = {
    "chain": Case(chain, 5000, TargetClaimOpsPass()),
    "dense": Case(dense, 121, TargetClaimOpsPass()),
    "four-targets": Case(four_targets, 2000, TargetClaimOpsPass()),
    "search-chain": Case(chain, 5000, GraphSearchPartitionPass()),
    "search-four-targets": Case(four_targets, 2000, GraphSearchPartitionPass()),
}


def seconds(case: Case, size: int) -> dict[str, float]:
    """CPU seconds by pass."""
    module, ctx = case.build(size), Context()
    times: dict[str, float] = {}
    with given_hooks(SpeedTarget()):
        passes = (case.choose, TargetPlanDevicesPass(), GraphOutlineRegionsPass())
        for pass_ in passes:
            begun = thread_time()
            pass_.apply(ctx, module)
            times[pass_.name] = thread_time() - begun
    return times


def main(args: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE")
    parser.add_argument("--half", action="store_true", help="also at half the size")
    options = parser.parse_args(args)
    for name in options.cases:
        case = CASES[name]
        sizes = (case.size // 2, case.size) if options.half else (case.size,)
        for size in sizes:
            times = seconds(case, size)
            parts = ", ".join(f"{name} {t:.2f}" for name, t in times.items())
            print(f"{name} {size}: {sum(times.values()):.2f} s ({parts})", flush=True)


if __name__ == "__main__":
    main()
