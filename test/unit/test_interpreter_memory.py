"""
Buffers, tensors, vectors and pools.
"""

from typing import Any

import numpy as np
import pytest
from interpreter_cases import evaluate, interpret, same

from transom.dialects.diagnostics import OpError

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def refused(message: str, text: str, *inputs: Any, **options: Any) -> None:
    with pytest.raises(OpError) as raised:
        interpret(text, *inputs, **options)
    assert raised.value.message == message


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


# Vectors.

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


# Tensors.


def test_tensor_ops():
    text = """
func.func @main(%x: tensor<3x4xf32>, %i: index)
    -> (tensor<12xf32>, tensor<4x3xf32>, f32, tensor<3x4xf32>, tensor<2x2xf32>,
        tensor<3x4xf32>, tensor<6x4xf32>, tensor<?x2xf32>, index) {
  %c1 = arith.constant 1 : index
  %c = tensor.collapse_shape %x [[0, 1]] : tensor<3x4xf32> into tensor<12xf32>
  %e = tensor.expand_shape %c [[0, 1]] output_shape [4, 3]
      : tensor<12xf32> into tensor<4x3xf32>
  %v = tensor.extract %x[%i, %c1] : tensor<3x4xf32>
  %n = "tensor.insert"(%v, %x, %c1, %c1)
      : (f32, tensor<3x4xf32>, index, index) -> tensor<3x4xf32>
  %s = tensor.extract_slice %x[1, 1] [2, 2] [1, 2] : tensor<3x4xf32> to tensor<2x2xf32>
  %w = tensor.insert_slice %s into %x[0, 0] [2, 2] [1, 1]
      : tensor<2x2xf32> into tensor<3x4xf32>
  %t = tensor.concat dim(0) %x, %x
      : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<6x4xf32>
  %shape = tensor.from_elements %i, %c1 : tensor<2xindex>
  %splat = tensor.splat %v[%i] : tensor<?x2xf32>
  %d = tensor.dim %splat, %c1 : tensor<?x2xf32>
  func.return %c, %e, %v, %n, %s, %w, %t, %splat, %d
      : tensor<12xf32>, tensor<4x3xf32>, f32, tensor<3x4xf32>, tensor<2x2xf32>,
        tensor<3x4xf32>, tensor<6x4xf32>, tensor<?x2xf32>, index
}"""
    c, e, v, n, s, w, t, splat, d = interpret(text, X, 2)
    same(c, X.reshape(12))
    same(e, X.reshape(4, 3))
    same(v, X[2, 1])
    inserted = X.copy()
    inserted[1, 1] = X[2, 1]
    same(n, inserted)
    same(s, X[1:, 1::2])
    placed = X.copy()
    placed[:2, :2] = X[1:, 1::2]
    same(w, placed)
    same(t, np.concatenate([X, X]))
    same(splat, np.full((2, 2), X[2, 1]))
    same(d, np.int64(2))


def test_tensor_pad():
    text = """
func.func @main(%x: tensor<3x4xf32>, %n: index) -> tensor<?x6xf32> {
  %p = "tensor.pad"(%x, %n) <{static_low = array<i64: -9223372036854775808, 1>,
      static_high = array<i64: 0, 1>, operandSegmentSizes = array<i32: 1, 1, 0>}> ({
    ^bb0(%i: index, %j: index):
      %s = arith.addi %i, %j : index
      %k = arith.index_cast %s : index to i32
      %f = arith.sitofp %k : i32 to f32
      "tensor.yield"(%f) : (f32) -> ()
  }) : (tensor<3x4xf32>, index) -> tensor<?x6xf32>
  func.return %p : tensor<?x6xf32>
}"""
    expected = np.add.outer(np.arange(5), np.arange(6)).astype(np.float32)
    expected[2:, 1:5] = X
    same(interpret(text, X, 2), expected)


