"""
Calls, failures and C functions, lowered to machine code and run.
"""

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llvm_cases import compiled, lowered, parse, zeros

from transom.dialects import llvm
from transom.dialects.diagnostics import OpError
from transom.lowering.emit_llvm import to_llvm_text
from transom.runtime import jit

KERNEL = """
tir.func @scale(read %x: memref<?xf32>, read %k: f32,
                write %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = arith.mulf %v, %k : f32
    memref.store %w, %y[%i] : memref<?xf32>
  }
  tir.return
}
"""


def test_a_kernel_is_called() -> None:
    """With static sizes where the kernel takes dynamic ones."""
    run = compiled(
        KERNEL
        + """
    func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) {
      %k = arith.constant 3.0 : f32
      tir.call @scale(%x : memref<8xf32>, %k : f32) outs(%y : memref<8xf32>)
      func.return
    }
    """
    )
    x, y = np.arange(8, dtype=np.float32), zeros(8)
    assert run("main", x, y) == 0
    assert (y == 3 * x).all()
    assert run.messages == []


def test_a_kernel_is_internal_and_keeps_its_promises() -> None:
    module = lowered(KERNEL)
    (kernel,) = module.body.ops
    line = to_llvm_text(module).split("\n")[0]
    assert line == (
        "define internal i32 @scale(ptr noalias readonly %0, i64 %1, float %2, "
        "ptr noalias %3, i64 %4) noinline nounwind {"
    )
    assert kernel.attributes == {}


def test_a_call_on_memrefs_in_tir() -> None:
    run = compiled("""
    tir.func @add(read %x: memref<4xf32>, write %y: memref<4xf32>,
                  scratch %t: memref<4xf32>) {
      %c0 = arith.constant 0 : index
      %v = vector.load %x[%c0] : memref<4xf32>, vector<4xf32>
      vector.store %v, %t[%c0] : memref<4xf32>, vector<4xf32>
      %w = vector.load %t[%c0] : memref<4xf32>, vector<4xf32>
      %s = arith.addf %v, %w : vector<4xf32>
      vector.store %s, %y[%c0] : memref<4xf32>, vector<4xf32>
      tir.return
    }
    func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
      %t = memref.alloca() : memref<4xf32>
      tir.call @add(%x : memref<4xf32>) outs(%y : memref<4xf32>)
          scratch(%t : memref<4xf32>)
      func.return
    }
    """)
    x, y = np.arange(4, dtype=np.float32), zeros(4)
    assert run("main", x, y) == 0
    assert (y == 2 * x).all()


ASSERTIONS = """
func.func @check(%n: index) {
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %a = arith.cmpi ne, %n, %c3 : index
  cf.assert %a, "not three"
  scf.if %a {
    %b = arith.cmpi slt, %n, %c5 : index
    cf.assert %b, "below five"
  }
  func.return
}
func.func @twice(%n: index, %y: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  func.call @check(%n) : (index) -> ()
  memref.store %one, %y[%c0] : memref<1xi32>
  %m = arith.addi %n, %n : index
  func.call @check(%m) : (index) -> ()
  %ok = arith.constant false
  cf.assert %ok, "not three"
  func.return
}
"""


def test_assertions_return_their_number() -> None:
    run = compiled(ASSERTIONS)
    assert run.messages == ["not three", "below five"]
    assert [run("check", n) for n in (1, 3, 4, 5)] == [0, 1, 0, 2]


def test_a_failure_passes_through_callers() -> None:
    run = compiled(ASSERTIONS)
    for n, status, reached in ((3, 1, 0), (4, 2, 1), (1, 1, 1), (9, 2, 0)):
        y = zeros(1, np.int32)
        assert (run("twice", n, y), y[0]) == (status, reached)


def test_numbers_continue_after_known_messages() -> None:
    text = (
        """
    builtin.module attributes {executor.messages = ["old", "below five"]} {
    """
        + ASSERTIONS
        + "}"
    )
    module = lowered(text)
    assert str(module.attributes["executor.messages"]) == (
        '["old", "below five", "not three"]'
    )


def test_a_call_that_cannot_fail_is_not_checked() -> None:
    text = to_llvm_text(
        lowered("""
    func.func private @quiet() {
      func.return
    }
    func.func @f() -> i32 {
      func.call @quiet() : () -> ()
      %r = arith.constant 7 : i32
      func.return %r : i32
    }
    """)
    )
    assert "br " not in text
    assert "define internal i32 @quiet()" in text


