"""
An op in the place of a composite, on a device with a memory of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import pytest
from hook_cases import CasesAttr, CasesTarget, cases_target
from xdsl.context import Context
from xdsl.dialects.func import FuncOp

from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_ir
from transom.driver import lower
from transom.passes.function_pass import FunctionPass
from transom.passes.graph_patterns import Match, Pattern, op, value, weight
from transom.passes.graph_patterns.composites import (
    match_in,
    outside,
    replace_composite,
)
from transom.passes.pipeline import Pipeline
from transom.targets.hooks import Accepted, PatternClaim
from transom.testing import check_phases

MODULE = """
module attributes {target.config = #target.config<host = @cpu>} {
  target.memory @dram
  target.memory @sram {size = 4096, alignment = 16}
  target.link @dram -> @sram {bandwidth = 1.0e+09, latency = 1.0e-07}
  target.link @sram -> @dram {bandwidth = 1.0e+09, latency = 1.0e-07}
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">],
                      memories = [@dram]}
  target.device @npu {targets = [#cases.target], memories = [@sram]}
  graph.weight @w = dense<0.5> : tensor<8xf32>
  func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %y = graph.region #target.place<@npu, ?, ?> (%a = %x : tensor<4x8xf32>)
        -> (tensor<4x8xf32>) {
      %w = graph.weight_ref @w : tensor<8xf32>
      %n = graph.neg %a : tensor<4x8xf32>
      %s = graph.add %n, %w : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>
      graph.yield %s : tensor<4x8xf32>
    }
    %z = graph.softmax %y axis 1 : tensor<4x8xf32>
    func.return %z : tensor<4x8xf32>
  }
}
"""

DIFFERENCE = Pattern(op(graph.AddOp, op(graph.NegOp, value("x")), weight("w")))
QUOTIENT = Pattern(op(graph.DivOp, value("x"), weight("w")))


@dataclass(frozen=True)
class SelectSub(FunctionPass):
    """Makes `graph.sub` of each composite."""

    name = "cases-select-sub"

    pattern: ClassVar[Pattern] = DIFFERENCE

    def apply_to(self, ctx: Context, func: FuncOp) -> None:
        for found in tuple(func.body.walk()):
            if isinstance(found, graph.CompositeOp):
                match = match_in(found, self.pattern)
                w, x = (outside(found, match.value(name)) for name in "wx")
                replace_composite(found, graph.SubOp(w, x))


@dataclass(frozen=True)
class SelectAnother(SelectSub):
    """Looks for what is not there."""

    name = "cases-select-another"

    pattern: ClassVar[Pattern] = QUOTIENT


class Subtracts(CasesTarget):
    select: ClassVar[FunctionPass] = SelectSub()

    def claims(self, target: CasesAttr) -> Sequence[PatternClaim]:
        def answer(match: Match) -> Accepted:
            return Accepted()

        return (PatternClaim(DIFFERENCE, answer, "cases.sub"),)

    def graph_pipeline(self, target: CasesAttr) -> Pipeline:
        return Pipeline("func.func", (self.select,))


def test_the_op_is_where_the_composite_was_and_computes_the_same() -> None:
    with cases_target(Subtracts, [SelectSub]) as ctx:
        module = parse_ir(ctx, MODULE, "device.mlir")
        assert check_phases(module, ctx=ctx)
        text = str(lower(module, "partitioned", ctx=ctx))
    assert "graph.composite" not in text and "graph.neg" not in text
    (line,) = (line.strip() for line in text.splitlines() if "graph.sub" in line)
    assert line.endswith("#graph.desc<place = #target.place<@npu, ?, @sram>>>"), line


def test_what_holds_something_else_is_told() -> None:
    class Confused(Subtracts):
        select = SelectAnother()

    with cases_target(Confused, [SelectAnother]) as ctx:
        module = parse_ir(ctx, MODULE, "device.mlir")
        with pytest.raises(OpError) as error:
            lower(module, "partitioned", ctx=ctx)
    assert error.value.message == (
        "no pattern of 'cases.sub' is in it: expected 'graph.div', but got 'graph.add'"
    )
