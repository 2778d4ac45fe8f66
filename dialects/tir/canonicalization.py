"""
Canonicalizations of the `tir` dialect.

None changes what a nest computes or the order in which it does. Each makes a nest say
less: fewer operands, inputs, accumulators, or a bound that is a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, IntegerAttr
from xdsl.ir import BlockArgument, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from transom.dialects.tir import affine
from transom.dialects.tir.accesses import is_inside
from transom.dialects.tir.attributes import AccessAttr, DimAttr, DimKind
from transom.dialects.tir.block import BlockOp
from transom.dialects.tir.memory import AllocOp, CopyOp
from transom.dialects.tir.nest import NestOp, YieldOp
from transom.dialects.tir.schedule import ScheduleAttr
from transom.dialects.tir.types import as_shaped, memref_type_of


def constant_index(value: SSAValue) -> int | None:
    """
    The number that an `index` value is, if it is a constant or the extent of a static
    dimension.
    """
    owner = value.owner
    if isinstance(owner, arith.ConstantOp):
        attr = owner.value
        return attr.value.data if isinstance(attr, IntegerAttr) else None
    if isinstance(owner, memref.DimOp):
        type = as_shaped(owner.source.type)
        axis = constant_index(owner.index)
        if type is None or axis is None or not 0 <= axis < type.get_num_dims():
            return None
        extent = type.get_shape()[axis]
        return None if extent == DYNAMIC_INDEX else extent
    return None


def _fold_bounds(
    dims: Iterable[DimAttr], bounds: Sequence[SSAValue]
) -> tuple[list[DimAttr], list[SSAValue]] | None:
    operands = iter(bounds)
    folded: list[DimAttr] = []
    rest: list[SSAValue] = []
    for dim in dims:
        if dim.static_bound is None:
            operand = next(operands)
            value = constant_index(operand)
            if value is None or value < 0:
                rest.append(operand)
            else:
                dim = DimAttr(dim.kind, value)
        folded.append(dim)
    return (folded, rest) if len(rest) < len(bounds) else None


class FoldBoundsOfNest(RewritePattern):
    """`parallel %c4` with a constant `%c4` is `parallel 4`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NestOp, rewriter: PatternRewriter, /) -> None:
        if found := _fold_bounds(op.dims, op.bounds):
            _replace(op, rewriter, dims=found[0], bounds=found[1])


class FoldBoundsOfBlock(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BlockOp, rewriter: PatternRewriter, /) -> None:
        if found := _fold_bounds(op.dims, op.bounds):
            body = rewriter.move_region_contents_to_new_regions(op.body)
            new = BlockOp(*found, body, op.schedule)
            new.attributes |= op.attributes
            rewriter.replace(op, new)


class SimplifySymbols(RewritePattern):
    """Constant symbols go into the maps; unused and equal ones go."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NestOp, rewriter: PatternRewriter, /) -> None:
        used = {
            position
            for access in (*op.in_accesses, *op.out_accesses)
            if access.map is not None
            for expr in access.map.results
            for position in affine.used_symbols(expr)
        }
        kept: list[SSAValue] = []
        replacements: list[AffineExpr] = []
        for position, symbol in enumerate(op.symbols):
            value = constant_index(symbol)
            if value is not None and _is_legal_divisor(op, position, value):
                replacements.append(affine.as_expr(value))
            elif symbol in kept:
                replacements.append(affine.sym(kept.index(symbol)))
            elif position in used:
                replacements.append(affine.sym(len(kept)))
                kept.append(symbol)
            else:
                replacements.append(affine.as_expr(0))
        if len(kept) == len(op.symbols):
            return

        def simplified(accesses: Iterable[AccessAttr]) -> list[AccessAttr]:
            return [
                access
                if access.map is None
                else access.with_map(
                    AffineMap(
                        access.map.num_dims,
                        len(kept),
                        tuple(
                            affine.substitute(expr, (), replacements)
                            for expr in access.map.results
                        ),
                    )
                )
                for access in accesses
            ]

        _replace(
            op,
            rewriter,
            symbols=kept,
            in_accesses=simplified(op.in_accesses),
            out_accesses=simplified(op.out_accesses),
        )


def _is_legal_divisor(op: NestOp, position: int, value: int) -> bool:
    # `d0 floordiv s0` with s0 = 0 is a fault when it runs, not one of the map.
    return value > 0 or not any(
        position in affine.used_symbols(divisor)
        for access in (*op.in_accesses, *op.out_accesses)
        if access.map is not None
        for expr in access.map.results
        for divisor in affine.divisors(expr)
    )


class DropUnusedIns(RewritePattern):
    """An input that no region uses is not read."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NestOp, rewriter: PatternRewriter, /) -> None:
        dead = [p for p in range(len(op.ins)) if not _used(op, p)]
        if dead:
            _drop_ins(op, rewriter, dead)


