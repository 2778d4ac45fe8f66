"""
Memory and vectors, lowered to machine code, run, and compared with NumPy.
"""

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llvm_cases import compiled, lowered, zeros

from transom.dialects.diagnostics import OpError
from transom.lowering.emit_llvm import to_llvm_text

RNG = np.random.default_rng(11)


def test_allocated_memory() -> None:
    run = compiled("""
    func.func @reverse(%x: memref<?x4xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %n = memref.dim %x, %c0 : memref<?x4xf32>
      %t = memref.alloc(%n) {alignment = 128 : i64} : memref<?x4xf32>
      "memref.copy"(%x, %t) : (memref<?x4xf32>, memref<?x4xf32>) -> ()
      scf.for %i = %c0 to %n step %c1 {
        %r = arith.subi %n, %i : index
        %s = arith.subi %r, %c1 : index
        scf.for %j = %c0 to %c4 step %c1 {
          %v = memref.load %t[%s, %j] : memref<?x4xf32>
          memref.store %v, %x[%i, %j] : memref<?x4xf32>
        }
      }
      memref.dealloc %t : memref<?x4xf32>
      func.return
    }
    """)
    x = RNG.random((5, 4), np.float32)
    y = x.copy()
    assert run("reverse", y) == 0
    assert (y == x[::-1]).all()
    assert run("reverse", zeros((0, 4))) == 0


def test_a_stack_buffer_in_a_loop_is_made_once() -> None:
    text = """
    func.func @f(%x: memref<8xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %t = memref.alloca() {alignment = 32 : i64} : memref<4xf32>
        %v = memref.load %x[%i] : memref<8xf32>
        %w = arith.addf %v, %v : f32
        memref.store %w, %t[%c1] : memref<4xf32>
        %u = memref.load %t[%c1] : memref<4xf32>
        memref.store %u, %x[%i] : memref<8xf32>
      }
      func.return
    }
    """
    run = compiled(text)
    x = RNG.random(8, np.float32)
    y = x.copy()
    assert run("f", y) == 0
    assert (y == 2 * x).all()
    llvm_text = to_llvm_text(lowered(text))
    entry = llvm_text.split("bb0:", 1)[1].split("br ", 1)[0]
    assert llvm_text.count("alloca") == entry.count("alloca i8, i64 16, align 64") == 1


def test_globals() -> None:
    run = compiled("""
    "memref.global"() <{sym_name = "table", sym_visibility = "private", constant,
      type = memref<2x3xf32>, initial_value =
      dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>}> : () -> ()
    "memref.global"() <{sym_name = "flags", sym_visibility = "private", constant,
      type = memref<3xi1>, initial_value =
      dense<[true, false, true]> : tensor<3xi1>}> : () -> ()
    "memref.global"() <{sym_name = "places", sym_visibility = "private", constant,
      type = memref<2xindex>, initial_value = dense<[7, -1]> : tensor<2xindex>}>
      : () -> ()
    "memref.global"() <{sym_name = "same", sym_visibility = "private", constant,
      type = memref<4xbf16>, initial_value = dense<2.0> : tensor<4xbf16>}> : () -> ()
    "memref.global"() <{sym_name = "state", sym_visibility = "private",
      type = memref<1xi32>, initial_value}> : () -> ()
    func.func @f(%y: memref<2x3xf32>, %z: memref<3xi1>, %w: memref<2xindex>,
                 %u: memref<4xbf16>) -> i32 {
      %t = memref.get_global @table : memref<2x3xf32>
      %g = memref.get_global @flags : memref<3xi1>
      %p = memref.get_global @places : memref<2xindex>
      %q = memref.get_global @same : memref<4xbf16>
      tir.copy %t, %y : memref<2x3xf32>, memref<2x3xf32>
      tir.copy %g, %z : memref<3xi1>, memref<3xi1>
      tir.copy %p, %w : memref<2xindex>, memref<2xindex>
      tir.copy %q, %u : memref<4xbf16>, memref<4xbf16>
      %s = memref.get_global @state : memref<1xi32>
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %old = memref.load %s[%c0] : memref<1xi32>
      %new = arith.addi %old, %one : i32
      memref.store %new, %s[%c0] : memref<1xi32>
      func.return %new : i32
    }
    """)
    y, z, w = zeros((2, 3)), zeros(3, np.bool_), zeros(2, np.int64)
    u = zeros(4, ml_dtypes.bfloat16)
    assert [run("f", y, z, w, u) for _ in range(3)] == [1, 2, 3]
    assert y.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert z.tolist() == [True, False, True]
    assert w.tolist() == [7, -1]
    assert u.tolist() == [2, 2, 2, 2]


