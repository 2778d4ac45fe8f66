"""
What hook `constants` may do to weights: take those that nobody else uses, and add
expressions over them.
"""

from xdsl.ir import Operation

from transom.dialects import graph
from transom.dialects.symbols import walk_symbol_uses
from transom.targets.contract.frozen import is_same, name_of
from transom.targets.contract.rules import (
    WEIGHT_CHANGED,
    WEIGHT_GONE,
    WEIGHT_NO_EXPRESSION,
    Origin,
)
from transom.targets.contract.snapshot import State


def check_weights(state: State, origin: Origin) -> None:
    """Raise `OpError` unless weights stay while they are used, and as they are."""
    gone = {name for name in state.removed if is_weight(state.before.symbols[name])}
    if gone:
        for use in walk_symbol_uses(state.module):
            if use.name in gone:
                op = name_of(use.user)
                raise origin.error(WEIGHT_GONE, use.user, name=use.name, op=op)
    for name, old in state.before.outside.items():
        new = state.symbols.get(name)
        if new is not None and is_weight(old.op) and not is_same(old, new):
            raise origin.error(WEIGHT_CHANGED, new, name=name)
    for name, op in state.new.items():
        if isinstance(op, graph.WeightOp) and op.value is not None:
            raise origin.error(WEIGHT_NO_EXPRESSION, op, name=name)


def is_weight(op: Operation) -> bool:
    """Whether an op is a weight."""
    return isinstance(op, graph.WeightOp)
