"""
Partitioning as a whole: what is put back is what was there, and the cases in which
other systems went wrong.
"""

import time
from collections.abc import Mapping, Sequence

import pytest
from graph_programs import Program, differences, programs
from hook_cases import CasesAttr, CasesTarget, cases_target
from hypothesis import given, settings
from toy_npu.dialect import ToyNpuAttr
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass

import transom
from benchmarks import partition_speed
from transom.dialects import graph
from transom.dialects.parser import parse_ir
from transom.dialects.target import DeviceOp, place_of
from transom.dialects.verifier import verify_module
from transom.passes.function_pass import functions_of
from transom.passes.graph_inline_regions import GraphInlineRegionsPass
from transom.passes.graph_outline_regions import CLONED_OPS, GraphOutlineRegionsPass
from transom.passes.target_plan_devices import TargetPlanDevicesPass
from transom.targets.claim_ops import TargetClaimOpsPass
from transom.targets.graph_search_partition import GraphSearchPartitionPass
from transom.targets.hooks import Accepted, Claim
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr
from transom.targets.registry import given_hooks
from transom.testing import check_phases, interpret

DEVICE = DeviceOp(
    "cpu", [ToyNpuAttr.get(features=["matmul", "gelu"]), LlvmCpuAttr.get("x86-64-v3")]
)


class Expressions:
    """Numbers for what values are computed by, equal where that is equal."""

    def __init__(self) -> None:
        self.numbers: dict[object, int] = {}
        self.known: dict[SSAValue, int] = {}

    def number(self, value: SSAValue) -> int:
        if value not in self.known:
            key = self._key(value)
            self.known[value] = self.numbers.setdefault(key, len(self.numbers))
        return self.known[value]

    def _key(self, value: SSAValue) -> object:
        if isinstance(value, BlockArgument):
            parent = value.owner.parent_op()
            return ("argument", value.index, str(value.type), id(type(parent)))
        assert isinstance(value, OpResult)
        op = value.owner
        properties = tuple(sorted((k, str(v)) for k, v in op.properties.items()))
        inner = tuple(self._of_block(op)) if op.regions else ()
        operands = tuple(self.number(operand) for operand in op.operands)
        return (op.name, value.index, properties, str(value.type), operands, inner)

    def _of_block(self, op: Operation) -> Sequence[object]:
        ends = [block.last_op for region in op.regions for block in region.blocks]
        return [self.number(v) for end in ends if end is not None for v in end.operands]


def results_of(module: ModuleOp, expressions: Expressions) -> Sequence[Sequence[int]]:
    """What the public functions of a module return."""
    found: list[Sequence[int]] = []
    for function in functions_of(module):
        if function.sym_visibility is None:
            end = function.body.blocks[-1].last_op
            assert isinstance(end, func.ReturnOp)
            found.append([expressions.number(v) for v in end.operands])
    return found


def counts(module: ModuleOp) -> Mapping[str, int]:
    """How many ops there are of each kind, without constants."""
    found: dict[str, int] = {}
    for op in module.walk():
        if isinstance(op, graph.GraphOp) and not isinstance(op, CLONED_OPS):
            found[op.name] = found.get(op.name, 0) + 1
    return found


CHOICES: list[ModulePass] = [
    TargetClaimOpsPass(),
    GraphSearchPartitionPass(budget=500),
]
OUTLINING: list[GraphOutlineRegionsPass] = [
    GraphOutlineRegionsPass(),
    GraphOutlineRegionsPass("passed"),
]


