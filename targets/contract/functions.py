"""
What becomes of the functions that a target owns: lowered, or still what they were; and
the places of all that is new.
"""

from typing import Any

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from transom.dialects import tir
from transom.dialects.executor import ArtifactOp
from transom.dialects.target import get_config, place_of, target_of
from transom.passes.owned_functions import is_of_a_place, is_region, owner_of
from transom.passes.verify_phase import KEPT_GRAPH_OPS
from transom.targets.contract.frozen import name_of
from transom.targets.contract.rules import (
    FUNCTION_ADDED,
    FUNCTION_GONE,
    GRAPH_HOOKS,
    LOWERING_HOOKS,
    NO_GRAPH,
    NO_GRAPH_OP,
    NO_PLACE,
    NOT_LOWERED,
    ONLY_DECLARED,
    OTHER_EFFECT,
    OTHER_PLACE,
    OTHER_TARGET,
    OTHER_TYPE,
    STILL_CALLED,
    WRONG_KIND,
    Origin,
    shown,
)
from transom.targets.contract.snapshot import (
    OwnedFunction,
    State,
    lowered_to,
    type_of,
)
from transom.targets.hooks import TargetHooks

KINDS = {
    "convert_graph_to_tir": (tir.FuncOp, FuncOp),
    "convert_graph_to_artifact": (ArtifactOp,),
}
"""What functions are lowered to: kernels and shape functions, or artifacts."""


def check_functions(state: State, origin: Origin, hooks: TargetHooks[Any]) -> None:
    """Raise `OpError` unless the functions of the target have become what they may."""
    rules = FunctionRules(state, origin, hooks)
    for name, old in state.before.owned.items():
        rules.check(name, old)
    for name, op in state.new.items():
        rules.check_new(name, op)


class FunctionRules:
    """The rules of the functions that a target owned."""

    def __init__(self, state: State, origin: Origin, hooks: TargetHooks[Any]) -> None:
        self.state = state
        self.origin = origin
        self.hooks = hooks

    @property
    def is_one_by_one(self) -> bool:
        return self.hooks.scope == "function"

    def check(self, name: str, old: OwnedFunction) -> None:
        """Raise `OpError` unless a function has become what it may."""
        new = self.state.symbols.get(name)
        hook = self.origin.hook
        if new is None:
            if self.is_one_by_one:
                raise self.origin.error(FUNCTION_GONE, old.op.location, name=name)
        elif old.is_kernel:
            self._check_signature(name, old, new)
        elif hook in LOWERING_HOOKS:
            self._check_lowered(name, new)
        elif hook in GRAPH_HOOKS:
            self._check_graph(name, new)
            self._check_signature(name, old, new)

    def check_new(self, name: str, new: Operation) -> None:
        """Raise `OpError` if a graph function is new that may not be."""
        if not isinstance(new, FuncOp) or not is_region(new):
            return
        if self.origin.hook in LOWERING_HOOKS and not self._may_be_left():
            raise self.origin.error(NOT_LOWERED, new, name=name)
        if self.is_one_by_one:
            raise self.origin.error(FUNCTION_ADDED, new, name=name)

    # Lowered functions.

    def _check_lowered(self, name: str, new: Operation) -> None:
        kernels = (name,) if not isinstance(new, FuncOp) else lowered_to(new)
        if kernels is None:
            assert isinstance(new, FuncOp), "all else is what functions are lowered to"
            self._check_converted(name, new)
            return
        for kernel in kernels:
            op = self.state.symbols[kernel]
            kinds = KINDS[self.origin.hook]
            if not isinstance(op, kinds):
                raise self.origin.error(
                    WRONG_KIND,
                    op,
                    name=name,
                    kernel=kernel,
                    kind=op.name,
                    expected=f"'{kinds[0].name}'",
                )
            if not isinstance(op, FuncOp) and kernel not in self.state.new:
                _check_target(kernel, op, self.origin)
        if not isinstance(new, FuncOp):
            return
        if new.is_declaration:
            raise self.origin.error(ONLY_DECLARED, new, name=name)
        for site in self.state.calls.get(name, ()):
            raise self.origin.error(STILL_CALLED, site.op, name=name, op=site.op.name)

    def _check_converted(self, name: str, new: FuncOp) -> None:
        """A function that does not say that it is lowered holds no graph ops."""
        if new.is_declaration:
            raise self.origin.error(ONLY_DECLARED, new, name=name)
        if self._may_be_left() and is_region(new):
            return
        if is_region(new) or any(_is_computed(op) for op in new.walk()):
            raise self.origin.error(NOT_LOWERED, new, name=name)

    def _may_be_left(self) -> bool:
        """A target with both ways to lower takes what it can the short way."""
        hook, target = self.origin
        return (
            hook == "convert_graph_to_artifact"
            and self.hooks.convert_graph_to_tir(target) is not None
        )

    # Others.

    def _check_graph(self, name: str, new: Operation) -> None:
        if isinstance(new, FuncOp) and is_region(new):
            return
        inner = [op for region in new.regions for b in region.blocks for op in b.ops]
        wrong = [op for op in inner if not is_of_a_place(op)]
        if wrong:
            op = name_of(wrong[0])
            raise self.origin.error(NO_GRAPH_OP, wrong[0], name=name, op=op)
        raise self.origin.error(NO_GRAPH, new, name=name)

    def _check_signature(self, name: str, old: OwnedFunction, new: Operation) -> None:
        if not self.is_one_by_one:
            return
        type = type_of(new)
        if type != old.type:
            raise self.origin.error(
                OTHER_TYPE, new, name=name, old=shown(old.type), new=shown(str(type))
            )
        effects = new.argument_effects if isinstance(new, tir.FuncOp) else old.effects
        for index, (before, after) in enumerate(zip(old.effects, effects, strict=True)):
            if before != after:
                raise self.origin.error(
                    OTHER_EFFECT, new, index=index, name=name, old=before, new=after
                )


def _is_computed(op: Operation) -> bool:
    return op.name.startswith("graph.") and op.name not in KEPT_GRAPH_OPS


# Places.


def check_places(state: State, origin: Origin, hooks: TargetHooks[Any]) -> None:
    """Raise `OpError` unless functions are at places of the target."""
    for name, op in state.new.items():
        if isinstance(op, FuncOp | tir.FuncOp) and place_of(op) is None:
            raise origin.error(NO_PLACE, op, name=name)
        if not _is_on_host(op, state):
            _check_target(name, op, origin)
    for name, old in state.before.owned.items():
        op = state.symbols.get(name)
        if op is None:
            continue
        place = place_of(op)
        stays = hooks.scope == "function" and not isinstance(op, ArtifactOp)
        if stays and place != old.place:
            found = "no place" if place is None else f"'{place}'"
            raise origin.error(OTHER_PLACE, op, name=name, old=old.place, new=found)
        _check_target(name, op, origin)


def _check_target(name: str, op: Operation, origin: Origin) -> None:
    if isinstance(op, ArtifactOp):
        target = op.target
    elif isinstance(op, FuncOp | tir.FuncOp):
        target = target_of(op)
    else:
        return
    if target != origin.target:
        other = "no target" if target is None else f"'{target}'"
        raise origin.error(OTHER_TARGET, op, name=name, other=other)


def _is_on_host(op: Operation, state: State) -> bool:
    """Whether a function is one of the host, such as one that computes sizes."""
    place = place_of(op)
    return (
        isinstance(op, FuncOp)
        and owner_of(op) is None
        and place is not None
        and place.device_name is not None
        and place.device_name == get_config(state.module).host
    )
