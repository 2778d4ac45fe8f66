"""
Attributes of functions, arguments, results and calls in LLVM IR text.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation

from transom.dialects import llvm
from transom.dialects.diagnostics import OpError
from transom.lowering.emit_llvm.text import Types, quoted

FUNCTION_KEYWORDS = {
    "always_inline": "alwaysinline",
    "cold": "cold",
    "convergent": "convergent",
    "hot": "hot",
    "inline_hint": "inlinehint",
    "minsize": "minsize",
    "no_inline": "noinline",
    "no_unwind": "nounwind",
    "noreturn": "noreturn",
    "optimize_none": "optnone",
    "optsize": "optsize",
    "will_return": "willreturn",
}
"""Unit attributes of `llvm.func` and the keyword of each."""

PASSTHROUGH_KEYWORDS = frozenset(
    [
        "alwaysinline",
        "builtin",
        "cold",
        "convergent",
        "hot",
        "inlinehint",
        "minsize",
        "mustprogress",
        "naked",
        "nobuiltin",
        "nocallback",
        "nocf_check",
        "noduplicate",
        "nofree",
        "noimplicitfloat",
        "noinline",
        "nomerge",
        "nonlazybind",
        "noprofile",
        "norecurse",
        "noredzone",
        "noreturn",
        "nosync",
        "nounwind",
        "null_pointer_is_valid",
        "optnone",
        "optsize",
        "returns_twice",
        "speculatable",
        "ssp",
        "sspreq",
        "sspstrong",
        "strictfp",
        "uwtable",
        "willreturn",
    ]
)
"""What may stand in `passthrough` as a keyword; any other word is a string."""

ARGUMENT_KEYWORDS = frozenset(
    [
        "immarg",
        "inreg",
        "nest",
        "noalias",
        "nocapture",
        "nofree",
        "nonnull",
        "noundef",
        "readnone",
        "readonly",
        "returned",
        "signext",
        "swifterror",
        "swiftself",
        "writeonly",
        "zeroext",
    ]
)

ARGUMENT_INTEGERS = {
    "align": "align {}",
    "alignstack": "alignstack({})",
    "dereferenceable": "dereferenceable({})",
    "dereferenceable_or_null": "dereferenceable_or_null({})",
}

ARGUMENT_TYPES = frozenset(
    ("byref", "byval", "elementtype", "inalloca", "preallocated", "sret")
)


def given(op: Operation) -> Mapping[str, Attribute]:
    """Properties and attributes together: the short syntax keeps both in one place."""
    return {**op.attributes, **op.properties}


def is_discardable(name: str) -> bool:
    """Whether an attribute belongs to another dialect, so that LLVM may drop it."""
    return "." in name and not name.startswith("llvm.")


def refuse_unknown(op: Operation, names: Iterable[str]) -> None:
    """Stop at the first attribute that LLVM IR cannot say and we may not drop."""
    for name in names:
        if not is_discardable(name):
            raise OpError(op, f"no LLVM form for attribute '{name}' of '{op.name}'")


def integer_of(value: Attribute, name: str, op: Operation) -> int:
    """The number in an integer attribute."""
    if not isinstance(value, IntegerAttr):
        raise OpError(op, f"expected an integer for '{name}', but got '{value}'")
    return cast(IntegerAttr, value).value.data


def argument_text(attrs: DictionaryAttr, types: Types, op: Operation) -> str:
    """Attributes of one argument or result, each with a space before it."""
    words: list[str] = []
    for name, value in attrs.data.items():
        if is_discardable(name):
            continue
        word = name.removeprefix("llvm.")
        if word in ARGUMENT_KEYWORDS and isinstance(value, UnitAttr):
            words.append(word)
        elif word in ARGUMENT_INTEGERS:
            number = integer_of(value, name, op)
            words.append(ARGUMENT_INTEGERS[word].format(number))
        elif word in ARGUMENT_TYPES:
            words.append(f"{word}({types.text(value, op)})")
        else:
            raise OpError(op, f"no LLVM form for argument attribute '{name}'")
    return "".join(f" {word}" for word in words)


def argument_texts(
    attrs: Attribute | None, count: int, types: Types, op: Operation
) -> Sequence[str]:
    """Attributes of each of `count` arguments or results."""
    if attrs is None:
        return [""] * count
    found = cast("ArrayAttr[DictionaryAttr]", attrs).data
    if len(found) != count:
        raise OpError(
            op, f"expected attributes for {count} values, but got {len(found)}"
        )
    return [argument_text(d, types, op) for d in found]


def passthrough_text(entry: Attribute, op: Operation) -> str:
    """`"noinline"` as a keyword, `["key", "value"]` as a pair of strings."""
    match entry:
        case StringAttr():
            word = entry.data
            if word in PASSTHROUGH_KEYWORDS or word.startswith("memory("):
                return word
            return quoted(word.encode())
        case ArrayAttr(data=(StringAttr() as key, StringAttr() as value)):
            return f"{quoted(key.data.encode())}={quoted(value.data.encode())}"
        case _:
            raise OpError(
                op, f"expected a string or a pair of strings, but got '{entry}'"
            )


def features_text(value: Attribute) -> str:
    match value:
        case llvm.TargetFeaturesAttr():
            return ",".join(f.data for f in value.features)
        case StringAttr():
            return value.data
        case _:
            return ""


STRING_ATTRIBUTES: dict[str, tuple[str, Callable[[Attribute], str]]] = {
    "target_cpu": ("target-cpu", lambda v: cast(StringAttr, v).data),
    "tune_cpu": ("tune-cpu", lambda v: cast(StringAttr, v).data),
    "target_features": ("target-features", features_text),
    "frame_pointer": (
        "frame-pointer",
        lambda v: cast(llvm.FramePointerKindAttr, v).data.value,
    ),
}
"""Attributes of `llvm.func` that LLVM keeps as strings."""

FUNCTION_FIELDS = frozenset(
    [
        "sym_name",
        "sym_visibility",
        "function_type",
        "CConv",
        "linkage",
        "visibility_",
        "arg_attrs",
        "res_attrs",
        "passthrough",
        "unnamed_addr",
        "dso_local",
        "section",
        "alignment",
    ]
)
"""Attributes of `llvm.func` that have a place of their own in the text."""


def function_text(op: llvm.FuncOp) -> str:
    """The attributes of a function, each with a space before it."""
    attrs = given(op)
    words: list[str] = []
    rest: list[str] = []
    for name, value in attrs.items():
        if name in FUNCTION_KEYWORDS and isinstance(value, UnitAttr):
            words.append(FUNCTION_KEYWORDS[name])
        elif name in STRING_ATTRIBUTES:
            key, text = STRING_ATTRIBUTES[name]
            words.append(f'"{key}"={quoted(text(value).encode())}')
        elif name not in FUNCTION_FIELDS:
            rest.append(name)
    refuse_unknown(op, rest)
    if (passthrough := attrs.get("passthrough")) is not None:
        entries = cast("ArrayAttr[Attribute]", passthrough)
        words += [passthrough_text(entry, op) for entry in entries]
    # A fixed order: dictionaries keep the order in which the text named them.
    return "".join(f" {word}" for word in sorted(set(words)))


VISIBILITIES = ("", "hidden ", "protected ")
UNNAMED_ADDR = ("", "local_unnamed_addr ", "unnamed_addr ")


def number_at(op: Operation, name: str) -> int:
    """An enumeration attribute as its number, zero when it is absent."""
    value = given(op).get(name)
    return 0 if value is None else integer_of(value, name, op)
