"""
The listings of `docs/phases.md` are what the phases print.
"""

import re
from pathlib import Path

import pytest

import transom
from transom.dialects.parser import parse_ir
from transom.registry import new_context

PAGE = Path(__file__).parents[2] / "docs" / "phases.md"
LISTINGS = dict(re.findall(r"```mlir (\w+)\n(.*?)```", PAGE.read_text(), re.DOTALL))
PHASES = [phase.name for phase in transom.phases()]


def pattern(line: str) -> str:
    """A line of a listing as an expression; `…` stands for anything."""
    return ".*".join(re.escape(part) for part in line.strip().split("…"))


@pytest.mark.parametrize("phase", [name for name in LISTINGS if name != "input"])
def test_listing(phase: str) -> None:
    module = parse_ir(new_context(), LISTINGS["input"], "phases.md")
    printed = str(transom.lower(module, phase)).splitlines()
    rest = iter(printed)
    for line in LISTINGS[phase].splitlines():
        if line.strip() in ("…", ""):
            continue
        expression = pattern(line)
        found = any(re.search(expression, candidate) for candidate in rest)
        assert found, f"{line.strip()!r} is not in (the rest of)\n" + "\n".join(printed)


def test_every_phase_is_explained() -> None:
    text = PAGE.read_text()
    for phase in PHASES:
        assert f"`{phase}`" in text
