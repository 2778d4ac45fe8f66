"""
Check what a module promises when it has reached a phase.

Run by the driver after each phase; it changes nothing. Later phases keep what earlier
ones promised, as far as the ops that it was about still exist. Functions that carry a
phase of their own, and lowered ones that are only kept, are exempt from what they have
not reached or have left.
"""

from collections.abc import Callable, Collection, Iterator
from functools import cache
from typing import NamedTuple, NoReturn

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr, TensorType, UnregisteredOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects.diagnostics import OpError
from transom.dialects.limits import reason_against_size
from transom.dialects.symbols import lookup
from transom.dialects.target import (
    LOWERED_TO,
    PHASE,
    PHASES,
    MemoryOp,
    Planner,
    get_config,
    phase_of,
    place_of,
)
from transom.dialects.verifier import verify_module
from transom.dialects.walking import held_by, walk_ops

KEPT_GRAPH_OPS = frozenset({"graph.copy", "graph.weight", "graph.weight_ref"})
"""What is left of `graph` in main once kernels are made."""

REGION_BORDER_OPS = KEPT_GRAPH_OPS | {"graph.constant"}
"""What may stand outside regions once main is partitioned."""

LOWER_DIALECTS = frozenset({"tir", "executor", "llvm"})
"""What a module has none of before it is lowered."""

NUMBER_DIALECTS = frozenset({"arith", "math"})
"""What kernels compute on numbers, never on tensors."""

NESTED_LOOPS = frozenset({"tir.nest", "tir.block"})

EXECUTABLE_DIALECTS = frozenset(
    {"executor", "scf", "arith", "func", "cf", "ub", "memref", "math"}
)
"""Dialects of main before it becomes machine code; of `memref` only views."""

ALLOCATIONS = frozenset({"memref.alloc", "memref.alloca", "tir.alloc"})

MACHINE_DIALECTS = frozenset({"builtin", "llvm", "target"})
MACHINE_OPS = frozenset(
    {"executor.artifact", "executor.pool", "executor.messages", "graph.weight"}
)


def verify_phase(module: ModuleOp, phase: str) -> None:
    """
    Verify a module and the promise of a phase.

    Raises `OpError` at the first op that breaks it.
    """
    verify_module(module)
    verify_promise(module, phase)


class _Content(NamedTuple):
    """What a module holds, looked up once for all checks."""

    module: ModuleOp
    ops: list[Operation]
    """In order, without the expressions in weights: these stay at the graph level."""
    names: frozenset[str]
    """Of all of these ops."""

    def has(self, names: Collection[str] = (), dialects: Collection[str] = ()) -> bool:
        """Whether there are ops of some names or dialects."""
        return not self.names.isdisjoint(names) or any(
            _dialect_of(name) in dialects for name in self.names
        )


def verify_promise(module: ModuleOp, phase: str) -> None:
    """Check the promise of a phase of a module that verifies. Raises `OpError`."""
    ops = list(_walk(module))
    content = _Content(module, ops, frozenset([op.name for op in ops]))
    for name in PHASES[: PHASES.index(phase) + 1]:
        if name in _OF_ALL_LATER or name == phase:
            _CHECKS[name](content, phase)


def _verify_graph(content: _Content, phase: str) -> None:
    sizes: dict[int, tuple[Attribute, str | None]] = {}
    is_too_low = phase == "graph" and content.has(dialects=LOWER_DIALECTS)
    for op in content.ops:
        if op.name == ModuleOp.name and op is not content.module:
            _fail(op, phase, "no module in the module; its functions belong there")
        if isinstance(op, UnregisteredOp):
            _fail(op, phase, f"no unregistered op, but got '{op.op_name.data}'")
        for result in op.results:
            # By identity: equal types are mostly one object.
            known = sizes.get(id(result.type))
            if known is None:
                known = result.type, reason_against_size(result.type)
                sizes[id(result.type)] = known
            if known[1] is not None:
                raise OpError(op, known[1])
        if is_too_low and _dialect(op) in LOWER_DIALECTS:
            _fail(
                op,
                phase,
                f"no op of a lower level, but got '{op.name}'; if passes run by name "
                "have lowered the module, let 'target.config' say its phase",
            )


def _verify_placed(content: _Content, phase: str) -> None:
    default = get_config(content.module).default_place
    for op in content.ops:
        if op.name == "graph.on_device":
            _fail(op, phase, "no mark that is not resolved, but got 'graph.on_device'")
        if default is not None or not isinstance(op, FuncOp) or op.is_declaration:
            continue
        if place_of(op) is None:
            _fail(
                op,
                phase,
                f"a place for function '{op.sym_name.data}', "
                "its own or the default of the module",
            )


def _verify_partitioned(content: _Content, phase: str) -> None:
    for func in _functions(content):
        if place_of(func) is not None or LOWERED_TO in func.attributes:
            continue
        for op in walk_ops(func):
            if _dialect(op) == "graph" and op.name not in REGION_BORDER_OPS:
                _fail(op, phase, f"no '{op.name}' outside a function with a place")


