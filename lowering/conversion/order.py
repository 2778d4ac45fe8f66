"""
The order in which the blocks of a region are visited.
"""

# pyright: reportPrivateUsage=false
# Most regions have one block, and counting blocks through xDSL's iterator costs more
# than visiting it.

from collections.abc import Callable, Iterator, Sequence

from xdsl.ir import Block, Region


def dominance_order(
    region: Region, successors: Callable[[Block], Sequence[Block]] | None = None
) -> Sequence[Block]:
    """
    The blocks of a region, each after those that dominate it; then unreachable ones.

    This is reverse postorder, in which successors keep their order where they can.
    `successors` says where blocks branch to whose ops are not in them yet.
    """
    if successors is None:
        successors = _successors
    first = region._first_block
    if first is None:
        return ()
    if first._next_block is None:
        return (first,)
    postorder: list[Block] = []
    seen = {first}
    stack: list[tuple[Block, Iterator[Block]]] = [(first, reversed(successors(first)))]
    while stack:
        block, rest = stack[-1]
        successor = next(rest, None)
        if successor is None:
            postorder.append(block)
            stack.pop()
        elif successor not in seen:
            seen.add(successor)
            stack.append((successor, reversed(successors(successor))))
    unreachable = [block for block in region.blocks if block not in seen]
    return (*reversed(postorder), *unreachable)


def _successors(block: Block) -> Sequence[Block]:
    last = block._last_op
    return () if last is None else last._successors
