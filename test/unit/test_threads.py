"""
Programs on several threads: the same bits as on one, whatever team there is.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import transom
from transom.dialects.diagnostics import OpError
from transom.runtime.signature import Array

MODEL = """
!x = tensor<96x160xf32>
!w = tensor<160x200xf32>
!y = tensor<96x200xf32>
!image = tensor<1x4x33x35xf32>
!filter = tensor<7x4x3x3xf32>
!channels = tensor<1x7x33x35xf32>
func.func @main(%x: !x, %w: !w, %i: !image, %k: !filter) -> (!y, !channels, !w) {
  %m = graph.matmul %x, %w : !x, !w -> !y
  %s = graph.softmax %m axis 1 : !y
  %c = graph.conv2d %i, %k padding [1, 1, 1, 1] : !image, !filter -> !channels
  %t = graph.tanh %w : !w
  func.return %s, %c, %t : !y, !channels, !w
}
"""

SCRATCH = """
#cpu = #target.place<@cpu, #llvm_cpu.target<cpu = "host">, ?>
!m = memref<40x3000xf32>
module attributes {target.config = #target.config<host = @cpu, phase = "tensor">} {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "host">]}
  func.func @main(%x: tensor<40x3000xf32>) -> tensor<40x3000xf32> {
    %d = tensor.empty() : tensor<40x3000xf32>
    %y = tir.call @rows(%x : tensor<40x3000xf32>) outs(%d : tensor<40x3000xf32>)
    func.return %y : tensor<40x3000xf32>
  }
  tir.func @rows(read %x: !m, write %y: !m)
      attributes {target.for = #cpu, tir.threads = THREADS} {
    tir.block (%i: index) in dims [parallel 40]
        schedule #tir.schedule<parallel = [d0]> {
      %row = tir.alloc : memref<3000xf32>
      tir.nest dims [parallel 3000] at (%i)
          ins(%x[s0, -d0 + 2999] : !m) outs(%row[d0] : memref<3000xf32>)
        finish (%v: f32) {
          %s = arith.addf %v, %v : f32
          tir.yield %s : f32
        }
      tir.nest dims [parallel 3000] at (%i)
          ins(%row[-d0 + 2999] : memref<3000xf32>) outs(%y[s0, d0] : !m)
        finish (%v: f32) {
          tir.yield %v : f32
        }
    }
    tir.return
  }
}
"""


def arrays() -> dict[str, Array]:
    random = np.random.default_rng(7)
    shapes = {
        "arg0": (96, 160),
        "arg1": (160, 200),
        "arg2": (1, 4, 33, 35),
        "arg3": (7, 4, 3, 3),
    }
    return {n: random.standard_normal(s, dtype=np.float32) for n, s in shapes.items()}


def bits(outputs: dict[str, Array]) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in outputs.items()}


@pytest.fixture(scope="module")
def serial() -> dict[str, bytes]:
    return bits(transom.compile(transom.parse(MODEL)).run(arrays()))


@pytest.mark.parametrize("threads", [2, 3, 4])
def test_bits_do_not_depend_on_threads(threads: int, serial: dict[str, bytes]) -> None:
    program = transom.compile(transom.parse(MODEL), threads=threads)
    assert any(b"GOMP_parallel" in data for data in program.code.objects)
    for _ in range(3):
        assert bits(program.run(arrays())) == serial


def test_one_thread_asks_for_no_team() -> None:
    program = transom.compile(transom.parse(MODEL), threads=1)
    assert not any(b"GOMP_parallel" in data for data in program.code.objects)


def test_the_module_says_how_many_threads() -> None:
    config = "module attributes {target.config = #target.config<threads = 2>} {"
    text = MODEL.replace("func.func", f"{config} func.func") + "}"
    program = transom.compile(transom.parse(text))
    assert any(b"GOMP_parallel" in data for data in program.code.objects)


def test_threads_are_chosen_before_tensor() -> None:
    module = transom.lower(transom.parse(MODEL), "tensor")
    with pytest.raises(OpError, match="before phase 'tensor' to choose 2 threads"):
        transom.compile(module, threads=2)


def test_concurrent_calls(serial: dict[str, bytes]) -> None:
    program = transom.compile(transom.parse(MODEL), threads=2)
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(program.run, arrays()) for _ in range(12)]
        assert all(bits(run.result()) == serial for run in runs)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_each_thread_has_memory_of_its_own(threads: int) -> None:
    module = transom.parse(SCRATCH.replace("THREADS", str(threads)))
    program = transom.compile(module)
    x = np.random.default_rng(0).standard_normal((40, 3000), dtype=np.float32)
    for _ in range(5):
        np.testing.assert_array_equal(program(x)["result0"], x + x)
    (pool,) = program.code.pools
    # Where there are several, each has whole cache lines.
    assert pool.size == (12000 if threads == 1 else threads * 12032)


PROGRAM = """
import sys
import numpy as np
from transom.runtime.archive import load
program = load(sys.argv[1])
inputs = dict(np.load(sys.argv[2]))
outputs = program.run(inputs)
expected = np.load(sys.argv[3])
assert all(outputs[n].tobytes() == expected[n].tobytes() for n in expected)
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A saved program for two threads, inputs, and what it gives on one thread."""
    folder = tmp_path_factory.mktemp("threads")
    paths = [str(folder / name) for name in ("p.transom", "inputs.npz", "outputs.npz")]
    transom.compile(transom.parse(MODEL), threads=2).save(paths[0])
    np.savez(paths[1], **arrays())  # pyright: ignore[reportArgumentType]
    outputs = transom.compile(transom.parse(MODEL)).run(arrays())
    np.savez(paths[2], **outputs)  # pyright: ignore[reportArgumentType]
    return paths


@pytest.mark.parametrize(
    "environment",
    [{}, {"OMP_THREAD_LIMIT": "1"}, {"OMP_DYNAMIC": "true"}, {"OMP_NUM_THREADS": "1"}],
    ids=str,
)
def test_smaller_teams(environment: dict[str, str], saved: list[str]) -> None:
    """The library may give fewer threads than are asked for."""
    run_saved(PROGRAM, saved, environment)


def test_without_the_library(saved: list[str]) -> None:
    """All runs on one thread, after one warning."""
    absent = "import transom.runtime.threads as t; t.LIBRARY = 'libnone.so.1'\n"
    warned = run_saved(absent + PROGRAM + "load(sys.argv[1])\n", saved, {})
    assert warned.count("'libnone.so.1' is not found: parallel loops run on one") == 1


def run_saved(text: str, saved: list[str], environment: dict[str, str]) -> str:
    """What a process says that runs a program."""
    done = subprocess.run(
        [sys.executable, "-c", text, *saved],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked here")
def test_a_forked_child_runs_serially(saved: list[str]) -> None:
    """After a team has run, one in a forked child would never end."""
    text = PROGRAM + (
        "import os\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    outputs = program.run(inputs)\n"
        "    same = [outputs[n].tobytes() == expected[n].tobytes() for n in expected]\n"
        "    os._exit(0 if all(same) else 3)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert all(o.tobytes() == expected[n].tobytes() "
        "for n, o in program.run(inputs).items())\n"
    )
    run_saved(text, saved, {})


def test_a_team_has_the_threads(saved: list[str]) -> None:
    """The process has one thread more after a call of a program for two."""
    if not Path("/proc/self/task").exists():
        pytest.skip("threads are counted in /proc")
    count = "len(os.listdir('/proc/self/task'))"
    before = f"import os\nbefore = {count}\noutputs = program"
    text = PROGRAM.replace("outputs = program", before)
    text += f"assert {count} == before + 1\n"
    run_saved(text, saved, {"OMP_DYNAMIC": "false"})
