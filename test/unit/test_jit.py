"""
Compiling LLVM IR text: in this process, and to objects that a C compiler links.
"""

import ctypes
import gc
import mmap
import shutil
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

from transom.runtime import jit
from transom.runtime.elf_symbols import read_symbols

ADD = """
define i32 @add(i32 %a, i32 %b) {
  %c = add i32 %a, %b
  ret i32 %c
}
"""

TABLE = """
@table = external constant [4 x float]
declare float @scale(float)
define float @third() {
  %p = getelementptr float, ptr @table, i64 2
  %v = load float, ptr %p
  %r = call float @scale(float %v)
  ret float %r
}
"""

WEAK = """
declare extern_weak i32 @absent_from_everywhere()
define i1 @is_absent() {
  %c = icmp eq ptr @absent_from_everywhere, null
  ret i1 %c
}
"""

I32 = ctypes.c_int32


def test_a_function_runs() -> None:
    add = jit.compile_llvm_ir(ADD).function("add", I32, I32, I32)
    assert add(40, 2) == 42


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_all_levels(level: int) -> None:
    module = jit.compile_llvm_ir(ADD, opt_level=level, codegen_level=level)
    assert module.function("add", I32, I32, I32)(1, 2) == 3
    assert module.symbols == ["add"]


def test_the_host_cpu_compiles() -> None:
    cpu, features = jit.host_cpu()
    assert cpu and features
    module = jit.compile_llvm_ir(ADD, cpu=cpu, features=features)
    assert module.function("add", I32, I32, I32)(1, 2) == 3


def test_symbols_are_given_by_address() -> None:
    table = np.array([1, 2, 3, 4], np.float32)

    def times_ten(x: float) -> float:
        return x * 10

    scale = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_float)(times_ten)
    address = ctypes.cast(scale, ctypes.c_void_p).value
    assert address is not None
    module = jit.compile_llvm_ir(
        TABLE, symbols={"table": table.ctypes.data, "scale": address}, keep=[scale]
    )
    assert module.function("third", ctypes.c_float)() == 30


def test_a_missing_symbol_is_named() -> None:
    with pytest.raises(
        jit.JitError,
        match=r"^undefined symbols: 'scale', 'table'; "
        "libraries not found: libnothing.so.9$",
    ):
        jit.compile_llvm_ir(TABLE, libraries=["libnothing.so.9"])


def test_a_weak_symbol_may_be_missing() -> None:
    assert jit.compile_llvm_ir(WEAK).function("is_absent", ctypes.c_bool)()


