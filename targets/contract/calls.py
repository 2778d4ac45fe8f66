"""
The calls of a target's functions: what is in the place of each, and whether functions
were rewritten one by one.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Operation

from transom.targets.contract.function_changes import Call, FunctionChanges
from transom.targets.contract.rules import (
    CALLS_CHANGED,
    LOWERING_HOOKS,
    MERGED,
    NO_ATTRIBUTE,
    NO_LOCATION,
    REORDERED,
    Origin,
)
from transom.targets.contract.snapshot import State, lowered_to
from transom.targets.hooks import TargetHooks

NewCalls = Sequence[tuple[str, Operation]]
"""Calls that are new, with their callees."""


def check_calls(
    found: Sequence[FunctionChanges],
    state: State,
    origin: Origin,
    hooks: TargetHooks[Any],
) -> None:
    """Raise `OpError` unless calls carry what they did, and are where they may be."""
    kernels = {name: _kernels_of(name, state) for name in state.before.owned}
    for changes in found:
        function = state.symbols[changes.name]
        new = changes.new_calls(function)
        _check_carried(changes, new, kernels, origin)
        if hooks.scope != "function":
            continue
        if origin.hook in LOWERING_HOOKS:
            _check_merged(changes.replaced, new, kernels, origin)
            _check_order(changes.replaced, new, kernels, origin)
        else:
            for call in changes.replaced:
                where = call.op.op.location
                raise origin.error(CALLS_CHANGED, where, callee=call.callee)
            for callee, op in new:
                raise origin.error(CALLS_CHANGED, op, callee=callee)
        _check_kept(changes, function, origin)


def _kernels_of(name: str, state: State) -> tuple[str, ...]:
    """What is called in place of a function, itself included."""
    op = state.symbols.get(name)
    return (name, *((op and lowered_to(op)) or ()))


# What calls carry.


def _check_carried(
    changes: FunctionChanges,
    new: NewCalls,
    kernels: Mapping[str, Sequence[str]],
    origin: Origin,
) -> None:
    for kernel, op in new:
        replaced = [c for c in changes.replaced if kernel in kernels[c.callee]]
        origins = replaced or changes.replaced
        located = [c for c in origins if c.op.op.location != UNKNOWN_LOC]
        if op.location == UNKNOWN_LOC and located and len(located) == len(origins):
            callee = located[0].callee
            raise origin.error(NO_LOCATION, op, kernel=kernel, callee=callee)
    for call in changes.replaced:
        places = [op for kernel, op in new if kernel in kernels[call.callee]]
        _check_attributes(call, places or [op for _, op in new], origin)
    for call, op in changes.kept:
        if op.location == UNKNOWN_LOC != call.op.op.location:
            raise origin.error(NO_LOCATION, op, kernel=call.callee, callee=call.callee)
        _check_attributes(call, [op], origin)


def _check_attributes(call: Call, places: Sequence[Operation], origin: Origin) -> None:
    """Discardable attributes of a call are on one of those in its place, if any."""
    for name in call.op.attributes:
        if places and not any(name in op.attributes for op in places):
            raise origin.error(
                NO_ATTRIBUTE, places[0], callee=call.callee, attribute=name
            )


# One by one.


def _check_merged(
    replaced: Sequence[Call],
    new: NewCalls,
    kernels: Mapping[str, Sequence[str]],
    origin: Origin,
) -> None:
    """Each call of a function has calls of its own of the kernels in its place."""
    made = Counter(kernel for kernel, _ in new)
    for kernel, op in new:
        calls = [call for call in replaced if kernel in kernels[call.callee]]
        if made[kernel] < len(calls):
            callees = ", ".join(f"'@{call.callee}'" for call in calls)
            count = made[kernel]
            raise origin.error(
                MERGED,
                op,
                calls=f"{count} call{'' if count == 1 else 's'}",
                kernel=kernel,
                replaced=len(calls),
                callees=callees,
            )


def _check_order(
    replaced: Sequence[Call],
    new: NewCalls,
    kernels: Mapping[str, Sequence[str]],
    origin: Origin,
) -> None:
    """New calls stand in the order of those that they replace."""
    at = 0
    for kernel, op in new:
        places = [i for i, c in enumerate(replaced) if kernel in kernels[c.callee]]
        later = [i for i in places if i >= at]
        if places and not later:
            raise origin.error(REORDERED, op, kernel=kernel)
        at = later[0] if later else at


def _check_kept(changes: FunctionChanges, function: Operation, origin: Origin) -> None:
    """Calls that are there still are in the order that they had."""
    place_of = {op: place for place, op in enumerate(function.walk())}
    last = -1
    for call, op in changes.kept:
        if place_of[op] < last:
            raise origin.error(REORDERED, op, kernel=call.callee)
        last = place_of[op]
