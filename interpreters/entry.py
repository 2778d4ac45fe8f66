"""
What a caller gives to a function and gets back: checked arrays, named arguments.

Equal symbols of `#graph.desc` are equal sizes, within their bounds; that is checked
here, once.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from transom.dialects import tir
from transom.dialects.executor import SIGNATURE, SignatureAttr, bounded_results
from transom.dialects.graph import Symbol, dim_symbols
from transom.interpreters.evaluators import Array, Value, Values
from transom.interpreters.interpreter import Interpreter, dtype_of

NAME = "graph.name"
RESULT = "tir.result"
"""Discardable attributes of an argument: its name, and which result it stands for."""


class InputError(ValueError):
    """An input that does not fit its argument; the message is one line and names it."""


class Argument(NamedTuple):
    """An argument of a function as its caller sees it."""

    label: str
    type: Attribute
    described: Attribute
    """The type with symbols: that of the signature, where the function has one."""
    result: int | None
    """The number of the result that it stands for."""
    optional: bool
    """Whether it need not be passed, because nobody reads what is in it."""


@dataclass
class Sizes:
    """The symbolic sizes that are known, and from which argument."""

    known: dict[str, tuple[int, str]] = field(
        default_factory=dict[str, tuple[int, str]]
    )

    def bind(self, symbol: Symbol, size: int, label: str) -> None:
        """Take a size; InputError if it is not the one known or out of bounds."""
        if not symbol.admits(size):
            raise InputError(f"{label}: expected a size of {symbol}, but got {size}")
        known, origin = self.known.setdefault(symbol.name, (size, label))
        if known != size:
            raise InputError(
                f'{label}: expected size {known} of "{symbol.name}", as in {origin}, '
                f"but got {size}"
            )


def entry_arguments(
    interpreter: Interpreter, function: Operation, inputs: Sequence[Any]
) -> list[Value]:
    """
    The values of the function's arguments: the inputs as arrays of their own, and new
    memory for what is not passed.

    Raises InputError, naming the argument, if an input does not fit.
    """
    arguments = arguments_of(function)
    passed = [a for a in arguments if a.result is None]
    while len(passed) > len(inputs) and passed[-1].optional:
        passed.pop()
    if len(inputs) != len(passed):
        raise InputError(f"expected {len(passed)} inputs, but got {len(inputs)}")
    sizes = Sizes()
    values = {
        id(argument): _checked(function, argument, value, sizes)
        for argument, value in zip(passed, inputs, strict=True)
    }
    given = [values[id(argument)] for argument in passed]
    computed = _computed_sizes(interpreter, function, given)
    return [
        values[id(argument)]
        if id(argument) in values
        else _new_memory(interpreter, function, argument, sizes, computed)
        for argument in arguments
    ]


def _computed_sizes(
    interpreter: Interpreter, function: Operation, given: Sequence[Value]
) -> Iterator[int]:
    """The dynamic sizes of results, by the function `@NAME.shapes` if there is one."""
    name = f"{cast(StringAttr, function.get_attr_or_prop('sym_name')).data}.shapes"
    shapes = interpreter.find(name)
    if not isinstance(shapes, FuncOp) or shapes.is_declaration:
        return iter(())
    dynamic: list[Value] = []
    for value, argument in zip(given, arguments_of(function), strict=False):
        type: Any = argument.type
        if isinstance(type, MemRefType):
            sizes = zip(np.shape(value), type.get_shape(), strict=True)
            dynamic += [np.int64(size) for size, extent in sizes if extent < 0]
    found: Iterable[Any]
    if len(shapes.args) > len(dynamic):  # main is lowered, and the sizes go to memory
        (type,) = shapes.function_type.inputs.data[len(dynamic) :]
        shape = cast("MemRefType[Any]", type).get_shape()
        memory = interpreter.allocate(shapes, shape, np.dtype(np.int64))
        interpreter.call(shapes, [*dynamic, memory])
        found = memory
    else:
        found = interpreter.call(shapes, dynamic)
    return iter([int(size) for size in found])


def entry_results(
    function: Operation, arguments: Sequence[Value], results: Values
) -> list[Array]:
    """The results as arrays of their own; see `Interpreter.run`."""
    if isinstance(function, tir.FuncOp):
        results = [
            value
            for value, effect in zip(arguments, function.argument_effects, strict=True)
            if effect in (tir.Effect.WRITE, tir.Effect.READ_WRITE)
        ]
    elif not results:
        described = [
            (argument, value)
            for argument, value in zip(arguments_of(function), arguments, strict=True)
            if argument.result is not None
        ]
        described.sort(key=lambda pair: pair[0].result or 0)
        results = _trimmed(
            [_as_described(function, *pair) for pair in described], function
        )
        results = results or [a for a in arguments if isinstance(a, np.ndarray)]
    return [np.array(result) for result in results]


def _trimmed(results: list[Array], function: Operation) -> list[Array]:
    """Results whose sizes depend on data as they are; their sizes are the last."""
    bounded = bounded_results(function)
    signature = function.attributes.get(SIGNATURE)
    if not bounded or not isinstance(signature, SignatureAttr):
        return results
    sizes = iter([int(size) for size in results.pop()])
    for number in bounded:
        _, type = signature.outputs[number]
        shape = [next(sizes) if n < 0 else n for n in type.get_shape()]
        results[number] = results[number][: math.prod(shape)].reshape(shape)
    return results


def _as_described(function: Operation, argument: Argument, value: Array) -> Array:
    """Memory in the element type of the signature: that of memory has no sign."""
    described = cast("MemRefType[Any]", argument.described)
    return value.view(dtype_of(function, described.element_type))


def arguments_of(function: Operation) -> list[Argument]:
    """The arguments of a `func.func` or `tir.func` with a body."""
    if not isinstance(function, FuncOp | tir.FuncOp) or function.is_declaration:
        name = cast(StringAttr, function.get_attr_or_prop("sym_name")).data
        raise ValueError(f"expected '{name}' to be a function with a body")
    attributes = _argument_attributes(function)
    types = function.function_type.inputs.data
    signature = function.attributes.get(SIGNATURE)
    inputs: list[_Described] = []
    outputs: list[_Described] = []
    if isinstance(signature, SignatureAttr):
        inputs, outputs = [*signature.inputs], [*signature.outputs]
    effects = function.argument_effects if isinstance(function, tir.FuncOp) else None
    arguments: list[Argument] = []
    for number, (type, attrs) in enumerate(zip(types, attributes, strict=True)):
        index = _result_number(attrs)
        name: str | None = None
        detailed: Attribute = type
        if index is None and inputs:
            name, detailed = inputs.pop(0)
        elif index is not None and index < len(outputs):
            name, detailed = outputs[index]
        if isinstance(given := attrs.get(NAME), StringAttr):
            name = given.data
        label = f"input {number}" + (f" '{name}'" if name else "")
        optional = effects is not None and effects[number] in (
            tir.Effect.WRITE,
            tir.Effect.SCRATCH,
        )
        if isinstance(signature, SignatureAttr) and index is None and name is None:
            optional = True  # a pool, which main takes once it is lowered
        arguments.append(Argument(label, type, detailed, index, optional))
    return arguments


_Described: TypeAlias = "tuple[str | None, Attribute]"


def _result_number(attributes: Mapping[str, Attribute]) -> int | None:
    """Which result an argument stands for, by its attributes."""
    number = attributes.get(RESULT)
    if not isinstance(number, IntegerAttr):
        return None
    return cast("IntegerAttr[Any]", number).value.data


def _argument_attributes(
    function: FuncOp | tir.FuncOp,
) -> Sequence[Mapping[str, Attribute]]:
    attributes: ArrayAttr[DictionaryAttr] | None = function.arg_attrs
    if attributes is None:
        empty: Mapping[str, Attribute] = {}
        return [empty] * len(function.args)
    return [entry.data for entry in attributes]


def _checked(
    function: Operation, argument: Argument, value: Any, sizes: Sizes
) -> Value:
    type, label = argument.type, argument.label
    if not isinstance(type, TensorType | MemRefType):
        return _checked_number(function, argument, value)
    shaped = cast("TensorType[Any] | MemRefType[Any]", type)
    described = argument.described
    array = np.asarray(value)
    expected = dtype_of(function, shaped.element_type)
    seen = dtype_of(function, cast(Any, described).element_type)
    shape = shaped.get_shape()
    if (
        array.dtype not in (expected, seen)
        or array.ndim != len(shape)
        or any(s >= 0 and s != n for s, n in zip(shape, array.shape, strict=True))
    ):
        raise InputError(
            f"{label}: expected '{described}', but got an array of {array.dtype} with "
            f"shape {list(array.shape)}"
        )
    if isinstance(described, TensorType):
        for symbol, size in zip(
            dim_symbols(cast("TensorType[Any]", described)), array.shape, strict=True
        ):
            if symbol is not None:
                sizes.bind(symbol, size, label)
    return np.array(array).view(expected)


def _checked_number(function: Operation, argument: Argument, value: Any) -> Value:
    expected = dtype_of(function, argument.type)
    array = np.asarray(value)
    fits = array.dtype == expected
    if isinstance(value, int | float):  # a number of Python has no dtype
        fits = isinstance(value, int) or expected.kind not in "iub"
    if array.ndim or not fits:
        raise InputError(
            f"{argument.label}: expected '{argument.type}', but got "
            f"{'an array' if array.ndim else 'a number'} of {array.dtype}"
        )
    return array.astype(expected)[()]


def _new_memory(
    interpreter: Interpreter,
    function: Operation,
    argument: Argument,
    sizes: Sizes,
    computed: Iterator[int],
) -> Array:
    """Memory for an argument that is only written."""
    type = cast("MemRefType[Any]", argument.type)
    shape = list(type.get_shape())
    described: Any = argument.described
    is_bounded = argument.result in bounded_results(function)
    if isinstance(argument.described, TensorType) and not is_bounded:
        symbols = dim_symbols(described)
        for axis, symbol in enumerate(symbols):
            if shape[axis] < 0 and symbol is not None and symbol.name in sizes.known:
                shape[axis] = sizes.known[symbol.name][0]
    for axis, extent in enumerate(type.get_shape()):
        if extent < 0:
            shape[axis] = next(computed, shape[axis])
    if any(size < 0 for size in shape):
        raise InputError(
            f"{argument.label}: the size of '{described}' is not known before the run"
        )
    return interpreter.allocate(function, shape, dtype_of(function, type.element_type))
