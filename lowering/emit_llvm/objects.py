"""
A module as several texts: one per kernel, and one for all else.

A kernel is compiled by itself, with the functions that only it refers to, so that its
machine code is content: the same in every module, under one name that is put right in
the object. In the text of the module it is
declared, and so are the C functions that others than kernels call.

```mlir
llvm.func internal @k() attributes {no_inline} { … }
==>
define hidden i32 @<SYMBOL>() { … }          ; the text of the kernel
declare hidden i32 @k()                      ; in the text of the others
```
"""

from collections.abc import Collection, Iterator, Mapping
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


def to_object_texts(
    module: ModuleOp, apart: Collection[str] = (), without: Collection[str] = ()
) -> ObjectTexts:
    """
    The texts of a module in which only the `llvm` dialect has code. Kernels that are
    named in `apart` are in no text but their own; functions that are named in `without`
    are in none, and what they refer to can be found from outside.

    Raises `OpError` at an op, a type or an attribute that LLVM IR has no form for.
    """
    symbols = dict(_symbols_of(module))
    groups = _groups_of(symbols, apart)
    texts: dict[str, KernelText] = {}
    for op, group in groups.items():
        inner = {name: f"part{number}" for number, name in enumerate(group.names)}
        text = text_of(module, (*group.ops, op), {}, {op: SYMBOL}, inner)
        line = header(op, ModuleState(), None, SYMBOL)
        texts[op.sym_name.data] = KernelText(text, line)
    grouped = {symbols[name] for group in groups.values() for name in group.names}
    others = [op for op in module.body.ops if symbol_name(op) not in without]
    used = {
        name
        for op in others
        if op not in groups and op not in grouped
        for name in _names(op)
    }
    main = [
        op
        for op in others
        if op in groups
        or (symbol_name(op) in used if _is_declaration(op) else op not in grouped)
    ]
    wanted = {
        name
        for op in module.body.ops
        if symbol_name(op) in without
        for name in _names(op)
    }
    found: dict[Operation, str] = {
        op: name for name, op in symbols.items() if name in wanted and _is_internal(op)
    }
    return ObjectTexts(text_of(module, main, groups, found), texts)


Symbol = llvm.FuncOp | llvm.GlobalOp


def _symbols_of(module: ModuleOp) -> Iterator[tuple[str, Symbol]]:
    for op in module.body.ops:
        if isinstance(op, llvm.FuncOp | llvm.GlobalOp):
            yield op.sym_name.data, op


def _is_declaration(op: Operation) -> bool:
    match op:
        case llvm.FuncOp():
            return not op.body.blocks
        case llvm.GlobalOp():
            return op.linkage == llvm.LinkageAttr("extern_weak")
        case _:
            return False


def _names(op: Operation) -> Iterator[str]:
    """The symbols that an op and those in it refer to."""
    for inner in op.walk():
        for attribute in given(inner).values():
            if isinstance(attribute, SymbolRefAttr):
                yield attribute.string_value()


class _Group(NamedTuple):
    """What is compiled together with a kernel."""

    ops: list[Symbol]
    """Declarations first."""
    names: list[str]
    """Of the functions that nobody else refers to."""


def _groups_of(
    symbols: Mapping[str, Symbol], apart: Collection[str]
) -> dict[llvm.FuncOp, _Group]:
    """The kernels that can be compiled by themselves, with what they need."""
    references = {name: set(_names(op)) for name, op in symbols.items()}
    users: dict[str, set[str]] = {}
    for user, names in references.items():
        for name in names:
            users.setdefault(name, set()).add(user)
    groups: dict[llvm.FuncOp, _Group] = {}
    for name, op in symbols.items():
        if (
            not isinstance(op, llvm.FuncOp)
            or not _is_internal(op)
            or "no_inline" not in given(op)
            or len(name.encode()) > len(SYMBOL)
        ):
            continue
        reached = _reached_from(name, symbols, references)
        own = [
            n
            for n, s in symbols.items()
            if n in reached and n not in apart and _is_internal(s)
        ]
        others = [symbols.get(n) for n in sorted(reached.difference(own))]
        declared = [s for s in others if s is not None and _is_declaration(s)]
        if len(declared) == len(others) and all(users[n] <= {name, *own} for n in own):
            groups[op] = _Group([*declared, *(symbols[n] for n in own)], own)
    inner = {name for group in groups.values() for name in group.names}
    return {op: g for op, g in groups.items() if op.sym_name.data not in inner}


def _reached_from(
    name: str, symbols: Mapping[str, Symbol], references: Mapping[str, set[str]]
) -> set[str]:
    """The symbols that a function refers to, also through functions of the module."""
    reached: set[str] = set()
    pending = [name]
    while pending:
        for other in references[pending.pop()] - reached - {name}:
            reached.add(other)
            if (op := symbols.get(other)) is not None and _is_internal(op):
                pending.append(other)
    return reached


def _is_internal(op: Symbol) -> bool:
    """Whether an op is a function that only its module sees."""
    return (
        isinstance(op, llvm.FuncOp)
        and bool(op.body.blocks)
        and op.linkage == llvm.LinkageAttr("internal")
    )
