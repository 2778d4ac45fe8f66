"""
A scalar evaluator of kernels, for tests: one Python step per op, one point at a time.

Nests are run by the words of `tir.nest`; `scf`, `memref` and `vector` by theirs. So a
kernel can be compared with what it is lowered to. Every access is checked: an index out
of range is an `IndexError`, also where the lowered code would go wrong silently.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    MemRefType,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from transom.dialects import tir
from transom.dialects.dtypes import numpy_dtype

Array = np.ndarray[Any, Any]
Env = dict[SSAValue, Any]


def dtype_of(type: Attribute) -> np.dtype[Any]:
    if isinstance(type, VectorType | MemRefType):
        type = cast("MemRefType[Attribute]", type).element_type
    return numpy_dtype(type)


def cast_to(value: Any, type: Attribute) -> Any:
    return np.asarray(value).astype(dtype_of(type))[()]


def _unsigned(value: Any) -> Any:
    array = np.asarray(value)
    return array.astype(f"uint{array.dtype.itemsize * 8}")


def choose(condition: Any, yes: Any, no: Any) -> Any:
    return cast(Any, np).where(condition, yes, no)[()]


def _trunc_div(a: Any, b: Any) -> Any:
    quotient: Any = np.abs(a) // np.abs(b)
    return choose((a < 0) != (b < 0), -quotient, quotient)


def _ceil_div(a: Any, b: Any) -> Any:
    return -(-a // b)


_PLAIN: dict[str, Callable[..., Any]] = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "maximumf": np.maximum,
    "minimumf": np.minimum,
    "maxnumf": np.fmax,
    "minnumf": np.fmin,
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "maxsi": np.maximum,
    "minsi": np.minimum,
    "floordivsi": np.floor_divide,
    "ceildivsi": _ceil_div,
    "divsi": _trunc_div,
    "remsi": np.fmod,
    "shli": np.left_shift,
    "shrsi": np.right_shift,
}
_UNSIGNED = {
    "maxui": np.maximum,
    "minui": np.minimum,
    "divui": np.floor_divide,
    "remui": np.fmod,
    "shrui": np.right_shift,
}
_MATH: dict[str, Callable[..., Any]] = {
    "exp": np.exp,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "absf": np.abs,
    "floor": np.floor,
    "log": np.log,
    "erf": np.vectorize(math.erf, otypes=[np.float64]),
}
_SIGNED_CASTS = {"extsi", "sitofp", "fptosi", "trunci", "index_cast", "extf", "truncf"}
_COMPARE = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
_REDUCE = {
    "add": np.add.reduce,
    "mul": np.multiply.reduce,
    "maxsi": np.max,
    "minsi": np.min,
    "maximumf": np.max,
    "minimumf": np.min,
    "maxnumf": np.max,
    "minnumf": np.min,
}
COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "umax": lambda a, b: np.maximum(_unsigned(a), _unsigned(b)),
    "umin": lambda a, b: np.minimum(_unsigned(a), _unsigned(b)),
    "and": np.bitwise_and,
    "or": np.bitwise_or,
}


def element(array: Array, indices: Sequence[int]) -> tuple[int, ...]:
    """`indices`, checked: negative ones do not count from the end."""
    for index, extent in zip(indices, array.shape, strict=True):
        if not 0 <= index < extent:
            raise IndexError(f"{tuple(indices)} of {array.shape}")
    return tuple(indices)


class Evaluator:
    """Runs one kernel; `loads` and `stores` count accesses of elements or vectors."""

    def __init__(self) -> None:
        self.loads = 0
        self.stores = 0
        self.point: tuple[int, ...] = ()

    def run(self, func: tir.FuncOp, *arguments: Any) -> None:
        env: Env = dict(zip(func.args, arguments, strict=True))
        with np.errstate(all="ignore"):
            self.run_block(func.body.block, env)

    def run_block(self, block: Block, env: Env) -> tuple[Any, ...]:
        """Run all ops; the values of the terminator's operands."""
        for op in block.ops:
            if op is block.last_op and not op.results:
                return tuple(env[operand] for operand in op.operands)
            self.run_op(op, env)
        return ()

    def run_region(self, region: Region, env: Env, *arguments: Any) -> tuple[Any, ...]:
        inner = dict(env)
        inner.update(zip(region.block.args, arguments, strict=True))
        return self.run_block(region.block, inner)

    def run_op(self, op: Operation, env: Env) -> None:
        operands = [env[operand] for operand in op.operands]
        dialect, _, name = op.name.partition(".")
        match op:
            case tir.NestOp():
                self.run_nest(op, env)
                return
            case tir.BlockOp():
                bounds = [
                    b if isinstance(b, int) else env[b] for b in op.bounds_values()
                ]
                for point in itertools.product(*map(range, bounds)):
                    self.run_region(op.body, env, *map(np.int64, point))
                return
            case scf.ForOp():
                values = tuple(operands[3:])
                for i in range(operands[0], operands[1], operands[2]):
                    values = self.run_region(op.body, env, np.int64(i), *values)
                results: Sequence[Any] = values
            case scf.IfOp():
                region = op.true_region if operands[0] else op.false_region
                results = self.run_region(region, env) if region.blocks else ()
            case tir.PrefetchOp():
                results = ()
            case tir.IndexOp():
                results = [np.int64(self.point[op.position])]
            case _ if dialect in ("memref", "vector") or isinstance(op, tir.AllocOp):
                results = self.run_memory(op, operands)
            case _:
                assert dialect in ("arith", "math"), f"no evaluation of {op.name}"
                results = [self.run_number(op, name, operands)]
        for result, value in zip(op.results, results, strict=True):
            env[result] = value

    def run_number(self, op: Operation, name: str, operands: list[Any]) -> Any:
        type = op.results[0].type
        match op:
            case arith.ConstantOp():
                return constant(op.value)
            case arith.CmpiOp():
                word = _CMPI[op.predicate.value.data]
                if word.startswith("u"):
                    operands = [_unsigned(v) for v in operands]
                return _COMPARE[word[-2:]](*operands)
            case arith.CmpfOp():
                word = _CMPF[op.predicate.value.data]
                return _COMPARE[word[-2:]](*operands)
            case arith.SelectOp():
                return choose(*operands)
            case _:
                pass
        if name in _SIGNED_CASTS:
            return cast_to(operands[0], type)
        if name in ("extui", "uitofp", "index_castui"):
            return cast_to(_unsigned(operands[0]), type)
        if name == "negf":
            return -operands[0]
        if name in _UNSIGNED:
            return cast_to(_UNSIGNED[name](*map(_unsigned, operands)), type)
        function = _PLAIN.get(name) or _MATH[name]
        return cast_to(function(*operands), type)

    def run_memory(self, op: Operation, operands: list[Any]) -> Sequence[Any]:
        match op:
            case tir.AllocOp() | memref.AllocOp() | memref.AllocaOp():
                sizes = iter(operands)
                type = cast("MemRefType[Attribute]", op.results[0].type)
                shape = [next(sizes) if n < 0 else n for n in type.get_shape()]
                # What nobody has written is seen if it is read.
                dtype = dtype_of(type)
                size = math.prod(shape) * dtype.itemsize
                array = np.frombuffer(bytearray([77]) * size, dtype)
                return [array.reshape(shape)]
            case memref.CollapseShapeOp():
                (array,), groups = operands, op.reassociation.data
                axes = [[n.value.data for n in group.data] for group in groups]
                shape = [math.prod(array.shape[a] for a in group) for group in axes]
                view = array.reshape(shape)
                assert np.shares_memory(view, array) or not array.size, "a view"
                return [view]
            case memref.DimOp():
                return [np.int64(operands[0].shape[operands[1]])]
            case memref.LoadOp():
                self.loads += 1
                array, *indices = operands
                return [array[element(array, indices)]]
            case memref.StoreOp():
                self.stores += 1
                value, array, *indices = operands
                array[element(array, indices)] = value
                return []
            case vector.LoadOp():
                self.loads += 1
                array, *indices = operands
                return [self.slice(array, indices, width_of(op.result)).copy()]
            case vector.StoreOp():
                self.stores += 1
                value, array, *indices = operands
                self.slice(array, indices, width_of(op.vector))[...] = value
                return []
            case vector.BroadcastOp():
                return [np.full(width_of(op.vector), operands[0])]
            case vector.FMAOp():
                a, b, c = operands
                return [(a.astype(np.float64) * b + c).astype(a.dtype)]
            case vector.ReductionOp():
                dest = op.dest.type
                value = _REDUCE[op.kind.data](operands[0])
                return [cast_to(value, dest)]
            case vector.ShuffleOp():
                both = np.concatenate(operands)
                return [both[list(op.mask.get_values())]]
            case vector.InsertOp():
                (position,) = op.get_mixed_position()
                assert isinstance(position, int), "static positions only"
                result = operands[1].copy()
                result[position] = operands[0]
                return [result]
            case vector.MaskedLoadOp():
                self.loads += 1
                array, *indices, mask, outside = operands
                result = outside.copy()
                for lane in np.flatnonzero(mask):
                    at = [*indices[:-1], indices[-1] + lane]
                    result[lane] = array[element(array, at)]
                return [result]
            case vector.ExtractOp():
                (position,) = op.get_mixed_position()
                assert isinstance(position, int), "static positions only"
                return [operands[0][position]]
            case _:
                raise AssertionError(f"no evaluation of {op.name}")

    def slice(self, array: Array, indices: list[int], width: int) -> Array:
        element(array, indices)
        element(array, [*indices[:-1], indices[-1] + width - 1])
        return array[(*indices[:-1], slice(indices[-1], indices[-1] + width))]

    # Nests, by definition.

    def run_nest(self, nest: tir.NestOp, env: Env) -> None:
        bounds = [
            b if isinstance(b, int) else int(env[b]) for b in nest.bounds_values()
        ]
        symbols = [int(env[s]) for s in nest.symbols]
        arrays = [env[value] for value in nest.ins]
        outs = [env[value] for value in nest.outs]

        def ranges(kind: tir.DimKind):
            dims = nest.dims_of_kind(kind)
            points = itertools.product(*(range(bounds[dim]) for dim in dims))
            return [dict(zip(dims, point, strict=True)) for point in points]

        def at(*parts: dict[int, int]) -> tuple[int, ...]:
            point = [0] * nest.rank
            for part in parts:
                for dim, value in part.items():
                    point[dim] = value
            return tuple(point)

        def read(position: int) -> Any:
            access = nest.in_accesses.data[position]
            array = arrays[position]
            if access.map is None:
                return array
            indices = access.map.eval(self.point, symbols)
            if access.pad is not None and not all(
                0 <= i < n for i, n in zip(indices, array.shape, strict=True)
            ):
                return constant(access.pad)
            self.loads += 1
            return array[element(array, indices)]

        for parallel in ranges(tir.DimKind.PARALLEL):
            self.point = at(parallel)
            values: tuple[Any, ...] = ()
            if nest.has_accumulators:
                values = self.run_region(nest.init, env)
            for sequential in ranges(tir.DimKind.SEQUENTIAL):
                for reduction in ranges(tir.DimKind.REDUCTION):
                    if not nest.has_accumulators:
                        break
                    self.point = at(parallel, sequential, reduction)
                    ins = [read(position) for position in range(len(arrays))]
                    values = self.run_region(nest.body, env, *ins, *values)
                self.point = at(parallel, sequential)
                ins = [read(position) for position in nest.finish_in_positions]
                yielded = self.run_region(nest.finish, env, *values, *ins)
                self.write(nest, outs, yielded, symbols)

    def write(
        self,
        nest: tir.NestOp,
        outs: Sequence[Array],
        yielded: Sequence[Any],
        symbols: Sequence[int],
    ) -> None:
        rest = list(yielded[len(outs) :])
        for array, access, value in zip(outs, nest.out_accesses, yielded, strict=False):
            if access.map is None:
                indices = tuple(int(i) for i in rest[: array.ndim])
                del rest[: array.ndim]
            else:
                indices = access.map.eval(self.point, symbols)
            indices = element(array, indices)
            if access.combine is not None:
                value = COMBINE[access.combine](array[indices], value).astype(
                    array.dtype
                )
            self.stores += 1
            array[indices] = value


_CMPI = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_CMPF = (
    "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split()  # noqa: SIM905
)


def width_of(value: SSAValue) -> int:
    (width,) = cast("VectorType[Attribute]", value.type).get_shape()
    return width


def constant(attr: Attribute) -> Any:
    match attr:
        case FloatAttr() | IntegerAttr():
            value = cast("IntegerAttr", attr)
            return cast_to(value.value.data, value.type)
        case _:
            dense = cast("DenseIntOrFPElementsAttr", attr)
            type = dense.type
            return np.array(list(dense.iter_values()), dtype_of(cast(Attribute, type)))


def run_kernel(func: tir.FuncOp, *arguments: Any) -> Evaluator:
    """Run on arrays (changed in place) and numbers."""
    evaluator = Evaluator()
    evaluator.run(func, *arguments)
    return evaluator
