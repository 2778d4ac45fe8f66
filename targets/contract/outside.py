"""
What is not the target's: symbols, the functions of others, the module itself.
"""

from transom.dialects import graph
from transom.dialects.symbols import symbol_name
from transom.targets.contract.frozen import attribute_change, change_of
from transom.targets.contract.function_changes import FunctionChanges
from transom.targets.contract.rules import (
    MACHINE_ADDED,
    MODULE_CHANGED,
    SYMBOL_CHANGED,
    SYMBOL_EXPOSED,
    SYMBOL_GONE,
    SYMBOL_PUBLIC,
    TOP_LEVEL_ADDED,
    TOP_LEVEL_GONE,
    Origin,
)
from transom.targets.contract.snapshot import State, is_public

MACHINE_OPS = frozenset({"target.device", "target.memory", "target.link"})


def check_outside(state: State, origin: Origin) -> list[FunctionChanges]:
    """
    What has changed in each function outside of the target's.

    Raises `OpError` for what may not.
    """
    change = attribute_change(state.before.attributes, state.module.attributes)
    if change is not None:
        raise origin.error(MODULE_CHANGED, state.module, change=change)
    _check_nameless(state, origin)
    for name, op in state.new.items():
        if op.name in MACHINE_OPS:
            raise origin.error(MACHINE_ADDED, op, op=op.name, name=name)
        if is_public(op):
            raise origin.error(SYMBOL_PUBLIC, op, name=name)
    for name, owned in state.before.owned.items():
        op = state.symbols.get(name)
        if op is not None and is_public(op) and not owned.is_public:
            raise origin.error(SYMBOL_EXPOSED, op, name=name)
    found: list[FunctionChanges] = []
    for name, old in state.before.outside.items():
        new = state.symbols.get(name)
        if origin.hook == "constants" and isinstance(old.op, graph.WeightOp):
            continue  # it has its own rule
        if new is None:
            where = old.op.location
            raise origin.error(SYMBOL_GONE, where, op=old.op.name, name=name)
        if new.name != old.op.name:
            change = f"it is a '{new.name}'"
            raise origin.error(
                SYMBOL_CHANGED, new, op=old.op.name, name=name, change=change
            )
        changes = FunctionChanges(
            origin, name, state.before.owned.keys(), state.is_ours
        )
        changes.compare(old, new)
        found.append(changes)
    return found


def _check_nameless(state: State, origin: Origin) -> None:
    now = [op for op in state.module.body.ops if symbol_name(op) is None]
    for old in state.before.nameless:
        same = [
            op for op in now if op.name == old.op.name and change_of(old, op) is None
        ]
        if not same:
            raise origin.error(TOP_LEVEL_GONE, old.op.location, op=old.op.name)
        now.remove(old.op if old.op in same else same[0])
    for op in now:
        raise origin.error(TOP_LEVEL_ADDED, op, op=op.name)
