"""
The page on operators says what the importer does.
"""

from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="needs the package onnx")

from transom.dialects import graph
from transom.frontends.onnx.operators import HANDLERS
from transom.frontends.onnx.refusals import REFUSALS
from transom.tools import operator_docs

PLAIN = {"Constant", "Identity", "OptionalGetElement"}
"""Operators that add no op."""


def test_the_page_is_up_to_date() -> None:
    assert not operator_docs.is_outdated(), "'make docs' writes the page"


def test_a_page_that_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(operator_docs, "PAGE", tmp_path / "operators.md")
    assert operator_docs.main(["--check"]) == 1
    assert capsys.readouterr().err == "docs/operators.md is not up to date\n"
    assert operator_docs.main([]) == 0
    assert operator_docs.main(["--check"]) == 0


def test_what_operators_become() -> None:
    """Through functions, closures and tables of the importer's modules."""
    found = operator_docs.handlers()
    assert found["Acos"].ops == {"graph.acos"}
    assert found["CumProd"].ops == {"graph.cumulate"}
    assert {"graph.argsort", "graph.nonzero"} <= found["Unique"].ops
    assert "graph.conv2d" in found["QLinearConv"].ops
    assert "expected two matrices" in found["Gemm"].refusals
    assert all(found[name].ops for name in HANDLERS if name not in PLAIN)


def test_every_op_and_operator_is_listed() -> None:
    text = operator_docs.text()
    for op in graph.Graph.operations:
        if issubclass(op, graph.GraphOp):
            assert f"| `{op.name}` |" in text
    for name in operator_docs.schemas():
        assert f"| {name} |" in text


def test_refusals_are_of_operators_without_a_handler() -> None:
    assert set(operator_docs.schemas()) >= set(REFUSALS)
    assert not set(REFUSALS) & set(HANDLERS)
