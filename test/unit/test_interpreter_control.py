"""
Loops, branches between blocks, assertions.
"""

from interpreter_cases import X, interpret, refused


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