def _verify_tensor(content: _Content, phase: str) -> None:
    if not content.has(dialects=("graph", "linalg", "tir", *NUMBER_DIALECTS)):
        return
    for op in content.ops:
        if op.name == "tir.func" and _has_body(op) and place_of(op) is None:
            _fail(op, phase, "a place for each kernel; 'target.for' says it")
        is_left = _dialect(op) == "linalg" or (
            _dialect(op) == "graph" and op.name not in KEPT_GRAPH_OPS
        )
        help = ""
        if _dialect(op) in NUMBER_DIALECTS and _computes_tensors(op):
            is_left = True
            help = (
                " on tensors; write the op of 'graph' that computes it, or "
                f"'linalg.map {{ {op.name} }}'"
            )
        if is_left:
            func = _function_of(op)
            if func is None or LOWERED_TO not in func.attributes:
                _fail(op, phase, f"no '{op.name}'{help}")


def _computes_tensors(op: Operation) -> bool:
    """Whether an op makes a tensor of others; constants do not."""
    return bool(op.operands) and any(isinstance(r.type, TensorType) for r in op.results)


def _verify_scheduled(content: _Content, phase: str) -> None:
    if not content.has(NESTED_LOOPS):
        return
    for op in content.ops:
        if op.name != "tir.func" or _own_phase_is_before(op, "scheduled"):
            continue
        for inner in walk_ops(op):
            if inner.name in NESTED_LOOPS:
                _fail(inner, phase, f"no '{inner.name}'")


def _verify_planned(content: _Content, phase: str) -> None:
    for func in _functions(content):
        if LOWERED_TO in func.attributes:
            _fail(
                func,
                phase,
                f"no function '{func.sym_name.data}' that is lowered already",
            )
        for op in walk_ops(func):
            for value in _values(op):
                if isinstance(value.type, TensorType):
                    _fail(op, phase, f"values on buffers, but '{op.name}' has a tensor")
            ref = op.properties.get("memory") if op.name == "tir.alloc" else None
            if isinstance(ref, SymbolRefAttr) and "offset" not in op.properties:
                name = ref.string_value()
                memory = lookup(op, name)
                if isinstance(memory, MemoryOp) and memory.planner is Planner.TARGET:
                    _fail(
                        op,
                        phase,
                        f"an offset of each buffer of memory '@{name}', which its "
                        "target plans",
                    )


def _verify_executable(content: _Content, phase: str) -> None:
    for func in _functions(content):
        for op in walk_ops(func):
            if _dialect(op) not in EXECUTABLE_DIALECTS or op.name in ALLOCATIONS:
                _fail(op, phase, f"no '{op.name}' in main")


def _verify_machine(content: _Content, phase: str) -> None:
    for op in content.ops:
        if op.name == "builtin.unrealized_conversion_cast" or (
            _dialect(op) not in MACHINE_DIALECTS and op.name not in MACHINE_OPS
        ):
            _fail(op, phase, f"no '{op.name}'")


_CHECKS: dict[str, Callable[[_Content, str], None]] = {
    "graph": _verify_graph,
    "placed": _verify_placed,
    "partitioned": _verify_partitioned,
    "tensor": _verify_tensor,
    "scheduled": _verify_scheduled,
    "planned": _verify_planned,
    "executable": _verify_executable,
    "machine": _verify_machine,
}

_OF_ALL_LATER = frozenset({"graph", "tensor", "scheduled"})
"""Phases whose promise still makes sense of a module that is beyond them."""


def _fail(op: Operation, phase: str, expected: str) -> NoReturn:
    raise OpError(op, f"phase '{phase}' expects {expected}")


def _dialect(op: Operation) -> str:
    return _dialect_of(op.name)


@cache
def _dialect_of(name: str) -> str:
    return name.partition(".")[0]


def _walk(module: ModuleOp) -> Iterator[Operation]:
    stack: list[Operation] = [module]
    while stack:
        op = stack.pop()
        yield op
        if op.regions and op.name != "graph.weight":
            stack += held_by(op)


def _functions(content: _Content) -> Iterator[FuncOp]:
    for op in content.ops:
        if isinstance(op, FuncOp) and _has_body(op):
            yield op


def _own_phase_is_before(func: Operation, phase: str) -> bool:
    """True for a function that says that it stays behind the module."""
    own = phase_of(func) if PHASE in func.attributes else None
    return own is not None and PHASES.index(own) < PHASES.index(phase)


def _has_body(op: Operation) -> bool:
    return any(region.blocks for region in op.regions)


def _function_of(op: Operation) -> FuncOp | None:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        parent = parent.parent_op()
    return parent


def _values(op: Operation) -> Iterator[SSAValue]:
    yield from op.operands
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.args
