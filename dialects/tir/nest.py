"""
`tir.nest`, the structured loop nest on memrefs, with `tir.yield` and `tir.index`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import ClassVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
)
from xdsl.dialects.utils import AbstractYieldOperation
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.pattern_rewriter import RewritePattern
from xdsl.printer import Printer
from xdsl.traits import (
    EffectInstance,
    HasCanonicalizationPatternsTrait,
    HasParent,
    IsTerminator,
    MemoryEffect,
    MemoryEffectKind,
    Pure,
)
from xdsl.utils.exceptions import VerifyException

from transom.dialects.tir import nest_syntax, nest_verifier
from transom.dialects.tir.accesses import Interval, dims_of_bounds
from transom.dialects.tir.attributes import (
    AccessAttr,
    DimAttr,
    DimKind,
)
from transom.dialects.tir.nest_builder import (
    DimSpec,
    In,
    Out,
    RegionBuilder,
    RegionCallback,
    as_map,
)
from transom.dialects.tir.schedule import ScheduleAttr
from transom.dialects.tir.types import element_type_of, memref_type_of


class NestMemoryEffect(MemoryEffect):
    """Inputs are read, outputs written, combining outputs read as well."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        assert isinstance(op, NestOp)
        effects = {EffectInstance(MemoryEffectKind.READ, value) for value in op.ins}
        for value, access in zip(op.outs, op.out_accesses, strict=True):
            effects.add(EffectInstance(MemoryEffectKind.WRITE, value))
            if access.combine is not None:
                effects.add(EffectInstance(MemoryEffectKind.READ, value))
        return effects


class NestCanonicalizations(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from transom.dialects.tir.canonicalization import NEST_PATTERNS

        return NEST_PATTERNS


@irdl_op_definition
class YieldOp(AbstractYieldOperation[Attribute]):
    """
    Ends a region of a nest, or a block.

    ```mlir
    func.func @fill(%o: memref<4xf32>, %x: f32) {
      tir.nest dims [parallel 4] outs(%o[d0] : memref<4xf32>)
        finish {
          tir.yield %x : f32
        }
      func.return
    }
    ```
    """

    name = "tir.yield"

    traits = lazy_traits_def(
        lambda: (IsTerminator(), HasParent(NestOp, _block_op()), Pure())
    )


def _block_op() -> type[Operation]:
    from transom.dialects.tir.block import BlockOp

    return BlockOp


@irdl_op_definition
class IndexOp(IRDLOperation):
    """
    The current index of a dim of the enclosing nest.

    In `init` the dim is parallel, in `finish` parallel or sequential.

    ```mlir
    func.func @iota(%o: memref<4xindex>) {
      tir.nest dims [parallel 4] outs(%o[d0] : memref<4xindex>)
        finish {
          %i = tir.index 0 : index
          tir.yield %i : index
        }
      func.return
    }
    ```
    """

    name = "tir.index"

    dim = prop_def(IntegerAttr[IndexType])
    result = result_def(IndexType())

    traits = traits_def(Pure())

    def __init__(self, dim: int | IntegerAttr[IndexType]):
        if isinstance(dim, int):
            dim = IntegerAttr.from_index_int_value(dim)
        super().__init__(properties={"dim": dim}, result_types=[IndexType()])

    @property
    def position(self) -> int:
        return self.dim.value.data

    @classmethod
    def parse(cls, parser: Parser) -> IndexOp:
        dim = parser.parse_integer(allow_boolean=False)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        parser.parse_keyword("index")
        op = cls(dim)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.position}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : index")

    def verify_(self) -> None:
        nest_verifier.verify_index(self)


