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

import ctypes
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from transom.runtime.graph_scalars import (
    BINARY,
    CASTS,
    FLOAT_PREDICATES,
    INTEGER_PREDICATES,
    GraphRunError,
)
from transom.runtime.signature import Array, dtype_of

FORMAT, VERSION = "transom-graph", 1

Json = dict[str, Any]
Environment = list[Any]


class GraphError(ValueError):
    """A graph that is none, or is damaged."""


class GraphFailure(Exception):
    """A check of main that failed."""


class Ended(Exception):
    """A kernel that ended with a status other than 0."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Return(Exception):
    """Values that a function is left with."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values


class Type(NamedTuple):
    """A number, or memory of numbers: `int64`, `float32[4,?]`."""

    dtype: np.dtype[Any]
    shape: tuple[int | None, ...] | None

    @classmethod
    def parse(cls, text: str) -> "Type":
        name, bracket, rest = text.partition("[")
        try:
            dtype = dtype_of(name)
            if not bracket:
                return cls(dtype, None)
            if not rest.endswith("]"):
                raise ValueError(rest)
            sizes = rest[:-1].split(",") if rest != "]" else []
            return cls(dtype, tuple(None if s == "?" else int(s) for s in sizes))
        except (TypeError, ValueError):
            raise GraphError(f"expected a type, but got '{text}'") from None

    def sized(self, sizes: Sequence[Any]) -> tuple[int, ...]:
        """The shape, with sizes in the place of those that are not known."""
        assert self.shape is not None, "of memory"
        rest = iter(sizes)
        return tuple(int(next(rest)) if s is None else s for s in self.shape)


C_SCALARS = {
    "bool": ctypes.c_bool,
    "int8": ctypes.c_int8,
    "int16": ctypes.c_int16,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}


@dataclass(frozen=True)
class KernelCall:
    """A call of a kernel that was watched."""

    node: str
    """Its number, behind those of the nodes around it: `3.0`."""
    kernel: str
    seconds: float
    written: Mapping[str, Array]
    """The memory that it has written, by name; it changes when the program goes on."""


Observer = Callable[[KernelCall], None]
"""Told of each call of a kernel when it is done."""


class Run:
    """One call: its pools, and who watches."""

    def __init__(self, pools: Sequence[int], observer: Observer | None) -> None:
        self.pools = pools
        self.observer = observer


Step = Callable[[Environment, Run], None]


def memory_at(address: int, dtype: np.dtype[Any], shape: Sequence[int]) -> Array:
    """An array on memory that somebody else owns."""
    count = 1
    for size in shape:
        count *= size
    size = count * dtype.itemsize
    if size == 0:
        return np.empty(shape, dtype)
    buffer = (ctypes.c_char * size).from_address(address)
    found: Array = np.frombuffer(cast(Any, buffer), dtype, count)
    return found.reshape(shape)


class MainGraph:
    """A graph that is loaded, with the functions that it calls."""

    def __init__(
        self,
        text: str,
        function: Callable[[str, Any, Sequence[Any]], Any],
        constants: Mapping[str, Array],
        pools: Sequence[str],
    ) -> None:
        """
        `function` gives the C function of a symbol, by result and arguments. Raises
        `GraphError` for a graph that is wrong.
        """
        try:
            graph = json.loads(text)
            if graph.get("format") != FORMAT or graph.get("version") != VERSION:
                raise GraphError(f"expected '{FORMAT}' of version {VERSION}")
            self.constants, self.pools = constants, list(pools)
            self.kernels = {
                name: _Kernel(name, kernel, function)
                for name, kernel in graph["kernels"].items()
            }
            self.functions: dict[str, _Function] = {}
            for name in graph["functions"]:
                self.functions[name] = _Function()
            for name, body in graph["functions"].items():
                self.functions[name].load(self, body)
        except (AttributeError, KeyError, TypeError, RecursionError) as e:
            raise GraphError(f"the graph is damaged: {e}") from e
        except json.JSONDecodeError as e:
            raise GraphError(f"the graph is no JSON: {e}") from e

    def entry(self, name: str, observer: Observer | None = None) -> Callable[..., int]:
        """
        A function that takes what the compiled one of that name takes, and gives a
        status. Raises `GraphFailure` with a message instead of giving its number.
        """
        function = self.functions[name]

        def run(*arguments: int) -> int:
            rest = iter(arguments)
            values: list[Any] = []
            for type in function.types:
                if type.shape is None:
                    values.append(type.dtype.type(next(rest)))
                    continue
                address = next(rest)
                sizes = [next(rest) for size in type.shape if size is None]
                values.append(memory_at(address, type.dtype, type.sized(sizes)))
            results = [next(rest) for _ in range(function.results)]
            pools = list(rest)
            try:
                found = function.call(values, Run(pools, observer))
            except Ended as e:
                return e.status
            if results:
                for number, value in enumerate(found):
                    ctypes.c_int64.from_address(results[0] + 8 * number).value = value
            return 0

        return run

    def shapes(self, name: str) -> Callable[..., int]:
        """The function that writes the sizes of outputs to its last argument."""
        function = self.functions[name]

        def run(*arguments: int) -> int:
            *sizes, target = arguments
            found = function.call([np.int64(n) for n in sizes], Run((), None))
            for number, value in enumerate(found):
                ctypes.c_int64.from_address(target + 8 * number).value = int(value)
            return 0

        return run


