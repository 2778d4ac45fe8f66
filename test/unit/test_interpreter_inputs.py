"""
What the inputs of a run must be.
"""

from typing import Any

import numpy as np
import pytest
from interpreter_cases import interpret, same

from transom.interpreters.entry import InputError

SYMBOLS = """
func.func @main(%x: tensor<?x3xf32, #graph.desc<dims = ["N" : 1 to 4]>>
                    {graph.name = "x"},
                %y: tensor<?xf32, #graph.desc<dims = ["N" : 1 to 4]>>, %n: index)
    -> index {
  func.return %n : index
}"""


DESCRIBED = 'tensor<?x3xf32, #graph.desc<dims = ["N" : 1 to 4]>>'


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (
            [np.zeros((5, 3), "f4"), np.zeros(5, "f4"), 1],
            "input 0 'x': expected a size of \"N\" : 1 to 4, but got 5",
        ),
        (
            [np.zeros((2, 3), "f4"), np.zeros(3, "f4"), 1],
            "input 1: expected size 2 of \"N\", as in input 0 'x', but got 3",
        ),
        (
            [np.zeros((2, 3), "f8"), np.zeros(2, "f4"), 1],
            f"input 0 'x': expected '{DESCRIBED}', but got an array of float64 "
            "with shape [2, 3]",
        ),
        (
            [np.zeros((2, 4), "f4"), np.zeros(2, "f4"), 1],
            f"input 0 'x': expected '{DESCRIBED}', but got an array of float32 "
            "with shape [2, 4]",
        ),
        (
            [np.zeros(2, "f4"), np.zeros(2, "f4"), 1],
            f"input 0 'x': expected '{DESCRIBED}', but got an array of float32 "
            "with shape [2]",
        ),
        (
            [np.zeros((2, 3), "f4"), np.zeros(2, "f4"), np.float32(1)],
            "input 2: expected 'index', but got a number of float32",
        ),
        (
            [np.zeros((2, 3), "f4"), np.zeros(2, "f4"), [1]],
            "input 2: expected 'index', but got an array of int64",
        ),
        ([np.zeros((2, 3), "f4")], "expected 3 inputs, but got 1"),
    ],
)
def test_wrong_inputs(inputs: list[Any], message: str):
    with pytest.raises(InputError) as raised:
        interpret(SYMBOLS, *inputs)
    assert str(raised.value) == message


def test_right_inputs():
    found = interpret(SYMBOLS, np.zeros((2, 3), "f4"), np.zeros(2, "f4"), 5)
    same(found, np.array(5))
