"""
`tir.fork`, which calls a kernel on each thread of a team.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    I64,
    FlatSymbolRefAttrConstr,
    IndexType,
    IntegerAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from transom.dialects.symbols import lookup, symbol_table_of
from transom.dialects.tir.func import FuncOp


@irdl_op_definition
class ForkOp(IRDLOperation):
    """
    Call a kernel once on each thread of a team, and wait for all of them.

    The kernel gets its number in the team, from 0 on, then how many the team has, then
    the arguments. A team has at most `threads`, often fewer, one where nothing can run
    threads. The kernel does not fail.

    ```mlir
    tir.func @part(read %worker: index, read %team: index, write %a: memref<8xf32>) {
      %end = arith.constant 8 : index
      %one = arith.constant 1.0 : f32
      scf.for %i = %worker to %end step %team {
        memref.store %one, %a[%i] : memref<8xf32>
      }
      tir.return
    }
    tir.func @ones(write %a: memref<8xf32>) {
      tir.fork @part(%a : memref<8xf32>) threads 2
      tir.return
    }
    ```
    """

    name = "tir.fork"

    callee = prop_def(FlatSymbolRefAttrConstr)
    threads = prop_def(IntegerAttr.constr(I64))
    arguments = var_operand_def()

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = (
        "$callee `(` ($arguments^ `:` type($arguments))? `)` `threads` $threads "
        "attr-dict"
    )

    def __init__(self, callee: str, arguments: Sequence[SSAValue], threads: int):
        super().__init__(
            operands=[arguments],
            properties={
                "callee": SymbolRefAttr(callee),
                "threads": IntegerAttr(threads, i64),
            },
        )

    @property
    def callee_name(self) -> str:
        return self.callee.string_value()

    @property
    def thread_count(self) -> int:
        """How many threads the team has at most."""
        return self.threads.value.data

    def verify_(self) -> None:
        if self.thread_count < 1:
            raise VerifyException(
                f"expected at least 1 thread, but got {self.thread_count}"
            )
        if symbol_table_of(self) is None:
            return
        kernel = lookup(self, self.callee_name)
        if kernel is None:
            raise VerifyException(f"unknown kernel '@{self.callee_name}'")
        if not isinstance(kernel, FuncOp):
            raise VerifyException(
                f"expected '@{self.callee_name}' to be a kernel, but it is a "
                f"'{kernel.name}'"
            )
        expected = (IndexType(), IndexType(), *(v.type for v in self.arguments))
        if kernel.argument_types != expected:
            raise VerifyException(
                f"expected '@{self.callee_name}' to take "
                f"({', '.join(map(str, expected))}), but it takes "
                f"({', '.join(map(str, kernel.argument_types))})"
            )