class _Kernel:
    """A C function with what it takes."""

    def __init__(
        self,
        name: str,
        kernel: Json,
        function: Callable[[str, Any, Sequence[Any]], Any],
    ) -> None:
        self.name = name
        self.types = [Type.parse(text) for text in kernel["types"]]
        arguments: list[Any] = []
        for type in self.types:
            if type.shape is None:
                arguments.append(C_SCALARS[type.dtype.name])
            else:
                arguments.append(ctypes.c_void_p)
                arguments += [ctypes.c_int64] * type.shape.count(None)
        result = ctypes.c_int32 if kernel["status"] else None
        self.function = function(kernel["symbol"], result, arguments)

    def call(self, values: Sequence[Any]) -> None:
        arguments: list[Any] = []
        for type, value in zip(self.types, values, strict=True):
            if type.shape is None:
                arguments.append(value.item())
                continue
            arguments.append(value.ctypes.data)
            arguments += [
                size
                for known, size in zip(type.shape, value.shape, strict=True)
                if known is None
            ]
        if status := self.function(*arguments):
            raise Ended(status)


class _Function:
    """A function of main's module."""

    def __init__(self) -> None:
        self.types: list[Type] = []
        self.results = 0

    def load(self, graph: MainGraph, body: Json) -> None:
        loader = _Loader(graph)
        self.types = [Type.parse(text) for text in body["types"]]
        slots = [loader.define(name) for name in body["arguments"]]
        if len(slots) != len(self.types):
            raise GraphError("expected a type for each argument")
        self.slots = slots
        self.results = int(body.get("results", 0))
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
            raise GraphError(f"'{name}' is defined twice")
        self.slots[name] = self.count
        self.count += 1
        return self.slots[name]

    def slot(self, name: str) -> int:
        if name not in self.slots:
            raise GraphError(f"'{name}' is not defined here")
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
            raise GraphError(f"unknown op '{kind}'")
        step, outs = make(self, node, ins, place)
        found = [self.define(name) for name in node.get("out", ())]
        if len(found) != outs:
            raise GraphError(f"'{kind}': expected {outs} results, but got {len(found)}")
        return _bind(step, found)


Compute = Callable[[Environment, Run], Sequence[Any]]
Made = tuple[Compute, int]


def _bind(compute: Compute, outs: Sequence[int]) -> Step:
    if len(outs) == 1:
        (only,) = outs

        def single(environment: Environment, run: Run) -> None:
            (environment[only],) = compute(environment, run)

        return single

    def several(environment: Environment, run: Run) -> None:
        for out, value in zip(outs, compute(environment, run), strict=True):
            environment[out] = value

    return several


Maker = Callable[[_Loader, Json, list[int], str], Made]
_MAKERS: dict[str, Maker] = {}


def _maker(*names: str) -> Callable[[Maker], Maker]:
    def register(maker: Maker) -> Maker:
        _MAKERS.update(dict.fromkeys(names, maker))
        return maker

    return register


def _values(environment: Environment, ins: Sequence[int]) -> list[Any]:
    return [environment[slot] for slot in ins]


# Numbers.


