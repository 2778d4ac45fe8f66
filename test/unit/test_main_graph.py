"""
The executor `graph`: the same bytes as machine code, in memory full of garbage; what it
refuses; what is seen of its nodes.
"""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_c_library import DATA_SIZES, DYNAMIC, LOOP, STATIC, numbers

import transom
from transom.runtime.main_failures import MainError, MainFailure
from transom.runtime.main_graph import MainGraph
from transom.runtime.main_scalars import BINARY, CASTS
from transom.runtime.main_values import KernelCall
from transom.runtime.program import PoolSpec, ProgramError
from transom.tools import transom_run
from transom.tools.watched_calls import Watch

CASES = {
    "static": (STATIC, [numbers(4, 8), np.array([1, -2, 3, 127], np.int8)]),
    "dynamic": (DYNAMIC, [numbers(5, 8), numbers(5, 8)]),
    "data": (DATA_SIZES, [np.array([0, 1, 0, 2, 3], np.float32)]),
    "loop": (LOOP, [numbers(4), np.array(3, np.int64)]),
}


def test_constants_alone() -> None:
    text = """func.func @main() -> tensor<3xf32> {
      %c = graph.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
      func.return %c : tensor<3xf32>
    }"""
    (found,) = transom.compile(transom.parse(text), executor="graph")().values()
    np.testing.assert_array_equal(found, np.array([1, 2, 4], np.float32))


def test_kernels_that_are_not_apart() -> None:
    """The name is too long for an object of its own."""
    name = "k" * 130
    text = f"""
    module attributes {{
      target.config = #target.config<host = @cpu, phase = "tensor">
    }} {{
      target.device @cpu {{targets = [#llvm_cpu.target<cpu = "host">]}}
      tir.func private @{name}(read %x: memref<4xf32>, write %y: memref<4xf32>)
          attributes {{
        target.for = #target.place<@cpu, #llvm_cpu.target<cpu = "host">, ?>
      }} {{
        tir.nest dims [parallel 4]
            ins(%x[d0] : memref<4xf32>) outs(%y[d0] : memref<4xf32>)
        finish (%a : f32) {{
          %s = arith.addf %a, %a : f32
          tir.yield %s : f32
        }}
        tir.return
      }}
      func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
        %d = tensor.empty() : tensor<4xf32>
        %r = tir.call @{name}(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
        func.return %r : tensor<4xf32>
      }}
    }}"""
    array = np.arange(4, dtype=np.float32)
    (found,) = transom.compile(transom.parse(text), executor="graph")(array).values()
    np.testing.assert_array_equal(found, 2 * array)


def test_nodes_are_lines() -> None:
    program = transom.compile(transom.parse(LOOP), executor="graph")
    text = program.code.graph
    assert text is not None
    assert json.loads(text)["version"] == 2
    (call,) = (line for line in text.splitlines() if "executor.call" in line)
    assert json.loads(call.strip().rstrip(",")) == {
        "op": "executor.call",
        "in": ["v", "z"],
        "kernel": next(iter(json.loads(text)["kernels"])),
        "writes": [1],
    }


def test_calls_are_observed() -> None:
    program = transom.compile(transom.parse(LOOP), executor="graph")
    calls: list[tuple[str, Any]] = []

    def observe(call: KernelCall) -> None:
        assert call.seconds > 0
        (array,) = call.written.values()
        calls.append((call.node, array.copy()))

    x = numbers(4)
    program.run({"arg0": x, "arg1": np.array(2, np.int64)}, observer=observe)
    assert len(calls) == 2
    assert calls[0][0] == calls[1][0]
    np.testing.assert_allclose(calls[0][1], np.tanh(np.exp(x)), rtol=1e-5)
    np.testing.assert_allclose(calls[1][1], np.tanh(np.exp(calls[0][1])), rtol=1e-5)
    compiled = transom.compile(transom.parse(LOOP))
    with pytest.raises(ProgramError, match="only the executors 'graph' and 'vm'"):
        compiled.run({"arg0": x, "arg1": np.array(2)}, observer=observe)


def graph(*nodes: dict[str, Any], **more: Any) -> str:
    """The text of a graph with these nodes."""
    main = {"arguments": ["x"], "types": ["int64"], "nodes": list(nodes)}
    found: dict[str, Any] = {"format": "transom-graph", "version": 2, "kernels": {}}
    return json.dumps({**found, "functions": {"main": main}, **more})


def no_function(name: str, result: Any, types: Sequence[Any]) -> None:
    """There is none of any name."""


CONSTANT = {"op": "arith.constant", "type": "int64", "value": 1, "out": ["a"]}


@pytest.mark.parametrize(
    "text, reason",
    [
        ("{", "the graph is no JSON"),
        ("[]", "the graph is damaged"),
        (graph(version=1), "expected 'transom-graph' of version 2"),
        (graph({"op": "arith.nothing"}), "unknown op 'arith.nothing'"),
        (graph({"op": "arith.addi", "in": ["x", "y"]}), "'y' is not defined here"),
        (graph(CONSTANT, CONSTANT), "'a' is defined twice"),
        (graph({**CONSTANT, "out": []}), "expected 1 results, but got 0"),
        (graph({**CONSTANT, "type": "int65"}), "expected a type, but got 'int65'"),
        (graph({"op": "executor.call", "kernel": "k"}), "the graph is damaged"),
    ],
)
def test_wrong_graphs_are_refused(text: str, reason: str) -> None:
    with pytest.raises(MainError, match=reason):
        MainGraph(text, no_function, {}, [PoolSpec("p", 64, 64)])


