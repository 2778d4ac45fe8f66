"""
Checks that one op computes the same in the graph, as a kernel, and as machine code.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DictionaryAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    StringAttr,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

import transom
from transom.dialects import graph
from transom.dialects.dtypes import numpy_dtype
from transom.runtime.comparison import compare_all
from transom.testing import interpret

ui8, ui16, ui32, ui64 = (IntegerType(w, Signedness.UNSIGNED) for w in (8, 16, 32, 64))
FLOATS: tuple[Attribute, ...] = (f32, f64, f16, bf16)
SIGNED: tuple[Attribute, ...] = (i8, i16, i32, i64)
UNSIGNED: tuple[Attribute, ...] = (ui8, ui16, ui32, ui64)
INTEGERS = (*SIGNED, *UNSIGNED)

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
Make = Callable[[Sequence[SSAValue]], graph.GraphOp]
OpClass: TypeAlias = Any
"""A class of ops whose constructor takes the operands."""


def edges(type: Attribute) -> Array:
    """The numbers of an element type at the edges."""
    dtype = numpy_dtype(type)
    if type == i1:
        return np.array([False, True])
    if isinstance(type, AnyFloat):
        some = [0, 0.5, 1, 1.5, 2, 2.5, 3, 7, 100, 127.5, 1e4, 3e4, 1e-3, 2.0**31]
        some += [2.0**33, 2.0**63, 1e30, 1e-30, np.inf]
        with np.errstate(all="ignore"):
            return np.array([*some, *(-x for x in some), np.nan]).astype(dtype)
    info: Any = np.iinfo(dtype)
    around = {2**k + d for k in (0, 1, 4, 7, 8, 15, 24, 31, 53) for d in (-1, 0, 1)}
    around |= {-x for x in around} | {info.min, info.max, info.min + 1, info.max - 1}
    return np.array([x for x in sorted(around) if info.min <= x <= info.max], dtype)


def pairs(type: Attribute) -> list[Array]:
    """All pairs of them."""
    numbers = edges(type)
    left, right = np.meshgrid(numbers, numbers)
    return [left.ravel(), right.ravel()]


def program(make: Make, types: Sequence[Attribute]) -> ModuleOp:
    """`main` applies one op to inputs of these types."""
    block = Block(arg_types=types)
    op = make(block.args)
    block.add_ops((op, ReturnOp(*op.results)))
    func = FuncOp(
        "main",
        (types, op.result_types),
        Region(block),
        arg_attrs=_names("x", types),
        res_attrs=_names("y", op.result_types),
    )
    return ModuleOp([func])


def _names(stem: str, values: Sequence[Attribute]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr(
        DictionaryAttr({"graph.name": StringAttr(f"{stem}{i}")})
        for i in range(len(values))
    )


def check(
    make: Make,
    type: Attribute | Sequence[Attribute],
    *arrays: Array,
    dynamic: bool = False,
) -> None:
    """
    The op gives the same in the graph, as a kernel, and as machine code.

    `type` is the element type of all inputs, or of each. If `dynamic`, no size is
    known when it is compiled.
    """
    elements = [type] * len(arrays) if isinstance(type, Attribute) else type
    types = [
        graph.tensor([None] * array.ndim if dynamic else array.shape, element)
        for array, element in zip(arrays, elements, strict=True)
    ]
    module = program(make, types)
    module.verify()
    inputs = {f"x{i}": array for i, array in enumerate(arrays)}
    expected = interpret(module, inputs)
    kernels = interpret(transom.lower(module, "tensor"), inputs)
    assert not compare_all(kernels, expected), "as a kernel"
    compiled = transom.compile(module, opt_level=1, poison_memory=True).run(inputs)
    assert not compare_all(compiled, expected), "as machine code"
