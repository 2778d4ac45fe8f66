"""
Bytecode: what is refused when it is loaded, damaged bytes, its text, and memory that is
taken again.
"""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_c_library import LOOP, numbers
from test_executors import CASES, CHECK, UNBOUNDED

import transom
from transom.dialects.diagnostics import OpError
from transom.runtime.archive import ArchiveError
from transom.runtime.bytecode import (
    Bytecode,
    Function,
    Instruction,
    KernelEntry,
    Number,
    Register,
    read,
    text_of,
    verify,
    write,
)
from transom.runtime.bytecode.layout import HEADER, MAX_BYTES
from transom.runtime.main_failures import MainError, MainFailure
from transom.runtime.main_memory import Heap
from transom.runtime.main_values import Type
from transom.runtime.program import PoolSpec, ProgramError
from transom.runtime.virtual_machine import VirtualMachine
from transom.tools import transom_compile, transom_main, transom_run

POOLS = [PoolSpec("p", 64, 64)]

TYPES = {
    name: Type.parse(name)
    for name in ("bool", "int64", "float32", "float32[4]", "float32[?]", "int8[?]")
}
REGISTERS = ("int64", "int64", "bool", "float32[4]", "float32[?]", "float32", "int64")
"""Of the functions below: an argument, others, and last a constant, 1."""


def function(*instructions: Instruction, **more: Any) -> Function:
    found = Function(
        name="f",
        arguments=1,
        results=(),
        registers=tuple(
            Register(TYPES[name], f"r{number}") for number, name in enumerate(REGISTERS)
        ),
        constants=((6, 0),),
        instructions=instructions,
    )
    return replace(found, **more)


def bytecode(*instructions: Instruction, **more: Any) -> Bytecode:
    tables: dict[str, Any] = {
        "messages": ("no",),
        "numbers": tuple(Number.of(TYPES["int64"], n) for n in (1, 0, 16, 60, -1)),
        "pools": ("p",),
        "weights": ("w",),
        "kernels": (KernelEntry("k", "k", True, (TYPES["float32[4]"],), (0,)),),
        "functions": (function(*instructions),),
    }
    return Bytecode(**{**tables, **more})


I = Instruction  # noqa: E741
END = I("func.return")
VIEW = I("executor.view", (3,), (), (0, 1, 2))
ADD = I("arith.addi", (1,), (0, 6))
SMALLER = I("arith.cmpi.slt", (2,), (0, 6))

