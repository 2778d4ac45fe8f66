"""
The text of a function: its line, and its blocks with phis in place of block arguments.
"""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerType, StringAttr
from xdsl.ir import Block, Operation, SSAValue

from transom.dialects import llvm
from transom.dialects.diagnostics import OpError
from transom.lowering.emit_llvm.attributes import (
    UNNAMED_ADDR,
    VISIBILITIES,
    argument_texts,
    function_text,
    given,
    number_at,
    refuse_unknown,
)
from transom.lowering.emit_llvm.constants import constant_text
from transom.lowering.emit_llvm.instructions import ATTRIBUTES, FORMS
from transom.lowering.emit_llvm.intrinsics import INTRINSICS
from transom.lowering.emit_llvm.scope import ModuleState, Scope
from transom.lowering.emit_llvm.text import name_text, quoted

Edge = tuple[Block, Sequence[SSAValue]]
"""Where a terminator goes, and the values it passes."""


def edges_of(op: Operation) -> list[Edge]:
    """The edges that leave a terminator, in the order of its successors."""
    match op:
        case llvm.BrOp():
            return [(op.successor, op.arguments)]
        case llvm.CondBrOp():
            return [
                (op.then_block, op.then_arguments),
                (op.else_block, op.else_arguments),
            ]
        case llvm.SwitchOp():
            default = (op.default_block, op.default_operands)
            return [default, *((block, vs) for _, block, vs in op.cases)]
        case _:
            return []


def header(
    op: llvm.FuncOp,
    state: ModuleState,
    arguments: Sequence[str] | None,
    symbol: str | None = None,
) -> str:
    """
    The line of a function; `arguments` are their names, None for a declaration.

    With `symbol` it is that of a function which other objects of the same program see
    under this name, whatever its own linkage is.
    """
    types, type, attrs = state.types, op.function_type, given(op)
    texts = argument_texts(attrs.get("arg_attrs"), len(type.inputs), types, op)
    inputs = [
        types.text(input, op) + text
        for input, text in zip(type.inputs, texts, strict=True)
    ]
    if arguments is not None:
        inputs = [f"{t} {name}" for t, name in zip(inputs, arguments, strict=True)]
    if type.is_variadic:
        inputs.append("...")
    is_void = isinstance(type.output, llvm.LLVMVoidType)
    results = argument_texts(
        attrs.get("res_attrs"), 1 if "res_attrs" in attrs else 0, types, op
    )
    if is_void and any(results):
        raise OpError(op, "expected no result attributes of a function without result")
    linkage = op.linkage.linkage.data
    visibility = VISIBILITIES[number_at(op, "visibility_")].strip()
    if symbol is not None:
        linkage, visibility = "external", "hidden"
    convention = op.CConv.convention.data
    words = [
        "declare" if arguments is None else "define",
        "" if linkage == "external" else linkage,
        "dso_local" if "dso_local" in attrs else "",
        visibility,
        "" if convention == "ccc" else convention,
        *(text.strip() for text in results),
        types.text(type.output, op),
    ]
    line = " ".join(word for word in words if word)
    name = state.symbols.text(op.sym_name.data)
    if symbol is not None:
        name = name_text("@", symbol)
    line += f" {name}({', '.join(inputs)})"
    if unnamed := UNNAMED_ADDR[number_at(op, "unnamed_addr")].strip():
        line += f" {unnamed}"
    return line + function_text(op) + section_and_alignment(op)


def section_and_alignment(op: Operation) -> str:
    attrs = given(op)
    text = ""
    if isinstance(section := attrs.get("section"), StringAttr):
        text += f" section {quoted(section.data.encode())}"
    if alignment := number_at(op, "alignment"):
        text += f" align {alignment}"
    return text


def write_function(
    op: llvm.FuncOp, state: ModuleState, symbol: str | None = None
) -> list[str]:
    """The lines of a function or of its declaration; `symbol` as for `header`."""
    linkage = op.linkage.linkage.data
    if not op.body.blocks:
        if linkage not in ("external", "extern_weak"):
            raise OpError(
                op,
                "expected linkage external or extern_weak of a declaration, "
                f"but got '{linkage}'",
            )
        return [header(op, state, None)]
    if linkage in ("extern_weak", "common", "appending"):
        raise OpError(op, f"expected no body of a function of linkage '{linkage}'")
    return FunctionWriter(op, state, symbol).run()


