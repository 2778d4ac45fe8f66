"""
Buffers, and views of them.
"""

from typing import Any

import numpy as np
import pytest
from interpreter_cases import X, interpret, refused, same


def main(arguments: str, body: str) -> str:
    return f"func.func @main({arguments}) {{\n{body}\n  func.return\n}}"


def test_load_and_store():
    text = main(
        "%x: memref<3x4xf32>, %i: index",
        """
  %v = memref.load %x[%i, %i] : memref<3x4xf32>
  %c0 = arith.constant 0 : index
  memref.store %v, %x[%c0, %i] : memref<3x4xf32>""",
    )
    expected = X.copy()
    expected[0, 2] = X[2, 2]
    same(interpret(text, X, 2), expected)
    message = "cannot evaluate 'memref.load': expected indices within [3, 4], but got "
    refused(message + "[3, 3]", text, X, 3)
    refused(message + "[-1, -1]", text, X, -1)


def test_inputs_are_not_changed():
    x = X.copy()
    text = main(
        "%x: memref<3x4xf32>",
        """
  %c0 = arith.constant 0 : index
  %v = arith.constant 7.0 : f32
  memref.store %v, %x[%c0, %c0] : memref<3x4xf32>""",
    )
    assert interpret(text, x)[0, 0] == 7
    same(x, X)


@pytest.mark.parametrize(
    ("type", "expected"),
    [("f32", np.nan), ("bf16", np.nan), ("i8", 0xA5 - 256), ("i1", True)],
)
@pytest.mark.parametrize("op", ["memref.alloc() ", "memref.alloca() ", "tir.alloc "])
def test_memory_that_was_never_written(op: str, type: str, expected: Any):
    text = f"""
func.func @main() -> {type} {{
  %m = {op}: memref<2x{type}>
  %c1 = arith.constant 1 : index
  %v = memref.load %m[%c1] : memref<2x{type}>
  func.return %v : {type}
}}"""
    found = interpret(text)
    np.testing.assert_equal(found.astype(np.float64), np.float64(expected))


def test_absurd_sizes_are_refused():
    text = """
func.func @main(%n: index) {
  %m = memref.alloc(%n) : memref<?x1024xf64>
  func.return
}"""
    interpret(text, 4)
    refused(
        "expected at most 4294967296 bytes in a value, but a shape of "
        "[1000000000, 1024] needs 8192000000000",
        text,
        10**9,
    )
    refused("expected sizes >= 0, but got [-1, 1024]", text, -1)


SUBVIEW = """
func.func @main(%x: memref<3x4xf32>, %o: index, %n: index, %s: index) -> f32 {
  %v = memref.subview %x[1, %o] [2, %n] [1, %s]
      : memref<3x4xf32> to memref<2x?xf32, strided<[4, ?], offset: ?>>
  %c1 = arith.constant 1 : index
  %y = memref.load %v[%c1, %c1] : memref<2x?xf32, strided<[4, ?], offset: ?>>
  %z = arith.constant -1.0 : f32
  memref.store %z, %v[%c1, %c1] : memref<2x?xf32, strided<[4, ?], offset: ?>>
  %w = memref.load %x[%o, %o] : memref<3x4xf32>
  func.return %y : f32
}"""


def test_subview_is_a_view():
    same(interpret(SUBVIEW, X, 0, 2, 3), X[2, 3])
    text = SUBVIEW.replace(" -> f32 {", " {").replace(
        "func.return %y : f32", "func.return"
    )
    expected = X.copy()
    expected[2, 3] = -1
    same(interpret(text, X, 1, 2, 2), expected)


def test_subview_that_leaves():
    refused(
        "cannot evaluate 'memref.subview': expected a window within [3, 4], but got "
        "offsets [1, 2], sizes [2, 2] and strides [1, 2]",
        SUBVIEW,
        X,
        2,
        2,
        2,
    )


def test_subview_without_unit_sizes():
    text = main(
        "%x: memref<3x4xf32>, %o: memref<4xf32>",
        """
  %v = memref.subview %x[1, 0] [1, 4] [1, 1]
      : memref<3x4xf32> to memref<4xf32, strided<[1], offset: 4>>
  "memref.copy"(%v, %o)
      : (memref<4xf32, strided<[1], offset: 4>>, memref<4xf32>) -> ()""",
    )
    same(interpret(text, X, np.zeros(4, np.float32))[1], X[1])


def test_copy_of_other_shape():
    text = main(
        "%x: memref<?xf32>, %o: memref<?xf32>",
        '  "memref.copy"(%x, %o) : (memref<?xf32>, memref<?xf32>) -> ()',
    )
    refused(
        "cannot evaluate 'memref.copy': expected equal shapes, but got [4] and [3]",
        text,
        X[0],
        np.zeros(3, np.float32),
    )


