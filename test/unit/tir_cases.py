"""
Random kernels of one nest, for tests: text that holds all that nests can say.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects import arith, builtin, cf, func, math, memref, scf, tensor, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FloatAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    f32,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.parser import Parser
from xdsl.printer import Printer

from transom.dialects import tir
from transom.dialects.dtypes import numpy_dtype
from transom.dialects.tir import affine
from transom.dialects.tir.accesses import Interval, interval_of
from transom.dialects.tir.types import memref_type_of


def context() -> Context:
    ctx = Context()
    for dialect in (
        builtin.Builtin,
        arith.Arith,
        cf.Cf,
        func.Func,
        math.Math,
        memref.MemRef,
        scf.Scf,
        tensor.Tensor,
        vector.Vector,
        tir.TIR,
    ):
        ctx.load_dialect(dialect)
    return ctx


def parse(text: str) -> ModuleOp:
    module = Parser(context(), text).parse_module()
    module.verify()
    return module


def parse_kernel(text: str) -> tir.FuncOp:
    kernel = parse(text).body.block.first_op
    assert isinstance(kernel, tir.FuncOp)
    return kernel


def text_of(op: Operation, *, generic: bool = False, locations: bool = False) -> str:
    stream = StringIO()
    Printer(stream, print_generic_format=generic, print_debuginfo=locations).print_op(
        op
    )
    return stream.getvalue()


class Case:
    """A kernel and what to call it with."""

    def __init__(self, kernel: tir.FuncOp, arguments: list[Any]) -> None:
        self.kernel = kernel
        self.arguments = arguments

    def __repr__(self) -> str:
        return f"{text_of(self.kernel)}\n{self.arguments}"

    def copies(self) -> list[Any]:
        return [a.copy() if isinstance(a, np.ndarray) else a for a in self.arguments]


@dataclass
class _Ins:
    shape: tuple[int, ...]
    type: MemRefType
    map: AffineMap | None
    pad: Attribute | None = None


KINDS = (tir.DimKind.PARALLEL, tir.DimKind.REDUCTION, tir.DimKind.SEQUENTIAL)
ELEMENTS: dict[Attribute, tuple[str, ...]] = {
    i32: ("add", "mul", "max", "min", "umax", "umin", "and", "or"),
    f32: ("add", "max", "min"),
}


def _exprs(draw: st.DrawFn, rank: int, symbols: int, dims: list[int]) -> AffineExpr:
    """An index: a few dims with small factors, an offset, perhaps a division."""
    expr: AffineExpr = affine.as_expr(draw(st.integers(0, 2)))
    for dim in draw(st.lists(st.sampled_from(dims), max_size=2, unique=True)):
        factor = draw(st.sampled_from((1, 1, 1, 2, -1)))
        term = affine.multiply(affine.dim(dim), factor)
        if symbols and draw(st.integers(0, 5)) == 0:
            term = affine.multiply(term, affine.sym(0))
        expr = affine.add(expr, term)
    if symbols and draw(st.integers(0, 3)) == 0:
        expr = affine.add(expr, affine.sym(draw(st.integers(0, symbols - 1))))
    if (kind := draw(st.integers(0, 7))) == 0:
        return affine.floordiv(expr, draw(st.integers(1, 3)))
    return affine.modulo(expr, draw(st.integers(1, 3))) if kind == 1 else expr


def _memref(draw: st.DrawFn, shape: tuple[int, ...], element: Attribute) -> MemRefType:
    dynamic = draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
    extents = [DYNAMIC_INDEX if d else n for d, n in zip(dynamic, shape, strict=True)]
    return MemRefType(element, extents)


def _input(
    draw: st.DrawFn,
    bounds: list[int],
    symbols: list[int],
    element: Attribute,
) -> _Ins:
    if draw(st.integers(0, 5)) == 0:
        shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=2)))
        return _Ins(shape, _memref(draw, shape, element), None)
    rank = len(bounds)
    axes = draw(st.integers(0, 3))
    exprs = [_exprs(draw, rank, len(symbols), list(range(rank))) for _ in range(axes)]
    dims = [Interval.of_dim(bound) for bound in bounds]
    values = [Interval(s, s) for s in symbols]
    shape: tuple[int, ...] = ()
    pad = draw(st.integers(0, 2)) == 0
    shifted: list[AffineExpr] = []
    for expr in exprs:
        interval = interval_of(expr, dims, values)
        lower = 0 if interval.is_empty else int(interval.lower)
        upper = 0 if interval.is_empty else int(interval.upper)
        if pad:
            expr = affine.add(expr, draw(st.integers(-2, 2)))
            shape = (*shape, draw(st.integers(1, max(1, upper - lower + 1))))
        else:
            if lower < 0:
                expr = affine.add(expr, -lower)
                upper -= lower
            shape = (*shape, max(1, upper + 1 + draw(st.integers(0, 1))))
        shifted.append(expr)
    map = AffineMap(rank, len(symbols), tuple(shifted))
    value: Attribute | None = None
    if pad:
        number = draw(st.integers(-3, 3))
        value = (
            IntegerAttr(number, i32)
            if element == i32
            else FloatAttr(float(number), f32)
        )
    return _Ins(shape, _memref(draw, shape, element), map, value)


def _combine(b: tir.RegionBuilder, kind: str, x: SSAValue, y: SSAValue) -> SSAValue:
    integer = x.type == i32
    ops = {
        "add": arith.AddiOp if integer else arith.AddfOp,
        "mul": arith.MuliOp if integer else arith.MulfOp,
        "sub": arith.SubiOp if integer else arith.SubfOp,
        "max": arith.MaxSIOp if integer else arith.MaximumfOp,
        "min": arith.MinSIOp if integer else arith.MinimumfOp,
    }
    return b(ops[kind](x, y))


@dataclass
class _Body:
    """Draws an expression over the values at hand."""

    draw: st.DrawFn
    dims: list[int]
    element: Attribute

    def leaf(self, b: tir.RegionBuilder, values: list[SSAValue]) -> SSAValue:
        choice = self.draw(st.integers(0, len(values)))
        if choice < len(values):
            value = values[choice]
            if isinstance(value.type, MemRefType):
                return self.load(b, value)
            return value
        if self.dims and self.draw(st.booleans()):
            return self.index(b)
        return b.constant(self.draw(st.integers(-2, 2)), self.element)

    def index(self, b: tir.RegionBuilder) -> SSAValue:
        index = b.index(self.draw(st.sampled_from(self.dims)))
        number = b(arith.IndexCastOp(index, i32))
        return number if self.element == i32 else b(arith.SIToFPOp(number, f32))

    def load(self, b: tir.RegionBuilder, ref: SSAValue) -> SSAValue:
        rank = memref_type_of(ref).get_num_dims()
        return b.load(ref, *(self.wrapped(b, ref, axis) for axis in range(rank)))

    def wrapped(self, b: tir.RegionBuilder, ref: SSAValue, axis: int) -> SSAValue:
        """An index of `ref` that is in range, from a dim if there is one."""
        size = b(memref.DimOp(ref, b.constant(axis, IndexType())))
        index = (
            b.index(self.draw(st.sampled_from(self.dims)))
            if self.dims
            else b.constant(0, IndexType())
        )
        return b(arith.RemUIOp(index, size))

    def expr(self, b: tir.RegionBuilder, values: list[SSAValue]) -> SSAValue:
        value = self.leaf(b, values)
        for _ in range(self.draw(st.integers(0, 2))):
            kind = self.draw(st.sampled_from(("add", "sub", "max", "min", "add")))
            value = _combine(b, kind, value, self.leaf(b, values))
        return value


def _outputs(
    draw: st.DrawFn, kinds: list[tir.DimKind], bounds: list[int], element: Attribute
) -> tuple[tuple[int, ...], AffineMap | None, str | None]:
    rank = len(bounds)
    outer = [i for i, kind in enumerate(kinds) if kind is not tir.DimKind.REDUCTION]
    combine = (
        draw(st.sampled_from(ELEMENTS[element]))
        if draw(st.integers(0, 3)) == 0
        else None
    )
    if draw(st.integers(0, 6)) == 0:
        shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=2)))
        # Without combine the last write wins, which only order can say.
        return shape, None, combine or "add"
    if combine is not None:
        outer = draw(st.lists(st.sampled_from(outer), unique=True)) if outer else []
    order = draw(st.permutations(outer))
    exprs: list[AffineExpr] = []
    shape: tuple[int, ...] = ()
    for dim in order:
        offset = draw(st.integers(0, 1))
        exprs.append(affine.add(affine.dim(dim), offset))
        shape = (*shape, bounds[dim] + offset + draw(st.integers(0, 1)))
    return shape, AffineMap(rank, 0, tuple(exprs)), combine


@st.composite
def cases(draw: st.DrawFn, schedules: bool = False) -> Case:
    """
    A kernel of one nest. Numbers are small integers, also as floats, so that results do
    not depend on the order of sums.
    """
    element = draw(st.sampled_from((i32, f32)))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
    limit = 4 if len(kinds) > 2 else 11
    bounds = [
        draw(st.integers(0 if draw(st.integers(0, 9)) == 0 else 1, limit))
        for _ in kinds
    ]
    symbols = draw(st.lists(st.integers(0, 2), max_size=2))
    has_accumulators = tir.DimKind.REDUCTION in kinds or draw(st.booleans())

    arguments: list[Any] = []
    signature: list[tuple[str, Attribute]] = []
    random = np.random.default_rng(draw(st.integers(0, 2**16)))

    def array(shape: tuple[int, ...]) -> Any:
        return random.integers(-3, 4, shape).astype(numpy_dtype(element))

    ins = [
        _input(draw, bounds, symbols, element) for _ in range(draw(st.integers(0, 3)))
    ]
    for access in ins:
        signature.append(("read", access.type))
        arguments.append(array(access.shape))
    outs = [
        _outputs(draw, kinds, bounds, element) for _ in range(draw(st.integers(1, 2)))
    ]
    out_maps: list[AffineMap | None] = []
    for shape, map, _ in outs:
        signature.append(("read_write", _memref(draw, shape, element)))
        arguments.append(array(shape))
        if map is not None:
            map = AffineMap(map.num_dims, len(symbols), map.results)
        out_maps.append(map)
    dynamic = [draw(st.booleans()) for _ in kinds]
    for number in [*symbols, *(b for b, d in zip(bounds, dynamic, strict=True) if d)]:
        signature.append(("read", IndexType()))
        arguments.append(np.int64(number))
    kernel = tir.FuncOp("kernel", signature)
    args = list(kernel.args)
    in_values = args[: len(ins)]
    out_values = args[len(ins) : len(ins) + len(outs)]
    symbol_values = args[len(ins) + len(outs) :][: len(symbols)]
    bound_values = iter(args[len(ins) + len(outs) + len(symbols) :])

    def region_dims(*allowed: tir.DimKind) -> list[int]:
        return [i for i, kind in enumerate(kinds) if kind in allowed]

    count = draw(st.integers(1, 2)) if has_accumulators else 0
    all_dims = list(range(len(kinds)))
    outer_dims = region_dims(tir.DimKind.PARALLEL, tir.DimKind.SEQUENTIAL)

    def init(b: tir.RegionBuilder) -> list[SSAValue]:
        body = _Body(draw, region_dims(tir.DimKind.PARALLEL), element)
        return [body.leaf(b, []) for _ in range(count)]

    def body(b: tir.RegionBuilder, *values: SSAValue) -> list[SSAValue]:
        drawn = _Body(draw, all_dims, element)
        old = values[-count:]
        return [
            _combine(
                b,
                draw(st.sampled_from(("add", "max", "min"))),
                value,
                drawn.expr(b, list(values[:-count])),
            )
            for value in old
        ]

    def finish(b: tir.RegionBuilder, *values: SSAValue) -> list[SSAValue]:
        drawn = _Body(draw, outer_dims, element)
        results = [drawn.expr(b, list(values)) for _ in outs]
        for value, map in zip(out_values, out_maps, strict=True):
            if map is None:
                rank = memref_type_of(value).get_num_dims()
                for axis in range(rank):
                    static = arguments[args.index(value)].shape[axis]
                    size = b.constant(static, IndexType())
                    index = (
                        b.index(draw(st.sampled_from(outer_dims)))
                        if outer_dims
                        else b.constant(0, IndexType())
                    )
                    results.append(b(arith.RemUIOp(index, size)))
        return results

    # Outputs that are read where they are written.
    in_place = [
        tir.In(value, map)
        for value, map, (_, _, combine) in zip(out_values, out_maps, outs, strict=True)
        if map is not None and combine is None and draw(st.integers(0, 3)) == 0
    ]

    nest = tir.NestOp.build_nest(
        [
            (kind, next(bound_values) if d else bound)
            for kind, bound, d in zip(kinds, bounds, dynamic, strict=True)
        ],
        ins=[
            *(
                tir.In(value, access.map, access.pad)
                for value, access in zip(in_values, ins, strict=True)
            ),
            *in_place,
        ],
        outs=[
            tir.Out(value, map, combine)
            for value, map, (_, _, combine) in zip(
                out_values, out_maps, outs, strict=True
            )
        ],
        init=init if has_accumulators else None,
        body=body if has_accumulators else None,
        finish=finish,
        symbols=symbol_values,
        schedule=(
            draw(schedules_of(kinds, [i for i, a in enumerate(ins) if a.map]))
            if schedules
            else None
        ),
    )
    kernel.body.block.add_ops([nest, tir.ReturnOp()])
    return Case(kernel, arguments)


@st.composite
def schedules_of(
    draw: st.DrawFn, kinds: list[tir.DimKind], mapped: list[int]
) -> tir.ScheduleAttr | None:
    """`mapped` are the inputs that are read through a map."""

    def some(dims: list[int]) -> bool:
        return bool(dims) and draw(st.booleans())

    dims = list(range(len(kinds)))
    parallel = [i for i in dims if kinds[i] is tir.DimKind.PARALLEL]
    others = [i for i in dims if kinds[i] is not tir.DimKind.PARALLEL]
    lanes = [i for i in dims if kinds[i] is not tir.DimKind.SEQUENTIAL]
    vector = None
    register: dict[int, int] = {}
    if lanes and draw(st.integers(0, 3)):
        vector = (draw(st.sampled_from(lanes)), draw(st.sampled_from((2, 4, 3))))
        if draw(st.integers(0, 3)) == 0:
            register[vector[0]] = vector[1] * draw(st.integers(1, 2))
    if some(parallel):
        register.setdefault(draw(st.sampled_from(parallel)), draw(st.integers(1, 3)))
    unroll = {draw(st.sampled_from(others)): draw(st.integers(1, 4))} if others else {}
    cache: list[tuple[int, int]] = []
    if parallel and draw(st.integers(0, 3)) == 0:
        sizes = st.tuples(st.sampled_from(parallel), st.integers(1, 5))
        cache = draw(st.lists(sizes, min_size=1, max_size=2))
    order = (*draw(st.permutations(parallel)), *others) if some(parallel) else ()
    ahead = {draw(st.sampled_from(mapped)): draw(st.integers(1, 9))} if mapped else {}
    return tir.ScheduleAttr.get(
        cache=cache,
        register=register,
        vector=vector,
        unroll=unroll,
        order=order,
        prefetch=ahead if draw(st.integers(0, 3)) == 0 else None,
    )
