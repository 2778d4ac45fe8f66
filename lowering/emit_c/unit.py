"""
What the functions of one C file share: names, helpers, structs, constants, statuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects import cf, func
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Attribute, Operation

from transom.dialects import executor, graph, tir
from transom.dialects.diagnostics import OpError, name_of, position_of
from transom.dialects.symbols import symbol_name
from transom.dialects.tir.attributes import StructType
from transom.lowering.conversion import Refusal
from transom.lowering.emit_c.given_names import extern_name
from transom.lowering.emit_c.memory import Buffer, Number, as_memref, checked
from transom.lowering.emit_c.names import Names
from transom.lowering.emit_c.prelude import Prelude
from transom.lowering.emit_c.scalars import Scalars, Unsupported
from transom.lowering.emit_c.scope import number_text, start_text
from transom.lowering.emit_c.types import Scalar, float_text, integer_text, scalar_of
from transom.lowering.llvm_types import layout_of

Array = npt.NDArray[Any]
Weights = Callable[[graph.WeightOp], Array]

CALLS = (func.CallOp, tir.CallOp, executor.CallOp, executor.ShapeCallOp)
"""Ops that call functions of the module."""

MAX_WEIGHT_BYTES = 64 << 20
"""Of a constant that is written out; more is no text for a compiler of C."""


@dataclass(frozen=True)
class Options:
    """How C is written."""

    index_bits: int = 64
    """Width of indices and sizes: 32 suits small machines."""
    headers: tuple[str, ...] = ()
    """Files to include that declare the C functions and structs that are used."""
    prefix: str = ""
    """Before the names of functions that other files see."""


class Unit:
    """One file of C."""

    def __init__(
        self,
        functions: Mapping[str, Operation],
        public: Iterable[str],
        options: Options,
        weights: Weights,
    ) -> None:
        self.functions = functions
        self.public = frozenset(public)
        """Symbols of functions that other files see."""
        self.options = options
        self.names = Names()
        self.prelude = Prelude()
        self.scalars = Scalars(self.prelude, options.index_bits)
        self.structs: dict[str, StructType] = {}
        self.externals: dict[str, str] = {}
        self.constants: dict[str, str] = {}
        """C definitions of weights, by symbol."""
        self.messages: list[str] = []
        """What the statuses 1, 2, … mean."""
        self._weights = weights
        self._constant_names: dict[str, str] = {}
        self._fallible: set[str] | None = None
        self._callers: Mapping[str, Sequence[Operation]] | None = None
        self._symbols: dict[str, str] = {}
        for helper_name in _names_of_helpers():
            self.names.take(helper_name)

    # Types.

    def is_number(self, type: Attribute) -> bool:
        """Whether values of a type are numbers in C."""
        return not isinstance(scalar_of(type, self.options.index_bits), Refusal)

    def parameter_types(self, function: Operation) -> Sequence[Attribute]:
        """The types of the arguments of a function."""
        match function:
            case func.FuncOp() | tir.FuncOp():
                return function.function_type.inputs.data
            case executor.ArtifactOp():
                return function.argument_types
            case _:
                raise OpError(function, f"no C form for a call of '{function.name}'")

    def passed(self, op: Operation, buffer: Buffer, type: object) -> list[str]:
        """A memref as arguments of a function whose parameter has this type."""
        memref = checked(cast(Attribute, type))
        layout = layout_of(memref)
        if isinstance(layout, Refusal):
            raise OpError(op, layout.reason)
        open_sizes = [
            size
            for size, known in zip(buffer.sizes, layout.sizes, strict=True)
            if known is None
        ]
        if layout.identity:
            if not buffer.is_dense:
                raise OpError(op, "no C form for a view with gaps as this argument")
            return [start_text(buffer), *map(number_text, open_sizes)]
        rest: list[Number] = [
            stride
            for stride, known in zip(buffer.strides, layout.strides, strict=True)
            if known is None
        ]
        if layout.offset is None:
            return [
                buffer.pointer,
                *map(number_text, [*open_sizes, *rest, buffer.offset]),
            ]
        return [buffer.pointer, *map(number_text, [*open_sizes, *rest])]

    def struct(self, type: StructType) -> str:
        """The name of a struct type, which is declared unless a header does."""
        name = type.struct_name.data
        known = self.structs.setdefault(name, type)
        if not self.options.headers and self._fields(known) != self._fields(type):
            raise Unsupported(
                f"expected one struct '{name}', but got '{known}' and '{type}'; "
                "a header that declares it is named by 'headers' of the target"
            )
        for field in type.fields:
            if isinstance(field, StructType):
                self.struct(field)
        return name

    def _fields(self, type: StructType) -> list[object]:
        """What C sees of the fields: of memory the address only."""
        return [
            self._fields(field)
            if isinstance(field, StructType)
            else field
            if (memref := as_memref(field)) is None
            else (self.scalars.scalar(memref.element_type).storage,)
            for field in type.fields
        ]

    # Functions.

    def symbol(self, name: str) -> str:
        """The C name of a function of the module."""
        found = self._symbols.get(name)
        if found is None:
            prefix = self.options.prefix if name in self.public else ""
            found = self._symbols[name] = self.names.new(prefix + name)
        return found

    def external(self, op: tir.ExternOp) -> str:
        """The name of a C function, which is declared unless a header does."""
        name, result = extern_name(op), "void"
        if op.result is not None:
            result = self.scalars.scalar(op.result.type).type
        parameters = [
            self.external_parameter(value.type, effect, by_ref)
            for value, effect, by_ref in zip(
                op.arguments, op.argument_effects, op.refs, strict=True
            )
        ]
        text = f"{result} {name}({', '.join(parameters) or 'void'});"
        known = self.externals.setdefault(name, text)
        if known != text and not self.options.headers:
            raise Unsupported(
                f"expected one declaration of '{name}', but got '{known}' and '{text}'"
            )
        return name

    def external_parameter(
        self, type: Attribute, effect: tir.Effect, by_ref: bool
    ) -> str:
        """The type of a parameter of a C function."""
        const = "const " if effect is tir.Effect.READ else ""
        if isinstance(type, StructType):
            name = self.struct(type)
            return f"{const}{name} *" if by_ref else name
        if (memref := as_memref(type)) is not None:
            return f"{const}{self.scalars.scalar(memref.element_type).storage} *"
        return self.scalars.scalar(type).type

    def may_fail(self, function: Operation) -> bool:
        """Whether a function returns a status that may not be 0."""
        if self._fallible is None:
            self._fallible = _fallible(self.functions)
        return function_name(function) in self._fallible

    def status(self, op: Operation, message: str) -> int:
        """The number that a function returns when a check fails."""
        origin = self.origin(op)
        text = f"{origin}: {message}" if origin else message
        if text not in self.messages:
            self.messages.append(text)
        return self.messages.index(text) + 1

    def origins(self, function: Operation) -> list[str]:
        """Where a function comes from: kernels have no origin, calls of them do."""
        if origin := self.origin(function):
            return [origin]
        if self._callers is None:
            self._callers = _calls_by_callee(self.functions)
        calls = self._callers.get(function_name(function), ())
        return list(dict.fromkeys(filter(None, map(self.origin, calls))))

    def origin(self, op: Operation) -> str:
        """Where an op comes from, for a comment."""
        words: list[str] = []
        if name := name_of(op.location):
            words.append(name)
        if position := position_of(op.location):
            words.append(f"{position.file.rpartition('/')[2]}:{position.line}")
        return " at ".join(words).replace("*/", "* /").replace("\n", " ")

    # Constants.

    def constant_name(self, symbol: str) -> str:
        """The name of the array of a weight that `weight` was asked for."""
        return self._constant_names[symbol]

    def weight(self, op: Operation, symbol: str) -> str:
        """The name of the array that holds a weight."""
        found = self._constant_names.get(symbol)
        if found is not None:
            return found
        weight = self.functions.get(symbol)
        if not isinstance(weight, graph.WeightOp):
            raise OpError(op, f"no weight '@{symbol}' in this module")
        name = self._constant_names[symbol] = self.names.new(symbol)
        type = weight.type
        scalar = self.scalars.scalar(type.element_type)
        count = type.element_count()
        if count * scalar.bytes > MAX_WEIGHT_BYTES:
            raise OpError(
                weight,
                f"expected a weight of at most {MAX_WEIGHT_BYTES} bytes, to be written "
                f"out in C, but got '{type}'",
            )
        elements = _element_texts(self._weights(weight), scalar)
        origin = f"/* @{symbol}: {'x'.join(map(str, type.get_shape())) or '1'} */"
        self.constants[symbol] = (
            f"{origin}\nstatic const {scalar.storage} {name}[{max(count, 1)}] = {{\n"
            f"{_filled(elements or ['0'])}\n}};"
        )
        return name


def function_name(function: Operation) -> str:
    """The symbol of a function or weight of the module."""
    name = symbol_name(function)
    assert name is not None, "functions have names"
    return name


def _element_texts(array: Array, scalar: Scalar) -> list[str]:
    flat = np.asarray(array).reshape(-1)
    if scalar.is_half:
        return [f"0x{bits:04x}" for bits in flat.view(np.uint16).tolist()]
    if scalar.is_float:
        return [float_text(value, scalar) for value in flat.tolist()]
    return [integer_text(int(value), scalar) for value in flat.tolist()]


def _filled(words: Iterable[str], width: int = 96) -> str:
    """Words with commas, in lines."""
    lines: list[str] = []
    line = "   "
    for word in words:
        if len(line) + len(word) + 2 > width:
            lines.append(line)
            line = "   "
        line += f" {word},"
    return "\n".join([*lines, line])


def _names_of_helpers() -> Iterable[str]:
    """Names that helper functions may take later."""
    yield from ("f16_to_float", "float_to_f16", "bf16_to_float", "float_to_bf16")
    yield from ("round_f16", "round_bf16")


def _calls_by_callee(
    functions: Mapping[str, Operation],
) -> Mapping[str, Sequence[Operation]]:
    """All calls of each function."""
    calls: dict[str, list[Operation]] = {}
    for function in functions.values():
        for op in function.walk():
            if isinstance(op, CALLS):
                calls.setdefault(op.callee.string_value(), []).append(op)
    return calls


def _fallible(functions: Mapping[str, Operation]) -> set[str]:
    """The functions that may return a status other than 0."""
    calls: dict[str, set[str]] = {}
    found: set[str] = set()
    for name, function in functions.items():
        if isinstance(function, executor.ArtifactOp):
            found.add(name)
        if not isinstance(function, func.FuncOp | tir.FuncOp):
            continue
        if not function.body.blocks:
            found.add(name)
        for op in function.walk():
            if isinstance(op, cf.AssertOp) or (
                isinstance(op, tir.ExternOp) and op.expected_status is not None
            ):
                found.add(name)
            elif isinstance(op, CALLS):
                calls.setdefault(op.callee.string_value(), set()).add(name)
    work = list(found)
    while work:
        for caller in calls.get(work.pop(), ()):
            if caller not in found:
                found.add(caller)
                work.append(caller)
    return found


def dynamic_parts(type: MemRefType[Attribute]) -> list[str]:
    """Names for the numbers that are passed behind the address of a memref."""
    layout = layout_of(type)
    if isinstance(layout, Refusal):
        raise Unsupported(layout.reason)
    names = [f"size{i}" for i, s in enumerate(type.get_shape()) if s == DYNAMIC_INDEX]
    if not layout.identity:
        names += [f"stride{i}" for i, s in enumerate(layout.strides) if s is None]
        names += ["offset"] * (layout.offset is None)
    return names
