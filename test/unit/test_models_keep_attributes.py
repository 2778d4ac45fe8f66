"""Marks on the ops of a model are kept at every phase, as far as their ops are."""

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp, UnitAttr

from transom.driver import load, lower_in_place
from transom.registry import new_context
from transom.tools.attribute_audit import AttributeAudit

MODELS = sorted((Path(__file__).parents[1] / "models").glob("*.mlir"))
assert MODELS

EXPLAINED = {
    # A reshape that is no op any more, as its result is computed in place; the sizes
    # that it needed are still there.
    "symbolic_batch": ["pass 'tir-bufferize-main' drops 'test.mark6' of "]
}
"""How the messages begin that are right all the same."""


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_no_pass_drops_what_it_should_keep(path: Path) -> None:
    ctx = new_context()
    module = load(path, ctx=ctx)
    for number, op in enumerate(module.walk()):
        if not isinstance(op, ModuleOp):
            # One name each, so that one attribute does not stand for another.
            op.attributes[f"test.mark{number}"] = UnitAttr()
    audit = AttributeAudit()
    lower_in_place(module, "machine", ctx=ctx, observer=audit)
    expected = EXPLAINED.get(path.stem, [])
    assert len(audit.dropped) == len(expected)
    for kind, start in zip(audit.dropped, expected, strict=True):
        assert kind.message.startswith(start)
