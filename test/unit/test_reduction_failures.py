"""
What makes two failures the same.
"""

import pytest

from transom.tools.reduction.failures import Failure, failure_of, normalised

SAME = [
    (
        "expected a static shape, but got 'tensor<?xf32>'",
        "expected a static shape, but got 'tensor<?x4xf64>'",
    ),
    (
        "no legal form for 'graph.mod' x2 (ConvertX: expected 3); its type is (f32)",
        "no legal form for 'graph.mod' x1 (ConvertX: expected 4); its type is ()",
    ),
    (
        'expected tensor<4xf32, #graph.desc<dims = ["N"]>> -> (i1)',
        "expected tensor<?xf32> -> (i1)",
    ),
    ("unknown kernel '@main_0'", "unknown kernel '@k'"),
    ("operand %x_1 of @f before ^bb1", "operand %0 of @g before ^bb2"),
    (
        "pass 'cse' failed: KeyError: 'a' at cse.py:12; this is a bug, 'x' shows more",
        "KeyError: 'b' at cse.py:12; this is a bug, 'x' shows more",
    ),
    (
        "KeyError: 'a' in A on 'graph.add' at woofles/hooks.py:12; this is a bug",
        "KeyError: 'b' in A on 'graph.add' at woofles/hooks.py:12; this is a bug",
    ),
]
DIFFERENT = [
    ("no legal form for 'graph.mod' x1", "no legal form for 'graph.exp' x1"),
    ("expected a static shape", "expected a ranked shape"),
    (
        "KeyError: 'a' at cse.py:12; this is a bug",
        "IndexError: x at cse.py:12; this is a bug",
    ),
    (
        "KeyError: 'a' at cse.py:12; this is a bug",
        "KeyError: 'a' at dce.py:12; this is a bug",
    ),
    (
        "KeyError: 'a' at woofles/hooks.py:12; this is a bug",
        "KeyError: 'a' at woofles/other.py:12; this is a bug",
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_same(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)


@pytest.mark.parametrize(
    ("status", "error", "failure", "shown"),
    [
        (-11, "a.mlir:1:2: error: x", Failure(-11, None), "signal 11"),
        (
            1,
            "a.mlir:1:2: note: y\na.mlir:1:2: error: x 3\nb.mlir:1:1: error: z\n",
            Failure(1, "x _"),
            "status 1, 'x _'",
        ),
        (2, "transom-opt: error: x", Failure(2, "x"), "status 2, 'x'"),
        (
            1,
            'Traceback (most recent call last):\n  File "a"\na.BadError: 4 is bad\n',
            Failure(1, "a.BadError: _ is bad"),
            "status 1, 'a.BadError: _ is bad'",
        ),
        (3, "", Failure(3, None), "status 3"),
    ],
)
def test_failure(status: int, error: str, failure: Failure, shown: str) -> None:
    assert failure_of(status, error) == failure
    assert str(failure) == shown
