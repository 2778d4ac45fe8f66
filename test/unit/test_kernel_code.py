"""Kernels that are compiled apart from main, and code that is found again."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import transom
from transom.cache import CacheWarning, Count, Settings, Store, counted
from transom.compiler import machine_of
from transom.dialects import tir
from transom.dialects.parser import parse_ir
from transom.driver import lower_in_place
from transom.entry import select_entry
from transom.kernel_code import (
    START,
    TREAT_KERNELS_ALONE,
    compile_kernels,
    treats_kernels_alone,
)
from transom.lowering.emit_llvm import to_object_texts
from transom.machine_code import Machine
from transom.passes.kernel_pass import KernelPass
from transom.phase_plan import PHASES
from transom.registry import new_context, registry
from transom.runtime.program import Program, ProgramError
from transom.testing import random_inputs

ROOT = Path(__file__).parents[1]
MODELS = sorted((ROOT / "models").glob("*.mlir"))

USERS = (
    "transom.lowering.function_lowering",
    "transom.passes.kernel_pass",
    "transom.kernel_code",
    "transom.machine_code",
)


def no_key(
    module: ModuleOp, opt_level: int, data_folders: Sequence[str], base: Path | None
) -> None: ...


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Store:
    """A cache of the test, which other tests have not filled."""
    made = Store(Settings("on", tmp_path / "cache", 1 << 26))
    # Somebody may be editing while the tests run.
    monkeypatch.setattr("transom.cache.entries.is_current", lambda: True)
    for user in USERS:
        monkeypatch.setattr(f"{user}.store", lambda: made)
    # Whole programs that are found ask for no kernels.
    monkeypatch.setattr("transom.program_making.key_of", no_key)
    return made


def module_of(text: str) -> ModuleOp:
    return parse_ir(new_context(), text, "a.mlir")


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_main_and_kernels_are_the_same_apart_as_together(path: Path) -> None:
    """To the letter: the text of main with stubs, and that of each kernel."""
    ctx = new_context()
    together, apart = transom.load(path), transom.load(path)
    for module in (together, apart):
        select_entry(module)
    lower_in_place(together, "machine", ctx=ctx)
    lower_in_place(apart, START, ctx=ctx)
    kernels = compile_kernels(apart, ctx)
    lower_in_place(apart, "machine", ctx=ctx)
    expected, found = to_object_texts(together), to_object_texts(apart)
    assert found.main == expected.main
    assert kernels.keys() == expected.kernels.keys() == found.kernels.keys()
    machine = Machine.of(machine_of(apart), 2)
    for name, kernel in expected.kernels.items():
        assert kernels[name].declaration == kernel.declaration
        assert kernels[name].data == machine.compile(kernel.text)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_what_is_found_is_what_is_made(path: Path, cache: Store) -> None:
    """Objects and numbers, cold, from memory and from disk."""
    module = transom.load(path)
    inputs = random_inputs(module, seed=3)
    found: list[tuple[tuple[bytes, ...], dict[str, Any]]] = []
    for forgets in (False, False, True):
        if forgets:
            cache.forget()
        with counted() as counts:
            program = transom.compile(module)
        found.append((program.code.objects, program.run(inputs)))
    assert counts.total.missed == 0
    assert counts["kernel-code"].disk > 0 and counts["code"].disk > 1
    for objects, outputs in found[1:]:
        assert objects == found[0][0]
        for name, array in found[0][1].items():
            assert outputs[name].tobytes() == array.tobytes()


KERNELS = """
builtin.module attributes {
  target.config = #target.config<host = @cpu, phase = "tensor">
} {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "host">]}
  tir.func @double(read %x: memref<?xf32>, write %y: memref<?xf32>)
      attributes {target.for = #target.place<@cpu, ?, ?>} {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %n = memref.dim %x, %c0 : memref<?xf32>
    %fits = arith.cmpi sge, %n, %c3 : index
    cf.assert %fits, "fewer than three"
    %even = arith.cmpi ne, %n, %c3 : index
    cf.assert %even, "just three"
    %m = arith.muli %n, %c3 : index
    %b = tir.alloc(%m) : memref<?xf32>
    tir.nest dims [parallel %n] ins(%x[d0] : memref<?xf32>)
        outs(%b[d0] : memref<?xf32>)
      init { tir.yield }
      body (%v: f32) { tir.yield }
      finish (%v: f32) {
        %w = arith.addf %v, %v : f32
        tir.yield %w : f32
      }
    tir.nest dims [parallel %n] ins(%b[d0] : memref<?xf32>)
        outs(%y[d0] : memref<?xf32>)
      init { tir.yield }
      body (%v: f32) { tir.yield }
      finish (%v: f32) { tir.yield %v : f32 }
    tir.return
  }
  func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %d = tensor.empty(%n) : tensor<?xf32>
    %y = tir.call @double(%x : tensor<?xf32>) outs(%d : tensor<?xf32>)
    func.return %y : tensor<?xf32>
  }
}
"""


def compiled(text: str, **options: Any) -> tuple[Program, Count]:
    """The program of a text, and what became of its kernels."""
    with counted() as counts:
        program = transom.compile(module_of(text), **options)
    return program, counts["kernel-code"]


def test_a_stub_asks_for_memory_and_fails_like_its_kernel() -> None:
    """Cold and warm: buffers of sizes that depend on those of inputs, and messages."""
    for expected in (Count(missed=1, stored=1), Count(memory=1)):
        program, count = compiled(KERNELS)
        assert count == expected
        x = np.arange(5, dtype=np.float32)
        assert program(x)["result0"].tolist() == [0, 2, 4, 6, 8]
        for size, message in ((2, "fewer than three"), (3, "just three")):
            with pytest.raises(ProgramError, match=message):
                program(x[:size])


def test_what_main_has_in_place_of_a_kernel() -> None:
    module = module_of(KERNELS)
    ctx = new_context()
    from transom.targets.resolve_devices import resolve_devices

    resolve_devices(module)
    (kernel,) = compile_kernels(module, ctx).values()
    (stub,) = (op for op in module.ops if isinstance(op, tir.FuncOp))
    lines = [line.strip() for line in str(stub).splitlines()]
    assert [line.partition(" = ")[2] or line for line in lines[1:-1]] == [
        "arith.constant 0 : index",
        "memref.dim %0, %2 : memref<?xf32>",
        "arith.constant 3 : index",
        "arith.muli %3, %4 : index",
        "tir.alloc(%5) : memref<?xf32>",
        "arith.constant false",
        'cf.assert %7, "fewer than three"',
        "arith.constant false",
        'cf.assert %8, "just three"',
        "tir.return",
    ]
    assert kernel.declaration.startswith("declare hidden i32 @transom_kernel_000")


SAME: list[Callable[[str], str]] = [
    lambda text: text.replace("@double", "@renamed"),
    lambda text: text.replace("%fits", "%large").replace("%even", "%odd"),
    lambda text: "// A line more.\n" + text,
    lambda text: text.replace("func.func @main", "func.func @other"),
    lambda text: text.replace("host = @cpu, ", "host = @cpu, "),
]
OTHER: list[Callable[[str], str]] = [
    lambda text: text.replace("just three", "three"),
    lambda text: text.replace("arith.addf", "arith.mulf"),
    lambda text: text.replace("constant 3", "constant 4"),
    lambda text: text.replace("@cpu", "@core"),
]


@pytest.mark.parametrize("change", SAME)
def test_names_and_locations_make_no_difference(change: Callable[[str], str]) -> None:
    compiled(KERNELS)
    program, count = compiled(change(KERNELS))
    assert count == Count(memory=1)
    assert program(np.arange(4, dtype=np.float32))["result0"].tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize("change", OTHER)
def test_content_and_place_make_a_difference(change: Callable[[str], str]) -> None:
    compiled(KERNELS)
    _, count = compiled(change(KERNELS))
    assert count == Count(missed=1, stored=1)


def test_effort_makes_a_difference() -> None:
    compiled(KERNELS)
    assert compiled(KERNELS, opt_level=1)[1] == Count(missed=1, stored=1)
    assert compiled(KERNELS, opt_level=2)[1] == Count(memory=1)


def test_the_cpu_makes_a_difference() -> None:
    device = '#llvm_cpu.target<cpu = "x86-64-v2">'
    here = module_of(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %y = graph.exp %x : tensor<4xf32>\n  func.return %y : tensor<4xf32>\n}"
    )
    found: list[Count] = []
    for devices in ({}, {"cpu": device}, {"cpu": device}, {}):
        with counted() as counts:
            transom.compile(here, devices=devices)
        found.append(counts["kernel-code"])
    made, known = Count(missed=1, stored=1), Count(memory=1)
    assert found == [made, made, known, known]


def test_models_share_the_code_of_a_kernel() -> None:
    """By content, whatever else they are made of."""
    shared = (
        "  %a = graph.softmax %x axis 1 : tensor<8x8xf32>\n"
        "  %b = graph.matmul %a, %x "
        ": tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>\n"
    )
    one, two = (
        f"func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {{\n{shared}{more}\n"
        "  func.return %c : tensor<8x8xf32>\n}"
        for more in (
            "  %c = graph.softmax %b axis 0 : tensor<8x8xf32>",
            "  %c = graph.softmax %b axis 1 : tensor<8x8xf32>",
        )
    )
    assert compiled(one)[1] == Count(missed=3, stored=3)
    assert compiled(two)[1] == Count(memory=2)  # two are one


def test_a_kernel_that_is_not_alone_stays_in_main() -> None:
    """Seen by others, or calling others; it runs all the same."""
    kernel = """
  tir.func @inner(read %x: memref<4xf32>, write %y: memref<4xf32>)
      attributes {target.for = #target.place<@cpu, ?, ?>} {
    tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32>)
        outs(%y[d0] : memref<4xf32>)
      finish (%v: f32) {
        %w = arith.addf %v, %v : f32
        tir.yield %w : f32
      }
    tir.return
  }
