"""
Compiled programs: calling, outputs, errors, threads, and files.
"""

import json
import platform
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

import transom
from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_ir
from transom.passes.pipeline import PipelineError
from transom.registry import new_context
from transom.runtime import ArchiveError, InputError, Program, ProgramError, load
from transom.runtime.jit import JitError, host_cpu

TEXT = """
!t = tensor<?x4xf32, #graph.desc<dims = ["N" : 1 to 8]>>
graph.weight @w = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
func.func @main(%x: !t {graph.name = "x"}, %y: !t {graph.name = "y"})
    -> (!t {graph.name = "sum"}, tensor<?xf32> {graph.name = "flat"}) {
  %w = graph.weight_ref @w : tensor<4xf32>
  %a = graph.mul %x, %w : !t, tensor<4xf32> -> !t
  %s = graph.add %a, %y : !t
  %c = graph.concat %s, %x axis 0 : !t, !t -> tensor<?x4xf32>
  %f = graph.reshape %c to [-1] : tensor<?x4xf32> -> tensor<?xf32>
  func.return %s, %f : !t, tensor<?xf32>
}
"""
W = np.array([1, 2, 3, 4], np.float32)


@pytest.fixture(scope="module")
def program() -> Program:
    return transom.compile(parse_ir(new_context(), TEXT, "program.mlir"))


