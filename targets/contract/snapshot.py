"""
A module as it was before a hook ran, and as it is now.
"""

from collections.abc import Iterator
from typing import NamedTuple

from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.utils.hints import isa

from transom.dialects import tir
from transom.dialects.executor import ArtifactOp
from transom.dialects.symbols import symbol_name, symbols_of
from transom.dialects.target import LOWERED_TO, PlaceAttr, TargetAttr, place_of
from transom.passes.owned_functions import is_kernel, owned_by
from transom.targets.contract.frozen import FrozenOp, freeze
from transom.targets.contract.function_changes import callee_of


class OwnedFunction(NamedTuple):
    """A function that the target owned, as it was."""

    op: Operation
    is_kernel: bool
    type: FunctionType
    effects: tuple[tir.Effect, ...]
    place: PlaceAttr | None
    is_public: bool


class Snapshot:
    """What a hook finds: the target's functions, and all else around them."""

    def __init__(self, module: ModuleOp, target: TargetAttr) -> None:
        self.symbols = dict(symbols_of(module))
        self.attributes = dict(module.attributes)
        owned = owned_by(module, target)
        self.owned = {name_of_symbol(op): owned_function(op) for op in owned}
        inside = set(owned)
        self.outside: dict[str, FrozenOp] = {}
        """What else has a name."""
        self.nameless: list[FrozenOp] = []
        """What has none, such as links."""
        for op in module.body.ops:
            name = symbol_name(op)
            if op in inside:
                continue
            if name is None:
                self.nameless.append(freeze(op))
            else:
                self.outside[name] = freeze(op)


def owned_function(op: Operation) -> OwnedFunction:
    """What is kept of a function that the target owns."""
    effects = op.argument_effects if isinstance(op, tir.FuncOp) else ()
    type = type_of(op)
    assert type is not None, "functions have a type"
    return OwnedFunction(op, is_kernel(op), type, effects, place_of(op), is_public(op))


def is_public(op: Operation) -> bool:
    """Whether a symbol is for others too: a function is, unless it says otherwise."""
    visibility = op.get_attr_or_prop("sym_visibility")
    if visibility is None:
        return isinstance(op, FuncOp)
    return visibility != StringAttr("private")


def name_of_symbol(op: Operation) -> str:
    """The name of an op that is a symbol."""
    name = symbol_name(op)
    assert name is not None, "it is a symbol"
    return name


def type_of(op: Operation) -> FunctionType | None:
    """The type of a function, a kernel or an artifact."""
    if isinstance(op, ArtifactOp):
        return op.signature
    return op.function_type if isinstance(op, FuncOp | tir.FuncOp) else None


def lowered_to(function: Operation) -> tuple[str, ...] | None:
    """The symbols that a function says it is lowered to, or None if it says nothing."""
    names = function.attributes.get(LOWERED_TO)
    if not isa(names, ArrayAttr[SymbolRefAttr]):
        return None
    return tuple(ref.root_reference.data for ref in names.data)


class CallSite(NamedTuple):
    """A call in a function that is not merely kept."""

    op: Operation
    function: Operation


class State:
    """A module after a hook ran."""

    def __init__(self, module: ModuleOp, before: Snapshot) -> None:
        self.module = module
        self.before = before
        self.symbols = dict(symbols_of(module))
        self.new = {n: op for n, op in self.symbols.items() if n not in before.symbols}
        self.removed = [n for n in before.symbols if n not in self.symbols]
        self.calls: dict[str, list[CallSite]] = {}
        for function in module.body.ops:
            if LOWERED_TO not in function.attributes:
                for callee, op in calls_in(function):
                    self.calls.setdefault(callee, []).append(CallSite(op, function))

    def is_ours(self, name: str) -> bool:
        """Whether a symbol is, or was, a function of the target, or is new."""
        return name in self.before.owned or name in self.new

    def new_name_of(self, op: Operation) -> str | None:
        """What an op of the module is called now, if it is in it still."""
        return symbol_name(op) if op.parent is self.module.body.block else None


def calls_in(function: Operation) -> Iterator[tuple[str, Operation]]:
    """The calls in a function, with their callees."""
    for op in function.walk():
        if op is not function and (callee := callee_of(op.properties)) is not None:
            yield callee, op
