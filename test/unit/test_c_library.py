"""
Models as C libraries: called from C, equal to the program in bytes, without state.
"""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transom
from transom.c_header import Header, c_names
from transom.c_library import EMITTED, CLibrary, library_of, write_library
from transom.compiler import to_code
from transom.dialects.diagnostics import OpError
from transom.elf_objects import undefined_in, with_symbols, writable_bytes
from transom.entry import select_entry
from transom.kernel_code import lower_to_machine
from transom.passes.pipeline import PipelineError
from transom.registry import new_context
from transom.runtime.elf_symbols import read_symbols
from transom.runtime.signature import InputError
from transom.tools import transom_compile

needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no 'cc'")

Arrays = Sequence[np.ndarray[Any, Any]]

STATIC = """
func.func @main(%x: tensor<4x8xf32>, %n: tensor<4xi8>)
    -> (tensor<4x8xf32>, tensor<4xi8>) {
  %w = graph.constant dense<0.5> : tensor<8x8xf32>
  %p = graph.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %a = graph.softmax %p axis 0 : tensor<4x8xf32>
  %b = graph.softmax %a axis 1 : tensor<4x8xf32>
  %q = graph.add %b, %p : tensor<4x8xf32>
  %m = graph.neg %n : tensor<4xi8>
  func.return %q, %m : tensor<4x8xf32>, tensor<4xi8>
}
"""

DYNAMIC = """
!t = tensor<?x8xf32, #graph.desc<dims = ["N" : 1 to 64]>>
func.func @main(%x: !t, %y: !t) -> !t {
  %a = graph.softmax %x axis 0 : !t
  %b = graph.softmax %a axis 1 : !t
  %c = graph.softmax %b axis 0 : !t
  %d = graph.add %c, %y : !t
  func.return %d : !t
}
"""

DATA_SIZES = """
!t = tensor<?xf32, #graph.desc<dims = ["N" : 0 to 64]>>
func.func @main(%x: !t) -> tensor<1x?xi64> {
  %y = graph.nonzero %x : !t -> tensor<1x?xi64>
  func.return %y : tensor<1x?xi64>
}
"""

LOOP = """
func.func @main(%x: tensor<4xf32>, %n: tensor<i64>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = tensor.extract %n[] : tensor<i64>
  %end = arith.index_cast %count : i64 to index
  %y = scf.for %i = %c0 to %end step %c1 iter_args(%v = %x) -> (tensor<4xf32>) {
    %w = graph.exp %v : tensor<4xf32>
    %z = graph.tanh %w : tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}
"""


def library(text: str, name: str = "model", device: str | None = None) -> CLibrary:
    module = transom.parse(text)
    ctx = new_context()
    if device is not None:
        transom.driver.declare_devices(module, {"cpu": device}, ctx)
    select_entry(module)
    kernels = lower_to_machine(module, ctx, runs_here=False)
    code = to_code(module, kernels=kernels, runs_here=False)
    return library_of(module, code, name)


