"""`--timing` and `--pass-statistics`: what is shown, as text and as data."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from opt_cases import SUMS, Opt
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from transom.dialects.diagnostics import OpError
from transom.passes.function_pass import FunctionPass
from transom.passes.statistics import Statistic, collecting

MODEL = """\
func.func @main(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %one = graph.constant dense<1.0> : tensor<8xf32>
  %two = graph.add %one, %one : tensor<8xf32>
  %s = graph.add %x, %two : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>
  %e = graph.exp %s : tensor<4x8xf32>
  %c = graph.concat %e, %e axis 0 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  %m = graph.matmul %e, %c : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  func.return %m : tensor<4x8xf32>
}
"""

SUMS_SEEN = Statistic("sums", "sums seen")
NEVER = Statistic("never", "what does not happen")


@dataclass(frozen=True)
class CountSums(FunctionPass):
    name = "count-sums"
    statistics: ClassVar[tuple[Statistic, ...]] = (SUMS_SEEN, NEVER)

    def apply_to(self, ctx: Context, func: FuncOp) -> None:
        for op in func.walk():
            if op.name == "arith.addi":
                SUMS_SEEN.add()


@dataclass(frozen=True)
class CountsAndFails(ModulePass):
    name = "counts-and-fails"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        SUMS_SEEN.add(7)
        raise OpError(op, "no")


@pytest.fixture
def opt(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Opt:
    monkeypatch.setenv("TRANSOM_CACHE", "memory")
    opt = Opt(tmp_path, capsys, monkeypatch)
    opt.register(CountSums, CountsAndFails)
    return opt


# Statistics.

HEAD = """\
===-------------------------------------------------------------------------===
                        ... Pass statistics report ...
===-------------------------------------------------------------------------===
"""
TWO = SUMS + SUMS.replace("@f", "@g")


def test_counts_in_the_order_of_the_pipeline(opt: Opt) -> None:
    pipeline = "count-sums,func.func(cse,count-sums),dce"
    result = opt(TWO, "-p", pipeline, "--pass-statistics")
    assert result.status == 0
    assert (
        result.err
        == f"""\
{HEAD}count-sums
  (S) 4 sums  - sums seen
  (S) 0 never - what does not happen
'func.func' Pipeline
  cse
  count-sums
    (S) 2 sums  - sums seen
    (S) 0 never - what does not happen
dce
"""
    )


def test_counts_by_name(opt: Opt) -> None:
    pipeline = "count-sums,func.func(cse,count-sums)"
    flags = ("--pass-statistics", "--pass-statistics-display=list")
    assert (
        opt(TWO, "-p", pipeline, *flags).err
        == f"""\
{HEAD}count-sums
  (S) 6 sums  - sums seen
  (S) 0 never - what does not happen