def arrays(batch: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(batch)
    return {n: rng.standard_normal((batch, 4)).astype(np.float32) for n in "xy"}


def check(inputs: dict[str, np.ndarray], outputs: dict[str, np.ndarray]) -> None:
    total = inputs["x"] * W + inputs["y"]
    np.testing.assert_allclose(outputs["sum"], total, rtol=1e-6)
    flat = np.concatenate([total, inputs["x"]]).reshape(-1)
    np.testing.assert_allclose(outputs["flat"], flat, rtol=1e-6)


@pytest.mark.parametrize("batch", [1, 3, 8])
def test_sizes_are_found_at_run_time(program: Program, batch: int) -> None:
    inputs = arrays(batch)
    check(inputs, program.run(inputs))


def test_a_program_is_a_function(program: Program) -> None:
    inputs = arrays(2)
    check(inputs, program(inputs["x"], inputs["y"]))
    check(inputs, program(inputs["x"], y=inputs["y"]))


def test_outputs_are_written_in_place(program: Program) -> None:
    inputs = arrays(2)
    outputs = {"sum": np.empty((2, 4), np.float32), "flat": np.empty(16, np.float32)}
    given = program.run(inputs, outputs=outputs)
    assert given["sum"] is outputs["sum"] and given["flat"] is outputs["flat"]
    check(inputs, outputs)


def test_inputs_need_not_be_contiguous(program: Program) -> None:
    inputs = arrays(4)
    strided = {name: np.asfortranarray(array) for name, array in inputs.items()}
    check(inputs, program.run(strided))


def test_a_bound_call_reads_what_its_inputs_hold(program: Program) -> None:
    inputs, others = arrays(3), arrays(3 + 1)
    outputs = {"sum": np.empty((3, 4), np.float32)}
    call = program.bind(inputs, outputs)
    first = call()
    check(inputs, first)
    assert first["sum"] is outputs["sum"]
    flat = first["flat"]
    for name, array in inputs.items():
        array[...] = others[name][:3]
    check(inputs, call())
    assert call()["flat"] is flat
    # Its memory stays as long as it does.
    call = program.bind(arrays(2))
    check(arrays(2), call())


def test_a_call_is_bound_to_arrays_that_fit(program: Program) -> None:
    inputs = arrays(4)
    strided = {**inputs, "x": np.asfortranarray(inputs["x"])}
    with pytest.raises(InputError, match="'x': expected a contiguous array, which"):
        program.bind(strided)
    with pytest.raises(InputError, match="'y': expected N to be 4, but got 2"):
        program.bind({**inputs, "y": arrays(2)["y"]})
    with pytest.raises(InputError, match="but 'y' is missing"):
        program.bind({"x": inputs["x"]})
    with pytest.raises(InputError, match="but got 'other'"):
        program.bind(inputs, {"other": inputs["x"]})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": np.zeros((2, 4))}, "'x': expected elements of float32, but got float64"),
        (
            {"x": np.zeros((2, 5), np.float32)},
            r"'x': expected float32\[N, 4\], but got",
        ),
        ({"x": np.zeros((9, 4), np.float32)}, "'x': expected a size of N from 1 to 8"),
        ({"x": np.zeros((3, 4), np.float32)}, "'y': expected N to be 3, but got 2"),
        ({"z": np.zeros(1)}, "expected inputs 'x', 'y', but got 'z'"),
    ],
)
def test_wrong_inputs(
    program: Program, change: dict[str, np.ndarray], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        program.run({**arrays(2), **change})


def test_missing_and_too_many_inputs(program: Program) -> None:
    inputs = arrays(2)
    with pytest.raises(InputError, match="but 'y' is missing"):
        program(inputs["x"])
    with pytest.raises(InputError, match="expected 2 inputs, but got 3"):
        program(inputs["x"], inputs["y"], inputs["y"])
    with pytest.raises(InputError, match="'x': given in order and by name"):
        program(inputs["x"], inputs["y"], x=inputs["y"])


def test_wrong_outputs(program: Program) -> None:
    inputs = arrays(2)
    for output, message in (
        (np.empty((3, 4), np.float32), r"'sum': expected an output of float32\[2, 4\]"),
        (np.empty((4, 2), np.float32).T, "'sum': expected a contiguous array"),
        (inputs["x"], "'sum': expected an output that shares no input's memory"),
    ):
        with pytest.raises(InputError, match=message):
            program.run(inputs, outputs={"sum": output})
    with pytest.raises(InputError, match="but got 'other'"):
        program.run(inputs, outputs={"other": inputs["x"]})


def test_outputs_do_not_share_memory(program: Program) -> None:
    inputs, memory = arrays(2), np.empty(24, np.float32)
    apart = {"sum": memory[:8].reshape(2, 4), "flat": memory[8:]}
    check(inputs, program.run(inputs, outputs=apart))
    shared = {"sum": memory[:8].reshape(2, 4), "flat": memory[7:23]}
    message = "'sum': expected an output that shares no memory with 'flat'"
    with pytest.raises(InputError, match=message):
        program.run(inputs, outputs=shared)


def test_threads_may_call_one_program(program: Program) -> None:
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for _ in range(50):
                inputs = arrays(1 + seed % 8)
                check(inputs, program.run(inputs))
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_what_the_program_finds_is_an_error() -> None:
    text = """
    func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %s = graph.add %x, %y : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
      func.return %s : tensor<?xf32>
    }
    """
    program = transom.compile(parse_ir(new_context(), text, "sizes.mlir"))
    two, three, one = (np.ones(n, np.float32) for n in (2, 3, 1))
    np.testing.assert_array_equal(program(three, one)["result0"], three * 2)
    np.testing.assert_array_equal(program(one, three)["result0"], three * 2)
    with pytest.raises(ProgramError, match=r"'graph\.add': .* does not broadcast"):
        program(two, three)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threads": 0}, "expected 1 to 1024 threads, but got 0"),
        ({"executor": "vn"}, "unknown executor 'vn'"),
        ({"opt_level": 4}, "expected 0 to 3 as 'opt_level', but got 4"),
        (
            {"reduced_precision": True},
            "no kernel makes use of option 'reduced_precision' yet",
        ),
        ({"winogard": True}, "unknown option 'winogard'; did you mean 'winograd'"),
        ({"dims": {"M": (1, 2)}}, "unknown size 'M'"),
        ({"devices": {"cpu": "3 : i32"}}, "expected a target attribute"),
    ],
)
def test_wrong_arguments(options: dict[str, object], message: str) -> None:
    module = parse_ir(new_context(), TEXT, "program.mlir")
    with pytest.raises(PipelineError, match=message):
        transom.compile(module, **options)  # pyright: ignore[reportArgumentType] # on purpose


