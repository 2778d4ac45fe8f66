"""Maps of memory plans: whole pages, and what is refused."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from opt_program import Run, run_fixture

import transom
from transom.driver import place_in_pools
from transom.passes.memory.plan_report import plan_reports

__all__ = ["run_fixture"]

PLAN = ("-p", "tir-plan-memory")

MODULE = """
tir.func @k(read memref<16xf32>, write memref<16xf32>)
func.func private @f(%x: memref<16xf32>, %y: memref<16xf32>) {
  %c = tir.alloc : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%c : memref<16xf32>)
  tir.copy %c, %y : memref<16xf32>, memref<16xf32>
  func.return
}
func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) {
  %a = tir.alloc : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  func.call @f(%a, %y) : (memref<16xf32>, memref<16xf32>) -> ()
  func.call @f(%x, %y) : (memref<16xf32>, memref<16xf32>) -> ()
  func.return
}
"""


def test_the_page_is_well_formed(run: Run) -> None:
    assert run(MODULE, *PLAN, "--memory-report=m.html").status == 0
    page = ElementTree.fromstring(
        Path("m.html")
        .read_text()
        .removeprefix("<!DOCTYPE html>")
        .replace('<meta charset="utf-8">', "")
    )
    shapes = list(page.iter("rect"))
    assert len(shapes) == 3  # one life of %a, and one of %c for each call
    width = float(next(page.iter("svg")).attrib["width"])
    for shape in shapes:
        assert float(shape.attrib["x"]) + float(shape.attrib["width"]) <= width


def test_the_alignment_is_that_of_the_address(run: Run) -> None:
    text = MODULE.replace("16x", "8x")
    text = text.replace("%c = tir.alloc", "%c = tir.alloc {alignment = 16 : i64}")
    assert run(text, *PLAN, "--memory-report=m.json").status == 0
    ((pool,),) = (report["pools"] for report in json.loads(Path("m.json").read_text()))
    told = {b["name"]: (b["offset"], b["alignment"]) for b in pool["buffers"]}
    # %a asks for nothing and is at the start of the pool; %c has more than it asks for.
    assert told == {"a": (0, 64), "c": (32, 32)}


def test_lives_of_a_function_are_those_of_its_calls(run: Run) -> None:
    assert run(MODULE, *PLAN, "--memory-report=m.json").status == 0
    (report,) = json.loads(Path("m.json").read_text())
    (pool,) = report["pools"]
    buffers = {buffer["name"]: buffer for buffer in pool["buffers"]}
    assert len(buffers["c"]["lives"]) == 2
    assert max(pool["live"]) == pool["size"] == 128
    assert pool["live"][pool["peak_point"]] == 128


@pytest.mark.parametrize(
    "name, passes, status, message",
    [
        ("m.txt", "tir-plan-memory", 2, "expected a file ending in .html or .json, b"),
        ("m.json", "canonicalize", 1, "expected a memory plan to report, as a module"),
    ],
)
def test_refuses(run: Run, name: str, passes: str, status: int, message: str) -> None:
    done = run(MODULE, "-p", passes, f"--memory-report={name}")
    assert done.status == status and message in done.err
    assert not Path(name).exists()


def test_inputs_and_constants_in_pools() -> None:
    """They are buffers of the map, and no memory of the caller."""
    module = transom.parse(
        """
        graph.weight @w = dense<0.5> : tensor<8x8xf32>
        func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
          %w = graph.weight_ref @w : tensor<8x8xf32>
          %a = graph.softmax %x axis 0 : tensor<8x8xf32>
          %y = graph.matmul %a, %w : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
          func.return %y : tensor<8x8xf32>
        }
        """
    )
    place_in_pools(module, ["constants", "inputs"])
    (report,) = plan_reports(transom.lower(module, "planned"))
    (pool,) = report.pools
    assert sorted(buffer.name for buffer in pool.buffers) == ["a", "x"]
    assert report.constants == {"w": 256}
    assert report.arguments == {"main.y": 256}
