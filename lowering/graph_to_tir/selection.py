"""
Ops that write as many elements as the elements that they read say.

The memory of the result has the size that the shape function has computed. A kernel
writes nowhere else, and fails if it finds another number of elements.
"""

from typing import cast

from xdsl.dialects import arith, cf, memref, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue

from transom.dialects import graph
from transom.lowering.conversion import ConversionPattern, ConversionRewriter, Operands
from transom.lowering.graph_to_tir.site import Site


class ConvertNonzero(ConversionPattern[graph.NonzeroOp]):
    """
    Loops in row-major order that carry how many there were.

    ```mlir
    %n = scf.for %i = … iter_args(%k = %c0) -> (index) {
      %v = memref.load %x[%i] : memref<?xf32>
      %counts = arith.cmpf une, %v, %zero : f32
      … scf.if %counts_and_fits { … memref.store %place, %y[%c0, %k] … }
      scf.yield %k_and_one_more_if_it_counts : index
    }
    cf.assert %n_is_the_size_of_y, "…"
    ```
    """

    root = graph.NonzeroOp

    def match_and_rewrite(
        self, op: graph.NonzeroOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        (source,) = site.ins
        # The argument that takes the place of this buffer has the size.
        out = site.alloc([len(site.shape(0)), 0])
        room = site.value_of(site.dim(out, 1))
        found = _Selection(site, source, out, room).run()
        is_right = site(arith.CmpiOp(found, room, "eq"))
        message = f"'{op.name}': the shape function gives another number of elements"
        rewriter.insert(cf.AssertOp(is_right, message))
        site.done(out)


class _Selection:
    """The loops over the elements of a memref."""

    def __init__(
        self, site: Site, source: SSAValue, out: SSAValue, room: SSAValue
    ) -> None:
        self.site = site
        self.source = source
        self.out = out
        self.room = room
        self.sizes = [site.value_of(size) for size in site.sizes(source)]
        self.zero, self.one = site.constant(0), site.constant(1)
        self.rows = [site.constant(axis) for axis in range(len(self.sizes))]
        self.nothing = self._nothing()

    def run(self) -> SSAValue:
        """Store the places, and give how many there are."""
        return self._loops((), self.zero)

    def _loops(self, places: tuple[SSAValue, ...], found: SSAValue) -> SSAValue:
        if len(places) == len(self.sizes):
            return self._point(places, found)
        block = Block(arg_types=[IndexType(), IndexType()])
        place, carried = block.args
        with self.site.rewriter.at_end(block):
            more = self._loops((*places, place), carried)
            self.site.rewriter.insert(scf.YieldOp(more))
        size = self.sizes[len(places)]
        loop = scf.ForOp(self.zero, size, self.one, [found], Region(block))
        return self.site(loop)

    def _point(self, places: tuple[SSAValue, ...], found: SSAValue) -> SSAValue:
        site = self.site
        counts = self._counts(site(memref.LoadOp.get(self.source, places)))
        fits = site(arith.CmpiOp(found, self.room, "slt"))
        block = Block()
        with site.rewriter.at_end(block):
            for row, place in zip(self.rows, places, strict=True):
                value = site(arith.IndexCastOp(place, i64))
                store = memref.StoreOp.get(value, self.out, [row, found])
                site.rewriter.insert(store)
            site.rewriter.insert(scf.YieldOp())
        stores = scf.IfOp(site(arith.AndIOp(counts, fits)), (), Region(block))
        site.rewriter.insert(stores)
        step = site(arith.SelectOp(counts, self.one, self.zero))
        return site(arith.AddiOp(found, step))

    def _nothing(self) -> SSAValue | None:
        """The element that is zero; none of truth values."""
        type = cast("MemRefType[Attribute]", self.source.type).element_type
        if type == i1:
            return None
        if isinstance(type, AnyFloat):
            return self.site(arith.ConstantOp(FloatAttr(0.0, type)))
        return self.site(arith.ConstantOp(IntegerAttr(0, cast("IntegerType", type))))

    def _counts(self, value: SSAValue) -> SSAValue:
        if self.nothing is None:
            return value
        if isinstance(value.type, AnyFloat):
            return self.site(arith.CmpfOp(value, self.nothing, "une"))
        return self.site(arith.CmpiOp(value, self.nothing, "ne"))


PATTERNS = (ConvertNonzero(),)
"""Patterns of ops whose results have sizes that depend on data."""
