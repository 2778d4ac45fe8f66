"""
C functions that a program calls in Python, by their reference evaluation: for kernels
that call a library which this machine does not have.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute

from transom.artifacts import argument_of
from transom.dialects import tir
from transom.dialects.diagnostics import OpError
from transom.dialects.dtypes import optional_numpy_dtype
from transom.dialects.target import PHASES, get_config
from transom.driver import lower_in_place
from transom.kept_main import lower_keeping_main
from transom.passes.pipeline import PassObserver, PipelineError
from transom.runtime.callbacks import NUMBERS, Called, Parameter, Struct
from transom.targets.references import reference_of

Externs: TypeAlias = str | Mapping[str, Callable[..., Any]]
"""
What kernels call for C functions: `native` code, the `reference` evaluations that the
targets of the module bring, or given functions of Python by name. What is not among
these is native.
"""

EXTERNS = ("native", "reference")


def lower_with(
    module: ModuleOp,
    externs: Externs,
    ctx: Context,
    observer: PassObserver | None = None,
) -> tuple[dict[str, Called], ModuleOp | None]:
    """
    Lower a module itself to phase `machine`, and give what Python is called for, by
    symbol; and a copy of the module with its main, if something is called.

    Raises `OpError`, and `PipelineError` for a choice that there is not.
    """
    machine = PHASES[-1]
    if isinstance(externs, str) and externs not in EXTERNS:
        names = " or ".join(f"'{name}'" for name in EXTERNS)
        raise PipelineError(f"expected {names} for C functions, but got '{externs}'")
    if externs == "native":
        lower_in_place(module, machine, ctx=ctx, observer=observer)
        return {}, None
    if get_config(module).phase == machine:
        raise OpError(
            module,
            f"expected a module before phase '{machine}' to call C functions in Python",
        )
    lower_in_place(module, PHASES[-2], ctx=ctx, observer=observer)
    if isinstance(externs, str):
        externs = reference_of(module).externs
    called = stand_in(module, externs)
    return called, lower_keeping_main(module, ctx, observer)


def stand_in(
    module: ModuleOp, functions: Mapping[str, Callable[..., Any]]
) -> dict[str, Called]:
    """
    Let kernels call other symbols in the place of some C functions, and give what these
    are: a symbol for each function and types that it is called with.

    Memory is passed by its address alone, so its sizes are those of the types. Raises
    `OpError` at a call with what Python can not be called with.
    """
    found: dict[str, Called] = {}
    symbols: dict[tuple[object, ...], str] = {}
    for op in module.walk():
        if not isinstance(op, tir.ExternOp) or op.callee.data not in functions:
            continue
        called = _called(op, functions[op.callee.data])
        key = (op.callee.data, called.parameters, called.result, called.good)
        if key not in symbols:
            symbols[key] = f"{op.callee.data}.reference.{len(symbols)}"
            found[symbols[key]] = called
        op.attributes[tir.SYMBOL] = StringAttr(symbols[key])
    return found


def _called(op: tir.ExternOp, function: Callable[..., Any]) -> Called:
    parameters: list[Parameter] = []
    for number, (value, effect, by_ref) in enumerate(
        zip(op.arguments, op.argument_effects, op.refs, strict=True)
    ):
        parameter = _parameter(value.type, effect, by_ref)
        if parameter is None:
            raise OpError(
                op,
                f"'{op.callee.data}' can not be called in Python: argument {number} is "
                f"'{value.type}', but expected a number of C, a memref of known sizes "
                "and the identity layout, or a struct of these",
            )
        parameters.append(parameter)
    result: str | None = None
    if op.result is not None:
        dtype = optional_numpy_dtype(op.result.type)
        if dtype is None or dtype.name not in NUMBERS:
            raise OpError(
                op,
                f"'{op.callee.data}' can not be called in Python: the result is "
                f"'{op.result.type}', but expected a number of C",
            )
        result = dtype.name
    good = op.expected_status or 0
    what = f"C function '{op.callee.data}'"
    return Called(what, tuple(parameters), function, result, good)


def _parameter(type: Attribute, effect: tir.Effect, by_ref: bool) -> Parameter | None:
    """How an argument is passed; None if Python can not take it."""
    if isinstance(type, tir.StructType):
        # As in C, a struct that is only read may hold memory that is written.
        fields = [_parameter(f, tir.Effect.READ_WRITE, False) for f in type.fields]
        if None in fields:
            return None
        return Struct(tuple(cast("list[Parameter]", fields)), by_ref)
    argument = argument_of(type, effect)
    if argument is None or (
        argument.shape is not None and min(argument.shape, default=0) < 0
    ):
        return None
    return argument
