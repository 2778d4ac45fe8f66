"""
The pages of `docs/hooks`: their code runs, and gives their listings and right numbers.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import pytest
from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.ir import Dialect
from xdsl.irdl import irdl_attr_definition
from xdsl.passes import ModulePass

import transom
from transom.dialects.parser import parse_ir
from transom.dialects.target import TargetAttr
from transom.phase_plan import PHASES
from transom.registry import new_context, registry
from transom.targets.hooks import TargetHooks
from transom.targets.registry import given_hooks
from transom.testing import check_phases
from transom.tools import listings

FOLDER = Path(__file__).parents[2] / "docs" / "hooks"
PAGES = sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "README")
HOOKS = [
    name
    for name, value in vars(TargetHooks).items()
    if callable(value) and not name.startswith("_")
]


@irdl_attr_definition
class WooflesAttr(TargetAttr):
    """The target of the pages."""

    name = "woofles.target"

    lanes: IntegerAttr[I64]


class Page:
    """One page, its code run."""

    def __init__(self, name: str) -> None:
        text = (FOLDER / f"{name}.md").read_text()
        blocks = re.findall(r"```(\w+)([^\n]*)\n(.*?)```", text, re.DOTALL)
        self.code = "".join(code for kind, _, code in blocks if kind == "python")
        self.listings = {
            (kind, *words.split()): code for kind, words, code in blocks if words
        }
        self.names: dict[str, Any] = {"__name__": f"page_{name}"}
        source = FOLDER / f"{name}.md"
        future = "from __future__ import annotations\n"
        exec(compile(future + self.code, source, "exec"), self.names)

    @property
    def passes(self) -> dict[str, type[ModulePass]]:
        """The passes that the code defines."""
        return {
            value.name: value
            for value in self.names.values()
            if isinstance(value, type)
            and issubclass(value, ModulePass)
            and value.__module__ == self.names["__name__"]
        }


@pytest.fixture
def page(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Page]:
    package, dialect = ModuleType("woofles"), ModuleType("woofles.dialect")
    dialect.__dict__["WooflesAttr"] = WooflesAttr
    woofles = Dialect("woofles", [], [WooflesAttr])
    code = ModuleType(f"page_{request.param}")
    for module in (package, dialect, code):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    known = registry()
    with mock.patch.dict(known.dialects, {"woofles": lambda: woofles}):
        page = Page(request.param)
        code.__dict__.update(page.names)
        added = {name: (lambda cls=cls: cls) for name, cls in page.passes.items()}
        with (
            mock.patch.dict(known.passes._passes, added),  # pyright: ignore[reportPrivateUsage]
            given_hooks(page.names["WooflesTarget"]()),
        ):
            yield page


def pattern(line: str) -> str:
    """A line of a listing as an expression; `…` stands for anything."""
    return ".*".join(re.escape(part) for part in line.strip().split("…"))


def check_listing(listing: str, printed: str) -> None:
    """Each line is found in the text, in order."""
    rest = iter(printed.splitlines())
    for line in listing.splitlines():
        if line.strip():
            found = any(re.search(pattern(line), candidate) for candidate in rest)
            assert found, f"{line.strip()!r} is not in (the rest of)\n{printed}"


def test_there_is_a_page_for_each_hook() -> None:
    assert sorted(PAGES) == sorted(HOOKS)
    overview = (FOLDER / "README.md").read_text()
    assert all(f"[`{name}`]({name}.md)" in overview for name in HOOKS)


@pytest.mark.parametrize("page", PAGES, indirect=True)
def test_page(page: Page) -> None:
    ctx = new_context()
    before = page.listings["mlir", "before"]
    module = parse_ir(ctx, before, "before.mlir")
    for (kind, what, *words), listing in page.listings.items():
        if (kind, what) == ("mlir", "after"):
            lowered = transom.lower(module, words[0], ctx=ctx)
            check_listing(listing, str(lowered))
        if (kind, what) == ("text", "plan"):
            reached = [phase.name for phase in PHASES].index(words[0])
            at = transom.lower(module, PHASES[reached - 1].name, ctx=ctx)
            lines = listings.phases_of(at, ctx).splitlines()
            start = next(i for i, x in enumerate(lines) if x.startswith(words[0]))
            check_listing(listing, "\n".join(lines[start + 1 :]))
    assert ("mlir", "after") in {key[:2] for key in page.listings}
    transom.lower(module, "executable", ctx=ctx, thorough=True)
    assert check_phases(module, ctx=ctx, compiled_externs="reference")