def test_a_device_takes_no_name_that_the_module_has() -> None:
    module = parse_ir(new_context(), TEXT, "program.mlir")
    with pytest.raises(OpError) as caught:
        transom.compile(module, devices={"w": '#llvm_cpu.target<cpu = "host">'})
    assert caught.value.message == (
        "cannot bind device '@w': there is another '@w'; remove its declaration from "
        "the module or edit it, or take another name"
    )


def test_devices_and_bounds_are_arguments() -> None:
    module = parse_ir(new_context(), TEXT, "program.mlir")
    before = str(module)
    program = transom.compile(
        module,
        devices={"cpu": '#llvm_cpu.target<cpu = "host">'},
        dims={"N": (1, 2)},
        opt_level=0,
    )
    assert str(module) == before, "the input is not touched"
    check(arrays(2), program.run(arrays(2)))
    with pytest.raises(InputError, match="from 1 to 2"):
        program.run(arrays(3))


def test_an_unknown_cpu_is_an_error_of_the_text() -> None:
    module = parse_ir(new_context(), TEXT, "program.mlir")
    with pytest.raises(
        PipelineError, match="unknown CPU 'znver44'; did you mean 'znver4'"
    ):
        transom.compile(module, devices={"cpu": '#llvm_cpu.target<cpu = "znver44">'})


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ('cpu = "diamondrapids"', "it lacks .*amx"),
        ('cpu = "cortex-a53"', "it is of x86_64, not of aarch64"),
        ('cpu = "x86-64", triple = "aarch64-linux-gnu"', "unknown CPU"),
    ],
)
def test_code_for_another_machine_is_refused(target: str, message: str) -> None:
    """Wrong instructions would end the process."""
    if platform.machine() != "x86_64" or host_cpu()[0] == "diamondrapids":
        pytest.skip("the messages are those of another machine")
    module = parse_ir(new_context(), TEXT, "program.mlir")
    with pytest.raises((OpError, PipelineError), match=message):
        transom.compile(module, devices={"cpu": f"#llvm_cpu.target<{target}>"})


