"""
The examples of `docs/targets.md` parse, and what they become is what they show.
"""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Dialect, Operation

from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_attribute_text, parse_ir
from transom.dialects.target import TargetAttr
from transom.dialects.verifier import verify_module
from transom.lowering.conversion import Refusal
from transom.passes.pipeline import parse_pipeline
from transom.registry import new_context, registry
from transom.targets.hooks import Accepted, Claim, TargetHooks
from transom.targets.registry import given_hooks

PAGE = Path(__file__).parents[2] / "docs" / "targets.md"
BLOCK = re.compile(
    r"^```(\w+)(?: (in|out|wrong))?(?: ([^\n]+))?\n(.*?)^```$", re.M | re.S
)


class Block(NamedTuple):
    """A listing, and what it is to show."""

    kind: str
    role: str
    pipeline: str
    text: str


BLOCKS = [Block(*match) for match in BLOCK.findall(PAGE.read_text())]


def answer(op: Operation) -> Accepted | Refusal:
    element = graph.tensor_type(op.results[0]).element_type
    if element == f32:
        return Accepted()
    return Refusal(f"expected f32, but got '{element}'")


@pytest.fixture
def ctx() -> Iterator[Context]:
    """Knows the target that the page defines, which claims what it says."""
    names: dict[str, Any] = {"__name__": "targets_page"}
    code = "".join(block.text for block in BLOCKS if block.kind == "python")
    exec(compile(code, PAGE, "exec", dont_inherit=True), names)
    attribute: type[TargetAttr] = names["WooflesAttr"]

    class WooflesTarget(TargetHooks[Any]):
        attr_type = attribute

        def claims(self, target: Any) -> list[Claim]:
            return [Claim(graph.AddOp, answer)]

    dialect = Dialect("woofles", [], [attribute])
    known = registry().dialects
    with (
        mock.patch.dict(known, {"woofles": lambda: dialect}),
        given_hooks(WooflesTarget()),
    ):
        yield new_context()


def run(ctx: Context, text: str, pipeline: str) -> ModuleOp:
    module = parse_ir(ctx, text, "model.mlir")
    verify_module(module)
    parse_pipeline(pipeline, registry().passes, ctx).apply(ctx, module)
    verify_module(module)
    return module


def check_listing(listing: str, printed: str) -> None:
    """Each line is found in the text, in order; `…` stands for anything."""
    rest = iter(printed.splitlines())
    for line in listing.splitlines():
        expression = ".*".join(map(re.escape, line.strip().split("…")))
        found = any(re.search(expression, candidate) for candidate in rest)
        assert found, f"{line.strip()!r} is not in (the rest of)\n{printed}"


def test_examples_are_valid(ctx: Context) -> None:
    for block in BLOCKS:
        if block.kind != "mlir" or block.role not in ("", "in"):
            continue
        if block.text.startswith("#"):
            parse_attribute_text(ctx, block.text)
        else:
            run(ctx, block.text, "")


def test_passes_give_what_is_shown(ctx: Context) -> None:
    source = ""
    for block in BLOCKS:
        if block.role == "in":
            source = block.text
        elif block.role == "out":
            check_listing(block.text, str(run(ctx, source, block.pipeline)))


def test_what_is_wrong_is_told_so(ctx: Context) -> None:
    for block, after in itertools.pairwise(BLOCKS):
        if block.role == "wrong":
            with pytest.raises(OpError) as error:
                run(ctx, block.text, block.pipeline)
            assert (after.kind, after.text) == ("text", f"{error.value}\n")


def test_the_page_shows_something_of_each_kind() -> None:
    roles = [block.role for block in BLOCKS if block.kind == "mlir"]
    assert all(roles.count(role) >= 4 for role in ("", "in", "out", "wrong"))
