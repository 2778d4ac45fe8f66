"""
A module as several texts: one per kernel, and one for all else.

A kernel is compiled by itself, so that its machine code is content: the same in every
module, under one name that is put right in the object. In the text of the module it is
declared, and so are the C functions that others than kernels call.

```mlir
llvm.func internal @k() attributes {no_inline} { … }
==>
define hidden i32 @<SYMBOL>() { … }          ; the text of the kernel
declare hidden i32 @k()                      ; in the text of the others
```
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Operation

from transom.dialects import llvm
from transom.dialects.symbols import symbol_name
from transom.lowering.emit_llvm.attributes import given
from transom.lowering.emit_llvm.function import header
from transom.lowering.emit_llvm.module import text_of
from transom.lowering.emit_llvm.scope import ModuleState

SYMBOL = "transom_kernel_" + "0" * 113
"""The name of a kernel in its text, longer than those of kernels are."""


class KernelText(NamedTuple):
    """A kernel by itself."""

    text: str
    declaration: str
    """How callers see it, but for its name: as `SYMBOL`."""


class ObjectTexts(NamedTuple):
    """What becomes one object each."""

    main: str
    kernels: Mapping[str, KernelText]
    """By the name of the kernel, in order."""


def to_object_texts(module: ModuleOp) -> ObjectTexts:
    """
    The texts of a module in which only the `llvm` dialect has code.

    Raises `OpError` at an op, a type or an attribute that LLVM IR has no form for.
    """
    functions = {
        op.sym_name.data: op for op in module.body.ops if isinstance(op, llvm.FuncOp)
    }
    texts: dict[str, KernelText] = {}
    kernels: set[Operation] = set()
    for name, op in functions.items():
        callees = _declared_callees(op, functions)
        if callees is not None:
            text = text_of(module, (*callees, op), symbols={op: SYMBOL})
            texts[name] = KernelText(text, header(op, ModuleState(), None, SYMBOL))
            kernels.add(op)
    used = {name for op in module.body.ops if op not in kernels for name in _names(op)}
    main = [
        op
        for op in module.body.ops
        if op in kernels or not _is_declaration(op) or symbol_name(op) in used
    ]
    return ObjectTexts(text_of(module, main, kernels), texts)


def _is_declaration(op: Operation) -> bool:
    return isinstance(op, llvm.FuncOp) and not op.body.blocks


def _names(op: Operation) -> Iterator[str]:
    """The symbols that an op and those in it refer to."""
    for inner in op.walk():
        for attribute in given(inner).values():
            if isinstance(attribute, SymbolRefAttr):
                yield attribute.string_value()


def _declared_callees(
    op: llvm.FuncOp, functions: Mapping[str, llvm.FuncOp]
) -> list[llvm.FuncOp] | None:
    """The functions that a kernel calls; None if it cannot be compiled by itself."""
    if (
        op.linkage != llvm.LinkageAttr("internal")
        or "no_inline" not in given(op)
        or not op.body.blocks
        or len(op.sym_name.data.encode()) > len(SYMBOL)
    ):
        return None
    callees: dict[str, llvm.FuncOp] = {}
    for name in _names(op):
        callee = functions.get(name)
        if callee is None or not _is_declaration(callee):
            return None
        callees[name] = callee
    return [callees[name] for name in sorted(callees)]
