"""
Check that values are defined before they are used; xDSL's verifier does not.
"""

from collections.abc import Collection, Sequence

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove, NoTerminator

from transom.dialects.diagnostics import Note, OpError

GRAPH_REGIONS = frozenset({"hw.module"})
"""Ops with a terminator in whose regions the order of ops means nothing."""


def verify_dominance(op: Operation, known: Collection[Operation] = ()) -> None:
    """
    Raise `OpError` at the first op in `op` with an operand that does not dominate it.

    Blocks that cannot be reached are passed over, and so are ops that are `known` to be
    right. `op` uses no values of ops around it.
    """
    _check_regions(op, set(), known)


def _check_regions(
    op: Operation, visible: set[SSAValue], known: Collection[Operation]
) -> None:
    """Check all that `op` holds; `visible` is left as it was."""
    if op.has_trait(IsolatedFromAbove, value_if_unregistered=False):
        visible = set()
    for region in op.regions:
        if region.first_block is None:
            continue
        if (
            isinstance(op, UnregisteredOp)
            or op.name in GRAPH_REGIONS
            or op.has_trait(NoTerminator)
        ):
            _check_graph_region(region, visible, known)
        elif region.first_block is region.last_block:
            defined = _check_block(region.first_block, visible, known)
            visible.difference_update(defined)
        else:
            _check_blocks(region, visible, known)


def _check_graph_region(
    region: Region, visible: set[SSAValue], known: Collection[Operation]
) -> None:
    defined: list[SSAValue] = []
    for block in region.blocks:
        defined.extend(block.args)
        for op in block.ops:
            defined.extend(op.results)
    visible.update(defined)
    for block in region.blocks:
        for op in block.ops:
            _check_op(op, visible, known)
    visible.difference_update(defined)


def _check_block(
    block: Block, visible: set[SSAValue], known: Collection[Operation]
) -> list[SSAValue]:
    """Check a block and return what it defines, which is visible afterwards."""
    defined: list[SSAValue] = list(block.args)
    visible.update(defined)
    for op in block.ops:
        _check_op(op, visible, known)
        visible.update(op.results)
        defined.extend(op.results)
    return defined


def _check_op(
    op: Operation, visible: set[SSAValue], known: Collection[Operation]
) -> None:
    for index, operand in enumerate(op.operands):
        if operand not in visible:
            raise OpError(
                op,
                f"expected operand #{index} of '{op.name}' to be defined before it, "
                "on every way to it",
                *_defined_at(operand),
            )
    if op.regions and op not in known:
        _check_regions(op, visible, known)


def _defined_at(value: SSAValue) -> tuple[Note, ...]:
    owner = value.owner
    if isinstance(owner, Block):
        return (Note(owner.args[0].location, "defined in this block"),)
    return (Note(owner, "defined here"),)


def _check_blocks(
    region: Region, visible: set[SSAValue], known: Collection[Operation]
) -> None:
    """Check blocks in the order of the tree of dominators."""
    children = _dominator_tree(region)
    assert region.first_block is not None, "the caller has checked for blocks"
    stack: list[Block | list[SSAValue]] = [region.first_block]
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            visible.difference_update(item)
            continue
        stack.append(_check_block(item, visible, known))
        stack.extend(reversed(children.get(item, ())))


def _dominator_tree(region: Region) -> dict[Block, list[Block]]:
    """
    The blocks that each block dominates at once, of those that can be reached.

    Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm.
    """
    order = _reverse_post_order(region)
    number = {block: i for i, block in enumerate(order)}
    predecessors: list[list[int]] = [[] for _ in order]
    for block in order:
        for successor in _successors(block):
            predecessors[number[successor]].append(number[block])
    parents = [0] + [-1] * (len(order) - 1)
    changed = True
    while changed:
        changed = False
        for i in range(1, len(order)):
            known = [p for p in predecessors[i] if parents[p] >= 0]
            parent = known[0]
            for other in known[1:]:
                parent = _common_dominator(parents, parent, other)
            if parents[i] != parent:
                parents[i] = parent
                changed = True
    children: dict[Block, list[Block]] = {}
    for i in range(1, len(order)):
        children.setdefault(order[parents[i]], []).append(order[i])
    return children


def _common_dominator(parents: Sequence[int], a: int, b: int) -> int:
    while a != b:
        if a > b:
            a = parents[a]
        else:
            b = parents[b]
    return a


def _reverse_post_order(region: Region) -> list[Block]:
    assert region.first_block is not None, "the caller has checked for blocks"
    order: list[Block] = []
    seen = {region.first_block}
    stack = [(region.first_block, iter(_successors(region.first_block)))]
    while stack:
        block, successors = stack[-1]
        for successor in successors:
            if successor not in seen:
                seen.add(successor)
                stack.append((successor, iter(_successors(successor))))
                break
        else:
            order.append(block)
            stack.pop()
    return order[::-1]


def _successors(block: Block) -> Sequence[Block]:
    return () if block.last_op is None else block.last_op.successors