class MergeEqualIns(RewritePattern):
    """An input that is read twice in the same way is read once."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NestOp, rewriter: PatternRewriter, /) -> None:
        first: dict[tuple[SSAValue, AccessAttr], int] = {}
        dead: list[int] = []
        for position, key in enumerate(zip(op.ins, op.in_accesses, strict=True)):
            earlier = first.setdefault(key, position)
            if earlier == position:
                continue
            dead.append(position)
            old, new = _arguments(op, position), _arguments(op, earlier)
            for argument, other in zip(old, new, strict=True):
                rewriter.replace_all_uses_with(argument, other)
        if dead:
            _drop_ins(op, rewriter, dead)


class DropDeadAccumulators(RewritePattern):
    """An accumulator that reaches no output is not computed."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NestOp, rewriter: PatternRewriter, /) -> None:
        if not op.has_accumulators:
            return
        yielded = op.yielded(op.body)
        live = {i for i, a in enumerate(op.finish_accumulators) if a.uses.get_length()}
        todo = list(live)
        while todo:
            found = _accumulators_behind(op, yielded[todo.pop()]) - live
            live |= found
            todo += found
        # A reduction dim needs an accumulator, be it of no use.
        if not live and op.dims_of_kind(DimKind.REDUCTION):
            live = {0}
        dead = [i for i in range(len(yielded)) if i not in live]
        if not dead:
            return
        _drop_yielded(op.body, dead, rewriter)
        _drop_yielded(op.init, dead, rewriter)
        # The dropped arguments still have uses in ops that are dead by now.
        _erase_dead(op.body, rewriter)
        for i in reversed(dead):
            rewriter.erase_block_argument(op.body_accumulators[i])
            rewriter.erase_block_argument(op.finish.block.args[i])
        if live:
            rewriter.notify_op_modified(op)
        else:
            _drop_regions(op, rewriter)


class DropNeedlessPad(RewritePattern):
    """An access that stays inside the extent is not padded."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NestOp, rewriter: PatternRewriter, /) -> None:
        accesses: list[AccessAttr] = []
        for value, access in zip(op.ins, op.in_accesses, strict=True):
            shape = memref_type_of(value).get_shape()
            if (
                access.pad is not None
                and access.map is not None
                and is_inside(access.map, op.dim_intervals, shape)
            ):
                access = AccessAttr(access.map)
            accesses.append(access)
        if ArrayAttr(accesses) != op.in_accesses:
            op.in_accesses = ArrayAttr(accesses)
            rewriter.notify_op_modified(op)


class EraseEmptyNest(RewritePattern):
    """Without a point nothing is written."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NestOp, rewriter: PatternRewriter, /) -> None:
        outer = op.dims_of_kind(DimKind.PARALLEL, DimKind.SEQUENTIAL)
        if any(op.static_bounds[dim] == 0 for dim in outer):
            rewriter.erase(op)


