"""
Patterns of the `pdl` dialect: what they demand of ops.
"""

# ruff: noqa: E501

import pytest
from xdsl.dialects.pdl import PatternOp
from xdsl.ir import Attribute, Operation, SSAValue

import transom
from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.passes.graph_patterns import Pattern
from transom.passes.graph_patterns.pdl import Constraints, pattern_of_pdl


def pattern(
    text: str, constraints: Constraints | None = None, arguments: str = ""
) -> Pattern:
    """The pattern of a body of which `%root` is what is rewritten."""
    module = transom.parse(
        "pdl.pattern : benefit(1) {\n"
        + ("%t = pdl.type\n" if "%t" in text else "")
        + ("%x = pdl.operand\n" if "%x" in text else "")
        + f'{text}\npdl.rewrite %root with "label"{arguments}\n}}'
    )
    (source,) = (op for op in module.ops if isinstance(op, PatternOp))
    labelled = pattern_of_pdl(source, constraints)
    assert labelled.label == "label"
    return labelled.pattern


FUNCTION = """
func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x1xf32>) {
  %relu = graph.relu %x : tensor<4x4xf32>
  %neg = graph.neg %relu : tensor<4x4xf32>
  %sum = graph.add %x, %y : tensor<4x4xf32>, tensor<4x1xf32> -> tensor<4x4xf32>
  %double = graph.add %x, %x : tensor<4x4xf32>
  %soft = graph.softmax %x axis 1 : tensor<4x4xf32>
  %k = graph.constant dense<1.0> : tensor<4x4xf32>
  %scaled = graph.mul %x, %k : tensor<4x4xf32>
  %row = graph.relu %y : tensor<4x1xf32>
  func.return
}
"""


def found(pattern: Pattern) -> list[str | None]:
    """The ops of a function in which a pattern ends."""
    return [
        op.results[0].name_hint
        for op in transom.parse(FUNCTION).walk()
        if op.results and pattern.match(op) is not None
    ]


RELU = '%root = pdl.operation "graph.relu" (%x : !pdl.value) -> (%t : !pdl.type)'


def test_operands_results_and_types():
    assert found(pattern(RELU)) == ["relu", "row"]
    chain = (
        RELU.replace("%root", "%inner")
        + """
%v = pdl.result 0 of %inner
%root = pdl.operation "graph.neg" (%v : !pdl.value) -> (%t : !pdl.type)"""
    )
    assert found(pattern(chain)) == ["neg"]
    double = '%root = pdl.operation "graph.add" (%x, %x : !pdl.value, !pdl.value)'
    assert found(pattern(double)) == ["double"]
    open_ = '%root = pdl.operation "graph.add"'
    assert found(pattern(open_)) == ["sum", "double"]
    every = """
%all = pdl.operands
%root = pdl.operation "graph.add" (%all : !pdl.range<value>)"""
    assert found(pattern(every)) == ["sum", "double"]


def test_types_that_are_said_and_types_that_are_equal():
    row = """
%r = pdl.type : tensor<4x1xf32>
%root = pdl.operation "graph.relu" (%x : !pdl.value) -> (%r : !pdl.type)"""
    assert found(pattern(row)) == ["row"]
    of_operand = """
%r = pdl.type : tensor<4x1xf32>
%y = pdl.operand : %r
%root = pdl.operation "graph.add" (%x, %y : !pdl.value, !pdl.value)"""
    assert found(pattern(of_operand)) == ["sum"]
    equal = """
%y = pdl.operand : %t
%z = pdl.operand : %t
%root = pdl.operation "graph.add" (%y, %z : !pdl.value, !pdl.value) -> (%t : !pdl.type)"""
    assert found(pattern(equal)) == ["double"]


def always(_: object) -> bool:
    return True


def softmax(attribute: str) -> str:
    return f"""
%a = pdl.attribute {attribute}
%root = pdl.operation "graph.softmax" (%x : !pdl.value) {{"axis" = %a}}"""


def test_attributes():
    assert found(pattern(softmax("= 1 : i64"))) == ["soft"]
    assert found(pattern(softmax("= 0 : i64"))) == []
    assert found(pattern(softmax(""))) == ["soft"]
    of_type = "%i = pdl.type : i64" + softmax(": %i")
    assert found(pattern(of_type)) == ["soft"]
    other = "%i = pdl.type : i32" + softmax(": %i")
    assert found(pattern(other)) == []


def test_constants_belong_to_the_match():
    scaled = """
%k = pdl.operation "graph.constant" -> (%t : !pdl.type)
%v = pdl.result 0 of %k
%root = pdl.operation "graph.mul" (%x, %v : !pdl.value, !pdl.value) -> (%t : !pdl.type)"""
    found_pattern = pattern(scaled)
    (mul,) = (o for o in transom.parse(FUNCTION).walk() if isinstance(o, graph.MulOp))
    match = found_pattern.match(mul)
    assert match is not None
    assert [op.name for op in match.copied] == ["graph.constant"]


def test_ops_that_nothing_reads_are_further_roots():
    twins = RELU + '\n%other = pdl.operation "graph.softmax" (%x : !pdl.value)'
    arguments = "(%other : !pdl.operation)"
    assert found(pattern(twins, arguments=arguments)) == ["relu"]


def test_native_constraints():
    seen: list[object] = []

    def holds(op: Operation, value: SSAValue, axis: Attribute, one: Attribute) -> bool:
        seen.extend((op.name, value.name_hint, str(axis), str(one)))
        return axis == one

    text = (
        softmax("")
        + """
%one = pdl.attribute = 1 : i64
pdl.apply_native_constraint "same"(%root, %x, %a, %one : !pdl.operation, !pdl.value, !pdl.attribute, !pdl.attribute)"""
    )
    assert found(pattern(text, {"same": holds})) == ["soft"]
    assert seen == ["graph.softmax", "x", "1 : i64", "1 : i64"]
    negated = text + " {isNegated = true}"
    assert found(pattern(negated, {"same": holds})) == []


def test_what_no_pattern_to_look_for_can_say():
    text = RELU + '\npdl.apply_native_constraint "sane"(%x : !pdl.value)'
    with pytest.raises(OpError) as error:
        pattern(text, {"same": always})
    assert error.value.message == "unknown constraint 'sane'; did you mean 'same'?"
    ranged = (
        "%ts = pdl.types\n"
        + RELU
        + ('\npdl.apply_native_constraint "same"(%ts : !pdl.range<type>)')
    )
    with pytest.raises(OpError) as error:
        pattern(ranged, {"same": always})
    assert error.value.message == "expected no argument that comes from 'pdl.types'"