CANNOT_FAIL = [
    'func.func @f(%c: i1) -> i32 { cf.assert %c, "no" '
    "%r = arith.constant 0 : i32 func.return %r : i32 }",
    "func.func private @g() func.func @f() -> i32 { func.call @g() : () -> () "
    "%r = arith.constant 0 : i32 func.return %r : i32 }",
    "func.func @f(%n: index) -> i32 { %t = memref.alloc(%n) : memref<?xf32> "
    "%r = arith.constant 0 : i32 func.return %r : i32 }",
]


@pytest.mark.parametrize("text", CANNOT_FAIL)
def test_a_function_with_results_has_no_status(text: str) -> None:
    with pytest.raises(OpError) as caught:
        lowered(text)
    assert (
        "expected a function without results, which returns a status, around an op "
        "that may fail" in str(caught.value)
    )


def test_a_call_on_tensors_is_refused() -> None:
    with pytest.raises(OpError) as caught:
        lowered("""
        tir.func @k(read memref<4xf32>, write memref<4xf32>)
        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
          %d = tensor.empty() : tensor<4xf32>
          %y = tir.call @k(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
          func.return %y : tensor<4xf32>
        }
        """)
    assert "ConvertFunction: no LLVM type for 'tensor<4xf32>'" in str(caught.value)


def test_weights_are_addresses() -> None:
    text = """
    graph.weight @"conv.1" = dense<1.0> : tensor<2x3xf32>
    graph.weight @flags = dense<true> : tensor<4xi1>
    executor.pool @ws {size = 64}
    func.func @f(%i: index, %j: index) -> f32 {
      %w = executor.constant @"conv.1" : memref<2x3xf32>
      %v = memref.load %w[%i, %j] : memref<2x3xf32>
      func.return %v : f32
    }
    """
    llvm_text = to_llvm_text(lowered(text))
    assert "@conv.1 = external constant [6 x float]" in llvm_text
    assert "@weight.flags = external constant [4 x i8]" in llvm_text
    weights = np.arange(6, dtype=np.float32).reshape(2, 3)
    run = compiled(text, symbols={"conv.1": weights.ctypes.data})
    assert run("f", 1, 2) == 5


def test_locations_and_names_survive() -> None:
    module = lowered("""
    func.func @f(%x: memref<?xf32> {graph.name = "x"}, %k: f32) attributes {test.a} {
      %0 = arith.addf %k, %k {test.b} : f32 loc("m.onnx":3:1)
      func.return
    }
    """)
    (function,) = module.body.ops
    assert "test.a" in function.attributes
    assert 'graph.name = "x"' in str(function.properties["arg_attrs"])
    add = next(op for op in module.walk() if op.name == "llvm.fadd")
    assert "test.b" in add.attributes
    assert 'm.onnx":3:1' in str(add.location)


needs_c = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")

C_SOURCE = """
#include <stdint.h>
struct dims { int32_t n, h; };
struct ctx { void *buf; int32_t size; };
struct mixed { float a; int32_t b; double c; };
struct pair { float a, b; };
struct three { double a, b, c; };
struct small { int8_t a; uint8_t b; int16_t c; };

int32_t fill(const struct ctx *c, const struct dims *d, float *out) {
  if (!c->buf) return -1;
  float *buf = c->buf;
  for (int i = 0; i < c->size; i++) buf[i] = d->n * 100 + d->h + i;
  for (int i = 0; i < c->size; i++) out[i] = buf[i];
  return 0;
}
double by_value(struct mixed m, struct pair p, struct three t, struct small s,
                struct dims d) {
  return m.a + 10 * m.b + 100 * m.c + 1000 * p.a + 10000 * p.b + t.a + t.b * t.c
      + s.a + s.b + s.c + d.n * d.h;
}
double many(double a, struct pair p, double b, double c, double d, double e, double f,
            double g, double h, struct pair q, int64_t i, int64_t j, int64_t k,
            int64_t l, int64_t m, struct dims x, struct ctx y) {
  return a + p.a + p.b + b + c + d + e + f + g + h + 2 * q.a + 3 * q.b + i + j + k + l
      + m + x.n * 1000 + x.h * 10000 + y.size;
}
int32_t narrow(int8_t a, int16_t b, _Bool c) { return a * 1000 + b * 10 + c; }
"""