def test_shapes_of_memrefs():
    text = """
func.func @main(%x: memref<3x4xf32>, %i: index) -> (f32, f32, index, index, f32) {
  %c = memref.collapse_shape %x [[0, 1]] : memref<3x4xf32> into memref<12xf32>
  %a = memref.load %c[%i] : memref<12xf32>
  %e = memref.expand_shape %c [[0, 1]] output_shape [4, 3]
      : memref<12xf32> into memref<4x3xf32>
  %c1 = arith.constant 1 : index
  %b = memref.load %e[%c1, %c1] : memref<4x3xf32>
  %d = memref.dim %x, %c1 : memref<3x4xf32>
  %r = "memref.rank"(%x) : (memref<3x4xf32>) -> index
  %t = memref.reinterpret_cast %x to offset: [1], sizes: [3, 3], strides: [1, 4]
      : memref<3x4xf32> to memref<3x3xf32, strided<[1, 4], offset: 1>>
  %f = memref.load %t[%c1, %c1] : memref<3x3xf32, strided<[1, 4], offset: 1>>
  func.return %a, %b, %d, %r, %f : f32, f32, index, index, f32
}"""
    found = [float(x) for x in interpret(text, X, 7)]
    assert found == [7, 4, 4, 2, 6]


def test_reinterpret_cast_is_bounded():
    text = main(
        "%x: memref<3x4xf32>, %n: index",
        """
  %t = memref.reinterpret_cast %x to offset: [1], sizes: [%n], strides: [4]
      : memref<3x4xf32> to memref<?xf32, strided<[4], offset: 1>>""",
    )
    interpret(text, X, 3)
    refused(
        "cannot evaluate 'memref.reinterpret_cast': expected a view within 48 bytes, "
        "but it takes 4 to 56",
        text,
        X,
        4,
    )


def test_view_of_bytes():
    text = """
func.func @main(%x: memref<32xi8>, %shift: index, %n: index) -> f32 {
  %v = memref.view %x[%shift][%n] : memref<32xi8> to memref<?xf32>
  %c1 = arith.constant 1 : index
  %y = memref.load %v[%c1] : memref<?xf32>
  func.return %y : f32
}"""
    octets = np.arange(8, dtype=np.float32).view(np.int8)
    same(interpret(text, octets, 8, 4), np.float32(3))
    refused(
        "cannot evaluate 'memref.view': expected a view within 32 bytes, but it takes "
        "8 to 40",
        text,
        octets,
        8,
        8,
    )


def test_globals():
    text = """
"memref.global"() <{sym_name = "g", sym_visibility = "private", type = memref<2xi32>,
                    initial_value = dense<[3, 4]> : tensor<2xi32>}> : () -> ()
func.func @main() -> (i32, i32) {
  %g = memref.get_global @g : memref<2xi32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = memref.load %g[%c1] : memref<2xi32>
  memref.store %v, %g[%c0] : memref<2xi32>
  %h = memref.get_global @g : memref<2xi32>
  %w = memref.load %h[%c0] : memref<2xi32>
  func.return %v, %w : i32, i32
}"""
    assert [int(x) for x in interpret(text)] == [4, 4]


def test_strided_metadata():
    text = """
func.func @main(%x: memref<3x4xf32>) -> (index, index, index, index, index, f32) {
  %v = memref.subview %x[1, 1] [2, 2] [1, 2]
      : memref<3x4xf32> to memref<2x2xf32, strided<[4, 2], offset: 5>>
  %b, %o, %n0, %n1, %s0, %s1 = "memref.extract_strided_metadata"(%v)
      : (memref<2x2xf32, strided<[4, 2], offset: 5>>)
      -> (memref<f32>, index, index, index, index, index)
  %r = "memref.reinterpret_cast"(%b, %o, %n0, %s0) <{
        static_offsets = array<i64: -9223372036854775808>,
        static_sizes = array<i64: -9223372036854775808>,
        static_strides = array<i64: -9223372036854775808>,
        operandSegmentSizes = array<i32: 1, 1, 1, 1>}>
      : (memref<f32>, index, index, index) -> memref<?xf32, strided<[?], offset: ?>>
  %c1 = arith.constant 1 : index
  %f = memref.load %r[%c1] : memref<?xf32, strided<[?], offset: ?>>
  func.return %o, %n0, %n1, %s0, %s1, %f : index, index, index, index, index, f32
}"""
    assert [float(x) for x in interpret(text, X)] == [5, 2, 2, 4, 2, X[2, 1]]


@pytest.mark.parametrize(
    ("kind", "expected"), [(1, 12), (2, 5), (4, 7), (5, 7), (10, 35)]
)
def test_atomic_update(kind: int, expected: int):
    text = f"""
func.func @main(%x: memref<2xi32>, %v: i32) -> i32 {{
  %c1 = arith.constant 1 : index
  %r = "memref.atomic_rmw"(%v, %x, %c1) <{{kind = {kind} : i64}}>
      : (i32, memref<2xi32>, index) -> i32
  %n = memref.load %x[%c1] : memref<2xi32>
  func.return %n : i32
}}"""
    assert int(interpret(text, np.array([0, 7], np.int32), 5)) == expected
