"""
Ops with a syntax of their own: `map`, `reduce`, `transpose` and `broadcast`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IntegerType,
    MemRefType,
    TensorType,
    i64,
)
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.irdl import (
    IRDLOperation,
    SameVariadicOperandSize,
    base,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from transom.dialects.linalg.short_bodies import (
    body_of,
    parse_optional_short_body,
    print_short_body,
    short_op,
)
from transom.dialects.linalg.structure import (
    element_of,
    outputs_of,
    shape_of,
    tensor_types,
    verify_body,
    verify_results,
    verify_same_shapes,
)

SHAPED = base(MemRefType) | base(TensorType)


def _dims(dims: Sequence[int], rank: int) -> AffineMap:
    return AffineMap(rank, 0, tuple(AffineDimExpr(dim) for dim in dims))


class DestinationOp(LinalgStructuredOperation, ABC):
    """Base of ops written `ins(…) outs(…)`, with numbers of dims and maybe a body."""

    inputs = var_operand_def(SHAPED)
    outputs = var_operand_def(SHAPED)
    res = var_result_def(TensorType)
    body = region_def("single_block")

    NUMBERS: ClassVar[str | None] = None
    """The property that says which dims."""

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        body: Region,
        numbers: Sequence[int] = (),
    ) -> None:
        properties: dict[str, Attribute] = {}
        if self.NUMBERS is not None:
            properties[self.NUMBERS] = DenseArrayBase.from_list(i64, numbers)
        IRDLOperation.__init__(
            self,
            operands=self.grouped(inputs, outputs),
            result_types=[tensor_types(outputs)],
            properties=properties,
            regions=[body],
        )

    @classmethod
    def grouped(
        cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]
    ) -> Sequence[SSAValue | Sequence[SSAValue]]:
        """The operands as the definition of the op has them."""
        return [inputs, outputs]

    @property
    def numbers(self) -> tuple[int, ...]:
        assert self.NUMBERS is not None, "asked of ops that have some"
        numbers = self.properties[self.NUMBERS]
        return cast("DenseArrayBase[IntegerType]", numbers).get_values()

    @property
    def out_rank(self) -> int:
        return len(shape_of(outputs_of(self)[0]))

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        return ArrayAttr([IteratorTypeAttr.parallel()] * self.out_rank)

    @abstractmethod
    def maps(self) -> Sequence[AffineMap]:
        """The map of each operand."""

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        return ArrayAttr([AffineMapAttr(map) for map in self.maps()])

    def verify_(self) -> None:
        verify_results(self)
        super().verify_()

    # Syntax.

    @classmethod
    def body_types(
        cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]
    ) -> Sequence[Attribute]:
        return [element_of(value.type) for value in (*inputs, *outputs)]

    @classmethod
    def parse_body(
        cls, parser: Parser, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]
    ) -> Region:
        """The body behind the operands; by default none, it hands on the input."""
        block = Block(arg_types=cls.body_types(inputs, outputs))
        block.add_op(YieldOp(block.args[0]))
        return Region(block)

    @classmethod
    def short_operands(cls, block: Block, inputs: int) -> Sequence[SSAValue]:
        """What the only op of a body that is written in short takes."""
        return block.args

    @classmethod
    def parse(cls, parser: Parser) -> "DestinationOp":
        short = parse_optional_short_body(parser)
        inputs, outputs = _parse_group(parser, "ins"), _parse_group(parser, "outs")
        numbers: Sequence[int] = ()
        if cls.NUMBERS is not None:
            parser.parse_keyword(cls.NUMBERS)
            parser.parse_punctuation("=")
            numbers = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_integer
            )
        attributes = parser.parse_optional_attr_dict()
        if not outputs:
            parser.raise_error("expected an output")
        if short is None:
            body = cls.parse_body(parser, inputs, outputs)
        else:
            block = Block(arg_types=cls.body_types(inputs, outputs))
            taken = cls.short_operands(block, len(inputs))
            result = element_of(outputs[0].type)
            body = body_of(parser, short, block, taken, result)
        op = cls(inputs, outputs, body, numbers)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        _print_group(printer, "ins", self.inputs)
        _print_group(printer, "outs", outputs_of(self))
        if self.NUMBERS is not None:
            printer.print_string(f" {self.NUMBERS} = ")
            with printer.in_square_brackets():
                printer.print_list(self.numbers, printer.print_int)
        printer.print_op_attributes(self.attributes)


def _parse_group(parser: Parser, keyword: str) -> list[SSAValue]:
    if not parser.parse_optional_keyword(keyword):
        return []
    parser.parse_punctuation("(")
    none = parser.Delimiter.NONE
    names = parser.parse_comma_separated_list(none, parser.parse_unresolved_operand)
    parser.parse_punctuation(":")
    position = parser.pos
    types = parser.parse_comma_separated_list(none, parser.parse_type)
    parser.parse_punctuation(")")
    return list(parser.resolve_operands(names, types, position))


def _print_group(printer: Printer, keyword: str, values: Sequence[SSAValue]) -> None:
    if values:
        printer.print_string(f" {keyword}(")
        printer.print_list(values, printer.print_ssa_value)
        printer.print_string(" : ")
        printer.print_list([v.type for v in values], printer.print_attribute)
        printer.print_string(")")


def _parse_argument(parser: Parser) -> Parser.Argument:
    """An argument of a body, maybe with a location."""
    argument = parser.parse_argument()
    argument.location = parser.parse_optional_location()
    return argument


class BodiedOp(DestinationOp, ABC):
    """Base of ops that have their body written behind them."""

    @classmethod
    def parse_body(
        cls, parser: Parser, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]
    ) -> Region:
        arguments = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: _parse_argument(parser)
        )
        return parser.parse_region(arguments)

    def print(self, printer: Printer) -> None:
        super().print(printer)
        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_block_argument)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


@irdl_op_definition
class MapOp(BodiedOp):
    """
    A function of an element of each input, at each place.

    ```mlir
    %y = linalg.map { arith.addf } ins(%a, %b : tensor<4xf32>, tensor<4xf32>)
        outs(%c : tensor<4xf32>)
    %z = linalg.map ins(%a : tensor<4xf32>) outs(%c : tensor<4xf32>)
        (%x: f32, %o: f32) {
      %s = arith.addf %x, %x : f32
      %t = arith.mulf %s, %o : f32
      linalg.yield %t : f32
    }
    ```

    The body is given an element of the output too (`%o`), as in MLIR from 22 on, or is
    not, as before. It is printed as it is; in short where it is one op on the elements
    of all inputs, since that is the one form that every MLIR reads.
    """

    name = "linalg.map"

    inputs = var_operand_def(SHAPED)
    outputs = operand_def(SHAPED)

    @classmethod
    def grouped(
        cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]
    ) -> Sequence[SSAValue | Sequence[SSAValue]]:
        return [inputs, *outputs]

    @classmethod
    def short_operands(cls, block: Block, inputs: int) -> Sequence[SSAValue]:
        return block.args[:inputs]

    def print(self, printer: Printer) -> None:
        block = self.body.block
        taken = self.short_operands(block, len(self.inputs))
        short = short_op(block, taken, element_of(self.outputs.type))
        if short is None or printer.print_debuginfo:  # it has a location of its own
            super().print(printer)
        else:
            print_short_body(printer, short)
            DestinationOp.print(self, printer)

    def verify_(self) -> None:
        verify_results(self)
        verify_same_shapes(self)
        verify_body(self, may_lack_outputs=True)

    def maps(self) -> Sequence[AffineMap]:
        return [AffineMap.identity(self.out_rank)] * len(self.operands)


@irdl_op_definition
class ReduceOp(BodiedOp):
    """
    A fold along some dimensions, of each input into its output.

    ```mlir
    %y = linalg.reduce ins(%a : tensor<4x8xf32>) outs(%c : tensor<4xf32>)
        dimensions = [1] (%x: f32, %sum: f32) {
      %s = arith.addf %sum, %x : f32
      linalg.yield %s : f32
    }
    ```
    """

    name = "linalg.reduce"

    irdl_options = (SameVariadicOperandSize(),)

    dimensions = prop_def(DenseArrayBase.constr(i64))

    NUMBERS: ClassVar[str | None] = "dimensions"

    @property
    def rank(self) -> int:
        return len(shape_of(self.inputs[0])) if self.inputs else 0

    @classmethod
    def short_operands(cls, block: Block, inputs: int) -> Sequence[SSAValue]:
        return [block.args[-1], *block.args[:-1]]

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        return ArrayAttr(
            [
                IteratorTypeAttr.reduction()
                if dim in self.numbers
                else IteratorTypeAttr.parallel()
                for dim in range(self.rank)
            ]
        )

    def maps(self) -> Sequence[AffineMap]:
        rank = self.rank
        kept = _dims([dim for dim in range(rank) if dim not in self.numbers], rank)
        return [
            *[AffineMap.identity(rank)] * len(self.inputs),
            *[kept] * len(self.outputs),
        ]

    def verify_(self) -> None:
        if list(self.numbers) != sorted(
            {n for n in self.numbers if n in range(self.rank)}
        ):
            raise VerifyException(
                f"expected dimensions from 0 to {self.rank - 1} in order, but got "
                f"{list(self.numbers)}"
            )
        super().verify_()


@irdl_op_definition
class TransposeOp(DestinationOp):
    """
    The input with its dimensions in another order: dimension `i` of the output is
    `permutation[i]` of the input.

    ```mlir
    %y = linalg.transpose ins(%a : tensor<4x8xf32>) outs(%c : tensor<8x4xf32>)
        permutation = [1, 0]
    ```
    """

    name = "linalg.transpose"

    irdl_options = (SameVariadicOperandSize(),)

    permutation = prop_def(DenseArrayBase.constr(i64))

    NUMBERS: ClassVar[str | None] = "permutation"

    def maps(self) -> Sequence[AffineMap]:
        rank = self.out_rank
        inverse = [self.numbers.index(dim) for dim in range(rank)]
        return [_dims(inverse, rank), AffineMap.identity(rank)]

    def verify_(self) -> None:
        rank = self.out_rank
        if sorted(self.numbers) != list(range(rank)):
            raise VerifyException(
                f"expected a permutation of 0 to {rank - 1}, but got "
                f"{list(self.numbers)}"
            )
        super().verify_()


@irdl_op_definition
class BroadcastOp(DestinationOp):
    """
    The input repeated along added dimensions of the output.

    ```mlir
    %y = linalg.broadcast ins(%a : tensor<4xf32>) outs(%c : tensor<4x8xf32>)
        dimensions = [1]
    ```
    """

    name = "linalg.broadcast"

    irdl_options = (SameVariadicOperandSize(),)

    dimensions = prop_def(DenseArrayBase.constr(i64))

    NUMBERS: ClassVar[str | None] = "dimensions"

    def maps(self) -> Sequence[AffineMap]:
        rank = self.out_rank
        kept = [dim for dim in range(rank) if dim not in self.numbers]
        return [_dims(kept, rank), AffineMap.identity(rank)]

    def verify_(self) -> None:
        rank = self.out_rank
        if any(number not in range(rank) for number in self.numbers):
            raise VerifyException(
                f"expected dimensions from 0 to {rank - 1}, but got "
                f"{list(self.numbers)}"
            )
        super().verify_()


OPERATIONS: tuple[type[Operation], ...] = (BroadcastOp, MapOp, ReduceOp, TransposeOp)
