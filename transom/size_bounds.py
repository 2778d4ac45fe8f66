"""
Bounds of symbolic sizes, as `--dim` and `dims` give them.
"""

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from transom.dialects.diagnostics import did_you_mean, position_of
from transom.dialects.symbols import (
    held_attributes,
    replace_attributes,
    walk_attributes,
)
from transom.passes.pipeline import PipelineError

if TYPE_CHECKING:
    from transom.dialects.graph import Symbol

Bounds = tuple[int | None, int | None]
"""The least and the largest size; None where nothing is said."""


def open_dims(dims: Mapping[str, Bounds], kind: str) -> dict[str, Bounds]:
    """The bounds of the sizes that are still symbolic when a file of a kind is read."""
    return {
        name: (low, high)
        for name, (low, high) in dims.items()
        if kind != "onnx" or not low or low != high
    }


def bound_dims(module: ModuleOp, dims: Mapping[str, Bounds]) -> None:
    """
    Set the bounds of symbolic sizes, wherever a type of the module names them, within
    those that the types have.

    Raises `PipelineError` for other bounds, and for names that no type has.
    """
    from transom.dialects.graph import Symbol, SymbolAttr

    def bounded(attribute: Attribute) -> Attribute:
        if not isinstance(attribute, SymbolAttr) or attribute.data is None:
            return attribute
        if (name := attribute.data.name) not in dims:
            return attribute
        return SymbolAttr(attribute.data.narrowed(Symbol(name, *dims[name])))

    if not dims:
        return
    seen: set[str] = set()
    for op in module.walk():
        for part in chain.from_iterable(map(walk_attributes, held_attributes(op))):
            if isinstance(part, SymbolAttr) and (symbol := part.data) is not None:
                seen.add(symbol.name)
                _check_bounds(op, symbol, dims.get(symbol.name, (None, None)))
    for name in dims:
        if name not in seen:
            raise PipelineError(f"unknown size '{name}'{did_you_mean(name, seen)}")
    replace_attributes(module.walk(), bounded)


def _check_bounds(op: Operation, symbol: "Symbol", asked: Bounds) -> None:
    """Bounds that are asked for are within those of a type of an op."""
    if all(end is None or symbol.admits(end) for end in asked):
        return
    low, high = ("" if end is None else end for end in asked)
    found = f"{low}" if low == high else f"{low}..{high}"
    own = tuple("" if end is None else end for end in (symbol.lower, symbol.upper))
    position = position_of(op.location)
    raise PipelineError(
        f"expected sizes '{symbol.name}' within {own[0]}..{own[1]}, as "
        f"{position or 'the module'} says, but got {found}"
    )
