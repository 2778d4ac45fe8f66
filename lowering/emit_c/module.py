"""
Whole files of C.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation

from transom.dialects import executor, graph, tir
from transom.dialects.diagnostics import OpError
from transom.dialects.executor import SIGNATURE
from transom.dialects.tir.attributes import StructType
from transom.lowering.emit_c.expressions import Expression
from transom.lowering.emit_c.function import FunctionWriter
from transom.lowering.emit_c.given_names import take_given_names
from transom.lowering.emit_c.memory import as_memref, fresh_buffer, shape_text
from transom.lowering.emit_c.names import Names
from transom.lowering.emit_c.scalars import LIBRARY, Unsupported
from transom.lowering.emit_c.scope import Scope
from transom.lowering.emit_c.unit import (
    CALLS,
    Options,
    Unit,
    Weights,
    dynamic_parts,
    function_name,
)

RESULT = "tir.result"
"""The attribute of an argument of main that a result is written to."""

_MATH = "|".join(
    ("isnan", "signbit", "isunordered", "islessgreater", *sorted(set(LIBRARY.values())))
)

DEFAULTS = Options()

HEADERS = (
    ("math.h", rf"\b(INFINITY|NAN)\b|\b({_MATH})f?\("),
    ("stdbool.h", r"\b(bool|true|false)\b"),
    ("stdint.h", r"\bu?int(8|16|32|64)_t\b|\bU?INT"),
    ("string.h", r"\bmem(cpy|set)\("),
)


def to_c_text(
    module: ModuleOp,
    functions: Iterable[Operation],
    weights: Weights,
    options: Options = DEFAULTS,
    macros: str = "",
) -> str:
    """
    C99 of some functions of a module, which other files see; the functions that they
    call and that have a body are internal to the file. `macros` are lines at its start.

    Raises `OpError` at an op or a type that has no form in C.
    """
    symbols: dict[str, Operation] = {
        function_name(op): op
        for op in module.body.ops
        if isinstance(
            op, func.FuncOp | tir.FuncOp | executor.ArtifactOp | graph.WeightOp
        )
    }
    public = list(functions)
    unit = Unit(symbols, map(function_name, public), options, weights)
    order = callees_first(public, symbols)
    take_given_names(unit, order)
    for function in public:  # before others take their names
        unit.symbol(function_name(function))
    texts: list[str] = []
    for function in order:
        try:
            texts.append(function_text(function, unit, is_public=function in public))
        except Unsupported as e:
            raise OpError(function, str(e)) from None
    return file_text(unit, texts, macros)


def callees_first(
    functions: Sequence[Operation], symbols: dict[str, Operation]
) -> list[Operation]:
    """The functions and all that they call, callees before callers."""
    order: list[Operation] = []
    state: dict[str, bool] = {}

    def visit(function: Operation) -> None:
        name = function_name(function)
        if name in state:
            if not state[name]:
                raise OpError(function, "no C form for functions that call themselves")
            return
        state[name] = False
        for op in function.walk():
            if isinstance(op, CALLS):
                callee = symbols.get(op.callee.string_value())
                if callee is not None:
                    visit(callee)
        state[name] = True
        order.append(function)

    for function in functions:
        visit(function)
    return order


def parameters(
    function: func.FuncOp | tir.FuncOp | executor.ArtifactOp, unit: Unit
) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """The declarations of the parameters, and for each argument its names."""
    scope_names = Names(unit.names)
    declarations: list[str] = []
    names: list[tuple[str, list[str]]] = []
    counts: dict[str, int] = {}
    is_kernel = not isinstance(function, func.FuncOp)
    for position, type in enumerate(unit.parameter_types(function)):
        role, is_const = role_of(function, position)
        counts[role] = counts.get(role, -1) + 1
        hint = argument_hint(function, position)
        name = scope_names.new(hint or f"{role}{counts[role]}")
        memref = as_memref(type)
        if memref is None:
            declarations.append(f"{unit.scalars.scalar(type).type} {name}")
            names.append((name, []))
            continue
        storage = unit.scalars.scalar(memref.element_type).storage
        const = "const " if is_const else ""
        restrict = "restrict " if is_kernel else ""
        declarations.append(f"{const}{storage} *{restrict}{name}")
        parts = [scope_names.new(f"{name}_{part}") for part in dynamic_parts(memref)]
        index = unit.scalars.index_type
        declarations += [f"{index} {part}" for part in parts]
        names.append((name, parts))
    return declarations, names


def role_of(function: Operation, position: int) -> tuple[str, bool]:
    """What an argument is called after, and whether it is only read."""
    match function:
        case tir.FuncOp() | executor.ArtifactOp():
            effect = function.argument_effects[position]
            roles = {tir.Effect.READ: "in", tir.Effect.SCRATCH: "scratch"}
            return roles.get(effect, "out"), effect is tir.Effect.READ
        case func.FuncOp():
            attributes = function.arg_attrs
            if attributes is not None and RESULT in attributes.data[position].data:
                return "out", False
            signature = function.attributes.get(SIGNATURE)
            if isinstance(signature, executor.SignatureAttr):
                if position < len(signature.inputs):
                    return "in", True
                return "pool", False
            return "arg", False
        case _:
            raise AssertionError("functions have arguments")


def argument_hint(function: Operation, position: int) -> str | None:
    """The name that an argument has in the IR."""
    if isinstance(function, func.FuncOp | tir.FuncOp) and function.body.blocks.first:
        return function.body.blocks.first.args[position].name_hint
    return None


def head_text(function: Operation, unit: Unit, *, is_public: bool) -> str:
    """The first line of a function, without its end."""
    assert isinstance(function, func.FuncOp | tir.FuncOp | executor.ArtifactOp)
    declarations, _ = parameters(function, unit)
    outputs = (
        function.function_type.outputs.data
        if isinstance(function, func.FuncOp | tir.FuncOp)
        else ()
    )
    if len(outputs) > 1:
        raise OpError(function, "no C form for a function with several results")
    if outputs:
        result = unit.scalars.scalar(outputs[0]).type
    else:
        result = "int32_t" if is_public or unit.may_fail(function) else "void"
    static = "" if is_public else "static "
    name = unit.symbol(function_name(function))
    head = f"{static}{result} {name}("
    arguments = ", ".join(declarations) or "void"
    if len(head) + len(arguments) > 90:
        arguments = "\n    " + ",\n    ".join(declarations)
    return f"{head}{arguments})"


def function_text(function: Operation, unit: Unit, *, is_public: bool) -> str:
    """A function with its comment; of one without a body its declaration."""
    assert isinstance(function, func.FuncOp | tir.FuncOp | executor.ArtifactOp)
    head = head_text(function, unit, is_public=is_public)
    if isinstance(function, executor.ArtifactOp) or not function.body.blocks:
        return f"extern {head.removeprefix('static ')};"
    _, names = parameters(function, unit)
    scope = Scope(unit.scalars, Names(unit.names))
    for name, parts in names:
        for word in (name, *parts):
            scope.names.take(word)
    block = function.body.block
    for argument, (name, parts) in zip(block.args, names, strict=True):
        put_argument(function, argument, name, parts, scope)
    fails = not function.function_type.outputs.data and (
        is_public or unit.may_fail(function)
    )
    FunctionWriter(unit, scope, fails=fails).block(block)
    body = with_all_used(
        scope.lines, [w for name, parts in names for w in (name, *parts)]
    )
    return "\n".join([*comment(function, unit, names), head, "{", *body, "}"])


DEFINITION = re.compile(r"\s*\w[\w ]*[ *]+(\w+) = .*;")
"""The line of a variable that is given its value where it is declared."""


def with_all_used(lines: Sequence[str], parameters: Iterable[str]) -> list[str]:
    """
    The lines without variables that nothing reads, which views leave behind, and with
    a mention of each parameter, so that no compiler warns.
    """
    words: set[str] = set()
    kept: list[str] = []
    for line in reversed(lines):
        found = DEFINITION.fullmatch(line)
        if found is not None and found[1] not in words and not line.endswith("};"):
            continue
        kept.append(line)
        words.update(re.findall(r"\w+", line))
        if found is not None:
            words.discard(found[1])  # a block before this may have another of its name
    idle = [f"    (void){name};" for name in parameters if name not in words]
    return [*idle, *reversed(kept)]


def put_argument(
    function: Operation,
    argument: BlockArgument,
    name: str,
    parts: list[str],
    scope: Scope,
) -> None:
    """Say what an argument is in C."""
    if as_memref(argument.type) is None:
        scope.put(argument, Expression(name))
        return
    _, is_const = role_of(function, argument.index)
    buffer = fresh_buffer(
        name,
        argument.type,
        scope.scalars,
        [Expression(part) for part in parts],
        is_const=is_const,
    )
    scope.put(argument, buffer)


MAX_ORIGINS = 4
"""How many calls of a kernel its comment names."""


def comment(
    function: Operation, unit: Unit, names: Sequence[tuple[str, list[str]]]
) -> list[str]:
    """What a function is, and the shapes of what it works on."""
    lines = [f"/* @{function_name(function)}"]
    if origins := unit.origins(function):
        rest = f" and {len(origins) - MAX_ORIGINS} more" * (len(origins) > MAX_ORIGINS)
        lines[0] += f", from {', '.join(origins[:MAX_ORIGINS])}{rest}"
    for position, (type, (name, _)) in enumerate(
        zip(unit.parameter_types(function), names, strict=True)
    ):
        role, is_const = role_of(function, position)
        if (memref := as_memref(type)) is not None:
            scalar = unit.scalars.scalar(memref.element_type)
            what = shape_text(memref, scalar)
            if scalar.is_half:
                what = what.replace(scalar.storage, scalar.name)
            use = "read" if is_const else "scratch" if role == "scratch" else "written"
            lines.append(f" *   {name}: {what}, {use}")
        else:
            lines.append(f" *   {name}: {unit.scalars.scalar(type).type}")
    lines.append(" */")
    return lines


def struct_texts(unit: Unit) -> list[str]:
    """The structs that C functions take, inner ones first."""
    texts: dict[str, str] = {}

    def write(type: StructType) -> None:
        name = type.struct_name.data
        if name in texts:
            return
        fields: list[str] = []
        for position, field in enumerate(type.fields):
            if isinstance(field, StructType):
                write(field)
                fields.append(f"    {field.struct_name.data} field{position};")
            elif (memref := as_memref(field)) is not None:
                storage = unit.scalars.scalar(memref.element_type).storage
                fields.append(f"    {storage} *field{position};")
            else:
                fields.append(f"    {unit.scalars.scalar(field).type} field{position};")
        texts[name] = "\n".join(["typedef struct {", *fields, f"}} {name};"])

    for type in unit.structs.values():
        write(type)
    return list(texts.values())


def status_text(unit: Unit) -> list[str]:
    """A function that says what a status means."""
    if not unit.messages or not unit.options.prefix:
        return []
    cases = [
        f"    case {number}:\n        return {c_string(message)};"
        for number, message in enumerate(unit.messages, start=1)
    ]
    name = unit.names.new(f"{unit.options.prefix}status_text")
    return [
        "\n".join(
            [
                "/* What a status says that is not 0. */",
                f"const char *{name}(int32_t status)",
                "{",
                "    switch (status) {",
                *cases,
                "    default:",
                '        return "";',
                "    }",
                "}",
            ]
        )
    ]


def c_string(text: str) -> str:
    """A string literal."""
    escaped = text.encode("unicode_escape").decode("ascii")
    escaped = escaped.replace('"', '\\"').replace("??", "?\\?")
    return f'"{escaped}"'


def used_constants(unit: Unit, functions: Sequence[str]) -> list[str]:
    """The definitions of the weights that functions read."""
    words = set(re.findall(r"\w+", "\n".join(functions)))
    return [
        text
        for symbol, text in unit.constants.items()
        if unit.constant_name(symbol) in words
    ]


def file_text(unit: Unit, functions: Sequence[str], macros: str) -> str:
    """The parts of a file in order."""
    declared: list[str] = []
    if not unit.options.headers:
        declared = [*struct_texts(unit), "\n".join(unit.externals.values())]
    parts = [
        *declared,
        *unit.prelude.texts(),
        *used_constants(unit, functions),
        *functions,
        *status_text(unit),
    ]
    body = "\n\n".join(part.rstrip("\n") for part in parts if part)
    code = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)
    includes = [f"#include <{name}>" for name, used in HEADERS if re.search(used, code)]
    includes += [f'#include "{name}"' for name in unit.options.headers]
    head = "/* Generated by transom: C99, no library but libm. */"
    return "\n\n".join(
        part for part in (head, "\n".join(includes), macros, body + "\n") if part
    )
