"""
Vectors: checked loads and stores, masks, transfers, reductions.
"""

from typing import Any

import numpy as np
import pytest
from interpreter_cases import X, evaluate, interpret, refused, same

VECTORS: list[tuple[str, str, tuple[Any, ...], Any]] = [
    (
        "vector.broadcast %0 : f32 to vector<2x3xf32>",
        "(f32) -> vector<2x3xf32>",
        (np.float32(2),),
        np.full((2, 3), 2, np.float32),
    ),
    (
        "vector.create_mask %0, %1 : vector<2x3xi1>",
        "(index, index) -> vector<2x3xi1>",
        (5, 2),
        np.array([[1, 1, 0], [1, 1, 0]], np.bool_),
    ),
]


@pytest.mark.parametrize(("op", "types", "operands", "expected"), VECTORS)
def test_vector_results(op: str, types: str, operands: tuple[Any, ...], expected: Any):
    same(evaluate(op, *operands, types=types), expected)


def kernel(body: str, out: str = "memref<8xf32>") -> str:
    return f"""
tir.func @main(read %x: memref<3x4xf32>, write %o: {out}, read %i: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 9.0 : f32
{body}
  tir.return
}}"""


def test_vector_load_and_store():
    text = kernel("""
  %v = vector.load %x[%i, %c1] : memref<3x4xf32>, vector<3xf32>
  %w = vector.fma %v, %v, %v : vector<3xf32>
  vector.store %w, %o[%c0] : memref<8xf32>, vector<3xf32>""")
    row = X[2, 1:]
    same(interpret(text, X, np.zeros(8, "f4"), 2)[:3], row * row + row)
    refused(
        "cannot evaluate 'vector.load': expected a window within [3, 4], but got "
        "offsets [3, 1], sizes [1, 3] and strides [1, 1]",
        text,
        X,
        np.zeros(8, "f4"),
        3,
    )


def test_masked_load_and_store():
    text = kernel("""
  %m = vector.create_mask %i : vector<4xi1>
  %p = vector.broadcast %z : f32 to vector<4xf32>
  %v = vector.maskedload %x[%c1, %c1], %m, %p
      : memref<3x4xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.store %v, %o[%c0] : memref<8xf32>, vector<4xf32>
  %c6 = arith.constant 6 : index
  vector.maskedstore %o[%c6], %m, %v : memref<8xf32>, vector<4xi1>, vector<4xf32>""")
    found = interpret(text, X, np.zeros(8, "f4"), 2)
    same(found, np.array([5, 6, 9, 9, 0, 0, 5, 6], np.float32))
    refused(
        "cannot evaluate 'vector.maskedload': expected indices within [3, 4], but got "
        "[1, 4]",
        text,
        X,
        np.zeros(8, "f4"),
        4,
    )


def test_extract_insert_shuffle():
    text = kernel("""
  %v = vector.load %x[%i, %c0] : memref<3x4xf32>, vector<4xf32>
  %e = vector.extract %v[2] : f32 from vector<4xf32>
  %w = vector.insert %e, %v[0] : f32 into vector<4xf32>
  %s = vector.shuffle %v, %w [3, 4, 7, 0] : vector<4xf32>, vector<4xf32>
  vector.store %s, %o[%c0] : memref<8xf32>, vector<4xf32>""")
    found = interpret(text, X, np.zeros(8, "f4"), 1)
    same(found[:4], np.array([7, 6, 7, 4], np.float32))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("add", 22), ("mul", 840), ("maximumf", 7), ("minnumf", 4)],
)
def test_reduction(kind: str, expected: float):
    text = kernel(f"""
  %v = vector.load %x[%i, %c0] : memref<3x4xf32>, vector<4xf32>
  %r = "vector.reduction"(%v) <{{kind = #vector.kind<{kind}>}}> : (vector<4xf32>) -> f32
  memref.store %r, %o[%c0] : memref<8xf32>""")
    assert interpret(text, X, np.zeros(8, "f4"), 1)[0] == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("add", -126),
        ("mul", -128),
        ("maxsi", 3),
        ("maxui", -1),
        ("minsi", -128),
        ("minui", 3),
        ("and", 0),
        ("or", -1),
        ("xor", 124),
    ],
)
def test_reduction_of_integers(kind: str, expected: int):
    from transom.interpreters.vector import reduce_all

    same(reduce_all(kind, np.array([3, -128, -1], np.int8)), np.int8(expected))


def test_transfers():
    text = kernel(
        """
  %v = "vector.transfer_read"(%x, %i, %c1, %z) <{
        permutation_map = affine_map<(d0, d1) -> (d1, d0)>,
        in_bounds = [true, false], operandSegmentSizes = array<i32: 1, 2, 1, 0>}>
      : (memref<3x4xf32>, index, index, f32) -> vector<3x2xf32>
  "vector.transfer_write"(%v, %o, %c0, %c0) <{
        permutation_map = affine_map<(d0, d1) -> (d0, d1)>,
        in_bounds = [true, true], operandSegmentSizes = array<i32: 1, 1, 2, 0>}>
      : (vector<3x2xf32>, memref<3x2xf32>, index, index) -> ()""",
        "memref<3x2xf32>",
    )
    found = interpret(text, X, np.zeros((3, 2), "f4"), 2)
    same(found, np.stack([X[2, 1:], np.full(3, 9, np.float32)], 1))