def test_tensor_reshape():
    text = """
func.func @main(%x: tensor<3x4xf32>, %s: tensor<2xindex>) -> tensor<6x2xf32> {
  %y = tensor.reshape %x(%s) : (tensor<3x4xf32>, tensor<2xindex>) -> tensor<6x2xf32>
  func.return %y : tensor<6x2xf32>
}"""
    same(interpret(text, X, np.array([6, 2])), X.reshape(6, 2))
    with pytest.raises(OpError, match=r"cannot evaluate 'tensor.reshape': "):
        interpret(text, X, np.array([5, 2]))


def test_tensor_cast_is_checked():
    text = """
func.func @main(%x: tensor<?xf32>) -> tensor<4xf32> {
  %y = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
  func.return %y : tensor<4xf32>
}"""
    same(interpret(text, X[0]), X[0])
    refused(
        "cannot evaluate 'tensor.cast': expected 'tensor<4xf32>', but the sizes are "
        "[3]",
        text,
        X[0, :3],
    )


# Executor.

POOLS = """
executor.pool @ws {{size = 64}}
graph.weight @w = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
tir.func @double(read %a: memref<4xf32>, write %o: memref<4xf32>) {{
  tir.nest dims [parallel 4] ins(%a[d0] : memref<4xf32>) outs(%o[d0] : memref<4xf32>)
    finish (%v: f32) {{
      %y = arith.addf %v, %v : f32
      tir.yield %y : f32
    }}
  tir.return
}}
func.func @main(%x: memref<4xf32>,
                %y: memref<4xf32> {{graph.name = "y", tir.result = 0 : i64}}) {{
  %a = executor.view @ws[0] : memref<4xf32>
  %b = executor.view @ws[{0}] : memref<4xf32>
  executor.call @double(%x, %a : memref<4xf32>, memref<4xf32>)
  %w = executor.constant @w : memref<4xf32>
  executor.call @double(%w, %b : memref<4xf32>, memref<4xf32>)
  %c = executor.alloc() : memref<4xf32>
  executor.copy %a, %c : memref<4xf32>, memref<4xf32>
  executor.call @double(%c, %y : memref<4xf32>, memref<4xf32>)
  executor.free %c : memref<4xf32>
  func.return
}}"""


def test_pools():
    x = np.array([1, 2, 3, 4], np.float32)
    same(interpret(POOLS.format(16), x), 4 * x)


def test_a_wrong_plan_gives_wrong_numbers():
    x = np.array([1, 1, 1, 1], np.float32)
    same(interpret(POOLS.format(8), x), np.array([4, 4, 4, 8], np.float32))


def test_alloc_in_a_pool():
    text = """
executor.pool @ws {size = 64}
func.func @main() -> (f32, f32) {
  %a = tir.alloc {pool = @ws, offset = 16} : memref<4xf32>
  %b = executor.view @ws[16] : memref<4xf32>
  %c0 = arith.constant 0 : index
  %old = memref.load %b[%c0] : memref<4xf32>
  %v = arith.constant 3.0 : f32
  memref.store %v, %a[%c0] : memref<4xf32>
  %new = memref.load %b[%c0] : memref<4xf32>
  func.return %old, %new : f32, f32
}"""
    old, new = interpret(text)
    assert np.isnan(old) and new == 3


def test_asynchronous_copy_is_done_at_the_wait():
    text = """
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) -> (f32, f32) {
  %t = tir.copy_async %x, %y : memref<4xf32>, memref<4xf32>
  %c1 = arith.constant 1 : index
  %a = memref.load %y[%c1] : memref<4xf32>
  tir.wait %t
  %b = memref.load %y[%c1] : memref<4xf32>
  func.return %a, %b : f32, f32
}"""
    a, b = interpret(text, X[1], X[0])
    assert (a, b) == (X[0, 1], X[1, 1])


# Loops and branches.


