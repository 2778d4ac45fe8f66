"""
Names that a module gives to C functions and structs: nothing else gets them.
"""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation

from transom.dialects import tir
from transom.dialects.diagnostics import OpError
from transom.dialects.tir.attributes import StructType

if TYPE_CHECKING:
    from transom.lowering.emit_c.unit import Unit

_TYPES = re.compile(r"u?int(_fast|_least)?\d+_t|u?int(ptr|max)_t|bool|size_t")
"""What the headers that are included declare."""


def extern_name(op: tir.ExternOp) -> str:
    """The name of the C function that is called."""
    replaced = op.attributes.get(tir.SYMBOL)
    return replaced.data if isinstance(replaced, StringAttr) else op.callee.data


def take_given_names(unit: "Unit", functions: Iterable[Operation]) -> None:
    """
    Keep the names that functions mention from being given. Raises `OpError` at the
    first op whose name something else has.
    """
    prefix = unit.options.prefix
    kinds = {prefix + name: "a function of the file" for name in unit.public}
    for function in functions:
        for op in function.walk():
            for kind, name in _given(op):
                known = kinds.setdefault(name, kind)
                if known != kind:
                    raise OpError(op, f"'{name}' is {kind}, and {known} too")
                if kind == STRUCT and _TYPES.fullmatch(name):
                    raise OpError(op, f"'{name}' is {kind}, and a type of C too")
                unit.names.take(name)


STRUCT, EXTERN = "a struct", "a C function"


def _given(op: Operation) -> Iterator[tuple[str, str]]:
    if isinstance(op, tir.StructOp):
        yield from _structs(op, op.result.type)
    elif isinstance(op, tir.ExternOp):
        yield EXTERN, extern_name(op)


def _structs(op: Operation, type: Attribute) -> Iterator[tuple[str, str]]:
    if isinstance(type, StructType):
        if not type.fields.data:
            raise OpError(op, f"no C form for a struct without fields, '{type}'")
        yield STRUCT, type.struct_name.data
        for field in type.fields:
            yield from _structs(op, field)
