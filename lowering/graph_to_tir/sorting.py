"""
The order of elements: by merging, or by inserting into the few that are wanted.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import AnyFloat, IndexType, i1, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from transom.dialects import graph
from transom.lowering.conversion import ConversionPattern, ConversionRewriter, Operands
from transom.lowering.graph_to_tir.scalars import is_unsigned
from transom.lowering.graph_to_tir.site import Site

FEW = 32
"""So many places are kept in order; each may be moved for each element at worst."""


class ConvertArgsort(ConversionPattern[graph.ArgsortOp]):
    """
    Runs of 1, 2, 4, … places in order are merged by twos, so that equal elements stay
    in order: a loop per dimension, one over the passes, one over pairs of runs. If few
    places are wanted, only they are kept.

    ```mlir
    scf.while (%width = %c1) { … %width < %n … } do {
      … places are copied to %before …
      scf.for %low = %c0 to %n step %twice {
        scf.for %k = %low to %high iter_args(%i = %low, %j = %middle) {
          … the one of %before[%i] and %before[%j] that comes first goes to %y[%k] …
    ```
    """

    root = graph.ArgsortOp

    def match_and_rewrite(
        self, op: graph.ArgsortOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        out = site.alloc()
        if op.count is None or op.count > FEW:
            _Merge(site, op, out).run()
        elif op.count:
            _Insert(site, op, out).run()
        site.done(out)


class _Rows(ABC):
    """Loops over the rows of a memref along one axis, each of which is sorted."""

    def __init__(self, site: Site, op: graph.ArgsortOp, out: SSAValue) -> None:
        self.site = site
        self.source = site.ins[0]
        self.out = out
        self.axis = op.axis.value.data
        self.descending = op.descending is not None
        self.element = site.element(0)
        sizes = site.sizes(self.source)
        self.sizes = [site.value_of(size) for size in sizes]
        self.size = self.sizes[self.axis]
        self.zero, self.one = site.constant(0), site.constant(1)
        self.count = self.size if op.count is None else site.constant(op.count)
        self.row_size = sizes[self.axis]

    @abstractmethod
    def _sort(self, row: tuple[SSAValue, ...]) -> None:
        """Write the places of a row, which is where all but the axis stand."""

    def run(self) -> None:
        self._rows(())

    def _rows(self, places: tuple[SSAValue, ...]) -> None:
        if len(places) == len(self.sizes):
            self._sort(places)
        elif len(places) == self.axis:
            self._rows((*places, self.zero))
        else:
            size = self.sizes[len(places)]
            self._for(self.zero, size, self.one, lambda at: self._rows((*places, at)))

    def _precedes(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Whether an element comes before another one that is not equal to it."""
        if self.descending:
            a, b = b, a
        if isinstance(a.type, AnyFloat):
            less = self.site(arith.CmpfOp(a, b, "ult"))  # or one of the two is NaN
            number = self.site(arith.CmpfOp(a, a, "ord"))
            return self.site(arith.AndIOp(less, number))
        return self._compare("ult" if is_unsigned(self.element) else "slt", a, b)

    # Steps

    def _for(
        self,
        low: SSAValue,
        high: SSAValue,
        step: SSAValue,
        body: Callable[[SSAValue], None],
    ) -> None:
        block = Block(arg_types=[IndexType()])
        with self.site.rewriter.at_end(block):
            body(block.args[0])
            self.site.rewriter.insert(scf.YieldOp())
        self.site.rewriter.insert(scf.ForOp(low, high, step, [], Region(block)))

    def _in_row(self, row: tuple[SSAValue, ...], at: SSAValue) -> list[SSAValue]:
        return [*row[: self.axis], at, *row[self.axis + 1 :]]

    def _load(self, buffer: SSAValue, at: Sequence[SSAValue]) -> SSAValue:
        return self.site(memref.LoadOp.get(buffer, at))

    def _store(self, value: SSAValue, buffer: SSAValue, at: Sequence[SSAValue]) -> None:
        self.site.rewriter.insert(memref.StoreOp.get(value, buffer, at))

    def _add(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.site(arith.AddiOp(a, b))

    def _min(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.site(arith.MinSIOp(a, b))

    def _compare(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.site(arith.CmpiOp(a, b, predicate))

    def _cast(self, value: SSAValue, type: Attribute) -> SSAValue:
        return self.site(arith.IndexCastOp(value, type))

    def _true(self) -> SSAValue:
        return self.site(arith.ConstantOp.from_int_and_width(1, i1))


class _Merge(_Rows):
    """Runs of places in order become longer ones, all the others beside them."""

    def __init__(self, site: Site, op: graph.ArgsortOp, out: SSAValue) -> None:
        super().__init__(site, op, out)
        self.order = site.temporary([self.row_size], i64)
        self.before = site.temporary([self.row_size], i64)

    def _sort(self, row: tuple[SSAValue, ...]) -> None:
        def start(at: SSAValue) -> None:
            self._store(self._cast(at, i64), self.order, [at])

        def finish(at: SSAValue) -> None:
            place = self._load(self.order, [at])
            self._store(place, self.out, self._in_row(row, at))

        self._for(self.zero, self.size, self.one, start)
        condition, body = (Block(arg_types=[IndexType()]) for _ in range(2))
        with self.site.rewriter.at_end(condition):
            more = self._compare("slt", condition.args[0], self.size)
            self.site.rewriter.insert(scf.ConditionOp(more, condition.args[0]))
        with self.site.rewriter.at_end(body):
            twice = self._add(body.args[0], body.args[0])
            self._pass(row, body.args[0], twice)
            self.site.rewriter.insert(scf.YieldOp(twice))
        regions = Region(condition), Region(body)
        self.site.rewriter.insert(scf.WhileOp([self.one], [IndexType()], *regions))
        self._for(self.zero, self.count, self.one, finish)

    def _pass(
        self, row: tuple[SSAValue, ...], width: SSAValue, twice: SSAValue
    ) -> None:
        """Merge runs of `width` places by twos."""

        def save(at: SSAValue) -> None:
            self._store(self._load(self.order, [at]), self.before, [at])

        def merge(low: SSAValue) -> None:
            middle = self._min(self._add(low, width), self.size)
            high = self._min(self._add(low, twice), self.size)
            self._merge(row, low, middle, high)

        self._for(self.zero, self.size, self.one, save)
        self._for(self.zero, self.size, twice, merge)

    def _merge(
        self, row: tuple[SSAValue, ...], low: SSAValue, middle: SSAValue, high: SSAValue
    ) -> None:
        site = self.site
        last = site(arith.SubiOp(self.size, self.one))
        block = Block(arg_types=[IndexType()] * 3)
        to, left, right = block.args
        with site.rewriter.at_end(block):
            # One of the two runs may be at its end, where the place is not used.
            places = [
                self._load(self.before, [self._min(at, last)]) for at in (left, right)
            ]
            first, second = (
                self._load(self.source, self._in_row(row, self._cast(at, IndexType())))
                for at in places
            )
            has_left = self._compare("slt", left, middle)
            has_right = self._compare("slt", right, high)
            no_left = site(arith.XOrIOp(has_left, self._true()))
            wins = site(arith.OrIOp(no_left, self._precedes(second, first)))
            takes = site(arith.AndIOp(has_right, wins))
            chosen = site(arith.SelectOp(takes, places[1], places[0]))
            self._store(chosen, self.order, [to])
            next_left = arith.SelectOp(takes, left, self._add(left, self.one))
            next_right = arith.SelectOp(takes, self._add(right, self.one), right)
            site.rewriter.insert(scf.YieldOp(site(next_left), site(next_right)))
        site.rewriter.insert(
            scf.ForOp(low, high, self.one, [low, middle], Region(block))
        )


class _Insert(_Rows):
    """
    The places that are wanted are kept in order, and each element that comes before the
    last of them is inserted: one comparison for most elements.
    """

    def _sort(self, row: tuple[SSAValue, ...]) -> None:
        def take(at: SSAValue) -> None:
            self._insert(row, at, at)

        def compare(at: SSAValue) -> None:
            last = self.site(arith.SubiOp(self.count, self.one))
            wins = self._precedes(self._value(row, at), self._kept(row, last))
            block = Block()
            with self.site.rewriter.at_end(block):
                self._insert(row, at, last)
                self.site.rewriter.insert(scf.YieldOp())
            self.site.rewriter.insert(scf.IfOp(wins, [], Region(block), None))

        self._store(self._cast(self.zero, i64), self.out, self._in_row(row, self.zero))
        self._for(self.one, self.count, self.one, take)
        self._for(self.count, self.size, self.one, compare)

    def _insert(self, row: tuple[SSAValue, ...], at: SSAValue, end: SSAValue) -> None:
        """Move the places before `end` that come after an element; write its own."""
        site = self.site
        value = self._value(row, at)
        condition, body = (Block(arg_types=[IndexType()]) for _ in range(2))
        (to,) = condition.args
        with site.rewriter.at_end(condition):
            is_inside = self._compare("slt", self.zero, to)
            before = site(arith.SubiOp(to, self.one))
            previous = self._kept(row, site(arith.MaxSIOp(before, self.zero)))
            more = site(arith.AndIOp(is_inside, self._precedes(value, previous)))
            site.rewriter.insert(scf.ConditionOp(more, to))
        (to,) = body.args
        with site.rewriter.at_end(body):
            before = site(arith.SubiOp(to, self.one))
            place = self._load(self.out, self._in_row(row, before))
            self._store(place, self.out, self._in_row(row, to))
            site.rewriter.insert(scf.YieldOp(before))
        regions = Region(condition), Region(body)
        found = site.rewriter.insert(scf.WhileOp([end], [IndexType()], *regions))
        place = self._cast(at, i64)
        self._store(place, self.out, self._in_row(row, found.results[0]))

    def _value(self, row: tuple[SSAValue, ...], at: SSAValue) -> SSAValue:
        return self._load(self.source, self._in_row(row, at))

    def _kept(self, row: tuple[SSAValue, ...], at: SSAValue) -> SSAValue:
        """The element whose place is kept there."""
        place = self._load(self.out, self._in_row(row, at))
        return self._value(row, self._cast(place, IndexType()))


PATTERNS = (ConvertArgsort(),)
