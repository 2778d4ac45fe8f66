"""A module as one text per kernel and one for main, and objects put together."""

import ctypes
from typing import Any

import pytest
from llvm_cases import lowered

from transom.lowering.emit_llvm import SYMBOL, to_llvm_text, to_object_texts
from transom.runtime import jit
from transom.runtime.elf_symbols import read_symbols, rename_symbol

TEXT = """
tir.func @double(read %x: memref<4xi32>, write %y: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<4xi32>
  %w = arith.addi %v, %v : i32
  memref.store %w, %y[%c0] : memref<4xi32>
  tir.return
}
tir.func @shout(read %x: memref<4xi32>) {
  tir.extern "shouted"(%x) : (memref<4xi32>) -> ()
  tir.return
}
tir.func public @seen(write %y: memref<4xi32>) {
  tir.return
}
tir.func @caller(read %x: memref<4xi32>, write %y: memref<4xi32>) {
  tir.call @double(%x : memref<4xi32>) outs(%y : memref<4xi32>)
  tir.return
}
func.func private @helper(%y: memref<4xi32>) {
  func.return
}
func.func @main(%x: memref<4xi32>, %y: memref<4xi32>) {
  tir.call @double(%x : memref<4xi32>) outs(%y : memref<4xi32>)
  tir.call @shout(%x : memref<4xi32>) outs()
  func.call @helper(%y) : (memref<4xi32>) -> ()
  func.return
}
"""


def test_kernels_that_stand_alone_have_a_text() -> None:
    """Others stay: those that anybody sees, that call others, and plain functions."""
    texts = to_object_texts(lowered(TEXT))
    assert list(texts.kernels) == ["double", "shout"]
    double, shout = texts.kernels.values()
    assert double.text.startswith(
        f"define hidden i32 @{SYMBOL}(ptr noalias readonly %0, ptr noalias %1) "
        "noinline nounwind {\n"
    )
    assert "declare" not in double.text
    assert double.declaration == (
        f"declare hidden i32 @{SYMBOL}(ptr noalias readonly, ptr noalias) "
        "noinline nounwind"
    )
    assert "declare void @shouted(ptr)" in shout.text
    lines = [
        line
        for line in texts.main.splitlines()
        if line.startswith(("define", "declare"))
    ]
    assert lines == [
        "declare hidden i32 @double(ptr noalias readonly, ptr noalias) noinline "
        "nounwind",
        "declare hidden i32 @shout(ptr noalias readonly) noinline nounwind",
        "define i32 @seen(ptr noalias %0) noinline nounwind {",
        "define internal i32 @caller(ptr noalias readonly %0, ptr noalias %1) "
        "noinline nounwind {",
        "define internal i32 @helper(ptr %0) {",
        "define i32 @main(ptr %0, ptr %1) {",
    ]


def test_the_text_of_a_kernel_says_nothing_of_its_module() -> None:
    end = TEXT.index("tir.func @shout")
    alone = to_object_texts(lowered(TEXT[:end].replace("@double", "@renamed")))
    together = to_object_texts(lowered(TEXT))
    assert alone.kernels["renamed"] == together.kernels["double"]


def test_a_name_that_is_too_long_stays_in_main() -> None:
    fits, too_long = "k" * len(SYMBOL), "k" * (len(SYMBOL) + 1)
    text = TEXT.replace("@double", f"@{fits}").replace("@shout", f"@{too_long}")
    assert list(to_object_texts(lowered(text)).kernels) == [fits]


def test_the_objects_do_what_one_object_does() -> None:
    module = lowered(TEXT)
    shouted: list[int] = []
    c_type = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_int32))

    def shout(values: Any) -> None:
        shouted.append(values[0])

    function = c_type(shout)
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    symbols = {"shouted": address}
    texts = to_object_texts(module)
    objects = [jit.emit_object(texts.main)]
    for name, kernel in texts.kernels.items():
        objects.append(rename_symbol(jit.emit_object(kernel.text), SYMBOL, name))
    for data in ([jit.emit_object(to_llvm_text(module))], objects):
        loaded = jit.load_objects(data, symbols=symbols)
        assert loaded.symbols == ["main", "seen"]
        main = loaded.function("main", ctypes.c_int32, *[ctypes.c_void_p] * 2)
        x, y = (ctypes.c_int32 * 4)(21), (ctypes.c_int32 * 4)()
        assert main(ctypes.addressof(x), ctypes.addressof(y)) == 0
        assert y[0] == 42
    assert shouted == [21, 21]


def test_a_missing_object_is_named() -> None:
    texts = to_object_texts(lowered(TEXT))
    main = jit.emit_object(texts.main)
    with pytest.raises(jit.JitError, match="undefined symbols: 'double', 'shout'"):
        jit.load_objects([main])


@pytest.mark.parametrize("triple", ["x86_64-linux-gnu", "thumbv7em-none-eabi"])
@pytest.mark.parametrize("new", ["k", "né", "k" * len(SYMBOL)])
def test_symbols_are_renamed_in_objects(triple: str, new: str) -> None:
    """Of any word size; nothing else of the object changes."""
    text = (
        f"declare i32 @other()\ndefine hidden i32 @{SYMBOL}() {{\n"
        "  %a = call i32 @other()\n  ret i32 %a\n}\ndefine i32 @open() { ret i32 0 }"
    )
    data = jit.emit_object(text, triple=triple)
    before, renamed = read_symbols(data), rename_symbol(data, SYMBOL, new)
    after = read_symbols(renamed)
    assert (before.hidden, after.hidden) == ((SYMBOL,), (new,))
    assert before.defined == after.defined == ("open",)
    assert before.required == after.required and "other" in after.required
    assert len(renamed) == len(data)
    assert rename_symbol(data, SYMBOL, SYMBOL) == data


def test_a_name_without_room_is_a_mistake_of_ours() -> None:
    data = jit.emit_object(f"define hidden i32 @{SYMBOL}() {{ ret i32 0 }}")
    with pytest.raises(AssertionError):
        rename_symbol(data, SYMBOL, "k" * (len(SYMBOL) + 1))
