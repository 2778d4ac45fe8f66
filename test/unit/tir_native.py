"""
Compiling one kernel for this machine, for tests.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from tir_cases import context
from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr

from transom.dialects import tir
from transom.lowering.convert_tir_to_scf import ConvertTirToScfPass
from transom.lowering.convert_to_llvm import ConvertToLlvmPass
from transom.lowering.emit_llvm import to_llvm_text
from transom.lowering.lower_scf_to_cf import LowerScfToCfPass
from transom.runtime import jit


def llvm_text(kernel: tir.FuncOp, ctx: Context | None = None) -> str:
    ctx = ctx or context()
    kernel = kernel.clone()
    kernel.properties["sym_visibility"] = StringAttr("public")
    module = ModuleOp([kernel])
    for lowering in (ConvertTirToScfPass(), LowerScfToCfPass(), ConvertToLlvmPass()):
        lowering.apply(ctx, module)
    module.verify()
    return to_llvm_text(module)


class NativeKernel:
    """A compiled kernel; called with arrays (changed in place) and numbers."""

    def __init__(self, kernel: tir.FuncOp, opt_level: int = 0) -> None:
        self.types = kernel.function_type.inputs.data
        self.text = llvm_text(kernel)
        cpu, features = jit.host_cpu()
        self.module = jit.compile_llvm_ir(
            self.text, cpu=cpu, features=features, opt_level=opt_level
        )
        self.address = self.module.address(kernel.sym_name.data)

    def __call__(self, *arguments: Any) -> None:
        values: list[Any] = []
        types: list[Any] = []
        for type, argument in zip(self.types, arguments, strict=True):
            if isinstance(type, MemRefType):
                array: np.ndarray[Any, Any] = argument
                assert array.flags.c_contiguous
                values.append(array.ctypes.data)
                types.append(ctypes.c_void_p)
                for static, extent in zip(type.get_shape(), array.shape, strict=True):
                    if static < 0:
                        values.append(extent)
                        types.append(ctypes.c_int64)
            else:
                kind = ctypes.c_float if isinstance(argument, float) else ctypes.c_int64
                values.append(argument)
                types.append(kind)
        function = ctypes.CFUNCTYPE(ctypes.c_int32, *types)(self.address)
        assert function(*values) == 0