@irdl_op_definition
class NestOp(IRDLOperation):
    """
    A loop nest, said by what one point computes.

    Each dim is `parallel`, `reduction` or `sequential`. For each point of the
    parallel dims: `init` gives the accumulators; then for each point of the
    sequential dims, in order, and for each point of the reduction dims, in order,
    `body` gives them anew; `finish` runs once per point of the parallel and
    sequential dims and gives one value for each output, then the indices of each
    indirect output. Accumulators are carried along sequential dims. `finish` sees the
    accumulators and the inputs whose access uses no reduction dim. Without
    accumulators `init` and `body` are absent.

    Inputs are read through maps over the dims `d0, d1, …` and the symbols
    `s0, s1, …`, the operands of `at`; `[*]` hands the memref itself to the regions.
    An output may be an input as well if both have the same map.

    Element-wise:

    ```mlir
    func.func @add(%a: memref<4x8xf32>, %b: memref<8xf32>, %o: memref<4x8xf32>) {
      tir.nest dims [parallel 4, parallel 8]
          ins(%a[d0, d1] : memref<4x8xf32>, %b[d1] : memref<8xf32>)
          outs(%o[d0, d1] : memref<4x8xf32>)
          finish (%x: f32, %y: f32) {
        %sum = arith.addf %x, %y : f32
        tir.yield %sum : f32
      }
      func.return
    }
    ```
    """

    name = "tir.nest"

    dims = prop_def(ArrayAttr[DimAttr])
    in_accesses = prop_def(ArrayAttr[AccessAttr])
    out_accesses = prop_def(ArrayAttr[AccessAttr])
    schedule = opt_prop_def(ScheduleAttr)

    bounds = var_operand_def(IndexType())
    symbols = var_operand_def(IndexType())
    ins = var_operand_def(MemRefType)
    outs = var_operand_def(MemRefType)

    init = region_def()
    body = region_def()
    finish = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(NestMemoryEffect(), NestCanonicalizations())

    REGION_NAMES: ClassVar = ("init", "body", "finish")

    def __init__(
        self,
        dims: Sequence[DimAttr],
        bounds: Sequence[SSAValue],
        symbols: Sequence[SSAValue],
        ins: Sequence[SSAValue],
        in_accesses: Sequence[AccessAttr],
        outs: Sequence[SSAValue],
        out_accesses: Sequence[AccessAttr],
        regions: Sequence[Region],
        schedule: ScheduleAttr | None = None,
    ):
        """`regions` are init, body and finish; the first two may be empty."""
        super().__init__(
            operands=[bounds, symbols, ins, outs],
            properties={
                "dims": ArrayAttr(dims),
                "in_accesses": ArrayAttr(in_accesses),
                "out_accesses": ArrayAttr(out_accesses),
                "schedule": schedule,
            },
            regions=list(regions),
        )

    @staticmethod
    def build_nest(
        dims: Sequence[DimSpec],
        *,
        ins: Sequence[In] = (),
        outs: Sequence[Out],
        finish: RegionCallback,
        init: RegionCallback | None = None,
        body: RegionCallback | None = None,
        symbols: Sequence[SSAValue] = (),
        schedule: ScheduleAttr | None = None,
    ) -> NestOp:
        """
        Build a nest with its regions.

        `init(b)`, `body(b, *ins, *accumulators)` and `finish(b, *accumulators, *ins)`
        get a `RegionBuilder` and return what they yield; `finish` gets the inputs
        whose access uses no reduction dim.

        ```python
        d0, d1 = affine.dim(0), affine.dim(1)
        NestOp.build_nest(
            [("parallel", 4), ("reduction", 8)],
            ins=[In(a, lambda i, k: (i, k))],
            outs=[Out(sums, lambda i, k: (i,))],
            init=lambda b: [b.constant(0, f32)],
            body=lambda b, x, acc: [b(arith.AddfOp(acc, x))],
            finish=lambda b, acc: [acc],
        )
        ```
        """
        rank, num_symbols = len(dims), len(symbols)
        dim_attrs = [
            DimAttr(kind, bound if isinstance(bound, int) else None)
            for kind, bound in dims
        ]
        nest = NestOp(
            dim_attrs,
            [bound for _, bound in dims if not isinstance(bound, int)],
            symbols,
            [access.value for access in ins],
            [
                AccessAttr(as_map(access.map, rank, num_symbols), access.pad)
                for access in ins
            ],
            [access.value for access in outs],
            [
                AccessAttr(as_map(access.map, rank, num_symbols), None, access.combine)
                for access in outs
            ],
            [Region(), Region(), Region()],
            schedule,
        )
        accumulators: tuple[Attribute, ...] = ()
        if init is not None:
            nest._fill(nest.init, init, ())
            accumulators = nest.accumulator_types
        if body is not None:
            nest._fill(nest.body, body, (*nest.in_types, *accumulators))
        finish_types = [nest.in_types[i] for i in nest.finish_in_positions]
        nest._fill(nest.finish, finish, (*accumulators, *finish_types))
        return nest

    @staticmethod
    def _fill(
        region: Region, callback: RegionCallback, types: Sequence[Attribute]
    ) -> None:
        block = Block(arg_types=types)
        region.add_block(block)
        values = tuple(callback(RegionBuilder(block), *block.args))
        block.add_op(YieldOp(*values))

    # Dims.

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
    def dim_intervals(self) -> tuple[Interval, ...]:
        return dims_of_bounds(self.static_bounds)

    def dims_of_kind(self, *kinds: DimKind) -> tuple[int, ...]:
        return tuple(i for i, kind in enumerate(self.dim_kinds) if kind in kinds)

    # Inputs and outputs.

    @property
    def in_types(self) -> tuple[Attribute, ...]:
        """What the regions see of each input: its element, or the memref itself."""
        return tuple(
            value.type if access.is_indirect else element_type_of(value)
            for value, access in zip(self.ins, self.in_accesses, strict=True)
        )

    @property
    def finish_in_positions(self) -> tuple[int, ...]:
        """Positions of the inputs that `finish` sees."""
        return finish_in_positions(self.dim_kinds, self.in_accesses)

    @property
    def finish_yield_types(self) -> tuple[Attribute, ...]:
        """One element per output, then the indices of each indirect output."""
        return finish_yield_types(self.outs, self.out_accesses)

    # Regions.

    @property
    def has_accumulators(self) -> bool:
        return bool(self.init.blocks)

    @property
    def accumulator_types(self) -> tuple[Attribute, ...]:
        return yielded_types(self.init) if self.has_accumulators else ()

    @property
    def body_ins(self) -> tuple[BlockArgument, ...]:
        """The arguments of `body` for the inputs."""
        return self.body.block.args[: len(self.ins)] if self.body.blocks else ()

    @property
    def body_accumulators(self) -> tuple[BlockArgument, ...]:
        return self.body.block.args[len(self.ins) :] if self.body.blocks else ()

    @property
    def finish_accumulators(self) -> tuple[BlockArgument, ...]:
        return self.finish.block.args[: len(self.accumulator_types)]

    @property
    def finish_ins(self) -> dict[int, BlockArgument]:
        """The arguments of `finish` for the inputs, by the input's position."""
        args = self.finish.block.args[len(self.accumulator_types) :]
        return dict(zip(self.finish_in_positions, args, strict=True))

    def yielded(self, region: Region) -> tuple[SSAValue, ...]:
        terminator = region.block.last_op
        assert isinstance(terminator, YieldOp), "regions end with 'tir.yield'"
        return tuple(terminator.operands)

    @property
    def finish_values(self) -> tuple[SSAValue, ...]:
        """The value for each output."""
        return self.yielded(self.finish)[: len(self.outs)]

    @classmethod
    def parse(cls, parser: Parser) -> NestOp:
        return cls.create_parsed(nest_syntax.parse_nest(parser))

    @classmethod
    def create_parsed(cls, parts: nest_syntax.NestParts) -> NestOp:
        op = cls(
            parts.dims,
            parts.bounds,
            parts.symbols,
            parts.ins,
            parts.in_accesses,
            parts.outs,
            parts.out_accesses,
            parts.regions,
            parts.schedule,
        )
        op.attributes |= parts.attributes
        return op

    def print(self, printer: Printer) -> None:
        nest_syntax.print_nest(self, printer)

    def verify_(self) -> None:
        nest_verifier.verify_nest(self)


def yielded_types(region: Region) -> tuple[Attribute, ...]:
    block = region.blocks.first
    if block is None or not isinstance(block.last_op, YieldOp):
        raise VerifyException("expected regions that end with 'tir.yield'")
    return tuple(block.last_op.operand_types)


def finish_in_positions(
    kinds: Sequence[DimKind], accesses: Iterable[AccessAttr]
) -> tuple[int, ...]:
    reduced = {i for i, kind in enumerate(kinds) if kind is DimKind.REDUCTION}
    return tuple(
        position
        for position, access in enumerate(accesses)
        if access.map is None or not (access.map.used_dims() & reduced)
    )


def finish_yield_types(
    outs: Sequence[SSAValue], accesses: Iterable[AccessAttr]
) -> tuple[Attribute, ...]:
    index_count = sum(
        memref_type_of(value).get_num_dims()
        for value, access in zip(outs, accesses, strict=True)
        if access.is_indirect
    )
    return (*map(element_type_of, outs), *[IndexType()] * index_count)