class FunctionWriter:
    """Writes one function that has a body."""

    def __init__(
        self, op: llvm.FuncOp, state: ModuleState, symbol: str | None = None
    ) -> None:
        self.op = op
        self.symbol = symbol
        self.state = state
        self.scope = Scope(state)
        self.lines: list[str] = []
        self.incoming: dict[Block, list[tuple[str, Sequence[SSAValue]]]] = {}
        self.detours: list[str] = []
        self.detour_labels: dict[tuple[Operation, int], str] = {}

    def run(self) -> list[str]:
        blocks = list(self.op.body.blocks)
        entry = blocks[0]
        for i, block in enumerate(blocks):
            self.scope.labels[block] = f"bb{i}"
        self.collect_edges(blocks)
        arguments = self.number(blocks)
        line = header(self.op, self.state, arguments, self.symbol)
        self.lines.append(line + " {")
        if entry in self.incoming:
            # LLVM's entry block has no predecessors: one more goes before this one.
            self.lines += ["start:", f"  br {self.scope.destination(entry)}"]
        for block in blocks:
            self.write_block(block)
        self.lines += self.detours
        self.lines.append("}")
        return self.lines

    def collect_edges(self, blocks: Sequence[Block]) -> None:
        """
        Find what reaches each block. A phi takes one value per predecessor, so a second
        edge between the same two blocks makes a detour through a block of its own.
        """
        for block in blocks:
            terminator = block.last_op
            if terminator is None:
                raise OpError(self.op, "expected a terminator in every block")
            if terminator.successors and not edges_of(terminator):
                raise OpError(terminator, f"no LLVM form for '{terminator.name}'")
            seen: set[Block] = set()
            for i, (target, values) in enumerate(edges_of(terminator)):
                label = self.scope.labels[block]
                if target in seen and values:
                    label = f"{label}.{i}"
                    self.detour_labels[terminator, i] = label
                    to = self.scope.destination(target)
                    self.detours += [f"{label}:", f"  br {to}"]
                self.incoming.setdefault(target, [])
                if target not in seen or values:
                    self.incoming[target].append((label, values))
                seen.add(target)

    def number(self, blocks: Sequence[Block]) -> list[str]:
        """Name all values in the order of the text; give the names of the arguments."""
        names, count = self.scope.names, 0
        entry = blocks[0]
        arguments: list[str] = []
        for argument in entry.args:
            arguments.append(f"%{count}")
            names[argument] = arguments[-1]
            count += 1
        for block in blocks:
            if block is not entry or entry in self.incoming:
                for argument in block.args:
                    # An unreachable block has no phis.
                    reached = block in self.incoming
                    names[argument] = f"%{count}" if reached else "poison"
                    count += reached
            for op in block.ops:
                if not op.results:
                    continue
                (result, *rest) = op.results
                if rest:
                    raise OpError(op, f"expected at most one result of '{op.name}'")
                text = constant_text(op, self.state.constants)
                names[result] = f"%{count}" if text is None else text
                count += text is None
        return arguments

    def write_block(self, block: Block) -> None:
        scope, op = self.scope, self.op
        self.lines.append(f"{scope.labels[block]}:")
        incoming = self.incoming.get(block, [])
        entry = op.body.blocks[0]
        if block is entry and incoming:
            arguments = [f"%{i}" for i in range(len(block.args))]
        else:
            arguments = []
        for i, argument in enumerate(block.args if incoming else ()):
            sources = [f"[ {scope.value(vs[i])}, %{label} ]" for label, vs in incoming]
            if arguments:
                sources.insert(0, f"[ {arguments[i]}, %start ]")
            type = scope.type(argument.type, op)
            self.lines.append(
                f"  {scope.value(argument)} = phi {type} {', '.join(sources)}"
            )
        for inner in block.ops:
            self.write(inner)

    def write(self, op: Operation) -> None:
        form = FORMS.get(type(op)) or INTRINSICS.get(type(op))
        if op.attributes:
            known = ATTRIBUTES.get(type(op), frozenset())
            refuse_unknown(op, [n for n in op.attributes if n not in known])
        if form is not None:
            text = form(self.scope, op)
            if op.results:
                text = f"{self.scope.names[op.results[0]]} = {text}"
            self.lines.append("  " + text)
        elif edges_of(op):
            self.lines.append("  " + self.branch(op))
        elif constant_text(op, self.state.constants) is None:
            raise OpError(op, f"no LLVM form for '{op.name}'")

    def branch(self, op: Operation) -> str:
        scope = self.scope
        targets = [
            f"label %{self.detour_labels.get((op, i), scope.labels[block])}"
            for i, (block, _) in enumerate(edges_of(op))
        ]
        match op:
            case llvm.CondBrOp():
                return f"br i1 {scope.value(op.cond)}, {', '.join(targets)}"
            case llvm.SwitchOp():
                width = cast(IntegerType, op.value.type).width.data
                cases = [
                    f"    i{width} {number}, {target}"
                    for (number, _, _), target in zip(
                        op.cases, targets[1:], strict=True
                    )
                ]
                lines = [
                    f"switch {scope.typed(op.value, op)}, {targets[0]} [",
                    *cases,
                    "  ]",
                ]
                return "\n".join(lines)
            case _:
                return f"br {targets[0]}"