def driver(header: Header) -> str:
    """
    A program: the sizes of inputs are arguments, `in0` and so on are read, the outputs
    written. Two threads run the model at once, on memory full of garbage.
    """
    name, upper = header.name, header.upper
    fill: list[str] = []
    count = 1
    for number, tensor in enumerate(header.inputs):
        fill.append(f'  in.{tensor.name} = read_file("in{number}");')
        for field in tensor.sizes:
            fill.append(f"  in.{field} = atoll(argv[{count}]);")
            count += 1
    memory: list[str] = []
    write: list[str] = []
    for number, tensor in enumerate(header.outputs):
        sizes = [
            f"job->out.{tensor.size(axis)}"
            if axis in tensor.spec.dynamic
            else str(size)
            for axis, size in enumerate(tensor.spec.shape)
        ]
        room = (
            f"job->out.{tensor.name}_capacity"
            if tensor.spec.is_bounded
            else " * ".join(sizes) or "1"
        )
        width = f"sizeof({tensor.type})"
        memory.append(f"  job->out.{tensor.name} = garbage(({room}) * {width}, 64);")
        elements = " * ".join(sizes) or "1"
        write.append(
            f'  write_file("out{number}", job->out.{tensor.name}, '
            f"({elements}) * {width});"
        )
    for field, pool in header.pools:
        memory.append(f"  job->pools.{field} = garbage({pool.size}, {pool.alignment});")
    lines = "\n".join
    return f"""
#include "{name}.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *garbage(size_t size, size_t alignment) {{
  size = (size + 2 * alignment - 1) / alignment * alignment;
  void *memory = aligned_alloc(alignment, size);
  memset(memory, 0xa5, size);
  return memory;
}}
static void *read_file(const char *path) {{
  FILE *file = fopen(path, "rb");
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  void *data = malloc(size + 1);
  if (fread(data, 1, size, file) != (size_t)size) abort();
  fclose(file);
  return data;
}}
static void write_file(const char *path, const void *data, size_t size) {{
  FILE *file = fopen(path, "wb");
  fwrite(data, 1, size, file);
  fclose(file);
}}
static struct {name}_inputs in;
struct job {{
  struct {name}_outputs out;
  struct {name}_pools pools;
  int32_t status;
}};
static void *work(void *argument) {{
  struct job *job = argument;
  for (int i = 0; i < 20; i++) job->status |= {name}_run(&in, &job->out, &job->pools);
  return NULL;
}}
static int32_t prepare(struct job *job) {{
  memset(job, 0, sizeof *job);
  int32_t status = {name}_sizes(&in, &job->out);
  if (status != {upper}_OK) return status;
{lines(memory)}
  return {upper}_OK;
}}
int main(int argc, char **argv) {{
  (void)argv;
{lines(fill)}
  struct job jobs[2];
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) {{
    int32_t status = prepare(&jobs[i]);
    if (status != {upper}_OK) {{
      printf("%d %s\\n", status, {name}_message(status));
      return 3;
    }}
  }}
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, &jobs[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < 2; i++) {{
    struct job *job = &jobs[i];
    if (job->status != {upper}_OK) {{
      printf("%d %s\\n", job->status, {name}_message(job->status));
      return 4;
    }}
{lines(write)}
  }}
  return argc < 0;
}}
"""


CHECKED = ("-std=c11", "-Wall", "-Wextra", "-Werror")


def link(made: CLibrary, folder: Path, emit: str) -> Path:
    """The program, with the library linked."""
    write_library(made, folder, emit)
    header = Header(made.name, made.code, "", "")
    (folder / "main.c").write_text(driver(header))
    linked = {
        "static": [f"lib{made.name}.a"],
        "shared": [f"lib{made.name}.so", f"-Wl,-rpath,{folder}"],
        "object": [f"{made.name}.o"],
    }[emit]
    subprocess.run(
        ["cc", *CHECKED, "main.c", *linked, "-o", "run", "-lm", "-pthread"],
        cwd=folder,
        check=True,
    )
    return folder / "run"


