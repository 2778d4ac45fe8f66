"""
The examples in the docstrings of graph ops and attributes.
"""

import re
from io import StringIO
from textwrap import dedent

import pytest
from graph_cases import context, parse
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser
from xdsl.printer import Printer

from transom.dialects import graph

FENCE = re.compile(r"```mlir\n(.*?)```", re.DOTALL)
TENSOR = re.compile(r"tensor<(?:[^<>]|<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>)*>")


def example_of(thing: type[Operation] | type[Attribute]) -> str | None:
    """The `mlir` block of a docstring."""
    match = FENCE.search(dedent(thing.__doc__ or ""))
    return None if match is None else dedent(match.group(1))


def with_definitions(text: str) -> str:
    """An example after definitions of the values that it uses."""
    first = text.splitlines()[0]
    results, equals, used = first.partition(" = ")
    names = re.findall(r"%\w+", used if equals and results.startswith("%") else first)
    if "(%a = %x" in first:
        names = ["%x"]
    types = TENSOR.findall(first.rpartition(" : ")[2].partition(" -> ")[0])
    types = types[:1] * len(names) if len(types) == 1 else types
    definitions = [
        f'{name} = "test.op"() : () -> {type}'
        for name, type in dict(zip(names, types, strict=False)).items()
    ]
    if "@w" in used:
        definitions.append('graph.weight @w = #graph.file<"f", "w"> : tensor<64x3xf32>')
    return "\n".join((*definitions, text))


@pytest.mark.parametrize(
    "op_class", [op for op in graph.Graph.operations if op is not graph.YieldOp]
)
def test_op_example(op_class: type[Operation]):
    example = example_of(op_class)
    assert example is not None
    module = parse(with_definitions(example))
    assert any(isinstance(op, op_class) for op in module.ops)
    custom = str(module)
    assert parse(custom).is_structurally_equivalent(module)
    generic = StringIO()
    Printer(generic, print_generic_format=True).print_op(module)
    assert parse(generic.getvalue()).is_structurally_equivalent(module)


@pytest.mark.parametrize("attribute", list(graph.Graph.attributes))
def test_attribute_example(attribute: type[Attribute]):
    example = example_of(attribute)
    if example is None:
        assert issubclass(attribute, EnumAttribute), "only these need none"
        return
    value = Parser(context(), example).parse_attribute()
    assert isinstance(value, attribute)
    assert Parser(context(), str(value)).parse_attribute() == value


def test_yield_example():
    example = example_of(graph.YieldOp)
    assert example == "graph.yield %x, %y : tensor<4xf32>, tensor<4xi1>\n"
    parse(f"""
      %u = "test.op"() : () -> tensor<4xf32>
      %v = "test.op"() : () -> tensor<4xi1>
      %r, %s = graph.fused (%x = %u : tensor<4xf32>, %y = %v : tensor<4xi1>)
          -> (tensor<4xf32>, tensor<4xi1>) {{
        {example}
      }}
    """)
