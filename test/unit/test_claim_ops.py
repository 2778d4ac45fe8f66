"""
Claims of targets: what hooks may answer, and that regions compute what their ops did.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pytest
from graph_programs import Program, differences, programs
from hook_cases import CasesAttr, CasesTarget, cases_target
from hypothesis import given, settings
from toy_npu.dialect import ToyNpuAttr
from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.dialects.test import TestPureOp
from xdsl.ir import Operation

import transom
from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_ir
from transom.dialects.target import DeviceOp, PlaceAttr, place_of, refusals_of
from transom.dialects.verifier import verify_module
from transom.lowering.conversion import Refusal
from transom.passes.function_pass import functions_of
from transom.passes.target_plan_devices import TargetPlanDevicesPass
from transom.registry import new_context
from transom.targets.claim_ops import TargetClaimOpsPass
from transom.targets.hooks import Accepted, Claim
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr
from transom.targets.llvm_cpu.host import resolved
from transom.testing import check_phases, interpret

CHAIN = """
  target.device @d {targets = [#cases.target, #llvm_cpu.target<cpu = "cortex-a53">]}
  func.func @main(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
    %k = graph.constant dense<2.0> : tensor<4xf32>
    %a = graph.neg %x : tensor<4xf32>
    %b = graph.mul %a, %k : tensor<4xf32>
    %r = graph.relu %b : tensor<4xf32>
    %s = graph.add %r, %k : tensor<4xf32>
    func.return %s : tensor<4xf32>
  }
"""


class Claims(CasesTarget):
    """Claims what a test says, at the costs it says."""

    given: Sequence[Claim] = ()
    costs: Mapping[str, float] = MappingProxyType({})

    def claims(self, target: CasesAttr) -> Sequence[Claim]:
        return self.given

    def cost(self, op: Operation, target: CasesAttr) -> float | None:
        return self.costs.get(op.name)


def accept(op: Operation) -> Accepted:
    return Accepted()


def before(op: Operation, count: int) -> list[Operation]:
    """An op and as many that compute its first operand, and theirs."""
    found = [op]
    for _ in range(count):
        owner = found[-1].operands[0].owner
        assert isinstance(owner, Operation)
        found.append(owner)
    return found


def claimed(
    *claims: Claim, text: str = CHAIN, costs: Mapping[str, float] | None = None
) -> ModuleOp:
    """The module after a target made these claims."""
    hooks = type("Hooks", (Claims,), {"given": claims, "costs": costs or {}})
    with cases_target(hooks) as ctx:
        module = parse_ir(ctx, text, "claims.mlir")
        TargetClaimOpsPass(explain=True).apply(ctx, module)
        verify_module(module)
        return module


def ops_of(module: ModuleOp, kind: type[Operation]) -> list[Any]:
    return [op for op in module.walk() if isinstance(op, kind)]


def names_in(op: graph.GroupOp | FuncOp) -> list[str]:
    return [inner.name.partition(".")[2] for inner in op.body.block.ops]


def test_ops_of_a_claim_without_a_label_stay_together():
    module = claimed(Claim(graph.ReluOp, accept, members=lambda op: before(op, 2)))
    (region,) = ops_of(module, graph.RegionOp)
    assert names_in(region) == ["neg", "mul", "relu", "yield"]
    assert not ops_of(module, graph.CompositeOp)


def test_constants_of_a_pattern_are_in_it_and_stay_for_others():
    def members(op: Operation) -> list[Operation]:
        _, mul = before(op, 1)
        constant = mul.operands[1].owner
        assert isinstance(constant, Operation)
        return [op, mul, constant]

    module = claimed(Claim(graph.ReluOp, accept, "scaled", members))
    (composite,) = ops_of(module, graph.CompositeOp)
    assert names_in(composite) == ["constant", "mul", "relu", "yield"]
    assert len(composite.inputs) == 1
    assert len(ops_of(module, graph.ConstantOp)) == 2


def test_larger_patterns_come_first_and_the_first_claim_of_equal_ones():
    module = claimed(
        Claim(graph.MulOp, accept),
        Claim(graph.ReluOp, accept, "two", lambda op: before(op, 1)),
        Claim(graph.ReluOp, accept, "three", lambda op: before(op, 2)),
        Claim(graph.ReluOp, accept, "other three", lambda op: before(op, 2)),
    )
    assert [c.composite.data for c in ops_of(module, graph.CompositeOp)] == ["three"]


def test_a_pattern_is_taken_apart_where_that_is_known_to_cost_less():
    def claims(seconds: float) -> tuple[Claim, ...]:
        def answer(op: Operation) -> Accepted:
            return Accepted(seconds)

        pattern = Claim(graph.ReluOp, answer, "two", lambda op: before(op, 1))
        return pattern, Claim(graph.ReluOp, accept), Claim(graph.MulOp, accept)

    costs = {"graph.relu": 1.0, "graph.mul": 1.0}
    assert not ops_of(claimed(*claims(2.5), costs=costs), graph.CompositeOp)
    assert ops_of(claimed(*claims(2.0), costs=costs), graph.CompositeOp)
    # What is not known is not cheaper.
    del costs["graph.mul"]
    assert ops_of(claimed(*claims(2.5), costs=costs), graph.CompositeOp)


def test_the_hook_for_costs_is_asked_where_a_claim_says_none():
    text = CHAIN.replace("#cases.target,", "#cases.target, #cases.target<number = 1>,")

    class Costs(Claims):
        given = (Claim(graph.MulOp, accept),)

        def cost(self, op: Operation, target: CasesAttr) -> float | None:
            return 2.0 - target.number.value.data

    with cases_target(Costs) as ctx:
        module = parse_ir(ctx, text, "claims.mlir")
        TargetClaimOpsPass(explain=True).apply(ctx, module)
    (region,) = ops_of(module, graph.RegionOp)
    assert str(region.place.target) == "#cases.target<number = 1>"
    (mul,) = ops_of(module, graph.MulOp)
    assert [refusal.reason.data for refusal in refusals_of(mul)] == [
        "takes 2 s, but '#cases.target<number = 1>' takes 1 s"
    ]


def test_a_target_that_takes_the_rest_loses_what_costs_less_elsewhere():
    text = CHAIN.replace(
        "#cases.target,", "#cases.target<number = 1>, #cases.target<number = 2>,"
    )

    class Costs(CasesTarget):
        def cost(self, op: Operation, target: CasesAttr) -> float | None:
            number = target.number.value.data
            return 1.0 / number if op.name == "graph.mul" else None

    with cases_target(Costs) as ctx:
        module = parse_ir(ctx, text, "claims.mlir")
        TargetClaimOpsPass().apply(ctx, module)
    (region,) = ops_of(module, graph.RegionOp)
    assert names_in(region) == ["mul", "yield"]
    assert "number = 2" in str(region.place)


def test_all_reasons_of_a_target_are_told():
    text = CHAIN.replace(', #llvm_cpu.target<cpu = "cortex-a53">', "")
    with pytest.raises(OpError) as error:
        claimed(
            *(Claim(kind, accept) for kind in (graph.NegOp, graph.ReluOp, graph.AddOp)),
            Claim(graph.MulOp, lambda op: Refusal("too small")),
            Claim(graph.MulOp, lambda op: Refusal("too odd")),
            Claim(graph.MulOp, lambda op: Refusal("too small")),
            text=text,
        )
    assert error.value.message == (
        "no target takes 'graph.mul' x1 ('#cases.target': too small; too odd)"
    )


def test_patterns_that_overlap_leave_what_is_in_none():
    text = CHAIN.replace(', #llvm_cpu.target<cpu = "cortex-a53">', "")
    with pytest.raises(OpError) as error:
        claimed(
            Claim(graph.NegOp, accept),
            Claim(graph.ReluOp, accept, "two", lambda op: before(op, 1)),
            Claim(graph.AddOp, accept, "sum of two", lambda op: before(op, 1)),
            text=text,
        )
    assert error.value.message == (
        "no target takes 'graph.add' x1 ('#cases.target': takes it as part of "
        "'sum of two' only, which is not to be had whole)"
    )


def and_the_end(op: Operation) -> list[Operation]:
    assert op.parent is not None and op.parent.last_op is not None
    return [op, op.parent.last_op]


def without_itself(op: Operation) -> list[Operation]:
    return before(op, 1)[1:]


def and_a_stranger(op: Operation) -> list[Operation]:
    return [op, TestPureOp()]


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        (
            without_itself,
            "expected 'graph.relu' among the members of its claim, but got 'graph.mul'",
        ),
        (
            and_a_stranger,
            "'test.pureop', a member of the claim of 'graph.relu', is in another block",
        ),
        (
            and_the_end,
            "'func.return', a member of the claim of 'graph.relu', is not for a target "
            "to compute",
        ),
    ],
)
def test_members_that_no_pattern_can_have_name_the_hook(
    members: Callable[[Operation], Sequence[Operation]], problem: str
):
    with pytest.raises(OpError) as error:
        claimed(Claim(graph.ReluOp, accept, "odd", members))
    assert error.value.message == (
        f"hook 'claims' of '#cases.target' breaks rule 'claims': {problem}"
    )


WITHOUT_WORK = """
  target.device @d {targets = [#cases.target, #llvm_cpu.target<cpu = "cortex-a53">]}
  func.func @main(%x: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>) {
    %a, %b = graph.composite "some" (%c = %x : tensor<4xi1>)
        -> (tensor<4xi1>, tensor<4xi1>) {
      %k = graph.constant dense<true> : tensor<4xi1>
      graph.yield %c, %k : tensor<4xi1>, tensor<4xi1>
    }
    func.return %a, %b : tensor<4xi1>, tensor<4xi1>
  }
"""


def test_a_group_without_work_is_not_given_to_whoever_is_asked_first():
    module = claimed(Claim(graph.ReluOp, accept), text=WITHOUT_WORK)
    (group,) = ops_of(module, graph.CompositeOp)
    assert [str(r.reason) for r in refusals_of(group)] == ['"it computes nothing"']
    (main,) = functions_of(module)
    assert place_of(main) == PlaceAttr.get("d", LlvmCpuAttr.get("cortex-a53"))


def test_a_target_without_hooks_is_named_at_its_device():
    with cases_target(CasesTarget) as ctx:
        module = parse_ir(ctx, CHAIN, "claims.mlir")
    with pytest.raises(OpError) as error:
        TargetClaimOpsPass().apply(new_context(), module)
    assert str(error.value).startswith(
        "claims.mlir:2:3: error: no target 'cases.target' is registered"
    )


def test_a_dense_block_is_one_region():
    """Each layer reads all earlier ones, through sums; apache/tvm#5227."""
    lines, sums = ["%v0 = graph.relu %x : tensor<4xf32>"], 0
    for layer in range(1, 40):
        total = "%v0"
        for earlier in range(1, layer):
            sums += 1
            lines.append(f"%s{sums} = graph.add {total}, %v{earlier} : tensor<4xf32>")
            total = f"%s{sums}"
        lines.append(f"%v{layer} = graph.relu {total} : tensor<4xf32>")
    text = CHAIN[: CHAIN.index("%k")] + "\n".join(lines) + "\nfunc.return %v39"
    claims = (Claim(graph.AddOp, accept), Claim(graph.ReluOp, accept))
    module = claimed(*claims, text=text + " : tensor<4xf32>\n}")
    (region,) = ops_of(module, graph.RegionOp)
    assert len(names_in(region)) == len(lines) + 1


MACHINE = """
module attributes {target.config = #target.config<host = @cpu>} {
  target.memory @dram
  target.device @npu {targets = [#cases.target], memories = [@dram]}
  target.device @twin {
    targets = [#cases.target, #llvm_cpu.target<cpu = "cortex-m55">], memories = [@dram]
  }
  target.device @cpu {
    targets = [#cases.target<number = 1>, #llvm_cpu.target<cpu = "host">],
    memories = [@dram]
  }
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %a = graph.neg %x : tensor<4xf32>
    %b = graph.region #target.place<@npu, ?, ?> (%u = %a : tensor<4xf32>) -> (tensor<4xf32>) {
      %v = graph.mul %u, %u : tensor<4xf32>
      graph.yield %v : tensor<4xf32>
    }
    %c = graph.mul %b, %x : tensor<4xf32>
    %d = graph.mul %c, %a : tensor<4xf32>
    %e = graph.on_device %d pinned #target.place<@twin, ?, ?> : tensor<4xf32>
    func.return %e : tensor<4xf32>
  }
}
"""  # noqa: E501


def test_devices_with_equal_targets_run_at_every_phase():
    hooks = type("Hooks", (Claims,), {"given": (Claim(graph.MulOp, accept),)})
    with cases_target(hooks) as ctx:
        module = parse_ir(ctx, MACHINE, "machine.mlir")
        partitioned = transom.lower(module, to="partitioned", ctx=ctx)
        assert len(check_phases(module, ctx=ctx)) > len(transom.phases())
    found = [(names_in(f)[:-1], place_of(f)) for f in functions_of(partitioned)]
    cpu, npu = LlvmCpuAttr.get("host"), CasesAttr.from_keys({})
    second = CasesAttr.from_keys({"number": IntegerAttr(1, i64)})
    assert found == [
        (["call"] * 4, PlaceAttr.get("cpu", resolved(cpu), "dram")),
        (["neg"], PlaceAttr.get("cpu", resolved(cpu), "dram")),
        (["mul"], PlaceAttr.get("npu", npu, "dram")),
        (["mul"], PlaceAttr.get("cpu", second, "dram")),
        (["mul"], PlaceAttr.get("twin", npu, "dram")),
    ]


DEVICE = DeviceOp(
    "cpu", [ToyNpuAttr.get(features=["matmul", "gelu"]), LlvmCpuAttr.get("x86-64-v3")]
)


def placed(module: ModuleOp) -> None:
    """Claim the ops of a module and give all their places."""
    for pass_ in (TargetClaimOpsPass(), TargetPlanDevicesPass()):
        pass_.apply(Context(), module)
        verify_module(module)


@settings(max_examples=60, deadline=None)
@given(programs(steps=14))
def test_regions_compute_what_their_ops_did(program: Program):
    module = program.module.clone()
    module.body.block.add_op(DEVICE.clone())
    placed(module)
    expected = interpret(program.module, program.inputs)
    assert not differences(interpret(module, program.inputs), expected)
    text = str(module)
    placed(module)
    assert str(module) == text
