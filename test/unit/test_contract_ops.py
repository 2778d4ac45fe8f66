"""
What hooks say of single ops, and what they emit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from contract_cases import KERNEL, TARGET, ToyHooks, ops_of, parsed, remove, symbol
from toy_npu.dialect import ToyNpuAttr
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Operation

from transom.dialects import graph, tir
from transom.dialects.diagnostics import OpError
from transom.lowering.conversion import Refusal
from transom.targets.contract import (
    Breach,
    EmissionContract,
    answer_of,
    cost_of,
    members_of,
    rules,
)
from transom.targets.hooks import Accepted, Claim, Emitted
from transom.targets.registry import given_hooks

TEXT = """\
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.relu %x : tensor<4xf32>
  %z = graph.abs %y : tensor<4xf32>
  func.return %z : tensor<4xf32>
}
"""


def op_of_text() -> graph.AbsOp:
    (op,) = ops_of(parsed(TEXT), graph.AbsOp)
    return op


def said(error: OpError) -> str:
    """A message without the hook and its target."""
    return str(error).replace(" of '#toy_npu.target' breaks rule", "")


def fail(op: Operation) -> Any:
    raise IndexError("out of lanes")


def wrong(value: Any) -> Callable[[Operation], Any]:
    return lambda op: value


# Claims and costs.


@pytest.mark.parametrize(
    "answer", [Accepted(), Accepted(0), Accepted(2.5), Refusal("no")]
)
def test_right_answers_of_claims(answer: Accepted | Refusal):
    assert answer_of(Claim(graph.AbsOp, wrong(answer)), op_of_text(), TARGET) is answer


NAN = float("nan")


@dataclass(frozen=True)
class OpCase:
    """What is said of an op, and what is said of that."""

    breach: Breach
    answer: Callable[[Operation], Any]
    message: str


ANSWERS = (
    OpCase(rules.RAISED, fail, "it raised IndexError: out of lanes"),
    OpCase(
        rules.WRONG_CLAIM, wrong(None), "expected 'Accepted' or 'Refusal', but got None"
    ),
    OpCase(
        rules.WRONG_CLAIM, wrong(True), "expected 'Accepted' or 'Refusal', but got True"
    ),
    OpCase(
        rules.WRONG_COST,
        wrong(Accepted(-1.0)),
        "expected seconds >= 0 or None, but got -1.0",
    ),
    OpCase(
        rules.WRONG_COST,
        wrong(Accepted(NAN)),
        "expected seconds >= 0 or None, but got nan",
    ),
)


@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: case.message)
def test_wrong_answers_of_claims(case: OpCase):
    with pytest.raises(OpError) as error:
        answer_of(Claim(graph.AbsOp, case.answer), op_of_text(), TARGET)
    rule = case.breach.rule.name
    assert (
        said(error.value)
        == f"test.mlir:3:3: error: hook 'claims' '{rule}': {case.message}"
    )


def test_a_refusal_of_a_pass_is_not_taken_for_a_bug():
    def refuse(op: Operation) -> Any:
        raise OpError(op, "expected four lanes")

    with pytest.raises(OpError, match="error: expected four lanes"):
        answer_of(Claim(graph.AbsOp, refuse), op_of_text(), TARGET)


def before(op: Operation) -> list[Operation]:
    assert isinstance(op.operands[0].owner, Operation)
    return [op.operands[0].owner]


MEMBERS = (
    OpCase(
        rules.WRONG_MEMBERS,
        wrong(None),
        "expected ops as members of the claim of 'graph.abs', but got None",
    ),
    OpCase(
        rules.WRONG_MEMBERS,
        lambda op: ["relu", op],
        "expected ops as members of the claim of 'graph.abs', but got 'relu'",
    ),
    OpCase(
        rules.WRONG_MEMBERS,
        before,
        "expected 'graph.abs' among the members of its claim, but got 'graph.relu'",
    ),
    OpCase(
        rules.MEMBER_ELSEWHERE,
        lambda op: [op, test.TestOp()],
        "'test.op', a member of the claim of 'graph.abs', is in another block",
    ),
    OpCase(
        rules.MEMBER_NOT_COMPUTED,
        lambda op: [op, op.next_op],
        "'func.return', a member of the claim of 'graph.abs', is not for a target to "
        "compute",
    ),
)


@pytest.mark.parametrize("case", MEMBERS, ids=lambda case: case.message)
def test_wrong_members_of_claims(case: OpCase):
    claim = Claim(graph.AbsOp, wrong(Accepted()), "pattern", case.answer)
    with pytest.raises(OpError) as error:
        members_of(claim, op_of_text(), TARGET)
    rule = case.breach.rule.name
    assert (
        said(error.value)
        == f"test.mlir:3:3: error: hook 'claims' '{rule}': {case.message}"
    )


def test_right_members_of_claims():
    op = op_of_text()
    claim = Claim(
        graph.AbsOp, wrong(Accepted()), "pattern", lambda op: (*before(op), op)
    )
    assert members_of(claim, op, TARGET) == (*before(op), op)
    no_match = Claim(graph.AbsOp, wrong(Accepted()), "pattern", wrong(()))
    assert members_of(no_match, op, TARGET) == ()


@pytest.mark.parametrize(
    ("seconds", "found"),
    [("1", "'1'"), (float("inf"), "inf"), (-1, "-1"), (True, "True")],
)
def test_wrong_costs(seconds: Any, found: str):
    class Hooks(ToyHooks):
        def cost(self, op: Operation, target: ToyNpuAttr) -> Any:
            return seconds

    with given_hooks(Hooks()), pytest.raises(OpError) as error:
        cost_of(op_of_text(), TARGET)
    assert said(error.value) == (
        "test.mlir:3:3: error: hook 'cost' 'costs': expected seconds >= 0 or None, but "
        f"got {found}"
    )


def test_right_costs():
    with given_hooks(ToyHooks()):
        assert cost_of(op_of_text(), TARGET) is None

    class Hooks(ToyHooks):
        def cost(self, op: Operation, target: ToyNpuAttr) -> float:
            return 0.5

    with given_hooks(Hooks()):
        assert cost_of(op_of_text(), TARGET) == 0.5


# Emission.

emitted: Any = Emitted
"""To be made of wrong types, on purpose."""


def code(*names: str, **fields: Any) -> Emitted:
    given: dict[str, Any] = {"format": "toy", "payload": b"1", **fields}
    return Emitted(names, **given)


@dataclass(frozen=True)
class Code:
    """What is emitted, and what is said of it."""

    breach: Breach
    answer: Any
    message: str


EMITTED = (
    Code(
        rules.EMIT_TYPE, b"code", "1:1: expected a list of 'Emitted', but got b'code'"
    ),
    Code(
        rules.EMIT_TYPE, ["code"], "1:1: expected a list of 'Emitted', but got 'code'"
    ),
    Code(
        rules.EMIT_TYPE,
        [emitted("k", "toy", b"1")],
        "1:1: expected names as 'functions', but got 'k'",
    ),
    Code(
        rules.EMIT_TYPE,
        [emitted((1,), "toy", b"1")],
        "1:1: expected names as 'functions', but got 1",
    ),
    Code(
        rules.EMIT_TYPE,
        [code("k", format="")],
        "1:1: expected a name as 'format', but got ''",
    ),
    Code(
        rules.EMIT_TYPE,
        [code("k", payload=["text"])],
        "1:1: expected bytes or text as 'payload', but got 'list'",
    ),
    Code(
        rules.EMIT_TYPE,
        [code("k", payload=b"")],
        "1:1: expected a 'payload' that is not empty, but got b''",
    ),
    Code(
        rules.EMIT_TYPE,
        [code("k", workspace=64)],
        "1:1: expected a mapping of bytes >= 0 by function as 'workspace', but got 64",
    ),
    Code(
        rules.EMIT_TYPE,
        [code("k", workspace={"k": -1})],
        "1:1: expected a mapping of bytes >= 0 by function as 'workspace', but got -1",
    ),
    Code(
        rules.EMIT_TYPE,
        [code("k", workspace={"main": 1})],
        "1:1: expected a mapping of bytes >= 0 by function as 'workspace', but got "
        "'main'",
    ),
    Code(
        rules.EMIT_UNKNOWN,
        [code("k", "main")],
        "1:1: '@main' is emitted, but no kernel of the target",
    ),
    Code(rules.EMIT_TWICE, [code("k"), code("k")], "8:1: '@k' is emitted twice"),
    Code(rules.EMIT_MISSING, [], "8:1: '@k' is not emitted"),
)


@pytest.mark.parametrize("case", EMITTED, ids=lambda case: case.message)
def test_wrong_code(case: Code):
    contract = EmissionContract(parsed(KERNEL), TARGET)
    with pytest.raises(OpError) as error:
        contract.check(case.answer)
    place, message = case.message.split(" ", 1)
    assert said(error.value) == (
        f"test.mlir:{place} error: hook 'emit' 'emission': {message}"
    )


def test_right_code():
    contract = EmissionContract(parsed(KERNEL), TARGET)
    answer = (code("k", workspace={"k": 64}),)
    assert contract.check(list(answer)) == answer
    assert contract.check(None) is None


def lose_the_place(module: ModuleOp) -> None:
    del symbol(module, "k").attributes["target.for"]


def drop_a_copy(module: ModuleOp) -> None:
    remove(ops_of(module, tir.CopyOp)[0])


def swap_a_copy(module: ModuleOp) -> None:
    (op,) = ops_of(module, tir.CopyOp)
    op.operands = op.operands[::-1]


def drop_main(module: ModuleOp) -> None:
    remove(symbol(module, "main"))


def add_a_kernel(module: ModuleOp) -> None:
    kernel = symbol(module, "k").clone()
    kernel.sym_name = StringAttr("other")
    module.body.block.add_op(kernel)


def mark(module: ModuleOp) -> None:
    module.attributes["test.mark"] = UnitAttr()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lose_the_place, "8:1: '@k' has changed"),
        (drop_a_copy, "8:1: '@k' has changed"),
        (swap_a_copy, "8:1: '@k' has changed"),
        (drop_main, "8:1: '@k' has changed"),
        (add_a_kernel, "8:1: '@other' has changed"),
        (mark, "1:1: the module has changed: attribute 'test.mark' is new"),
    ],
)
def test_emission_changes_nothing(change: Callable[[ModuleOp], None], message: str):
    module = parsed(KERNEL)
    contract = EmissionContract(module, TARGET)
    change(module)
    with pytest.raises(OpError) as error:
        contract.check(None)
    place, message = message.split(" ", 1)
    assert said(error.value) == (
        f"test.mlir:{place} error: hook 'emit' 'emission': {message}; work on a clone"
    )


TRIED = {rules.EMIT_CHANGED} | {c.breach for c in (*ANSWERS, *MEMBERS, *EMITTED)}
"""The ways to break a rule that are tested here."""
