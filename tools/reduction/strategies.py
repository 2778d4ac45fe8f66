"""
All strategies, in the order in which they are tried: what takes away most comes first.
"""

from transom.tools.reduction.attributes import (
    drop_attributes,
    drop_locations,
    drop_names,
    simplify_attributes,
)
from transom.tools.reduction.blocks import (
    drop_blocks,
    merge_blocks,
    return_early,
    take_one_branch,
)
from transom.tools.reduction.edits import ARGUMENTS, VALUES, Strategy
from transom.tools.reduction.functions import (
    drop_arguments,
    drop_bodies,
    drop_results,
)
from transom.tools.reduction.operands import drop_carried, drop_operands, unify_operands
from transom.tools.reduction.ops import delete_ops, delete_symbols
from transom.tools.reduction.regions import empty_regions, inline_regions
from transom.tools.reduction.types import drop_encodings, shrink_dims

STRATEGIES: tuple[Strategy, ...] = (
    delete_symbols,
    drop_bodies,
    delete_ops(VALUES),
    inline_regions,
    empty_regions,
    take_one_branch,
    return_early,
    drop_blocks,
    merge_blocks,
    delete_ops(ARGUMENTS),
    drop_results,
    drop_carried,
    drop_operands,
    unify_operands,
    drop_arguments,
    shrink_dims,
    drop_encodings,
    drop_attributes,
    simplify_attributes,
    drop_names,
    drop_locations,
)
