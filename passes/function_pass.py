"""
The base of passes that look at one function at a time.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class FunctionPass(ModulePass):
    """
    A pass on each `func.func` that has a body; usable at the anchors `builtin.module`
    and `func.func` of a `Pipeline`.

    `apply_to` changes nothing outside its function.
    """

    @abstractmethod
    def apply_to(self, ctx: Context, func: FuncOp) -> None:
        """Rewrite one function in place."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions_of(op):
            self.apply_to(ctx, func)


def functions_of(module: ModuleOp) -> Iterator[FuncOp]:
    """The functions of a module that have a body, in order, as they are when asked."""
    for op in tuple(module.body.ops):
        if isinstance(op, FuncOp) and not op.is_declaration:
            yield op
        elif isinstance(op, ModuleOp):
            yield from functions_of(op)
