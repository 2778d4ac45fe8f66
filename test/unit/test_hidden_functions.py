"""What pipelines hide of a module is there in a copy of the whole."""

from contract_cases import MODULE, TARGET
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from transom.dialects.parser import parse_ir
from transom.dialects.symbols import symbol_name
from transom.passes.owned_functions import (
    EVERYTHING,
    FunctionFilter,
    shown_now,
    whole_copy,
)
from transom.registry import new_context


def parsed() -> ModuleOp:
    return parse_ir(new_context(), MODULE, "m.mlir")


def declared(module: ModuleOp) -> set[str | None]:
    return {
        symbol_name(op)
        for op in module.body.ops
        if isinstance(op, FuncOp) and op.is_declaration
    }


def test_a_copy_of_a_module_that_is_shown_whole() -> None:
    module = parsed()
    assert str(whole_copy(module)) == str(module)
    assert shown_now(module) is EVERYTHING


def test_a_copy_has_what_is_hidden() -> None:
    module = parsed()
    text = str(module)
    only_host = FunctionFilter(without=(TARGET,))
    with only_host.applied(module):
        assert declared(module) >= {"first", "second"}
        assert shown_now(module) == only_host
        copy = whole_copy(module)
        assert str(copy) == text
        # The copy is its own, and another module is not concerned.
        copy.body.block.erase_op(next(iter(copy.body.ops)))
        assert shown_now(copy) is EVERYTHING
    assert str(module) == text
    assert shown_now(module) is EVERYTHING


def test_filters_inside_of_filters() -> None:
    module = parsed()
    text = str(module)
    outer, inner = FunctionFilter(without=(TARGET,)), FunctionFilter(only=())
    with outer.applied(module), inner.applied(module):
        assert shown_now(module) == inner
        assert str(whole_copy(module)) == text


def test_what_a_pass_has_removed_stays_away() -> None:
    module = parsed()
    with FunctionFilter(without=(TARGET,)).applied(module):
        for op in tuple(module.body.ops):
            if symbol_name(op) == "second":
                op.detach()
        assert "second" not in {symbol_name(op) for op in whole_copy(module).body.ops}
