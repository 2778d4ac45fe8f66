"""
Compile text to `llvm` and run it: helpers of the tests of the lowering to machine code.
"""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    Float64Type,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    ModuleOp,
)
from xdsl.ir import Attribute

from transom.dialects import tir
from transom.dialects.dtypes import numpy_dtype
from transom.dialects.parser import parse_ir
from transom.lowering.conversion import Refusal
from transom.lowering.convert_to_llvm import ConvertToLlvmPass
from transom.lowering.emit_llvm import to_llvm_text
from transom.lowering.llvm_types import layout_of
from transom.lowering.lower_scf_to_cf import LowerScfToCfPass
from transom.registry import new_context
from transom.runtime import jit

SCALARS: dict[type[Attribute], Any] = {Float64Type: ctypes.c_double}


def parse(text: str) -> ModuleOp:
    module = parse_ir(new_context(), text)
    module.verify()
    return module


def lowered(text: str) -> ModuleOp:
    """The module with nothing but `llvm` in it."""
    ctx, module = new_context(), parse(text)
    for conversion in (LowerScfToCfPass(), ConvertToLlvmPass()):
        conversion.apply(ctx, module)
        module.verify()
    return module


def c_scalar(type: Attribute) -> Any:
    """The ctypes type of a number."""
    if isinstance(type, IndexType):
        return ctypes.c_int64
    if isinstance(type, IntegerType):
        width = cast(IntegerType, type).bitwidth
        return ctypes.c_bool if width == 1 else getattr(ctypes, f"c_int{width}")
    return ctypes.c_double if isinstance(type, Float64Type) else ctypes.c_float


@dataclass
class Compiled:
    """Functions of a text, called with numbers and arrays."""

    module: jit.JitModule
    types: Mapping[str, FunctionType]
    messages: Sequence[str]

    def __call__(self, name: str, *arguments: Any) -> Any:
        """The result of a function; the status of one without results."""
        function_type = self.types[name]
        values: list[Any] = []
        for type, argument in zip(function_type.inputs, arguments, strict=True):
            if isinstance(type, MemRefType):
                values += self.memref(cast(MemRefType, type), argument)
            else:
                values.append(c_scalar(type)(argument))
        outputs = function_type.outputs.data
        result = c_scalar(outputs[0]) if outputs else ctypes.c_int32
        function = self.module.function(name, result, *[v.__class__ for v in values])
        return function(*values)

    def memref(self, type: MemRefType, array: Any) -> list[Any]:
        """Pointer and numbers of an array, which may be a view of another."""
        assert array.dtype == numpy_dtype(type.element_type), f"{array.dtype}, {type}"
        layout = layout_of(type)
        assert not isinstance(layout, Refusal)
        numbers = [
            n for n, s in zip(array.shape, layout.sizes, strict=True) if s is None
        ]
        if not layout.identity:
            strides = [s // array.itemsize for s in array.strides]
            numbers += [
                n for n, s in zip(strides, layout.strides, strict=True) if s is None
            ]
            numbers += [0] if layout.offset is None else []
        else:
            assert array.flags.c_contiguous
        return [
            ctypes.c_void_p(array.ctypes.data),
            *(ctypes.c_int64(n) for n in numbers),
        ]


def compiled(text: str, **options: Any) -> Compiled:
    """Compile the functions of a text for this machine."""
    types = {
        op.sym_name.data: op.function_type
        for op in parse(text).body.ops
        if isinstance(op, func.FuncOp | tir.FuncOp)
    }
    module = lowered(text)
    messages = module.attributes.get("executor.messages")
    code = jit.compile_llvm_ir(to_llvm_text(module), **options)
    texts = [m.data for m in cast(Any, messages)] if messages is not None else []
    return Compiled(code, types, texts)


def zeros(shape: int | Sequence[int], dtype: Any = np.float32) -> Any:
    return np.zeros(shape, dtype)
