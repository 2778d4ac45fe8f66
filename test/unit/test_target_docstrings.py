"""
Examples in docstrings of `target`, `executor` and `llvm_cpu` parse and verify.
"""

import inspect
import re

import pytest
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser

from transom.dialects.executor import Executor
from transom.dialects.parser import parse_ir
from transom.dialects.target import Target
from transom.dialects.verifier import verify_module
from transom.registry import new_context
from transom.targets.llvm_cpu.dialect import LlvmCpu

DOCUMENTED: list[type[Operation] | type[Attribute]] = [
    definition
    for dialect in (Executor, LlvmCpu, Target)
    for definition in (*dialect.operations, *dialect.attributes)
]


def examples(definition: type) -> list[str]:
    return re.findall(r"```mlir\n(.*?)```", inspect.getdoc(definition) or "", re.DOTALL)


@pytest.mark.parametrize("definition", DOCUMENTED, ids=lambda d: d.name)
def test_example_is_valid(definition: type[Operation] | type[Attribute]):
    for example in examples(definition):
        if example.startswith("#"):
            Parser(new_context(), example).parse_attribute()
        else:
            verify_module(parse_ir(new_context(), example.encode(), definition.name))


@pytest.mark.parametrize(
    "definition",
    [d for d in DOCUMENTED if issubclass(d, Operation)],
    ids=lambda d: d.name,
)
def test_every_op_has_an_example_of_itself(definition: type[Operation]):
    assert any(definition.name in example for example in examples(definition))
