"""
What functions compute before and after a hook: what is compared, and what is not.
"""

import pytest
from contract_cases import (
    KERNEL,
    MODULE,
    NOTHING_OWNED,
    Change,
    Run,
    lower,
    nothing,
    ops_of,
    symbol,
)
from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import UNKNOWN_LOC, BoolAttr, ModuleOp
from xdsl.rewriter import InsertPoint, Rewriter

from transom.dialects import tir
from transom.dialects.diagnostics import Diagnostic, OpError, handling


def said_of(
    change: Change, hook: str = "convert_graph_to_tir", text: str = MODULE
) -> str:
    """What is said of a hook that changes numbers, without its name."""
    with pytest.raises(OpError) as error:
        Run(hook, [change], text, thorough=True).check()
    named = f"hook '{hook}' of '#toy_npu.target' breaks rule "
    return str(error.value).replace(named, "")


def give_the_operand(module: ModuleOp) -> None:
    """The result of `@second` is that of `@first`."""
    lower(module)
    calls = ops_of(symbol(module, "main"), tir.CallOp)
    calls[1].results[0].replace_all_uses_with(calls[0].results[0])


def test_results_that_are_mixed_up():
    assert said_of(give_the_operand) == (
        "test.mlir:8:1: error: 'computes': '@main' computes something else: result 0: "
        "4 of 4 elements differ, by at most 4 (largest expected: 5.28)"
    )


def always_fail(module: ModuleOp) -> None:
    if ops_of(module, cf.AssertOp):
        return
    lower(module)
    call = ops_of(symbol(module, "main"), tir.CallOp)[0]
    holds = arith.ConstantOp(BoolAttr.from_bool(False))
    check = cf.AssertOp(holds.result, "no lanes are left")
    for op in (holds, check):
        op.location = call.location
        Rewriter.insert_op(op, InsertPoint.before(call))


def test_functions_that_fail_now():
    assert said_of(always_fail) == (
        "test.mlir:8:1: error: 'computes': '@main' computes something else: it fails, "
        "where it did not: assertion failed: no lanes are left\n"
        "test.mlir:18:3: note: it fails here"
    )


def scale(module: ModuleOp) -> None:
    """The kernel reads what it has written."""
    (copy,) = ops_of(module, tir.CopyOp)
    copy.operands = (copy.destination, copy.destination)


def test_kernels_are_compared():
    assert said_of(scale, hook="tir_pipeline", text=KERNEL) == (
        "test.mlir:8:1: error: 'computes': '@k' computes something else: result 0: "
        "4 of 4 elements differ, by at most 0.842 (largest expected: 0.64)"
    )


EXTERNAL = """\
func.func private @external(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @external(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""

LOOP = """\
func.func @main() {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %many = arith.constant 1000000 : index
  scf.for %i = %zero to %many step %one {
    %j = arith.addi %i, %one : index
  }
  func.return
}
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            NOTHING_OWNED.replace("4xf32", "100000xf32"),
            "8:1: expected at most 65536 elements of inputs, but got 100001",
        ),
        (
            'func.func @main(%x: !test.type<"token">) { func.return }',
            "1:1: there are no random values of type '!test.type<\"token\">'",
        ),
        (EXTERNAL, "2:1: no reference evaluation for the external 'external'"),
        (
            LOOP,
            "1:1: expected at most 1000000 interpreted steps, but at least 2000005 are "
            "needed",
        ),
    ],
)
def test_what_is_not_compared_is_said(text: str, reason: str):
    said: list[Diagnostic] = []
    with handling(said.append):
        Run("convert_graph_to_tir", [nothing], text, thorough=True).check()
    place, reason = reason.split(" ", 1)
    assert [str(remark) for remark in said] == [
        f"test.mlir:{place} remark: what '@main' computes is not compared after hook "
        f"'convert_graph_to_tir' of '#toy_npu.target': {reason}"
    ]


def test_kernels_are_named_where_they_are_called():
    """Kernels have no location of their own."""
    text = KERNEL.replace("4xf32", "100000xf32")
    said: list[Diagnostic] = []

    def forget(module: ModuleOp) -> None:
        symbol(module, "k").location = UNKNOWN_LOC

    with handling(said.append):
        Run("tir_pipeline", [forget], text, thorough=True).check()
    assert str(said[0]).startswith("test.mlir:5:3: remark: what '@k' computes is not")