def test_loops():
    text = """
func.func @main(%n: index) -> (index, i32, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %sum = scf.for %i = %c0 to %n step %c2 iter_args(%s = %c0) -> (index) {
    %t = arith.addi %s, %i : index
    scf.yield %t : index
  }
  %z = arith.constant 0 : i32
  %big = arith.constant 100 : i32
  %one = arith.constant 1 : i32
  %w = scf.while (%a = %one) : (i32) -> i32 {
    %more = arith.cmpi slt, %a, %big : i32
    scf.condition(%more) %a : i32
  } do {
  ^bb0(%b: i32):
    %d = arith.addi %b, %b : i32
    scf.yield %d : i32
  }
  %odd = arith.cmpi eq, %n, %c1 : index
  %k = scf.if %odd -> (index) {
    scf.yield %c1 : index
  } else {
    scf.yield %sum : index
  }
  func.return %sum, %w, %k : index, i32, index
}"""
    assert [int(x) for x in interpret(text, 9)] == [20, 128, 20]
    assert [int(x) for x in interpret(text, 1)] == [0, 128, 1]


def test_switch_and_region():
    text = """
func.func @main(%n: index) -> i32 {
  %r = scf.execute_region -> (i32) {
    %s = scf.index_switch %n -> i32
    case 2 {
      %a = arith.constant 20 : i32
      scf.yield %a : i32
    }
    case 5 {
      %b = arith.constant 50 : i32
      scf.yield %b : i32
    }
    default {
      %c = arith.constant -1 : i32
      scf.yield %c : i32
    }
    scf.yield %s : i32
  }
  func.return %r : i32
}"""
    assert [int(interpret(text, n)) for n in (2, 5, 7)] == [20, 50, -1]


def test_parallel():
    text = """
func.func @main(%n: index) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %r = "scf.parallel"(%c0, %c1, %n, %n, %c1, %c1, %zero) <{
      operandSegmentSizes = array<i32: 2, 2, 2, 1>}> ({
  ^bb0(%i: index, %j: index):
    %p = arith.muli %i, %j : index
    %q = arith.index_cast %p : index to i64
    scf.reduce(%q : i64) {
    ^bb1(%a: i64, %b: i64):
      %s = arith.addi %a, %b : i64
      scf.reduce.return %s : i64
    }
  }) : (index, index, index, index, index, index, i64) -> i64
  func.return %r : i64
}"""
    assert int(interpret(text, 4)) == 6 * 6


def test_branches():
    """The greatest common divisor."""
    text = """
func.func @main(%a: i32, %b: i32) -> i32 {
  cf.br ^head(%a, %b : i32, i32)
^head(%x: i32, %y: i32):
  %zero = arith.constant 0 : i32
  %done = arith.cmpi eq, %y, %zero : i32
  cf.cond_br %done, ^exit(%x : i32), ^step(%x, %y : i32, i32)
^step(%u: i32, %v: i32):
  %r = arith.remsi %u, %v : i32
  cf.br ^head(%v, %r : i32, i32)
^exit(%result: i32):
  func.return %result : i32
}"""
    assert int(interpret(text, 84, 36)) == 12


def test_switch():
    text = """
func.func @main(%n: i32) -> i32 {
  %a = arith.constant 1 : i32
  %b = arith.constant 2 : i32
  cf.switch %n : i32, [
    default: ^other(%n : i32),
    7: ^exit(%a : i32),
    -8: ^exit(%b : i32)
  ]
^other(%x: i32):
  cf.br ^exit(%x : i32)
^exit(%result: i32):
  func.return %result : i32
}"""
    assert [int(interpret(text, n)) for n in (7, -8, 5)] == [1, 2, 5]


def test_assertion():
    text = """
func.func @main(%n: i1) {
  cf.assert %n, "n is set"
  func.return
}"""
    interpret(text, True)
    refused("assertion failed: n is set", text, False)


def test_affine():
    text = """
func.func @main(%x: memref<12xf32>, %n: index) -> (f32, index) {
  %z = arith.constant 0.0 : f32
  %s = affine.for %i = 0 to 4 iter_args(%a = %z) -> (f32) {
    %v = "affine.load"(%x, %i) <{map = affine_map<(d0) -> (d0 * 3)>}>
        : (memref<12xf32>, index) -> f32
    %b = arith.addf %a, %v : f32
    "affine.yield"(%b) : (f32) -> ()
  }
  %m = "affine.min"(%n) <{map = affine_map<(d0) -> (d0 floordiv 2, 5)>}>
      : (index) -> index
  func.return %s, %m : f32, index
}"""
    s, m = interpret(text, X.reshape(12), 8)
    assert (float(s), int(m)) == (18, 4)