@pytest.fixture(scope="module")
def c_library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("c")
    (folder / "lib.c").write_text(C_SOURCE)
    library = folder / "lib.so"
    command = ["cc", "-O1", "-shared", "-fPIC", "lib.c", "-o", str(library)]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(library))


def symbols_of(library: Any, *names: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in names:
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        assert address is not None
        found[name] = address
    return found


FILL = """
tir.func @k(write %o: memref<4xf32>, read %n: i32) {
  %h = arith.constant 7 : i32
  %size = arith.constant 4 : i32
  %w = tir.alloc {alignment = 64} : memref<4xf32>
  %c = tir.struct(%w, %size) : !tir.struct<"ctx", (memref<4xf32>, i32)>
  %d = tir.struct(%n, %h) : !tir.struct<"dims", (i32, i32)>
  %s = tir.extern "fill"(scratch ref %c, ref %d, write %o) status STATUS
      : (!tir.struct<"ctx", (memref<4xf32>, i32)>, !tir.struct<"dims", (i32, i32)>,
         memref<4xf32>) -> i32
  tir.return
}
func.func @main(%o: memref<8xf32>, %n: i32) {
  %v = memref.subview %o[4] [4] [1]
      : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %w = memref.reinterpret_cast %o to offset: [0], sizes: [4], strides: [1]
      : memref<8xf32> to memref<4xf32, strided<[1]>>
  %z = "memref.cast"(%w) : (memref<4xf32, strided<[1]>>) -> memref<4xf32>
  executor.call @k(%z, %n : memref<4xf32>, i32)
  func.return
}
"""


@needs_c
def test_structs_by_pointer(c_library: Any) -> None:
    symbols = symbols_of(c_library, "fill")
    run = compiled(FILL.replace("STATUS", "0"), symbols=symbols)
    y = zeros(8)
    assert run("main", y, 5) == 0
    assert y.tolist() == [507, 508, 509, 510, 0, 0, 0, 0]
    assert run.messages == ["'fill' did not return 0, in '@k'"]


@needs_c
def test_a_wrong_status_fails_the_kernel(c_library: Any) -> None:
    symbols = symbols_of(c_library, "fill")
    run = compiled(FILL.replace("STATUS", "3"), symbols=symbols)
    assert run("main", zeros(8), 5) == 1
    assert run.messages == ["'fill' did not return 3, in '@k'"]


def host_module(text: str) -> str:
    return (
        f'builtin.module attributes {{llvm.target_triple = "{jit.host_triple()}"}} '
        f"{{ {text} }}"
    )


BY_VALUE = """
func.func @f(%a: f32, %b: i32, %c: f64) -> f64 {
  %n = arith.constant 2 : i32
  %h = arith.constant 3 : i32
  %t = arith.constant 4.0 : f64
  %i = arith.constant -5 : i8
  %u = arith.constant 200 : i8
  %k = arith.constant 300 : i16
  %m = tir.struct(%a, %b, %c) : !tir.struct<"mixed", (f32, i32, f64)>
  %p = tir.struct(%a, %a) : !tir.struct<"pair", (f32, f32)>
  %q = tir.struct(%t, %c, %t) : !tir.struct<"three", (f64, f64, f64)>
  %s = tir.struct(%i, %u, %k) : !tir.struct<"small", (i8, i8, i16)>
  %d = tir.struct(%n, %h) : !tir.struct<"dims", (i32, i32)>
  %r = tir.extern "by_value"(%m, %p, %q, %s, %d)
      : (!tir.struct<"mixed", (f32, i32, f64)>, !tir.struct<"pair", (f32, f32)>,
         !tir.struct<"three", (f64, f64, f64)>, !tir.struct<"small", (i8, i8, i16)>,
         !tir.struct<"dims", (i32, i32)>) -> f64
  func.return %r : f64
}
"""


@needs_c
def test_structs_by_value(c_library: Any) -> None:
    run = compiled(host_module(BY_VALUE), symbols=symbols_of(c_library, "by_value"))
    a, b, c = 1.5, 7, 0.25
    expected = a + 10 * b + 100 * c + 11000 * a + 4 + c * 4 + (-5 + 200 + 300) + 6
    assert run("f", a, b, c) == expected


MANY = """
func.func @f(%a: f64, %i: i64, %w: memref<4xf32>) -> f64 {
  %x = arith.constant 1.0 : f32
  %y = arith.constant 2.0 : f32
  %n = arith.constant 3 : i32
  %p = tir.struct(%x, %y) : !tir.struct<"pair", (f32, f32)>
  %d = tir.struct(%n, %n) : !tir.struct<"dims", (i32, i32)>
  %c = tir.struct(%w, %n) : !tir.struct<"ctx", (memref<4xf32>, i32)>
  %r = tir.extern "many"(%a, %p, %a, %a, %a, %a, %a, %a, %a, %p, %i, %i, %i, %i, %i,
                         %d, %c)
      : (f64, !tir.struct<"pair", (f32, f32)>, f64, f64, f64, f64, f64, f64, f64,
         !tir.struct<"pair", (f32, f32)>, i64, i64, i64, i64, i64,
         !tir.struct<"dims", (i32, i32)>,
         !tir.struct<"ctx", (memref<4xf32>, i32)>) -> f64
  func.return %r : f64
}
"""


@needs_c
def test_structs_after_the_registers_are_used_up(c_library: Any) -> None:
    run = compiled(host_module(MANY), symbols=symbols_of(c_library, "many"))
    expected = 8 * 0.5 + 3 + 2 + 6 + 5 * 11 + 3000 + 30000 + 3
    assert run("f", 0.5, 11, zeros(4)) == expected


@needs_c
def test_narrow_numbers_are_extended(c_library: Any) -> None:
    run = compiled(
        """
    func.func @f(%a: i32, %b: i32, %c: i1) -> i32 {
      %x = arith.trunci %a : i32 to i8
      %y = arith.trunci %b : i32 to i16
      %r = tir.extern "narrow"(%x, %y, %c) : (i8, i16, i1) -> i32
      func.return %r : i32
    }
    """,
        symbols=symbols_of(c_library, "narrow"),
    )
    assert run("f", 0x1FFFE, 0x7FFF0003, True) == -2000 + 30 + 1


def test_a_struct_by_value_needs_a_machine() -> None:
    with pytest.raises(OpError, match=r"to name its machine by 'llvm.target_triple'"):
        lowered(BY_VALUE)
    with pytest.raises(OpError, match="no rule to pass a struct by value on 'riscv64-"):
        lowered(host_module(BY_VALUE).replace(jit.host_triple(), "riscv64-unknown-elf"))


def test_structs_on_aarch64() -> None:
    """Not run here: LLVM takes the text, and the parts are those of the standard."""
    triple = "aarch64-unknown-linux-gnu"
    text = to_llvm_text(
        lowered(host_module(BY_VALUE).replace(jit.host_triple(), triple))
    )
    assert jit.emit_object(text, triple=triple)
    assert (
        "declare double @by_value([2 x i64], [2 x float], [3 x double], i64, i64)"
        in (text)
    )


def test_a_missing_c_function_is_named() -> None:
    with pytest.raises(jit.JitError, match="undefined symbols: 'fill'"):
        compiled(FILL.replace("STATUS", "0"))


def test_one_name_called_with_two_types() -> None:
    text = """
    func.func @f(%a: i32, %b: f32) {
      tir.extern "g"(%a) : (i32) -> ()
      tir.extern "g"(%b) : (f32) -> ()
      func.return
    }
    """
    with pytest.raises(OpError) as caught:
        lowered(text)
    assert caught.value.message == (
        "expected 'g' to be called with one type, but got '!llvm.func<void (f32)>'"
    )
    assert "called with '!llvm.func<void (i32)>' here" in str(caught.value)


@needs_c
def test_an_object_runs_in_a_c_program(tmp_path: Path) -> None:
    text = to_llvm_text(
        lowered(
            KERNEL
            + """
    func.func @main_entry(%x: memref<?xf32>, %y: memref<?xf32>) {
      %c0 = arith.constant 0 : index
      %n = memref.dim %x, %c0 : memref<?xf32>
      %m = memref.dim %y, %c0 : memref<?xf32>
      %same = arith.cmpi eq, %n, %m : index
      cf.assert %same, "sizes differ"
      %k = arith.constant 0.5 : f32
      executor.call @scale(%x, %k, %y : memref<?xf32>, f32, memref<?xf32>)
      func.return
    }
    """
        )
    )
    (tmp_path / "k.o").write_bytes(jit.emit_object(text))
    (tmp_path / "main.c").write_text("""
    #include <stdint.h>
    #include <stdio.h>
    int32_t main_entry(const float *, int64_t, float *, int64_t);
    int main(void) {
      float x[3] = {1, 2, 3}, y[3];
      int32_t good = main_entry(x, 3, y, 3), bad = main_entry(x, 3, y, 2);
      printf("%d %d %g %g %g\\n", good, bad, y[0], y[1], y[2]);
    }
    """)
    subprocess.run(["cc", "main.c", "k.o", "-o", "main"], cwd=tmp_path, check=True)
    run = subprocess.run(
        [str(tmp_path / "main")], capture_output=True, text=True, check=True
    )
    assert run.stdout == "0 1 0.5 1 1.5\n"


def test_nothing_changes_when_something_is_refused() -> None:
    text = """
    func.func @f(%a: i32, %b: i32) -> i32 {
      %c = arith.addi %a, %b : i32
      %r = math.ipowi %c, %b : i32
      func.return %r : i32
    }
    """
    from transom.lowering.convert_to_llvm import ConvertToLlvmPass
    from transom.registry import new_context

    module = parse(text)
    before = str(module)
    with pytest.raises(OpError):
        ConvertToLlvmPass().apply(new_context(), module)
    assert str(module) == before


OWN_NUMBERS = """
tir.func @first(read %n: index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %not1 = arith.cmpi ne, %n, %c1 : index
  cf.assert %not1, "one"
  %not2 = arith.cmpi ne, %n, %c2 : index
  cf.assert %not2, "two"
  tir.return
}
tir.func @second(read %n: index) {
  %c3 = arith.constant 3 : index
  %not3 = arith.cmpi ne, %n, %c3 : index
  cf.assert %not3, "three"
  tir.return
}
tir.func @third(read %n: index) {
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %not4 = arith.cmpi ne, %n, %c4 : index
  cf.assert %not4, "four"
  %not5 = arith.cmpi ne, %n, %c5 : index
  cf.assert %not5, "one"
  %not6 = arith.cmpi ne, %n, %c6 : index
  cf.assert %not6, "three"
  tir.return
}
func.func @main(%n: index) {
  tir.call @first(%n : index) outs()
  tir.call @second(%n : index) outs()
  tir.call @third(%n : index) outs()
  func.return
}
"""


def test_kernels_have_numbers_of_their_own() -> None:
    """Their code says nothing of the module; calls turn them into the module's."""
    run = compiled(OWN_NUMBERS)
    assert run.messages == ["one", "two", "three", "four"]
    assert [run("main", n) for n in range(8)] == [0, 1, 2, 3, 4, 1, 3, 0]
    start, end = (OWN_NUMBERS.index(f) for f in ("tir.func @second", "func.func"))
    alone, together = lowered(OWN_NUMBERS[start:end]), lowered(OWN_NUMBERS)
    kernels = [
        {op.sym_name.data: str(op) for op in module.ops if isinstance(op, llvm.FuncOp)}
        for module in (alone, together)
    ]
    for name in ("second", "third"):
        assert kernels[0][name] == kernels[1][name]


def test_kernels_that_others_may_call_have_numbers_of_the_module() -> None:
    """So do those that call functions, whose numbers they pass on."""
    public = OWN_NUMBERS.replace("tir.func", "tir.func public")
    run = compiled(public)
    assert [run("third", n) for n in range(3, 8)] == [0, 4, 1, 3, 0]
    assert [run("main", n) for n in range(8)] == [0, 1, 2, 3, 4, 1, 3, 0]
    calls = OWN_NUMBERS.replace(
        "@second(read %n: index) {",
        "@second(read %n: index) {\n  tir.call @third(%n : index) outs()",
    )
    run = compiled(calls)
    assert run.messages == ["one", "two", "three", "four"]
    assert [run("main", n) for n in range(8)] == [0, 1, 2, 3, 4, 1, 3, 0]