def test_a_library_that_cannot_be_loaded_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the reason of the loader, however often it is tried."""
    module = parse_ir(new_context(), TEXT, "program.mlir")
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        with pytest.raises(JitError) as caught:
            transom.compile(module, libraries=["nope.so"])
        assert str(caught.value) == (
            "cannot load the library 'nope.so': cannot open shared object file: No "
            "such file or directory"
        )
    Path("nope.so").write_text("no library " * 100)
    with pytest.raises(JitError) as caught:
        transom.compile(module, libraries=["nope.so"])
    assert str(caught.value) == (
        "cannot load the library 'nope.so': invalid ELF header"
    )


def test_two_inputs_of_one_name_are_an_error() -> None:
    text = TEXT.replace('graph.name = "y"', 'graph.name = "x"')
    with pytest.raises(OpError, match="argument 'x' is there twice"):
        transom.compile(parse_ir(new_context(), text, "program.mlir"))


def test_a_file_is_verified_when_it_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text(
        "func.func @main(%x: tensor<4xf32>) -> tensor<2xf32> "
        "{ func.return %x : tensor<4xf32> }"
    )
    with pytest.raises(OpError):
        transom.load(path)


def test_the_host_may_be_named_in_the_configuration() -> None:
    text = """
    builtin.module attributes {target.config = #target.config<host = @cpu>} {
      target.device @cpu {targets = [#llvm_cpu.target<cpu = "host">]}
      func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
        %y = graph.neg %x : tensor<4xf32>
        func.return %y : tensor<4xf32>
      }
    }
    """
    program = transom.compile(parse_ir(new_context(), text, "host.mlir"))
    assert (program(np.ones(4, np.float32))["result0"] == -1).all()


def test_files(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "model.transom"
    program.save(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.transom"]
    check(arrays(3), load(path).run(arrays(3)))


def test_loading_imports_nothing_of_the_compiler(
    program: Program, tmp_path: Path
) -> None:
    path = tmp_path / "model.transom"
    program.save(path)
    code = f"""
import sys
import numpy as np
import transom.runtime
program = transom.runtime.load({str(path)!r})
x = np.ones((2, 4), np.float32)
assert (program(x, x)["sum"] == [[2, 3, 4, 5]] * 2).all()
layers = {{"dialects", "passes", "lowering", "targets", "driver", "interpreters"}}
loaded = {{name.split(".")[1] for name in sys.modules if name.startswith("transom.")}}
assert not layers & loaded, layers & loaded
assert "xdsl" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def rewrite(path: Path, changes: dict[str, bytes]) -> None:
    """Replace entries of a program's file."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries.update(changes)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)


def manifest_with(path: Path, **changes: object) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    return {"manifest.json": json.dumps({**manifest, **changes}).encode()}


def test_damaged_and_foreign_files_are_refused(
    program: Program, tmp_path: Path
) -> None:
    path = tmp_path / "model.transom"
    program.save(path)
    whole = path.read_bytes()

    def refused(message: str) -> None:
        with pytest.raises(ArchiveError, match=message):
            load(path)
        path.write_bytes(whole)

    rewrite(path, {"code/0.o": b"\x7fELF"})
    refused("is damaged: entry 'code/0.o'")
    path.write_bytes(whole[: len(whole) // 2])
    refused("is no program of transom")
    path.write_bytes(b"")
    refused("is no program of transom")
    rewrite(path, {"manifest.json": b"[]"})
    refused("is no program of transom")
    rewrite(path, manifest_with(path, version=99))
    refused("expected version 4 of the format, but got 99")
    rewrite(path, manifest_with(path, triple="riscv64-unknown-linux"))
    refused("the program is for 'riscv64-unknown-linux'")
    rewrite(path, manifest_with(path, features="+amx-tile,+avx10.9"))
    refused("this CPU lacks .*avx10.9")
    check(arrays(1), load(path).run(arrays(1)))


def test_a_failed_save_leaves_the_old_file(program: Program, tmp_path: Path) -> None:
    with pytest.raises(OSError):
        program.save(tmp_path / "no-such-folder" / "model.transom")
    assert not list(tmp_path.iterdir())


def test_a_text_is_parsed_as_a_file_is(tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text(TEXT)
    assert transom.parse(TEXT).is_structurally_equivalent(
        transom.load(tmp_path / "m.mlir")
    )
    host = 'target.device @cpu {targets = [#llvm_cpu.target<cpu = "host">]}'
    assert '"host"' not in str(transom.parse(host)), "it names this machine's CPU"
    with pytest.raises(OpError) as caught:
        transom.parse("graph.sqr")
    assert str(caught.value) == (
        "<text>:1:1: error: unknown op 'graph.sqr'; did you mean 'graph.sqrt'?"
    )
    with pytest.raises(OpError) as caught:
        transom.parse("func.func @f() -> i32 {\n  func.return\n}", name="f.mlir")
    assert str(caught.value).startswith("f.mlir:2:3: error: ")


def test_what_a_program_takes_and_gives_is_seen() -> None:
    text = """func.func @main(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
      %y = graph.exp %x : tensor<4x?xf32>
      func.return %y : tensor<4x?xf32>
    }"""
    program = transom.compile(transom.parse(text))
    expected = "<Program main(arg0: float32[4, ?]) -> (result0: float32[4, ?])>"
    assert repr(program) == expected