cse
"""
    )


def test_counts_as_data(opt: Opt) -> None:
    flags = ("--pass-statistics", "--output-format=json")
    result = opt(SUMS, "-p", "count-sums,func.func(cse,count-sums)", *flags)
    assert json.loads(result.err) == {
        "report": "statistics",
        "data": [
            {
                "pass": "count-sums",
                "anchor": "builtin.module",
                "statistics": {"sums": 2, "never": 0},
            },
            {"pass": "cse", "anchor": "func.func", "statistics": {}},
            {
                "pass": "count-sums",
                "anchor": "func.func",
                "statistics": {"sums": 1, "never": 0},
            },
        ],
    }
    flags = (*flags, "--pass-statistics-display=list")
    result = opt(SUMS, "-p", "count-sums,cse,count-sums", *flags)
    assert json.loads(result.err)["data"] == [
        {"pass": "count-sums", "statistics": {"sums": 3, "never": 0}}
    ]


def test_a_pass_that_fails_has_counted(opt: Opt) -> None:
    result = opt(SUMS, "-p", "counts-and-fails", "--pass-statistics")
    assert result.status == 1
    assert result.err.endswith(f"{HEAD}counts-and-fails\n  (S) 7 sums - sums seen\n")


def test_nobody_counts_if_nobody_asks() -> None:
    SUMS_SEEN.add(3)
    found: list[tuple[Statistic, int]] = []
    with collecting(lambda statistic, count: found.append((statistic, count))):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(SUMS_SEEN.add, 5).result()
        SUMS_SEEN.add(1)
    assert found == [(SUMS_SEEN, 1)]


def counts_of(opt: Opt, to: str) -> tuple[dict[str, dict[str, int]], str]:
    """What passes count on the way to a phase, and the module there."""
    flags = ("--pass-statistics", "--output-format=json")
    result = opt(MODEL, f"--to={to}", *flags)
    assert result.status == 0
    data: list[Any] = json.loads(result.err.splitlines()[-1])["data"]
    return {entry["pass"]: entry["statistics"] for entry in data}, result.out


def test_what_our_passes_count(opt: Opt) -> None:
    counts, kernels = counts_of(opt, "tensor")
    assert counts["graph-fold-constants"] == {"folded": 1}
    assert counts["graph-fuse"] == {"groups": 1, "fused-ops": 2}
    assert counts["convert-graph-to-tir"]["cache-made"] == kernels.count("tir.func")
    # An add, an exp and a product; what is between them may be none, or kernels.
    assert counts["convert-graph-to-tir"]["converted"] >= 3
    assert counts["tir-fuse-nests"]["fused-nests"] == 1
    # A second time, the kernels are known.
    again, planned = counts_of(opt, "planned")
    assert again["convert-graph-to-tir"] == {"cache-found": kernels.count("tir.func")}
    assert again["convert-tir-to-scf"]["converted"] == kernels.count("tir.nest")
    memory = again["tir-plan-memory"]
    assert memory["buffers"] == planned.count("pool = @")
    (size,) = re.findall(r"executor.pool @\S+ {size = (\d+)", planned)
    # What is concatenated, at least; there is one way to lay that out.
    assert memory["pool-bytes"] == memory["lower-bound"] == int(size) >= 8 * 8 * 4


# Two of the buffers live at a time.
CHAIN = """\
tir.func @k(read memref<16xf32>, write memref<16xf32>)
func.func @chain(%x: memref<16xf32>, %y: memref<16xf32>) {
  %a = tir.alloc : memref<16xf32>
  %b = tir.alloc : memref<16xf32>
  %c = tir.alloc : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  tir.call @k(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  tir.call @k(%b : memref<16xf32>) outs(%c : memref<16xf32>)
  tir.call @k(%c : memref<16xf32>) outs(%y : memref<16xf32>)
  func.return
}
"""


def test_what_the_planner_counts(opt: Opt) -> None:
    flags = ("--pass-statistics", "--output-format=json")
    result = opt(CHAIN, "-p", "tir-plan-memory", *flags)
    (entry,) = json.loads(result.err)["data"]
    counted = {"buffers": 3, "pool-bytes": 2 * 16 * 4, "lower-bound": 2 * 16 * 4}
    assert entry["statistics"] == counted


# Times.

ROW = re.compile(r"  +(\d+\.\d{4}) \( *(\d+\.\d)%\)  ( *)(\S.*)")


def rows(err: str) -> list[tuple[int, str]]:
    """Names with their depths."""
    found = [match for line in err.splitlines() if (match := ROW.fullmatch(line))]
    return [(len(match[3]) // 2, match[4]) for match in found]


def test_times_as_a_tree(opt: Opt) -> None:
    pipeline = "cse,func.func(dce,canonicalize)"
    result = opt(MODEL, "--to=placed", "-p", pipeline, "--timing")
    assert result.status == 0
    table = result.err[result.err.index("===-") :].splitlines()
    assert table[1] == f"{'... Execution time report ...':^79}".rstrip()
    assert re.fullmatch(r"  Total Execution Time: \d+\.\d{4} seconds", table[3])
    assert table[4:6] == ["", "  ----Wall Time----  ----Name----"]
    names = rows(result.err)
    assert names[0] == (0, "Parser")
    assert names[-3:] == [(0, "Output"), (0, "Rest"), (0, "Total")]
    inside = names[names.index((0, "Phase 'graph'")) + 1 :]
    assert inside[:3] == [
        (1, "target-resolve-devices"),
        (1, "graph-infer-types"),
        (1, "graph-fold-constants"),
    ]
    nested = names[names.index((0, "'func.func' Pipeline")) + 1 :]
    assert nested[:2] == [(1, "dce"), (1, "canonicalize")]
    assert (0, "cse") in names
    assert names.count((0, "Verifier")) == 1


def test_times_as_a_list(opt: Opt) -> None:
    flags = ("--timing", "--timing-display=list")
    result = opt(SUMS, "-p", "cse,func.func(cse),dce", *flags)
    names = rows(result.err)
    assert {depth for depth, _ in names} == {0}
    assert [name for _, name in names].count("cse") == 1
    assert names[-2:] == [(0, "Rest"), (0, "Total")]
    shares = [float(m[1]) for line in result.err.splitlines() if (m := ROW.match(line))]
    assert shares[:-2] == sorted(shares[:-2], reverse=True)
    assert sum(shares[:-1]) == pytest.approx(shares[-1], abs=0.01)


def test_times_as_data(opt: Opt) -> None:
    flags = ("--timing", "--output-format=json")
    result = opt(SUMS, "-p", "func.func(cse)", *flags)
    report = json.loads(result.err)
    assert report["report"] == "timing"
    (pipeline,) = [n for n in report["data"] if n["name"] == "'func.func' Pipeline"]
    assert [node["name"] for node in pipeline["passes"]] == ["cse"]
    assert set(pipeline["wall"]) == {"duration", "percentage"}
    assert report["data"][-1]["name"] == "Total"
    assert report["data"][-1]["wall"]["percentage"] == 100.0


def test_a_pass_that_fails_took_time(opt: Opt) -> None:
    result = opt(SUMS, "-p", "counts-and-fails", "--timing", "--no-verify-each")
    assert result.status == 1
    assert (0, "counts-and-fails") in rows(result.err)
    assert (0, "Verifier") not in rows(result.err)
