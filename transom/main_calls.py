"""
What the executors `graph` and `vm` say of types, kernels and parts of memory.
"""

from typing import NamedTuple, cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IntegerType,
    MemRefType,
    ModuleOp,
)
from xdsl.ir import Attribute, Operation

from transom.dialects import executor, llvm, tir
from transom.dialects.diagnostics import OpError
from transom.dialects.dtypes import numpy_dtype
from transom.dialects.symbols import lookup, symbol_name
from transom.runtime.artifacts import SYMBOL
from transom.runtime.main_kernels import C_SCALARS


def type_text(type: Attribute, op: Operation, executor: str) -> str:
    """A type as the runtime's `Type` reads it. Raises `OpError` if it has none."""
    if isinstance(type, MemRefType):
        memory = cast("MemRefType[Attribute]", type)
        sizes = ["?" if n == DYNAMIC_INDEX else str(n) for n in memory.get_shape()]
        element = _element(memory.element_type, memory, op, executor)
        return f"{element}[{','.join(sizes)}]"
    return _element(type, type, op, executor)


def _element(element: Attribute, type: Attribute, op: Operation, executor: str) -> str:
    try:
        return numpy_dtype(element).name
    except (KeyError, TypeError, ValueError):
        raise OpError(
            op, f"executor '{executor}' has no values of type '{type}'"
        ) from None


class KernelSignature(NamedTuple):
    """A C function: memory as its address and open sizes, numbers as they are."""

    symbol: str
    types: list[str]
    gives_status: bool
    writes: list[int]
    """The arguments that it writes."""


class KernelSignatures:
    """How the kernels and artifacts of a module are called."""

    def __init__(self, machine: ModuleOp, executor: str) -> None:
        """`machine` is the module at that phase, which declares the C functions."""
        self.executor = executor
        self.declared = {
            symbol_name(op): op
            for op in machine.body.ops
            if isinstance(op, llvm.FuncOp)
        }

    def of(self, op: executor.CallOp) -> KernelSignature:
        """The signature of what a call calls. Raises `OpError` if there is none."""
        name = op.callee.string_value()
        callee = lookup(op, name)
        assert isinstance(callee, tir.Callee), "the verifier has looked"
        symbol = name if isinstance(callee, tir.FuncOp) else SYMBOL + name
        declared = self.declared.get(symbol)
        types = [type_text(t, op, self.executor) for t in callee.argument_types]
        count = sum(1 + text.count("?") for text in types)
        if declared is None or len(declared.function_type.inputs) != count:
            raise OpError(
                op, f"executor '{self.executor}' does not know how to call '@{name}'"
            )
        for type, text in zip(callee.argument_types, types, strict=True):
            if "[" not in text and text not in C_SCALARS:
                raise OpError(
                    op,
                    f"executor '{self.executor}' cannot pass a number of type '{type}'",
                )
        effects = callee.argument_effects
        return KernelSignature(
            symbol,
            types,
            not isinstance(declared.function_type.output, llvm.LLVMVoidType),
            [i for i, effect in enumerate(effects) if effect.writes],
        )


def predicate_of(op: "arith.CmpiOp | arith.CmpfOp") -> str:
    """The name of a comparison's predicate."""
    from xdsl.dialects.arith import (
        CMPF_COMPARISON_OPERATIONS,
        CMPI_COMPARISON_OPERATIONS,
    )

    is_float = isinstance(op, arith.CmpfOp)
    names = CMPF_COMPARISON_OPERATIONS if is_float else CMPI_COMPARISON_OPERATIONS
    return names[op.predicate.value.data]


def static_numbers(op: memref.SubviewOp, name: str) -> list[int | None]:
    """The offsets, sizes or strides of a part; None those that are operands."""
    static = cast("DenseArrayBase[IntegerType]", op.properties[f"static_{name}"])
    return [None if n == DYNAMIC_INDEX else n for n in static.get_values()]


def dropped_axes(op: memref.SubviewOp) -> list[int]:
    """The axes that a part of memory is without."""
    shape = list(op.result.type.get_shape())
    dropped: list[int] = []
    for axis, size in enumerate(static_numbers(op, "sizes")):
        known = DYNAMIC_INDEX if size is None else size
        if shape and shape[0] == known:
            shape.pop(0)
        else:
            dropped.append(axis)
    return dropped