def execute(program: Path, inputs: Arrays, sizes: Sequence[int] = ()) -> str:
    for number, array in enumerate(inputs):
        (program.parent / f"in{number}").write_bytes(array.tobytes())
    done = subprocess.run(
        [program, *map(str, sizes)],
        cwd=program.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return f"{done.returncode} {done.stdout.strip()}"


def outputs(folder: Path, expected: dict[str, np.ndarray[Any, Any]]) -> None:
    for number, array in enumerate(expected.values()):
        assert (folder / f"out{number}").read_bytes() == array.tobytes()


def numbers(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(sum(shape)).random(shape, np.float32) - np.float32(0.5)


@needs_cc
@pytest.mark.parametrize("emit", EMITTED)
def test_a_static_model(emit: str, tmp_path: Path) -> None:
    inputs = [numbers(4, 8), np.array([1, -2, 3, 127], np.int8)]
    program = link(library(STATIC), tmp_path, emit)
    assert execute(program, inputs) == "0 "
    outputs(tmp_path, transom.compile(transom.parse(STATIC))(*inputs))


@needs_cc
def test_dynamic_sizes_within_bounds(tmp_path: Path) -> None:
    made = library(DYNAMIC)
    program = link(made, tmp_path, "static")
    compiled = transom.compile(transom.parse(DYNAMIC))
    for size in (1, 5, 64):
        inputs = [numbers(size, 8), numbers(size, 8) + 1]
        assert execute(program, inputs, [size, size]) == "0 "
        outputs(tmp_path, compiled(*inputs))
    wrong = "3 -2 sizes differ or leave their bounds"
    for sizes in ([65, 65], [0, 0], [4, 5], [-1, -1]):
        assert execute(program, [numbers(8, 8)] * 2, sizes) == wrong


@needs_cc
def test_sizes_that_depend_on_data(tmp_path: Path) -> None:
    program = link(library(DATA_SIZES), tmp_path, "static")
    compiled = transom.compile(transom.parse(DATA_SIZES))
    for array in (np.array([0, 2, 0, 1], np.float32), np.zeros(3, np.float32)):
        assert execute(program, [array], [array.size]) == "0 "
        outputs(tmp_path, compiled(array))


@needs_cc
def test_control_flow(tmp_path: Path) -> None:
    program = link(library(LOOP), tmp_path, "static")
    compiled = transom.compile(transom.parse(LOOP))
    for count in (0, 1, 3):
        inputs = [numbers(4), np.array(count, np.int64)]
        assert execute(program, inputs) == "0 "
        outputs(tmp_path, compiled(*inputs))


@needs_cc
def test_messages_are_statuses(tmp_path: Path) -> None:
    text = """
    func.func @main(%x: tensor<4xf32>, %i: tensor<1xi64>) -> tensor<4xf32> {
      %c0 = arith.constant 0 : index
      %v = tensor.extract %i[%c0] : tensor<1xi64>
      %zero = arith.constant 0 : i64
      %ok = arith.cmpi sge, %v, %zero : i64
      cf.assert %ok, "expected \\"i\\" >= 0 \\\\ really"
      %y = graph.exp %x : tensor<4xf32>
      func.return %y : tensor<4xf32>
    }
    """
    program = link(library(text), tmp_path, "static")
    x = numbers(4)
    assert execute(program, [x, np.array([1], np.int64)]) == "0 "
    said = execute(program, [x, np.array([-1], np.int64)])
    assert said == '4 1 expected "i" >= 0 \\ really'


def test_nothing_is_allocated_and_nothing_is_state() -> None:
    for text in (STATIC, DYNAMIC, DATA_SIZES, LOOP):
        made = library(text)
        assert not {"malloc", "aligned_alloc", "free"} & set(made.needs)
        assert [writable_bytes(data) for data in made.objects.values()] == [0] * len(
            made.objects
        )


def test_only_the_functions_of_the_library_are_seen() -> None:
    made = library(DYNAMIC, "net")
    seen = [n for data in made.objects.values() for n in read_symbols(data).defined]
    assert seen == ["net_entry"]
    hidden = [n for data in made.objects.values() for n in read_symbols(data).hidden]
    assert hidden and all(name.startswith("net.") for name in hidden)
    assert set(undefined_in(list(made.objects.values()))) == set(made.needs)


@needs_cc
def test_two_libraries_in_one_program(tmp_path: Path) -> None:
    for name, text in (("one", STATIC), ("two", LOOP)):
        write_library(library(text, name), tmp_path, "static")
    (tmp_path / "main.c").write_text(
        '#include "one.h"\n#include "two.h"\n'
        "int main(void) { return one_run == 0 || two_run == 0; }\n"
    )
    for compiler in (["cc"], ["c++", "-x", "c++"]):
        if shutil.which(compiler[0]) is not None:
            subprocess.run(
                [*compiler, "main.c", "-x", "none", "libone.a", "libtwo.a", "-lm"],
                cwd=tmp_path,
                check=True,
            )
            assert subprocess.run([tmp_path / "a.out"], check=False).returncode == 0


def test_sizes_without_bounds_are_refused() -> None:
    text = DYNAMIC.replace('"N" : 1 to 64', '"N"')
    with pytest.raises(OpError) as info:
        library(text)
    assert info.value.message == (
        "expected bounds of 'N': a library allocates nothing, and the size of a buffer "
        "is not known before it runs; '--dim N=1..8' gives some"
    )
    assert str(info.value.location) != "loc(unknown)"


def test_names() -> None:
    assert c_names(["x", "x:0", "x.0", "int", "1a", ""]) == [
        "x",
        "x_0",
        "x_0_2",
        "int_",
        "_1a",
        "_",
    ]
    with pytest.raises(PipelineError, match="expected a C identifier as name, but got"):
        library(LOOP, "a-b")


def test_symbols_of_an_object_are_renamed() -> None:
    data = library(LOOP).objects["main.o"]
    renamed = with_symbols(data, lambda name: f"{name}.of.a.very.long.name", bool)
    symbols = read_symbols(renamed)
    assert symbols.defined == ()
    assert symbols.hidden == ("model_entry.of.a.very.long.name",)
    assert all(name.endswith(".of.a.very.long.name") for name in symbols.required)
    assert len(symbols.required) == len(read_symbols(data).required)


def test_the_tool(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "my-net.mlir"
    model.write_text(STATIC)
    build = tmp_path / "build"
    words = [str(model), "-o", str(build), "--emit=static", "--emit=program"]
    assert transom_compile.main(words) == 0
    written = capsys.readouterr().out.split()
    assert [Path(path).name for path in written] == [
        "libmy_net.a",
        "my_net.h",
        "my_net.json",
        "my_net.transom",
    ]
    manifest = json.loads((build / "my_net.json").read_text())
    assert manifest["format"] == "transom-c-library"
    assert manifest["name"] == "my_net"
    inputs = [numbers(4, 8), np.array([1, -2, 3, 127], np.int8)]
    loaded = transom.runtime.load(build / "my_net.transom")
    for one, other in zip(
        loaded(*inputs).values(),
        transom.compile(transom.parse(STATIC))(*inputs).values(),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(InputError):
        loaded(*inputs[:1])


def test_names_of_libraries_of_c(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "m.mlir"
    model.write_text(STATIC)
    words = [str(model), "-o", str(tmp_path), "--emit=static"]
    assert transom_compile.main(words) == 0
    message = (
        "'libm' is what '-lm' means to C compilers; choose another name with --nam"
    )
    assert f"m.mlir:1:1: warning: {message}" in capsys.readouterr().err
    assert transom_compile.main([*words, "--name=net"]) == 0
    assert "warning" not in capsys.readouterr().err


def test_the_tool_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "net.mlir"
    model.write_text(DYNAMIC.replace(" : 1 to 64", ""))
    words = [str(model), "-o", str(tmp_path), "--emit=static"]
    assert transom_compile.main(words) == 1
    assert "expected bounds of 'N'" in capsys.readouterr().err
    assert transom_compile.main([*words, "--dim", "N=1..8", "--name=1"]) == 2
    assert "expected a C identifier" in capsys.readouterr().err
    asked = [*words[:-1], "--emit=shared", "--dim", "N=1..8", "--cc=no-such-compiler"]
    assert transom_compile.main(asked) == 2
    assert "no C compiler links for" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.h"))


CROSS = {
    "aarch64": '#llvm_cpu.target<cpu = "cortex-a72">',
    "riscv64": '#llvm_cpu.target<cpu = "generic-rv64", features = ["+d", "+c"]>',
}


@pytest.mark.parametrize("architecture", CROSS)
def test_cross_compiled(architecture: str, tmp_path: Path) -> None:
    compiler, emulator = f"{architecture}-linux-gnu-gcc", f"qemu-{architecture}"
    for tool in (compiler, emulator):
        if shutil.which(tool) is None:
            pytest.skip(f"there is no '{tool}'")
    made = library(STATIC, device=CROSS[architecture])
    write_library(made, tmp_path, "static")
    (tmp_path / "main.c").write_text(driver(Header("model", made.code, "", "")))
    subprocess.run(
        [compiler, "-static", "main.c", "libmodel.a", "-o", "run", "-lm", "-pthread"],
        cwd=tmp_path,
        check=True,
    )
    inputs = [numbers(4, 8), np.array([1, -2, 3, 127], np.int8)]
    for number, array in enumerate(inputs):
        (tmp_path / f"in{number}").write_bytes(array.tobytes())
    subprocess.run([emulator, tmp_path / "run"], cwd=tmp_path, check=True)
    expected = transom.compile(transom.parse(STATIC))(*inputs)
    first = np.frombuffer((tmp_path / "out0").read_bytes(), np.float32)
    np.testing.assert_allclose(first, expected["result0"].reshape(-1), rtol=1e-5)
