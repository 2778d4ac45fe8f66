"""
The executor `graph`: main as a readable list of nodes, with branches and loops as
nested graphs, which calls kernels one by one.

```json
{"op": "executor.view", "out": ["z"], "pool": "workspace", "offset": 0,
 "type": "float32[4]"},
{"op": "executor.call", "in": ["x", "z"], "kernel": "exp_0123abcd", "writes": [1]}
```

A graph is checked when it is loaded: ops, names, numbers of values, kernels and types.
It takes and gives what the compiled main does, so that a program (`Program`) does not
know which of the two runs.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from transom.runtime import main_ops as ops
from transom.runtime.main_failures import MainError, MainFailure
from transom.runtime.main_kernels import FindFunction, Kernel
from transom.runtime.main_memory import Allocator
from transom.runtime.main_ops import Compute, Environment, Step, values_of
from transom.runtime.main_values import (
    Observer,
    PoolMemory,
    Run,
    Type,
    entry_of,
    shapes_of,
)
from transom.runtime.signature import Array

FORMAT, VERSION = "transom-graph", 2

Json = dict[str, Any]


class Return(Exception):
    """Values that a function is left with."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values


class MainGraph:
    """A graph that is loaded, with the functions that it calls."""

    def __init__(
        self,
        text: str,
        function: FindFunction,
        constants: Mapping[str, Array],
        pools: Sequence[PoolMemory],
    ) -> None:
        """Raises `MainError` for a graph that is wrong."""
        try:
            graph = json.loads(text)
            if graph.get("format") != FORMAT or graph.get("version") != VERSION:
                raise MainError(f"expected '{FORMAT}' of version {VERSION}")
            self.constants, self.pools = constants, pools
            self.allocator = Allocator()
            self.kernels = {
                name: Kernel(
                    name,
                    kernel["symbol"],
                    [Type.parse(text) for text in kernel["types"]],
                    bool(kernel["status"]),
                    function,
                )
                for name, kernel in graph["kernels"].items()
            }
            self.functions: dict[str, _Function] = {}
            for name in graph["functions"]:
                self.functions[name] = _Function()
            for name, body in graph["functions"].items():
                self.functions[name].load(self, body)
        except (AttributeError, KeyError, TypeError, RecursionError) as e:
            raise MainError(f"the graph is damaged: {e}") from e
        except json.JSONDecodeError as e:
            raise MainError(f"the graph is no JSON: {e}") from e

    def entry(
        self, name: str, count: int, observer: Observer | None = None
    ) -> Callable[..., int]:
        """See `Walked`."""
        function = self.function(name)
        call, types = function.call, function.types
        return entry_of(call, types, count, self.pools, self.allocator, observer)

    def function(self, name: str) -> "_Function":
        """A function by name. Raises `MainError` if there is none."""
        if name not in self.functions:
            raise MainError(f"expected a function '{name}'")
        return self.functions[name]

    def shapes(self, name: str) -> Callable[..., int]:
        """See `Walked`."""
        return shapes_of(self.function(name).call, self.allocator)


class _Function:
    """A function of main's module."""

    def __init__(self) -> None:
        self.types: list[Type] = []

    def load(self, graph: MainGraph, body: Json) -> None:
        loader = _Loader(graph)
        self.types = [Type.parse(text) for text in body["types"]]
        slots = [loader.define(name) for name in body["arguments"]]
        if len(slots) != len(self.types):
            raise MainError("expected a type for each argument")
        self.slots = slots
        self.steps = loader.steps(body["nodes"], "")
        self.size = loader.count

    def call(self, values: Sequence[Any], run: Run) -> Sequence[Any]:
        environment: Environment = [None] * self.size
        for slot, value in zip(self.slots, values, strict=True):
            environment[slot] = value
        try:
            for step in self.steps:
                step(environment, run)
        except Return as left:
            return left.values
        return ()


