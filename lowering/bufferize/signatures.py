"""
What the callers of a function see of it: names and types.
"""

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IndexType,
    StringAttr,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from transom.dialects.diagnostics import OpError
from transom.dialects.executor import SignatureAttr
from transom.lowering.bufferize.types import AnyTensor, is_tensor, tensor_type

NAME = "graph.name"
"""The discardable attribute that names an argument or a result."""

SHAPES = ".shapes"
"""The end of the name of the function that computes the sizes of an entry's results."""


def is_entry(function: func.FuncOp) -> bool:
    """Whether a function is one that users of the module call."""
    visibility = function.sym_visibility
    if visibility is not None and visibility.data != "public":
        return False
    return not is_shape_function(function)


def is_shape_function(function: func.FuncOp) -> bool:
    """Whether a function computes the sizes of the results of another."""
    return function.sym_name.data.endswith(SHAPES) and all(
        isinstance(type, IndexType) for type in function.function_type.outputs
    )


def argument_names(function: func.FuncOp) -> list[str]:
    """The names of arguments, or `argN`."""
    return _names("arg", len(function.function_type.inputs), function.arg_attrs)


def result_names(function: func.FuncOp) -> list[str]:
    """The names of results, or `resultN`."""
    return _names("result", len(function.function_type.outputs), function.res_attrs)


def _names(
    default: str, count: int, attributes: ArrayAttr[DictionaryAttr] | None
) -> list[str]:
    given: list[Attribute | None] = [None] * count
    if attributes is not None:
        given = [entry.data.get(NAME) for entry in attributes]
    return [
        name.data if isinstance(name, StringAttr) else f"{default}{number}"
        for number, name in enumerate(given)
    ]


def signature_of(function: func.FuncOp) -> SignatureAttr:
    """
    What callers of an entry see.

    Raises `OpError` for an argument or result that is no tensor of numbers, or has no
    name of its own.
    """
    for what, names in (
        ("argument", argument_names(function)),
        ("result", result_names(function)),
    ):
        twice = [name for i, name in enumerate(names) if name in names[:i]]
        if twice:
            raise OpError(
                function,
                f"expected names of their own, but {what} '{twice[0]}' is there twice",
            )
    inputs = zip(argument_names(function), function.function_type.inputs, strict=True)
    outputs = zip(result_names(function), function.function_type.outputs, strict=True)
    try:
        return SignatureAttr.get(
            [_named_tensor(function, "argument", *pair) for pair in inputs],
            [_named_tensor(function, "result", *pair) for pair in outputs],
        )
    except VerifyException as e:
        raise OpError(function, str(e)) from None


def _named_tensor(
    function: func.FuncOp, what: str, name: str, type: Attribute
) -> tuple[str, AnyTensor]:
    if not is_tensor(type):
        raise OpError(
            function,
            f"expected tensors as arguments and results of an entry, but {what} "
            f"'{name}' is of type '{type}'; make the function private",
        )
    return name, tensor_type(type)