@pytest.mark.parametrize("choose", CHOICES, ids=lambda p: p.name)
@pytest.mark.parametrize("outline", OUTLINING, ids=lambda p: p.constants)
@settings(max_examples=25, deadline=None)
@given(program=programs(steps=14))
def test_what_is_put_back_is_what_was_there(
    choose: ModulePass, outline: GraphOutlineRegionsPass, program: Program
):
    module = program.module.clone()
    module.body.block.add_op(DEVICE.clone())
    for pass_ in (choose, TargetPlanDevicesPass(), outline):
        pass_.apply(Context(), module)
    verify_module(module)
    partitioned = interpret(module, program.inputs)
    GraphInlineRegionsPass().apply(Context(), module)
    verify_module(module)
    reference = program.module.clone()
    GraphInlineRegionsPass().apply(Context(), reference)  # it may have groups, too
    expressions = Expressions()
    original = results_of(reference, expressions)
    assert results_of(module, expressions) == original
    assert counts(module) == counts(reference)
    assert not differences(partitioned, interpret(program.module, program.inputs))


# The numbered cases.


class Claims(CasesTarget):
    """Claims additions."""

    def claims(self, target: CasesAttr) -> Sequence[Claim]:
        return (Claim(graph.AddOp, lambda op: Accepted()),)


def lowered(text: str, to: str = "partitioned") -> ModuleOp:
    """A module whose additions go to another target, at a phase."""
    with cases_target(Claims) as ctx:
        module = parse_ir(ctx, HEAD + text, "case.mlir")
        result = transom.lower(module, to=to, ctx=ctx)
        if to == "partitioned" and calls_in(result):
            assert check_phases(module, ctx=ctx)
        return result


HEAD = """
target.device @d {targets = [#cases.target, #llvm_cpu.target<cpu = "x86-64-v3">]}
"""


def calls_in(module: ModuleOp, name: str = "main") -> list[func.CallOp]:
    (function,) = (f for f in functions_of(module) if f.sym_name.data == name)
    return [op for op in function.walk() if isinstance(op, func.CallOp)]


def owned(module: ModuleOp) -> list[FuncOp]:
    """The functions of the other target."""
    found: list[FuncOp] = []
    for function in functions_of(module):
        place = place_of(function)
        if place is not None and str(place.target) == "#cases.target":
            found.append(function)
    return found


def test_case_1_layers_that_read_all_earlier_ones():
    """Joining ends, and soon (apache/tvm 5227, 5195)."""
    times: list[float] = []
    for layers in (60, 120):
        module = partition_speed.dense(layers)
        with given_hooks(partition_speed.SpeedTarget()):
            begun = time.thread_time()
            TargetClaimOpsPass().apply(Context(), module)
            times.append(time.thread_time() - begun)
        assert counts(module)["graph.concat"] == layers
    # Twice the layers have four times the operands.
    assert times[1] < 16 * max(times[0], 0.05)


def test_case_3_a_value_with_several_readers_is_one_result():
    """apache/tvm 5320."""
    module = lowered("""
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = graph.add %x, %x : tensor<4xf32>
  %b = graph.exp %a : tensor<4xf32>
  %c = graph.neg %a : tensor<4xf32>
  func.return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}""")
    (function,) = owned(module)
    assert len(function.function_type.outputs.data) == 1
    # Inputs, too, are there once.
    assert len(function.function_type.inputs.data) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("func.func @main() { func.return }", 0),
        (
            """
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  func.return %x, %x : tensor<4xf32>, tensor<4xf32>
}""",
            0,
        ),
        (
            """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = func.call @f(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.add %x, %x : tensor<4xf32>
  %b = graph.exp %a : tensor<4xf32>
  func.return %b : tensor<4xf32>
}""",
            1,
        ),
    ],
    ids=["nothing", "arguments", "calls"],
)
def test_case_4_empty_results_and_calls(text: str, expected: int):
    """apache/tvm 7288, 6655, 7318."""
    assert len(owned(lowered(text))) == expected