class _Loader:
    """Makes steps of the nodes of a function."""

    def __init__(self, graph: MainGraph) -> None:
        self.graph = graph
        self.slots: dict[str, int] = {}
        self.count = 0

    def define(self, name: str) -> int:
        if name in self.slots:
            raise MainError(f"'{name}' is defined twice")
        self.slots[name] = self.count
        self.count += 1
        return self.slots[name]

    def slot(self, name: str) -> int:
        if name not in self.slots:
            raise MainError(f"'{name}' is not defined here")
        return self.slots[name]

    def steps(self, nodes: Sequence[Json], place: str) -> list[Step]:
        return [
            self.step(node, f"{place}{number}") for number, node in enumerate(nodes)
        ]

    def nested(self, part: Json, place: str) -> tuple[list[int], list[Step], list[int]]:
        """The arguments, steps and results of a nested graph; its names are its own."""
        outside = dict(self.slots)
        arguments = [self.define(name) for name in part["arguments"]]
        steps = self.steps(part["nodes"], f"{place}.")
        results = [self.slot(name) for name in part["results"]]
        self.slots = outside
        return arguments, steps, results

    def step(self, node: Json, place: str) -> Step:
        kind = node["op"]
        ins = [self.slot(name) for name in node.get("in", ())]
        make = _MAKERS.get(kind)
        if make is None:
            raise MainError(f"unknown op '{kind}'")
        step, outs = make(self, node, ins, place)
        found = [self.define(name) for name in node.get("out", ())]
        if len(found) != outs:
            raise MainError(f"'{kind}': expected {outs} results, but got {len(found)}")
        return ops.bound(step, found)


Made = tuple[Compute, int]
"""What a node does, and how many results it has."""

Maker = Callable[[_Loader, Json, list[int], str], Made]
_MAKERS: dict[str, Maker] = {}


def _maker(*names: str) -> Callable[[Maker], Maker]:
    def register(maker: Maker) -> Maker:
        _MAKERS.update(dict.fromkeys(names, maker))
        return maker

    return register


def _type(node: Json) -> Type:
    return Type.parse(node["type"])


# Numbers.


