"""
Quotients and rests of integers where `arith` has none: by zero, and of the least number
by -1. No executor ends the process, and all give what the ops define.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_models import model, node, save, value
from op_checks import INTEGERS, Array, OpClass, pairs, program
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, SSAValue

import transom
from transom.dialects import graph
from transom.dialects.dtypes import numpy_dtype
from transom.dialects.target import PHASES
from transom.driver import EXECUTORS
from transom.testing import interpret

OPS: tuple[OpClass, ...] = (graph.DivOp, graph.ModOp)


def defined(op: OpClass, a: int, b: int) -> int:
    """What the op is defined to be, before it wraps around."""
    if b == 0:
        return 0
    if op is graph.ModOp:
        return a % b  # with the sign of the divisor
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def expected(op: OpClass, a: Array, b: Array) -> Array:
    bits, type = 8 * a.dtype.itemsize, a.dtype
    results = [defined(op, int(x), int(y)) % 2**bits for x, y in zip(a, b, strict=True)]
    return np.array(results, f"u{type.itemsize}").view(type)


@cache
def case(op: OpClass, type: Attribute) -> tuple[ModuleOp, dict[str, Array]]:
    a, b = pairs(type)
    types = [graph.tensor(a.shape, type)] * 2
    return program(lambda v: op(*v), types), {"x0": a, "x1": b}


@pytest.mark.parametrize("type", INTEGERS, ids=str)
@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("executor", EXECUTORS)
def test_all_executors(executor: str, op: OpClass, type: Attribute) -> None:
    module, inputs = case(op, type)
    (actual,) = transom.compile(module, executor=executor).run(inputs).values()
    np.testing.assert_array_equal(actual, expected(op, *inputs.values()))


@pytest.mark.parametrize("type", INTEGERS, ids=str)
@pytest.mark.parametrize("op", OPS)
def test_interpreted_at_all_phases(op: OpClass, type: Attribute) -> None:
    module, inputs = case(op, type)
    wanted = expected(op, *inputs.values())
    for phase in PHASES[:-1]:  # the last one is LLVM's
        module = transom.lower(module, phase)
        (actual,) = interpret(module, inputs).values()
        np.testing.assert_array_equal(actual, wanted, phase)


@pytest.mark.parametrize("divisor", [0, -1, 1, 3, -7])
@pytest.mark.parametrize("type", INTEGERS, ids=str)
@pytest.mark.parametrize("op", OPS)
def test_by_a_constant(op: OpClass, type: Attribute, divisor: int) -> None:
    a, _ = pairs(type)
    a = np.unique(a)
    b = np.full(a.shape, divisor).astype(numpy_dtype(type))

    def make(values: Sequence[SSAValue]) -> graph.GraphOp:
        constant = graph.ConstantOp.splat(graph.tensor((), type), int(b[0]))
        (x,) = values
        assert isinstance(x.owner, Block)
        x.owner.add_op(constant)
        return op(x, constant)

    module = program(make, [graph.tensor(a.shape, type)])
    (actual,) = transom.compile(module).run({"x0": a}).values()
    np.testing.assert_array_equal(actual, expected(op, a, b))


LEAST = np.iinfo(np.int64).min


@pytest.mark.parametrize(
    "kind, attributes, wanted",
    [
        ("Div", {}, [0, 0, 0, LEAST, -2]),
        ("Mod", {}, [0, 0, 0, 0, 2]),
        ("Mod", {"fmod": 1}, [7, -7, LEAST, 0, -1]),
    ],
)
def test_onnx(
    tmp_path: Path, kind: str, attributes: dict[str, Any], wanted: Sequence[int]
) -> None:
    inputs = {
        "a": np.array([7, -7, LEAST, LEAST, -7]),
        "b": np.array([0, 0, 0, -1, 3]),
    }
    values = [value(name, [5], "i64") for name in inputs]
    path = save(tmp_path, model([node(kind, "a b", **attributes)], values))
    (actual,) = transom.compile(transom.load(path)).run(inputs).values()
    np.testing.assert_array_equal(actual, wanted)
