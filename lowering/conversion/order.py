"""
The order in which the blocks of a region are visited.
"""

# pyright: reportPrivateUsage=false
# Most regions have one block, and counting blocks through xDSL's iterator costs more
# than visiting it.

from collections.abc import Iterator, Sequence

from xdsl.ir import Block, Region


def dominance_order(region: Region) -> Sequence[Block]:
    """
    The blocks of a region, each after those that dominate it; then unreachable ones.

    This is reverse postorder, in which successors keep their order where they can.
    """
    first = region._first_block
    if first is None:
        return ()
    if first._next_block is None:
        return (first,)
    postorder: list[Block] = []
    seen = {first}
    stack: list[tuple[Block, Iterator[Block]]] = [(first, _successors(first))]
    while stack:
        block, rest = stack[-1]
        successor = next(rest, None)
        if successor is None:
            postorder.append(block)
            stack.pop()
        elif successor not in seen:
            seen.add(successor)
            stack.append((successor, _successors(successor)))
    unreachable = [block for block in region.blocks if block not in seen]
    return (*reversed(postorder), *unreachable)


def _successors(block: Block) -> Iterator[Block]:
    last = block._last_op
    return iter(()) if last is None else reversed(last._successors)
