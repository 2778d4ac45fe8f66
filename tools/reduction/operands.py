"""
Ops with fewer operands and results.
"""

from collections.abc import Sequence
from functools import partial

from xdsl.dialects import scf
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp
from xdsl.ir import Operation, Region

from transom.tools.reduction.edits import (
    Edit,
    enclosing_blocks,
    erase,
    is_attached,
    is_terminator,
)

SEGMENTS = ("operandSegmentSizes", "operand_segment_sizes")
RESULT_SEGMENTS = ("resultSegmentSizes", "result_segment_sizes")


def drop_operands(module: ModuleOp) -> list[Edit]:
    """Operands of lists that may be shorter."""
    return [
        partial(_drop_operand, index, position)
        for index, op in reversed(list(enumerate(module.walk())))
        if not is_terminator(op) and not op.regions
        for position in reversed(range(len(op.operands)))
    ]


def _drop_operand(index: int, position: int, ops: Sequence[Operation]) -> bool:
    op = ops[index]
    return is_attached(op, ops[0]) and remove_operand(op, position)


def unify_operands(module: ModuleOp) -> list[Edit]:
    """Use the first value of a type that an op could use in the place of others."""
    return [
        partial(_unify, index, position)
        for index, op in reversed(list(enumerate(module.walk())))
        for position in range(len(op.operands))
    ]


def _unify(index: int, position: int, ops: Sequence[Operation]) -> bool:
    op = ops[index]
    if not is_attached(op, ops[0]):
        return False
    old = op.operands[position]
    for block in enclosing_blocks(op):
        for value in block.args:
            if value is old:
                return False
            if value.type == old.type:
                op.operands[position] = value
                return True
    return False


def remove_operand(op: Operation, position: int) -> bool:
    """Take an operand away, also from the sizes of the lists of operands."""
    if position >= len(op.operands):
        return False
    if not _shorten(op, SEGMENTS, position):
        return False
    rest = list(op.operands)
    del rest[position]
    op.operands = rest
    return True


def remove_result(op: Operation, position: int) -> Operation:
    """Put an op without an unused result into the place of one with it."""
    results = list(op.results)
    del results[position]
    new = type(op).create(
        operands=op.operands,
        result_types=[result.type for result in results],
        properties=op.properties.copy(),
        attributes=op.attributes.copy(),
        successors=op.successors,
        regions=[_moved(region) for region in op.regions],
        location=op.location,
    )
    _shorten(new, RESULT_SEGMENTS, position)
    block = op.parent_block()
    assert block is not None, "a module has no results"
    block.insert_op_before(new, op)
    for old, result in zip(results, new.results, strict=True):
        result.name_hint = old.name_hint
        old.replace_all_uses_with(result)
    erase(op)
    return new


def _moved(region: Region) -> Region:
    new = Region()
    region.move_blocks(new)
    return new


def _shorten(op: Operation, names: Sequence[str], position: int) -> bool:
    """Count one less in the list that a position is in."""
    for holder in (op.properties, op.attributes):
        for name in names:
            sizes = holder.get(name)
            if not isinstance(sizes, DenseArrayBase):
                continue
            values = [int(size) for size in sizes.get_values()]
            end = 0
            for index, size in enumerate(values):
                end += size
                if position < end:
                    values[index] -= 1
                    break
            holder[name] = DenseArrayBase.from_list(sizes.elt_type, values)  # pyright: ignore
    return True


def drop_carried(module: ModuleOp) -> list[Edit]:
    """Values that loops carry and branches give, and that nobody uses afterwards."""
    edits: list[Edit] = []
    for index, op in reversed(list(enumerate(module.walk()))):
        if not isinstance(op, scf.ForOp | scf.IfOp):
            continue
        edits.extend(
            partial(_drop_carried, index, position)
            for position in reversed(range(len(op.results)))
            if not op.results[position].uses
        )
    return edits


def _drop_carried(index: int, position: int, ops: Sequence[Operation]) -> bool:
    op = ops[index]
    if not is_attached(op, ops[0]):
        return False
    if isinstance(op, scf.ForOp):
        argument = op.body.block.args[1 + position]
        argument.replace_all_uses_with(op.iter_args[position])
        op.body.block.erase_arg(argument)
        remove_operand(op, 3 + position)
    for region in op.regions:
        if region.last_block is not None and region.last_block.last_op is not None:
            remove_operand(region.last_block.last_op, position)
    remove_result(op, position)
    return True