def test_integers_wrap_and_divisions_by_zero_raise() -> None:
    a, b = np.int8(127), np.int8(-128)
    assert BINARY["arith.addi"](a, np.int8(1)) == -128
    assert BINARY["arith.divsi"](np.int8(-7), np.int8(2)) == -3
    assert BINARY["arith.remsi"](np.int8(-7), np.int8(2)) == -1
    assert BINARY["arith.floordivsi"](np.int8(-7), np.int8(2)) == -4
    assert BINARY["arith.ceildivsi"](np.int8(7), np.int8(2)) == 4
    assert BINARY["arith.divui"](b, np.int8(2)) == 64
    assert BINARY["arith.shrsi"](b, np.int8(7)) == -1
    assert BINARY["arith.shrui"](b, np.int8(7)) == 1
    assert BINARY["arith.maxui"](a, b) == -128
    assert CASTS["arith.extui"](b, np.dtype(np.int32)) == 128
    assert CASTS["arith.extsi"](np.bool_(True), np.dtype(np.int32)) == -1
    for name in ("divsi", "divui", "remsi", "floordivsi"):
        with pytest.raises(MainFailure, match="division by zero"):
            BINARY[f"arith.{name}"](a, np.int8(0))
    with pytest.raises(MainFailure, match="shift by 8"):
        BINARY["arith.shli"](a, np.int8(8))


@pytest.mark.parametrize("executor", ["graph", "vm"])
def test_loading_imports_nothing_of_the_compiler(executor: str, tmp_path: Path) -> None:
    text, arrays = CASES["static"]
    program = transom.compile(transom.parse(text), executor=executor)
    program.save(tmp_path / "p.transom")
    np.savez(tmp_path / "in.npz", *arrays)
    code = (
        "import sys, numpy as np, transom.runtime\n"
        f"folder = {str(tmp_path)!r}\n"
        "arrays = np.load(folder + '/in.npz').values()\n"
        "transom.runtime.load(folder + '/p.transom')(*arrays)\n"
        "print([m for m in sys.modules if m.startswith('xdsl') or m.startswith("
        "('transom.dialects', 'transom.passes', 'transom.lowering'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_the_tool(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "m.mlir"
    model.write_text(LOOP)
    words = [str(model), "--input=random:0", "--input=i64=2", "--executor=graph"]
    folder = tmp_path / "seen"
    more = ["--profile", f"--dump-intermediates={folder}"]
    assert transom_run.main([*words, *more]) == 0
    out = capsys.readouterr().out
    assert "us in 2 kernel calls" in out
    assert sorted(path.name for path in folder.iterdir()) == [
        "0000.z.npy",
        "0001.z.npy",
    ]
    assert transom_run.main([*words[:-1], "--profile"]) == 2
    assert "expected --executor=graph or vm with --profile" in capsys.readouterr().err


def test_repeated_profiles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each call, whatever the number of runs, and the same outputs."""
    model, out = tmp_path / "m.mlir", tmp_path / "y.npz"
    model.write_text(LOOP)
    words = [str(model), "--input=random:0", "--input=i64=2", "--executor=graph"]
    profile = [*words, "--profile", "-o", str(out)]
    assert transom_run.main(profile) == 0
    once = dict(np.load(out))
    capsys.readouterr()
    folder = tmp_path / "seen"
    assert (
        transom_run.main([*profile, "--repeat=3", f"--dump-intermediates={folder}"])
        == 0
    )
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["node", "least", "median", "share"]
    times = r" +[\d.]+ us +[\d.]+ us"
    for line in lines[:2]:
        assert re.fullmatch(rf" *\S+{times} +[\d.]+% \S+", line)
    assert re.fullmatch(rf"{times} in 2 kernel calls, 3 runs", lines[2])
    assert len(list(folder.iterdir())) == 2
    for name, array in np.load(out).items():
        np.testing.assert_array_equal(array, once[name])
    for more, message in (
        (["--repeat=3"], "expected --profile with --repeat"),
        (["--profile", "--repeat=0"], "expected --repeat of 1 or more, but got 0"),
    ):
        assert transom_run.main([*words, *more]) == 2
        assert message in capsys.readouterr().err


def test_least_and_median() -> None:
    watch = Watch(None)
    for seconds in (4e-6, 1e-6, 3e-6):
        watch.start()
        watch(KernelCall("main:1", "k", seconds, {}))
        watch(KernelCall("main:2", "l", 2e-6 - seconds / 4, {}))
    assert watch.report_of_runs().splitlines()[1:] == [
        "    main:1        1.0 us        3.0 us  50.0% k",
        "    main:2        1.0 us        1.2 us  50.0% l",
        "                  2.8 us        4.2 us in 2 kernel calls, 3 runs",
    ]