# Kernels and C functions.

CALL = """
tir.func @main(read %a: memref<4xi8>, read_write %o: memref<4xi8>,
               scratch %s: memref<4xi8>) {
  "memref.copy"(%a, %s) : (memref<4xi8>, memref<4xi8>) -> ()
  tir.nest dims [parallel 4]
      ins(%s[d0] : memref<4xi8>) outs(%o[d0] combine add : memref<4xi8>)
    finish (%v: i8) {
      %y = arith.addi %v, %v : i8
      tir.yield %y : i8
    }
  tir.return
}"""


def test_kernel_arguments():
    """All are passed, but for scratch at the end, and what is written comes back."""
    a, o = np.array([1, 2, 3, 4], np.int8), np.ones(4, np.int8)
    same(interpret(CALL, a, o), o + 2 * a)


def test_kernel_on_unsigned_tensors():
    text = """
tir.func @k(read %a: memref<2xi8>, write %o: memref<2xi8>) {
  tir.nest dims [parallel 2] ins(%a[d0] : memref<2xi8>) outs(%o[d0] : memref<2xi8>)
    finish (%v: i8) {
      %c = arith.constant 2 : i8
      %y = arith.divui %v, %c : i8
      tir.yield %y : i8
    }
  tir.return
}
func.func @main(%x: tensor<2xui8>) -> tensor<2xui8> {
  %d = tensor.empty() : tensor<2xui8>
  %y = tir.call @k(%x : tensor<2xui8>) outs(%d : tensor<2xui8>)
  func.return %y : tensor<2xui8>
}"""
    same(interpret(text, np.array([200, 3], np.uint8)), np.array([100, 1], np.uint8))


def test_kernel_does_not_change_its_operands():
    text = """
tir.func @k(read_write %o: memref<2xf32>) {
  tir.nest dims [parallel 2] ins(%o[d0] : memref<2xf32>) outs(%o[d0] : memref<2xf32>)
    finish (%v: f32) {
      %y = arith.addf %v, %v : f32
      tir.yield %y : f32
    }
  tir.return
}
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %y = tir.call @k() outs(%x : tensor<2xf32>)
  func.return %x, %y : tensor<2xf32>, tensor<2xf32>
}"""
    x, y = interpret(text, np.ones(2, np.float32))
    same(x, np.ones(2, np.float32))
    same(y, np.full(2, 2, np.float32))


EXTERN = """
tir.func @main(read %x: memref<4xf32>, write %o: memref<4xf32>) {
  %n = arith.constant 4 : i32
  %ws = tir.alloc : memref<16xi8>
  %ctx = tir.struct(%ws, %n) : !tir.struct<"ctx", (memref<16xi8>, i32)>
  %s = tir.extern "scale"(ref %ctx, %x, write %o, %n) status 0
      : (!tir.struct<"ctx", (memref<16xi8>, i32)>, memref<4xf32>, memref<4xf32>, i32)
      -> i32
  tir.return
}"""


def test_c_function():
    def scale(context: Any, x: Any, o: Any, n: Any) -> int:
        workspace, count = context
        assert workspace.size == 16 and count == n == 4
        workspace.view(np.float32)[:] = x * 3
        o[:] = workspace.view(np.float32)
        return 0

    o = np.zeros(4, np.float32)
    same(interpret(EXTERN, X[1], o, externs={"scale": scale}), 3 * X[1])
    same(interpret(EXTERN, X[1], externs={"scale": scale}), 3 * X[1])

    def fail(*arguments: Any) -> int:
        return -3

    refused(
        "'scale' returned status -3, but expected 0",
        EXTERN,
        X[1],
        externs={"scale": fail},
    )
    refused(
        "no reference evaluation for the external 'scale'; did you mean 'scales'?",
        EXTERN,
        X[1],
        externs={"scales": fail},
    )


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
