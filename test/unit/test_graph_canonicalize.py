"""
Canonicalization keeps values: the functions of its FileCheck test, run before and
after.
"""

from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from graph_cases import context, parse
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.transforms.canonicalize import CanonicalizePass

from transom.dialects import graph
from transom.dialects.dtypes import numpy_dtype
from transom.dialects.graph.desc import AnyTensor
from transom.dialects.parser import parse_ir
from transom.interpreters.interpreter import Interpreter

CASES = Path(__file__).parents[1] / "filecheck/dialects/graph/canonicalize.mlir"
UNKNOWN_SIZE = 5


@cache
def cases() -> ModuleOp:
    return parse_ir(context(), CASES.read_text(), str(CASES))


@cache
def canonical_cases() -> ModuleOp:
    module = cases().clone()
    CanonicalizePass().apply(context(), module)
    module.verify()
    return module


def names() -> list[str]:
    return [op.sym_name.data for op in cases().ops if isinstance(op, FuncOp)]


def random_input(type: Attribute, rng: np.random.Generator) -> npt.NDArray[Any]:
    """Elements of a tensor type, among them those that rules must be careful with."""
    tensor = cast(AnyTensor, type)
    shape = [UNKNOWN_SIZE if n == graph.DYNAMIC else n for n in tensor.get_shape()]
    dtype = numpy_dtype(tensor.element_type)
    if dtype.kind == "f":
        special = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan], shape)
        usual = rng.normal(size=shape)
        return np.where(rng.random(shape) < 0.3, special, usual).astype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def same_bits(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    """Equal elements, the sign of zero included; NaN equals NaN."""
    if a.dtype.kind == "f":
        signs = np.array_equal(np.signbit(a[~np.isnan(a)]), np.signbit(b[~np.isnan(b)]))
        return signs and np.array_equal(a, b, equal_nan=True)
    return np.array_equal(a, b)


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("seed", range(3))
def test_values_stay(name: str, seed: int):
    function = next(
        op for op in cases().ops if isinstance(op, FuncOp) and op.sym_name.data == name
    )
    rng = np.random.default_rng(seed)
    inputs = [random_input(argument.type, rng) for argument in function.args]
    with np.errstate(all="ignore"):
        expected = Interpreter(cases()).run(name, inputs)
        found = Interpreter(canonical_cases()).run(name, inputs)
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        assert same_bits(a, b)


def test_canonical_form_is_stable():
    module = canonical_cases().clone()
    text = str(module)
    CanonicalizePass().apply(context(), module)
    assert str(module) == text


def test_every_pattern_has_its_op():
    from transom.dialects.graph.canonicalization import PATTERNS
    from transom.dialects.graph.folding import FOLDS

    operations = set(graph.Graph.operations)
    assert set(PATTERNS) | set(FOLDS) <= operations


def test_fold_of_a_constant_keeps_encodings():
    module = parse("""
      !t = tensor<2xi8, #graph.desc<layout = #graph.layout<block = [2]>>>
      func.func @f(%x: !t) -> !t {
        %y = graph.sub %x, %x : !t
        func.return %y : !t
      }
    """)
    CanonicalizePass().apply(context(), module)
    assert "graph.constant dense<0>" in str(module)
    assert parse(str(module)).is_structurally_equivalent(module)