@_maker("arith.constant")
def _constant(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    value = Type.parse(node["type"]).dtype.type(_number(node["value"]))
    return lambda environment, run: (value,), 1


def _number(value: Any) -> Any:
    return float.fromhex(value) if isinstance(value, str) else value


@_maker(*BINARY)
def _binary(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    function = BINARY[node["op"]]
    a, b = ins
    return lambda env, run: (function(env[a], env[b]),), 1


@_maker(*CASTS)
def _cast(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    function, dtype = CASTS[node["op"]], Type.parse(node["type"]).dtype
    (a,) = ins
    return lambda env, run: (function(env[a], dtype),), 1


@_maker("arith.cmpi", "arith.cmpf")
def _compare(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    table = INTEGER_PREDICATES if node["op"] == "arith.cmpi" else FLOAT_PREDICATES
    function = table[node["predicate"]]
    a, b = ins
    return lambda env, run: (np.bool_(function(env[a], env[b])),), 1


@_maker("arith.select")
def _select(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    condition, a, b = ins
    return lambda env, run: (env[a] if env[condition] else env[b],), 1


@_maker("cf.assert")
def _assert(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    (condition,), message = ins, str(node["message"])

    def check(environment: Environment, run: Run) -> Sequence[Any]:
        if not environment[condition]:
            raise GraphFailure(message)
        return ()

    return check, 0


# Memory.


@_maker("executor.view")
def _view(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    pool, offset = loader.graph.pools.index(node["pool"]), int(node["offset"])
    type = Type.parse(node["type"])
    if type.shape is None or type.shape.count(None) != len(ins) or offset < 0:
        raise GraphError("expected a view with a size for each that is not known")

    def view(environment: Environment, run: Run) -> Sequence[Any]:
        shape = type.sized(_values(environment, ins))
        return (memory_at(run.pools[pool] + offset, type.dtype, shape),)

    return view, 1


@_maker("executor.alloc")
def _alloc(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    type, alignment = Type.parse(node["type"]), int(node["alignment"])

    def allocate(environment: Environment, run: Run) -> Sequence[Any]:
        shape = type.sized(_values(environment, ins))
        size = type.dtype.itemsize
        for extent in shape:
            size *= max(extent, 0)
        try:
            memory = np.empty(size + alignment, np.uint8)
        except (MemoryError, ValueError):
            raise GraphFailure(f"no memory for {size} bytes") from None
        start = -memory.ctypes.data % alignment
        return (memory[start : start + size].view(type.dtype).reshape(shape),)

    return allocate, 1


@_maker("executor.free")
def _free(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    (slot,) = ins

    def free(environment: Environment, run: Run) -> Sequence[Any]:
        environment[slot] = None
        return ()

    return free, 0


@_maker("executor.copy", "memref.copy")
def _copy(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    source, target = ins

    def copy(environment: Environment, run: Run) -> Sequence[Any]:
        environment[target][...] = environment[source]
        return ()

    return copy, 0


@_maker("executor.sync")
def _sync(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    return lambda environment, run: (), 0


@_maker("executor.constant")
def _weight(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    array = loader.graph.constants[node["weight"]]
    shape = Type.parse(node["type"]).shape
    assert shape is not None, "weights are memory"
    value = array.reshape(cast("tuple[int, ...]", shape))
    return lambda environment, run: (value,), 1


@_maker("memref.dim")
def _dim(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    memory, axis = ins
    return lambda env, run: (np.int64(env[memory].shape[int(env[axis])]),), 1


def _at(memory: Array, indices: Sequence[Any]) -> tuple[int, ...]:
    places = tuple(map(int, indices))
    if any(not 0 <= i < n for i, n in zip(places, memory.shape, strict=True)):
        raise GraphFailure(f"index {list(places)} is outside of {list(memory.shape)}")
    return places


@_maker("memref.load")
def _load(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    memory, *indices = ins

    def load(environment: Environment, run: Run) -> Sequence[Any]:
        array = environment[memory]
        return (array[_at(array, _values(environment, indices))],)

    return load, 1


@_maker("memref.store")
def _store(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    value, memory, *indices = ins

    def store(environment: Environment, run: Run) -> Sequence[Any]:
        array = environment[memory]
        array[_at(array, _values(environment, indices))] = environment[value]
        return ()

    return store, 0


@_maker("memref.cast")
def _same(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    (slot,) = ins
    return lambda environment, run: (environment[slot],), 1


@_maker("memref.view")
def _bytes_as(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    memory, shift, *sizes = ins
    type = Type.parse(node["type"])

    def view(environment: Environment, run: Run) -> Sequence[Any]:
        shape = type.sized(_values(environment, sizes))
        start, count = int(environment[shift]), _product(shape) * type.dtype.itemsize
        array = environment[memory]
        if start < 0 or min(shape, default=0) < 0 or start + count > array.nbytes:
            raise GraphFailure("a part of memory is outside of it")
        return (array[start : start + count].view(type.dtype).reshape(shape),)

    return view, 1


@_maker("memref.subview")
def _subview(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    memory, *dynamic = ins
    parts = [node[name] for name in ("offsets", "sizes", "strides")]
    rank = len(Type.parse(node["type"]).shape or ())
    dropped = set(node["dropped"])
    if len(parts[0]) - len(dropped) != rank:
        raise GraphError("expected as many sizes as the part has")

    def subview(environment: Environment, run: Run) -> Sequence[Any]:
        rest = iter(_values(environment, dynamic))
        starts, sizes, steps = (
            [int(next(rest)) if n is None else n for n in numbers] for numbers in parts
        )
        array = environment[memory]
        for start, size, step, extent in zip(
            starts, sizes, steps, array.shape, strict=True
        ):
            last = start + (size - 1) * step
            if size < 0 or (size and not (0 <= start < extent and 0 <= last < extent)):
                raise GraphFailure("a part of memory is outside of it")
        picks = tuple(
            slice(start, start + size * step, step) if step > 0 else slice(start, None)
            for start, size, step in zip(starts, sizes, steps, strict=True)
        )
        part = array[picks]
        kept = [size for axis, size in enumerate(part.shape) if axis not in dropped]
        strides = [s for axis, s in enumerate(part.strides) if axis not in dropped]
        return (np.lib.stride_tricks.as_strided(part, kept, strides),)

    return subview, 1


@_maker("memref.collapse_shape", "memref.expand_shape")
def _reshape(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    memory, *sizes = ins
    type, groups = Type.parse(node["type"]), node.get("groups")
    assert type.shape is not None, "a view of memory"

    def reshape(environment: Environment, run: Run) -> Sequence[Any]:
        array, given = environment[memory], _values(environment, sizes)
        if groups is not None:
            shape = [_product(array.shape[axis] for axis in group) for group in groups]
        else:
            shape = list(type.sized(given))
        found = array.reshape(shape)
        assert found.size == 0 or np.shares_memory(found, array), "views copy nothing"
        return (found,)

    return reshape, 1


def _product(sizes: Any) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count


# Calls and control flow.


@_maker("executor.call")
def _call(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    kernel = loader.graph.kernels[node["kernel"]]
    names, writes = node["in"], [int(i) for i in node["writes"]]
    if len(kernel.types) != len(ins) or any(not 0 <= i < len(ins) for i in writes):
        raise GraphError(f"expected {len(kernel.types)} arguments of '{kernel.name}'")

    def call(environment: Environment, run: Run) -> Sequence[Any]:
        values = _values(environment, ins)
        if run.observer is None:
            kernel.call(values)
            return ()
        start = time.perf_counter()
        kernel.call(values)
        seconds = time.perf_counter() - start
        written = {names[i]: values[i] for i in writes}
        run.observer(KernelCall(place, kernel.name, seconds, written))
        return ()

    return call, 0


@_maker("func.call", "executor.shape_call")
def _function_call(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    function = loader.graph.functions[node["function"]]
    return (
        lambda env, run: function.call(_values(env, ins), run),
        len(node.get("out", ())),
    )


@_maker("func.return")
def _return(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    def leave(environment: Environment, run: Run) -> Sequence[Any]:
        raise Return(_values(environment, ins))

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
        raise GraphError("expected each branch to give all results")

    def branch(environment: Environment, run: Run) -> Sequence[Any]:
        _, steps, results = arms[0 if environment[condition] else 1]
        _run(steps, environment, run)
        return _values(environment, results)

    return branch, count


@_maker("scf.for")
def _for(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    lower, _upper, _step, *carried = ins
    arguments, steps, results = loader.nested(node["body"], place)
    if not len(carried) + 1 == len(arguments) == len(results) + 1:
        raise GraphError("expected the values that a loop carries")

    def loop(environment: Environment, run: Run) -> Sequence[Any]:
        first, end, stride = (int(v) for v in _values(environment, ins[:3]))
        if stride <= 0:
            raise GraphFailure(f"a loop in steps of {stride}")
        values = _values(environment, carried)
        dtype = environment[lower].dtype
        for index in range(first, end, stride):
            for slot, value in zip(
                arguments, (dtype.type(index), *values), strict=True
            ):
                environment[slot] = value
            _run(steps, environment, run)
            values = _values(environment, results)
        return values

    return loop, len(carried)


@_maker("scf.while")
def _while(loader: _Loader, node: Json, ins: list[int], place: str) -> Made:
    before = loader.nested(node["before"], f"{place}.before")
    after = loader.nested(node["after"], f"{place}.after")
    if len(before[2]) != len(after[0]) + 1 or len(after[2]) != len(before[0]):
        raise GraphError("expected the values that a loop carries")

    def loop(environment: Environment, run: Run) -> Sequence[Any]:
        values = _values(environment, ins)
        while True:
            for slot, value in zip(before[0], values, strict=True):
                environment[slot] = value
            _run(before[1], environment, run)
            condition, *values = _values(environment, before[2])
            if not condition:
                return values
            for slot, value in zip(after[0], values, strict=True):
                environment[slot] = value
            _run(after[1], environment, run)
            values = _values(environment, after[2])

    return loop, len(node.get("out", ()))


OPS = frozenset(_MAKERS)
"""What a node can be."""

__all__ = [
    "OPS",
    "GraphError",
    "GraphFailure",
    "GraphRunError",
    "KernelCall",
    "MainGraph",
]
