"""
`llvm.func`, whose declarations keep the attributes of their arguments.

Replaces xDSL's, which drops them both when it prints and when it parses.
"""

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects import llvm as upstream
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr
from xdsl.dialects.llvm import (
    LLVM_CALLING_CONVS,
    CallingConventionAttr,
    LinkageAttr,
    LLVMFunctionType,
    LLVMVoidType,
)
from xdsl.ir import Attribute, Region
from xdsl.parser import Parser
from xdsl.printer import Printer

LINKAGES = (
    "private",
    "internal",
    "available_externally",
    "linkonce",
    "weak",
    "common",
    "appending",
    "extern_weak",
    "linkonce_odr",
    "weak_odr",
    "external",
)

VISIBILITIES = ("default", "hidden", "protected")
UNNAMED_ADDR = ("none", "local_unnamed_addr", "unnamed_addr")

IN_THE_LINE = frozenset(
    (
        "sym_name",
        "function_type",
        "linkage",
        "CConv",
        "visibility_",
        "unnamed_addr",
        "arg_attrs",
        "res_attrs",
    )
)
"""Properties that the line of a function shows outside its dictionary."""


class FuncOp(upstream.FuncOp):
    """
    A function, or the declaration of one.

    ```mlir
    llvm.func internal @f(%p: !llvm.ptr {llvm.noalias}, %n: i64) -> i32 {
      %z = llvm.mlir.constant(0 : i32) : i32
      llvm.return %z : i32
    }
    llvm.func @printf(!llvm.ptr {llvm.nonnull}, ...) -> i32
    ```
    """

    # No `irdl_op_definition`: the definition is upstream's, whose `llvm.call` asks for
    # an instance of its own `FuncOp`; only the syntax differs.

    def print(self, printer: Printer) -> None:
        type = self.function_type
        words = (
            self.linkage.linkage.data,
            self.CConv.convention.data,
            VISIBILITIES[self.visibility_.value.data],
            UNNAMED_ADDR[self.unnamed_addr.value.data if self.unnamed_addr else 0],
        )
        for word, default in zip(
            words, ("external", "ccc", "default", "none"), strict=True
        ):
            if word != default:
                printer.print_string(f" {word}")
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name)
        with printer.in_parens():
            self.print_arguments(printer)
        if not isinstance(type.output, LLVMVoidType):
            printer.print_string(" -> ")
            if self.res_attrs is None:
                printer.print_attribute(type.output)
            else:
                with printer.in_parens():
                    printer.print_attribute(type.output)
                    print_dictionary(printer, self.res_attrs.data[0])
        printer.print_op_attributes(
            {**self.attributes, **self.properties},
            reserved_attr_names=IN_THE_LINE,
            print_keyword=True,
        )
        if self.body.blocks:
            printer.print_string(" ", indent=0)
            printer.print_region(self.body, False, False)

    def print_arguments(self, printer: Printer) -> None:
        inputs = self.function_type.inputs.data
        attrs: Sequence[DictionaryAttr | None] = [None] * len(inputs)
        if self.arg_attrs is not None:
            attrs = self.arg_attrs.data
        blocks = self.body.blocks
        for i, (type, dictionary) in enumerate(zip(inputs, attrs, strict=True)):
            if i:
                printer.print_string(", ")
            if not blocks:
                printer.print_attribute(type)
                print_dictionary(printer, dictionary)
                continue
            argument = blocks[0].args[i]
            printer.print_ssa_value(argument)
            printer.print_string(": ")
            printer.print_attribute(type)
            print_dictionary(printer, dictionary)
            if printer.print_debuginfo:
                printer.print_string(" ")
                printer.print_attribute(argument.location)
        if self.function_type.is_variadic:
            printer.print_string(", ..." if inputs else "...")

    @classmethod
    def parse(cls, parser: Parser) -> "FuncOp":
        linkage = parser.parse_optional_keyword_in(LINKAGES) or "external"
        convention = parser.parse_optional_keyword_in(LLVM_CALLING_CONVS) or "ccc"
        visibility = parser.parse_optional_keyword_in(VISIBILITIES) or "default"
        unnamed = parser.parse_optional_keyword_in(UNNAMED_ADDR) or "none"
        name = parser.parse_symbol_name()
        arguments, types, arg_attrs, is_variadic = parse_arguments(parser)
        output, res_attrs = parse_result(parser)
        attrs = parser.parse_optional_attr_dict_with_keyword(IN_THE_LINE)
        body = parser.parse_optional_region(arguments)
        properties: dict[str, Attribute | None] = {
            "unnamed_addr": IntegerAttr(UNNAMED_ADDR.index(unnamed), 64),
            "arg_attrs": dictionaries(arg_attrs),
            "res_attrs": dictionaries([res_attrs]),
        }
        extra: dict[str, Attribute] = {}
        declared = cls.get_irdl_definition().properties
        given: Mapping[str, Attribute] = {} if attrs is None else attrs.data
        for key, value in given.items():
            (properties if key in declared else extra)[key] = value
        return cls(
            name,
            LLVMFunctionType(types, output, is_variadic),
            LinkageAttr(linkage),
            CallingConventionAttr(convention),
            VISIBILITIES.index(visibility),
            cast("None", properties.pop("sym_visibility", None)),
            body or Region(),
            properties,
            extra,
        )


def dictionaries(
    attrs: Sequence[dict[str, Attribute]],
) -> ArrayAttr[DictionaryAttr] | None:
    """Argument attributes as a property; None where there are none at all."""
    return ArrayAttr([DictionaryAttr(d) for d in attrs]) if any(attrs) else None


def print_dictionary(printer: Printer, dictionary: DictionaryAttr | None) -> None:
    """` {llvm.noalias}`, or nothing."""
    if dictionary is not None and dictionary.data:
        printer.print_op_attributes(dictionary.data)


def parse_arguments(
    parser: Parser,
) -> tuple[list[Parser.Argument], list[Attribute], list[dict[str, Attribute]], bool]:
    """Named or bare arguments, their types, their attributes, and a final `...`."""
    arguments: list[Parser.Argument] = []
    types: list[Attribute] = []
    attrs: list[dict[str, Attribute]] = []
    is_variadic = False

    def parse_argument() -> None:
        nonlocal is_variadic
        start = parser.pos
        if is_variadic:
            parser.raise_error("expected ')' after '...'", start)
        if parser.parse_optional_characters("...") is not None:
            is_variadic = True
            return
        argument = parser.parse_optional_argument()
        if (argument is None) != (not arguments) and types:
            parser.raise_error("expected all arguments to be named, or none", start)
        types.append(parser.parse_type() if argument is None else argument.type)
        attrs.append(parser.parse_optional_attr_dict())
        location = parser.parse_optional_location()
        if argument is not None:
            argument.location = location
            arguments.append(argument)

    parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parse_argument)
    return arguments, types, attrs, is_variadic


def parse_result(parser: Parser) -> tuple[Attribute, dict[str, Attribute]]:
    """`-> i32`, `-> (i32 {llvm.noundef})`, or nothing for void."""
    if parser.parse_optional_punctuation("->") is None:
        return LLVMVoidType(), {}
    if parser.parse_optional_punctuation("(") is None:
        return parser.parse_type(), {}
    if parser.parse_optional_punctuation(")") is not None:
        return LLVMVoidType(), {}
    type, attrs = parser.parse_type(), parser.parse_optional_attr_dict()
    parser.parse_punctuation(")")
    return type, attrs