class EraseEmptyBlock(RewritePattern):
    """A block without points, or without ops, does nothing."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BlockOp, rewriter: PatternRewriter, /) -> None:
        if 0 in op.static_bounds or op.body.block.first_op is op.body.block.last_op:
            rewriter.erase(op)


class EraseUnusedAlloc(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AllocOp, rewriter: PatternRewriter, /) -> None:
        if not op.result.uses.get_length():
            rewriter.erase(op)


class EraseSelfCopy(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CopyOp, rewriter: PatternRewriter, /) -> None:
        if op.source is op.destination:
            rewriter.erase(op)


def _replace(
    op: NestOp,
    rewriter: PatternRewriter,
    *,
    dims: Sequence[DimAttr] | None = None,
    bounds: Sequence[SSAValue] | None = None,
    symbols: Sequence[SSAValue] | None = None,
    ins: Sequence[SSAValue] | None = None,
    in_accesses: Sequence[AccessAttr] | None = None,
    out_accesses: Sequence[AccessAttr] | None = None,
    regions: Sequence[Region] | None = None,
    schedule: ScheduleAttr | None = None,
) -> None:
    """Replace a nest by one that differs in what is given."""
    if regions is None:
        regions = [rewriter.move_region_contents_to_new_regions(r) for r in op.regions]
    new = NestOp(
        op.dims.data if dims is None else dims,
        op.bounds if bounds is None else bounds,
        op.symbols if symbols is None else symbols,
        op.ins if ins is None else ins,
        op.in_accesses.data if in_accesses is None else in_accesses,
        op.outs,
        op.out_accesses.data if out_accesses is None else out_accesses,
        regions,
        op.schedule if schedule is None else schedule,
    )
    new.attributes |= op.attributes
    rewriter.replace(op, new)


def _arguments(op: NestOp, position: int) -> list[BlockArgument]:
    """The arguments that hand over an input: of `body`, then of `finish`."""
    arguments = [op.body_ins[position]] if op.has_accumulators else []
    if (argument := op.finish_ins.get(position)) is not None:
        arguments.append(argument)
    return arguments


def _used(op: NestOp, position: int) -> bool:
    return any(a.uses.get_length() for a in _arguments(op, position))


def _drop_ins(op: NestOp, rewriter: PatternRewriter, dead: Sequence[int]) -> None:
    for argument in [a for position in dead for a in _arguments(op, position)]:
        rewriter.erase_block_argument(argument)
    kept = [position for position in range(len(op.ins)) if position not in dead]
    _replace(
        op,
        rewriter,
        ins=[op.ins[position] for position in kept],
        in_accesses=[op.in_accesses.data[position] for position in kept],
        schedule=op.schedule and op.schedule.without_inputs(dead),
    )


def _drop_regions(op: NestOp, rewriter: PatternRewriter) -> None:
    finish = rewriter.move_region_contents_to_new_regions(op.finish)
    _replace(op, rewriter, regions=[Region(), Region(), finish])


def _accumulators_behind(op: NestOp, value: SSAValue) -> set[int]:
    """The accumulators that `value`, yielded by `body`, is computed from."""
    arguments = {argument: i for i, argument in enumerate(op.body_accumulators)}
    found: set[int] = set()
    seen: set[SSAValue] = set()
    todo = [value]
    while todo:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value, BlockArgument):
            if value in arguments:
                found.add(arguments[value])
        elif (owner := value.owner).parent_block() is not None:
            todo += [operand for o in owner.walk() for operand in o.operands]
    return found


def _drop_yielded(
    region: Region, dead: Sequence[int], rewriter: PatternRewriter
) -> None:
    terminator = region.block.last_op
    assert isinstance(terminator, YieldOp), "regions end with 'tir.yield'"
    kept = [v for i, v in enumerate(terminator.operands) if i not in dead]
    rewriter.replace(terminator, YieldOp(*kept))


def _erase_dead(region: Region, rewriter: PatternRewriter) -> None:
    """Erase unused ops, of which a region of a nest has only such without effects."""
    for op in reversed(list(region.block.ops)):
        if op.results and not any(result.uses.get_length() for result in op.results):
            rewriter.erase(op)


NEST_PATTERNS: tuple[RewritePattern, ...] = (
    EraseEmptyNest(),
    FoldBoundsOfNest(),
    SimplifySymbols(),
    DropNeedlessPad(),
    DropDeadAccumulators(),
    MergeEqualIns(),
    DropUnusedIns(),
)
BLOCK_PATTERNS: tuple[RewritePattern, ...] = (EraseEmptyBlock(), FoldBoundsOfBlock())
ALLOC_PATTERNS: tuple[RewritePattern, ...] = (EraseUnusedAlloc(),)
COPY_PATTERNS: tuple[RewritePattern, ...] = (EraseSelfCopy(),)
