"""
`tir.block`, which computes nests together, point by point of common dims.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IndexType
from xdsl.ir import BlockArgument, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.pattern_rewriter import RewritePattern
from xdsl.printer import Printer
from xdsl.traits import (
    HasCanonicalizationPatternsTrait,
    RecursiveMemoryEffect,
    SingleBlockImplicitTerminator,
    ensure_terminator,
)
from xdsl.utils.exceptions import VerifyException

from transom.dialects.tir import nest_syntax
from transom.dialects.tir.attributes import DimAttr, DimKind
from transom.dialects.tir.nest import YieldOp
from transom.dialects.tir.nest_verifier import verify_bounds
from transom.dialects.tir.schedule import ScheduleAttr


class BlockCanonicalizations(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from transom.dialects.tir.canonicalization import BLOCK_PATTERNS

        return BLOCK_PATTERNS


@irdl_op_definition
class BlockOp(IRDLOperation):
    """
    Nests that are computed together, once per point of common dims.

    The dims are `parallel` or `sequential`. What the block allocates with `tir.alloc`
    lives for one point. Points of parallel dims touch different elements.

    Softmax of rows, with the row in local memory:

    ```mlir
    tir.func @softmax(read %x: memref<4x8xf32>, write %o: memref<4x8xf32>) {
      tir.block (%i: index) in dims [parallel 4] {
        %max = tir.alloc : memref<f32>
        %exp = tir.alloc : memref<8xf32>
        %sum = tir.alloc : memref<f32>
        tir.nest dims [reduction 8] at (%i)
            ins(%x[s0, d0] : memref<4x8xf32>) outs(%max[] : memref<f32>)
          init {
            %low = arith.constant 0xFF800000 : f32
            tir.yield %low : f32
          }
          body (%v: f32, %m: f32) {
            %n = arith.maximumf %v, %m : f32
            tir.yield %n : f32
          }
          finish (%m: f32) {
            tir.yield %m : f32
          }
        tir.nest dims [parallel 8] at (%i)
            ins(%x[s0, d0] : memref<4x8xf32>, %max[] : memref<f32>)
            outs(%exp[d0] : memref<8xf32>, %sum[] combine add : memref<f32>)
          finish (%v: f32, %m: f32) {
            %d = arith.subf %v, %m : f32
            %e = math.exp %d : f32
            tir.yield %e, %e : f32, f32
          }
        tir.nest dims [parallel 8] at (%i)
            ins(%exp[d0] : memref<8xf32>, %sum[] : memref<f32>)
            outs(%o[s0, d0] : memref<4x8xf32>)
          finish (%e: f32, %s: f32) {
            %y = arith.divf %e, %s : f32
            tir.yield %y : f32
          }
      }
      tir.return
    }
    ```
    """

    name = "tir.block"

    dims = prop_def(ArrayAttr[DimAttr])
    schedule = opt_prop_def(ScheduleAttr)
    bounds = var_operand_def(IndexType())
    body = region_def("single_block")

    traits = traits_def(
        SingleBlockImplicitTerminator(YieldOp),
        RecursiveMemoryEffect(),
        BlockCanonicalizations(),
    )

    def __init__(
        self,
        dims: Sequence[DimAttr],
        bounds: Sequence[SSAValue],
        body: Region,
        schedule: ScheduleAttr | None = None,
    ):
        super().__init__(
            operands=[bounds],
            properties={"dims": ArrayAttr(dims), "schedule": schedule},
            regions=[body],
        )

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def dim_kinds(self) -> tuple[DimKind, ...]:
        return tuple(dim.kind for dim in self.dims)

    @property
    def static_bounds(self) -> tuple[int | None, ...]:
        """The bound of each dim, None where an operand gives it."""
        return tuple(dim.static_bound for dim in self.dims)

    def bounds_values(self) -> tuple[int | SSAValue, ...]:
        """The bound of each dim: a number, or the operand."""
        operands = iter(self.bounds)
        return tuple(
            next(operands) if bound is None else bound for bound in self.static_bounds
        )

    @property
    def indices(self) -> tuple[BlockArgument, ...]:
        """The current index of each dim."""
        return self.body.block.args

    @classmethod
    def parse(cls, parser: Parser) -> BlockOp:
        arguments = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: nest_syntax.parse_argument(parser)
        )
        parser.parse_keyword("in")
        dims, bounds = nest_syntax.parse_dims(parser)
        schedule = nest_syntax.parse_optional_schedule(parser)
        dictionary = parser.parse_optional_attr_dict_with_keyword(("dims", "schedule"))
        region = parser.parse_region(arguments)
        op = cls(dims, bounds, region, schedule)
        for trait in op.get_traits_of_type(SingleBlockImplicitTerminator):
            ensure_terminator(op, trait)
        if dictionary is not None:
            op.attributes |= dictionary.data
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(self.indices, printer.print_block_argument)
        printer.print_string(" in ")
        nest_syntax.print_dims(printer, self.dims.data, self.bounds)
        if self.schedule is not None:
            printer.print_string(" schedule ")
            printer.print_attribute(self.schedule)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(
            self.body, print_entry_block_args=False, print_block_terminators=False
        )

    def verify_(self) -> None:
        verify_bounds(self.static_bounds, len(self.bounds))
        for dim, kind in enumerate(self.dim_kinds):
            if kind is DimKind.REDUCTION:
                raise VerifyException(
                    f"expected parallel and sequential dims, but 'd{dim}' is reduction"
                )
        found = self.body.block.arg_types
        if tuple(found) != (IndexType(),) * self.rank:
            raise VerifyException(
                f"expected {self.rank} arguments of type 'index', but got "
                f"({', '.join(str(type) for type in found)})"
            )
        if self.schedule is not None:
            self.schedule.verify_for(self.dim_kinds)