"""
    outer = """
  tir.func @outer(read %x: memref<4xf32>, write %y: memref<4xf32>)
      attributes {target.for = #target.place<@cpu, ?, ?>} {
    tir.call @inner(%x : memref<4xf32>) outs(%y : memref<4xf32>)
    tir.return
  }
"""
    main = """
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %d = tensor.empty() : tensor<4xf32>
    %y = tir.call @CALLEE(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
    func.return %y : tensor<4xf32>
  }
}
"""
    start = KERNELS[: KERNELS.index("  tir.func @double")]
    public = kernel.replace("tir.func @", "tir.func public @")
    for text, expected in (
        (start + public + main.replace("CALLEE", "inner"), Count()),
        (
            start + kernel + outer + main.replace("CALLEE", "outer"),
            Count(missed=1, stored=1, refused=1),
        ),
    ):
        program, count = compiled(text)
        assert count == expected
        outputs = program(np.arange(4, dtype=np.float32))
        assert outputs["result0"].tolist() == [0, 2, 4, 6]


def entries(cache: Store, kind: str) -> Iterator[Path]:
    assert cache.disk is not None
    yield from (p for p in (cache.disk.root / kind).rglob("*") if p.is_file())


@pytest.mark.parametrize("kind", ["code", "kernel-code", "tir-fuse-nests"])
def test_damaged_entries_are_made_again(kind: str, cache: Store) -> None:
    path = next(path for path in MODELS if path.stem == "rows")
    module = transom.load(path)
    expected = transom.compile(module).code.objects
    for entry in entries(cache, kind):
        entry.write_bytes(entry.read_bytes()[:-1] + b"?")
    cache.forget()
    with pytest.warns(CacheWarning), counted() as counts:
        assert transom.compile(module).code.objects == expected
    assert counts[kind].damaged == counts[kind].stored > 0
    cache.forget()
    with counted() as counts:
        transom.compile(module)
    assert counts.total.missed == 0


def test_what_is_between_a_kernel_and_its_code_is_not_kept(
    cache: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code is found without it, so that it is not even asked for."""

    def store_for(how: Settings) -> Store:
        return Store(how) if how.mode == "off" else cache

    monkeypatch.setattr("transom.cache.entries._store", store_for)
    monkeypatch.setattr("transom.passes.kernel_pass.store", transom.cache.store)
    with counted() as counts:
        compiled(KERNELS)
    assert counts["kernel-code"] == Count(missed=1, stored=1)
    assert counts["convert-tir-to-scf"] == Count()


