"""
The functions that a target owns, and a module that shows those of some targets only.

A target owns the graph functions that were outlined for it and the kernels made of
them. Other functions, such as main, are nobody's, and so are functions that are only
kept because they have been lowered.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, Region

from transom.dialects.symbols import symbol_name
from transom.dialects.target import LOWERED_TO, TargetAttr, place_of, target_of

HOST_DIALECTS = frozenset(
    {"arith", "cf", "executor", "func", "memref", "scf", "tensor", "tir"}
)
"""Dialects whose ops, on the top level of a function, make it one of the host."""

BORDER_OPS = frozenset({"graph.copy", "graph.on_device", "graph.region"})
"""Ops of `graph` between places, which no single place computes."""


def is_region(func: FuncOp) -> bool:
    """
    Whether a function is one that a target owns before it is lowered: private, with a
    place, and one block of nothing but what a place computes.
    """
    return (
        func.sym_visibility == StringAttr("private")
        and place_of(func) is not None
        and LOWERED_TO not in func.attributes
        and len(func.body.blocks) == 1
        and all(is_of_a_place(op) for op in func.body.block.ops)
    )


def is_of_a_place(op: Operation) -> bool:
    """Whether an op may be part of what a single place computes."""
    if isinstance(op, ReturnOp):
        return True
    host = op.name.partition(".")[0] in HOST_DIALECTS
    return not host and op.name not in BORDER_OPS


def is_kernel(op: Operation) -> bool:
    """Whether an op is a kernel with a body."""
    return op.name == "tir.func" and bool(op.regions[0].blocks)


def owner_of(op: Operation) -> TargetAttr | None:
    """The target that owns a function, if one does."""
    if is_kernel(op) or (isinstance(op, FuncOp) and is_region(op)):
        return target_of(op)
    return None


def owned_by(module: ModuleOp, target: TargetAttr) -> tuple[Operation, ...]:
    """The functions of a module that a target owns, in order."""
    return tuple(op for op in module.body.ops if owner_of(op) == target)


@dataclass(frozen=True)
class FunctionFilter:
    """
    Whose functions the passes of a pipeline see: those of the targets `only`, or those
    of all targets `without` some.
    """

    only: tuple[TargetAttr, ...] | None = None
    without: tuple[TargetAttr, ...] = ()

    def __post_init__(self) -> None:
        if self.only is not None and self.without:
            raise ValueError("expected 'only' or 'without', but got both")

    @property
    def sees_all(self) -> bool:
        """Whether no function is hidden."""
        return self.only is None and not self.without

    def sees(self, owner: TargetAttr | None) -> bool:
        """Whether the functions of an owner are seen."""
        if self.only is not None:
            return owner in self.only
        return owner is None or owner not in self.without

    @contextmanager
    def applied(self, module: ModuleOp) -> Generator[None]:
        """
        Show a module without the bodies of the functions that are not to be seen.

        They are declarations meanwhile, so that calls of them verify and no pass finds
        anything to do in them. A function that is gone afterwards is gone.
        """
        if self.sees_all:
            yield
            return
        hidden = self._hide(module)
        token = _VIEWS.set((*_VIEWS.get(), _View(module, self, hidden)))
        try:
            yield
        finally:
            _VIEWS.reset(token)
            _restore(module, hidden)

    def _hide(self, module: ModuleOp) -> "list[_Hidden]":
        hidden: list[_Hidden] = []
        for op in module.body.ops:
            owner = owner_of(op)
            kept = LOWERED_TO in op.attributes
            if kept or (owner is not None and not self.sees(owner)):
                body = op.regions[0]
                op.detach_region(body)
                op.add_region(Region())
                hidden.append(_Hidden(op, body))
        return hidden


EVERYTHING = FunctionFilter()
"""The filter that hides nothing."""


class _Hidden(NamedTuple):
    function: Operation
    body: Region


class _View(NamedTuple):
    module: ModuleOp
    shown: FunctionFilter
    hidden: Sequence[_Hidden]


_VIEWS: ContextVar[tuple[_View, ...]] = ContextVar("views of modules", default=())
"""The filters that are applied at the moment, the innermost last."""


def shown_now(module: ModuleOp) -> FunctionFilter:
    """The filter by which a module is shown at the moment."""
    views = [view.shown for view in _VIEWS.get() if view.module is module]
    return views[-1] if views else EVERYTHING


def whole_copy(module: ModuleOp) -> ModuleOp:
    """A copy of a module, also of what is hidden in it at the moment."""
    copy = module.clone()
    functions = {symbol_name(op): op for op in copy.body.ops}
    for view in _VIEWS.get():
        for function, body in view.hidden if view.module is module else ():
            declared = functions.get(symbol_name(function))
            if declared is None or type(declared) is not type(function):
                continue
            if not declared.regions[0].blocks:
                declared.detach_region(declared.regions[0])
                declared.add_region(body.clone())
    return copy


def _restore(module: ModuleOp, hidden: Sequence[_Hidden]) -> None:
    by_name: dict[str | None, Operation] = {}
    for function, body in hidden:
        if function.parent is not module.body.block:
            # A pass may have put a copy in its place.
            by_name = by_name or {symbol_name(op): op for op in module.body.ops}
            copy = by_name.get(symbol_name(function))
            if type(copy) is not type(function) or copy is None or is_kernel(copy):
                continue
            function = copy
        function.detach_region(function.regions[0])
        function.add_region(body)
