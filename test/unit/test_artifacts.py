"""
Artifacts that run by the reference of their format: interpreted, compiled, and loaded.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from artifact_cases import SCALE, SCALED, Bring, X, bring, module_of, scale

import transom
from transom.dialects.diagnostics import OpError, Sources
from transom.dialects.executor import EmittedCode
from transom.runtime import Program, ProgramError, load
from transom.runtime.jit import JitError
from transom.testing import check_phases, interpret
from transom.tools import transom_run

__all__ = ["bring"]


def test_all_phases(bring: Bring):
    bring({"test": scale})
    results = check_phases(module_of(), {"x": X})
    ways = {(result.phase, result.way) for result in results}
    assert ways == {
        ("tensor", "interpreted"),
        *((p, "compiled") for p in ("tensor", "scheduled", "planned", "executable")),
        ("machine", "compiled"),
    }
    for phase in ("planned", "executable"):
        lowered = transom.lower(module_of(), to=phase)
        np.testing.assert_array_equal(interpret(lowered, {"x": X})["y"], 3 * X)
    program = transom.compile(module_of())
    np.testing.assert_array_equal(program.run({"x": X})["y"], 3 * X)
    assert program.run({"x": X[:0]})["y"].shape == (0, 4)


def test_given_references_come_first(bring: Bring):
    bring({"test": scale})

    def halve(code: EmittedCode, arrays: Sequence[Any]) -> None:
        arrays[1][...] = arrays[0] / 2

    outputs = interpret(module_of(), {"x": X}, artifacts={"test": halve})
    np.testing.assert_array_equal(outputs["y"], X / 2)


def refusal(run: Callable[[], object]) -> str:
    with pytest.raises(OpError) as caught:
        run()
    return caught.value.diagnostic().render(Sources()).split("\n")[0]


def test_nothing_runs_it(bring: Bring):
    assert refusal(lambda: interpret(module_of(), {"x": X})) == (
        "artifacts.mlir:16:5: error: no reference evaluation for artifact '@scale' of "
        "format 'test' for '#llvm_cpu.target<cpu = \"x86-64\">'"
    )
    assert refusal(lambda: transom.compile(module_of())) == (
        "artifacts.mlir:4:3: error: nothing runs artifact '@scale' of format 'test' "
        "for '#llvm_cpu.target<cpu = \"x86-64\">': it is no object code of this "
        "machine, and no target brings a reference for the format"
    )
    bring({"tests": scale})
    assert refusal(lambda: interpret(module_of(), {"x": X})).endswith(
        "; did you mean 'tests'?"
    )


def failing(code: EmittedCode, arrays: Sequence[Any]) -> None:
    raise KeyError("no such register")


def test_failure(bring: Bring):
    bring({"test": failing})
    with pytest.raises(OpError) as caught:
        interpret(module_of(), {"x": X})
    lines = caught.value.diagnostic().render(Sources()).split("\n")
    assert [line for line in lines if "artifacts.mlir" in line] == [
        "artifacts.mlir:16:5: error: artifact '@scale' failed: KeyError: "
        "'no such register'",
        "artifacts.mlir:4:3: note: the artifact",
    ]
    program = transom.compile(module_of())
    with pytest.raises(ProgramError) as raised:
        program.run({"x": X})
    assert str(raised.value) == "artifact 'scale' failed: KeyError: 'no such register'"
    assert isinstance(raised.value.__cause__, KeyError)


def test_failure_is_of_one_call(bring: Bring):
    """What failed before does not matter to the next call."""
    fails = [True]

    def once(code: EmittedCode, arrays: Sequence[Any]) -> None:
        if fails.pop() if fails else False:
            raise ValueError("once")
        scale(code, arrays)

    bring({"test": once})
    program = transom.compile(module_of())
    with pytest.raises(ProgramError, match="once"):
        program.run({"x": X})
    np.testing.assert_array_equal(program.run({"x": X})["y"], 3 * X)


def test_interrupts_pass(bring: Bring):
    def interrupted(code: EmittedCode, arrays: Sequence[Any]) -> None:
        raise KeyboardInterrupt

    bring({"test": interrupted})
    program = transom.compile(module_of())
    with pytest.raises(KeyboardInterrupt):
        program.run({"x": X})


def test_inputs_are_not_written(bring: Bring):
    def wrong(code: EmittedCode, arrays: Sequence[Any]) -> None:
        arrays[0][...] = 0

    bring({"test": wrong})
    with pytest.raises(OpError, match="destination is read-only"):
        interpret(module_of(), {"x": X})
    with pytest.raises(ProgramError, match="destination is read-only"):
        transom.compile(module_of()).run({"x": X})


NUMBERS = """executor.artifact @fill {
    format = "test", target = #llvm_cpu.target<cpu = "x86-64">, payload = "x",
    signature = (i8, f32, index, i1, memref<4xbf16>, memref<0xf32>) -> (),
    effects = [read, read, read, read, write, read]
  }"""

FILLED = """() -> (tensor<4xbf16> {graph.name = "y"})
      attributes {target.for = #target.place<@cpu, ?, ?>} {
    %a = arith.constant -3 : i8
    %b = arith.constant 0.5 : f32
    %c = arith.constant 70 : index
    %t = arith.constant true
    %d = tensor.empty() : tensor<4xbf16>
    %e = tir.alloc : memref<0xf32>
    %y = tir.call @fill(%a : i8, %b : f32, %c : index, %t : i1)
           outs(%d : tensor<4xbf16>)
    func.return %y : tensor<4xbf16>
  }"""


def test_numbers(bring: Bring):
    """Numbers keep their types, and narrow floats are seen in memory."""
    seen: list[list[Any]] = []

    def fill(code: EmittedCode, arrays: Sequence[Any]) -> None:
        seen.append([type(value) for value in arrays[:4]])
        arrays[4][...] = arrays[0] + arrays[1] + arrays[2] + arrays[3]

    bring({"test": fill})
    artifact = NUMBERS.replace(", memref<0xf32>", "").replace("write, read", "write")
    check_phases(module_of(artifact, FILLED), {})
    program = transom.compile(module_of(artifact, FILLED))
    assert program.run({})["y"].astype(np.float32).tolist() == [68.5] * 4
    assert all(types == [np.int8, np.float32, np.int64, np.bool_] for types in seen)


@pytest.mark.parametrize("type", ["f16", "memref<4xf32, strided<[2]>>"])
def test_what_no_callback_takes(bring: Bring, type: str):
    bring({"test": scale})
    caller = f"""
  func.func private @caller(%x: memref<4xf32>, %a: {type}) {{
    executor.call @a(%x, %a : memref<4xf32>, {type})
    func.return
  }}"""
    artifact = f"""executor.artifact @a {{
    format = "test", target = #llvm_cpu.target<cpu = "x86-64">, payload = "x",
    signature = (memref<4xf32>, {type}) -> ()
  }}"""
    main = """() -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
    %y = tensor.empty() : tensor<4xf32>
    func.return %y : tensor<4xf32>
  }"""
    assert refusal(lambda: transom.compile(module_of(artifact + caller, main))) == (
        "artifacts.mlir:4:3: error: no callback runs artifact '@a': expected a number "
        "of C or a memref of the identity layout as argument 1, but got "
        f"'{type}'"
    )


def test_unused(bring: Bring):
    """What nothing calls needs nothing that runs it."""
    bring({"test": scale})
    unused = SCALE.replace("@scale", "@unused").replace('"test"', '"other"')
    program = transom.compile(module_of(SCALE + "\n  " + unused))
    assert [artifact.name for artifact in program.code.artifacts] == ["scale"]


def test_given_callbacks():
    """By name or format; no target need know the format."""
    for callbacks in ({"test": scale}, {"scale": scale, "test": failing}):
        program = transom.compile(module_of(), callbacks=callbacks)
        np.testing.assert_array_equal(program.run({"x": X})["y"], 3 * X)
    check_phases(module_of(), {"x": X}, artifacts={"test": scale})


def test_saved(bring: Bring, tmp_path: Path):
    """The code is in the file, and what runs it is given when the file is loaded."""
    bring({"test": scale})
    path = tmp_path / "scale.transom"
    transom.compile(module_of()).save(path)
    with pytest.raises(JitError) as caught:
        load(path)
    assert str(caught.value) == (
        "nothing here runs artifact 'scale' of format 'test' for "
        "'#llvm_cpu.target<cpu = \"x86-64\">'; give a callback for its name or format"
    )
    for callbacks in ({"test": scale}, {"scale": scale, "test": failing}):
        program = load(path, callbacks=callbacks)
        np.testing.assert_array_equal(program.run({"x": X})["y"], 3 * X)


def test_shared_payload(bring: Bring):
    """Functions in one payload are told apart by their entries."""
    second = """executor.artifact @again {
    format = "test", target = #llvm_cpu.target<cpu = "x86-64">, payload = @scale,
    workspace = 64, signature = (memref<?x4xf32>, memref<?x4xf32>) -> (),
    effects = [read, write], entry = "plus"
  }"""
    main = SCALED.replace("@scale", "@again")

    def run(code: EmittedCode, arrays: Sequence[Any]) -> None:
        assert code.entry_name == "plus"
        arrays[1][...] = arrays[0] + int(code.payload_bytes)

    bring({"test": run})
    module = module_of(second + "\n  " + SCALE, main)
    check_phases(module, {"x": X})
    program = transom.compile(module)
    np.testing.assert_array_equal(program.run({"x": X})["y"], X + 3)
    (artifact,) = program.code.artifacts
    assert artifact.payload_bytes == b"3"


def test_command_line(bring: Bring, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "artifacts.mlir"
    path.write_text(str(module_of()))
    command = [str(path), "--input", "1x4xf32=1,2,3,4"]
    for way, reason in (
        ([], "nothing runs artifact '@scale' of format 'test' for "),
        (["--interpret"], "no reference evaluation for artifact '@scale' of "),
    ):
        assert transom_run.main([*command, *way]) == 1
        assert f"error: {reason}" in capsys.readouterr().err
    bring({"test": scale})
    for way in ([], ["--interpret"]):
        assert transom_run.main([*command, *way]) == 0
        assert capsys.readouterr().out == "y: 1x4xfloat32 = [3, 6, 9, 12]\n"


def test_threads(bring: Bring):
    """A failure is told to the thread whose call it was."""
    from concurrent.futures import ThreadPoolExecutor

    def run(code: EmittedCode, arrays: Sequence[Any]) -> None:
        if arrays[0][0, 0] == 1:
            raise ValueError("one")
        scale(code, arrays)

    bring({"test": run})
    program: Program = transom.compile(module_of())

    def call(number: int) -> str:
        try:
            program.run({"x": np.full((2, 4), number, np.float32)})
        except ProgramError as e:
            return str(e)
        return "good"

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(call, [number % 2 for number in range(64)]))
    failed = "artifact 'scale' failed: ValueError: one"
    assert found == ["good", failed] * 32
