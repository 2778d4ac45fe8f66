"""
Walk ops that stay as they are meanwhile, in less time than it takes to rewrite them.

`Operation.walk` of xDSL hands each op up through an iterator for each level above it,
so that rewriting passes may change what comes next. Most walks only look.
"""

from collections.abc import Iterator

from xdsl.ir import Operation


def walk_ops(root: Operation) -> Iterator[Operation]:
    """
    An op and all that it holds, in the order of `root.walk()`. Nothing is added,
    removed or moved before the walk is over.
    """
    stack = [root]
    while stack:
        op = stack.pop()
        yield op
        if op.regions:
            stack += held_by(op)


def held_by(op: Operation) -> list[Operation]:
    """The ops in the regions of an op but not in each other, the last one first."""
    held: list[Operation] = []
    for region in reversed(op.regions):
        block = region.last_block
        while block is not None:
            inner = block.last_op
            while inner is not None:
                held.append(inner)
                inner = inner.prev_op
            block = block.prev_block
    return held
