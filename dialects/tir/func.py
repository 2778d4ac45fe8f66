"""
Kernels: `tir.func` and its `tir.return`.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    VectorType,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    CallableOpInterface,
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    ReturnLike,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from transom.dialects.tir.attributes import Effect, EffectAttr
from transom.dialects.tir.callee import Callee
from transom.dialects.tir.threads import THREADS, verify_threads
from transom.dialects.tir.types import is_number


class FuncCallable(CallableOpInterface):
    @classmethod
    def get_callable_region(cls, op: Operation) -> Region:
        assert isinstance(op, FuncOp)
        return op.body

    @classmethod
    def get_argument_types(cls, op: Operation) -> tuple[Attribute, ...]:
        assert isinstance(op, FuncOp)
        return op.function_type.inputs.data

    @classmethod
    def get_result_types(cls, op: Operation) -> tuple[Attribute, ...]:
        return ()


@irdl_op_definition
class FuncOp(Callee):
    """
    A kernel in destination-passing style: it has no results and writes into memrefs.

    Each argument says what the kernel does with it: `read`, `write`, `read_write`, or
    `scratch` (no content before or after). Arguments do not overlap in memory.
    Numbers and vectors are passed by value and only read. Without a body it is declared
    only. The arguments stand in the order inputs, outputs, scratch. It is private
    unless it is said to be `public`. The body has one block, until control flow is
    lowered. With `tir.threads` its parallel loops run on up to so many threads.

    ```mlir
    tir.func @copy(read %a: memref<?xf32>, write %o: memref<?xf32>, read %n: index) {
      tir.nest dims [parallel %n] ins(%a[d0] : memref<?xf32>)
          outs(%o[d0] : memref<?xf32>)
        finish (%x: f32) {
          tir.yield %x : f32
        }
      tir.return
    }
    ```
    """

    name = "tir.func"

    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    effects = prop_def(ArrayAttr[EffectAttr])
    sym_visibility = prop_def(StringAttr)
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    body = region_def()

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), FuncCallable())

    def __init__(
        self,
        name: str,
        arguments: Iterable[tuple[Effect | str, Attribute]],
        body: Region | None = None,
        *,
        visibility: str = "private",
        arg_attrs: ArrayAttr[DictionaryAttr] | None = None,
    ):
        """
        `arguments` are effects and types. Without `body` there is an empty entry
        block; pass an empty region for a declaration.
        """
        arguments = tuple(arguments)
        types = [type for _, type in arguments]
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": FunctionType.from_lists(types, []),
                "effects": ArrayAttr(
                    EffectAttr(Effect(effect)) for effect, _ in arguments
                ),
                "sym_visibility": StringAttr(visibility),
                "arg_attrs": arg_attrs,
            },
            regions=[Region(Block(arg_types=types)) if body is None else body],
        )

    @property
    def is_declaration(self) -> bool:
        return not self.body.blocks

    @property
    def args(self) -> tuple[BlockArgument, ...]:
        assert self.body.blocks.first is not None, "declarations have no arguments"
        return self.body.blocks.first.args

    @property
    def argument_types(self) -> tuple[Attribute, ...]:
        return self.function_type.inputs.data

    @property
    def argument_effects(self) -> tuple[Effect, ...]:
        return tuple(effect.data for effect in self.effects)

    def update_function_type(self) -> None:
        """Take the types of the entry block."""
        self.function_type = FunctionType.from_lists([a.type for a in self.args], [])

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        visibility = parser.parse_optional_visibility_keyword()
        name = parser.parse_symbol_name().data
        named: list[Parser.Argument] = []
        arguments: list[tuple[Effect, Attribute]] = []
        dictionaries: list[DictionaryAttr] = []

        def parse_parameter() -> None:
            effect = parser.parse_str_enum(Effect)
            pos = parser.pos
            argument = parser.parse_optional_argument()
            if argument is None:
                arguments.append((effect, parser.parse_type()))
            else:
                named.append(argument)
                arguments.append((effect, argument.type))
            if 0 < len(named) < len(arguments):
                parser.raise_error("expected all arguments to be named, or none", pos)
            attributes = parser.parse_optional_dictionary_attr_dict()
            dictionaries.append(DictionaryAttr(attributes))
            location = parser.parse_optional_location()
            if argument is not None:
                argument.location = location

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_parameter)
        extra = parser.parse_optional_attr_dict_with_keyword(
            ("sym_name", "function_type", "effects", "sym_visibility", "arg_attrs")
        )
        region = parser.parse_optional_region(named)
        has_attributes = any(dictionary.data for dictionary in dictionaries)
        op = cls(
            name,
            arguments,
            Region() if region is None else region,
            visibility="private" if visibility is None else visibility.data,
            arg_attrs=ArrayAttr(dictionaries) if has_attributes else None,
        )
        if extra is not None:
            op.attributes |= extra.data
        return op

    def print(self, printer: Printer) -> None:
        if self.sym_visibility.data != "private":
            printer.print_string(f" {self.sym_visibility.data}")
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)

        def print_parameter(position: int) -> None:
            printer.print_string(f"{self.argument_effects[position]} ")
            attributes: dict[str, Attribute] = {}
            if self.arg_attrs is not None:
                attributes = dict(self.arg_attrs.data[position].data)
            if self.is_declaration:
                printer.print_attribute(self.function_type.inputs.data[position])
            else:
                argument = self.args[position]
                printer.print_ssa_value(argument)
                printer.print_string(": ")
                printer.print_attribute(argument.type)
            if attributes:
                printer.print_string(" ")
                printer.print_attr_dict(attributes)
            if printer.print_debuginfo and not self.is_declaration:
                printer.print_string(" ")
                printer.print_attribute(self.args[position].location)

        with printer.in_parens():
            printer.print_list(range(len(self.effects)), print_parameter)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        if not self.is_declaration:
            printer.print_string(" ")
            printer.print_region(self.body, print_entry_block_args=False)

    def verify_(self) -> None:
        inputs = self.function_type.inputs.data
        if THREADS in self.attributes:
            verify_threads(self.attributes[THREADS])
        if self.function_type.outputs.data:
            raise VerifyException("expected no results; kernels write into arguments")
        if len(self.effects) != len(inputs):
            raise VerifyException(
                f"expected {len(inputs)} effects, but got {len(self.effects)}"
            )
        if self.arg_attrs is not None and len(self.arg_attrs) != len(inputs):
            raise VerifyException(
                f"expected {len(inputs)} dictionaries of argument attributes, but got "
                f"{len(self.arg_attrs)}"
            )
        if self.sym_visibility.data not in ("private", "public", "nested"):
            raise VerifyException(
                "expected a visibility of private, public or nested, but got "
                f"'{self.sym_visibility.data}'"
            )
        for position, type in enumerate(inputs):
            effect = self.argument_effects[position]
            if not isinstance(type, MemRefType | VectorType) and not is_number(type):
                raise VerifyException(
                    f"expected a memref, number or vector as argument {position}, but "
                    f"got '{type}'"
                )
            if effect is not Effect.READ and not isinstance(type, MemRefType):
                raise VerifyException(
                    f"expected a memref as argument {position}, which is {effect}, but "
                    f"got '{type}'"
                )
        if not self.is_declaration and tuple(a.type for a in self.args) != inputs:
            raise VerifyException(
                "expected entry block arguments of the types of the function"
            )


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """
    Ends a kernel.

    ```mlir
    tir.func @nothing() {
      tir.return
    }
    ```
    """

    name = "tir.return"

    traits = traits_def(HasParent(FuncOp), IsTerminator(), ReturnLike())

    assembly_format = "attr-dict"

    def __init__(self):
        super().__init__()
