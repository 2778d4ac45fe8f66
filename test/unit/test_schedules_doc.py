"""
The listings of `docs/schedules.md` are what the passes print.
"""

import re
from pathlib import Path

import pytest

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


def test_every_listing_is_checked() -> None:
    assert LISTINGS.keys() == {*PIPELINES, *(given for given, _ in PIPELINES.values())}
