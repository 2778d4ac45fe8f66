"""
The hooks of `toy_npu`: what it takes, at which cost, the memory that it brings, and how
it lowers, orders, emits and evaluates its part.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod

from xdsl.dialects.builtin import ModuleOp, bf16, f32
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from toy_npu.commands import FORMAT, compute, run, to_text
from toy_npu.convert_graph_to_toy_npu import ConvertGraphToToyNpuPass
from toy_npu.dialect import ToyNpuAttr
from toy_npu.emission import attributes_of, commands_for
from toy_npu.merge_kernels import ToyNpuMergeKernelsPass
from toy_npu.ops import ComputeOp
from toy_npu.plan_scratchpad import ToyNpuPlanScratchpadPass
from toy_npu.prefetch import ToyNpuPrefetchPass
from transom.dialects import graph, tir
from transom.dialects.target import LinkOp, MemoryOp, Planner
from transom.interpreters.evaluators import Values
from transom.interpreters.interpreter import Frame
from transom.lowering.conversion import Refusal
from transom.passes.pipeline import Pipeline
from transom.targets.hooks import (
    Accepted,
    Claim,
    Emitted,
    Reference,
    Step,
    TargetHooks,
)

SECONDS_PER_OP = 1e-8
SECONDS_PER_ELEMENT = 1e-9

Answer = Callable[[Operation], Accepted | Refusal]


def elementwise(target: ToyNpuAttr) -> Answer:
    """Ops on tensors of known sizes, of f32 or, with the feature, of bf16."""
    lanes = target.lanes.value.data
    types = (f32, bf16) if "bf16" in target.feature_names else (f32,)

    def answer(op: Operation) -> Accepted | Refusal:
        type = graph.tensor_type(op.results[0])
        if not type.has_static_shape():
            return Refusal(f"expected a static shape, but got '{type}'")
        if type.element_type not in types:
            names = " or ".join(map(str, types))
            return Refusal(f"expected {names}, but got '{type.element_type}'")
        elements = prod(type.get_shape())
        return Accepted(SECONDS_PER_OP + SECONDS_PER_ELEMENT * elements / lanes)

    return answer


def chain(*kinds: type[Operation]) -> Callable[[Operation], Sequence[Operation]]:
    """The ops of these kinds that feed each other and end in an op; else no ops."""

    def members(op: Operation) -> Sequence[Operation]:
        found = [op]
        for kind in reversed(kinds[:-1]):
            before = found[-1].operands[0].owner
            if not isinstance(before, kind) or before.parent is not op.parent:
                return ()
            found.append(before)
        return found

    return members


def is_sum(op: Operation) -> bool:
    """Whether an op reduces by sums."""
    return isinstance(op, graph.ReduceOp) and op.kind.data is graph.ReduceKind.SUM


def sums(answer: Answer) -> Answer:
    """Sums along axes, as far as the engines take their types."""

    def answer_for_sums(op: Operation) -> Accepted | Refusal:
        return answer(op) if is_sum(op) else Refusal("expected a sum")

    return answer_for_sums


def compute_op(frame: Frame, op: Operation, args: Values) -> Values:
    """The reference evaluation of what the engines do."""
    assert isinstance(op, ComputeOp), "registered for it"
    *inputs, output = args
    compute(op.kind.data, inputs, output, attributes_of(op))
    return ()


def step(pass_: ModulePass, requires: str | None, provides: str) -> Step:
    """A pass on all kernels at once."""
    return Step(
        Pipeline("builtin.module", (pass_,)),
        frozenset(() if requires is None else (requires,)),
        frozenset({provides}),
    )


class ToyNpuTarget(TargetHooks[ToyNpuAttr]):
    """
    Element-wise sums, products and `relu`, sums along axes; `matmul` and `gelu` where
    it has them. Work is merged and ordered across kernels, copies overlap with it, and
    what comes out is a stream of commands.
    """

    api_version = 1
    attr_type = ToyNpuAttr
    scope = "module"

    def claims(self, target: ToyNpuAttr) -> Sequence[Claim]:
        answer = elementwise(target)
        roots: list[type[Operation]] = [graph.AddOp, graph.MulOp, graph.ReluOp]
        if "gelu" in target.feature_names:
            roots.append(graph.GeluOp)
        claims = [Claim(root, answer) for root in roots]
        claims.append(Claim(graph.ReduceOp, sums(answer)))
        if "matmul" in target.feature_names:
            kinds = (graph.MatmulOp, graph.AddOp, graph.ReluOp)
            claims.append(
                Claim(graph.ReluOp, answer, "toy_npu.matmul_add_relu", chain(*kinds))
            )
            claims.append(Claim(graph.MatmulOp, answer))
        return claims

    def memories(self, target: ToyNpuAttr) -> Sequence[MemoryOp | LinkOp]:
        size = target.scratchpad.value.data
        return (MemoryOp("toy_sram", size, 16, Planner.TARGET),)

    def omits(self, target: ToyNpuAttr) -> frozenset[str]:
        of_nests = ("convert-tir-to-scf", "tir-choose-schedule", "tir-fuse-nests")
        return frozenset({"graph-fuse", *of_nests})

    def pass_options(self, target: ToyNpuAttr) -> Mapping[str, Mapping[str, int]]:
        return {"tir-lift-scratch": {"threshold": 0}}

    def convert_graph_to_tir(self, target: ToyNpuAttr) -> ConvertGraphToToyNpuPass:
        return ConvertGraphToToyNpuPass()

    def tir_pipeline(self, target: ToyNpuAttr) -> Sequence[Step]:
        return (
            step(ToyNpuPlanScratchpadPass(), "toy-npu-prefetch", "toy-npu-plan"),
            step(ToyNpuPrefetchPass(), "toy-npu-merge", "toy-npu-prefetch"),
            step(ToyNpuMergeKernelsPass(), None, "toy-npu-merge"),
        )

    def emit(self, module: ModuleOp, target: ToyNpuAttr) -> Sequence[Emitted]:
        kernels = [
            op
            for op in module.body.ops
            if isinstance(op, tir.FuncOp) and not op.is_declaration
        ]
        streams = {k.sym_name.data: commands_for(k) for k in kernels}
        return (Emitted(tuple(streams), FORMAT, to_text(streams)),)

    def reference(self, target: ToyNpuAttr) -> Reference:
        return Reference(ops={ComputeOp: compute_op}, artifacts={FORMAT: run})
