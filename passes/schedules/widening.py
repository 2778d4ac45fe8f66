"""
What it costs to extend inputs: f16 and bf16, which are computed in f32.
"""

from __future__ import annotations

import math

from transom.passes.schedules.view import NestView
from transom.passes.widened_inputs import widened_type

ASSUMED_EXTENT = 64
"""What a dim has whose size is not known."""

EXTENDED = 1.3
"""What extending a vector takes, in multiply-adds."""

WIDENED = 6
"""What extending a vector in a copy takes, which may not stay near."""


def can_widen(view: NestView, position: int) -> bool:
    """Whether a nest reads an input to extend it, and does not write it."""
    nest = view.nest
    is_output = nest.ins[position] in nest.outs
    return not is_output and widened_type(nest, position) is not None


def count_of(view: NestView, position: int) -> int:
    """How many elements an input has; 0 if that is not known."""
    return view.input_bytes(position) // view.input_element_bytes(position)


def reads_of(view: NestView, position: int) -> int:
    """How many elements are read by the dims that an input is accessed with."""
    bounds = [view.bounds[dim] for dim in view.dims_of_input(position)]
    return math.prod(bound or ASSUMED_EXTENT for bound in bounds)


def pays_in_window(view: NestView, position: int) -> bool:
    """
    Whether an input of windows is better extended in a copy: it is read often, or
    padded where no part of a vector can be loaded unless it is one of f32.
    """
    count = count_of(view, position)
    if not count or not can_widen(view, position):
        return False
    reads = reads_of(view, position)
    is_padded = view.nest.in_accesses.data[position].pad is not None
    if is_padded and not view.machine.can_mask(view.input_element_bytes(position)):
        return reads >= count
    return EXTENDED * reads >= WIDENED * count