RIGHT = {
    "nothing": [END],
    "numbers": [ADD, SMALLER, I("arith.select", (1,), (2, 1, 0)), END],
    "memory": [VIEW, I("memref.load", (5,), (3, 6)), END],
    "kernel": [VIEW, I("executor.call", (), (3,), (0,)), END],
    "loop": [
        I("move", (1,), (0,)),
        I("arith.cmpi.slt", (2,), (1, 6)),
        I("cf.cond_br", (), (2,), (3, 5)),
        I("arith.addi", (1,), (1, 6)),
        I("cf.br", (), (), (1,)),
        END,
    ],
    "switch": [I("cf.switch", (), (0,), (1, 0, 1)), END],
    "dynamic": [
        I("executor.alloc", (4,), (0,), (2,)),
        I("executor.free", (), (4,)),
        END,
    ],
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_written_is_read(name: str) -> None:
    found = bytecode(*RIGHT[name])
    verify(found, POOLS)
    assert read(write(found)) == found
    assert write(found) == write(read(write(found)))


CALL_ITSELF = function(I("func.call", (), (0,), (0,)), END)

WRONG: list[tuple[str, Bytecode, str]] = [
    ("name", bytecode(I("arith.nothing"), END), "unknown instruction"),
    ("register", bytecode(I("arith.addi", (9,), (0, 0)), END), "expected 7 registers"),
    ("count", bytecode(I("arith.addi", (1,), (0,)), END), "expected 2 operands"),
    ("results", bytecode(I("arith.addi", (), (0, 0)), END), "expected 1 result"),
    ("type", bytecode(I("arith.addi", (2,), (0, 0)), END), "expected 'bool', an int"),
    ("float", bytecode(I("arith.addf", (1,), (0, 0)), END), "expected 'int64', a fl"),
    ("bool", bytecode(I("arith.cmpi.eq", (1,), (0, 0)), END), "expected a bool as re"),
    ("cast", bytecode(I("arith.sitofp", (1,), (0,)), END), "'arith.sitofp' to it"),
    ("move", bytecode(I("move", (2,), (0,)), END), "expected the types of the res"),
    ("twice", bytecode(I("move", (1, 1), (0, 0)), END), "expected results that differ"),
    ("constant", bytecode(I("move", (6,), (0,)), END), "expected no constant to be wr"),
    ("label", bytecode(I("cf.br", (), (), (2,)), END), "expected one of 2 labels"),
    ("end", bytecode(ADD), "expected no end of the function"),
    ("empty", bytecode(), "'f' has no instructions"),
    ("unwritten", bytecode(I("move", (0,), (1,)), END), "'r1' is read before it is w"),
    (
        "one way only",
        bytecode(
            SMALLER, I("cf.cond_br", (), (2,), (2, 3)), ADD, I("move", (0,), (1,)), END
        ),
        "f', 3 'move': 'r1' is read before it is written",
    ),
    (
        "freed",
        bytecode(*RIGHT["dynamic"][:2], I("memref.dim", (1,), (4, 6)), END),
        "'r4' is read before",
    ),
    (
        "outside",
        bytecode(I("executor.view", (3,), (), (0, 3, 2)), END),
        "expected the end within 64 bytes of 'p', but got 76",
    ),
    (
        "negative",
        bytecode(I("executor.view", (3,), (), (0, 4, 2)), END),
        "expected an offset and a size",
    ),
    (
        "size",
        bytecode(I("executor.view", (3,), (), (0, 1, 0)), END),
        "expected 1 bytes, but got 16",
    ),
    ("pool", bytecode(I("executor.view", (3,), (), (1, 1, 2)), END), "1 pools, not 1"),
    ("sizes", bytecode(I("executor.alloc", (4,), (), (2,)), END), "expected 1 indices"),
    (
        "alignment",
        bytecode(I("executor.alloc", (4,), (0,), (3,)), END),
        "expected an alignment of a power of two, but got 60",
    ),
    ("message", bytecode(SMALLER, I("cf.assert", (), (2,), (5,)), END), "1 messages"),
    ("kernel", bytecode(I("executor.call", (), (), (0,)), END), "expected 1 operands"),
    (
        "argument",
        bytecode(I("executor.call", (), (0,), (0,)), END),
        r"expected 'float32\[4\]' for 'k', but got 'int64'",
    ),
    ("indices", bytecode(VIEW, I("memref.load", (5,), (3,)), END), "expected 1 indi"),
    ("cases", bytecode(I("cf.switch", (), (0,), (1, 0)), END), "unexpected 2 param"),
    ("no memory", bytecode(I("memref.dim", (1,), (0, 0)), END), "expected memory, but"),
    ("results", bytecode(I("func.return", (), (0,)), END), r"operands \(\), but got"),
    ("recursion", bytecode(functions=(CALL_ITSELF,)), "no function to call itself"),
    (
        "two functions",
        bytecode(functions=(function(END), function(END))),
        "expected each function once",
    ),
    (
        "arguments",
        bytecode(functions=(function(END, arguments=8),)),
        "more arguments than registers",
    ),
    (
        "constants",
        bytecode(functions=(function(END, constants=((2, 0),)),)),
        "expected a number of its type for a register",
    ),
    (
        "writes",
        bytecode(END, kernels=(KernelEntry("k", "k", True, (), (0,)),)),
        "'k' writes what it does not take",
    ),
    (
        "scalar",
        bytecode(END, kernels=(KernelEntry("k", "k", True, (TYPE_F16,), ()),))
        if (TYPE_F16 := Type.parse("float16"))
        else bytecode(END),
        "'k' takes a number of type 'float16'",
    ),
]


@pytest.mark.parametrize(
    ("wrong", "reason"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG]
)
def test_what_is_wrong_is_refused(wrong: Bytecode, reason: str) -> None:
    loaded = read(write(wrong))
    with pytest.raises(MainError, match=reason) as info:
        verify(loaded, POOLS)
    assert "\n" not in str(info.value)


def no_function(name: str, result: Any, types: Sequence[Any]) -> None:
    """There is none of any name."""


def test_pools_and_functions_that_are_missing() -> None:
    data = write(bytecode(END))
    with pytest.raises(MainError, match="expected a pool 'p'"):
        VirtualMachine(data, no_function, {}, [])
    machine = VirtualMachine(data, no_function, {}, POOLS)
    with pytest.raises(MainError, match="expected a function 'main'"):
        machine.entry("main", 1)
    with pytest.raises(MainError, match="expected main to take 3 values, but it takes"):
        machine.entry("f", 3)
    weight = bytecode(I("executor.constant", (3,), (), (0,)), END)
    wrong = {"w": np.zeros(3, np.float32)}
    reason = r"expected weight 'w' of type 'float32\[4\]', but got "
    with pytest.raises(MainError, match=reason + r"float32\[3\]"):
        VirtualMachine(write(weight), no_function, wrong, POOLS)
    with pytest.raises(MainError, match=reason + "none"):
        VirtualMachine(write(weight), no_function, {}, POOLS)


def sealed(data: bytes) -> bytes:
    """Bytes whose header is right, so that what is behind it is read."""
    body = data[HEADER.size :]
    magic, version, _, _, sections = HEADER.unpack_from(data)
    size, checksum = len(data), zlib.crc32(body)
    return HEADER.pack(magic, version, size, checksum, sections) + body


DATA = write(bytecode(*RIGHT["loop"]))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the bytes are no bytecode of transom"),
        (b"\x7fELF" + bytes(60), "the bytes are no bytecode of transom"),
        (DATA[:5], "the bytecode is cut"),
        (DATA[:-1], "the bytecode is cut: "),
        (DATA + b"\0", "the bytecode goes on behind its end"),
        (DATA[:8] + b"\2" + DATA[9:], "expected version 1 of the bytecode, but got 2"),
        (DATA[:-1] + b"\1", "the bytecode is damaged: its checksum differs"),
        (sealed(DATA[: HEADER.size]), "expected section 'text', but got the end"),
        (sealed(DATA[: HEADER.size] + b"x" * 8), "expected section 'text' within the"),
        (sealed(DATA + b"\0"), "expected no bytes behind the last section"),
        (bytes(MAX_BYTES + 1), f"expected at most {MAX_BYTES} bytes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_damaged_bytes(data: bytes, reason: str) -> None:
    with pytest.raises(MainError, match=reason):
        read(data)


PROGRAMS = [
    DATA,
    *(
        transom.compile(transom.parse(CASES[name][0]), executor="vm").code.bytecode
        for name in ("bounded", "data", "while")
    ),
]


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_any_bytes_are_read_or_refused(data: st.DataObject) -> None:
    """Words are replaced, or bytes cut out; the header is right."""
    source = data.draw(st.sampled_from(PROGRAMS))
    assert source is not None
    found = bytearray(source)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(HEADER.size // 4, len(found) // 4 - 1)) * 4
        word = data.draw(
            st.integers(0, 40) | st.sampled_from([0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF])
        )
        if data.draw(st.booleans()):
            struct.pack_into("<I", found, at, word)
        else:
            del found[at : at + min(word, 40)]
    try:
        loaded = read(sealed(bytes(found)))
        pools = [PoolSpec(name, 4096, 64) for name in loaded.pools]
        verify(loaded, pools)
    except MainError as e:
        assert "\n" not in str(e)
        return
    assert read(write(loaded)) == loaded
    assert text_of(loaded)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_arbitrary_sections(body: bytes) -> None:
    with pytest.raises(MainError):
        read(sealed(DATA[: HEADER.size] + body))


def test_the_text() -> None:
    program = transom.compile(transom.parse(LOOP), executor="vm")
    assert program.code.bytecode is not None
    loaded = read(program.code.bytecode)
    name = loaded.kernels[0].name
    assert text_of(loaded) == (
        f"bytecode 1\n"
        f"kernel @{name}: (float32[4], float32[4]) -> status\n"
        "func @main(%x: float32[4], %n: int64[], %v: float32[4]) {\n"
        "  %c = 0 : int64\n"
        "  %c.1 = 1 : int64\n"
        "   0  %count = memref.load %n : int64\n"
        "   1  %end = arith.index_cast %count : int64\n"
        "   2  executor.copy %x, %v\n"
        "   3  %v.2 = arith.cmpi.slt %c, %end : bool\n"
        "   4  cf.cond_br %v.2, 5, 15\n"
        "   5  %v.1 = move %c : int64\n"
        "   6  cf.br 7\n"
        "   7  %z = executor.view main.workspace[0 to 16] : float32[4]\n"
        f"   8  executor.call @{name}, %v, %z\n"
        "   9  executor.copy %z, %v\n"
        "  10  %v.3 = arith.addi %v.1, %c.1 : int64\n"
        "  11  %v.4 = arith.cmpi.slt %v.3, %end : bool\n"
        "  12  cf.cond_br %v.4, 13, 15\n"
        "  13  %v.1 = move %v.3 : int64\n"
        "  14  cf.br 7\n"
        "  15  func.return\n"
        "}\n"
    )


def test_memory_is_taken_again() -> None:
    heap = Heap()
    a, b = heap.take(1000, 64), heap.take(0, 64)
    assert a.ctypes.data % 64 == 0 and a.size == 1000 and b.size == 0
    held = heap.held_bytes
    heap.give(a)
    c = heap.take(900, 64)
    assert c.ctypes.data == a.ctypes.data
    assert heap.held_bytes == held
    heap.give(c)
    heap.take(100, 64)  # a block of 1064 bytes would be a waste
    assert heap.held_bytes > held
    with pytest.raises(MainFailure, match="given back that was not taken"):
        heap.give(np.zeros(4, np.uint8))
    with pytest.raises(MainFailure, match=f"no memory for {1 << 62} bytes"):
        heap.take(1 << 62, 64)
    heap.end()
    heap.take(900, 64)
    heap.end()  # the block of 100 bytes had no use
    assert heap.held_bytes == 1064


def test_a_run_takes_the_memory_of_the_one_before() -> None:
    program = transom.compile(transom.parse(UNBOUNDED), executor="vm")
    assert program.code.bytecode is not None
    assert "executor.free" in text_of(read(program.code.bytecode))
    machine: Any = program._walked  # pyright: ignore[reportPrivateUsage]
    held: list[int] = []
    for size in (5, 5, 300, 5):
        program(numbers(size, 8), numbers(size, 8))
        (heap,) = machine.allocator._heaps
        held.append(heap.held_bytes)
    assert held[0] == held[1] == held[3] < held[2]


BLOCKS = """
module attributes {
  target.config = #target.config<host = @cpu, phase = "executable">
} {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "host">]}
  executor.pool @p {size = 64}
  func.func @main(%x: memref<4xi64>, %n: memref<i64>, %y: memref<4xi64>) attributes {
    executor.signature = #executor.signature<
      (x : tensor<4xi64>, n : tensor<i64>) -> (y : tensor<4xi64>)>
  } {
    %c0 = arith.constant 0 : index
    %flag = memref.load %n[] : memref<i64>
    cf.switch %flag : i64, [
      default: ^other(%flag : i64),
      3: ^three,
      7: ^other(%flag : i64)
    ]
  ^three:
    %last = memref.load %x[%c0] : memref<4xi64>
    cf.br ^other(%last : i64)
  ^other(%value: i64):
    executor.copy %x, %y : memref<4xi64>, memref<4xi64>
    memref.store %value, %y[%c0] : memref<4xi64>
    func.return
  }
}
"""


def test_branches_between_blocks() -> None:
    """What the executor `graph` has no form for."""
    module = transom.parse(BLOCKS)
    programs = [transom.compile(module, executor=name) for name in ("aot", "vm")]
    x = np.arange(4) + 40
    for flag, first in ((3, 40), (7, 7), (9, 9)):
        for program in programs:
            (y,) = program(x, np.array(flag)).values()
            assert y.tolist() == [first, 41, 42, 43]
    with pytest.raises(OpError, match="'graph' cannot run branches between blocks"):
        transom.compile(module, executor="graph")


def test_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "p.transom"
    program = transom.compile(transom.parse(CHECK), executor="vm")
    assert program.code.bytecode is not None
    broken = sealed(program.code.bytecode.replace(b"cf.assert", b"cf.nothin"))
    transom.runtime.archive.save(replace(program.code, bytecode=broken), path)
    with pytest.raises(ArchiveError, match=r"is damaged: 'main', \d 'cf.nothin': unkn"):
        transom.runtime.load(path)


def test_checks_and_indices_end_a_run() -> None:
    text = """
    func.func @main(%x: tensor<4xf32>, %i: tensor<i64>) -> tensor<f32> {
      %k = tensor.extract %i[] : tensor<i64>
      %n = arith.index_cast %k : i64 to index
      %v = tensor.extract %x[%n] : tensor<4xf32>
      %y = tensor.from_elements %v : tensor<f32>
      func.return %y : tensor<f32>
    }
    """
    program = transom.compile(transom.parse(text), executor="vm")
    (y,) = program(numbers(4), np.array(2)).values()
    assert y == numbers(4)[2]
    with pytest.raises(ProgramError, match=r"index \[4\] is outside of \[4\]"):
        program(numbers(4), np.array(4))


def test_the_tools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "m.mlir"
    model.write_text(LOOP)
    words = [str(model), "--input=random:0", "--input=i64=2", "--executor=vm"]
    folder = tmp_path / "seen"
    assert (
        transom_run.main([*words, "--profile", f"--dump-intermediates={folder}"]) == 0
    )
    out = capsys.readouterr().out
    assert out.count("    main:8") == 2
    assert "us in 2 kernel calls" in out
    assert [p.name for p in sorted(folder.iterdir())] == ["0000.z.npy", "0001.z.npy"]
    made = [str(model), "--executor=vm", "-o", str(tmp_path)]
    assert transom_compile.main(made) == 0
    capsys.readouterr()
    assert transom_main.main(["show", str(tmp_path / "m.transom")]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("executor  vm\nmachine   ")
    assert "\ninput     arg0: float32[4]\n" in shown
    assert "\npool      main.workspace: 16 bytes, aligned to 64\n" in shown
    assert "  cf.cond_br %v.2, 5, 15\n" in shown
    assert transom_main.main(["show", str(model)]) == 1
    assert "is no program of transom" in capsys.readouterr().err
    assert transom_compile.main([*made, "--emit=static"]) == 2
    assert "expected executor 'aot' for a C library, but got 'vm'" in (
        capsys.readouterr().err
    )
