"""
The search for partitions on modules: cost models, what is kept of numbers and of what
was chosen before, and reports that another program checks.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from graph_programs import Program, differences, programs
from hook_cases import CasesAttr, CasesTarget, cases_target
from hypothesis import given, settings
from toy_npu.dialect import ToyNpuAttr
from xdsl.context import Context
from xdsl.dialects.builtin import Float64Type, FloatAttr, ModuleOp, f64
from xdsl.ir import Operation

from benchmarks import partition_speed
from transom.dialects import graph
from transom.dialects.diagnostics import (
    Diagnostic,
    OpError,
    Position,
    handling,
    position_of,
)
from transom.dialects.parser import parse_ir
from transom.dialects.target import DeviceOp
from transom.dialects.verifier import verify_module
from transom.passes.function_pass import functions_of
from transom.passes.graph_patterns import Match, Pattern, constant, op, value
from transom.passes.machine import Machine
from transom.passes.partition.problem import INFINITE, Cost, Problem
from transom.passes.partition.solution import cost_of
from transom.passes.partition.states import Space
from transom.passes.target_plan_devices import TargetPlanDevicesPass
from transom.targets.claim_selection import BlockChoice
from transom.targets.cost_models import CostModel
from transom.targets.cost_tables import read_table
from transom.targets.function_claims import FunctionClaims, Scope
from transom.targets.graph_search_partition import GraphSearchPartitionPass
from transom.targets.hooks import Accepted, AnyClaim, Claim, PatternClaim
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr
from transom.targets.partition_choice import (
    HOST,
    ProblemBuilder,
    first_selection,
)
from transom.targets.registry import given_hooks
from transom.testing import interpret
from transom.tools import check_partition


def per_second(number: float) -> FloatAttr[Float64Type]:
    return FloatAttr(number, f64)


DEVICE = DeviceOp(
    "cpu", [ToyNpuAttr.get(features=["matmul", "gelu"]), LlvmCpuAttr.get("x86-64-v3")]
)
DEVICE.flops = per_second(1e8)
DEVICE.bandwidth = per_second(1e8)
DEVICE.launch = per_second(1e-7)


@settings(max_examples=40, deadline=None)
@given(programs(steps=14))
def test_regions_compute_what_their_ops_did(program: Program):
    module = program.module.clone()
    module.body.block.add_op(DEVICE.clone())
    for pass_ in (GraphSearchPartitionPass(budget=2000), TargetPlanDevicesPass()):
        pass_.apply(Context(), module)
        verify_module(module)
    expected = interpret(program.module, program.inputs)
    assert not differences(interpret(module, program.inputs), expected)


def problems(module: ModuleOp) -> list[tuple[Problem, Cost]]:
    """The problems of a module, and what the greedy choice costs in each."""
    machine = Machine(module)
    builder = ProblemBuilder(machine, CostModel(machine.devices))
    found: list[tuple[Problem, Cost]] = []

    def choose(choice: BlockChoice, scope: Scope) -> None:
        block = builder.build(choice, scope)
        choice.select()
        first = first_selection(choice, block)
        found.append((block.problem, cost_of(Space(block.problem), first)))

    for func in functions_of(module):
        FunctionClaims(func, machine, everywhere=True).select(choose)
    return found


@settings(max_examples=25, deadline=None)
@given(program=programs(steps=16))
def test_never_worse_than_the_greedy_choice(
    program: Program, tmp_path_factory: pytest.TempPathFactory
):
    module = program.module.clone()
    module.body.block.add_op(DEVICE.clone())
    greedy = [cost for _, cost in problems(module.clone())]
    assert INFINITE not in greedy
    report = tmp_path_factory.mktemp("search") / "report.json"
    for budget in (1, 3000):
        GraphSearchPartitionPass(budget, report=str(report)).apply(
            Context(), module.clone()
        )
        searches = json.loads(report.read_text())["searches"]
        assert len(searches) == len(greedy)
        for search, cost in zip(searches, greedy, strict=True):
            assert Cost(**search["cost"]) <= cost
            if len(search["problem"]["ops"]) <= 10:
                assert not list(check_partition.problems_of(search))


CHAIN = """
module attributes {target.config = #target.config<host = @cpu, default_place = #target.place<@cpu, ?, ?>>} {
  target.memory @dram
  target.device @cpu {
    targets = [#llvm_cpu.target<cpu = "x86-64-v3">], memories = [@dram], SPEED
  }
  target.device @far {targets = [#cases.target], memories = [@dram]}
  func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
    %a = graph.neg %x : tensor<1024xf32>
    %b = graph.relu %a : tensor<1024xf32>
    func.return %b : tensor<1024xf32>
  }
}
"""  # noqa: E501

SPEED = "flops = 1.0e+09, bandwidth = 1.0e+09"


class Claims(CasesTarget):
    """Claims negation at a cost that a test says."""

    seconds: float | None = None
    from_hook: float | None = None

    def claims(self, target: CasesAttr) -> Sequence[AnyClaim]:
        return (Claim(graph.NegOp, lambda op: Accepted(self.seconds)),)

    def cost(self, op: Operation, target: CasesAttr) -> float | None:
        return self.from_hook


def searched(
    hooks: Mapping[str, Any], text: str = CHAIN, **options: Any
) -> list[list[str]]:
    """The ops in each region after a search."""
    with cases_target(type("Hooks", (Claims,), dict(hooks))) as ctx:
        module = parse_ir(ctx, text.replace("SPEED", SPEED), "search.mlir")
        GraphSearchPartitionPass(**options).apply(ctx, module)
        verify_module(module)
    return [
        [inner.name for inner in op.body.block.ops][:-1]
        for op in module.walk()
        if isinstance(op, graph.RegionOp)
    ]


# An op on 1024 f32 moves 8192 bytes: 8.192 us at the speed of the CPU.
@pytest.mark.parametrize(
    ("seconds", "from_hook", "expected"),
    [
        (8.0e-6, None, [["graph.neg"]]),
        (8.3e-6, None, []),
        (None, 8.0e-6, [["graph.neg"]]),
        (None, 8.3e-6, []),
        (8.3e-6, 0.0, []),  # the claim knows better than the hook
        (0.0, None, [["graph.neg"]]),  # no cost is a cost
        (None, None, []),  # and an unknown one is none
    ],
)
def test_costs_are_compared(
    seconds: float | None, from_hook: float | None, expected: list[list[str]]
):
    hooks = {"seconds": seconds, "from_hook": from_hook}
    assert searched(hooks) == expected


def test_without_estimates_what_is_known_is_better():
    assert searched({"seconds": 1.0}, analytic=False) == [["graph.neg"]]
    assert searched({}, analytic=False) == []


TYPES = "(tensor<1024xf32>) -> (tensor<1024xf32>)"


def entry(**changed: object) -> dict[str, object]:
    """An entry of a table of costs."""
    known = {"target": "#cases.target", "op": "graph.neg", "types": TYPES}
    return {**known, "seconds": 1e-7, **changed}


def table(folder: Path, *entries: object) -> str:
    path = folder / "costs.json"
    path.write_text(json.dumps({"entries": entries}))
    return str(path)


def test_measured_costs_come_first(tmp_path: Path):
    hooks = {"seconds": 1.0}
    assert searched(hooks, costs=table(tmp_path, entry())) == [["graph.neg"]]
    assert searched(hooks, costs=table(tmp_path, entry(op="graph.abs"))) == []
    other = entry(types=TYPES.replace("1024", "512"))
    assert searched(hooks, costs=table(tmp_path, other)) == []


UNUSED: list[tuple[list[dict[str, object]], str]] = [
    ([entry()], ""),
    (
        [entry(target="#case.target")],
        "1:14: warning: no candidate is of target '#case.target'; did you mean "
        "'#cases.target'?",
    ),
    (
        [entry(), entry(op="graph.nog"), entry(op="graph.nag")],
        "4:4: warning: no candidate of '#cases.target' is 'graph.nog'; did you mean "
        "'graph.neg'?; 2 of 3 entries are for none",
    ),
    (
        [entry(types=TYPES.replace("1024", "512"))],
        "1:14: warning: no 'graph.neg' of '#cases.target' has types "
        "'(tensor<512xf32>) -> (tensor<512xf32>)'; did you mean "
        f"'{TYPES}'?",
    ),
]


@pytest.mark.parametrize(("entries", "warning"), UNUSED)
def test_entries_for_no_candidate(
    entries: list[dict[str, object]], warning: str, tmp_path: Path
):
    path = table(tmp_path, *entries)
    if len(entries) > 1:
        lines = ",\n   ".join(json.dumps(entry) for entry in entries)
        Path(path).write_text(f'{{"note": [],\n "entries": [\n   {lines}]}}')
    found: list[Diagnostic] = []
    with handling(found.append):
        searched({"seconds": 1.0}, costs=path)
    warnings = [str(one) for one in found if one.severity == "warning"]
    assert warnings == ([f"{path}:{warning}"] if warning else [])


def test_the_place_of_an_entry_may_be_hard_to_see(tmp_path: Path):
    path = tmp_path / "costs.json"
    text = json.dumps({"note": {"entries": [1, 2]}, "entries": [entry()]})
    path.write_text(text)
    (time,) = read_table(str(path)).times.values()
    assert position_of(time.location) == Position(str(path), 1, 1)


WRONG: list[tuple[str, str]] = [
    ("{", "expected JSON: "),
    ("[]", "expected a list 'entries'"),
    ('{"entries": [1]}', "entry 0: expected 'target', 'op', 'types', 'seconds'"),
    (
        json.dumps({"entries": [entry(), entry(op=3)]}),
        "entry 1: expected a string for 'op', but got 3",
    ),
    (
        json.dumps({"entries": [entry(seconds=-1)]}),
        "entry 0: expected seconds >= 0, but got -1",
    ),
    (
        json.dumps({"entries": [entry(), entry(op="graph.abs"), entry(seconds=2)]}),
        "entry 2: expected another target, op or types than in entry 0",
    ),
]


@pytest.mark.parametrize(("text", "problem"), WRONG)
def test_tables_that_are_wrong(text: str, problem: str, tmp_path: Path):
    path = tmp_path / "costs.json"
    path.write_text(text)
    with pytest.raises(OpError) as error:
        read_table(str(path))
    assert str(error.value.diagnostic()).startswith(f"{path}:1:")
    assert error.value.message.startswith(problem)


def test_a_table_that_is_not_there():
    with pytest.raises(FileNotFoundError):
        read_table("none")


QUANTIZED = """
  func.func @main(%x: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>) {
    %s = graph.constant dense<0.5> : tensor<f32>
    %z = graph.constant dense<0> : tensor<i8>
    %d = graph.dequantize %x, %s, %z : tensor<4xi8>, tensor<f32>, tensor<i8> -> tensor<4xf32>
    %r = graph.relu %d : tensor<4xf32>
    %n = graph.neg %d : tensor<4xf32>
    %p = graph.quantize %r, %s, %z : tensor<4xf32>, tensor<f32>, tensor<i8> -> tensor<4xi8>
    %q = graph.quantize %n, %s, %z : tensor<4xf32>, tensor<f32>, tensor<i8> -> tensor<4xi8>
    func.return %p, %q : tensor<4xi8>, tensor<4xi8>
  }
}
"""  # noqa: E501


def quantized(answer: Callable[[Match], Accepted]) -> PatternClaim:
    scale = (constant(), constant())
    inside = op(graph.DequantizeOp, value(), constant(), constant(), copied=True)
    work = op(graph.UnaryOp, inside)
    return PatternClaim(Pattern(op(graph.QuantizeOp, work, *scale)), answer, "q")


def test_what_is_copied_is_computed_by_nobody_else():
    def claims(self: CasesTarget, target: CasesAttr) -> Sequence[AnyClaim]:
        return (quantized(lambda match: Accepted(1e-9)),)

    head = CHAIN[: CHAIN.index("  func.func")]
    regions = searched({"claims": claims}, head + QUANTIZED)
    assert regions == [["graph.composite", "graph.composite"]]


def test_the_problem_has_what_lies_between_ops():
    text = CHAIN.replace("SPEED", SPEED).replace("#cases.target", "#toy_npu.target")
    with cases_target(CasesTarget) as ctx:
        module = parse_ir(ctx, text, "search.mlir")
    ((problem, _),) = problems(module)
    assert problem.names == ("graph.neg", "graph.relu", "func.return")
    assert [(v.size, v.readers, v.producer) for v in problem.values] == [
        (4096, (0,), None),
        (4096, (1,), 0),
        (4096, (2,), 1),
    ]
    assert [c.ops for c in problem.candidates if c.place == HOST] == [(2,)]


@pytest.mark.parametrize("size", [40, 300])
def test_large_graphs_are_never_worse_than_the_greedy_choice(size: int, tmp_path: Path):
    """Cost and gap hold when another program computes them again."""
    module = partition_speed.four_targets(size)
    with given_hooks(partition_speed.SpeedTarget()):
        ((_, greedy),) = problems(module.clone())
        report = tmp_path / "report.json"
        options = GraphSearchPartitionPass(20_000, report=str(report))
        options.apply(Context(), module)
        verify_module(module)
    (search,) = json.loads(report.read_text())["searches"]
    assert Cost(**search["cost"]) <= greedy < INFINITE
    assert 0 <= search["gap"] < 0.5
    assert not list(check_partition.problems_of(search))


def test_the_same_input_gives_the_same_output():
    texts: set[str] = set()
    with given_hooks(partition_speed.SpeedTarget()):
        for _ in range(2):
            module = partition_speed.four_targets(60)
            GraphSearchPartitionPass(5000).apply(Context(), module)
            texts.add(str(module))
    assert len(texts) == 1
