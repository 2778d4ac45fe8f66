"""
Delete ops; what they computed is taken from elsewhere.
"""

from collections.abc import Sequence
from functools import partial

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from transom.dialects.symbols import symbol_name
from transom.tools.reduction.edits import (
    Edit,
    Source,
    Strategy,
    erase,
    is_attached,
    is_terminator,
    replace_results,
)


def delete_symbols(module: ModuleOp) -> list[Edit]:
    """Functions and other symbols, last ones first."""
    ops = list(enumerate(module.walk()))
    return [
        partial(_delete, index, ())
        for index, op in reversed(ops[1:])
        if symbol_name(op) is not None
    ]


def delete_ops(sources: Sequence[Source]) -> Strategy:
    """
    All ops but terminators, users before what they use.

    A result that is still used is taken from the first source that has a value.
    """

    def edits(module: ModuleOp) -> list[Edit]:
        ops = list(enumerate(module.walk()))
        return [
            partial(_delete, index, sources)
            for index, op in reversed(ops[1:])
            if not is_terminator(op)
        ]

    return edits


def _delete(index: int, sources: Sequence[Source], ops: Sequence[Operation]) -> bool:
    op = ops[index]
    if not is_attached(op, ops[0]):
        return False
    replace_results(op, sources)
    erase(op)
    return True
