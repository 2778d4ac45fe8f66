"""
Kernels: `tir.func`, its `tir.return`, and `tir.call`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FlatSymbolRefAttrConstr,
    FunctionType,
    IntegerType,
    MemRefType,
    Signedness,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    CallableOpInterface,
    EffectInstance,
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    MemoryEffect,
    MemoryEffectKind,
    ReturnLike,
    SymbolOpInterface,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from transom.dialects.tir.attributes import Effect, EffectAttr, StructType, is_number


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
class FuncOp(IRDLOperation):
    """
    A kernel in destination-passing style: it has no results and writes into memrefs.

    Each argument says what the kernel does with it: `read`, `write`, `read_write`, or
    `scratch` (no content before or after). Arguments do not overlap in memory.
    Numbers are passed by value and only read. Without a body it is declared only.
    The arguments stand in the order inputs, outputs, scratch. It is private unless it
    is said to be `public`. The body has one block, until control flow is lowered.

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
            if not isinstance(type, MemRefType) and not is_number(type):
                raise VerifyException(
                    f"expected a memref or a number as argument {position}, but got "
                    f"'{type}'"
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


class CallMemoryEffect(MemoryEffect):
    """
    On tensors a call has no effect, unless its kernel may fail; on memrefs inputs are
    read, outputs read and written.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance] | None:
        assert isinstance(op, CallOp)
        if op.may_fail():
            return None
        effects: set[EffectInstance] = set()
        for value in op.operands:
            if isinstance(value.type, MemRefType):
                effects.add(EffectInstance(MemoryEffectKind.READ, value))
        for value in (*op.outs, *op.scratch):
            if isinstance(value.type, MemRefType):
                effects.add(EffectInstance(MemoryEffectKind.WRITE, value))
        return effects


class CallSymbolUser(SymbolUserOpInterface):
    def verify(self, op: Operation) -> None:
        assert isinstance(op, CallOp)
        op.verify_callee()


@irdl_op_definition
class CallOp(IRDLOperation):
    """
    Call a kernel on values, in destination-passing style.

    The results are the outputs after the call: one for each tensor in `outs`, of its
    type. Memrefs in `outs` are written in place and have no result. The kernel gets
    inputs, outputs and scratch, in this order.

    ```mlir
    tir.func @kernel(read memref<4xf32>, write memref<4xf32>)
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %d = tensor.empty() : tensor<4xf32>
      %y = tir.call @kernel(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
      func.return %y : tensor<4xf32>
    }
    ```
    """

    name = "tir.call"

    callee = prop_def(FlatSymbolRefAttrConstr)
    ins = var_operand_def()
    outs = var_operand_def()
    scratch = var_operand_def(MemRefType)
    res = var_result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = lazy_traits_def(lambda: (CallSymbolUser(), CallMemoryEffect()))

    def __init__(
        self,
        callee: str | SymbolRefAttr,
        ins: Sequence[SSAValue],
        outs: Sequence[SSAValue],
        scratch: Sequence[SSAValue] = (),
    ):
        if isinstance(callee, str):
            callee = SymbolRefAttr(callee)
        super().__init__(
            operands=[ins, outs, scratch],
            properties={"callee": callee},
            result_types=[[v.type for v in outs if isinstance(v.type, TensorType)]],
        )

    @property
    def callee_name(self) -> str:
        return self.callee.string_value()

    def find_callee(self) -> FuncOp | None:
        """The kernel, if it is in reach and is a `tir.func`."""
        table = self.parent_op()
        while table is not None and not table.has_trait(SymbolTable):
            table = table.parent_op()
        if table is None:
            return None
        symbol = SymbolTable.lookup_symbol(table, self.callee)
        return symbol if isinstance(symbol, FuncOp) else None

    def may_fail(self) -> bool:
        """Whether the kernel has an assertion or checks the status of a C call."""
        from xdsl.dialects import cf

        from transom.dialects.tir.extern import ExternOp

        kernel = self.find_callee()
        return kernel is not None and any(
            isinstance(op, cf.AssertOp)
            or (isinstance(op, ExternOp) and op.status is not None)
            for op in kernel.walk()
        )

    @classmethod
    def parse(cls, parser: Parser) -> CallOp:
        callee = parser.parse_symbol_name().data
        ins = _parse_typed_operands(parser)
        outs: list[SSAValue] = []
        scratch: list[SSAValue] = []
        if parser.parse_optional_keyword("outs"):
            outs = _parse_typed_operands(parser)
        if parser.parse_optional_keyword("scratch"):
            scratch = _parse_typed_operands(parser)
        attributes = parser.parse_optional_attr_dict()
        op = cls(callee, ins, outs, scratch)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        def print_operand(value: SSAValue) -> None:
            printer.print_ssa_value(value)
            printer.print_string(" : ")
            printer.print_attribute(value.type)

        printer.print_string(" ")
        printer.print_symbol_name(self.callee_name)
        for keyword, values in (
            ("", self.ins),
            (" outs", self.outs),
            (" scratch", self.scratch),
        ):
            if values or not keyword:
                printer.print_string(keyword)
                with printer.in_parens():
                    printer.print_list(values, print_operand)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        for position, value in enumerate(self.outs):
            if not isinstance(value.type, TensorType | MemRefType):
                raise VerifyException(
                    f"expected a tensor or memref as output {position}, but got "
                    f"'{value.type}'"
                )
        for position, value in enumerate(self.ins):
            if isinstance(value.type, StructType) or not (
                isinstance(value.type, TensorType | MemRefType) or is_number(value.type)
            ):
                raise VerifyException(
                    f"expected a tensor, memref or number as input {position}, but got "
                    f"'{value.type}'"
                )
        tensors = tuple(v.type for v in self.outs if isinstance(v.type, TensorType))
        if tuple(self.result_types) != tensors:
            raise VerifyException(
                f"expected one result for each tensor in outs, {_list(tensors)}, but "
                f"got {_list(self.result_types)}"
            )

    def verify_callee(self) -> None:
        """Check the call against the kernel, where that is in the module."""
        table = self.parent_op()
        while table is not None and not table.has_trait(SymbolTable):
            table = table.parent_op()
        if table is None:
            return
        kernel = SymbolTable.lookup_symbol(table, self.callee)
        if kernel is None:
            raise VerifyException(f"unknown kernel '@{self.callee_name}'")
        if not isinstance(kernel, FuncOp):
            raise VerifyException(
                f"expected '@{self.callee_name}' to be a 'tir.func', but it is a "
                f"'{kernel.name}'"
            )
        groups = (
            ("input", self.ins, (Effect.READ,)),
            ("output", self.outs, (Effect.WRITE, Effect.READ_WRITE)),
            ("scratch", self.scratch, (Effect.SCRATCH,)),
        )
        arguments = [
            (what, position, value, allowed)
            for what, values, allowed in groups
            for position, value in enumerate(values)
        ]
        types = kernel.function_type.inputs.data
        if len(arguments) != len(types):
            raise VerifyException(
                f"expected {len(types)} inputs, outputs and scratch together, but got "
                f"{len(arguments)}"
            )
        for (what, position, value, allowed), type, effect in zip(
            arguments, types, kernel.argument_effects, strict=True
        ):
            if effect not in allowed:
                raise VerifyException(
                    f"{what} {position}: expected an argument that is "
                    f"{' or '.join(allowed)}, but the kernel has {effect}"
                )
            if not compatible_types(value.type, type):
                raise VerifyException(
                    f"{what} {position}: expected a value for '{type}', but got "
                    f"'{value.type}'"
                )


def _list(types: Sequence[Attribute]) -> str:
    return f"({', '.join(str(type) for type in types)})"


def _parse_typed_operands(parser: Parser) -> list[SSAValue]:
    def parse_operand() -> SSAValue:
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        return parser.resolve_operand(operand, parser.parse_type())

    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_operand)


def signless(type: Attribute) -> Attribute:
    """`ui8` and `si8` as `i8`: kernels know no signs."""
    if isinstance(type, IntegerType) and type.signedness.data != Signedness.SIGNLESS:
        return IntegerType(type.width)
    return type


def compatible_types(value: Attribute, argument: Attribute) -> bool:
    """
    Whether a kernel's `argument` may get `value`: equal numbers, or equal elements and
    extents, where signs do not count and an unknown extent is equal to any.
    """
    if isinstance(value, TensorType | MemRefType) and isinstance(argument, MemRefType):
        if signless(value.element_type) != signless(argument.element_type):
            return False
        a, b = value.get_shape(), argument.get_shape()
        return len(a) == len(b) and all(
            x == y or DYNAMIC_INDEX in (x, y) for x, y in zip(a, b, strict=True)
        )
    return signless(value) == signless(argument)