def test_an_entry_whose_object_is_gone_is_made_again(cache: Store) -> None:
    program, _ = compiled(KERNELS)
    for entry in entries(cache, "code"):
        entry.unlink()
    cache.forget()
    again, count = compiled(KERNELS)
    assert count.disk == 1  # found, but not whole
    assert again.code.objects == program.code.objects


def test_all_shared_passes_are_known_to_treat_kernels_alone() -> None:
    """A new pass after `tensor` is one, or is told apart here; unknown names go."""
    names = [phase.name for phase in PHASES]
    later = [n for p in PHASES[names.index(START) + 1 :] for n in p.passes]
    passes = {name: registry().passes[name]() for name in later}
    assert all(
        issubclass(cls, KernelPass) or name in TREAT_KERNELS_ALONE
        for name, cls in passes.items()
    )
    assert passes.keys() >= TREAT_KERNELS_ALONE
    assert not treats_kernels_alone(registry().passes["canonicalize"]()())


def test_processes_share_code(tmp_path: Path) -> None:
    """Whatever their hash seeds are."""
    script = (
        "import sys, transom\n"
        "from hashlib import sha256\n"
        "with transom.cache.counted() as counts:\n"
        "    program = transom.compile(transom.load(sys.argv[1]))\n"
        "print(sha256(b''.join(program.code.objects)).hexdigest())\n"
        "print(counts.total.missed)\n"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", script, str(ROOT / "models" / "rows.mlir")],
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "TRANSOM_CACHE": "on",
                "TRANSOM_CACHE_DIR": str(tmp_path),
            },
            check=True,
            text=True,
            capture_output=True,
        ).stdout.split()
        for seed in ("1", "2")
    ]
    assert printed[0][0] == printed[1][0]
    assert int(printed[0][1]) > 0
    if printed[1][1] != "0":
        pytest.skip("somebody edits the code of transom")