@_maker("arith.constant")
def _constant(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    value = ops.number(_type(node), node["value"])
    return lambda environment, run: (value,), 1


@_maker(*ops.SCALAR_OPS)
def _arithmetic(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    return ops.arithmetic(node["op"], ins, _type(node)), 1


@_maker("arith.cmpi", "arith.cmpf")
def _compare(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    return ops.comparison(node["op"], node["predicate"], ins), 1


@_maker("arith.select")
def _select(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    return ops.selection(ins), 1


@_maker("cf.assert")
def _assert(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    return ops.assertion(ins, str(node["message"])), 0


# Memory.


@_maker("executor.view")
def _view(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    names = [pool.name for pool in loader.graph.pools]
    pool, offset, type = names.index(node["pool"]), int(node["offset"]), _type(node)
    static = type.static_bytes
    reserved = int(node["reserved"]) if static is None else static
    if len(type.open_axes) != len(ins) or offset < 0:
        raise MainError("expected a view with a size for each that is not known")
    if offset + reserved > loader.graph.pools[pool].size:
        raise MainError(f"expected a view within pool '{names[pool]}'")
    return ops.view(type, pool, offset, reserved, ins), 1


@_maker("executor.alloc")
def _alloc(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    return ops.allocation(_type(node), int(node["alignment"]), ins), 1


@_maker("executor.free")
def _free(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    return ops.giving_back(ins), 0


@_maker("executor.copy", "memref.copy")
def _copy(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    return ops.copy(ins), 0


@_maker("executor.sync")
def _sync(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    return lambda environment, run: (), 0


@_maker("executor.constant")
def _weight(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    return ops.weight(_type(node), node["weight"], loader.graph.constants), 1


@_maker("memref.dim")
def _dim(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    return ops.size_of(ins), 1


@_maker("memref.load")
def _load(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    return ops.load(ins), 1


@_maker("memref.store")
def _store(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    return ops.store(ins), 0


@_maker("memref.cast", "memref.memory_space_cast")
def _same(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    return ops.same_memory(_type(node), ins), 1


@_maker("memref.view")
def _bytes_as(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    return ops.byte_view(_type(node), ins), 1


@_maker("memref.subview")
def _subview(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    parts = [node[name] for name in ("offsets", "sizes", "strides")]
    dropped = node["dropped"]
    if len(parts[0]) - len(dropped) != len(_type(node).shape or ()):
        raise MainError("expected as many sizes as the part has")
    return ops.part(parts, dropped, ins), 1


@_maker("memref.collapse_shape")
def _collapse(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    return ops.collapse(node["groups"], ins), 1


@_maker("memref.expand_shape")
def _expand(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    return ops.expand(_type(node), ins), 1


# Calls and control flow.


@_maker("executor.call")
def _call(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    kernel = loader.graph.kernels[node["kernel"]]
    names, writes = node["in"], [int(i) for i in node["writes"]]
    if len(kernel.types) != len(ins) or any(not 0 <= i < len(ins) for i in writes):
        raise MainError(f"expected {len(kernel.types)} arguments of '{kernel.name}'")
    return ops.kernel_call(kernel, ins, names, writes, place), 0


@_maker("func.call", "executor.shape_call")
def _function_call(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    function = loader.graph.functions[node["function"]]
    return (
        lambda env, run: function.call(values_of(env, ins), run),
        len(node.get("out", ())),
    )


@_maker("func.return")
def _return(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    def leave(environment: Environment, run: Run) -> Sequence[Any]:
        raise Return(values_of(environment, ins))

    return leave, 0


def _run(steps: Sequence[Step], environment: Environment, run: Run) -> None:
    for step in steps:
        step(environment, run)


@_maker("scf.if")
def _if(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    (condition,) = ins
    count = len(node.get("out", ()))
    arms = [loader.nested(node[name], f"{place}.{name}") for name in ("then", "else")]
    if any(len(results) != count for _, _, results in arms):
        raise MainError("expected each branch to give all results")

    def branch(environment: Environment, run: Run) -> Sequence[Any]:
        _, steps, results = arms[0 if environment[condition] else 1]
        _run(steps, environment, run)
        return values_of(environment, results)

    return branch, count


@_maker("scf.for")
def _for(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    lower, _upper, _step, *carried = ins
    arguments, steps, results = loader.nested(node["body"], place)
    if not len(carried) + 1 == len(arguments) == len(results) + 1:
        raise MainError("expected the values that a loop carries")

    def loop(environment: Environment, run: Run) -> Sequence[Any]:
        first, end, stride = (int(v) for v in values_of(environment, ins[:3]))
        if stride <= 0:
            raise MainFailure(f"a loop in steps of {stride}")
        values = values_of(environment, carried)
        dtype = environment[lower].dtype
        for index in range(first, end, stride):
            for slot, value in zip(
                arguments, (dtype.type(index), *values), strict=True
            ):
                environment[slot] = value
            _run(steps, environment, run)
            values = values_of(environment, results)
        return values

    return loop, len(carried)


@_maker("scf.while")
def _while(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    before = loader.nested(node["before"], f"{place}.before")
    after = loader.nested(node["after"], f"{place}.after")
    if len(before[2]) != len(after[0]) + 1 or len(after[2]) != len(before[0]):
        raise MainError("expected the values that a loop carries")

    def loop(environment: Environment, run: Run) -> Sequence[Any]:
        values = values_of(environment, ins)
        while True:
            for slot, value in zip(before[0], values, strict=True):
                environment[slot] = value
            _run(before[1], environment, run)
            condition, *values = values_of(environment, before[2])
            if not condition:
                return values
            for slot, value in zip(after[0], values, strict=True):
                environment[slot] = value
            _run(after[1], environment, run)
            values = values_of(environment, after[2])

    return loop, len(node.get("out", ()))


OPS = frozenset(_MAKERS)
"""What a node can be."""
