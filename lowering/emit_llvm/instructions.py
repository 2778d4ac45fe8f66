"""
The text of an instruction for each op of the `llvm` dialect that is not an intrinsic.

Each function gives what stands after `%result = `.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from transom.dialects import llvm
from transom.dialects.diagnostics import OpError
from transom.lowering.emit_llvm.attributes import argument_texts, given
from transom.lowering.emit_llvm.constants import gep_flags, gep_indices
from transom.lowering.emit_llvm.scope import Scope
from transom.lowering.emit_llvm.text import quoted

OpT = TypeVar("OpT", bound=Operation)

Form = Callable[[Scope, Operation], str]

FORMS: dict[type[Operation], Form] = {}
"""How each op is written."""

ATTRIBUTES: dict[type[Operation], frozenset[str]] = {}
"""Names of the attributes that the form of an op writes, beside its properties."""


def form(
    *ops: type[OpT],
    attributes: Sequence[str] = (),
    table: dict[type[Operation], Form] = FORMS,
) -> Callable[[Callable[[Scope, OpT], str]], Callable[[Scope, OpT], str]]:
    """Enter the form of some ops into a table."""

    def register(function: Callable[[Scope, OpT], str]):
        for op in ops:
            table[op] = cast(Form, function)
            ATTRIBUTES[op] = frozenset(attributes)
        return function

    return register


def fast_math(op: Operation) -> str:
    """`nnan ninf `, `fast ` or nothing."""
    flags = op.properties.get("fastmathFlags")
    if flags is None:
        return ""
    names = {flag.value for flag in cast(llvm.FastMathAttr, flags).data}
    if len(names) == len(llvm.FastMathFlag):
        return "fast "
    return "".join(f"{f.value} " for f in llvm.FastMathFlag if f.value in names)


MNEMONICS: dict[type[Operation], str] = {
    op: op.name.removeprefix("llvm.")
    for op in (
        llvm.AShrOp,
        llvm.AddOp,
        llvm.AndOp,
        llvm.FAddOp,
        llvm.FDivOp,
        llvm.FMulOp,
        llvm.FRemOp,
        llvm.FSubOp,
        llvm.LShrOp,
        llvm.MulOp,
        llvm.OrOp,
        llvm.SDivOp,
        llvm.SRemOp,
        llvm.ShlOp,
        llvm.SubOp,
        llvm.UDivOp,
        llvm.URemOp,
        llvm.XOrOp,
    )
}


def binary_flags(op: Operation) -> str:
    """`nsw nuw `, `exact ` or `disjoint `."""
    if "isExact" in op.properties:
        return "exact "
    if "isDisjoint" in op.properties:
        return "disjoint "
    overflow = op.properties.get("overflowFlags")
    if overflow is None:
        return ""
    if isinstance(overflow, llvm.OverflowAttr):
        bits = overflow.to_int()
    else:
        bits = cast(IntegerAttr, overflow).value.data
    return ("nuw " if bits & 2 else "") + ("nsw " if bits & 1 else "")


@form(*MNEMONICS)
def binary(scope: Scope, op: Operation) -> str:
    lhs, rhs = op.operands
    flags = binary_flags(op) + fast_math(op)
    return f"{MNEMONICS[type(op)]} {flags}{scope.typed(lhs, op)}, {scope.value(rhs)}"


@form(llvm.FNegOp)
def fneg(scope: Scope, op: llvm.FNegOp) -> str:
    return f"fneg {fast_math(op)}{scope.typed(op.arg, op)}"


@form(llvm.FreezeOp)
def freeze(scope: Scope, op: llvm.FreezeOp) -> str:
    return f"freeze {scope.typed(op.val, op)}"


@form(
    llvm.AddrSpaceCastOp,
    llvm.BitcastOp,
    llvm.FPExtOp,
    llvm.FPToSIOp,
    llvm.FPToUIOp,
    llvm.FPTruncOp,
    llvm.IntToPtrOp,
    llvm.PtrToIntOp,
    llvm.SExtOp,
    llvm.SIToFPOp,
    llvm.TruncOp,
    llvm.UIToFPOp,
    llvm.ZExtOp,
)
def cast_(scope: Scope, op: Operation) -> str:
    flags = "nneg " if "nonNeg" in op.properties else binary_flags(op)
    (operand,) = op.operands
    mnemonic = op.name.removeprefix("llvm.")
    return f"{mnemonic} {flags}{scope.typed(operand, op)} to {scope.result_type(op)}"


@form(llvm.ICmpOp)
def icmp(scope: Scope, op: llvm.ICmpOp) -> str:
    predicate = llvm.ICmpPredicateFlag.from_int(op.predicate.value.data)
    return f"icmp {predicate.value} {scope.typed(op.lhs, op)}, {scope.value(op.rhs)}"


@form(llvm.FCmpOp)
def fcmp(scope: Scope, op: llvm.FCmpOp) -> str:
    predicate = llvm.FCmpPredicateFlag.from_int(op.predicate.value.data)
    word = predicate.value.removeprefix("_")
    operands = f"{scope.typed(op.lhs, op)}, {scope.value(op.rhs)}"
    return f"fcmp {fast_math(op)}{word} {operands}"


@form(llvm.SelectOp)
def select(scope: Scope, op: llvm.SelectOp) -> str:
    return f"select {fast_math(op)}{scope.list(op.operands, op)}"


def alignment(value: IntegerAttr | None) -> str:
    return "" if value is None else f", align {value.value.data}"


def ordering(value: IntegerAttr | None) -> str:
    """` acquire`, or nothing for an access that is not atomic."""
    number = 0 if value is None else value.value.data
    return f" {llvm.ATOMIC_ORDERING_KEYWORDS[number]}" if number else ""


def hints(scope: Scope, op: llvm.LoadOp | llvm.StoreOp) -> str:
    """Metadata of an access."""
    text = ""
    if op.nontemporal is not None:
        text += f", !nontemporal {scope.state.metadata_text('!{i32 1}')}"
    if "invariant" in op.properties:
        text += f", !invariant.load {scope.state.metadata_text('!{}')}"
    return text


def access(op: llvm.LoadOp | llvm.StoreOp) -> str:
    """`load`, with `atomic` and `volatile`."""
    word = op.name.removeprefix("llvm.")
    atomic = " atomic" if ordering(op.ordering) else ""
    if atomic and op.alignment is None:
        raise OpError(op, f"expected an alignment of the atomic {word}")
    return word + atomic + (" volatile" if op.volatile_ is not None else "")


@form(llvm.LoadOp)
def load(scope: Scope, op: llvm.LoadOp) -> str:
    type = scope.type(op.dereferenced_value.type, op)
    return (
        f"{access(op)} {type}, {scope.typed(op.ptr, op)}{ordering(op.ordering)}"
        f"{alignment(op.alignment)}{hints(scope, op)}"
    )


@form(llvm.StoreOp)
def store(scope: Scope, op: llvm.StoreOp) -> str:
    return (
        f"{access(op)} {scope.list(op.operands, op)}{ordering(op.ordering)}"
        f"{alignment(op.alignment)}{hints(scope, op)}"
    )


@form(llvm.AtomicRMWOp)
def atomicrmw(scope: Scope, op: llvm.AtomicRMWOp) -> str:
    operation = llvm.ATOMIC_OPERATIONS[op.bin_op.value.data]
    return (
        f"atomicrmw {operation} {scope.list(op.operands, op)}"
        f"{ordering(op.ordering)}{alignment(op.alignment)}"
    )


@form(llvm.AllocaOp, attributes=("inalloca",))
def alloca(scope: Scope, op: llvm.AllocaOp) -> str:
    if "inalloca" in op.attributes:
        raise OpError(op, "no LLVM form for attribute 'inalloca' of 'llvm.alloca'")
    space = scope.type(op.res.type, op).removeprefix("ptr").lstrip()
    return (
        f"alloca {scope.type(op.elem_type, op)}, {scope.typed(op.size, op)}"
        f"{alignment(op.alignment)}{', ' + space if space else ''}"
    )


@form(llvm.GEPOp)
def gep(scope: Scope, op: llvm.GEPOp) -> str:
    indices = gep_indices(op, lambda v: scope.typed(v, op))
    operands = [scope.type(op.elem_type, op), scope.typed(op.ptr, op), *indices]
    return f"getelementptr{gep_flags(op)} {', '.join(operands)}"


def positions(op: llvm.ExtractValueOp | llvm.InsertValueOp) -> str:
    return "".join(f", {index}" for index in op.position.get_values())


@form(llvm.ExtractValueOp)
def extract_value(scope: Scope, op: llvm.ExtractValueOp) -> str:
    return f"extractvalue {scope.typed(op.container, op)}{positions(op)}"


@form(llvm.InsertValueOp)
def insert_value(scope: Scope, op: llvm.InsertValueOp) -> str:
    operands = scope.list((op.container, op.value), op)
    return f"insertvalue {operands}{positions(op)}"


@form(llvm.ExtractElementOp)
def extract_element(scope: Scope, op: llvm.ExtractElementOp) -> str:
    return f"extractelement {scope.list(op.operands, op)}"


@form(llvm.InsertElementOp)
def insert_element(scope: Scope, op: llvm.InsertElementOp) -> str:
    return f"insertelement {scope.list((op.vector, op.value, op.index), op)}"


@form(llvm.ShuffleVectorOp)
def shuffle(scope: Scope, op: llvm.ShuffleVectorOp) -> str:
    mask = cast("Sequence[int]", op.mask.get_values())
    if mask and not any(mask):
        lanes = "zeroinitializer"
    else:
        words = ["i32 poison" if i < 0 else f"i32 {i}" for i in mask]
        lanes = f"<{', '.join(words)}>"
    return f"shufflevector {scope.list(op.operands, op)}, <{len(mask)} x i32> {lanes}"


@form(llvm.ReturnOp)
def return_(scope: Scope, op: llvm.ReturnOp) -> str:
    return "ret void" if op.arg is None else f"ret {scope.typed(op.arg, op)}"


@form(llvm.UnreachableOp)
def unreachable(scope: Scope, op: llvm.UnreachableOp) -> str:
    return "unreachable"


TAIL = {
    llvm.TailCallKind.NONE: "",
    llvm.TailCallKind.TAIL: "tail ",
    llvm.TailCallKind.MUST_TAIL: "musttail ",
    llvm.TailCallKind.NOTAIL: "notail ",
}

CALL_KEYWORDS = {
    "convergent": " convergent",
    "no_unwind": " nounwind",
    "will_return": " willreturn",
}


@form(llvm.CallOp, attributes=("arg_attrs", "res_attrs", *CALL_KEYWORDS))
def call(scope: Scope, op: llvm.CallOp) -> str:
    attrs = given(op)
    if op.op_bundle_operands or len(op.op_bundle_sizes):
        raise OpError(op, "no LLVM form for the operand bundles of 'llvm.call'")
    if op.callee is not None:
        callee = scope.state.symbols.text(op.callee.string_value())
        args = op.args
    else:
        if not op.args:
            raise OpError(op, "expected a symbol or a pointer to call")
        callee, args = scope.value(op.args[0]), op.args[1:]
    convention = op.CConv.convention.data
    result = scope.result_type(op)
    if op.var_callee_type is not None:
        type = scope.type(op.var_callee_type, op)
        result = type if op.var_callee_type.is_variadic else result
    (result_attrs,) = argument_texts(attrs.get("res_attrs"), 1, scope.types, op)
    arg_attrs = argument_texts(attrs.get("arg_attrs"), len(args), scope.types, op)
    texts = [
        f"{scope.type(arg.type, op)}{text} {scope.value(arg)}"
        for arg, text in zip(args, arg_attrs, strict=True)
    ]
    words = "".join(text for name, text in CALL_KEYWORDS.items() if name in attrs)
    return (
        f"{TAIL[op.TailCallKind.data]}call {fast_math(op)}"
        f"{'' if convention == 'ccc' else convention + ' '}"
        f"{result_attrs.lstrip() + ' ' if result_attrs else ''}"
        f"{result} {callee}({', '.join(texts)}){words}"
    )


@form(llvm.InlineAsmOp)
def inline_asm(scope: Scope, op: llvm.InlineAsmOp) -> str:
    words = "asm"
    if op.has_side_effects is not None:
        words += " sideeffect"
    if op.is_align_stack is not None:
        words += " alignstack"
    if op.asm_dialect is not None and op.asm_dialect.value.data == 1:
        words += " inteldialect"
    text = quoted(op.asm_string.data.encode())
    constraints = quoted(op.constraints.data.encode())
    return (
        f"{TAIL[op.tail_call_kind.data]}call {scope.result_type(op)} "
        f"{words} {text}, {constraints}({scope.list(op.operands_, op)})"
    )