def test_case_5_kernels_that_are_lowered_are_left_alone():
    """apache/tvm 16191, 17120, 17210."""
    kernel = """tir.func @k(read %x: memref<4xf32>, write %y: memref<4xf32>) attributes {target.for = #target.place<@d, #llvm_cpu.target<cpu = "x86-64-v3">, ?>} {
  %zero = arith.constant 0 : index
  %v = memref.load %x[%zero] : memref<4xf32>
  memref.store %v, %y[%zero] : memref<4xf32>
  tir.return
}"""  # noqa: E501
    text = (
        HEAD
        + kernel
        + """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.add %x, %x : tensor<4xf32>
  %d = tensor.empty() : tensor<4xf32>
  %k = tir.call @k(%a : tensor<4xf32>) outs(%d : tensor<4xf32>)
  %b = graph.add %k, %a : tensor<4xf32>
  func.return %b : tensor<4xf32>
}"""
    )
    with cases_target(Claims) as ctx:
        module = parse_ir(ctx, text, "case.mlir")
        (before,) = (str(op) for op in module.ops if op.name == "tir.func")
        for pass_ in (
            TargetClaimOpsPass(),
            TargetPlanDevicesPass(),
            GraphOutlineRegionsPass(),
        ):
            pass_.apply(ctx, module)
            verify_module(module)
    (after,) = (str(op) for op in module.ops if op.name == "tir.func")
    assert after == before
    assert len(owned(module)) == 2


def test_case_6_constants_of_two_functions_have_names_of_their_own():
    """apache/tvm 11394."""
    constants = "\n".join(
        f"""
func.func @{name}(%x: tensor<512xf32>) -> tensor<512xf32> {{
  %c = graph.constant dense<{value}> : tensor<512xf32>
  %a = graph.add %x, %c : tensor<512xf32>
  %b = graph.exp %a : tensor<512xf32>
  func.return %b : tensor<512xf32>
}}"""
        for name, value in (("f", "1.0"), ("g", "2.0"))
    )
    module = lowered(constants, "tensor")
    names = [op.sym_name.data for op in module.ops if isinstance(op, graph.WeightOp)]
    assert len(names) == len(set(names))
    assert {op.name for op in module.ops} >= {"tir.func", "func.func"}


def test_case_8_the_crossed_graph():
    """Both pairs are fine alone, and wait for each other together (see 3.4)."""
    module = lowered("""
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a1 = graph.add %x, %x : tensor<4xf32>
  %b1 = graph.exp %x : tensor<4xf32>
  %a2 = graph.add %a1, %b1 : tensor<4xf32>
  %b2 = graph.sub %b1, %a1 : tensor<4xf32>
  %b3 = graph.exp %b2 : tensor<4xf32>
  func.return %a2, %b3 : tensor<4xf32>, tensor<4xf32>
}""")
    defined: set[str] = set()
    for call in calls_in(module):
        reads = [v.owner for v in call.operands if isinstance(v.owner, func.CallOp)]
        assert all(str(id(owner)) in defined for owner in reads)
        defined.add(str(id(call)))


def test_names_are_stable():
    text = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.add %x, %x : tensor<4xf32>
  %b = graph.exp %a : tensor<4xf32>
  %c = graph.add %b, %a : tensor<4xf32>
  func.return %c : tensor<4xf32>
}"""
    names = [call.callee.string_value() for call in calls_in(lowered(text))]
    assert names == ["main_region_0", "main_region_1", "main_region_2"]
    assert str(lowered(text)) == str(lowered(text))


def test_branches_and_loops_are_partitioned_inside():
    module = lowered("""
func.func @main(%x: tensor<4xf32>, %t: tensor<i1>) -> tensor<4xf32> {
  %c = tensor.extract %t[] : tensor<i1>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %p = graph.add %x, %x : tensor<4xf32>
  %y = scf.if %c -> (tensor<4xf32>) {
    %a = graph.add %x, %p : tensor<4xf32>
    %b = graph.exp %a : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  } else {
    scf.yield %p : tensor<4xf32>
  }
  %z = scf.for %i = %zero to %three step %one iter_args(%v = %y) -> (tensor<4xf32>) {
    %a = graph.add %v, %p : tensor<4xf32>
    %n = graph.neg %a : tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  }
  func.return %z : tensor<4xf32>
}""")
    assert len(owned(module)) == 3
    around = [call.parent_op() for call in calls_in(module)]
    names = [op.name for op in around if op is not None]
    assert names == ["func.func", "scf.if", "scf.if", "scf.for", "scf.for"]
