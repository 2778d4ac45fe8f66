"""
Running text with the interpreter, for tests.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tir_cases import context
from xdsl.dialects import affine
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from transom.dialects import executor, graph, target
from transom.dialects.diagnostics import OpError
from transom.interpreters.interpreter import Interpreter

Array = npt.NDArray[Any]


def parse(text: str) -> ModuleOp:
    ctx = context()
    for dialect in (affine.Affine, executor.Executor, graph.Graph, target.Target):
        ctx.load_dialect(dialect)
    module = Parser(ctx, text).parse_module()
    module.verify()
    return module


def interpret(text: str, *inputs: Any, name: str = "main", **options: Any) -> Any:
    """The only result of a function, or the list of its results."""
    results = Interpreter(parse(text), **options).run(name, inputs)
    return results[0] if len(results) == 1 else results


def evaluate(op: str, *operands: Any, types: str) -> Any:
    """
    The result of one op on values; `op` is written with `%0`, `%1`, … as operands.
    `types` is the type of the function.
    """
    inputs, _, output = types.partition(" -> ")
    listed = [t for t in inputs.strip("()").split(", ") if t]
    arguments = ", ".join(f"%a{i}: {type}" for i, type in enumerate(listed))
    for i in reversed(range(len(listed))):
        op = op.replace(f"%{i}", f"%a{i}")
    return interpret(
        f"func.func @main({arguments}) -> {output} {{\n"
        f"  %r = {op}\n  func.return %r : {output}\n}}",
        *operands,
    )


def same(found: Any, expected: Any) -> None:
    """Equal elements, dtype and shape; NaN equals NaN."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    if found.dtype.kind not in "iub":
        found, expected = found.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_array_equal(found, expected)


X = np.arange(12, dtype=np.float32).reshape(3, 4)


def refused(message: str, text: str, *inputs: Any, **options: Any) -> None:
    with pytest.raises(OpError) as raised:
        interpret(text, *inputs, **options)
    assert raised.value.message == message