COPY_ROWS = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %v, %c0 : {type}
  %m = memref.dim %v, %c1 : {type}
  scf.for %i = %c0 to %n step %c1 {{
    scf.for %j = %c0 to %m step %c1 {{
      %e = memref.load %v[%i, %j] : {type}
      memref.store %e, %y[%i, %j] : memref<?x?xf32>
    }}
  }}
  func.return
"""
"""Read all of a view of two dims."""


def read_view(arguments: str, ops: str, type: str) -> Any:
    body = COPY_ROWS.format(type=type)
    return compiled(
        f"func.func @f({arguments}, %y: memref<?x?xf32>) {{ {ops} {body} }}"
    )


VIEWS: list[tuple[str, str, Callable[[Any], Any]]] = [
    (
        "memref.collapse_shape %x [[0, 1], [2, 3]] "
        ": memref<2x3x4x5xf32> into memref<6x20xf32>",
        "memref<6x20xf32>",
        lambda x: x.reshape(6, 20),
    ),
    (
        "memref.reinterpret_cast %x to offset: [3], sizes: [4, 6], strides: [7, 2] "
        ": memref<2x3x4x5xf32> to memref<4x6xf32, strided<[7, 2], offset: 3>>",
        "memref<4x6xf32, strided<[7, 2], offset: 3>>",
        lambda x: np.lib.stride_tricks.as_strided(x.ravel()[3:], (4, 6), (28, 8)),
    ),
    (
        "memref.subview %x[1, 0, 2, 1] [1, 3, 1, 4] [1, 1, 1, 1] "
        ": memref<2x3x4x5xf32> to memref<3x4xf32, strided<[20, 1], offset: 71>>",
        "memref<3x4xf32, strided<[20, 1], offset: 71>>",
        lambda x: x[1, :, 2, 1:5],
    ),
    (
        "memref.subview %x[0, 1, 0, 1] [2, 1, 2, 1] [1, 1, 2, 1] "
        ": memref<2x3x4x5xf32> to memref<2x2xf32, strided<[60, 10], offset: 21>>",
        "memref<2x2xf32, strided<[60, 10], offset: 21>>",
        lambda x: x[:, 1, ::2, 1],
    ),
]


@pytest.mark.parametrize(("op", "type", "expected"), VIEWS)
def test_static_views(op: str, type: str, expected: Any) -> None:
    run = read_view("%x: memref<2x3x4x5xf32>", f"%v = {op}", type)
    x = np.arange(120, dtype=np.float32).reshape(2, 3, 4, 5)
    wanted = expected(x)
    y = zeros(wanted.shape)
    assert run("f", x, y) == 0
    assert (y == wanted).all()


def test_expanded_and_collapsed_dynamic_shapes() -> None:
    run = read_view(
        "%x: memref<?x?x4xf32>, %a: index, %b: index",
        """
        %w = memref.expand_shape %x [[0, 1], [2], [3]] output_shape [%a, 2, %b, 4]
            : memref<?x?x4xf32> into memref<?x2x?x4xf32>
        %v = memref.collapse_shape %w [[0], [1, 2, 3]]
            : memref<?x2x?x4xf32> into memref<?x?xf32>
        """,
        "memref<?x?xf32>",
    )
    x = RNG.random((6, 5, 4), np.float32)
    y = zeros((3, 40))
    assert run("f", x, 3, 5, y) == 0
    assert (y == x.reshape(3, 40)).all()


def test_collapsed_and_expanded_strided_views() -> None:
    run = read_view(
        "%x: memref<8x3x4xf32>, %o: index",
        """
        %s = memref.subview %x[%o, 0, 0] [4, 3, 4] [2, 1, 1]
            : memref<8x3x4xf32> to memref<4x3x4xf32, strided<[24, 4, 1], offset: ?>>
        %w = memref.expand_shape %s [[0, 1], [2], [3]] output_shape [2, 2, 3, 4]
            : memref<4x3x4xf32, strided<[24, 4, 1], offset: ?>>
            into memref<2x2x3x4xf32, strided<[48, 24, 4, 1], offset: ?>>
        %v = memref.collapse_shape %w [[0, 1], [2, 3]]
            : memref<2x2x3x4xf32, strided<[48, 24, 4, 1], offset: ?>>
            into memref<4x12xf32, strided<[24, 1], offset: ?>>
        """,
        "memref<4x12xf32, strided<[24, 1], offset: ?>>",
    )
    x = RNG.random((8, 3, 4), np.float32)
    y = zeros((4, 12))
    assert run("f", x, 1, y) == 0
    assert (y == x[1::2].reshape(4, 12)).all()


def test_bytes_seen_as_floats() -> None:
    run = read_view(
        "%x: memref<256xi8>, %o: index, %k: index",
        "%v = memref.view %x[%o][%k] : memref<256xi8> to memref<?x4xf32>",
        "memref<?x4xf32>",
    )
    x = RNG.integers(-128, 128, 256, np.int8)
    x[:] = RNG.random(64, np.float32).view(np.int8)
    y = zeros((3, 4))
    assert run("f", x, 32, 3, y) == 0
    assert (y.ravel() == x.view(np.float32)[8:20]).all()


def test_metadata_of_a_view() -> None:
    run = compiled("""
    func.func @f(%x: memref<?x?xf32, strided<[?, 1], offset: ?>>,
                 %y: memref<5xindex>) {
      %b, %o, %s:2, %t:2 = "memref.extract_strided_metadata"(%x)
          : (memref<?x?xf32, strided<[?, 1], offset: ?>>)
          -> (memref<f32>, index, index, index, index, index)
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %2 = arith.constant 2 : index
      %3 = arith.constant 3 : index
      %4 = arith.constant 4 : index
      memref.store %o, %y[%0] : memref<5xindex>
      memref.store %s#0, %y[%1] : memref<5xindex>
      memref.store %s#1, %y[%2] : memref<5xindex>
      memref.store %t#0, %y[%3] : memref<5xindex>
      memref.store %t#1, %y[%4] : memref<5xindex>
      func.return
    }
    """)
    x, y = zeros((9, 16))[2:5, 3:10], zeros(5, np.int64)
    assert run("f", x, y) == 0
    assert y.tolist() == [0, 3, 7, 16, 1]


def test_a_dynamic_axis_and_a_chosen_memref() -> None:
    run = compiled("""
    func.func @f(%x: memref<?x7xf32>, %z: memref<?x7xf32>, %c: i1, %k: index) -> index {
      %m = arith.select %c, %x, %z : memref<?x7xf32>
      %d = memref.dim %m, %k : memref<?x7xf32>
      func.return %d : index
    }
    """)
    x, z = zeros((3, 7)), zeros((5, 7))
    assert [run("f", x, z, c, k) for c in (True, False) for k in (0, 1)] == [3, 7, 5, 7]


def test_casts_between_static_and_dynamic() -> None:
    run = read_view(
        "%x: memref<3x4xf32>",
        """
        %a = "memref.cast"(%x) : (memref<3x4xf32>) -> memref<?x?xf32>
        %b = "memref.cast"(%a) : (memref<?x?xf32>) -> memref<3x?xf32>
        %v = "memref.cast"(%b) : (memref<3x?xf32>)
            -> memref<?x?xf32, strided<[?, 1], offset: ?>>
        """,
        "memref<?x?xf32, strided<[?, 1], offset: ?>>",
    )
    x, y = RNG.random((3, 4), np.float32), zeros((3, 4))
    assert run("f", x, y) == 0
    assert (x == y).all()


def test_an_atomic_update() -> None:
    run = compiled("""
    func.func @f(%x: memref<4xf32>, %v: f32) -> f32 {
      %c2 = arith.constant 2 : index
      %old = "memref.atomic_rmw"(%v, %x, %c2) <{kind = 0 : i64}>
          : (f32, memref<4xf32>, index) -> f32
      func.return %old : f32
    }
    """)
    x = np.array([1, 2, 3, 4], np.float32)
    assert run("f", x, 0.5) == 3
    assert x.tolist() == [1, 2, 3.5, 4]


def test_vectors_in_registers() -> None:
    run = compiled("""
    func.func @f(%x: memref<8xf32>, %k: index, %y: memref<8x8xf32>) {
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %2 = arith.constant 2 : index
      %3 = arith.constant 3 : index
      %4 = arith.constant 4 : index
      %5 = arith.constant 5 : index
      %6 = arith.constant 6 : index
      %7 = arith.constant 7 : index
      %v = vector.load %x[%0] : memref<8xf32>, vector<8xf32>
      %c = arith.constant 1.5 : f32
      %b = vector.broadcast %c : f32 to vector<8xf32>
      vector.store %b, %y[%0, %0] : memref<8x8xf32>, vector<8xf32>
      %e = vector.extract %v[%k] : f32 from vector<8xf32>
      %d = vector.broadcast %e : f32 to vector<8xf32>
      vector.store %d, %y[%1, %0] : memref<8x8xf32>, vector<8xf32>
      %s = vector.shuffle %v, %d [7, 6, 5, 4, 8, 9, 10, 0]
          : vector<8xf32>, vector<8xf32>
      vector.store %s, %y[%2, %0] : memref<8x8xf32>, vector<8xf32>
      %i = vector.insert %c, %v [%k] : f32 into vector<8xf32>
      vector.store %i, %y[%3, %0] : memref<8x8xf32>, vector<8xf32>
      %j = vector.insert %c, %v [2] : f32 into vector<8xf32>
      vector.store %j, %y[%4, %0] : memref<8x8xf32>, vector<8xf32>
      %f = vector.fma %v, %v, %b : vector<8xf32>
      vector.store %f, %y[%5, %0] : memref<8x8xf32>, vector<8xf32>
      %p = vector.bitcast %v : vector<8xf32> to vector<8xi32>
      %q = vector.bitcast %p : vector<8xi32> to vector<8xf32>
      vector.store %q, %y[%6, %0] : memref<8x8xf32>, vector<8xf32>
      %h = vector.shuffle %v, %v [0, 1, 2, 3] : vector<8xf32>, vector<8xf32>
      %g = vector.shuffle %h, %v [0, 5, 2, 7, 11, 3, 1, 4]
          : vector<4xf32>, vector<8xf32>
      vector.store %g, %y[%7, %0] : memref<8x8xf32>, vector<8xf32>
      func.return
    }
    """)
    x, y = RNG.random(8, np.float32), zeros((8, 8))
    assert run("f", x, 3, y) == 0
    d = np.full(8, x[3])
    both = np.concatenate([x, d])
    i, j = x.copy(), x.copy()
    i[3] = j[2] = 1.5
    assert (y[0] == 1.5).all()
    assert (y[1] == d).all()
    assert (y[2] == both[[7, 6, 5, 4, 8, 9, 10, 0]]).all()
    assert (y[3] == i).all()
    assert (y[4] == j).all()
    np.testing.assert_allclose(y[5], x * x + 1.5, rtol=1e-6)
    assert (y[6] == x).all()
    assert (y[7] == np.concatenate([x[:4], x])[[0, 5, 2, 7, 11, 3, 1, 4]]).all()


def test_vectors_of_several_dims() -> None:
    run = compiled("""
    func.func @f(%x: memref<6xf32>, %y: memref<6xf32>, %k: index, %l: index,
                 %z: memref<2xf32>) {
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %3 = arith.constant 3 : index
      %a = vector.load %x[%0] : memref<6xf32>, vector<3xf32>
      %b = vector.load %x[%3] : memref<6xf32>, vector<3xf32>
      %m = vector.broadcast %b : vector<3xf32> to vector<2x3xf32>
      %n = vector.insert %a, %m [0] : vector<3xf32> into vector<2x3xf32>
      %o = arith.addf %n, %n : vector<2x3xf32>
      %c = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : vector<2x3xf32>
      %p = arith.addf %o, %c : vector<2x3xf32>
      %q = vector.extract %p[1] : vector<3xf32> from vector<2x3xf32>
      %r = vector.extract %p[0] : vector<3xf32> from vector<2x3xf32>
      vector.store %q, %y[%0] : memref<6xf32>, vector<3xf32>
      vector.store %r, %y[%3] : memref<6xf32>, vector<3xf32>
      %e = vector.extract %p[%k, %l] : f32 from vector<2x3xf32>
      memref.store %e, %z[%0] : memref<2xf32>
      %t = vector.extract %p[1, 2] : f32 from vector<2x3xf32>
      memref.store %t, %z[%1] : memref<2xf32>
      func.return
    }
    """)
    x, y, z = RNG.random(6, np.float32), zeros(6), zeros(2)
    assert run("f", x, y, 1, 1, z) == 0
    p = 2 * x.reshape(2, 3) + np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    assert (y.reshape(2, 3) == p[::-1]).all()
    assert z.tolist() == [p[1, 1], p[1, 2]]


def test_broadcasts_between_vectors() -> None:
    run = compiled("""
    func.func @f(%x: memref<3xf32>, %y: memref<6xf32>) {
      %0 = arith.constant 0 : index
      %3 = arith.constant 3 : index
      %a = vector.load %x[%0] : memref<3xf32>, vector<3xf32>
      %c = arith.constant dense<0.0> : vector<3x1xf32>
      %d = vector.extract %a[0] : f32 from vector<3xf32>
      %e = vector.extract %a[1] : f32 from vector<3xf32>
      %g = vector.insert %d, %c [0, 0] : f32 into vector<3x1xf32>
      %h = vector.insert %e, %g [2, 0] : f32 into vector<3x1xf32>
      %b = vector.broadcast %h : vector<3x1xf32> to vector<3x2xf32>
      %q = vector.extract %b[0] : vector<2xf32> from vector<3x2xf32>
      %r = vector.extract %b[2] : vector<2xf32> from vector<3x2xf32>
      vector.store %q, %y[%0] : memref<6xf32>, vector<2xf32>
      vector.store %r, %y[%3] : memref<6xf32>, vector<2xf32>
      func.return
    }
    """)
    x, y = RNG.random(3, np.float32), zeros(6)
    assert run("f", x, y) == 0
    assert y.tolist() == [x[0], x[0], 0, x[1], x[1], 0]


REDUCTIONS: list[tuple[str, str, Callable[[Any, Any], Any]]] = [
    ("add", "f32", lambda x, a: x.sum() + a),
    ("mul", "f32", lambda x, a: x.prod() * a),
    ("maximumf", "f32", lambda x, a: max(x.max(), a)),
    ("minimumf", "f32", lambda x, a: min(x.min(), a)),
    ("maxnumf", "f32", lambda x, a: max(x.max(), a)),
    ("minnumf", "f32", lambda x, a: min(x.min(), a)),
    ("add", "bf16", lambda x, a: x.astype(np.float32).sum() + a),
    ("maximumf", "bf16", lambda x, a: max(x.astype(np.float32).max(), a)),
    ("add", "f16", lambda x, a: x.astype(np.float32).sum() + a),
    ("add", "i32", lambda x, a: x.sum() + a),
    ("mul", "i32", lambda x, a: x.prod() * a),
    ("maxsi", "i32", lambda x, a: max(x.max(), a)),
    ("minsi", "i32", lambda x, a: min(x.min(), a)),
    ("maxui", "i32", lambda x, a: max(x.view(np.uint32).max(), a)),
    ("minui", "i32", lambda x, a: min(x.view(np.uint32).min(), a)),
    ("and", "i32", lambda x, a: np.bitwise_and.reduce(x) & a),
    ("or", "i32", lambda x, a: np.bitwise_or.reduce(x) | a),
    ("xor", "i32", lambda x, a: np.bitwise_xor.reduce(x) ^ a),
]

DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i32": np.int32,
}
NEUTRAL: dict[str, float] = {
    "mul": 1,
    "and": -1,
    "maximumf": -9,
    "maxnumf": -9,
    "minimumf": 9,
    "minnumf": 9,
    "maxsi": -(2**31),
    "minsi": 2**31 - 1,
    "minui": 2**32 - 1,
}


@pytest.mark.parametrize(("kind", "element", "expected"), REDUCTIONS)
def test_reductions(kind: str, element: str, expected: Any) -> None:
    run = compiled(f"""
    func.func @f(%x: memref<8x{element}>, %a: memref<{element}>,
                 %y: memref<3x{element}>) {{
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %2 = arith.constant 2 : index
      %v = vector.load %x[%0] : memref<8x{element}>, vector<8x{element}>
      %s = memref.load %a[] : memref<{element}>
      %p = vector.reduction <{kind}>, %v : vector<8x{element}> into {element}
      memref.store %p, %y[%0] : memref<3x{element}>
      %q = vector.reduction <{kind}>, %v, %s : vector<8x{element}> into {element}
      memref.store %q, %y[%1] : memref<3x{element}>
      %r = vector.reduction <{kind}>, %v fastmath<reassoc>
          : vector<8x{element}> into {element}
      memref.store %r, %y[%2] : memref<3x{element}>
      func.return
    }}
    """)
    dtype = DTYPES[element]
    if element == "i32":
        x = RNG.integers(-50, 50, 8, dtype=np.int32) | 1
        start = 7
    else:
        x, start = RNG.uniform(0.5, 1.5, 8).astype(dtype), 2.0
    y, a = zeros(3, dtype), np.array(start, dtype)
    assert run("f", x, a, y) == 0
    plain, more = expected(x, NEUTRAL.get(kind, 0)), expected(x, start)
    got = y.astype(np.float64)
    if element == "i32":
        wanted = np.array([plain, more, plain]).astype(np.int64).astype(np.int32)
        assert (y == wanted).all()
    else:
        tolerance = 1e-5 if element == "f32" else 1e-2
        np.testing.assert_allclose(got, [plain, more, plain], rtol=tolerance)


@pytest.mark.parametrize("element", ["f32", "f16", "bf16", "i8", "i1", "f64"])
def test_a_vector_loop_with_a_remainder(element: str) -> None:
    """Whole vectors, then one masked; nothing beyond the end is touched."""
    run = compiled(f"""
    func.func @f(%x: memref<?x{element}>, %y: memref<?x{element}>) {{
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %n = memref.dim %x, %c0 : memref<?x{element}>
      %zero = arith.constant dense<{
        "false" if element == "i1" else "0" if element == "i8" else "0.0"
    }> : vector<8x{element}>
      scf.for %i = %c0 to %n step %c8 {{
        %left = arith.subi %n, %i : index
        %m = vector.create_mask %left : vector<8xi1>
        %v = vector.maskedload %x[%i], %m, %zero
            : memref<?x{element}>, vector<8xi1>, vector<8x{element}>
            into vector<8x{element}>
        vector.maskedstore %y[%i], %m, %v
            : memref<?x{element}>, vector<8xi1>, vector<8x{element}>
      }}
      func.return
    }}
    """)
    dtypes = {**DTYPES, "i8": np.int8, "i1": np.bool_, "f64": np.float64}
    for n in (0, 1, 7, 8, 9, 20):
        memory = RNG.integers(0, 2, 40).astype(dtypes[element])
        out = RNG.integers(0, 2, 40).astype(dtypes[element])
        before = out.copy()
        assert run("f", memory[:n], out[:n]) == 0
        assert (out[:n] == memory[:n]).all()
        assert (out[n:] == before[n:]).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 3), st.integers(0, 12))
def test_transfers_end_at_the_border(row: int, column: int) -> None:
    x = np.arange(40, dtype=np.float32).reshape(4, 10)
    y = np.full((4, 10), -1, np.float32)
    padded = np.concatenate([x[row], np.full(20, 7, np.float32)])[column:][:8]
    got = zeros(8)
    assert TRANSFER("read", x, row, column, got) == 0
    assert (got == padded).all()
    expected = y.copy()
    expected[row, column : column + 8] = padded[: max(0, 10 - column)]
    assert TRANSFER("write", got, y, row, column) == 0
    assert (y == expected).all()


TRANSFER = compiled("""
func.func @read(%x: memref<?x10xf32>, %i: index, %j: index, %y: memref<8xf32>) {
  %p = arith.constant 7.0 : f32
  %c0 = arith.constant 0 : index
  %v = vector.transfer_read %x[%i, %j], %p : memref<?x10xf32>, vector<8xf32>
  vector.transfer_write %v, %y[%c0] {in_bounds = [true]}
      : vector<8xf32>, memref<8xf32>
  func.return
}
func.func @write(%y: memref<8xf32>, %x: memref<?x10xf32>, %i: index, %j: index) {
  %c0 = arith.constant 0 : index
  %p = arith.constant 7.0 : f32
  %v = vector.transfer_read %y[%c0], %p : memref<8xf32>, vector<8xf32>
  vector.transfer_write %v, %x[%i, %j] : vector<8xf32>, memref<?x10xf32>
  func.return
}
""")


def test_transfers_that_stay_inside_are_plain() -> None:
    text = to_llvm_text(
        lowered("""
    func.func @f(%x: memref<32xf32>, %i: index, %y: memref<8xf32>) {
      %p = arith.constant 7.0 : f32
      %c8 = arith.constant 8 : index
      %c0 = arith.constant 0 : index
      %v = vector.transfer_read %x[%c8], %p : memref<32xf32>, vector<8xf32>
      %w = vector.transfer_read %x[%i], %p {in_bounds = [true]}
          : memref<32xf32>, vector<8xf32>
      %s = arith.addf %v, %w : vector<8xf32>
      vector.transfer_write %s, %y[%c0] : vector<8xf32>, memref<8xf32>
      func.return
    }
    """)
    )
    assert "masked" not in text
    assert text.count("load <8 x float>") == 2


def test_an_access_is_as_aligned_as_it_says() -> None:
    text = to_llvm_text(
        lowered("""
    func.func @f(%x: memref<32xf32>, %y: memref<32xf64>, %z: memref<8xi1>) {
      %c0 = arith.constant 0 : index
      %a = vector.load %x[%c0] : memref<32xf32>, vector<8xf32>
      %b = vector.load %x[%c0] {alignment = 64 : i64} : memref<32xf32>, vector<8xf32>
      vector.store %b, %x[%c0] {nontemporal = true, alignment = 32 : i64}
          : memref<32xf32>, vector<8xf32>
      %s = memref.load %y[%c0] : memref<32xf64>
      %m = vector.load %z[%c0] : memref<8xi1>, vector<8xi1>
      func.return
    }
    """)
    )
    found = re.findall(
        r"(?:load|store) ([^,]*?)(?: %\d+)?, ptr %\d+, (align \d+.*)", text
    )
    assert found == [
        ("<8 x float>", "align 4"),
        ("<8 x float>", "align 64"),
        ("<8 x float>", "align 32, !nontemporal !0"),
        ("double", "align 8"),
        ("<8 x i8>", "align 1"),
    ]


def test_an_access_with_known_strides_is_one_address() -> None:
    text = to_llvm_text(
        lowered("""
    func.func @f(%x: memref<?x8x16xf32>, %i: index, %j: index) -> f32 {
      %c3 = arith.constant 3 : index
      %v = memref.load %x[%i, %j, %c3] : memref<?x8x16xf32>
      func.return %v : f32
    }
    """)
    )
    assert (
        "getelementptr inbounds [8 x [16 x float]], ptr %0, i64 %2, i64 %3, i32 3"
        in text
    )
    assert "mul" not in text


REFUSALS = [
    (
        "func.func @f(%x: memref<4xi4>) { func.return }",
        "expected an element of 8, 16, 32, 64 or 128 bits, but got 'i4'",
    ),
    (
        "func.func @f(%x: memref<2x4xf32, affine_map<(d0, d1) -> (d1, d0)>>) "
        "{ func.return }",
        "expected a layout of strides, but got "
        "'memref<2x4xf32, affine_map<(d0, d1) -> (d1, d0)>>'",
    ),
    (
        "func.func @f(%x: memref<4x8xf32>, %i: index) { "
        "%v = vector.load %x[%i, %i] : memref<4x8xf32>, vector<2x4xf32> func.return }",
        "expected the lanes of 'vector<2x4xf32>' without gaps in between, but got a "
        "memref of type 'memref<4x8xf32>'",
    ),
    (
        "func.func @f(%x: memref<4x4xf32, strided<[8, 2]>>, %i: index) { "
        "%v = vector.load %x[%i, %i] : memref<4x4xf32, strided<[8, 2]>>, "
        "vector<2xf32> func.return }",
        "expected a last stride of 1, but got a memref of type "
        "'memref<4x4xf32, strided<[8, 2]>>'",
    ),
    (
        "func.func @f(%n: index) { %t = memref.alloca(%n) : memref<?xf32> "
        "func.return }",
        "expected at most 1048576 bytes of static size for the stack, "
        "but got 'memref<?xf32>'",
    ),
    (
        "func.func @f(%x: memref<4x8xf32>, %i: index) { "
        "%p = arith.constant 0.0 : f32 %v = vector.transfer_read %x[%i, %i], %p "
        "{permutation_map = affine_map<(d0, d1) -> (d0)>} "
        ": memref<4x8xf32>, vector<4xf32> func.return }",
        "expected the permutation map '(d0, d1) -> (d1)', but got '(d0, d1) -> (d0)'",
    ),
    (
        "func.func @f(%a: i32, %b: i32) -> i32 "
        "{ %r = math.ipowi %a, %b : i32 func.return %r : i32 }",
        "no legal form for 'math.ipowi' x1",
    ),
]


@pytest.mark.parametrize(("text", "message"), REFUSALS)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(OpError) as caught:
        to_llvm_text(lowered(text))
    assert message in str(caught.value)
