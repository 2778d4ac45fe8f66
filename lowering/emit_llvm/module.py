"""
The text of a whole module.
"""

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from transom.dialects import graph, llvm
from transom.dialects.diagnostics import OpError
from transom.lowering.conversion import Refusal
from transom.lowering.emit_llvm.attributes import (
    UNNAMED_ADDR,
    VISIBILITIES,
    given,
    number_at,
    refuse_unknown,
)
from transom.lowering.emit_llvm.constants import Initialiser
from transom.lowering.emit_llvm.function import (
    header,
    section_and_alignment,
    write_function,
)
from transom.lowering.emit_llvm.scope import ModuleState
from transom.lowering.emit_llvm.text import name_text, quoted
from transom.lowering.llvm_types import element_storage

NOT_CODE = frozenset(
    (
        "executor.artifact",
        "executor.pool",
        "target.device",
        "target.link",
        "target.memory",
    )
)
"""Ops of a module that describe it, or that are emitted elsewhere."""

GLOBAL_FIELDS = frozenset(
    [
        "sym_name",
        "sym_visibility",
        "global_type",
        "constant",
        "linkage",
        "dso_local",
        "thread_local_",
        "visibility_",
        "value",
        "alignment",
        "addr_space",
        "unnamed_addr",
        "section",
        "externally_initialized",
    ]
)


def to_llvm_text(module: ModuleOp) -> str:
    """
    LLVM IR text of a module in which only the `llvm` dialect has code.

    Raises `OpError` at an op, a type or an attribute that LLVM IR has no form for.
    """
    return text_of(module, module.body.ops)


def text_of(
    module: ModuleOp,
    ops: Iterable[Operation],
    elsewhere: Collection[Operation] = (),
    symbols: Mapping[Operation, str] = MappingProxyType({}),
    renamed: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """
    LLVM IR text of some ops of a module. Functions in `elsewhere` are declared, as
    other objects have them; those with `symbols` are what other objects see under these
    names; those that are `renamed` have other names in the text only.
    """
    state = ModuleState(renamed)
    variables: list[str] = []
    functions: list[str] = []
    ops = tuple(ops)
    for op in ops:
        match op:
            case llvm.FuncOp() if op in elsewhere:
                functions.append(header(op, state, None, op.sym_name.data))
            case llvm.FuncOp():
                lines = write_function(op, state, symbols.get(op))
                functions.append("\n".join(lines))
            case llvm.GlobalOp():
                variables.append(global_text(op, state))
            case graph.WeightOp():
                variables.append(weight_text(op, state))
            case _ if op.name not in NOT_CODE:
                raise OpError(op, f"no LLVM form for '{op.name}'")
            case _:
                pass
    defined = {
        name_text("@", op.sym_name.data) for op in ops if isinstance(op, llvm.FuncOp)
    }
    parts = [
        "\n".join(header_lines(module)),
        "\n".join(
            f"{name_text('%', name)} = type {body}"
            for name, body in state.types.named.items()
        ),
        "\n".join(variables),
        *functions,
        "\n".join(
            line
            for symbol, line in sorted(state.intrinsics.items())
            if symbol not in defined
        ),
        "\n".join(f"!{number} = {body}" for body, number in state.metadata.items()),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def header_lines(module: ModuleOp) -> list[str]:
    """The target of the module, where it names one."""
    lines: list[str] = []
    for name, keyword in (
        ("llvm.data_layout", "datalayout"),
        ("llvm.target_triple", "triple"),
    ):
        value = module.attributes.get(name)
        if isinstance(value, StringAttr):
            lines.append(f"target {keyword} = {quoted(value.data.encode())}")
    return lines


def weight_text(op: graph.WeightOp, state: ModuleState) -> str:
    """The declaration of a weight, whose data are bound when the code is loaded."""
    type = op.type
    element = element_storage(type.element_type)
    if isinstance(element, Refusal):
        raise OpError(op, element.reason)
    array = f"[{type.element_count()} x {state.types.text(element, op)}]"
    return f"{name_text('@', op.sym_name.data)} = external constant {array}"


def initialiser_text(op: llvm.GlobalOp, state: ModuleState) -> str:
    """The initial value of a global, empty for a declaration."""
    if op.body.blocks:
        if op.value is not None:
            raise OpError(op, "expected a value or an initialiser, but got both")
        return Initialiser(state.constants).run(op)
    if op.value is not None:
        return state.constants.text(op.value, op.global_type, op)
    linkage = op.linkage.linkage.data
    if linkage not in ("external", "extern_weak"):
        raise OpError(
            op,
            "expected a value, or linkage external or extern_weak, "
            f"but got linkage '{linkage}'",
        )
    return ""


def global_text(op: llvm.GlobalOp, state: ModuleState) -> str:
    """The line of a global variable."""
    attrs = given(op)
    refuse_unknown(op, [name for name in attrs if name not in GLOBAL_FIELDS])
    value = initialiser_text(op, state)
    linkage = op.linkage.linkage.data
    space = op.addr_space.value.data
    words = [
        # A declaration must say that it is one; a definition is external unless told.
        "" if linkage == "external" and value else linkage,
        "dso_local" if "dso_local" in attrs else "",
        VISIBILITIES[number_at(op, "visibility_")].strip(),
        "thread_local" if "thread_local_" in attrs else "",
        UNNAMED_ADDR[number_at(op, "unnamed_addr")].strip(),
        f"addrspace({space})" if space else "",
        "externally_initialized" if "externally_initialized" in attrs else "",
        "constant" if op.constant is not None else "global",
        state.types.text(op.global_type, op),
        value,
    ]
    tail = section_and_alignment(op).replace(" section", ", section", 1)
    tail = tail.replace(" align ", ", align ", 1)
    line = " ".join(word for word in words if word)
    return f"{name_text('@', op.sym_name.data)} = {line}{tail}"
