"""
The listings of `docs/schedules.md` are what the passes print.
"""

import re
from pathlib import Path

import numpy as np
import pytest

import transom
from transom.dialects.parser import parse_ir
from transom.passes.pipeline import parse_pipeline
from transom.registry import new_context, registry

PAGE = Path(__file__).parents[2] / "docs" / "schedules.md"
LISTINGS = dict(re.findall(r"```mlir (\w+)\n(.*?)```", PAGE.read_text(), re.DOTALL))
CHOSEN = "tir-choose-schedule"
PACKED = f"{CHOSEN},tir-pack-operands"
PIPELINES = {
    "chosen": ("input", CHOSEN),
    "packed": ("input", PACKED),
    "loops": ("input", f"{PACKED},convert-tir-to-scf"),
    "moved": ("pair", "tir-compute-at"),
    "ahead": ("rows", CHOSEN),
    "asked": ("rows", f"{CHOSEN},convert-tir-to-scf"),
}


PRODUCT = """
func.func @main(%x: tensor<90x512xf32>, %w: tensor<512x176xf32>) -> tensor<90x176xf32> {
  %y = graph.matmul %x, %w
      : tensor<90x512xf32>, tensor<512x176xf32> -> tensor<90x176xf32>
  func.return %y : tensor<90x176xf32>
}
"""
COPY = "= tir.alloc : "


def pattern(line: str) -> str:
    """A line of a listing as an expression; `…` stands for anything."""
    return ".*".join(re.escape(part.strip()) for part in line.strip().split("…"))


@pytest.mark.parametrize("name", PIPELINES)
def test_listing(name: str) -> None:
    ctx = new_context()
    given, pipeline = PIPELINES[name]
    module = parse_ir(ctx, LISTINGS[given], "schedules.md")
    parse_pipeline(pipeline, registry().passes, ctx).apply(ctx, module)
    printed = str(module).splitlines()
    rest = iter(printed)
    for line in filter(str.strip, LISTINGS[name].splitlines()):
        found = any(re.search(pattern(line), candidate) for candidate in rest)
        assert found, f"{line.strip()!r} is not in (the rest of)\n" + "\n".join(printed)


@pytest.mark.parametrize("phase", ["partitioned", "tensor"])
def test_a_kernel_that_is_written_by_hand_runs(phase: str) -> None:
    text = LISTINGS["alone"].replace('"partitioned"', f'"{phase}"')
    module = parse_ir(new_context(), text, "schedules.md")
    lowered = str(transom.lower(module, to="tensor"))
    assert ("#tir.schedule<" in lowered) is (phase == "partitioned")
    x = np.arange(64 * 512, dtype=np.float32).reshape(64, 512)
    (result,) = transom.compile(module)(x).values()
    np.testing.assert_array_equal(result, x * x)


def test_a_schedule_is_edited_before_operands_are_copied() -> None:
    """As the page says: passes by name leave the phase, and the rest goes on."""
    ctx = new_context()
    module = parse_ir(ctx, PRODUCT)
    by_name = "convert-graph-to-tir,tir-fuse-nests,tir-choose-schedule"
    module = transom.lower(module, to="partitioned")
    parse_pipeline(by_name, registry().passes, ctx).apply(ctx, module)
    chosen = str(module)
    assert "pack = [in0, in1]" in chosen
    edited = parse_ir(ctx, chosen.replace("pack = [in0, in1]", "pack = [in1]"))
    copies = (str(transom.lower(m, to="tensor")).count(COPY) for m in (module, edited))
    assert [*copies] == [2, 1]


def test_every_listing_is_checked() -> None:
    checked = {*PIPELINES, *(given for given, _ in PIPELINES.values()), "alone"}
    assert LISTINGS.keys() == checked