@pytest.mark.skipif(sys.platform != "linux", reason="MAP_FIXED by number")
def test_data_may_be_far_away() -> None:
    """Code is position-independent: 32-bit offsets do not reach this address."""
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (
        [ctypes.c_void_p, ctypes.c_size_t] + [I32] * 3 + [ctypes.c_long]
    )
    wanted, fixed = 0x100000000, 0x100000
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | fixed
    address = libc.mmap(wanted, 4096, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
    assert address == wanted
    ctypes.memmove(address, np.arange(4, dtype=np.float32).tobytes(), 16)
    text = TABLE.replace("@scale", "@fabsf")
    module = jit.compile_llvm_ir(text, symbols={"table": address})
    assert abs(module.address("third") - address) > 1 << 32
    assert module.function("third", ctypes.c_float)() == 2


def test_mathematics_needs_no_library() -> None:
    module = jit.compile_llvm_ir("""
    declare float @llvm.exp.f32(float)
    define float @f(float %x) {
      %y = call float @llvm.exp.f32(float %x)
      ret float %y
    }
    """)
    assert module.function("f", ctypes.c_float, ctypes.c_float)(0) == 1


def test_half_floats_need_no_feature() -> None:
    """Without F16C the conversion is a call into the support library."""
    module = jit.compile_llvm_ir("""
    define float @f(float %x) {
      %h = fptrunc float %x to half
      %y = fpext half %h to float
      ret float %y
    }
    """)
    got = module.function("f", ctypes.c_float, ctypes.c_float)(0.1)
    assert got == np.float32(np.float16(0.1))


def test_an_unknown_name_lists_the_known() -> None:
    with pytest.raises(jit.JitError, match="no symbol 'sub'; symbols: add"):
        jit.compile_llvm_ir(ADD).address("sub")


def test_a_wrong_text_is_an_error() -> None:
    with pytest.raises(jit.JitError, match="LLVM refused the text"):
        jit.compile_llvm_ir("define void @f() { ret i32 }")
    with pytest.raises(jit.JitError, match="LLVM refused the text"):
        jit.compile_llvm_ir("""
        define i32 @f(i1 %c) {
          br i1 %c, label %a, label %b
        a:
          %x = add i32 1, 2
          br label %b
        b:
          ret i32 %x
        }
        """)


def test_an_unknown_triple_is_an_error() -> None:
    with pytest.raises(jit.JitError, match="no target machine for 'pdp11-none-none'"):
        jit.emit_object(ADD, triple="pdp11-none-none")


def test_a_foreign_object_is_an_error() -> None:
    with pytest.raises(jit.JitError, match="expected an ELF object"):
        jit.load_object(b"MZ")


def test_data_of_a_module_lives_as_long_as_it() -> None:
    class Payload:
        pass

    payload = Payload()
    alive = weakref.ref(payload)
    module = jit.compile_llvm_ir(ADD, keep=[payload])
    add = module.function("add", I32, I32, I32)
    del payload, module
    gc.collect()
    assert alive() is not None
    assert add(1, 2) == 3
    del add
    gc.collect()
    assert alive() is None


def test_many_modules_side_by_side() -> None:
    modules = [jit.compile_llvm_ir(ADD) for _ in range(8)]
    modules[3].close()
    modules[3].close()
    assert modules[7].function("add", I32, I32, I32)(1, 2) == 3


def test_equal_input_gives_equal_objects() -> None:
    assert jit.emit_object(ADD) == jit.emit_object(ADD)


@pytest.mark.parametrize(
    ("triple", "machine"),
    [
        ("x86_64-unknown-linux-gnu", 62),
        ("aarch64-unknown-linux-gnu", 183),
        ("riscv64-unknown-linux-gnu", 243),
        ("thumbv7em-none-eabihf", 40),
    ],
)
def test_objects_for_other_machines(triple: str, machine: int) -> None:
    data = jit.emit_object(TABLE + WEAK, triple=triple)
    order = "little" if data[5] == 1 else "big"
    assert int.from_bytes(data[18:20], order) == machine
    symbols = read_symbols(data)
    assert {"third", "is_absent"} <= set(symbols.defined)
    assert {"scale", "table"} <= set(symbols.required)
    assert symbols.optional == ("absent_from_everywhere",)


def test_assembly_is_text() -> None:
    text = jit.emit_assembly(ADD, triple="aarch64-unknown-linux-gnu")
    assert "add\tw0, w0, w1" in text or "add\tw0, w1, w0" in text


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_c_program_links_an_object(tmp_path: Path) -> None:
    (tmp_path / "add.o").write_bytes(jit.emit_object(ADD))
    (tmp_path / "main.c").write_text("""
    #include <stdio.h>
    int add(int, int);
    int main(void) { printf("%d\\n", add(40, 2)); return 0; }
    """)
    program = tmp_path / "main"
    subprocess.run(
        ["cc", "main.c", "add.o", "-o", str(program)], cwd=tmp_path, check=True
    )
    run = subprocess.run([str(program)], capture_output=True, text=True, check=True)
    assert run.stdout == "42\n"


def test_the_run_time_knows_no_compiler() -> None:
    code = (
        "import sys, transom.runtime.jit; "
        "print([m for m in sys.modules if m.startswith('xdsl')])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout == "[]\n"


def test_the_abi_of_a_triple_without_a_vendor():
    """Floats are in their registers if 'eabihf' says so."""
    text = """
    declare float @g(float)
    define float @f(ptr %p) {
      %x = load float, ptr %p
      %y = call float @g(float %x)
      ret float %y
    }
    """
    code = jit.emit_assembly(text, triple="thumbv7em-none-eabihf", cpu="cortex-m4")
    assert "vldr\ts0, [r0]" in code
    code = jit.emit_assembly(text, triple="thumbv7em-none-eabi", cpu="cortex-m4")
    assert "ldr\tr0, [r0]" in code and "s0" not in code
