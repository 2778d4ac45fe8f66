"""
Every graph op has all that an op must have: a round trip, broken rules, sizes, values,
a lowering with its text, and executed tests.
"""

import re
from pathlib import Path

import pytest

from transom.dialects import graph
from transom.interpreters.graph import GRAPH
from transom.lowering.conversion.pattern import roots_of
from transom.lowering.convert_graph_to_tir import PATTERNS
from transom.passes.constant_evaluation import EVALUATORS

TEST = Path(__file__).resolve().parents[1]

OPS = [op for op in graph.Graph.operations if issubclass(op, graph.GraphOp)]

COMPUTING = [
    op
    for op in OPS
    if op
    not in (
        graph.CopyOp,  # marks, which are dissolved
        graph.OnDeviceOp,
        graph.RelayoutOp,
        graph.WeightRefOp,  # an argument of kernels
    )
]
"""The ops that a kernel computes."""

NOT_FOLDED = {
    graph.AvgPool2dOp: "images are no constants",
    graph.ConstantOp: "it is one",
    graph.Conv2dOp: "images are no constants",
    graph.MaxPool2dOp: "images are no constants",
    graph.NonzeroOp: "the type of a constant has its sizes",
}

every_op = pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
every_computing_op = pytest.mark.parametrize("op", COMPUTING, ids=lambda op: op.name)


def mentions(files: str, name: str) -> bool:
    """Whether a word occurs in one of the files of a pattern."""
    word = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
    found = sorted(TEST.glob(files))
    assert found, f"there are no files '{files}'"
    return any(word.search(path.read_text()) for path in found)


def classes(op: type[graph.GraphOp]) -> str:
    return f"graph.{op.__name__}"


@every_op
def test_text_is_read_and_printed(op: type[graph.GraphOp]) -> None:
    assert any(
        mentions(f"filecheck/dialects/{file}.mlir", op.name)
        for file in ("graph/ops", "graph/structure", "graph/canonicalize")
    )


@every_op
def test_rules_are_broken(op: type[graph.GraphOp]) -> None:
    """Those of one table share their rules."""
    table = op.__mro__[1]
    shared = [other for other in OPS if other.__mro__[1] is table]
    alone = table is graph.GraphOp or table is graph.ElementwiseOp
    names = [op.name] if alone else [other.name for other in shared]
    assert any(mentions("filecheck/dialects/graph/*invalid.mlir", n) for n in names)


@every_op
def test_types_are_inferred(op: type[graph.GraphOp]) -> None:
    """Static and symbolic."""
    assert mentions("unit/test_graph_*.py", classes(op))


@every_computing_op
def test_values_are_known(op: type[graph.GraphOp]) -> None:
    assert op in GRAPH


@every_computing_op
def test_constants_are_folded(op: type[graph.GraphOp]) -> None:
    assert (op in EVALUATORS) != (op in NOT_FOLDED)


@every_computing_op
def test_it_is_lowered(op: type[graph.GraphOp]) -> None:
    assert any(op in roots_of(pattern.root) for pattern in PATTERNS)


@every_computing_op
def test_the_lowering_is_seen(op: type[graph.GraphOp]) -> None:
    assert mentions("filecheck/lowering/convert-graph-to-tir*.mlir", op.name)


@every_computing_op
def test_kernels_are_run(op: type[graph.GraphOp]) -> None:
    """Against the reference, as machine code."""
    run = ("unit/test_kernel_ops.py", "unit/test_elementwise_edges.py")
    run += ("unit/test_data_sizes.py", "unit/graph_program_*.py")
    assert any(
        mentions(files, name) for files in run for name in (classes(op), op.name)
    )
